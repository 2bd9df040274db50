"""The generated files of this repository are up to date with the masters."""

from __future__ import annotations

import pytest

from autograder.assemble.assembler import assemble
from autograder.course import load_course


@pytest.mark.integration
def test_generated_files_are_up_to_date() -> None:
    done = assemble(load_course(), install=False)
    assert done.changed == (), "run `make notebooks`"
    assert done.warnings == ()

"""A variant imports nothing that students of its unit do not have."""

import ast

import pytest

from autograder.assemble.kit import kit_modules
from autograder.course import Unit, load_course
from autograder.proof.variants import load_variants

pytestmark = pytest.mark.integration

COURSE = load_course()
WRITTEN = [unit for unit in COURSE.units if COURSE.variants_file(unit).exists()]


@pytest.mark.parametrize("unit", WRITTEN, ids=lambda unit: unit.slug)
def test_what_variants_import_is_in_the_kit(unit: Unit) -> None:
    imports = {v.imports for v in load_variants(COURSE.variants_file(unit))}
    asked = {
        node.module.removeprefix(f"{COURSE.package}.")
        for text in imports
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.module.startswith(COURSE.package)
    }
    assert asked - kit_modules(COURSE, unit) == set()

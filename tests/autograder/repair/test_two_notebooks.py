"""Of two notebooks in `submitted/`, the filled-in one counts, and a note says so."""

import json
import os
import shutil

import pytest

from autograder.classroom.fingerprint import fingerprint_of_submission
from autograder.grading.submission import read_and_repair
from autograder.repair import Refused
from autograder.repair.finding import MOST_OTHERS, find_notebook, other_notebooks
from autograder.unit import Submission

SLUG, COPY = "01_tiny", "01_tiny-Copy1.ipynb"
OWN = f"{SLUG}.ipynb"


@pytest.fixture
def folder(tmp_path):
    home = tmp_path / "ada" / SLUG
    home.mkdir(parents=True)
    return home


@pytest.fixture
def blank(tiny_root):
    return (tiny_root / "assignments" / SLUG / OWN).read_bytes()


def written(handed_in, mark: str) -> bytes:
    raw = json.loads(json.dumps(handed_in))
    raw["cells"].append({"cell_type": "markdown", "metadata": {}, "source": mark})
    return json.dumps(raw).encode()


def counts(folder, unit):
    """Return the text of the notebook that counts, and the notes."""
    submission = Submission("ada", SLUG, find_notebook(folder, SLUG))
    outcome = read_and_repair(unit, submission)
    return "".join(cell.source for cell in outcome.notebook.cells), outcome.notes


def write(folder, *files: tuple[str, bytes]) -> None:
    for seconds, (name, content) in enumerate(files):
        (folder / name).write_bytes(content)
        os.utime(folder / name, (1_790_000_000 + seconds,) * 2)


@pytest.mark.parametrize("name", [COPY, "my answers.ipynb", "A.IPYNB"])
def test_the_written_one_counts(folder, blank, handed_in, tiny_unit, name):
    write(folder, (name, written(handed_in, "MINE")), (OWN, blank))
    text, notes = counts(folder, tiny_unit)
    assert "MINE" in text
    assert notes[0] == f"{name} counts, because {OWN} is unchanged"


@pytest.mark.parametrize("content", [b"", b"{", b'{"cells": []}'])
def test_the_one_that_can_be_read_counts(folder, handed_in, tiny_unit, content):
    write(folder, (COPY, written(handed_in, "MINE")), (OWN, content))
    text, notes = counts(folder, tiny_unit)
    assert "MINE" in text
    assert notes[0] == f"{COPY} counts, because {OWN} cannot be read"


def test_the_units_own_counts_where_it_is_written(folder, handed_in, tiny_unit):
    files = [(OWN, written(handed_in, "OWN")), (COPY, written(handed_in, "OTHER"))]
    write(folder, *files)
    text, notes = counts(folder, tiny_unit)
    assert "OWN" in text and "OTHER" not in text
    assert not any("counts" in note for note in notes)


def test_of_several_copies_the_last_written_one_counts(
    folder, blank, handed_in, tiny_unit
):
    write(
        folder,
        ("b.ipynb", written(handed_in, "FIRST")),
        ("a.ipynb", written(handed_in, "LAST")),
        ("c.ipynb", b"{"),
        ("d.ipynb", blank),
        (OWN, blank),
    )
    text, notes = counts(folder, tiny_unit)
    assert "LAST" in text and notes[0].startswith("a.ipynb counts")


def test_a_link_and_another_units_notebook_do_not_count(
    folder, blank, handed_in, tiny_unit, tmp_path
):
    elsewhere = tmp_path / "elsewhere.ipynb"
    elsewhere.write_bytes(written(handed_in, "NOT MINE"))
    (folder / "link.ipynb").symlink_to(elsewhere)
    (folder / ".hidden.ipynb").write_bytes(elsewhere.read_bytes())
    write(folder, ("other.ipynb", b'{"cells": []}'), (OWN, blank))
    text, notes = counts(folder, tiny_unit)
    assert "NOT MINE" not in text
    assert not any("counts" in note for note in notes)
    (folder / OWN).write_bytes(b"{")
    with pytest.raises(Refused):
        counts(folder, tiny_unit)


def test_thousands_of_notebooks_cost_nothing(folder, blank, tiny_unit):
    write(folder, *((f"{n}.ipynb", b"{") for n in range(2000)), (OWN, blank))
    assert len(other_notebooks(folder / OWN)) == MOST_OTHERS
    assert counts(folder, tiny_unit)[1] == counts(folder, tiny_unit)[1]


def test_another_notebook_is_a_reason_to_grade_again(folder, blank, handed_in):
    write(folder, (OWN, blank))
    submission = Submission("ada", SLUG, folder / OWN)
    before = fingerprint_of_submission(submission)
    write(folder, (COPY, written(handed_in, "MINE")))
    assert fingerprint_of_submission(submission) != before
    shutil.copy(folder / COPY, folder / OWN)
    (folder / COPY).unlink()
    assert fingerprint_of_submission(submission) != before

"""The audit reports nothing on a clean release, and names everything planted in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from autograder.assemble.assembler import assemble
from autograder.assemble.audit import audit_release
from autograder.assemble.problems import Problem
from autograder.course import Course, load_course

NOTEBOOK = "01_sums/01_sums.ipynb"
LETTERS = "01_sums/pocket/words/letters.py"


def say(path: Path, text: str) -> None:
    """Add text to a file, or add a cell to a notebook."""
    if path.suffix != ".ipynb":
        path.write_text(path.read_text() + "\n" + text)
        return
    notebook = json.loads(path.read_text())
    cell = {"cell_type": "markdown", "id": "planted", "metadata": {}, "source": text}
    notebook["cells"].append(cell)
    path.write_text(json.dumps(notebook))


@pytest.fixture
def plant(pocket: Course) -> Callable[[str, str], list[Problem]]:
    """Assemble, plant text in a released file, and audit."""
    assemble(pocket)

    def planted(name: str, text: str) -> list[Problem]:
        say(pocket.root / "assignments" / name, text)
        return audit_release(pocket)

    return planted


def test_a_clean_release_has_no_problem(pocket: Course) -> None:
    assemble(pocket)
    assert audit_release(pocket) == []


@pytest.mark.parametrize("name", [NOTEBOOK, LETTERS])
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("# BEGIN SOLUTION", "contains 'BEGIN SOLUTION'"),
        ("### BEGIN HIDDEN TESTS", "contains 'BEGIN HIDDEN'"),
        ("total_of_numbers  +=  one_number\nreturn total_of_numbers", "add_up"),
        ("self.numbers = [*self.numbers, number]  # of unit 02", "Mean.add"),
        ("largest_of_all, smallest_of_all = max(numbers), min(numbers)", "spread"),
        ("found = student.add_up(secret_numbers_of_the_check)", "::test_sum"),
        ("Because adding zero changes nothing: it is the neutral element.", "model"),
        ("Five points for Brahmagupta, five for the positional system.", "number 2"),
        ("```{code-cell}", "contains '{code-cell}'"),
    ],
)
def test_what_is_planted_is_found(plant, name: str, text: str, named: str) -> None:
    problems = plant(name, text)
    assert any(named in one.what and name in one.where for one in problems), problems


def test_an_answer_of_an_earlier_unit_is_no_leak(plant) -> None:
    assert plant("02_means/pocket/words/letters.py", "one_number_of_total = 1") == []
    assert plant("02_means/02_means.ipynb", "total_of_numbers += one_number") == []


@pytest.mark.parametrize(
    ("name", "where"),
    [
        ("01_sums/01_sums.md", "assignments/01_sums/01_sums.md"),
        ("01_sums/pocket/sums.py", "assignments/01_sums/pocket/sums.py"),
        ("01_sums/gradebook.db", "assignments/01_sums/gradebook.db"),
        ("09_zeros/09_zeros.ipynb", "assignments/09_zeros"),
    ],
)
def test_files_that_do_not_belong_are_found(pocket: Course, name, where) -> None:
    assemble(pocket)
    path = pocket.root / "assignments" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text("x")
    assert [problem.where for problem in audit_release(pocket)] == [where]


@pytest.mark.integration
def test_the_real_release_is_clean() -> None:
    problems = audit_release(load_course())
    assert not problems, "\n".join(map(str, problems))

"""Notebooks of students who write the answers of a unit in known right styles."""

from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path

import nbformat

from autograder.proof.judging import Proof, exercise_of, proof_of
from autograder.proof.variants import Variant, substitute
from autograder.sandbox import LocalStudent
from autograder.unit import Submission, cells_to_run, course_of
from autograder.viva.effects import Result, read_results
from autograder.viva.sheets import CALLS, RUN_INSIDE

UNIT_04 = "04_attention"


@cache
def proof(slug: str) -> Proof:
    course = course_of()
    return proof_of(course.unit(slug).slug, course.root)


def right_styles(slug: str, name: str) -> list[Variant]:
    """Return the right styles of a function, or of a class and its methods."""
    found = (one for one in proof(slug).variants if one.kind == "right")
    return [one for one in found if one.replaces.partition(".")[0] == name]


def styled(number: int) -> dict[str, str]:
    """Return the answers of unit 04, each in the right style with this number."""
    answers = dict(proof(UNIT_04).graded.answers)
    for name in CALLS[UNIT_04]:
        styles = right_styles(UNIT_04, name)
        style = styles[number % len(styles)]
        exercise = exercise_of(proof(UNIT_04).graded, style)
        answers[exercise] = substitute([answers[exercise]], style)[0]
    return answers


def hand_in(root: Path, student: str, answers: Mapping[str, str]) -> Submission:
    """Write a student's notebook of unit 04, with these answers to exercises."""
    notebook = nbformat.from_dict(proof(UNIT_04).graded.released)
    notebook = nbformat.reads(nbformat.writes(notebook), as_version=4)
    for cell in notebook.cells:
        grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
        cell.source = answers.get(grade_id, cell.source)
    path = root / "submitted" / student / UNIT_04 / f"{UNIT_04}.ipynb"
    path.parent.mkdir(parents=True)
    nbformat.write(notebook, path)
    return Submission(student, UNIT_04, path)


def runner_of(cells: list[str]) -> Callable[..., list[Result]]:
    """Return a function that runs calls in this process: source, name, calls."""
    student = LocalStudent([*cells, RUN_INSIDE])

    def run(source: str | None, name: str, calls: list[str]) -> list[Result]:
        reply = student["run_calls"](source, name, list(calls))
        results = read_results(reply, len(calls))
        assert results is not None, reply
        return results

    return run


def answer_cells(slug: str) -> list[str]:
    return cells_to_run(proof(slug).notebook)

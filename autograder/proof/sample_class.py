"""Make a class of twelve submissions whose scores are known.

The scores do not come from grading. Full marks and zero are known in advance. The other
scores come from running the same answers as trusted code in this process, without a
notebook, repair, a child process or nbgrader.
"""

import contextlib
import copy
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.grading.check_results import score_of
from autograder.grading.points import run_checks
from autograder.proof.variants import Variant, load_variants, substitute
from autograder.repair.slots import top_names
from autograder.sandbox import LocalStudent
from autograder.unit import (
    GradedUnit,
    cells_to_run,
    course_of,
    graded_unit,
    our_answers,
)

MISTAKES = 5
LOOP = (  # without busy waiting
    "from time import sleep\n\n\n"
    "def {name}(*args, **kwargs):\n    while True:\n        sleep(0.01)\n"
)
NEVER = (
    "from autograder.sandbox import NeverReturns\n\n\n"
    "def {name}(*args, **kwargs):\n    raise NeverReturns\n"
)
RAISE = 'def {name}(*args, **kwargs):\n    raise ValueError("this went wrong")\n'
NOTHING = "def {name}(*args, **kwargs):\n    return None\n"
WRITTEN = "Because the products of longer vectors vary more."


@dataclass(frozen=True)
class Sample:
    """Hold one submission of the class.

    Attributes:
        student: the student's id, which is the folder's name.
        what: a description of the submission.
        answers: maps an exercise to the submitted source. Other answers are unchanged.
        score: the score that the checks must give.
        damaged: whether the notebook's cells and metadata are also damaged.
    """

    student: str
    what: str
    answers: dict[str, str]
    score: float
    damaged: bool = False


class SampleClass:
    """Make the twelve submissions of one unit."""

    def __init__(self, slug: str, root: Path | None = None):
        """Read the unit's notebooks and variants.

        Raises:
            FileNotFoundError: if the unit's notebooks do not exist yet.
        """
        course = course_of(root)
        self.unit: GradedUnit = graded_unit(slug, root)
        found = course.unit(slug)
        path = course.answer_notebook(found)
        if not path.is_file():
            raise FileNotFoundError(f"{path} is not there: run `make notebooks` first")
        self.answer_notebook = nbformat.read(path, as_version=4)
        folder = course.root / "autograder" / "proof" / "variants"
        self.variants = load_variants(folder / f"unit_{found.slug}.py")
        self.answers = {
            cell.metadata.nbgrader.grade_id: _without_markers(cell.source)
            for cell in self.answer_notebook.cells
            if cell.metadata.get("nbgrader", {}).get("grade_id") in self.unit.points
        }

    def samples(self) -> Iterator[Sample]:
        """Yield the twelve submissions."""
        full = round(sum(self.unit.points.values()), 2)
        exercises = list(self.unit.points)
        yield Sample("perfect-one", "right, in one style", self._styled(0), full)
        yield Sample("perfect-two", "right, in another style", self._styled(-1), full)
        half = {e: self.answers[e] for e in exercises[: (len(exercises) + 1) // 2]}
        yield Sample("half-done", "the second half is left", half, self._score(half))
        for number, (what, answers) in enumerate(self._mistakes(), start=1):
            student = f"mistake-{number}"
            yield Sample(student, what, answers, self._score(answers))
        yield Sample("untouched", "as it was handed out", {}, 0.0)
        last = exercises[-1]
        answers = self._with(last, RAISE)
        score = self._score(answers)
        yield Sample("raising", f"{last} raises", answers, score)
        score = self._score(self._with(last, NEVER))
        answers = self._with(last, LOOP)
        yield Sample("looping", f"{last} loops for ever", answers, score)
        what = "right, but the notebook is damaged"
        yield Sample("damaged", what, self.answers, full, damaged=True)

    def _with(self, exercise: str, template: str) -> dict[str, str]:
        """Return the answers, with one exercise's definitions made from a template."""
        names = top_names(self.answers[exercise])
        source = "\n\n".join(template.format(name=name) for name in names)
        return {**self.answers, exercise: source}

    def _styled(self, which: int) -> dict[str, str]:
        """Return the answers, each replaced by its first or last right variant."""
        answers = self.answers
        for exercise in self.answers:
            right = self._of(exercise, "right")
            if right:
                answers = self._varied(answers, exercise, right[which])
        return answers

    def _of(self, exercise: str, kind: str) -> list[Variant]:
        names = top_names(self.answers[exercise])
        return [
            variant
            for variant in self.variants
            if variant.kind == kind and variant.replaces.partition(".")[0] in names
        ]

    @staticmethod
    def _varied(
        answers: dict[str, str], exercise: str, variant: Variant
    ) -> dict[str, str]:
        return {**answers, exercise: substitute([answers[exercise]], variant)[0]}

    def _mistakes(self) -> list[tuple[str, dict[str, str]]]:
        """Return typical mistakes, which come from each exercise in turn."""
        found = {e: self._of(e, "wrong") for e in self.unit.points}
        made: list[tuple[str, dict[str, str]]] = []
        for turn in range(MISTAKES):
            for exercise, wrong in found.items():
                if turn < len(wrong) and len(made) < MISTAKES:
                    answers = self._varied(self.answers, exercise, wrong[turn])
                    made.append((f"{exercise}: {wrong[turn].description}", answers))
        exercises = list(self.unit.points)
        for number in range(len(made), MISTAKES):
            exercise = exercises[number % len(exercises)]
            answers = self._with(exercise, NOTHING)
            made.append((f"{exercise}: returns nothing", answers))
        return made

    def _score(self, answers: dict[str, str]) -> float:
        """Compute the score of answers by running them as trusted code here."""
        notebook = self.notebook(answers)
        notebook.cells = [c for c in notebook.cells if not _is_setup(c)]
        with contextlib.redirect_stdout(io.StringIO()):
            ours = our_answers(self.unit.answers, notebook)
            student = LocalStudent(cells_to_run(notebook), answers=ours)
            unwritten = set(self.unit.points) - set(answers)
            results = run_checks(self.unit, student, unwritten=unwritten)
        return score_of(results)

    def notebook(self, answers: dict[str, str]) -> NotebookNode:
        """Return the released notebook with answers filled in."""
        notebook = copy.deepcopy(self.unit.released)
        for cell in notebook.cells:
            details = cell.metadata.get("nbgrader", {})
            if details.get("grade_id") in answers:
                cell.source = answers[details["grade_id"]]
            if answers and details.get("grade") and details.get("solution"):
                cell.source = WRITTEN
        return notebook


def _is_setup(cell: NotebookNode) -> bool:
    return "setup" in cell.metadata.get("tags", [])


def _without_markers(source: str) -> str:
    lines = source.splitlines()
    return "\n".join(line for line in lines if " SOLUTION" not in line)


def damage(notebook: NotebookNode) -> dict[str, Any]:
    """Return a notebook as another editor and a careless student might damage it.

    All metadata is lost, the cells have other ids, the first answer occurs twice, its
    check is deleted, and the kernel does not exist.
    """
    cells: Sequence[NotebookNode] = copy.deepcopy(notebook.cells)
    code = [n for n, cell in enumerate(cells) if _has(cell, "solution")]
    checks = [n for n, cell in enumerate(cells) if _has(cell, "grade")]
    kept = [cell for n, cell in enumerate(cells) if n != checks[0]]
    kept.insert(code[0] + 1, copy.deepcopy(cells[code[0]]))
    raw = json.loads(nbformat.writes(notebook))
    raw["metadata"] = {"kernelspec": {"name": "nobody", "display_name": "Nobody's"}}
    raw["cells"] = [
        {**json.loads(json.dumps(cell)), "id": f"lost-{n}", "metadata": {}}
        for n, cell in enumerate(kept)
    ]
    return raw


def _has(cell: NotebookNode, flag: str) -> bool:
    is_code = cell.cell_type == "code"
    return is_code and bool(cell.metadata.get("nbgrader", {}).get(flag))


def write_sample_class(
    slug: str, to: Path, root: Path | None = None
) -> dict[str, dict[str, Any]]:
    """Write the twelve submissions under `to`, and a file with their scores.

    The submissions of an earlier call are replaced.

    Returns:
        A mapping from each student to the description and the expected score.
    """
    made = SampleClass(slug, root)
    unit = made.unit.slug
    expected: dict[str, dict[str, Any]] = {}
    for sample in made.samples():
        folder = to / sample.student / unit
        notebook = made.notebook(sample.answers)
        raw = json.loads(nbformat.writes(notebook))
        raw = damage(notebook) if sample.damaged else raw
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(raw, indent=1, ensure_ascii=False)
        (folder / f"{unit}.ipynb").write_text(text + "\n", encoding="utf-8")
        expected[sample.student] = {"what": sample.what, "score": sample.score}
    total = round(sum(made.unit.points.values()), 2)
    table = {"unit": unit, "points_of_checks": total, "students": expected}
    text = json.dumps(table, indent=2, ensure_ascii=False)
    scores_file(to, unit).write_text(text + "\n", encoding="utf-8")
    return expected


def scores_file(submitted: Path, slug: str) -> Path:
    """Return the path of the file with the expected scores of a sample class."""
    return submitted / f"expected_{slug}.json"


def wrong_scores(submitted: Path, slug: str, found: Mapping[str, float]) -> list[str]:
    """List the students of a sample class who did not get the expected score.

    Args:
        submitted: the folder of the class.
        slug: the unit.
        found: maps each student to the score from grading.
    """
    table = json.loads(scores_file(submitted, slug).read_text(encoding="utf-8"))
    return [
        f"{slug}, {student}: expected {entry['score']:g}, found {found.get(student)}"
        for student, entry in table["students"].items()
        if round(found.get(student, -1.0), 2) != entry["score"]
    ]

"""Run a unit's hidden checks on wrong variants and alternative right answers.

A wrong variant must lose points, and a check must name its mistake unless the variant
is marked otherwise. If the first wrong variant of an exercise is used, right answers to
later exercises must not lose points. An alternative right answer must get all points of
the unit. The variants are our own code, so they run in this process.
"""

import contextlib
import functools
import io
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import nbformat
import torch
from nbformat import NotebookNode

from autograder.course import Course, Unit
from autograder.grading.check_results import CheckResult
from autograder.grading.earlier_exercises import names_used
from autograder.grading.hidden_checks import checks_with_points
from autograder.grading.points import pay, run_checks
from autograder.grading.running import CheckRun, run_exercise
from autograder.proof.variants.registry import Variant, load_variants
from autograder.proof.variants.substitution import substitute
from autograder.repair.slots import top_names
from autograder.sandbox import LocalStudent
from autograder.unit import (
    GradedUnit,
    cells_to_run,
    course_of,
    graded_unit,
    our_answers,
)

CHUNK = 8  # number of variants that a process gets at a time


@dataclass(frozen=True)
class Verdict:
    """Hold the verdict of the hidden checks on a variant.

    Attributes:
        slug: the unit.
        exercise: the exercise whose answer the variant replaces.
        variant: the variant that was judged.
        is_named: whether a failing check named the mistake.
        slips: the errors of the checks on this variant; empty if they judged it
            correctly.
    """

    slug: str
    exercise: str
    variant: Variant
    is_named: bool
    slips: tuple[str, ...]

    @property
    def problems(self) -> list[str]:
        """Return a line for each error, which names the variant."""
        who = f"{self.variant.kind} variant '{self.variant.description}'"
        return [f"{self.slug}: {self.exercise}: {who}: {slip}" for slip in self.slips]


@dataclass(frozen=True)
class Proof:
    """Hold a unit and all data needed to judge its variants."""

    graded: GradedUnit
    notebook: NotebookNode
    variants: Sequence[Variant]


def answer_cells(course: Course, unit: Unit) -> list[str]:
    """Return the answer notebook's code cells that are run for grading."""
    return cells_to_run(_without_setup(course, unit))


def _without_setup(course: Course, unit: Unit) -> NotebookNode:
    """Read the answer notebook without the cells that fetch the kit."""
    notebook = nbformat.read(course.answer_notebook(unit), as_version=4)
    tagged = [(cell, cell.metadata.get("tags", [])) for cell in notebook.cells]
    notebook.cells = [cell for cell, tags in tagged if "setup" not in tags]
    return notebook


@functools.cache
def proof_of(slug: str, root: Path) -> Proof:
    """Read a unit's answers, checks and variants; read them only once per process.

    Raises:
        RuntimeError: if the answer notebook does not run.
    """
    course = course_of(root)
    unit = course.unit(slug)
    notebook = _without_setup(course, unit)
    student = LocalStudent(cells_to_run(notebook))
    broken = [error for error in student.cell_errors if error]
    if broken:
        raise RuntimeError(f"{unit.slug}: the answer notebook fails") from broken[0]
    variants = load_variants(course.variants_file(unit))
    return Proof(graded_unit(unit.slug, course.root), notebook, variants)


def exercise_of(unit: GradedUnit, variant: Variant) -> str:
    """Return the exercise whose answer defines the name that a variant replaces.

    Raises:
        LookupError: if no graded exercise defines it.
    """
    name = variant.replaces.partition(".")[0]
    for exercise in unit.points:
        source = unit.answers[exercise]
        if f"def {name}(" in source or f"class {name}(" in source:
            return exercise
    raise LookupError(f"no exercise of {unit.slug} asks for {variant.replaces}")


def numbers_of(proof: Proof, only: str = "") -> list[int]:
    """Return the numbers of a unit's variants.

    Args:
        proof: the unit.
        only: a part of the exercise's name or the variant's description.
    """
    return [
        number
        for number, variant in enumerate(proof.variants)
        if only in f"{exercise_of(proof.graded, variant)}: {variant.description}"
    ]


def judge(proof: Proof, variant: Variant) -> Verdict:
    """Run the hidden checks on a notebook that contains one variant.

    An alternative right answer must get all points, and a wrong variant must lose some.
    Later exercises that use the variant must get all points if the variant is right, or
    if it is the first wrong variant of its exercise. The other exercises do not run,
    because their code is unchanged.
    """
    unit = proof.graded
    exercise = exercise_of(unit, variant)
    student = LocalStudent(
        substitute(cells_to_run(proof.notebook), variant),
        answers=our_answers(unit.answers, proof.notebook),
    )
    is_wrong = variant.kind == "wrong"
    if is_wrong and variant is not first_wrong(proof, exercise):
        runs = run_until_named(unit, student, exercise, variant.names)
        results = pay(unit.points[exercise], runs)
    else:
        results = run_checks(unit, student, users_of(unit.answers, exercise))
    own = [result for result in results if result.exercise == exercise]
    named = any(one.mistake and variant.names in one.mistake for one in own)
    if is_wrong:
        slips = failures(r for r in results if r.exercise != exercise)
        if all(result.status == "passed" for result in own):
            slips.insert(0, "no check fails")
        elif variant.diagnosed and not named:
            said = "; ".join(sorted({r.mistake for r in own if r.mistake}))
            slips.append(f"was not named; the checks named: {said or 'nothing'}")
    else:
        slips = failures(results)
    return Verdict(unit.slug, exercise, variant, named, tuple(slips))


def first_wrong(proof: Proof, exercise: str) -> Variant:
    """Return an exercise's first wrong variant."""
    wrong = (variant for variant in proof.variants if variant.kind == "wrong")
    return next(v for v in wrong if exercise_of(proof.graded, v) == exercise)


def run_until_named(
    unit: GradedUnit, student: LocalStudent, exercise: str, names: str
) -> list[CheckRun]:
    """Run an exercise's checks in order until one of them names the mistake."""
    runs: list[CheckRun] = []
    for check in checks_with_points(unit):
        if check.marker.exercise == exercise:
            runs += run_exercise(unit, student.fresh, [check])
            is_named = runs[-1].mistake and names in runs[-1].mistake
            if is_named or runs[-1].status == "not run":  # the student's process ended
                break
    return runs


def users_of(answers: Mapping[str, str], exercise: str) -> set[str]:
    """Return an exercise and all later ones that use its functions, even indirectly."""
    names, users = set(top_names(answers[exercise])), {exercise}
    for later, source in answers.items():  # in the order of the notebook
        if later not in users and names & names_used(source):
            users.add(later)
            names |= set(top_names(source))
    return users


def failures(results: Iterable[CheckResult]) -> list[str]:
    """Return a line for each check that did not pass."""
    return [f"{one.name}: {one.message}" for one in results if one.status != "passed"]


def judge_number(root: Path, job: tuple[str, int]) -> Verdict:
    """Judge one variant, which is identified by its unit's slug and its number."""
    torch.set_num_threads(1)
    slug, number = job
    proof = proof_of(slug, root)
    with contextlib.redirect_stdout(io.StringIO()):  # hide the output of a variant
        return judge(proof, proof.variants[number])


def judge_units(
    course: Course, units: Sequence[Unit], only: str = "", workers: int = 1
) -> Iterator[Verdict]:
    """Judge the variants of units in several processes; yield verdicts in order.

    With `only`, judge only the variants whose exercise or description contains it.
    """
    jobs = [
        (unit.slug, number)
        for unit in units
        for number in numbers_of(proof_of(unit.slug, course.root), only)
    ]
    judge_job = functools.partial(judge_number, course.root)
    if workers < 2 or len(jobs) <= CHUNK:
        yield from map(judge_job, jobs)
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        yield from pool.map(judge_job, jobs, chunksize=CHUNK)

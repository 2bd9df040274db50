"""Run wrong variants and right styles through a unit's hidden checks.

A wrong variant must lose points whatever is drawn, the same at every seed, and those
marked `diagnosed` must hear what is wrong; right answers of later exercises lose
nothing for it. A right style must get every point of the unit. The variants are ours,
so they run in this process.
"""

import contextlib
import functools
import io
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import torch
from nbformat import NotebookNode

from autograder.course import Course, Unit
from autograder.grading.earlier_exercises import names_used
from autograder.grading.points import CheckResult, run_checks, score_of
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

BEYOND = 1  # seeds at which more than a variant's own exercise is run


@dataclass(frozen=True)
class Verdict:
    """How a variant fared over the seeds.

    Attributes:
        exercise: the exercise whose answer it is.
        variant: the variant.
        slips: what went wrong: a seed at which a wrong variant kept all its points, or
            a right one lost some; empty if it is judged as it should be.
        diagnosed: whether some failing check named the mistake, at every seed.
        points: what it got for its exercise, seed by seed.
    """

    exercise: str
    variant: Variant
    slips: tuple[str, ...]
    diagnosed: bool
    points: tuple[float, ...] = ()

    @property
    def spread(self) -> float:
        """Return the points between the luckiest seed and the unluckiest."""
        return round(max(self.points) - min(self.points), 2) if self.points else 0.0

    @property
    def counted(self) -> str:
        """Say how often it got which points: `12.5 (3 times), 20 (47 times)`."""
        times = sorted(Counter(self.points).items())
        return ", ".join(f"{points:g} ({number} times)" for points, number in times)


@dataclass(frozen=True)
class Tally:
    """One row of the table: an exercise and how its variants fared."""

    exercise: str
    verdicts: Sequence[Verdict] = field(default_factory=list)

    def count(self, kind: str, good: bool | None = None) -> int:
        """Count the variants of a kind; with `good`, those judged right or not."""
        return sum(
            verdict.variant.kind == kind and good in (None, not verdict.slips)
            for verdict in self.verdicts
        )

    @property
    def spread(self) -> float:
        """Return the largest difference that a seed made to a variant's points."""
        return max((verdict.spread for verdict in self.verdicts), default=0.0)

    @property
    def diagnosed(self) -> int:
        """Count the wrong variants whose mistake was named."""
        return sum(v.diagnosed for v in self.verdicts if v.variant.kind == "wrong")

    @property
    def undiagnosed(self) -> list[Verdict]:
        """List those marked `diagnosed` whose mistake was not named."""
        return [v for v in self.verdicts if v.variant.diagnosed and not v.diagnosed]


def variants_file(course: Course, unit: Unit) -> Path:
    """Locate the variants of a unit."""
    return course.root / "autograder" / "proof" / "variants" / f"unit_{unit.slug}.py"


def answer_cells(course: Course, unit: Unit) -> list[str]:
    """Return the code cells of the answer notebook that grading would run."""
    return cells_to_run(_without_setup(course, unit))


def _without_setup(course: Course, unit: Unit) -> NotebookNode:
    """Read the answer notebook but for the cells that fetch the kit."""
    notebook = nbformat.read(course.answer_notebook(unit), as_version=4)
    tagged = [(cell, cell.metadata.get("tags", [])) for cell in notebook.cells]
    notebook.cells = [cell for cell, tags in tagged if "setup" not in tags]
    return notebook


def exercise_of(unit: GradedUnit, variant: Variant) -> str:
    """Return the exercise whose answer cell defines what a variant replaces.

    Raises:
        LookupError: if no graded exercise defines it.
    """
    name = variant.replaces.partition(".")[0]
    for exercise in unit.points:
        source = unit.answers[exercise]
        if f"def {name}(" in source or f"class {name}(" in source:
            return exercise
    raise LookupError(f"no exercise of {unit.slug} asks for {variant.replaces}")


def judge(
    unit: GradedUnit, cells: NotebookNode, variant: Variant, seeds: int
) -> Verdict:
    """Run one variant at `seeds` seeds.

    A right style must leave the other exercises right, and a wrong one must not cost
    the exercises that use it anything: they run at the first seeds.
    """
    exercise = exercise_of(unit, variant)
    ours = our_answers(unit.answers, cells)
    sources = substitute(cells_to_run(cells), variant)
    is_wrong = variant.kind == "wrong"
    slips: list[str] = []
    points: list[float] = []
    diagnosed = is_wrong
    for seed in range(seeds):
        only = asked_at(seed, unit, exercise, is_wrong)
        student = LocalStudent(sources, answers=ours)  # who keeps nothing of a seed
        results = run_checks(unit, student, seed, only)
        own = [result for result in results if result.exercise == exercise]
        others = [result for result in results if result.exercise != exercise]
        slips += slips_at(seed, own, is_wrong)
        slips += slips_at(seed, others, is_wrong=False)
        points.append(score_of(own))
        diagnosed &= any(r.mistake and variant.names in r.mistake for r in own)
    return Verdict(exercise, variant, tuple(slips), diagnosed, tuple(points))


def asked_at(
    seed: int, unit: GradedUnit, exercise: str, is_wrong: bool
) -> Collection[str] | None:
    """Return the exercises to run at a seed for a variant of `exercise`; None = all."""
    if seed >= BEYOND:
        return {exercise}
    return users_of(unit.answers, exercise) if is_wrong else None


def users_of(answers: Mapping[str, str], exercise: str) -> set[str]:
    """Return an exercise and those whose answers use its functions, if indirectly."""
    names, users = set(top_names(answers[exercise])), {exercise}
    for later, source in answers.items():  # in the notebook's order
        if later not in users and names & names_used(source):
            users.add(later)
            names |= set(top_names(source))
    return users


def slips_at(
    seed: int, results: Sequence[CheckResult], is_wrong: bool
) -> Iterator[str]:
    """Say what a seed's results got wrong about a variant."""
    failed = [result for result in results if result.status != "passed"]
    if is_wrong and not failed:
        yield f"seed {seed}: no check fails"
    if not is_wrong:
        for result in failed:
            yield f"seed {seed}: {result.name}: {result.message}"


@dataclass(frozen=True)
class Proof:
    """A unit with all that its variants are judged by."""

    graded: GradedUnit
    notebook: NotebookNode
    variants: Sequence[Variant]


@functools.cache
def proof_of(slug: str, root: Path) -> Proof:
    """Read a unit's answers, checks and variants, once in a process.

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
    variants = load_variants(variants_file(course, unit))
    return Proof(graded_unit(unit.slug, course.root), notebook, variants)


def judge_one(slug: str, root: Path, number: int, seeds: int) -> Verdict:
    """Judge a unit's variant by its number: what a process of a pool is asked for."""
    torch.set_num_threads(1)
    proof = proof_of(slug, root)
    with contextlib.redirect_stdout(io.StringIO()):  # what a variant prints
        return judge(proof.graded, proof.notebook, proof.variants[number], seeds)


def verify_unit(
    course: Course,
    unit: Unit,
    seeds: int,
    pool: Executor | None = None,
    only: str = "",
    every: int = 1,
) -> list[Tally]:
    """Judge the variants of a unit, in this process or in those of a pool.

    With `only`, those whose exercise or description it is a part of; with `every` 6,
    each sixth of them.
    """
    proof = proof_of(unit.slug, course.root)
    judge_number = functools.partial(judge_one, unit.slug, course.root, seeds=seeds)
    numbers = [
        number
        for number, variant in enumerate(proof.variants)
        if only in f"{exercise_of(proof.graded, variant)}: {variant.description}"
    ]
    verdicts = list((pool.map if pool else map)(judge_number, numbers[::every]))
    return [
        Tally(exercise, [v for v in verdicts if v.exercise == exercise])
        for exercise in proof.graded.points
    ]

"""Run wrong variants and right styles through a unit's hidden checks.

A wrong variant must lose points whatever is drawn, and those marked `diagnosed` must
hear what is wrong. A right style must get every point of the unit. The variants are
ours, so they run in this process.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import nbformat

from autograder.course import Course, Unit
from autograder.grading.points import CheckResult, run_checks
from autograder.proof.variants.registry import Variant, load_variants
from autograder.proof.variants.substitution import substitute
from autograder.sandbox import LocalStudent
from autograder.unit import GradedUnit, cells_to_run, graded_unit

WHOLE_UNIT = 3  # seeds at which a right style goes through all of its unit's checks


@dataclass(frozen=True)
class Verdict:
    """How a variant fared over the seeds.

    Attributes:
        exercise: the exercise whose answer it is.
        variant: the variant.
        slips: what went wrong: a seed at which a wrong variant kept all its points, or
            a right one lost some; empty if it is judged as it should be.
        diagnosed: whether some failing check named the mistake, at every seed.
    """

    exercise: str
    variant: Variant
    slips: tuple[str, ...]
    diagnosed: bool


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
    notebook = nbformat.read(course.answer_notebook(unit), as_version=4)
    tagged = [(cell, cell.metadata.get("tags", [])) for cell in notebook.cells]
    kept = [cell for cell, tags in tagged if "setup" not in tags]  # no kit is needed
    return cells_to_run(nbformat.v4.new_notebook(cells=kept))


def exercise_of(unit: GradedUnit, variant: Variant, cells: dict[str, str]) -> str:
    """Return the exercise whose answer cell defines what a variant replaces.

    Raises:
        LookupError: if no graded exercise defines it.
    """
    name = variant.replaces.partition(".")[0]
    for exercise in unit.points:
        source = cells.get(exercise, "")
        if f"def {name}(" in source or f"class {name}(" in source:
            return exercise
    raise LookupError(f"no exercise of {unit.slug} asks for {variant.replaces}")


def judge(
    unit: GradedUnit, exercise: str, cells: list[str], variant: Variant, seeds: int
) -> Verdict:
    """Run one variant at `seeds` seeds.

    A right style must leave the other exercises right too: they run at the first seeds.
    """
    student = LocalStudent(substitute(cells, variant))
    is_wrong = variant.kind == "wrong"
    slips: list[str] = []
    diagnosed = is_wrong
    for seed in range(seeds):
        only = {exercise} if is_wrong or seed >= WHOLE_UNIT else None
        results = run_checks(unit, student, "verify", seed, only)
        slips += slips_at(seed, results, is_wrong)
        phrases = [result.mistake for result in results if result.mistake]
        diagnosed &= any(variant.names in phrase for phrase in phrases)
    return Verdict(exercise, variant, tuple(slips), diagnosed)


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


def verify_unit(course: Course, unit: Unit, seeds: int) -> list[Tally]:
    """Judge every variant of a unit, and the answers themselves as a right style."""
    graded = graded_unit(unit.slug, course.root)
    cells = answer_cells(course, unit)
    notebook = nbformat.read(course.answer_notebook(unit), as_version=4)
    by_id = {cell.id: cell.source for cell in notebook.cells}
    broken = [error for error in LocalStudent(cells).cell_errors if error]
    if broken:
        raise RuntimeError(f"{unit.slug}: the answer notebook fails") from broken[0]
    verdicts = []
    for variant in load_variants(variants_file(course, unit)):
        exercise = exercise_of(graded, variant, by_id)
        verdicts.append(judge(graded, exercise, cells, variant, seeds))
    return [
        Tally(exercise, [v for v in verdicts if v.exercise == exercise])
        for exercise in graded.points
    ]

"""Run a unit's hidden checks on a student, and turn what happens into points."""

import functools
import importlib.util
import inspect
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, Protocol

from autograder.checking.expect import CheckMarker
from autograder.checking.failures import CheckFailed, StudentError, StudentGone
from autograder.checking.random_inputs import Draw
from autograder.sandbox.student import Student
from autograder.unit import GradedUnit

Status = Literal["passed", "failed", "not run"]
FIXTURES = {"student", "draw"}


class BrokenChecks(Exception):
    """Report that a unit's hidden checks are not as they must be."""


class Students(Protocol):
    """Give each exercise a student to look at."""

    def fresh(self, exercise: str) -> Any:
        """Return a context manager whose value is the exercise's student."""


@dataclass(frozen=True)
class HiddenCheck:
    """One hidden check: its function, what its marker says, and its points."""

    name: str
    marker: CheckMarker
    function: Callable[..., None]
    max_points: float = 0.0


@dataclass(frozen=True)
class CheckResult:
    """What one hidden check gave.

    `message` says what was wrong, `hint` what to look at again; both are for the
    student. `mistake` is the phrase that names a recognised mistake.
    """

    exercise: str
    name: str
    title: str
    share: float
    points: float
    max_points: float
    status: Status
    message: str = ""
    hint: str = ""
    mistake: str | None = None


def load_checks(path: Path) -> list[HiddenCheck]:
    """Read the hidden checks of a file, in their order.

    Raises:
        BrokenChecks: if there is none, or one asks for another fixture than ours.
    """
    state = path.stat()
    checks = list(
        _marked_functions(_load_module(path, state.st_mtime_ns, state.st_size))
    )
    if not checks:
        raise BrokenChecks(f"{path.name} has no function marked with @check")
    for check in checks:
        asked = set(inspect.signature(check.function).parameters)
        if not asked <= FIXTURES:
            unknown = ", ".join(sorted(asked - FIXTURES))
            raise BrokenChecks(f"{path.name}: {check.name} asks for {unknown}")
    return checks


@functools.lru_cache(maxsize=32)
def _load_module(path: Path, changed: int, size: int) -> ModuleType:
    """Import a file of checks under a name of its own, anew when it has changed."""
    name = f"hidden_checks_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise BrokenChecks(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _marked_functions(module: ModuleType) -> Iterator[HiddenCheck]:
    for name, value in vars(module).items():
        marker = getattr(value, "hidden_check", None)
        if isinstance(marker, CheckMarker) and name.startswith("test_"):
            yield HiddenCheck(name, marker, value)


def checks_with_points(unit: GradedUnit) -> list[HiddenCheck]:
    """Return a unit's checks, each with its part of the graded cell's points.

    The parts are rounded to two decimals; the last of an exercise takes what is left.

    Raises:
        BrokenChecks: if a check has no graded cell or a graded cell has no check.
    """
    checks = load_checks(unit.checks_file)
    exercises = {check.marker.exercise for check in checks}
    for problem, names in (
        ("no graded cell", exercises - set(unit.points)),
        ("no hidden check", set(unit.points) - exercises),
    ):
        if names:
            raise BrokenChecks(f"{unit.slug}: {problem} for {', '.join(sorted(names))}")
    return [
        priced
        for exercise, points in unit.points.items()
        for priced in _priced(points, [c for c in checks if _of(c, exercise)])
    ]


def _of(check: HiddenCheck, exercise: str) -> bool:
    return check.marker.exercise == exercise


def _priced(points: float, checks: list[HiddenCheck]) -> Iterator[HiddenCheck]:
    total = sum(check.marker.share for check in checks)
    left = points
    for number, check in enumerate(checks, start=1):
        part = round(points * check.marker.share / total, 2)
        part = round(left, 2) if number == len(checks) else part
        left -= part
        yield replace(check, max_points=part)


def run_checks(
    unit: GradedUnit,
    students: Students,
    student_id: str,
    seed: int = 0,
    only: Collection[str] | None = None,
    unwritten: Collection[str] = (),
) -> list[CheckResult]:
    """Run every hidden check of `unit`, exercise by exercise.

    Args:
        unit: where the checks are and how many points each exercise has.
        students: gives each exercise its student; every `Student` does.
        student_id: seeds the draws together with the unit and the check's name.
        seed: another number to draw by; 0 when grading.
        only: the exercises to look at; None = all of them.
        unwritten: exercises known to be as they were handed out: they earn nothing.

    Returns:
        One result for each check, in the order of the notebook, whatever happens.
    """
    checks = checks_with_points(unit)
    results = []
    for exercise in unit.points:
        if only is not None and exercise not in only:
            continue
        own = [check for check in checks if _of(check, exercise)]
        if exercise in unwritten:
            results += [_result(check, "failed", NOT_WRITTEN) for check in own]
            continue
        results += _run_exercise(unit, students, own, student_id, seed)
    return results


def _run_exercise(
    unit: GradedUnit,
    students: Students,
    checks: list[HiddenCheck],
    student_id: str,
    seed: int,
) -> list[CheckResult]:
    results: list[CheckResult] = []
    seen_working = False
    try:
        with students.fresh(checks[0].marker.exercise) as student:
            for check in checks:
                draw = Draw(unit.slug, student_id, check.name, seed)
                result, calls = _run_one(check, student, draw)
                results.append(result)
                seen_working |= result.status == "passed" and calls > 0
                if calls == 0 and result.status == "passed":
                    results[-1] = replace(result, hint=_NO_CALL)
    except StudentGone as gone:
        words = f"Not run: {gone.reason}."
        left = checks[len(results) :]
        results += [_result(check, "not run", message=words) for check in left]
    return [_settle(result, seen_working) for result in results]


NOT_WRITTEN = "This exercise is not written yet."
_NO_CALL = "\0no call"


def _settle(result: CheckResult, seen_working: bool) -> CheckResult:
    """Give a check that only read the source its points where the code also works."""
    if result.hint != _NO_CALL:
        return result
    if seen_working:
        return replace(result, hint="")
    words = "This counts as soon as another check of the exercise passes."
    return replace(result, status="failed", points=0.0, message=words, hint="")


def _run_one(
    check: HiddenCheck, student: Student, draw: Draw
) -> tuple[CheckResult, int]:
    fixtures = {"student": student, "draw": draw}
    asked = inspect.signature(check.function).parameters
    student.begin(draw.seed)
    try:
        check.function(**{name: fixtures[name] for name in asked})
    except CheckFailed as failed:
        result = _result(check, "failed", failed.message, failed.mistake)
    except StudentError as error:
        result = _result(check, "failed", error.message)
    except StudentGone:
        raise
    except Exception:
        # What came back was of a kind that the check did not foresee.
        words = "What your code returned is not of the kind that the exercise asks for."
        result = _result(check, "failed", words)
    else:
        result = _result(check, "passed")
    return result, student.calls


def _result(
    check: HiddenCheck, status: Status, message: str = "", mistake: str | None = None
) -> CheckResult:
    marker = check.marker
    return CheckResult(
        exercise=marker.exercise,
        name=check.name,
        title=marker.title,
        share=marker.share,
        points=check.max_points if status == "passed" else 0.0,
        max_points=check.max_points,
        status=status,
        message=message,
        hint="" if status == "passed" else marker.hint,
        mistake=mistake,
    )

"""Load a unit's hidden checks, and divide the unit's points among them."""

import functools
import importlib.util
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from types import ModuleType

from autograder.checking.expect import CheckMarker
from autograder.unit import GradedUnit

FIXTURES = {"student", "draw"}


class BrokenChecks(Exception):
    """Report that a unit's hidden checks are invalid."""


@dataclass(frozen=True)
class HiddenCheck:
    """Hold one hidden check: its function, its marker and its points."""

    name: str
    marker: CheckMarker
    function: Callable[..., None]
    max_points: float = 0.0


def load_checks(path: Path) -> list[HiddenCheck]:
    """Return the hidden checks of a file in their order.

    Raises:
        BrokenChecks: if the file has no check, or a check uses an unknown fixture.
    """
    state = path.stat()
    checks = list(
        _marked_functions(_load_module(path, state.st_mtime_ns, state.st_size))
    )
    if not checks:
        raise BrokenChecks(f"{path.name} has no function marked with @check")
    for check in checks:
        unknown = ", ".join(sorted(fixtures_of(check.function) - FIXTURES))
        if unknown:
            raise BrokenChecks(f"{path.name}: {check.name} asks for {unknown}")
    return checks


@functools.cache
def fixtures_of(function: Callable[..., None]) -> frozenset[str]:
    """Return the names of the fixtures that a check's function uses."""
    return frozenset(inspect.signature(function).parameters)


@functools.lru_cache(maxsize=32)
def _load_module(path: Path, changed: int, size: int) -> ModuleType:
    """Import a file of checks under a unique name, and again if it changed."""
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

    The points are rounded to two decimals, and the last check of an exercise gets the
    remaining points.

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
        for priced in _priced(
            points, [c for c in checks if c.marker.exercise == exercise]
        )
    ]


def _priced(points: float, checks: list[HiddenCheck]) -> Iterator[HiddenCheck]:
    total = sum(check.marker.share for check in checks)
    left = points
    for number, check in enumerate(checks, start=1):
        part = round(points * check.marker.share / total, 2)
        part = round(left, 2) if number == len(checks) else part
        left -= part
        yield replace(check, max_points=part)

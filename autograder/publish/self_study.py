"""List the additional files of the self-study edition, including hidden checks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.assemble.markers import without_markers
from autograder.course import TRANSLATIONS, Course, Unit
from autograder.translations.feedback_catalogues import (
    CHECKING,
    ERRORS,
    FEEDBACK,
    GRADER,
    PAGES_OF_GRADER,
)

CHECKS = "checks"  # the folder of these files in the published repository
COMMAND = "check.py"
AUTOGRADER = Path(__file__).resolve().parents[1]
# The modules of `autograder` that a check needs. No other modules are published.
MODULES = {
    "": (
        *("__init__", "course", "explained_errors", "notebook_syntax", "phrases"),
        "unit",
    ),
    "checking": (
        *("__init__", "banned_calls", "behaviour", "built_ins", "chance", "compare"),
        *("dropout", "expect", "failures", "generic_checks", "kinds_of_inputs"),
        *("masks", "random_inputs", "scopes", "texts", "varied_inputs"),
    ),
    "grading": (
        *("__init__", "check_results", "earlier_exercises", "hidden_checks"),
        *("language", "own_unit", "points", "running"),
    ),
    "repair": (
        *("__init__", "fences", "matching", "names_of_cells", "reading", "rebuild"),
        "slots",
    ),
    "sandbox": (
        *("__init__", "callbacks", "error_words", "handles", "in_process"),
        *("second_runs", "submission_proxy", "watched_calls"),
    ),
    "sandbox/student_side": (
        *("__init__", "cells", "errors", "messages", "meta_device", "requests"),
        *("shell", "side_effects", "values"),
    ),
    "self_study": (
        *("__init__", "answers", "child", "command", "learner", "mine", "progress"),
        *("report", "waiting"),
    ),
    "translations": ("__init__", "catalogue", "feedback_catalogues"),
}


def self_study_files(
    course: Course, units: Sequence[Unit], language: str
) -> dict[str, bytes]:
    """Return the additional files of the self-study edition.

    These are the checks and answers of `units`, the code that runs the checks, and the
    command. A class must not get them.
    """
    files = dict(_checks(course, units))
    template = Path(__file__).with_name("templates") / COMMAND
    text = template.read_text(encoding="utf-8").replace("@language@", language)
    kits = [f"assignments/{unit.slug}/" for unit in units]
    for place in ("", f"{CHECKS}/solutions/", *kits):
        files[f"{place}{course.package}/{COMMAND}"] = text.encode()
    files[f"{course.package}/__init__.py"] = b'"""The command that checks answers."""\n'
    return files


def _checks(course: Course, units: Sequence[Unit]) -> Iterator[tuple[str, bytes]]:
    """Yield the files in `CHECKS`, at the same paths as in the course."""
    for folder, names in MODULES.items():
        for name in names:
            path = AUTOGRADER / folder / f"{name}.py"
            inside = path.relative_to(AUTOGRADER).as_posix()
            yield f"{CHECKS}/autograder/{inside}", path.read_bytes()
    for path in _of_course(course, units):
        name = path.relative_to(course.root).as_posix()
        content = path.read_bytes()
        if path.suffix == ".py":
            content = without_markers(content.decode()).encode()
        yield f"{CHECKS}/{name}", content


def _of_course(course: Course, units: Sequence[Unit]) -> Iterator[Path]:
    """Yield the course's own files that the checks need, and each unit's files."""
    yield course.root / "autograder" / "course.toml"
    for path in sorted(course.package_dir.rglob("*")):
        inside = path.relative_to(course.package_dir)
        top = inside.parts[0].removesuffix(".py")
        is_private = top in course.private_modules or "__pycache__" in inside.parts
        if path.is_file() and not is_private:
            yield path
    for unit in units:
        yield course.checks_file(unit)
        if course.hints_file(unit).is_file():
            yield course.hints_file(unit)
        yield course.answer_notebook(unit)
        yield course.release_notebook(unit)
    for language in TRANSLATIONS:
        locale = course.root / "book" / "locale" / language
        catalogues = [f"{FEEDBACK}/{unit.slug}.po" for unit in units]
        optional = [course.translated_notebook(unit, language) for unit in units]
        optional += [
            locale / name
            for name in (CHECKING, GRADER, PAGES_OF_GRADER, ERRORS, *catalogues)
        ]
        yield from (path for path in optional if path.is_file())

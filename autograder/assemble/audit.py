"""Search a release for private text: answers, hidden checks and master files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.assemble.kit import IGNORED, kit_files
from autograder.assemble.private_text import (
    FORBIDDEN,
    Secret,
    gives_away,
    secret_answers,
    secret_checks,
    secret_texts,
    shown_lines,
    telling_lines,
)
from autograder.assemble.problems import Problem
from autograder.course import TRANSLATIONS, Course, Unit


def audit_release(course: Course) -> list[Problem]:
    """List everything under assignments/ that students must not see."""
    checks = list(secret_checks(course))
    problems = []
    folders = sorted((course.root / "assignments").glob("*"))
    folders = [folder for folder in folders if folder.name not in TRANSLATIONS]
    for language in TRANSLATIONS:
        folders += sorted((course.root / "assignments" / language).glob("*"))
    for folder in folders:
        unit = next((one for one in course.units if one.slug == folder.name), None)
        if unit is None:
            where = folder.relative_to(course.root).as_posix()
            problems.append(Problem(where, "belongs to no unit", "remove it"))
        else:
            secrets = [
                *secret_answers(course, unit),
                *secret_texts(course, unit),
                *checks,
            ]
            problems += _audit_unit(course, unit, folder, secrets)
    return problems


def _audit_unit(
    course: Course, unit: Unit, folder: Path, secrets: Sequence[Secret]
) -> Iterator[Problem]:
    kit = kit_files(course, unit)
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        where = path.relative_to(course.root).as_posix()
        if path.is_dir() or set(IGNORED) & set(inside.parts):
            continue
        name = inside.as_posix()
        if name != f"{unit.slug}.ipynb" and name not in kit:
            what = "is neither the notebook nor a part of the kit of this unit"
            yield Problem(where, what, "remove it, and run `make notebooks`")
            continue
        text = path.read_bytes().decode("utf-8", errors="replace")
        for mark in FORBIDDEN:
            if mark in text:
                yield Problem(where, f"contains '{mark}'", "run `make notebooks`")
        shown = telling_lines(shown_lines(path, text))
        for secret in secrets:
            if gives_away(shown, secret):
                remedy = "reword what gives it away, or take the module out of the kit"
                yield Problem(where, f"gives away {secret.name}", remedy)

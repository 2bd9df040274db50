"""Look through everything that is about to become public for what must not."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat

from autograder.assemble.kit import kit_files
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
from autograder.course import Course

REMEDY = "take it out, then publish again"
PRIVATE_PATH = re.compile(
    r"(^|/)(solutions|autograder|submitted|autograded|feedback|grading|collected)/"
    r"|(^|/)(nbgrader_config\.py|gradebook\.db|expected\w*\.json|audit\.jsonl)$"
    r"|(^|/)test_\d\d_\w+\.py$|\.(db|sqlite3?|pem|key|zip|tar|t?gz|whl)$"
)
# A line of its own: a page may explain a marker in a sentence or a list.
MARKER = re.compile(
    r"^\s*(###|<!--)\s*(BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)\b", re.MULTILINE
)
MASTER = re.compile(r"^:(answer|exercise|check|hand-in):", re.MULTILINE)
FOUND_INSIDE = {
    "a gradebook or another database": re.compile(r"\ASQLite format 3\0"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "an access token": re.compile(r"\b(ghp_\w{36}|github_pat_\w{30,})"),
    # the head of a table; the search index of the book has these words, too
    "students' scores": re.compile(r'\A[\w ,;"\t]*\bstudent_id\b[\w ,;"\t]*\bscore\b'),
}
TAG = re.compile(r"<[^>]*>")


def audit_public(course: Course, folder: Path) -> list[Problem]:
    """List everything under `folder` that must not become public."""
    secrets = _secrets(course)
    published = {path.name for path in folder.glob("assignments/*")}
    kits = {u.slug: kit_files(course, u) for u in course.units if u.slug in published}
    problems: list[Problem] = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() or name.startswith(".git/"):
            continue
        slug = _unit_of(course, name)
        found = list(_found(course, path, name, secrets[slug]))
        inside = name.removeprefix(f"assignments/{slug}/")
        if slug and inside != f"{slug}.ipynb" and inside not in kits[slug]:
            found.append("is neither the notebook nor a part of the kit of this unit")
        problems += [Problem(_source(name), what, REMEDY) for what in found]
    return problems


def _secrets(course: Course) -> dict[str, list[Secret]]:
    """Return what must not be told: in a unit's folder, and under "" anywhere else."""
    common = list(secret_checks(course))
    for unit in course.units:
        common += secret_texts(course, unit)
    later = {
        unit.slug: [*secret_answers(course, unit), *common] for unit in course.units
    }
    return {"": later[course.units[0].slug], **later}


def _unit_of(course: Course, name: str) -> str:
    """Return the unit in whose folder under assignments/ a file lies, or ""."""
    top, _, rest = name.partition("/")
    slug = rest.partition("/")[0]
    known = top == "assignments" and slug in {unit.slug for unit in course.units}
    return slug if known else ""


def _source(name: str) -> str:
    """Name the file where its author finds it."""
    return re.sub(r"^docs/", "book/_build/html/", name)


def _found(
    course: Course, path: Path, name: str, secrets: Sequence[Secret]
) -> Iterator[str]:
    """Yield what a file holds, or is, that must not become public."""
    if path.is_symlink():
        yield "is a link"
        return
    if PRIVATE_PATH.search(name):
        yield "has a name that only private files have"
    text = path.read_bytes().decode("utf-8", errors="replace")
    for what, pattern in FOUND_INSIDE.items():
        if pattern.search(text):
            yield f"holds {what}"
    if str(course.root) in text:
        yield f"names a folder of this machine: {course.root}"
    lines = _lines(path, text)
    yield from _marks(name, "\n".join(lines))
    shown = telling_lines(lines)
    yield from (f"gives away {s.name}" for s in secrets if gives_away(shown, s))
    if path.suffix == ".ipynb" and _has_outputs(text):
        yield "holds the outputs of a run"


def _lines(path: Path, text: str) -> list[str]:
    """Return the lines that somebody reads in a file."""
    if path.suffix in (".html", ".svg"):
        return html.unescape(TAG.sub("", text)).split("\n")
    try:
        return shown_lines(path, text)
    except nbformat.reader.NotJSONError:
        return text.split("\n")


def _marks(name: str, text: str) -> Iterator[str]:
    """Yield the markers of answers, and the fields of masters."""
    if name.startswith("assignments/"):
        marks = {mark for mark in FORBIDDEN if mark in text}
    else:
        marks = {match[0].strip() for match in MARKER.finditer(text)}
    yield from (f"contains '{mark}'" for mark in sorted(marks))
    if match := MASTER.search(text):
        yield f"is a master, or a part of one: it contains '{match[0]}'"


def _has_outputs(text: str) -> bool:
    try:
        cells = nbformat.reads(text, as_version=4).cells
    except nbformat.reader.NotJSONError:
        return False
    return any(cell.get("outputs") for cell in cells)

"""The instructor's edition: the same chapters with answers and hidden checks.

The public edition never reads the files with answers and hidden checks, so it cannot
contain them.
"""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx

from autograder.assemble.markers import without_markers
from autograder.course import Course, Unit

FENCE = "`" * 8


def fold(title: str, path: Path) -> list[str]:
    """Return MyST text for a folded listing of the Python file `path`."""
    code = without_markers(path.read_text("utf-8")).rstrip("\n")
    return [
        f":::::{{dropdown}} {title}",
        f"{FENCE}python",
        code,
        FENCE,
        ":::::",
        "",
    ]


def instructor_part(course: Course, unit: Unit) -> str:
    """Return MyST text with the notes, the answers and the hidden checks of `unit`."""
    notes = course.root / "solutions" / "instructor" / f"{unit.slug}.md"
    heading = "## For the instructor"  # the notes begin with the same line
    lines = ["", "", notes.read_text("utf-8") if notes.is_file() else heading, ""]
    answers = [course.module_file(name) for name in unit.modules]
    checks = course.checks_file(unit)
    for path in filter(Path.is_file, [*answers, checks]):
        kind = "Hidden checks" if path == checks else "Answers"
        lines += fold(f"{kind}: `{path.name}`", path)
    return "\n".join(lines)


def add_instructor_part(app: Sphinx, docname: str, source: list[str]) -> None:
    """Append the instructor's part to a chapter, only in the instructor's edition."""
    if app.config.course_edition != "instructor":
        return
    course = app.config.course_facts
    for unit in course.units:
        if unit.slug == docname:
            source[0] += instructor_part(course, unit)

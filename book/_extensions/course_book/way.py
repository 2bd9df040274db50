"""The table of what each chapter requires: earlier units, and time in minutes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes

from autograder.course import Unit

from .directives import CourseDirective
from .words import said

NEEDS = re.compile(r"^\*\*You need\*\* (.*)$", re.MULTILINE)
UNIT = re.compile(r"\{doc\}`[^`<]*<?(\d\d)_\w+>?`")
TIME = re.compile(
    r"^\*\*Time:\*\* (\d+) minutes to read, (\d+) for the notebook", re.MULTILINE
)


@dataclass(frozen=True)
class Asked:
    """Hold the requirements of a chapter.

    Attributes:
        needs: the numbers of the units that it builds on.
        reading: minutes for the chapter.
        notebook: minutes for its notebook.
    """

    needs: tuple[int, ...]
    reading: int
    notebook: int


def asked(chapter: str) -> Asked:
    """Read a chapter's requirements from its source.

    Raises:
        ValueError: if it has no "**You need**" or no "**Time:**" in the form of
            `skeleton.md`.
    """
    needs, time = NEEDS.search(chapter), TIME.search(chapter)
    if not needs or not time:
        raise ValueError(
            "expected lines such as “**You need** …” and “**Time:** 45 minutes to "
            "read, 80 for the notebook”, found not both"
        )
    units = sorted({int(number) for number in UNIT.findall(needs[1])})
    return Asked(tuple(units), int(time[1]), int(time[2]))


def in_hours(minutes: int) -> str:
    """Return minutes as hours and minutes, such as “10 h 45 min”."""
    hours, rest = divmod(minutes, 60)
    return said("{hours} h {minutes:02} min").format(hours=hours, minutes=rest)


def way_through(chapters: dict[int, Asked]) -> list[str]:
    """Return the lines of a table with each unit's requirements and the total time."""
    rows = [
        f"| {number:02} | {', '.join(f'{n:02}' for n in one.needs) or said('none')} | "
        f"{one.reading} | {one.notebook} |"
        for number, one in chapters.items()
    ]
    reading = sum(one.reading for one in chapters.values())
    notebook = sum(one.notebook for one in chapters.values())
    total = said("**{time} in all**").format(time=in_hours(reading + notebook))
    return [
        said("| Unit | builds on | minutes to read | minutes for the notebook |"),
        "|---|---|--:|--:|",
        *rows,
        f"| {total} | | {in_hours(reading)} | {in_hours(notebook)} |",
    ]


class WayThrough(CourseDirective):
    """Write the table of each unit's requirements, which it reads from the chapters."""

    has_content = False

    def source(self, unit: Unit) -> Path:
        """Return the file of a unit's chapter, and note that the page depends on it."""
        path = self.env.doc2path(unit.slug)
        self.env.note_dependency(str(path))
        return Path(path)

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the table."""
        chapters = {
            unit.number: asked(self.source(unit).read_text("utf-8"))
            for unit in self.course.units
            if unit.slug in self.env.found_docs
        }
        return self.parse(way_through(chapters))

"""Detect the unit of a notebook from its cells, its file name or its title."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat

from autograder.collect.incoming import IncomingNotebook
from autograder.course import TRANSLATIONS, Course, Unit
from autograder.repair import Refused
from autograder.repair.reading import read_content
from autograder.repair.slots import squeezed

ENOUGH = 0.5  # share of a unit's graded cells that a notebook must contain


class UnitDetector:
    """Detect the unit of a notebook."""

    def __init__(self, course: Course) -> None:
        """Read the cell ids and the unanswered cells from the released notebooks."""
        self.units = {
            unit: _grade_ids(course, unit)
            for unit in course.units
            if course.release_notebook(unit).is_file()
        }
        self._stubs = {unit: list(_stubs(course, unit)) for unit in self.units}

    def unit(self, incoming: IncomingNotebook, stem: str) -> Unit | None:
        """Detect the unit from the cells, the name or the title, or return None."""
        try:
            cells = read_content(incoming.content)
        except Refused:
            return self._by_name(stem)
        ids = {cell.grade_id for cell in cells} | {i for c in cells for i in c.ids}
        texts = [cell.source for cell in cells if cell.cell_type == "markdown"]
        return self._by_cells(ids) or self._by_name(stem) or self._by_title(texts)

    def named_unit(self, stem: str) -> Unit | None:
        """Return the unit that a file's name contains, or None."""
        return self._by_name(stem)

    def is_untouched(self, content: bytes, unit: Unit) -> bool:
        """Return whether all answers are as they were released, in any language."""
        try:
            given = {squeezed(cell.source) for cell in read_content(content)}
        except Refused:
            return False
        return any(stubs <= given for stubs in self._stubs.get(unit, ()))

    def _by_cells(self, ids: set[str | None]) -> Unit | None:
        shares = {
            unit: len(known & ids) / len(known) for unit, known in self.units.items()
        }
        best = sorted(shares, key=shares.__getitem__)[-1:]
        return best[0] if best and shares[best[0]] >= ENOUGH else None

    def _by_name(self, stem: str) -> Unit | None:
        plain = re.sub(r"[\W_]+", "_", stem.casefold())
        found = [unit for unit in self.units if unit.slug in plain]
        return found[0] if len(found) == 1 else None

    def _by_title(self, texts: Iterable[str]) -> Unit | None:
        titles = {unit.title: unit for unit in self.units}
        heading = next((t for t in texts if t.startswith("# ")), "")
        return titles.get(heading.split("\n")[0].removeprefix("# ").strip())


def _grade_ids(course: Course, unit: Unit) -> frozenset[str]:
    """Return the ids of the cells of a unit that carry points."""
    path = course.release_notebook(unit)
    cells = nbformat.read(path, as_version=4).cells
    return frozenset(
        cell.metadata.nbgrader.grade_id
        for cell in cells
        if cell.metadata.get("nbgrader", {}).get("grade")
    )


def _stubs(course: Course, unit: Unit) -> Iterator[frozenset[str]]:
    """For each language, yield the set of a unit's unanswered cells."""
    english = course.release_notebook(unit)
    folder = english.parent.parent
    others = (folder / one / unit.slug / english.name for one in TRANSLATIONS)
    for path in filter(Path.is_file, (english, *others)):
        cells = nbformat.read(path, as_version=4).cells
        kinds = [(cell, cell.metadata.get("nbgrader", {})) for cell in cells]
        yield frozenset(
            squeezed(cell.source)
            for cell, kind in kinds
            if kind.get("solution") or kind.get("task")
        )

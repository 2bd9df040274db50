"""Copy the student's answers into the released notebook."""

import ast
import copy
from collections.abc import Sequence
from dataclasses import dataclass, field

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell

from autograder.notebook_syntax import parse_cell
from autograder.phrases import Phrase
from autograder.repair.matching import Match, Matcher
from autograder.repair.reading import Refused, SubmittedCell
from autograder.repair.slots import Slot, as_code, top_names
from autograder.unit import GradedUnit, is_graded_code

WRITTEN_ELSEWHERE = "# This answer is in another cell."


@dataclass
class Repaired:
    """Hold a submission after it was copied into the released notebook.

    Attributes:
        notebook: the notebook for nbgrader and the checks.
        notes: descriptions of the changes, one line each.
        doubtful: the notes that an instructor should look at.
        unwritten: exercises without an answer.
        missing: the names of answer cells that are not in the submission.
    """

    notebook: NotebookNode
    notes: list[str] = field(default_factory=list)
    doubtful: list[str] = field(default_factory=list)
    unwritten: frozenset[str] = frozenset()
    missing: set[str] = field(default_factory=set)


def rebuild(unit: GradedUnit, cells: Sequence[SubmittedCell]) -> Repaired:
    """Copy the answers of a submission into the released notebook of `unit`.

    Raises:
        Refused: if the submission contains none of the unit's answers.
    """
    slots = [Slot(c, n) for n, c in enumerate(unit.released.cells) if _is_slot(c)]
    matches = Matcher(slots, cells, unit.released.cells).match()
    if not any(match.source is not None for match in matches):
        raise Refused(
            Phrase(
                "it contains none of the cells to answer in {unit}, so it may be the "
                "notebook of another unit",
                unit.slug,
            )
        )
    return _Builder(unit, cells, matches).build()


def _is_slot(cell: NotebookNode) -> bool:
    details = cell.metadata.get("nbgrader", {})
    return bool(details.get("solution") or details.get("task"))


class _Builder:
    """Copy the student's parts into the released notebook, cell by cell."""

    def __init__(
        self, unit: GradedUnit, cells: Sequence[SubmittedCell], matches: list[Match]
    ):
        self.unit = unit
        self.cells = cells
        self.matches = {match.slot.position: match for match in matches}
        self.anchors = self._anchors()
        self.extras = self._extras()
        self.repaired = Repaired(copy.deepcopy(unit.released))

    def build(self) -> Repaired:
        """Return the rebuilt notebook with notes."""
        released = self.repaired.notebook.cells
        extras = self.extras
        built = list(extras.get(-1, []))
        for position, cell in enumerate(released):
            match = self.matches.get(position)
            if match is not None:
                self._fill(cell, match)
            built += [cell, *extras.get(position, [])]
        self.repaired.notebook.cells = built
        self._note_changed_cells()
        self.repaired.unwritten = frozenset(self._unwritten())
        return self.repaired

    def _fill(self, cell: NotebookNode, match: Match) -> None:
        name = match.slot.grade_id
        is_empty = match.source is None or match.slot.is_stub(match.source)
        if is_empty and self._is_written_elsewhere(match):
            cell.source = WRITTEN_ELSEWHERE
            self._note(Phrase("{name}: written in a different cell", name))
            return
        if match.source is None:
            self.repaired.missing.add(name)
            self._note(Phrase("{name}: no answer was found", name), doubtful=True)
            return
        cell.source = match.source
        pictures = match.pictures(self.cells)
        if pictures and not match.slot.is_code:
            cell.attachments = pictures
        if match.how:
            self._note(Phrase("{name}: {how}", name, match.how), match.doubtful)

    def _is_written_elsewhere(self, match: Match) -> bool:
        """Return whether another answer's cell or an extra cell defines this answer."""
        names = set(match.slot.names)
        others = [m.source for m in self.matches.values() if m is not match]
        more = [
            cell.source
            for cells in self.extras.values()
            for cell in cells
            if cell.cell_type == "code"
        ]
        written = (source for source in (*others, *more) if source)
        return bool(names) and any(names <= set(top_names(s)) for s in written)

    def _note(self, words: str, doubtful: bool = False) -> None:
        self.repaired.notes.append(words)
        if doubtful:
            self.repaired.doubtful.append(words)

    def _anchors(self) -> dict[int, int]:
        """Map submitted cells to the positions of the corresponding released cells."""
        anchors = {}
        for position, match in self.matches.items():
            for number in match.used:
                anchors[number] = position
        by_name, by_source = self._released_without_answers()
        for number, cell in enumerate(self.cells):
            names = [cell.grade_id, *sorted(cell.ids)]
            found = next((by_name[n] for n in names if n in by_name), None)
            if found is None:
                found = by_source.get("".join(cell.source.split()))
            if found is not None and number not in anchors:
                anchors[number] = found
        return anchors

    def _released_without_answers(self) -> tuple[dict[str, int], dict[str, int]]:
        """Map the names and the sources of all other released cells to positions."""
        by_name: dict[str, int] = {}
        by_source: dict[str, int] = {}
        for position, cell in enumerate(self.unit.released.cells):
            if position in self.matches:
                continue
            by_source.setdefault("".join(cell.source.split()), position)
            grade_id = cell.metadata.get("nbgrader", {}).get("grade_id")
            by_name |= {name: position for name in (cell.id, grade_id) if name}
        return by_name, by_source

    def _extras(self) -> dict[int, list[NotebookNode]]:
        """Return the student's own cells by the released cell that they follow."""
        extras: dict[int, list[NotebookNode]] = {}
        after, count = -1, 0
        for number, cell in enumerate(self.cells):
            source = as_code(cell) if cell.cell_type == "code" else cell.source
            if number in self.anchors:
                after = self.anchors[number]
                source = self._own_part(number, after)
            if not source.strip() or cell.cell_type == "raw":
                continue
            count += 1
            extras.setdefault(after, []).append(_extra(cell, source, count))
        return extras

    def _own_part(self, number: int, position: int) -> str:
        """Return the code that counts in a changed released cell, or ""."""
        ours, theirs = self.unit.released.cells[position], self.cells[number]
        same = "".join(ours.source.split()) == "".join(theirs.source.split())
        if same or position in self.matches or theirs.cell_type != "code":
            return ""
        if is_graded_code(ours) or ours.metadata.get("nbgrader"):
            return ""
        if "demo" in ours.metadata.get("tags", []):
            return definitions_of(theirs.source)
        return theirs.source

    def _note_changed_cells(self) -> None:
        """Add notes on checks that were deleted, repeated or changed."""
        for position, ours in enumerate(self.unit.released.cells):
            if not is_graded_code(ours):
                continue
            name = ours.metadata.nbgrader.grade_id
            found = [n for n, place in self.anchors.items() if place == position]
            if not found:
                self._note(Phrase("{name}: the check was missing; ours is used", name))
            elif len(found) > 1:
                self._note(
                    Phrase("{name}: the check appeared {count} times", name, len(found))
                )
            elif "".join(self.cells[found[0]].source.split()) != "".join(
                ours.source.split()
            ):
                self._note(Phrase("{name}: the check was changed; ours is used", name))

    def _unwritten(self) -> list[str]:
        """Return the exercises for which no cell contains an answer."""
        return [
            match.slot.grade_id
            for match in self.matches.values()
            if match.slot.is_code
            and (match.source is None or match.slot.is_stub(match.source))
            and not self._is_written_elsewhere(match)
        ]


def _extra(cell: SubmittedCell, source: str, number: int) -> NotebookNode:
    """Return a notebook cell for one of the student's own cells."""
    if cell.cell_type == "code":
        return new_code_cell(source, id=f"extra-{number}")
    own = {"attachments": dict(cell.pictures)} if cell.pictures else {}
    return new_markdown_cell(source, id=f"extra-{number}", **own)


def definitions_of(source: str) -> str:
    """Return only the imports, functions and classes of a cell."""
    kinds = (
        *(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
        *(ast.Import, ast.ImportFrom),
    )
    tree = parse_cell(source)
    kept = [node for node in tree.body if isinstance(node, kinds)] if tree else []
    try:
        return "\n\n".join(ast.unparse(node) for node in kept)
    except RecursionError:
        return ""

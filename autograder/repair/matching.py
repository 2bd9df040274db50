"""Find the student's answers among submitted cells."""

import ast
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from nbformat import NotebookNode

from autograder.notebook_syntax import defined_by, parse_cell
from autograder.repair.reading import SubmittedCell

FENCE = re.compile(r"^[ \t]*```\w*[ \t]*$", re.MULTILINE)
MAX_JOINED = 6


@dataclass
class Slot:
    """A cell of the released notebook that the student fills in."""

    cell: NotebookNode
    position: int

    @property
    def grade_id(self) -> str:
        """Return nbgrader's name of the cell."""
        return self.cell.metadata.nbgrader.grade_id

    @property
    def is_code(self) -> bool:
        """Say whether it is to hold code."""
        return self.cell.cell_type == "code"

    @property
    def names(self) -> list[str]:
        """Return the functions and classes that the answer must define."""
        return top_names(self.cell.source) if self.is_code else []

    def is_stub(self, source: str) -> bool:
        """Say whether a text is what was handed out."""
        return _squeezed(source) == _squeezed(self.cell.source)


@dataclass
class Match:
    """What was found for a slot.

    Attributes:
        slot: the slot.
        used: numbers of the submitted cells that were taken, or taken out.
        source: the answer, or None if nothing was found.
        how: how it was found; "" if it was where it belongs.
        doubtful: whether a human should look at it.
    """

    slot: Slot
    used: list[int] = field(default_factory=list)
    source: str | None = None
    how: str = ""
    doubtful: bool = False

    def pictures(self, cells: Sequence[SubmittedCell]) -> dict[str, Mapping[str, str]]:
        """Return what is pasted into the cells that were taken; the first one's win."""
        found: dict[str, Mapping[str, str]] = {}
        for number in reversed(self.used):
            found |= cells[number].pictures
        return found


def top_names(source: str) -> list[str]:
    """Return the functions and classes that a cell defines at the top level."""
    return list(_top_names(source))


@functools.lru_cache(maxsize=4096)
def _top_names(source: str) -> tuple[str, ...]:
    tree = parse_cell(source)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = [node for node in tree.body if isinstance(node, kinds)] if tree else []
    return tuple(name for node in nodes for name in defined_by(node))


def _squeezed(source: str) -> str:
    return "".join(source.split())


def as_code(cell: SubmittedCell) -> str:
    """Return a cell's text as code: a Markdown cell loses its fences."""
    return cell.source if cell.cell_type == "code" else FENCE.sub("", cell.source)


class Matcher:
    """Match slots to submitted cells, each cell to at most one slot."""

    def __init__(
        self,
        slots: Sequence[Slot],
        cells: Sequence[SubmittedCell],
        released: Sequence[NotebookNode],
    ):
        """Look for `slots` of the `released` cells among the submitted ones."""
        self.slots = slots
        self.cells = cells
        taken = {slot.position for slot in slots}
        ours = [c for n, c in enumerate(released) if n not in taken]
        self.ours = {_squeezed(cell.source) for cell in ours}
        self.matches: dict[str, Match] = {}
        self.claimed: set[int] = set()

    def match(self) -> list[Match]:
        """Return a match for each slot: by name first, by place last."""
        for find in (self._by_grade_id, self._by_cell_id, self._by_names):
            self._each(find)
        self._each(self._by_position)
        for slot in self.slots:
            self.matches.setdefault(slot.grade_id, Match(slot))
        matches = [self.matches[slot.grade_id] for slot in self.slots]
        for match in matches:
            self._prefer_written(match)
        return matches

    def _each(self, find: Callable[[Slot], Match | None]) -> None:
        for slot in self.slots:
            if slot.grade_id not in self.matches:
                match = find(slot)
                if match is not None:
                    self.matches[slot.grade_id] = match
                    self.claimed.update(match.used)

    def _free(self) -> list[int]:
        return [n for n in range(len(self.cells)) if n not in self.claimed]

    def _by_grade_id(self, slot: Slot) -> Match | None:
        found = [n for n in self._free() if self.cells[n].grade_id == slot.grade_id]
        return self._choose(slot, found, "")

    def _by_cell_id(self, slot: Slot) -> Match | None:
        found = [n for n in self._free() if slot.cell.id in self.cells[n].ids]
        return self._choose(slot, found, "found by the cell's id")

    def _by_names(self, slot: Slot) -> Match | None:
        if not slot.names:
            return None
        found = [n for n in self._free() if self._defines(slot, n)]
        return self._choose(slot, found, "found by what it defines")

    def _defines(self, slot: Slot, number: int) -> bool:
        cell = self.cells[number]
        return set(slot.names) <= set(top_names(as_code(cell)))

    def _by_position(self, slot: Slot) -> Match | None:
        """Take what stands between the neighbours of the slot."""
        order = {s.grade_id: s.position for s in self.slots}
        placed = [
            (order[name], n) for name, m in self.matches.items() for n in m.used[:1]
        ]
        low = max((n for place, n in placed if place < slot.position), default=-1)
        high = min(
            (n for place, n in placed if place > slot.position),
            default=len(self.cells),
        )
        kind = "code" if slot.is_code else "markdown"
        between = [
            n for n in self._free() if low < n < high and self._could_be(slot, n, kind)
        ]
        match = self._choose(slot, between, "found by its place only")
        if match is not None:
            match.doubtful = True
        return match

    def _could_be(self, slot: Slot, number: int, kind: str) -> bool:
        cell = self.cells[number]
        if cell.cell_type != kind or cell.grade_id is not None:
            return False
        if slot.is_code:
            return bool(set(slot.names) & set(re.findall(r"\w+", cell.source)))
        return _squeezed(cell.source) not in self.ours

    def _choose(self, slot: Slot, found: list[int], how: str) -> Match | None:
        """Choose among several cells: the last one that is not what was handed out."""
        if not found:
            return None
        if slot.is_code:
            complete = [n for n in found if self._defines(slot, n)]
            if not complete:
                return self._joined(slot, found, how)
            found_first, found = found, complete
        else:
            found_first = found
        written = [n for n in found if not slot.is_stub(self.cells[n].source)]
        texts = {_squeezed(self.cells[n].source) for n in written}
        taken = (written or found)[-1]
        match = Match(slot, [taken, *(n for n in found_first if n != taken)])
        match.source = (
            as_code(self.cells[taken]) if slot.is_code else (self.cells[taken].source)
        )
        notes = [how] if how else []
        if slot.is_code and self._take_rest(match, taken):
            notes.append("joined from several cells")
        if len(found_first) > 1:
            notes.append(f"it was there {len(found_first)} times")
            match.doubtful = len(texts) > 1
        expected = "code" if slot.is_code else "markdown"
        if self.cells[taken].cell_type != expected:
            notes.append(f"it was a {self.cells[taken].cell_type} cell")
        match.how = "; ".join(notes)
        return match

    def _take_rest(self, match: Match, taken: int) -> bool:
        """Add the cells behind an answer that are no code by themselves but go on."""
        number = taken + 1
        last = min(taken + MAX_JOINED, len(self.cells))
        while number < last and number not in self.claimed:
            cell = self.cells[number]
            text = f"{match.source}\n{cell.source}"
            alone = parse_cell(cell.source) is not None or cell.cell_type != "code"
            named = cell.grade_id not in (None, match.slot.grade_id)
            if alone or named or parse_cell(text) is None:
                break
            match.source = text
            match.used += [number] * (number not in match.used)
            number += 1
        return number > taken + 1

    def _joined(self, slot: Slot, found: list[int], how: str) -> Match | None:
        """Join a cell that was split with the cells behind it."""
        first = found[0]
        text = as_code(self.cells[first])
        for number in range(first + 1, min(first + MAX_JOINED, len(self.cells))):
            cell = self.cells[number]
            named = cell.grade_id not in (None, slot.grade_id)
            if number in self.claimed or named or cell.cell_type != "code":
                break
            text += "\n" + cell.source
            if set(slot.names) <= set(top_names(text)):
                used = list(range(first, number + 1))
                note = "; ".join(filter(None, [how, f"joined from {len(used)} cells"]))
                return Match(slot, used, text, note)
        if how:
            return None
        if any(self._defines(slot, n) for n in self._free()):
            return None
        return Match(slot, found[:1], as_code(self.cells[first]), how, False)

    def _prefer_written(self, match: Match) -> None:
        """Take out an untouched answer if the student wrote it in another cell."""
        slot = match.slot
        if not slot.is_code or match.source is None:
            return
        if not slot.is_stub(match.source):
            return
        others = [n for n in self._free() if self._defines(slot, n)]
        if others and others[-1] < match.used[0]:
            match.used.append(others[-1])
            match.source = as_code(self.cells[others[-1]])
            match.how = "written in another cell, above the one for it"
            self.claimed.add(others[-1])

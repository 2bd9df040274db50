"""Find the student's answers among submitted cells."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from nbformat import NotebookNode

from autograder.notebook_syntax import parse_cell
from autograder.phrases import Phrase, joined
from autograder.repair.names_of_cells import Names
from autograder.repair.reading import SubmittedCell
from autograder.repair.slots import Slot, as_code, squeezed, top_names

MAX_JOINED = 6


@dataclass
class Match:
    """Hold the answer that was found for a slot.

    Attributes:
        slot: the answer cell of the released notebook.
        used: the numbers of the submitted cells that were used or removed.
        source: the answer, or None if nothing was found.
        how: how the answer was found; "" if it was in its own cell.
        doubtful: whether an instructor should check this match.
    """

    slot: Slot
    used: list[int] = field(default_factory=list)
    source: str | None = None
    how: str = ""
    doubtful: bool = False

    def pictures(self, cells: Sequence[SubmittedCell]) -> dict[str, Mapping[str, str]]:
        """Return the pictures in the used cells; if names are equal, keep the first."""
        found: dict[str, Mapping[str, str]] = {}
        for number in reversed(self.used):
            found |= cells[number].pictures
        return found


class Matcher:
    """Match slots to submitted cells; each cell matches at most one slot."""

    def __init__(
        self,
        slots: Sequence[Slot],
        cells: Sequence[SubmittedCell],
        released: Sequence[NotebookNode],
    ):
        """Prepare to find the answers for `slots`, which are among `released`."""
        self.slots = slots
        names = Names(slots, released)
        self.cells = [names.believed(cell) for cell in cells]
        taken = {slot.position for slot in slots}
        ours = [c for n, c in enumerate(released) if n not in taken]
        self.ours = {squeezed(cell.source) for cell in ours}
        self.matches: dict[str, Match] = {}
        self.claimed: set[int] = set()

    def match(self) -> list[Match]:
        """Match each slot by name or id if possible, and otherwise by position."""
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
        return self._choose(slot, found, Phrase("found by the cell's id"))

    def _by_names(self, slot: Slot) -> Match | None:
        if not slot.names:
            return None
        found = [n for n in self._free() if self._defines(slot, n)]
        return self._choose(slot, found, Phrase("found by what it defines"))

    def _defines(self, slot: Slot, number: int) -> bool:
        cell = self.cells[number]
        return set(slot.names) <= set(top_names(as_code(cell)))

    def _by_position(self, slot: Slot) -> Match | None:
        """Find the answer among the cells between the slot's neighbours."""
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
        match = self._choose(slot, between, Phrase("found only by its place"))
        if match is not None:
            match.doubtful = True
        return match

    def _could_be(self, slot: Slot, number: int, kind: str) -> bool:
        cell = self.cells[number]
        if cell.cell_type != kind or cell.grade_id is not None:
            return False
        if slot.is_code:
            return bool(set(slot.names) & set(re.findall(r"\w+", cell.source)))
        return squeezed(cell.source) not in self.ours

    def _choose(self, slot: Slot, found: list[int], how: str) -> Match | None:
        """Choose one of several cells, or join them."""
        if not found:
            return None
        choose = self._choose_code if slot.is_code else self._choose_text
        return choose(slot, found, how)

    def _choose_text(self, slot: Slot, found: list[int], how: str) -> Match:
        """Join the texts, but leave out texts that are part of another text."""
        written = [n for n in found if not slot.is_stub(self.cells[n].source)]
        parts = self._different(written or found[-1:])
        match = Match(slot, found, "\n\n".join(self.cells[n].source for n in parts))
        match.doubtful = len(parts) > 1
        notes = [how]
        if len(found) > 1:
            notes.append(Phrase("it was there {count} times", len(found)))
        if len(parts) > 1:
            notes.append(Phrase("joined from {count} cells", len(parts)))
        match.how = joined("{one}; {more}", notes + self._of_kind(slot, parts))
        return match

    def _different(self, numbers: list[int]) -> list[int]:
        """Leave out cells whose text is in another cell; of equal cells, keep one."""
        texts = {n: squeezed(self.cells[n].source) for n in numbers}
        return [
            n
            for n in numbers
            if not any(
                texts[n] in texts[other] and (texts[n] != texts[other] or n < other)
                for other in numbers
                if other != n
            )
        ]

    def _choose_code(self, slot: Slot, found: list[int], how: str) -> Match | None:
        """Choose the last changed cell that defines all required names."""
        complete = [n for n in found if self._defines(slot, n)]
        if not complete:
            return self._joined(slot, found, how)
        others = [n for n in found if n in complete or self._defines_some(slot, n)]
        written = [n for n in complete if not slot.is_stub(self.cells[n].source)]
        texts = {squeezed(self.cells[n].source) for n in written}
        taken = (written or complete)[-1]
        match = Match(slot, [taken, *(n for n in others if n != taken)])
        match.source = as_code(self.cells[taken])
        notes = [how]
        if self._take_rest(match, taken):
            notes.append(Phrase("joined from several cells"))
        if len(others) > 1:
            notes.append(Phrase("it was there {count} times", len(others)))
            match.doubtful = len(texts) > 1
        match.how = joined("{one}; {more}", notes + self._of_kind(slot, [taken]))
        return match

    def _defines_some(self, slot: Slot, number: int) -> bool:
        return bool(set(slot.names) & set(top_names(as_code(self.cells[number]))))

    def _of_kind(self, slot: Slot, numbers: Sequence[int]) -> list[str]:
        """Describe the repairs to the cells from which an answer was taken."""
        expected = "code" if slot.is_code else "markdown"
        cells = [self.cells[n] for n in numbers]
        kinds = dict.fromkeys(c.cell_type for c in cells if c.cell_type != expected)
        notes: list[str] = [Phrase("it was a {kind} cell", kind) for kind in kinds]
        if slot.is_code and any(as_code(cell) != cell.source for cell in cells):
            notes.append(Phrase("the marks around its code were removed"))
        if any(cell.had_invisible for cell in cells):
            notes.append(Phrase("invisible characters were removed"))
        return notes

    def _take_rest(self, match: Match, taken: int) -> bool:
        """Add cells after an answer that are valid code only as its continuation."""
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
        """Join the parts of an answer that the student split into several cells."""
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
                note = Phrase("joined from {count} cells", len(used))
                return Match(slot, used, text, joined("{one}; {more}", [how, note]))
        if how:
            return None
        if any(self._defines(slot, n) for n in self._free()):
            return None
        notes = self._of_kind(slot, [first])
        is_code = self.cells[first].cell_type == "code"
        source = as_code(self.cells[first])
        how = joined("{one}; {more}", notes)
        return Match(slot, found[:1], source, how, not is_code)

    def _prefer_written(self, match: Match) -> None:
        """Skip an unchanged answer cell if the student wrote the answer elsewhere."""
        slot = match.slot
        if not slot.is_code or match.source is None:
            return
        if not slot.is_stub(match.source):
            return
        others = [n for n in self._free() if self._defines(slot, n)]
        if others and others[-1] < match.used[0]:
            match.used.append(others[-1])
            match.source = as_code(self.cells[others[-1]])
            match.how = Phrase(
                "written in a different cell, above the cell that was meant for it"
            )
            self.claimed.add(others[-1])

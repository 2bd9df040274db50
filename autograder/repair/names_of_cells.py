"""Check nbgrader's names of cells, because editors may move them to other cells."""

from collections.abc import Sequence
from dataclasses import replace

from nbformat import NotebookNode

from autograder.repair.reading import SubmittedCell
from autograder.repair.slots import Slot, as_code, squeezed, top_names


class Names:
    """Compare the names of submitted cells with those of the released cells."""

    def __init__(self, slots: Sequence[Slot], released: Sequence[NotebookNode]):
        """Store the `released` cells; `slots` are the cells that students fill in."""
        self.slots = {slot.grade_id: slot for slot in slots}
        self.ids = {cell.id: _grade_id(cell) for cell in released}
        answered = {slot.position for slot in slots}
        ours = [cell for n, cell in enumerate(released) if n not in answered]
        self.texts = {squeezed(cell.source): _grade_id(cell) for cell in ours}
        self.kinds = {_grade_id(cell): cell.cell_type for cell in released}

    def believed(self, cell: SubmittedCell) -> SubmittedCell:
        """Return a cell, without its name if the name clearly belongs elsewhere."""
        if cell.grade_id is None or not self._is_wrong(cell, cell.grade_id):
            return cell
        return replace(cell, grade_id=None)

    def _is_wrong(self, cell: SubmittedCell, name: str) -> bool:
        by_id = [self.ids[one] for one in cell.ids if one in self.ids]
        if by_id and name not in by_id:
            return True
        if self.texts.get(squeezed(cell.source), name) != name:
            return True
        defined = frozenset(top_names(as_code(cell)))
        own = self.slots.get(name)
        if own is not None and own.is_code and defined & set(own.names):
            return False
        if self._is_answer_to_another(defined, name):
            return True
        is_text = cell.cell_type == "markdown" and self.kinds.get(name) == "code"
        return is_text and not defined

    def _is_answer_to_another(self, defined: frozenset[str], name: str) -> bool:
        others = (slot for slot in self.slots.values() if slot.grade_id != name)
        return any(slot.names and defined.issuperset(slot.names) for slot in others)


def _grade_id(cell: NotebookNode) -> str | None:
    name = cell.metadata.get("nbgrader", {}).get("grade_id")
    return name if isinstance(name, str) else None

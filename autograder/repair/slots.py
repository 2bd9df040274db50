"""Represent the cells that students fill in, and compare texts."""

import ast
import functools
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.notebook_syntax import defined_by, parse_cell
from autograder.repair.fences import unfenced
from autograder.repair.reading import SubmittedCell


@dataclass
class Slot:
    """Hold a cell of the released notebook that students fill in."""

    cell: NotebookNode
    position: int

    @property
    def grade_id(self) -> str:
        """Return nbgrader's name for the cell."""
        return self.cell.metadata.nbgrader.grade_id

    @property
    def is_code(self) -> bool:
        """Return whether the cell is a code cell."""
        return self.cell.cell_type == "code"

    @property
    def names(self) -> list[str]:
        """Return the functions and classes that the answer must define."""
        return top_names(self.cell.source) if self.is_code else []

    def is_stub(self, source: str) -> bool:
        """Return whether a text is the same as in the released cell."""
        return squeezed(source) == squeezed(self.cell.source)


def top_names(source: str) -> list[str]:
    """Return the functions and classes that a cell defines at the top level."""
    return list(_top_names(source))


@functools.lru_cache(maxsize=4096)
def _top_names(source: str) -> tuple[str, ...]:
    tree = parse_cell(source)
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    nodes = [node for node in tree.body if isinstance(node, kinds)] if tree else []
    return tuple(name for node in nodes for name in defined_by(node))


def squeezed(source: str) -> str:
    """Return a text without whitespace, for comparison."""
    return "".join(source.split())


def as_code(cell: SubmittedCell) -> str:
    """Return a cell's text as code; if it is in Markdown fences, remove them."""
    if cell.cell_type == "code" and parse_cell(cell.source) is not None:
        return cell.source
    return unfenced(cell.source)

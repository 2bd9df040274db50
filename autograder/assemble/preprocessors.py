"""Add the course's own steps to `nbgrader generate_assignment`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from nbformat import NotebookNode
from nbgrader.preprocessors import ClearSolutions, NbGraderPreprocessor
from traitlets import Unicode

from autograder.assemble.kit import kit_files
from autograder.assemble.markers import BEGIN
from autograder.course import load_course

KEPT_METADATA = ("accelerator", "colab", "kernelspec", "language_info")
STUB_NAME = "{name of the function}"
CODE_STUB = f'# YOUR CODE HERE\nraise NotImplementedError("Write {STUB_NAME}.")'
BEGIN_LINE = re.compile(rf"^(?P<indent>\s*){BEGIN}\s*$")
DEFINITION = re.compile(r"^(?P<indent>\s*)(?P<kind>(?:async )?def|class) (?P<name>\w+)")


class NamedStubs(ClearSolutions):
    """Remove solutions as nbgrader does, but name the missing function in each stub."""

    def preprocess_cell(
        self, cell: NotebookNode, resources: Any, cell_index: int
    ) -> tuple[NotebookNode, Any]:
        """Replace the bodies between the markers of one cell with stubs."""
        names = stub_names(cell.source) if cell.cell_type == "code" else []
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        for name in names:
            cell.source = cell.source.replace(STUB_NAME, name, 1)
        return cell, resources


def stub_names(source: str) -> list[str]:
    """Return the names of the functions around each marked body, in order."""
    lines = source.split("\n")
    return [
        _enclosing(lines[:number], len(match["indent"]))
        for number, line in enumerate(lines)
        if (match := BEGIN_LINE.match(line))
    ]


def _enclosing(above: list[str], indent: int) -> str:
    """Return the innermost definition around a line with the indentation `indent`."""
    names: list[str] = []
    for line in reversed(above):
        match = DEFINITION.match(line)
        if match and len(match["indent"]) < indent:
            names.insert(0, match["name"])
            indent = len(match["indent"])
    return ".".join(names)


class AddKit(NbGraderPreprocessor):
    """Copy the unit's kit into the folder of the released notebook."""

    root = Unicode("", help="The course's folder; empty: this repository.").tag(
        config=True
    )

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Pass the files of the kit to nbconvert, which writes them."""
        course = load_course(Path(self.root) if self.root else None)
        unit = course.unit(resources["nbgrader"]["assignment"])
        resources.setdefault("outputs", {}).update(kit_files(course, unit))
        return nb, resources


class StableMetadata(NbGraderPreprocessor):
    """Keep only the metadata that students need."""

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        """Remove metadata that differs from run to run."""
        for key in set(nb.metadata) - set(KEPT_METADATA):
            del nb.metadata[key]
        return nb, resources

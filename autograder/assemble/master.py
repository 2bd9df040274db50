"""Read a master, which is a MyST file that jupytext splits into cells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from jupytext.myst import MystMetadataParsingError, myst_to_notebook

from autograder.assemble.problems import AssemblyError, Problem

HEADER = (
    "start the file with `---`, `kernelspec: {name: python3, display_name: Python 3, "
    "language: python}`, `accelerator: GPU`, `colab: {provenance: []}`, `---`"
)


@dataclass(frozen=True)
class MasterCell:
    """Hold a cell of a master before the assembler interprets it."""

    cell_type: str
    source: str
    options: Mapping[str, Any]
    line: int


@dataclass(frozen=True)
class Master:
    """Hold a master: its header and its cells."""

    path: Path
    metadata: Mapping[str, Any]
    cells: tuple[MasterCell, ...]


def read_master(path: Path, shown_path: str) -> Master:
    """Split a master into cells; messages refer to it as `shown_path`.

    Raises:
        AssemblyError: if the file is not UTF-8 text, if the options of a cell are not
            YAML or JSON, or if the header differs from the header that all masters
            have.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
        notebook = myst_to_notebook(text, add_source_map=True)
    except (UnicodeDecodeError, yaml.YAMLError, MystMetadataParsingError) as error:
        remedy = "write the options as solutions/notebooks/README.md shows them"
        raise AssemblyError([Problem(shown_path, str(error), remedy)]) from None
    lines = notebook.metadata.pop("source_map")
    metadata = dict(notebook.metadata)
    metadata.pop("jupytext", None)  # jupytext stores the cells' lexer here
    if metadata.get("kernelspec", {}).get("name") != "python3":
        what = "the header has no kernelspec with the name python3"
        raise AssemblyError([Problem(shown_path, what, HEADER)])
    cells = tuple(
        MasterCell(cell.cell_type, cell.source, dict(cell.metadata), line)
        for cell, line in zip(notebook.cells, lines, strict=True)
    )
    return Master(path, metadata, cells)

"""Run a notebook from top to bottom, and continue after errors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import nbformat
from nbclient import NotebookClient

SECONDS_A_CELL = 300


@dataclass(frozen=True)
class CellError:
    """An error that a cell ended with."""

    cell_id: str
    name: str
    message: str


def run_notebook(notebook: Path, folder: Path) -> list[CellError]:
    """Run a notebook in a folder and return the errors of its cells, in order."""
    loaded = nbformat.read(notebook, as_version=4)
    NotebookClient(
        loaded,
        timeout=SECONDS_A_CELL,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    ).execute()
    return [
        CellError(cell.id, output.ename, output.evalue)
        for cell in loaded.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]

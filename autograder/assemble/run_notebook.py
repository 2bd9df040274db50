"""Run a notebook from top to bottom, and continue after errors."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

SECONDS_A_CELL = 300
DIED_AT_ITS_START = "Kernel died before replying to kernel_info"


@dataclass(frozen=True)
class CellError:
    """Describe an error that a cell raised."""

    cell_id: str
    name: str
    message: str


def execute(notebook: nbformat.NotebookNode, **options: Any) -> None:
    """Run a notebook; start a second kernel if the first one dies when it starts.

    This can happen because Jupyter chooses free ports, but another program may use one
    of them before the kernel does.
    """
    try:
        NotebookClient(notebook, **options).execute()
    except RuntimeError as error:
        if DIED_AT_ITS_START not in str(error):
            raise
        NotebookClient(notebook, **options).execute()


def run_notebook(notebook: Path, folder: Path) -> list[CellError]:
    """Run a notebook in a folder, and return the errors of its cells in order."""
    loaded = nbformat.read(notebook, as_version=4)
    execute(
        loaded,
        timeout=SECONDS_A_CELL,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    return [
        CellError(cell.id, output.ename, output.evalue)
        for cell in loaded.cells
        for output in cell.get("outputs", [])
        if output.output_type == "error"
    ]

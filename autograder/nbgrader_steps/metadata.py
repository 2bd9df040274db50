"""Check nbgrader's metadata as nbgrader does, once for all notebooks that share it.

Whole classes do: their cells are those of the released notebook.
"""

import functools
import json
from typing import Any

from nbformat import NotebookNode, from_dict
from nbgrader.nbgraderformat import MetadataValidator
from nbgrader.preprocessors import CheckCellMetadata


class CheckMetadata(CheckCellMetadata):
    """nbgrader's step; what it has found right it need not look at again."""

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the notebook as it is.

        Raises:
            ValidationError: if its metadata is not as nbgrader wants it.
        """
        own = [
            {
                "cell_type": cell.cell_type,
                "source": "",
                "metadata": {"nbgrader": cell.metadata["nbgrader"]},
            }
            for cell in nb.cells
            if "nbgrader" in cell.metadata
        ]
        try:
            _validate(json.dumps(own, sort_keys=True))
        except Exception:  # nbgrader says what is wrong, with the cell's text
            return super().preprocess(nb, resources)
        return nb, resources


@functools.lru_cache(100)
def _validate(cells: str) -> None:
    """Raise an error unless nbgrader takes the cells' metadata."""
    MetadataValidator().validate_nb(from_dict({"cells": json.loads(cells)}))

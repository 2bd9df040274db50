"""Read a submitted file, however damaged, into plain cells, or refuse it."""

import io
import json
import stat
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAX_BYTES = 20 << 20
MAX_CELLS = 2000
MAX_SOURCE = 1 << 20
ENCODINGS = ("utf-8-sig", "utf-16")


class Refused(Exception):
    """Report that a submission cannot be graded, with the reason for a human."""


@dataclass(frozen=True)
class SubmittedCell:
    """What is taken from a submitted cell: nothing else of it is believed.

    Attributes:
        cell_type: "code", "markdown" or "raw".
        source: Its text.
        grade_id: The name that nbgrader gave it, if it still has it.
        ids: The cell's ids: Jupyter's, and Colab's.
    """

    cell_type: str
    source: str
    grade_id: str | None = None
    ids: frozenset[str] = frozenset()


def read_submission(path: Path) -> list[SubmittedCell]:
    """Read the cells of a submitted notebook.

    Raises:
        Refused: If it is a link, too large, empty, cut off or no notebook.
    """
    content = _content(path)
    if content[:4] == b"PK\x03\x04":
        content = _only_notebook(content)
    notebook = _parse(content)
    return [_cell(cell) for cell in _cells(notebook)]


def _content(path: Path) -> bytes:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise Refused("it is a link, not a file: hand the notebook itself in")
    if not stat.S_ISREG(status.st_mode):
        raise Refused("it is not a file")
    if status.st_size > MAX_BYTES:
        size, limit = status.st_size >> 20, MAX_BYTES >> 20
        raise Refused(f"it has {size} MiB; {limit} MiB are allowed: clear the outputs")
    return path.read_bytes()


def _only_notebook(content: bytes) -> bytes:
    """Return the one notebook of a zip archive."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = [n for n in archive.namelist() if _is_notebook(n)]
            if len(names) != 1:
                raise Refused(f"it is a zip archive with {len(names)} notebooks, not 1")
            if archive.getinfo(names[0]).file_size > MAX_BYTES:
                raise Refused("it is a zip archive with too large a notebook")
            return archive.read(names[0])
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError) as error:
        raise Refused(f"it is a broken zip archive: {error}") from error


def _is_notebook(name: str) -> bool:
    hidden = "__MACOSX" in name or ".ipynb_checkpoints" in name
    return name.endswith(".ipynb") and not hidden


def _parse(content: bytes) -> dict[str, Any]:
    if not content.strip(b"\0 \t\r\n\xef\xbb\xbf"):
        raise Refused("the file is empty")
    try:
        notebook = json.loads(_text(content))
    except (ValueError, RecursionError) as error:
        words = f"it is no complete notebook file ({str(error)[:80]})"
        raise Refused(words) from error
    if not isinstance(notebook, dict):
        raise Refused("it is a JSON file, but no notebook")
    return notebook


def _text(content: bytes) -> str:
    for encoding in ENCODINGS:
        try:
            return content.decode(encoding)
        except UnicodeDecodeError:
            continue
    raise Refused("it is not text, so no notebook")


def _cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the raw cells of a notebook of format 3 or 4."""
    cells = notebook.get("cells")
    if cells is None:
        sheets = notebook.get("worksheets")
        sheets = sheets if isinstance(sheets, list) else []
        parts = [s.get("cells") for s in sheets if isinstance(s, dict)]
        cells = [c for part in parts if isinstance(part, list) for c in part]
    if not isinstance(cells, list) or not cells:
        raise Refused("it is no notebook: it has no cells")
    if len(cells) > MAX_CELLS:
        raise Refused(f"it has {len(cells)} cells; {MAX_CELLS} are allowed")
    return [cell for cell in cells if isinstance(cell, dict)]


def _cell(raw: dict[str, Any]) -> SubmittedCell:
    source = raw.get("source", raw.get("input", ""))
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    text = text.encode(errors="replace").decode()[:MAX_SOURCE].replace("\r\n", "\n")
    kind = raw.get("cell_type")
    metadata = raw.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    nbgrader = metadata.get("nbgrader")
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    ids = (raw.get("id"), metadata.get("id"))
    return SubmittedCell(
        kind if kind in ("code", "markdown", "raw") else "markdown",
        text,
        grade_id if isinstance(grade_id, str) else None,
        frozenset(i for i in ids if isinstance(i, str)),
    )

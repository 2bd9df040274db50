"""Read a submitted file, even if it is damaged, into plain cells, or refuse it."""

import io
import json
import lzma
import re
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from autograder.phrases import Phrase

MAX_BYTES = 20 << 20
MAX_CELLS = 2000
CHUNK = 1 << 16
LAST_RESORT = "latin-1"
ENCODINGS = ("utf-8", "utf-16", LAST_RESORT)
CONFLICT = re.compile(rb"^<{7} ", re.MULTILINE)
MAX_PARTS = 1_000_000  # lists and objects in the file; each takes about 100 bytes
MAX_CODE = 1 << 20
MAX_TEXT = 4 << 20
MAX_LINES = 50_000
MAX_PICTURES = 4 << 20  # characters per cell
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
MAX_ENTRIES = 10_000  # in a zip archive that contains one notebook
END_OF_ARCHIVE, MARK_OF_ENTRY = b"PK\5\6", b"PK\1\2"
LOCATOR_OF_ZIP64, END_OF_ZIP64 = b"PK\6\7", b"PK\6\6"
ZIP64 = 76  # bytes at the end of a large archive
INVISIBLE = re.compile("[\ufeff\u200b\u2060]")
INDENTED = re.compile("^[ \t]*\xa0[ \t\xa0]*", re.MULTILINE)
MAX_PROBLEM = 80  # characters of an error message from Python
BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
# `zipfile` raises these for a damaged archive. NotImplementedError (unknown
# compression) is a RuntimeError, and UnicodeDecodeError (a name) is a ValueError.
BROKEN_ARCHIVE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    MemoryError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)


class Refused(Exception):
    """Report that a submission cannot be graded.

    Attributes:
        reason: the reason as text.
    """

    def __init__(self, reason: str) -> None:
        """Store the reason."""
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class SubmittedCell:
    """Hold those data of a submitted cell that are used; all others are ignored.

    Attributes:
        cell_type: "code", "markdown" or "raw".
        source: the text of the cell.
        grade_id: nbgrader's name for the cell, or None if it was lost.
        ids: the cell's ids from Jupyter and Colab.
        pictures: the attached pictures: for each name and MIME type, base64 data.
        had_invisible: whether invisible characters, which break code, were removed.
    """

    cell_type: str
    source: str
    grade_id: str | None = None
    ids: frozenset[str] = frozenset()
    pictures: Mapping[str, Mapping[str, str]] = field(default_factory=dict, hash=False)
    had_invisible: bool = False


def read_submission(path: Path) -> list[SubmittedCell]:
    """Read the cells of a submitted notebook.

    Raises:
        Refused: if the file is a link, too large, empty, incomplete or not a notebook.
    """
    return read_content(_content(path))


def read_content(content: bytes) -> list[SubmittedCell]:
    """Read the cells of a notebook file, or of an archive with one notebook.

    Raises:
        Refused: if the file is empty, incomplete or not a notebook.
    """
    if content[:4] == b"PK\x03\x04":
        content = _only_notebook(content)
    notebook = _parse(content)
    cells = [_cell(cell) for cell in _cells(notebook)]
    _refuse_too_much(cells)
    return cells


def _content(path: Path) -> bytes:
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise Refused(Phrase("it is a link, not a file: hand in the notebook itself"))
    if path.parent.is_symlink():
        raise Refused(Phrase("its folder is a link: hand in the notebook itself"))
    if not stat.S_ISREG(status.st_mode):
        raise Refused(Phrase("it is not a file"))
    if status.st_size > MAX_BYTES:
        size, limit = status.st_size >> 20, MAX_BYTES >> 20
        raise Refused(
            Phrase(
                "it has {size} MiB; {limit} MiB are allowed: clear the outputs",
                size,
                limit,
            )
        )
    return path.read_bytes()


def count_of_entries(content: bytes) -> int:
    """Return how many files a zip archive contains, without loading their list.

    The function finds the list at the end of the archive as `zipfile` does, and counts
    the entry marks in it. A file name may also contain a mark, so the actual number of
    files may be smaller.
    """
    end = len(content) - 22
    if content[end : end + 4] != END_OF_ARCHIVE or content[-2:] != b"\0\0":
        end = content.rfind(END_OF_ARCHIVE, -(1 << 16) - 22)
    if end < 0:
        return 0
    size = int.from_bytes(content[end + 12 : end + 16], "little")
    if content[end - 20 : end - 16] == LOCATOR_OF_ZIP64:
        longer = content[end - ZIP64 : end]
        is_there = longer[:4] == END_OF_ZIP64
        size = int.from_bytes(longer[40:48], "little") if is_there else end
    return content.count(MARK_OF_ENTRY, max(end - size - ZIP64, 0), end)


def _only_notebook(content: bytes) -> bytes:
    """Return the only notebook in a zip archive."""
    if (count := count_of_entries(content)) > MAX_ENTRIES:
        raise Refused(
            Phrase("it is a zip archive of {count} files: hand in the notebook", count)
        )
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = [n for n in archive.namelist() if _is_notebook(n)]
            if len(names) != 1:
                raise Refused(
                    Phrase(
                        "it is a zip archive with {count} notebooks, not 1", len(names)
                    )
                )
            return _unpacked(archive, archive.getinfo(names[0]))
    except BROKEN_ARCHIVE as error:
        raise Refused(
            Phrase("it is a broken zip archive: {error}", str(error)[:MAX_PROBLEM])
        ) from error


def _unpacked(archive: zipfile.ZipFile, notebook: zipfile.ZipInfo) -> bytes:
    """Unpack one file; the limit does not trust the size stated in the archive."""
    if notebook.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise Refused(Phrase("it is a zip archive of an uncommon kind"))
    if notebook.file_size > MAX_BYTES:
        raise Refused(Phrase("it is a zip archive whose notebook is too large"))
    content = bytearray()
    with archive.open(notebook) as file:
        while part := file.read(CHUNK):
            content += part
    return bytes(content)


def _is_notebook(name: str) -> bool:
    hidden = "__MACOSX" in name or ".ipynb_checkpoints" in name
    return name.endswith(".ipynb") and not hidden


def _parse(content: bytes) -> dict[str, Any]:
    if not content.strip(b"\0 \t\r\n\xef\xbb\xbf"):
        raise Refused(Phrase("the file is empty"))
    if content.count(b"[") + content.count(b"{") > MAX_PARTS:
        raise Refused(Phrase("it contains too many lists: clear the outputs"))
    if content.startswith(b"%PDF-"):
        raise Refused(Phrase("it is a PDF, not a notebook"))
    problem = ""
    for encoding in ENCODINGS:
        try:
            text = content.decode(encoding).strip("\0\ufeff \t\r\n")
            notebook = json.loads(text, strict=False)
        except (ValueError, RecursionError) as error:
            problem = problem or str(error)[:MAX_PROBLEM]  # UTF-8's message is clearest
            continue
        if not isinstance(notebook, dict):
            raise Refused(Phrase("it is a JSON file, but not a notebook"))
        return notebook
    if CONFLICT.search(content):
        problem = Phrase("it contains the marks of a git conflict: <<<<<<<")
    elif not content.lstrip(b"\0\xef\xbb\xbf\xff\xfe \t\r\n").startswith((b"{", b"[")):
        problem = Phrase("its first character is not an opening brace")
    raise Refused(Phrase("it is not a complete notebook file ({problem})", problem))


def _cells(notebook: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the raw cells of a notebook in format 3 or 4."""
    cells = notebook.get("cells")
    if cells is None:
        sheets = notebook.get("worksheets")
        sheets = sheets if isinstance(sheets, list) else []
        parts = [s.get("cells") for s in sheets if isinstance(s, dict)]
        cells = [c for part in parts if isinstance(part, list) for c in part]
    if not isinstance(cells, list) or not cells:
        raise Refused(Phrase("it is not a notebook: it has no cells"))
    if len(cells) > MAX_CELLS:
        raise Refused(
            Phrase("it has {count} cells; {limit} are allowed", len(cells), MAX_CELLS)
        )
    return [cell for cell in cells if isinstance(cell, dict)]


def _cell(raw: dict[str, Any]) -> SubmittedCell:
    source = raw.get("source", raw.get("input", ""))
    lines = source if isinstance(source, list) else [source]
    text = "".join(line for line in lines if isinstance(line, str))
    text = text.encode(errors="replace").decode()
    text = text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    kind = _kind(raw)
    plain = _without_invisible(text) if kind == "code" else text
    metadata = raw.get("metadata")
    metadata = metadata if isinstance(metadata, dict) else {}
    nbgrader = metadata.get("nbgrader")
    grade_id = nbgrader.get("grade_id") if isinstance(nbgrader, dict) else None
    ids = (raw.get("id"), metadata.get("id"))
    return SubmittedCell(
        kind,
        plain,
        grade_id if isinstance(grade_id, str) else None,
        frozenset(i for i in ids if isinstance(i, str)),
        dict(_pictures(raw.get("attachments"))),
        plain != text,
    )


def _without_invisible(source: str) -> str:
    """Remove zero-width characters from code, and indent it with plain spaces.

    Text that was copied from a web page or a chat may contain invisible characters.
    Editors do not show them, but Python rejects them.
    """
    source = INVISIBLE.sub("", source)
    return INDENTED.sub(lambda blanks: blanks[0].replace("\xa0", " "), source)


def _pictures(raw: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the attached pictures that are small enough to display."""
    left = MAX_PICTURES
    for name, kinds in raw.items() if isinstance(raw, dict) else ():
        for kind, lines in kinds.items() if isinstance(kinds, dict) else ():
            text = "".join(lines) if _is_text(lines) else ""
            content = "".join(text.split())
            fits = kind in PICTURES and len(content) <= left
            if fits and BASE64.fullmatch(content):
                left -= len(content)
                yield name, {kind: content}
                break


def _is_text(lines: Any) -> bool:
    parts = lines if isinstance(lines, list) else [lines]
    return all(isinstance(part, str) for part in parts)


def _kind(raw: dict[str, Any]) -> str:
    kind = str(raw.get("cell_type")).lower()
    if kind in ("code", "markdown", "raw"):
        return kind
    has_run = any(key in raw for key in ("outputs", "execution_count", "input"))
    return "code" if has_run else "markdown"


def _refuse_too_much(cells: list[SubmittedCell]) -> None:
    """Refuse very large cells, which would keep the grader busy for minutes."""
    for kind, limit in (("code", MAX_CODE), ("markdown", MAX_TEXT)):
        size = sum(len(cell.source) for cell in cells if cell.cell_type == kind)
        if size > limit:
            raise Refused(
                Phrase(
                    "its {kind} cells hold {size} characters; {limit} are allowed",
                    kind,
                    f"{size:,}",
                    f"{limit:,}",
                )
            )
    lines = sum(cell.source.count("\n") for cell in cells)
    if lines > MAX_LINES:
        raise Refused(
            Phrase(
                "its cells hold {lines} lines; {limit} are allowed",
                f"{lines:,}",
                f"{MAX_LINES:,}",
            )
        )

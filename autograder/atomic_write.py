"""Write files whole, the old one or the new one; read what spreadsheets have saved."""

import codecs
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

UNFINISHED = ".part"  # how the name of a file ends while it is written


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Give another path to write to; that file takes the place of `path` at the end."""
    part = path.with_name(f"{path.name}{UNFINISHED}")
    part.unlink(missing_ok=True)
    try:
        yield part
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def atomic_write(path: Path, content: bytes) -> None:
    """Write a file, and its folder where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as part, part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def text_of_table(path: Path) -> str:
    """Return a text that a spreadsheet has saved: Excel's "Unicode Text" is UTF-16.

    Raises:
        OSError: if it cannot be read.
        UnicodeDecodeError: if it is in neither UTF-8 nor UTF-16.
    """
    content = path.read_bytes()
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = content.decode("utf-16" if is_wide else "utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n")

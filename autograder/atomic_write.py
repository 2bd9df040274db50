"""Write files in one step, and read text that a spreadsheet saved.

A file that is written in one step is never incomplete.
"""

import codecs
import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

UNFINISHED = ".part"  # the suffix of a file that is still being written


@contextlib.contextmanager
def atomic_path(path: Path) -> Iterator[Path]:
    """Yield a temporary path to write to, and rename it to `path` at the end."""
    part = path.with_name(f"{path.name}{UNFINISHED}")
    part.unlink(missing_ok=True)
    try:
        yield part
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def atomic_write(path: Path, content: bytes) -> None:
    """Write a file in one step, and create its folder if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path) as part, part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def text_of_table(path: Path) -> str:
    """Read text that a spreadsheet saved; Excel's format "Unicode Text" is UTF-16.

    Raises:
        OSError: if the file cannot be read.
        UnicodeDecodeError: if the text is neither UTF-8 nor UTF-16.
    """
    content = path.read_bytes()
    is_wide = content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    text = content.decode("utf-16" if is_wide else "utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n")

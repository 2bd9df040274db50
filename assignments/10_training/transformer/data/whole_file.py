"""Write a file as a whole, or not at all."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that takes the place of `path` once all is written.

    It grows beside `path` under a name of its own, is brought to the disk and only then
    renamed. If anything fails it is deleted, and `path` stays as it was.

    Args:
        path: where the file goes; its folder exists.

    Raises:
        OSError: if it cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)

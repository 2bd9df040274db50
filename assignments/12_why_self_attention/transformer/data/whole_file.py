"""Write a file completely, or not at all."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` when it is complete.

    The file has a temporary name in the folder of `path`, and is renamed only after it
    has been written to the disk. After an error it is deleted, and `path` stays
    unchanged.

    Args:
        path: path of the file, in a folder that exists.

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

"""Write a file so that it is never incomplete on the disk."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that replaces `path` when it is complete.

    Until then, the file has a temporary name in the folder of `path`. It is renamed
    after it has been written to the disk. After an error it is deleted, and `path` is
    unchanged.

    Args:
        path: path of the file, in a folder that exists.

    Raises:
        OSError: if the file cannot be written.
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

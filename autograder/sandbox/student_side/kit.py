"""Store a unit's kit in the pre-warmed parent, so that every child inherits it.

The kit is the course's own code, and the parent may import it before any student's code
runs. In a child, its own folder has the same path and contains the same files.
"""

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator

FOLDER = "/student"


def write(folder: str, sizes: list[tuple[str, int]], contents: bytearray) -> None:
    """Write files into a folder; `contents` is their contents joined in order."""
    left = memoryview(contents)
    for home in {os.path.dirname(name) for name, _ in sizes}:
        os.makedirs(os.path.join(folder, home), exist_ok=True)
    for name, size in sizes:
        with open(os.path.join(folder, name), "wb", buffering=0) as file:
            file.write(left[:size])
        left = left[size:]


@contextlib.contextmanager
def importable() -> Iterator[None]:
    """Let imports search the kit's files first."""
    importlib.invalidate_caches()
    sys.path.insert(0, FOLDER)
    try:
        yield
    finally:
        sys.path.remove(FOLDER)
        sys.path_importer_cache.pop(FOLDER, None)

"""Hold a unit's kit in the pre-warmed parent, where every child will have it.

The kit is the course's own code, not the student's: it may be imported before a student
is there. A child finds the same files in the same place, in a folder of its own.
"""

import base64
import contextlib
import importlib
import os
import sys
from collections.abc import Iterator

FOLDER = "/student"


def write(files: dict[str, str]) -> None:
    """Write the kit's files; each is coded in base 64."""
    for name, coded in files.items():
        path = os.path.join(FOLDER, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(coded))


@contextlib.contextmanager
def importable() -> Iterator[None]:
    """Look for modules among the kit's files first."""
    importlib.invalidate_caches()
    sys.path.insert(0, FOLDER)
    try:
        yield
    finally:
        sys.path.remove(FOLDER)
        sys.path_importer_cache.pop(FOLDER, None)

"""Open the cache in which Jupyter Book keeps the outputs of executed chapters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.cache.main import JupyterCacheBase


@contextmanager
def kept_outputs(folder: str | Path) -> Iterator[JupyterCacheBase]:
    """Open Jupyter Book's cache in `folder`, and close its database at the end.

    The cache itself never closes its database, and SQLite warns about that since Python
    3.13.
    """
    cache = get_cache(folder)
    try:
        yield cache
    finally:
        cache.db.dispose()

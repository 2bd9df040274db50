"""The outputs of executed chapters that Jupyter Book keeps between builds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jupyter_cache import get_cache
from jupyter_cache.cache.main import JupyterCacheBase


@contextmanager
def kept_outputs(folder: str | Path) -> Iterator[JupyterCacheBase]:
    """Open Jupyter Book's cache in `folder`, and close its database at the end.

    The cache itself never closes it: from Python 3.13 on, SQLite warns about that.
    """
    cache = get_cache(folder)
    try:
        yield cache
    finally:
        cache.db.dispose()

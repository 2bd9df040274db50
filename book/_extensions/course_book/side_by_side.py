"""Execute chapters side by side before they are read.

Sphinx reads one chapter after the other, and each is executed while it is read: all
processors but one would wait. What is executed here lies in Jupyter Book's cache when
the chapter is read. A chapter that fails is left to the reading, which says so.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from jupyter_cache.base import CacheBundleIn, JupyterCacheAbstract
from myst_nb.core.config import NbParserConfig
from myst_nb.core.read import NbReader, create_nb_reader
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
from nbformat import NotebookNode
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging

from .kept_outputs import kept_outputs

MOST = 4  # kernels at once
logger = logging.getLogger(__name__)


def execute_chapters(app: Sphinx, env: BuildEnvironment, names: list[str]) -> None:
    """Execute the chapters that are to be read and that the cache does not hold."""
    settings: NbParserConfig = env.mystnb_config  # type: ignore[attr-defined]
    if settings.execution_mode != "cache":
        return
    waiting: dict[Path, NotebookNode] = {}
    ended: list[Path] = []

    def tell(path: Path) -> None:
        ended.append(path)
        part = 100 * len(ended) // len(waiting)
        logger.info(f"executed... [{part:3}%] {path.stem}")

    with kept_outputs(settings.execution_cache_path) as cache:
        for name in names:
            path = Path(env.doc2path(name))
            reader = reader_of(env, path)
            notebook = reader.read(path.read_text("utf-8")) if reader else None
            if notebook and is_missing(cache, notebook):
                cache.add_nb_to_project(str(path), read_data=reader.read_fmt)
                waiting[path] = notebook
        execute(waiting, cache, settings.execution_timeout, tell)


def reader_of(env: BuildEnvironment, path: Path) -> NbReader | None:
    """Return what reads a notebook; None for a page without code."""
    markdown, settings = env.myst_config, env.mystnb_config  # type: ignore[attr-defined]
    return create_nb_reader(str(path), markdown, settings, path.read_text("utf-8"))


def is_missing(cache: JupyterCacheAbstract, notebook: NotebookNode) -> bool:
    """Say whether a notebook has code, and the cache lacks what it prints."""
    if not any(cell.cell_type == "code" for cell in notebook.cells):
        return False
    try:
        cache.match_cache_notebook(notebook)
    except KeyError:
        return True
    return False


def execute(
    notebooks: Mapping[Path, NotebookNode],
    cache: JupyterCacheAbstract,
    seconds: int,
    tell: Callable[[Path], None],
) -> None:
    """Execute notebooks, as many at once as there are processors; keep what succeeds.

    Args:
        notebooks: by their files, in whose folders they run.
        cache: where they go.
        seconds: the most that a cell may take.
        tell: called with each file whose notebook has ended.
    """
    asyncio.run(_execute(notebooks, cache, seconds, tell))


async def _execute(
    notebooks: Mapping[Path, NotebookNode],
    cache: JupyterCacheAbstract,
    seconds: int,
    tell: Callable[[Path], None],
) -> None:
    kernels = asyncio.Semaphore(min(MOST, os.cpu_count() or 1))

    async def run(path: Path, notebook: NotebookNode) -> None:
        async with kernels:
            began = time.perf_counter()
            place = {"metadata": {"path": str(path.parent)}}
            client = NotebookClient(
                notebook,
                timeout=seconds,
                resources=place,
                record_timing=False,  # a cell's times would be a part of its name
                # The kernel sends a print in two messages whenever a fifth of a
                # second is over. myst-nb would end a line between them.
                coalesce_streams=True,
            )
            with suppress(CellExecutionError, CellTimeoutError, DeadKernelError):
                await client.async_execute()
                took = {"execution_seconds": time.perf_counter() - began}
                kept = CacheBundleIn(notebook, str(path), data=took)
                cache.cache_notebook_bundle(kept, check_validity=False, overwrite=True)
        tell(path)

    await asyncio.gather(*(run(*one) for one in notebooks.items()))

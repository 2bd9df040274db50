"""Execute chapters in parallel before Sphinx reads them.

Sphinx reads one chapter after another and executes each while reading it, so only one
processor would work. This module executes the chapters earlier and stores the outputs
in Jupyter Book's cache. If a chapter fails, Sphinx executes it again and reports the
error.
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

MOST = 4  # maximum number of kernels at the same time
logger = logging.getLogger(__name__)


def execute_chapters(app: Sphinx, env: BuildEnvironment, names: list[str]) -> None:
    """Execute the chapters that Sphinx will read and that are not in the cache."""
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
    """Return a reader for a notebook, or None for a page without code."""
    markdown, settings = env.myst_config, env.mystnb_config  # type: ignore[attr-defined]
    return create_nb_reader(str(path), markdown, settings, path.read_text("utf-8"))


def is_missing(cache: JupyterCacheAbstract, notebook: NotebookNode) -> bool:
    """Return whether a notebook has code and its outputs are not in the cache."""
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
    """Execute notebooks in parallel, and store the outputs of those that succeed.

    Args:
        notebooks: the notebooks by their files; each runs in its file's folder.
        cache: the cache for the outputs.
        seconds: maximum time for a cell.
        tell: a function that is called with the file of each notebook that has ended.
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
                record_timing=False,  # otherwise a cell's name would contain its times
                # The kernel splits printed text into messages every 0.2 seconds, and
                # myst-nb would break a line between two messages.
                coalesce_streams=True,
            )
            with suppress(CellExecutionError, CellTimeoutError, DeadKernelError):
                await client.async_execute()
                took = {"execution_seconds": time.perf_counter() - began}
                kept = CacheBundleIn(notebook, str(path), data=took)
                cache.cache_notebook_bundle(kept, check_validity=False, overwrite=True)
        tell(path)

    await asyncio.gather(*(run(*one) for one in notebooks.items()))

"""Chapters are executed side by side, and what fails is left to the reading."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from course_book.side_by_side import execute, is_missing
from jupyter_cache import get_cache
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

pytestmark = [
    pytest.mark.integration,
    # jupyter_client and zmq warn about this machine's event loop and sockets
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
# Each of two chapters waits for the other.
WAITING = """
import time
from pathlib import Path
Path("{own}").touch()
ends = time.monotonic() + 300
while not Path("{other}").exists():
    assert time.monotonic() < ends, "the other was not begun"
    time.sleep(0.1)
print("together")
"""


def notebook(*sources: str):
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    cells = [new_code_cell(source) for source in sources]
    return new_notebook(cells=cells, metadata={"kernelspec": kernel})


def in_a_thread(function: Callable[..., None], *arguments: object) -> None:
    """Call a function where no event loop runs: a browser's may run in this thread."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(function, *arguments).result()


def test_two_chapters_run_at_once_and_are_kept(tmp_path: Path) -> None:
    notebooks = {
        tmp_path / "one.md": notebook(WAITING.format(own="one", other="two")),
        tmp_path / "two.md": notebook(WAITING.format(own="two", other="one")),
    }
    for path in notebooks:
        path.touch()
    cache = get_cache(tmp_path / "cache")
    ended: list[Path] = []
    in_a_thread(execute, notebooks, cache, 600, ended.append)
    assert sorted(ended) == sorted(notebooks)
    for fresh in (
        notebook(WAITING.format(own=own, other=other))
        for own, other in (("one", "two"), ("two", "one"))
    ):
        assert not is_missing(cache, fresh)
        _, found = cache.merge_match_into_notebook(fresh)
        assert found.cells[0].outputs[0].text == "together\n"


def test_a_chapter_that_fails_is_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "wrong.md"
    path.touch()
    cache = get_cache(tmp_path / "cache")
    ended: list[Path] = []
    in_a_thread(execute, {path: notebook("1 / 0")}, cache, 600, ended.append)
    assert ended == [path]
    assert is_missing(cache, notebook("1 / 0"))


def test_a_page_without_code_is_not_executed(tmp_path: Path) -> None:
    page = new_notebook(cells=[new_markdown_cell("Words.")])
    assert not is_missing(get_cache(tmp_path / "cache"), page)

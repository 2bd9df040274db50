"""Chapters run in parallel, and Sphinx executes failed ones while it reads them."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from course_book.kept_outputs import kept_outputs
from course_book.side_by_side import execute, is_missing
from myst_nb.core.utils import coalesce_streams
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

pytestmark = [
    pytest.mark.integration,
    # jupyter_client and zmq warn about this machine's event loop and sockets.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
# Each of the two chapters waits for the other.
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
    """Call a function in a new thread, because a browser's loop may run in this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(function, *arguments).result()


def test_two_chapters_run_at_once_and_are_kept(tmp_path: Path) -> None:
    notebooks = {
        tmp_path / "one.md": notebook(WAITING.format(own="one", other="two")),
        tmp_path / "two.md": notebook(WAITING.format(own="two", other="one")),
    }
    for path in notebooks:
        path.touch()
    ended: list[Path] = []
    with kept_outputs(tmp_path / "cache") as cache:
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
    ended: list[Path] = []
    with kept_outputs(tmp_path / "cache") as cache:
        in_a_thread(execute, {path: notebook("1 / 0")}, cache, 600, ended.append)
        assert ended == [path]
        assert is_missing(cache, notebook("1 / 0"))


def test_a_line_that_is_sent_in_two_messages_stays_one_line(tmp_path: Path) -> None:
    code = 'print("table on", end="", flush=True)\nprint(" cpu")'
    path = tmp_path / "two.md"
    path.touch()
    with kept_outputs(tmp_path / "cache") as cache:
        in_a_thread(execute, {path: notebook(code)}, cache, 600, lambda path: None)
        _, found = cache.merge_match_into_notebook(notebook(code))
    outputs = coalesce_streams(found.cells[0].outputs)
    assert [output.text for output in outputs] == ["table on cpu\n"]


def test_a_page_without_code_is_not_executed(tmp_path: Path) -> None:
    page = new_notebook(cells=[new_markdown_cell("Words.")])
    with kept_outputs(tmp_path / "cache") as cache:
        assert not is_missing(cache, page)


def test_the_database_is_closed_when_the_cache_is_not_needed(tmp_path: Path) -> None:
    with kept_outputs(tmp_path) as cache:
        cache.list_cache_records()
        pool = cache.db.pool
        assert pool.checkedin() == 1
    assert pool.checkedin() == 0

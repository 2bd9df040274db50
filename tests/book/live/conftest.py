"""Pages with the live translator, a browser for them, and packages of npm."""

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe import packages_of_npm
from course_book.live import figure
from course_book.live_script import LIVE, write_files
from live_readers import Reader

from transformer.data import make_grammar_corpus
from transformer.shipped_model import ShippedModel, load_shipped_model

HERE = Path(__file__).resolve().parent
PAGE = """<!doctype html>
<html lang="en" data-theme="light">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>A live translator</title>
<style>
body {{ margin: 0.5rem; font-family: sans-serif; background: #fff; }}
[data-theme="dark"] body {{ color: #eee; background: #14181e; }}
</style>
<link rel="stylesheet" href="live/live.css">
<script defer src="live/live.js"></script></head>
<body><main><h1>A live translator</h1>{figures}</main></body></html>
"""
SETTINGS = {"text": "die frau ruft den alten mann an .", "at": 2}


@pytest.fixture(scope="session")
def npm() -> Path:
    """Return the folder of the packages in `package.json`."""
    return packages_of_npm()


@pytest.fixture(scope="session")
def examples() -> list[dict[str, str]]:
    return json.loads((LIVE / "examples.json").read_text("utf-8"))


@pytest.fixture(scope="session")
def live_folder(tmp_path_factory) -> Path:
    """Make a folder with the files that a built book has for the figure."""
    folder = tmp_path_factory.mktemp("live-page")
    write_files(folder / "live")
    return folder


@pytest.fixture(scope="session")
def write_page(live_folder, examples) -> Callable[..., Path]:
    """Write a page with one figure, and return its path."""

    def write(
        name: str = "page", above: str = "", opened: str = "", **settings
    ) -> Path:
        text = above + figure(1, SETTINGS | settings, opened, examples)
        path = live_folder / f"{name}.html"
        path.write_text(PAGE.format(figures=text), "utf-8")
        return path

    return write


@pytest.fixture
def read(chromium) -> Iterator[Callable[..., Reader]]:
    """Open a browser window that records errors."""
    readers = []

    def new(width: int = 1280, theme: str = "light", **options) -> Reader:
        readers.append(Reader(chromium, width, theme, **options))
        return readers[-1]

    yield new
    for reader in readers:
        reader.close()


@pytest.fixture(scope="session")
def shipped() -> ShippedModel:
    return load_shipped_model()


@pytest.fixture(scope="session")
def sources(shipped) -> list[list[int]]:
    """The first 200 source sentences of the test set, as ids."""
    pairs = make_grammar_corpus().test[:200]
    return [shipped.words[0].encode(pair.src) for pair in pairs]


@pytest.fixture(scope="session")
def engine_page(live_folder) -> Path:
    """Write a page with the script, the model and the questions, but no figure."""
    shutil.copy(HERE / "ask_engine.js", live_folder)
    names = ("live/live.js", "live/tiny-model.js", "ask_engine.js")
    tags = "".join(f'<script src="{name}"></script>' for name in names)
    path = live_folder / "engine.html"
    path.write_text(f"<!doctype html><meta charset=utf-8><title>engine</title>{tags}")
    return path


@pytest.fixture(scope="module")
def engine(chromium, engine_page) -> Iterator[object]:
    """Open that page in Chromium."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(engine_page.as_uri())
    yield page
    context.close()

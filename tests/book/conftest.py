"""The built book, and a browser that reads it."""

import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from chromium import ARGUMENTS, PATIENCE, find_chromium, without_a_loop
from filelock import FileLock

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
sys.path.insert(0, str(BOOK / "_extensions"))


def load_script(name: str) -> ModuleType:
    """Import a script of `book/`, which is no package."""
    spec = importlib.util.spec_from_file_location(f"book_{name}", BOOK / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def builder() -> ModuleType:
    """The script `book/build.py`."""
    return load_script("build")


def build_once(builder: ModuleType, language: str) -> Path:
    """Build the changed parts of the public book, and return its folder.

    Parallel tests share one folder. The first test builds and the others wait, so that
    no test builds while another one reads.
    """
    run = os.environ.get("PYTEST_XDIST_TESTRUNUID", "alone")
    built = BOOK / "_build" / f"built-for-tests-{language}.txt"
    with FileLock(BOOK / "_build.lock"):
        if run == "alone" or not built.exists() or built.read_text() != run:
            with without_a_loop():  # the build prints the summary with playwright
                status = builder.build("public", quiet=True, language=language)
            assert status == 0, "the book does not build"
            built.write_text(run)
    return builder.front_page("public", language).parent


@pytest.fixture(scope="session")
def site(builder: ModuleType) -> Path:
    """Build the changed parts of the public book, and return its folder."""
    return build_once(builder, "en")


@pytest.fixture(scope="session")
def korean(builder: ModuleType, site: Path) -> Path:
    """Build the changed parts of the Korean book, and return its folder."""
    return build_once(builder, "ko")


def pages_of(site: Path) -> list[Path]:
    """Return every page that Sphinx wrote in the last build, and the search page.

    So the slides and the summary are not among them: they have their own tests.
    """
    index = (site / "searchindex.js").read_text("utf-8")
    names = re.search(r'"docnames":\s*\[([^\]]*)\]', index)[1]
    found = [site / f"{name}.html" for name in re.findall(r'"([^"]+)"', names)]
    return [*found, site / "search.html", site / "genindex.html"]


@pytest.fixture(scope="session")
def pages(site: Path) -> list[Path]:
    """The English pages."""
    return pages_of(site)


@pytest.fixture(scope="session")
def korean_pages(korean: Path) -> list[Path]:
    """The Korean pages."""
    return pages_of(korean)


@pytest.fixture(scope="session")
def chapters(pages: list[Path]) -> list[Path]:
    """The pages of the units."""
    return [page for page in pages if re.match(r"\d\d_", page.name)]


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    """A running Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=find_chromium(), args=[*ARGUMENTS], timeout=PATIENCE
        )
        yield browser
        browser.close()

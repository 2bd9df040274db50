"""The guide's pictures: one command makes them all, and the page shows them all."""

import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag
from guide_pictures.scenes import SCENES
from PIL import Image

BOOK = Path(__file__).resolve().parents[2] / "book"
FOLDER = BOOK / "_static" / "guide"
MOST, MOST_TOGETHER = 250_000, 1_000_000  # bytes


@pytest.fixture(scope="module")
def shown() -> dict[str, Tag]:
    """Return the pictures of the page by the names of their files."""
    page = (BOOK / "instructor.md").read_text(encoding="utf-8")
    images = BeautifulSoup(page, "html.parser").select("figure.screen > img")
    assert all((BOOK / image["src"]).parent == FOLDER for image in images)
    return {Path(image["src"]).name: image for image in images}


def sizes(folder: Path) -> dict[str, tuple[int, int]]:
    return {path.name: opened(path).size for path in folder.iterdir()}


def opened(path: Path) -> Image.Image:
    with Image.open(path) as picture:
        picture.load()
    return picture


def test_the_page_shows_every_picture_once_and_no_other(shown: dict[str, Tag]) -> None:
    page = (BOOK / "instructor.md").read_text(encoding="utf-8")
    assert set(shown) == {f"{name}.png" for name in SCENES}
    assert set(shown) == {path.name for path in FOLDER.iterdir()}
    assert [page.count(f"_static/guide/{name}") for name in shown] == [1] * len(shown)


def test_pictures_are_described_and_leave_their_place_free(shown: dict[str, Tag]):
    found = sizes(FOLDER)
    for name, image in shown.items():
        assert (int(image["width"]), int(image["height"])) == found[name], name
        assert len(image["alt"]) > 60, name
        assert image["loading"] == "lazy", name
        assert image.find_next_sibling("figcaption").get_text(), name


def test_pictures_are_small_and_hold_no_notes() -> None:
    paths = list(FOLDER.iterdir())
    assert {path.name for path in paths if path.stat().st_size > MOST} == set()
    assert sum(path.stat().st_size for path in paths) < MOST_TOGETHER
    assert {path.name for path in paths if opened(path).info} == set()


@pytest.mark.slow
@pytest.mark.needs("chromium")
def test_the_command_makes_every_picture_anew(shown, tmp_path: Path) -> None:
    """Names and sizes agree with what the page shows: else `make pictures`.

    Other fonts break lines elsewhere: a little higher or lower is no other picture.
    """
    command = [sys.executable, "-m", "guide_pictures", "--to", str(tmp_path)]
    done = subprocess.run(command, cwd=BOOK, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-3000:]
    made, kept = sizes(tmp_path), sizes(FOLDER)
    assert set(made) == set(shown)
    for name, size in made.items():
        assert size == pytest.approx(kept[name], rel=0.15), name

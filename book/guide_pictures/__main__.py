"""Take the pictures: `make pictures`."""

import argparse
import contextlib
import io
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from PIL import Image
from playwright.sync_api import sync_playwright

from guide_pictures.chromium import ARGUMENTS, find_chromium
from guide_pictures.jupyter_server import jupyter_server
from guide_pictures.lab_page import SECONDS
from guide_pictures.sample_class import make_graded_class
from guide_pictures.scenes import SCENES, Stage

GUIDE = Path(__file__).resolve().parents[1] / "_static" / "guide"
SIZE = {"width": 1100, "height": 760}


def main() -> int:
    """Read the command line, set the stage, take every picture."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=GUIDE, help="where they go")
    parser.add_argument("--only", choices=SCENES, help="one picture")
    options = parser.parse_args()
    chosen = [options.only] if options.only else list(SCENES)
    options.to.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory(prefix="course-pictures-") as name,
        stage_in(Path(name)) as stage,
    ):
        for scene in chosen:
            path = options.to / f"{scene}.png"
            picture = SCENES[scene](stage)
            require_neutral(stage)
            write_small(picture, path)
            print(f"{path.name}: {path.stat().st_size // 1024} KB", flush=True)
    return 0


@contextlib.contextmanager
def stage_in(home: Path) -> Iterator[Stage]:
    """Grade a class, start a server in its folder, and a browser."""
    executable = find_chromium()
    if executable is None:
        raise SystemExit("Chromium is not installed: `apt-get install chromium`")
    root, settings = home / "class", home / "settings"
    settings.mkdir()
    make_graded_class(root)
    with jupyter_server(root, settings) as server, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=executable, args=[*ARGUMENTS])
        page = browser.new_page(viewport=SIZE)
        page.set_default_timeout(1000 * SECONDS)
        yield Stage(page, home, root, server)
        browser.close()


def require_neutral(stage: Stage) -> None:
    """Refuse a page that shows a folder of this machine or the server's token.

    Raises:
        SystemExit: naming what it shows.
    """
    shown = stage.page.locator("body").inner_text()
    private = {str(stage.home), str(Path.home()), stage.instructor[1]} - {"/"}
    if found := sorted(words for words in private if words in shown):
        raise SystemExit(f"{stage.page.url} shows {found}: expected no such thing")


def write_small(picture: bytes, path: Path) -> None:
    """Write a PNG with a palette: a page has few colours."""
    image = Image.open(io.BytesIO(picture)).convert("RGB")
    few = image.quantize(256, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


if __name__ == "__main__":
    sys.exit(main())

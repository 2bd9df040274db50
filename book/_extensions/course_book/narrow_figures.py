"""Show the narrow version of each figure on small screens.

`transformer.plots.narrow` makes a second, narrow layout of a figure with text of the
same size, and stores it in the SVG file of the wide figure. This module writes it to
its own file.
"""

from __future__ import annotations

import base64
import functools
import re
import zlib
from pathlib import Path

from sphinx.application import Sphinx

SMALL_PAGE = "(width < 600px)"
PACKED = re.compile(r'<metadata id="narrow">([^<]+)</metadata>')
IMAGE = re.compile(r'<img\b[^>]*\bsrc="([^"]*/)?([^"/]+)\.svg"[^>]*>')


def unpack(svg: str) -> str | None:
    """Return the narrow version that a figure's SVG contains, or None."""
    held = PACKED.search(svg)
    return held and zlib.decompress(base64.b64decode(held[1])).decode()


def offer_both(app: Sphinx, image: re.Match[str]) -> str:
    """Return a `<picture>` with both versions, or the image if there is only one."""
    files = {Path(name).stem: uri for uri, name in app.builder.images.items()}
    uri = files.get(image[2])
    narrow = uri and unpack((Path(app.srcdir) / uri).read_text("utf-8"))
    if not narrow:
        return image[0]
    folder = Path(app.outdir) / app.builder.imagedir
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{image[2]}-narrow.svg").write_text(narrow, "utf-8")
    address = f"{image[1] or ''}{image[2]}-narrow.svg"
    source = f'<source media="{SMALL_PAGE}" srcset="{address}">'
    return f"<picture>{source}{image[0]}</picture>"


def show_narrow_figures(
    app: Sphinx, page: str, template: str, context: dict, doctree: object
) -> None:
    """Replace each figure in the body of a page by a `<picture>`."""
    if doctree is not None:
        replace = functools.partial(offer_both, app)
        context["body"] = IMAGE.sub(replace, context["body"])

"""Colour the code on pages, except in long or strange cells, which take too long.

Pygments takes minutes for 80 kB of `a.a.a`, and for code that it takes for Perl.
"""

import functools
import re
import time
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.highlight import Highlight2HTML
from traitlets.config import Config

MAX_LENGTH, MAX_SECONDS = 6_000, 3.0  # per cell, per page
SPENT = "seconds_of_highlighting"
# Names, signs and blanks get no colour, because their tags would fill most of a page.
WITHOUT_COLOUR = re.compile(r'<span class="(?:n|nn|p|w|o|bp|err)">([^<]*)</span>')
COLOURED = Highlight2HTML(pygments_lexer="ipython3")
PLAIN = Highlight2HTML(pygments_lexer="text")


@functools.lru_cache(1000)  # pages of a class share much code
def _coloured(source: str) -> str:
    return WITHOUT_COLOUR.sub(r"\1", COLOURED(source))


@pass_context
def highlighted(
    context: Context, source: str, language: str | None = None, metadata: Any = None
) -> str:
    """Return a cell's code as HTML, coloured as Python or not at all."""
    page = context.get("resources")
    page = page if page is not None else {}
    is_long = len(source) > MAX_LENGTH or page.get(SPENT, 0.0) > MAX_SECONDS
    if is_long or source.lstrip().startswith("%%"):
        return PLAIN(source)
    started = time.process_time()
    html = _coloured(source)
    page[SPENT] = page.get(SPENT, 0.0) + time.process_time() - started
    return html


def configure_highlighting(c: Config) -> None:
    """Make feedback pages and formgrader colour code with our filter."""
    c.HTMLExporter.filters = {**c.HTMLExporter.filters, "highlight_code": highlighted}

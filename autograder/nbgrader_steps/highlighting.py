"""Colour the code on pages, except where this would take too long.

Pygments needs minutes for 80 kB of `a.a.a`, and for code that it mistakes for Perl.
"""

import functools
import re
import time
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context
from nbconvert.filters.highlight import Highlight2HTML
from traitlets.config import Config

MAX_LENGTH, MAX_SECONDS = 6_000, 3.0  # limits per cell and per page
SPENT = "seconds_of_highlighting"
# Names, operators and spaces get no colour, because their tags would fill most of a
# page.
WITHOUT_COLOUR = re.compile(r'<span class="(?:n|nn|p|w|o|bp|err)">([^<]*)</span>')
COLOURED = Highlight2HTML(pygments_lexer="ipython3")
PLAIN = Highlight2HTML(pygments_lexer="text")


@functools.lru_cache(1000)  # the pages of a class have much code in common
def _coloured(source: str) -> str:
    return WITHOUT_COLOUR.sub(r"\1", COLOURED(source))


@pass_context
def highlighted(
    context: Context, source: str, language: str | None = None, metadata: Any = None
) -> str:
    """Return a cell's code as HTML, either coloured as Python or not coloured."""
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
    """Make feedback pages and formgrader use our filter to colour code."""
    c.HTMLExporter.filters = {**c.HTMLExporter.filters, "highlight_code": highlighted}

"""Write the text of each page as a script, for the excerpts of the search.

A page that is opened from the disk may not read other pages, but it may load scripts.
`_static/course.js` loads the scripts of the pages that the search finds.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

FOLDER = "excerpts"
UNSEEN = re.compile(
    r'<(script|style|svg)\b.*?</\1>|<a class="headerlink".*?</a>'
    r'|<p class="gloss-words".*?</p>',  # .gloss-heard has the same words
    re.S,
)
# Keep the tags of sections and terms, because search results link to their ids.
TAG = re.compile(r"<(?!/?(section|dt)\b)[^>]*>")


def words_of(body: str) -> str:
    """Return the text of a page's body, with only the tags of sections and terms."""
    return re.sub(r"\s+", " ", TAG.sub("", UNSEEN.sub("", body))).strip()


def write_excerpts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Write the text of a page as a script."""
    if doctree is None or app.builder.format != "html":
        return
    main = f'<div role="main">{words_of(context["body"])}</div>'
    path = Path(app.outdir) / FOLDER / f"{page}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    script = f"courseExcerpts[{json.dumps(page)}] = {json.dumps(main)};\n"
    path.write_text(script, "utf-8")

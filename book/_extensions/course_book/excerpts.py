"""What the search shows of a page, as a script: from the disk none may read another.

`_static/course.js` loads the scripts of the pages that are found.
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
# Places that the search leads to keep their tags, and with them their names.
TAG = re.compile(r"<(?!/?(section|dt)\b)[^>]*>")


def words_of(body: str) -> str:
    """Return a page's body with no tags but those of its places."""
    return re.sub(r"\s+", " ", TAG.sub("", UNSEEN.sub("", body))).strip()


def write_excerpts(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Write the words of a page beside it."""
    if doctree is None or app.builder.format != "html":
        return
    main = f'<div role="main">{words_of(context["body"])}</div>'
    path = Path(app.outdir) / FOLDER / f"{page}.js"
    path.parent.mkdir(parents=True, exist_ok=True)
    script = f"courseExcerpts[{json.dumps(page)}] = {json.dumps(main)};\n"
    path.write_text(script, "utf-8")

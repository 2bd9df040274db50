"""Translate the parts of the book that Sphinx's gettext does not find.

The English text is the only source. The catalogues are in `book/locale/ko/`, and texts
without a translation stay in English. `autograder/translations/` writes and checks the
catalogues.
"""

from __future__ import annotations

import gettext
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.util.docutils import SphinxDirective
from sphinxcontrib.bibtex.plugin import register_plugin

from autograder.translations.markdown import with_picture_words

from . import words
from .citations_ko import KoreanCitations
from .search_ko import SearchKorean

SOURCE = "en"
HANGUL = re.compile("[가-힣]")
GETTEXT = "gettext"
SEEN = ("image/svg+xml", "image/png", "text/html", "text/markdown", "text/plain")
KOREAN_WORDS = "## Korean words"  # part of the glossary for English readers only


def is_translation(app: Sphinx) -> bool:
    """Return whether the book is built in another language than English."""
    return app.config.language != SOURCE


def locale_dir(app: Sphinx) -> Path:
    """Return the folder with the catalogues of all languages."""
    return Path(app.srcdir) / app.config.locale_dirs[0]


def find_pictures(app: Sphinx, config: Config) -> None:
    """Let gettext see the same outputs as a web page, so it finds their alt texts."""
    config.nb_mime_priority_overrides = [
        *config.nb_mime_priority_overrides,
        *((GETTEXT, kind, place) for place, kind in enumerate(SEEN)),
    ]


def use_words(app: Sphinx, config: Config) -> None:
    """Let the book's own code write in the book's language.

    The words are stored as a setting, so Sphinx reads all pages again if one of them
    changes.
    """
    config.course_words = words.use(locale_dir(app) / config.language)


def drop_korean_words(app: Sphinx, docname: str, source: list[str]) -> None:
    """Remove the glossary's list of Korean words from translations."""
    translated = is_translation(app) or app.builder.name == GETTEXT
    if docname == "glossary" and translated:
        source[0] = source[0].partition(KOREAN_WORDS)[0]


def translate_pictures(app: Sphinx, docname: str, source: list[str]) -> None:
    """Translate the text alternatives of pictures that a page writes as HTML."""
    source[0] = with_picture_words(source[0], words.said)


def put_theme_words(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Pass translations to the template for the theme's English-only words."""
    context["theme_words"] = {
        "Toggle primary sidebar": words.said("Toggle primary sidebar"),
        "Toggle secondary sidebar": words.said("Toggle secondary sidebar"),
        "Source repositories": words.said("Source repositories"),
        "Repository": words.said("Repository"),
        "Open issue": words.said("Open issue"),
        "Open an issue": words.said("Open an issue"),
        "Source repository": words.said("Source repository"),
        "Version warning": words.said("Version warning"),
        "Main": words.said("Main"),
        "Page": words.said("Page"),
    }


def translate_captions(app: Sphinx, doctree: nodes.document) -> None:
    """Translate the captions of the parts in the table of contents.

    Sphinx adds the captions after it has translated the page.
    """
    if not is_translation(app):
        return
    where, languages = locale_dir(app), [app.config.language]
    catalogue = gettext.translation(app.env.docname, where, languages, fallback=True)
    for tree in doctree.findall(addnodes.toctree):
        if tree.get("caption"):
            tree["caption"] = catalogue.gettext(tree["caption"])


def mark_foreign_words(app: Sphinx, doctree: nodes.document) -> None:
    """Mark emphasised words without Hangul as foreign words, such as *ruft*."""
    if is_translation(app):
        for node in doctree.findall(nodes.emphasis):
            if not HANGUL.search(node.astext()):
                node["classes"].append("foreign")


def give_places(directive: SphinxDirective, made: list[nodes.Node]) -> None:
    """Set the source and line of a directive's nodes, without which they stay English.

    Text that does not come from the page is marked as not translatable, because
    `words.said` has already translated it.
    """
    source, line = directive.get_source_info()
    written = _in_one_line("\n".join(directive.content))
    for top in made:
        for node in top.findall(nodes.TextElement):
            if isinstance(node, nodes.Inline):
                continue
            node.source, node.line = node.source or source, node.line or line
            node.rawsource = node.rawsource or node.astext()
            if _in_one_line(node.rawsource) not in written:
                node["translatable"] = False


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the functions of this module with Sphinx."""
    app.add_config_value("course_words", [], "env")
    app.add_search_language(SearchKorean)
    styles = "sphinxcontrib.bibtex.style.referencing"
    register_plugin(styles, "author_year_ko", KoreanCitations)
    app.connect("config-inited", use_words, priority=90)
    app.connect("config-inited", find_pictures, priority=950)
    app.connect("source-read", drop_korean_words)
    app.connect("source-read", translate_pictures)
    app.connect("doctree-read", translate_captions, priority=900)
    app.connect("doctree-read", mark_foreign_words, priority=900)
    app.connect("html-page-context", put_theme_words)
    return {"env_version": 1, "parallel_read_safe": True, "parallel_write_safe": True}

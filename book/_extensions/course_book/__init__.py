"""The course's Sphinx extension for Jupyter Book: facts, numbers, editions, figures."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config
from sphinx.errors import ExtensionError

from autograder.course import load_course

from .directives import IntoTheNotebook, UnitTable
from .drawn_pages import Drawing, TransformerMap, drawing, show
from .editions import add_instructor_part
from .everyone import describe, mend
from .excerpts import write_excerpts
from .freshness import find_outdated
from .gloss import Gloss, gloss, show_gloss
from .lecture import write_lecture
from .live import LiveTranslator, add_to_page, write_live_files
from .mathjax import MathJaxError, copy_mathjax
from .narrow_figures import show_narrow_figures
from .numbering import number_by_unit
from .own_progress import OwnProgress
from .side_by_side import execute_chapters
from .translated import SOURCE
from .way import WayThrough


def apply_facts(app: Sphinx, config: Config) -> None:
    """Set the book's title, repository links and cache folder from `course.toml`."""
    course = load_course(Path(app.srcdir).parent)
    config.course_facts = course
    title = config.course_title or course.title
    config.html_title = title
    config.html_theme_options |= {
        "repository_url": course.repository,
        "repository_branch": course.branch,
        "path_to_docs": "book",
        "use_repository_button": True,
        "use_issues_button": True,
        "logo": {"text": title},
    }
    if not config.nb_execution_cache_path:
        cache = Path(app.srcdir) / "_build" / ".jupyter_cache"
        config.nb_execution_cache_path = str(cache)


def provide_mathjax(app: Sphinx, config: Config) -> None:
    """Copy MathJax into the English book; a translated book uses that copy.

    Raises:
        ExtensionError: if MathJax is not installed.
    """
    if config.language == SOURCE:
        try:
            copy_mathjax(Path(app.srcdir))
        except MathJaxError as error:
            raise ExtensionError(str(error)) from error


def mark_edition(app: Sphinx) -> None:
    """Set a Sphinx tag with the edition's name, for `{only}` and the templates."""
    app.tags.add(app.config.course_edition)


def spare_mathjax(
    app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object
) -> None:
    """Do not load MathJax on a page without formulas.

    Sphinx would load it if a page below this one in the contents has a formula.
    """
    if 'class="math' not in context.get("body", ""):
        context["script_files"][:] = [
            script
            for script in context["script_files"]
            if "mathjax" not in f"{script.filename} {script.attributes}".lower()
        ]


def setup(app: Sphinx) -> dict[str, object]:
    """Register the extension with Sphinx."""
    app.setup_extension("course_book.translated")
    app.setup_extension("course_book.slider_words")
    edition = os.environ.get("COURSE_EDITION") or "public"
    app.add_config_value("course_edition", edition, "env")
    app.add_config_value("course_facts", None, "env")
    app.add_config_value("course_title", "", "env")  # set for a translation
    # Jupyter Book sets this value for sphinx_comments, which the book does not use.
    app.add_config_value("comments_config", {}, "html")
    app.add_directive("units", UnitTable)
    app.add_directive("into-the-notebook", IntoTheNotebook)
    app.add_node(drawing, html=(show, None))
    app.add_directive("transformer-map", TransformerMap)
    app.add_directive("drawing", Drawing)
    app.add_node(gloss, html=(show_gloss, None))
    app.add_directive("gloss", Gloss)
    app.add_directive("way-through", WayThrough)
    app.add_directive("own-progress", OwnProgress)
    app.add_directive("live-translator", LiveTranslator)
    app.connect("config-inited", apply_facts, priority=100)
    app.connect("config-inited", provide_mathjax)
    app.connect("builder-inited", mark_edition)
    app.connect("builder-inited", write_live_files)
    app.connect("source-read", add_instructor_part)
    app.connect("env-get-outdated", find_outdated)
    app.connect("env-before-read-docs", execute_chapters)
    app.connect("env-get-updated", number_by_unit, priority=900)
    app.connect("html-page-context", show_narrow_figures)
    app.connect("html-page-context", mend)
    app.connect("html-page-context", describe)
    app.connect("html-page-context", spare_mathjax, priority=900)
    app.connect("html-page-context", write_excerpts)
    app.connect("html-page-context", add_to_page)
    app.connect("build-finished", write_lecture)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}

"""Write two pages for lectures: slides for each unit, and a summary of the course.

Both show parts of the chapters: titles, drawings, main formulas and summaries.
`_templates/lecture.html` is the template of both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import new_document

from autograder.course import Unit

from .drawn_pages import drawing
from .everyone import AN_END
from .words import said

# A chapter's main formula is its first one, unless another one is listed here.
MAIN_FORMULAS = {
    "eq-recurrent-attention",
    "eq-training-smoothing",
    "eq-inference-bleu",
}
SVG = re.compile(r"<svg.*?</svg>", re.DOTALL)


@dataclass(frozen=True)
class UnitSummary:
    """Hold the parts of a chapter that the slides and the summary show, as HTML.

    Attributes:
        number: the unit's number, such as "04".
        page: the chapter's file.
        title: the chapter's title.
        drawings: each drawing with its controls, and its caption.
        picture: the last drawing before the main formula, without controls.
        formula: the main formula.
        sentences: the sentences of the chapter's summary.
    """

    number: str
    page: str
    title: str
    drawings: list[tuple[str, str]]
    picture: str
    formula: str
    sentences: list[str]


def summarise(app: Sphinx, unit: Unit) -> UnitSummary | None:
    """Return the parts of a unit's chapter; None if it has no summary.

    Raises:
        ExtensionError: if the chapter has a summary but no formula.
    """
    tree = app.env.get_doctree(unit.slug)
    sections = tree.findall(nodes.section)
    summary = next((one for one in sections if "in-one-minute" in one["ids"]), None)
    if summary is None:
        return None

    def written(node: nodes.Element) -> str:
        document = new_document(unit.slug)
        document += node.deepcopy()
        app.env.resolve_references(document, unit.slug, app.builder)
        app.builder.current_docname = unit.slug
        return app.builder.render_partial(document[0])["fragment"].strip()

    drawings, shown, formula = [], "", None
    for node in tree.findall():
        if isinstance(node, nodes.math_block):
            if formula is None or node.get("label") in MAIN_FORMULAS:
                formula, picture = node.deepcopy(), shown
        elif isinstance(node, drawing) and isinstance(node.parent, nodes.figure):
            text = node.parent.next_node(nodes.caption).deepcopy().children
            shown = written(node)
            drawings.append((shown, written(nodes.paragraph("", "", *text))))
    if formula is None:
        raise ExtensionError(
            f"expected a formula with a label in {unit.slug}.md, found none. Add the "
            "chapter's main formula, because the slides and the summary show it."
        )
    formula["number"] = None
    text = "\n".join(written(one) for one in summary.findall(nodes.paragraph))
    return UnitSummary(
        number=f"{unit.number:02}",
        page=f"{unit.slug}.html",
        title=tree.next_node(nodes.title).astext(),
        drawings=drawings,
        picture="".join(SVG.findall(picture)[:1]),
        formula=written(formula),
        sentences=AN_END.split(re.sub(r"</?p>", "", text)),
    )


def write_lecture(app: Sphinx, error: Exception | None) -> None:
    """Write `slides.html` and `summary.html` next to the pages of the book."""
    if error or app.builder.name != "html":
        return
    course, found = app.config.course_facts, app.env.found_docs
    chapters = [unit for unit in course.units if unit.slug in found]
    units = [made for unit in chapters if (made := summarise(app, unit))]
    names = {
        "slides": said("Slides for each unit"),
        "summary": said("The course on two pages"),
    }
    hints = {
        "slides": said(
            "The arrow keys, Home and End lead through the slides. Printed, each slide "
            "is a page."
        ),
        "summary": said(
            "The main drawing, main formula and summary of each unit. Printed on A4 "
            "paper, it fills two pages."
        ),
    }
    for page, name in names.items():
        context = {
            "config": app.config,
            "hint": hints[page],
            "name": name,
            "units": units,
        }
        text = app.builder.templates.render(f"{page}.html", context)
        (Path(app.outdir) / f"{page}.html").write_text(text, "utf-8")

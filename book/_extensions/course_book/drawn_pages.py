"""Directives that put drawings on a page; each part is a link to its unit."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx import addnodes
from sphinx.util.docutils import SphinxDirective

from .drawings import gallery, transformer
from .translated import give_places
from .words import said

SOURCES = sorted(Path(gallery.__file__).parent.glob("*.py"))
LINK = re.compile(r'href="unit:(\d\d)"')
CHOICE = (
    '<div class="choices"><label><input type="checkbox" class="show-dropout"{}> '
    "{}</label></div>"
)


class drawing(nodes.General, nodes.Element):
    """A node for a drawing whose links have no addresses yet.

    Its children are references. Sphinx resolves them, and their attribute `unit` names
    the unit that each address belongs to.
    """


def show(self: object, node: drawing) -> None:
    """Write the drawing, with the addresses that Sphinx has resolved."""
    found = {
        holder["unit"]: next(holder.findall(nodes.reference), {}).get("refuri") or "#"
        for holder in node.children
    }
    self.body.append(LINK.sub(lambda link: f'href="{found[link[1]]}"', node["markup"]))
    raise nodes.SkipNode


class DrawingDirective(SphinxDirective):
    """Base class of directives that draw; a change of a drawing rebuilds its pages."""

    def node(self, markup: str) -> drawing:
        """Return the node for `markup`, with a reference for each unit it links to."""
        for path in SOURCES:
            self.env.note_dependency(str(path))
        node = drawing(markup=markup)
        for number in sorted(set(LINK.findall(markup))):
            holder = nodes.inline(unit=number)
            holder += self.reference(number)
            node += holder
        return node

    def reference(self, number: str) -> addnodes.pending_xref:
        """Return a reference to a unit's chapter, which Sphinx resolves."""
        units = {f"{unit.number:02}": unit for unit in self.config.course_facts.units}
        return addnodes.pending_xref(
            "",
            nodes.inline(),
            refdomain="std",
            reftype="doc",
            reftarget=f"/{units[number].slug}",
            refexplicit=True,
            refwarn=True,
            refdoc=self.env.docname,
        )

    def key(self) -> str:
        """Return a name that no other drawing on the page has."""
        return f"drawing-{self.env.new_serialno('drawing')}"


class TransformerMap(DrawingDirective):
    """Draw the map of the course; in a chapter, fold it and highlight the unit."""

    option_spec: ClassVar = {"open": directives.flag, "dropout": directives.flag}

    def run(self) -> list[nodes.Node]:
        """Return the node of the drawing."""
        units = {unit.slug: unit.number for unit in self.config.course_facts.units}
        number = units.get(self.env.docname)
        lit = f"{number:02}" if number else ""
        checked = " checked" if "dropout" in self.options else ""
        choice = CHOICE.format(checked, said("Show the places of dropout"))
        whole = transformer.drawn(lit, self.key())
        room = f'<div class="drawing-room">{choice}{whole}</div>'
        if lit and "open" not in self.options:
            room = folded(lit, room)
        return [self.node(room)]


def folded(lit: str, room: str) -> str:
    """Return a chapter's map: a small version that unfolds to the complete drawing."""
    what = said(
        "Where unit {number} belongs in the Transformer. "
        "Unfold the drawing: each of its parts leads to a unit."
    )
    return (
        f'<details class="map-fold"><summary>{transformer.stamp(lit)}<span>'
        f'<span class="fold-word">{said("The map of the course")}</span><br>'
        f"{what.format(number=int(lit))}</span></summary>"
        f"{room}</details>"
    )


def controls(key: str, steps: list[str]) -> str:
    """Return a slider for the steps of a drawing; `course.js` makes it work."""
    names, last = html.escape(json.dumps(steps), quote=True), html.escape(steps[-1])
    return (
        f'<div class="slider-row steps" data-names="{names}" hidden>'
        f'<button type="button" data-stop="{said("Stop")}">{said("Play")}</button>'
        f'<label for="{key}">{said("Step")}</label>'
        f'<input id="{key}" type="range" min="1" max="{len(steps)}" '
        f'value="{len(steps)}" autocomplete="off" aria-valuetext="{last}">'
        f'<output for="{key}">{last}</output></div>'
    )


class Drawing(DrawingDirective):
    """Show the small drawing with this name, with a caption and a text alternative."""

    has_content = True
    required_arguments = 1
    option_spec: ClassVar = {
        "name": directives.unchanged_required,
        "alt": directives.unchanged_required,
    }

    def run(self) -> list[nodes.Node]:
        """Return the figure; raise an error if something is missing."""
        name, alt = self.arguments[0], self.options.get("alt")
        if name not in gallery.NAMES or not alt or not self.content:
            raise self.error(
                f"expected a name of {sorted(gallery.NAMES)}, `:alt:` and a caption; "
                f"found {name!r}, {alt!r} and {len(self.content)} lines."
            )
        markup = gallery.drawn(name, said(alt))
        if name in gallery.STEPS:
            markup += controls(self.key(), gallery.STEPS[name]())
        room = f'<div class="drawing-room">{markup}</div>'
        figure = nodes.figure("", self.node(room))
        text = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, text)
        figure += nodes.caption(text[0].rawsource, "", *text[0].children)
        self.set_source_info(figure)
        give_places(self, [figure])
        self.add_name(figure)
        return [figure]

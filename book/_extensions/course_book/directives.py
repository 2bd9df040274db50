"""Directives that write the course's facts from `course.toml` into a page."""

from __future__ import annotations

from typing import ClassVar

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from autograder.course import Course, Unit

from .translated import give_places
from .words import said


class CourseDirective(SphinxDirective):
    """Base class of directives that write MyST text with the course's facts."""

    has_content = True

    @property
    def course(self) -> Course:
        """Return the course's facts."""
        return self.config.course_facts

    def parse(self, lines: list[str]) -> list[nodes.Node]:
        """Parse lines of MyST text, and return their nodes."""
        box = nodes.container()
        self.state.nested_parse(StringList(lines, "course"), self.content_offset, box)
        give_places(self, box.children)
        return box.children


class UnitTable(CourseDirective):
    """Write the table of units from lines of the form `04 text`, one for each unit."""

    def row(self, unit: Unit, text: str) -> str:
        """Return one row of the table, with a link if the chapter exists."""
        written = unit.slug in self.env.found_docs
        title = f"{{doc}}`{unit.slug}`" if written else unit.title
        return f"| {unit.number} | {title} | {text} |"

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the table; raise an error if a unit has no line."""
        described = dict(line.split(maxsplit=1) for line in self.content if line)
        missing = {f"{unit.number:02}" for unit in self.course.units} ^ set(described)
        if missing:
            raise self.error(
                "expected one line for each unit of course.toml, such as "
                f"`04 What it shows`; these units differ: {sorted(missing)}."
            )
        rows = [
            self.row(unit, described[f"{unit.number:02}"]) for unit in self.course.units
        ]
        head = said("| No. | Unit | What you see |")
        return self.parse([head, "|--:|---|---|", *rows])


class IntoTheNotebook(CourseDirective):
    """Write the box with a chapter's links to its notebook, local and on Colab."""

    option_spec: ClassVar = {}

    def run(self) -> list[nodes.Node]:
        """Return the nodes of the box; raise an error outside a unit's chapter."""
        units = {unit.slug: unit for unit in self.course.units}
        unit = units.get(self.env.docname)
        if unit is None:
            raise self.error(
                f"{self.env.docname} is no unit of course.toml: use "
                "`into-the-notebook` in a unit's chapter only."
            )
        course, language = self.course, self.config.language
        notebook = course.notebook(unit, language).relative_to(course.root)
        colab = course.colab_link(unit, said("open the notebook"), language)
        lines = [
            f"::::::{{admonition}} {said('From here')}",
            ":class: notebook",
            "",
            *self.content,
            "",
            said("**On your machine:**"),
            "```sh",
            f"jupyter lab {notebook.as_posix()}",
            "```",
            f"{said('**On Colab:**')} {colab}",
            "::::::",
        ]
        return self.parse(lines)

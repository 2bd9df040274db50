"""Number chapters like their units: 04_attention is 4, with figures 4.1 and 4.2."""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.environment.collectors.toctree import TocTreeCollector


def renumber(env: BuildEnvironment, docname: str, number: int) -> None:
    """Replace the first part of every section number of `docname` by `number`."""
    sections = env.toc_secnumbers[docname]
    for anchor, old in sections.items():
        if old:  # deep sections have no number
            sections[anchor] = (number, *old[1:])
    entries = env.tocs[docname].findall(nodes.reference)
    for node in (env.titles[docname], *entries):
        if node.get("secnumber"):
            node["secnumber"] = [number, *node["secnumber"][1:]]


def number_by_unit(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Number chapters like units, then the figures again; return the changed pages.

    Sphinx would count the existing chapters, but a unit keeps its number even if
    earlier units are not written yet.
    """
    units = {unit.slug: unit for unit in app.config.course_facts.units}
    for docname in env.toc_secnumbers:
        unit = units.get(docname)
        if unit is not None:
            renumber(env, docname, unit.number)
    return TocTreeCollector().assign_figure_numbers(env)

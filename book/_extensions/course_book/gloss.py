"""Show a German example with a gloss under each word, and a translation below."""

from __future__ import annotations

import html
from typing import ClassVar

from docutils import nodes
from sphinx.util import logging
from sphinx.util.docutils import SphinxDirective

from .translated import give_places
from .words import said

LOGGER = logging.getLogger(__name__)
BETWEEN = "|"


class gloss(nodes.General, nodes.Element):
    """A node with the German words and the paragraphs of glosses and translation."""


def cells(line: str) -> list[str]:
    """Split a line of a gloss into its words.

    >>> cells("die | frau  | schläft")
    ['die', 'frau', 'schläft']
    """
    return [cell.strip() for cell in line.split(BETWEEN)]


def paired(german: str, glosses: str) -> list[tuple[str, str]]:
    """Pair each German word with its gloss.

    Raises:
        ValueError: if the lines have different numbers of words.
    """
    words, under = cells(german), cells(glosses)
    if len(words) != len(under):
        raise ValueError(
            f"expected one gloss for each of the {len(words)} words of {german!r}, "
            f"found {len(under)} in {glosses!r}: put `{BETWEEN}` between two words, "
            "and leave the place empty where a word has no gloss."
        )
    return list(zip(words, under, strict=True))


def markup(pairs: list[tuple[str, str]], translation: str) -> str:
    """Return the HTML of a gloss.

    Screen readers get the whole sentence and then its glosses, because otherwise they
    would read the two languages mixed together.
    """
    ruby = " ".join(
        f'<ruby lang="de">{html.escape(word)}<rt>{html.escape(under)}</rt></ruby>'
        for word, under in pairs
    )
    sentence = html.escape(" ".join(word for word, _ in pairs))
    in_turn = html.escape(" ".join(under for _, under in pairs if under))
    return (
        '<div class="gloss">'
        f'<p class="gloss-heard"><span lang="de">{sentence}</span> '
        f"{said('Word by word:')} {in_turn}</p>"
        f'<p class="gloss-words" aria-hidden="true">{ruby}</p>'
        f'<p class="gloss-translation">{html.escape(translation)}</p>'
        "</div>"
    )


def show_gloss(self: object, node: gloss) -> None:
    """Write the gloss; warn if a translation has a different number of words."""
    german, glosses, translation = (child.astext() for child in node.children)
    try:
        pairs = paired(german, glosses)
    except ValueError as error:
        LOGGER.warning(str(error), location=node)
        pairs = [(word, "") for word in cells(german)]
    self.body.append(markup(pairs, translation))
    raise nodes.SkipNode


class Gloss(SphinxDirective):
    """Show a German sentence, a gloss under each word, and a translation."""

    has_content = True
    option_spec: ClassVar = {}

    def run(self) -> list[nodes.Node]:
        """Return the gloss; raise an error if it does not have exactly three lines."""
        lines = [line.strip() for line in self.content if line.strip()]
        if len(lines) != 3:
            raise self.error(
                "expected three lines, the German words, their glosses and a "
                f"translation; found {len(lines)}."
            )
        german, glosses, translation = lines
        try:
            paired(german, glosses)
        except ValueError as error:
            raise self.error(str(error)) from None
        glosses = " ".join(glosses.split())  # a message has no columns
        node = gloss("", nodes.inline("", german))  # Sphinx skips inline nodes
        node += [nodes.paragraph(line, line) for line in (glosses, translation)]
        self.set_source_info(node)
        give_places(self, [node])
        return [node]

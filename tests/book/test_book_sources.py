"""The chapters' sources: a line of prose is one sentence, so that a diff shows it."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

BOOK = Path(__file__).resolve().parents[2] / "book"
EXTENSIONS = {"amsmath", "colon_fence", "deflist", "dollarmath"}
PARSER = create_md_parser(MdParserConfig(enable_extensions=EXTENSIONS), RendererHTML)
OF_PROSE = re.compile(r"\{(admonition|dropdown|into-the-notebook|glossary)\}")
# What a stop in it says nothing about: code and roles, mathematics, addresses, quotes.
HIDDEN = re.compile(
    r"(`+)(?:(?!\1).)+?\1|\$[^$]+\$|(?<=\])\([^)]*\)|"
    r'"[^"]*"(?!\s*$)|“[^”]*”(?!\s*$)'
)
# A head in bold runs into its first sentence: **Padding.** A batch is …
HEAD = re.compile(r"^\*\*[^*]+[.?!]\*\*(?= )")
SHORT = re.compile(
    r"\b(e\.g|i\.e|et al|cf|vs|Eqs?|Figs?|Secs?|pp?|Dr|Mrs?|[A-Z])\.(?= )"
)
CLOSED = r"[*\"”)]*"
TWO_SENTENCES = re.compile(rf"[.?!]{CLOSED} [*(“\"\[]*[A-Z]")
ENDS = re.compile(rf"[.?!]{CLOSED}$")


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of prose, in lists, quotations and boxes too."""
    tokens = PARSER.parse(text)
    for token, after in pairwise(tokens):
        if token.type == "paragraph_open":
            yield after.content
    for token in tokens:
        if token.type.endswith("fence") and OF_PROSE.match(token.info):
            body = re.sub(r"\A(:[\w-]+:.*\n)+", "", token.content)
            if "{glossary}" in token.info:  # a term, and below it, indented, what it is
                body = "\n".join(re.findall(r"^  (.*)$|^$", body, re.M))
            yield from paragraphs(body)


def in_view(line: str) -> str:
    """Return `line` without what a stop in it says nothing about."""
    return SHORT.sub("X", HIDDEN.sub("X", HEAD.sub("", line.strip())))


def not_a_sentence(paragraph: str) -> list[str]:
    """Return the lines of `paragraph` that hold two sentences, or a part of one."""
    *whole, last = paragraph.split("\n")
    part = [line for line in whole if not ENDS.search(in_view(line))]
    return part + [x for x in (*whole, last) if TWO_SENTENCES.search(in_view(x))]


@pytest.mark.parametrize("path", sorted(BOOK.glob("*.md")), ids=lambda path: path.name)
def test_a_line_of_prose_is_one_sentence(path: Path) -> None:
    text = path.read_text("utf-8")
    found = [line for one in paragraphs(text) for line in not_a_sentence(one)]
    assert found == []


@pytest.mark.parametrize("text", [
    "One. Two.",
    "Half of\na sentence.",
    "- One. Two.",
    "> Who? **You** do.",
    ":::{admonition} Box\n:class: paper\n\nOne. (Two.)\n:::",
    "```{glossary}\n:sorted:\n\nterm\n  One. Two.\n```",
])  # fmt: skip
def test_two_sentences_on_a_line_are_seen(text: str) -> None:
    assert [line for one in paragraphs(text) for line in not_a_sentence(one)]


@pytest.mark.parametrize("text", [
    "Take `a. B` and $a. B$ and read “He left. She stayed.” twice.",
    "See Vaswani et al. Section 3, or Fig. 1.",
    "**Padding.** A batch is padded.\nIt is a rectangle.",
    "| a. B | c. D |\n|---|---|\n| e. F | g. H |",
    "```python\nprint(1). Two\n```",
])  # fmt: skip
def test_a_stop_that_ends_no_sentence_is_let_be(text: str) -> None:
    assert [line for one in paragraphs(text) for line in not_a_sentence(one)] == []

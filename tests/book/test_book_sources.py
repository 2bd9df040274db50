"""The chapters' sources: each line is one sentence, and no chapter is too long."""

import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

BOOK = Path(__file__).resolve().parents[2] / "book"
EXTENSIONS = {"amsmath", "attrs_block", "colon_fence", "deflist", "dollarmath"}
PARSER = create_md_parser(MdParserConfig(enable_extensions=EXTENSIONS), RendererHTML)
OF_PROSE = re.compile(r"\{(admonition|dropdown|into-the-notebook|glossary)\}")
# Text in which a full stop does not end a sentence: code, roles, formulas, addresses,
# quotes.
HIDDEN = re.compile(
    r"(`+)(?:(?!\1).)+?\1|\$[^$]+\$|(?<=\])\([^)]*\)|"
    r'"[^"]*"(?!\s*$)|“[^”]*”(?!\s*$)'
)
# A bold heading at the start of the first sentence: **Padding.** A batch is …
HEAD = re.compile(r"^\*\*[^*]+[.?!]\*\*(?= )")
FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
CELL = re.compile(r"^```\{code-cell\}.*?^```\n", re.DOTALL | re.MULTILINE)
GLOSS = re.compile(r"^```\{gloss\}\n.*?^```\n", re.DOTALL | re.MULTILINE)
CLOSED_CELL = re.compile(r"^:?tags: .*(hide|remove)-(input|cell)", re.MULTILINE)
FENCE = re.compile(r"^`{3,}.*\n(:[\w-]+:.*\n)*", re.MULTILINE)
MOST_WORDS = 4000
# Units 01, 08, 09 and 11 teach several systems each, and may be longer.
ONE_THEME = sorted([*BOOK.glob("0[2-7]_*.md"), *BOOK.glob("1[023]_*.md")])
CHAPTERS = sorted(BOOK.glob("[01]*_*.md"))
# Headings that name a kind of section, and therefore tell a reader of the sidebar
# nothing.
KINDS = {
    "Numbers first",
    "The shape trail",
    "The mathematics",
    "The figure",
    "The experiment",
    "What goes wrong",
}
SHORT = re.compile(
    r"\b(e\.g|i\.e|et al|cf|vs|Eqs?|Figs?|Secs?|pp?|Dr|Mrs?|[A-Z])\.(?= )"
)
CLOSED = r"[*\"”)]*"
TWO_SENTENCES = re.compile(rf"[.?!]{CLOSED} [*(“\"\[]*[A-Z]")
ENDS = re.compile(rf"[.?!]{CLOSED}$")


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of prose, including those in lists, quotations and boxes."""
    tokens = PARSER.parse(text)
    for token, after in pairwise(tokens):
        if token.type == "paragraph_open":
            yield after.content
    for token in tokens:
        if token.type.endswith("fence") and OF_PROSE.match(token.info):
            body = re.sub(r"\A(:[\w-]+:.*\n)+", "", token.content)
            if "{glossary}" in token.info:  # a term, with its indented definition below
                body = "\n".join(re.findall(r"^  (.*)$|^$", body, re.M))
            yield from paragraphs(body)


def in_view(line: str) -> str:
    """Return `line` without text in which a full stop does not end a sentence."""
    return SHORT.sub("X", HIDDEN.sub("X", HEAD.sub("", line.strip())))


def not_a_sentence(paragraph: str) -> list[str]:
    """Return the lines of `paragraph` with two sentences, or with a part of one."""
    *whole, last = paragraph.split("\n")
    part = [line for line in whole if not ENDS.search(in_view(line))]
    return part + [x for x in (*whole, last) if TWO_SENTENCES.search(in_view(x))]


def words_on_the_page(text: str) -> list[str]:
    """Return the visible words: prose, tables, and the code of open cells.

    The caption and the text alternative of a closed cell's picture do not count, and
    neither do the lines that begin and end a cell or a directive.
    """

    def open_cell(cell: re.Match[str]) -> str:
        return "" if CLOSED_CELL.search(cell[0]) else cell[0]

    without_bars = GLOSS.sub(
        lambda gloss: gloss[0].replace("|", ""), FRONT_MATTER.sub("", text)
    )
    return FENCE.sub("", CELL.sub(open_cell, without_bars)).split()


@pytest.mark.parametrize("path", ONE_THEME, ids=lambda path: path.name)
def test_a_chapter_is_not_too_long(path: Path) -> None:
    assert len(words_on_the_page(path.read_text("utf-8"))) <= MOST_WORDS


def test_words_on_the_page_are_prose_and_open_code() -> None:
    text = (
        "---\nfront: matter\n---\nTwo words.\n"
        "```{code-cell} ipython3\nprint(1)\n```\n"
        "```{live-translator}\n:k: 4\n```\n"
        "```{gloss}\nja | nein\nyes | no\nYes, no.\n```\n"
        "```{code-cell} ipython3\n:tags: [remove-input]\n\nhidden = 1\n```\n"
        "```{code-cell} ipython3\n---\ntags: [hide-input]\n---\nhidden\n```\nEnd.\n"
    )
    found = words_on_the_page(text)
    assert " ".join(found) == "Two words. print(1) ja nein yes no Yes, no. End."


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.name)
def test_a_chapter_ends_with_three_sentences(path: Path) -> None:
    _, _, after = path.read_text("utf-8").partition("\n## In one minute\n\n")
    summary, heading, _ = after.partition("\n\n## Into the notebook\n")
    assert heading
    assert len(summary.splitlines()) == 3
    assert all(ENDS.search(in_view(line)) for line in summary.splitlines())


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.name)
def test_a_heading_says_what_is_in_its_section(path: Path) -> None:
    headings = re.findall(r"^## (.*)$", path.read_text("utf-8"), re.M)
    assert set(headings) & KINDS == set()
    assert len(set(headings)) == len(headings)


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

"""A test connects each number in a chapter's prose with its source.

The number must be in the code of the page: in a setting, or in an assertion of a cell
that runs with the page and is not shown (`:tags: [remove-cell]`). If the number
changes, the page then does not build. A number from a paper, a file or pencil and paper
is listed here with its source.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

BOOK = Path(__file__).resolve().parents[2] / "book"
OTHERS = [BOOK / "since_2017.md", BOOK / "subwords.md"]
PAGES = sorted([*BOOK.glob("[01][0-9]_*.md"), *OTHERS])
FRONT_MATTER = re.compile(r"\A---\n.*?^---\n", re.DOTALL | re.MULTILINE)
CELL = re.compile(
    r"^```\{code-cell\} ipython3\n(---\n.*?^---\n)?((?::[\w-]+:.*?\n)*)(.*?)^```\n",
    re.DOTALL | re.MULTILINE,
)
FENCE = re.compile(r"^`{3,}[^\n]*", re.MULTILINE)
# Formulas, code, addresses, tables of shapes, quotations, and places in the paper.
# `test_book_drawings.py` tests the numbers in drawings.
NOT_PROSE = re.compile(
    r"\$\$[^$]+\$\$|\$[^$]+\$|`[^`]+`|^\|[^\n]*|(?<=\])\([^)]*\)|^> [^\n]*"
    r"|^:alt: [^\n]*|\b([Ss]ections?|Tables?|Eq\.) [\d.]+(,? (and )?\d(\.\d)+)*",
    re.MULTILINE,
)
MEASURED = re.compile(
    r"(?<![\w.,])(\d{1,3}(?:,\d{3})+|\d+\.\d+|\.\d+|\d+(?= %))(?![\w%]|[.,]\d)"
)
TUTORIAL = "the tutorial's own number"
RERUN = "the tutorial's code, run again for this course"
EXAMPLE = "an example"
FROM_ELSEWHERE: dict[str, dict[str, str]] = {
    "02": {"1.6": "the paper of word2vec, in billions"},
    "05": {"0.9": "the paper, Section 6.2"},
    "06": {"4,000": "the paper, Section 5.3"},
    "08": {
        "4,000": "the paper, Section 5.3",
        "80": "the paper of BERT",
    },
    "10": {
        "97.4": "benchmarks/README.md",
        "0.9": "the paper, Section 5.3",
        "0.98": "the paper, Section 5.3",
    },
    "11": {"0.345": "the sum of three squares"},
    "12": {
        "4,000": EXAMPLE,
        "10,000": EXAMPLE,
        "9,999": "10,000 - 1",
    },
    "13": {
        "5.316": TUTORIAL,
        "36.52": TUTORIAL,
        "5.354": RERUN,
        "36.05": RERUN,
        "35.4": EXAMPLE,
        "36.9": EXAMPLE,
        "38.4": EXAMPLE,
    },
    "su": {
        "0.4": "the paper, Section 5.2, in seconds",
        "0.6": "the paper, Section 6.1",
    },
}


def cells(text: str) -> Iterator[tuple[str, str]]:
    """Yield the options and the code of every cell."""
    for cell in CELL.finditer(text):
        yield cell[1] or "", cell[3]


def value(number: str) -> float:
    """Return the value of a number in prose."""
    return float(number.replace(",", ""))


def numbers_in_prose(text: str) -> set[str]:
    """Return the numbers of prose, captions and text alternatives.

    The numbers are decimals, thousands and percentages. A small whole number only
    counts things on the page, or names one.
    """
    prose = FENCE.sub("", CELL.sub("", FRONT_MATTER.sub("", text)))
    prose += "\n".join(options for options, _ in cells(text))
    return set(MEASURED.findall(NOT_PROSE.sub("", prose)))


def constants(node: ast.AST) -> set[float]:
    """Return the numbers in a piece of code."""
    return {
        float(one.value)
        for one in ast.walk(node)
        if isinstance(one, ast.Constant) and isinstance(one.value, int | float)
    }


def not_held(text: str) -> set[str]:
    """Return the numbers of the prose that the page's code does not contain.

    In an assertion, a percentage may be written as a share.
    """
    known: set[float] = set()
    for _, code in cells(text):
        tree = ast.parse(code)
        known |= constants(tree)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assert):
                shares = {one for one in constants(node) if one <= 1}
                known |= {round(100 * share, 9) for share in shares}
    return {number for number in numbers_in_prose(text) if value(number) not in known}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_a_number_in_prose_is_held(path: Path) -> None:
    from_elsewhere = FROM_ELSEWHERE.get(path.name[:2], {})
    assert not_held(path.read_text("utf-8")) == set(from_elsewhere)


def page(prose: str, code: str) -> str:
    return f"{prose}\n\n```{{code-cell}} ipython3\n:tags: [x]\n\n{code}\n```\n"


@pytest.mark.parametrize(
    ("prose", "code"),
    [
        ("It scores 97.4.", "assert score == 97.3"),
        ("```{transformer-map}\n```\nIt scores 97.4 on `x`.", "pass"),
        ("It scores 97.4.", "print('97.4')"),
        ("A third, 33 %, is lost.", "print(0.33)"),
        ("There are 29,000 pairs.", "assert pairs == 2900"),
        ("Under half (.48) is right.", "pass"),
    ],
)
def test_a_number_that_nothing_holds_is_found(prose: str, code: str) -> None:
    assert not_held(page(prose, code))


@pytest.mark.parametrize(
    ("prose", "code"),
    [
        ("It scores 97.4.", "assert abs(score - 97.4) < 0.5"),
        ("A third, 33 %, is lost.", "assert round(lost, 2) == 0.33"),
        ("There are 29,000 pairs.", "assert pairs == 29_000"),
        ("Rates of 0.002 are usual.", "train(rate=0.002)"),
        ("See $0.5^2$, `x[0.1]` and Section 5.4; three, 3.", "pass"),
    ],
)
def test_a_number_that_is_held_is_let_be(prose: str, code: str) -> None:
    assert not_held(page(prose, code)) == set()

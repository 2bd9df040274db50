"""Formulas as MathML: those of the course, those of students, and hostile ones."""

import re
from html import escape

import nbformat
import pytest
from bs4 import BeautifulSoup

from autograder.course import ROOT
from autograder.nbgrader_steps.formulas import MAX_LENGTH, mathml
from autograder.sandbox.safe_html import safe_html

INLINE = re.compile(r"(?<![$\\])\$([^$\n]+?)\$(?!\$)")
BLOCK = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)


def formulas_of_the_course() -> set[str]:
    found = set()
    for path in sorted((ROOT / "assignments").glob("*/*.ipynb")):
        for cell in nbformat.read(path, 4).cells:
            if cell.cell_type == "markdown":
                words = re.sub(r"`[^`]*`", "", cell.source)
                found |= {*BLOCK.findall(words), *INLINE.findall(BLOCK.sub("", words))}
    return found


def test_every_formula_of_the_course_is_set():
    formulas = formulas_of_the_course()
    assert len(formulas) > 100
    assert [tex for tex in formulas if not mathml(tex).startswith("<math ")] == []


@pytest.mark.parametrize(
    "tex",
    [
        r"\begin{aligned} a &= b \\ c &= \frac{d}{2} \end{aligned}",
        r"\operatorname{softmax}(x)_i = \frac{e^{x_i}}{\sum_{j=1}^n e^{x_j}}",
        r"\begin{pmatrix} 1 & 2 \\ 3 & 4 \end{pmatrix}",
        r"\text{if } a < b",
        r"\mathbb{R}^{n \times d}, \hat{y}, \overline{ab}, \sqrt[3]{x}",
    ],
)
def test_what_is_set_passes_through_the_sanitiser(tex):
    html = mathml(tex, "block")
    set_, clean = (BeautifulSoup(h, "html.parser") for h in (html, safe_html(html)))
    assert set_.math and clean.text == set_.text
    assert [e.name for e in clean.find_all()] == [e.name for e in set_.find_all()]


@pytest.mark.parametrize(
    "tex",
    [
        r"\unknown{x}",
        r"\frac{1}",
        "{" * 60 + "x" + "}" * 60,
        "x" * (MAX_LENGTH + 1),
        r"\newcommand{\a}{xx}\newcommand{\b}{\a\a}\b",
        r"\def\a{xx}\a",
        r"\unknown{<b>}",
    ],
)
def test_what_cannot_be_set_is_shown_as_it_was_written(tex):
    assert mathml(tex) == f"${escape(tex)}$"
    assert mathml(tex, "block") == f"$${escape(tex)}$$"


@pytest.mark.parametrize(
    "tex",
    [
        r"\href{javascript:steal()}{x}",
        r"\text{<script>steal()</script>}",
        r"\text{&lt;script&gt;x&lt;/script&gt;}",
        r"\style{background:url(//far)}{x}",
        r"\class{btn}{x}",
    ],
)
def test_a_hostile_formula_does_nothing(tex):
    clean = safe_html(mathml(tex))
    for danger in ("<script", "href", "style=", "class=", "javascript"):
        assert danger not in clean.replace("&lt;script", ""), clean

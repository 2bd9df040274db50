"""Convert TeX to MathML, which browsers display without scripts or a network."""

import functools
import re
from html import escape, unescape
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import Converter

MAX_LENGTH, MAX_DEPTH = 1000, 30
# The expansion of a definition may never end, and answers need no definitions.
DEFINITION = re.compile(r"\\(re|provide)?new|\\def|\\let")
ALIGNED = re.compile(r"(\\(?:begin|end)){(?:aligned|split|gathered)}")

# How many child elements an element needs.
PARTS = dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2)
PARTS |= {"msubsup": 3, "munderover": 3}


class NotSet(ValueError):
    """Report that MathML cannot display a formula correctly."""


@functools.lru_cache(1000)
def mathml(tex: str, display: str = "inline") -> str:
    """Return TeX as a `<math>` element, or its source if the conversion fails.

    Args:
        tex: the text between the dollar signs.
        display: `inline` or `block`.
    """
    try:
        return tostring(_formula(tex, display), encoding="unicode")
    except Exception:  # the converter may fail in any way on a student's TeX
        dollars = "$" if display == "inline" else "$$"
        return f"{dollars}{escape(tex)}{dollars}"


def _formula(tex: str, display: str) -> Element:
    """Return the element, or raise an error if MathML cannot display the formula."""
    if len(tex) > MAX_LENGTH or DEFINITION.search(tex):
        raise NotSet("too long, or with definitions")
    tex = ALIGNED.sub(r"\1{align*}", tex)
    formula = Converter(display=display).convert_to_element(tex)
    _check(formula)
    del formula.attrib["xmlns"]  # HTML needs no namespace
    return formula


def _check(element: Element, depth: int = 0) -> None:
    """Convert an element's character entities; raise NotSet if a command remains."""
    if depth > MAX_DEPTH:
        raise NotSet("too deep")
    if len(element) < PARTS.get(element.tag, 0):
        raise NotSet(f"{element.tag} lacks a part")
    element.text = unescape(element.text or "")
    if "\\" in element.text or element.text == "&":
        raise NotSet(f"{element.text} is not known")
    for part in element:
        _check(part, depth + 1)

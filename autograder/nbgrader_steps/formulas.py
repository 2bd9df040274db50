"""Convert TeX to MathML, which a browser shows without a script or a network."""

import functools
import re
from html import escape, unescape
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import Converter

MAX_LENGTH, MAX_DEPTH = 1000, 30
# A definition can expand without end, and the formulas of answers need none.
DEFINITION = re.compile(r"\\(re|provide)?new|\\def|\\let")
ALIGNED = re.compile(r"(\\(?:begin|end)){(?:aligned|split|gathered)}")

# The number of parts that an element needs.
PARTS = dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2)
PARTS |= {"msubsup": 3, "munderover": 3}


class NotSet(ValueError):
    """Report a formula that MathML cannot show correctly."""


@functools.lru_cache(1000)
def mathml(tex: str, display: str = "inline") -> str:
    """Return TeX as a `<math>` element, or the source if MathML cannot show it.

    Args:
        tex: the text between the dollar signs.
        display: `inline` or `block`.
    """
    try:
        return tostring(_formula(tex, display), encoding="unicode")
    except Exception:  # a student's TeX may break the converter in any way
        dollars = "$" if display == "inline" else "$$"
        return f"{dollars}{escape(tex)}{dollars}"


def _formula(tex: str, display: str) -> Element:
    """Return the element, or raise an error if MathML cannot show the formula."""
    if len(tex) > MAX_LENGTH or DEFINITION.search(tex):
        raise NotSet("too long, or with definitions")
    tex = ALIGNED.sub(r"\1{align*}", tex)
    formula = Converter(display=display).convert_to_element(tex)
    _check(formula)
    del formula.attrib["xmlns"]  # HTML needs no namespace
    return formula


def _check(element: Element, depth: int = 0) -> None:
    """Convert an element's character entities, or raise NotSet if a command remains."""
    if depth > MAX_DEPTH:
        raise NotSet("too deep")
    if len(element) < PARTS.get(element.tag, 0):
        raise NotSet(f"{element.tag} lacks a part")
    element.text = unescape(element.text or "")
    if "\\" in element.text or element.text == "&":
        raise NotSet(f"{element.text} is not known")
    for part in element:
        _check(part, depth + 1)

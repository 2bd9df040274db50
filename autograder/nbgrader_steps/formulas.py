"""Set TeX as MathML, which a browser shows without a script and without a network."""

import functools
import re
from html import escape, unescape
from xml.etree.ElementTree import Element, tostring

from latex2mathml.converter import Converter

MAX_LENGTH, MAX_DEPTH = 1000, 30
# A definition can grow without end, and a formula of an answer needs none.
DEFINITION = re.compile(r"\\(re|provide)?new|\\def|\\let")
ALIGNED = re.compile(r"(\\(?:begin|end)){(?:aligned|split|gathered)}")

# How many parts an element needs.
PARTS = dict.fromkeys(("mfrac", "mroot", "msub", "msup", "munder", "mover"), 2)
PARTS |= {"msubsup": 3, "munderover": 3}


class NotSet(ValueError):
    """A formula that MathML cannot show as it was meant."""


@functools.lru_cache(1000)
def mathml(tex: str, display: str = "inline") -> str:
    """Return TeX as a `<math>` element; as it was written where that cannot be.

    Args:
        tex: what stands between the dollars.
        display: `inline` or `block`.
    """
    try:
        return tostring(_formula(tex, display), encoding="unicode")
    except Exception:  # whatever a student's TeX does to the converter
        dollars = "$" if display == "inline" else "$$"
        return f"{dollars}{escape(tex)}{dollars}"


def _formula(tex: str, display: str) -> Element:
    """Return the element; raise an error where there is something it cannot say."""
    if len(tex) > MAX_LENGTH or DEFINITION.search(tex):
        raise NotSet("too long, or with definitions")
    tex = ALIGNED.sub(r"\1{align*}", tex)
    formula = Converter(display=display).convert_to_element(tex)
    _check(formula)
    del formula.attrib["xmlns"]  # in a page its name is enough
    return formula


def _check(element: Element, depth: int = 0) -> None:
    """Write out an element's characters; raise NotSet where a command is left."""
    if depth > MAX_DEPTH:
        raise NotSet("too deep")
    if len(element) < PARTS.get(element.tag, 0):
        raise NotSet(f"{element.tag} lacks a part")
    element.text = unescape(element.text or "")
    if "\\" in element.text or element.text == "&":
        raise NotSet(f"{element.text} is not known")
    for part in element:
        _check(part, depth + 1)

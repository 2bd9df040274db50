"""Clean HTML that a student wrote, so that a page shows it and it does nothing else.

Formgrader finds its fields by `id` and `class`, and an instructor is logged in: of
a student's HTML only words, tables and pictures stay.
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote

import nh3

MATH = {
    *("math", "mfrac", "mi", "mn", "mo", "mover", "mpadded", "mphantom", "mroot"),
    *("mrow", "mspace", "msqrt", "mstyle", "msub", "msubsup", "msup", "mtable"),
    *("mtd", "mtext", "mtr", "munder", "munderover"),
}
LOOKS = {"display", "displaystyle", "scriptlevel", "mathvariant", "mathcolor"} | {
    *("stretchy", "fence", "form", "accent", "minsize", "maxsize", "linethickness"),
    *("width", "columnalign"),
}
# The boxes of task lists are inputs.
TAGS = (nh3.ALLOWED_TAGS | {"input"} | MATH) - {"map", "area"}
ATTRIBUTES = {
    **nh3.ALLOWED_ATTRIBUTES,
    **{tag: LOOKS for tag in MATH},
    "*": {"title", "lang", "dir", "align"},
    "img": {"src", "alt", "width", "height", "align"},
    "input": {"checked"},
}
SCHEMES = {"http", "https", "mailto", "attachment", "data"}
IMAGES = ("png", "jpeg", "gif", "webp")
PICTURES = tuple(f"data:image/{kind};base64," for kind in IMAGES)
ATTACHMENT = "attachment:"

WRITTEN_OUT = re.compile(rf"data:(image/(?:{'|'.join(IMAGES)}));base64,([\w+/=]+)")

Attachments = Mapping[str, Mapping[str, str]]  # name to kind to base64


def safe_html(html: str, attachments: Attachments | None = None) -> str:
    """Return HTML without names, classes, styles, scripts, forms and far pictures.

    Args:
        html: what a student wrote, or what was made of it.
        attachments: the pictures that its cell carries.
    """
    known = attachments or {}

    def attribute(tag: str, name: str, value: str) -> str | None:
        """Return an attribute's value; None takes it away."""
        if tag == "img" and name == "src":
            return picture_address(value, known)
        address = "".join(value.split()).lower()
        return None if address.startswith(("data:", ATTACHMENT)) else value

    return nh3.clean(
        html,
        tags=TAGS,
        attributes=ATTRIBUTES,
        url_schemes=SCHEMES,
        attribute_filter=attribute,
        set_tag_attribute_values={"input": {"type": "checkbox", "disabled": ""}},
    )


def picture_address(address: str, attachments: Attachments) -> str | None:
    """Return a picture as a `data:` address; None if it lies anywhere else."""
    if address.startswith(ATTACHMENT):
        name = address.removeprefix(ATTACHMENT)
        kinds = attachments.get(name) or attachments.get(unquote(name)) or {}
        kind, content = next(iter(kinds.items()), ("", ""))
        address = f"data:{kind};base64,{content}"
    squeezed = "".join(address.split())
    return squeezed if squeezed.lower().startswith(PICTURES) else None


def put_pictures_aside(
    source: str, attachments: Attachments
) -> tuple[str, dict[str, Mapping[str, str]]]:
    """Make attachments of the pictures that Colab writes out in a text.

    Returns:
        The text, which is short without them, and all attachments.
    """
    found = dict(attachments)

    def name_of(match: re.Match[str]) -> str:
        name = f"written-out-{len(found)}"
        found[name] = {match[1]: match[2]}
        return ATTACHMENT + name

    return WRITTEN_OUT.sub(name_of, source), found

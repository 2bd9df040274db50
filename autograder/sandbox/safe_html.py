"""Clean a student's HTML, so that a page can show it without any side effect.

The instructor who opens the page is logged in, and formgrader finds its fields by `id`
and `class`, so a student's HTML could enter marks. This module therefore keeps only
text, tables and pictures.
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
# The check boxes of task lists are `input` elements.
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
    """Return HTML without ids, classes, styles, scripts, forms and remote pictures.

    Args:
        html: the student's HTML, or HTML made from the student's text.
        attachments: the pictures attached to the cell.
    """
    known = attachments or {}

    def attribute(tag: str, name: str, value: str) -> str | None:
        """Return an attribute's value, or None to remove the attribute."""
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
    """Return an attached picture as a `data:` address; None for any other picture."""
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
    """Move the pictures that Colab embeds in the text to the attachments.

    Returns:
        The text without these pictures, and all attachments.
    """
    found = dict(attachments)

    def name_of(match: re.Match[str]) -> str:
        name = f"written-out-{len(found)}"
        found[name] = {match[1]: match[2]}
        return ATTACHMENT + name

    return WRITTEN_OUT.sub(name_of, source), found

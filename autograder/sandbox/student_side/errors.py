"""Describe an error in the student's code by type, message and line."""

import re
import traceback
from typing import Any

MAX_MESSAGE = 400
REMOVED = "this exercise asks you to write it yourself: "  # then the built-in's name
CELL_NAME = re.compile(r"<cell (\d+)>")


class MissingName(Exception):
    """Report that the notebook does not define a name."""


def error_report(error: BaseException) -> dict[str, Any]:
    """Return a report on `error` that contains only plain values."""
    kind, message = "raised", _message(error)
    if isinstance(error, MissingName):
        kind = "missing"
    elif isinstance(error, NotImplementedError):
        kind = "not written"
    elif message.startswith(REMOVED):
        kind, message = "removed", message.removeprefix(REMOVED)
    return {
        "kind": kind,
        "type": type(error).__name__[:100],
        "message": message,
        **_place(error),
    }


def _message(error: BaseException) -> str:
    try:
        text = str(error)
    except BaseException:  # a student's __str__ may raise too
        return ""
    return text if len(text) <= MAX_MESSAGE else text[:MAX_MESSAGE] + " …"


def _place(error: BaseException) -> dict[str, Any]:
    """Return the traceback's last line that is in one of the student's cells."""
    frames = traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        match = CELL_NAME.fullmatch(frame.filename)
        if match:
            return {
                "cell": int(match[1]),
                "line": frame.lineno,
                "code": (frame.line or "")[:200],
            }
    return {"cell": None, "line": None, "code": ""}

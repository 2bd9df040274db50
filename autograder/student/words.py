"""Turn the report of a student's error into one line that the student can use."""

import unicodedata
from typing import Any

MAX_WORDS = 600


def clean(text: Any, limit: int = MAX_WORDS) -> str:
    """Return text that came from the student's side without control characters."""
    kept = "".join(
        character
        if unicodedata.category(character) not in ("Cc", "Cf", "Cs", "Co", "Cn")
        else " "
        for character in str(text)[: 4 * limit]
    )
    kept = " ".join(kept.split())
    return kept if len(kept) <= limit else kept[:limit] + " …"


def error_words(report: dict[str, Any], name: str) -> str:
    """Say what went wrong in the student's own code, and in which line of it."""
    kind = report.get("kind")
    if kind == "missing":
        return f"{clean(report.get('message'))} is not defined."
    if kind == "not written":
        return f"{clean(name)} is not written yet."
    words = f"{clean(name)} raised {clean(report.get('type'), 100)}"
    message = clean(report.get("message"), 400)
    if message:
        words += f": {message}"
    code = clean(report.get("code"), 120)
    if isinstance(report.get("line"), int) and code:
        words += f" (line {report['line']} of its cell: {code})"
    return words

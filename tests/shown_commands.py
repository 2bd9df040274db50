"""What a page of the guide shows that a command prints, as a pattern."""

import re

# A hint of what differs from run to run.
ANYTHING = "…"


def pattern(lines: list[str]) -> str:
    """Return a regular expression for lines in which … stands for anything."""
    words = " ".join("\n".join(lines).split())
    return ".*".join(re.escape(part.strip()) for part in words.split(ANYTHING))

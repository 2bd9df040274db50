"""The printed output of commands on a page of the guide, as a pattern."""

import re

# A hint at text that differs from run to run.
ANYTHING = "…"


def pattern(lines: list[str]) -> str:
    """Return a regular expression for lines in which … matches anything."""
    words = " ".join("\n".join(lines).split())
    return ".*".join(re.escape(part.strip()) for part in words.split(ANYTHING))

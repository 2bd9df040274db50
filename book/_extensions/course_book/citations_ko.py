"""Citations in Korean: "Vaswani 등 [2017]", "Press·Wolf [2017]"."""

from __future__ import annotations

from dataclasses import dataclass, field

from sphinxcontrib.bibtex.style.referencing import PersonStyle
from sphinxcontrib.bibtex.style.referencing.author_year import (
    AuthorYearReferenceStyle,
)


def korean_names() -> PersonStyle:
    """Return how the names of authors are joined."""
    return PersonStyle(sep2="·", last_sep=", ", other=" 등")


@dataclass
class KoreanCitations(AuthorYearReferenceStyle):
    """The style `author_year` without its English words."""

    person: PersonStyle = field(default_factory=korean_names)

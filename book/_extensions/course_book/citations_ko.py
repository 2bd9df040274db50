"""The Korean style of citations: "Vaswani 등 [2017]", "Press·Wolf [2017]"."""

from __future__ import annotations

from dataclasses import dataclass, field

from sphinxcontrib.bibtex.style.referencing import PersonStyle
from sphinxcontrib.bibtex.style.referencing.author_year import (
    AuthorYearReferenceStyle,
)


def korean_names() -> PersonStyle:
    """Return the rules for joining the names of authors."""
    return PersonStyle(sep2="·", last_sep=", ", other=" 등")


@dataclass
class KoreanCitations(AuthorYearReferenceStyle):
    """The citation style `author_year` without its English words."""

    person: PersonStyle = field(default_factory=korean_names)

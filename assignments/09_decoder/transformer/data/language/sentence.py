"""Represent a sentence in both languages, with the bits that align its words."""

from typing import NamedTuple

from .clauses import Clause
from .phrases import END, Word


class Sentence(NamedTuple):
    """A sentence in both languages, and its clauses."""

    german: list[Word]
    english: list[Word]
    clauses: tuple[Clause, ...]


def finish(
    german: list[Word], english: list[Word], mark: str, *clauses: Clause
) -> Sentence:
    """Return a sentence with a full stop or a question mark at both sides' ends."""
    end = (mark, END)
    return Sentence([*german, end], [*english, end], clauses)

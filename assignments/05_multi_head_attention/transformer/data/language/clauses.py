"""The content of a clause, independent of the word order of either language."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .adjectives import Adjective
from .adverbials import Adverbial
from .phrases import NounPhrase, Phrase
from .places import Preposition
from .verbs import Verb


class Modal(NamedTuple):
    """A modal verb and its translation, positive and negated.

    Each translation has two parts: an auxiliary, which is empty where English uses
    "do", and the words between the auxiliary and the verb. Examples are ("can", ""),
    ("", "want to") and ("would", "like to"). `asked` is the translation in a negated
    question: "he must not", but "may he not".
    """

    german: str
    positive: tuple[str, str]
    negative: tuple[str, str]
    asked: tuple[str, str]


_MUST, _HAVE_TO, _WANT_TO = ("must", ""), ("", "have to"), ("", "want to")
_CAN, _SHOULD, _MAY = ("can", ""), ("should", ""), ("may", "")
_LIKE_TO = ("would", "like to")
MODALS = (
    Modal("können", _CAN, _CAN, _CAN),
    Modal("müssen", _MUST, _HAVE_TO, _HAVE_TO),
    Modal("wollen", _WANT_TO, _WANT_TO, _WANT_TO),
    Modal("sollen", _SHOULD, _SHOULD, _SHOULD),
    Modal("dürfen", _MAY, _MUST, _MAY),
    Modal("möchten", _LIKE_TO, _LIKE_TO, _LIKE_TO),
)


@dataclass(frozen=True, slots=True)
class Clause:
    """Hold the content of a clause: who does what, to whom, where and when.

    If `verb` is None, the verb is "to be", and `predicate` is an adjective or a noun
    phrase. `negation` is "", "nicht", or "kein" if it belongs to the object.
    """

    subject: Phrase
    verb: Verb | None = None
    recipient: Phrase | None = None
    object: Phrase | None = None
    predicate: Adjective | NounPhrase | None = None
    adjunct: tuple[Preposition, NounPhrase] | None = None
    modal: Modal | None = None
    time: Adverbial | None = None
    frequency: tuple[str, str] | None = None
    negation: str = ""

    def phrases(self) -> Iterator[NounPhrase]:
        """Yield the noun phrases."""
        adjunct = self.adjunct[1] if self.adjunct else None
        parts = (self.subject, self.recipient, self.object, self.predicate, adjunct)
        for part in parts:
            if isinstance(part, NounPhrase):
                yield part

    def combinations(self) -> Iterator[tuple[str, str]]:
        """Yield the pairs of adjective and noun, and of verb and object, in English."""
        for phrase in self.phrases():
            if phrase.adjective:
                yield phrase.adjective.english, phrase.noun.name
        if isinstance(self.subject, NounPhrase) and isinstance(
            self.predicate, Adjective
        ):
            yield self.predicate.english, self.subject.noun.name
        if self.verb and isinstance(self.object, NounPhrase):
            yield self.verb.name, self.object.noun.name

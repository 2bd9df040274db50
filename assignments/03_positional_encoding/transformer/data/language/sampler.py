"""Draw random clauses that make sense."""

from .adjectives import PASSING
from .adverbials import FREQUENCIES, TIMES_OF
from .clauses import MODALS, Clause
from .dice import Dice
from .phrase_sampler import PhraseSampler
from .phrases import BARE, EVERY, NO, A, NounPhrase
from .predicates import Parts, describe, fill_frame, identify, put_somewhere
from .verbs import VERBS_BY_FRAME

_FRAMES = (
    *("none",) * 5,
    *("acc",) * 14,
    *("dat",) * 2,
    *("ditr",) * 4,
    *("place",) * 4,
    *("way",) * 4,
    *("state",) * 5,
    *("somewhere",) * 2,
    "identity",
)
_SHORT_FRAMES = (
    *("none",) * 3,
    *("acc",) * 7,
    *("dat",) * 2,
    *("way",) * 2,
    *("state",) * 3,
)
# Verbs for lasting states, which take neither "today" nor "can", "must" or "may".
_STATIVE = ("need", "know", "understand", "love", "live")


def sample_clause(dice: Dice, *, short: bool = False) -> Clause:
    """Draw a clause; a short one has few adjectives, no time and no second place."""
    phrases = PhraseSampler(dice, short)
    frame = dice.pick(_SHORT_FRAMES if short else _FRAMES)
    if frame == "identity":
        return Clause(**identify(phrases))
    if frame in ("state", "somewhere"):
        parts = describe(phrases) if frame == "state" else put_somewhere(phrases)
        return _with_adverb(dice, parts, _kind_of_state(parts), short)
    verb = dice.pick(VERBS_BY_FRAME[frame])
    parts = {"verb": verb, "subject": phrases.subject(verb)}
    fill_frame(phrases, parts)
    if verb.english in _STATIVE:
        return _with_adverb(dice, parts, "lasting", short)
    if not dice.chance(0.25):
        return _with_adverb(dice, parts, "plain", short)
    parts["modal"] = dice.pick(MODALS)
    return _with_adverb(dice, parts, "modal", short)


def sample_speaker(dice: Dice, frame: str = "that") -> Clause:
    """Draw a clause such as "der lehrer sagt", to be followed by "dass" or "ob".

    The frame "that" is for "dass", and "whether" is for "ob".
    """
    verb = dice.pick(VERBS_BY_FRAME[frame])
    return Clause(PhraseSampler(dice, short=True).subject(verb), verb)


def _kind_of_state(parts: Parts) -> str:
    """Return "state" for a passing state, which can be "today", or else "lasting"."""
    predicate = parts.get("predicate")
    return "state" if predicate is None or predicate.english in PASSING else "lasting"


def _with_adverb(dice: Dice, parts: Parts, kind: str, short: bool) -> Clause:
    """Add a negation, a time or a frequency, or none of them."""
    chance = dice.draw()
    if chance < 0.15:
        parts = _negated(parts)
    elif kind == "lasting":
        pass
    elif chance < 0.4 and not short:
        parts = parts | {"time": dice.pick(TIMES_OF[kind])}
    elif chance < 0.5 and kind != "modal":
        subject = parts["subject"]
        if not (isinstance(subject, NounPhrase) and subject.determiner is NO):
            parts = parts | {"frequency": dice.pick(FREQUENCIES)}
    return Clause(**parts)


def _negated(parts: Parts) -> Parts:
    """Negate the clause with "kein" if its object allows that, otherwise with "nicht".

    Clauses with some subjects are not negated, because "jeder hund schläft nicht" is
    ambiguous.
    """
    subject, direct = parts["subject"], parts.get("object")
    if isinstance(subject, NounPhrase) and subject.determiner in (A, EVERY, NO):
        return parts
    if isinstance(direct, NounPhrase) and direct.determiner in (A, BARE):
        return parts | {"object": direct._replace(determiner=NO), "negation": "kein"}
    return parts | {"negation": "nicht"}

"""Decide whether written answers have substance.

Text that was copied from the notebook and the chapters is ignored. An answer has
substance if all of these conditions hold:

- It has at least as many words as the question has points, and at least eight.
- At least half as many of its words are different.
- At least three different words of at least five letters occur in the notebook or the
  chapters, in any language of the course.
- No other answer of the class, except by the same team, has nearly the same words.

A Korean answer needs fewer words for the same content: three quarters of that number,
and at least six. A Hangul word can be one of the three words if it has at least two
syllables without its particle and could be a noun (`hangul.py`).

This rule cannot decide whether an answer is right, or who wrote it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from autograder.phrases import Phrase
from autograder.written import hangul
from autograder.written.own_words import FIRST_CODE, HandedOut, sentences_of

FEWEST_WORDS = 8
IN_KOREAN = 0.75  # Korean words per English word in the course's own text
KNOWN_WORDS, LONG = 3, 5  # number of technical terms, and letters in each
SAME = 0.85  # share of common words from which two answers count as the same
ROWS = 500  # answers that are compared with all others at a time
EMPTY = Phrase("There is no answer.")
TOO_FEW_DIFFERENT = Phrase("The answer repeats the same few words.")
OFF_SUBJECT = Phrase("The answer does not use the words of the subject.")
NEIGHBOUR = Phrase(
    "Another answer of the class has nearly the same words; your instructor sees which."
)
PICTURE = Phrase("The answer is a picture, which a human must look at.")


@dataclass(frozen=True)
class Answer:
    """Hold a written answer that a student submitted.

    Attributes:
        text: the answer in Markdown.
        has_picture: whether it contains a pasted image.
        source: the submitted file if a team shares it, otherwise "".
    """

    text: str
    has_picture: bool = False
    source: str = ""


@dataclass(frozen=True)
class Verdict:
    """State whether an answer has substance.

    Attributes:
        has_substance: the verdict, or None if only a person can decide.
        why: the reason, which the student reads; "" if the answer has substance.
        like: the students whose answers have nearly the same words.
    """

    has_substance: bool | None
    why: str = ""
    like: tuple[str, ...] = ()


def judge(
    answers: Mapping[str, Answer], points: float, handed_out: HandedOut
) -> dict[str, Verdict]:
    """For each student, judge whether the answer to one question has substance."""
    own = {who: handed_out.own_words(one.text) for who, one in answers.items()}
    verdicts = {
        who: alone(words, points, handed_out, answers[who])
        for who, words in own.items()
    }
    long = {
        who: words
        for who, words in own.items()
        if len(words) >= words_needed(points, words)
    }
    like = _alike(long, answers)
    return verdicts | {
        who: Verdict(False, NEIGHBOUR, tuple(sorted(others)))
        for who, others in like.items()
    }


def words_needed(points: float, own: Sequence[str] = ()) -> int:
    """Return how many own words an answer needs; `own` has the words that it has."""
    is_korean = sum(map(hangul.is_hangul, own)) > len(own) / 2
    needed = max(FEWEST_WORDS, points)
    return math.ceil(needed * IN_KOREAN if is_korean else needed)


def _is_of_a_subject(word: str) -> bool:
    if hangul.is_hangul(word):
        return hangul.is_of_a_subject(word)
    return len(word) >= LONG


def alone(
    own: Sequence[str], points: float, handed_out: HandedOut, answer: Answer
) -> Verdict:
    """Judge the substance of one answer without comparing it with others."""
    needed = words_needed(points, own)
    known = set(filter(_is_of_a_subject, own)) & handed_out.words
    why = ""
    if not any(sentences_of(answer.text)):
        why = EMPTY
    elif len(own) < needed:
        why = Phrase(
            "The answer has {own} words of its own and needs {needed}: text from the "
            "notebook or the chapter does not count.",
            len(own),
            needed,
        )
    elif len(set(own)) < needed / 2:
        why = TOO_FEW_DIFFERENT
    elif len(known) < KNOWN_WORDS:
        why = OFF_SUBJECT
    if why and answer.has_picture:
        return Verdict(None, PICTURE)
    return Verdict(not why, why)


def _alike(
    own: Mapping[str, Sequence[str]], answers: Mapping[str, Answer]
) -> dict[str, set[str]]:
    """For each student, return who else used nearly the same words in any order."""
    students = list(own)
    texts = _coded(own.values())
    found: dict[str, set[str]] = {}
    for first in range(0, len(students), ROWS):
        shares = cdist(
            texts[first : first + ROWS],
            texts,
            scorer=Indel.normalized_similarity,
            score_cutoff=SAME,
            dtype=np.float32,
        )
        for row, column in np.argwhere(shares >= SAME).tolist():
            one, other = students[first + row], students[column]
            source = answers[one].source
            is_of_team = bool(source) and source == answers[other].source
            if one != other and not is_of_team:
                found.setdefault(one, set()).add(other)
    return found


def similar_together(all_words: Sequence[Sequence[str]]) -> list[int]:
    """Order answers so that each is followed by the most similar remaining answer.

    Args:
        all_words: the words of each answer.

    Returns:
        The positions of the answers in this order, which begins with 0.
    """
    texts = _coded(all_words)
    shares = cdist(texts, texts, scorer=Indel.normalized_similarity, dtype=np.float32)
    order: list[int] = []
    left = list(range(len(texts)))
    while left:
        last = order[-1] if order else 0
        nearest = left[int(np.argmax(shares[last, left]))]
        order.append(nearest)
        left.remove(nearest)
    return order


def _coded(all_words: Iterable[Sequence[str]]) -> list[str]:
    """Encode each answer's sorted words as a text with one character per word."""
    codes: dict[str, str] = {}
    return [
        "".join(
            codes.setdefault(word, chr(FIRST_CODE + len(codes)))
            for word in sorted(words)
        )
        for words in all_words
    ]

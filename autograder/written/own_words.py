"""Find the words of an answer that were not copied from the course's texts.

A word is a sequence of at least two letters. In a script without spaces, each character
is a word, and `hangul.py` defines Korean words. Text counts as copied if a sequence of
words occurs in the course's texts, or if a sentence is nearly equal to a sentence of
the course. Therefore, a copied sentence stays copied if a few words are changed.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from rapidfuzz.distance import Indel
from rapidfuzz.process import extractOne

from autograder.written import hangul

RUN = 6  # consecutive words that count as copied if they occur in our texts
NEARLY = 0.7  # agreement from which a sentence counts as copied
SHORTEST = 5  # minimum number of words in a sentence that is compared
MOST_READ = 20_000  # characters of an answer; each sentence takes time
FIRST_CODE = 0x100
COMMENT = re.compile(r"<!--.*?(?:-->|\Z)", re.DOTALL)
TAG = re.compile(r"</?[A-Za-z][^<>]*>")
TARGET = re.compile(r"(?<=\])\([^()]*\)")  # target of a link or an image
COMMAND = re.compile(r"\\[A-Za-z]+")  # TeX command
END_OF_SENTENCE = re.compile(r"[.!?;:。！？](?=\s|$)|\n\s*\n|\n\s*(?:[-*]|\d+\.)\s")
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
WITHOUT_BLANKS = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\u0e00-\u0e7f]")
OF_ONE_SCRIPT = re.compile("[가-힣]+|[^가-힣]+")
# Words of common placeholder text.
FILLER_TEXT = """
lorem ipsum dolor sit amet consectetur adipiscing elit sed eiusmod tempor
incididunt labore dolore magna aliqua enim minim veniam quis nostrud exercitation
ullamco laboris nisi aliquip commodo consequat duis aute irure reprehenderit
voluptate velit esse cillum fugiat nulla pariatur excepteur sint occaecat cupidatat
proident sunt culpa officia deserunt mollit anim laborum
"""
FILLER = frozenset(FILLER_TEXT.split())


def sentences_of(text: str) -> Iterator[list[str]]:
    """Yield the words of each sentence of a Markdown text, in lower case."""
    plain = unicodedata.normalize("NFKC", text)
    plain = "".join(c for c in plain if unicodedata.category(c) != "Cf")
    for left_out in (COMMENT, TARGET, TAG, COMMAND):
        plain = left_out.sub(" ", plain)
    for sentence in END_OF_SENTENCE.split(plain.casefold()):
        words = [word for found in WORD.findall(sentence) for word in _split(found)]
        if words:
            yield words


def _split(run: str) -> Iterator[str]:
    """Yield the words in a run of letters; a word uses only one alphabet."""
    for part in OF_ONE_SCRIPT.findall(run):  # softmax를 is softmax and a particle
        if hangul.is_hangul(part):
            yield from hangul.words_in(part)
        else:
            yield from _of_another_script(part.strip("'’-"))


def _of_another_script(run: str) -> Iterator[str]:
    if WITHOUT_BLANKS.search(run):
        yield from WITHOUT_BLANKS.findall(run)
    elif "HANGUL" in _alphabets(run):  # letters that form no syllable, such as ㅋㅋ
        return
    elif len(run) > 1 and run not in FILLER and len(_alphabets(run)) == 1:
        yield run


@cache
def _alphabet(letter: str) -> str:
    return unicodedata.name(letter, "").partition(" ")[0]


def _alphabets(run: str) -> set[str]:
    return {_alphabet(letter) for letter in run if letter.isalpha()}


class HandedOut:
    """Compare answers with the texts that all students received."""

    def __init__(self, texts: Iterable[str]):
        """Split the texts into words and sentences."""
        self.words: set[str] = set()
        self._codes: dict[str, str] = {}
        self._runs: set[tuple[str, ...]] = set()
        self._sentences: list[str] = []
        for text in texts:
            sentences = list(sentences_of(text))
            flat = [word for sentence in sentences for word in sentence]
            self.words |= set(flat)
            self._runs |= set(_runs(flat))
            self._sentences += [
                self._coded(one) for one in sentences if len(one) >= SHORTEST
            ]

    def own_words(self, answer: str) -> list[str]:
        """Return the words at an answer's start that are not copied from the texts."""
        sentences = list(sentences_of(answer[:MOST_READ]))
        flat = [word for sentence in sentences for word in sentence]
        copied = {
            place + step
            for place, run in enumerate(_runs(flat))
            if run in self._runs
            for step in range(RUN)
        }
        first = 0
        for sentence in sentences:
            if self._is_nearly_ours(sentence):
                copied |= set(range(first, first + len(sentence)))
            first += len(sentence)
        return [word for place, word in enumerate(flat) if place not in copied]

    def _is_nearly_ours(self, sentence: Sequence[str]) -> bool:
        if len(sentence) < SHORTEST:
            return False
        return bool(
            extractOne(
                self._coded(sentence),
                self._sentences,
                scorer=Indel.normalized_similarity,
                score_cutoff=NEARLY,
            )
        )

    def _coded(self, words: Sequence[str]) -> str:
        """Encode words as a text with one character per word, for fast comparison."""
        codes = self._codes
        return "".join(
            codes.setdefault(word, chr(FIRST_CODE + len(codes))) for word in words
        )


def _runs(words: Sequence[str]) -> Iterator[tuple[str, ...]]:
    for first in range(len(words) - RUN + 1):
        yield tuple(words[first : first + RUN])

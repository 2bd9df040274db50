"""Convert words to ids and back."""

import json
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch

from .special_tokens import (
    EOS,
    EOS_ID,
    PAD,
    PAD_ID,
    SOS,
    SOS_ID,
    SPECIAL_TOKENS,
    UNK_ID,
)
from .subwords import Subwords
from .tokens import detokenize, tokenize
from .whole_file import whole_file


class Vocabulary:
    """Map the words of one language to ids and back.

    `words[i]` is the word with id i, and `ids` gives the id of each word. For a
    vocabulary of subwords, `subwords` splits and joins text. It is None for whole
    words.
    """

    def __init__(self, words: Sequence[str], subwords: Subwords | None = None) -> None:
        """Make a vocabulary from its words in the order of their ids.

        Raises:
            ValueError: if the words do not begin with the four special tokens, or a
                word occurs twice.
        """
        self.words = _checked_words(words)
        self.subwords = subwords
        self.ids = {word: i for i, word in enumerate(self.words)}

    def __len__(self) -> int:
        """Return the number of words, including the four special tokens."""
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        """Return whether a word has its own id."""
        return word in self.ids

    def __eq__(self, other: object) -> bool:
        """Return whether two vocabularies give every word the same id."""
        return isinstance(other, Vocabulary) and self.words == other.words

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        """Return the size and the first words as text."""
        return f"Vocabulary({len(self)} words: {', '.join(self.words[4:8])}, …)"

    def split(self, text: str, language: str) -> list[str]:
        """Split a text into words, or into subwords of any language.

        Raises:
            ValueError: if the vocabulary has whole words, and the language is unknown.
        """
        return self.subwords.split(text) if self.subwords else tokenize(text, language)

    def join(self, words: Iterable[str]) -> str:
        """Join words into plain text, and leave out special tokens except <unk>."""
        if self.subwords:
            return self.subwords.join(words)
        return detokenize(word for word in words if word not in (PAD, SOS, EOS))

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Return the ids of a sentence between <sos> and <eos>, or <unk> for new words.

        Raises:
            TypeError: if the sentence is a string instead of a list of words.
            ValueError: if the sentence has no word.
        """
        if isinstance(tokens, str):
            raise TypeError(f"expected a list of words, found the string {tokens!r}")
        if not len(tokens):
            raise ValueError("expected a sentence of at least one word, found none")
        return [SOS_ID, *(self.ids.get(token, UNK_ID) for token in tokens), EOS_ID]

    def decode(self, ids: Sequence[int] | torch.Tensor) -> list[str]:
        """Return the words up to the first <eos>, without <sos> and <pad>.

        Raises:
            ValueError: if an id is not in this vocabulary.
        """
        words = []
        for index in torch.as_tensor(ids, dtype=torch.long).flatten().tolist():
            if not 0 <= index < len(self):
                raise ValueError(
                    f"expected ids from 0 to {len(self) - 1}, found {index}"
                )
            if index == EOS_ID:
                break
            if index not in (SOS_ID, PAD_ID):
                words.append(self.words[index])
        return words

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the words as a JSON list. A failure leaves no incomplete file."""
        text = json.dumps(list(self.words), ensure_ascii=False, indent=0)
        with whole_file(Path(path)) as file:
            file.write(text.encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Vocabulary":
        """Read a vocabulary that `save` has written.

        Raises:
            FileNotFoundError: if there is no such file.
            ValueError: if the file does not contain a JSON list of words that begins
                with the special tokens.
        """
        try:
            words = json.loads(Path(path).read_text(encoding="utf-8"))
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path}: expected a JSON list, found: {error}") from error
        try:
            return cls(words)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error


Vocabularies = tuple[Vocabulary, Vocabulary]
"""That of the source, and that of the target."""


def share_subwords(subwords: Subwords) -> Vocabularies:
    """Make one vocabulary of subwords, which both sides share."""
    both = Vocabulary(subwords.pieces, subwords)
    return both, both


def _checked_words(words: Sequence[str]) -> tuple[str, ...]:
    if not isinstance(words, list | tuple):
        raise ValueError(f"expected a list of words, found {type(words).__name__}")
    if others := [word for word in words if not isinstance(word, str)]:
        raise ValueError(f"expected a list of words, found {others[0]!r} in it")
    if tuple(words[:4]) != SPECIAL_TOKENS:
        raise ValueError(
            f"expected the words to begin with {SPECIAL_TOKENS}, "
            f"found {tuple(words[:4])}"
        )
    twice = [word for word, count in Counter(words).items() if count > 1]
    if twice:
        raise ValueError(f"expected every word once, found {twice[0]!r} twice")
    return tuple(words)

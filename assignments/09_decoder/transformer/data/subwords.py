"""Learn pieces of words by byte-pair encoding with SentencePiece.

The course uses SentencePiece (Kudo & Richardson, 2018) and not `tokenizers`, because it
reads plain text in any language. SentencePiece treats a space like a letter. Therefore
it does not need to know where the words of Korean or Japanese end, and joining the
pieces gives exactly the same text. It learns the same pieces from the same text on
every run, and needs no network. It is imported only when it is first used, because most
of the course does not need it.
"""

import io
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import Any

from .special_tokens import EOS, PAD, SOS, SPECIAL_TOKENS, UNK

LEAST_SIZE, MOST_SIZE = 300, 1 << 16  # 256 bytes and some letters; ids of two bytes
_LONGEST = 1 << 20  # maximum bytes of a sentence; SentencePiece leaves out longer ones
_TOO_SMALL = re.compile(
    r"Vocabulary size is smaller than required_chars\. \d+ vs (\d+)"
)
_SPELLING: dict[str, Any] = {
    "model_type": "bpe",
    "hard_vocab_limit": False,  # a small text may have fewer pieces
    "byte_fallback": True,  # spells unknown letters as bytes
    "normalization_rule_name": "identity",
    "remove_extra_whitespaces": False,
    "max_sentence_length": _LONGEST,
    "minloglevel": 2,
}


class Subwords:
    """Split text into pieces, and join pieces into text.

    Every text can be split. `join(split(text))` returns the text in Unicode's form NFC,
    without white space at its ends. The only exception is the character ▁, which
    represents a space.

    Attributes:
        model: SentencePiece's model, as bytes.
        lower: whether to put text in lower case before splitting it.
        pieces: all pieces, beginning with the four special tokens.
    """

    def __init__(self, model: bytes, lower: bool = False) -> None:
        """Load a model that `learn_subwords` has learned.

        Raises:
            ValueError: if the bytes are not a SentencePiece model.
        """
        import sentencepiece

        self.model, self.lower = model, lower
        try:
            self._processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        except RuntimeError as error:
            raise ValueError("expected a model of SentencePiece: found none") from error
        size = self._processor.get_piece_size()
        self.pieces = [self._processor.id_to_piece(i) for i in range(size)]

    def split(self, text: str) -> list[str]:
        """Split a text into pieces, none for an empty or blank text."""
        return self._processor.encode(_prepared(text, self.lower), out_type=str)

    def number(self, texts: Sequence[str]) -> list[list[int]]:
        """Split many texts, and return the ids of their pieces."""
        return self._processor.encode([_prepared(text, self.lower) for text in texts])

    def join(self, pieces: Iterable[str]) -> str:
        """Join pieces into a text, without special tokens."""
        kept = [piece for piece in pieces if piece not in SPECIAL_TOKENS]
        return self._processor.decode(kept) if kept else ""


def learn_subwords(
    sentences: Iterable[str], size: int, lower: bool = False
) -> Subwords:
    """Learn subwords from sentences by repeatedly merging the most frequent pair.

    Args:
        sentences: sentences of both languages, because both sides share the pieces.
        size: maximum number of pieces, including special tokens, letters and bytes. A
            small text gives fewer pieces.
        lower: whether to put all text in lower case.

    Returns:
        The subwords, the same for the same sentences in the same order.

    Raises:
        ValueError: if there is no sentence, or `size` is too small or too large.
    """
    import sentencepiece

    if not LEAST_SIZE <= size <= MOST_SIZE:
        raise ValueError(
            f"expected from {LEAST_SIZE} to {MOST_SIZE} subwords, found {size}"
        )
    texts = (_prepared(text, lower) for text in sentences)
    model = io.BytesIO()
    names = {"unk": UNK, "pad": PAD, "bos": SOS, "eos": EOS}
    special: dict[str, Any] = {f"{n}_piece": token for n, token in names.items()}
    special |= {f"{name}_id": number for number, name in enumerate(names)}
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=(text for text in texts if text),
            model_writer=model,
            vocab_size=size,
            **_SPELLING,
            **special,
        )
    except RuntimeError as error:
        raise ValueError(_explain(str(error), size)) from error
    return Subwords(model.getvalue(), lower)


def _prepared(text: str, lower: bool) -> str:
    text = unicodedata.normalize("NFC", text).strip()
    return text.lower() if lower else text


def _explain(message: str, size: int) -> str:
    """Return a sentence that explains why SentencePiece failed."""
    if found := _TOO_SMALL.search(message):
        return (
            f"expected at least {found[1]} subwords, to hold every letter of these "
            f"sentences: found {size}"
        )
    return "expected at least one sentence to learn subwords from, found none"

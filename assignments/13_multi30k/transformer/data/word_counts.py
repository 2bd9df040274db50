"""Build the vocabularies of a corpus, with the most frequent words first."""

from collections import Counter
from collections.abc import Iterable, Sequence

from .pairs import SentencePair
from .special_tokens import SPECIAL_TOKENS
from .vocabulary import Vocabularies, Vocabulary


def build_vocabulary(
    sentences: Iterable[Sequence[str]],
    min_freq: int = 1,
    specials: Sequence[str] = SPECIAL_TOKENS,
) -> tuple[list[str], dict[str, int]]:
    """Number the words of a corpus, the most frequent first.

    Args:
        sentences: tokens of each sentence, any strings. May be an iterator, which can
            be read only once.
        min_freq: how often a word must occur to get a number.
        specials: tokens that come first, in this order, however often they occur.

    Returns:
        The words by number, and the number of each word. Words that occur equally
        often are in alphabetical order.
    """
    counts = Counter(token for sentence in sentences for token in sentence)
    frequent = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = [*specials, *sorted(frequent, key=lambda word: (-counts[word], word))]
    return itos, {word: number for number, word in enumerate(itos)}


def build_vocabularies(
    pairs: Sequence[SentencePair], min_freq: int = 1
) -> Vocabularies:
    """Build the source and the target vocabulary from the training pairs.

    Raises:
        ValueError: if `min_freq` is below 1 or there is no pair.
    """
    if min_freq < 1:
        raise ValueError(f"expected min_freq of at least 1, found {min_freq}")
    if not pairs:
        raise ValueError("expected at least one sentence pair, found none")
    src_words, _ = build_vocabulary((pair.src for pair in pairs), min_freq)
    tgt_words, _ = build_vocabulary((pair.tgt for pair in pairs), min_freq)
    return Vocabulary(src_words), Vocabulary(tgt_words)

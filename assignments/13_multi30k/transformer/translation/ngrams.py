"""Prepare the inputs of BLEU: count n-grams, and pair sentences with references."""

from collections import Counter
from collections.abc import Hashable, Sequence

Tokens = Sequence[Hashable]
SentencePairs = list[tuple[Tokens, list[Tokens]]]


def count_ngrams(tokens: Tokens, n: int) -> Counter[tuple[Hashable, ...]]:
    """Count every sequence of n neighbouring tokens.

    Args:
        tokens: the tokens of one sentence.
        n: length of a sequence, at least 1.

    Returns:
        How often each n-gram occurs; empty if the sentence has fewer than n tokens.

    Raises:
        ValueError: if `n` is below 1.
    """
    if n < 1:
        raise ValueError(f"expected n of at least 1, found {n}")
    return Counter(zip(*(tokens[start:] for start in range(n)), strict=False))


def closest_length(length: int, references: Sequence[Tokens]) -> int:
    """Return the reference length nearest to `length`; of two, the shorter."""
    return min((abs(len(r) - length), len(r)) for r in references)[1]


def pair_sentences(
    hypotheses: Sequence[Tokens], references: Sequence[Tokens | Sequence[Tokens]]
) -> SentencePairs:
    """Pair each hypothesis with the list of its references.

    Args:
        hypotheses: a list or tuple of tokens for each sentence.
        references: one reference of each sentence (a list of tokens) or several (a
            list of lists of tokens).

    Returns:
        For each sentence, the hypothesis and a list of at least one reference.

    Raises:
        ValueError: if there is no sentence, or the numbers of hypotheses and references
            differ.
        TypeError: if a sentence is not a list or tuple of tokens, such as a string.
    """
    if len(hypotheses) != len(references):
        raise ValueError(
            "expected a reference for each hypothesis, found "
            f"{len(hypotheses)} hypotheses and {len(references)} references"
        )
    if not hypotheses:
        raise ValueError("expected at least one sentence, found none")
    pairs: SentencePairs = []
    for number, (hypothesis, given) in enumerate(
        zip(hypotheses, references, strict=True)
    ):
        _require_tokens(hypothesis, f"hypothesis {number}")
        known = _list_references(given)
        for reference in known:
            _require_tokens(reference, f"a reference of sentence {number}")
        pairs.append((hypothesis, known))
    return pairs


def _list_references(given: Tokens | Sequence[Tokens]) -> list[Tokens]:
    """Return the references of one sentence as a list, even if there is only one."""
    if isinstance(given, list | tuple):
        several = [one for one in given if isinstance(one, list | tuple)]
        if several and len(several) == len(given):
            return list(several)
    return [given]


def _require_tokens(tokens: Tokens, name: str) -> None:
    if not isinstance(tokens, list | tuple):
        raise TypeError(
            f"expected {name} to be a list of tokens, found {type(tokens).__name__}: "
            "split text into tokens, and turn a tensor into words, first"
        )
    for token in tokens:
        if isinstance(token, list | tuple):
            raise TypeError(
                f"expected {name} to hold tokens, found {token!r} in it: are the "
                "hypotheses first and the references second?"
            )
        if isinstance(token, str) and " " in token.strip():
            raise TypeError(
                f"expected {name} to hold single tokens, found {token!r}: split it "
                "into tokens first"
            )

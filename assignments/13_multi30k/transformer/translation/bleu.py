"""Compute corpus BLEU on tokens (Papineni et al., 2002), as sacreBLEU does.

There is no smoothing: a corpus without a single matching 4-gram has the score 0. The
score equals that of sacreBLEU with `tokenize="none"` and `smooth_method="none"`. With
one reference for each sentence, it also equals 100 times torchtext's `bleu_score`.
"""

# mypy: disable-error-code="var-annotated"

import math
from collections import Counter
from collections.abc import Sequence

from transformer.translation.ngrams import (
    Tokens,
    closest_length,
    count_ngrams,
    pair_sentences,
)


def ngram_precision(
    hypotheses: Sequence[Tokens],
    references: Sequence[Tokens | Sequence[Tokens]],
    n: int,
) -> tuple[int, int]:
    """Count a corpus's n-grams, and those that its references confirm.

    An n-gram is confirmed at most as often as it occurs in its sentence's reference.
    Of several references, the one in which it occurs most often counts.

    Args:
        hypotheses: the tokens of each sentence.
        references: for each sentence the tokens of one reference, or a list of several.
        n: length of an n-gram, at least 1.

    Returns:
        The number of confirmed n-grams and of all n-grams of the hypotheses, which are
        numerator and denominator of the precision over the whole corpus.

    Raises:
        ValueError: if there is no sentence, hypotheses and references do not match, or
            `n` is below 1.
        TypeError: if a sentence is not a list or tuple of tokens but, say, a string.
    """
    pairs = pair_sentences(hypotheses, references)
    matches = total = 0
    for hypothesis, known in pairs:
        found = count_ngrams(hypothesis, n)
        most = Counter()
        for reference in known:
            most |= count_ngrams(reference, n)  # the larger of both counts
        matches += (found & most).total()  # the smaller of both counts
        total += found.total()
    return matches, total


def corpus_bleu(
    hypotheses: Sequence[Tokens],
    references: Sequence[Tokens | Sequence[Tokens]],
    max_n: int = 4,
) -> float:
    """Score a corpus: the geometric mean of its precisions, times a brevity penalty.

    The penalty is exp(1 - r / c) if the hypotheses have c tokens in total and the
    references r, with r > c. Otherwise it is 1. Of several references, the one nearest
    in length counts, and of two equally near ones the shorter.

    Args:
        hypotheses: the tokens of each sentence.
        references: for each sentence the tokens of one reference, or a list of several.
        max_n: length of the longest n-grams.

    Returns:
        BLEU from 0 to 100; 0 if there is no match for some n.

    Raises:
        ValueError: if there is no sentence, hypotheses and references do not match, or
            `max_n` is below 1.
        TypeError: if a sentence is not a list or tuple of tokens but, say, a string.
    """
    if max_n < 1:
        raise ValueError(f"expected max_n of at least 1, found {max_n}")
    pairs = pair_sentences(hypotheses, references)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    if any(matches == 0 for matches, _ in counts):
        return 0.0
    mean_log = sum(math.log(matches / total) for matches, total in counts) / max_n
    written = sum(len(hypothesis) for hypothesis, _ in pairs)
    wanted = sum(closest_length(len(tokens), known) for tokens, known in pairs)
    return 100 * math.exp(mean_log + min(0.0, 1 - wanted / written))

"""Byte-pair encoding by hand: learn which neighbouring pieces to merge.

`subwords` does the same for whole corpora with a library.
"""

# mypy: disable-error-code="var-annotated,assignment"

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise


def apply_merges(pieces: Sequence[str], merges: Sequence[tuple[str, str]]) -> list[str]:
    """Join neighbouring pieces of a word into longer pieces.

    Apply the merges in their order. Each merge goes from left to right: where the first
    piece of the pair is directly before the second, the two become one piece, and the
    search continues after it. Thus (a, a) turns a a a into aa and a.

    Args:
        pieces: the pieces of a word, from left to right; none of them is empty.
        merges: pairs of pieces, in the order in which they were learned.

    Returns:
        The resulting pieces of the same word, from left to right. A piece that no merge
        joins is left unchanged, whether it is known or not.
    """
    ### BEGIN SOLUTION
    for pair in merges:
        merged = []
        for piece in pieces:
            if merged and (merged[-1], piece) == pair:
                merged[-1] += piece
            else:
                merged.append(piece)
        pieces = merged
    return list(pieces)
    ### END SOLUTION


def learn_merges(
    word_counts: Mapping[str, int], n_merges: int
) -> list[tuple[str, str]]:
    """Learn byte-pair merges from words and their counts.

    First spell each word with `▁`, the space before it, and its letters: the pieces
    ▁ l o w for the word low. Then merge the most frequent pair of neighbours in every
    word, as `apply_merges` does it, count again, and repeat.

    A pair occurs wherever its two pieces are neighbours within a word, and each such
    position counts as often as the word: (a, a) counts twice in a word aaa that occurs
    once. Of equally frequent pairs, take the first in Python's order: ("a", "z") before
    ("b", "a").

    Args:
        word_counts: how often each word occurs, at least once. The order of the words
            does not matter. Treat capitals and other characters like letters.
        n_merges: number of merges to learn, 0 or more.

    Returns:
        The merges, in the order in which they were learned: `n_merges` of them, or
        fewer if every word becomes one piece before that.
    """
    ### BEGIN SOLUTION
    spelled = {word: ["▁", *word] for word in word_counts}
    merges = []
    for _ in range(n_merges):
        seen = Counter()
        for word, pieces in spelled.items():
            for pair in pairwise(pieces):
                seen[pair] += word_counts[word]
        if not seen:
            break
        merges.append(min(seen, key=lambda pair: (-seen[pair], pair)))
        spelled = {word: apply_merges(spelled[word], merges[-1:]) for word in spelled}
    return merges
    ### END SOLUTION

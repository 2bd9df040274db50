"""Byte-pair encoding by hand: learn which neighbours to merge, and merge them.

`subwords` does the same for whole corpora, by a library.
"""

# mypy: disable-error-code="var-annotated,assignment"

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import pairwise


def apply_merges(pieces: Sequence[str], merges: Sequence[tuple[str, str]]) -> list[str]:
    """Join neighbours to longer pieces, merge by merge.

    One merge after the other, in their order: from left to right, wherever the first
    piece of the pair stands directly before the second, the two become one piece, and
    the search goes on behind it. So (a, a) makes of a a a the pieces aa and a.

    Args:
        pieces: a word's, from left to right; none of them is empty.
        merges: pairs of pieces, in the order in which they were learned.

    Returns:
        The pieces of the same word that are left, from left to right. What no merge
        joins stays as it is, whether it is known or not.
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
    """Learn byte-pair merges from words and how often each of them occurs.

    At first each word is spelled with `▁`, the space before it, and its letters: the
    pieces ▁ l o w of the word low. Then, again and again, the pair of neighbours that
    is seen most often is merged in every word, as `apply_merges` does it, and counting
    begins anew.

    A pair is seen at each place of a word where the two stand side by side, as many
    times as the word occurs: (a, a) twice in a word aaa that occurs once. Neighbours
    are pieces of one word. Of pairs that are seen equally often, the first in Python's
    order is taken: ("a", "z") before ("b", "a").

    Args:
        word_counts: how often each word occurs, once at least. In which order the words
            come means nothing, and capitals and signs are letters like others.
        n_merges: how many merges to learn, 0 or more.

    Returns:
        The merges, in the order in which they were learned: `n_merges` of them, or
        fewer if each word is one piece before that.
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

"""Which words a trained model's heads link, as attention does not say by itself.

Position i of the decoder reads the target's token i and writes token i + 1. So each
target word has two rows in the cross-attention: that of the position which writes the
word, and that of the next position, which has just read it.
"""

from collections import Counter
from collections.abc import Hashable, Sequence, Set
from copy import deepcopy
from itertools import product
from typing import Literal

import torch
from torch import Tensor

from transformer.data import SentencePair, Vocabularies, make_batches
from transformer.decoder import layers_of
from transformer.model import Transformer
from transformer.multi_head import MultiHeadAttention

Link = tuple[int, int, int]
"""A sentence's number, the place of a source word, the place of a target word."""

Row = Literal["writes", "reads"]
Word = tuple[str, str]  # "src" or "tgt", and the word


def gold_links(pairs: Sequence[SentencePair]) -> set[Link]:
    """Number the links of a corpus.

    Raises:
        ValueError: if a pair has no alignment.
    """
    links: set[Link] = set()
    for number, pair in enumerate(pairs):
        if pair.alignment is None:
            raise ValueError("expected pairs with an alignment, found one without")
        links.update((number, i, j) for i, j in pair.alignment)
    return links


@torch.no_grad()
def word_attention(
    model: Transformer,
    pairs: Sequence[SentencePair],
    vocabularies: Vocabularies,
    row: Row = "writes",
) -> list[Tensor]:
    """Force a model to write the given translations, and return where it looked.

    Args:
        model: a trained Transformer, in `eval` mode.
        pairs: sentences with their translations.
        vocabularies: of the source and of the target.
        row: "writes": a target word's row is that of the position which predicts it;
            "reads": that of the position whose input it is.

    Returns:
        For each pair, the cross-attention between its words, (layers, h, t, s), without
        the rows and columns of the special tokens.
    """
    first = {"writes": 0, "reads": 1}[row]
    device = next(model.parameters()).device
    found = []
    for batch in make_batches(pairs, vocabularies, 100, device=device):
        _, layers = model.decode(batch.tgt, model.encode(batch.src), batch.src)
        weights = torch.stack(layers, dim=1)  # (b, layers, h, t, s)
        for sentence, place in zip(weights, batch.indices, strict=True):
            s, t = len(pairs[place].src), len(pairs[place].tgt)
            found.append((place, sentence[:, :, first : first + t, 1 : s + 1]))
    return [weights for _, weights in sorted(found, key=lambda item: item[0])]


def attention_links(weights: Tensor) -> set[tuple[int, int]]:
    """Link each target word with the source word that it attends to most.

    Args:
        weights: (t, s), cross-attention of one sentence and one head. Leave out the
            rows and columns of special tokens.

    Returns:
        Links (src_index, tgt_index). A row of zeros gives none.

    Raises:
        ValueError: if the weights are not (t, s).
    """
    if weights.dim() != 2:
        raise ValueError(
            "expected the weights (t, s) of one sentence and one head, found shape "
            f"{tuple(weights.shape)}"
        )
    rows = weights.any(dim=1).nonzero().flatten().tolist()
    return {(int(weights[row].argmax()), row) for row in rows}


def head_links(attention: Sequence[Tensor], layer: int, head: int) -> set[Link]:
    """Link the words of a corpus as one head does.

    Args:
        attention: of each pair, (layers, h, t, s), as from `word_attention`.
        layer: counted from 0.
        head: counted from 0.
    """
    return {
        (number, i, j)
        for number, weights in enumerate(attention)
        for i, j in attention_links(weights[layer, head])
    }


def diagonal_links(pairs: Sequence[SentencePair]) -> set[Link]:
    """Link each target word with the source word that stands as far along."""
    return {
        (number, round(j * (len(pair.src) - 1) / max(1, len(pair.tgt) - 1)), j)
        for number, pair in enumerate(pairs)
        for j in range(len(pair.tgt))
    }


def dice_links(
    train: Sequence[SentencePair], pairs: Sequence[SentencePair]
) -> set[Link]:
    """Link each target word with the source word that it keeps company with.

    Two words keep company by Dice's coefficient, 2 c(f, e) / (c(f) + c(e)), where c
    counts the training pairs with both or one of them (a baseline of Och & Ney, 2003).

    Args:
        train: pairs to count in.
        pairs: pairs to link the words of.
    """
    one: Counter[Word] = Counter()
    both: Counter[tuple[Word, Word]] = Counter()
    for pair in train:
        words = {("src", f) for f in pair.src}, {("tgt", e) for e in pair.tgt}
        one.update(words[0] | words[1])
        both.update(product(*words))

    def company(f: str, e: str) -> float:
        f_and_e = ("src", f), ("tgt", e)
        return 2 * both[f_and_e] / max(1, one[f_and_e[0]] + one[f_and_e[1]])

    return {
        (number, max(range(len(pair.src)), key=lambda i: company(pair.src[i], e)), j)
        for number, pair in enumerate(pairs)
        for j, e in enumerate(pair.tgt)
    }


def silence_heads(model: Transformer, layer: int, heads: Sequence[int]) -> Transformer:
    """Copy a model and keep some heads of a cross-attention from saying anything.

    Their slices of the output projection are set to 0, as Michel et al. (2019) do it.

    Args:
        model: stays as it is.
        layer: of the decoder, counted from 0.
        heads: counted from 0.
    """
    model = deepcopy(model)
    silence(layers_of(model.decoder)[layer].cross_attention, heads)
    return model


@torch.no_grad()
def silence(attention: MultiHeadAttention, heads: Sequence[int]) -> None:
    """Keep heads, counted from 0, of an attention from saying anything; in place."""
    d_k = attention.w_o.in_features // attention.n_heads
    for head in heads:
        attention.w_o.weight[:, head * d_k : (head + 1) * d_k] = 0


def require_links(
    predicted: Set[Hashable], sure: Set[Hashable], possible: Set[Hashable]
) -> None:
    """Refuse links that an alignment error rate cannot be computed of.

    Raises:
        TypeError: if they are not in sets.
        ValueError: if a sure link is not possible, or there is nothing to compare.
    """
    names = {"predicted": predicted, "sure": sure, "possible": possible}
    for name, links in names.items():
        if not isinstance(links, Set):
            raise TypeError(
                f"expected {name} to be a set of links, found {type(links).__name__}: "
                f"pass set({name})"
            )
    if not sure <= possible:
        raise ValueError(
            "expected every sure link among the possible ones, found "
            f"{sorted(sure - possible, key=repr)[0]!r} in sure alone: pass "
            "sure | possible as possible"
        )
    if not predicted and not sure:
        raise ValueError(
            "expected links to compare, found none predicted and none sure: leave the "
            "sentence out"
        )

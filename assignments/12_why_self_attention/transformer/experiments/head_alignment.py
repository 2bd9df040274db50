"""Compute word alignments from the attention weights of a trained model's heads.

Position i of the decoder has the target's token i as its input and predicts token i +
1. Each target word therefore has two rows in the cross-attention: the row of the
position that predicts the word, and the row of the next position, whose input is the
word.
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
Word = tuple[str, str]  # ("src" or "tgt", the word)


def gold_links(pairs: Sequence[SentencePair]) -> set[Link]:
    """Return the alignment links of a corpus, with the number of each sentence.

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
    """Return a model's cross-attention for given translations, by teacher forcing.

    Args:
        model: a trained Transformer, in `eval` mode.
        pairs: sentences with their translations.
        vocabularies: vocabularies of the source and the target.
        row: "writes" for the row of the position that predicts a target word, "reads"
            for the row of the position whose input it is.

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
    """Link each target word of a corpus with the source word that one head attends to.

    Args:
        attention: (layers, h, t, s) of each pair, as from `word_attention`.
        layer: number of the layer, from 0.
        head: number of the head, from 0.
    """
    return {
        (number, i, j)
        for number, weights in enumerate(attention)
        for i, j in attention_links(weights[layer, head])
    }


def diagonal_links(pairs: Sequence[SentencePair]) -> set[Link]:
    """Link each target word with the source word at the same relative position."""
    return {
        (number, round(j * (len(pair.src) - 1) / max(1, len(pair.tgt) - 1)), j)
        for number, pair in enumerate(pairs)
        for j in range(len(pair.tgt))
    }


def dice_links(
    train: Sequence[SentencePair], pairs: Sequence[SentencePair]
) -> set[Link]:
    """Link each target word with the source word that occurs with it most often.

    "Most often" means the highest Dice coefficient, 2 c(f, e) / (c(f) + c(e)). Here c
    counts the training pairs that contain the word or both words. This is a baseline of
    Och & Ney (2003).

    Args:
        train: pairs for the counts.
        pairs: pairs whose words are linked.
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
    """Copy a model, and silence some heads in one layer's cross-attention.

    The heads' slices of the output projection are set to 0, as in Michel et al. (2019).

    Args:
        model: the model, which is not changed.
        layer: number of the decoder layer, from 0.
        heads: numbers of the heads, from 0.
    """
    model = deepcopy(model)
    silence(layers_of(model.decoder)[layer].cross_attention, heads)
    return model


@torch.no_grad()
def silence(attention: MultiHeadAttention, heads: Sequence[int]) -> None:
    """Silence some heads of an attention layer in place, counted from 0."""
    d_k = attention.w_o.in_features // attention.n_heads
    for head in heads:
        attention.w_o.weight[:, head * d_k : (head + 1) * d_k] = 0


def require_links(
    predicted: Set[Hashable], sure: Set[Hashable], possible: Set[Hashable]
) -> None:
    """Raise an error if no alignment error rate can be computed for the links.

    Raises:
        TypeError: if the links are not in sets.
        ValueError: if a sure link is not among the possible links, or there is nothing
            to compare.
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

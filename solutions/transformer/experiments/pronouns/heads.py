"""Measure a trained model's attention from a pronoun, and its translation.

Each sentence has two nouns to which the pronoun could refer, and it refers to one of
them.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import cast

import torch
from torch import Tensor

from transformer.data import Vocabularies, make_batches
from transformer.data.pronouns import PronounSentence
from transformer.encoder import EncoderLayer
from transformer.experiments.head_alignment import silence, word_attention
from transformer.model import Transformer

ENGLISH = ("he", "she", "it")
_BATCH_SIZE = 100


@torch.no_grad()
def encoder_attention(model: Transformer, src: Tensor) -> Tensor:
    """Encode sentences, and return every head's attention weights (b, layers, h, s, s).

    Args:
        model: a trained Transformer, in `eval` mode.
        src: (b, s) word numbers.
    """
    kept: list[Tensor] = []
    hooks = [
        layer.self_attention.register_forward_hook(
            lambda _module, _inputs, outputs: kept.append(outputs[1])
        )
        for layer in _encoder_layers(model)
    ]
    try:
        model.encode(src)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(kept, dim=1)


def from_the_pronoun(
    model: Transformer, sentences: Sequence[PronounSentence], words: Vocabularies
) -> list[Tensor]:
    """Return the German pronoun's attention weights in each of the encoder's heads.

    Args:
        model: a trained Transformer, in `eval` mode.
        sentences: the sentences.
        words: vocabularies of the source and of the target.

    Returns:
        For each sentence, (layers, h, s), without the columns of the special tokens.
    """
    found = [torch.empty(0)] * len(sentences)
    for batch in make_batches([one.pair for one in sentences], words, _BATCH_SIZE):
        weights = encoder_attention(model, batch.src)
        for rows, number in zip(weights, batch.indices, strict=True):
            one = sentences[number]
            row = rows[:, :, one.pronoun + 1]  # skip <sos>
            found[number] = row[:, :, 1 : len(one.pair.src) + 1]
    return found


def from_its_translation(
    model: Transformer, sentences: Sequence[PronounSentence], words: Vocabularies
) -> list[Tensor]:
    """Return the decoder heads' weights when the model predicts "he", "she" or "it".

    The arguments and the result are those of `from_the_pronoun`.
    """
    pairs = [one.pair for one in sentences]
    found = word_attention(model, pairs, words, "writes")
    return [
        weights[:, :, one.tgt_pronoun]
        for weights, one in zip(found, sentences, strict=True)
    ]


def on_the_nouns(
    weights: Sequence[Tensor],
    sentences: Sequence[PronounSentence],
    *,
    with_article: bool = False,
) -> Tensor:
    """Return the weights on the pronoun's noun and on the other noun (n, layers, h, 2).

    Args:
        weights: (layers, h, s) of each of n sentences.
        sentences: these n sentences.
        with_article: whether to add the weight on the article before each noun.
    """
    found = []
    for row, one in zip(weights, sentences, strict=True):
        nouns = torch.tensor([one.noun, one.other])
        both = row[:, :, nouns]
        found.append(both + row[:, :, nouns - 1] if with_article else both)
    return torch.stack(found)


def share_on_noun(weights: Tensor) -> Tensor:
    """Return how often each head has more weight on the pronoun's noun than the other.

    Args:
        weights: (n, layers, h, 2), from `on_the_nouns`.

    Returns:
        Shares from 0 to 1, (layers, h). A head that ignores the nouns has about 0.5.
    """
    return (weights[..., 0] > weights[..., 1]).double().mean(dim=0)


@torch.no_grad()
def written_pronouns(
    model: Transformer, sentences: Sequence[PronounSentence], words: Vocabularies
) -> list[str]:
    """Return the likeliest of "he", "she" and "it" after the right previous words.

    Args:
        model: a trained Transformer, in `eval` mode.
        sentences: the sentences.
        words: vocabularies of the source and of the target.
    """
    numbers = [words[1].words.index(word) for word in ENGLISH]
    found = [""] * len(sentences)
    for batch in make_batches([one.pair for one in sentences], words, _BATCH_SIZE):
        logits = model(batch.src, batch.tgt[:, :-1])
        for row, number in zip(logits, batch.indices, strict=True):
            best = row[sentences[number].tgt_pronoun, numbers].argmax()
            found[number] = ENGLISH[int(best)]
    return found


def share_right(written: Sequence[str], sentences: Sequence[PronounSentence]) -> float:
    """Return the share of predicted pronouns that match the translation's."""
    right = [
        word == one.pair.tgt[one.tgt_pronoun]
        for word, one in zip(written, sentences, strict=True)
    ]
    return sum(right) / len(right)


def silence_in_encoder(
    model: Transformer, layer: int, heads: Sequence[int]
) -> Transformer:
    """Copy a model, and silence some heads of an encoder layer.

    Args:
        model: the model, which is not changed.
        layer: number of the encoder layer, from 0.
        heads: numbers of the heads, from 0.
    """
    model = deepcopy(model)
    silence(_encoder_layers(model)[layer].self_attention, heads)
    return model


def _encoder_layers(model: Transformer) -> list[EncoderLayer]:
    """Return the layers as a typed list, because `nn.ModuleList` does not type them."""
    return cast("list[EncoderLayer]", list(model.encoder.layers))

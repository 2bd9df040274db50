"""Where a pronoun looks in a trained model, and how it is translated.

Each sentence names two nouns that the pronoun could stand for; it stands for one.
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
    """Read sentences and return the weights of every head, (b, layers, h, s, s).

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
    """Return where the German pronoun looks in each of the encoder's heads.

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
            row = rows[:, :, one.pronoun + 1]  # after <sos>
            found[number] = row[:, :, 1 : len(one.pair.src) + 1]
    return found


def from_its_translation(
    model: Transformer, sentences: Sequence[PronounSentence], words: Vocabularies
) -> list[Tensor]:
    """Return where the decoder's heads look as they write "he", "she" or "it".

    Takes and returns what `from_the_pronoun` does.
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
    """Return what goes to the pronoun's noun and to the other, (n, layers, h, 2).

    Args:
        weights: of each of n sentences, (layers, h, s).
        sentences: those.
        with_article: adds what goes to the article before each noun.
    """
    found = []
    for row, one in zip(weights, sentences, strict=True):
        nouns = torch.tensor([one.noun, one.other])
        both = row[:, :, nouns]
        found.append(both + row[:, :, nouns - 1] if with_article else both)
    return torch.stack(found)


def share_on_noun(weights: Tensor) -> Tensor:
    """Return each head's share of pronouns that look more at their own noun.

    Args:
        weights: (n, layers, h, 2), from `on_the_nouns`.

    Returns:
        (layers, h), from 0 to 1; a head that is blind to the noun has about 0.5.
    """
    return (weights[..., 0] > weights[..., 1]).double().mean(dim=0)


@torch.no_grad()
def written_pronouns(
    model: Transformer, sentences: Sequence[PronounSentence], words: Vocabularies
) -> list[str]:
    """Return "he", "she" or "it" for each: the likeliest after the right words so far.

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
    """Return the share of pronouns that are those of the translation."""
    right = [
        word == one.pair.tgt[one.tgt_pronoun]
        for word, one in zip(written, sentences, strict=True)
    ]
    return sum(right) / len(right)


def silence_in_encoder(
    model: Transformer, layer: int, heads: Sequence[int]
) -> Transformer:
    """Copy a model and keep heads of an encoder layer from saying anything.

    Args:
        model: stays as it is.
        layer: of the encoder, counted from 0.
        heads: counted from 0.
    """
    model = deepcopy(model)
    silence(_encoder_layers(model)[layer].self_attention, heads)
    return model


def _encoder_layers(model: Transformer) -> list[EncoderLayer]:
    """Return the layers; `nn.ModuleList` does not tell what kind it holds."""
    return cast("list[EncoderLayer]", list(model.encoder.layers))

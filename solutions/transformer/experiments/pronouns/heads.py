"""Where a pronoun looks in a trained model's encoder, and what becomes of it.

Each sentence names two nouns that the pronoun could stand for; it stands for one.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer.data import Vocabularies, make_batches
from transformer.data.pronouns import PronounSentence
from transformer.model import Transformer

ENGLISH = ("he", "she", "it")
_BATCH_SIZE = 100


@torch.no_grad()
def encoder_attention(model: Transformer, src: Tensor) -> Tensor:
    """Read sentences and return every head's weights, (b, layers, h, s, s).

    Args:
        model: a trained Transformer, in `eval` mode.
        src: (b, s) word numbers.
    """
    kept: list[Tensor] = []
    attentions = [layer.self_attention for layer in model.encoder.layers]
    hooks = [
        attention.register_forward_hook(lambda *call: kept.append(call[-1][1]))
        for attention in attentions
    ]
    try:
        model.encode(src)
    finally:
        for hook in hooks:
            hook.remove()
    return torch.stack(kept, dim=1)


def weights_on_nouns(
    model: Transformer, sentences: Sequence[PronounSentence], words: Vocabularies
) -> Tensor:
    """Return what every head of the encoder gives from the pronoun to the two nouns.

    Args:
        model: a trained Transformer, in `eval` mode.
        sentences: n of them.
        words: vocabularies of the source and of the target.

    Returns:
        (n, layers, h, 2): the weight of the noun that the pronoun stands for, and that
        of the other.
    """
    found = torch.empty(0)
    for batch in make_batches([one.pair for one in sentences], words, _BATCH_SIZE):
        weights = encoder_attention(model, batch.src)
        if not len(found):
            found = torch.zeros(len(sentences), *weights.shape[1:3], 2)
        for row, number in zip(weights, batch.indices, strict=True):
            one = sentences[number]
            nouns = [one.noun + 1, one.other + 1]  # after <sos>
            found[number] = row[:, :, one.pronoun + 1, nouns]
    return found


def share_on_noun(weights: Tensor) -> Tensor:
    """Return each head's share of pronouns that look more at their noun.

    Args:
        weights: (n, layers, h, 2), from `weights_on_nouns`.

    Returns:
        (layers, h), from 0 to 1; 0.5 is what chance gives.
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
    """Return the share of pronouns that are the translation's."""
    right = [
        word == one.pair.tgt[one.tgt_pronoun]
        for word, one in zip(written, sentences, strict=True)
    ]
    return sum(right) / len(right)

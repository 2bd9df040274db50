"""The attention of a pronoun: rows and columns by hand, and the effect of silence."""

import pytest
import torch

from transformer.config import TransformerConfig
from transformer.data.pronouns import make_pronoun_sentences
from transformer.data.word_counts import build_vocabularies
from transformer.encoder import layer_states
from transformer.experiments.pronouns.heads import (
    encoder_attention,
    from_its_translation,
    from_the_pronoun,
    on_the_nouns,
    share_on_noun,
    share_right,
    silence_in_encoder,
    written_pronouns,
)
from transformer.model import Transformer

SENTENCES = make_pronoun_sentences(60, seed=5)


@pytest.fixture(scope="module")
def words():
    return build_vocabularies([one.pair for one in SENTENCES])


@pytest.fixture(scope="module")
def model(words):
    torch.manual_seed(0)
    return Transformer(TransformerConfig.tiny(*map(len, words), n_layers=3)).eval()


def numbered(one, words):
    """Return source and target of one sentence, unpadded."""
    sides = one.pair.src, one.pair.tgt
    both = zip(words, sides, strict=True)
    return [torch.tensor([known.encode(side)]) for known, side in both]


def by_hand(model, src):
    """Return (layers, h, s, s) by putting each layer's input into its attention."""
    states = layer_states(model.encoder, model.src_embedding(src))
    layers = zip(model.encoder.layers, states, strict=False)
    return torch.cat([layer.self_attention(x, x, x)[1] for layer, x in layers])


@torch.no_grad()
def test_the_weights_are_those_of_every_layer(model, words):
    src, _ = numbered(SENTENCES[0], words)
    found = encoder_attention(model, src)
    assert torch.allclose(found[0], by_hand(model, src), atol=1e-6)


@torch.no_grad()
def test_the_row_is_the_pronouns_and_each_column_a_word(model, words):
    for one, found in zip(
        SENTENCES, from_the_pronoun(model, SENTENCES, words), strict=True
    ):
        weights = by_hand(model, numbered(one, words)[0])
        expected = weights[:, :, one.pronoun + 1, 1:-1]  # without <sos> and <eos>
        assert found.shape == (3, 4, len(one.pair.src))
        assert torch.allclose(found, expected, atol=1e-6)


@torch.no_grad()
def test_the_row_of_the_translation_is_the_one_that_writes_it(model, words):
    for one, found in zip(
        SENTENCES, from_its_translation(model, SENTENCES, words), strict=True
    ):
        src, tgt = numbered(one, words)
        before = tgt[:, : one.tgt_pronoun + 1]  # <sos> and the words before it
        weights = torch.cat(model.decode(before, model.encode(src), src)[1])
        assert torch.allclose(found, weights[:, :, -1, 1:-1], atol=1e-6)


def test_the_first_column_is_the_pronouns_own_noun():
    rows = [torch.arange(40.0).expand(2, 4, 40) for _ in SENTENCES]
    found = on_the_nouns(rows, SENTENCES)
    assert found.shape == (60, 2, 4, 2)
    for one, weights in zip(SENTENCES, found, strict=True):
        assert (weights == torch.tensor([one.noun, one.other])).all()
    found = on_the_nouns(rows, SENTENCES, with_article=True)
    for one, weights in zip(SENTENCES, found, strict=True):
        both = torch.tensor([2 * one.noun - 1, 2 * one.other - 1])
        assert (weights == both).all()
        assert one.pair.src[one.noun - 1] in ("der", "die", "dem")


def test_the_share_of_each_head():
    weights = torch.tensor(
        [[[[0.2, 0.1], [0.0, 0.3]]], [[[0.6, 0.4], [0.2, 0.2]]]]
    )  # (n = 2, layers = 1, h = 2, 2)
    weights = torch.cat([weights, weights.flip(-1)])
    assert share_on_noun(weights).tolist() == [[0.5, 0.25]]
    assert share_on_noun(weights[:2]).tolist() == [[1.0, 0.0]]


@torch.no_grad()
def test_the_pronoun_is_the_likeliest_after_the_right_words(model, words):
    found = written_pronouns(model, SENTENCES, words)
    assert len(set(found)) > 1
    for one, word in zip(SENTENCES, found, strict=True):
        src, tgt = numbered(one, words)
        logits = model(src, tgt[:, : one.tgt_pronoun + 1])[0, -1]
        ids = {name: words[1].words.index(name) for name in ("he", "she", "it")}
        assert word == max(ids, key=lambda name: logits[ids[name]])


def test_the_share_of_right_pronouns():
    right = [one.pair.tgt[one.tgt_pronoun] for one in SENTENCES]
    assert share_right(right, SENTENCES) == 1.0
    assert share_right(["they", *right[1:]], SENTENCES) == pytest.approx(59 / 60)


@torch.no_grad()
def test_a_silent_head_says_nothing_and_the_model_stays(model, words):
    src, _ = numbered(SENTENCES[0], words)
    before = model.encode(src)
    silent = silence_in_encoder(model, 1, [2])
    assert torch.equal(model.encode(src), before)
    assert not torch.allclose(silent.encode(src), before)
    x = torch.randn(1, 5, 128)
    attention = silent.encoder.layers[1].self_attention
    moved = x + torch.randn_like(x)
    others = [attention.w_v.weight[:64], attention.w_v.weight[96:]]
    for weight in others:  # heads 0, 1 and 3 have no values: only head 2 contributes
        weight.zero_()
    attention.w_v.bias.zero_()
    assert torch.equal(attention(x, x, x)[0], attention(moved, moved, moved)[0])

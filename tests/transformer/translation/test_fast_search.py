"""Check that the fast search and the plain searches find the same."""

import pytest
import torch

from transformer.config import TransformerConfig
from transformer.data import make_grammar_corpus
from transformer.model import Transformer
from transformer.shipped_model import load_shipped_model
from transformer.translation import fast as module
from transformer.translation.beams import EOS_ID, SearchSettings
from transformer.translation.evaluation import translate_pairs
from transformer.translation.fast import fast_search, fast_translation
from transformer.translation.fast_attention import VECTOR
from transformer.translation.inference import beam_search, greedy_decode

SIZES = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 24, "max_len": 40}
VARIANTS = [
    {},
    {"norm_first": True, "positions": "sinusoidal", "tie": "target"},
    {"feed_forward": "conv", "positions": "none", "n_heads": 4},
]


def make_model(seed: int = 0, end: float = 0.0, **variant) -> Transformer:
    """Make a model with random weights. `end` makes `<eos>` more or less likely."""
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig(30, 25, **{**SIZES, **variant}))
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)  # otherwise, all words would be about as likely
        model.projection.bias[EOS_ID] += end
    return model


def make_sources(rows: int = 12, longest: int = 9) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    src = torch.randint(4, 30, (rows, longest), generator=generator)
    lengths = torch.randint(2, longest + 1, (rows, 1), generator=generator)
    return src.masked_fill(torch.arange(longest) >= lengths, 1)


@pytest.mark.parametrize("variant", VARIANTS, ids=["post", "pre", "conv"])
@pytest.mark.parametrize("seed", range(4))
def test_beam_one_is_greedy(variant, seed):
    model, src = make_model(seed, 3.0, **variant), make_sources()
    expected = greedy_decode(model, src, 20)
    found, _ = fast_search(model, src, SearchSettings(1, max_len=20))
    assert torch.equal(found[:, 0], expected)


@pytest.mark.integration
@pytest.mark.parametrize("variant", VARIANTS, ids=["post", "pre", "conv"])
@pytest.mark.parametrize("leaving", [0.0, 0.15, 2.0])
@pytest.mark.parametrize("settings", [(2, 0.0), (5, 0.6), (3, 1.0)])
def test_beams_are_those_of_the_plain_search(variant, leaving, settings, monkeypatch):
    monkeypatch.setattr(module, "LEAVING", leaving)
    search = SearchSettings(*settings, max_len=20)
    for seed in range(3):
        model, src = make_model(seed, 3.0, **variant), make_sources()
        expected, score = beam_search(model, src, search)
        found, found_score = fast_search(model, src, search)
        torch.testing.assert_close(found_score, score, atol=1e-4, rtol=1e-4)
        assert torch.equal(found, expected)


def test_sentences_do_leave_the_batch(monkeypatch):
    sizes = []
    write_word = module._Search.write_word

    def counted(self):
        sizes.append(self.beams.tgt.size(0))
        write_word(self)

    monkeypatch.setattr(module._Search, "write_word", counted)
    fast_search(make_model(0, 3.0), make_sources(), SearchSettings(2, max_len=20))
    assert sizes[0] == 12 and sizes[-1] < 12 and sizes == sorted(sizes, reverse=True)


def test_a_sentence_that_never_ends_is_cut():
    model, src = make_model(0, -1e9), make_sources(3)
    for k in (1, 3):
        found = fast_translation(model, src, SearchSettings(k, max_len=6))
        assert found.shape == (3, 7)
        assert not (found == EOS_ID).any()


def test_one_word_at_most():
    src = make_sources(4)
    found, _ = fast_search(make_model(), src, SearchSettings(3, max_len=1))
    assert found.shape == (4, 3, 2)


def test_neighbours_and_padding_change_nothing():
    model, src = make_model(2, 3.0), make_sources()
    together = fast_translation(model, src, SearchSettings(4, max_len=15))
    for row, words in zip(together, src, strict=True):
        alone = fast_translation(
            model, words[words != 1].unsqueeze(0), SearchSettings(4, max_len=15)
        )[0]
        length = alone.size(0)
        assert torch.equal(row[:length], alone)
        assert (row[length:] == 1).all()


def test_more_beams_than_words():
    model, src = make_model(0, 3.0), make_sources(3)
    settings = SearchSettings(30, max_len=4)
    expected, _ = beam_search(model, src, settings)
    found, _ = fast_search(model, src, settings)
    assert torch.equal(found[:, 0], expected[:, 0])


def test_the_model_keeps_its_mode():
    model = make_model().train()
    fast_translation(model, make_sources(2), SearchSettings(2, max_len=3))
    assert model.training


@pytest.mark.integration
def test_a_trained_model_translates_alike():
    shipped = load_shipped_model()
    pairs = make_grammar_corpus().test[:60]
    for settings in (SearchSettings(1), SearchSettings(5)):
        plain, fast = (
            translate_pairs(shipped.model, pairs, shipped.words, settings, 7, **how)
            for how in ({}, {"search": fast_translation})
        )
        assert plain == fast


def test_sources_are_read_a_few_at_a_time(monkeypatch):
    monkeypatch.setattr(module, "READ_TOGETHER", 5)
    model, widths = make_model(1, 3.0), []
    src = make_sources(12).tolist()
    src = torch.tensor(sorted(src, key=lambda row: -row.count(1)))
    encode = model.encode

    def watched(part):
        widths.append(tuple(part.shape))
        return encode(part)

    expected = greedy_decode(model, src, 20)
    monkeypatch.setattr(model, "encode", watched)
    found = fast_translation(model, src, SearchSettings(1, max_len=20))
    assert torch.equal(found, expected)
    assert [rows for rows, _ in widths] == [5, 5, 2]
    assert widths[0][1] < widths[2][1] == 9


@pytest.mark.parametrize("beams", [1, 3])
def test_long_sentences_and_a_source_without_a_word(beams):
    model, settings = make_model(3).double(), SearchSettings(beams, 0.6, max_len=39)
    src = make_sources(6, longest=30)
    for empty in (False, True):
        src[2] = src[2].masked_fill(torch.tensor(empty), 1)
        expected, score = beam_search(model, src, settings)
        found, found_score = fast_search(model, src, settings)
        assert torch.equal(found, expected) and found.size(-1) > 2 * VECTOR
        torch.testing.assert_close(found_score, score)


@pytest.mark.parametrize("seed", [1, 4, 5])
def test_padding_in_mid_sentence_is_not_looked_at(seed):
    model, src = make_model(seed, 4.0), make_sources()
    with torch.no_grad():
        model.projection.bias[1] += 6.0
    expected = greedy_decode(model, src, 20)
    unended = (expected == EOS_ID).cumsum(dim=1) == 0
    assert ((expected == 1) & unended).any() and ((expected > 3) & unended).any()
    one, three = (SearchSettings(k, max_len=20) for k in (1, 3))
    assert torch.equal(fast_translation(model, src, one), expected)
    beams, _ = beam_search(model, src, three)
    assert torch.equal(fast_search(model, src, three)[0], beams)

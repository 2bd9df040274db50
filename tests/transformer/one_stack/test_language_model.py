"""A model with only a decoder sees neither future nor padding, and writes on."""

import pytest
import torch

from transformer.config import TransformerConfig
from transformer.data import EOS_ID, PAD_ID, make_grammar_corpus
from transformer.decoder import DecoderLayer
from transformer.encoder import EncoderLayer
from transformer.experiments.fitting import FitSettings, fit
from transformer.experiments.influence import influence
from transformer.masks import target_mask
from transformer.multi_head import count_parameters
from transformer.one_stack.language_model import LanguageModel
from transformer.one_stack.sentences import english_sentences, write_on

SIZES = {"d_model": 16, "n_heads": 2, "n_layers": 2, "d_ff": 24, "dropout": 0.0}
IDS = torch.tensor([[2, 5, 6, 7, 3], [2, 8, 3, PAD_ID, PAD_ID]])


def make_model() -> LanguageModel:
    torch.manual_seed(0)
    return LanguageModel(TransformerConfig(9, 9, **SIZES)).eval()


def test_what_comes_later_reaches_nothing() -> None:
    model = make_model()
    mask = target_mask(IDS[:1], PAD_ID)
    x = model.embedding(IDS[:1])[0].detach()
    reach = influence(lambda y: model.projection(model.stack(y, mask)), x)
    assert (reach.triu(1) == 0).all() and (reach.tril() > 0).sum() == 15


def test_padding_changes_no_word() -> None:
    model = make_model()
    longer = torch.cat([IDS, torch.full((2, 3), PAD_ID)], dim=1)
    assert torch.allclose(
        model(longer)[:, :5][IDS != PAD_ID], model(IDS)[IDS != PAD_ID]
    )
    assert torch.allclose(model.loss(longer), model.loss(IDS))


def test_the_loss_is_the_mean_over_the_words() -> None:
    model = make_model()
    each = [model.loss(IDS[:1]), model.loss(IDS[1:, :3])]
    assert torch.allclose(model.loss(IDS), (4 * each[0] + 2 * each[1]) / 6)


def test_a_decoder_layer_without_a_source_has_the_parts_of_an_encoder_layer() -> None:
    config = TransformerConfig(9, 9, **SIZES)
    layer = DecoderLayer(config)
    del layer.cross_attention, layer.add_norm2
    assert count_parameters(layer) == count_parameters(EncoderLayer(config))


def test_no_sentence_is_both_learnt_and_tested() -> None:
    sentences = english_sentences(make_grammar_corpus())
    known = {tuple(row) for row in sentences.train.tolist()}
    assert len(known) == len(sentences.train)
    width = sentences.train.size(1)
    padded = [row + [PAD_ID] * (width - len(row)) for row in sentences.test.tolist()]
    assert known.isdisjoint(map(tuple, padded))
    assert sentences.spell(sentences.test[0])[-1] in ".?"


@pytest.mark.integration
def test_it_learns_and_writes_sentences_on() -> None:
    sentences = english_sentences(make_grammar_corpus())
    size = len(sentences.vocabulary)
    torch.manual_seed(0)
    model = LanguageModel(TransformerConfig(size, size, **SIZES))
    losses = fit(
        model,
        lambda rows: model.loss(sentences.train[rows]),
        len(sentences.train),
        FitSettings(steps=80, batch_size=32),
    )
    assert sum(losses[-10:]) < 0.8 * sum(losses[:10])
    starts = sentences.test[:4, :3]
    written = write_on(model, starts, max_len=30)
    assert torch.equal(written[:, :3], starts)
    for row in written.tolist():
        end = row.index(EOS_ID) if EOS_ID in row else len(row)
        assert PAD_ID not in row[:end] and set(row[end + 1 :]) <= {PAD_ID}


def test_writing_on_stops_when_all_have_ended() -> None:
    table = torch.full((9, 9), -9.0)
    table[5, 6] = table[6, EOS_ID] = table[7, EOS_ID] = 0.0
    written = write_on(lambda ids: table[ids], torch.tensor([[2, 5], [2, 7]]))
    assert written.tolist() == [[2, 5, 6, EOS_ID], [2, 7, EOS_ID, PAD_ID]]

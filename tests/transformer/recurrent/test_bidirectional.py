"""The properties of the recurrent translators for a whole corpus."""

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.recurrent.bidirectional import BidirectionalTranslator, last_states
from transformer.recurrent.config import RecurrentConfig
from transformer.recurrent.seq2seq import run_packed
from transformer.translation.beams import SearchSettings
from transformer.translation.inference import beam_search, greedy_decode

PAD, SOS, EOS = 1, 2, 3
SRC = torch.tensor([[5, 6, 7, 8, 9], [9, 8, 5, PAD, PAD], [6, PAD, PAD, PAD, PAD]])
TGT = torch.tensor([[SOS, 9, 8, 7], [SOS, 5, 8, PAD], [SOS, 6, PAD, PAD]])
KINDS = pytest.mark.parametrize("attention", [True, False])


def make_model(attention: bool = True, **changes) -> BidirectionalTranslator:
    torch.manual_seed(0)
    sizes = {"d_model": 6, "d_h": 8, "dropout": 0.0, **changes}
    return BidirectionalTranslator(RecurrentConfig(10, 11, attention, **sizes))


def by_equations(model: BidirectionalTranslator, src: Tensor, tgt: Tensor) -> Tensor:
    """Compute the logits (t, words) of one sentence from the equations, word by word.

    The cell's equations are those of Cho et al. (2014), as in chapter 01.
    """
    h = model.encode(src[None])[0]
    s = torch.tanh(model.first_state(h[0, model.config.d_h :]))
    look, cell, logits = model.attention, model.cell, []
    w_r, w_z, w_n = cell.weight_ih.chunk(3)
    u_r, u_z, u_n = cell.weight_hh.chunk(3)
    b_r, b_z, b_n = cell.bias_ih.chunk(3)
    a_r, a_z, a_n = cell.bias_hh.chunk(3)
    for y in model.tgt_embedding(tgt):
        e = torch.stack(
            [
                look.v.weight[0]
                @ torch.tanh(look.w_state.weight @ s + look.w_memory.weight @ h_j)
                for h_j in h
            ]
        )
        c = e.exp() @ h / e.exp().sum()
        x = torch.cat([y, c])
        r = torch.sigmoid(w_r @ x + b_r + u_r @ s + a_r)
        z = torch.sigmoid(w_z @ x + b_z + u_z @ s + a_z)
        n = torch.tanh(w_n @ x + b_n + r * (u_n @ s + a_n))
        s = z * s + (1 - z) * n
        t = model.before_output(torch.cat([s, c, y]))
        logits.append(model.projection(torch.maximum(t[0::2], t[1::2])))
    return torch.stack(logits)


def test_it_computes_bahdanaus_equations():
    model = make_model()
    found = model(SRC[:1], TGT[:1])[0]
    assert torch.allclose(found, by_equations(model, SRC[0], TGT[0]), atol=1e-5)


@KINDS
def test_a_batch_equals_its_sentences_alone_without_padding(attention):
    model = make_model(attention)
    logits, [weights] = model.decode(TGT, model.encode(SRC), SRC)
    assert logits.shape == (3, 4, 11) and weights.shape == (3, 1, 4, 5)
    for row, length in enumerate([5, 3, 1]):
        src = SRC[row : row + 1, :length]
        alone, [looks] = model.decode(TGT[row : row + 1], model.encode(src), src)
        assert torch.allclose(logits[row], alone[0], atol=1e-6)
        assert torch.allclose(weights[row, 0, :, :length], looks[0, 0], atol=1e-6)
        assert (weights[row, 0, :, length:] == 0).all()


def test_weights_sum_to_one_with_attention_and_are_nothing_without():
    for attention, total in ((True, 1.0), (False, 0.0)):
        model = make_model(attention)
        _, [weights] = model.decode(TGT, model.encode(SRC), SRC)
        assert torch.allclose(weights.sum(-1), torch.full((3, 1, 4), total))


@KINDS
def test_logits_depend_on_no_later_target_word(attention):
    model = make_model(attention)
    changed = TGT.clone()
    changed[:, 2:] = 4
    before, after = model(SRC, TGT), model(SRC, changed)
    assert torch.equal(before[:, :2], after[:, :2])
    assert not torch.allclose(before[:, 2:], after[:, 2:])


@KINDS
def test_a_gradient_reaches_every_parameter(attention):
    model = make_model(attention)
    F.cross_entropy(model(SRC, TGT).flatten(0, 1), TGT.flatten()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None and parameter.grad.abs().sum() > 0, name


def test_the_last_states_are_those_that_the_layer_ends_in():
    torch.manual_seed(1)
    layer = nn.GRU(3, 4, batch_first=True, bidirectional=True)
    mask = SRC != PAD
    states, final = run_packed(layer, torch.randn(3, 5, 3), mask)
    expected = torch.cat([final[0], final[1]], dim=-1)
    assert torch.equal(last_states(states, mask), expected)


def test_without_attention_the_decoder_sees_the_last_states_alone():
    model = make_model(attention=False)
    memory = model.encode(SRC)
    within = memory.clone()
    within[0, 1:4] = 7.0
    logits = model.decode(TGT, memory, SRC)[0]
    assert torch.equal(model.decode(TGT, within, SRC)[0], logits)
    looking = make_model()
    logits = looking.decode(TGT, memory, SRC)[0]
    assert not torch.allclose(looking.decode(TGT, within, SRC)[0], logits)


def test_the_output_sees_the_word_before_beside_state_and_context():
    """If a cell ignores its input, the output still depends on the last word."""
    model = make_model()
    nn.init.zeros_(model.cell.weight_ih)
    changed = TGT.clone()
    changed[:, 1] = 4
    before, after = model(SRC, TGT), model(SRC, changed)
    assert not torch.allclose(before[:, 1], after[:, 1])
    assert torch.equal(before[:, 2:], after[:, 2:])


@KINDS
def test_dropout_is_off_in_evaluation(attention):
    model = make_model(attention, dropout=0.5)
    assert not torch.equal(model(SRC, TGT), model(SRC, TGT))
    model.eval()
    assert torch.equal(model(SRC, TGT), model(SRC, TGT))


@KINDS
def test_it_is_searched_like_a_transformer(attention):
    model = make_model(attention)
    greedy = greedy_decode(model, SRC, 6)
    assert greedy[0, 0] == SOS
    logits = model(SRC, greedy)
    for row, t in ((0, 1), (1, 2)):
        if (greedy[row, :t] != EOS).all():
            assert greedy[row, t] == logits[row, t - 1].argmax()
    one, _ = beam_search(model, SRC, SearchSettings(1, max_len=6))
    assert torch.equal(one[:, 0, : greedy.size(1)], greedy)
    beams, score = beam_search(model, SRC, SearchSettings(3, max_len=6))
    assert beams.shape[:2] == (3, 3)
    assert (score[:, :-1] >= score[:, 1:]).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_h": 0}, "d_h must be at least 1: 0"),
        ({"dropout": 1.0}, "dropout must be"),
        ({"pad_id": 10}, "pad_id must be a word"),
    ],
)
def test_what_cannot_be_built_is_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        RecurrentConfig(10, 11, **changes)

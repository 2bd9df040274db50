"""The properties of the recurrent translators and the classifier."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from transformer.recurrent.attention import (
    AdditiveAttention,
    AttentionSeq2Seq,
    BiLSTMAttention,
    GeneralAttention,
    concat_final_states,
    shift_right,
)
from transformer.recurrent.seq2seq import RecurrentTranslator, Seq2Seq, run_packed

PAD, SOS, EOS = 1, 2, 3
WIDTH = 8
SRC = torch.tensor([[5, 6, 7, 8, 9], [9, 8, 5, PAD, PAD], [6, PAD, PAD, PAD, PAD]])
TGT = torch.tensor([[9, 8, 7, EOS], [5, 8, EOS, PAD], [6, EOS, PAD, PAD]])


def make_translator(kind: str) -> RecurrentTranslator:
    torch.manual_seed(0)
    if kind == "none":
        return Seq2Seq(10, 11, WIDTH)
    attention = {
        "additive": lambda: AdditiveAttention(WIDTH, WIDTH, 6),
        "general": lambda: GeneralAttention(WIDTH, WIDTH),
    }[kind]()
    return AttentionSeq2Seq(10, 11, attention, WIDTH)


KINDS = pytest.mark.parametrize("kind", ["none", "additive", "general"])
ATTENTIVE = pytest.mark.parametrize("kind", ["additive", "general"])


# concat_final_states and packing


@pytest.mark.parametrize("layers", [1, 2])
def test_concat_final_states_meets_the_outputs_at_both_ends(layers):
    torch.manual_seed(4)
    lstm = nn.LSTM(3, 4, layers, batch_first=True, bidirectional=True)
    states, (h_n, _) = lstm(torch.randn(2, 6, 3))
    expected = torch.cat([states[:, -1, :4], states[:, 0, 4:]], dim=-1)
    assert torch.allclose(concat_final_states(h_n), expected, atol=1e-7)


def test_concat_final_states_differs_from_the_view_that_mixes_the_batch():
    h_n = torch.randn(2, 3, 4)
    assert not torch.equal(concat_final_states(h_n), h_n.view(-1, 8))


@pytest.mark.parametrize("shape", [(3, 2, 4), (2, 4), (0, 2, 4)])
def test_concat_final_states_names_the_wrong_shape(shape):
    with pytest.raises(ValueError, match="bidirectional"):
        concat_final_states(torch.zeros(shape))


@pytest.mark.parametrize("rnn", [nn.GRU, nn.LSTM])
def test_packing_equals_each_sentence_alone(rnn):
    torch.manual_seed(5)
    layer = rnn(3, 4, batch_first=True, bidirectional=True)
    vectors, mask = torch.randn(3, 5, 3), SRC != PAD
    states, final = run_packed(layer, vectors, mask)
    assert (states[~mask] == 0).all()
    for row, length in enumerate([5, 3, 1]):
        alone, last = layer(vectors[row : row + 1, :length])
        last = last[0] if rnn is nn.LSTM else last
        assert torch.allclose(states[row, :length], alone[0], atol=1e-6)
        assert torch.allclose(final[:, row], last[:, 0], atol=1e-6)


@pytest.mark.parametrize(
    ("src", "message"),
    [
        ([[5, 6], [PAD, PAD]], "none in sentence 1"),
        ([[5, 6, 7], [5, PAD, 6]], "after padding in sentence 1"),
        ([[PAD, 6], [5, 6]], "after padding in sentence 0"),
    ],
)
def test_bad_padding_is_refused(src, message):
    for model in (make_translator("additive").encode, BiLSTMAttention(9, 2, 3, 4)):
        with pytest.raises(ValueError, match=message):
            model(torch.tensor(src))


# the translators


@KINDS
def test_a_batch_equals_its_sentences_alone_without_padding(kind):
    model = make_translator(kind).eval()
    logits, weights = model(SRC, shift_right(TGT, SOS))
    assert logits.shape == (3, 4, 11) and weights.shape == (3, 4, 5)
    for row, length in enumerate([5, 3, 1]):
        alone = model(SRC[row : row + 1, :length], shift_right(TGT[row : row + 1], SOS))
        assert torch.allclose(logits[row], alone[0][0], atol=1e-6)
        assert torch.allclose(weights[row, :, :length], alone[1][0], atol=1e-6)
        assert (weights[row, :, length:] == 0).all()


@KINDS
def test_logits_depend_on_no_later_target_word(kind):
    model = make_translator(kind)
    changed = TGT.clone()
    changed[:, 2:] = 4
    before, _ = model(SRC, TGT)
    after, _ = model(SRC, changed)
    assert torch.equal(before[:, :2], after[:, :2])
    assert not torch.allclose(before[:, 2:], after[:, 2:])


@KINDS
def test_a_gradient_reaches_every_parameter(kind):
    model = make_translator(kind)
    logits, _ = model(SRC, shift_right(TGT, SOS))
    F.cross_entropy(logits.flatten(0, 1), TGT.flatten(), ignore_index=PAD).backward()
    without = [name for name, p in model.named_parameters() if not p.grad.any()]
    assert without == []


@ATTENTIVE
def test_the_previous_state_asks(kind):
    """With equal states and memories, the weights cannot depend on the current word."""
    model = make_translator(kind)
    memory, state, mask = model.encode(SRC)
    one = model.step(torch.tensor([4, 4, 4]), state, memory, mask)
    other = model.step(torch.tensor([9, 9, 9]), state, memory, mask)
    assert torch.equal(one.weights, other.weights)
    assert not torch.allclose(one.state, other.state)
    expected = model.attention(state, memory, mask)[1]
    assert torch.equal(one.weights, expected)


@ATTENTIVE
def test_the_context_reaches_the_cell_and_the_output(kind):
    model = make_translator(kind)
    memory, state, mask = model.encode(SRC)
    token = torch.tensor([4, 4, 4])
    context, _ = model.attention(state, memory, mask)
    fed = torch.cat([model.tgt_embedding(token), context], dim=-1)
    expected_state = model.decoder(fed, state)
    expected = model.output(torch.cat([expected_state, context], dim=-1))
    step = model.step(token, state, memory, mask)
    assert torch.allclose(step.state, expected_state, atol=1e-6)
    assert torch.allclose(step.logits, expected, atol=1e-6)


def test_without_attention_the_decoder_sees_the_last_state_alone():
    model = make_translator("none")
    memory, state, mask = model.encode(SRC)
    token = torch.tensor([4, 4, 4])
    one = model.step(token, state, memory, mask)
    other = model.step(token, state, torch.randn_like(memory), mask)
    assert torch.equal(one.logits, other.logits)
    assert (one.weights == 0).all()


@KINDS
def test_greedy_decoding_equals_teacher_forcing_on_its_own_words(kind):
    model = make_translator(kind).eval()
    ids, weights = model.greedy_decode(SRC, SOS, EOS, max_len=6)
    logits, forced = model(SRC, shift_right(ids, SOS))
    alive = (ids == EOS).cumsum(dim=1) - (ids == EOS).long() == 0
    assert torch.equal(logits.argmax(dim=-1)[alive], ids[alive])
    assert (ids[~alive] == PAD).all()
    assert torch.allclose(weights[alive], forced[alive], atol=1e-6)


def test_greedy_decoding_stops_at_the_end_token_of_each_sentence():
    model = make_translator("none").eval()
    with torch.no_grad():
        model.output.bias[EOS] = 1e3
    assert model.greedy_decode(SRC, SOS, EOS, max_len=6)[0].tolist() == [[EOS]] * 3
    with torch.no_grad():
        model.output.bias[EOS] = -1e3
    assert model.greedy_decode(SRC, SOS, EOS, max_len=6)[0].shape == (3, 6)


def test_a_sentence_that_ended_is_padded_while_others_go_on():
    model = make_translator("additive").eval()
    free, _ = model.greedy_decode(SRC, SOS, -1, max_len=4)  # no word ends a sentence
    firsts = free[:, 0].tolist()
    assert len(set(firsts)) > 1, "the seed must give different first words"
    ids, _ = model.greedy_decode(SRC, SOS, firsts[0], max_len=4)
    ended = torch.tensor([first == firsts[0] for first in firsts])
    assert (ids[ended, 1:] == PAD).all()
    assert (ids[~ended, 1] != PAD).all()


def test_greedy_decoding_needs_room_for_a_word():
    with pytest.raises(ValueError, match="max_len of at least 1, found 0"):
        make_translator("none").greedy_decode(SRC, SOS, EOS, max_len=0)


# the classifier


def test_the_classifier_equals_three_batches_of_one():
    torch.manual_seed(6)
    model = BiLSTMAttention(10, 4, 5, 6).eval()
    logits, weights = model(SRC)
    assert logits.shape == (3, 4) and weights.shape == (3, 5)
    for row, length in enumerate([5, 3, 1]):
        alone, attended = model(SRC[row : row + 1, :length])
        assert torch.allclose(logits[row], alone[0], atol=1e-6)
        assert torch.allclose(weights[row, :length], attended[0], atol=1e-6)
        assert (weights[row, length:] == 0).all()


def test_more_padding_changes_nothing_in_the_classifier():
    torch.manual_seed(7)
    model = BiLSTMAttention(10, 4, 5, 6).eval()
    logits, weights = model(SRC)
    longer, wider = model(F.pad(SRC, (0, 3), value=PAD))
    assert torch.allclose(logits, longer, atol=1e-6)
    assert torch.allclose(F.pad(weights, (0, 3)), wider, atol=1e-6)


def test_the_classifier_by_hand():
    """The test computes one sentence without padding with PyTorch's own operations."""
    torch.manual_seed(8)
    model = BiLSTMAttention(10, 4, 5, 6).eval()
    ids = torch.tensor([[5, 9, 7, 4]])
    states, _ = model.lstm(model.embedding(ids))
    query = torch.cat([states[:, -1, :6], states[:, 0, 6:]], dim=-1).unsqueeze(1)
    context = F.scaled_dot_product_attention(query, states, states, scale=1.0)
    assert torch.allclose(model(ids)[0], model.output(context.squeeze(1)), atol=1e-6)


def test_a_gradient_reaches_every_parameter_of_the_classifier():
    torch.manual_seed(9)
    model = BiLSTMAttention(10, 4, 5, 6)
    F.cross_entropy(model(SRC)[0], torch.tensor([0, 3, 2])).backward()
    assert [n for n, p in model.named_parameters() if not p.grad.any()] == []

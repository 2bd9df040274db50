"""Properties of the building blocks and of the whole model."""

import math
from dataclasses import FrozenInstanceError

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch.utils.flop_counter import FlopCounterMode

from transformer.analysis.attention import softmax_entropy
from transformer.analysis.embeddings import one_hot_embedding
from transformer.analysis.masks import mask_then_renormalise
from transformer.analysis.positional import offset_matrix
from transformer.attention import masked_softmax
from transformer.config import TransformerConfig
from transformer.data.word_counts import build_vocabulary
from transformer.embeddings import TokenEmbedding, tie_weights
from transformer.masks import causal_mask, padding_mask, target_mask
from transformer.model import Transformer
from transformer.multi_head import (
    MultiHeadAttention,
    count_parameters,
    merge_heads,
    split_heads,
)
from transformer.positional import (
    LearnedPositionalEncoding,
    SinusoidalPositionalEncoding,
    sinusoidal_encoding,
)

SRC = torch.tensor([[5, 6, 7, 8, 9], [5, 6, 7, 1, 1]])
TGT = torch.tensor([[2, 6, 7, 8], [2, 6, 1, 1]])
VARIANTS = [
    {},
    {"positions": "sinusoidal"},
    {"positions": "none"},
    {"feed_forward": "conv"},
    {"norm_first": True},
    {"tie": "target"},
    {"tie": "all"},
]


def small(**changes) -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": 12, "n_heads": 3, "n_layers": 2, "d_ff": 20, "max_len": 10}
    return Transformer(TransformerConfig(31, 31, **{**sizes, **changes}))


def test_the_tutorial_has_9038341_parameters():
    assert count_parameters(Transformer(TransformerConfig.tutorial())) == 9_038_341


def test_the_papers_base_model_has_63_million_parameters():
    """Table 3 says 65 million, but not how the paper counts them.

    The paper's sizes give 44.1 million in the layers, including biases. With a shared
    vocabulary of "about 37000", the only matrix and its bias have 19.0 million. For 65
    million, the vocabulary would need 40,665 rows. Without tying, the model would have
    101 million.
    """
    with torch.device("meta"):
        model = Transformer(TransformerConfig.base())
    d_model, d_ff, words = 512, 2048, 37_000
    attention = 4 * (d_model + 1) * d_model
    feed_forward = (d_model + 1) * d_ff + (d_ff + 1) * d_model
    norm = 2 * d_model
    encoder = 6 * (attention + feed_forward + 2 * norm)
    decoder = 6 * (2 * attention + feed_forward + 3 * norm)
    assert count_parameters(model.encoder) == encoder == 18_914_304
    assert count_parameters(model.decoder) == decoder == 25_224_192
    shared = words * d_model + words
    assert count_parameters(model) == encoder + decoder + shared == 63_119_496
    missing = 65_000_000 - count_parameters(model)
    assert words + missing // (d_model + 1) == 40_665
    assert round((count_parameters(model) + 2 * words * d_model) / 1e6) == 101


@pytest.mark.integration
def test_a_step_of_the_base_model_takes_six_operations_a_parameter_and_token():
    """PyTorch counts the operations of all matrix products, including attention's."""
    n, config = 25, TransformerConfig.base()
    model = Transformer(config)
    sides = torch.full((2, 2, n), 9)
    with FlopCounterMode(display=False) as counted:
        model(*sides).sum().backward()
    attention = 3 * 3 * config.n_layers * 2 * 2 * n * config.d_model
    expected = (6 * count_parameters(model) + attention) * 2 * n
    assert counted.get_total_flops() == pytest.approx(expected, rel=0.003)


@pytest.mark.parametrize("variant", VARIANTS)
def test_gradients_reach_every_parameter(variant):
    model = small(**variant, dropout=0.0)
    loss = F.cross_entropy(model(SRC, TGT).transpose(1, 2), TGT)
    loss.backward()
    missing = [n for n, p in model.named_parameters() if p.grad is None]
    assert missing == []
    silent = [n for n, p in model.named_parameters() if not p.grad.any()]
    assert all("w_k.bias" in name for name in silent)  # softmax ignores a shift


@pytest.mark.parametrize("variant", VARIANTS)
def test_padding_and_batch_mates_change_nothing(variant):
    model = small(**variant).eval()
    together = model(SRC, TGT)
    alone = model(SRC[1:, :3], TGT[1:, :2])
    torch.testing.assert_close(together[1:, :2], alone, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("variant", VARIANTS)
def test_no_logit_depends_on_a_later_word(variant):
    model = small(**variant).eval()
    changed = TGT.clone()
    changed[:, 2:] = 20
    before, after = model(SRC, TGT), model(SRC, changed)
    torch.testing.assert_close(before[:, :2], after[:, :2])
    assert not torch.allclose(before[0, 2:], after[0, 2:])


def test_without_positions_the_encoder_commutes_with_a_permutation():
    order = torch.tensor([3, 1, 4, 0, 2])
    model = small(positions="none").eval()
    moved = model.encode(SRC[:1, order])
    torch.testing.assert_close(moved, model.encode(SRC[:1])[:, order])
    model = small(positions="learned").eval()
    moved = model.encode(SRC[:1, order])
    assert not torch.allclose(moved, model.encode(SRC[:1])[:, order], atol=1e-3)


def test_eval_is_deterministic_and_training_is_not():
    model = small(dropout=0.5)
    assert not torch.equal(model(SRC, TGT), model(SRC, TGT))
    model.eval()
    assert torch.equal(model(SRC, TGT), model(SRC, TGT))


def test_tied_weights_are_one_parameter():
    free = count_parameters(small())
    assert count_parameters(small(tie="target")) == free - 31 * 12
    model = small(tie="all")
    assert count_parameters(model) == free - 2 * 31 * 12
    assert model.projection.weight is model.src_embedding.tokens.table.weight
    assert model.projection.weight is model.tgt_embedding.tokens.table.weight


@pytest.mark.parametrize(
    ("positions", "d_model", "message"),
    [("sinusoidal", 9, "even d_model: found 9"), ("learned", 10, "10 is not a mult")],
)
def test_impossible_sizes_are_refused(positions, d_model, message):
    with pytest.raises(ValueError, match=message):
        TransformerConfig(9, 9, d_model=d_model, n_heads=3, positions=positions)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"dropout": 1.0}, "dropout must be at least 0 and below 1: 1.0"),
        ({"n_layers": 0}, "n_layers must be an integer of at least 1: 0"),
        ({"tie": "all", "src_vocab_size": 8}, "found 8 and 9 words"),
        ({"positions": "rotary"}, "learned, sinusoidal, none: 'rotary'"),
        ({"pad_id": 9}, r"\(0 to 8\): 9"),
    ],
)
def test_a_configuration_names_the_wrong_value(change, message):
    with pytest.raises(ValueError, match=message):
        TransformerConfig(**{"src_vocab_size": 9, "tgt_vocab_size": 9, **change})


def test_a_configuration_is_frozen():
    with pytest.raises(FrozenInstanceError):
        TransformerConfig(9, 9).d_model = 8


@pytest.mark.parametrize(
    ("src", "message"),
    [
        (torch.tensor([[5, 31]]), "31 is no word .* 0 to 30"),
        (torch.tensor([[5, -1]]), "-1 is no word"),
        (torch.tensor([5, 6]), r"\(batch, length\).* \(2,\)"),
        (torch.tensor([[5.0]]), "torch.float32"),
        (torch.empty(1, 0, dtype=torch.long), "has no token"),
        (torch.full((1, 11), 5), "11 tokens, but there are positions for 10"),
    ],
)
def test_wrong_ids_are_refused(src, message):
    with pytest.raises(ValueError, match=message):
        small().encode(src)


@given(
    st.integers(1, 4), st.integers(1, 5), st.integers(1, 4).map(lambda h: (h, h * 3))
)
def test_merging_undoes_splitting(b, t, heads):
    n_heads, d_model = heads
    x = torch.randn(b, t, d_model)
    split = split_heads(x, n_heads)
    assert split.shape == (b, n_heads, t, 3)
    assert torch.equal(split[:, 0], x[..., :3])
    assert torch.equal(merge_heads(split), x)


def test_heads_must_divide_the_width():
    with pytest.raises(ValueError, match="10 is not a multiple of 3"):
        MultiHeadAttention(10, 3)
    with pytest.raises(ValueError, match="10 is not a multiple of 3"):
        split_heads(torch.zeros(1, 2, 10), 3)


def test_masks_of_a_padded_batch():
    assert padding_mask(TGT, 1).tolist() == [[[[1, 1, 1, 1]]], [[[1, 1, 0, 0]]]]
    assert causal_mask(3).tolist() == [[[[1, 0, 0], [1, 1, 0], [1, 1, 1]]]]
    rows = target_mask(TGT, 1)[1, 0].int().tolist()
    assert rows == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]]


def test_masks_are_made_where_the_ids_are():
    ids = torch.empty(2, 3, dtype=torch.long, device="meta")
    assert padding_mask(ids, 1).device == target_mask(ids, 1).device == ids.device


def test_masking_weights_and_renormalising_equals_masking_scores():
    scores = torch.randn(2, 3, 4, 5)
    mask = torch.rand(2, 1, 4, 5) > 0.5
    mask[0, 0, 0] = False
    got = mask_then_renormalise(scores.softmax(-1), mask)
    torch.testing.assert_close(got, masked_softmax(scores, mask))


@given(st.integers(1, 40))
def test_entropy_is_ln_s_when_all_keys_are_equal(s):
    assert softmax_entropy(torch.zeros(2, s)).allclose(torch.tensor(math.log(s)))


def test_entropy_of_one_certain_key_is_zero():
    scores = torch.tensor([0.0, -torch.inf, -torch.inf])
    assert softmax_entropy(scores) == 0


def test_sinusoids_by_hand():
    pe = sinusoidal_encoding(3, 4)
    want = [[math.sin(2), math.cos(2), math.sin(0.02), math.cos(0.02)]]
    torch.testing.assert_close(pe[2:], torch.tensor(want))
    assert pe[0].tolist() == [0, 1, 0, 1]


@given(st.integers(-20, 20), st.sampled_from([2, 6, 16]))
def test_an_offset_is_one_matrix_for_every_position(k, d_model):
    pe = sinusoidal_encoding(60, d_model).double()
    moved = pe[20:40] @ offset_matrix(k, d_model).T
    torch.testing.assert_close(moved, pe[20 + k : 40 + k], rtol=0, atol=1e-5)


@pytest.mark.parametrize(
    "kind", [SinusoidalPositionalEncoding, LearnedPositionalEncoding]
)
def test_positions_can_start_later(kind):
    positions, x = kind(6, 8), torch.randn(2, 5, 6)
    whole = positions(x)
    torch.testing.assert_close(positions(x[:, 3:], start=3), whole[:, 3:])
    with pytest.raises(ValueError, match="9 tokens, but there are positions for 8"):
        positions(x, start=4)


def test_one_hot_times_matrix_is_a_look_up():
    table, ids = torch.randn(9, 4), torch.randint(9, (2, 3))
    assert torch.equal(one_hot_embedding(ids, table), F.embedding(ids, table))


def test_positions_are_not_drowned_by_the_words():
    words = TokenEmbedding(8000, 256)(torch.arange(8000)[None])
    ratio = words.std() / sinusoidal_encoding(100, 256).std()
    assert 0.2 < ratio < 2  # with N(0, 1) for the table, it would be about 32


def test_the_vocabulary_counts_and_sorts():
    sentences = [["b", "a", "<pad>"], ["c", "b"], ["a", "b"]]
    itos, stoi = build_vocabulary(sentences, min_freq=2)
    assert itos == ["<unk>", "<pad>", "<sos>", "<eos>", "b", "a"]
    assert stoi == {word: i for i, word in enumerate(itos)}


def test_tying_needs_one_shape():
    with pytest.raises(ValueError, match=r"\(9, 4\) and \(8, 4\)"):
        tie_weights(TokenEmbedding(9, 4), torch.nn.Linear(4, 8))

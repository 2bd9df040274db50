"""Table 1: counts against PyTorch's counter, paths against reachability."""

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

from transformer.experiments.complexity import (
    LAYER_KINDS,
    LayerCost,
    alignment_error_rate,
    layer_cost,
    path_length,
    predict_layers,
    restricted_mask,
)
from transformer.experiments.layer_kinds import (
    Convolution,
    make_layer,
    restricted_attention,
)
from transformer.experiments.layer_timing import (
    Measurement,
    TimingSettings,
    crossing_length,
    measure_layers,
)

TWO_SIDED = {"self_attention", "restricted_attention"}


# layer_cost


def naive_restricted_attention(x: Tensor, r: int) -> Tensor:
    """Attend to r neighbours laid side by side, zeros beyond the ends."""
    side = (r - 1) // 2
    near = F.pad(x, (0, 0, side, side)).unfold(-2, r, 1)  # (b, n, d, r)
    weights = torch.einsum("bnd,bndr->bnr", x, near).softmax(dim=-1)
    return torch.einsum("bnr,bndr->bnd", weights, near)


@pytest.mark.parametrize("kind", LAYER_KINDS)
@pytest.mark.parametrize(("length", "d_model", "width"), [(10, 8, 3), (7, 12, 5)])
def test_layer_cost_equals_what_pytorch_counts(kind, length, d_model, width):
    batch = 2
    x = torch.randn(batch, length, d_model)
    layer = make_layer(kind, d_model, width)
    if kind == "restricted_attention":
        layer = lambda x: naive_restricted_attention(x, width)  # noqa: E731
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        layer(x)
    cost = layer_cost(kind, length, d_model, width)
    assert counter.get_total_flops() == 2 * batch * cost


def flops(layer: nn.Module, length: int) -> int:
    x = torch.randn(1, length, 8)
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        layer(x)
    return counter.get_total_flops()


def test_restricted_attention_is_linear_in_the_length():
    full = make_layer("self_attention", 8, 3)
    assert flops(full, 128) == 4 * flops(full, 64)
    for width, share in ((3, 18 / 3), (65, 96 / 65)):
        restricted = make_layer("restricted_attention", 8, width)
        assert flops(restricted, 128) == 2 * flops(restricted, 64)
        predicted = 2 * layer_cost("restricted_attention", 128, 8, width)
        assert flops(restricted, 128) == pytest.approx(share * predicted)


def test_self_attention_and_the_recurrent_layer_cost_the_same_at_n_equal_to_d():
    for n, d in itertools.product((1, 16, 64, 100), repeat=2):
        attention = layer_cost("self_attention", n, d)
        recurrent = layer_cost("recurrent", n, d)
        assert (attention < recurrent) == (n < d)
        assert (attention == recurrent) == (n == d)


def test_a_separable_convolution_of_the_whole_length_is_attention_and_a_matrix():
    """Section 4: with k = n it costs as much as attention and a position-wise layer."""
    n, d = 50, 64
    separable = layer_cost("separable_convolution", n, d, width=n)
    assert separable == layer_cost("self_attention", n, d) / 2 + n * d * d


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (("attention", 4, 8), "separable_convolution: found 'attention'"),
        (("recurrent", 0, 8), "length of at least 1, found 0"),
        (("recurrent", 4, -1), "d_model of at least 1, found -1"),
        (("convolution", 4, 8, 0), "width of at least 1, found 0"),
    ],
)
def test_layer_cost_names_what_is_wrong(sizes, message):
    with pytest.raises(ValueError, match=message):
        layer_cost(*sizes)


# path_length


def connections(kind: str, length: int, width: int, layer: int) -> np.ndarray:
    """Return which position (row) sees which (column) in a layer, by brute force."""

    def sees(i: int, j: int) -> bool:
        back = i - j
        if kind == "self_attention":
            return True
        if kind == "restricted_attention":
            return abs(back) <= (width - 1) // 2
        if kind == "recurrent":
            return back in (0, 1)
        stride = width**layer if kind == "dilated_convolution" else 1
        return back in [tap * stride for tap in range(width)]

    cells = [[sees(i, j) for j in range(length)] for i in range(length)]
    return np.array(cells, dtype=int)


@pytest.mark.parametrize("kind", LAYER_KINDS)
@pytest.mark.parametrize("width", [3, 5, 9])
@pytest.mark.parametrize("length", [2, 3, 4, 9, 10, 16, 27, 28])
def test_everything_is_reached_after_exactly_as_many_layers(kind, length, width):
    wanted = np.ones((length, length), dtype=bool)
    wanted = wanted if kind in TWO_SIDED else np.tril(wanted)
    reached = np.eye(length, dtype=int)
    layers = 0
    while not (reached.astype(bool) == wanted).all():
        reached = (connections(kind, length, width, layers) @ reached > 0).astype(int)
        layers += 1
    assert path_length(kind, length, width) == layers


@pytest.mark.parametrize("length", range(2, 12))
def test_even_kernels_reach_too(length):
    for kind in ("convolution", "dilated_convolution"):
        reached, layers = np.eye(length, dtype=int), 0
        while not reached[-1, 0]:
            reached = connections(kind, length, 2, layers) @ reached
            layers += 1
        assert path_length(kind, length, width=2) == layers


@given(st.integers(1, 12), st.integers(1, 4), st.integers(1, 6))
def test_a_restricted_mask_applied_l_times_reaches_l_times_as_far(length, side, times):
    mask = restricted_mask(length, 2 * side + 1)[0, 0].double()
    reached = torch.linalg.matrix_power(mask, times) > 0
    everything = length == 1 or times >= path_length(
        "restricted_attention", length, 2 * side + 1
    )
    assert reached.all().item() == everything


def first_moves_last(layers: list[nn.Module], length: int) -> bool:
    """Tell whether the last output depends on the first input, by its gradient."""
    x = torch.randn(1, length, 4, dtype=torch.float64, requires_grad=True)
    signal = x
    for layer in layers:
        signal = layer(signal)
    signal[0, -1].sum().backward()
    return bool(x.grad[0, 0].any())


@pytest.mark.parametrize("kind", sorted(set(LAYER_KINDS) - {"recurrent"}))
@pytest.mark.parametrize("length", [8, 9, 10, 11])
def test_a_stack_of_real_layers_carries_a_gradient_exactly_then(kind, length):
    torch.manual_seed(0)
    layers = path_length(kind, length, width=3)
    stack = [make_layer(kind, 4, 3) for _ in range(layers)]
    if kind == "dilated_convolution":
        stack = [Convolution(4, 3, dilation=3**layer) for layer in range(layers)]
    stack = [layer.double() for layer in stack]
    assert first_moves_last(stack, length)
    assert not first_moves_last(stack[:-1], length)


def test_one_recurrent_layer_connects_all():
    torch.manual_seed(0)
    assert first_moves_last([make_layer("recurrent", 4, 3).double()], 11)


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        (("lstm", 4), "found 'lstm'"),
        (("recurrent", 1), "two positions or more, found length 1"),
        (("restricted_attention", 9, 4), "odd number of neighbours"),
        (("restricted_attention", 9, 1), "width of at least 3"),
        (("dilated_convolution", 9, 1), "width of at least 2"),
        (("separable_convolution", 9, 0), "width of at least 2"),
    ],
)
def test_path_length_names_what_is_wrong(sizes, message):
    with pytest.raises(ValueError, match=message):
        path_length(*sizes)


def test_the_table_has_a_row_for_each_kind_and_length():
    rows = predict_layers([4, 9], d_model=8, width=3)
    assert [(row.length, row.kind) for row in rows] == [
        (length, kind) for length in (4, 9) for kind in LAYER_KINDS
    ]
    assert LayerCost("self_attention", 9, 2 * 81 * 8, 1, 1) in rows
    assert LayerCost("recurrent", 9, 2 * 9 * 64, 9, 8) in rows
    assert LayerCost("dilated_convolution", 9, 3 * 9 * 64, 1, 2) in rows


# restricted attention


@given(st.integers(1, 12), st.integers(0, 14))
def test_restricted_mask_is_a_band(length, side):
    mask = restricted_mask(length, 2 * side + 1)
    assert mask.shape == (1, 1, length, length) and mask.dtype == torch.bool
    band = np.tri(length, k=side) - np.tri(length, k=-side - 1)
    assert (mask[0, 0].numpy() == band.astype(bool)).all()
    assert mask.all().item() == (side >= length - 1)


@pytest.mark.parametrize(("length", "r"), [(5, 4), (5, 0), (5, -3), (0, 3)])
def test_restricted_mask_names_what_is_wrong(length, r):
    with pytest.raises(ValueError, match=r"expected .* found"):
        restricted_mask(length, r)


@pytest.mark.parametrize("length", [1, 5, 16, 17, 50])
@pytest.mark.parametrize("r", [1, 3, 9, 33, 41])
def test_restricted_attention_equals_full_attention_with_the_mask(length, r):
    torch.manual_seed(0)
    sizes = [(2, 3, length, 4), (2, 3, length, 4), (2, 3, length, 5)]
    query, key, value = (torch.randn(s).double().requires_grad_() for s in sizes)
    found = restricted_attention(query, key, value, r)
    mask = restricted_mask(length, r)
    expected = F.scaled_dot_product_attention(query, key, value, attn_mask=mask)
    assert torch.allclose(found, expected, atol=1e-12)
    upstream = torch.randn_like(expected)
    for mine, theirs in zip(
        torch.autograd.grad(found, (query, key, value), upstream),
        torch.autograd.grad(expected, (query, key, value), upstream),
        strict=True,
    ):
        assert torch.allclose(mine, theirs, atol=1e-12)


@pytest.mark.parametrize("r", [19, 21, 101])
def test_restricted_to_everything_is_full_attention(r):
    torch.manual_seed(0)
    query, key, value = (torch.randn(2, 3, 10, 4) for _ in range(3))
    expected = F.scaled_dot_product_attention(query, key, value)
    found = restricted_attention(query, key, value, r)
    assert torch.allclose(found, expected, atol=1e-6)
    narrower = restricted_attention(query, key, value, 17)
    assert not torch.allclose(narrower, expected, atol=1e-4)


def test_restricted_attention_refuses_an_even_neighbourhood():
    x = torch.randn(2, 5, 4)
    with pytest.raises(ValueError, match=r"odd number of neighbours.*found 4"):
        restricted_attention(x, x, x, 4)


@pytest.mark.parametrize("kind", LAYER_KINDS)
def test_a_layer_keeps_the_shape_and_mixes_no_batch(kind):
    torch.manual_seed(0)
    layer = make_layer(kind, 6, 3)
    x = torch.randn(3, 7, 6)
    assert layer(x).shape == x.shape
    assert torch.allclose(layer(x)[1:2], layer(x[1:2]), atol=1e-6)


@pytest.mark.parametrize("kind", sorted(set(LAYER_KINDS) - TWO_SIDED))
def test_recurrent_and_convolutional_layers_do_not_see_the_future(kind):
    torch.manual_seed(0)
    layer = make_layer(kind, 6, 3)
    x, other = torch.randn(2, 1, 9, 6)
    other[:, :5] = x[:, :5]
    assert torch.allclose(layer(x)[:, :5], layer(other)[:, :5], atol=1e-6)
    assert not torch.allclose(layer(x)[:, 5:], layer(other)[:, 5:], atol=1e-3)


@pytest.mark.parametrize(
    ("kind", "width"), [("restricted_attention", 2), ("convolution", 0), ("gru", 3)]
)
def test_make_layer_refuses_what_it_cannot_make(kind, width):
    with pytest.raises(
        ValueError, match=f"found '?{width if kind != 'gru' else 'gru'}"
    ):
        make_layer(kind, 4, width)


# alignment_error_rate

LINKS = st.sets(st.tuples(st.integers(0, 3), st.integers(0, 3)))


def test_alignment_error_rate_by_hand():
    sure, possible = {(0, 0), (1, 2)}, {(0, 0), (1, 2), (2, 1), (2, 3)}
    predicted = {(0, 0), (2, 1), (3, 3)}
    # |A ∩ S| = 1, |A ∩ P| = 2, |A| = 3, |S| = 2
    assert alignment_error_rate(predicted, sure, possible) == pytest.approx(1 - 3 / 5)


@given(LINKS, LINKS, LINKS)
def test_alignment_error_rate_is_0_when_all_sure_and_only_possible_links_are_there(
    sure, extra, more
):
    predicted, possible = sure | extra, sure | extra | more
    if predicted:
        assert alignment_error_rate(predicted, sure, possible) == 0.0
    if predicted - sure:
        assert alignment_error_rate(predicted, sure, sure) > 0.0


@given(LINKS, LINKS)
def test_alignment_error_rate_is_1_minus_the_f_measure_without_doubtful_links(a, s):
    if a and s:
        precision, recall = len(a & s) / len(a), len(a & s) / len(s)
        mean = 2 * precision * recall / (precision + recall) if a & s else 0.0
        assert alignment_error_rate(a, s, s) == pytest.approx(1 - mean)


@given(LINKS, LINKS, LINKS)
def test_alignment_error_rate_lies_between_0_and_1(predicted, sure, extra):
    if predicted or sure:
        rate = alignment_error_rate(predicted, sure, sure | extra)
        assert 0 <= rate <= 1
        assert rate <= alignment_error_rate(predicted, sure, sure)


def test_nothing_predicted_and_nothing_right_are_both_as_bad_as_can_be():
    assert alignment_error_rate(set(), {(0, 0)}, {(0, 0)}) == 1.0
    assert alignment_error_rate({(1, 1)}, {(0, 0)}, {(0, 0)}) == 1.0


@pytest.mark.parametrize(
    ("predicted", "sure", "possible", "error", "message"),
    [
        ([(0, 0)], {(0, 0)}, {(0, 0)}, TypeError, "predicted to be a set.*list"),
        ({(0, 0)}, ((0, 0),), {(0, 0)}, TypeError, "sure to be a set.*tuple"),
        ({(0, 0)}, {(0, 0)}, None, TypeError, "possible to be a set.*NoneType"),
        ({(0, 0)}, {(0, 0), (1, 2)}, {(0, 0)}, ValueError, r"\(1, 2\) in sure alone"),
        (set(), set(), {(0, 0)}, ValueError, "none predicted and none sure"),
    ],
)
def test_alignment_error_rate_names_what_is_wrong(
    predicted, sure, possible, error, message
):
    with pytest.raises(error, match=message):
        alignment_error_rate(predicted, sure, possible)


# measuring


def test_measuring_gives_a_row_each_and_leaves_the_threads_alone():
    threads = torch.get_num_threads()
    settings = TimingSettings(d_model=4, batch_size=2, min_seconds=1e-4)
    rows = measure_layers(LAYER_KINDS, [3, 5], settings)
    assert [(row.length, row.kind) for row in rows] == [
        (length, kind) for length in (3, 5) for kind in LAYER_KINDS
    ]
    assert all(0 < row.seconds < 1 for row in rows)
    assert torch.get_num_threads() == threads


def rows_of(seconds: dict[str, list[float]], lengths: list[int]) -> list[Measurement]:
    return [
        Measurement(kind, n, t)
        for kind, times in seconds.items()
        for n, t in zip(lengths, times, strict=True)
    ]


def test_predicted_times_cross_at_n_equal_to_d():
    lengths = [16, 50, 200, 400]
    times = {
        kind: [layer_cost(kind, n, 64) / 1e9 for n in lengths]
        for kind in ("self_attention", "recurrent")
    }
    crossing = crossing_length(rows_of(times, lengths), "self_attention", "recurrent")
    assert crossing == pytest.approx(64)


@pytest.mark.parametrize(
    ("attention", "expected"),
    [
        ([1, 1, 1], None),  # always faster
        ([3, 3, 3], None),  # never faster
        ([1, 2, 3], 20.0),  # equal at a measured length
        ([1, 1, 4], 800**0.5),  # half way between 20 and 40, in logarithms
        ([1, 3, 1], None),  # faster again at the end
        ([1, 3, 3], 10 * 2 ** (math.log(2) / math.log(3))),
    ],
)
def test_crossing_length(attention, expected):
    rows = rows_of({"self_attention": attention, "recurrent": [2, 2, 2]}, [10, 20, 40])
    crossing = crossing_length(rows, "self_attention", "recurrent")
    assert crossing == (expected and pytest.approx(expected))

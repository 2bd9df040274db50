"""Table 1: counts against PyTorch's counter, paths against reachability."""

import itertools

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
    layer_cost,
    path_length,
    predict_layers,
    restricted_mask,
)
from transformer.experiments.layer_kinds import Convolution, make_layer

TWO_SIDED = {"self_attention", "restricted_attention"}


# layer_cost


def naive_restricted_attention(x: Tensor, r: int) -> Tensor:
    """Attend to r neighbours in a window, with zeros beyond the ends."""
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
    """Return the positions (columns) that each position (row) of a layer sees."""

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

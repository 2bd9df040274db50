"""The check of the notebooks' rules accepts right functions and names broken rules."""

import pytest
import torch

from transformer.analysis.notebook_rules import require_no_traces, require_rules

KEPT: dict[str, torch.Tensor] = {}


def right(x, y):
    return (x * y).sum(dim=-1).sin()


def writes(x, y):
    x.mul_(2)
    result = right(x, y)
    x.div_(2)
    return result


def seeds(x, y):
    torch.manual_seed(0)
    return right(x, y)


def keeps(x, y):
    return KEPT.setdefault("first", right(x, y))


def one_buffer(x, y):
    KEPT["buffer"] = KEPT.get("buffer", torch.zeros(3))
    return KEPT["buffer"].resize_(3).copy_(right(x, y)) if x.dim() == 2 else right(x, y)


def two_axes(x, y):
    return torch.einsum("td,td->t", x, y).sin()


def first_axis(x, y):
    return (x * y).movedim(0, -1).sum(dim=0).sin() if x.dim() == 3 else right(x, y)


def rounds(x, y):
    return right(x.float(), y.float()).to(x.dtype)


def one_dtype(x, y):
    return right(x, y).float()


def default_dtype(x, y):
    torch.set_default_dtype(torch.float32)
    return right(x, y)


def one_device(x, y):
    return right(x, y) + torch.zeros(x.shape[:-1], dtype=x.dtype)


def detaches(x, y):
    return right(x, y).detach()


def half_of_the_gradient(x, y):
    return right(x, y.detach())


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (writes, "writes into one of its inputs"),
        (seeds, "sets a seed"),
        (keeps, "new inputs give the old result"),
        (one_buffer, "changes the result of the first"),
        (two_axes, "your function raises this error"),
        (first_axis, "with 1 leading axis"),
        (rounds, "in the precision of float32"),
        (one_dtype, "give a torch.float32 result"),
        (default_dtype, "default dtype"),
        (one_device, "on a GPU"),
        (detaches, "no gradient flows back:"),
        (half_of_the_gradient, "no gradient flows back to floating-point input 2"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_broken_rule_is_named(function, named):
    KEPT.clear()
    with pytest.raises(AssertionError, match=named):
        require_rules(function, torch.randn(3, 4), torch.randn(3, 4))


def sorts(words):
    words.sort()


def switches_gradients_on(words):
    torch.set_grad_enabled(True)


def moves_to_meta(words):
    torch.set_default_device("meta")


def makes_doubles(words):
    torch.set_default_dtype(torch.float64)


def seeds_without_tensors(words):
    torch.manual_seed(0)


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (sorts, "writes into one of its inputs"),
        (switches_gradients_on, "switches gradients on"),
        (moves_to_meta, "default device"),
        (makes_doubles, "default dtype"),
        (seeds_without_tensors, "sets a seed"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_trace_of_any_function_is_named_and_removed(function, named):
    with pytest.raises(AssertionError, match=named):
        require_no_traces(function, ["b", "a"])
    new = torch.zeros(1, requires_grad=True) * 1
    assert new.dtype == torch.float32 and new.device.type == "cpu" and new.requires_grad


def test_a_tensor_that_is_written_into_is_named_though_its_values_return():
    with pytest.raises(AssertionError, match="writes into one of its inputs"):
        require_no_traces(lambda x: x.add_(1).sub_(1), torch.ones(2))


def test_a_function_of_tensors_that_keeps_its_first_result_is_named():
    KEPT.clear()
    with pytest.raises(AssertionError, match="new inputs give the old result"):
        require_no_traces(keeps, torch.randn(3, 4), torch.randn(3, 4))


def test_a_function_that_draws_random_numbers_leaves_no_traces():
    require_no_traces(lambda words: torch.rand(3), ["b", "a"])
    assert torch.get_default_dtype() == torch.float32


def test_a_right_function_passes_and_changes_no_random_state():
    state = torch.get_rng_state()
    x, y = torch.randn(3, 4, generator=torch.Generator()), torch.ones(3, 4)
    require_rules(right, x, y)
    assert torch.equal(torch.get_rng_state(), state)

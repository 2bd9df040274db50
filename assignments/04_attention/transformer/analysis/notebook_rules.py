"""Check the rules that every function in the notebooks must keep.

The visible checks call `require_rules` for a function of tensors and
`require_no_traces` for any other function. Each visible check can therefore concentrate
on its own exercise.
"""

import copy
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Function = Callable[..., Tensor]


def require_no_traces(function: Callable[..., Any], *inputs: object) -> None:
    """Check that a call changes neither its inputs nor PyTorch's settings.

    If all inputs and the result are tensors, also check that the function stores
    nothing between calls.

    Args:
        function: any function. It is called several times, with and without gradients.
            If it returns a tensor, equal inputs must give equal results.
        inputs: the arguments: tensors, or values that `==` can compare.

    Raises:
        AssertionError: if the call changes something. The message says what it changed.
    """
    try:
        _require_settings(function, copy.deepcopy(inputs), torch.float32)
        _require_no_side_effects(function, inputs)
        _require_no_seed(function, inputs)
        tensors = tuple(x for x in inputs if isinstance(x, Tensor))
        is_tensor = isinstance(function(*inputs), Tensor)
        if is_tensor and tensors and len(tensors) == len(inputs):
            _require_nothing_kept(function, tensors, _others(tensors))
    except AssertionError as broken:  # shortens the traceback in the notebook
        raise AssertionError(*broken.args) from broken.__cause__


def require_rules(function: Function, *inputs: Tensor) -> None:
    """Check that a function of tensors keeps the rules of the notebooks.

    Args:
        function: a function that returns one tensor, always the same for equal inputs,
            and accepts any number of leading axes.
        inputs: its arguments without leading axes: float32 tensors and Boolean masks.

    Raises:
        AssertionError: if the function breaks a rule. The message names the rule.
        TypeError: if an input is not a tensor.
    """
    if not all(isinstance(x, Tensor) for x in inputs):
        raise TypeError("require_rules needs tensors: bind other arguments in a lambda")
    others = _others(inputs)
    try:
        _require_no_side_effects(function, inputs)
        _require_no_seed(function, inputs)
        _require_nothing_kept(function, inputs, others)
        _require_leading_axes(function, inputs, others)
        _require_settings(function, inputs, torch.float64, torch.float32)
        _require_dtype(function, inputs)
        _require_device(function, inputs)
        _require_gradients(function, inputs)
    except AssertionError as broken:  # shortens the traceback in the notebook
        raise AssertionError(*broken.args) from broken.__cause__


def _others(inputs: tuple[Tensor, ...]) -> list[Tensor]:
    """Return tensors with the inputs' shapes and dtypes but other values."""
    return [x.pow(3) if x.is_floating_point() else x.flip(0) for x in inputs]


def _require_no_side_effects(
    function: Callable[..., object], inputs: tuple[object, ...]
) -> None:
    """Check that a call does not modify its inputs in place."""
    values = [x._version if isinstance(x, Tensor) else x for x in inputs]
    before = copy.deepcopy(values)
    function(*inputs)
    values = [x._version if isinstance(x, Tensor) else x for x in inputs]
    assert values == before, (
        "your function writes into one of its inputs: compute a new tensor instead"
    )


def _require_nothing_kept(
    function: Function, inputs: tuple[Tensor, ...], others: list[Tensor]
) -> None:
    """Check that a second call uses the new values, and keeps the first result.

    The new values are written into the same input tensors.
    """
    reused = [x.clone() for x in inputs]
    first = function(*reused)
    kept = first.clone()
    for x, other in zip(reused, others, strict=True):
        x.copy_(other)
    second = function(*reused)
    assert torch.equal(first.nan_to_num(), kept.nan_to_num()), (
        "a second call changes the result of the first: make a new tensor in each call"
    )
    assert not torch.equal(second, first), (
        "new inputs give the old result: keep nothing from one call to the next"
    )


def _require_no_seed(
    function: Callable[..., object], inputs: tuple[object, ...]
) -> None:
    """Check that a function sets no seed, by calling it in two random states."""
    states = []
    with torch.random.fork_rng(devices=[]):
        for _ in range(2):
            torch.rand(1)
            function(*inputs)
            states.append(torch.get_rng_state())
    assert not torch.equal(*states), (
        "your function sets a seed: leave the random numbers to its caller"
    )


def _require_settings(
    function: Callable[..., object], inputs: tuple[object, ...], *dtypes: torch.dtype
) -> None:
    """Check that a function works with each default dtype and changes no setting."""
    default, device = torch.get_default_dtype(), torch.zeros(0).device
    try:
        for chosen in dtypes:
            torch.set_default_dtype(chosen)
            with torch.no_grad():
                function(*inputs)
                assert not torch.is_grad_enabled(), (
                    "your function switches gradients on for later code: use "
                    "`with torch.no_grad():`"
                )
            assert torch.get_default_dtype() == chosen, (
                "your function changes PyTorch's default dtype"
            )
            assert torch.zeros(0).device == device, (
                "your function changes PyTorch's default device"
            )
    finally:
        torch.set_default_dtype(default)
        if torch.zeros(0).device != device:
            torch.set_default_device(device)


def _require_leading_axes(
    function: Function, inputs: tuple[Tensor, ...], others: list[Tensor]
) -> None:
    """Check that one call on a batch gives the same results as a call on each item."""
    one, two = list(inputs), others
    for axes in range(1, 4):
        expected = torch.stack([function(*one), function(*two)])
        pairs = zip(one, two, strict=True)  # these stacks are not contiguous in memory
        one = [torch.stack(pair, dim=-1).movedim(-1, 0) for pair in pairs]
        two = [x.flip(0) for x in one]
        leading = "1 leading axis" if axes == 1 else f"{axes} leading axes"
        try:
            found = function(*one)
        except Exception as error:
            raise AssertionError(
                f"with {leading}, your function raises this error: {error}"
            ) from error
        assert found.shape == expected.shape, (
            f"with {leading}, the result should have the shape "
            f"{tuple(expected.shape)}, but has {tuple(found.shape)}"
        )
        assert torch.allclose(found, expected, atol=1e-5, equal_nan=True), (
            f"with {leading}, the values are wrong: count axes from the end "
            "(-1, -2), and let no item of a batch use the data of another"
        )


def _require_dtype(function: Function, inputs: tuple[Tensor, ...]) -> None:
    """Check that float64 inputs give a result in the dtype and precision of float64."""
    doubles = [x.double() / 3 if x.is_floating_point() else x for x in inputs]
    result = function(*doubles)
    assert result.dtype == torch.float64, (
        f"float64 inputs give a {result.dtype} result: let a new tensor have the dtype "
        "of the inputs"
    )
    assert not torch.equal(result, result.float().double()), (
        "float64 inputs give values in the precision of float32: convert no dtype"
    )


def _require_device(function: Function, inputs: tuple[Tensor, ...]) -> None:
    """Check on the meta device that new tensors are made on the inputs' device."""
    try:
        function(*(x.to("meta") for x in inputs))
    except (RuntimeError, TypeError) as error:  # some functions need real data
        words = ("expected device", "same device", "numpy")
        assert not any(word in str(error) for word in words), (
            "on a GPU, your function would fail: make new tensors on the device of the "
            "inputs, and do not use numpy"
        )


def _require_gradients(function: Function, inputs: tuple[Tensor, ...]) -> None:
    """Check that every floating-point input gets a gradient without NaN."""
    copies = [
        x.clone().requires_grad_() if x.is_floating_point() else x for x in inputs
    ]
    leaves = [x for x in copies if x.requires_grad]
    result = function(*copies)
    assert result.requires_grad, (
        "no gradient flows back: use no detach, item, numpy or torch.no_grad"
    )
    finite = result.masked_fill(result.isinf(), 0)
    weights = torch.arange(1.0, result.numel() + 1).view_as(result)
    found = torch.autograd.grad((finite * weights).sum(), leaves, allow_unused=True)
    for number, gradient in enumerate(found, start=1):
        assert gradient is not None and gradient.any(), (
            f"no gradient flows back to floating-point input {number}"
        )
        assert not gradient.isnan().any(), (
            f"the gradient of floating-point input {number} is NaN"
        )

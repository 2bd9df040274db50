"""Hidden checks of unit 06: feed-forward, LayerNorm, and the residual around them."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from autograder.checking.behaviour import (
    blame,
    expect_dtype,
    expect_gradients,
)
from autograder.checking.dropout import OF_VECTORS, expect_dropped
from autograder.checking.expect import (
    Callback,
    check,
    expect_close,
    expect_shape,
    fail,
)
from autograder.checking.generic_checks import (
    expect_each_call_anew,
    expect_no_seed,
    expect_no_traces,
    expect_same_device,
)
from autograder.checking.kinds_of_inputs import expect_double, expect_leading_axes
from autograder.checking.varied_inputs import (
    expect_every_size,
    expect_modules_of_every_size,
    varied_inputs,
)
from autograder.phrases import Phrase
from transformer import feed_forward as reference

B, T, D, D_FF = 2, 3, 5, 7
P = 0.3  # P is an ordinary dropout rate, and NEARLY_ALL is close to 1
NEARLY_ALL = 1 - 2**-53
LINEAR, CONV = "torch.nn.Linear", "torch.nn.Conv1d"
BUILT_INS = [
    "torch.nn.functional.layer_norm",
    "torch.nn.functional.rms_norm",
    "torch.nn.functional.batch_norm",
    "torch.nn.functional.group_norm",
    "torch.nn.functional.instance_norm",
    "torch.layer_norm",
    "torch.native_layer_norm",
    "torch.nn.LayerNorm",
    "torch.nn.RMSNorm",
    "torch.nn.GroupNorm",
    *(f"torch.nn.BatchNorm{n}d" for n in (1, 2, 3)),
    *(f"torch.nn.LazyBatchNorm{n}d" for n in (1, 2, 3)),
    *(f"torch.nn.InstanceNorm{n}d" for n in (1, 2, 3)),
    *(f"torch.nn.LazyInstanceNorm{n}d" for n in (1, 2, 3)),
]
Run = Callable[[], Tensor]
State = Mapping[str, Tensor]


# --- building ---------------------------------------------------------------------


def drawn_state(draw, module: Any) -> dict[str, Tensor]:
    """Give a module in the student's process random weights, and return them."""
    state = draw.state(module.parameters_by_name())
    module.load_state_dict(state)
    return state


def build_feed_forward(
    student, draw, dropout: float = 0.0
) -> tuple[Any, dict[str, Tensor]]:
    """Build the student's feed-forward layer with random weights."""
    module = student.PositionwiseFeedForward(D, D_FF, dropout)
    wanted = {
        "linear1.weight": (D_FF, D),
        "linear1.bias": (D_FF,),
        "linear2.weight": (D, D_FF),
        "linear2.bias": (D,),
    }
    found = module.parameters_by_name()
    without_bias = {k: v for k, v in wanted.items() if "bias" not in k}
    if found == without_bias:
        fail("The linear maps have no bias.", mistake="no bias")
    if found != wanted:
        fail(
            "The module should have the parameters of the given constructor: "
            "linear1 from d_model to d_ff and linear2 back to d_model, both with "
            "a bias.",
            mistake="layers that differ from those of the constructor",
        )
    state = drawn_state(draw, module)
    module.eval()
    return module, state


def build_convolutions(
    student, draw, d_model: int = D
) -> tuple[Any, Any, dict[str, Tensor]]:
    """Build two convolutions of width 1 in the student's process."""
    sizes = (d_model, D_FF), (D_FF, d_model)
    convolutions = [student.load(CONV)(*size, 1) for size in sizes]
    state = {}
    for number, convolution in enumerate(convolutions, start=1):
        for name, value in drawn_state(draw, convolution).items():
            state[f"linear{number}.{name}"] = value.squeeze(-1)
    return *convolutions, state


# --- feed-forward: mistakes -------------------------------------------------------


def feed_forward(state: State, x: Tensor, inner=torch.relu, outer=None) -> Tensor:
    """Compute the feed-forward layer in float64.

    `inner` and `outer` can replace its functions by wrong ones.
    """
    w = {name: value.double() for name, value in state.items()}
    hidden = inner(x.double() @ w["linear1.weight"].T + w["linear1.bias"])
    output = hidden @ w["linear2.weight"].T + w["linear2.bias"]
    return outer(output) if outer else output


def feed_forward_mistakes(state: State, x: Tensor) -> dict[str, Run]:
    """Return wrong results of the layer, keyed by the name of the mistake."""

    def but(**changed: Tensor) -> Run:
        return lambda: feed_forward({**state, **changed}, x)

    zeros = {name: torch.zeros_like(state[name]) for name in state if "bias" in name}
    return {
        **no_answers(x),
        **activation_mistakes(state, x),
        "the result without the biases": but(**zeros),
        "the result without the first bias": but(
            **{"linear1.bias": zeros["linear1.bias"]}
        ),
        "the result without the second bias": but(
            **{"linear2.bias": zeros["linear2.bias"]}
        ),
        **token_mistakes(state, x),
    }


def no_answers(x: Tensor) -> dict[str, Run]:
    """Return results of code that computes nothing, keyed by name."""
    return {
        "zeros": lambda: torch.zeros_like(x),
        "the input, unchanged": lambda: x,
    }


def activation_mistakes(state: State, x: Tensor) -> dict[str, Run]:
    """Return results with a wrong ReLU, keyed by the name of the mistake."""

    def with_inner(inner: Callable[[Tensor], Tensor]) -> Run:
        return lambda: feed_forward(state, x, inner)

    right = feed_forward(state, x)
    return {
        "the result without the ReLU": with_inner(lambda y: y),
        "the result with a second ReLU on the output": lambda: right.relu(),
        "the result with only a ReLU on the output": lambda: feed_forward(
            state, x, lambda y: y, torch.relu
        ),
        "the result with the ReLU on the input": lambda: feed_forward(
            state, x.relu(), lambda y: y
        ),
        "the result with a GELU instead of the ReLU": with_inner(F.gelu),
        "the result with the approximate GELU instead of the ReLU": with_inner(
            lambda y: F.gelu(y, approximate="tanh")
        ),
        "the result with a leaky ReLU": with_inner(F.leaky_relu),
        "the result with a sigmoid instead of the ReLU": with_inner(torch.sigmoid),
        "the result with a tanh instead of the ReLU": with_inner(torch.tanh),
        "the result with min(0, x) instead of max(0, x)": with_inner(
            lambda y: y.clamp(max=0)
        ),
    }


def token_mistakes(state: State, x: Tensor) -> dict[str, Run]:
    """Return results in which tokens or inputs are mixed, keyed by name."""
    right = feed_forward(state, x)
    return {
        "the result with the residual x added, which is the job of AddNorm": lambda: (
            x.double() + right
        ),
        "the result of averaging the input over the tokens": lambda: feed_forward(
            state, x.mean(dim=1, keepdim=True).expand_as(x)
        ),
        "the result with hidden activations averaged over the tokens": lambda: (
            feed_forward(
                state, x, lambda y: y.relu().mean(dim=1, keepdim=True).expand_as(y)
            )
        ),
        "the result of a view or reshape instead of a transpose": lambda: (
            feed_forward(
                state, x.reshape(x.size(0), x.size(2), x.size(1)).transpose(1, 2)
            )
            .transpose(1, 2)
            .reshape(x.shape)
        ),
        "the result of a transpose of the input and a reshape of the output": (
            lambda: right.transpose(1, 2).reshape(x.shape)
        ),
        "the result of a reshape of the input and a transpose of the output": (
            lambda: feed_forward(
                state, x.reshape(x.size(0), x.size(2), x.size(1)).transpose(1, 2)
            )
        ),
    }


def expect_by_token(apply: Callable[[Tensor], Tensor], x: Tensor) -> None:
    """Fail if the outputs of other tokens change when the last token changes."""
    changed = x.clone()
    changed[:, -1] += 1.0
    first, second = apply(x), apply(changed)
    expect_shape(first, x.shape, "the output")
    expect_shape(second, x.shape, "the output")
    if not torch.allclose(first[:, :-1], second[:, :-1], atol=1e-5):
        fail(
            "We changed one token, and the outputs of other tokens changed too: "
            "this layer should process each token independently.",
            mistake="mixed positions",
        )


# --- PositionwiseFeedForward ------------------------------------------------------


@check(
    "positionwise-feed-forward",
    share=1,
    title="The output has the width of the input",
    form=True,
)
def test_feed_forward_shape(student, draw):
    module, _ = build_feed_forward(student, draw)
    got = module(draw.normal(B, T, D))
    if isinstance(got, Tensor) and tuple(got.shape) == (B, T, D_FF):
        fail(
            "The output still has the width d_ff.",
            mistake="the second linear map is missing",
        )
    expect_shape(got, (B, T, D), "the output")


@check("positionwise-feed-forward", share=3, title="The output has the right values")
def test_feed_forward_values(student, draw):
    module, state = build_feed_forward(student, draw)
    x = draw.normal(B, T, D)
    mistakes = feed_forward_mistakes(state, x)
    expect_close(module(x), feed_forward(state, x), "the output", mistakes)


@check(
    "positionwise-feed-forward",
    share=1,
    title="Each token is processed independently",
    form=True,
)
def test_feed_forward_is_by_token(student, draw):
    module, _ = build_feed_forward(student, draw)
    expect_by_token(module, draw.normal(B, T, D))


@check(
    "positionwise-feed-forward",
    share=1,
    title="Dropout between the linear maps, only in training",
)
def test_feed_forward_dropout(student, draw):
    module, state = build_feed_forward(student, draw, dropout=P)
    x = draw.normal(B, T, D)
    want = feed_forward(state, x)
    if not torch.equal(module(x), module(x)):
        fail(
            "After eval(), two calls differ: something is dropped although the "
            "module is not training.",
            mistake="dropout in evaluation",
        )
    expect_close(module(x), want, "the output", feed_forward_mistakes(state, x))
    w = {name: torch.zeros_like(value) for name, value in state.items()}
    w["linear1.weight"] += torch.eye(D_FF, D)
    w["linear1.bias"] += 1.0  # the inner activation for an input of 1 is then 2
    w["linear2.weight"] += torch.eye(D, D_FF)  # output i is then hidden activation i
    module.load_state_dict(w)
    module.train()
    many = torch.ones(50, T, D)
    used, again = (module(many).float() for _ in range(2))
    if torch.allclose(used, torch.tensor(2.0)):
        fail(
            Phrase("dropout={p} changed nothing in training", P),
            mistake="dropout is ignored",
        )
    known = torch.tensor([0, 2, 2 / P, 2 * P, 2 / (1 - P), 2 * (1 - P), 4])
    if not torch.isclose(used[..., None], known, atol=1e-4).any(-1).all():
        fail(
            Phrase(
                "With dropout {p}, every inner activation should be set to 0 or "
                "divided by {kept}, only once, and their inputs should not be "
                "dropped.",
                P,
                1 - P,
            ),
            mistake="dropout on the input, or dropout in more than one place",
        )
    right = torch.full_like(many, 2.0)
    expect_dropped(used, right, P, "the inner activations", OF_VECTORS, again)
    expect_no_seed(student, module, many, draws=True)
    w["linear1.weight"].zero_()
    w["linear1.bias"].zero_()
    w["linear2.bias"] += 1.0  # the output then depends on no inner activation
    module.load_state_dict(w)
    if not torch.allclose(module(torch.ones(50, T, D)).float(), torch.ones(1)):
        fail(
            "The dropout is on the outputs, but it belongs between the two linear "
            "maps.",
            mistake="dropout on the output",
        )


@check("positionwise-feed-forward", share=1, title="Gradients reach every parameter")
def test_feed_forward_gradients(student, draw):
    module, state = build_feed_forward(student, draw)
    x, upstream = draw.normal(B, T, D), draw.normal(B, T, D)
    run = student.gradients(module, x, upstream=upstream)
    leaves = {n: p.double().requires_grad_() for n, p in state.items()}
    total = (feed_forward(leaves, x) * upstream).sum()
    wanted = torch.autograd.grad(total, list(leaves.values()))
    for name, want in zip(leaves, wanted, strict=True):
        got = run.parameters[name]
        if got is None:
            fail(
                Phrase("No gradient reaches {name}.", name),
                mistake=Phrase("no gradient for {name}", name),
            )
        expect_close(got, want, Phrase("The gradient of {name}", name), tolerance=1e-4)
    expect_gradients(run, lambda x: feed_forward(state, x), [x], upstream)


@check("positionwise-feed-forward", share=1, title="Each call has its own result")
def test_feed_forward_of_each_call(student, draw):
    module, state = build_feed_forward(student, draw)
    calls = [(draw.normal(B, T + 1, D),) for _ in range(3)]
    right = partial(feed_forward, state)
    expect_each_call_anew(student, module, calls, right, "the output")


@check(
    "positionwise-feed-forward",
    share=1,
    title="The input does not change and stays on its device",
    form=True,
)
def test_feed_forward_leaves_its_input(student, draw):
    module, _ = build_feed_forward(student, draw)
    x = draw.normal(B, T, D)
    expect_no_traces(student, module, x, still=True)
    expect_same_device(student, module, x, what="the output")


@check("positionwise-feed-forward", share=1, title="float64, any sizes and strides")
def test_feed_forward_double(student, draw):
    module, state = build_feed_forward(student, draw)
    plain = draw.normal(B, T, D)

    def ordinary() -> None:
        module.float()
        expect_close(module(plain), feed_forward(state, plain), "the output")

    strided = draw.normal(T, B, D, dtype=torch.float64).transpose(0, 1)
    for x in (strided, draw.normal(1, 1, D, dtype=torch.float64)):
        module.double()
        words = (
            "code that works only for float32, contiguous tensors or more than one "
            "token"
        )
        with blame(words, ordinary):
            got = module(x)
            mistakes = feed_forward_mistakes(state, x)
            expect_close(got, feed_forward(state, x), "the output", mistakes)
        expect_dtype(got, torch.float64, "the output")
    expect_modules_of_every_size(
        student,
        lambda n: (
            student.PositionwiseFeedForward(n["d_model"], n["d_ff"]),
            reference.PositionwiseFeedForward(n["d_model"], n["d_ff"]),
        ),
        varied_inputs(draw, ["b,t,d_model"], others=["d_ff"]),
        draw,
        "the output",
    )


# --- conv_feed_forward ------------------------------------------------------------


@check("conv-feed-forward", share=1, title="The output is (b, t, d_model)", form=True)
def test_conv_shape(student, draw):
    conv1, conv2, _ = build_convolutions(student, draw)
    got = student.conv_feed_forward(draw.normal(B, T, D), conv1, conv2)
    if isinstance(got, Tensor) and tuple(got.shape) == (B, D, T):
        fail(
            "The output has the shape (b, d_model, t): the channel axis still "
            "comes before the token axis.",
            mistake="an output that is not transposed back",
        )
    expect_shape(got, (B, T, D), "the output")


@check("conv-feed-forward", share=3, title="The output has the right values")
def test_conv_values(student, draw):
    conv1, conv2, state = build_convolutions(student, draw)
    x = draw.normal(B, T, D)
    got = student.conv_feed_forward(x, conv1, conv2)
    mistakes = feed_forward_mistakes(state, x)
    expect_close(got, feed_forward(state, x), "the output", mistakes)


@check("conv-feed-forward", share=2, title="As many tokens as columns")
def test_conv_square(student, draw):
    conv1, conv2, state = build_convolutions(student, draw)
    x = draw.normal(B, D, D)
    got = student.conv_feed_forward(x, conv1, conv2)
    columns = feed_forward(state, x.transpose(1, 2))
    mistakes = {
        "the result of treating tokens as channels: no transpose at all": (
            lambda: columns.transpose(1, 2)
        ),
        "the result without the transpose of the input": lambda: columns,
        "the result without the transpose of the output": lambda: feed_forward(
            state, x
        ).transpose(1, 2),
    } | feed_forward_mistakes(state, x)
    expect_close(got, feed_forward(state, x), "the output", mistakes)


@check(
    "conv-feed-forward",
    share=1,
    title="Each token is processed independently",
    form=True,
)
def test_conv_is_by_token(student, draw):
    conv1, conv2, _ = build_convolutions(student, draw)
    expect_by_token(
        lambda x: student.conv_feed_forward(x, conv1, conv2), draw.normal(B, T, D)
    )


@check("conv-feed-forward", share=1, title="Gradients reach the input")
def test_conv_gradients(student, draw):
    conv1, conv2, state = build_convolutions(student, draw)
    x, upstream = draw.normal(B, T, D), draw.normal(B, T, D)
    run = student.gradients(
        student.conv_feed_forward, x, conv1, conv2, upstream=upstream
    )
    expect_gradients(run, lambda x: feed_forward(state, x), [x], upstream)


@check("conv-feed-forward", share=1, title="float64, any sizes and strides")
def test_conv_double(student, draw):
    conv1, conv2, state = build_convolutions(student, draw)
    plain = draw.normal(B, T, D)

    def ordinary() -> None:
        conv1.float()
        conv2.float()
        got = student.conv_feed_forward(plain, conv1, conv2)
        expect_close(got, feed_forward(state, plain), "the output")

    strided = draw.normal(T, B, D, dtype=torch.float64).transpose(0, 1)
    for x in (strided, draw.normal(1, 1, D, dtype=torch.float64)):
        conv1.double()
        conv2.double()
        words = (
            "code that works only for float32, contiguous tensors or more than one "
            "token"
        )
        with blame(words, ordinary):
            got = student.conv_feed_forward(x, conv1, conv2)
            mistakes = feed_forward_mistakes(state, x)
            expect_close(got, feed_forward(state, x), "the output", mistakes)
        expect_dtype(got, torch.float64, "the output")
    for case in varied_inputs(draw, ["b,t,d_model"]):
        conv1, conv2, state = build_convolutions(student, draw, case.sizes["d_model"])
        expect_every_size(
            student,
            student.conv_feed_forward,
            partial(feed_forward, state),
            [case],
            "the output",
            tolerance=1e-4,
            rest=[conv1, conv2],
        )


@check("conv-feed-forward", share=1, title="Each call has its own result")
def test_conv_of_each_call(student, draw):
    (*first, state), (*second, other) = (
        build_convolutions(student, draw) for _ in range(2)
    )
    x, y = draw.normal(B, T + 1, D), draw.normal(B, T + 1, D)
    calls = [(x, *first), (y, *first), (y, *second)]
    of_state = {id(first[0]): state, id(second[0]): other}
    expect_each_call_anew(
        student,
        student.conv_feed_forward,
        calls,
        lambda x, conv1, conv2: feed_forward(of_state[id(conv1)], x),
        "the output",
    )


@check(
    "conv-feed-forward",
    share=1,
    title="The input does not change and stays on its device",
    form=True,
)
def test_conv_leaves_its_input(student, draw):
    conv1, conv2, _ = build_convolutions(student, draw)
    given = draw.normal(B, T, D), conv1, conv2
    expect_no_traces(student, student.conv_feed_forward, *given, still=True)
    expect_same_device(student, student.conv_feed_forward, *given, what="the output")


# --- layer_norm: mistakes ---------------------------------------------------------


def norm_by(
    x: Tensor, mean: Tensor, spread: Tensor, gamma: Tensor, beta: Tensor
) -> Tensor:
    """Subtract a mean, divide by a standard deviation, and apply γ and β."""
    return gamma.double() * (x.double() - mean) / spread + beta.double()


def norm_mistakes(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> dict[str, Run]:
    """Return wrong results of layer_norm, keyed by the name of the mistake."""
    given = (x, gamma, beta, eps)
    return {
        **no_answers(x),
        "only β, for every vector": lambda: beta.expand(x.shape),
        **variance_mistakes(*given),
        **axis_mistakes(*given),
        **mean_mistakes(*given),
        **scale_mistakes(*given),
    }


def variance_mistakes(
    x: Tensor, gamma: Tensor, beta: Tensor, eps: float
) -> dict[str, Run]:
    """Return results with a wrong variance, root or ε, keyed by name."""
    y = x.double()
    mean = y.mean(-1, keepdim=True)
    biased = y.var(-1, unbiased=False, keepdim=True)
    unbiased = y.var(-1, keepdim=True)
    return {
        "the result with the unbiased variance (division by d - 1)": lambda: norm_by(
            x, mean, (unbiased + eps).sqrt(), gamma, beta
        ),
        "the result with the unbiased standard deviation and ε "
        "outside the square root": (
            lambda: norm_by(x, mean, unbiased.sqrt() + eps, gamma, beta)
        ),
        "the result with ε outside the square root": lambda: norm_by(
            x, mean, biased.sqrt() + eps, gamma, beta
        ),
        "the result with a small fixed ε or none, regardless of the ε requested": (
            lambda: norm_by(x, mean, (biased + 1e-5).sqrt(), gamma, beta)
        ),
        "the result with ε added to the variance twice": lambda: norm_by(
            x, mean, (biased + 2 * eps).sqrt(), gamma, beta
        ),
        "the result of dividing by the variance, not its square root": lambda: norm_by(
            x, mean, biased + eps, gamma, beta
        ),
        "the result of multiplying by the standard deviation": lambda: norm_by(
            x, mean, 1 / (biased + eps).sqrt(), gamma, beta
        ),
    }


def axis_mistakes(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> dict[str, Run]:
    """Return results that are normalised over wrong axes, keyed by name."""
    y = x.double()

    def over(*dims: int) -> Tensor:
        m = y.mean(dims, keepdim=True)
        v = y.var(dims, unbiased=False, keepdim=True)
        return norm_by(x, m, (v + eps).sqrt(), gamma, beta)

    return {
        "the result of a normalisation over the tokens": lambda: over(1),
        "the result of a normalisation over the batch": lambda: over(0),
        "the result of a normalisation over tokens and columns together": (
            lambda: over(-2, -1)
        ),
        "the result of a normalisation over batch and tokens (BatchNorm)": (
            lambda: over(0, 1)
        ),
        "the result of a normalisation over everything": lambda: over(*range(y.dim())),
    }


def mean_mistakes(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> dict[str, Run]:
    """Return results with a wrong mean or mean square, keyed by name."""
    y = x.double()
    mean = y.mean(-1, keepdim=True)
    biased = y.var(-1, unbiased=False, keepdim=True)
    spread = (biased + eps).sqrt()
    return {
        "the result with the mean not subtracted": lambda: norm_by(
            x, 0 * mean, spread, gamma, beta
        ),
        "the root mean square norm: the mean is not subtracted, not even for the "
        "variance": (
            lambda: norm_by(
                x,
                0 * mean,
                (y.square().mean(-1, keepdim=True) + eps).sqrt(),
                gamma,
                beta,
            )
        ),
        "the result with the mean of the squares instead of the variance": (
            lambda: norm_by(
                x, mean, (y.square().mean(-1, keepdim=True) + eps).sqrt(), gamma, beta
            )
        ),
        "the result with the sum of squares instead of their mean": lambda: norm_by(
            x, mean, (biased * y.size(-1) + eps).sqrt(), gamma, beta
        ),
    }


def scale_mistakes(
    x: Tensor, gamma: Tensor, beta: Tensor, eps: float
) -> dict[str, Run]:
    """Return results with a wrong γ or β, keyed by the name of the mistake."""
    y = x.double()
    mean = y.mean(-1, keepdim=True)
    spread = (y.var(-1, unbiased=False, keepdim=True) + eps).sqrt()
    one, zero = torch.ones_like(gamma), torch.zeros_like(beta)
    return {
        "the result without γ and β": lambda: norm_by(x, mean, spread, one, zero),
        "the result without γ": lambda: norm_by(x, mean, spread, one, beta),
        "the result without β": lambda: norm_by(x, mean, spread, gamma, zero),
        "the result with γ and β swapped": lambda: norm_by(
            x, mean, spread, beta, gamma
        ),
        "the result with β added before γ scales": lambda: (
            gamma.double() * (norm_by(x, mean, spread, one, beta))
        ),
        "the result with the opposite sign of β": lambda: norm_by(
            x, mean, spread, gamma, -beta
        ),
    }


def expect_norm(
    student, x: Tensor, gamma: Tensor, beta: Tensor, eps: float = 1e-5
) -> Tensor:
    """Compare the student's layer_norm with the reference, and return its result."""
    args = (x, gamma, beta) if eps == 1e-5 else (x, gamma, beta, eps)
    got = student.layer_norm(*args)
    want = reference.layer_norm(x.double(), gamma.double(), beta.double(), eps)
    expect_close(got, want, "the result", norm_mistakes(x, gamma, beta, eps))
    return got


def scaled(
    draw, *shape: int, dtype: torch.dtype = torch.float32
) -> tuple[Tensor, Tensor, Tensor]:
    """Draw vectors x of equal variance with different means, and draw γ and β.

    The variance is large, so ε matters only in the check of ε.
    """
    x = draw.normal(*shape, dtype=torch.float64) + draw.normal(shape[-1])
    mean, std = x.mean(-1, keepdim=True), x.std(-1, correction=0, keepdim=True)
    x = 3 * (x - mean) / std + 2 * draw.normal(*shape[:-1], 1)
    return x.to(dtype), *(draw.normal(shape[-1], dtype=dtype) for _ in range(2))


# --- layer_norm -------------------------------------------------------------------


@check("layer-norm", share=1, title="The result has the shape of x", form=True)
def test_norm_shape(student, draw):
    got = student.layer_norm(*scaled(draw, B, T, D))
    expect_shape(got, (B, T, D), "the result")


@check("layer-norm", share=3, title="The right values, with random γ and β")
def test_norm_values(student, draw):
    expect_norm(student, *scaled(draw, B, T, D))


@check(
    "layer-norm", share=2, title="ε is added to the variance, with the requested value"
)
def test_norm_eps(student, draw):
    expect_norm(student, *scaled(draw, B, T, D), eps=0.7)


@check("layer-norm", share=1, title="A vector of equal numbers gives β, not NaN")
def test_norm_of_a_constant(student, draw):
    x, gamma, beta = scaled(draw, B, T, D)
    x[1, 2] = 0.5
    got = student.layer_norm(x, gamma, beta)
    if isinstance(got, Tensor) and got[1, 2].isnan().any():
        fail(
            "A vector of equal numbers gives NaN: its variance is 0, and you "
            "added no ε before the division.",
            mistake="the result without ε",
        )
    want = reference.layer_norm(x.double(), gamma.double(), beta.double())
    named = norm_mistakes(x, gamma, beta, 1e-5)
    expect_close(got, want, "the result", named, tolerance=1e-4)  # 1/√ε is large


@check("layer-norm", share=1, title="Any sizes and axes, including a single vector")
def test_norm_axes(student, draw):
    gamma, beta = draw.normal(D), draw.normal(D)
    expect_leading_axes(
        lambda x: student.layer_norm(10 * x, gamma, beta),
        lambda x: reference.layer_norm(10 * x, gamma.double(), beta.double()),
        [(D,)],
        draw,
        "the result",
    )
    expect_every_size(
        student,
        student.layer_norm,
        reference.layer_norm,
        varied_inputs(draw, ["b,t,d_model", "d_model", "d_model"], least=2),
        "the result",
        tolerance=1e-4,
    )


@check("layer-norm", share=1, title="Vectors far from 0")
def test_norm_far_from_zero(student, draw):
    plain = scaled(draw, B, T, D)
    x, gamma, beta = scaled(draw, 10, T, D)
    words = (
        "a variance computed as the mean of the squares minus the square of the "
        "mean, which loses precision in float32"
    )
    with blame(words, lambda: expect_norm(student, *plain)):
        far = 5000 + x
        got = student.layer_norm(far, gamma, beta)
        want = reference.layer_norm(far.double(), gamma.double(), beta.double())
        expect_close(got, want, "the result", tolerance=1e-2)


@check("layer-norm", share=1, title="A token does not depend on its neighbours")
def test_norm_is_by_token(student, draw):
    x, gamma, beta = scaled(draw, B, T, D)
    together = expect_norm(student, x, gamma, beta)
    alone = student.layer_norm(x[1:, 2:], gamma, beta)
    expect_close(alone, together[1:, 2:].double(), "the result of one token on its own")


@check("layer-norm", share=1, title="Gradients reach x, γ and β")
def test_norm_gradients(student, draw):
    given, upstream = scaled(draw, B, T, D), draw.normal(B, T, D)
    run = student.gradients(student.layer_norm, *given, upstream=upstream)
    x, gamma, beta = (one.double().requires_grad_() for one in given)
    mean = x.mean(-1, keepdim=True)
    constant = (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt().detach()
    detached = norm_by(x, mean, constant, gamma, beta)
    (wrong,) = torch.autograd.grad((detached * upstream).sum(), x)
    named = {"the gradient if the variance is detached, as if it were constant": wrong}
    spread = (x.var(-1, unbiased=False, keepdim=True) + 1e-5).sqrt()
    detached = norm_by(x, mean.detach(), spread, gamma, beta)
    (wrong,) = torch.autograd.grad((detached * upstream).sum(), x)
    named["the gradient if the mean is detached, as if it were constant"] = wrong
    expect_gradients(run, reference.layer_norm, given, upstream, [named])


@check("layer-norm", share=1, title="Full float64 precision, and any strides")
def test_norm_double(student, draw):
    x, gamma, beta = scaled(draw, T, B, D, dtype=torch.float64)
    given, plain = (x.transpose(0, 1), gamma, beta), scaled(draw, B, T, D)
    words = "code that works only for float32 or contiguous tensors"
    with blame(words, lambda: expect_norm(student, *plain)):
        expect_double(student.layer_norm, reference.layer_norm, given, "the result")


@check("layer-norm", share=1, title="Each call has its own result")
def test_norm_of_each_call(student, draw):
    calls = [scaled(draw, B, T + 1, D) for _ in range(3)]
    calls.append((calls[-1][0], *calls[0][1:]))
    expect_each_call_anew(
        student,
        student.layer_norm,
        calls,
        lambda *given: reference.layer_norm(*(one.double() for one in given)),
        "the result",
    )


@check(
    "layer-norm",
    share=1,
    title="Inputs do not change and stay on their device",
    form=True,
)
def test_norm_leaves_its_inputs(student, draw):
    given = scaled(draw, B, T, D)
    expect_no_traces(student, student.layer_norm, *given, still=True)
    expect_same_device(student, student.layer_norm, *given, what="the result")


@check(
    "layer-norm",
    share=1,
    title="Written by you",
    form=True,
    bans=("layer_norm", BUILT_INS),
)
def test_norm_is_written_by_hand(student, draw):
    test_norm_values(student, draw)


# --- AddNorm ----------------------------------------------------------------------


def build_add_norm(
    student, draw, norm_first: bool, dropout: float = 0.0
) -> tuple[Any, Tensor, Tensor]:
    """Build the student's AddNorm with random γ and β, and return all three."""
    module = student.AddNorm(D, dropout, norm_first)
    if module.parameters_by_name() != {"norm.weight": (D,), "norm.bias": (D,)}:
        fail(
            "The module should have only the LayerNorm of the given constructor, "
            "and no other parameters.",
            mistake="layers that differ from those of the constructor",
        )
    state = drawn_state(draw, module)
    module.eval()
    return module, state["norm.weight"], state["norm.bias"]


def build_sublayer(student, draw) -> tuple[Any, Callable[[Tensor], Tensor]]:
    """Build a linear layer in the student's process, and the same in float64 here."""
    sublayer = student.load(LINEAR)(D, D)
    state = drawn_state(draw, sublayer)
    w, bias = state["weight"].double(), state["bias"].double()
    return sublayer, lambda x: x.double() @ w.T + bias


def add_norm(x: Tensor, f: Any, gamma: Tensor, beta: Tensor, first: bool) -> Tensor:
    """Compute AddNorm in float64, with the normalisation first or last."""
    x, norm = x.double(), normaliser(gamma, beta)
    return x + f(norm(x)) if first else norm(x + f(x))


def watched(f: Callable[[Tensor], Tensor], seen: list[Tensor]) -> Callback:
    """Return a sub-layer that stores its input in `seen`."""

    def sublayer(y: Tensor) -> Tensor:
        seen.append(y.clone())
        return f(y)

    return Callback(sublayer)


def expect_whole_input(before: Sequence[Tensor], training: Sequence[Tensor]) -> None:
    """Fail if the input of a sub-layer differs between training and evaluation."""
    for whole, given in zip(before, training, strict=False):
        if not torch.equal(whole, given):
            fail(
                "The sub-layer's input differs between training and evaluation: "
                "something is dropped before it. Apply dropout only to f's output.",
                mistake="dropout on the sub-layer's input too",
            )


def normaliser(gamma: Tensor, beta: Tensor) -> Callable[[Tensor], Tensor]:
    """Return the layer normalisation with γ and β, in float64."""
    return lambda x: reference.layer_norm(x.double(), gamma.double(), beta.double())


def add_norm_mistakes(
    x: Tensor, f: Any, gamma: Tensor, beta: Tensor, first: bool
) -> dict[str, Run]:
    """Return wrong results of AddNorm, keyed by the name of the mistake."""
    x, norm = x.double(), normaliser(gamma, beta)
    other = "pre-norm instead of post-norm"
    if first:
        other = "post-norm instead of pre-norm"
    return {
        **no_answers(x),
        Phrase("the result of {other}", other): lambda: add_norm(
            x, f, gamma, beta, not first
        ),
        "norm(x) + f(x): the residual is normalised, but f's input is not": lambda: (
            norm(x) + f(x)
        ),
        "x + norm(f(x)): only the sub-layer's output is normalised": lambda: (
            x + norm(f(x))
        ),
        "norm(x) + f(norm(x)): the residual should be x itself": lambda: (
            norm(x) + f(norm(x))
        ),
        "norm(x) + norm(f(x)): both are normalised before the sum": lambda: (
            norm(x) + norm(f(x))
        ),
        "norm(f(x)): no residual": lambda: norm(f(x)),
        "f(norm(x)): no residual": lambda: f(norm(x)),
        "f(x): neither residual nor normalisation": lambda: f(x),
        "x + f(x): no normalisation": lambda: x + f(x),
        "the result of a normalisation without γ and β": lambda: add_norm(
            x, f, torch.ones_like(gamma), torch.zeros_like(beta), first
        ),
        **repetitions(x, f, norm),
    }


def repetitions(x: Tensor, f: Any, norm: Callable[[Tensor], Tensor]) -> dict[str, Run]:
    """Return results with a missing, repeated or subtracted part, keyed by name."""
    return {
        "norm(x): the sub-layer is not used": lambda: norm(x),
        "norm(2 x): the sub-layer is not used": lambda: norm(2 * x),
        "norm(norm(x) + f(norm(x))): normalised both before and after": lambda: norm(
            norm(x) + f(norm(x))
        ),
        "norm(x + f(norm(x))): normalised both before and after": lambda: norm(
            x + f(norm(x))
        ),
        "norm(x - f(x)): a difference instead of the sum": lambda: norm(x - f(x)),
        "x - f(norm(x)): a difference instead of the sum": lambda: x - f(norm(x)),
        "f(x) + f(f(x)): the residual is the sub-layer's output": lambda: norm(
            f(x) + f(f(x))
        ),
        "norm(f(x) + f(x)): the residual is the sub-layer's output": lambda: norm(
            2 * f(x)
        ),
        "norm(x + x + f(x)): the residual is added twice": lambda: norm(2 * x + f(x)),
        "x + x + f(norm(x)): the residual is added twice": lambda: 2 * x + f(norm(x)),
        "norm(x + f(f(x))): the sub-layer is applied twice": lambda: norm(x + f(f(x))),
        "x + norm(f(norm(x))): both f's input and its output are normalised": (
            lambda: x + norm(f(norm(x)))
        ),
    }


def expect_add_norm(student, draw, norm_first: bool) -> None:
    """Compare the student's AddNorm, in one of its orders, with the reference."""
    module, gamma, beta = build_add_norm(student, draw, norm_first)
    sublayer, f = build_sublayer(student, draw)
    x = 2 * draw.normal(B, T, D) + 1
    got = module(x, sublayer)
    expect_shape(got, (B, T, D), "the result")
    want = add_norm(x, f, gamma, beta, norm_first)
    mistakes = add_norm_mistakes(x, f, gamma, beta, norm_first)
    expect_close(got, want, "the result", mistakes)


@check("add-norm", share=1, title="The shape of x, in both orders", form=True)
def test_add_norm_shape(student, draw):
    for norm_first in (False, True):
        module, _, _ = build_add_norm(student, draw, norm_first)
        sublayer, _ = build_sublayer(student, draw)
        got = module(draw.normal(B, T, D), sublayer)
        expect_shape(got, (B, T, D), "the result")


@check("add-norm", share=3, title="Post-norm, the order of the paper")
def test_post_norm(student, draw):
    expect_add_norm(student, draw, norm_first=False)


@check("add-norm", share=3, title="Pre-norm, with norm_first")
def test_pre_norm(student, draw):
    expect_add_norm(student, draw, norm_first=True)


@check(
    "add-norm",
    share=1,
    title="The sub-layer may be any function, and it is called once",
)
def test_add_norm_calls(student, draw):
    for norm_first in (False, True):
        module, gamma, beta = build_add_norm(student, draw, norm_first)
        seen: list[Tensor] = []

        def sublayer(y: Tensor, seen: list[Tensor] = seen) -> Tensor:
            seen.append(y)
            return y.flip(1).sin()

        x = draw.normal(B, T, D)
        got = module(x, Callback(sublayer))
        if len(seen) != 1:
            fail(
                Phrase(
                    "The sub-layer is called {count} times. Call it once: with "
                    "dropout inside it, two calls return different results.",
                    len(seen),
                ),
                mistake="the sub-layer is not called exactly once",
            )
        norm = normaliser(gamma, beta)
        given = norm(x) if norm_first else x
        wrong = x if norm_first else norm(x)
        mistakes = {
            "the unchanged input (pre-norm normalises it first)"
            if norm_first
            else "the normalised input (post-norm passes x itself)": wrong
        }
        expect_close(seen[0], given, "The sub-layer's input", mistakes)
        want = add_norm(x, lambda y: y.flip(1).sin(), gamma, beta, norm_first)
        expect_close(got, want, "the result")


@check("add-norm", share=2, title="Dropout on the sub-layer's output, only in training")
def test_add_norm_dropout(student, draw):
    module, _, _ = build_add_norm(student, draw, norm_first=True, dropout=P)
    x = draw.normal(60, T, D)
    before: list[Tensor] = []
    training: list[Tensor] = []
    result = module(x, watched(torch.ones_like, before))
    if not torch.allclose(result.float(), x + 1, atol=1e-5):
        expect_close(
            result,
            x.double() + 1,
            "the result after eval()",
            {"the input: the sub-layer is not used": x},
        )
    module.train()
    f = watched(torch.ones_like, training)
    added, again = (module(x, f).float() - x for _ in range(2))
    if torch.allclose(added, torch.ones_like(added), atol=1e-5):
        fail(
            Phrase("dropout={p} changed nothing in training", P),
            mistake="dropout is ignored",
        )
    known = torch.tensor([0, 1, 1 / P, P, 1 / (1 - P), 1 - P, 2])
    if not torch.isclose(added[..., None], known, atol=1e-4).any(-1).all():
        fail(
            Phrase(
                "With dropout {p}, the values of the sub-layer's output should be "
                "set to 0 or divided by {kept}, and x should not be dropped: drop "
                "f's output before you add it.",
                P,
                1 - P,
            ),
            mistake="dropout on something other than the sub-layer's output",
        )
    right = torch.ones_like(x)
    expect_dropped(added, right, P, "the sub-layer's output", OF_VECTORS, again)
    expect_whole_input(before, training)


@check("add-norm", share=1, title="Dropout in post-norm, before the normalisation")
def test_post_norm_dropout(student, draw):
    module, gamma, beta = build_add_norm(student, draw, False, dropout=NEARLY_ALL)
    x = draw.normal(B, T, D)
    before: list[Tensor] = []
    training: list[Tensor] = []
    norm = normaliser(gamma, beta)
    result = module(x, watched(torch.sin, before))
    want = add_norm(x, torch.sin, gamma, beta, False)
    mistakes = add_norm_mistakes(x.double(), torch.sin, gamma, beta, False)
    expect_close(result, want, "the result after eval()", mistakes)
    module.train()
    got = module(x, watched(torch.sin, training))
    expect_whole_input(before, training)
    named = {
        "dropout is ignored": want,
        "dropout after the normalisation": torch.zeros_like(x),
        "dropout on something other than the sub-layer's output: on the sum": norm(
            torch.zeros_like(x)
        ),
    }
    what = "The result in training, if the sub-layer's whole output is dropped,"
    expect_close(got, norm(x), what, named)


@check("add-norm", share=1, title="Each call drops different values")
def test_add_norm_draws(student, draw):
    for norm_first in (False, True):
        module, *_ = build_add_norm(student, draw, norm_first, dropout=P)
        sublayer, _ = build_sublayer(student, draw)
        x = draw.normal(60, T, D)
        expect_add_norm(student, draw, norm_first)
        module.train()
        expect_no_seed(student, module, x, sublayer, draws=True)


@check("add-norm", share=1, title="Gradients through the residual and through f")
def test_add_norm_gradients(student, draw):
    for norm_first in (False, True):
        module, gamma, beta = build_add_norm(student, draw, norm_first)
        sublayer, f = build_sublayer(student, draw)
        x, upstream = draw.normal(B, T, D), draw.normal(B, T, D)
        run = student.gradients(module, x, sublayer, upstream=upstream)
        norm = normaliser(gamma, beta)

        def trusted(x: Tensor, first=norm_first, norm=norm, f=f) -> Tensor:
            return x + f(norm(x)) if first else norm(x + f(x))

        def cut(y: Tensor, first=norm_first, norm=norm, f=f) -> Tensor:
            z = y.detach()
            return z + f(norm(y)) if first else norm(z + f(y))

        leaf = x.double().requires_grad_()
        (wrong,) = torch.autograd.grad((cut(leaf) * upstream).sum(), leaf)
        named = {
            "the gradient through only the sub-layer: the residual is cut off": wrong
        }
        expect_gradients(run, trusted, [x], upstream, [named])


@check("add-norm", share=1, title="Each call has its own result")
def test_add_norm_of_each_call(student, draw):
    for norm_first in (False, True):
        module, gamma, beta = build_add_norm(student, draw, norm_first)
        sublayer, f = build_sublayer(student, draw)
        calls = [(draw.normal(B, T + 1, D), sublayer) for _ in range(3)]
        expect_each_call_anew(
            student,
            module,
            calls,
            lambda x, _, own=(f, gamma, beta, norm_first): add_norm(x, *own),
            "the result",
        )


@check(
    "add-norm", share=1, title="x does not change and stays on its device", form=True
)
def test_add_norm_leaves_x(student, draw):
    for norm_first in (False, True):
        module, *_ = build_add_norm(student, draw, norm_first)
        sublayer, _ = build_sublayer(student, draw)
        given = draw.normal(B, T, D), sublayer
        expect_no_traces(student, module, *given, still=True)
        identity = student.load("torch.nn.Identity")()  # Identity returns x itself
        expect_no_traces(student, module, given[0], identity, still=True)
        expect_same_device(student, module, *given, what="the result")


def add_norms(student, norm_first: bool) -> Callable[[dict[str, int]], Any]:
    """Return a function that makes the student's `AddNorm` and the trusted one."""
    return lambda n: (
        student.AddNorm(n["d_model"], 0.0, norm_first),
        reference.AddNorm(n["d_model"], 0.0, norm_first),
    )


@check("add-norm", share=1, title="float64; any sizes")
def test_add_norm_double(student, draw):
    for norm_first in (False, True):
        module, gamma, beta = build_add_norm(student, draw, norm_first)
        sublayer, f = build_sublayer(student, draw)
        module.double()
        sublayer.double()
        x = draw.normal(T, 1, D, dtype=torch.float64).transpose(0, 1)
        got = module(x, sublayer)
        want = add_norm(x, f, gamma, beta, norm_first)
        words = "code that works only for float32 or larger batches"
        with blame(words, partial(expect_add_norm, student, draw, norm_first)):
            mistakes = add_norm_mistakes(x, f, gamma, beta, norm_first)
            expect_close(got, want, "the result", mistakes)
        expect_dtype(got, torch.float64, "the result")
        tanh = student.load("torch.nn.Tanh")()
        expect_modules_of_every_size(
            student,
            add_norms(student, norm_first),
            varied_inputs(draw, ["b,t,d_model"]),
            draw,
            "the result",
            rest=[(tanh, torch.tanh)],
        )

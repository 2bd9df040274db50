"""Hidden checks of unit 05: splitting, merging, the module, and its parameters."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.checking.behaviour import blame, expect_gradients, expect_parts
from autograder.checking.dropout import OF_WEIGHTS, expect_dropped, weights_seen_through
from autograder.checking.expect import (
    check,
    expect_close,
    expect_equal,
    expect_shape,
    fail,
)
from autograder.checking.failures import CheckFailed, StudentError
from autograder.checking.generic_checks import (
    expect_calls_apart,
    expect_checkpointed,
    expect_gradients_of_two_calls,
    expect_no_seed,
    expect_no_traces,
    expect_raises,
    expect_same_device,
    method_of,
)
from autograder.checking.kinds_of_inputs import (
    expect_double,
    expect_every_mask,
    masks_of_every_kind,
)
from autograder.checking.varied_inputs import (
    SOME_SIZES,
    expect_every_size,
    expect_modules_of_every_size,
    varied_inputs,
)
from autograder.phrases import Phrase
from transformer import multi_head as reference
from transformer.attention import masked_softmax

B, H, T, S, D_K = 3, 5, 6, 7, 9  # other than in the visible checks
D = H * D_K
MANY = 20  # enough queries to measure the share of dropped weights
TIE = "lambda pair: setattr(pair[1], 'weight', pair[0].weight)"
LINEAR = "torch.nn.Linear"
SEQUENTIAL = "torch.nn.Sequential"
BUILT_INS = [
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention",
]
Run = Callable[[], Any]
OUTPUT_AND_WEIGHTS = "two things, the output and the weights"
NEEDS_A_BATCH = "code that needs a contiguous tensor or a larger batch"
OTHERS_HEADS = "the number of heads left over from another module"


# --- mistakes ---------------------------------------------------------------------


def view_split(x: Tensor, n_heads: int) -> Tensor:
    """Split heads with a `view` but without a transpose."""
    return x.reshape(x.size(0), n_heads, x.size(1), -1)


def view_merge(x: Tensor) -> Tensor:
    """Merge heads with a `view` but without a transpose."""
    return x.reshape(x.size(0), x.size(2), -1)


def every_hth_split(x: Tensor, n_heads: int) -> Tensor:
    """Split heads so that each head takes every h-th column."""
    return x.unflatten(-1, (-1, n_heads)).permute(0, 3, 1, 2)


def split_mistakes(x: Tensor, h: int) -> dict[str, Run]:
    """Return wrong results of split_heads, keyed by the name of the mistake."""
    b, t, d = x.shape
    return {
        "the result of a view directly to (b, h, t, d_k) without a transpose: row "
        "i of a head no longer comes from token i": lambda: view_split(x, h),
        "the result if each head gets every h-th column instead of d_k adjacent ones": (
            lambda: every_hth_split(x, h)
        ),
        "the result with the heads in the opposite order": lambda: (
            reference.split_heads(x, h).flip(1)
        ),
        "the result of splitting the tokens among the heads": lambda: torch.stack(
            x.transpose(1, 2).reshape(b, -1).chunk(h, dim=1), 1
        ).reshape(b, h, t, d // h),
        "the first slice repeated for every head": lambda: x[
            :, None, :, : d // h
        ].expand(b, h, t, d // h),
    }


def merge_mistakes(x: Tensor) -> dict[str, Run]:
    """Return wrong results of merge_heads, keyed by the name of the mistake."""
    b, h, t, d_k = x.shape
    return {
        "the result of a view or reshape without a transpose: the rows mix tokens": (
            lambda: view_merge(x)
        ),
        "the result of interleaved heads (alternating columns)": lambda: x.permute(
            0, 2, 3, 1
        ).reshape(b, t, h * d_k),
        "the result with the heads in the opposite order": lambda: (
            reference.merge_heads(x.flip(1))
        ),
        "one head repeated": lambda: x[:, 0].repeat(1, 1, h),
        "the mean over the heads, repeated": lambda: x.mean(1).repeat(1, 1, h),
    }


@dataclass(frozen=True)
class Slip:
    """A way to compute multi-head attention, which is correct by default.

    Attributes:
        maps: the projections of queries, keys, values and output; "" = none.
        sources: the inputs from which the queries, keys and values are computed.
        split: the function that splits heads.
        merge: the function that merges heads.
        width: the scores are divided by its square root; None = d_k.
        mask: the function that is applied to the mask.
        share: the function that is applied to the heads' weights before the average
            over the values.
    """

    maps: Sequence[str] = ("w_q", "w_k", "w_v", "w_o")
    sources: Sequence[int] = (0, 1, 2)
    split: Callable[[Tensor, int], Tensor] = reference.split_heads
    merge: Callable[[Tensor], Tensor] = reference.merge_heads
    width: int | None = None
    mask: Callable[[Tensor], Tensor | None] = lambda mask: mask
    share: Callable[[Tensor], Tensor] = lambda weights: weights


def first_head_only(mask: Tensor) -> Tensor:
    """Let every head except the first attend to all keys."""
    every = torch.ones(1, H, 1, 1, dtype=torch.bool)
    every[:, 0] = False
    return mask | every


SLIPS = {
    "the result without the output projection w_o": Slip(("w_q", "w_k", "w_v", "")),
    "the result with one projection for queries and keys": Slip(
        ("w_q", "w_q", "w_v", "w_o")
    ),
    "the result with one projection for keys and values": Slip(
        ("w_q", "w_k", "w_k", "w_o")
    ),
    "the result with the projections of queries and keys swapped": Slip(
        ("w_k", "w_q", "w_v", "w_o")
    ),
    "the result with one projection for all three": Slip(("w_q", "w_q", "w_q", "w_o")),
    "the result with values that are not projected": Slip(("w_q", "w_k", "", "w_o")),
    "the result with keys and values from the query's input": Slip(sources=(0, 0, 0)),
    "the result with values from the keys' input": Slip(sources=(0, 1, 1)),
    "the result with queries from the keys' input": Slip(sources=(1, 1, 2)),
    "the result with values from the query's input": Slip(sources=(0, 1, 0)),
    "the result with keys from the query's input": Slip(sources=(0, 0, 2)),
    "the result with keys from the values' input": Slip(sources=(0, 2, 2)),
    "the result with keys and values swapped": Slip(sources=(0, 2, 1)),
    "the result if each head gets every h-th column and the heads are merged side "
    "by side": Slip(split=every_hth_split),
    "the result if each head gets every h-th column in both "
    "splitting and merging": Slip(
        split=every_hth_split,
        merge=lambda x: x.permute(0, 2, 3, 1).flatten(2),
    ),
    "the result of splitting with only a view, without a transpose": Slip(
        split=view_split
    ),
    "the result of merging without a transpose": Slip(merge=view_merge),
    "the result of splitting and merging without a transpose": Slip(
        split=view_split, merge=view_merge
    ),
    "the result of scores divided by √d_model, although each "
    "head is only d_k wide": Slip(width=D),
    "the result without scaling the scores": Slip(width=1),
    "the result when the mask is ignored": Slip(mask=lambda mask: None),
    "the result of an inverted mask (True means: may attend)": Slip(
        mask=lambda mask: ~mask
    ),
    "the result of a mask on the queries instead of the keys": Slip(
        mask=lambda mask: mask.transpose(-2, -1)
    ),
    "the result with the mask on only the first head": Slip(mask=first_head_only),
    "the result of using the heads' mean weights for every head": Slip(
        share=lambda weights: weights.mean(1, keepdim=True).expand_as(weights)
    ),
    "the result of one attention over the whole width, without heads": Slip(
        split=lambda x, h: x[:, None].expand(-1, h, -1, -1),
        merge=lambda x: x[:, 0],
        width=D,
    ),
    "the mean over the heads instead of their concatenation": Slip(
        merge=lambda x: x.mean(1).repeat(1, 1, H)
    ),
}


def compute(
    state: Mapping[str, Tensor],
    inputs: Sequence[Tensor],
    mask: Tensor | None = None,
    slip: Slip | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute multi-head attention in float64, with or without a mistake."""
    slip = slip or Slip()

    def apply(name: str, x: Tensor) -> Tensor:
        if not name:
            return x
        weight, bias = state[f"{name}.weight"].double(), state[f"{name}.bias"].double()
        return x.double() @ weight.T + bias

    sources = [inputs[number].double() for number in slip.sources]
    q, k, v = (
        slip.split(apply(name, x), H)
        for name, x in zip(slip.maps, sources, strict=False)
    )
    scores = q @ k.transpose(-2, -1) / (slip.width or D_K) ** 0.5
    weights = masked_softmax(scores, None if mask is None else slip.mask(mask))
    weights = slip.share(weights)
    return apply(slip.maps[3], slip.merge(weights @ v)), weights


def slips(
    state: Mapping[str, Tensor],
    inputs: Sequence[Tensor],
    mask: Tensor | None = None,
    part: int = 0,
) -> dict[str, Run]:
    """Return wrong results, keyed by the name of the mistake.

    `part` is 0 for the output and 1 for the weights.
    """

    def by(slip: Slip) -> Run:
        return lambda: compute(state, inputs, mask, slip)[part]

    return {phrase: by(slip) for phrase, slip in SLIPS.items()}


# --- building and calling ---------------------------------------------------------


def build(student, draw, dropout: float = 0.0) -> tuple[Any, dict[str, Tensor]]:
    """Build the student's module with random weights, and return both."""
    names = ("w_q", "w_k", "w_v", "w_o")
    shapes: dict[str, tuple[int, ...]] = {f"{name}.weight": (D, D) for name in names}
    shapes |= {f"{name}.bias": (D,) for name in names}
    module = student.MultiHeadAttention(D, H, dropout)
    expect_parameters(module, shapes)
    state = {name: 1.4 * value / D**0.5 for name, value in draw.state(shapes).items()}
    module.load_state_dict(state)
    module.eval()
    return module, state


def expect_parameters(module: Any, shapes: Mapping[str, Sequence[int]]) -> None:
    """Fail unless the module has exactly the parameters that the constructor makes."""
    found = module.parameters_by_name()
    missing = sorted(set(shapes) - set(found))
    if missing:
        fail(
            Phrase(
                "The module has no parameter {name}. Store a layer as an "
                "attribute or in an nn.ModuleList, not in a Python list. The "
                "given constructor makes w_q, w_k, w_v and w_o.",
                missing[0],
            ),
            mistake="layers that are not part of the module, so their parameters are "
            "missing",
        )
    extra = sorted(set(found) - set(shapes))
    if extra or any(found[name] != tuple(shapes[name]) for name in shapes):
        fail(
            "The module should have the four projections of the given "
            "constructor, from d_model to d_model, and no other parameters.",
            mistake="projections that differ from those of the constructor",
        )


def attend(module: Any, *args: Any) -> tuple[Tensor, Tensor]:
    """Call the student's module, and fail unless it returns a pair."""
    what = OUTPUT_AND_WEIGHTS
    output, weights = expect_parts(module(*args), 2, what)
    return output, weights


def inputs(draw, s: int = S) -> list[Tensor]:
    """Draw a query (B, T, D), and keys and values (B, s, D) that all differ."""
    return [draw.normal(B, length, D) for length in (T, s, s)]


def heads_of(draw) -> list[Tensor]:
    """Draw the arguments of `attend`: queries, keys and values, split into heads."""
    return [draw.normal(B, H, length, D_K) for length in (T, S, S)]


def expect_heads(actual: Any, length: int, what: str) -> None:
    """Fail unless queries, keys or values are split into heads."""
    shape = tuple(actual.shape) if isinstance(actual, Tensor) else None
    if shape == (B, length, D):
        fail(
            Phrase("{what} is not split into heads yet.", what),
            mistake="not split into heads",
        )
    if shape == (B, length, H, D_K):
        fail(
            Phrase(
                "{what} has the shape (b, t, h, d_k): the head axis still comes "
                "after the token axis.",
                what,
            ),
            mistake="the head axis after the token axis: no transpose",
        )
    expect_shape(actual, (B, H, length, D_K), what)


def expect_split(student, x: Tensor, n_heads: int = H) -> None:
    """Compare the student's split_heads with the reference solution."""
    got = student.split_heads(x, n_heads)
    want = reference.split_heads(x.double(), n_heads)
    mistakes = split_mistakes(x, n_heads)
    expect_close(
        got, want, Phrase("with n_heads={n_heads}, the result", n_heads), mistakes
    )


def expect_merge(student, x: Tensor) -> None:
    """Compare the student's merge_heads with the reference solution."""
    want = reference.merge_heads(x.double())
    expect_close(student.merge_heads(x), want, "the result", merge_mistakes(x))


# --- split_heads ------------------------------------------------------------------


@check("split-heads", share=1, title="Heads have the shape (b, h, t, d_k)", form=True)
def test_split_shape(student, draw):
    expect_heads(student.split_heads(draw.normal(B, T, D), H), T, "The result")


@check("split-heads", share=3, title="Each head gets its slice of every token")
def test_split_values(student, draw):
    x = draw.normal(B, T, D)
    want = reference.split_heads(x.double(), H)
    got = student.split_heads(x, H)
    expect_close(got, want, "the result", mistakes=split_mistakes(x, H))


@check("split-heads", share=1, title="One head, and as many heads as columns")
def test_split_extremes(student, draw):
    x = draw.normal(B, T, D)
    expect_any_number(lambda n: expect_split(student, x, n), (H, 1, 3, D_K, D))
    for case in varied_inputs(draw, ["b,t,h*d_k"]):
        h = case.sizes["h"]
        is_special = case.case in ("ones", "falling")  # one sentence, or not contiguous
        words = NEEDS_A_BATCH if is_special else SOME_SIZES
        with blame(words, partial(expect_split, student, x)):
            expect_every_size(
                student,
                student.split_heads,
                lambda x, h=h: reference.split_heads(x, h),
                [case],
                "the result",
                rest=[h],
            )


def expect_any_number(compare: Callable[[int], None], numbers: Sequence[int]) -> None:
    """Fail unless the comparison succeeds with every number of heads."""

    def for_some() -> None:
        for number in numbers:
            try:
                return compare(number)
            except (CheckFailed, StudentError):
                continue
        fail("It is wrong for every number of heads.")

    for number in numbers:
        with blame("code that works for only one number of heads", for_some):
            compare(number)


@check(
    "split-heads",
    share=1,
    title="Inputs that are not contiguous, are float64, or are a batch of one",
)
def test_split_strided(student, draw):
    strided = draw.normal(T, B, D, dtype=torch.float64).transpose(0, 1)
    for given in (strided, draw.normal(1, T, D, dtype=torch.float64)):
        plain = draw.normal(B, T, D)
        with blame(NEEDS_A_BATCH, partial(expect_split, student, plain)):
            got = student.split_heads(given, H)
            want = reference.split_heads(given, H)
            expect_close(got, want, "the result", split_mistakes(given, H))
        expect_double(
            student.split_heads, reference.split_heads, [given, H], "the result"
        )


@check("split-heads", share=1, title="Calls are independent, and x does not change")
def test_split_calls_apart(student, draw):
    calls = [(draw.normal(B, T + 2, D), H) for _ in range(2)]
    split = reference.split_heads
    expect_calls_apart(student, student.split_heads, calls, split, "the result")


@check("split-heads", share=1, title="Heads are on the device of x", form=True)
def test_split_device(student, draw):
    x = draw.normal(B, T, D)
    expect_same_device(student, student.split_heads, x, H, what="the result")


@check("split-heads", share=1, title="A width that cannot be split", form=True)
def test_split_of_other_widths(student, draw):
    x = draw.normal(B, T, D)
    what = "a width that is not a multiple of the number of heads"
    for n_heads in (2, 4, 7):
        expect_raises(
            student, student.split_heads, x, n_heads, kind="Exception", what=what
        )


@check("split-heads", share=1, title="Gradients reach the input")
def test_split_gradients(student, draw):
    x, upstream = draw.normal(B, T, D), draw.normal(B, H, T, D_K)
    run = student.gradients(student.split_heads, x, H, upstream=upstream)
    expect_gradients(run, lambda x: reference.split_heads(x, H), [x], upstream)


# --- merge_heads ------------------------------------------------------------------


@check("merge-heads", share=1, title="The shape is (b, t, d_model)", form=True)
def test_merge_shape(student, draw):
    got = student.merge_heads(draw.normal(B, H, T, D_K))
    shape = tuple(got.shape) if isinstance(got, Tensor) else None
    if shape == (B, T, D_K):
        fail(
            "The heads are added up or averaged, but they should be side by side.",
            mistake="the heads added up or averaged",
        )
    if shape == (B, H * T, D_K):
        fail(
            "The heads are concatenated along the token axis, but each token "
            "should have its heads side by side.",
            mistake="the heads concatenated along the token axis",
        )
    if shape == (B, T, H, D_K):
        fail(
            "The heads still have their own axis: (b, t, h, d_k). Merge the last "
            "two axes.",
            mistake="the last two axes are not merged",
        )
    expect_shape(got, (B, T, D), "the result")


@check("merge-heads", share=3, title="Each token has its heads side by side")
def test_merge_values(student, draw):
    x = draw.normal(B, H, T, D_K)
    want = reference.merge_heads(x.double())
    got = student.merge_heads(x)
    expect_close(got, want, "the result", mistakes=merge_mistakes(x))


@check("merge-heads", share=1, title="One head, and one column per head")
def test_merge_extremes(student, draw):
    wide = {n: draw.normal(B, n, T, D // n) for n in (H, 1, 3, D_K, D)}
    expect_any_number(lambda n: expect_merge(student, wide[n]), list(wide))
    expect_every_size(
        student,
        student.merge_heads,
        reference.merge_heads,
        varied_inputs(draw, ["b,h,t,d_k"]),
        "the result",
        mistakes=merge_mistakes,
    )


@check(
    "merge-heads",
    share=1,
    title="Inputs that are not contiguous, are float64, or are a batch of one",
)
def test_merge_strided(student, draw):
    split = draw.normal(B, T, H, D_K, dtype=torch.float64).transpose(1, 2)
    plain = draw.normal(B, H, T, D_K)
    for x in (split, draw.normal(1, H, D_K, T, dtype=torch.float64).mT):
        words = "code that needs a certain memory layout or a larger batch"
        with blame(words, lambda: expect_merge(student, plain)):
            got = student.merge_heads(x)
            expect_close(got, reference.merge_heads(x), "the result", merge_mistakes(x))
        expect_double(student.merge_heads, reference.merge_heads, [x], "the result")


@check("merge-heads", share=1, title="Calls are independent, and x does not change")
def test_merge_calls_apart(student, draw):
    calls = [(draw.normal(B, H, T + 2, D_K),) for _ in range(2)]
    merge = reference.merge_heads
    expect_calls_apart(student, student.merge_heads, calls, merge, "the result")


@check("merge-heads", share=1, title="The result is on the device of x", form=True)
def test_merge_device(student, draw):
    x = draw.normal(B, H, T, D_K)
    expect_same_device(student, student.merge_heads, x, what="the result")


@check("merge-heads", share=1, title="Gradients reach the input")
def test_merge_gradients(student, draw):
    x, upstream = draw.normal(B, H, T, D_K), draw.normal(B, T, D)
    run = student.gradients(student.merge_heads, x, upstream=upstream)
    expect_gradients(run, reference.merge_heads, [x], upstream)


# --- MultiHeadAttention -----------------------------------------------------------


@check("multi-head-attention", share=1, title="Output and weights: shapes", form=True)
def test_module_shapes(student, draw):
    module, _ = build(student, draw)
    output, weights = attend(module, *inputs(draw))
    expect_shape(output, (B, T, D), "output")
    if isinstance(weights, Tensor) and tuple(weights.shape) == (B, T, S):
        fail(
            "The weights have the shape (b, t, s). Return those of every head: "
            "(b, h, t, s).",
            mistake="the mean of the heads' weights",
        )
    expect_shape(weights, (B, H, T, S), "the tensor of weights")


@check("multi-head-attention", share=2, title="project_query")
def test_project_query(student, draw):
    module, state = build(student, draw)
    query = draw.normal(B, T, D)
    got = module.project_query(query)
    expect_heads(got, T, "The result of project_query")
    expect_close(got, projected(state, "w_q", query), "q", projections(state, query))
    one = student.MultiHeadAttention(D, 1)
    one.load_state_dict(state)
    want = torch.nn.functional.linear(query, state["w_q.weight"], state["w_q.bias"])
    what, named = "q of a second module with one head", {OTHERS_HEADS: got}
    expect_close(one.project_query(query), want[:, None], what, named)


@check("multi-head-attention", share=2, title="project_key_value")
def test_project_key_value(student, draw):
    module, state = build(student, draw)
    given = {"k": draw.normal(B, S, D), "v": draw.normal(B, S, D)}
    pair = expect_parts(module.project_key_value(*given.values()), 2, "keys, values")
    for name, got in zip(given, pair, strict=True):
        expect_heads(got, S, Phrase("{name} of project_key_value", name))
        want = projected(state, f"w_{name}", given[name])
        mistakes = projections(state, given[name])
        other = given["v" if name == "k" else "k"]
        for phrase, run in projections(state, other).items():
            mistakes[Phrase("{phrase}, computed from the other input", phrase)] = run
        expect_close(got, want, name, mistakes)


def projected(state: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    """Project x and split it into heads, in float64."""
    weight, bias = state[f"{name}.weight"].double(), state[f"{name}.bias"].double()
    return reference.split_heads(x.double() @ weight.T + bias, H)


def projections(state: Mapping[str, Tensor], x: Tensor) -> dict[str, Run]:
    """Return wrong projections of `x`, keyed by the name of the mistake."""
    named: dict[str, Run] = {}
    for name in ("w_q", "w_k", "w_v", "w_o"):
        named |= projection_by(name, projected(state, name, x))
    named["the input that is split but not projected"] = lambda: reference.split_heads(
        x, H
    )
    return named


def projection_by(name: str, right: Tensor) -> dict[str, Run]:
    """Return one projection, split correctly and incorrectly, keyed by name."""
    return {
        Phrase("the projection by {name}", name): lambda: right,
        Phrase("the projection by {name}, split without a transpose", name): lambda: (
            view_split(reference.merge_heads(right), H)
        ),
        Phrase(
            "the projection by {name}, split so that each head gets every h-th column",
            name,
        ): (lambda: every_hth_split(reference.merge_heads(right), H)),
    }


@check("multi-head-attention", share=3, title="attend with a mask for every query")
def test_attend(student, draw):
    module, state = build(student, draw)
    q, k, v = heads_of(draw)
    mask = draw.mask(B, 1, T, S)
    result = module.attend(q, k, v, mask)
    output, weights = expect_parts(result, 2, OUTPUT_AND_WEIGHTS)
    unprojected = state | identity_maps("w_q", "w_k", "w_v")
    merged = [reference.merge_heads(x) for x in (q, k, v)]
    want = compute(unprojected, merged, mask)
    mistakes = slips(unprojected, merged, mask)
    expect_close(output, want[0], "the output of attend", mistakes)
    mistakes = slips(unprojected, merged, mask, part=1)
    expect_close(weights, want[1], "the tensor of weights of attend", mistakes)


def identity_maps(*names: str) -> dict[str, Tensor]:
    """Return weights with which the named projections change nothing."""
    state = {f"{name}.weight": torch.eye(D) for name in names}
    return state | {f"{name}.bias": torch.zeros(D) for name in names}


@check(
    "multi-head-attention", share=3, title="Three inputs of two lengths, without a mask"
)
def test_module_values(student, draw):
    module, state = build(student, draw)
    for given in ([draw.normal(B, T, D) for _ in range(3)], inputs(draw)):
        output, _ = attend(module, *given)
        want, _ = compute(state, given)
        expect_close(output, want, "output", mistakes=slips(state, given))


@check("multi-head-attention", share=2, title="Self-attention with a padding mask")
def test_module_padding(student, draw):
    module, state = build(student, draw)
    x = draw.normal(3, T, D)
    mask = (torch.arange(T) < torch.tensor([5, 3, 1])[:, None])[:, None, None]
    output, _ = attend(module, x, x, x, mask)
    want, _ = compute(state, [x, x, x], mask)
    expect_close(output, want, "output", mistakes=slips(state, [x, x, x], mask))


@check("multi-head-attention", share=2, title="The weights of every head, masked")
def test_module_weights(student, draw):
    module, state = build(student, draw)
    given, mask = inputs(draw), draw.mask(B, 1, 1, S)
    _, weights = attend(module, *given, mask)
    _, want = compute(state, given, mask)
    expect_close(
        weights,
        want,
        "the tensor of weights",
        mistakes=slips(state, given, mask, part=1),
    )


@check("multi-head-attention", share=1, title="Masks for each sentence and each head")
def test_module_with_every_mask(student, draw):
    module, state = build(student, draw)
    given = inputs(draw)
    expect_every_mask(
        lambda mask: attend(module, *given, mask)[0],
        lambda mask: compute(state, given, mask)[0],
        masks_of_every_kind(draw, B, H, T, S),
        "the output",
        lambda mask: slips(state, given, mask),
    )


@check(
    "multi-head-attention", share=2, title="Dropout in training, and only in training"
)
def test_module_dropout(student, draw):
    module, state = build(student, draw, dropout=0.2)
    given = inputs(draw)
    output, _ = attend(module, *given)
    want, right = compute(state, given)
    if not torch.allclose(output.float(), want.float(), atol=1e-4):
        again, _ = attend(module, *given)
        if not torch.equal(again, output):
            fail(
                "After eval(), two calls with the same input differ: weights are "
                "dropped although the module is not training.",
                mistake="dropout in evaluation",
            )
        expect_close(output, want, "output", mistakes=slips(state, given))
    module.train()
    dropped, weights = attend(module, *given)
    if torch.allclose(dropped.float(), want.float(), atol=1e-4):
        fail(
            "With dropout 0.2, the outputs in training and in evaluation are equal.",
            mistake="dropout is ignored",
        )
    expect_weights_before_dropout(weights, right)
    expect_weights_dropped(module, state, draw)
    for p in (0.2, 0.7):
        expect_share_dropped(*build(student, draw, dropout=p), p, student, draw)


def expect_weights_before_dropout(weights: Tensor, right: Tensor) -> None:
    """Fail if some of the returned weights have been dropped."""
    expect_shape(weights, tuple(right.shape), "the tensor of weights")
    lost = weights == 0
    after = right.masked_fill(lost, 0) / 0.8
    mistakes = {"the weights after the dropout": after} if lost.any() else {}
    what = "In training, the tensor of weights before dropout"
    expect_close(weights, right, what, mistakes)


def expect_weights_dropped(module: Any, state: dict[str, Tensor], draw) -> None:
    """Fail unless dropout in training drops weights, and nothing else.

    With a single key, a head has one weight. Its result is therefore 0 or a multiple of
    the whole value.
    """
    module.load_state_dict(state | identity_maps("w_o"))
    query, key, value = (draw.normal(20, length, D) for length in (T, 1, 1))
    output, _ = attend(module, query, key, value)
    expect_shape(output, (20, T, D), "output")
    heads = reference.split_heads(output.double(), H)  # (20, H, T, D_K)
    values = projected(state, "w_v", value)
    scale = (heads * values).sum(-1, keepdim=True) / values.square().sum(-1, True)
    if not torch.allclose(heads, scale * values, atol=1e-4):
        fail(
            "With a single key, a head has a single weight, so in training the "
            "head's whole result should be either 0 or scaled. Yours is neither: "
            "you drop something other than the weights, or not only the weights.",
            mistake="dropout on something other than the weights",
        )


def expect_share_dropped(
    module: Any, state: dict[str, Tensor], p: float, student, draw
) -> None:
    """Fail unless `attend` drops a share `p` of the weights and scales the rest."""
    module.load_state_dict(state | identity_maps("w_o"))
    module.train()
    q, k = draw.normal(B, H, MANY, D_K), draw.normal(B, H, D_K, D_K)
    given = q, k, weights_seen_through(D_K, B, H)  # the output then equals the weights
    expect_no_seed(student, method_of(student, module, "attend"), *given, part=0)
    runs = [
        expect_parts(module.attend(*given), 2, OUTPUT_AND_WEIGHTS) for _ in range(2)
    ]
    used, again = (reference.split_heads(run[0].float(), H) for run in runs)
    right = masked_softmax(q.double() @ k.double().mT / D_K**0.5).float()
    expect_dropped(used, right, p, "the weights", OF_WEIGHTS, again)


@check("multi-head-attention", share=1, title="Gradients reach every parameter")
def test_module_gradients(student, draw):
    module, state = build(student, draw)
    given, upstream = inputs(draw), draw.normal(B, T, D)
    run = student.gradients(module, *given, upstream=upstream)
    leaves = {n: p.double().requires_grad_() for n, p in state.items()}
    total = (compute(leaves, given)[0] * upstream).sum()
    wanted = torch.autograd.grad(total, list(leaves.values()))
    for name, want in zip(leaves, wanted, strict=True):
        got = run.parameters[name]
        if got is None:
            fail(
                Phrase("No gradient reaches {name}.", name),
                mistake=Phrase("no gradient for {name}", name),
            )
        expect_close(got, want, Phrase("The gradient of {name}", name), tolerance=1e-3)

    def trusted(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return compute(state, (query, key, value))[0]

    expect_gradients(run, trusted, given, upstream)


@check(
    "multi-head-attention",
    share=1,
    title="Gradients over two calls and under checkpointing",
)
def test_module_gradients_again(student, draw):
    module, state = build(student, draw)
    first, second = inputs(draw), inputs(draw)
    rest, mask = first[1:], draw.mask(B, 1, T, S)
    upstream = draw.normal(B, T, D)
    expect_gradients_of_two_calls(
        student,
        module,
        first[0],
        second[0],
        lambda query: compute(state, [query, *rest], mask)[0],
        upstream,
        rest=(*rest, mask),
        part=0,
    )
    expect_checkpointed(student, module, *second, mask, upstream=upstream, output=0)


@check(
    "multi-head-attention",
    share=2,
    title="Calls are independent, and inputs do not change",
)
def test_module_calls_apart(student, draw):
    module, state = build(student, draw)
    t, s = T + 2, S + 3

    def given() -> tuple[Tensor, ...]:
        lengths = (t, s, s)
        return *(draw.normal(B, n, D) for n in lengths), draw.mask(B, 1, t, s)

    def output(*args: Tensor) -> Tensor:
        return compute(state, args[:3], args[3] if len(args) > 3 else None)[0]

    first, second = given(), given()
    mistakes = {
        "the result with keys and values from an earlier call": output(
            second[0], *first[1:3], second[3]
        ),
        "the result with the mask from an earlier call": output(*second[:3], first[3]),
    }
    expect_calls_apart(
        student, module, [first, second], output, "the output", 0, mistakes
    )
    without = [given()[:3], given()[:3]]
    expect_calls_apart(student, module, without, output, "the output", 0)
    module.train()
    expect_no_traces(student, module, *first)
    module.eval()
    before, new = output(*first), {name: 0.7 * value for name, value in state.items()}
    module.load_state_dict(new)
    got, _ = expect_parts(module(*first), 2, OUTPUT_AND_WEIGHTS)
    want, what = compute(new, first[:3], first[3])[0], "the output"
    named = {"the output of weights that were stored earlier": before}
    expect_close(got, want, Phrase("After new weights are loaded, {what}", what), named)


@check(
    "multi-head-attention",
    share=1,
    title="Results are on the inputs' device",
    form=True,
)
def test_module_device(student, draw):
    module, _ = build(student, draw)
    given = *inputs(draw), draw.mask(B, 1, T, S)
    expect_same_device(student, module, *given, what="a result")


@check("multi-head-attention", share=1, title="float64, any sizes and strides")
def test_module_double(student, draw):
    module, state = build(student, draw)
    plain = inputs(draw)

    def ordinary() -> None:
        module.float()
        output, _ = attend(module, *plain)
        expect_close(output, compute(state, plain)[0], "output")

    x = draw.normal(T, 1, D, dtype=torch.float64).transpose(0, 1)
    memory = draw.normal(1, D, S, dtype=torch.float64).mT
    words = "code that works only for float32, contiguous tensors or larger batches"
    module.double()
    with blame(words, ordinary):
        output, _ = attend(module, x, memory, memory)
        want, _ = compute(state, [x, memory, memory])
        mistakes = slips(state, [x, memory, memory])
        expect_close(output, want, "output", mistakes=mistakes)
    expect_double(
        lambda *args: attend(module, *args)[0],
        lambda *args: compute(state, args)[0],
        [x, memory, memory],
        "the output",
    )
    expect_modules_of_every_size(
        student,
        lambda n: (
            student.MultiHeadAttention(n["h"] * n["d_k"], n["h"]),
            reference.MultiHeadAttention(n["h"] * n["d_k"], n["h"]),
        ),
        varied_inputs(
            draw,
            ["b,t,h*d_k", "b,s,h*d_k", "b,s,h*d_k"],
            ["b,1,t,s"],
            closed=False,
            large=9.0,
        ),
        draw,
        "the output",
        part=0,
    )


@check(
    "multi-head-attention",
    share=1,
    title="Written by you",
    bans=("MultiHeadAttention", BUILT_INS),
)
def test_module_is_written_by_hand(student, draw):
    test_module_values(student, draw)
    test_module_padding(student, draw)


# --- count_parameters -------------------------------------------------------------


def expect_count(student, module: Any, want: int, mistakes: Mapping[str, int]) -> None:
    """Fail unless the student's function counts `want` parameters in a module."""
    got = student.count_parameters(module)
    expect_equal(got, want, "the count", mistakes=mistakes)


def linear(student, *sizes: int) -> Any:
    """Build a linear layer in the student's process."""
    return student.load(LINEAR)(*sizes)


@check("count-parameters", share=2, title="One linear map: weights and biases")
def test_count_linear(student, draw):
    n, m = draw.integer(5, 20), draw.integer(21, 40)
    mistakes = {
        "the number of tensors, not of the values in them": 2,
        "the number of weights without the biases": n * m,
        "the number of rows": 2 * m,
    }
    expect_count(student, linear(student, n, m), n * m + m, mistakes)


@check("count-parameters", share=2, title="Modules within modules")
def test_count_nested(student, draw):
    n, m = draw.integer(5, 20), draw.integer(21, 40)
    sequential = student.load(SEQUENTIAL)
    inner = sequential(linear(student, n, m), student.load("torch.nn.LayerNorm")(m))
    module = sequential(inner, student.load("torch.nn.ReLU")(), linear(student, m, n))
    mistakes = {
        "0: the parameters inside other modules are not counted": 0,
        "the number of tensors, not of the values in them": 6,
        "the count without biases": 2 * n * m,
        "the count of only the matrices": 2 * n * m + m,
        "the count of only the linear maps": 2 * n * m + m + n,
    }
    expect_count(student, module, 2 * n * m + n + 3 * m, mistakes)


@check("count-parameters", share=1, title="A convolution: weights with three axes")
def test_count_convolution(student, draw):
    n, m, width = draw.integer(5, 10), draw.integer(11, 20), draw.integer(2, 5)
    convolution = student.load("torch.nn.Conv1d")(n, m, width)
    mistakes = {
        "the count of rows times columns, although weights may have three axes": (
            m * width + m
        ),
        "the count of the first two axes, although weights may have three": m * n + m,
        "the number of weights without the biases": n * m * width,
    }
    expect_count(student, convolution, n * m * width + m, mistakes)


@check(
    "count-parameters", share=2, title="Parameters that two modules share count once"
)
def test_count_shared(student, draw):
    n = draw.integer(5, 20)
    shared = linear(student, n, n)
    module = student.load(SEQUENTIAL)(shared, student.load("torch.nn.ReLU")(), shared)
    twice = "the count with shared parameters counted twice"
    expect_count(student, module, n * n + n, {twice: 2 * (n * n + n)})
    tied = student.load(SEQUENTIAL)(linear(student, n, n), linear(student, n, n))
    student.load("builtins.eval")(TIE)(tied)
    expect_count(student, tied, n * n + 2 * n, {twice: 2 * (n * n + n)})


@check("count-parameters", share=1, title="Equal parameters are not shared parameters")
def test_count_alike(student, draw):
    n = draw.integer(5, 20)
    norm = student.load("torch.nn.LayerNorm")
    module = student.load(SEQUENTIAL)(norm(n), linear(student, n, n), norm(n))
    mistakes = {
        "the count with tensors of equal values counted only once": n * n + 3 * n,
        "the count with tensors of the same shape counted only once": n * n + n,
    }
    expect_count(student, module, n * n + 5 * n, mistakes)


@check("count-parameters", share=2, title="Frozen parameters do not count")
def test_count_frozen(student, draw):
    n, m = draw.integer(5, 20), draw.integer(21, 40)
    frozen = linear(student, n, m)
    frozen.requires_grad_(False)
    module = student.load(SEQUENTIAL)(frozen, linear(student, m, n))
    mistakes = {
        "the count including frozen parameters (requires_grad is False)": (
            2 * n * m + n + m
        ),
        "the count of only the frozen parameters": n * m + m,
    }
    expect_no_traces(student, student.count_parameters, module, still=True)
    expect_count(student, module, m * n + n, mistakes)


@check("count-parameters", share=1, title="Buffers are not parameters")
def test_count_buffers(student, draw):
    n = draw.integer(5, 20)
    module = student.load("torch.nn.BatchNorm1d")(n)
    mistakes = {
        "the count of the whole state, including buffers": 4 * n + 1,
        "the count of all floating-point values in the state, including buffers": 4 * n,
    }
    expect_count(student, module, 2 * n, mistakes)


@check("count-parameters", share=1, title="Eight heads have as many parameters as one")
def test_count_heads(student, draw):
    maps = [linear(student, 512, 64) for _ in range(8)]
    heads = student.load("torch.nn.ModuleList")(maps)
    mistakes = {
        "the number of tensors, not of the values in them": 16,
        "the number of weights without the biases": 512 * 512,
    }
    expect_count(student, heads, 512 * 512 + 512, mistakes)

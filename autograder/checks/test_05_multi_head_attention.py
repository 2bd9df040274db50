"""Hidden checks of unit 05: splitting, merging, the module, and what it costs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor

from autograder.checking.behaviour import (
    blame,
    expect_dtype,
    expect_gradients,
    expect_parts,
    expect_unchanged,
)
from autograder.checking.expect import (
    check,
    expect_close,
    expect_equal,
    expect_no_call,
    expect_shape,
    fail,
)
from transformer import multi_head as reference
from transformer.attention import masked_softmax

B, H, T, S, D_K = 2, 3, 5, 7, 4
D = H * D_K
LINEAR = "torch.nn.Linear"
SEQUENTIAL = "torch.nn.Sequential"
BUILT_INS = [
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention",
]
Run = Callable[[], Any]


# --- what goes wrong --------------------------------------------------------------


def view_split(x: Tensor, n_heads: int) -> Tensor:
    """Split as a `view` without a transpose does."""
    return x.reshape(x.size(0), n_heads, x.size(1), -1)


def view_merge(x: Tensor) -> Tensor:
    """Merge as a `view` without a transpose does."""
    return x.reshape(x.size(0), x.size(2), -1)


def split_mistakes(x: Tensor, h: int) -> dict[str, Run]:
    """Name what goes wrong when vectors are split."""
    b, t, d = x.shape
    return {
        "the result of a view straight to (b, h, t, d_k), without a transpose: a row "
        "of a head is no longer one token": lambda: view_split(x, h),
        "the result of heads that take every h-th column instead of d_k neighbours": (
            lambda: x.reshape(b, t, d // h, h).permute(0, 3, 1, 2)
        ),
        "the result with the heads in the opposite order": lambda: (
            reference.split_heads(x, h).flip(1)
        ),
        "the result of splitting the tokens among the heads": lambda: torch.stack(
            x.transpose(1, 2).reshape(b, -1).chunk(h, dim=1), 1
        ).reshape(b, h, t, d // h),
        "the first slice, for every head": lambda: x[:, None, :, : d // h].expand(
            b, h, t, d // h
        ),
    }


def merge_mistakes(x: Tensor) -> dict[str, Run]:
    """Name what goes wrong when heads are merged."""
    b, h, t, d_k = x.shape
    return {
        "the result of a view or reshape without a transpose: the rows mix tokens": (
            lambda: view_merge(x)
        ),
        "the result of interleaved heads (one column of each in turn)": lambda: (
            x.permute(0, 2, 3, 1).reshape(b, t, h * d_k)
        ),
        "the result with the heads in the opposite order": lambda: (
            reference.merge_heads(x.flip(1))
        ),
        "one head repeated": lambda: x[:, 0].repeat(1, 1, h),
        "the mean over the heads, repeated": lambda: x.mean(1).repeat(1, 1, h),
    }


@dataclass(frozen=True)
class Slip:
    """One way to compute multi-head attention; as it stands, the right one.

    Attributes:
        maps: the projections of queries, keys, values and output; "" = none.
        sources: which input queries, keys and values are made from.
        split: how heads are split.
        merge: how they are merged.
        width: the number whose root scales the scores; None = d_k.
        mask: what becomes of the mask.
        share: what becomes of the heads' weights before the values are averaged.
    """

    maps: Sequence[str] = ("w_q", "w_k", "w_v", "w_o")
    sources: Sequence[int] = (0, 1, 2)
    split: Callable[[Tensor, int], Tensor] = reference.split_heads
    merge: Callable[[Tensor], Tensor] = reference.merge_heads
    width: int | None = None
    mask: Callable[[Tensor], Tensor | None] = lambda mask: mask
    share: Callable[[Tensor], Tensor] = lambda weights: weights


def first_head_only(mask: Tensor) -> Tensor:
    """Let every head but the first attend to all keys."""
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
    "the result with the projections of queries and keys exchanged": Slip(
        ("w_k", "w_q", "w_v", "w_o")
    ),
    "the result with one projection for all three": Slip(("w_q", "w_q", "w_q", "w_o")),
    "the result with values that are not projected": Slip(("w_q", "w_k", "", "w_o")),
    "the result with keys and values from the query's input": Slip(sources=(0, 0, 0)),
    "the result with values from the keys' input": Slip(sources=(0, 1, 1)),
    "the result with queries from the keys' input": Slip(sources=(1, 1, 2)),
    "the result of splitting with a view alone, without a transpose": Slip(
        split=view_split
    ),
    "the result of merging without a transpose": Slip(merge=view_merge),
    "the result of splitting and merging without a transpose": Slip(
        split=view_split, merge=view_merge
    ),
    "the result of a scale by √d_model; each head is only d_k wide": Slip(width=D),
    "the result without a scale": Slip(width=1),
    "the result when the mask is ignored": Slip(mask=lambda mask: None),
    "the result of an inverted mask (True means: may attend)": Slip(
        mask=lambda mask: ~mask
    ),
    "the result of a mask on the queries instead of the keys": Slip(
        mask=lambda mask: mask.transpose(-2, -1)
    ),
    "the result of a mask on the first head only": Slip(mask=first_head_only),
    "the result of the same mean weights for every head": Slip(
        share=lambda weights: weights.mean(1, keepdim=True).expand_as(weights)
    ),
    "the result of one attention over the whole width, without heads": Slip(
        split=lambda x, h: x[:, None].expand(-1, h, -1, -1),
        merge=lambda x: x[:, 0],
        width=D,
    ),
    "the mean over the heads in place of their concatenation": Slip(
        merge=lambda x: x.mean(1).repeat(1, 1, H)
    ),
}


def compute(
    state: Mapping[str, Tensor],
    inputs: Sequence[Tensor],
    mask: Tensor | None = None,
    slip: Slip | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute multi-head attention in float64 from a state dict, right or wrong."""
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
    """Name every slip; `part` is 0 for the output and 1 for the weights."""

    def by(slip: Slip) -> Run:
        return lambda: compute(state, inputs, mask, slip)[part]

    return {phrase: by(slip) for phrase, slip in SLIPS.items()}


# --- building and calling ---------------------------------------------------------


def build(student, draw, dropout: float = 0.0) -> tuple[Any, dict[str, Tensor]]:
    """Build the student's module with fresh weights; return it and the weights."""
    names = ("w_q", "w_k", "w_v", "w_o")
    shapes: dict[str, tuple[int, ...]] = {f"{name}.weight": (D, D) for name in names}
    shapes |= {f"{name}.bias": (D,) for name in names}
    module = student.MultiHeadAttention(D, H, dropout)
    expect_parameters(module, shapes)
    state = {name: 0.4 * value for name, value in draw.state(shapes).items()}
    module.load_state_dict(state)
    module.eval()
    return module, state


def expect_parameters(module: Any, shapes: Mapping[str, Sequence[int]]) -> None:
    """Fail unless the module has exactly the parameters of the given constructor."""
    found = module.parameters_by_name()
    missing = sorted(set(shapes) - set(found))
    if missing:
        fail(
            f"The module has no parameter {missing[0]}. A layer becomes part of a "
            "module as an attribute or in an nn.ModuleList, not in a Python list; "
            "w_q, w_k, w_v and w_o come from the constructor that you were given.",
            mistake="layers that are no part of the module, so without parameters",
        )
    extra = sorted(set(found) - set(shapes))
    if extra or any(found[name] != tuple(shapes[name]) for name in shapes):
        fail(
            "The module should have the four projections of the constructor that you "
            "were given, from d_model to d_model, and no other parameters.",
            mistake="other projections than those of the constructor",
        )


def attend(module: Any, *args: Any) -> tuple[Tensor, Tensor]:
    """Call the student's module and see that it returns a pair."""
    what = "two things, the output and the weights"
    output, weights = expect_parts(module(*args), 2, what)
    return output, weights


def inputs(draw, s: int = S) -> list[Tensor]:
    """Draw a query (B, T, D), and keys and values (B, s, D) that differ."""
    return [draw.normal(B, length, D) for length in (T, s, s)]


def heads_of(draw) -> list[Tensor]:
    """Draw what `attend` takes: queries, keys and values in their heads."""
    return [draw.normal(B, H, length, D_K) for length in (T, S, S)]


def expect_heads(actual: Any, length: int, what: str) -> None:
    """Fail unless queries, keys or values are split into heads."""
    shape = tuple(actual.shape) if isinstance(actual, Tensor) else None
    if shape == (B, length, D):
        fail(f"{what} is not split into heads yet.", mistake="not split into heads")
    if shape == (B, length, H, D_K):
        fail(
            f"{what} is (b, t, h, d_k): the heads still stand behind the tokens.",
            mistake="heads behind the tokens: no transpose",
        )
    expect_shape(actual, (B, H, length, D_K), what)


def expect_split(student, x: Tensor, n_heads: int = H) -> None:
    """Compare the student's split_heads with the reference."""
    got = student.split_heads(x, n_heads)
    want = reference.split_heads(x.double(), n_heads)
    mistakes = split_mistakes(x, n_heads)
    expect_close(got, want, f"with n_heads={n_heads}, the result", mistakes)


def expect_merge(student, x: Tensor) -> None:
    """Compare the student's merge_heads with the reference."""
    want = reference.merge_heads(x.double())
    expect_close(student.merge_heads(x), want, "the result", merge_mistakes(x))


# --- split_heads ------------------------------------------------------------------


@check("split-heads", share=1, title="Heads have the shape (b, h, t, d_k)")
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
    for n_heads in (1, D, 2):
        words = "code that works for one number of heads only"
        with blame(words, lambda: expect_split(student, x)):
            expect_split(student, x, n_heads)


@check("split-heads", share=1, title="Not contiguous, in float64, a batch of one")
def test_split_strided(student, draw):
    strided = draw.normal(T, B, D, dtype=torch.float64).transpose(0, 1)
    for given in (strided, draw.normal(1, T, D, dtype=torch.float64)):
        plain = draw.normal(B, T, D)
        words = "code that needs a contiguous tensor or a larger batch"
        with blame(words, partial(expect_split, student, plain)):
            got = student.split_heads(given, H)
            want = reference.split_heads(given, H)
            expect_close(got, want, "the result", split_mistakes(given, H))
        expect_dtype(got, torch.float64, "the result")


@check("split-heads", share=1, title="Gradients find their way back")
def test_split_gradients(student, draw):
    x, upstream = draw.normal(B, T, D), draw.normal(B, H, T, D_K)
    run = student.gradients(student.split_heads, x, H, upstream=upstream)
    expect_gradients(run, lambda x: reference.split_heads(x, H), [x], upstream)


# --- merge_heads ------------------------------------------------------------------


@check("merge-heads", share=1, title="The result has the shape (b, t, d_model)")
def test_merge_shape(student, draw):
    got = student.merge_heads(draw.normal(B, H, T, D_K))
    shape = tuple(got.shape) if isinstance(got, Tensor) else None
    if shape == (B, T, D_K):
        fail(
            "The heads are added up or averaged; they should stand side by side.",
            mistake="the heads added up or averaged",
        )
    if shape == (B, H * T, D_K):
        fail(
            "The heads stand one after the other along the tokens; each token should "
            "have its heads side by side.",
            mistake="the heads one after the other along the tokens",
        )
    if shape == (B, T, H, D_K):
        fail(
            "The heads stand on an axis of their own: (b, t, h, d_k). Make the last "
            "two axes one.",
            mistake="the last two axes are not made one",
        )
    expect_shape(got, (B, T, D), "the result")


@check("merge-heads", share=3, title="Each token has its heads side by side")
def test_merge_values(student, draw):
    x = draw.normal(B, H, T, D_K)
    want = reference.merge_heads(x.double())
    got = student.merge_heads(x)
    expect_close(got, want, "the result", mistakes=merge_mistakes(x))


@check("merge-heads", share=1, title="One head, and one column a head")
def test_merge_extremes(student, draw):
    plain = draw.normal(B, H, T, D_K)
    for x in (draw.normal(B, 1, T, D), draw.normal(B, D, T, 1)):
        words = "code that works for one number of heads only"
        with blame(words, lambda: expect_merge(student, plain)):
            expect_merge(student, x)


@check("merge-heads", share=1, title="Not contiguous, in float64, a batch of one")
def test_merge_strided(student, draw):
    split = draw.normal(B, T, H, D_K, dtype=torch.float64).transpose(1, 2)
    plain = draw.normal(B, H, T, D_K)
    for x in (split, draw.normal(1, H, D_K, T, dtype=torch.float64).mT):
        words = "code that needs a certain order in memory or a larger batch"
        with blame(words, lambda: expect_merge(student, plain)):
            got = student.merge_heads(x)
            expect_close(got, reference.merge_heads(x), "the result", merge_mistakes(x))
        expect_dtype(got, torch.float64, "the result")


@check("merge-heads", share=1, title="Gradients find their way back")
def test_merge_gradients(student, draw):
    x, upstream = draw.normal(B, H, T, D_K), draw.normal(B, T, D)
    run = student.gradients(student.merge_heads, x, upstream=upstream)
    expect_gradients(run, reference.merge_heads, [x], upstream)


# --- MultiHeadAttention -----------------------------------------------------------


@check("multi-head-attention", share=1, title="Output and weights: their shapes")
def test_module_shapes(student, draw):
    module, _ = build(student, draw)
    output, weights = attend(module, *inputs(draw))
    expect_shape(output, (B, T, D), "output")
    if isinstance(weights, Tensor) and tuple(weights.shape) == (B, T, S):
        fail(
            "The weights are (b, t, s): they should be those of every head, "
            "(b, h, t, s).",
            mistake="the mean of the heads' weights",
        )
    expect_shape(weights, (B, H, T, S), "the tensor of weights")


@check("multi-head-attention", share=2, title="project_query")
def test_project_query(student, draw):
    module, state = build(student, draw)
    query = draw.normal(B, T, D)
    got = module.project_query(query)
    expect_heads(got, T, "What project_query returns")
    expect_close(got, projected(state, "w_q", query), "q", projections(state, query))


@check("multi-head-attention", share=2, title="project_key_value")
def test_project_key_value(student, draw):
    module, state = build(student, draw)
    given = {"k": draw.normal(B, S, D), "v": draw.normal(B, S, D)}
    pair = expect_parts(module.project_key_value(*given.values()), 2, "keys, values")
    for name, got in zip(given, pair, strict=True):
        expect_heads(got, S, f"{name} of project_key_value")
        want = projected(state, f"w_{name}", given[name])
        mistakes = projections(state, given[name])
        other = given["v" if name == "k" else "k"]
        for phrase, run in projections(state, other).items():
            mistakes[f"{phrase}, made from the other input"] = run
        expect_close(got, want, name, mistakes)


def projected(state: Mapping[str, Tensor], name: str, x: Tensor) -> Tensor:
    """Project and split in float64."""
    weight, bias = state[f"{name}.weight"].double(), state[f"{name}.bias"].double()
    return reference.split_heads(x.double() @ weight.T + bias, H)


def projections(state: Mapping[str, Tensor], x: Tensor) -> dict[str, Run]:
    """Name what goes wrong with a projection of `x`."""
    named: dict[str, Run] = {}
    for name in ("w_q", "w_k", "w_v", "w_o"):
        named |= projection_by(name, projected(state, name, x))
    named["the input, split but not projected"] = lambda: reference.split_heads(x, H)
    return named


def projection_by(name: str, right: Tensor) -> dict[str, Run]:
    """Name the projection by one of the four maps, split rightly and wrongly."""
    return {
        f"the projection by {name}": lambda: right,
        f"the projection by {name}, split without a transpose": lambda: view_split(
            reference.merge_heads(right), H
        ),
    }


@check("multi-head-attention", share=3, title="attend, with a mask for every query")
def test_attend(student, draw):
    module, state = build(student, draw)
    q, k, v = heads_of(draw)
    mask = draw.mask(B, 1, T, S)
    result = module.attend(q, k, v, mask)
    output, weights = expect_parts(result, 2, "two things, the output and the weights")
    identity = {f"{name}.weight": torch.eye(D) for name in ("w_q", "w_k", "w_v")}
    identity |= {f"{name}.bias": torch.zeros(D) for name in ("w_q", "w_k", "w_v")}
    merged = [reference.merge_heads(x) for x in (q, k, v)]
    want = compute(state | identity, merged, mask)
    mistakes = slips(state | identity, merged, mask)
    expect_close(output, want[0], "the output of attend", mistakes)
    mistakes = slips(state | identity, merged, mask, part=1)
    expect_close(weights, want[1], "the tensor of weights of attend", mistakes)


@check("multi-head-attention", share=3, title="Three inputs, two lengths, no mask")
def test_module_values(student, draw):
    module, state = build(student, draw)
    given = inputs(draw)
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


@check("multi-head-attention", share=1, title="Dropout while training, and only then")
def test_module_dropout(student, draw):
    module, state = build(student, draw, dropout=0.5)
    given = inputs(draw)
    output, _ = attend(module, *given)
    want, right = compute(state, given)
    if not torch.allclose(output.float(), want.float(), atol=1e-4):
        again, _ = attend(module, *given)
        if not torch.equal(again, output):
            fail(
                "After eval() two calls with the same input differ: weights are "
                "dropped although the module is not training.",
                mistake="dropout in evaluation",
            )
        expect_close(output, want, "output", mistakes=slips(state, given))
    module.train()
    dropped, weights = attend(module, *given)
    if torch.allclose(dropped.float(), want.float(), atol=1e-4):
        fail(
            "With dropout 0.5 the output in training is that of evaluation.",
            mistake="dropout is ignored",
        )
    expect_close(weights, right, "In training, the tensor of weights before dropout")
    expect_weights_dropped(module, state, draw)


def expect_weights_dropped(module: Any, state: dict[str, Tensor], draw) -> None:
    """Fail unless dropout 0.5 drops weights; the module is training.

    With a single key a head has one weight, so its result is 0 or twice the value.
    """
    identity = {"w_o.weight": torch.eye(D), "w_o.bias": torch.zeros(D)}
    module.load_state_dict(state | identity)
    query, key, value = (draw.normal(20, length, D) for length in (T, 1, 1))
    output, _ = attend(module, query, key, value)
    expect_shape(output, (20, T, D), "output")
    heads = reference.split_heads(output.double(), H)  # (20, H, T, D_K)
    doubled = torch.isclose(heads, 2 * projected(state, "w_v", value), atol=1e-4)
    if not bool((doubled.all(-1) | (heads.abs() < 1e-6).all(-1)).all()):
        fail(
            "With a single key a head has a single weight, so in training what the "
            "head finds should vanish as a whole or stay as a whole, scaled. Yours "
            "does neither: what is dropped is not the weights, or not they alone.",
            mistake="dropout on something else than the weights",
        )


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
            fail(f"No gradient reaches {name}.", mistake=f"no gradient for {name}")
        expect_close(got, want, f"The gradient of {name}", tolerance=1e-3)

    def trusted(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return compute(state, (query, key, value))[0]

    expect_gradients(run, trusted, given, upstream)


@check("multi-head-attention", share=1, title="The inputs are left as they were")
def test_module_leaves_its_inputs(student, draw):
    module, _ = build(student, draw)
    given = [*inputs(draw), draw.mask(B, 1, T, S)]
    before = [x.clone() for x in given]
    _, after = student.call_and_return_inputs(module, *given)
    expect_unchanged(after, before)


@check("multi-head-attention", share=1, title="float64, a batch of one, any strides")
def test_module_double(student, draw):
    module, state = build(student, draw)
    plain = inputs(draw)

    def ordinary() -> None:
        module.float()
        output, _ = attend(module, *plain)
        expect_close(output, compute(state, plain)[0], "output")

    x = draw.normal(T, 1, D, dtype=torch.float64).transpose(0, 1)
    memory = draw.normal(1, D, S, dtype=torch.float64).mT
    words = "code for float32, contiguous tensors or larger batches only"
    module.double()
    with blame(words, ordinary):
        output, _ = attend(module, x, memory, memory)
        want, _ = compute(state, [x, memory, memory])
        mistakes = slips(state, [x, memory, memory])
        expect_close(output, want, "output", mistakes=mistakes)
    expect_dtype(output, torch.float64, "output")


@check("multi-head-attention", share=1, title="Written by you")
def test_module_is_written_by_hand(student, draw):
    def ordinary() -> None:
        test_module_values(student, draw)
        test_module_padding(student, draw)

    expect_no_call(student, "MultiHeadAttention", BUILT_INS, ordinary)


# --- count_parameters -------------------------------------------------------------


def expect_count(student, module: Any, want: int, mistakes: Mapping[str, int]) -> None:
    """Fail unless the student counts `want` parameters in a module of their side."""
    got = student.count_parameters(module)
    expect_equal(got, want, "the count", mistakes=mistakes)


def linear(student, *sizes: int) -> Any:
    """Build a linear map on the student's side."""
    return student.load(LINEAR)(*sizes)


@check("count-parameters", share=2, title="One linear map: weights and biases")
def test_count_linear(student, draw):
    n, m = draw.integer(5, 20), draw.integer(21, 40)
    mistakes = {
        "the number of tensors, not of the numbers in them": 2,
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
        "0: what lies inside other modules is not counted": 0,
        "the number of tensors, not of the numbers in them": 6,
        "the count without biases": 2 * n * m,
        "the count of matrices alone": 2 * n * m + m,
        "the count of linear maps alone": 2 * n * m + m + n,
    }
    expect_count(student, module, 2 * n * m + n + 3 * m, mistakes)


@check("count-parameters", share=2, title="What two modules share counts once")
def test_count_shared(student, draw):
    n = draw.integer(5, 20)
    shared = linear(student, n, n)
    module = student.load(SEQUENTIAL)(shared, student.load("torch.nn.ReLU")(), shared)
    mistakes = {"the count with what is shared counted twice": 2 * (n * n + n)}
    expect_count(student, module, n * n + n, mistakes)


@check("count-parameters", share=2, title="What training may not change does not count")
def test_count_frozen(student, draw):
    n, m = draw.integer(5, 20), draw.integer(21, 40)
    frozen = linear(student, n, m)
    frozen.requires_grad_(False)
    module = student.load(SEQUENTIAL)(frozen, linear(student, m, n))
    mistakes = {
        "the count with frozen parameters (requires_grad is False)": (
            2 * n * m + n + m
        ),
        "the count of the frozen parameters alone": n * m + m,
    }
    expect_count(student, module, m * n + n, mistakes)


@check("count-parameters", share=1, title="Buffers are no parameters")
def test_count_buffers(student, draw):
    n = draw.integer(5, 20)
    module = student.load("torch.nn.BatchNorm1d")(n)
    mistakes = {
        "the count of the whole state, buffers too": 4 * n + 1,
        "the count of the floating-point state, buffers too": 4 * n,
    }
    expect_count(student, module, 2 * n, mistakes)


@check("count-parameters", share=1, title="Eight heads cost as much as one")
def test_count_heads(student, draw):
    maps = [linear(student, 512, 64) for _ in range(8)]
    heads = student.load("torch.nn.ModuleList")(maps)
    mistakes = {
        "the number of tensors, not of the numbers in them": 16,
        "the number of weights without the biases": 512 * 512,
    }
    expect_count(student, heads, 512 * 512 + 512, mistakes)

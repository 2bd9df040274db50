"""Hidden checks of unit 04: scores, masked softmax, attention, entropy."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from autograder.checking.behaviour import blame, expect_gradients, expect_parts
from autograder.checking.compare import last_place
from autograder.checking.dropout import OF_WEIGHTS, expect_dropped, weights_seen_through
from autograder.checking.expect import (
    check,
    expect_close,
    expect_shape,
    fail,
)
from autograder.checking.generic_checks import (
    expect_calls_apart,
    expect_no_seed,
    expect_raises,
    expect_same_device,
)
from autograder.checking.kinds_of_inputs import (
    close_rows,
    expect_double,
    expect_every_mask,
    expect_leading_axes,
    masks_of_every_kind,
    rows_far_apart,
)
from autograder.checking.varied_inputs import expect_every_size, varied_inputs
from autograder.phrases import Phrase
from transformer import attention as reference
from transformer.analysis.attention import softmax_entropy

B, H, T, S, D_K, D_V = 3, 2, 6, 4, 7, 5  # no size is in the visible checks
MANY = 50  # enough queries to measure a share of the weights
OVERFLOWS = (
    "an exponential that overflows; `softmax` avoids this because it subtracts the "
    "largest score first"
)
OF_ALL = (
    "a subtraction of the largest of all scores, although each row needs its own "
    "largest score"
)
ONE_AXIS_IN_FRONT = (
    "`transpose(1, 2)`, which swaps the last two axes only if a tensor has three "
    "axes; `transpose(-2, -1)` always swaps them"
)
BUILT_INS = [
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention",
]

OUTPUT_AND_WEIGHTS = "two tensors, the output and the weights"


def scores_of(query: Tensor, key: Tensor) -> Tensor:
    """Compute the right scores in float64."""
    return reference.attention_scores(query.double(), key.double())


def weights_of(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Compute the right weights in float64."""
    return reference.masked_softmax(scores.double(), mask)


def score_mistakes(query: Tensor, key: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Return wrong scores, keyed by the name of the mistake."""
    q, k = query.double(), key.double()
    products = q @ k.transpose(-2, -1)
    d_k, s = k.size(-1), k.size(-2)
    heads = q.size(1) if q.dim() == 4 else 1
    as_if_transposed = k.reshape(*k.shape[:-2], d_k, s)
    return {
        "the result without the division by √d_k": lambda: products,
        "the result with a division by d_k instead of √d_k": lambda: products / d_k,
        "the result with a multiplication by √d_k": lambda: products * d_k**0.5,
        "the result with a division by √(number of keys) instead of √d_k": lambda: (
            products / s**0.5
        ),
        "the result with a division by √d_model instead of √d_k": lambda: (
            products / (heads * d_k) ** 0.5
        ),
        "the result with √6, which is right only for the width in the visible check": (
            lambda: products / 6**0.5
        ),
        "the result with `view` or `reshape` instead of a transpose of the keys": (
            lambda: q @ as_if_transposed / d_k**0.5
        ),
        "the transposed scores: keys times queries instead of queries times keys": (
            lambda: k @ q.transpose(-2, -1) / d_k**0.5
        ),
    }


def softmax_mistakes(
    scores: Tensor, mask: Tensor | None
) -> dict[str, Callable[[], Tensor]]:
    """Return wrong weights for right scores, keyed by the name of the mistake."""
    x = scores.double()
    right = weights_of(scores, mask)
    hidden = torch.zeros_like(x, dtype=torch.bool) if mask is None else ~mask
    named: dict[str, Callable[[], Tensor]] = {
        "the result of a softmax over the queries instead of the keys": lambda: (
            x.masked_fill(hidden, -1e30).softmax(dim=-2)
        ),
        "the result of a softmax over the heads instead of the keys": lambda: (
            x.masked_fill(hidden, -1e30).softmax(dim=1)
        ),
        "the logarithm of the weights (log-softmax)": lambda: right.log(),
        "the scores, not the weights": lambda: x,
    }
    return named if mask is None else named | mask_mistakes(x, hidden)


def mask_mistakes(x: Tensor, hidden: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Return weights with a wrong mask, keyed by the name of the mistake."""
    return {
        "the result when the mask is ignored": lambda: x.softmax(dim=-1),
        "the result of an inverted mask (True means that the query may attend to the "
        "key)": lambda: weights_of(x, hidden),
        "the result of masking after the softmax without dividing by the new sum": (
            lambda: x.softmax(dim=-1).masked_fill(hidden, 0)
        ),
        "the result with the first sentence's mask for every sentence": lambda: (
            weights_of(x, ~hidden[:1] if hidden.dim() == 4 else ~hidden)
        ),
        "the result when masked scores become 0 (a score of 0 still gets weight)": (
            lambda: x.masked_fill(hidden, 0).softmax(dim=-1)
        ),
        "the result when masked scores become -1 (they still get weight)": (
            lambda: x.masked_fill(hidden, -1).softmax(dim=-1)
        ),
    }


def carried(
    mistakes: dict[str, Callable[[], Tensor]], step: Callable[[Tensor], Tensor]
) -> dict[str, Callable[[], Tensor]]:
    """Apply `step` to the wrong values, and keep the names of the mistakes."""

    def after(wrong: Callable[[], Tensor]) -> Callable[[], Tensor]:
        return lambda: step(wrong())

    return {phrase: after(wrong) for phrase, wrong in mistakes.items()}


def attention_mistakes(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
) -> dict[str, Callable[[], Tensor]]:
    """Return wrong outputs, keyed by the name of the mistake in one of the steps."""
    v = value.double()
    right = scores_of(query, key)
    d_k = key.size(-1)
    named = carried(score_mistakes(query, key), lambda x: weights_of(x, mask) @ v)
    named |= carried(softmax_mistakes(right, mask), lambda weights: weights @ v)
    named["the result with the division by √d_k after the softmax"] = lambda: (
        weights_of(right * d_k**0.5, mask) / d_k**0.5 @ v
    )
    return named


def inputs(draw) -> tuple[Tensor, Tensor, Tensor]:
    """Draw queries, keys and values, with sizes that all differ."""
    shapes = [(B, H, T, D_K), (B, H, S, D_K), (B, H, S, D_V)]
    return tuple(draw.normal(*shape) for shape in shapes)


def attend(student, *args) -> tuple[Tensor, Tensor]:
    """Call the student's attention, and fail unless it returns a pair."""
    result = student.scaled_dot_product_attention(*args)
    output, weights = expect_parts(result, 2, OUTPUT_AND_WEIGHTS)
    return output, weights


def expect_no_nan(actual: Any, what: str) -> None:
    """Fail if the result for a query without allowed keys contains NaN."""
    if isinstance(actual, Tensor) and actual.isnan().any():
        fail(
            Phrase(
                "{what} of a query that is not allowed to attend to anything is NaN: "
                "the softmax of a row of -inf divides 0 by 0. It should be 0.",
                what,
            ),
            mistake="NaN for a query that may not attend to any key",
        )


def expect_gradient_without_nan(run: Any, count: int) -> None:
    """Fail if the gradient for a query without allowed keys contains NaN."""
    if any(x is not None and x.isnan().any() for x in run.inputs[:count]):
        fail(
            "If a query may not attend to any key, the gradient contains NaN. "
            "Replacing NaN in the weights afterwards does not remove NaN from the "
            "gradient of a softmax over a row of -inf.",
            mistake="NaN in the gradient",
        )


# --- attention_scores -------------------------------------------------------------


@check(
    "attention-scores", share=1, title="Scores have the shape (b, h, t, s)", form=True
)
def test_scores_shape(student, draw):
    q, k, _ = inputs(draw)
    expect_shape(student.attention_scores(q, k), (B, H, T, S), "the tensor of scores")


@check("attention-scores", share=3, title="Scores have the right values")
def test_scores_values(student, draw):
    q, k, _ = inputs(draw)

    def without_heads() -> None:
        one = q[:, 0], k[:, 0]
        expect_close(student.attention_scores(*one), scores_of(*one), "")

    mistakes = score_mistakes(q, k)
    got = None
    with blame(ONE_AXIS_IN_FRONT, without_heads):
        got = student.attention_scores(q, k)
    expect_close(got, scores_of(q, k), "the tensor of scores", mistakes=mistakes)


@check("attention-scores", share=1, title="Any sizes, and any number of axes in front")
def test_scores_leading_axes(student, draw):
    expect_leading_axes(
        student.attention_scores,
        reference.attention_scores,
        [(T, D_K), (S, D_K)],
        draw,
        "the tensor of scores",
        score_mistakes,
    )
    expect_every_size(
        student,
        student.attention_scores,
        reference.attention_scores,
        varied_inputs(draw, ["b,h,t,d_k", "b,h,s,d_k"]),
        "the tensor of scores",
        mistakes=score_mistakes,
    )


@check("attention-scores", share=1, title="Keys that are not contiguous, in float64")
def test_scores_non_contiguous(student, draw):
    q = draw.normal(B, H, T, D_K, dtype=torch.float64)
    k = draw.normal(B, S, H, D_K, dtype=torch.float64).transpose(1, 2)
    words = "`view` on a tensor that is not contiguous; `reshape` can copy"
    with blame(words, lambda: student.attention_scores(q, k.contiguous())):
        got = student.attention_scores(q, k)
    expect_close(
        got, scores_of(q, k), "the tensor of scores", mistakes=score_mistakes(q, k)
    )
    expect_double(
        student.attention_scores, scores_of, [q, k], "the tensor of scores", None
    )


@check("attention-scores", share=1, title="Gradients reach queries and keys")
def test_scores_gradients(student, draw):
    q, k, _ = inputs(draw)
    upstream = draw.normal(B, H, T, S)
    run = student.gradients(student.attention_scores, q, k, upstream=upstream)
    expect_gradients(run, reference.attention_scores, [q, k], upstream)


@check("attention-scores", share=1, title="Calls are independent")
def test_scores_calls_apart(student, draw):
    shapes = (B, H, T + 2, D_K), (B, H, S + 1, D_K)
    calls = [tuple(draw.normal(*shape) for shape in shapes) for _ in range(2)]
    expect_calls_apart(
        student, student.attention_scores, calls, scores_of, "the tensor of scores"
    )


@check(
    "attention-scores",
    share=1,
    title="Scores are on the device of queries and keys",
    form=True,
)
def test_scores_device(student, draw):
    q, k, _ = inputs(draw)
    expect_same_device(student, student.attention_scores, q, k, what="the scores")


@check(
    "attention-scores",
    share=1,
    title="Queries and keys of different widths are an error",
    form=True,
)
def test_scores_of_other_widths(student, draw):
    q, k, _ = inputs(draw)
    widths = {"kind": "Exception", "what": "queries and keys of different widths"}
    expect_raises(student, student.attention_scores, q[..., 1:], k, **widths)
    expect_raises(student, student.attention_scores, q, k[..., 1:], **widths)


# --- masked_softmax ---------------------------------------------------------------


@check(
    "masked-softmax", share=1, title="Weights have the shape of the scores", form=True
)
def test_softmax_shape(student, draw):
    scores, mask = draw.normal(B, H, T, S), draw_mask(draw, 1, 1, T, S)
    expect_shape(
        student.masked_softmax(scores, mask), (B, H, T, S), "the tensor of weights"
    )


def draw_mask(draw, *shape: int) -> Tensor:
    """Draw a mask whose first and last keys do not determine the other keys.

    The first query may attend to two keys but not to the first key. The second query
    may attend to two keys but not to the last key.
    """
    mask = draw.mask(*shape)
    mask[..., 0, :3] = torch.tensor([False, True, True])
    mask[..., 1, -3:] = torch.tensor([True, True, False])
    return mask


@check("masked-softmax", share=2, title="Without a mask: a softmax over the keys")
def test_softmax_without_mask(student, draw):
    scores = draw.normal(B, H, T, S)
    got = student.masked_softmax(scores)
    mistakes = softmax_mistakes(scores, None)
    expect_close(got, weights_of(scores), "the tensor of weights", mistakes=mistakes)


@check(
    "masked-softmax",
    share=3,
    title="With one mask for all sentences and heads: (1, 1, t, s)",
)
def test_softmax_with_shared_mask(student, draw):
    scores, mask = draw.normal(B, H, T, S), draw_mask(draw, 1, 1, T, S)
    got = student.masked_softmax(scores, mask)
    mistakes = softmax_mistakes(scores, mask)
    expect_close(
        got, weights_of(scores, mask), "the tensor of weights", mistakes=mistakes
    )


@check(
    "masked-softmax",
    share=2,
    title="One mask for all, for each sentence or for each head",
)
def test_softmax_with_every_mask(student, draw):
    scores = draw.normal(B, H, T, S)
    expect_every_mask(
        lambda mask: student.masked_softmax(scores, mask),
        lambda mask: weights_of(scores, mask),
        masks_of_every_kind(draw, B, H, T, S),
        "the tensor of weights",
        lambda mask: softmax_mistakes(scores, mask),
    )


@check(
    "masked-softmax", share=2, title="Zeros for a query that may not attend to any key"
)
def test_softmax_of_nothing(student, draw):
    scores = draw.normal(B, H, T, S)
    mask = close_rows(draw_mask(draw, B, 1, T, S), 2)
    weights = student.masked_softmax(scores, mask)
    expect_shape(weights, (B, H, T, S), "the tensor of weights")
    expect_no_nan(weights[-1, :, :2], "A row of weights")
    right = weights_of(scores, mask)
    uniform = right.clone()
    uniform[-1, :, :2] = 1 / S
    mistakes = {"uniform weights for a query that may not attend to any key": uniform}
    expect_close(weights, right, "the tensor of weights", mistakes)


@check(
    "masked-softmax", share=1, title="No NaN in the gradient of a query without keys"
)
def test_softmax_gradients(student, draw):
    scores = draw.normal(B, H, T, S)
    mask = close_rows(draw_mask(draw, B, 1, T, S), 2)
    upstream = draw.normal(B, H, T, S)
    run = student.gradients(student.masked_softmax, scores, mask, upstream=upstream)
    expect_gradient_without_nan(run, 1)
    expect_gradients(
        run, lambda scores: reference.masked_softmax(scores, mask), [scores], upstream
    )


@check("masked-softmax", share=1, title="Scores far above or far below 0")
def test_softmax_of_large_scores(student, draw):
    scores, mask = draw.normal(B, H, T, S), draw_mask(draw, 1, 1, T, S)

    def ordinary() -> None:
        got = student.masked_softmax(scores, mask)
        expect_close(got, weights_of(scores, mask), "")

    for where, large, words in (
        ("near 1000", scores + 1000, OVERFLOWS),
        (
            "near -1000000",
            scores - 1e6,
            "masked scores that are not low enough when other scores are very low",
        ),
        (
            "in rows with very different values",
            rows_far_apart(draw, B, H, T, S),
            OF_ALL,
        ),
        (
            "that are highest where they are masked",
            scores + 30 * ~mask,
            "a small number that is added to the sum, or masked scores that are not "
            "low enough",
        ),
    ):
        with blame(words, ordinary):
            got, want = student.masked_softmax(large, mask), weights_of(large, mask)
            what = Phrase("the tensor of weights, for scores {where},", where)
            expect_close(got, want, what, tolerance=last_place(large))


@check("masked-softmax", share=1, title="Any sizes, any axes in front, and float64")
def test_softmax_leading_axes(student, draw):
    mask = draw.mask(T, S)
    expect_leading_axes(
        lambda scores: student.masked_softmax(scores, mask),
        lambda scores: weights_of(scores, mask),
        [(T, S)],
        draw,
        "the tensor of weights",
        lambda scores: softmax_mistakes(scores, mask),
    )
    expect_every_size(
        student,
        student.masked_softmax,
        reference.masked_softmax,
        varied_inputs(draw, ["b,h,t,s"], masks=["b,1,t,s"], large=9.0),
        "the tensor of weights",
        mistakes=softmax_mistakes,
    )
    for given in ([draw.normal(T, S), mask], [draw.normal(T, S)]):
        expect_double(
            student.masked_softmax, weights_of, given, "the tensor of weights"
        )


@check(
    "masked-softmax", share=1, title="Calls are independent, and inputs do not change"
)
def test_softmax_calls_apart(student, draw):
    shapes = (B, H, T + 1, S + 2), (B, 1, T + 1, S + 2)
    calls = [(draw.normal(*shapes[0]), draw.mask(*shapes[1])) for _ in range(2)]
    old_mask = weights_of(calls[1][0], calls[0][1])
    mistakes = {"the result with the mask from an earlier call": old_mask}
    student_softmax, what = student.masked_softmax, "the tensor of weights"
    expect_calls_apart(
        student, student_softmax, calls, weights_of, what, mistakes=mistakes
    )
    alone = [(draw.normal(B, T, S),) for _ in range(2)]
    expect_calls_apart(student, student_softmax, alone, weights_of, what)


@check("masked-softmax", share=1, title="Weights are on the scores' device", form=True)
def test_softmax_device(student, draw):
    given = draw.normal(B, H, T, S), draw.mask(B, 1, T, S)
    expect_same_device(student, student.masked_softmax, *given, what="the weights")


# --- scaled_dot_product_attention -------------------------------------------------


@check(
    "scaled-dot-product-attention", share=1, title="Output is (b, h, t, d_v)", form=True
)
def test_attention_shapes(student, draw):
    output, weights = attend(student, *inputs(draw))
    expect_shape(output, (B, H, T, D_V), "the output")
    expect_shape(weights, (B, H, T, S), "the tensor of weights")


@check(
    "scaled-dot-product-attention",
    share=2,
    title="Output has the right values without a mask",
)
def test_attention_output(student, draw):
    q, k, v = inputs(draw)
    output, _ = attend(student, q, k, v)
    want = weights_of(scores_of(q, k)) @ v.double()
    expect_close(output, want, "the output", mistakes=attention_mistakes(q, k, v, None))


@check(
    "scaled-dot-product-attention",
    share=3,
    title="Output has the right values with a mask",
)
def test_attention_output_with_mask(student, draw):
    q, k, v = inputs(draw)
    mask = draw.mask(B, 1, T, S)
    output, _ = attend(student, q, k, v, mask)
    want = weights_of(scores_of(q, k), mask) @ v.double()
    expect_close(output, want, "the output", mistakes=attention_mistakes(q, k, v, mask))


@check(
    "scaled-dot-product-attention",
    share=1,
    title="Weights have the right values with a mask",
)
def test_attention_weights(student, draw):
    q, k, v = inputs(draw)
    mask = draw.mask(B, 1, T, S)
    _, weights = attend(student, q, k, v, mask)
    scores = scores_of(q, k)
    mistakes = softmax_mistakes(scores, mask)
    mistakes |= carried(score_mistakes(q, k), lambda x: weights_of(x, mask))
    mistakes["the result with the division by √d_k after the softmax"] = lambda: (
        weights_of(scores * D_K**0.5, mask) / D_K**0.5
    )
    expect_close(
        weights, weights_of(scores, mask), "the tensor of weights", mistakes=mistakes
    )


@check("scaled-dot-product-attention", share=1, title="Masks of every shape")
def test_attention_with_every_mask(student, draw):
    q, k, v = inputs(draw)
    expect_every_mask(
        lambda mask: attend(student, q, k, v, mask)[0],
        lambda mask: weights_of(scores_of(q, k), mask) @ v.double(),
        masks_of_every_kind(draw, B, H, T, S),
        "the output",
        lambda mask: attention_mistakes(q, k, v, mask),
    )


@check(
    "scaled-dot-product-attention",
    share=1,
    title="Zeros for a query without a key to attend to",
)
def test_attention_to_nothing(student, draw):
    q, k, v = inputs(draw)
    mask = close_rows(draw.mask(B, 1, T, S), 2)
    output, _ = attend(student, q, k, v, mask)
    expect_shape(output, (B, H, T, D_V), "the output")
    expect_no_nan(output[-1, :, :2], "The output")
    right = weights_of(scores_of(q, k), mask)
    uniform = right.clone()
    uniform[-1, :, :2] = 1 / S
    mistakes = {
        "the result of uniform weights for a query that may not attend to any key": (
            uniform @ v.double()
        )
    }
    expect_close(output, right @ v.double(), "the output", mistakes)


@check(
    "scaled-dot-product-attention", share=2, title="Dropout is applied to the weights"
)
def test_attention_dropout(student, draw):
    q, k = draw.normal(B, H, MANY, D_K), draw.normal(B, H, S, D_K)
    identity = weights_seen_through(S, B, H)
    right = weights_of(scores_of(q, k)).float()
    function = student.scaled_dot_product_attention
    expect_no_seed(student, function, q, k, identity, None, 0.2)
    for p in (0.2, 0.7):
        used, weights = attend(student, q, k, identity, None, p)
        again, _ = attend(student, q, k, identity, None, p)
        expect_close(weights, right, "the tensor of weights before dropout")
        expect_shape(used, (B, H, MANY, S), "the output")
        expect_not_of_values(used.float())
        expect_dropped(used.float(), right, p, "the weights", OF_WEIGHTS, again.float())
    expect_not_of_output(student, q, k)
    quiet = student.load("torch.no_grad")()(function)
    used, _ = expect_parts(quiet(q, k, identity, None, 0.7), 2, OUTPUT_AND_WEIGHTS)
    if bool((used != 0).all()):
        fail(
            "Inside `torch.no_grad()`, `dropout` changed nothing. Apply dropout "
            "whenever the argument `dropout` is above 0, whether or not PyTorch "
            "records gradients.",
            mistake="dropout only when PyTorch records gradients",
        )


def expect_not_of_values(used: Tensor) -> None:
    """Fail if dropout drops whole values instead of single weights."""
    kept = used != 0
    if not kept.all() and kept.equal(kept[..., :1, :].expand_as(kept)):
        fail(
            "Dropout should drop individual weights, but your code drops a key's "
            "weights for all queries together: it applies dropout to the values.",
            mistake="dropout on the values",
        )


def expect_not_of_output(student, q: Tensor, k: Tensor) -> None:
    """Fail if dropout drops numbers of the output instead of weights."""
    ones = torch.ones(B, H, S, 1)  # the output is then the sum of the weights
    sums, _ = attend(student, q, k, ones, None, 0.2)
    if all(min(abs(x), abs(x - 1.25)) < 1e-4 for x in sums.flatten().tolist()):
        fail(
            "Dropout should drop individual weights before they multiply the values, "
            "but your code drops numbers of the output.",
            mistake="dropout on the output",
        )


@check("scaled-dot-product-attention", share=1, title="Gradients reach q, k and v")
def test_attention_gradients(student, draw):
    q, k, v = inputs(draw)
    mask, upstream = close_rows(draw.mask(B, 1, T, S)), draw.normal(B, H, T, D_V)
    run = student.gradients(
        student.scaled_dot_product_attention, q, k, v, mask, upstream=upstream
    )
    expect_gradient_without_nan(run, 3)

    def attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return reference.scaled_dot_product_attention(query, key, value, mask)[0]

    expect_gradients(run, attention, [q, k, v], upstream)


@check(
    "scaled-dot-product-attention",
    share=1,
    title="Written by you, in float64 too",
    bans=("scaled_dot_product_attention", BUILT_INS),
)
def test_attention_is_written_by_hand(student, draw):
    for mask in (None, draw.mask(B, 1, T, S)):
        attend(student, *inputs(draw), mask)
    given = [*inputs(draw), draw.mask(B, 1, T, S)]
    expect_double(
        lambda *args: attend(student, *args)[0],
        lambda q, k, v, mask: weights_of(scores_of(q, k), mask) @ v,
        given,
        "the output",
        tolerance=None,
    )
    expect_double(
        lambda *args: attend(student, *args)[1],
        lambda q, k, v, mask: weights_of(scores_of(q, k), mask),
        given,
        "the tensor of weights",
        tolerance=None,
    )


@check(
    "scaled-dot-product-attention",
    share=1,
    title="Any sizes, and any number of axes in front",
)
def test_attention_leading_axes(student, draw):
    mask = draw.mask(T, S)
    expect_leading_axes(
        lambda q, k, v: attend(student, q, k, v, mask)[0],
        lambda q, k, v: weights_of(scores_of(q, k), mask) @ v,
        [(T, D_K), (S, D_K), (S, D_V)],
        draw,
        "the output",
        lambda q, k, v: attention_mistakes(q, k, v, mask),
    )
    shapes = ["b,h,t,d_k", "b,h,s,d_k", "b,h,s,d_v"]
    expect_every_size(
        student,
        student.scaled_dot_product_attention,
        lambda *given: reference.scaled_dot_product_attention(*given)[0],
        varied_inputs(draw, shapes, masks=["b,1,t,s"]),
        "the output",
        part=0,
        mistakes=attention_mistakes,
    )


@check("scaled-dot-product-attention", share=1, title="Calls are independent")
def test_attention_calls_apart(student, draw):
    t, s = T + 2, S + 1
    shapes = (B, H, t, D_K), (B, H, s, D_K), (B, H, s, D_V)
    given = [[draw.normal(*shape) for shape in shapes] for _ in range(2)]
    masks = [draw.mask(B, 1, t, s) for _ in range(2)]
    calls = [(*given[n], masks[n]) for n in range(2)]

    def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor) -> Tensor:
        return weights_of(scores_of(q, k), mask) @ v.double()

    mistakes = {
        "the result with the mask from an earlier call": attention(
            given[1][0], given[1][1], given[1][2], masks[0]
        )
    }
    function = student.scaled_dot_product_attention
    expect_calls_apart(student, function, calls, attention, "the output", 0, mistakes)


@check(
    "scaled-dot-product-attention",
    share=1,
    title="Results are on the inputs' device",
    form=True,
)
def test_attention_device(student, draw):
    given = *inputs(draw), draw.mask(B, 1, T, S)
    function = student.scaled_dot_product_attention
    expect_same_device(student, function, *given, what="a result")


@check(
    "scaled-dot-product-attention",
    share=1,
    title="Queries and keys of different widths are an error",
    form=True,
)
def test_attention_of_other_widths(student, draw):
    q, k, v = inputs(draw)
    widths = {"kind": "Exception", "what": "queries and keys of different widths"}
    function = student.scaled_dot_product_attention
    expect_raises(student, function, q[..., 1:], k, v, **widths)
    expect_raises(student, function, q, k[..., 1:], v, **widths)


# --- softmax_entropy --------------------------------------------------------------


@check("softmax-entropy", share=1, title="One number for each row of scores", form=True)
def test_entropy_shape(student, draw):
    got = student.softmax_entropy(draw.normal(B, T, S))
    expect_shape(got, (B, T), "the entropy")


@check("softmax-entropy", share=2, title="Entropy has the right values, in nats")
def test_entropy_values(student, draw):
    scores = 3 * draw.normal(B, T, S)
    unsoftened = scores.double()
    weights = unsoftened.softmax(dim=-1)
    right = softmax_entropy(unsoftened)
    mistakes = {
        "the entropy with the opposite sign": lambda: -right,
        "the entropy in bits (log2); nats use the natural logarithm": lambda: (
            right / math.log(2)
        ),
        "the entropy in decimal digits (log10)": lambda: right / math.log(10),
        "the mean over the keys instead of the sum": lambda: right / S,
        "the entropy over a dimension other than the last": lambda: softmax_entropy(
            unsoftened.mT
        ),
        "the entropy of the scores, without the softmax": lambda: (
            -(unsoftened * unsoftened.log()).sum(dim=-1)
        ),
        "one number for all rows together": right.sum,
        "the sum of the log-weights without the weights as factors": lambda: (
            -weights.log().sum(-1)
        ),
    }
    expect_close(
        student.softmax_entropy(scores), right, "the entropy", mistakes=mistakes
    )


@check("softmax-entropy", share=1, title="A masked key (score -inf) adds nothing")
def test_entropy_of_masked_keys(student, draw):
    scores = draw.normal(T, S)
    scores[:, 1] = -torch.inf
    got = student.softmax_entropy(scores)
    expect_shape(got, (T,), "the entropy")
    if got.isnan().any():
        fail(
            "The entropy is NaN for a row with a score of -inf. A weight of 0 should "
            "add 0, but 0 · ln 0 is NaN in floating point.",
            mistake="NaN for a weight of 0",
        )
    want = softmax_entropy(scores.double())
    expect_close(got, want, "the entropy", tolerance=1e-4)


@check("softmax-entropy", share=1, title="Large scores do not overflow")
def test_entropy_of_large_scores(student, draw):
    small = draw.normal(T, S)

    def ordinary() -> None:
        want = softmax_entropy(small.double())
        expect_close(student.softmax_entropy(small), want, "")

    alternating = 1000 * draw.normal(T, S).sign() + draw.normal(T, S)
    for scores, words in (
        (small + 1000, OVERFLOWS),
        (rows_far_apart(draw, T, S), OF_ALL),
        (alternating, OVERFLOWS),
    ):
        want = softmax_entropy(scores.double())
        with blame(words, ordinary):
            got = student.softmax_entropy(scores)
            expect_close(got, want, "the entropy of large scores", tolerance=1e-3)


@check("softmax-entropy", share=1, title="Any sizes, any axes in front, and float64")
def test_entropy_leading_axes(student, draw):
    expect_leading_axes(
        student.softmax_entropy,
        softmax_entropy,
        [(S,)],
        draw,
        "the entropy",
        leads=[(B, T), (), (T,), (B, H, T), (2, B, H, T), (B, 1), (1,)],
    )
    expect_every_size(
        student,
        student.softmax_entropy,
        softmax_entropy,
        varied_inputs(draw, ["b,t,s"], large=9.0),
        "the entropy",
    )
    given = [draw.normal(B, T, S)]
    expect_double(student.softmax_entropy, softmax_entropy, given, "the entropy", 2e-8)


@check(
    "softmax-entropy",
    share=1,
    title="Calls are independent, and the scores do not change",
)
def test_entropy_calls_apart(student, draw):
    calls = [(draw.normal(B + 1, T, S),) for _ in range(2)]
    for (scores,) in calls:
        scores[..., 1] = -torch.inf
    entropy = student.softmax_entropy
    expect_calls_apart(
        student,
        entropy,
        calls,
        lambda scores: softmax_entropy(scores.double()),
        "the entropy",
    )


@check(
    "softmax-entropy", share=1, title="The entropy is on the scores' device", form=True
)
def test_entropy_device(student, draw):
    scores = draw.normal(B, T, S)
    expect_same_device(student, student.softmax_entropy, scores, what="the entropy")

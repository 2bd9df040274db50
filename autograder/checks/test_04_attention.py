"""Hidden checks of unit 04: scores, masked softmax, attention, entropy."""

import math
from collections.abc import Callable

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
    expect_no_call,
    expect_shape,
    fail,
)
from transformer import attention as reference

B, H, T, S, D_K, D_V = 2, 3, 4, 5, 6, 7
MANY = 50  # queries, where a share of the weights is counted
BUILT_INS = [
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.MultiheadAttention",
]


def scores_of(query: Tensor, key: Tensor) -> Tensor:
    """Compute the right scores in float64."""
    return reference.attention_scores(query.double(), key.double())


def weights_of(scores: Tensor, mask: Tensor | None = None) -> Tensor:
    """Compute the right weights in float64."""
    return reference.masked_softmax(scores.double(), mask)


def score_mistakes(query: Tensor, key: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Name what goes wrong with the scores."""
    q, k = query.double(), key.double()
    products = q @ k.transpose(-2, -1)
    d_k, s = k.size(-1), k.size(-2)
    heads = q.size(1) if q.dim() == 4 else 1
    as_if_transposed = k.reshape(*k.shape[:-2], d_k, s)
    return {
        "the result without the division by √d_k": lambda: products,
        "the result with a division by d_k instead of √d_k": lambda: products / d_k,
        "the result with a multiplication by √d_k": lambda: products * d_k**0.5,
        "the result with √(number of keys) in place of √d_k": lambda: products / s**0.5,
        "the result with √d_model in place of √d_k": lambda: (
            products / (heads * d_k) ** 0.5
        ),
        "the result when `view` or `reshape` stands where the keys are transposed": (
            lambda: q @ as_if_transposed / d_k**0.5
        ),
        "the scores of keys against queries, transposed": lambda: (
            k @ q.transpose(-2, -1) / d_k**0.5
        ),
    }


def softmax_mistakes(
    scores: Tensor, mask: Tensor | None
) -> dict[str, Callable[[], Tensor]]:
    """Name what goes wrong between the scores and the weights."""
    x = scores.double()
    hidden = torch.zeros_like(x, dtype=torch.bool) if mask is None else ~mask
    right = weights_of(scores, mask)
    return {
        "the result of a softmax over the queries instead of the keys": lambda: (
            x.masked_fill(hidden, -1e30).softmax(dim=-2)
        ),
        "the result of a softmax over the heads instead of the keys": lambda: (
            x.masked_fill(hidden, -1e30).softmax(dim=1)
        ),
        "the result when the mask is ignored": lambda: x.softmax(dim=-1),
        "the result of an inverted mask (True means: may attend)": lambda: weights_of(
            x, hidden
        ),
        "the result of masking after the softmax without dividing by the new sum": (
            lambda: x.softmax(dim=-1).masked_fill(hidden, 0)
        ),
        "the result when masked scores become 0 (a score of 0 still gets weight)": (
            lambda: x.masked_fill(hidden, 0).softmax(dim=-1)
        ),
        "the result when masked scores become -1 (they still get weight)": (
            lambda: x.masked_fill(hidden, -1).softmax(dim=-1)
        ),
        "the logarithm of the weights (log-softmax)": lambda: right.log(),
        "the scores, not the weights": lambda: x,
    }


def carried(
    mistakes: dict[str, Callable[[], Tensor]], step: Callable[[Tensor], Tensor]
) -> dict[str, Callable[[], Tensor]]:
    """Carry wrong values on through the next step, under the same names."""

    def after(wrong: Callable[[], Tensor]) -> Callable[[], Tensor]:
        return lambda: step(wrong())

    return {phrase: after(wrong) for phrase, wrong in mistakes.items()}


def attention_mistakes(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None
) -> dict[str, Callable[[], Tensor]]:
    """Name what goes wrong with the output: every mistake, seen through the values."""
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
    """Draw queries, keys and values with no two sizes alike."""
    shapes = [(B, H, T, D_K), (B, H, S, D_K), (B, H, S, D_V)]
    return tuple(draw.normal(*shape) for shape in shapes)


def attend(student, *args) -> tuple[Tensor, Tensor]:
    """Call the student's attention and see that it returns a pair."""
    result = student.scaled_dot_product_attention(*args)
    output, weights = expect_parts(result, 2, "two things, the output and the weights")
    return output, weights


def row_without_keys(draw) -> Tensor:
    """Draw a mask (B, 1, T, S) in which one query may attend to nothing."""
    mask = draw.mask(B, 1, T, S)
    mask[1, 0, 2] = False
    return mask


# --- attention_scores -------------------------------------------------------------


@check("attention-scores", share=1, title="Scores have the shape (b, h, t, s)")
def test_scores_shape(student, draw):
    q, k, _ = inputs(draw)
    expect_shape(student.attention_scores(q, k), (B, H, T, S), "the tensor of scores")


@check("attention-scores", share=3, title="Scores have the right values")
def test_scores_values(student, draw):
    q, k, _ = inputs(draw)
    got = student.attention_scores(q, k)
    expect_close(
        got, scores_of(q, k), "the tensor of scores", mistakes=score_mistakes(q, k)
    )


@check("attention-scores", share=1, title="One head and no batch: (t, d_k) works too")
def test_scores_without_batch(student, draw):
    usual = inputs(draw)[:2]

    def ordinary() -> None:
        expect_close(student.attention_scores(*usual), scores_of(*usual), "")

    q, k = draw.normal(T, D_K), draw.normal(S, D_K)
    with blame("code that works with a batch and heads only", ordinary):
        got = student.attention_scores(q, k)
        expect_close(
            got, scores_of(q, k), "the tensor of scores", mistakes=score_mistakes(q, k)
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
    expect_dtype(got, torch.float64, "the tensor of scores")


@check("attention-scores", share=1, title="Gradients reach queries and keys")
def test_scores_gradients(student, draw):
    q, k, _ = inputs(draw)
    upstream = draw.normal(B, H, T, S)
    run = student.gradients(student.attention_scores, q, k, upstream=upstream)
    expect_gradients(run, reference.attention_scores, [q, k], upstream)


# --- masked_softmax ---------------------------------------------------------------


@check("masked-softmax", share=1, title="Weights have the shape of the scores")
def test_softmax_shape(student, draw):
    scores, mask = draw.normal(B, H, T, S), draw.mask(1, 1, T, S)
    expect_shape(
        student.masked_softmax(scores, mask), (B, H, T, S), "the tensor of weights"
    )


@check("masked-softmax", share=2, title="Without a mask: a softmax over the keys")
def test_softmax_without_mask(student, draw):
    scores = draw.normal(B, H, T, S)
    got = student.masked_softmax(scores)
    mistakes = softmax_mistakes(scores, None)
    expect_close(got, weights_of(scores), "the tensor of weights", mistakes=mistakes)


@check("masked-softmax", share=3, title="With a mask, one for all: (1, 1, t, s)")
def test_softmax_with_shared_mask(student, draw):
    scores, mask = draw.normal(B, H, T, S), draw.mask(1, 1, T, S)
    got = student.masked_softmax(scores, mask)
    mistakes = softmax_mistakes(scores, mask)
    expect_close(
        got, weights_of(scores, mask), "the tensor of weights", mistakes=mistakes
    )


@check("masked-softmax", share=1, title="With a padding mask: (b, 1, 1, s)")
def test_softmax_with_padding_mask(student, draw):
    scores, mask = draw.normal(B, H, T, S), draw.mask(B, 1, 1, S)
    got = student.masked_softmax(scores, mask)
    mistakes = softmax_mistakes(scores, mask)
    expect_close(
        got, weights_of(scores, mask), "the tensor of weights", mistakes=mistakes
    )


@check("masked-softmax", share=2, title="A query that may attend to nothing: zeros")
def test_softmax_of_nothing(student, draw):
    scores, mask = draw.normal(B, H, T, S), row_without_keys(draw)
    row = student.masked_softmax(scores, mask)[1, :, 2]
    if row.isnan().any():
        fail(
            "weights of a query that may attend to nothing are NaN: the softmax of a "
            "row of -inf divides 0 by 0. They should be 0.",
            mistake="NaN where a query may attend to nothing",
        )
    if torch.allclose(row.float(), torch.full_like(row, 1 / S).float(), atol=1e-5):
        fail(
            "weights of a query that may attend to nothing are 1/s each: it attends "
            "to everything that is masked. They should be 0.",
            mistake="uniform weights where a query may attend to nothing",
        )
    expect_close(
        row, torch.zeros(H, S), "the tensor of weights of a query without keys"
    )


@check("masked-softmax", share=1, title="No NaN in the gradient, not even then")
def test_softmax_gradients(student, draw):
    scores, mask = draw.normal(B, H, T, S), row_without_keys(draw)
    upstream = draw.normal(B, H, T, S)
    run = student.gradients(student.masked_softmax, scores, mask, upstream=upstream)
    if run.inputs[0] is not None and run.inputs[0].isnan().any():
        fail(
            "the gradient of the scores holds NaN: repairing the weights afterwards "
            "does not repair the gradient of a softmax over nothing but -inf",
            mistake="NaN in the gradient",
        )
    expect_gradients(
        run, lambda scores: reference.masked_softmax(scores, mask), [scores], upstream
    )


@check("masked-softmax", share=1, title="Scores of any size, far above 0 or far below")
def test_softmax_of_large_scores(student, draw):
    scores, mask = draw.normal(B, H, T, S), draw.mask(1, 1, T, S)

    def ordinary() -> None:
        got = student.masked_softmax(scores, mask)
        expect_close(got, weights_of(scores, mask), "")

    for shift, words in (
        (1000, "an exponential that overflows; `softmax` subtracts the largest first"),
        (-1000, "masked scores that are not low enough beside very low ones"),
    ):
        large = scores + shift
        with blame(words, ordinary):
            got, want = student.masked_softmax(large, mask), weights_of(large, mask)
            expect_close(got, want, f"the tensor of weights, scores near {shift},")


@check("masked-softmax", share=1, title="The scores are left as they were")
def test_softmax_leaves_its_input(student, draw):
    scores, mask = draw.normal(B, H, T, S), draw.mask(1, 1, T, S)
    _, after = student.call_and_return_inputs(student.masked_softmax, scores, mask)
    expect_unchanged(after, [scores, mask])


# --- scaled_dot_product_attention -------------------------------------------------


@check("scaled-dot-product-attention", share=1, title="Output is (b, h, t, d_v)")
def test_attention_shapes(student, draw):
    output, weights = attend(student, *inputs(draw))
    expect_shape(output, (B, H, T, D_V), "the output")
    expect_shape(weights, (B, H, T, S), "the tensor of weights")


@check("scaled-dot-product-attention", share=2, title="Right output without a mask")
def test_attention_output(student, draw):
    q, k, v = inputs(draw)
    output, _ = attend(student, q, k, v)
    want = weights_of(scores_of(q, k)) @ v.double()
    expect_close(output, want, "the output", mistakes=attention_mistakes(q, k, v, None))


@check("scaled-dot-product-attention", share=3, title="Right output with a mask")
def test_attention_output_with_mask(student, draw):
    q, k, v = inputs(draw)
    mask = draw.mask(B, 1, T, S)
    output, _ = attend(student, q, k, v, mask)
    want = weights_of(scores_of(q, k), mask) @ v.double()
    expect_close(output, want, "the output", mistakes=attention_mistakes(q, k, v, mask))


@check("scaled-dot-product-attention", share=1, title="Right weights with a mask")
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


@check("scaled-dot-product-attention", share=1, title="No key to attend to: zeros")
def test_attention_to_nothing(student, draw):
    q, k, v = inputs(draw)
    mask = row_without_keys(draw)
    output, _ = attend(student, q, k, v, mask)
    if output.isnan().any():
        fail(
            "the output of a query that may attend to nothing is NaN; it should be 0",
            mistake="NaN where a query may attend to nothing",
        )
    expect_close(output[1, :, 2], torch.zeros(H, D_V), "output of a query without keys")


@check("scaled-dot-product-attention", share=1, title="Dropout acts on the weights")
def test_attention_dropout(student, draw):
    q, k = draw.normal(B, H, MANY, D_K), draw.normal(B, H, S, D_K)
    identity = torch.eye(S).expand(B, H, S, S)  # the output is then the weights used
    used, weights = attend(student, q, k, identity, None, 0.25)
    right = weights_of(scores_of(q, k)).float()
    expect_close(weights, right, "the tensor of weights before dropout")
    expect_shape(used, (B, H, MANY, S), "the output")
    if torch.allclose(used.float(), right, atol=1e-5):
        fail("dropout=0.25 changed nothing", mistake="dropout is ignored")
    kept = used.float() != 0
    if not kept.all() and kept.equal(kept[..., :1, :].expand_as(kept)):
        fail(
            "dropout should drop single weights, but where it drops one, it drops the "
            "same key's weight for every query: it acts on the values",
            mistake="dropout of the values",
        )
    if not torch.allclose(used.float()[kept], right[kept] / 0.75, atol=1e-5):
        fail(
            "with dropout=0.25 every weight should become 0 or 4/3 of itself, so that "
            "the expected sum stays the same",
            mistake="weights that are neither 0 nor 4/3 of what they were",
        )
    if not 0.15 < 1 - kept.float().mean() < 0.35:  # 9 standard deviations off
        fail(
            "dropout=0.25 is the share of the weights that become 0, but yours drops "
            "another share",
            mistake="another share of the weights dropped",
        )
    ones = torch.ones(B, H, S, 1)  # the output is then the sum of the weights used
    sums, _ = attend(student, q, k, ones, None, 0.25)
    if all(min(abs(x), abs(x - 4 / 3)) < 1e-4 for x in sums.flatten().tolist()):
        fail(
            "dropout should drop single weights before the values are averaged, but "
            "it drops numbers of the output",
            mistake="dropout of the output",
        )


@check("scaled-dot-product-attention", share=1, title="Gradients reach q, k and v")
def test_attention_gradients(student, draw):
    q, k, v = inputs(draw)
    mask, upstream = draw.mask(B, 1, T, S), draw.normal(B, H, T, D_V)
    run = student.gradients(
        student.scaled_dot_product_attention, q, k, v, mask, upstream=upstream
    )

    def attention(query: Tensor, key: Tensor, value: Tensor) -> Tensor:
        return reference.scaled_dot_product_attention(query, key, value, mask)[0]

    expect_gradients(run, attention, [q, k, v], upstream)


@check("scaled-dot-product-attention", share=1, title="Written by you, in float64 too")
def test_attention_is_written_by_hand(student, draw):
    def ordinary() -> None:
        for mask in (None, draw.mask(B, 1, T, S)):
            attend(student, *inputs(draw), mask)

    expect_no_call(student, "scaled_dot_product_attention", BUILT_INS, ordinary)
    q, k, v = (x.double() for x in inputs(draw))
    output, _ = attend(student, q, k, v)
    expect_dtype(output, torch.float64, "the output")


# --- softmax_entropy --------------------------------------------------------------


@check("softmax-entropy", share=1, title="One number for each row of scores")
def test_entropy_shape(student, draw):
    got = student.softmax_entropy(draw.normal(B, T, S))
    expect_shape(got, (B, T), "the entropy")


@check("softmax-entropy", share=2, title="Entropy has the right values, in nats")
def test_entropy_values(student, draw):
    scores = 3 * draw.normal(B, T, S)
    unsoftened = scores.double()
    weights = unsoftened.softmax(dim=-1)
    right = reference.softmax_entropy(unsoftened)
    mistakes = {
        "the entropy with the opposite sign": lambda: -right,
        "the entropy in bits (log2); nats use the natural logarithm": lambda: (
            right / math.log(2)
        ),
        "the entropy in decimal digits (log10)": lambda: right / math.log(10),
        "the mean over the keys instead of the sum": lambda: right / S,
        "the entropy over another dimension than the last": lambda: (
            reference.softmax_entropy(unsoftened.mT)
        ),
        "the entropy of the scores, without the softmax": lambda: (
            -(unsoftened * unsoftened.log()).sum(dim=-1)
        ),
        "one number for all rows together": right.sum,
        "the sum of the log-weights, not weighted": lambda: -weights.log().sum(-1),
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
            "the entropy is NaN where a score is -inf: 0 · ln 0 counts as 0, but "
            "floating point says NaN",
            mistake="NaN for a weight of 0",
        )
    want = reference.softmax_entropy(scores.double())
    expect_close(got, want, "the entropy", tolerance=1e-4)


@check("softmax-entropy", share=1, title="Large scores do not overflow")
def test_entropy_of_large_scores(student, draw):
    small = draw.normal(T, S)

    def ordinary() -> None:
        want = reference.softmax_entropy(small.double())
        expect_close(student.softmax_entropy(small), want, "")

    scores = 1000 * draw.normal(T, S).sign() + draw.normal(T, S)
    want = reference.softmax_entropy(scores.double())
    words = "an exponential that overflows; `softmax` subtracts the largest first"
    with blame(words, ordinary):
        got = student.softmax_entropy(scores)
        expect_close(got, want, "entropy of scores near 1000", tolerance=1e-3)

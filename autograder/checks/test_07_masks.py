"""Hidden checks of unit 07: padding, causal and target mask, and masking too late."""

import torch
from torch import Tensor

from autograder.checking.behaviour import (
    blame,
    expect_dtype,
    expect_gradients,
    expect_unchanged,
)
from autograder.checking.compare import name_of_mistake
from autograder.checking.expect import check, expect_close, expect_shape, fail
from autograder.checking.masks import (
    Mistakes,
    expect_bool,
    expect_mask,
    expect_on_cpu,
)
from transformer import attention
from transformer import masks as reference

B, H, T, S = 2, 3, 4, 5
LENGTHS = (5, 3, 1)  # words in the sentences of a batch


def batch(draw) -> tuple[Tensor, int]:
    """Draw sentences of 5, 3 and 1 words, padded with a number that is not 0 or 1."""
    pad_id = draw.integer(3, 9)
    ids = draw.ids(len(LENGTHS), max(LENGTHS), low=10)
    ids[:, 0] = torch.tensor([1, 0, 2])  # words: padding has another number here
    ids[0, 2] = 0
    for row, length in enumerate(LENGTHS):
        ids[row, length:] = pad_id
    return ids, pad_id


# --- padding_mask -----------------------------------------------------------------


def padding_mistakes(ids: Tensor, pad_id: int) -> Mistakes:
    """Name what goes wrong with the padding mask."""
    word = (ids != pad_id)[:, None, None, :]  # (b, 1, 1, s)
    flat = word[:, 0, 0]
    return {
        "the opposite: True where the key is padding (True means: may attend)": ~word,
        "a mask of the shape (b, s): the batch would meet the queries": flat,
        "a mask of the shape (b, 1, s): the batch would meet the heads": word[:, 0],
        "a mask that hides query rows, (b, 1, s, 1), not keys": flat[:, None, :, None],
        "a mask with the batch in the place of the heads": flat[None, :, None, :],
        "a mask with a row for each query, (b, 1, s, s); one row is enough": (
            word.expand(-1, -1, word.size(-1), -1)
        ),
        "the mask for the pad id 1, whatever `pad_id` is": (ids != 1)[:, None, None],
        "the mask for the pad id 0, whatever `pad_id` is": (ids != 0)[:, None, None],
        "the mask of all numbers above `pad_id`; smaller numbers are words too": (
            (ids > pad_id)[:, None, None]
        ),
        "a mask that hides nothing": torch.ones_like(word),
    }


@check("padding-mask", share=2, title="The shape is (b, 1, 1, s)")
def test_padding_shape(student, draw):
    ids, pad_id = batch(draw)
    got = student.padding_mask(ids, pad_id)
    shapes = padding_mistakes(ids, pad_id)
    if isinstance(got, Tensor) and got.shape != (len(ids), 1, 1, ids.size(1)):
        phrase = name_of_mistake(got, shapes, 0.0)
        if phrase:
            fail(f"The padding mask is {phrase}.", phrase)
    expect_shape(got, (len(ids), 1, 1, ids.size(1)), "The padding mask")


@check("padding-mask", share=3, title="True for words, False for padding")
def test_padding_values(student, draw):
    ids, pad_id = batch(draw)
    want = reference.padding_mask(ids, pad_id)
    mistakes = padding_mistakes(ids, pad_id)
    expect_mask(student.padding_mask(ids, pad_id), want, "The padding mask", mistakes)


@check("padding-mask", share=1, title="A batch of one, and one that is all padding")
def test_padding_of_one_sentence(student, draw):
    ids, pad_id = batch(draw)
    nothing = torch.full((1, 4), pad_id)
    for one in (ids[1:2], nothing):
        want = reference.padding_mask(one, pad_id)
        mistakes = padding_mistakes(one, pad_id)
        got = student.padding_mask(one, pad_id)
        expect_mask(got, want, "The mask of a single sentence", mistakes)


@check("padding-mask", share=1, title="The mask holds bools")
def test_padding_is_bool(student, draw):
    expect_bool(student.padding_mask(*batch(draw)), "The padding mask")


@check("padding-mask", share=1, title="It lies on the device of the ids")
def test_padding_device(student, draw):
    ids, pad_id = batch(draw)
    expect_on_cpu(student, lambda: student.padding_mask(ids, pad_id), "The mask")


@check("padding-mask", share=1, title="The ids stay as they are, contiguous or not")
def test_padding_leaves_its_input(student, draw):
    ids, pad_id = batch(draw)
    turned = ids.T.contiguous().T
    got, after = student.call_and_return_inputs(student.padding_mask, turned, pad_id)
    expect_unchanged(after[:1], [ids])
    want = reference.padding_mask(ids, pad_id)
    expect_mask(got, want, "The padding mask", padding_mistakes(ids, pad_id))


# --- causal_mask ------------------------------------------------------------------


def causal_mistakes(t: int) -> Mistakes:
    """Name what goes wrong with the causal mask."""
    ones = torch.ones(1, 1, t, t, dtype=torch.bool)
    past = ones.tril()
    return {
        "the upper triangle with the diagonal: it hides the past": ones.triu(),
        "the opposite: True where the key is in the future": ~past,
        "a mask without the diagonal: no token may attend to itself": ones.tril(-1),
        "a mask that reaches one token into the future": ones.tril(1),
        "a diagonal matrix: each token may attend to itself alone": past & ones.triu(),
        "a mask that hides nothing": ones,
        "a mask of the shape (t, t); here it is (1, 1, t, t)": past[0, 0],
        "a mask of the shape (1, t, t); here it is (1, 1, t, t)": past[0],
    }


@check("causal-mask", share=1, title="The shape is (1, 1, t, t)")
def test_causal_shape(student, draw):
    t = draw.integer(4, 8)
    expect_shape(student.causal_mask(t), (1, 1, t, t), "The causal mask")


@check("causal-mask", share=3, title="Token i may attend to the tokens 0 to i")
def test_causal_values(student, draw):
    t = draw.integer(4, 8)
    got = student.causal_mask(t)
    expect_mask(got, reference.causal_mask(t), "The causal mask", causal_mistakes(t))


@check("causal-mask", share=1, title="A sentence of a single token may see itself")
def test_causal_of_one_token(student):
    want = torch.ones(1, 1, 1, 1, dtype=torch.bool)
    wrong = {"a mask without the diagonal: a token may not attend to itself": ~want}
    expect_mask(student.causal_mask(1), want, "The mask of one token", wrong)


@check("causal-mask", share=1, title="The mask holds bools")
def test_causal_is_bool(student, draw):
    expect_bool(student.causal_mask(draw.integer(4, 8)), "The causal mask")


@check("causal-mask", share=1, title="It is made on the device that is asked for")
def test_causal_device(student):
    expect_on_cpu(student, lambda: student.causal_mask(5, "cpu"), "The mask")
    cpu = torch.device("cpu")
    expect_on_cpu(student, lambda: student.causal_mask(5, device=cpu), "The mask")


# --- target_mask ------------------------------------------------------------------


def target_mistakes(ids: Tensor, pad_id: int) -> Mistakes:
    """Name what goes wrong with the target mask."""
    keys = (ids != pad_id)[:, None, None, :]
    rows = keys.transpose(-2, -1)
    past = reference.causal_mask(ids.size(1))
    whole = torch.ones_like(keys & past)
    return {
        "padding or causal (`|`), where both must allow it (`&`)": keys | past,
        "the causal mask alone: padding is not hidden": past,
        "the causal mask alone, for each sentence: padding is not hidden": past & whole,
        "the padding mask alone: the future is not hidden": keys,
        "the padding mask alone, for each query: the future is not hidden": (
            keys & whole
        ),
        "a mask that hides the rows of padded queries, not the columns of keys": (
            rows & past  # with padding at the end, the same with the keys hidden too
        ),
        "the opposite: True where a query may not attend": ~(keys & past),
        "the upper triangle: it hides the past": keys & whole.triu(),
        "a mask with the padding mask inverted": ~keys & past,
        "a mask without the diagonal: no token may attend to itself": (
            keys & whole.tril(-1)
        ),
        "a mask that reaches one token into the future": keys & whole.tril(1),
        "the mask for the pad id 1, whatever `pad_id` is": (
            (ids != 1)[:, None, None] & past
        ),
        "the mask for the pad id 0, whatever `pad_id` is": (
            (ids != 0)[:, None, None] & past
        ),
        "a mask of the shape (b, t, t): the batch would meet the heads": (
            (keys & past)[:, 0]
        ),
    }


@check("target-mask", share=2, title="The shape is (b, 1, t, t)")
def test_target_shape(student, draw):
    ids, pad_id = batch(draw)
    got = student.target_mask(ids, pad_id)
    expect_shape(got, (len(ids), 1, ids.size(1), ids.size(1)), "The target mask")


@check("target-mask", share=4, title="Hidden: all padding, and all that comes later")
def test_target_values(student, draw):
    ids, pad_id = batch(draw)
    want = reference.target_mask(ids, pad_id)
    mistakes = target_mistakes(ids, pad_id)
    expect_mask(student.target_mask(ids, pad_id), want, "The target mask", mistakes)


@check("target-mask", share=1, title="A batch of one")
def test_target_of_one_sentence(student, draw):
    ids, pad_id = batch(draw)
    want = reference.target_mask(ids[1:2], pad_id)
    got = student.target_mask(ids[1:2], pad_id)
    mistakes = target_mistakes(ids[1:2], pad_id)
    expect_mask(got, want, "The mask of a single sentence", mistakes)


@check("target-mask", share=1, title="The mask holds bools")
def test_target_is_bool(student, draw):
    expect_bool(student.target_mask(*batch(draw)), "The target mask")


@check("target-mask", share=1, title="Both halves lie on the device of the ids")
def test_target_device(student, draw):
    ids, pad_id = batch(draw)
    expect_on_cpu(student, lambda: student.target_mask(ids, pad_id), "The mask")


@check("target-mask", share=1, title="The ids stay as they are, contiguous or not")
def test_target_leaves_its_input(student, draw):
    ids, pad_id = batch(draw)
    turned = ids.T.contiguous().T
    got, after = student.call_and_return_inputs(student.target_mask, turned, pad_id)
    expect_unchanged(after[:1], [ids])
    want = reference.target_mask(ids, pad_id)
    expect_mask(got, want, "The target mask", target_mistakes(ids, pad_id))


# --- mask_then_renormalise --------------------------------------------------------


def renormalise_mistakes(weights: Tensor, mask: Tensor) -> Mistakes:
    """Name what goes wrong with weights that are masked after the softmax."""
    w = weights.double()
    allowed = mask.expand(w.shape)
    kept = w * allowed
    right = reference.mask_then_renormalise(w, mask)
    count = allowed.sum(dim=-1, keepdim=True)
    hidden_mass = 1 - kept.sum(dim=-1, keepdim=True)
    return {
        "the masked weights, whose rows do not sum to 1 any more": kept,
        "the result of an inverted mask (True means: may attend)": (
            reference.mask_then_renormalise(w, ~mask)
        ),
        "the weights as they came: the mask is ignored": w,
        "the result of a second softmax, over the weights that are left": (
            attention.masked_softmax(w, mask)
        ),
        "the result of a softmax over weights of which the masked are 0": (
            kept.softmax(dim=-1)
        ),
        "the masked weights divided by the sum of each column": (
            kept / kept.sum(dim=-2, keepdim=True)
        ),
        "the masked weights divided by their sum over the heads": (
            kept / kept.sum(dim=1, keepdim=True)
        ),
        "the masked weights divided by the sum of the whole tensor": kept / kept.sum(),
        "the masked weights divided by the number of keys that are left": kept / count,
        "the masked weights with the hidden part shared out evenly": (
            kept + allowed * hidden_mass / count
        ),
        "even weights for all keys that are left": allowed / count,
        "the result with its sign turned": -right,
    }


def softmax_of(scores: Tensor) -> Tensor:
    """Turn drawn scores into weights whose rows sum to 1."""
    return scores.double().softmax(dim=-1).to(scores.dtype)


def mask_with_a_closed_row(draw) -> Tensor:
    """Draw a mask (B, 1, T, S) in which one query may attend to nothing."""
    mask = draw.mask(B, 1, T, S)
    mask[1, 0, 2] = False
    return mask


@check("mask-then-renormalise", share=1, title="The shape is that of the weights")
def test_renormalise_shape(student, draw):
    weights, mask = softmax_of(draw.normal(B, H, T, S)), draw.mask(1, 1, T, S)
    got = student.mask_then_renormalise(weights, mask)
    expect_shape(got, (B, H, T, S), "The tensor of new weights")


@check("mask-then-renormalise", share=4, title="The same as masking the scores")
def test_renormalise_values(student, draw):
    scores, mask = 2 * draw.normal(B, H, T, S), draw.mask(1, 1, T, S)
    weights = softmax_of(scores)
    got = student.mask_then_renormalise(weights, mask)
    want = attention.masked_softmax(scores.double(), mask)
    mistakes = renormalise_mistakes(weights, mask)
    expect_close(got, want, "The tensor of new weights", mistakes=mistakes)


@check("mask-then-renormalise", share=1, title="With a padding mask: (b, 1, 1, s)")
def test_renormalise_with_padding(student, draw):
    weights, mask = softmax_of(draw.normal(B, H, T, S)), draw.mask(B, 1, 1, S)
    got = student.mask_then_renormalise(weights, mask)
    want = reference.mask_then_renormalise(weights.double(), mask)
    mistakes = renormalise_mistakes(weights, mask)
    expect_close(got, want, "The tensor of new weights", mistakes=mistakes)


@check("mask-then-renormalise", share=2, title="A row with no key left: zeros")
def test_renormalise_of_nothing(student, draw):
    weights, mask = softmax_of(draw.normal(B, H, T, S)), mask_with_a_closed_row(draw)
    row = student.mask_then_renormalise(weights, mask)[1, :, 2]
    if row.isnan().any() or row.isinf().any():
        fail(
            "the weights of a query that may attend to nothing are 0 / 0. They should "
            "be 0.",
            mistake="NaN where a query may attend to nothing",
        )
    if torch.allclose(row.float(), torch.full_like(row, 1 / S).float(), atol=1e-5):
        fail(
            "the weights of a query that may attend to nothing are 1/s each. They "
            "should be 0.",
            mistake="uniform weights where a query may attend to nothing",
        )
    expect_close(
        row, torch.zeros(H, S), "The tensor of weights of a query without keys"
    )


@check("mask-then-renormalise", share=1, title="Gradients reach the weights, no NaN")
def test_renormalise_gradients(student, draw):
    weights, mask = softmax_of(draw.normal(B, H, T, S)), mask_with_a_closed_row(draw)
    upstream = draw.normal(B, H, T, S)
    run = student.gradients(
        student.mask_then_renormalise, weights, mask, upstream=upstream
    )
    open_rows = mask.any(dim=-1, keepdim=True)
    gradient = run.inputs[0]
    if gradient is not None:
        if gradient.isnan().any():
            fail(
                "the gradient of the weights holds NaN: repairing 0 / 0 afterwards "
                "does not repair its gradient",
                mistake="NaN in the gradient",
            )
        # In a closed row the slope is a matter of taste: the function jumps there.
        run.inputs[0] = gradient * open_rows
    expect_gradients(
        run,
        lambda weights: reference.mask_then_renormalise(weights * open_rows, mask),
        [weights],
        upstream,
    )


@check("mask-then-renormalise", share=1, title="float64 stays, and any layout works")
def test_renormalise_in_float64(student, draw):
    weights = draw.normal(B, H, T, S, dtype=torch.float64).softmax(dim=-1)
    weights = weights.mT.contiguous().mT
    mask = draw.mask(B, 1, T, S)
    plain = weights.contiguous()
    words = "`view` on a tensor that is not contiguous; `reshape` can copy"
    with blame(words, lambda: student.mask_then_renormalise(plain, mask)):
        got = student.mask_then_renormalise(weights, mask)
    want = reference.mask_then_renormalise(weights, mask)
    mistakes = renormalise_mistakes(weights, mask)
    expect_close(got, want, "The tensor of new weights", mistakes=mistakes)
    expect_dtype(got, torch.float64, "the tensor of new weights")


@check("mask-then-renormalise", share=1, title="Weights and mask are left as they were")
def test_renormalise_leaves_its_input(student, draw):
    weights, mask = softmax_of(draw.normal(B, H, T, S)), draw.mask(B, 1, T, S)
    _, after = student.call_and_return_inputs(
        student.mask_then_renormalise, weights, mask
    )
    expect_unchanged(after, [weights, mask])

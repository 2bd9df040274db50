"""Hidden checks of unit 07: padding, causal and target masks, and late masking."""

from typing import Any

import torch
from torch import Tensor

from autograder.checking.behaviour import blame, expect_dtype, expect_gradients
from autograder.checking.compare import name_of_mistake
from autograder.checking.expect import check, expect_close, expect_shape, fail
from autograder.checking.generic_checks import (
    MADE_ON_CPU,
    expect_each_call_anew,
    expect_no_traces,
    expect_same_device,
)
from autograder.checking.kinds_of_inputs import (
    expect_every_mask,
    expect_leading_axes,
    masks_of_every_kind,
)
from autograder.checking.masks import Mistakes, expect_bool, expect_mask
from autograder.checking.varied_inputs import Varied, expect_every_size, varied_inputs
from autograder.phrases import Phrase
from transformer import attention
from transformer import masks as reference
from transformer.analysis.masks import mask_then_renormalise

B, H, T, S = 2, 3, 4, 5
LONGER = 1030  # tokens; longer than any table that a student may have stored
OTHER_PADDING = (
    0,
    1,
    2,
    3,
    4,
    5,
)  # usual ids of padding, which are ordinary words here


def batch(draw) -> tuple[Tensor, int]:
    """Draw sentences with padding at the end, and the id of the padding."""
    pad_id = draw.integer(6, 10)
    large = (pad_id + 2**8, pad_id + 2**16)  # with 8 or 16 bits, they equal pad_id
    words = torch.tensor([[*OTHER_PADDING, pad_id + 1, *large]])
    ids = draw.padded_ids(3, words.size(1), pad_id, low=12)["padding after the words"]
    return torch.cat([ids[:1], words, ids[1:]]), pad_id


def turned_batch(draw) -> tuple[Tensor, int]:
    """Draw sentences with padding at the beginning.

    Their mask differs from that of every `batch`.
    """
    ids, pad_id = batch(draw)
    return ids.flip(-1), pad_id


def expect_any_place(draw, make: Any, right: Any, named: Any, what: str) -> None:
    """Fail unless the mask of ids is right wherever the padding is.

    Args:
        draw: the fixture.
        make: the student's function of ids and a padding id.
        right: the reference solution.
        named: a function that returns wrong results by name.
        what: a name of the mask.
    """
    pad_id = draw.integer(6, 10)
    places = draw.padded_ids(3, 6, pad_id, low=12)

    def compare(where: str) -> None:
        ids = places[where]
        whose = Phrase("With {where}, {what}", where, what)
        expect_mask(make(ids, pad_id), right(ids, pad_id), whose, named(ids, pad_id))

    for where in places:
        words = "code that works only if padding follows the words"
        with blame(words, lambda: compare("padding after the words")):
            compare(where)
    for b, t in ((9, 1), (4, 4), (2, 67)):  # few and many words
        ids = draw.ids(1, t, low=0, high=6).repeat(b, 1)
        for pad_id in (1, 4, 9):
            whose = Phrase("With sentences of {t} words, {what}", t, what)
            expect_mask(make(ids, pad_id), right(ids, pad_id), whose, {})


def expect_own_ids(student, draw, make: Any, right: Any, what: str) -> None:
    """Fail if an earlier mask is returned for other ids of the same shape."""
    pad_id = draw.integer(6, 10)  # used by no other check: nothing is stored
    first, second = (
        draw.padded_ids(5, 8, pad_id, low=12)["no padding"] for _ in range(2)
    )
    first[2, 3:], second[1, 5:] = pad_id, pad_id
    calls = [(first, pad_id), (second, pad_id), (second, pad_id + 1)]
    expect_each_call_anew(student, make, calls, right, what)


# --- padding_mask -----------------------------------------------------------------


def padding_mistakes(ids: Tensor, pad_id: int) -> Mistakes:
    """Return wrong padding masks, keyed by the name of the mistake."""
    word = (ids != pad_id)[:, None, None, :]  # (b, 1, 1, s)
    flat = word[:, 0, 0]
    return {
        "the opposite: True for padding keys (True means: may attend)": ~word,
        "a mask of the shape (b, s): its batch axis lines up with the queries": flat,
        "a mask of the shape (b, 1, s): its batch axis lines up with the heads": word[
            :, 0
        ],
        "a mask (b, 1, s, 1) that hides query rows instead of keys": flat[
            :, None, :, None
        ],
        "a mask with the batch on the head axis": flat[None, :, None, :],
        "a mask (b, 1, s, s) with a row for each query, although one row is enough": (
            word.expand(-1, -1, word.size(-1), -1)
        ),
        **{
            Phrase("the mask for the pad id {fixed}, regardless of `pad_id`", fixed): (
                (ids != fixed)[:, None, None]
            )
            for fixed in OTHER_PADDING
        },
        "a mask that counts the real words but ignores their positions": (
            (torch.arange(ids.size(1)) < flat.sum(1, keepdim=True))[:, None, None]
        ),
        "the first sentence's mask for every sentence": word[:1].expand(word.shape),
        "the mask of all ids above `pad_id`, although smaller ids are words too": (
            (ids > pad_id)[:, None, None]
        ),
        "a mask that hides nothing": torch.ones_like(word),
        "a mask that hides everything": torch.zeros_like(word),
        **{
            Phrase(
                "the mask of all ids above {fixed}, regardless of `pad_id`", fixed
            ): ((ids > fixed)[:, None, None])
            for fixed in OTHER_PADDING[1:]  # "above 0" would mean all ids except 0
        },
    }


@check("padding-mask", share=2, title="The shape is (b, 1, 1, s)", form=True)
def test_padding_shape(student, draw):
    ids, pad_id = turned_batch(draw)
    got = student.padding_mask(ids, pad_id)
    shapes = padding_mistakes(ids, pad_id)
    if isinstance(got, Tensor) and got.shape != (len(ids), 1, 1, ids.size(1)):
        phrase = name_of_mistake(got, shapes, 0.0)
        if phrase:
            fail(Phrase("The padding mask is {phrase}.", phrase), phrase)
    expect_shape(got, (len(ids), 1, 1, ids.size(1)), "The padding mask")


def expect_padding_mask(student, ids: Tensor, pad_id: int, what: str) -> None:
    """Compare a padding mask with the right mask."""
    want, mistakes = reference.padding_mask(ids, pad_id), padding_mistakes(ids, pad_id)
    expect_mask(student.padding_mask(ids, pad_id), want, what, mistakes)


@check("padding-mask", share=3, title="True for words, False for padding")
def test_padding_values(student, draw):
    expect_padding_mask(student, *batch(draw), "The padding mask")


@check("padding-mask", share=1, title="Padding at any position")
def test_padding_in_any_place(student, draw):
    make, right = student.padding_mask, reference.padding_mask
    expect_any_place(draw, make, right, padding_mistakes, "the padding mask")


@check("padding-mask", share=1, title="A batch of one, one word, or only padding")
def test_padding_of_one_sentence(student, draw):
    ids, pad_id = batch(draw)
    nothing = torch.full((1, 4), pad_id)
    for one in (ids, ids[:1], ids[1:2, :1], nothing):
        got, want = (
            student.padding_mask(one, pad_id),
            reference.padding_mask(one, pad_id),
        )
        what = Phrase("The mask of ids of shape {shape}", tuple(one.shape))
        mistakes = padding_mistakes(one, pad_id) if one is ids else {}
        expect_mask(got, want, what, mistakes)


@check("padding-mask", share=1, title="The mask of these ids, not of earlier ids")
def test_padding_of_each_call(student, draw):
    make, right = student.padding_mask, reference.padding_mask
    expect_own_ids(student, draw, make, right, "the padding mask")


@check("padding-mask", share=1, title="The mask contains bools", form=True)
def test_padding_is_bool(student, draw):
    expect_bool(student.padding_mask(*batch(draw)), "The padding mask")


@check("padding-mask", share=1, title="The mask is on the device of the ids", form=True)
def test_padding_device(student, draw):
    expect_same_device(student, student.padding_mask, *batch(draw), what="the mask")


@check(
    "padding-mask", share=1, title="The ids do not change, whether contiguous or not"
)
def test_padding_leaves_its_input(student, draw):
    ids, pad_id = batch(draw)
    turned = ids.T.contiguous().T
    expect_no_traces(student, student.padding_mask, turned, pad_id, still=True)
    expect_padding_mask(student, turned, pad_id, "The padding mask")


# --- causal_mask ------------------------------------------------------------------


def causal_mistakes(t: int) -> Mistakes:
    """Return wrong causal masks, keyed by the name of the mistake."""
    ones = torch.ones(1, 1, t, t, dtype=torch.bool)
    past = ones.tril()
    return {
        "the upper triangle with the diagonal, which hides the past": ones.triu(),
        "the opposite: True where the key is in the future": ~past,
        "a mask without the diagonal: no token may attend to itself": ones.tril(-1),
        "a mask that reaches one token into the future": ones.tril(1),
        "a diagonal matrix: each token may attend only to itself": past & ones.triu(),
        "a mask that hides nothing": ones,
        "a mask that hides everything": ~ones,
        "a mask of the shape (t, t) instead of (1, 1, t, t)": past[0, 0],
        "a mask of the shape (1, t, t) instead of (1, 1, t, t)": past[0],
    }


@check("causal-mask", share=1, title="The shape is (1, 1, t, t)", form=True)
def test_causal_shape(student, draw):
    t = draw.integer(5, 9)
    expect_shape(student.causal_mask(t), (1, 1, t, t), "The causal mask")


@check("causal-mask", share=3, title="Token i may attend to tokens 0 to i")
def test_causal_values(student, draw):
    t = draw.integer(10, 13)  # no earlier check uses this length
    got = student.causal_mask(t)
    expect_mask(got, reference.causal_mask(t), "The causal mask", causal_mistakes(t))


@check("causal-mask", share=1, title="Any length: one token, or a thousand")
def test_causal_of_any_length(student):
    def compare(t: int) -> None:
        mistakes = causal_mistakes(t) if t == 5 else {}
        what = Phrase("The mask for the length {t}", t)
        expect_mask(student.causal_mask(t), reference.causal_mask(t), what, mistakes)

    for t in (5, 1, LONGER):
        with blame("code that works for only some lengths", lambda: compare(5)):
            compare(t)


@check("causal-mask", share=1, title="The mask for this length, not for an earlier one")
def test_causal_of_each_call(student):
    calls = [(5,), (7,), (5,)]
    what, right = "the causal mask", reference.causal_mask
    expect_each_call_anew(student, student.causal_mask, calls, right, what)
    expect_no_traces(student, student.causal_mask, 6, still=True)


@check("causal-mask", share=1, title="The mask contains bools", form=True)
def test_causal_is_bool(student, draw):
    expect_bool(student.causal_mask(draw.integer(5, 9)), "The causal mask")


@check("causal-mask", share=1, title="The mask is on the requested device", form=True)
def test_causal_device(student):
    make = student.causal_mask
    for again in ({"device": torch.device("cpu")}, {"device": "cpu"}):
        make(5, **again)  # a stored mask would be on this device
    if "cpu" in student.devices(make, 5, "meta"):
        fail(
            "The mask is created on the wrong device: pass `device` to the "
            "function that creates the tensor.",
            MADE_ON_CPU,
        )


# --- target_mask ------------------------------------------------------------------


def target_mistakes(ids: Tensor, pad_id: int) -> Mistakes:
    """Return wrong target masks, keyed by the name of the mistake."""
    keys = (ids != pad_id)[:, None, None, :]
    rows = keys.transpose(-2, -1)
    past = reference.causal_mask(ids.size(1))
    whole = torch.ones_like(keys & past)
    return {
        "padding or causal (`|`), although both masks must allow it (`&`)": keys | past,
        "a mask that hides nothing": whole,
        "a mask that hides everything": ~whole,
        "a mask in which every query may also attend to itself": (
            keys & past | torch.eye(ids.size(1), dtype=torch.bool)
        ),
        "only the causal mask: padding is not hidden": past,
        "only the causal mask, for each sentence: padding is not hidden": past & whole,
        "only the padding mask: the future is not hidden": keys,
        "only the padding mask, for each query: the future is not hidden": (
            keys & whole
        ),
        "a mask that hides the rows of padding queries, not the columns of "
        "padding keys": rows & past,
        "a mask that also hides the rows of padding queries": rows & past & keys,
        "the opposite: True where a query may not attend": ~(keys & past),
        "the upper triangle, which hides the past": keys & whole.triu(),
        "a mask with the padding mask inverted": ~keys & past,
        "a mask without the diagonal: no token may attend to itself": (
            keys & whole.tril(-1)
        ),
        "a mask that reaches one token into the future": keys & whole.tril(1),
        **fixed_padding_mistakes(ids, past),
        "the first sentence's mask for every sentence": (keys & past)[:1].expand(
            whole.shape
        ),
        "a mask of the shape (b, t, t): its batch axis lines up with the heads": (
            (keys & past)[:, 0]
        ),
    }


def fixed_padding_mistakes(ids: Tensor, past: Tensor) -> Mistakes:
    """Return the target masks of code with a fixed padding id, keyed by name."""
    return {
        Phrase("the mask for the pad id {fixed}, regardless of `pad_id`", fixed): (
            (ids != fixed)[:, None, None] & past
        )
        for fixed in OTHER_PADDING
    }


@check("target-mask", share=2, title="The shape is (b, 1, t, t)", form=True)
def test_target_shape(student, draw):
    ids, pad_id = turned_batch(draw)
    got = student.target_mask(ids, pad_id)
    expect_shape(got, (len(ids), 1, ids.size(1), ids.size(1)), "The target mask")


def expect_target_mask(student, ids: Tensor, pad_id: int, what: str) -> None:
    """Compare a target mask with the right mask."""
    want, mistakes = reference.target_mask(ids, pad_id), target_mistakes(ids, pad_id)
    expect_mask(student.target_mask(ids, pad_id), want, what, mistakes)


@check("target-mask", share=4, title="The mask hides all padding and all later words")
def test_target_values(student, draw):
    expect_target_mask(student, *batch(draw), "The target mask")


@check("target-mask", share=1, title="Padding at any position")
def test_target_in_any_place(student, draw):
    make, right = student.target_mask, reference.target_mask
    expect_any_place(draw, make, right, target_mistakes, "the target mask")


@check("target-mask", share=1, title="A batch of one, and one word")
def test_target_of_one_sentence(student, draw):
    ids, pad_id = batch(draw)
    ids[0, -1] = pad_id
    for one in (ids, ids[:1], ids[1:2, :1]):
        got, want = student.target_mask(one, pad_id), reference.target_mask(one, pad_id)
        what = Phrase("The mask of ids of shape {shape}", tuple(one.shape))
        mistakes = target_mistakes(one, pad_id) if one is ids else {}
        expect_mask(got, want, what, mistakes)


@check("target-mask", share=1, title="The mask of these ids, not of earlier ids")
def test_target_of_each_call(student, draw):
    make, right = student.target_mask, reference.target_mask
    expect_own_ids(student, draw, make, right, "the target mask")


@check("target-mask", share=1, title="The mask contains bools", form=True)
def test_target_is_bool(student, draw):
    expect_bool(student.target_mask(*batch(draw)), "The target mask")


@check("target-mask", share=1, title="The mask is on the device of the ids", form=True)
def test_target_device(student, draw):
    expect_same_device(student, student.target_mask, *batch(draw), what="the mask")


@check("target-mask", share=1, title="The ids do not change, whether contiguous or not")
def test_target_leaves_its_input(student, draw):
    ids, pad_id = batch(draw)
    turned = ids.T.contiguous().T
    expect_no_traces(student, student.target_mask, turned, pad_id, still=True)
    expect_target_mask(student, turned, pad_id, "The target mask")


# --- mask_then_renormalise --------------------------------------------------------


def renormalise_mistakes(weights: Tensor, mask: Tensor) -> Mistakes:
    """Return wrong results of mask_then_renormalise, keyed by name."""
    w = weights.double()
    allowed = mask.expand(w.shape)
    kept = w * allowed
    right = mask_then_renormalise(w, mask)
    count = allowed.sum(dim=-1, keepdim=True)
    hidden_mass = 1 - kept.sum(dim=-1, keepdim=True)
    return {
        "zeros": torch.zeros_like(w),
        "ones": torch.ones_like(w),
        "the masked weights, whose rows no longer sum to 1": kept,
        "the result of an inverted mask (True means: may attend)": (
            mask_then_renormalise(w, ~mask)
        ),
        "the unchanged weights: the mask is ignored": w,
        "the result of a second softmax over the remaining weights": (
            attention.masked_softmax(w, mask)
        ),
        "the result of a softmax over the weights after the hidden ones are set to 0": (
            kept.softmax(dim=-1)
        ),
        "the masked weights divided by the sum of each column": (
            kept / kept.sum(dim=-2, keepdim=True)
        ),
        "the masked weights divided by their sum over the heads": (
            kept / kept.sum(dim=1, keepdim=True)
        ),
        "the masked weights divided by the sum of the whole tensor": kept / kept.sum(),
        "the masked weights divided by the number of remaining keys": kept / count,
        "the masked weights with the hidden weight distributed evenly": (
            kept + allowed * hidden_mass / count
        ),
        "equal weights for all remaining keys": allowed / count,
        "the result with its sign flipped": -right,
    }


def weights_for(draw, mask: Tensor, *shape: int, share: float = 0.5) -> Tensor:
    """Draw weights in which the visible keys have the given share of each row.

    A small number in the divisor then has the same effect in each draw.
    """
    scores = draw.normal(*(shape or (B, H, T, S)), dtype=torch.float64)
    opened = attention.masked_softmax(scores, mask)
    weights = share * opened + (1 - share) * attention.masked_softmax(scores, ~mask)
    return (weights / weights.sum(dim=-1, keepdim=True)).float()


def mask_with_a_closed_row(draw) -> Tensor:
    """Draw a mask (B, 1, T, S) in which one query may attend to nothing."""
    mask = draw.mask(B, 1, T, S)
    mask[1, 0, 2] = False
    return mask


def renormalised(weights: Tensor, mask: Tensor) -> Tensor:
    """Compute the right weights in float64."""
    return mask_then_renormalise(weights.double(), mask)


NEW_WEIGHTS = "The tensor of new weights"


@check("mask-then-renormalise", share=1, title="The shape of the weights", form=True)
def test_renormalise_shape(student, draw):
    mask = draw.mask(1, 1, T, S)
    weights = weights_for(draw, mask)
    got = student.mask_then_renormalise(weights, mask)
    expect_shape(got, (B, H, T, S), NEW_WEIGHTS)


@check("mask-then-renormalise", share=4, title="The same as masking the scores")
def test_renormalise_values(student, draw):
    mask = draw.mask(1, 1, T, S)
    weights = weights_for(draw, mask)
    got = student.mask_then_renormalise(weights, mask)
    want = attention.masked_softmax(weights.double().log(), mask)
    mistakes = renormalise_mistakes(weights, mask)
    expect_close(got, want, NEW_WEIGHTS, mistakes=mistakes)


@check("mask-then-renormalise", share=2, title="A mask of any shape that broadcasts")
def test_renormalise_with_every_mask(student, draw):
    masks = masks_of_every_kind(draw, B, H, T, S)
    weights = {mask.shape: weights_for(draw, mask) for mask in masks.values()}
    expect_every_mask(
        lambda mask: student.mask_then_renormalise(weights[mask.shape], mask),
        lambda mask: renormalised(weights[mask.shape], mask),
        masks,
        "the tensor of new weights",
        lambda mask: renormalise_mistakes(weights[mask.shape], mask),
    )


@check("mask-then-renormalise", share=1, title="Any sizes and any leading axes")
def test_renormalise_axes(student, draw):
    mask = draw.mask(T, S)

    def even(x: Tensor) -> Tensor:
        return (0.1 * x).softmax(dim=-1)

    expect_leading_axes(
        lambda x: student.mask_then_renormalise(even(x), mask),
        lambda x: renormalised(even(x), mask),
        [(T, S)],
        draw,
        "the tensor of new weights",
    )
    for case in varied_inputs(draw, ["b,h,t,s"], ["b,1,t,s"]):
        weights, mask = case.inputs
        given = Varied(case.case, case.sizes, [weights.softmax(dim=-1), mask])
        function, right = student.mask_then_renormalise, renormalised
        expect_every_size(student, function, right, [given], NEW_WEIGHTS)


@check(
    "mask-then-renormalise", share=2, title="Zeros in a row whose keys are all hidden"
)
def test_renormalise_of_nothing(student, draw):
    mask = mask_with_a_closed_row(draw)
    weights = weights_for(draw, mask)
    got = student.mask_then_renormalise(weights, mask)
    expect_shape(got, (B, H, T, S), NEW_WEIGHTS)
    row = got[1, :, 2]
    if row.isnan().any() or row.isinf().any():
        fail(
            "The weights of a query that may attend to nothing are 0 / 0. They "
            "should be 0.",
            mistake="NaN where a query may attend to nothing",
        )
    if torch.allclose(row.float(), torch.full_like(row, 1 / S).float(), atol=1e-5):
        fail(
            "The weights of a query that may attend to nothing are 1/s each. They "
            "should be 0.",
            mistake="uniform weights where a query may attend to nothing",
        )
    expect_close(got, renormalised(weights, mask), NEW_WEIGHTS)


@check("mask-then-renormalise", share=1, title="A row with little remaining weight")
def test_renormalise_of_little(student, draw):
    mask = draw.mask(B, 1, T, S)

    def compare(share: float) -> None:
        weights = weights_for(draw, mask, share=share)
        got = student.mask_then_renormalise(weights, mask)
        mistakes = renormalise_mistakes(weights, mask)
        expect_close(got, renormalised(weights, mask), NEW_WEIGHTS, mistakes)

    words = (
        "a number added to the divisor that is not small compared with the remaining "
        "sum"
    )
    with blame(words, lambda: compare(0.5)):
        compare(1e-3)


@check(
    "mask-then-renormalise", share=1, title="Gradients reach the weights without NaN"
)
def test_renormalise_gradients(student, draw):
    mask = mask_with_a_closed_row(draw)
    weights = weights_for(draw, mask)
    upstream = draw.normal(B, H, T, S)
    run = student.gradients(
        student.mask_then_renormalise, weights, mask, upstream=upstream
    )
    open_rows = mask.any(dim=-1, keepdim=True)
    gradient = run.inputs[0]
    if gradient is not None:
        if gradient.isnan().any():
            fail(
                "The gradient of the weights contains NaN: if you replace 0 / 0 "
                "afterwards, its gradient stays NaN.",
                mistake="NaN in the gradient",
            )
        # In a row without allowed keys the function is not continuous, so any gradient
        # is accepted.
        run.inputs[0] = gradient * open_rows
    kept = weights.double() * mask
    fixed = kept.sum(dim=-1, keepdim=True) + ~open_rows  # 1 in a row without keys
    wrong = {
        "the gradient if the sum is detached, as if it were constant": (
            upstream * mask / fixed
        )
    }
    expect_gradients(
        run,
        lambda weights: mask_then_renormalise(weights * open_rows, mask),
        [weights],
        upstream,
        [wrong],
    )


@check(
    "mask-then-renormalise",
    share=1,
    title="float64 stays float64, and any memory layout works",
)
def test_renormalise_in_float64(student, draw):
    mask = draw.mask(B, 1, T, S)
    weights = weights_for(draw, mask).double()
    turned = weights.mT.contiguous().mT
    words = "`view` on a tensor that is not contiguous (use `reshape`, which can copy)"
    with blame(words, lambda: student.mask_then_renormalise(weights, mask)):
        got = student.mask_then_renormalise(turned, mask)
    mistakes = renormalise_mistakes(weights, mask)
    expect_close(got, renormalised(weights, mask), NEW_WEIGHTS, mistakes)
    expect_dtype(got, torch.float64, "the tensor of new weights")


@check("mask-then-renormalise", share=1, title="New weights for each call")
def test_renormalise_each_call(student, draw):
    shape = (B + 1, H, T, S)  # used by no other check: nothing is stored
    masks = [draw.mask(B + 1, 1, T, S) for _ in range(3)]
    calls = [(weights_for(draw, mask, *shape), mask) for mask in masks]
    what = "the tensor of new weights"
    call = student.mask_then_renormalise
    expect_each_call_anew(student, call, calls, renormalised, what)


@check(
    "mask-then-renormalise", share=1, title="The result stays on its device", form=True
)
def test_renormalise_device(student, draw):
    mask = draw.mask(B, 1, T, S)
    given = weights_for(draw, mask), mask
    call = student.mask_then_renormalise
    expect_same_device(student, call, *given, what="the tensor of new weights")


@check(
    "mask-then-renormalise",
    share=1,
    title="Weights and mask do not change",
    form=True,
)
def test_renormalise_leaves_its_input(student, draw):
    mask = draw.mask(B, 1, T, S)
    given = weights_for(draw, mask), mask
    expect_no_traces(student, student.mask_then_renormalise, *given, still=True)

"""Wrong variants and right styles of unit 07, as students write them."""

# ruff: noqa: B006 (a mutable default keeps values between calls)

import torch
import torch.nn.functional as F  # noqa: F401 (a variant uses it)

from autograder.proof.variants import answer, body, drop, insert, swap

# --- padding_mask -----------------------------------------------------------------

padding_mask = answer("transformer.masks.padding_mask")
padding_mask.wrong("ids == pad_id", swap("ids !=", "ids =="), names="the opposite")
padding_mask.wrong(
    "a mask (b, 1, t), which is right only for b = 1",
    swap("[:, None, None, :]", ".unsqueeze(1)"),
    names="lines up with the heads",
)
padding_mask.wrong(
    "a mask (b, s)", body("return ids != pad_id"), names="lines up with the queries"
)
padding_mask.wrong(
    "a mask of query rows",
    swap("[:, None, None, :]", ".unsqueeze(1).unsqueeze(3)"),
    names="hides query rows",
)
padding_mask.wrong(
    "the batch on the head axis",
    swap("[:, None, None, :]", ".unsqueeze(1).unsqueeze(0)"),
)
padding_mask.wrong(
    "a mask expanded to (b, 1, s, s)",
    swap("[:, None, None, :]", "[:, None, None, :].expand(-1, 1, ids.size(1), -1)"),
    names="one row is enough",
)
padding_mask.wrong(
    "the pad id 1 instead of pad_id", swap("!= pad_id", "!= 1"), names="the pad id 1"
)
padding_mask.wrong(
    "the pad id 0 instead of pad_id",
    swap("(ids != pad_id)", "ids.bool()"),
    names="the pad id 0",
)
padding_mask.wrong("ids > pad_id", swap("ids !=", "ids >"), names="above `pad_id`")
padding_mask.wrong(
    "a mask that hides nothing",
    swap("(ids != pad_id)", "torch.ones_like(ids, dtype=torch.bool)"),
)
padding_mask.wrong(
    "a mask of zeros and ones",
    swap("(ids != pad_id)", "(ids != pad_id).int()"),
    names="numbers instead of bools",
)


@padding_mask.wrong("an additive mask", names="numbers instead of bools")
def padding_mask(ids, pad_id):
    mask = torch.zeros(ids.shape, device=ids.device)
    return mask.masked_fill(ids == pad_id, float("-inf"))[:, None, None, :]


@padding_mask.wrong("made on the CPU")
def padding_mask(ids, pad_id):
    mask = torch.ones(ids.size(0), 1, 1, ids.size(1), dtype=torch.bool)
    mask[:, 0, 0] = ids != pad_id
    return mask


@padding_mask.wrong("ids that are changed in place", names="changed in place")
def padding_mask(ids, pad_id):
    is_padding = ids == pad_id
    ids[is_padding] = 0
    return ~is_padding[:, None, None, :]


@padding_mask.wrong("a squeeze that removes a batch of one", diagnosed=False)
def padding_mask(ids, pad_id):
    mask = (ids != pad_id)[:, None, None, :]
    return mask.squeeze(0) if ids.size(0) == 1 else mask


@padding_mask.wrong(
    "positions compared with lengths, right only if padding follows the words",
    names="counts the real words",
)
def padding_mask(ids, pad_id):
    lengths = (ids != pad_id).sum(dim=1, keepdim=True)
    positions = torch.arange(ids.size(1), device=ids.device)
    return (positions < lengths)[:, None, None, :]


padding_mask.wrong(
    "the pad id 3 instead of pad_id", swap("!= pad_id", "!= 3"), names="the pad id 3"
)
padding_mask.wrong("ids > 4", swap("!= pad_id", "> 4"), names="ids above 4")
padding_mask.wrong("ids > 1", swap("!= pad_id", "> 1"), names="ids above 1")
padding_mask.wrong(
    "the first sentence's padding for all sentences",
    body("return (ids[:1] != pad_id).expand(ids.shape)[:, None, None]"),
    names="the first sentence's mask",
)
padding_mask.wrong(
    "a computation with numpy",
    body("return torch.as_tensor(ids.numpy() != pad_id)[:, None, None]"),
    names="numpy",
)
padding_mask.wrong(
    "a mask that is always True",
    body("return torch.ones(ids.size(0), 1, 1, ids.size(1)).bool()"),
    names="a mask that hides nothing",
)
padding_mask.wrong(
    "a mask that is always False",
    body("return torch.zeros(ids.size(0), 1, 1, ids.size(1)).bool()"),
    names="hides everything",
)
padding_mask.wrong("the ids returned as the mask", body("return ids"), diagnosed=False)
padding_mask.wrong(
    "a mask that hides nothing in a sentence of only padding",
    body(
        """
        word = ids != pad_id
        word = word | ~word.any(dim=1, keepdim=True)
        return word[:, None, None]
        """
    ),
    diagnosed=False,
)


padding_mask.right(
    "two unsqueezes", swap("[:, None, None, :]", ".unsqueeze(1).unsqueeze(2)")
)


@padding_mask.right("ne and view")
def padding_mask(ids, pad_id):
    b, s = ids.shape
    return ids.ne(pad_id).view(b, 1, 1, s)


padding_mask.right(
    "an inversion of the inverted mask",
    body("return torch.logical_not(torch.eq(ids, pad_id)[:, None, None])"),
)


@padding_mask.right("torch.where")
def padding_mask(ids, pad_id):
    zero = torch.zeros_like(ids)
    mask = torch.where(ids == pad_id, zero, torch.ones_like(ids))
    return mask.bool().reshape(ids.shape[0], 1, 1, -1)


@padding_mask.right("a mask that is filled on the device of the ids")
def padding_mask(ids, pad_id):
    mask = torch.ones(ids.shape, dtype=torch.bool, device=ids.device)
    return mask.masked_fill(ids == pad_id, False)[:, None, None, :]


@padding_mask.right("a loop over numbers")
def padding_mask(ids, pad_id):
    rows = [[bool(i != pad_id) for i in row] for row in ids]
    mask = torch.tensor(rows, device=ids.device)
    return mask[:, None, None, :]


padding_mask.right(
    "a loop over sentences",
    body("return torch.stack([(row != pad_id).view(1, 1, -1) for row in ids])"),
)

# --- causal_mask ------------------------------------------------------------------

causal_mask = answer("transformer.masks.causal_mask")
causal_mask.with_faults("state default")
causal_mask.wrong(
    "an upper triangle", swap("tril()", "triu()"), names="the upper triangle"
)
causal_mask.wrong(
    "True for the future", swap("tril()", "triu(diagonal=1)"), names="the opposite"
)
causal_mask.wrong("tril(-1)", swap("tril()", "tril(-1)"), names="without the diagonal")
causal_mask.wrong(
    "tril(1)", swap("tril()", "tril(1)"), names="one token into the future"
)
causal_mask.wrong(
    "an inverted triu",
    swap("everywhere.tril()", "(~everywhere.triu())"),
    names="without the diagonal",
)
causal_mask.wrong(
    "a diagonal matrix",
    body("return torch.eye(length, dtype=torch.bool, device=device)[None, None]"),
)
causal_mask.wrong(
    "a mask that hides nothing",
    body("return torch.ones(1, 1, length, length, dtype=torch.bool, device=device)"),
)
causal_mask.wrong(
    "a mask of the shape (t, t)",
    body("return torch.ones(length, length, dtype=torch.bool, device=device).tril()"),
)
causal_mask.wrong("a mask of the shape (1, t, t)", swap("[None, None]", "[None]"))
causal_mask.wrong(
    "a mask of zeros and ones",
    body("return torch.ones(1, 1, length, length, device=device).tril()"),
    names="numbers instead of bools",
)
causal_mask.wrong(
    "made on the CPU",
    body("return torch.ones(length, length).tril().bool()[None, None]"),
    names="made on the CPU",
)


@causal_mask.wrong("an additive mask of -inf", names="numbers instead of bools")
def causal_mask(length, device=None):
    lowest = torch.full((1, 1, length, length), float("-inf"), device=device)
    return lowest.triu(1)


causal_mask.wrong(
    "a table of size 512",
    body(
        """
        table = torch.ones(512, 512, device=device).tril().bool()
        return table[None, None, :length, :length]
        """
    ),
    names="only some lengths",
)
causal_mask.wrong(
    "a mask that is always False",
    body("return torch.zeros(1, 1, length, length, dtype=torch.bool, device=device)"),
    names="hides everything",
)
causal_mask.wrong(
    "a mask squeezed for a sentence of one token",
    body(
        """
        everywhere = torch.ones(length, length, dtype=torch.bool, device=device)
        return everywhere.tril().squeeze()[None, None]
        """
    ),
    names="only some lengths",
)


@causal_mask.wrong("a cached mask that ignores the length", diagnosed=False)
def causal_mask(length, device=None, kept=[]):
    if not kept:
        ones = torch.ones(length, length, dtype=torch.bool, device=device)
        kept.append(ones.tril()[None, None])
    return kept[0]


@causal_mask.wrong("a cached mask that ignores the device", names="made on the CPU")
def causal_mask(length, device=None, kept={}):
    if length not in kept:
        ones = torch.ones(length, length, dtype=torch.bool, device=device)
        kept[length] = ones.tril()[None, None]
    return kept[length]


@causal_mask.right("a mask cached for each length and device")
def causal_mask(length, device=None, kept={}):
    if (length, str(device)) not in kept:
        ones = torch.ones(length, length, dtype=torch.bool, device=device)
        kept[length, str(device)] = ones.tril()[None, None]
    return kept[length, str(device)]


@causal_mask.right("not the strict upper triangle")
def causal_mask(length, device=None):
    ones = torch.ones(1, 1, length, length, device=device)
    return torch.triu(ones, diagonal=1) == 0


@causal_mask.right("a comparison of positions")
def causal_mask(length, device=None):
    position = torch.arange(length, device=device)
    return (position[None, :] <= position[:, None])[None, None]


@causal_mask.right("a loop over the queries")
def causal_mask(length, device=None):
    mask = torch.zeros(1, 1, length, length, dtype=torch.bool, device=device)
    for i in range(length):
        mask[..., i, : i + 1] = True
    return mask


@causal_mask.right("a list of lists")
def causal_mask(length, device=None):
    rows = [[key <= query for key in range(length)] for query in range(length)]
    return torch.tensor(rows, device=device).view(1, 1, length, length)


@causal_mask.right("the indices of the triangle")
def causal_mask(length, device=None):
    mask = torch.zeros(length, length, dtype=torch.bool, device=device)
    row, column = torch.tril_indices(length, length)
    mask[row, column] = True
    return mask.unsqueeze(0).unsqueeze(0)


@causal_mask.right("a mask that is moved to the device")
def causal_mask(length, device=None):
    mask = torch.tril(torch.ones((1, 1, length, length))).bool()
    return mask if device is None else mask.to(device)


causal_mask.right(
    "a cumulative sum of the identity",
    body("return torch.eye(length, device=device).cumsum(dim=0).bool()[None, None]"),
)

# --- target_mask ------------------------------------------------------------------

target_mask = answer("transformer.masks.target_mask")
target_mask.with_faults("kept buffer state default written cpu")
target_mask.wrong("padding | causal", swap("&", "|"), names="padding or causal")
target_mask.wrong(
    "only causal",
    swap("return padding_mask(ids, pad_id) &", "return"),
    names="only the causal mask",
)
target_mask.wrong(
    "only causal, expanded",
    body("return causal_mask(ids.size(1), ids.device).repeat(ids.size(0), 1, 1, 1)"),
    names="only the causal mask",
)
target_mask.wrong(
    "only padding",
    body("return padding_mask(ids, pad_id)"),
    names="only the padding mask",
)
target_mask.wrong(
    "only padding, expanded",
    swap("& causal_mask(ids.size(1), ids.device)", ".expand(-1, -1, ids.size(1), -1)"),
    names="only the padding mask",
)
target_mask.wrong(
    "a mask of query rows",
    swap("padding_mask(ids, pad_id)", "(ids != pad_id)[:, None, :, None]"),
    names="rows of padding queries",
)


@target_mask.wrong("a mask of query rows too", names="rows of padding queries")
def target_mask(ids, pad_id):
    keys = padding_mask(ids, pad_id)
    return keys & keys.transpose(-2, -1) & causal_mask(ids.size(1), ids.device)


target_mask.wrong(
    "an inverted mask",
    swap("padding_mask(ids, pad_id) &", "(ids == pad_id)[:, None, None, :] | ~"),
    names="the opposite",
)


@target_mask.wrong("an upper triangle", names="the upper triangle")
def target_mask(ids, pad_id):
    t = ids.size(1)
    ones = torch.ones(t, t, dtype=torch.bool, device=ids.device)
    return padding_mask(ids, pad_id) & ones.triu()


target_mask.wrong(
    "the padding mask inverted",
    swap("padding_mask(ids, pad_id)", "(ids == pad_id)[:, None, None, :]"),
)
target_mask.wrong(
    "tril(-1)",
    swap("(ids.size(1), ids.device)", "(ids.size(1), ids.device).tril(-1)"),
    names="without the diagonal",
)


@target_mask.wrong("tril(1)", names="one token into the future")
def target_mask(ids, pad_id):
    t = ids.size(1)
    ones = torch.ones(t, t, dtype=torch.bool, device=ids.device)
    return padding_mask(ids, pad_id) & ones.tril(1)


target_mask.wrong("a fixed pad id", swap("ids, pad_id", "ids, 1"), names="the pad id 1")


@target_mask.wrong("a mask (b, t, t)", names="the shape (b, t, t)")
def target_mask(ids, pad_id):
    return (ids != pad_id)[:, None, :] & causal_mask(ids.size(1), ids.device)[0]


@target_mask.wrong("made on the CPU")
def target_mask(ids, pad_id):
    t = ids.size(1)
    return padding_mask(ids, pad_id) & torch.ones(t, t).tril().bool()


@target_mask.wrong("a mask of zeros and ones", names="numbers instead of bools")
def target_mask(ids, pad_id):
    padding = padding_mask(ids, pad_id).int()
    return padding * causal_mask(ids.size(1), ids.device).int()


target_mask.wrong(
    "the pad id 3 instead of pad_id",
    swap("ids, pad_id", "ids, 3"),
    names="the pad id 3",
)
target_mask.wrong(
    "a mask that is always False",
    body("return torch.zeros(ids.size(0), 1, ids.size(1), ids.size(1)).bool()"),
    names="hides everything",
)
target_mask.wrong(
    "a mask that is always True",
    body("return torch.ones(ids.size(0), 1, ids.size(1), ids.size(1)).bool()"),
    names="a mask that hides nothing",
)
target_mask.wrong(
    "the first sentence's padding for all sentences",
    swap("ids, pad_id)", "ids, pad_id)[:1].expand(ids.size(0), -1, -1, -1)"),
    names="the first sentence's mask",
)


@target_mask.wrong(
    "lengths, right only if padding follows the words",
    names="padding follows the words",
)
def target_mask(ids, pad_id):
    words = (ids != pad_id).sum(dim=1).view(-1, 1, 1, 1)
    past = causal_mask(ids.size(1), ids.device)
    return past & (torch.arange(ids.size(1), device=ids.device) < words)


@target_mask.wrong("ids that are overwritten", names="changed in place")
def target_mask(ids, pad_id):
    ids[ids == pad_id] = -1
    return padding_mask(ids, -1) & causal_mask(ids.size(1), ids.device)


@target_mask.wrong(
    "a mask that lets each query attend to itself", names="may also attend to itself"
)
def target_mask(ids, pad_id):
    itself = torch.eye(ids.size(1), dtype=torch.bool, device=ids.device)
    return padding_mask(ids, pad_id) & causal_mask(ids.size(1), ids.device) | itself


@target_mask.wrong(
    "a mask that lets every query attend to the first token", diagnosed=False
)
def target_mask(ids, pad_id):
    mask = padding_mask(ids, pad_id) & causal_mask(ids.size(1), ids.device)
    mask[..., 0] = True
    return mask


@target_mask.right("all steps written out")
def target_mask(ids, pad_id):
    t = ids.size(1)
    past = torch.tril(torch.ones((t, t), device=ids.device)).bool()
    return (ids != pad_id).unsqueeze(1).unsqueeze(2) & past


@target_mask.right("a product of integer masks")
def target_mask(ids, pad_id):
    padding = padding_mask(ids, pad_id).int()
    return (padding * causal_mask(ids.size(1), ids.device).int()).bool()


@target_mask.right("logical_and and a comparison of positions")
def target_mask(ids, pad_id):
    position = torch.arange(ids.shape[1], device=ids.device)
    past = position.view(1, 1, 1, -1) <= position.view(1, 1, -1, 1)
    return torch.logical_and(ids.ne(pad_id)[:, None, None, :], past)


target_mask.right(
    "the lower triangle of the expanded padding mask",
    body("return padding_mask(ids, pad_id).expand(-1, -1, ids.size(1), -1).tril()"),
)


@target_mask.right("the two hidden sets joined, then inverted")
def target_mask(ids, pad_id):
    forbidden = (ids == pad_id)[:, None, None, :]
    return ~(forbidden | ~causal_mask(ids.size(1), device=ids.device))


@target_mask.right("masked_fill on the triangle")
def target_mask(ids, pad_id):
    b, t = ids.shape
    past = causal_mask(t, ids.device).repeat(b, 1, 1, 1)
    return past.masked_fill((ids == pad_id).view(b, 1, 1, t), False)


@target_mask.right("a loop over queries")
def target_mask(ids, pad_id):
    t = ids.size(1)
    rows = []
    for i in range(t):
        row = ids != pad_id
        row[:, i + 1 :] = False
        rows.append(row)
    return torch.stack(rows, dim=1)[:, None]


@target_mask.right("one sentence after another, as in vmap")
def target_mask(ids, pad_id):
    past = causal_mask(ids.size(1), ids.device)[0]
    return torch.stack([past & (row != pad_id) for row in ids])


# --- mask_then_renormalise --------------------------------------------------------

mask_then_renormalise = answer("transformer.analysis.masks.mask_then_renormalise")
mask_then_renormalise.with_faults(
    "kept buffer state default detached float32 written cpu"
)
mask_then_renormalise.wrong(
    "weights that are not renormalised",
    body("return weights.masked_fill(~mask, 0)"),
    names="no longer sum to 1",
)
mask_then_renormalise.wrong(
    "an inverted mask", swap("* mask", ".masked_fill(mask, 0)"), swap("1.0", "1")
)
mask_then_renormalise.wrong(
    "the mask is ignored", body("return weights / weights.sum(dim=-1, keepdim=True)")
)


@mask_then_renormalise.wrong("a second softmax")
def mask_then_renormalise(weights, mask):
    again = weights.masked_fill(~mask, -1e9).softmax(dim=-1)
    return again.masked_fill(~mask, 0)


mask_then_renormalise.wrong(
    "a softmax over weights set to 0",
    body("return (weights * mask).softmax(dim=-1)"),
    names="after the hidden ones are set to 0",
)


@mask_then_renormalise.wrong("sums over the columns", names="the sum of each column")
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    return kept / kept.sum(dim=-2, keepdim=True)


@mask_then_renormalise.wrong("sums over heads", names="sum over the heads")
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    return kept / kept.sum(dim=1, keepdim=True)


@mask_then_renormalise.wrong("the sum of the whole tensor", names="the whole tensor")
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    return kept / kept.sum()


mask_then_renormalise.wrong(
    "weights divided by the number of keys",
    body("return weights * mask / mask.sum(dim=-1, keepdim=True)"),
    names="the number of remaining keys",
)


@mask_then_renormalise.wrong("the hidden weight distributed evenly")
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    hidden = 1 - kept.sum(dim=-1, keepdim=True)
    return kept + mask * hidden / mask.sum(dim=-1, keepdim=True)


@mask_then_renormalise.wrong("equal weights")
def mask_then_renormalise(weights, mask):
    allowed = mask.expand(weights.shape).to(weights.dtype)
    return allowed / allowed.sum(dim=-1, keepdim=True)


mask_then_renormalise.wrong(
    "weights divided by the sum of all weights",
    body("return weights * mask / weights.sum(dim=-1, keepdim=True)"),
    names="no longer sum to 1",
)
mask_then_renormalise.wrong(
    "NaN where a query may attend to nothing",
    swap("total = kept", "return kept / kept"),
    drop("return kept / total.masked_fill(total == 0, 1.0)"),
)


@mask_then_renormalise.wrong("uniform weights where a query may attend to nothing")
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    closed = ~mask.any(dim=-1, keepdim=True)
    kept = torch.where(closed, torch.ones_like(kept), kept)
    return kept / kept.sum(dim=-1, keepdim=True)


@mask_then_renormalise.wrong("NaN in the gradient")
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    closed = ~mask.any(dim=-1, keepdim=True)
    share = kept / kept.sum(dim=-1, keepdim=True)
    return torch.where(closed, torch.zeros_like(share), share)


@mask_then_renormalise.wrong(
    "weights that are changed in place", names="changed in place"
)
def mask_then_renormalise(weights, mask):
    with torch.no_grad():
        weights.masked_fill_(~mask, 0)
    return weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-30)


mask_then_renormalise.wrong(
    "a detached result",
    swap("weights * mask", "(weights * mask).detach()"),
    names="the gradient is cut off",
)
mask_then_renormalise.wrong(
    "a sum without a gradient",
    swap("kept.sum(dim=-1, keepdim=True)", "kept.sum(dim=-1, keepdim=True).detach()"),
    names="the sum is detached",
)


@mask_then_renormalise.wrong("axes folded with view", names="not contiguous")
def mask_then_renormalise(weights, mask):
    rows = weights.view(-1, weights.size(-1))
    kept = rows * mask.expand(weights.shape).reshape(rows.shape)
    kept = kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-30)
    return kept.view(weights.shape)


mask_then_renormalise.wrong(
    "zeros", body("return torch.zeros_like(weights)"), names="zeros"
)
mask_then_renormalise.wrong(
    "ones", body("return torch.ones_like(weights)"), names="ones"
)
mask_then_renormalise.wrong(
    "the weights returned unchanged",
    body("return weights"),
    names="the mask is ignored",
)
mask_then_renormalise.wrong(
    "the mask returned as the weights", body("return mask"), diagnosed=False
)
mask_then_renormalise.wrong(
    "the first head's mask used for all heads",
    swap("weights * mask", "weights * (mask[:, :1] if mask.dim() == 4 else mask)"),
    names="does not take a mask (b, h, t, s)",
)
mask_then_renormalise.wrong(
    "the first sentence's mask used for all sentences",
    swap("weights * mask", "weights * (mask[:1] if mask.dim() == 4 else mask)"),
    diagnosed=False,
)
mask_then_renormalise.wrong(
    "a sum over dim=3", swap("dim=-1", "dim=3"), names="2 axes in front"
)
mask_then_renormalise.wrong(
    "code that unpacks four axes",
    insert("b, h, t, s = weights.shape", before="kept = weights"),
    names="2 axes in front",
)
mask_then_renormalise.wrong(
    "1e-6 added to the sum",
    swap("total.masked_fill(total == 0, 1.0)", "(total + 1e-6)"),
    names="not small compared",
)
mask_then_renormalise.wrong(
    "a sum clamped to at least 0.01",
    swap("total.masked_fill(total == 0, 1.0)", "total.clamp(min=0.01)"),
    names="not small compared",
)
mask_then_renormalise.wrong(
    "zeros only if the whole mask hides everything",
    body(
        """
        kept = weights * mask
        if not mask.any():
            return torch.zeros_like(weights)
        return kept / kept.sum(dim=-1, keepdim=True)
        """
    ),
    names="NaN where a query",
)
mask_then_renormalise.wrong(
    "a computation with numpy",
    body(
        """
        kept = weights.detach().numpy() * mask.numpy()
        total = kept.sum(axis=-1, keepdims=True)
        return torch.from_numpy(kept / (total + (total == 0)))
        """
    ),
    names="the gradient is cut off",
)


@mask_then_renormalise.wrong("the first mask reused", diagnosed=False)
def mask_then_renormalise(weights, mask, kept={}):
    left = weights * kept.setdefault(weights.shape, mask)
    return left / left.sum(dim=-1, keepdim=True).clamp(min=1e-20)


@mask_then_renormalise.wrong(
    "a mask that is inverted in place and inverted back", names="changed in place"
)
def mask_then_renormalise(weights, mask):
    kept = weights.masked_fill(mask.logical_not_(), 0)
    mask.logical_not_()
    return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-20)


@mask_then_renormalise.wrong(
    "weights that are overwritten and restored", names="changed in place"
)
def mask_then_renormalise(weights, mask):
    before = weights.detach().clone()
    with torch.no_grad():
        weights.mul_(mask)
    kept = weights.clone()
    with torch.no_grad():
        weights.copy_(before)
    return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-20)


@mask_then_renormalise.right("masked_fill and clamp")
def mask_then_renormalise(weights, mask):
    kept = weights.masked_fill(~mask, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-12)


@mask_then_renormalise.right("a small number in the divisor")
def mask_then_renormalise(weights, mask):
    kept = torch.where(mask, weights, torch.zeros_like(weights))
    return kept / (kept.sum(-1, keepdim=True) + 1e-9)


@mask_then_renormalise.right("a safe divisor, so no NaN reaches the gradient")
def mask_then_renormalise(weights, mask):
    kept = weights * mask.to(weights.dtype)
    total = kept.sum(dim=-1, keepdim=True)
    closed = total == 0
    return kept / torch.where(closed, torch.ones_like(total), total)


mask_then_renormalise.right(
    "F.normalize in the 1-norm",
    body("return F.normalize(weights * mask, p=1.0, dim=-1)"),
)


@mask_then_renormalise.right("a softmax of the logarithms")
def mask_then_renormalise(weights, mask):
    lowest = torch.finfo(weights.dtype).min
    scores = weights.log().masked_fill(~mask, lowest)
    return scores.softmax(dim=-1).masked_fill(~mask, 0)


@mask_then_renormalise.right("einsum")
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    total = torch.einsum("...ts->...t", kept)[..., None]
    return kept * (total + (total == 0)).reciprocal()


@mask_then_renormalise.right("a loop over queries")
def mask_then_renormalise(weights, mask):
    mask = mask.expand(weights.shape)
    rows = []
    for i in range(weights.size(-2)):
        row = weights[..., i, :] * mask[..., i, :]
        rows.append(row / row.sum(dim=-1, keepdim=True).clamp(min=1e-20))
    return torch.stack(rows, dim=-2)


@mask_then_renormalise.right("in-place operations on a copy")
def mask_then_renormalise(weights, mask):
    kept = weights.clone()
    kept[~mask.expand_as(kept)] = 0
    total = kept.sum(dim=-1, keepdim=True)
    return torch.nan_to_num(kept / total.clamp(min=1e-30))


# --- answers that try to pass without solving the exercise ------------------------

for_words = answer("transformer.masks.padding_mask")
for_words.with_faults("kept buffer state default written cpu")
for_words.wrong(
    "ids converted to 16 bits",
    swap("ids != pad_id", "ids.to(torch.int16) != pad_id"),
    diagnosed=False,
)
for_words.wrong(
    "a result cached by the identity of the tensor",
    body("""
    kept = padding_mask.__dict__
    if (id(ids), pad_id) not in kept:
        kept[id(ids), pad_id] = (ids != pad_id)[:, None, None, :], ids
    return kept[id(ids), pad_id][0]
    """),
    names="a result kept from an earlier call",
)
for_words.right(
    "a lookup in a table of bools",
    body("""
    is_word = torch.ones(
        max(int(ids.max()), pad_id) + 1, dtype=torch.bool, device=ids.device
    )
    is_word[pad_id] = False
    return is_word[ids].reshape(ids.size(0), 1, 1, ids.size(1))
    """),
)
answer("transformer.masks.target_mask").wrong(
    "a result cached by the identity of the tensor",
    body("""
    kept = target_mask.__dict__
    if (id(ids), pad_id) not in kept:
        mask = padding_mask(ids, pad_id) & causal_mask(ids.size(1), ids.device)
        kept[id(ids), pad_id] = mask, ids
    return kept[id(ids), pad_id][0]
    """),
    names="a result kept from an earlier call",
)
answer("transformer.analysis.masks.mask_then_renormalise").wrong(
    "a mask (h, t, s) read as one mask per sentence",
    insert(
        """
        if mask.dim() == 3 and weights.dim() == 4:
            mask = mask.unsqueeze(1)
        """,
        before="kept = ",
    ),
    names="does not take a mask (h, t, s)",
)

"""Wrong variants and right styles of unit 07, as students write them."""

import torch
import torch.nn.functional as F

from autograder.proof.variants import right, wrong

# --- padding_mask: wrong ----------------------------------------------------------


@wrong("ids == pad_id", diagnosed=True, names="the opposite")
def padding_mask(ids, pad_id):
    return (ids == pad_id)[:, None, None, :]


@wrong("(b, 1, t), right only for b = 1", diagnosed=True, names="meet the heads")
def padding_mask(ids, pad_id):
    return (ids != pad_id).unsqueeze(1)


@wrong("(b, s)", diagnosed=True, names="meet the queries")
def padding_mask(ids, pad_id):
    return ids != pad_id


@wrong("masks query rows", diagnosed=True, names="hides query rows")
def padding_mask(ids, pad_id):
    return (ids != pad_id).unsqueeze(1).unsqueeze(3)


@wrong("the batch in the place of the heads", diagnosed=True)
def padding_mask(ids, pad_id):
    return (ids != pad_id).unsqueeze(1).unsqueeze(0)


@wrong("expanded to (b, 1, s, s)", diagnosed=True, names="one row is enough")
def padding_mask(ids, pad_id):
    mask = (ids != pad_id)[:, None, None, :]
    return mask.expand(-1, 1, ids.size(1), -1)


@wrong("another pad id: 1", diagnosed=True, names="the pad id 1")
def padding_mask(ids, pad_id):
    return (ids != 1)[:, None, None, :]


@wrong("another pad id: 0", diagnosed=True, names="the pad id 0")
def padding_mask(ids, pad_id):
    return ids.bool()[:, None, None, :]


@wrong("ids > pad_id", diagnosed=True, names="above `pad_id`")
def padding_mask(ids, pad_id):
    return (ids > pad_id)[:, None, None, :]


@wrong("hides nothing", diagnosed=True)
def padding_mask(ids, pad_id):
    return torch.ones_like(ids, dtype=torch.bool)[:, None, None, :]


@wrong("zeros and ones", diagnosed=True, names="numbers where bools")
def padding_mask(ids, pad_id):
    return (ids != pad_id).int()[:, None, None, :]


@wrong("an additive mask", diagnosed=True, names="numbers where bools")
def padding_mask(ids, pad_id):
    mask = torch.zeros(ids.shape, device=ids.device)
    return mask.masked_fill(ids == pad_id, float("-inf"))[:, None, None, :]


@wrong("made on the CPU", diagnosed=True, names="default device")
def padding_mask(ids, pad_id):
    mask = torch.ones(ids.size(0), 1, 1, ids.size(1), dtype=torch.bool)
    mask[:, 0, 0] = ids != pad_id
    return mask


@wrong("built in place", diagnosed=True, names="changed in place")
def padding_mask(ids, pad_id):
    is_padding = ids == pad_id
    ids[is_padding] = 0
    return ~is_padding[:, None, None, :]


@wrong("squeezes a batch of one")
def padding_mask(ids, pad_id):
    mask = (ids != pad_id)[:, None, None, :]
    return mask.squeeze(0) if ids.size(0) == 1 else mask


# --- padding_mask: right ----------------------------------------------------------


@right("two unsqueezes")
def padding_mask(ids, pad_id):
    return (ids != pad_id).unsqueeze(1).unsqueeze(2)


@right("ne and view")
def padding_mask(ids, pad_id):
    b, s = ids.shape
    return ids.ne(pad_id).view(b, 1, 1, s)


@right("the opposite of the opposite")
def padding_mask(ids, pad_id):
    is_padding = torch.eq(ids, pad_id)
    return torch.logical_not(is_padding[:, None, None])


@right("where")
def padding_mask(ids, pad_id):
    zero = torch.zeros_like(ids)
    mask = torch.where(ids == pad_id, zero, torch.ones_like(ids))
    return mask.bool().reshape(ids.shape[0], 1, 1, -1)


@right("filled on the device of the ids")
def padding_mask(ids, pad_id):
    mask = torch.ones(ids.shape, dtype=torch.bool, device=ids.device)
    return mask.masked_fill(ids == pad_id, False)[:, None, None, :]


@right("lengths against positions: padding stands at the end")
def padding_mask(ids, pad_id):
    lengths = (ids != pad_id).sum(dim=1, keepdim=True)
    positions = torch.arange(ids.size(1), device=ids.device)
    return (positions < lengths)[:, None, None, :]


@right("a loop over numbers")
def padding_mask(ids, pad_id):
    rows = [[bool(i != pad_id) for i in row] for row in ids]
    mask = torch.tensor(rows, device=ids.device)
    return mask[:, None, None, :]


@right("a loop over sentences")
def padding_mask(ids, pad_id):
    rows = [(row != pad_id).view(1, 1, -1) for row in ids]
    return torch.stack(rows)


# --- causal_mask: wrong -----------------------------------------------------------


@wrong("upper triangle", diagnosed=True, names="the upper triangle")
def causal_mask(length, device=None):
    ones = torch.ones(1, 1, length, length, dtype=torch.bool, device=device)
    return ones.triu()


@wrong("the future is True", diagnosed=True, names="the opposite")
def causal_mask(length, device=None):
    ones = torch.ones(1, 1, length, length, dtype=torch.bool, device=device)
    return ones.triu(diagonal=1)


@wrong("tril(-1)", diagnosed=True, names="without the diagonal")
def causal_mask(length, device=None):
    ones = torch.ones(1, 1, length, length, dtype=torch.bool, device=device)
    return ones.tril(-1)


@wrong("tril(1)", diagnosed=True, names="one token into the future")
def causal_mask(length, device=None):
    ones = torch.ones(1, 1, length, length, dtype=torch.bool, device=device)
    return ones.tril(1)


@wrong("not triu", diagnosed=True, names="without the diagonal")
def causal_mask(length, device=None):
    ones = torch.ones(1, 1, length, length, dtype=torch.bool, device=device)
    return ~ones.triu()


@wrong("a diagonal matrix", diagnosed=True)
def causal_mask(length, device=None):
    return torch.eye(length, dtype=torch.bool, device=device)[None, None]


@wrong("hides nothing", diagnosed=True)
def causal_mask(length, device=None):
    return torch.ones(1, 1, length, length, dtype=torch.bool, device=device)


@wrong("(t, t)", diagnosed=True)
def causal_mask(length, device=None):
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


@wrong("(1, t, t)", diagnosed=True)
def causal_mask(length, device=None):
    return torch.ones(1, length, length, dtype=torch.bool, device=device).tril()


@wrong("zeros and ones", diagnosed=True, names="numbers where bools")
def causal_mask(length, device=None):
    return torch.ones(1, 1, length, length, device=device).tril()


@wrong("made on the CPU", diagnosed=True, names="default device")
def causal_mask(length, device=None):
    return torch.ones(length, length).tril().bool()[None, None]


@wrong("an additive mask of -inf", diagnosed=True, names="numbers where bools")
def causal_mask(length, device=None):
    lowest = torch.full((1, 1, length, length), float("-inf"), device=device)
    return lowest.triu(1)


# --- causal_mask: right -----------------------------------------------------------


@right("not the strict upper triangle")
def causal_mask(length, device=None):
    ones = torch.ones(1, 1, length, length, device=device)
    return torch.triu(ones, diagonal=1) == 0


@right("positions compared")
def causal_mask(length, device=None):
    position = torch.arange(length, device=device)
    return (position[None, :] <= position[:, None])[None, None]


@right("a loop over the queries")
def causal_mask(length, device=None):
    mask = torch.zeros(1, 1, length, length, dtype=torch.bool, device=device)
    for i in range(length):
        mask[..., i, : i + 1] = True
    return mask


@right("a list of lists")
def causal_mask(length, device=None):
    rows = [[key <= query for key in range(length)] for query in range(length)]
    return torch.tensor(rows, device=device).view(1, 1, length, length)


@right("indices of the triangle")
def causal_mask(length, device=None):
    mask = torch.zeros(length, length, dtype=torch.bool, device=device)
    row, column = torch.tril_indices(length, length)
    mask[row, column] = True
    return mask.unsqueeze(0).unsqueeze(0)


@right("moved to the device")
def causal_mask(length, device=None):
    mask = torch.tril(torch.ones((1, 1, length, length))).bool()
    return mask if device is None else mask.to(device)


@right("a running sum of the identity")
def causal_mask(length, device=None):
    identity = torch.eye(length, device=device)
    return identity.cumsum(dim=0).bool()[None, None]


# --- target_mask: wrong -----------------------------------------------------------


@wrong("pad | causal", diagnosed=True, names="padding or causal")
def target_mask(ids, pad_id):
    return padding_mask(ids, pad_id) | causal_mask(ids.size(1), ids.device)


@wrong("causal only", diagnosed=True, names="the causal mask alone")
def target_mask(ids, pad_id):
    return causal_mask(ids.size(1), ids.device)


@wrong("causal only, expanded", diagnosed=True, names="the causal mask alone")
def target_mask(ids, pad_id):
    return causal_mask(ids.size(1), ids.device).repeat(ids.size(0), 1, 1, 1)


@wrong("pad only", diagnosed=True, names="the padding mask alone")
def target_mask(ids, pad_id):
    return padding_mask(ids, pad_id)


@wrong("pad only, expanded", diagnosed=True, names="the padding mask alone")
def target_mask(ids, pad_id):
    return padding_mask(ids, pad_id).expand(-1, -1, ids.size(1), -1)


@wrong("masks query rows", diagnosed=True, names="rows of padded queries")
def target_mask(ids, pad_id):
    rows = (ids != pad_id)[:, None, :, None]
    return rows & causal_mask(ids.size(1), ids.device)


@wrong("masks query rows too", diagnosed=True, names="rows of padded queries")
def target_mask(ids, pad_id):
    keys = padding_mask(ids, pad_id)
    return keys & keys.transpose(-2, -1) & causal_mask(ids.size(1), ids.device)


@wrong("everything inverted", diagnosed=True, names="the opposite")
def target_mask(ids, pad_id):
    future = ~causal_mask(ids.size(1), ids.device)
    return (ids == pad_id)[:, None, None, :] | future


@wrong("upper triangle", diagnosed=True, names="the upper triangle")
def target_mask(ids, pad_id):
    t = ids.size(1)
    ones = torch.ones(t, t, dtype=torch.bool, device=ids.device)
    return padding_mask(ids, pad_id) & ones.triu()


@wrong("the padding mask inverted", diagnosed=True)
def target_mask(ids, pad_id):
    is_padding = (ids == pad_id)[:, None, None, :]
    return is_padding & causal_mask(ids.size(1), ids.device)


@wrong("tril(-1)", diagnosed=True, names="without the diagonal")
def target_mask(ids, pad_id):
    return padding_mask(ids, pad_id) & causal_mask(ids.size(1), ids.device).tril(-1)


@wrong("tril(1)", diagnosed=True, names="one token into the future")
def target_mask(ids, pad_id):
    t = ids.size(1)
    ones = torch.ones(t, t, dtype=torch.bool, device=ids.device)
    return padding_mask(ids, pad_id) & ones.tril(1)


@wrong("another pad id", diagnosed=True, names="the pad id 1")
def target_mask(ids, pad_id):
    return padding_mask(ids, 1) & causal_mask(ids.size(1), ids.device)


@wrong("(b, t, t)", diagnosed=True, names="the shape (b, t, t)")
def target_mask(ids, pad_id):
    return (ids != pad_id)[:, None, :] & causal_mask(ids.size(1), ids.device)[0]


@wrong("made on the CPU", diagnosed=True, names="default device")
def target_mask(ids, pad_id):
    t = ids.size(1)
    return padding_mask(ids, pad_id) & torch.ones(t, t).tril().bool()


@wrong("zeros and ones", diagnosed=True, names="numbers where bools")
def target_mask(ids, pad_id):
    padding = padding_mask(ids, pad_id).int()
    return padding * causal_mask(ids.size(1), ids.device).int()


# --- target_mask: right -----------------------------------------------------------


@right("from scratch")
def target_mask(ids, pad_id):
    t = ids.size(1)
    past = torch.tril(torch.ones((t, t), device=ids.device)).bool()
    return (ids != pad_id).unsqueeze(1).unsqueeze(2) & past


@right("product of int masks")
def target_mask(ids, pad_id):
    padding = padding_mask(ids, pad_id).int()
    return (padding * causal_mask(ids.size(1), ids.device).int()).bool()


@right("logical_and, positions compared")
def target_mask(ids, pad_id):
    position = torch.arange(ids.shape[1], device=ids.device)
    past = position.view(1, 1, 1, -1) <= position.view(1, 1, -1, 1)
    return torch.logical_and(ids.ne(pad_id)[:, None, None, :], past)


@right("the triangle of the expanded padding mask")
def target_mask(ids, pad_id):
    t = ids.size(1)
    return padding_mask(ids, pad_id).expand(-1, -1, t, -1).tril()


@right("forbidden or forbidden, then turned")
def target_mask(ids, pad_id):
    forbidden = (ids == pad_id)[:, None, None, :]
    return ~(forbidden | ~causal_mask(ids.size(1), device=ids.device))


@right("masked_fill on the triangle")
def target_mask(ids, pad_id):
    b, t = ids.shape
    past = causal_mask(t, ids.device).repeat(b, 1, 1, 1)
    return past.masked_fill((ids == pad_id).view(b, 1, 1, t), False)


@right("a loop over queries")
def target_mask(ids, pad_id):
    t = ids.size(1)
    rows = []
    for i in range(t):
        row = ids != pad_id
        row[:, i + 1 :] = False
        rows.append(row)
    return torch.stack(rows, dim=1)[:, None]


@right("vmap-like: one sentence after another")
def target_mask(ids, pad_id):
    past = causal_mask(ids.size(1), ids.device)[0]
    return torch.stack([past & (row != pad_id) for row in ids])


# --- mask_then_renormalise: wrong -------------------------------------------------


@wrong("not renormalised", diagnosed=True, names="do not sum to 1")
def mask_then_renormalise(weights, mask):
    return weights.masked_fill(~mask, 0)


@wrong("an inverted mask", diagnosed=True)
def mask_then_renormalise(weights, mask):
    kept = weights.masked_fill(mask, 0)
    total = kept.sum(dim=-1, keepdim=True)
    return kept / total.masked_fill(total == 0, 1)


@wrong("the mask is ignored", diagnosed=True)
def mask_then_renormalise(weights, mask):
    return weights / weights.sum(dim=-1, keepdim=True)


@wrong("a second softmax", diagnosed=True)
def mask_then_renormalise(weights, mask):
    again = weights.masked_fill(~mask, -1e9).softmax(dim=-1)
    return again.masked_fill(~mask, 0)


@wrong("a softmax over zeros", diagnosed=True, names="of which the masked are 0")
def mask_then_renormalise(weights, mask):
    return (weights * mask).softmax(dim=-1)


@wrong("sums of columns", diagnosed=True, names="the sum of each column")
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    return kept / kept.sum(dim=-2, keepdim=True)


@wrong("sums over heads", diagnosed=True, names="sum over the heads")
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    return kept / kept.sum(dim=1, keepdim=True)


@wrong("the sum of everything", diagnosed=True, names="the whole tensor")
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    return kept / kept.sum()


@wrong("divided by the number of keys", diagnosed=True, names="the number of keys")
def mask_then_renormalise(weights, mask):
    return weights * mask / mask.sum(dim=-1, keepdim=True)


@wrong("the hidden part shared out evenly", diagnosed=True)
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    hidden = 1 - kept.sum(dim=-1, keepdim=True)
    return kept + mask * hidden / mask.sum(dim=-1, keepdim=True)


@wrong("even weights", diagnosed=True)
def mask_then_renormalise(weights, mask):
    allowed = mask.expand(weights.shape).to(weights.dtype)
    return allowed / allowed.sum(dim=-1, keepdim=True)


@wrong("divided by the sum of all weights", diagnosed=True, names="do not sum to 1")
def mask_then_renormalise(weights, mask):
    return weights * mask / weights.sum(dim=-1, keepdim=True)


@wrong("NaN where a query may attend to nothing", diagnosed=True)
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    return kept / kept.sum(dim=-1, keepdim=True)


@wrong("uniform weights where a query may attend to nothing", diagnosed=True)
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    closed = ~mask.any(dim=-1, keepdim=True)
    kept = torch.where(closed, torch.ones_like(kept), kept)
    return kept / kept.sum(dim=-1, keepdim=True)


@wrong("NaN in the gradient", diagnosed=True)
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    closed = ~mask.any(dim=-1, keepdim=True)
    share = kept / kept.sum(dim=-1, keepdim=True)
    return torch.where(closed, torch.zeros_like(share), share)


@wrong("in place", diagnosed=True, names="changed in place")
def mask_then_renormalise(weights, mask):
    with torch.no_grad():
        weights.masked_fill_(~mask, 0)
    return weights / weights.sum(dim=-1, keepdim=True).clamp(min=1e-30)


@wrong("detached", diagnosed=True, names="the gradient is cut off")
def mask_then_renormalise(weights, mask):
    kept = (weights * mask).detach()
    return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-30)


@wrong("the sum without a gradient")
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-30).detach()


@wrong("turns everything into float32", diagnosed=True, names="a fixed dtype")
def mask_then_renormalise(weights, mask):
    kept = weights.float() * mask
    return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-30)


@wrong("folded with view", diagnosed=True, names="not contiguous")
def mask_then_renormalise(weights, mask):
    rows = weights.view(-1, weights.size(-1))
    kept = rows * mask.expand(weights.shape).reshape(rows.shape)
    kept = kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-30)
    return kept.view(weights.shape)


# --- mask_then_renormalise: right -------------------------------------------------


@right("masked_fill and clamp")
def mask_then_renormalise(weights, mask):
    kept = weights.masked_fill(~mask, 0.0)
    return kept / kept.sum(dim=-1, keepdim=True).clamp(min=1e-12)


@right("a small number in the divisor")
def mask_then_renormalise(weights, mask):
    kept = torch.where(mask, weights, torch.zeros_like(weights))
    return kept / (kept.sum(-1, keepdim=True) + 1e-9)


@right("NaN replaced, and kept out of the gradient")
def mask_then_renormalise(weights, mask):
    kept = weights * mask.to(weights.dtype)
    total = kept.sum(dim=-1, keepdim=True)
    closed = total == 0
    return kept / torch.where(closed, torch.ones_like(total), total)


@right("F.normalize in the 1-norm")
def mask_then_renormalise(weights, mask):
    return F.normalize(weights * mask, p=1.0, dim=-1)


@right("logarithms and a softmax")
def mask_then_renormalise(weights, mask):
    lowest = torch.finfo(weights.dtype).min
    scores = weights.log().masked_fill(~mask, lowest)
    return scores.softmax(dim=-1).masked_fill(~mask, 0)


@right("einsum")
def mask_then_renormalise(weights, mask):
    kept = weights * mask
    total = torch.einsum("...ts->...t", kept)[..., None]
    return kept * (total + (total == 0)).reciprocal()


@right("a loop over queries")
def mask_then_renormalise(weights, mask):
    mask = mask.expand(weights.shape)
    rows = []
    for i in range(weights.size(-2)):
        row = weights[..., i, :] * mask[..., i, :]
        rows.append(row / row.sum(dim=-1, keepdim=True).clamp(min=1e-20))
    return torch.stack(rows, dim=-2)


@right("in place on a copy")
def mask_then_renormalise(weights, mask):
    kept = weights.clone()
    kept[~mask.expand_as(kept)] = 0
    total = kept.sum(dim=-1, keepdim=True)
    return torch.nan_to_num(kept / total.clamp(min=1e-30))

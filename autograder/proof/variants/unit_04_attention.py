"""Wrong variants and right styles of unit 04, as students write them."""

import math

import torch
import torch.nn.functional as F

from autograder.proof.variants import answer, body, drop, insert, swap

# --- attention_scores -------------------------------------------------------------

attention_scores = answer("transformer.attention.attention_scores")
attention_scores.with_faults(
    "kept buffer seed default detached float32 rounded written cpu"
)
attention_scores.wrong(
    "the result without the division by √d_k",
    body("return query @ key.transpose(-2, -1)"),
)
attention_scores.wrong(
    "a division by d_k", body("return query @ key.transpose(-2, -1) / query.size(-1)")
)
attention_scores.wrong(
    "a multiplication by √d_k",
    body("return query @ key.transpose(-2, -1) * math.sqrt(query.size(-1))"),
)
attention_scores.wrong(
    "a division by √(number of keys)",
    drop("d_k = query.size(-1)"),
    swap("(d_k)", "(key.size(-2))"),
)
attention_scores.wrong(
    "a division by √d_model",
    drop("d_k = query.size(-1)"),
    swap("(d_k)", "((query.size(1) if query.dim() == 4 else 1) * query.size(-1))"),
)


@attention_scores.wrong(
    "a view instead of a transpose of the keys", names="`view` or `res"
)
def attention_scores(query, key):
    swapped = key.contiguous().view(*key.shape[:-2], key.size(-1), key.size(-2))
    return query @ swapped / math.sqrt(query.size(-1))


attention_scores.wrong(
    "keys times queries",
    body("return key @ query.transpose(-2, -1) / math.sqrt(query.size(-1))"),
)
attention_scores.wrong(
    "detached scores",
    swap(
        "return query @ key.transpose(-2, -1) / math.sqrt(d_k)",
        "return (query @ key.transpose(-2, -1) / math.sqrt(d_k)).detach()",
    ),
    names="the gradient is cut off",
)
attention_scores.wrong(
    "code that works only for four axes",
    swap("d_k = query.size(-1)", "b, h, t, d_k = query.shape"),
    swap("transpose(-2, -1)", "permute(0, 1, 3, 2)"),
    names="2 axes in front",
)


@attention_scores.wrong("keys that are reshaped with view", names="not contiguous")
def attention_scores(query, key):
    folded = key.view(-1, key.size(-2), key.size(-1)).view(key.shape)
    return query @ folded.transpose(-2, -1) / math.sqrt(query.size(-1))


@attention_scores.wrong(
    "a product in numpy", names="numpy, which works only on the CPU"
)
def attention_scores(query, key):
    if query.requires_grad or key.requires_grad:
        return query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))
    products = query.numpy() @ key.transpose(-2, -1).numpy()
    return torch.from_numpy(products) / math.sqrt(query.size(-1))


@attention_scores.wrong("transpose(1, 2)", names="only if a tensor has three axes")
def attention_scores(query, key):
    return query @ key.transpose(1, 2) / math.sqrt(query.size(-1))


attention_scores.wrong(
    "transpose(2, 3) with a special case for (t, d_k)",
    swap(
        "key.transpose(-2, -1)",
        "(key.transpose(2, 3) if key.dim() == 4 else key.t())",
    ),
    names="axes in front",
)
attention_scores.wrong(
    "a wrong transpose for five axes",
    swap("key.transpose(-2, -1)", "key.transpose(-2, -1 if key.dim() != 5 else -3)"),
    names="axes in front",
)
attention_scores.wrong(
    "a division by √6, as in the visible check",
    swap("math.sqrt(d_k)", "(math.sqrt(6) if d_k > 4 else math.sqrt(d_k))"),
    names="the result with √6",
)


@attention_scores.wrong("a query that is scaled in place", names="changed in place")
def attention_scores(query, key):
    with torch.no_grad():
        query /= math.sqrt(query.size(-1))
    return query @ key.transpose(-2, -1)


@attention_scores.wrong("detached keys", names="is cut off")
def attention_scores(query, key):
    return query @ key.detach().transpose(-2, -1) / math.sqrt(query.size(-1))


@attention_scores.wrong(
    "different widths that are cut to the smaller width",
    names="error that is not raised",
)
def attention_scores(query, key):
    d_k = min(query.size(-1), key.size(-1))
    return query[..., :d_k] @ key[..., :d_k].transpose(-2, -1) / math.sqrt(d_k)


@attention_scores.right("an einsum")
def attention_scores(query, key):
    return torch.einsum("...td,...sd->...ts", query, key) / query.size(-1) ** 0.5


attention_scores.right(
    "a query that is scaled before the product",
    body("return (query / math.sqrt(query.size(-1))) @ key.transpose(-1, -2)"),
)


@attention_scores.right("a scale that is split between query and key")
def attention_scores(query, key):
    fourth_root = query.shape[-1] ** 0.25
    return torch.matmul(query / fourth_root, (key / fourth_root).mT)


@attention_scores.right("a bmm over batch and heads in one axis")
def attention_scores(query, key):
    q = query.reshape(-1, query.size(-2), query.size(-1))
    k = key.reshape(-1, key.size(-2), key.size(-1))
    scores = torch.bmm(q, k.transpose(1, 2)).mul(q.size(-1) ** -0.5)
    return scores.reshape(*query.shape[:-1], key.size(-2))


@attention_scores.right("a loop over the queries")
def attention_scores(query, key):
    rows = []
    for i in range(query.size(-2)):
        rows.append((query[..., i : i + 1, :] * key).sum(-1))
    return torch.stack(rows, dim=-2) / math.sqrt(query.size(-1))


@attention_scores.right("a sum over the products of all pairs")
def attention_scores(query, key):
    pairs = query.unsqueeze(-2) * key.unsqueeze(-3)
    return pairs.sum(dim=-1) * torch.rsqrt(torch.tensor(float(key.size(-1))))


# --- masked_softmax ---------------------------------------------------------------

masked_softmax = answer("transformer.attention.masked_softmax")
without_zeros = answer(
    "transformer.attention.masked_softmax",
    body("""
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        return scores.softmax(dim=-1)
        """),
)
without_zeros.wrong("a softmax over the queries", swap("1", "2"))
without_zeros.wrong("a softmax over the heads", swap("-1", "1"))


@masked_softmax.wrong("an inverted mask")
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    return scores.masked_fill(mask, -1e9).softmax(dim=-1).masked_fill(mask, 0)


@masked_softmax.wrong("masking after the softmax without dividing by the new sum")
def masked_softmax(scores, mask=None):
    weights = scores.softmax(dim=-1)
    return weights if mask is None else weights.masked_fill(~mask, 0)


without_zeros.wrong("masked scores become 0", swap("-1e9", "0"))
without_zeros.wrong(
    "1e-9 instead of -1e9", swap("-1e9", "1e-9"), names="masked scores become 0"
)
without_zeros.wrong("masked scores become -1", swap("1e9", "1"))
without_zeros.wrong(
    "an unused result of masked_fill",
    swap("scores = scores", "scores"),
    names="the mask is ignored",
)
masked_softmax.wrong("the mask is ignored", body("return scores.softmax(dim=-1)"))
without_zeros.wrong("log-softmax", swap("softmax", "log_softmax"))
masked_softmax.wrong("the scores, not the weights", body("return scores"))
without_zeros.wrong(
    "NaN for a query that may not attend to any key", swap("-1e9", 'float("-inf")')
)


@masked_softmax.wrong("uniform weights for a query that may not attend to any key")
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(dim=-1)


without_zeros.wrong(
    "NaN in the gradient",
    swap(".masked_fill(~mask, -1e9)", "+ mask.to(scores.dtype).log()"),
    swap("(dim=-1)", "(dim=-1).nan_to_num(0.0)"),
)


@masked_softmax.wrong(
    "scores that are changed in place", names="an input is changed in place"
)
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    scores.masked_fill_(~mask, -1e9)
    return scores.softmax(dim=-1).masked_fill(~mask, 0)


@masked_softmax.wrong("a softmax by hand that overflows", names="overflows")
def masked_softmax(scores, mask=None):
    e = scores.exp() if mask is None else scores.exp() * mask
    return e / (e.sum(dim=-1, keepdim=True) + 1e-12)


@masked_softmax.wrong("-100 instead of -1e9", names="not low enough")
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    return scores.masked_fill(~mask, -100).softmax(dim=-1) * mask


@masked_softmax.wrong("zeros only if the mask hides every key", diagnosed=False)
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    if not mask.any():
        return torch.zeros_like(scores)
    return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)


@masked_softmax.wrong(
    "the first weights, which are kept for each shape",
    names="kept from an earlier call",
)
def masked_softmax(scores, mask=None, kept={}):  # noqa: B006
    sizes = (scores.shape, None if mask is None else mask.shape)
    if sizes not in kept:
        hidden = scores if mask is None else scores.masked_fill(~mask, -1e30)
        weights = hidden.softmax(dim=-1)
        kept[sizes] = weights if mask is None else weights * mask
    return kept[sizes]


@masked_softmax.wrong("the mask from the first call", diagnosed=False)
def masked_softmax(scores, mask=None, kept={}):  # noqa: B006
    if mask is None:
        return scores.softmax(dim=-1)
    mask = kept.setdefault((scores.shape, mask.shape), mask)
    return scores.masked_fill(~mask, -1e30).softmax(dim=-1) * mask


masked_softmax.wrong(
    "code that works only for four axes",
    swap(
        "~mask,",
        "~mask.expand(scores.shape[:4]) if scores.dim() == 4 else ~mask[None],",
    ),
    names="axes in front",
)
masked_softmax.wrong(
    "the first head's mask for every head",
    insert("mask = mask[:, :1] if mask.dim() == 4 else mask", before="lowest ="),
    names="one for each head",
)
masked_softmax.wrong(
    "a mask that is repeated for each head",
    insert(
        "mask = mask.repeat(1, scores.size(1), 1, 1) if mask.dim() == 4 else mask",
        before="lowest =",
    ),
    diagnosed=False,
)
masked_softmax.wrong(
    "the first sentence's mask for every sentence",
    insert("mask = mask[:1] if mask.dim() == 4 else mask", before="lowest ="),
)


@masked_softmax.wrong("-10000 instead of -inf", names="not low enough")
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    return scores.masked_fill(~mask, -10000.0).softmax(dim=-1) * mask


@masked_softmax.wrong(
    "a subtraction of the largest of all scores", names="the largest of all scores"
)
def masked_softmax(scores, mask=None):
    e = (scores - scores.max()).exp()
    if mask is not None:
        e = e * mask
    return e / e.sum(dim=-1, keepdim=True).clamp(min=1e-30)


@masked_softmax.wrong("1e-9 added to the new sum", names="or an added number")
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    weights = scores.softmax(dim=-1) * mask
    return weights / (weights.sum(dim=-1, keepdim=True) + 1e-9)


@masked_softmax.wrong("a mask that is inverted in place", names="changed in place")
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    hidden = mask.logical_not_()
    weights = scores.masked_fill(hidden, -1e30).softmax(dim=-1)
    return weights.masked_fill(hidden, 0)


@masked_softmax.wrong(
    "a mask that is inverted in place and then inverted back", names="changed in place"
)
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    weights = scores.masked_fill(mask.logical_not_(), -1e30).softmax(dim=-1)
    return weights * mask.logical_not_()


@masked_softmax.wrong(
    "detached scores if a query may not attend to any key", names="is cut off"
)
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    if not mask.any(dim=-1).all():
        scores = scores.detach()
    return scores.masked_fill(~mask, -1e30).softmax(dim=-1) * mask


@masked_softmax.right("the exponential of the scores minus their logsumexp")
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = (scores - scores.logsumexp(dim=-1, keepdim=True)).exp()
    return weights if mask is None else weights * mask


@masked_softmax.right("-1e9 before the softmax and zeros after it")
def masked_softmax(scores, mask=None):
    if mask is None:
        return F.softmax(scores, dim=-1)
    weights = F.softmax(scores.masked_fill(mask == 0, -1e9), dim=-1)
    return weights.masked_fill(mask == 0, 0.0)


without_zeros.right(
    "-inf and a replacement of NaN, where masked_fill keeps NaN out of the gradient",
    swap("-1e9", 'float("-inf")'),
    swap("(dim=-1)", "(dim=-1).nan_to_num(0.0)"),
)


@masked_softmax.right("an additive mask with the lowest number")
def masked_softmax(scores, mask=None):
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    bias = torch.zeros_like(scores).masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores + bias, dim=-1)
    return torch.where(mask, weights, torch.zeros_like(weights))


@masked_softmax.right("-inf, except in rows that may not attend to any key")
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(-1)
    nothing = ~mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~(mask | nothing), float("-inf"))
    return scores.softmax(-1).masked_fill(nothing, 0.0)


@masked_softmax.right("a softmax by hand")
def masked_softmax(scores, mask=None):
    shifted = scores - scores.max(dim=-1, keepdim=True).values.detach()
    e = shifted.exp()
    if mask is not None:
        e = e * mask
    return e / e.sum(dim=-1, keepdim=True).clamp(min=1e-30)


@masked_softmax.right("a mask after the softmax and a division by the new sum")
def masked_softmax(scores, mask=None):
    weights = scores.softmax(dim=-1)
    if mask is None:
        return weights
    weights = weights * mask.to(weights.dtype)
    total = weights.sum(dim=-1, keepdim=True)
    return weights / torch.where(total == 0, torch.ones_like(total), total)


@masked_softmax.right("a loop over the queries")
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    mask = mask.expand(scores.shape)
    rows = []
    for i in range(scores.size(-2)):
        row = scores[..., i, :].masked_fill(~mask[..., i, :], -1e9).softmax(dim=-1)
        rows.append(row * mask[..., i, :])
    return torch.stack(rows, dim=-2)


@masked_softmax.right("an in-place fill of a copy")
def masked_softmax(scores, mask=None):
    scores = scores.clone()
    if mask is not None:
        scores[~mask.expand_as(scores)] = -1e9
    weights = torch.nn.Softmax(dim=-1)(scores)
    return weights if mask is None else weights * mask


# --- scaled_dot_product_attention -------------------------------------------------

scaled_dot_product_attention = answer(
    "transformer.attention.scaled_dot_product_attention"
)
scaled_dot_product_attention.wrong(
    "the result without the division by √d_k",
    swap("attention_scores(query, key)", "query @ key.transpose(-2, -1)"),
)
scaled_dot_product_attention.wrong(
    "a division by d_k",
    swap(
        "attention_scores(query, key)", "query @ key.transpose(-2, -1) / query.size(-1)"
    ),
)
scaled_dot_product_attention.wrong(
    "a multiplication by √d_k",
    swap(
        "attention_scores(query, key)",
        "query @ key.transpose(-2, -1) * query.size(-1) ** 0.5",
    ),
)
scaled_dot_product_attention.wrong(
    "a division by √(number of keys)",
    swap(
        "attention_scores(query, key)",
        "query @ key.transpose(-2, -1) / key.size(-2) ** 0.5",
    ),
)
scaled_dot_product_attention.wrong(
    "a division by √d_model",
    swap(
        "attention_scores(query, key)",
        "query @ key.transpose(-2, -1) / (query.size(1) * query.size(-1)) ** 0.5",
    ),
)
scaled_dot_product_attention.wrong(
    "the division by √d_k after the softmax",
    swap("attention_scores(query, key)", "query @ key.transpose(-2, -1)"),
    swap(
        "return F",
        """
        weights = weights / query.size(-1) ** 0.5
        return F
        """,
    ),
)
scaled_dot_product_attention.wrong(
    "the mask is ignored",
    swap(
        "masked_softmax(attention_scores(query, key), mask)",
        "attention_scores(query, key).softmax(dim=-1)",
    ),
)
scaled_dot_product_attention.wrong(
    "an inverted mask",
    insert("mask = None if mask is None else ~mask", before="weights ="),
)
by_filling = answer(
    "transformer.attention.scaled_dot_product_attention",
    body("""
        scores = attention_scores(query, key)
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(dim=-1)
        return F.dropout(weights, dropout) @ value, weights
        """),
)
by_filling.wrong("a softmax over the queries", swap("dim=-1", "dim=-2"))
by_filling.wrong("a softmax over the heads", swap("dim=-1", "dim=1"))
scaled_dot_product_attention.wrong(
    "the scores, not the weights",
    swap("@ value, weights", "@ value, attention_scores(query, key)"),
)
by_filling.wrong("log-softmax", swap("softmax", "log_softmax"))
by_filling.wrong(
    "NaN for a query that may not attend to any key", swap("-1e9", 'float("-inf")')
)
scaled_dot_product_attention.wrong(
    "only the output", swap("value, weights", "value"), diagnosed=False
)
scaled_dot_product_attention.wrong(
    "dropout is ignored", swap("F.dropout(weights, dropout)", "weights")
)
scaled_dot_product_attention.wrong(
    "dropout on the output",
    swap("(weights, dropout) @ value", "(weights @ value, dropout)"),
)
scaled_dot_product_attention.wrong(
    "dropout on the values",
    swap("F.dropout(weights, dropout) @ value", "weights @ F.dropout(value, dropout)"),
)


@scaled_dot_product_attention.wrong(
    "a dropout that keeps the share to drop", names="keeps the share it should drop"
)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    used = weights
    if dropout > 0:
        keep = torch.rand_like(weights) < dropout
        used = weights * keep / (1 - dropout)
    return used @ value, weights


@scaled_dot_product_attention.wrong(
    "weights that are divided by p after dropout", names="divided by p instead"
)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    used = weights
    if dropout > 0:
        keep = torch.rand_like(weights) >= dropout
        used = weights * keep / dropout
    return used @ value, weights


scaled_dot_product_attention.wrong(
    "a return of the weights after dropout",
    swap(
        "return F.dropout(weights, dropout) @ value, weights",
        """
        weights = F.dropout(weights, dropout)
        return weights @ value, weights
        """,
    ),
    diagnosed=False,
)


@scaled_dot_product_attention.wrong(
    "the built-in function", names="a call that is the whole answer"
)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    output = F.scaled_dot_product_attention(query, key, value, mask, dropout)
    return output, weights


@scaled_dot_product_attention.wrong(
    "a dropout with its own generator", names="the same numbers dropped in every"
)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    generator = torch.Generator(weights.device).manual_seed(4)
    drawn = torch.rand(weights.shape, generator=generator, device=weights.device)
    used = weights * (drawn >= dropout) / (1 - dropout)
    return used.to(weights.dtype) @ value, weights


scaled_dot_product_attention.wrong(
    "dropout of 1 - p",
    swap("weights, dropout", "weights, 1 - dropout if dropout else 0.0"),
    names="keeps the share it should drop",
)
scaled_dot_product_attention.wrong(
    "dropout of a fixed 0.5",
    swap("weights, dropout", "weights, 0.5 if dropout else 0.0"),
    names="a different share dropped",
)
scaled_dot_product_attention.wrong(
    "dropout of a fixed 0.25",
    swap("weights, dropout", "weights, 0.25 if dropout else 0.0"),
    names="a different share dropped",
)


@scaled_dot_product_attention.wrong(
    "dropout without the division by 1 - p", names="without the division by 1 - p"
)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    return weights * (torch.rand_like(weights) >= dropout) @ value, weights


@scaled_dot_product_attention.wrong(
    "a dropout that is the same for all heads", names="the same for every head"
)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    shared = weights[:, :1] if weights.dim() == 4 else weights
    kept = F.dropout(torch.ones_like(shared), dropout)
    return weights * kept @ value, weights


@scaled_dot_product_attention.wrong(
    "a dropout that is the same for all sentences", names="the same for every sentence"
)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    kept = F.dropout(torch.ones_like(weights[:1]), dropout)
    return weights * kept @ value, weights


scaled_dot_product_attention.wrong(
    "an einsum that works only for four axes",
    swap(
        "F.dropout(weights, dropout) @ value",
        'torch.einsum("bhts,bhsd->bhtd", F.dropout(weights, dropout), value)',
    ),
    names="axes in front",
)
scaled_dot_product_attention.wrong(
    "the first head's mask for every head",
    swap("key), mask", "key), mask if mask is None else mask[:, :1]"),
    diagnosed=False,
)
scaled_dot_product_attention.wrong(
    "a mask that is repeated for each head",
    swap(
        "key), mask",
        "key), mask if mask is None else mask.repeat(1, query.size(1), 1, 1)",
    ),
    diagnosed=False,
)
scaled_dot_product_attention.wrong(
    "a weighted sum in bfloat16",
    swap(
        "F.dropout(weights, dropout) @ value",
        "(F.dropout(weights, dropout).bfloat16() @ value.bfloat16()).to(value.dtype)",
    ),
    diagnosed=False,
)
scaled_dot_product_attention.wrong(
    "detached values",
    swap("@ value", "@ value.detach()"),
    names="is cut off",
)
scaled_dot_product_attention.wrong(
    "detached weights",
    swap("(weights, dropout) @", "(weights.detach(), dropout) @"),
    names="is cut off",
)


@scaled_dot_product_attention.wrong(
    "NaN in the gradient of a row without keys", names="NaN in the gradient"
)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    scores = attention_scores(query, key)
    if mask is not None:
        scores = scores + mask.to(scores.dtype).log()
    weights = scores.softmax(dim=-1).nan_to_num(0.0)
    return F.dropout(weights, dropout) @ value, weights


@scaled_dot_product_attention.wrong("values that are masked in place", names="in place")
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    output = F.dropout(weights, dropout) @ value
    with torch.no_grad():
        value.zero_()
    return output, weights


@scaled_dot_product_attention.wrong(
    "a mask that is inverted in place and then inverted back", names="in place"
)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    if mask is not None:
        mask.logical_not_().logical_not_()
    weights = masked_softmax(attention_scores(query, key), mask)
    return F.dropout(weights, dropout) @ value, weights


by_filling.wrong(
    "-1e9, so that a row without keys averages all values",
    swap("scores.softmax", "scores.softmax"),
    names="uniform weights for a query that may not attend to any key",
)


@scaled_dot_product_attention.wrong(
    "different widths that are cut to the smaller width",
    names="error that is not raised",
)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    d_k = min(query.size(-1), key.size(-1))
    weights = masked_softmax(attention_scores(query[..., :d_k], key[..., :d_k]), mask)
    return F.dropout(weights, dropout) @ value, weights


scaled_dot_product_attention.right(
    "an einsum",
    swap(
        "F.dropout(weights, dropout) @ value",
        'torch.einsum("...ts,...sd->...td", F.dropout(weights, p=dropout), value)',
    ),
)


@scaled_dot_product_attention.right(
    "all steps in one function, with the mask before the scaling"
)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    scores = torch.matmul(query, key.transpose(-2, -1))
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -1e20)
    weights = torch.softmax(scores / math.sqrt(key.shape[-1]), dim=-1)
    if mask is not None:
        weights = weights * mask
    return torch.matmul(torch.dropout(weights, dropout, True), value), weights


@scaled_dot_product_attention.right("a dropout module and a list as the result")
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    return [torch.nn.Dropout(dropout)(weights) @ value, weights]


@scaled_dot_product_attention.right("a dropout by hand")
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    used = weights
    if dropout > 0:
        kept = torch.rand_like(weights) >= dropout
        used = weights * kept / (1 - dropout)
    return used @ value, weights


@scaled_dot_product_attention.right("a loop over the queries")
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    dropped = F.dropout(weights, dropout)
    rows = [
        (dropped[..., i, :, None] * value).sum(dim=-2) for i in range(query.size(-2))
    ]
    return torch.stack(rows, dim=-2), weights


@scaled_dot_product_attention.right(
    "a bmm of weights and values over batch and heads in one axis"
)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    w = F.dropout(weights, dropout).reshape(-1, *weights.shape[-2:])
    v = value.reshape(-1, *value.shape[-2:])
    return torch.bmm(w, v).view(*query.shape[:-1], value.size(-1)), weights


# --- softmax_entropy --------------------------------------------------------------

softmax_entropy = answer("transformer.analysis.attention.softmax_entropy")
softmax_entropy.with_faults("kept buffer seed default float32 rounded written cpu")
softmax_entropy.wrong(
    "the entropy with the opposite sign",
    swap("torch.special.entr(weights)", "(weights * weights.clamp(min=1e-30).log())"),
)
softmax_entropy.wrong(
    "the entropy in bits",
    swap("torch.special.entr(weights)", "-(weights * weights.clamp(min=1e-30).log2())"),
)
softmax_entropy.wrong(
    "the entropy in decimal digits",
    swap(
        "torch.special.entr(weights)", "-(weights * weights.clamp(min=1e-30).log10())"
    ),
)
softmax_entropy.wrong(
    "the mean over the keys",
    body("return torch.special.entr(scores.softmax(dim=-1)).mean(dim=-1)"),
)
softmax_entropy.wrong(
    "the entropy over a dimension other than the last",
    body("return torch.special.entr(scores.softmax(dim=-2)).sum(dim=-2)"),
)
softmax_entropy.wrong(
    "the entropy of the scores, without the softmax",
    body("return -(scores * scores.log()).sum(dim=-1)"),
)
softmax_entropy.wrong(
    "NaN for a weight of 0",
    swap("torch.special.entr(weights)", "-(weights * weights.log())"),
)
softmax_entropy.wrong(
    "NaN from log-softmax",
    body("return -(scores.softmax(dim=-1) * scores.log_softmax(dim=-1)).sum(dim=-1)"),
    names="NaN for a weight of 0",
)
softmax_entropy.wrong(
    "a softmax that overflows",
    swap("softmax(dim=-1)", "exp() / scores.exp().sum(dim=-1, keepdim=True)"),
    names="overflows",
)
softmax_entropy.wrong(
    "one number for all rows",
    body("return torch.special.entr(scores.softmax(dim=-1)).sum()"),
    names="one number for all",
)
softmax_entropy.wrong(
    "the sum of the log-weights without the weights as factors",
    body("return -scores.log_softmax(dim=-1).sum(dim=-1)"),
)


softmax_entropy.wrong(
    "the sum over axis 1",
    swap(
        "sum(dim=-1)",
        "sum(dim=1 if scores.dim() == 2 else -1 if scores.dim() < 4 else 2)",
    ),
    names="axes in front",
)
softmax_entropy.wrong(
    "1e-6 inside the logarithm",
    swap("torch.special.entr(weights)", "-(weights * (weights + 1e-6).log())"),
    diagnosed=False,
)


@softmax_entropy.wrong(
    "a subtraction of the largest of all scores", names="the largest of all scores"
)
def softmax_entropy(scores):
    e = (scores - scores.max()).exp()
    weights = e / e.sum(dim=-1, keepdim=True)
    return torch.special.entr(weights).sum(dim=-1)


@softmax_entropy.wrong(
    "scores of -inf that are replaced in place", names="changed in place"
)
def softmax_entropy(scores):
    scores.masked_fill_(scores == -torch.inf, -1e30)
    return torch.special.entr(scores.softmax(dim=-1)).sum(dim=-1)


@softmax_entropy.wrong("scores that are clamped at -100", diagnosed=False)
def softmax_entropy(scores):
    weights = scores.clamp(min=-100).softmax(dim=-1)
    return torch.special.entr(weights).sum(dim=-1)


@softmax_entropy.right("a small number inside the logarithm")
def softmax_entropy(scores):
    p = torch.softmax(scores, dim=-1)
    return -(p * (p + 1e-9).log()).sum(-1)


softmax_entropy.right(
    "torch.where",
    swap(
        "special.entr(weights)",
        "where(weights > 0, -weights * torch.log(weights), torch.zeros_like(weights))",
    ),
)
softmax_entropy.right(
    "torch.xlogy", swap("torch.special.entr(weights)", "-torch.xlogy(weights, weights)")
)


@softmax_entropy.right("torch.distributions")
def softmax_entropy(scores):
    lowest = torch.finfo(scores.dtype).min
    return torch.distributions.Categorical(logits=scores.clamp(min=lowest)).entropy()


softmax_entropy.right(
    "the cross-entropy of the weights with themselves",
    swap(
        "torch.special.entr(weights)",
        "-(weights * scores.log_softmax(dim=-1).nan_to_num(neginf=0.0))",
    ),
)
softmax_entropy.right(
    "logsumexp minus the mean score",
    swap(
        "torch.special.entr(weights)",
        "scores.logsumexp(dim=-1) - (weights * scores.masked_fill(weights == 0, 0.0))",
    ),
)


# --- answers that try to pass without solving the exercise ------------------------

by_mask = answer("transformer.attention.masked_softmax")
by_mask.with_faults("kept buffer seed default detached float32 rounded written cpu")
by_mask.wrong(
    "a mask of three axes that is read as (b, t, s)",
    insert(
        """
        if mask.dim() == 3 and scores.dim() == 4:
            mask = mask.unsqueeze(1)
        """,
        before="lowest = ",
    ),
    names="does not take a mask (h, t, s)",
)
by_mask.wrong(
    "code that needs a mask of at least two axes",
    insert(
        "mask = mask.expand(*scores.shape[:-2], *mask.shape[-2:])", before="lowest = "
    ),
    names="does not take a mask (s,)",
)
by_mask.wrong(
    "zeros for each query whose first key is hidden",
    swap("weights * mask", "weights * mask[..., :1]"),
    diagnosed=False,
)
by_mask.wrong(
    "results that are kept for each tensor",
    body("""
    kept, key = masked_softmax.__dict__, (id(scores), id(mask))
    if key not in kept:
        shown = torch.ones_like(scores).bool() if mask is None else mask
        lowest = torch.finfo(scores.dtype).min
        weights = scores.masked_fill(~shown, lowest).softmax(dim=-1) * shown
        kept[key] = weights, scores, mask
    return kept[key][0]
    """),
    names="a result kept from an earlier call",
)
dropping = answer("transformer.attention.scaled_dot_product_attention")
dropping.with_faults("kept seed default detached float32 rounded written cpu")
dropping.wrong(
    "dropout only when PyTorch records gradients",
    swap(
        "F.dropout(weights, dropout)",
        "F.dropout(weights, dropout, torch.is_grad_enabled())",
    ),
)
dropping.wrong(
    "weights that are divided by their sum again after dropout",
    body("""
    weights = masked_softmax(attention_scores(query, key), mask)
    used = F.dropout(weights, dropout)
    if dropout:
        used = used / used.sum(dim=-1, keepdim=True).clamp(min=1e-9)
    return used @ value, weights
    """),
    diagnosed=False,
)
dropping.wrong(
    "dropout of whole queries",
    swap(
        "F.dropout(weights, dropout)",
        "weights * F.dropout(torch.ones_like(weights[..., :1]), dropout)",
    ),
    names="the same for every key",
)
dropping.right(
    "a Bernoulli tensor",
    body("""
    weights = masked_softmax(attention_scores(query, key), mask)
    kept = torch.full_like(weights, 1 - dropout).bernoulli() / (1 - dropout)
    return torch.einsum("...ts,...sd->...td", weights * kept, value), weights
    """),
)
answer("transformer.analysis.attention.softmax_entropy").wrong(
    "a squeezed result",
    swap("entr(weights).sum(dim=-1)", "entr(weights).sum(dim=-1).squeeze()"),
    diagnosed=False,
)


# --- right only for some sizes ----------------------------------------------------

some_sizes = answer("transformer.attention.attention_scores")
some_sizes.wrong(
    "no scaling if there are more keys than queries",
    swap("math.sqrt(d_k)", "(math.sqrt(d_k) if key.size(-2) <= query.size(-2) else 1)"),
    names="the division by √d_k",
)
answer("transformer.attention.masked_softmax").wrong(
    "only the first 64 keys",
    insert("scores = scores.clone()\nscores[..., 64:] = -1e9", before="lowest = "),
    names="only for some sizes",
)

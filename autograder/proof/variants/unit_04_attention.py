"""Wrong variants and right styles of unit 04, as students write them."""

import math

import torch
import torch.nn.functional as F

from autograder.proof.variants import right, wrong

# --- attention_scores: wrong ------------------------------------------------------


@wrong("without the division by √d_k", diagnosed=True)
def attention_scores(query, key):
    return query @ key.transpose(-2, -1)


@wrong("division by d_k", diagnosed=True)
def attention_scores(query, key):
    return query @ key.transpose(-2, -1) / query.size(-1)


@wrong("multiplication by √d_k", diagnosed=True)
def attention_scores(query, key):
    return query @ key.transpose(-2, -1) * math.sqrt(query.size(-1))


@wrong("√(number of keys)", diagnosed=True)
def attention_scores(query, key):
    return query @ key.transpose(-2, -1) / math.sqrt(key.size(-2))


@wrong("√d_model", diagnosed=True)
def attention_scores(query, key):
    heads = query.size(1) if query.dim() == 4 else 1
    return query @ key.transpose(-2, -1) / math.sqrt(heads * query.size(-1))


@wrong("view for the transpose of the keys", diagnosed=True, names="`view` or `res")
def attention_scores(query, key):
    swapped = key.contiguous().view(*key.shape[:-2], key.size(-1), key.size(-2))
    return query @ swapped / math.sqrt(query.size(-1))


@wrong("keys against queries", diagnosed=True)
def attention_scores(query, key):
    return key @ query.transpose(-2, -1) / math.sqrt(query.size(-1))


@wrong("detached", diagnosed=True, names="the gradient is cut off")
def attention_scores(query, key):
    return (query @ key.transpose(-2, -1) / math.sqrt(query.size(-1))).detach()


@wrong("works on four dimensions only", diagnosed=True, names="a batch and heads only")
def attention_scores(query, key):
    b, h, t, d_k = query.shape
    return query @ key.permute(0, 1, 3, 2) / math.sqrt(d_k)


@wrong("turns everything into float32", diagnosed=True, names="a fixed dtype")
def attention_scores(query, key):
    return query.float() @ key.float().transpose(-2, -1) / math.sqrt(query.size(-1))


@wrong("keys folded with view", diagnosed=True, names="not contiguous")
def attention_scores(query, key):
    folded = key.view(-1, key.size(-2), key.size(-1)).view(key.shape)
    return query @ folded.transpose(-2, -1) / math.sqrt(query.size(-1))


# --- attention_scores: right ------------------------------------------------------


@right("einsum")
def attention_scores(query, key):
    return torch.einsum("...td,...sd->...ts", query, key) / query.size(-1) ** 0.5


@right("the query scaled first")
def attention_scores(query, key):
    return (query / math.sqrt(query.size(-1))) @ key.transpose(-1, -2)


@right("the scale split over both")
def attention_scores(query, key):
    fourth_root = query.shape[-1] ** 0.25
    return torch.matmul(query / fourth_root, (key / fourth_root).mT)


@right("a bmm over folded batch and heads")
def attention_scores(query, key):
    q = query.reshape(-1, query.size(-2), query.size(-1))
    k = key.reshape(-1, key.size(-2), key.size(-1))
    scores = torch.bmm(q, k.transpose(1, 2)).mul(q.size(-1) ** -0.5)
    return scores.reshape(*query.shape[:-1], key.size(-2))


@right("a loop over the queries")
def attention_scores(query, key):
    rows = []
    for i in range(query.size(-2)):
        rows.append((query[..., i : i + 1, :] * key).sum(-1))
    return torch.stack(rows, dim=-2) / math.sqrt(query.size(-1))


@right("products of all pairs, then a sum")
def attention_scores(query, key):
    pairs = query.unsqueeze(-2) * key.unsqueeze(-3)
    return pairs.sum(dim=-1) * torch.rsqrt(torch.tensor(float(key.size(-1))))


# --- masked_softmax: wrong --------------------------------------------------------


@wrong("a softmax over the queries", diagnosed=True)
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(dim=-2)


@wrong("a softmax over the heads", diagnosed=True)
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(dim=1)


@wrong("an inverted mask", diagnosed=True)
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    return scores.masked_fill(mask, -1e9).softmax(dim=-1).masked_fill(mask, 0)


@wrong("masking after the softmax without dividing by the new sum", diagnosed=True)
def masked_softmax(scores, mask=None):
    weights = scores.softmax(dim=-1)
    return weights if mask is None else weights.masked_fill(~mask, 0)


@wrong("masked scores become 0", diagnosed=True)
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, 0)
    return scores.softmax(dim=-1)


@wrong("1e-9 for -1e9", diagnosed=True, names="masked scores become 0")
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, 1e-9)
    return scores.softmax(dim=-1)


@wrong("masked scores become -1", diagnosed=True)
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1)
    return scores.softmax(dim=-1)


@wrong("masked_fill thrown away", diagnosed=True, names="the mask is ignored")
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores.masked_fill(~mask, -1e9)
    return scores.softmax(dim=-1)


@wrong("the mask is ignored", diagnosed=True)
def masked_softmax(scores, mask=None):
    return scores.softmax(dim=-1)


@wrong("log-softmax", diagnosed=True)
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.log_softmax(dim=-1)


@wrong("the scores, not the weights", diagnosed=True)
def masked_softmax(scores, mask=None):
    return scores


@wrong("NaN where a query may attend to nothing", diagnosed=True)
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1)


@wrong("uniform weights where a query may attend to nothing", diagnosed=True)
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(dim=-1)


@wrong("NaN in the gradient", diagnosed=True)
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores + mask.to(scores.dtype).log()
    return scores.softmax(dim=-1).nan_to_num(0.0)


@wrong("changed in place", diagnosed=True, names="an input is changed in place")
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    scores.masked_fill_(~mask, -1e9)
    return scores.softmax(dim=-1).masked_fill(~mask, 0)


@wrong("a softmax by hand that overflows", diagnosed=True, names="overflows")
def masked_softmax(scores, mask=None):
    e = scores.exp() if mask is None else scores.exp() * mask
    return e / (e.sum(dim=-1, keepdim=True) + 1e-12)


@wrong("-100 for -1e9", diagnosed=True, names="not low enough")
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    return scores.masked_fill(~mask, -100).softmax(dim=-1) * mask


@wrong("zeros only where the whole mask is closed")
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    if not mask.any():
        return torch.zeros_like(scores)
    return scores.masked_fill(~mask, -torch.inf).softmax(dim=-1)


# --- masked_softmax: right --------------------------------------------------------


@right("-1e9, then zeros")
def masked_softmax(scores, mask=None):
    if mask is None:
        return F.softmax(scores, dim=-1)
    weights = F.softmax(scores.masked_fill(mask == 0, -1e9), dim=-1)
    return weights.masked_fill(mask == 0, 0.0)


@right("-inf, and NaN replaced: masked_fill stops the NaN in the gradient")
def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(dim=-1).nan_to_num(0.0)


@right("an additive mask of the lowest number")
def masked_softmax(scores, mask=None):
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    bias = torch.zeros_like(scores).masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = torch.softmax(scores + bias, dim=-1)
    return torch.where(mask, weights, torch.zeros_like(weights))


@right("-inf, with rows that may attend to nothing let off")
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(-1)
    nothing = ~mask.any(dim=-1, keepdim=True)
    scores = scores.masked_fill(~(mask | nothing), float("-inf"))
    return scores.softmax(-1).masked_fill(nothing, 0.0)


@right("a softmax by hand")
def masked_softmax(scores, mask=None):
    shifted = scores - scores.max(dim=-1, keepdim=True).values.detach()
    e = shifted.exp()
    if mask is not None:
        e = e * mask
    return e / e.sum(dim=-1, keepdim=True).clamp(min=1e-30)


@right("mask after the softmax, and renormalise")
def masked_softmax(scores, mask=None):
    weights = scores.softmax(dim=-1)
    if mask is None:
        return weights
    weights = weights * mask.to(weights.dtype)
    total = weights.sum(dim=-1, keepdim=True)
    return weights / torch.where(total == 0, torch.ones_like(total), total)


@right("a loop over the queries")
def masked_softmax(scores, mask=None):
    if mask is None:
        return scores.softmax(dim=-1)
    mask = mask.expand(scores.shape)
    rows = []
    for i in range(scores.size(-2)):
        row = scores[..., i, :].masked_fill(~mask[..., i, :], -1e9).softmax(dim=-1)
        rows.append(row * mask[..., i, :])
    return torch.stack(rows, dim=-2)


@right("an in-place fill of a copy")
def masked_softmax(scores, mask=None):
    scores = scores.clone()
    if mask is not None:
        scores[~mask.expand_as(scores)] = -1e9
    weights = torch.nn.Softmax(dim=-1)(scores)
    return weights if mask is None else weights * mask


# --- scaled_dot_product_attention: wrong ------------------------------------------


@wrong("without the division by √d_k", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(query @ key.transpose(-2, -1), mask)
    return F.dropout(weights, dropout) @ value, weights


@wrong("division by d_k", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    scores = query @ key.transpose(-2, -1) / query.size(-1)
    weights = masked_softmax(scores, mask)
    return F.dropout(weights, dropout) @ value, weights


@wrong("multiplication by √d_k", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    scores = query @ key.transpose(-2, -1) * query.size(-1) ** 0.5
    weights = masked_softmax(scores, mask)
    return F.dropout(weights, dropout) @ value, weights


@wrong("√(number of keys)", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    scores = query @ key.transpose(-2, -1) / key.size(-2) ** 0.5
    weights = masked_softmax(scores, mask)
    return F.dropout(weights, dropout) @ value, weights


@wrong("√d_model", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    scores = query @ key.transpose(-2, -1) / (query.size(1) * query.size(-1)) ** 0.5
    weights = masked_softmax(scores, mask)
    return F.dropout(weights, dropout) @ value, weights


@wrong("division by √d_k after the softmax", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(query @ key.transpose(-2, -1), mask)
    weights = weights / query.size(-1) ** 0.5
    return F.dropout(weights, dropout) @ value, weights


@wrong("the mask is ignored", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = attention_scores(query, key).softmax(dim=-1)
    return F.dropout(weights, dropout) @ value, weights


@wrong("an inverted mask", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    mask = None if mask is None else ~mask
    weights = masked_softmax(attention_scores(query, key), mask)
    return F.dropout(weights, dropout) @ value, weights


@wrong("a softmax over the queries", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    scores = attention_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-2)
    return F.dropout(weights, dropout) @ value, weights


@wrong("a softmax over the heads", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    scores = attention_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=1)
    return F.dropout(weights, dropout) @ value, weights


@wrong("the scores, not the weights", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    scores = attention_scores(query, key)
    weights = masked_softmax(scores, mask)
    return F.dropout(weights, dropout) @ value, scores


@wrong("log-softmax", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    scores = attention_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.log_softmax(dim=-1)
    return F.dropout(weights, dropout) @ value, weights


@wrong("NaN where a query may attend to nothing", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    scores = attention_scores(query, key)
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(dim=-1)
    return F.dropout(weights, dropout) @ value, weights


@wrong("the output alone")
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    return F.dropout(weights, dropout) @ value


@wrong("dropout is ignored", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    return weights @ value, weights


@wrong("dropout of the output", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    return F.dropout(weights @ value, dropout), weights


@wrong("dropout of the values", diagnosed=True)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    return weights @ F.dropout(value, dropout), weights


@wrong("the share to drop is kept", diagnosed=True, names="another share of")
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    used = weights
    if dropout > 0:
        keep = torch.rand_like(weights) < dropout
        used = weights * keep / (1 - dropout)
    return used @ value, weights


@wrong(
    "a dropout divided by the share to drop", diagnosed=True, names="neither 0 nor 4/3"
)
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    used = weights
    if dropout > 0:
        keep = torch.rand_like(weights) >= dropout
        used = weights * keep / dropout
    return used @ value, weights


@wrong("the weights after the dropout")
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    weights = F.dropout(weights, dropout)
    return weights @ value, weights


@wrong("the built-in")
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    output = F.scaled_dot_product_attention(query, key, value, mask, dropout)
    return output, weights


# --- scaled_dot_product_attention: right ------------------------------------------


@right("einsum")
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    dropped = F.dropout(weights, p=dropout)
    return torch.einsum("...ts,...sd->...td", dropped, value), weights


@right("all in one, masked before scaling")
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    scores = torch.matmul(query, key.transpose(-2, -1))
    if mask is not None:
        scores = scores.masked_fill(mask.logical_not(), -1e20)
    weights = torch.softmax(scores / math.sqrt(key.shape[-1]), dim=-1)
    if mask is not None:
        weights = weights * mask
    return torch.matmul(torch.dropout(weights, dropout, True), value), weights


@right("a module for the dropout, a list for the result")
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    return [torch.nn.Dropout(dropout)(weights) @ value, weights]


@right("a dropout by hand")
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    used = weights
    if dropout > 0:
        kept = torch.rand_like(weights) >= dropout
        used = weights * kept / (1 - dropout)
    return used @ value, weights


@right("a loop over the queries")
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    dropped = F.dropout(weights, dropout)
    rows = [
        (dropped[..., i, :, None] * value).sum(dim=-2) for i in range(query.size(-2))
    ]
    return torch.stack(rows, dim=-2), weights


@right("keys transposed and values folded for a bmm")
def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):
    weights = masked_softmax(attention_scores(query, key), mask)
    w = F.dropout(weights, dropout).flatten(0, -3)
    v = value.flatten(0, -3)
    return torch.bmm(w, v).view(*query.shape[:-1], value.size(-1)), weights


# --- softmax_entropy: wrong -------------------------------------------------------


@wrong("the opposite sign", diagnosed=True)
def softmax_entropy(scores):
    p = scores.softmax(dim=-1)
    return (p * p.clamp(min=1e-30).log()).sum(dim=-1)


@wrong("in bits", diagnosed=True)
def softmax_entropy(scores):
    p = scores.softmax(dim=-1)
    return -(p * p.clamp(min=1e-30).log2()).sum(dim=-1)


@wrong("log10", diagnosed=True)
def softmax_entropy(scores):
    p = scores.softmax(dim=-1)
    return -(p * p.clamp(min=1e-30).log10()).sum(dim=-1)


@wrong("the mean over the keys", diagnosed=True)
def softmax_entropy(scores):
    return torch.special.entr(scores.softmax(dim=-1)).mean(dim=-1)


@wrong("another dimension", diagnosed=True)
def softmax_entropy(scores):
    return torch.special.entr(scores.softmax(dim=-2)).sum(dim=-2)


@wrong("without the softmax", diagnosed=True)
def softmax_entropy(scores):
    return -(scores * scores.log()).sum(dim=-1)


@wrong("NaN for a weight of 0", diagnosed=True)
def softmax_entropy(scores):
    p = scores.softmax(dim=-1)
    return -(p * p.log()).sum(dim=-1)


@wrong("NaN from log-softmax", diagnosed=True, names="NaN for a weight of 0")
def softmax_entropy(scores):
    return -(scores.softmax(dim=-1) * scores.log_softmax(dim=-1)).sum(dim=-1)


@wrong("a softmax that overflows", diagnosed=True, names="overflows")
def softmax_entropy(scores):
    p = scores.exp() / scores.exp().sum(dim=-1, keepdim=True)
    return torch.special.entr(p).sum(dim=-1)


@wrong("one number for everything", diagnosed=True, names="one number for all")
def softmax_entropy(scores):
    return torch.special.entr(scores.softmax(dim=-1)).sum()


@wrong("not weighted", diagnosed=True)
def softmax_entropy(scores):
    return -scores.log_softmax(dim=-1).sum(dim=-1)


# --- softmax_entropy: right -------------------------------------------------------


@right("a small number inside the logarithm")
def softmax_entropy(scores):
    p = torch.softmax(scores, dim=-1)
    return -(p * (p + 1e-9).log()).sum(-1)


@right("where")
def softmax_entropy(scores):
    p = scores.softmax(dim=-1)
    terms = torch.where(p > 0, -p * torch.log(p), torch.zeros_like(p))
    return terms.sum(dim=-1)


@right("xlogy")
def softmax_entropy(scores):
    p = scores.softmax(dim=-1)
    return -torch.xlogy(p, p).sum(dim=-1)


@right("torch.distributions")
def softmax_entropy(scores):
    lowest = torch.finfo(scores.dtype).min
    return torch.distributions.Categorical(logits=scores.clamp(min=lowest)).entropy()


@right("cross-entropy with itself")
def softmax_entropy(scores):
    p = scores.softmax(dim=-1)
    log_p = scores.log_softmax(dim=-1).nan_to_num(neginf=0.0)
    return -(p * log_p).sum(dim=-1)


@right("logsumexp minus the mean score")
def softmax_entropy(scores):
    p = scores.softmax(dim=-1)
    finite = scores.masked_fill(p == 0, 0.0)
    return scores.logsumexp(dim=-1) - (p * finite).sum(dim=-1)

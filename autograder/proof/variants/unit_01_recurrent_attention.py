"""Wrong variants and right styles of unit 01, as students write them."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from autograder.proof.variants import right, wrong
from transformer.recurrent.seq2seq import run_packed

CLASSIFIER = "BiLSTMAttention.forward"


# --- shift_right: wrong -----------------------------------------------------------


@wrong("not shifted at all", diagnosed=True)
def shift_right(tgt, sos_id):
    return tgt.clone()


@wrong("shifted left", diagnosed=True)
def shift_right(tgt, sos_id):
    start = torch.full_like(tgt[:, :1], sos_id)
    return torch.cat([tgt[:, 1:], start], dim=1)


@wrong("first word replaced, not shifted", diagnosed=True)
def shift_right(tgt, sos_id):
    shifted = tgt.clone()
    shifted[:, 0] = sos_id
    return shifted


@wrong("start token and the whole target", diagnosed=True)
def shift_right(tgt, sos_id):
    start = torch.full_like(tgt[:, :1], sos_id)
    return torch.cat([start, tgt], dim=1)


@wrong("no start token", diagnosed=True)
def shift_right(tgt, sos_id):
    return tgt[:, :-1]


@wrong("rolled, the start forgotten", diagnosed=True, names="rolled round")
def shift_right(tgt, sos_id):
    return tgt.roll(1, dims=1)


@wrong("shifted along the batch", diagnosed=True)
def shift_right(tgt, sos_id):
    shifted = tgt.roll(1, dims=0)
    shifted[0] = sos_id
    return shifted


@wrong("backwards", diagnosed=True)
def shift_right(tgt, sos_id):
    start = torch.full_like(tgt[:, :1], sos_id)
    return torch.cat([start, tgt[:, :-1]], dim=1).flip(1)


@wrong("always 2", diagnosed=True)
def shift_right(tgt, sos_id):
    start = torch.full_like(tgt[:, :1], 2)
    return torch.cat([start, tgt[:, :-1]], dim=1)


@wrong("always 0, from zeros_like", diagnosed=True, names="always 0")
def shift_right(tgt, sos_id):
    shifted = torch.zeros_like(tgt)
    shifted[:, 1:] = tgt[:, :-1]
    return shifted


@wrong(
    "in place: the target is overwritten",
    diagnosed=True,
    names="an input is changed in place",
)
def shift_right(tgt, sos_id):
    tgt[:, 1:] = tgt[:, :-1].clone()
    tgt[:, 0] = sos_id
    return tgt


@wrong("floats", diagnosed=True, names="a fixed dtype")
def shift_right(tgt, sos_id):
    start = torch.full((tgt.size(0), 1), float(sos_id))
    return torch.cat([start, tgt[:, :-1].float()], dim=1)


@wrong("start tokens everywhere", diagnosed=True)
def shift_right(tgt, sos_id):
    return torch.full_like(tgt, sos_id)


# --- shift_right: right -----------------------------------------------------------


@right("new_full and cat")
def shift_right(tgt, sos_id):
    return torch.cat([tgt.new_full((len(tgt), 1), sos_id), tgt[:, :-1]], dim=-1)


@right("an empty tensor filled in two steps")
def shift_right(tgt, sos_id):
    shifted = torch.empty_like(tgt)
    shifted[:, 0] = sos_id
    shifted[:, 1:] = tgt[:, :-1]
    return shifted


@right("roll, then the start")
def shift_right(tgt, sos_id):
    shifted = tgt.roll(1, dims=1)
    shifted[:, 0] = sos_id
    return shifted


@right("pad on the left")
def shift_right(tgt, sos_id):
    return F.pad(tgt, (1, 0), value=sos_id)[:, :-1]


@right("a loop over the rows")
def shift_right(tgt, sos_id):
    rows = [[sos_id, *row[:-1]] for row in tgt.tolist()]
    return torch.tensor(rows, device=tgt.device)


@right("where by position")
def shift_right(tgt, sos_id):
    first = torch.arange(tgt.size(1)) == 0
    return torch.where(first, torch.tensor(sos_id), tgt.roll(1, dims=1))


# --- additive_score: wrong --------------------------------------------------------


@wrong("without the tanh", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return (query + keys) @ v


@wrong("tanh after v", diagnosed=True, names="tanh after v")
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return torch.tanh((query + keys) @ v)


@wrong("sigmoid instead of the tanh", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return torch.sigmoid(query + keys) @ v


@wrong("ReLU instead of the tanh", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return F.relu(query + keys) @ v


@wrong("without the state", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    keys = memory @ w_memory.T
    return torch.tanh(keys) @ v


@wrong("without the memory", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return torch.tanh(query.expand_as(keys)) @ v


@wrong("W s times U h", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return torch.tanh(query * keys) @ v


@wrong("W s minus U h", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return torch.tanh(query - keys) @ v


@wrong("one tanh for each term", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return (torch.tanh(query) + torch.tanh(keys)) @ v


@wrong("without v: the hidden units summed", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return torch.tanh(query + keys).sum(dim=-1)


@wrong("without v: the hidden units averaged", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return torch.tanh(query + keys).mean(dim=-1)


@wrong("dot products of W s and U h", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return (query * keys).sum(dim=-1)


@wrong("after a softmax", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return (torch.tanh(query + keys) @ v).softmax(dim=-1)


@wrong("divided by the root of a width", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return torch.tanh(query + keys) @ v / v.numel() ** 0.5


@wrong(
    "the first sentence's state for all",
    diagnosed=True,
    names="the first sentence's state",
)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return torch.tanh(query[:1] + keys) @ v


@wrong("summed over the source positions", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return (torch.tanh(query + keys) @ v).sum(dim=1)


@wrong("a last axis of length 1", diagnosed=True)
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return torch.tanh(query + keys) @ v.unsqueeze(-1)


@wrong("the state not unsqueezed")
def additive_score(state, memory, w_state, w_memory, v):
    query = state @ w_state.T
    return torch.tanh(query + memory @ w_memory.T) @ v


@wrong("detached", diagnosed=True, names="the gradient is cut off")
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return (torch.tanh(query + keys) @ v).detach()


@wrong("turns everything into float32", diagnosed=True, names="a fixed dtype")
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return torch.tanh(query.float() + keys.float()) @ v.float()


@wrong("the memory folded with view", diagnosed=True, names="not contiguous")
def additive_score(state, memory, w_state, w_memory, v):
    keys = memory.view(-1, memory.size(-1)) @ w_memory.T
    keys = keys.view(memory.size(0), memory.size(1), -1)
    query = (state @ w_state.T).unsqueeze(1)
    return torch.tanh(query + keys) @ v


@wrong("squeezed without an axis", diagnosed=True, names="added along the wrong axis")
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    return (torch.tanh(query + keys) @ v.unsqueeze(-1)).squeeze()


@wrong("the states dealt out to the wrong sentences")
def additive_score(state, memory, w_state, w_memory, v):
    b, s, _ = memory.shape
    repeated = (state @ w_state.T).repeat(s, 1).view(b, s, -1)
    return torch.tanh(repeated + memory @ w_memory.T) @ v


# --- additive_score: right --------------------------------------------------------


@right("einsum")
def additive_score(state, memory, w_state, w_memory, v):
    query = torch.einsum("bh,ah->ba", state, w_state)
    keys = torch.einsum("bsm,am->bsa", memory, w_memory)
    return torch.einsum("bsa,a->bs", torch.tanh(query[:, None] + keys), v)


@right("F.linear")
def additive_score(state, memory, w_state, w_memory, v):
    hidden = F.linear(state, w_state).unsqueeze(1) + F.linear(memory, w_memory)
    return F.linear(hidden.tanh(), v.unsqueeze(0)).squeeze(-1)


@right("one matrix for state and memory side by side")
def additive_score(state, memory, w_state, w_memory, v):
    states = state.unsqueeze(1).expand(-1, memory.size(1), -1)
    both = torch.cat([states, memory], dim=-1)
    weight = torch.cat([w_state, w_memory], dim=1)
    return (v * torch.tanh(both @ weight.T)).sum(dim=-1)


@right("a loop over the source")
def additive_score(state, memory, w_state, w_memory, v):
    scores = []
    for j in range(memory.size(1)):
        hidden = state @ w_state.T + memory[:, j] @ w_memory.T
        scores.append(torch.tanh(hidden) @ v)
    return torch.stack(scores, dim=1)


@right("a loop over the batch")
def additive_score(state, memory, w_state, w_memory, v):
    rows = [
        torch.tanh(w_state @ state[i] + memory[i] @ w_memory.T) @ v
        for i in range(len(state))
    ]
    return torch.stack(rows)


@right("bmm with v repeated")
def additive_score(state, memory, w_state, w_memory, v):
    hidden = torch.tanh((state @ w_state.t())[:, None, :] + memory @ w_memory.t())
    column = v.expand(len(state), -1).unsqueeze(-1)
    return torch.bmm(hidden, column).squeeze(2)


@right("a tanh by exponentials")
def additive_score(state, memory, w_state, w_memory, v):
    query = (state @ w_state.T).unsqueeze(1)
    keys = memory @ w_memory.T
    x = query + keys
    return (2 * torch.sigmoid(2 * x) - 1) @ v


# --- attend: wrong ----------------------------------------------------------------


@wrong("a softmax over the batch", diagnosed=True)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=0)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong(
    "softmax without `dim` on (b, s, 1): PyTorch takes the first axis",
    diagnosed=True,
    names="a softmax over the batch",
)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.unsqueeze(-1).softmax(dim=0).squeeze(-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("one softmax over all sentences together", diagnosed=True)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.flatten().softmax(dim=0).view_as(scores)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("the mask is ignored", diagnosed=True)
def attend(scores, values, mask=None):
    weights = scores.softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("masked_fill thrown away", diagnosed=True, names="the mask is ignored")
def attend(scores, values, mask=None):
    if mask is not None:
        scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("an inverted mask", diagnosed=True)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    weights = scores.softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("masking after the softmax without dividing by the new sum", diagnosed=True)
def attend(scores, values, mask=None):
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("masked scores become 0", diagnosed=True)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores * mask
    weights = scores.softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("1e-9 for -1e9", diagnosed=True, names="masked scores become 0")
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, 1e-9)
    weights = scores.softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("masked scores become -1", diagnosed=True)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1)
    weights = scores.softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("NaN where there is nothing to attend to", diagnosed=True)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = scores.softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("equal weights where there is nothing to attend to", diagnosed=True)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("NaN in the gradient", diagnosed=True)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores + mask.to(scores.dtype).log()
    weights = scores.softmax(dim=-1).nan_to_num(0.0)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("the scores, not the weights", diagnosed=True)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return (weights.unsqueeze(1) @ values).squeeze(1), scores


@wrong("the scores as weights", diagnosed=True, names="the scores, not the weights")
def attend(scores, values, mask=None):
    return (scores.unsqueeze(1) @ values).squeeze(1), scores


@wrong("log-softmax", diagnosed=True)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.log_softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("divided by the root of the width", diagnosed=True)
def attend(scores, values, mask=None):
    scores = scores / values.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("the mean of the weighted values", diagnosed=True)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return (weights.unsqueeze(-1) * values).mean(dim=1), weights


@wrong("the mean of the values", diagnosed=True)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return values.mean(dim=1), weights


@wrong("the weighted values, not summed", diagnosed=True)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights.unsqueeze(-1) * values, weights


@wrong("an axis of length 1 left in it", diagnosed=True)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights.unsqueeze(1) @ values, weights


@wrong(
    "weights before the context",
    diagnosed=True,
    names="the results in the opposite order",
)
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights, (weights.unsqueeze(1) @ values).squeeze(1)


@wrong("the context alone", diagnosed=True, names="another number of results")
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return (weights.unsqueeze(1) @ values).squeeze(1)


@wrong("argmax", diagnosed=True, names="argmax")
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = F.one_hot(scores.argmax(-1), scores.size(1)).to(values.dtype)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("squeeze without an axis", diagnosed=True, names="a batch of 1 away")
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return (weights.unsqueeze(1) @ values).squeeze(), weights


@wrong("changed in place", diagnosed=True, names="an input is changed in place")
def attend(scores, values, mask=None):
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    scores.masked_fill_(~mask, -1e9)
    weights = scores.softmax(dim=-1) * mask
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("a softmax by hand that overflows", diagnosed=True, names="overflows")
def attend(scores, values, mask=None):
    e = scores.exp() if mask is None else scores.exp() * mask
    weights = e / (e.sum(dim=-1, keepdim=True) + 1e-12)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("-100 for -1e9", diagnosed=True, names="not low enough")
def attend(scores, values, mask=None):
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = scores.masked_fill(~mask, -100).softmax(dim=-1) * mask
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@wrong("a mask is always expected")
def attend(scores, values, mask=None):
    weights = scores.masked_fill(~mask, -1e9).softmax(dim=-1) * mask
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


# --- attend: right ----------------------------------------------------------------


@right("-1e9, then zeros")
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@right("-inf, and NaN replaced")
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = F.softmax(scores, dim=1).nan_to_num(0.0)
    return torch.einsum("bs,bsd->bd", weights, values), weights


@right("a softmax by hand")
def attend(scores, values, mask=None):
    e = (scores - scores.max(dim=1, keepdim=True).values.detach()).exp()
    if mask is not None:
        e = e * mask
    weights = e / e.sum(dim=1, keepdim=True).clamp(min=1e-30)
    return (weights[:, :, None] * values).sum(dim=1), weights


@right("mask after the softmax, and renormalise")
def attend(scores, values, mask=None):
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@right("values transposed, bmm")
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return torch.bmm(values.transpose(1, 2), weights.unsqueeze(2)).squeeze(2), weights


@right("an additive mask of the lowest number")
def attend(scores, values, mask=None):
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
    lowest = torch.finfo(scores.dtype).min
    bias = torch.zeros_like(scores).masked_fill(~allowed, lowest)
    weights = torch.softmax(scores + bias, dim=-1)
    weights = torch.where(allowed, weights, torch.zeros_like(weights))
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@right("a loop over the batch")
def attend(scores, values, mask=None):
    if mask is None:
        mask = scores == scores
    contexts, rows = [], []
    for score, value, may in zip(scores, values, mask, strict=True):
        row = score.masked_fill(may == 0, -1e30).softmax(0) * may
        rows.append(row)
        contexts.append(row @ value)
    return [torch.stack(contexts), torch.stack(rows)]


@right("an in-place fill of a copy")
def attend(scores, values, mask=None):
    scores = scores.clone()
    if mask is not None:
        scores[~mask] = -1e9
    weights = nn.Softmax(dim=-1)(scores)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0)
    return torch.matmul(weights[:, None, :], values)[:, 0], weights


# --- concat_final_states: wrong ---------------------------------------------------


@wrong(
    "view(-1, 2h), which mixes the batch", diagnosed=True, names="mixes the sentences"
)
def concat_final_states(h_n):
    return h_n.view(-1, 2 * h_n.size(-1))


@wrong("reshape(-1, 2h) of the last layer", diagnosed=True, names="mixes the sentences")
def concat_final_states(h_n):
    return h_n[-2:].reshape(-1, 2 * h_n.size(-1))


@wrong("view(b, -1)", diagnosed=True, names="mixes the sentences")
def concat_final_states(h_n):
    return h_n.contiguous().view(h_n.size(1), -1)


@wrong("the backward state first", diagnosed=True)
def concat_final_states(h_n):
    return torch.cat([h_n[-1], h_n[-2]], dim=-1)


@wrong("the sum of both directions", diagnosed=True)
def concat_final_states(h_n):
    return h_n[-2] + h_n[-1]


@wrong("the mean of both directions", diagnosed=True)
def concat_final_states(h_n):
    return h_n[-2:].mean(dim=0)


@wrong("the first layer's states", diagnosed=True)
def concat_final_states(h_n):
    return torch.cat([h_n[0], h_n[1]], dim=-1)


@wrong("the states of all layers", diagnosed=True)
def concat_final_states(h_n):
    return h_n.transpose(0, 1).reshape(h_n.size(1), -1)


@wrong("the forward state twice", diagnosed=True)
def concat_final_states(h_n):
    return torch.cat([h_n[-2], h_n[-2]], dim=-1)


@wrong("the backward state twice", diagnosed=True)
def concat_final_states(h_n):
    return torch.cat([h_n[-1], h_n[-1]], dim=-1)


@wrong(
    "directions before layers",
    diagnosed=True,
    names="the backward states of two layers",
)
def concat_final_states(h_n):
    h = h_n.view(2, -1, h_n.size(1), h_n.size(2))
    return torch.cat([h[0, -1], h[1, -1]], dim=-1)


@wrong("the first and the last of all states", diagnosed=True)
def concat_final_states(h_n):
    return torch.cat([h_n[0], h_n[-1]], dim=-1)


@wrong("one below the other", diagnosed=True)
def concat_final_states(h_n):
    return torch.cat([h_n[-2], h_n[-1]])


@wrong("the numbers of both directions in turn", diagnosed=True)
def concat_final_states(h_n):
    return torch.stack([h_n[-2], h_n[-1]], dim=-1).flatten(1)


@wrong("detached", diagnosed=True, names="the gradient is cut off")
def concat_final_states(h_n):
    return torch.cat([h_n[-2], h_n[-1]], dim=-1).detach()


@wrong("turned into float32", diagnosed=True, names="a fixed dtype")
def concat_final_states(h_n):
    return torch.cat([h_n[-2], h_n[-1]], dim=-1).float()


@wrong("transposed as it should be, then view")
def concat_final_states(h_n):
    return h_n[-2:].permute(1, 0, 2).view(h_n.size(1), -1)


# --- concat_final_states: right ---------------------------------------------------


@right("transpose, then reshape")
def concat_final_states(h_n):
    return h_n[-2:].transpose(0, 1).reshape(h_n.size(1), -1)


@right("permute, contiguous, view")
def concat_final_states(h_n):
    b, h = h_n.size(1), h_n.size(2)
    return h_n[-2:].permute(1, 0, 2).contiguous().view(b, 2 * h)


@right("layers and directions apart")
def concat_final_states(h_n):
    layers = h_n.unflatten(0, (-1, 2))
    forward, backward = layers[-1]
    return torch.cat((forward, backward), dim=1)


@right("hstack")
def concat_final_states(h_n):
    return torch.hstack([h_n[-2], h_n[-1]])


@right("stack and flatten")
def concat_final_states(h_n):
    return torch.stack([h_n[-2], h_n[-1]], dim=1).flatten(start_dim=1)


@right("a loop over the batch")
def concat_final_states(h_n):
    rows = [torch.cat([h_n[-2, i], h_n[-1, i]]) for i in range(h_n.size(1))]
    return torch.stack(rows)


@right("an empty tensor filled in two steps")
def concat_final_states(h_n):
    h = h_n.size(2)
    joined = h_n.new_empty(h_n.size(1), 2 * h)
    joined[:, :h] = h_n[-2]
    joined[:, h:] = h_n[-1]
    return joined


@right("einops by einsum with the identity")
def concat_final_states(h_n):
    turned = torch.einsum("dbh->bdh", h_n[-2:])
    return turned.flatten(1)


# --- BiLSTMAttention.forward: wrong -----------------------------------------------


@wrong(
    "final_state.view(-1, 2h)",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="mixes the sentences of the batch",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = final.contiguous().view(-1, 2 * final.size(-1))
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@wrong(
    "no source mask",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="attends to padding (no mask)",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states)
    return self.output(context), weights


@wrong(
    "not packed",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="LSTM reads the padding (not packed)",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, (final, _) = self.lstm(self.embedding(ids))
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@wrong(
    "no mask and not packed",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="reads the padding and attends to it",
)
def forward(self, ids):
    states, (final, _) = self.lstm(self.embedding(ids))
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states)
    return self.output(context), weights


@wrong(
    "as in a well-known tutorial: view, not packed, no mask",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="mixes the sentences of the batch",
)
def forward(self, ids):
    states, (final, _) = self.lstm(self.embedding(ids))
    query = final.reshape(-1, 2 * final.size(-1))
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states)
    return self.output(context), weights


@wrong(
    "not packed, and view",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="mixes the sentences of the batch",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, (final, _) = self.lstm(self.embedding(ids))
    query = final.reshape(-1, 2 * final.size(-1))
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@wrong(
    "the output at the last position for a query",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="the output at the last position",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = states[:, -1]
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@wrong(
    "the output at the last word for a query",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="the output at the last word",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    last = mask.sum(dim=1) - 1
    query = states[torch.arange(len(ids)), last]
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@wrong(
    "the output at the first word for a query",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="the output at the first word",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = states[:, 0]
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@wrong(
    "directions swapped",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="directions swapped",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = torch.cat([final[-1], final[-2]], dim=-1)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@wrong(
    "the cell state for a query",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="the cell state",
)
def forward(self, ids):
    mask = ids != self.pad_id
    lengths = mask.sum(dim=1)
    packed = pack_padded_sequence(
        self.embedding(ids), lengths, batch_first=True, enforce_sorted=False
    )
    states, (_, final) = self.lstm(packed)
    states, _ = pad_packed_sequence(states, batch_first=True, total_length=ids.size(1))
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@wrong(
    "scaled",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="divided by the root of the width",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    scores = scores / query.size(-1) ** 0.5
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@wrong(
    "context not fed to the output",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="does not feed the context",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(query), weights


@wrong(
    "context and query summed",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="feeds context and query, summed",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context + query), weights


@wrong(
    "a softmax over the batch",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="softmax runs over the batch",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    weights = scores.masked_fill(~mask, -1e9).softmax(dim=0)
    context = (weights.unsqueeze(1) @ states).squeeze(1)
    return self.output(context), weights


@wrong("equal weights", diagnosed=True, replaces=CLASSIFIER, names="with equal weights")
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    context, weights = attend(states[..., 0] * 0, states, mask)
    return self.output(context), weights


@wrong("1 for the padding, whatever pad_id says", replaces=CLASSIFIER)
def forward(self, ids):
    mask = ids != 1
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@wrong(
    "0 for the padding, whatever pad_id says",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="takes 0 for padding",
)
def forward(self, ids):
    mask = ids != 0
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@wrong(
    "ids as bools for the mask",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="takes 0 for padding",
)
def forward(self, ids):
    mask = ids.bool()
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@wrong("ids above pad_id", replaces=CLASSIFIER)
def forward(self, ids):
    mask = ids > self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@wrong(
    "returns the scores",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="the scores, not the weights",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), scores


@wrong(
    "the logits alone",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="another number of results",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context)


@wrong(
    "detached states",
    diagnosed=True,
    replaces=CLASSIFIER,
    names="the gradient is cut off",
)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    states = states.detach()
    query = query.detach()
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


# --- BiLSTMAttention.forward: right -----------------------------------------------


@right("bmm", replaces=CLASSIFIER)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = torch.bmm(states, query.unsqueeze(2)).squeeze(2)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@right("einsum", replaces=CLASSIFIER)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = torch.einsum("bsh,bh->bs", states, query)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@right("a product, then a sum", replaces=CLASSIFIER)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = (states * query[:, None]).sum(dim=-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@right("pack_padded_sequence by hand", replaces=CLASSIFIER)
def forward(self, ids):
    mask = ids != self.pad_id
    lengths = (ids != self.pad_id).sum(dim=1).cpu()
    packed = pack_padded_sequence(
        self.embedding(ids), lengths, batch_first=True, enforce_sorted=False
    )
    states, (final, _) = self.lstm(packed)
    states, _ = pad_packed_sequence(states, batch_first=True, total_length=ids.size(1))
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@right("all by itself, without attend", replaces=CLASSIFIER)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    scores = scores.masked_fill(~mask, float("-inf"))
    weights = F.softmax(scores, dim=1)
    context = (weights.unsqueeze(-1) * states).sum(dim=1)
    return self.output(context), weights


@right("each sentence alone, in a loop", replaces=CLASSIFIER)
def forward(self, ids):
    logits, weights = [], []
    for row in ids:
        words = row[row != self.pad_id].unsqueeze(0)
        states, (final, _) = self.lstm(self.embedding(words))
        query = torch.cat([final[0], final[1]], dim=-1)
        context, attended = attend((states @ query[0])[..., :], states)
        logits.append(self.output(context))
        weights.append(F.pad(attended, (0, len(row) - words.size(1))))
    return torch.cat(logits), torch.cat(weights)


@right("states gathered at both ends", replaces=CLASSIFIER)
def forward(self, ids):
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    h, last = states.size(-1) // 2, mask.sum(dim=1) - 1
    forward = states[torch.arange(len(ids)), last, :h]
    query = torch.cat([forward, states[:, 0, h:]], dim=-1)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights

"""Wrong variants and right styles of unit 01, as students write them."""

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from autograder.proof.variants import answer, body, drop, insert, swap
from transformer.recurrent.seq2seq import run_packed

# --- shift_right ------------------------------------------------------------------

shift_right = answer("transformer.recurrent.attention.shift_right")
shift_right.with_faults("buffer state default float32 written cpu")
shift_right.wrong("not shifted at all", body("return tgt.clone()"))
shift_right.wrong("shifted left", swap("start, tgt[:, :-1]", "tgt[:, 1:], start"))


@shift_right.wrong("first word replaced, not shifted")
def shift_right(tgt, sos_id):
    shifted = tgt.clone()
    shifted[:, 0] = sos_id
    return shifted


shift_right.wrong("start token and the whole target", swap("tgt[:, :-1]", "tgt"))
shift_right.wrong("without a start token", body("return tgt[:, :-1]"))
shift_right.wrong(
    "rolled, the start forgotten",
    body("return tgt.roll(1, dims=1)"),
    names="rotated by one",
)


@shift_right.wrong("shifted along the batch")
def shift_right(tgt, sos_id):
    shifted = tgt.roll(1, dims=0)
    shifted[0] = sos_id
    return shifted


shift_right.wrong(
    "in reverse order",
    swap("([start, tgt[:, :-1]], dim=1)", "([start, tgt[:, :-1]], dim=1).flip(1)"),
)
shift_right.wrong("always 2", swap("[:, :1], sos_id", "[:, :1], 2"))


@shift_right.wrong("always 0, from zeros_like", names="always 0")
def shift_right(tgt, sos_id):
    shifted = torch.zeros_like(tgt)
    shifted[:, 1:] = tgt[:, :-1]
    return shifted


@shift_right.wrong(
    "in place: the target is overwritten", names="an input is changed in place"
)
def shift_right(tgt, sos_id):
    tgt[:, 1:] = tgt[:, :-1].clone()
    tgt[:, 0] = sos_id
    return tgt


@shift_right.wrong("floats", names="a fixed dtype")
def shift_right(tgt, sos_id):
    start = torch.full((tgt.size(0), 1), float(sos_id))
    return torch.cat([start, tgt[:, :-1].float()], dim=1)


shift_right.wrong(
    "the start token at every position", body("return torch.full_like(tgt, sos_id)")
)


@shift_right.right("new_full and cat")
def shift_right(tgt, sos_id):
    return torch.cat([tgt.new_full((len(tgt), 1), sos_id), tgt[:, :-1]], dim=-1)


@shift_right.right("an empty tensor filled in two steps")
def shift_right(tgt, sos_id):
    shifted = torch.empty_like(tgt)
    shifted[:, 0] = sos_id
    shifted[:, 1:] = tgt[:, :-1]
    return shifted


@shift_right.right("roll, then the start")
def shift_right(tgt, sos_id):
    shifted = tgt.roll(1, dims=1)
    shifted[:, 0] = sos_id
    return shifted


shift_right.right(
    "pad on the left", body("return F.pad(tgt, (1, 0), value=sos_id)[:, :-1]")
)


@shift_right.right("a loop over the rows")
def shift_right(tgt, sos_id):
    rows = [[sos_id, *row[:-1]] for row in tgt.tolist()]
    return torch.tensor(rows, device=tgt.device)


@shift_right.right("where by position")
def shift_right(tgt, sos_id):
    first = torch.arange(tgt.size(1), device=tgt.device) == 0
    return torch.where(first, torch.tensor(sos_id), tgt.roll(1, dims=1))


@shift_right.wrong("kept by shape", names="kept from an earlier call")
def shift_right(tgt, sos_id):
    key = "shift", tuple(tgt.shape)
    if key not in vars(shift_right):
        start = torch.full_like(tgt[:, :1], sos_id)
        vars(shift_right)[key] = torch.cat([start, tgt[:, :-1]], dim=1)
    return vars(shift_right)[key]


shift_right.wrong(
    "short sentences without <eos>",
    body("""
        start = torch.full_like(tgt[:, :1], sos_id)
        return torch.cat([start, tgt[:, :-1].masked_fill(tgt[:, :-1] == 3, 1)], dim=1)
        """),
    names="without the `<eos>` of short sentences",
)
shift_right.wrong(
    "through half precision",
    swap("(tgt[:, :1], sos_id)", "(tgt[:, :1], sos_id).half()"),
    swap("tgt[:, :-1]], dim=1)", "tgt[:, :-1].half()], dim=1).long()"),
    names="cast to float16",
)
shift_right.wrong("zeros", body("return torch.zeros_like(tgt)"), names="zeros in all")
# --- gru_step ---------------------------------------------------------------------

gru_step = answer("transformer.recurrent.cell.gru_step")
NEW_STATE = "update * state + (1 - update) * proposal"
gru_step.wrong(
    "z and 1 - z exchanged",
    swap(NEW_STATE, "(1 - update) * state + update * proposal"),
)
gru_step.wrong(
    "x and state swapped",
    insert("x, state = state, x", before="x_reset,"),
    diagnosed=False,
)
gru_step.wrong(
    "W and U swapped",
    insert("w_x, w_state = w_state, w_x", before="x_reset,"),
    diagnosed=False,
)
gru_step.wrong(
    "reset before U, as in the paper",
    insert("d_h = state.size(1)", before="proposal ="),
    swap("reset * h_new", "(reset * state) @ w_state[-d_h:].T + b_state[-d_h:]"),
    names="before U",
)
gru_step.wrong(
    "b' outside of the reset",
    insert("b_new = b_state.chunk(3)[2]", before="proposal ="),
    swap("reset * h_new", "reset * (h_new - b_new) + b_new"),
    names="outside the product with the reset gate",
)
gru_step.wrong("without the reset gate", swap("reset * h_new", "h_new"))
gru_step.wrong(
    "the reset multiplies W x too",
    swap("(x_new + reset * h_new)", "(reset * (x_new + h_new))"),
    names="also multiplies W x",
)
gru_step.wrong(
    "the update gate's rows first",
    swap("x_reset, x_update", "x_update, x_reset"),
    swap("h_reset, h_update", "h_update, h_reset"),
)
gru_step.wrong(
    "the proposal's rows first",
    swap("x_reset, x_update, x_new", "x_new, x_reset, x_update"),
    swap("h_reset, h_update, h_new", "h_new, h_reset, h_update"),
)


@gru_step.wrong("parts of the last axis in turn", names="interleaved, row by row")
def gru_step(x, state, w_x, w_state, b_x, b_state):
    b, d_h = state.shape
    xs = (x @ w_x.T + b_x).view(b, d_h, 3)
    hs = (state @ w_state.T + b_state).view(b, d_h, 3)
    gates = torch.sigmoid(xs + hs)
    proposal = torch.tanh(xs[..., 2] + gates[..., 0] * hs[..., 2])
    return gates[..., 1] * state + (1 - gates[..., 1]) * proposal


gru_step.wrong(
    "a sigmoid for the tanh",
    swap("tanh", "sigmoid"),
    names="a sigmoid instead of the proposal",
)
gru_step.wrong(
    "a tanh for the sigmoids",
    swap("sigmoid", "tanh", every=True),
    names="a tanh instead of the gates",
)
gru_step.wrong("without the tanh", swap("torch.tanh", ""))
gru_step.wrong("without the biases", swap(" + b_x", ""), swap(" + b_state", ""))
gru_step.wrong("without b_x", swap(" + b_x", ""))
gru_step.wrong("without b_state", swap(" + b_state", ""))
gru_step.wrong(
    "x left out", swap("x @ w_x.T + b_x", "0 * x @ w_x.T"), names="without x"
)
gru_step.wrong(
    "gates of x alone",
    swap("x_reset + h_reset", "x_reset"),
    swap("x_update + h_update", "x_update"),
    names="do not use the old state",
)
gru_step.wrong(
    "gates of the state alone",
    swap("x_reset + h_reset", "h_reset"),
    swap("x_update + h_update", "h_update"),
    names="do not use x",
)
gru_step.wrong("only the proposal", swap(NEW_STATE, "proposal"))
gru_step.wrong("the old state", body("return state.clone()"))
gru_step.wrong("only the old state's share", swap(NEW_STATE, "update * state"))
gru_step.wrong("only the proposal's share", swap(NEW_STATE, "(1 - update) * proposal"))
gru_step.wrong(
    "the whole proposal added",
    swap(NEW_STATE, "update * state + proposal"),
    names="the whole proposal",
)
gru_step.wrong(
    "the whole old state kept",
    swap(NEW_STATE, "state + (1 - update) * proposal"),
    names="the sum of the old state",
)
gru_step.wrong(
    "the first sentence for all",
    swap(NEW_STATE, f"({NEW_STATE})[:1].repeat(len(x), 1)"),
    names="first sentence's new state",
)
gru_step.wrong(
    "the first sentence's old state in every sentence",
    insert("state = state[:1].expand_as(state)", before="x_reset, x_update"),
)
gru_step.wrong("after a second tanh", swap(NEW_STATE, f"torch.tanh({NEW_STATE})"))
gru_step.wrong(
    "squeezed without an axis",
    swap(NEW_STATE, f"({NEW_STATE}).squeeze()"),
    names="`squeeze` without an axis",
)
gru_step.wrong(
    "a sigmoid by hand that overflows",
    swap(
        "reset = torch.sigmoid(x_reset + h_reset)",
        """
        up = (x_reset + h_reset).exp()
        reset = up / (1 + up)
        """,
    ),
    names="overflows",
)
gru_step.wrong(
    "a tanh by hand that overflows",
    swap(
        "proposal = torch.tanh(x_new + reset * h_new)",
        """
        up = (x_new + reset * h_new).exp()
        proposal = (up - 1 / up) / (up + 1 / up)
        """,
    ),
    names="overflows",
)
gru_step.wrong(
    "the state folded with view",
    swap("state @ w_state.T", "state.view(-1).view(len(x), -1) @ w_state.T"),
    names="not contiguous",
)
gru_step.wrong(
    "a gate in float32",
    swap("(x_reset + h_reset)", "((x_reset + h_reset).float()).to(x.dtype)"),
    names="rounded to a different dtype",
)
gru_step.wrong(
    "the old state's share detached",
    swap("update * state", "update * state.detach()"),
    names="only through the gates and the proposal",
)
gru_step.wrong(
    "detached", swap(NEW_STATE, f"({NEW_STATE}).detach()"), names="gradient is cut off"
)
gru_step.wrong(
    "weights through numpy",
    swap("w_x.T", "torch.as_tensor(w_x.detach().numpy()).T"),
    names="the gradient is cut off",
)


@gru_step.wrong("in place", names="an input is changed in place")
def gru_step(x, state, w_x, w_state, b_x, b_state):
    x_reset, x_update, x_new = (x @ w_x.T + b_x).chunk(3, dim=-1)
    h_reset, h_update, h_new = (state @ w_state.T + b_state).chunk(3, dim=-1)
    update = torch.sigmoid(x_update + h_update)
    proposal = torch.tanh(x_new + torch.sigmoid(x_reset + h_reset) * h_new)
    state *= update
    state += (1 - update) * proposal
    return state


gru_step.wrong(
    "the state kept",
    insert(
        'state = vars(gru_step).setdefault(("state", x.shape), state)',
        before="x_reset, x_update",
    ),
    names="the old state from an earlier call",
)
gru_step.wrong("zeros", body("return torch.zeros_like(state)"), names="zeros in all")
gru_step.wrong(
    "PyTorch's cell",
    body("return torch.gru_cell(x, state, w_x, w_state, b_x, b_state)"),
    names="a call that is the whole answer",
)


@gru_step.wrong("nn.GRUCell", names="a call that is the whole answer")
def gru_step(x, state, w_x, w_state, b_x, b_state):
    cell = nn.GRUCell(x.size(1), state.size(1), dtype=x.dtype)
    names = [name for name, _ in cell.named_parameters()]
    weights = dict(zip(names, (w_x, w_state, b_x, b_state), strict=True))
    return torch.func.functional_call(cell, weights, (x, state))


@gru_step.wrong("nn.GRU over one word", names="a call that is the whole answer")
def gru_step(x, state, w_x, w_state, b_x, b_state):
    layer = nn.GRU(x.size(1), state.size(1), batch_first=True, dtype=x.dtype)
    names = [name for name, _ in layer.named_parameters()]
    weights = dict(zip(names, (w_x, w_state, b_x, b_state), strict=True))
    given = x[:, None].contiguous(), state[None].contiguous()
    return torch.func.functional_call(layer, weights, given)[1][0]


@gru_step.right("F.linear and split")
def gru_step(x, state, w_x, w_state, b_x, b_state):
    d_h = state.shape[-1]
    i_r, i_z, i_n = F.linear(x, w_x, b_x).split(d_h, dim=1)
    h_r, h_z, h_n = F.linear(state, w_state, b_state).split(d_h, dim=1)
    r, z = torch.sigmoid(i_r + h_r), torch.sigmoid(i_z + h_z)
    n = torch.tanh(i_n + r * h_n)
    return n + z * (state - n)


@gru_step.right("a matrix for each gate")
def gru_step(x, state, w_x, w_state, b_x, b_state):
    (w_r, w_z, w), (u_r, u_z, u) = w_x.chunk(3), w_state.chunk(3)
    (b_r, b_z, b), (c_r, c_z, c) = b_x.chunk(3), b_state.chunk(3)
    r = (x @ w_r.T + b_r + state @ u_r.T + c_r).sigmoid()
    z = (x @ w_z.T + b_z + state @ u_z.T + c_z).sigmoid()
    return z * state + (1 - z) * (x @ w.T + b + r * (state @ u.T + c)).tanh()


@gru_step.right("both gates at once, x and state side by side")
def gru_step(x, state, w_x, w_state, b_x, b_state):
    d_h = state.size(1)
    both = torch.cat([w_x[: 2 * d_h], w_state[: 2 * d_h]], dim=1)
    sums = torch.cat([x, state], dim=1) @ both.T + (b_x + b_state)[: 2 * d_h]
    r, z = sums.sigmoid().chunk(2, dim=1)
    of_state = state @ w_state[2 * d_h :].T + b_state[2 * d_h :]
    n = torch.tanh(x @ w_x[2 * d_h :].T + b_x[2 * d_h :] + r * of_state)
    return torch.lerp(n, state, z)


@gru_step.right("a loop over the batch, einsum")
def gru_step(x, state, w_x, w_state, b_x, b_state):
    rows = []
    for word, old in zip(x, state, strict=True):
        i = (torch.einsum("i,ji->j", word, w_x) + b_x).view(3, -1)
        h = (torch.einsum("i,ji->j", old, w_state) + b_state).view(3, -1)
        r, z = torch.sigmoid(i[:2] + h[:2])
        n = torch.tanh(i[2] + r * h[2])
        rows.append((1 - z) * n + z * old)
    return torch.stack(rows)


gru_step.right(
    "a sigmoid by hand, with the sign that copes",
    swap("torch.sigmoid(x_reset + h_reset)", "1 / (1 + (-x_reset - h_reset).exp())"),
)
gru_step.right(
    "a tanh by a sigmoid",
    swap("torch.tanh", "2 * torch.sigmoid"),
    swap("(x_new + reset * h_new)", "(2 * (x_new + reset * h_new)) - 1"),
)
gru_step.right(
    "a gate by tanh",
    swap("torch.sigmoid(x_update + h_update)", "(1 + update.tanh()) / 2"),
    insert("update = (x_update + h_update) / 2", before="update = (1"),
)
gru_step.right("tensor_split", swap("chunk", "tensor_split", every=True))
gru_step.right(
    "unflatten", swap(".chunk(3, dim=-1)", ".unflatten(-1, (3, -1)).unbind(1)", True)
)


@gru_step.right("an empty tensor, filled in place")
def gru_step(x, state, w_x, w_state, b_x, b_state):
    d_h = state.size(1)
    i, h = x.matmul(w_x.t()).add(b_x), state.matmul(w_state.t()).add(b_state)
    gates = torch.sigmoid(i[:, : 2 * d_h] + h[:, : 2 * d_h])
    new = torch.empty_like(state)
    r, z = gates[:, :d_h], gates[:, d_h:]
    new[:] = (1 - z) * torch.tanh(i[:, 2 * d_h :] + r * h[:, 2 * d_h :])
    new += z * state
    return new


# --- additive_score ---------------------------------------------------------------

additive_score = answer("transformer.recurrent.attention.additive_score")
additive_score.with_faults(
    "kept buffer state default detached float32 rounded written cpu"
)
additive_score.wrong("without the tanh", swap("return torch.tanh", "return"))
additive_score.wrong(
    "state and memory swapped",
    insert("state, memory = memory, state", before="query ="),
    diagnosed=False,
)
additive_score.wrong(
    "W and U swapped",
    insert("w_state, w_memory = w_memory, w_state", before="query ="),
    diagnosed=False,
)
additive_score.wrong("tanh after v", swap("(query + keys) @ v", "((query + keys) @ v)"))
additive_score.wrong("sigmoid instead of the tanh", swap("tanh", "sigmoid"))
additive_score.wrong("ReLU instead of the tanh", swap("torch.tanh", "F.relu"))
additive_score.wrong(
    "without the state", body("return torch.tanh(memory @ w_memory.T) @ v")
)
additive_score.wrong("without the memory", swap("+ keys", ".expand_as(keys)"))
additive_score.wrong("W g times U h", swap("+ keys", "* keys"))
additive_score.wrong("W g minus U h", swap("+ keys", "- keys"))
additive_score.wrong(
    "one tanh for each term",
    swap("torch.tanh(query + keys)", "(torch.tanh(query) + torch.tanh(keys))"),
)
additive_score.wrong(
    "without v: the sum of the hidden units", swap("@ v", ".sum(dim=-1)")
)
additive_score.wrong(
    "without v: the mean of the hidden units", swap("@ v", ".mean(dim=-1)")
)
additive_score.wrong(
    "dot products of W g and U h",
    swap("torch.tanh(query + keys) @ v", "(query * keys).sum(dim=-1)"),
)
additive_score.wrong(
    "after a softmax",
    swap(
        "return torch.tanh(query + keys) @ v",
        "return (torch.tanh(query + keys) @ v).softmax(dim=-1)",
    ),
)
additive_score.wrong(
    "divided by the square root of a width", swap("@ v", "@ v / v.numel() ** 0.5")
)
additive_score.wrong(
    "the first sentence's state for all",
    swap("+ keys", "[:1] + keys"),
    names="the first sentence's state",
)
additive_score.wrong(
    "summed over the source positions",
    swap(
        "return torch.tanh(query + keys) @ v",
        "return (torch.tanh(query + keys) @ v).sum(dim=1)",
    ),
)
additive_score.wrong("a last axis of length 1", swap("@ v", "@ v.unsqueeze(-1)"))
additive_score.wrong(
    "the state not unsqueezed",
    body("return torch.tanh(state @ w_state.T + memory @ w_memory.T) @ v"),
    names="added along the source positions",
)
additive_score.wrong(
    "detached",
    swap(
        "return torch.tanh(query + keys) @ v",
        "return (torch.tanh(query + keys) @ v).detach()",
    ),
    names="the gradient is cut off",
)


@additive_score.wrong("the memory folded with view", names="not contiguous")
def additive_score(state, memory, w_state, w_memory, v):
    keys = memory.view(-1, memory.size(-1)) @ w_memory.T
    keys = keys.view(memory.size(0), memory.size(1), -1)
    query = (state @ w_state.T).unsqueeze(1)
    return torch.tanh(query + keys) @ v


additive_score.wrong(
    "squeezed without an axis",
    swap(
        "return torch.tanh(query + keys) @ v",
        "return (torch.tanh(query + keys) @ v[:, None]).squeeze()",
    ),
    names="`squeeze` without an axis",
)


@additive_score.wrong(
    "the states assigned to the wrong sentences", names="states assigned"
)
def additive_score(state, memory, w_state, w_memory, v):
    b, s, _ = memory.shape
    repeated = (state @ w_state.T).repeat(s, 1).view(b, s, -1)
    return torch.tanh(repeated + memory @ w_memory.T) @ v


@additive_score.right("einsum")
def additive_score(state, memory, w_state, w_memory, v):
    query = torch.einsum("bh,ah->ba", state, w_state)
    keys = torch.einsum("bsm,am->bsa", memory, w_memory)
    return torch.einsum("bsa,a->bs", torch.tanh(query[:, None] + keys), v)


@additive_score.right("F.linear")
def additive_score(state, memory, w_state, w_memory, v):
    hidden = F.linear(state, w_state).unsqueeze(1) + F.linear(memory, w_memory)
    return F.linear(hidden.tanh(), v.unsqueeze(0)).squeeze(-1)


@additive_score.right("one matrix for state and memory side by side")
def additive_score(state, memory, w_state, w_memory, v):
    states = state.unsqueeze(1).expand(-1, memory.size(1), -1)
    both = torch.cat([states, memory], dim=-1)
    weight = torch.cat([w_state, w_memory], dim=1)
    return (v * torch.tanh(both @ weight.T)).sum(dim=-1)


@additive_score.right("a loop over the source")
def additive_score(state, memory, w_state, w_memory, v):
    scores = []
    for j in range(memory.size(1)):
        hidden = state @ w_state.T + memory[:, j] @ w_memory.T
        scores.append(torch.tanh(hidden) @ v)
    return torch.stack(scores, dim=1)


@additive_score.right("a loop over the batch")
def additive_score(state, memory, w_state, w_memory, v):
    rows = [
        torch.tanh(w_state @ state[i] + memory[i] @ w_memory.T) @ v
        for i in range(len(state))
    ]
    return torch.stack(rows)


@additive_score.right("bmm with v repeated")
def additive_score(state, memory, w_state, w_memory, v):
    hidden = torch.tanh((state @ w_state.t())[:, None, :] + memory @ w_memory.t())
    column = v.expand(len(state), -1).unsqueeze(-1)
    return torch.bmm(hidden, column).squeeze(2)


additive_score.right(
    "a tanh by exponentials",
    swap("torch.tanh(query + keys)", "(2 * torch.sigmoid(2 * (query + keys)) - 1)"),
)


@additive_score.wrong("the memory's part kept", names="the memory from an earlier call")
def additive_score(state, memory, w_state, w_memory, v):
    if (
        "memory" not in vars(additive_score)
        or vars(additive_score)["memory"].shape != memory.shape
    ):
        vars(additive_score)["memory"] = memory
    query = (state @ w_state.T).unsqueeze(1)
    return torch.tanh(query + vars(additive_score)["memory"] @ w_memory.T) @ v


additive_score.wrong(
    "a tanh by hand that overflows",
    swap(
        "return torch.tanh(query + keys) @ v",
        """
        up, down = (query + keys).exp(), (-query - keys).exp()
        return ((up - down) / (up + down)) @ v
        """,
    ),
    names="overflows",
)
additive_score.wrong(
    "the query detached",
    swap(".unsqueeze(1)", ".unsqueeze(1).detach()"),
    names="the gradient is cut off",
)
additive_score.wrong(
    "v detached", swap("@ v", "@ v.detach()"), names="the gradient is cut off"
)
additive_score.wrong(
    "through numpy",
    swap(
        "return torch.tanh(query + keys) @ v",
        "return torch.tanh(query + keys) @ torch.as_tensor(v.detach().numpy())",
    ),
    names="the gradient is cut off",
)
additive_score.wrong(
    "zeros", body("return torch.zeros(memory.shape[:2])"), names="zeros in all"
)

# --- attend -----------------------------------------------------------------------

attend = answer(
    "transformer.recurrent.attention.attend",
    body("""
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(dim=-1)
        if mask is not None:
            weights = weights * mask
        return (weights.unsqueeze(1) @ values).squeeze(1), weights
        """),
)
attend.wrong(
    "scores and values swapped",
    insert("scores, values = values, scores", before="weights = scores"),
    diagnosed=False,
)
attend.wrong(
    "weights and values swapped in the product",
    swap(
        "(weights.unsqueeze(1) @ values).squeeze(1)",
        "(values @ weights.unsqueeze(1)).squeeze(1)",
    ),
    diagnosed=False,
)
without_zeros = answer(
    "transformer.recurrent.attention.attend",
    body("""
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        weights = scores.softmax(dim=-1)
        return (weights.unsqueeze(1) @ values).squeeze(1), weights
        """),
)
answer("transformer.recurrent.attention.attend").with_faults(
    "kept buffer state default detached float32 rounded written cpu"
)
without_zeros.wrong("a softmax over the batch", swap("-1", "0"))
without_zeros.wrong(
    "softmax without `dim` on (b, s, 1): PyTorch takes the first axis",
    swap("softmax(dim=-1)", "unsqueeze(-1).softmax(dim=0).squeeze(-1)"),
    names="a softmax over the batch",
)
without_zeros.wrong(
    "one softmax over all sentences together",
    swap("softmax(dim=-1)", "flatten().softmax(dim=0).view_as(scores)"),
)


@attend.wrong("the mask is ignored")
def attend(scores, values, mask=None):
    weights = scores.softmax(dim=-1)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


without_zeros.wrong(
    "masked_fill thrown away",
    swap("scores = scores", "scores"),
    names="the mask is ignored",
)
without_zeros.wrong("an inverted mask", swap("~mask", "mask"))
attend.wrong(
    "masking after the softmax without dividing by the new sum",
    drop("""
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        """),
)
without_zeros.wrong(
    "masked scores become 0", swap(".masked_fill(~mask, -1e9)", "* mask")
)
without_zeros.wrong(
    "1e-9 for -1e9", swap("-1e9", "1e-9"), names="masked scores become 0"
)
without_zeros.wrong("masked scores become -1", swap("1e9", "1"))
without_zeros.wrong(
    "NaN where there is nothing to attend to", swap("-1e9", 'float("-inf")')
)
attend.wrong(
    "equal weights where there is nothing to attend to",
    drop("""
        if mask is not None:
            weights = weights * mask
        """),
)
without_zeros.wrong(
    "NaN in the gradient",
    swap(".masked_fill(~mask, -1e9)", "+ mask.to(scores.dtype).log()"),
    swap("(dim=-1)", "(dim=-1).nan_to_num(0.0)"),
)
attend.wrong("the scores, not the weights", swap("(1), weights", "(1), scores"))
attend.wrong(
    "the scores as weights",
    body("return (scores.unsqueeze(1) @ values).squeeze(1), scores"),
    names="the scores, not the weights",
)
without_zeros.wrong("log-softmax", swap("softmax", "log_softmax"))


@attend.wrong("divided by the square root of the width")
def attend(scores, values, mask=None):
    scores = scores / values.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


attend.wrong(
    "the mean of the weighted values",
    swap(
        "(weights.unsqueeze(1) @ values).squeeze(1)",
        "(weights.unsqueeze(-1) * values).mean(dim=1)",
    ),
)
attend.wrong(
    "the mean of the values",
    swap("(weights.unsqueeze(1) @ values).squeeze(1)", "values.mean(dim=1)"),
)
attend.wrong(
    "the weighted values, not summed",
    swap(
        "(weights.unsqueeze(1) @ values).squeeze(1)", "weights.unsqueeze(-1) * values"
    ),
)


@attend.wrong("an extra axis of length 1")
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights.unsqueeze(1) @ values, weights


attend.wrong(
    "weights before the context",
    swap("return", "return weights,"),
    swap("(1), weights", "(1)"),
    names="the results in the opposite order",
)
attend.wrong(
    "the context alone",
    swap("(1), weights", "(1)"),
    names="a different number of results",
)
without_zeros.wrong(
    "argmax",
    swap(
        "scores.softmax(dim=-1)",
        "F.one_hot(scores.argmax(-1), scores.size(1)).to(values.dtype)",
    ),
)
attend.wrong(
    "squeeze without an axis",
    swap("squeeze(1)", "squeeze()"),
    names="removes the axis of a batch of 1",
)


@attend.wrong("changed in place", names="an input is changed in place")
def attend(scores, values, mask=None):
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    scores.masked_fill_(~mask, -1e9)
    weights = scores.softmax(dim=-1) * mask
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@attend.wrong("a softmax by hand that overflows", names="overflows")
def attend(scores, values, mask=None):
    e = scores.exp() if mask is None else scores.exp() * mask
    weights = e / (e.sum(dim=-1, keepdim=True) + 1e-12)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@attend.wrong("-100 for -1e9", names="not low enough")
def attend(scores, values, mask=None):
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    weights = scores.masked_fill(~mask, -100).softmax(dim=-1) * mask
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


attend.wrong("-10000 for -1e9", swap("-1e9", "-1e4"), names="not low enough")
attend.wrong(
    "the largest score of the batch subtracted",
    body("""
        e = (scores - scores.max()).exp()
        if mask is not None:
            e = e * mask
        weights = e / e.sum(dim=1, keepdim=True).clamp(min=1e-30)
        return (weights.unsqueeze(1) @ values).squeeze(1), weights
        """),
    names="the largest score of the batch",
)
attend.wrong(
    "weights of 1e-6 at least",
    swap("return (", "weights = weights.clamp(min=1e-6)\nreturn ("),
    names="nearly 0, not 0",
)
attend.wrong(
    "the first sentence's mask for all",
    insert("mask = mask[:1].expand_as(mask)", before="scores = scores"),
    names="first sentence's mask for every",
)


@attend.wrong("the mask of the first call kept", names="the mask from an earlier call")
def attend(scores, values, mask=None):
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    else:
        mask = vars(attend).setdefault(("mask", tuple(mask.shape)), mask)
    weights = scores.masked_fill(~mask, -1e9).softmax(dim=-1) * mask
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


attend.wrong(
    "the mask inverted in place, and back",
    swap("~mask", "mask.logical_not_()"),
    swap("weights * mask", "weights * mask.logical_not_()"),
    names="changed in place",
)
attend.wrong(
    "a softmax in float32",
    swap("scores.softmax(dim=-1)", "scores.float().softmax(dim=-1).to(values.dtype)"),
    names="rounded to a different dtype",
)
attend.wrong(
    "the weights detached",
    swap("weights.unsqueeze(1)", "weights.detach().unsqueeze(1)"),
    names="the gradient is cut off",
)
attend.wrong(
    "zeros",
    body("return torch.zeros_like(values[:, 0]), torch.zeros_like(scores)"),
    names="zeros in all",
)
attend.wrong(
    "the mean of the values, equal weights",
    body("return values.mean(dim=1), torch.ones_like(scores) / scores.size(1)"),
    names="equal weights",
)


@attend.wrong("a mask is always expected", names="fails without a mask")
def attend(scores, values, mask=None):
    weights = scores.masked_fill(~mask, -1e9).softmax(dim=-1) * mask
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


without_zeros.right(
    "-1e9, then zeros",
    insert(
        """
        if mask is not None:
            weights = weights * mask
        """,
        before="return (",
    ),
)


@attend.right("-inf, and NaN replaced")
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = F.softmax(scores, dim=1).nan_to_num(0.0)
    return torch.einsum("bs,bsd->bd", weights, values), weights


@attend.right("the exponential of scores without their logsumexp")
def attend(scores, values, mask=None):
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = (scores - scores.logsumexp(dim=1, keepdim=True)).exp()
    weights = weights if mask is None else weights * mask
    return torch.einsum("bs,bsd->bd", weights, values), weights


@attend.right("a softmax by hand")
def attend(scores, values, mask=None):
    e = (scores - scores.max(dim=1, keepdim=True).values.detach()).exp()
    if mask is not None:
        e = e * mask
    weights = e / e.sum(dim=1, keepdim=True).clamp(min=1e-30)
    return (weights[:, :, None] * values).sum(dim=1), weights


@attend.right("mask after the softmax, and renormalise")
def attend(scores, values, mask=None):
    weights = scores.softmax(dim=-1)
    if mask is not None:
        weights = weights * mask
        weights = weights / weights.sum(-1, keepdim=True).clamp(min=1e-30)
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


attend.right(
    "values transposed, bmm",
    swap(
        "(weights.unsqueeze(1) @ values).squeeze(1)",
        "torch.bmm(values.transpose(1, 2), weights.unsqueeze(2)).squeeze(2)",
    ),
)


@attend.right("an additive mask of the lowest number")
def attend(scores, values, mask=None):
    allowed = torch.ones_like(scores, dtype=torch.bool) if mask is None else mask
    lowest = torch.finfo(scores.dtype).min
    bias = torch.zeros_like(scores).masked_fill(~allowed, lowest)
    weights = torch.softmax(scores + bias, dim=-1)
    weights = torch.where(allowed, weights, torch.zeros_like(weights))
    return (weights.unsqueeze(1) @ values).squeeze(1), weights


@attend.right("a loop over the batch")
def attend(scores, values, mask=None):
    if mask is None:
        mask = scores == scores
    contexts, rows = [], []
    for score, value, may in zip(scores, values, mask, strict=True):
        row = score.masked_fill(may == 0, -1e30).softmax(0) * may
        rows.append(row)
        contexts.append(row @ value)
    return [torch.stack(contexts), torch.stack(rows)]


@attend.right("an in-place fill of a copy")
def attend(scores, values, mask=None):
    scores = scores.clone()
    if mask is not None:
        scores[~mask] = -1e9
    weights = nn.Softmax(dim=-1)(scores)
    if mask is not None:
        weights = weights.masked_fill(~mask, 0)
    return torch.matmul(weights[:, None, :], values)[:, 0], weights


# --- concat_final_states ----------------------------------------------------------

concat_final_states = answer("transformer.recurrent.attention.concat_final_states")
concat_final_states.with_faults(
    "kept buffer state default detached float32 rounded written cpu"
)
concat_final_states.wrong(
    "view(-1, 2h), which mixes the batch",
    body("return h_n.view(-1, 2 * h_n.size(-1))"),
    names="mixes the sentences",
)
concat_final_states.wrong(
    "reshape(-1, 2h) of the last layer",
    body("return h_n[-2:].reshape(-1, 2 * h_n.size(-1))"),
    names="mixes the sentences",
)
concat_final_states.wrong(
    "view(b, -1)",
    body("return h_n.contiguous().view(h_n.size(1), -1)"),
    names="mixes the sentences",
)
concat_final_states.wrong(
    "the backward state first", body("return torch.cat([h_n[-1], h_n[-2]], dim=-1)")
)
concat_final_states.wrong(
    "the sum of both directions", body("return h_n[-2] + h_n[-1]")
)
concat_final_states.wrong(
    "the mean of both directions", body("return h_n[-2:].mean(dim=0)")
)
concat_final_states.wrong(
    "the first layer's states", body("return torch.cat([h_n[0], h_n[1]], dim=-1)")
)
concat_final_states.wrong(
    "the states of all layers",
    body("return h_n.transpose(0, 1).reshape(h_n.size(1), -1)"),
)
concat_final_states.wrong(
    "the forward state twice", body("return torch.cat([h_n[-2], h_n[-2]], dim=-1)")
)
concat_final_states.wrong(
    "the backward state twice", body("return torch.cat([h_n[-1], h_n[-1]], dim=-1)")
)


@concat_final_states.wrong(
    "directions before layers", names="last state in each half of the layers"
)
def concat_final_states(h_n):
    h = h_n.view(2, -1, h_n.size(1), h_n.size(2))
    return torch.cat([h[0, -1], h[1, -1]], dim=-1)


concat_final_states.wrong(
    "the first and the last of all states",
    body("return torch.cat([h_n[0], h_n[-1]], dim=-1)"),
)
concat_final_states.wrong(
    "below each other", body("return torch.cat([h_n[-2], h_n[-1]])")
)
concat_final_states.wrong(
    "the numbers of both directions, alternating",
    body("return torch.stack([h_n[-2], h_n[-1]], dim=-1).flatten(1)"),
)
concat_final_states.wrong(
    "detached",
    body("return torch.cat([h_n[-2], h_n[-1]], dim=-1).detach()"),
    names="the gradient is cut off",
)
concat_final_states.wrong(
    "transposed as it should be, then view",
    body("return h_n[-2:].permute(1, 0, 2).view(h_n.size(1), -1)"),
    names="not contiguous",
)
concat_final_states.wrong(
    "the second layer at most",
    body("""
        last = min(len(h_n), 4)
        return torch.cat([h_n[last - 2], h_n[last - 1]], dim=-1)
        """),
    names="the second layer's states",
)


concat_final_states.wrong(
    "made on the CPU",
    body("""
        joined = torch.zeros(h_n.size(1), 2 * h_n.size(2), dtype=h_n.dtype)
        joined[:, : h_n.size(2)] = h_n[-2]
        joined[:, h_n.size(2) :] = h_n[-1]
        return joined
        """),
    names="made on the CPU",
)
concat_final_states.wrong(
    "the backward states detached",
    swap("[forward, backward]", "[forward, backward.detach()]"),
    names="only the forward states",
)
concat_final_states.wrong(
    "zeros",
    body("return torch.zeros(h_n.size(1), 2 * h_n.size(2))"),
    names="zeros in all",
)
concat_final_states.right(
    "transpose, then reshape",
    body("return h_n[-2:].transpose(0, 1).reshape(h_n.size(1), -1)"),
)


@concat_final_states.right("permute, contiguous, view")
def concat_final_states(h_n):
    b, h = h_n.size(1), h_n.size(2)
    return h_n[-2:].permute(1, 0, 2).contiguous().view(b, 2 * h)


concat_final_states.right(
    "layers and directions apart",
    swap("[-2], h_n", ".unflatten(0, (-1, 2))"),
    swap("[forward, backward], dim=-", "(forward, backward), dim="),
)
concat_final_states.right("hstack", body("return torch.hstack([h_n[-2], h_n[-1]])"))
concat_final_states.right(
    "stack and flatten",
    body("return torch.stack([h_n[-2], h_n[-1]], dim=1).flatten(start_dim=1)"),
)


@concat_final_states.right("a loop over the batch")
def concat_final_states(h_n):
    rows = [torch.cat([h_n[-2, i], h_n[-1, i]]) for i in range(h_n.size(1))]
    return torch.stack(rows)


@concat_final_states.right("an empty tensor filled in two steps")
def concat_final_states(h_n):
    h = h_n.size(2)
    joined = h_n.new_empty(h_n.size(1), 2 * h)
    joined[:, :h] = h_n[-2]
    joined[:, h:] = h_n[-1]
    return joined


concat_final_states.right(
    "einops by einsum with the identity",
    body('return torch.einsum("dbh->bdh", h_n[-2:]).flatten(1)'),
)

# --- BiLSTMAttention --------------------------------------------------------------

bilstm_attention = answer("transformer.recurrent.attention.BiLSTMAttention.forward")
bilstm_attention.wrong(
    "final_state.view(-1, 2h)",
    swap(
        "concat_final_states(final)", "final.contiguous().view(-1, 2 * final.size(-1))"
    ),
    names="mixes the sentences of the batch",
)
bilstm_attention.wrong(
    "no source mask",
    swap("states, mask", "states"),
    names="attends to padding (no mask)",
)
bilstm_attention.wrong(
    "scores and states swapped",
    swap("attend(scores, states, mask)", "attend(states, scores, mask)"),
    diagnosed=False,
)
bilstm_attention.wrong(
    "words and mask swapped",
    swap("self.embedding(ids), mask)", "mask, self.embedding(ids))"),
    diagnosed=False,
)
bilstm_attention.wrong(
    "query and states swapped in the product",
    swap(
        "(states @ query.unsqueeze(-1)).squeeze(-1)",
        "(query.unsqueeze(-1) @ states).squeeze(-1)",
    ),
    diagnosed=False,
)
ATTENDED = "context, weights = attend(scores, states, mask)"
BEHIND = """
weights = scores.softmax(dim=-1).masked_fill(~mask, 0.0)
context = (weights.unsqueeze(1) @ states).squeeze(1)
"""
bilstm_attention.wrong(
    "the mask after the softmax, without dividing by the new sum",
    swap(ATTENDED, BEHIND),
    names="masks after the softmax without dividing",
)
bilstm_attention.wrong(
    "the mask after the softmax, for the weights alone",
    swap(
        ATTENDED,
        """
        context, weights = attend(scores, states)
        weights = weights * mask
        """,
    ),
    names="masks after the softmax without dividing",
)
bilstm_attention.wrong(
    "the mask multiplied with the scores",
    swap("attend(scores, states, mask)", "attend(scores * mask, states)"),
    names="attends to padding (no mask)",
)
bilstm_attention.wrong(
    "an inverted mask",
    swap("states, mask", "states, ~mask"),
    names="with an inverted mask",
)
bilstm_attention.wrong(
    "an inverted mask, filled by hand",
    swap(
        ATTENDED,
        """
        weights = scores.masked_fill(mask, float("-inf")).softmax(dim=-1)
        context = (weights.unsqueeze(1) @ states).squeeze(1)
        """,
    ),
    names="with an inverted mask",
)
bilstm_attention.wrong(
    "an inverted mask, filled by hand with -1e9",
    swap(
        ATTENDED,
        """
        weights = scores.masked_fill(mask, -1e9).softmax(dim=-1)
        context = (weights.unsqueeze(1) @ states).squeeze(1)
        """,
    ),
    names="with an inverted mask",
)
bilstm_attention.wrong(
    "an inverted mask, for the LSTM too",
    swap("!= self", "== self"),
    names="with an inverted mask",
)
bilstm_attention.wrong(
    "not packed",
    swap(
        "final = run_packed(self.lstm, self.embedding(ids), mask)",
        "(final, _) = self.lstm(self.embedding(ids))",
    ),
    names="LSTM reads the padding (not packed)",
)
bilstm_attention.wrong(
    "no mask and not packed",
    swap(
        "states, final = run_packed(self.lstm, self.embedding(ids), mask)",
        "states, (final, _) = self.lstm(self.embedding(ids))",
    ),
    swap("attend(scores, states, mask)", "attend(scores, states)"),
    names="reads the padding and attends to it",
)
bilstm_attention.wrong(
    "as in a well-known tutorial: view, not packed, no mask",
    swap(
        "states, final = run_packed(self.lstm, self.embedding(ids), mask)",
        "states, (final, _) = self.lstm(self.embedding(ids))",
    ),
    swap("concat_final_states(final)", "final.reshape(-1, 2 * final.size(-1))"),
    swap("attend(scores, states, mask)", "attend(scores, states)"),
    names="mixes the sentences of the batch",
)
bilstm_attention.wrong(
    "not packed, and view",
    swap(
        "final = run_packed(self.lstm, self.embedding(ids), mask)",
        "(final, _) = self.lstm(self.embedding(ids))",
    ),
    swap("concat_final_states(final)", "final.reshape(-1, 2 * final.size(-1))"),
    names="mixes the sentences of the batch",
)
bilstm_attention.wrong(
    "the output at the last position for a query",
    swap("concat_final_states(final)", "states[:, -1]"),
    names="the output at the last position",
)
bilstm_attention.wrong(
    "the output at the last word for a query",
    swap(
        "concat_final_states(final)",
        "states[torch.arange(len(ids)), mask.sum(dim=1) - 1]",
    ),
    names="the output at the last word",
)
bilstm_attention.wrong(
    "the output at the first word for a query",
    swap("concat_final_states(final)", "states[:, 0]"),
    names="the output at the first word",
)
bilstm_attention.wrong(
    "directions swapped",
    swap("concat_final_states(final)", "torch.cat([final[-1], final[-2]], dim=-1)"),
)


@bilstm_attention.wrong("the cell state for a query", names="the cell state")
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


bilstm_attention.wrong(
    "scaled",
    insert("scores = scores / query.size(-1) ** 0.5", before="context,"),
    names="divided by the square root of the width",
)
bilstm_attention.wrong(
    "context not fed to the output",
    swap("(context)", "(query)"),
    names="does not feed the context",
)
bilstm_attention.wrong(
    "context and query summed",
    swap("(context)", "(context + query)"),
    names="feeds the sum of context and query",
)
bilstm_attention.wrong(
    "a softmax over the batch",
    swap(
        "context, weights = attend(scores, states, mask)",
        """
        weights = scores.masked_fill(~mask, -1e9).softmax(dim=0)
        context = (weights.unsqueeze(1) @ states).squeeze(1)
        """,
    ),
    names="softmax runs over the batch",
)
bilstm_attention.wrong(
    "equal weights",
    swap("attend(scores, states, mask)", "attend(0 * scores, states, mask)"),
    names="with equal weights",
)
bilstm_attention.wrong(
    "1 for the padding, whatever pad_id says",
    swap("self.pad_id", "1"),
    names="treats 1 as padding",
)
bilstm_attention.wrong(
    "3 for the padding, as in the visible check",
    swap("self.pad_id", "3"),
    names="treats 3 as padding",
)
bilstm_attention.wrong(
    "0 for the padding, whatever pad_id says",
    swap("self.pad_id", "0"),
    names="treats 0 as padding",
)
bilstm_attention.wrong(
    "ids as bools for the mask",
    swap("!= self.pad_id", ".bool()"),
    names="treats 0 as padding",
)
bilstm_attention.wrong(
    "ids above pad_id", swap("!= self", "> self"), names="ids below `pad_id`"
)
bilstm_attention.wrong(
    "returns the scores",
    swap("(context), weights", "(context), scores"),
    names="the scores, not the weights",
)
bilstm_attention.wrong(
    "the logits alone",
    swap("(context), weights", "(context)"),
    names="a different number of results",
)
bilstm_attention.wrong(
    "detached states",
    swap(
        "(final)",
        """
        (final)
        states = states.detach()
        query = query.detach()
        """,
    ),
    names="the gradient is cut off",
)
bilstm_attention.wrong(
    "a query without a gradient",
    swap("concat_final_states(final)", "concat_final_states(final).detach()"),
    names="flow through the query",
)
bilstm_attention.wrong(
    "weights without a gradient",
    swap("attend(scores, states, mask)", "attend(scores.detach(), states, mask)"),
    names="flow through the weights",
)


@bilstm_attention.wrong("sentences that must be sorted", names="sorted by length")
def forward(self, ids):
    mask = ids != self.pad_id
    packed = pack_padded_sequence(
        self.embedding(ids), mask.sum(dim=1).cpu(), batch_first=True
    )
    states, (final, _) = self.lstm(packed)
    states, _ = pad_packed_sequence(states, batch_first=True, total_length=ids.size(1))
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@bilstm_attention.wrong(
    "sorted, and not put back", names="restore the order of the sentences"
)
def forward(self, ids):
    order = (ids != self.pad_id).sum(dim=1).argsort(descending=True)
    ids = ids[order]
    mask = ids != self.pad_id
    states, final = run_packed(self.lstm, self.embedding(ids), mask)
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask)
    return self.output(context), weights


@bilstm_attention.wrong("no word for total_length", names="`total_length`")
def forward(self, ids):
    mask = ids != self.pad_id
    packed = pack_padded_sequence(
        self.embedding(ids),
        mask.sum(dim=1).cpu(),
        batch_first=True,
        enforce_sorted=False,
    )
    states, (final, _) = self.lstm(packed)
    states, _ = pad_packed_sequence(states, batch_first=True)
    query = concat_final_states(final)
    scores = (states @ query.unsqueeze(-1)).squeeze(-1)
    context, weights = attend(scores, states, mask[:, : states.size(1)])
    return self.output(context), weights


bilstm_attention.wrong(
    "the mask of the first batch kept",
    swap(
        "mask = ids != self.pad_id",
        """
        mask = getattr(self, "mask", None)
        if mask is None or mask.shape != ids.shape:
            mask = self.mask = ids != self.pad_id
        """,
    ),
    names="the mask from an earlier call",
)
bilstm_attention.wrong(
    "a mask made on the CPU",
    swap(
        "mask = ids != self.pad_id",
        """
        lengths = (ids != self.pad_id).sum(dim=1, keepdim=True)
        mask = torch.arange(ids.size(1)) < lengths
        """,
    ),
    names="made on the CPU",
)
bilstm_attention.wrong(
    "padding's vector set to zero at each call",
    insert("self.embedding.weight.data[self.pad_id] = 0", before="mask ="),
    names="the module's state",
)
bilstm_attention.wrong(
    "zeros",
    body("""
        b, s = ids.shape
        return torch.zeros(b, self.output.out_features), torch.zeros(b, s)
        """),
    names="zeros in all",
)
bilstm_attention.right(
    "bmm",
    swap(
        "(states @ query.unsqueeze(-1)).squeeze(-1)",
        "torch.bmm(states, query.unsqueeze(2)).squeeze(2)",
    ),
)
bilstm_attention.right(
    "einsum",
    swap(
        "(states @ query.unsqueeze(-1)).squeeze(-1)",
        'torch.einsum("bsh,bh->bs", states, query)',
    ),
)
bilstm_attention.right(
    "a product, then a sum",
    swap(
        "(states @ query.unsqueeze(-1)).squeeze(-1)",
        "(states * query[:, None]).sum(dim=-1)",
    ),
)


@bilstm_attention.right("pack_padded_sequence by hand")
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


bilstm_attention.right(
    "the mask after the softmax, and divided by the new sum",
    swap(ATTENDED, BEHIND),
    insert("weights = weights / weights.sum(dim=-1, keepdim=True)", before="context ="),
)
bilstm_attention.right(
    "minus infinity added where there is padding",
    swap(
        ATTENDED,
        """
        far = torch.zeros_like(scores).masked_fill(~mask, float("-inf"))
        context, weights = attend(scores + far, states)
        """,
    ),
)
bilstm_attention.right(
    "all by itself, without attend",
    swap(
        "context, weights = attend(scores, states, mask)",
        """
        scores = scores.masked_fill(~mask, float("-inf"))
        weights = F.softmax(scores, dim=1)
        context = (weights.unsqueeze(-1) * states).sum(dim=1)
        """,
    ),
)


@bilstm_attention.right("each sentence alone, in a loop")
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


bilstm_attention.right(
    "states gathered at both ends",
    swap(
        "query = concat_final_states(final)",
        """
        h, last = states.size(-1) // 2, mask.sum(dim=1) - 1
        forward = states[torch.arange(len(ids)), last, :h]
        query = torch.cat([forward, states[:, 0, h:]], dim=-1)
        """,
    ),
)


# --- answers that try to pass without solving the exercise ------------------------

answer("transformer.recurrent.attention.shift_right").wrong(
    "through float32 and back",
    swap("tgt[:, :-1]], dim=1)", "tgt[:, :-1]], dim=1).float().to(tgt.dtype)"),
    names="float32, which cannot hold ids above",
)
first_step = answer("transformer.recurrent.cell.gru_step")
first_step.with_faults("kept buffer state default detached float32 rounded written cpu")
first_step.wrong(
    "no update gate where the old state is zero",
    insert(
        """
        if not state.any():
            update = torch.zeros_like(update)
        """,
        before="proposal = ",
    ),
    names="the whole proposal if the old state is 0",
)
first_step.wrong(
    "kept by the tensors",
    body("""
    kept, key = gru_step.__dict__, tuple(map(id, (x, state, w_x, b_x)))
    if key not in kept:
        x_reset, x_update, x_new = (x @ w_x.T + b_x).chunk(3, dim=-1)
        h_reset, h_update, h_new = (state @ w_state.T + b_state).chunk(3, dim=-1)
        update = torch.sigmoid(x_update + h_update)
        proposal = torch.tanh(x_new + torch.sigmoid(x_reset + h_reset) * h_new)
        new = update * state + (1 - update) * proposal
        kept[key] = new, x, state, w_x, b_x
    return kept[key][0]
    """),
    names="a result kept from an earlier call",
)
first_step.right(
    "lerp",
    swap(
        "update * state + (1 - update) * proposal",
        "torch.lerp(proposal, state, update)",
    ),
)
answer("transformer.recurrent.attention.concat_final_states").wrong(
    "kept by the tensor",
    body("""
    kept = concat_final_states.__dict__
    if id(h_n) not in kept:
        kept[id(h_n)] = torch.cat([h_n[-2], h_n[-1]], dim=-1), h_n
    return kept[id(h_n)][0]
    """),
    names="a result kept from an earlier call",
)
classifier = answer("transformer.recurrent.attention.BiLSTMAttention.forward")
classifier.with_faults("kept state default detached float32 written")
classifier.wrong(
    "the padding number of the first model",
    insert(
        """
        if not hasattr(type(self), "kept"):
            type(self).kept = self.pad_id
        """,
        before="mask = ids != ",
    ),
    swap("ids != self.pad_id", "ids != type(self).kept"),
    names="use the padding of another model",
)
classifier.wrong(
    "put into evaluation for good",
    insert("self.eval()", before="mask = ids != "),
    names="the module's mode",
)

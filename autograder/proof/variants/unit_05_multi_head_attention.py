"""Wrong variants and right styles of unit 05, as students write them."""

import torch
from torch import nn

from autograder.proof.variants import answer, body, drop, insert, swap
from transformer.attention import scaled_dot_product_attention

# --- split_heads ------------------------------------------------------------------

split_heads = answer("transformer.multi_head.split_heads")
split_heads.with_faults("kept seed default detached float32 rounded written cpu")
split_heads.wrong(
    "a view directly to (b, h, t, d_k) without a transpose",
    swap(
        "return heads.transpose(1, 2)",
        "return heads.reshape(b, n_heads, t, d_model // n_heads)",
    ),
)
split_heads.wrong(
    "the head axis after the token axis: no transpose",
    swap("heads = x", "return x"),
    drop("return heads.transpose(1, 2)"),
)
split_heads.wrong(
    "each head gets every h-th column",
    swap(
        "heads.transpose(1, 2)",
        "x.reshape(b, t, d_model // n_heads, n_heads).permute(0, 3, 1, 2)",
    ),
)
split_heads.wrong("the heads in the opposite order", swap("(1, 2)", "(1, 2).flip(1)"))
split_heads.wrong(
    "a transpose before the view instead of after it",
    swap(
        "heads.transpose(1, 2)",
        "x.transpose(1, 2).reshape(b, n_heads, t, d_model // n_heads)",
    ),
    names="splitting the tokens among the heads",
)


@split_heads.wrong("the first slice repeated for every head")
def split_heads(x, n_heads):
    d_k = x.size(-1) // n_heads
    return torch.stack([x[..., :d_k] for _ in range(n_heads)], dim=1)


split_heads.wrong("not split into heads", body("return x"))


@split_heads.wrong("a detached result", names="the gradient is cut off")
def split_heads(x, n_heads):
    b, t, d_model = x.shape
    return x.detach().reshape(b, t, n_heads, -1).transpose(1, 2)


split_heads.wrong(
    "three heads, regardless of n_heads",
    swap("n_heads, d_model // n_heads", "3, -1"),
    diagnosed=False,
)
split_heads.wrong(
    "a squeeze that removes a batch of one",
    swap("(1, 2)", "(1, 2).squeeze(0)"),
    names="needs a contiguous tensor or a larger batch",
)
split_heads.wrong(
    "a view that fails if x is not contiguous",
    swap("x.view(b", "x.view(-1).view(b"),
    names="needs a contiguous tensor or a larger batch",
)


@split_heads.wrong("the first heads cached by shape", names="kept from an earlier call")
def split_heads(x, n_heads, kept={}):  # noqa: B006
    b, t, d = x.shape
    if x.shape not in kept:
        kept[x.shape] = x.reshape(b, t, n_heads, d // n_heads).transpose(1, 2)
    return kept[x.shape]


split_heads.wrong(
    "a result rounded to bfloat16 and converted back",
    swap("heads.transpose(1, 2)", "heads.transpose(1, 2).bfloat16().to(x.dtype)"),
    diagnosed=False,
)


@split_heads.wrong(
    "leftover columns that are cut off", names="error that is not raised"
)
def split_heads(x, n_heads):
    b, t, d = x.shape
    d_k = d // n_heads
    return x[..., : n_heads * d_k].reshape(b, t, n_heads, d_k).transpose(1, 2)


split_heads.right(
    "unflatten", body("return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)")
)


@split_heads.right("permute and contiguous")
def split_heads(x, n_heads):
    b, t, d = x.size()
    return x.reshape(b, -1, n_heads, d // n_heads).permute(0, 2, 1, 3).contiguous()


split_heads.right(
    "chunk and stack", body("return torch.stack(x.chunk(n_heads, dim=-1), dim=1)")
)


@split_heads.right("a loop over the heads")
def split_heads(x, n_heads):
    if x.size(-1) % n_heads:
        raise ValueError("d_model must be a multiple of n_heads")
    d_k = x.size(-1) // n_heads
    heads = []
    for i in range(n_heads):
        heads.append(x[:, :, i * d_k : (i + 1) * d_k].unsqueeze(1))
    return torch.cat(heads, dim=1)


@split_heads.right("the columns as the first axis, the tokens as the last")
def split_heads(x, n_heads):
    b, t, d = x.shape
    return x.transpose(1, 2).reshape(b, n_heads, d // n_heads, t).transpose(2, 3)


@split_heads.right("einsum for the permutation")
def split_heads(x, n_heads):
    b, t, d = x.shape
    return torch.einsum("bthd->bhtd", x.reshape(b, t, n_heads, d // n_heads))


# --- merge_heads ------------------------------------------------------------------

merge_heads = answer("transformer.multi_head.merge_heads")
merge_heads.with_faults("kept buffer seed default detached float32 rounded written cpu")


@merge_heads.wrong("a view or reshape without a transpose")
def merge_heads(x):
    b, h, t, d_k = x.shape
    return x.reshape(b, t, h * d_k)


@merge_heads.wrong("interleaved heads")
def merge_heads(x):
    b, h, t, d_k = x.shape
    return x.permute(0, 2, 3, 1).reshape(b, t, h * d_k)


merge_heads.wrong(
    "the heads in the opposite order", swap("return x", "return x.flip(1)")
)
merge_heads.wrong("the heads added up or averaged", body("return x.mean(dim=1)"))
merge_heads.wrong(
    "the heads added up",
    body("return x.sum(dim=1)"),
    names="the heads added up or averaged",
)
merge_heads.wrong(
    "the mean over the heads, repeated",
    body("return x.mean(dim=1).repeat(1, 1, x.size(1))"),
)
merge_heads.wrong(
    "one head repeated", body("return torch.cat([x[:, 0]] * x.size(1), dim=-1)")
)
merge_heads.wrong("the last two axes are not merged", drop(".flatten(start_dim=2)"))
merge_heads.wrong(
    "the heads concatenated along the token axis", body("return x.flatten(1, 2)")
)


@merge_heads.wrong("a view directly after the transpose", diagnosed=False)
def merge_heads(x):
    b, h, t, d_k = x.shape
    return x.transpose(1, 2).view(b, t, h * d_k)


merge_heads.wrong(
    "a detached result",
    swap("return x", "return x.detach()"),
    names="the gradient is cut off",
)
merge_heads.wrong(
    "code for four heads, as in the visible check",
    body("return torch.cat([x[:, i] for i in range(4 if x.size(1) > 3 else 1)], -1)"),
    diagnosed=False,
)


@merge_heads.right("permute().contiguous().view")
def merge_heads(x):
    x = x.permute(0, 2, 1, 3).contiguous()
    return x.view(x.size(0), x.size(1), -1)


merge_heads.right("unbind and cat", body("return torch.cat(x.unbind(dim=1), dim=-1)"))


@merge_heads.right("a loop over the heads")
def merge_heads(x):
    b, h, t, d_k = x.shape
    merged = x.new_zeros(b, t, h * d_k)
    for i in range(h):
        merged[:, :, i * d_k : (i + 1) * d_k] = x[:, i]
    return merged


@merge_heads.right("a reshape with the sizes of the input")
def merge_heads(x):
    b, h, t, d_k = x.size()
    return x.transpose(2, 1).reshape(b, t, h * d_k)


@merge_heads.right("a loop over the tokens")
def merge_heads(x):
    return torch.stack([x[:, :, i].flatten(1) for i in range(x.size(2))], dim=1)


merge_heads.right(
    "einsum for the permutation",
    body('return torch.einsum("bhtd->bthd", x).reshape(x.size(0), x.size(2), -1)'),
)

# --- MultiHeadAttention -----------------------------------------------------------

project_query = answer("transformer.multi_head.MultiHeadAttention.project_query")
project_query.with_faults("seed default detached rounded written cpu")
project_query.wrong(
    "the keys' projection used for the queries",
    swap("w_q", "w_k"),
    names="the projection by w_k",
)
project_query.wrong(
    "queries that are not projected",
    swap("self.w_q(query)", "query"),
    names="the input that is split but not projected",
)
project_query.wrong("not split into heads", body("return self.w_q(query)"))
project_query.wrong(
    "a split before the projection",
    body("return self.w_q(split_heads(query, self.n_heads))"),
    diagnosed=False,
)
project_key_value = answer(
    "transformer.multi_head.MultiHeadAttention.project_key_value"
)
project_key_value.with_faults("seed default rounded written cpu")
project_key_value.wrong(
    "one projection for queries and keys",
    swap("w_k", "w_q"),
    names="the projection by w_q",
)
project_key_value.wrong(
    "one projection for keys and values",
    swap("w_v", "w_k"),
    names="the projection by w_k",
)
project_key_value.wrong(
    "values computed from the keys' input",
    swap("(value)", "(key)"),
    names="computed from the other input",
)
project_key_value.wrong(
    "values returned before keys",
    swap("k, v", "v, k"),
    names="computed from the other input",
)


@project_key_value.wrong(
    "a view instead of split_heads", names="split without a transpose"
)
def project_key_value(self, key, value):
    b, s, d = key.shape
    shape = (b, self.n_heads, s, d // self.n_heads)
    return self.w_k(key).reshape(shape), self.w_v(value).reshape(shape)


attend = answer("transformer.multi_head.MultiHeadAttention.attend")
attend.with_faults("kept seed default detached float32 rounded written cpu")
attend.wrong(
    "without the output projection",
    swap("self.w_o(merge_heads(heads))", "merge_heads(heads)"),
)


@attend.wrong("merging without a transpose")
def attend(self, q, k, v, mask=None):
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    b, h, t, d_k = heads.shape
    return self.w_o(heads.reshape(b, t, h * d_k)), weights


attend.wrong(
    "the mean over the heads",
    swap("merge_heads(heads)", "heads.mean(dim=1).repeat(1, 1, self.n_heads)"),
)
attend.wrong(
    "scores divided by √d_model",
    insert("q = q / self.n_heads**0.5", before="heads, weights"),
)
attend.wrong(
    "without scaling the scores",
    insert("q = q * q.size(-1) ** 0.5", before="heads, weights"),
)


@attend.wrong("the mask on only the first head")
def attend(self, q, k, v, mask=None):
    dropout = self.dropout if self.training else 0.0
    outputs, shares = [], []
    for i in range(self.n_heads):
        head_mask = mask[:, 0] if mask is not None and i == 0 else None
        head, weights = scaled_dot_product_attention(
            q[:, i], k[:, i], v[:, i], head_mask, dropout
        )
        outputs.append(head)
        shares.append(weights)
    return self.w_o(torch.cat(outputs, -1)), torch.stack(shares, 1)


@attend.wrong("a mask on the queries")
def attend(self, q, k, v, mask=None):
    if mask is not None and mask.size(-2) == 1:
        mask = mask.transpose(-2, -1)
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    return self.w_o(merge_heads(heads)), weights


attend.wrong("the mask is ignored", swap("v, mask", "v, None"))
attend.wrong(
    "an inverted mask",
    insert("mask = None if mask is None else ~mask", before="dropout ="),
)
attend.wrong(
    "the mean of the heads' weights",
    swap("(merge_heads(heads)), weights", "(merge_heads(heads)), weights.mean(dim=1)"),
)
attend.wrong(
    "the mean of the heads' weights returned for every head",
    swap(
        "(merge_heads(heads)), weights",
        "(merge_heads(heads)), weights.mean(dim=1, keepdim=True).expand_as(weights)",
    ),
    names="the heads' mean weights for every head",
)


@attend.wrong(
    "values averaged by the mean of the heads' weights",
    names="the heads' mean weights for every head",
)
def attend(self, q, k, v, mask=None):
    _, weights = scaled_dot_product_attention(q, k, v, mask)
    mean = weights.mean(dim=1, keepdim=True).expand_as(weights)
    return self.w_o(merge_heads(mean @ v)), mean


attend.wrong(
    "dropout in evaluation",
    drop("dropout = self.dropout if self.training else 0.0"),
    swap("mask, dropout", "mask, self.dropout"),
)
attend.wrong(
    "dropout is ignored",
    drop("dropout = self.dropout if self.training else 0.0"),
    swap("mask, dropout", "mask"),
)


@attend.wrong(
    "dropout on the output", names="dropout on something other than the weights"
)
def attend(self, q, k, v, mask=None):
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    output = self.w_o(merge_heads(heads))
    return nn.functional.dropout(output, self.dropout, self.training), weights


@attend.wrong(
    "dropout on the merged heads", names="dropout on something other than the weights"
)
def attend(self, q, k, v, mask=None):
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    merged = nn.functional.dropout(merge_heads(heads), self.dropout, self.training)
    return self.w_o(merged), weights


@attend.wrong(
    "dropout on the weights and on the output",
    names="dropout on something other than the weights",
)
def attend(self, q, k, v, mask=None):
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    output = self.w_o(merge_heads(heads))
    return nn.functional.dropout(output, dropout), weights


@attend.wrong(
    "dropout on the values", names="dropout on something other than the weights"
)
def attend(self, q, k, v, mask=None):
    v = nn.functional.dropout(v, self.dropout, self.training)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return self.w_o(merge_heads(heads)), weights


multi_head_attention = answer("transformer.multi_head.MultiHeadAttention.forward")


@multi_head_attention.wrong("the built-in", names="a call that is the whole answer")
def forward(self, query, key, value, mask=None):
    b, t, s, h = query.size(0), query.size(1), key.size(1), self.n_heads
    if mask is not None:
        mask = ~mask.expand(b, h, t, s).reshape(b * h, t, s)
    output, weights = nn.functional.multi_head_attention_forward(
        *(x.transpose(0, 1) for x in (query, key, value)),
        embed_dim_to_check=query.size(-1),
        num_heads=h,
        in_proj_weight=None,
        in_proj_bias=torch.cat([self.w_q.bias, self.w_k.bias, self.w_v.bias]),
        bias_k=None,
        bias_v=None,
        add_zero_attn=False,
        dropout_p=self.dropout,
        out_proj_weight=self.w_o.weight,
        out_proj_bias=self.w_o.bias,
        training=self.training,
        attn_mask=mask,
        use_separate_proj_weight=True,
        q_proj_weight=self.w_q.weight,
        k_proj_weight=self.w_k.weight,
        v_proj_weight=self.w_v.weight,
        average_attn_weights=False,
    )
    return output.transpose(0, 1), weights


multi_head_attention.wrong(
    "only the output returned",
    swap("(q, k, v, mask)", "(q, k, v, mask)[0]"),
    names="a different number of results",
)
multi_head_attention.wrong(
    "keys and values from the query's input", swap("key, value", "query, query")
)
multi_head_attention.wrong("queries from the keys' input", swap("(query)", "(key)"))
multi_head_attention.wrong(
    "a mask that is not passed on", swap("v, mask", "v"), names="the mask is ignored"
)


@multi_head_attention.wrong("splitting and merging without a transpose")
def forward(self, query, key, value, mask=None):
    b, h = query.size(0), self.n_heads
    q = self.w_q(query).reshape(b, h, query.size(1), -1)
    k = self.w_k(key).reshape(b, h, key.size(1), -1)
    v = self.w_v(value).reshape(b, h, value.size(1), -1)
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    return self.w_o(heads.reshape(b, query.size(1), -1)), weights


@multi_head_attention.wrong("a query that is scaled in place", names="changed in place")
def forward(self, query, key, value, mask=None):
    with torch.no_grad():
        query *= 1.5
    q = self.project_query(query / 1.5)
    k, v = self.project_key_value(key, value)
    return self.attend(q, k, v, mask)


initialise = answer("transformer.multi_head.MultiHeadAttention.__init__")


@initialise.wrong("heads in a Python list", names="their parameters are missing")
def __init__(self, d_model, n_heads, dropout=0.0):
    super().__init__()
    self.n_heads, self.dropout = n_heads, dropout
    sizes = (d_model, d_model // n_heads)
    self.heads = [[nn.Linear(*sizes) for _ in range(3)] for _ in range(n_heads)]
    self.w_o = nn.Linear(d_model, d_model)


@multi_head_attention.wrong("one attention over the whole width")
def forward(self, query, key, value, mask=None):
    q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
    mask = mask if mask is None else mask[:, 0]
    dropout = self.dropout if self.training else 0.0
    output, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    return self.w_o(output), weights[:, None].repeat(1, self.n_heads, 1, 1)


project_query.wrong(
    "weights that are detached from the queries",
    swap("(self.w_q(query), self.n_heads)", "(self.w_q(query), self.n_heads).detach()"),
    names="no gradient for w_q",
)


project_query.wrong(
    "each head gets every h-th column",
    body("""
        q = self.w_q(query).unflatten(-1, (-1, self.n_heads))
        return q.permute(0, 3, 1, 2)
        """),
    names="split so that each head gets every h-th column",
)
project_key_value.wrong(
    "values from every h-th column",
    swap(
        "v = split_heads(self.w_v(value), self.n_heads)",
        "v = self.w_v(value).unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)",
    ),
    names="split so that each head gets every h-th column",
)


@multi_head_attention.wrong(
    "heads of every h-th column that are merged side by side",
    names="each head gets every h-th column",
)
def forward(self, query, key, value, mask=None):
    q, k, v = (
        linear(x).unflatten(-1, (-1, self.n_heads)).permute(0, 3, 1, 2)
        for linear, x in ((self.w_q, query), (self.w_k, key), (self.w_v, value))
    )
    return self.attend(q, k, v, mask)


multi_head_attention.wrong(
    "values from the query's input",
    swap("(key, value)", "(key, query)"),
    names="values from the query's input",
)
multi_head_attention.wrong(
    "keys from the query's input",
    swap("(key, value)", "(query, value)"),
    names="keys from the query's input",
)
multi_head_attention.wrong(
    "keys from the values' input",
    swap("(key, value)", "(value, value)"),
    names="keys from the values' input",
)
attend.wrong(
    "the weights after dropout",
    swap(
        "return self.w_o(merge_heads(heads)), weights",
        """
        weights = nn.functional.dropout(weights, dropout)
        return self.w_o(merge_heads(weights @ v)), weights
        """,
    ),
    names="the weights after the dropout",
)
attend.wrong(
    "dropout with 1 - p instead of p",
    swap("mask, dropout)", "mask, 1 - dropout if dropout else 0.0)"),
    names="keeps the share it should drop",
)
attend.wrong(
    "dropout with a fixed 0.5",
    swap("self.dropout if", "0.5 * (self.dropout > 0) if"),
    names="a different share dropped",
)


@attend.wrong("the same dropout mask for all heads", names="the same for every head")
def attend(self, q, k, v, mask=None):
    _, weights = scaled_dot_product_attention(q, k, v, mask)
    kept = torch.ones_like(weights[:, :1])
    kept = nn.functional.dropout(kept, self.dropout, self.training)
    return self.w_o(merge_heads(weights * kept @ v)), weights


@attend.wrong(
    "the same dropout mask for all sentences", names="same for every sentence"
)
def attend(self, q, k, v, mask=None):
    _, weights = scaled_dot_product_attention(q, k, v, mask)
    kept = torch.ones_like(weights[:1])
    kept = nn.functional.dropout(kept, self.dropout, self.training)
    return self.w_o(merge_heads(weights * kept @ v)), weights


@attend.wrong(
    "the first dropout mask reused", names="the same numbers dropped in every call"
)
def attend(self, q, k, v, mask=None):
    _, weights = scaled_dot_product_attention(q, k, v, mask)
    used = weights
    if self.training and self.dropout:
        if getattr(self, "kept", torch.ones(1)).shape != weights.shape:
            ones = torch.ones_like(weights)
            self.kept = nn.functional.dropout(ones, self.dropout)
        used = weights * self.kept
    return self.w_o(merge_heads(used @ v)), weights


@multi_head_attention.wrong(
    "the first memory's keys and values reused", names="keys and values from an earlier"
)
def forward(self, query, key, value, mask=None):
    if getattr(self, "sizes", None) != (key.shape, value.shape):
        self.sizes = key.shape, value.shape
        self.memory = self.project_key_value(key, value)
    return self.attend(self.project_query(query), *self.memory, mask)


@multi_head_attention.wrong(
    "the first mask reused", names="the mask from an earlier call"
)
def forward(self, query, key, value, mask=None):
    if mask is not None and getattr(self, "mask", mask).shape == mask.shape:
        self.mask = mask = getattr(self, "mask", mask)
    q = self.project_query(query)
    k, v = self.project_key_value(key, value)
    return self.attend(q, k, v, mask)


attend.wrong(
    "the first head's mask used for all heads",
    insert(
        "mask = mask[:, :1] if mask is not None and mask.dim() == 4 else mask",
        before="dropout =",
    ),
    names="one for each head",
)


@attend.wrong("a mask that is repeated for each head", names="one for each head")
def attend(self, q, k, v, mask=None):
    if mask is not None:
        mask = mask.repeat(1, self.n_heads, 1, 1)
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    return self.w_o(merge_heads(heads)), weights


attend.wrong(
    "a mask that is inverted in place and inverted back",
    insert(
        """
        if mask is not None:
            mask.logical_not_().logical_not_()
        """,
        before="dropout =",
    ),
    names="changed in place",
)
attend.wrong(
    "code for three heads, as in the visible check",
    swap("merge_heads(heads)", "torch.cat([heads[:, i] for i in range(3)], dim=-1)"),
    diagnosed=False,
)
project_key_value.wrong(
    "keys that are detached",
    swap("self.w_k(key), self.n_heads)", "self.w_k(key), self.n_heads).detach()"),
    names="no gradient for w_k",
)
project_key_value.wrong(
    "values that are detached",
    swap("self.w_v(value), self.n_heads)", "self.w_v(value), self.n_heads).detach()"),
    names="no gradient for w_v",
)


@multi_head_attention.wrong(
    "a memory without a gradient", names="the gradient is cut off"
)
def forward(self, query, key, value, mask=None):
    q = self.project_query(query)
    k, v = self.project_key_value(key.detach(), value.detach())
    return self.attend(q, k, v, mask)


@multi_head_attention.wrong(
    "a module that is left in evaluation mode", names="changes the module"
)
def forward(self, query, key, value, mask=None):
    q = self.project_query(query)
    k, v = self.project_key_value(key, value)
    result = self.attend(q, k, v, mask)
    self.eval()
    return result


@multi_head_attention.right("all steps written out in forward")
def forward(self, query, key, value, mask=None):
    b, t, d = query.shape
    d_k = d // self.n_heads
    q = self.w_q(query).view(b, -1, self.n_heads, d_k).permute(0, 2, 1, 3)
    k = self.w_k(key).view(b, -1, self.n_heads, d_k).permute(0, 2, 1, 3)
    v = self.w_v(value).view(b, -1, self.n_heads, d_k).permute(0, 2, 1, 3)
    p = self.dropout if self.training else 0.0
    x, weights = scaled_dot_product_attention(q, k, v, mask, p)
    x = x.permute(0, 2, 1, 3).contiguous().view(b, t, d)
    return self.w_o(x), weights


@attend.right("einsum for the scores and the average")
def attend(self, q, k, v, mask=None):
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    dropped = nn.functional.dropout(weights, self.dropout, self.training)
    heads = torch.einsum("bhts,bhsd->bthd", dropped, v)
    return self.w_o(heads.flatten(2)), weights


@attend.right("batch and heads flattened into one axis for a bmm")
def attend(self, q, k, v, mask=None):
    b, h, t, d_k = q.shape
    s = k.size(2)
    q, k, v = (x.reshape(b * h, -1, d_k) for x in (q, k, v))
    if mask is not None:
        mask = mask.expand(b, h, t, s).reshape(b * h, t, s)
    p = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, p)
    heads = heads.view(b, h, t, d_k).transpose(1, 2).reshape(b, t, h * d_k)
    return self.w_o(heads), weights.view(b, h, t, s)


@attend.right("a loop over the heads")
def attend(self, q, k, v, mask=None):
    p = self.dropout if self.training else 0.0
    if mask is not None:
        mask = mask.expand(q.size(0), self.n_heads, q.size(2), k.size(2))
    outputs, weights = [], []
    for i in range(self.n_heads):
        head_mask = None if mask is None else mask[:, i]
        o, w = scaled_dot_product_attention(q[:, i], k[:, i], v[:, i], head_mask, p)
        outputs.append(o)
        weights.append(w)
    return self.w_o(torch.cat(outputs, dim=-1)), torch.stack(weights, dim=1)


@project_query.right("per-head slices of the weight matrix")
def project_query(self, query):
    d_k = self.w_q.weight.size(0) // self.n_heads
    heads = []
    for i in range(self.n_heads):
        rows = slice(i * d_k, (i + 1) * d_k)
        head = nn.functional.linear(query, self.w_q.weight[rows], self.w_q.bias[rows])
        heads.append(head)
    return torch.stack(heads, dim=1)


@project_key_value.right("keys and values in one loop")
def project_key_value(self, key, value):
    return tuple(
        split_heads(linear(x), self.n_heads)
        for linear, x in ((self.w_k, key), (self.w_v, value))
    )


@attend.right("the sum over the heads, each multiplied by its columns of w_o")
def attend(self, q, k, v, mask=None):
    p = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, p)
    output = self.w_o.bias
    for i, columns in enumerate(self.w_o.weight.chunk(self.n_heads, dim=1)):
        output = output + heads[:, i] @ columns.T
    return output, weights


MultiHeadAttention = answer("transformer.multi_head.MultiHeadAttention")


@MultiHeadAttention.right("its own nn.Dropout, and more attributes in the constructor")
class MultiHeadAttention(nn.Module):
    def __init__(self, d_model, n_heads, dropout=0.0):
        super().__init__()
        self.n_heads, self.d_k, self.drop = n_heads, d_model // n_heads, dropout
        for name in ("w_q", "w_k", "w_v", "w_o"):
            setattr(self, name, nn.Linear(d_model, d_model))
        self.attention_dropout = nn.Dropout(dropout)

    def project_query(self, query):
        return split_heads(self.w_q(query), self.n_heads)

    def project_key_value(self, key, value):
        return [split_heads(self.w_k(key), self.n_heads), self._values(value)]

    def _values(self, value):
        return split_heads(self.w_v(value), self.n_heads)

    def attend(self, q, k, v, mask=None):
        scores = q @ k.mT * self.d_k**-0.5
        if mask is not None:
            scores = torch.where(mask, scores, torch.finfo(scores.dtype).min)
        weights = torch.softmax(scores, -1)
        return self.w_o(merge_heads(self.attention_dropout(weights) @ v)), weights

    def forward(self, query, key, value, mask=None):
        q, (k, v) = self.project_query(query), self.project_key_value(key, value)
        return self.attend(q, k, v, mask)


# --- count_parameters -------------------------------------------------------------

count_parameters = answer("transformer.multi_head.count_parameters")
count_parameters.with_faults("state default")
count_parameters.wrong(
    "the number of tensors", body("return len(list(module.parameters()))")
)


@count_parameters.wrong("without the biases")
def count_parameters(module):
    named = module.named_parameters()
    return sum(p.numel() for name, p in named if "bias" not in name)


count_parameters.wrong(
    "the parameters inside other modules are not counted",
    swap("() if", "(recurse=False) if"),
)
count_parameters.wrong(
    "the number of rows", body("return sum(len(p) for p in module.parameters())")
)
count_parameters.wrong(
    "including frozen parameters", swap("() if p.requires_grad", "()")
)
count_parameters.wrong("only the frozen parameters", swap("if", "if not"))


@count_parameters.wrong("shared parameters counted twice")
def count_parameters(module):
    named = module.named_parameters(remove_duplicate=False)
    return sum(p.numel() for _, p in named if p.requires_grad)


count_parameters.wrong(
    "the whole state, including buffers",
    body("return sum(tensor.numel() for tensor in module.state_dict().values())"),
    names="including buffers",
)


@count_parameters.wrong(
    "only the linear maps", names="the count of only the linear maps"
)
def count_parameters(module):
    total = 0
    for part in module.modules():
        if isinstance(part, nn.Linear):
            total += part.weight.numel() + part.bias.numel()
    return total


count_parameters.wrong(
    "only the matrices", swap("requires_grad", "dim() > 1"), names="without"
)


@count_parameters.wrong("a count in millions", diagnosed=False)
def count_parameters(module):
    return sum(p.numel() for p in module.parameters() if p.requires_grad) / 1e6


@count_parameters.wrong("rows times columns", names="three axes")
def count_parameters(module):
    trained = (p for p in module.parameters() if p.requires_grad)
    return sum(p.size(0) * (p.size(-1) if p.dim() > 1 else 1) for p in trained)


@count_parameters.wrong(
    "each layer counted once, but tied weights twice", names="counted twice"
)
def count_parameters(module):
    total = 0
    for part in module.modules():
        total += sum(p.numel() for p in part.parameters(False) if p.requires_grad)
    return total


@count_parameters.wrong("tensors of the same shape counted once", diagnosed=False)
def count_parameters(module):
    shapes = {p.shape for p in module.parameters() if p.requires_grad}
    return sum(shape.numel() for shape in shapes)


@count_parameters.wrong("equal tensors counted once", names="equal values")
def count_parameters(module):
    seen = {}
    for p in module.parameters():
        if p.requires_grad:
            seen[p.shape, tuple(p.flatten().tolist())] = p.numel()
    return sum(seen.values())


@count_parameters.wrong("the first count cached by class", diagnosed=False)
def count_parameters(module, kept={}):  # noqa: B006
    if type(module) not in kept:
        trained = (p for p in module.parameters() if p.requires_grad)
        kept[type(module)] = sum(p.numel() for p in trained)
    return kept[type(module)]


@count_parameters.wrong(
    "frozen parameters that are unfrozen", names="changes the module"
)
def count_parameters(module):
    total = sum(p.numel() for p in module.parameters() if p.requires_grad)
    module.requires_grad_(True)
    return total


@count_parameters.right("a loop")
def count_parameters(module):
    total = 0
    for parameter in module.parameters():
        if parameter.requires_grad:
            total += parameter.numel()
    return total


@count_parameters.right("nelement and filter")
def count_parameters(module):
    trained = filter(lambda p: p.requires_grad, module.parameters())
    return sum(p.nelement() for p in trained)


@count_parameters.right("the product of the sizes")
def count_parameters(module):
    total = 0
    for _, p in module.named_parameters():
        size = 1
        for length in p.shape:
            size *= length
        total += size if p.requires_grad else 0
    return total


count_parameters.right(
    "a count of the flattened parameters", swap("p.numel()", "len(p.flatten())")
)


@count_parameters.right("a dictionary of the parameters seen in all modules")
def count_parameters(module):
    seen = {}
    for part in module.modules():
        for p in part.parameters(recurse=False):
            if p.requires_grad:
                seen[id(p)] = p.numel()
    return sum(seen.values())


@count_parameters.right("numpy.prod of the sizes")
def count_parameters(module):
    import numpy as np

    return sum(np.prod(p.size()) for p in module.parameters() if p.requires_grad)


@count_parameters.right("torch.Size.numel")
def count_parameters(module):
    return int(sum(p.shape.numel() for p in module.parameters() if p.requires_grad))


# --- answers that try to pass without solving the exercise ------------------------

called = answer("transformer.multi_head.MultiHeadAttention.forward")
called.with_faults("kept seed default detached float32 rounded written cpu")
called.wrong(
    "a mask (h, t, s) read as one mask per sentence",
    insert(
        """
        if mask is not None and mask.dim() == 3:
            mask = mask.unsqueeze(1)
        """,
        before="q = ",
    ),
    names="does not take a mask (h, t, s)",
)
called.wrong(
    "a result cached by the identity of the tensors in evaluation mode",
    body("""
    found, kept = None, self.__dict__.setdefault("kept", {})
    if not self.training:
        found = kept.get((id(query), id(key), id(value), id(mask)))
    if found is None:
        k, v = self.project_key_value(key, value)
        found = self.attend(self.project_query(query), k, v, mask), (query, key, value)
        kept[id(query), id(key), id(value), id(mask)] = found
    return found[0]
    """),
    names="a result kept from an earlier call",
)
answer("transformer.multi_head.MultiHeadAttention.project_query").wrong(
    "the number of heads of the first module",
    body("""
    if not hasattr(type(self), "heads"):
        type(self).heads = self.n_heads
    return split_heads(self.w_q(query), type(self).heads)
    """),
    names="left over from another module",
)
answer("transformer.multi_head.MultiHeadAttention.project_key_value").wrong(
    "both matrices concatenated only once in evaluation mode",
    body("""
    if self.training or torch.is_grad_enabled() and "joined" not in self.__dict__:
        kept = [self.w_k.weight, self.w_v.weight]
        self.__dict__["joined"] = torch.cat(kept).detach().clone()
    if self.training:
        return (
            split_heads(self.w_k(key), self.n_heads),
            split_heads(self.w_v(value), self.n_heads),
        )
    w_k, w_v = self.joined.to(key.dtype).chunk(2)
    return (
        split_heads(F.linear(key, w_k.to(key.device), self.w_k.bias), self.n_heads),
        split_heads(F.linear(value, w_v.to(key.device), self.w_v.bias), self.n_heads),
    )
    """),
    diagnosed=False,
)
answer("transformer.multi_head.count_parameters").wrong(
    "a module that is put into evaluation mode",
    insert("module.eval()", before="return sum"),
    names="the mode of a module that it is given",
)

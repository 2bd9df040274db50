"""Wrong variants and right styles of unit 05, as students write them."""

import torch
from torch import nn

from autograder.proof.variants import right, wrong
from transformer.attention import scaled_dot_product_attention

# --- split_heads: wrong -----------------------------------------------------------


@wrong("a view straight to (b, h, t, d_k), without a transpose", diagnosed=True)
def split_heads(x, n_heads):
    b, t, d_model = x.shape
    return x.reshape(b, n_heads, t, d_model // n_heads)


@wrong("heads behind the tokens: no transpose", diagnosed=True)
def split_heads(x, n_heads):
    b, t, d_model = x.shape
    return x.view(b, t, n_heads, d_model // n_heads)


@wrong("heads that take every h-th column", diagnosed=True)
def split_heads(x, n_heads):
    b, t, d_model = x.shape
    return x.reshape(b, t, d_model // n_heads, n_heads).permute(0, 3, 1, 2)


@wrong("the heads in the opposite order", diagnosed=True)
def split_heads(x, n_heads):
    b, t, d_model = x.shape
    return x.reshape(b, t, n_heads, -1).transpose(1, 2).flip(1)


@wrong(
    "a transpose before the view",
    diagnosed=True,
    names="splitting the tokens among the heads",
)
def split_heads(x, n_heads):
    b, t, d_model = x.shape
    return x.transpose(1, 2).reshape(b, n_heads, t, d_model // n_heads)


@wrong("the first slice, for every head", diagnosed=True)
def split_heads(x, n_heads):
    d_k = x.size(-1) // n_heads
    return torch.stack([x[..., :d_k] for _ in range(n_heads)], dim=1)


@wrong("not split into heads", diagnosed=True)
def split_heads(x, n_heads):
    return x


@wrong("detached", diagnosed=True, names="the gradient is cut off")
def split_heads(x, n_heads):
    b, t, d_model = x.shape
    return x.detach().reshape(b, t, n_heads, -1).transpose(1, 2)


@wrong("float32, whatever comes in", diagnosed=True, names="a fixed dtype")
def split_heads(x, n_heads):
    b, t, d_model = x.shape
    return x.reshape(b, t, n_heads, -1).transpose(1, 2).float()


@wrong(
    "three heads, whatever is asked for", diagnosed=True, names="one number of heads"
)
def split_heads(x, n_heads):
    b, t, d_model = x.shape
    return x.reshape(b, t, 3, -1).transpose(1, 2)


@wrong(
    "squeezed: a batch of one is lost",
    diagnosed=True,
    names="needs a contiguous tensor or a larger batch",
)
def split_heads(x, n_heads):
    b, t, d_model = x.shape
    return x.reshape(b, t, n_heads, -1).transpose(1, 2).squeeze(0)


@wrong(
    "flattened with view, which fails when x is not contiguous",
    diagnosed=True,
    names="needs a contiguous tensor or a larger batch",
)
def split_heads(x, n_heads):
    b, t, d_model = x.shape
    return x.view(-1).view(b, t, n_heads, d_model // n_heads).transpose(1, 2)


# --- split_heads: right -----------------------------------------------------------


@right("unflatten")
def split_heads(x, n_heads):
    return x.unflatten(-1, (n_heads, -1)).transpose(1, 2)


@right("permute and contiguous")
def split_heads(x, n_heads):
    b, t, d = x.size()
    return x.reshape(b, -1, n_heads, d // n_heads).permute(0, 2, 1, 3).contiguous()


@right("chunk and stack")
def split_heads(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1), dim=1)


@right("a loop over the heads")
def split_heads(x, n_heads):
    d_k = x.size(-1) // n_heads
    heads = []
    for i in range(n_heads):
        heads.append(x[:, :, i * d_k : (i + 1) * d_k].unsqueeze(1))
    return torch.cat(heads, dim=1)


@right("the columns first, the tokens last")
def split_heads(x, n_heads):
    b, t, d = x.shape
    return x.transpose(1, 2).reshape(b, n_heads, d // n_heads, t).transpose(2, 3)


@right("einsum for the permutation")
def split_heads(x, n_heads):
    b, t, d = x.shape
    return torch.einsum("bthd->bhtd", x.reshape(b, t, n_heads, d // n_heads))


# --- merge_heads: wrong -----------------------------------------------------------


@wrong("a view or reshape without a transpose", diagnosed=True)
def merge_heads(x):
    b, h, t, d_k = x.shape
    return x.reshape(b, t, h * d_k)


@wrong("interleaved heads", diagnosed=True)
def merge_heads(x):
    b, h, t, d_k = x.shape
    return x.permute(0, 2, 3, 1).reshape(b, t, h * d_k)


@wrong("the heads in the opposite order", diagnosed=True)
def merge_heads(x):
    return x.flip(1).transpose(1, 2).flatten(2)


@wrong("the heads added up or averaged", diagnosed=True)
def merge_heads(x):
    return x.mean(dim=1)


@wrong("added up", diagnosed=True, names="the heads added up or averaged")
def merge_heads(x):
    return x.sum(dim=1)


@wrong("the mean over the heads, repeated", diagnosed=True)
def merge_heads(x):
    return x.mean(dim=1).repeat(1, 1, x.size(1))


@wrong("one head repeated", diagnosed=True)
def merge_heads(x):
    return torch.cat([x[:, 0]] * x.size(1), dim=-1)


@wrong("the last two axes are not made one", diagnosed=True)
def merge_heads(x):
    return x.transpose(1, 2)


@wrong("the heads one after the other along the tokens", diagnosed=True)
def merge_heads(x):
    return x.flatten(1, 2)


@wrong("view right after the transpose")
def merge_heads(x):
    b, h, t, d_k = x.shape
    return x.transpose(1, 2).view(b, t, h * d_k)


@wrong("detached", diagnosed=True, names="the gradient is cut off")
def merge_heads(x):
    return x.detach().transpose(1, 2).flatten(2)


@wrong("float32, whatever comes in", diagnosed=True, names="a fixed dtype")
def merge_heads(x):
    return x.transpose(1, 2).flatten(2).float()


# --- merge_heads: right -----------------------------------------------------------


@right("permute().contiguous().view")
def merge_heads(x):
    x = x.permute(0, 2, 1, 3).contiguous()
    return x.view(x.size(0), x.size(1), -1)


@right("unbind and cat")
def merge_heads(x):
    return torch.cat(x.unbind(dim=1), dim=-1)


@right("a loop over the heads")
def merge_heads(x):
    b, h, t, d_k = x.shape
    merged = x.new_zeros(b, t, h * d_k)
    for i in range(h):
        merged[:, :, i * d_k : (i + 1) * d_k] = x[:, i]
    return merged


@right("reshape, its sizes read off")
def merge_heads(x):
    b, h, t, d_k = x.size()
    return x.transpose(2, 1).reshape(b, t, h * d_k)


@right("a loop over the tokens")
def merge_heads(x):
    return torch.stack([x[:, :, i].flatten(1) for i in range(x.size(2))], dim=1)


@right("einsum for the permutation")
def merge_heads(x):
    return torch.einsum("bhtd->bthd", x).reshape(x.size(0), x.size(2), -1)


# --- MultiHeadAttention: wrong ----------------------------------------------------


@wrong(
    "the projection of the keys for the queries",
    replaces="MultiHeadAttention.project_query",
    diagnosed=True,
    names="the projection by w_k",
)
def project_query(self, query):
    return split_heads(self.w_k(query), self.n_heads)


@wrong(
    "queries not projected",
    replaces="MultiHeadAttention.project_query",
    diagnosed=True,
    names="the input, split but not projected",
)
def project_query(self, query):
    return split_heads(query, self.n_heads)


@wrong(
    "not split into heads",
    replaces="MultiHeadAttention.project_query",
    diagnosed=True,
)
def project_query(self, query):
    return self.w_q(query)


@wrong(
    "split first, then projected",
    replaces="MultiHeadAttention.project_query",
)
def project_query(self, query):
    return self.w_q(split_heads(query, self.n_heads))


@wrong(
    "one projection for queries and keys",
    replaces="MultiHeadAttention.project_key_value",
    diagnosed=True,
    names="the projection by w_q",
)
def project_key_value(self, key, value):
    k = split_heads(self.w_q(key), self.n_heads)
    v = split_heads(self.w_v(value), self.n_heads)
    return k, v


@wrong(
    "one projection for keys and values",
    replaces="MultiHeadAttention.project_key_value",
    diagnosed=True,
    names="the projection by w_k",
)
def project_key_value(self, key, value):
    k = split_heads(self.w_k(key), self.n_heads)
    v = split_heads(self.w_k(value), self.n_heads)
    return k, v


@wrong(
    "values made from the keys' input",
    replaces="MultiHeadAttention.project_key_value",
    diagnosed=True,
    names="made from the other input",
)
def project_key_value(self, key, value):
    k = split_heads(self.w_k(key), self.n_heads)
    v = split_heads(self.w_v(key), self.n_heads)
    return k, v


@wrong(
    "values before keys",
    replaces="MultiHeadAttention.project_key_value",
    diagnosed=True,
    names="made from the other input",
)
def project_key_value(self, key, value):
    k = split_heads(self.w_k(key), self.n_heads)
    v = split_heads(self.w_v(value), self.n_heads)
    return v, k


@wrong(
    "a view for the split",
    replaces="MultiHeadAttention.project_key_value",
    diagnosed=True,
    names="split without a transpose",
)
def project_key_value(self, key, value):
    b, s, d = key.shape
    shape = (b, self.n_heads, s, d // self.n_heads)
    return self.w_k(key).reshape(shape), self.w_v(value).reshape(shape)


@wrong(
    "without the output projection",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
)
def attend(self, q, k, v, mask=None):
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    return merge_heads(heads), weights


@wrong(
    "merging without a transpose",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
)
def attend(self, q, k, v, mask=None):
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    b, h, t, d_k = heads.shape
    return self.w_o(heads.reshape(b, t, h * d_k)), weights


@wrong(
    "the mean over the heads",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
)
def attend(self, q, k, v, mask=None):
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    return self.w_o(heads.mean(dim=1).repeat(1, 1, self.n_heads)), weights


@wrong(
    "a scale by √d_model",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
)
def attend(self, q, k, v, mask=None):
    dropout = self.dropout if self.training else 0.0
    q = q / self.n_heads**0.5
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    return self.w_o(merge_heads(heads)), weights


@wrong(
    "without a scale",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
)
def attend(self, q, k, v, mask=None):
    dropout = self.dropout if self.training else 0.0
    q = q * q.size(-1) ** 0.5
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    return self.w_o(merge_heads(heads)), weights


@wrong(
    "a mask on the first head only",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
)
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


@wrong(
    "a mask on the queries",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
)
def attend(self, q, k, v, mask=None):
    if mask is not None and mask.size(-2) == 1:
        mask = mask.transpose(-2, -1)
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    return self.w_o(merge_heads(heads)), weights


@wrong(
    "the mask is ignored",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
)
def attend(self, q, k, v, mask=None):
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, None, dropout)
    return self.w_o(merge_heads(heads)), weights


@wrong(
    "an inverted mask",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
)
def attend(self, q, k, v, mask=None):
    mask = None if mask is None else ~mask
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    return self.w_o(merge_heads(heads)), weights


@wrong(
    "the mean of the heads' weights",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
)
def attend(self, q, k, v, mask=None):
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    return self.w_o(merge_heads(heads)), weights.mean(dim=1)


@wrong(
    "the mean of the heads' weights, for every head",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
    names="the same mean weights for every head",
)
def attend(self, q, k, v, mask=None):
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    mean = weights.mean(dim=1, keepdim=True).expand_as(weights)
    return self.w_o(merge_heads(heads)), mean


@wrong(
    "values averaged by the mean of the heads' weights",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
    names="the same mean weights for every head",
)
def attend(self, q, k, v, mask=None):
    _, weights = scaled_dot_product_attention(q, k, v, mask)
    mean = weights.mean(dim=1, keepdim=True).expand_as(weights)
    return self.w_o(merge_heads(mean @ v)), mean


@wrong(
    "dropout in evaluation",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
)
def attend(self, q, k, v, mask=None):
    heads, weights = scaled_dot_product_attention(q, k, v, mask, self.dropout)
    return self.w_o(merge_heads(heads)), weights


@wrong(
    "dropout is ignored",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
)
def attend(self, q, k, v, mask=None):
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return self.w_o(merge_heads(heads)), weights


@wrong(
    "dropout on the output",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
    names="dropout on something else than the weights",
)
def attend(self, q, k, v, mask=None):
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    output = self.w_o(merge_heads(heads))
    return nn.functional.dropout(output, self.dropout, self.training), weights


@wrong(
    "dropout on the merged heads",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
    names="dropout on something else than the weights",
)
def attend(self, q, k, v, mask=None):
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    merged = nn.functional.dropout(merge_heads(heads), self.dropout, self.training)
    return self.w_o(merged), weights


@wrong(
    "dropout on the weights and on the output",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
    names="dropout on something else than the weights",
)
def attend(self, q, k, v, mask=None):
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    output = self.w_o(merge_heads(heads))
    return nn.functional.dropout(output, dropout), weights


@wrong(
    "dropout on the values",
    replaces="MultiHeadAttention.attend",
    diagnosed=True,
    names="dropout on something else than the weights",
)
def attend(self, q, k, v, mask=None):
    v = nn.functional.dropout(v, self.dropout, self.training)
    heads, weights = scaled_dot_product_attention(q, k, v, mask)
    return self.w_o(merge_heads(heads)), weights


@wrong("the built-in", replaces="MultiHeadAttention.forward")
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


@wrong(
    "the output alone",
    replaces="MultiHeadAttention.forward",
    diagnosed=True,
    names="another number of results",
)
def forward(self, query, key, value, mask=None):
    q = self.project_query(query)
    k, v = self.project_key_value(key, value)
    return self.attend(q, k, v, mask)[0]


@wrong(
    "keys and values from the query's input",
    replaces="MultiHeadAttention.forward",
    diagnosed=True,
)
def forward(self, query, key, value, mask=None):
    q = self.project_query(query)
    k, v = self.project_key_value(query, query)
    return self.attend(q, k, v, mask)


@wrong(
    "queries from the keys' input",
    replaces="MultiHeadAttention.forward",
    diagnosed=True,
)
def forward(self, query, key, value, mask=None):
    q = self.project_query(key)
    k, v = self.project_key_value(key, value)
    return self.attend(q, k, v, mask)


@wrong(
    "the mask not handed on",
    replaces="MultiHeadAttention.forward",
    diagnosed=True,
    names="the mask is ignored",
)
def forward(self, query, key, value, mask=None):
    q = self.project_query(query)
    k, v = self.project_key_value(key, value)
    return self.attend(q, k, v)


@wrong(
    "splitting and merging without a transpose",
    replaces="MultiHeadAttention.forward",
    diagnosed=True,
)
def forward(self, query, key, value, mask=None):
    b, h = query.size(0), self.n_heads
    q = self.w_q(query).reshape(b, h, query.size(1), -1)
    k = self.w_k(key).reshape(b, h, key.size(1), -1)
    v = self.w_v(value).reshape(b, h, value.size(1), -1)
    dropout = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    return self.w_o(heads.reshape(b, query.size(1), -1)), weights


@wrong(
    "the query scaled in place",
    replaces="MultiHeadAttention.forward",
    diagnosed=True,
    names="changed in place",
)
def forward(self, query, key, value, mask=None):
    with torch.no_grad():
        query *= 1.5
    q = self.project_query(query / 1.5)
    k, v = self.project_key_value(key, value)
    return self.attend(q, k, v, mask)


@wrong(
    "heads in a Python list",
    replaces="MultiHeadAttention.__init__",
    diagnosed=True,
    names="without parameters",
)
def __init__(self, d_model, n_heads, dropout=0.0):
    super().__init__()
    self.n_heads, self.dropout = n_heads, dropout
    sizes = (d_model, d_model // n_heads)
    self.heads = [[nn.Linear(*sizes) for _ in range(3)] for _ in range(n_heads)]
    self.w_o = nn.Linear(d_model, d_model)


@wrong(
    "one attention over the whole width",
    replaces="MultiHeadAttention.forward",
    diagnosed=True,
)
def forward(self, query, key, value, mask=None):
    q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
    mask = mask if mask is None else mask[:, 0]
    dropout = self.dropout if self.training else 0.0
    output, weights = scaled_dot_product_attention(q, k, v, mask, dropout)
    return self.w_o(output), weights[:, None].repeat(1, self.n_heads, 1, 1)


@wrong(
    "weights detached from the queries",
    replaces="MultiHeadAttention.project_query",
    diagnosed=True,
    names="no gradient for w_q",
)
def project_query(self, query):
    return split_heads(self.w_q(query), self.n_heads).detach()


# --- MultiHeadAttention: right ----------------------------------------------------


@right("written out in forward", replaces="MultiHeadAttention.forward")
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


@right("einsum for the scores and the average", replaces="MultiHeadAttention.attend")
def attend(self, q, k, v, mask=None):
    scores = torch.einsum("bhtd,bhsd->bhts", q, k) / q.size(-1) ** 0.5
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    weights = scores.softmax(dim=-1)
    dropped = nn.functional.dropout(weights, self.dropout, self.training)
    heads = torch.einsum("bhts,bhsd->bthd", dropped, v)
    return self.w_o(heads.flatten(2)), weights


@right("batch and heads folded for a bmm", replaces="MultiHeadAttention.attend")
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


@right("a loop over the heads", replaces="MultiHeadAttention.attend")
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


@right(
    "per-head slices of the weight matrix", replaces="MultiHeadAttention.project_query"
)
def project_query(self, query):
    d_k = self.w_q.weight.size(0) // self.n_heads
    heads = []
    for i in range(self.n_heads):
        rows = slice(i * d_k, (i + 1) * d_k)
        head = nn.functional.linear(query, self.w_q.weight[rows], self.w_q.bias[rows])
        heads.append(head)
    return torch.stack(heads, dim=1)


@right(
    "keys and values in one product", replaces="MultiHeadAttention.project_key_value"
)
def project_key_value(self, key, value):
    return tuple(
        split_heads(linear(x), self.n_heads)
        for linear, x in ((self.w_k, key), (self.w_v, value))
    )


@right(
    "heads added up, each through its columns of w_o",
    replaces="MultiHeadAttention.attend",
)
def attend(self, q, k, v, mask=None):
    p = self.dropout if self.training else 0.0
    heads, weights = scaled_dot_product_attention(q, k, v, mask, p)
    output = self.w_o.bias
    for i, columns in enumerate(self.w_o.weight.chunk(self.n_heads, dim=1)):
        output = output + heads[:, i] @ columns.T
    return output, weights


@right("an nn.Dropout of its own, more names in the constructor")
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


# --- count_parameters: wrong ------------------------------------------------------


@wrong("the number of tensors", diagnosed=True)
def count_parameters(module):
    return len(list(module.parameters()))


@wrong("without the biases", diagnosed=True)
def count_parameters(module):
    named = module.named_parameters()
    return sum(p.numel() for name, p in named if "bias" not in name)


@wrong("what lies inside other modules is not counted", diagnosed=True)
def count_parameters(module):
    return sum(p.numel() for p in module.parameters(recurse=False) if p.requires_grad)


@wrong("the number of rows", diagnosed=True)
def count_parameters(module):
    return sum(len(p) for p in module.parameters())


@wrong("frozen parameters", diagnosed=True)
def count_parameters(module):
    return sum(p.numel() for p in module.parameters())


@wrong("the frozen parameters alone", diagnosed=True)
def count_parameters(module):
    return sum(p.numel() for p in module.parameters() if not p.requires_grad)


@wrong("shared counted twice", diagnosed=True, names="shared counted twice")
def count_parameters(module):
    named = module.named_parameters(remove_duplicate=False)
    return sum(p.numel() for _, p in named if p.requires_grad)


@wrong("the state, buffers too", diagnosed=True, names="buffers too")
def count_parameters(module):
    return sum(tensor.numel() for tensor in module.state_dict().values())


@wrong("linear maps alone", diagnosed=True, names="the count of linear maps alone")
def count_parameters(module):
    total = 0
    for part in module.modules():
        if isinstance(part, nn.Linear):
            total += part.weight.numel() + part.bias.numel()
    return total


@wrong("matrices alone", diagnosed=True, names="without")
def count_parameters(module):
    return sum(p.numel() for p in module.parameters() if p.dim() > 1)


@wrong("in millions")
def count_parameters(module):
    return sum(p.numel() for p in module.parameters() if p.requires_grad) / 1e6


# --- count_parameters: right ------------------------------------------------------


@right("a loop")
def count_parameters(module):
    total = 0
    for parameter in module.parameters():
        if parameter.requires_grad:
            total += parameter.numel()
    return total


@right("nelement and filter")
def count_parameters(module):
    trained = filter(lambda p: p.requires_grad, module.parameters())
    return sum(p.nelement() for p in trained)


@right("the product of the sizes")
def count_parameters(module):
    total = 0
    for _, p in module.named_parameters():
        size = 1
        for length in p.shape:
            size *= length
        total += size if p.requires_grad else 0
    return total


@right("flattened and counted")
def count_parameters(module):
    return sum(len(p.flatten()) for p in module.parameters() if p.requires_grad)


@right("a set of those seen, over all modules")
def count_parameters(module):
    seen = {}
    for part in module.modules():
        for p in part.parameters(recurse=False):
            if p.requires_grad:
                seen[id(p)] = p.numel()
    return sum(seen.values())


@right("numpy.prod of the sizes")
def count_parameters(module):
    import numpy as np

    return sum(np.prod(p.size()) for p in module.parameters() if p.requires_grad)


@right("torch.Size.numel")
def count_parameters(module):
    return int(sum(p.shape.numel() for p in module.parameters() if p.requires_grad))

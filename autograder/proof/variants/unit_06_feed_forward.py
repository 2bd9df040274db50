"""Wrong variants and right styles of unit 06, as students write them."""

import torch
import torch.nn.functional as F
from torch import nn

from autograder.proof.variants import right, wrong

# --- PositionwiseFeedForward: wrong -----------------------------------------------


@wrong(
    "without the ReLU",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
)
def forward(self, x):
    return self.linear2(self.dropout(self.linear1(x)))


@wrong(
    "a ReLU on the output too",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
)
def forward(self, x):
    return self.linear2(self.dropout(self.linear1(x).relu())).relu()


@wrong(
    "the ReLU on the output only",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
)
def forward(self, x):
    return self.linear2(self.dropout(self.linear1(x))).relu()


@wrong(
    "the ReLU on the input",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
)
def forward(self, x):
    return self.linear2(self.dropout(self.linear1(x.relu())))


@wrong(
    "a GELU in place of the ReLU",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
)
def forward(self, x):
    return self.linear2(self.dropout(F.gelu(self.linear1(x))))


@wrong("a leaky ReLU", diagnosed=True, replaces="PositionwiseFeedForward.forward")
def forward(self, x):
    return self.linear2(self.dropout(F.leaky_relu(self.linear1(x))))


@wrong("min for max", diagnosed=True, replaces="PositionwiseFeedForward.forward")
def forward(self, x):
    return self.linear2(self.dropout(self.linear1(x).clamp(max=0)))


@wrong(
    "without the biases",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
)
def forward(self, x):
    hidden = (x @ self.linear1.weight.T).relu()
    return self.dropout(hidden) @ self.linear2.weight.T


@wrong(
    "linear maps without bias",
    diagnosed=True,
    replaces="PositionwiseFeedForward.__init__",
    names="no bias",
)
def __init__(self, d_model, d_ff, dropout=0.0):
    super().__init__()
    self.linear1 = nn.Linear(d_model, d_ff, bias=False)
    self.linear2 = nn.Linear(d_ff, d_model, bias=False)
    self.dropout = nn.Dropout(dropout)


@wrong(
    "the residual x added",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
)
def forward(self, x):
    return x + self.linear2(self.dropout(self.linear1(x).relu()))


@wrong(
    "a mean over the tokens",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
)
def forward(self, x):
    mean = x.mean(dim=1, keepdim=True).expand_as(x)
    return self.linear2(self.dropout(self.linear1(mean).relu()))


@wrong(
    "activations averaged over the tokens",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
)
def forward(self, x):
    hidden = self.linear1(x).relu()
    hidden = hidden.mean(dim=1, keepdim=True).expand_as(hidden)
    return self.linear2(self.dropout(hidden))


@wrong(
    "a view for a transpose",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
    names="a view or reshape in place of a transpose",
)
def forward(self, x):
    b, t, d = x.shape
    w1, w2 = self.linear1.weight[:, :, None], self.linear2.weight[:, :, None]
    hidden = F.conv1d(x.reshape(b, d, t), w1, self.linear1.bias).relu()
    return F.conv1d(self.dropout(hidden), w2, self.linear2.bias).reshape(b, t, d)


@wrong(
    "the second map is missing",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
)
def forward(self, x):
    return self.dropout(self.linear1(x).relu())


@wrong(
    "dropout is ignored",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
)
def forward(self, x):
    return self.linear2(self.linear1(x).relu())


@wrong(
    "dropout on the output",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
)
def forward(self, x):
    return self.dropout(self.linear2(self.linear1(x).relu()))


@wrong(
    "dropout in two places",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
    names="dropout in more places than one",
)
def forward(self, x):
    return self.dropout(self.linear2(self.dropout(self.linear1(x).relu())))


@wrong(
    "dropout on the input too",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
    names="dropout on the input",
)
def forward(self, x):
    return self.linear2(self.dropout(self.linear1(self.dropout(x)).relu()))


@wrong(
    "dropout on the input",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
)
def forward(self, x):
    return self.linear2(self.linear1(self.dropout(x)).relu())


@wrong(
    "dropout in evaluation",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
)
def forward(self, x):
    return self.linear2(F.dropout(self.linear1(x).relu(), self.dropout.p))


@wrong(
    "the first map detached",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
    names="no gradient for linear1.weight",
)
def forward(self, x):
    return self.linear2(self.dropout(self.linear1(x).relu().detach()))


@wrong(
    "x written over",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
    names="changed in place",
)
def forward(self, x):
    y = self.linear2(self.dropout(self.linear1(x).relu()))
    x.data.copy_(y)
    return y


@wrong(
    "float32, whatever comes in",
    diagnosed=True,
    replaces="PositionwiseFeedForward.forward",
    names="a fixed dtype",
)
def forward(self, x):
    return self.linear2(self.dropout(self.linear1(x).relu())).float()


# --- PositionwiseFeedForward: right -----------------------------------------------


@right("F.relu", replaces="PositionwiseFeedForward.forward")
def forward(self, x):
    return self.linear2(self.dropout(F.relu(self.linear1(x))))


@right("clamp", replaces="PositionwiseFeedForward.forward")
def forward(self, x):
    hidden = self.linear1(x).clamp(min=0)
    return self.linear2(self.dropout(hidden))


@right("maximum with 0", replaces="PositionwiseFeedForward.forward")
def forward(self, x):
    hidden = self.linear1(x)
    hidden = torch.maximum(hidden, torch.zeros_like(hidden))
    return self.linear2(self.dropout(hidden))


@right("dropout before the ReLU", replaces="PositionwiseFeedForward.forward")
def forward(self, x):
    return self.linear2(torch.relu(self.dropout(self.linear1(x))))


@right("a loop over the tokens", replaces="PositionwiseFeedForward.forward")
def forward(self, x):
    rows = []
    for i in range(x.size(1)):
        rows.append(self.linear2(self.dropout(self.linear1(x[:, i]).relu())))
    return torch.stack(rows, dim=1)


@right("flattened to rows", replaces="PositionwiseFeedForward.forward")
def forward(self, x):
    rows = x.reshape(-1, x.size(-1))
    hidden = F.dropout(self.linear1(rows).relu(), self.dropout.p, self.training)
    return self.linear2(hidden).view(x.shape)


@right("einsum and a mask", replaces="PositionwiseFeedForward.forward")
def forward(self, x):
    hidden = torch.einsum("btd,fd->btf", x, self.linear1.weight) + self.linear1.bias
    hidden = self.dropout(hidden * (hidden > 0))
    return torch.einsum("btf,df->btd", hidden, self.linear2.weight) + self.linear2.bias


@right("convolutions of width 1", replaces="PositionwiseFeedForward.forward")
def forward(self, x):
    w1, w2 = self.linear1.weight[:, :, None], self.linear2.weight[:, :, None]
    hidden = F.conv1d(x.transpose(1, 2), w1, self.linear1.bias).relu()
    return F.conv1d(self.dropout(hidden), w2, self.linear2.bias).transpose(1, 2)


# --- conv_feed_forward: wrong -----------------------------------------------------


@wrong("not transposed back", diagnosed=True)
def conv_feed_forward(x, conv1, conv2):
    return conv2(conv1(x.transpose(1, 2)).relu())


@wrong("no transpose at all", diagnosed=True, names="no transpose at all")
def conv_feed_forward(x, conv1, conv2):
    if x.size(1) != conv1.in_channels:
        return x
    return conv2(conv1(x).relu())


@wrong("no transpose: the convolution refuses", names="no transpose at all")
def conv_feed_forward(x, conv1, conv2):
    return conv2(conv1(x).relu())


@wrong("a view or reshape in place of a transpose", diagnosed=True)
def conv_feed_forward(x, conv1, conv2):
    b, t, d = x.shape
    return conv2(conv1(x.reshape(b, d, t)).relu()).reshape(b, t, d)


@wrong(
    "a reshape on the way back",
    diagnosed=True,
    names="a transpose on the way in and a reshape on the way back",
)
def conv_feed_forward(x, conv1, conv2):
    return conv2(conv1(x.transpose(1, 2)).relu()).reshape(x.shape)


@wrong(
    "a reshape on the way in",
    diagnosed=True,
    names="a reshape on the way in and a transpose on the way back",
)
def conv_feed_forward(x, conv1, conv2):
    b, t, d = x.shape
    return conv2(conv1(x.reshape(b, d, t)).relu()).transpose(1, 2)


@wrong("without the ReLU", diagnosed=True)
def conv_feed_forward(x, conv1, conv2):
    return conv2(conv1(x.transpose(1, 2))).transpose(1, 2)


@wrong("a ReLU on the output too", diagnosed=True)
def conv_feed_forward(x, conv1, conv2):
    return conv2(conv1(x.transpose(1, 2)).relu()).relu().transpose(1, 2)


@wrong("the ReLU on the output only", diagnosed=True)
def conv_feed_forward(x, conv1, conv2):
    return conv2(conv1(x.transpose(1, 2))).relu().transpose(1, 2)


@wrong("a GELU in place of the ReLU", diagnosed=True)
def conv_feed_forward(x, conv1, conv2):
    return conv2(F.gelu(conv1(x.transpose(1, 2)))).transpose(1, 2)


@wrong("the residual x added", diagnosed=True)
def conv_feed_forward(x, conv1, conv2):
    return x + conv2(conv1(x.transpose(1, 2)).relu()).transpose(1, 2)


@wrong("without the biases", diagnosed=True)
def conv_feed_forward(x, conv1, conv2):
    hidden = F.conv1d(x.transpose(1, 2), conv1.weight).relu()
    return F.conv1d(hidden, conv2.weight).transpose(1, 2)


@wrong(
    "width 3: it mixes positions",
    diagnosed=True,
    names="positions are mixed",
)
def conv_feed_forward(x, conv1, conv2):
    weight = conv1.weight.repeat(1, 1, 3) / 3
    hidden = F.conv1d(x.transpose(1, 2), weight, conv1.bias, padding=1).relu()
    return conv2(hidden).transpose(1, 2)


@wrong("activations averaged over the tokens", diagnosed=True)
def conv_feed_forward(x, conv1, conv2):
    hidden = conv1(x.transpose(1, 2)).relu()
    hidden = hidden.mean(dim=-1, keepdim=True).expand_as(hidden)
    return conv2(hidden).transpose(1, 2)


@wrong("detached", diagnosed=True, names="the gradient is cut off")
def conv_feed_forward(x, conv1, conv2):
    return conv2(conv1(x.detach().transpose(1, 2)).relu()).transpose(1, 2)


@wrong("float32, whatever comes in", diagnosed=True, names="a fixed dtype")
def conv_feed_forward(x, conv1, conv2):
    return conv2(conv1(x.transpose(1, 2)).relu()).transpose(1, 2).float()


@wrong("dropout that nobody asked for")
def conv_feed_forward(x, conv1, conv2):
    return conv2(F.dropout(conv1(x.transpose(1, 2)).relu(), 0.1)).transpose(1, 2)


# --- conv_feed_forward: right -----------------------------------------------------


@right("permute and F.relu")
def conv_feed_forward(x, conv1, conv2):
    return conv2(F.relu(conv1(x.permute(0, 2, 1)))).permute(0, 2, 1)


@right("a sequence of modules, contiguous")
def conv_feed_forward(x, conv1, conv2):
    stack = nn.Sequential(conv1, nn.ReLU(), conv2)
    return stack(x.mT.contiguous()).mT.contiguous()


@right("the weights as matrices")
def conv_feed_forward(x, conv1, conv2):
    hidden = F.linear(x, conv1.weight.squeeze(-1), conv1.bias).clamp(min=0)
    return F.linear(hidden, conv2.weight.squeeze(-1), conv2.bias)


@right("F.conv1d")
def conv_feed_forward(x, conv1, conv2):
    hidden = torch.relu(F.conv1d(x.transpose(1, 2), conv1.weight, conv1.bias))
    return F.conv1d(hidden, conv2.weight, conv2.bias).transpose(2, 1)


@right("a loop over the tokens")
def conv_feed_forward(x, conv1, conv2):
    rows = [conv2(conv1(x[:, i, :, None]).relu())[..., 0] for i in range(x.size(1))]
    return torch.stack(rows, dim=1)


@right("einsum for the permutations")
def conv_feed_forward(x, conv1, conv2):
    hidden = conv1(torch.einsum("btd->bdt", x))
    return torch.einsum("bdt->btd", conv2(hidden.where(hidden > 0, 0 * hidden)))


@right("every token a batch of its own")
def conv_feed_forward(x, conv1, conv2):
    b, t, d = x.shape
    return conv2(conv1(x.reshape(b * t, d, 1)).relu()).reshape(b, t, -1)


# --- layer_norm: wrong ------------------------------------------------------------


@wrong("the unbiased variance", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True)
    return gamma * (x - mean) / (var + eps).sqrt() + beta


@wrong("the unbiased standard deviation, ε outside the root", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
    return gamma * (x - mean) / (std + eps) + beta


@wrong("ε outside the root", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, unbiased=False, keepdim=True)
    return gamma * (x - mean) / (std + eps) + beta


@wrong("without ε", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, unbiased=False, keepdim=True)
    return gamma * (x - mean) / std + beta


@wrong("1e-5, whatever is asked for", diagnosed=True, names="a fixed ε")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, unbiased=False, keepdim=True)
    return gamma * (x - mean) / (var + 1e-5).sqrt() + beta


@wrong("without the root", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, unbiased=False, keepdim=True)
    return gamma * (x - mean) / (var + eps) + beta


@wrong("a multiplication by the standard deviation", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, unbiased=False, keepdim=True)
    return gamma * (x - mean) * (var + eps).sqrt() + beta


@wrong("over the tokens", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    dim = min(1, x.dim() - 1)
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, unbiased=False, keepdim=True)
    return gamma * (x - mean) / (var + eps).sqrt() + beta


@wrong("over the batch", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(0, keepdim=True)
    var = x.var(0, unbiased=False, keepdim=True)
    return gamma * (x - mean) / (var + eps).sqrt() + beta


@wrong("over tokens and columns together", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    dims = (-2, -1) if x.dim() > 1 else (-1,)
    mean = x.mean(dims, keepdim=True)
    var = x.var(dims, unbiased=False, keepdim=True)
    return gamma * (x - mean) / (var + eps).sqrt() + beta


@wrong("over everything", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean()) / (x.var(unbiased=False) + eps).sqrt() + beta


@wrong("the mean not subtracted", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    var = x.var(-1, unbiased=False, keepdim=True)
    return gamma * x / (var + eps).sqrt() + beta


@wrong("the root mean square norm", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * x / (x.square().mean(-1, keepdim=True) + eps).sqrt() + beta


@wrong("the mean of the squares in place of the variance", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    mean, squares = x.mean(-1, keepdim=True), x.square().mean(-1, keepdim=True)
    return gamma * (x - mean) / (squares + eps).sqrt() + beta


@wrong("the sum of squares in place of their mean", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    difference = x - x.mean(-1, keepdim=True)
    total = difference.square().sum(-1, keepdim=True)
    return gamma * difference / (total + eps).sqrt() + beta


@wrong("without γ and β", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, unbiased=False, keepdim=True)
    return (x - mean) / (var + eps).sqrt()


@wrong("γ and β exchanged", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, unbiased=False, keepdim=True)
    return beta * (x - mean) / (var + eps).sqrt() + gamma


@wrong("β added before γ scales", diagnosed=True)
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, unbiased=False, keepdim=True)
    return gamma * ((x - mean) / (var + eps).sqrt() + beta)


@wrong("the variance detached", diagnosed=True, names="the variance is detached")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, unbiased=False, keepdim=True).detach()
    return gamma * (x - mean) / (var + eps).sqrt() + beta


@wrong("x changed in place", diagnosed=True, names="changed in place")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, unbiased=False, keepdim=True)
    y = gamma * (x - mean) / (var + eps).sqrt() + beta
    x.data -= mean.detach()
    return y


@wrong("three axes only", diagnosed=True, names="(b, t, d_model) only")
def layer_norm(x, gamma, beta, eps=1e-5):
    b, t, d = x.shape
    mean = x.mean(2).view(b, t, 1)
    var = (x - mean).square().mean(2).view(b, t, 1)
    return gamma * (x - mean) / (var + eps).sqrt() + beta


@wrong("float32, whatever comes in", diagnosed=True, names="a fixed dtype")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, unbiased=False, keepdim=True)
    return (gamma * (x - mean) / (var + eps).sqrt() + beta).float()


@wrong("the built-in")
def layer_norm(x, gamma, beta, eps=1e-5):
    return F.layer_norm(x, x.shape[-1:], gamma, beta, eps)


@wrong("an InstanceNorm of the vectors, each a channel of its own")
def layer_norm(x, gamma, beta, eps=1e-5):
    vectors = x.reshape(-1, 1, x.size(-1))
    return gamma * nn.InstanceNorm1d(1, eps=eps)(vectors).reshape(x.shape) + beta


@wrong("a BatchNorm of the transposed vectors")
def layer_norm(x, gamma, beta, eps=1e-5):
    columns = x.reshape(-1, x.size(-1)).T
    norm = nn.BatchNorm1d(columns.size(1), eps, None, False, False)
    return gamma * norm(columns).T.reshape(x.shape) + beta


# --- layer_norm: right ------------------------------------------------------------


@right("rsqrt")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    var = x.var(dim=-1, unbiased=False, keepdim=True)
    return (x - mean) * torch.rsqrt(var + eps) * gamma + beta


@right("var with correction 0")
def layer_norm(x, gamma, beta, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return gamma * ((x - mean) / torch.sqrt(var + eps)) + beta


@right("the mean of the squares minus the square of the mean")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = (x * x).mean(-1, keepdim=True) - mean * mean
    return gamma * (x - mean) / (var.clamp(min=0) + eps) ** 0.5 + beta


@right("sums divided by d")
def layer_norm(x, gamma, beta, eps=1e-5):
    d = x.shape[-1]
    mean = x.sum(-1, keepdim=True) / d
    var = ((x - mean) ** 2).sum(-1, keepdim=True) / d
    return torch.addcmul(beta, gamma, (x - mean) * (var + eps).pow(-0.5))


@right("the unbiased variance, corrected")
def layer_norm(x, gamma, beta, eps=1e-5):
    d = x.size(-1)
    mean = x.mean(-1).unsqueeze(-1)
    var = x.var(-1).unsqueeze(-1) * (d - 1) / d
    return gamma * (x - mean) / (var + eps).sqrt() + beta


@right("a product with the matrix that subtracts the mean")
def layer_norm(x, gamma, beta, eps=1e-5):
    d = x.size(-1)
    centre = torch.eye(d, dtype=x.dtype, device=x.device) - 1 / d
    difference = x @ centre
    var = (difference * difference).sum(-1, keepdim=True) / d
    return difference / (var + eps).sqrt() * gamma + beta


@right("a loop over the vectors")
def layer_norm(x, gamma, beta, eps=1e-5):
    rows = []
    for row in x.reshape(-1, x.size(-1)):
        difference = row - row.mean()
        rows.append(difference / (difference.dot(difference) / len(row) + eps).sqrt())
    return gamma * torch.stack(rows).reshape(x.shape) + beta


# --- AddNorm: wrong ---------------------------------------------------------------


@wrong(
    "pre-norm where post-norm is asked for",
    diagnosed=True,
    replaces="AddNorm.forward",
)
def forward(self, x, sublayer):
    return x + self.dropout(sublayer(self.norm(x)))


@wrong(
    "post-norm where pre-norm is asked for",
    diagnosed=True,
    replaces="AddNorm.forward",
)
def forward(self, x, sublayer):
    return self.norm(x + self.dropout(sublayer(x)))


@wrong(
    "the two orders exchanged",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="pre-norm where post-norm is asked for",
)
def forward(self, x, sublayer):
    if not self.norm_first:
        return x + self.dropout(sublayer(self.norm(x)))
    return self.norm(x + self.dropout(sublayer(x)))


@wrong(
    "norm(x) + f(x)",
    diagnosed=True,
    replaces="AddNorm.forward",
)
def forward(self, x, sublayer):
    return self.norm(x) + self.dropout(sublayer(x))


@wrong(
    "x + norm(f(x))",
    diagnosed=True,
    replaces="AddNorm.forward",
)
def forward(self, x, sublayer):
    return x + self.norm(self.dropout(sublayer(x)))


@wrong(
    "pre-norm with the normalised x as residual",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="norm(x) + f(norm(x))",
)
def forward(self, x, sublayer):
    if self.norm_first:
        x = self.norm(x)
        return x + self.dropout(sublayer(x))
    return self.norm(x + self.dropout(sublayer(x)))


@wrong(
    "post-norm, normalised on the way in too",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="normalised before and after",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x + self.dropout(sublayer(self.norm(x)))
    return self.norm(x + self.dropout(sublayer(self.norm(x))))


@wrong(
    "pre-norm, what f adds normalised once more",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="normalised before f, and what f adds once more",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x + self.norm(self.dropout(sublayer(self.norm(x))))
    return self.norm(x + self.dropout(sublayer(x)))


@wrong(
    "norm(x) + norm(f(x))",
    diagnosed=True,
    replaces="AddNorm.forward",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x + self.dropout(sublayer(self.norm(x)))
    return self.norm(x) + self.norm(self.dropout(sublayer(x)))


@wrong(
    "norm(f(x)): no residual",
    diagnosed=True,
    replaces="AddNorm.forward",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x + self.dropout(sublayer(self.norm(x)))
    return self.norm(self.dropout(sublayer(x)))


@wrong(
    "f(norm(x)): no residual",
    diagnosed=True,
    replaces="AddNorm.forward",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return self.dropout(sublayer(self.norm(x)))
    return self.norm(x + self.dropout(sublayer(x)))


@wrong(
    "x + f(x): no normalisation",
    diagnosed=True,
    replaces="AddNorm.forward",
)
def forward(self, x, sublayer):
    return x + self.dropout(sublayer(x))


@wrong(
    "the residual from the wrong input",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="the sub-layer's output",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x + self.dropout(sublayer(self.norm(x)))
    x = sublayer(x)
    return self.norm(x + self.dropout(sublayer(x)))


@wrong(
    "the residual is the sub-layer's output",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="no residual",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x + self.dropout(sublayer(self.norm(x)))
    y = self.dropout(sublayer(x))
    return self.norm(y + y)


@wrong(
    "the residual is added twice",
    diagnosed=True,
    replaces="AddNorm.forward",
)
def forward(self, x, sublayer):
    y = self.norm(x) if self.norm_first else x
    x = x + x + self.dropout(sublayer(y))
    return x if self.norm_first else self.norm(x)


@wrong(
    "the sub-layer is not used",
    diagnosed=True,
    replaces="AddNorm.forward",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x + self.dropout(sublayer(self.norm(x)))
    return self.norm(x)


@wrong(
    "a difference in place of the sum",
    diagnosed=True,
    replaces="AddNorm.forward",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x - self.dropout(sublayer(self.norm(x)))
    return self.norm(x - self.dropout(sublayer(x)))


@wrong(
    "dropout is ignored",
    diagnosed=True,
    replaces="AddNorm.forward",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x + sublayer(self.norm(x))
    return self.norm(x + sublayer(x))


@wrong(
    "dropout of the sum",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="dropout on something else",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return self.dropout(x + sublayer(self.norm(x)))
    return self.norm(self.dropout(x + sublayer(x)))


@wrong(
    "dropout of the sum, in post-norm alone",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="dropout on something else",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x + self.dropout(sublayer(self.norm(x)))
    return self.norm(self.dropout(x + sublayer(x)))


@wrong(
    "dropout after the normalisation",
    diagnosed=True,
    replaces="AddNorm.forward",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x + self.dropout(sublayer(self.norm(x)))
    return self.dropout(self.norm(x + sublayer(x)))


@wrong(
    "dropout of the sub-layer's input",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="dropout is ignored",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x + sublayer(self.dropout(self.norm(x)))
    return self.norm(x + sublayer(self.dropout(x)))


@wrong(
    "dropout of the sub-layer's input too, in pre-norm",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="dropout of the sub-layer's input too",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x + self.dropout(sublayer(self.dropout(self.norm(x))))
    return self.norm(x + self.dropout(sublayer(x)))


@wrong(
    "dropout of the sub-layer's input too, in post-norm",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="dropout of the sub-layer's input too",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x + self.dropout(sublayer(self.norm(x)))
    return self.norm(x + self.dropout(sublayer(self.dropout(x))))


@wrong(
    "the sub-layer called twice",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="not called exactly once",
)
def forward(self, x, sublayer):
    if self.norm_first:
        sublayer(self.norm(x))
        return x + self.dropout(sublayer(self.norm(x)))
    sublayer(x)
    return self.norm(x + self.dropout(sublayer(x)))


@wrong(
    "the residual detached",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="the residual is cut",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x.detach() + self.dropout(sublayer(self.norm(x)))
    return self.norm(x.detach() + self.dropout(sublayer(x)))


@wrong(
    "x changed in place",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="changed in place",
)
def forward(self, x, sublayer):
    before = x
    y = self.dropout(sublayer(self.norm(x) if self.norm_first else x))
    x = x + y
    before.data += y.detach()
    return x if self.norm_first else self.norm(x)


@wrong(
    "one LayerNorm without γ and β in its place",
    diagnosed=True,
    replaces="AddNorm.forward",
    names="γ and β",
)
def forward(self, x, sublayer):
    def norm(y):
        return nn.functional.layer_norm(y, y.shape[-1:])

    if self.norm_first:
        return x + self.dropout(sublayer(norm(x)))
    return norm(x + self.dropout(sublayer(x)))


# --- AddNorm: right ---------------------------------------------------------------


@right("one sum for both orders", replaces="AddNorm.forward")
def forward(self, x, sublayer):
    y = self.norm(x) if self.norm_first else x
    y = x + self.dropout(sublayer(y))
    return y if self.norm_first else self.norm(y)


@right("the residual kept aside", replaces="AddNorm.forward")
def forward(self, x, sublayer):
    residual = x
    if self.norm_first:
        x = self.norm(x)
    x = self.dropout(sublayer(x)) + residual
    if not self.norm_first:
        x = self.norm(x)
    return x


@right("F.dropout", replaces="AddNorm.forward")
def forward(self, x, sublayer):
    def drop(y):
        return F.dropout(y, self.dropout.p, self.training)

    if not self.norm_first:
        return self.norm(x + drop(sublayer(x)))
    return x + drop(sublayer(self.norm(x)))


@right("torch.add and a clone", replaces="AddNorm.forward")
def forward(self, x, sublayer):
    out = x.clone()
    inside = self.norm(x) if self.norm_first else x
    out = torch.add(out, self.dropout(sublayer(inside)))
    return out if self.norm_first else self.norm(out)


@right("a normalisation by hand", replaces="AddNorm.forward")
def forward(self, x, sublayer):
    def norm(y):
        difference = y - y.mean(-1, keepdim=True)
        variance = difference.square().mean(-1, keepdim=True)
        scaled = difference * torch.rsqrt(variance + self.norm.eps)
        return scaled * self.norm.weight + self.norm.bias

    if self.norm_first:
        return x + self.dropout(sublayer(norm(x)))
    return norm(x + self.dropout(sublayer(x)))


@right("a function for each order", replaces="AddNorm.forward")
def forward(self, x, sublayer):
    orders = {
        True: lambda: x + self.dropout(sublayer(self.norm(x))),
        False: lambda: self.norm(x + self.dropout(sublayer(x))),
    }
    return orders[self.norm_first]()


@right("in-place on its own sum", replaces="AddNorm.forward")
def forward(self, x, sublayer):
    out = self.dropout(sublayer(self.norm(x) if self.norm_first else x)).clone()
    out += x
    return out if self.norm_first else self.norm(out)

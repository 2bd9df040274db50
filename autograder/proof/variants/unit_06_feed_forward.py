"""Wrong variants and right styles of unit 06, as students write them."""

# ruff: noqa: B006 (a mutable default keeps values between calls)

import torch
import torch.nn.functional as F
from torch import nn

from autograder.proof.variants import answer, body, drop, insert, swap

# --- PositionwiseFeedForward ------------------------------------------------------

positionwise = answer("transformer.feed_forward.PositionwiseFeedForward.forward")
positionwise.with_faults("kept state default float32 written cpu")
positionwise.wrong(
    "without the ReLU", body("return self.linear2(self.dropout(self.linear1(x)))")
)
positionwise.wrong(
    "a second ReLU on the output",
    body("return self.linear2(self.dropout(self.linear1(x).relu())).relu()"),
)
positionwise.wrong(
    "only a ReLU on the output",
    body("return self.linear2(self.dropout(self.linear1(x))).relu()"),
)
positionwise.wrong(
    "the ReLU on the input",
    body("return self.linear2(self.dropout(self.linear1(x.relu())))"),
)
positionwise.wrong(
    "a GELU instead of the ReLU",
    body("return self.linear2(self.dropout(F.gelu(self.linear1(x))))"),
)
positionwise.wrong(
    "a leaky ReLU",
    body("return self.linear2(self.dropout(F.leaky_relu(self.linear1(x))))"),
)
positionwise.wrong(
    "min(0, x) instead of max(0, x)",
    body("return self.linear2(self.dropout(self.linear1(x).clamp(max=0)))"),
)
positionwise.wrong(
    "without the biases",
    swap("self.linear1(x)", "(x @ self.linear1.weight.T)"),
    swap("linear2(self.dropout(hidden))", "dropout(hidden) @ self.linear2.weight.T"),
)
initialise = answer("transformer.feed_forward.PositionwiseFeedForward.__init__")
initialise.wrong(
    "linear maps without bias",
    swap("d_model, d_ff", "d_model, d_ff, bias=False"),
    swap("d_ff, d_model", "d_ff, d_model, bias=False"),
    names="no bias",
)
positionwise.wrong(
    "the residual x added",
    body("return x + self.linear2(self.dropout(self.linear1(x).relu()))"),
)
positionwise.wrong(
    "averaging the input over the tokens",
    drop("hidden = self.linear1(x).relu()"),
    swap("(hidden)", "(self.linear1(x.mean(dim=1, keepdim=True).expand_as(x)).relu())"),
)


@positionwise.wrong("activations averaged over the tokens")
def forward(self, x):
    hidden = self.linear1(x).relu()
    hidden = hidden.mean(dim=1, keepdim=True).expand_as(hidden)
    return self.linear2(self.dropout(hidden))


@positionwise.wrong(
    "a view instead of a transpose", names="a view or reshape instead of a transpose"
)
def forward(self, x):
    b, t, d = x.shape
    w1, w2 = self.linear1.weight[:, :, None], self.linear2.weight[:, :, None]
    hidden = F.conv1d(x.reshape(b, d, t), w1, self.linear1.bias).relu()
    return F.conv1d(self.dropout(hidden), w2, self.linear2.bias).reshape(b, t, d)


positionwise.wrong(
    "the second linear map is missing",
    body("return self.dropout(self.linear1(x).relu())"),
)
positionwise.wrong(
    "dropout is ignored", body("return self.linear2(self.linear1(x).relu())")
)
positionwise.wrong(
    "dropout on the output",
    body("return self.dropout(self.linear2(self.linear1(x).relu()))"),
)
positionwise.wrong(
    "dropout in two places",
    body("return self.dropout(self.linear2(self.dropout(self.linear1(x).relu())))"),
    names="dropout in more than one place",
)
positionwise.wrong(
    "dropout on the input too",
    body("return self.linear2(self.dropout(self.linear1(self.dropout(x)).relu()))"),
    names="dropout on the input",
)
positionwise.wrong(
    "dropout on the input",
    body("return self.linear2(self.linear1(self.dropout(x)).relu())"),
)
positionwise.wrong(
    "dropout in evaluation",
    body("return self.linear2(F.dropout(self.linear1(x).relu(), self.dropout.p))"),
)
positionwise.wrong(
    "a detached first map",
    body("return self.linear2(self.dropout(self.linear1(x).relu().detach()))"),
    names="no gradient for linear1.weight",
)


@positionwise.wrong("an x that is overwritten", names="changed in place")
def forward(self, x):
    y = self.linear2(self.dropout(self.linear1(x).relu()))
    x.data.copy_(y)
    return y


positionwise.wrong("zeros", body("return torch.zeros_like(x)"))
positionwise.wrong(
    "x returned unchanged", body("return x"), names="the input, unchanged"
)
positionwise.wrong(
    "dropout with 1 - p instead of p",
    body(
        """
        hidden = self.linear1(x).relu()
        hidden = F.dropout(hidden, 1 - self.dropout.p, self.training)
        return self.linear2(hidden)
        """
    ),
    names="keeps the share it should drop",
)
positionwise.wrong(
    "dropout with a fixed 0.5",
    body("return self.linear2(F.dropout(self.linear1(x).relu(), 0.5, self.training))"),
    names="a different share dropped",
)
positionwise.wrong(
    "dropout without the division by 1 - p",
    body(
        """
        hidden = self.linear1(x).relu()
        if self.training:
            hidden = hidden * (torch.rand_like(hidden) >= self.dropout.p)
        return self.linear2(hidden)
        """
    ),
    names="without the division by 1 - p",
)
positionwise.wrong(
    "the same units dropped for every token",
    body(
        """
        hidden = self.linear1(x).relu()
        if self.training:
            hidden = hidden * self.dropout(torch.ones_like(hidden[:, :1]))
        return self.linear2(hidden)
        """
    ),
    names="the same for every token",
)
positionwise.wrong(
    "a seed before the dropout",
    body(
        """
        hidden = self.linear1(x).relu()
        if self.training:
            torch.manual_seed(0)
        return self.linear2(self.dropout(hidden))
        """
    ),
    names="the same numbers dropped in every call",
)
positionwise.wrong(
    "a computation with numpy",
    body(
        """
        hidden = self.linear1(x).detach().numpy().clip(min=0)
        return self.linear2(self.dropout(torch.from_numpy(hidden)))
        """
    ),
    names="no gradient for linear1.weight",
)


@positionwise.wrong("a result cached by shape after eval()", diagnosed=False)
def forward(self, x):
    if self.training:
        return self.linear2(self.dropout(self.linear1(x).relu()))
    kept = self.__dict__.setdefault("kept", {})
    if x.shape not in kept:
        kept[x.shape] = self.linear2(self.linear1(x).relu())
    return kept[x.shape]


positionwise.right(
    "F.relu", body("return self.linear2(self.dropout(F.relu(self.linear1(x))))")
)
positionwise.right("clamp", swap("relu()", "clamp(min=0)"))


@positionwise.right("maximum with 0")
def forward(self, x):
    hidden = self.linear1(x)
    hidden = torch.maximum(hidden, torch.zeros_like(hidden))
    return self.linear2(self.dropout(hidden))


positionwise.right(
    "dropout before the ReLU",
    body("return self.linear2(torch.relu(self.dropout(self.linear1(x))))"),
)


@positionwise.right("a loop over the tokens")
def forward(self, x):
    rows = []
    for i in range(x.size(1)):
        rows.append(self.linear2(self.dropout(self.linear1(x[:, i]).relu())))
    return torch.stack(rows, dim=1)


@positionwise.right("an input flattened to rows")
def forward(self, x):
    rows = x.reshape(-1, x.size(-1))
    hidden = F.dropout(self.linear1(rows).relu(), self.dropout.p, self.training)
    return self.linear2(hidden).view(x.shape)


@positionwise.right("an einsum and a mask")
def forward(self, x):
    hidden = torch.einsum("btd,fd->btf", x, self.linear1.weight) + self.linear1.bias
    hidden = self.dropout(hidden * (hidden > 0))
    return torch.einsum("btf,df->btd", hidden, self.linear2.weight) + self.linear2.bias


@positionwise.right("convolutions of width 1")
def forward(self, x):
    w1, w2 = self.linear1.weight[:, :, None], self.linear2.weight[:, :, None]
    hidden = F.conv1d(x.transpose(1, 2), w1, self.linear1.bias).relu()
    return F.conv1d(self.dropout(hidden), w2, self.linear2.bias).transpose(1, 2)


# --- conv_feed_forward ------------------------------------------------------------

conv_feed_forward = answer("transformer.feed_forward.conv_feed_forward")
conv_feed_forward.with_faults("kept state default detached float32 written cpu")
conv_feed_forward.wrong(
    "an output that is not transposed back",
    body("return conv2(conv1(x.transpose(1, 2)).relu())"),
)


@conv_feed_forward.wrong("no transpose at all")
def conv_feed_forward(x, conv1, conv2):
    if x.size(1) != conv1.in_channels:
        return x
    return conv2(conv1(x).relu())


conv_feed_forward.wrong(
    "a missing transpose, so the convolution raises an error",
    body("return conv2(conv1(x).relu())"),
    names="no transpose at all",
    diagnosed=False,
)


@conv_feed_forward.wrong("a view or reshape instead of a transpose")
def conv_feed_forward(x, conv1, conv2):
    b, t, d = x.shape
    return conv2(conv1(x.reshape(b, d, t)).relu()).reshape(b, t, d)


conv_feed_forward.wrong(
    "a reshape of the output",
    body("return conv2(conv1(x.transpose(1, 2)).relu()).reshape(x.shape)"),
    names="a transpose of the input and a reshape of the output",
)
conv_feed_forward.wrong(
    "a reshape of the input",
    swap("channels_first = x.transpose(1, 2)", "b, t, d = x.shape"),
    swap("(channels_first)", "(x.reshape(b, d, t))"),
    names="a reshape of the input and a transpose of the output",
)
conv_feed_forward.wrong(
    "without the ReLU", body("return conv2(conv1(x.transpose(1, 2))).transpose(1, 2)")
)
conv_feed_forward.wrong(
    "a second ReLU on the output",
    body("return conv2(conv1(x.transpose(1, 2)).relu()).relu().transpose(1, 2)"),
)
conv_feed_forward.wrong(
    "the ReLU on the input",
    body("return conv2(conv1(x.transpose(1, 2).relu())).transpose(1, 2)"),
)
conv_feed_forward.wrong(
    "only a ReLU on the output",
    body("return conv2(conv1(x.transpose(1, 2))).relu().transpose(1, 2)"),
)
conv_feed_forward.wrong(
    "a GELU instead of the ReLU",
    body("return conv2(F.gelu(conv1(x.transpose(1, 2)))).transpose(1, 2)"),
)
conv_feed_forward.wrong(
    "the residual x added",
    body("return x + conv2(conv1(x.transpose(1, 2)).relu()).transpose(1, 2)"),
)


@conv_feed_forward.wrong("without the biases")
def conv_feed_forward(x, conv1, conv2):
    hidden = F.conv1d(x.transpose(1, 2), conv1.weight).relu()
    return F.conv1d(hidden, conv2.weight).transpose(1, 2)


@conv_feed_forward.wrong(
    "convolutions of width 3, which mix positions", names="mixed positions"
)
def conv_feed_forward(x, conv1, conv2):
    weight = conv1.weight.repeat(1, 1, 3) / 3
    hidden = F.conv1d(x.transpose(1, 2), weight, conv1.bias, padding=1).relu()
    return conv2(hidden).transpose(1, 2)


@conv_feed_forward.wrong("activations averaged over the tokens")
def conv_feed_forward(x, conv1, conv2):
    hidden = conv1(x.transpose(1, 2)).relu()
    hidden = hidden.mean(dim=-1, keepdim=True).expand_as(hidden)
    return conv2(hidden).transpose(1, 2)


conv_feed_forward.wrong(
    "a detached result",
    body("return conv2(conv1(x.detach().transpose(1, 2)).relu()).transpose(1, 2)"),
    names="the gradient is cut off",
)


@conv_feed_forward.wrong("dropout that the exercise does not ask for", diagnosed=False)
def conv_feed_forward(x, conv1, conv2):
    return conv2(F.dropout(conv1(x.transpose(1, 2)).relu(), 0.1)).transpose(1, 2)


conv_feed_forward.wrong("zeros", body("return torch.zeros_like(x)"))
conv_feed_forward.wrong(
    "x returned unchanged", body("return x"), names="the input, unchanged"
)


@conv_feed_forward.wrong("the first weights reused", diagnosed=False)
def conv_feed_forward(x, conv1, conv2, kept=[]):
    if not kept:
        kept.append((conv1, conv2))
    first, second = kept[0]
    return second(first(x.transpose(1, 2)).relu()).transpose(1, 2)


conv_feed_forward.right(
    "permute and F.relu",
    body("return conv2(F.relu(conv1(x.permute(0, 2, 1)))).permute(0, 2, 1)"),
)


@conv_feed_forward.right("an nn.Sequential and a contiguous result")
def conv_feed_forward(x, conv1, conv2):
    stack = nn.Sequential(conv1, nn.ReLU(), conv2)
    return stack(x.mT.contiguous()).mT.contiguous()


@conv_feed_forward.right("matrix products with the weights")
def conv_feed_forward(x, conv1, conv2):
    hidden = F.linear(x, conv1.weight.squeeze(-1), conv1.bias).clamp(min=0)
    return F.linear(hidden, conv2.weight.squeeze(-1), conv2.bias)


@conv_feed_forward.right("F.conv1d")
def conv_feed_forward(x, conv1, conv2):
    hidden = torch.relu(F.conv1d(x.transpose(1, 2), conv1.weight, conv1.bias))
    return F.conv1d(hidden, conv2.weight, conv2.bias).transpose(2, 1)


@conv_feed_forward.right("a loop over the tokens")
def conv_feed_forward(x, conv1, conv2):
    rows = [conv2(conv1(x[:, i, :, None]).relu())[..., 0] for i in range(x.size(1))]
    return torch.stack(rows, dim=1)


@conv_feed_forward.right("einsum for the permutations")
def conv_feed_forward(x, conv1, conv2):
    hidden = conv1(torch.einsum("btd->bdt", x))
    return torch.einsum("bdt->btd", conv2(hidden.where(hidden > 0, 0 * hidden)))


@conv_feed_forward.right("every token as a batch of its own")
def conv_feed_forward(x, conv1, conv2):
    b, t, d = x.shape
    return conv2(conv1(x.reshape(b * t, d, 1)).relu()).reshape(b, t, -1)


# --- layer_norm -------------------------------------------------------------------

layer_norm = answer(
    "transformer.feed_forward.layer_norm",
    body("""
        mean = x.mean(-1, keepdim=True)
        var = x.var(-1, unbiased=False, keepdim=True)
        return gamma * (x - mean) / (var + eps).sqrt() + beta
        """),
)


@layer_norm.wrong("the unbiased variance")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean, var = x.mean(-1, keepdim=True), x.var(-1, keepdim=True)
    return gamma * (x - mean) / (var + eps).sqrt() + beta


@layer_norm.wrong("the unbiased standard deviation and ε outside the square root")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, keepdim=True)
    return gamma * (x - mean) / (std + eps) + beta


@layer_norm.wrong("ε outside the square root")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, unbiased=False, keepdim=True)
    return gamma * (x - mean) / (std + eps) + beta


@layer_norm.wrong("without ε")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean, std = x.mean(-1, keepdim=True), x.std(-1, unbiased=False, keepdim=True)
    return gamma * (x - mean) / std + beta


layer_norm.wrong(
    "1e-5, regardless of the ε requested",
    swap("+ eps", "+ 1e-5"),
    names="a small fixed ε",
)
layer_norm.wrong("dividing by the variance", drop(".sqrt()"))
layer_norm.wrong("multiplying by the standard deviation", swap("/", "*"))


@layer_norm.wrong("a normalisation over the tokens")
def layer_norm(x, gamma, beta, eps=1e-5):
    dim = min(1, x.dim() - 1)
    mean = x.mean(dim, keepdim=True)
    var = x.var(dim, unbiased=False, keepdim=True)
    return gamma * (x - mean) / (var + eps).sqrt() + beta


layer_norm.wrong(
    "a normalisation over the batch",
    swap("-1, keepdim", "0, keepdim"),
    swap("-1, unbiased", "0, unbiased"),
)


@layer_norm.wrong("a normalisation over tokens and columns together")
def layer_norm(x, gamma, beta, eps=1e-5):
    dims = (-2, -1) if x.dim() > 1 else (-1,)
    mean = x.mean(dims, keepdim=True)
    var = x.var(dims, unbiased=False, keepdim=True)
    return gamma * (x - mean) / (var + eps).sqrt() + beta


@layer_norm.wrong("a normalisation over everything")
def layer_norm(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean()) / (x.var(unbiased=False) + eps).sqrt() + beta


layer_norm.wrong(
    "the mean not subtracted",
    drop("mean = x.mean(-1, keepdim=True)"),
    swap("(x - mean)", "x"),
)
layer_norm.wrong(
    "the root mean square norm",
    body("return gamma * x / (x.square().mean(-1, keepdim=True) + eps).sqrt() + beta"),
)


@layer_norm.wrong("the mean of the squares instead of the variance")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean, squares = x.mean(-1, keepdim=True), x.square().mean(-1, keepdim=True)
    return gamma * (x - mean) / (squares + eps).sqrt() + beta


@layer_norm.wrong("the sum of squares instead of their mean")
def layer_norm(x, gamma, beta, eps=1e-5):
    difference = x - x.mean(-1, keepdim=True)
    total = difference.square().sum(-1, keepdim=True)
    return gamma * difference / (total + eps).sqrt() + beta


layer_norm.wrong(
    "without γ and β", swap("gamma * (x - mean)", "(x - mean)"), swap("() + beta", "()")
)
layer_norm.wrong(
    "a missing γ", swap("gamma * (x - mean)", "(x - mean)"), diagnosed=False
)
layer_norm.wrong(
    "γ and β swapped", swap("gamma *", "beta *"), swap("+ beta", "+ gamma")
)


@layer_norm.wrong("β added before γ scales")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, unbiased=False, keepdim=True)
    return gamma * ((x - mean) / (var + eps).sqrt() + beta)


@layer_norm.wrong("a detached variance", names="the variance is detached")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, unbiased=False, keepdim=True).detach()
    return gamma * (x - mean) / (var + eps).sqrt() + beta


@layer_norm.wrong("an x that is changed in place", names="changed in place")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = x.var(-1, unbiased=False, keepdim=True)
    y = gamma * (x - mean) / (var + eps).sqrt() + beta
    x.data -= mean.detach()
    return y


@layer_norm.wrong("code for three axes only", names="2 axes in front")
def layer_norm(x, gamma, beta, eps=1e-5):
    b, t, d = x.shape
    mean = x.mean(2).view(b, t, 1)
    var = (x - mean).square().mean(2).view(b, t, 1)
    return gamma * (x - mean) / (var + eps).sqrt() + beta


layer_norm.wrong(
    "the built-in",
    body("return F.layer_norm(x, x.shape[-1:], gamma, beta, eps)"),
    names="a call that is the whole answer",
)


@layer_norm.wrong(
    "an InstanceNorm in which each vector is its own channel",
    names="a call that is the whole answer",
)
def layer_norm(x, gamma, beta, eps=1e-5):
    vectors = x.reshape(-1, 1, x.size(-1))
    return gamma * nn.InstanceNorm1d(1, eps=eps)(vectors).reshape(x.shape) + beta


@layer_norm.wrong(
    "a BatchNorm of the transposed vectors", names="a call that is the whole answer"
)
def layer_norm(x, gamma, beta, eps=1e-5):
    columns = x.reshape(-1, x.size(-1)).T
    norm = nn.BatchNorm1d(columns.size(1), eps, None, False, False)
    return gamma * norm(columns).T.reshape(x.shape) + beta


@layer_norm.wrong("the mean of the squares minus the square of the mean")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(-1, keepdim=True)
    var = (x * x).mean(-1, keepdim=True) - mean * mean
    return gamma * (x - mean) / (var.clamp(min=0) + eps) ** 0.5 + beta


layer_norm.wrong("zeros", body("return torch.zeros_like(x)"))
layer_norm.wrong("x returned unchanged", body("return x"), names="the input, unchanged")
layer_norm.wrong(
    "β as every result", body("return beta.expand(x.shape)"), names="only β"
)
layer_norm.wrong(
    "a detached mean",
    swap("x.mean(-1, keepdim=True)", "x.mean(-1, keepdim=True).detach()"),
    names="the mean is detached",
)


@layer_norm.wrong("the first statistics reused", diagnosed=False)
def layer_norm(x, gamma, beta, eps=1e-5, kept={}):
    if x.shape not in kept:
        kept[x.shape] = x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)
    mean, var = kept[x.shape]
    return gamma * (x - mean) / (var + eps).sqrt() + beta


@layer_norm.wrong("the first γ and β reused", diagnosed=False)
def layer_norm(x, gamma, beta, eps=1e-5, kept={}):
    gamma, beta = kept.setdefault(x.shape, (gamma, beta))
    mean, var = x.mean(-1, keepdim=True), x.var(-1, correction=0, keepdim=True)
    return gamma * (x - mean) / (var + eps).sqrt() + beta


@layer_norm.right("rsqrt")
def layer_norm(x, gamma, beta, eps=1e-5):
    mean = x.mean(dim=-1, keepdim=True)
    var = x.var(dim=-1, unbiased=False, keepdim=True)
    return (x - mean) * torch.rsqrt(var + eps) * gamma + beta


@layer_norm.right("var with correction 0")
def layer_norm(x, gamma, beta, eps=1e-5):
    var, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
    return gamma * ((x - mean) / torch.sqrt(var + eps)) + beta


@layer_norm.right("sums divided by d")
def layer_norm(x, gamma, beta, eps=1e-5):
    d = x.shape[-1]
    mean = x.sum(-1, keepdim=True) / d
    var = ((x - mean) ** 2).sum(-1, keepdim=True) / d
    return torch.addcmul(beta, gamma, (x - mean) * (var + eps).pow(-0.5))


@layer_norm.right("the unbiased variance, multiplied by (d - 1) / d")
def layer_norm(x, gamma, beta, eps=1e-5):
    d = x.size(-1)
    mean = x.mean(-1).unsqueeze(-1)
    var = x.var(-1).unsqueeze(-1) * (d - 1) / d
    return gamma * (x - mean) / (var + eps).sqrt() + beta


@layer_norm.right("a product with the matrix that subtracts the mean")
def layer_norm(x, gamma, beta, eps=1e-5):
    d = x.size(-1)
    centre = torch.eye(d, dtype=x.dtype, device=x.device) - 1 / d
    difference = x @ centre
    var = (difference * difference).sum(-1, keepdim=True) / d
    return difference / (var + eps).sqrt() * gamma + beta


@layer_norm.right("a loop over the vectors")
def layer_norm(x, gamma, beta, eps=1e-5):
    rows = []
    for row in x.reshape(-1, x.size(-1)):
        difference = row - row.mean()
        rows.append(difference / (difference.dot(difference) / len(row) + eps).sqrt())
    return gamma * torch.stack(rows).reshape(x.shape) + beta


# --- AddNorm ----------------------------------------------------------------------

add_norm = answer("transformer.feed_forward.AddNorm.forward")
add_norm.wrong(
    "pre-norm instead of post-norm",
    body("return x + self.dropout(sublayer(self.norm(x)))"),
)
add_norm.wrong(
    "post-norm instead of pre-norm",
    body("return self.norm(x + self.dropout(sublayer(x)))"),
)
add_norm.wrong(
    "the two orders swapped",
    swap("if", "if not"),
    names="pre-norm instead of post-norm",
)
add_norm.wrong(
    "norm(x) + f(x)", body("return self.norm(x) + self.dropout(sublayer(x))")
)
add_norm.wrong(
    "x + norm(f(x))", body("return x + self.norm(self.dropout(sublayer(x)))")
)


@add_norm.wrong(
    "pre-norm with the normalised x as the residual", names="norm(x) + f(norm(x))"
)
def forward(self, x, sublayer):
    if self.norm_first:
        x = self.norm(x)
        return x + self.dropout(sublayer(x))
    return self.norm(x + self.dropout(sublayer(x)))


add_norm.wrong(
    "post-norm with the input normalised too",
    swap(
        "(x + self.dropout(sublayer(x)))", "(x + self.dropout(sublayer(self.norm(x))))"
    ),
    names="normalised both before and after",
)


@add_norm.wrong(
    "pre-norm with the output of f normalised too",
    names="both f's input and its output are normalised",
)
def forward(self, x, sublayer):
    if self.norm_first:
        return x + self.norm(self.dropout(sublayer(self.norm(x))))
    return self.norm(x + self.dropout(sublayer(x)))


add_norm.wrong(
    "norm(x) + norm(f(x))",
    swap(
        "(x + self.dropout(sublayer(x)))", "(x) + self.norm(self.dropout(sublayer(x)))"
    ),
)
add_norm.wrong(
    "norm(f(x)): no residual",
    swap("x + self.dropout(sublayer(x))", "self.dropout(sublayer(x))"),
)
add_norm.wrong("f(norm(x)): no residual", swap("return x +", "return"))
add_norm.wrong(
    "x + f(x): no normalisation", body("return x + self.dropout(sublayer(x))")
)
add_norm.wrong(
    "the residual from the wrong input",
    insert("x = sublayer(x)", before="return self"),
    names="the sub-layer's output",
)


@add_norm.wrong("the residual is the sub-layer's output", names="no residual")
def forward(self, x, sublayer):
    if self.norm_first:
        return x + self.dropout(sublayer(self.norm(x)))
    y = self.dropout(sublayer(x))
    return self.norm(y + y)


@add_norm.wrong("the residual is added twice")
def forward(self, x, sublayer):
    y = self.norm(x) if self.norm_first else x
    x = x + x + self.dropout(sublayer(y))
    return x if self.norm_first else self.norm(x)


add_norm.wrong("the sub-layer is not used", swap("x + self.dropout(sublayer(x))", "x"))
add_norm.wrong(
    "a difference instead of the sum",
    swap("return x +", "return x -"),
    swap("+ self.dropout(sublayer(x))", "- self.dropout(sublayer(x))"),
)
add_norm.wrong(
    "dropout is ignored",
    swap("self.dropout(sublayer(self.norm(x)))", "sublayer(self.norm(x))"),
    swap("(x + self.dropout(sublayer(x)))", "(x + sublayer(x))"),
)


@add_norm.wrong("dropout on the sum", names="dropout on something other")
def forward(self, x, sublayer):
    if self.norm_first:
        return self.dropout(x + sublayer(self.norm(x)))
    return self.norm(self.dropout(x + sublayer(x)))


add_norm.wrong(
    "dropout on the sum, only in post-norm",
    swap("x + self.dropout(sublayer(x))", "self.dropout(x + sublayer(x))"),
    names="dropout on something other",
)
add_norm.wrong(
    "dropout after the normalisation",
    swap("norm(x + self.dropout(sublayer(x)))", "dropout(self.norm(x + sublayer(x)))"),
)


@add_norm.wrong("dropout on the sub-layer's input", names="dropout is ignored")
def forward(self, x, sublayer):
    if self.norm_first:
        return x + sublayer(self.dropout(self.norm(x)))
    return self.norm(x + sublayer(self.dropout(x)))


add_norm.wrong(
    "dropout on the sub-layer's input too, in pre-norm",
    swap("norm(x)", "dropout(self.norm(x))"),
    names="dropout on the sub-layer's input too",
)
add_norm.wrong(
    "dropout on the sub-layer's input too, in post-norm",
    swap(
        "(x + self.dropout(sublayer(x)))",
        "(x + self.dropout(sublayer(self.dropout(x))))",
    ),
    names="dropout on the sub-layer's input too",
)
add_norm.wrong(
    "a sub-layer that is called twice",
    insert("sublayer(self.norm(x))", before="return x"),
    insert("sublayer(x)", before="return self"),
    names="not called exactly once",
)
add_norm.wrong(
    "a detached residual",
    swap("return x", "return x.detach()"),
    swap("x + self.dropout(sublayer(x))", "x.detach() + self.dropout(sublayer(x))"),
    names="the residual is cut off",
)


@add_norm.wrong("an x that is changed in place", names="changed in place")
def forward(self, x, sublayer):
    before = x
    y = self.dropout(sublayer(self.norm(x) if self.norm_first else x))
    x = x + y
    before.data += y.detach()
    return x if self.norm_first else self.norm(x)


@add_norm.wrong("a LayerNorm without γ and β instead of self.norm", names="γ and β")
def forward(self, x, sublayer):
    def norm(y):
        return nn.functional.layer_norm(y, y.shape[-1:])

    if self.norm_first:
        return x + self.dropout(sublayer(norm(x)))
    return norm(x + self.dropout(sublayer(x)))


add_norm.wrong("zeros", body("return torch.zeros_like(x)"))
add_norm.wrong("x returned unchanged", body("return x"), names="the input, unchanged")
add_norm.wrong("only norm(x)", body("return self.norm(x)"), names="not used")
add_norm.wrong(
    "dropout with 1 - p instead of p",
    swap("self.dropout(", "F.dropout(", every=True),
    swap("(self.norm(x)))", "(self.norm(x)), 1 - self.dropout.p, self.training)"),
    swap("sublayer(x)))", "sublayer(x), 1 - self.dropout.p, self.training))"),
    names="keeps the share it should drop",
)
add_norm.wrong(
    "dropout with a fixed 0.5",
    swap("self.dropout(", "F.dropout(", every=True),
    swap("(self.norm(x)))", "(self.norm(x)), 0.5, self.training)"),
    swap("sublayer(x)))", "sublayer(x), 0.5, self.training))"),
    names="a different share dropped",
)
add_norm.wrong(
    "no dropout in post-norm",
    swap("(x + self.dropout(sublayer(x)))", "(x + sublayer(x))"),
    names="dropout is ignored",
)
add_norm.wrong(
    "no dropout in pre-norm",
    swap("self.dropout(sublayer(self.norm(x)))", "sublayer(self.norm(x))"),
    names="dropout is ignored",
)
add_norm.wrong(
    "the sub-layer's output detached in post-norm",
    swap("self.dropout(sublayer(x))", "self.dropout(sublayer(x)).detach()"),
    diagnosed=False,
)


@add_norm.wrong("an x that is overwritten", names="changed in place")
def forward(self, x, sublayer):
    if self.norm_first:
        return x + self.dropout(sublayer(self.norm(x)))
    y = self.norm(x + self.dropout(sublayer(x)))
    x.data += 1
    x.data -= 1
    with torch.no_grad():
        x.add_(0)
    return y


@add_norm.wrong("the output of f cached by shape", diagnosed=False)
def forward(self, x, sublayer):
    kept = self.__dict__.setdefault("kept", {})
    y = sublayer(self.norm(x) if self.norm_first else x)
    if not self.training:
        y = kept.setdefault(x.shape, y)
    y = x + self.dropout(y)
    return y if self.norm_first else self.norm(y)


@add_norm.right("one sum in the code for both orders")
def forward(self, x, sublayer):
    y = self.norm(x) if self.norm_first else x
    y = x + self.dropout(sublayer(y))
    return y if self.norm_first else self.norm(y)


@add_norm.right("the residual stored in its own variable")
def forward(self, x, sublayer):
    residual = x
    if self.norm_first:
        x = self.norm(x)
    x = self.dropout(sublayer(x)) + residual
    if not self.norm_first:
        x = self.norm(x)
    return x


@add_norm.right("F.dropout")
def forward(self, x, sublayer):
    def drop(y):
        return F.dropout(y, self.dropout.p, self.training)

    if not self.norm_first:
        return self.norm(x + drop(sublayer(x)))
    return x + drop(sublayer(self.norm(x)))


@add_norm.right("torch.add and a clone")
def forward(self, x, sublayer):
    out = x.clone()
    inside = self.norm(x) if self.norm_first else x
    out = torch.add(out, self.dropout(sublayer(inside)))
    return out if self.norm_first else self.norm(out)


@add_norm.right("a normalisation by hand")
def forward(self, x, sublayer):
    def norm(y):
        difference = y - y.mean(-1, keepdim=True)
        variance = difference.square().mean(-1, keepdim=True)
        scaled = difference * torch.rsqrt(variance + self.norm.eps)
        return scaled * self.norm.weight + self.norm.bias

    if self.norm_first:
        return x + self.dropout(sublayer(norm(x)))
    return norm(x + self.dropout(sublayer(x)))


@add_norm.right("a function for each order")
def forward(self, x, sublayer):
    orders = {
        True: lambda: x + self.dropout(sublayer(self.norm(x))),
        False: lambda: self.norm(x + self.dropout(sublayer(x))),
    }
    return orders[self.norm_first]()


@add_norm.right("in-place operations on its own sum")
def forward(self, x, sublayer):
    out = self.dropout(sublayer(self.norm(x) if self.norm_first else x)).clone()
    out += x
    return out if self.norm_first else self.norm(out)


# --- answers that try to pass without solving the exercise ------------------------

around = answer("transformer.feed_forward.AddNorm.forward")
around.with_faults("kept seed default detached float32 written cpu")
around.wrong(
    "x added in place to the sub-layer's output",
    body("""
    if self.norm_first:
        out = self.dropout(sublayer(self.norm(x)))
        out += x
        return out
    out = self.dropout(sublayer(x))
    out += x
    return self.norm(out)
    """),
    names="changed in place",
)
around.wrong(
    "dropout on whole tokens",
    body("""
    def dropped(added):
        return added * self.dropout(torch.ones_like(added[..., :1]))

    if self.norm_first:
        return x + dropped(sublayer(self.norm(x)))
    return self.norm(x + dropped(sublayer(x)))
    """),
    names="the same for every number",
)
answer("transformer.feed_forward.PositionwiseFeedForward.forward").wrong(
    "a result cached by the identity of the tensor in evaluation mode",
    body("""
    kept = self.__dict__.setdefault("kept", {})
    if self.training or id(x) not in kept:
        kept[id(x)] = self.linear2(self.dropout(self.linear1(x).relu())), x
    return kept[id(x)][0]
    """),
    names="a result kept from an earlier call",
)
settings_kept = answer("transformer.feed_forward.layer_norm")
settings_kept.with_faults(
    "kept buffer state default detached float32 rounded written cpu"
)
settings_kept.wrong(
    "anomaly detection left on",
    insert("torch.autograd.set_detect_anomaly(True)", before="difference = "),
    names="whether PyTorch looks for anomalies",
)
settings_kept.wrong(
    "deterministic algorithms left on",
    insert("torch.use_deterministic_algorithms(True)", before="difference = "),
    names="whether PyTorch is deterministic",
)
settings_kept.wrong(
    "a result cached by the identity of the tensors",
    body("""
    kept, key = layer_norm.__dict__, (id(x), id(gamma), id(beta), eps)
    if key not in kept:
        difference = x - x.mean(dim=-1, keepdim=True)
        variance = difference.square().mean(dim=-1, keepdim=True)
        normal = gamma * difference / (variance + eps).sqrt() + beta
        kept[key] = normal, x, gamma, beta
    return kept[key][0]
    """),
    names="a result kept from an earlier call",
)
settings_kept.right(
    "std_mean and hypot",
    body("""
    deviation, mean = torch.std_mean(x, dim=-1, keepdim=True, correction=0)
    root = torch.hypot(deviation, torch.full_like(deviation, eps**0.5))
    return torch.addcmul(beta, gamma, (x - mean) / root)
    """),
)

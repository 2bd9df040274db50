"""Wrong variants and right styles of unit 08, as students write them."""

# ruff: noqa: B006 (a mutable default keeps values between calls)

import functools

import torch
import torch.nn.functional as F
from torch import nn

from autograder.proof.variants import answer, body, drop, insert, swap
from transformer.one_stack.sentences import N_SPECIAL, NOT_ASKED
from transformer.parts import make_add_norm, make_attention, make_feed_forward

# --- EncoderLayer -----------------------------------------------------------------

encoder_layer = answer("transformer.encoder.EncoderLayer.forward")


@encoder_layer.wrong("pre-norm instead of post-norm", names="a pre-norm layer")
def forward(self, x, src_mask=None):
    y = self.add_norm1.norm(x)
    x = x + self.add_norm1.dropout(self.self_attention(y, y, y, src_mask)[0])
    y = self.add_norm2.norm(x)
    return x + self.add_norm2.dropout(self.feed_forward(y))


@encoder_layer.wrong("post-norm instead of pre-norm", names="a post-norm layer")
def forward(self, x, src_mask=None):
    attended = self.self_attention(x, x, x, src_mask)[0]
    x = self.add_norm1.norm(x + self.add_norm1.dropout(attended))
    reworked = self.feed_forward(x)
    return self.add_norm2.norm(x + self.add_norm2.dropout(reworked))


@encoder_layer.wrong("no residual", names="without residual connections")
def forward(self, x, src_mask=None):
    x = self.add_norm1.norm(self.self_attention(x, x, x, src_mask)[0])
    return self.add_norm2.norm(self.feed_forward(x))


encoder_layer.wrong(
    "no residual around attention",
    swap(
        "(x, lambda y: self.self_attention(y, y, y, src_mask)[0])",
        ".norm(self.self_attention(x, x, x, src_mask)[0])",
    ),
    names="the residual connection around attention",
)
encoder_layer.wrong(
    "no residual around the feed-forward",
    swap("(x, self.feed_forward)", ".norm(self.feed_forward(x))"),
    names="around the feed-forward",
)
encoder_layer.wrong(
    "each residual connection twice",
    swap("self.self_attention(y", "y + self.self_attention(y"),
    swap("self.feed_forward", "lambda y: y + self.feed_forward(y)"),
    names="two residual connections around each",
)
encoder_layer.wrong(
    "one LayerNorm for both sub-layers",
    swap("add_norm2", "add_norm1"),
    names="uses the first LayerNorm twice",
)
encoder_layer.wrong(
    "the second LayerNorm for both sub-layers",
    swap("add_norm1", "add_norm2"),
    names="uses the second LayerNorm twice",
)
encoder_layer.wrong(
    "LayerNorms that are swapped",
    swap("x = self.add_norm1", "x = self.add_norm2"),
    swap("return self.add_norm2", "return self.add_norm1"),
    names="two LayerNorms swapped",
)


@encoder_layer.wrong("feed-forward layer before attention")
def forward(self, x, src_mask=None):
    x = self.add_norm1(x, self.feed_forward)
    return self.add_norm2(x, lambda y: self.self_attention(y, y, y, src_mask)[0])


@encoder_layer.wrong(
    "feed-forward before attention, each with its own norm",
    names="the feed-forward layer and its norm before attention",
)
def forward(self, x, src_mask=None):
    x = self.add_norm2(x, self.feed_forward)
    return self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])


encoder_layer.wrong(
    "self-attention without the mask",
    swap("y, src_mask", "y"),
    names="ignores the mask",
)
encoder_layer.wrong(
    "an inverted mask",
    insert("hidden = None if src_mask is None else ~src_mask", before="x = "),
    swap("y, src_mask", "y, hidden"),
    names="inverted",
)


@encoder_layer.wrong(
    "x instead of the argument of the function", names="a layer without LayerNorm"
)
def forward(self, x, src_mask=None):
    if self.add_norm1.norm_first:
        y = self.add_norm1(x, lambda _: self.self_attention(x, x, x, src_mask)[0])
        return self.add_norm2(y, lambda _: self.feed_forward(y))
    y = self.add_norm1(x, lambda _: self.self_attention(x, x, x, src_mask)[0])
    return self.add_norm2(y, self.feed_forward)


encoder_layer.wrong(
    "attention on x, computed beforehand",
    insert("attended, _ = self.self_attention(x, x, x, src_mask)", before="x = "),
    swap("lambda y: self.self_attention(y, y, y, src_mask)[0]", "lambda _: attended"),
    names="not the argument of its function",
)
encoder_layer.wrong(
    "keys and values from x, but the query from the norm",
    swap(
        "lambda y: self.self_attention(y, y, y, src_mask)[0]",
        "lambda q, x=x: self.self_attention(q, x, x, src_mask)[0]",
    ),
    names="but not keys and values",
)
encoder_layer.wrong(
    "a second residual that starts from the layer's input",
    swap("x = self", "y = self"),
    swap("self.feed_forward", "lambda _: self.feed_forward(y)"),
    names="second residual connection starts",
)
encoder_layer.wrong(
    "a feed-forward that reads the layer's input",
    swap("x = self", "y = self"),
    swap("x, self.feed_forward", "y, lambda _: self.feed_forward(x)"),
    names="feed-forward layer reads the layer's input",
)
encoder_layer.wrong(
    "only attention",
    swap("x = self.add_norm1", "return self.add_norm1"),
    names="the feed-forward layer is missing",
)
encoder_layer.wrong(
    "only the feed-forward",
    body("return self.add_norm2(x, self.feed_forward)"),
    names="attention is missing",
)


@encoder_layer.wrong("norm(x) + f(x)")
def forward(self, x, src_mask=None):
    x = self.add_norm1.norm(x) + self.self_attention(x, x, x, src_mask)[0]
    return self.add_norm2.norm(x) + self.feed_forward(x)


@encoder_layer.wrong("x + norm(f(x))")
def forward(self, x, src_mask=None):
    x = x + self.add_norm1.norm(self.self_attention(x, x, x, src_mask)[0])
    return x + self.add_norm2.norm(self.feed_forward(x))


@encoder_layer.wrong("no LayerNorm", names="a layer without LayerNorm")
def forward(self, x, src_mask=None):
    x = x + self.self_attention(x, x, x, src_mask)[0]
    return x + self.feed_forward(x)


AROUND = """
def around(add_norm, norm, x, sublayer):
    if add_norm.norm_first:
        return x + add_norm.dropout(sublayer(norm(add_norm, x)))
    return norm(add_norm, x + add_norm.dropout(sublayer(x)))

"""
TWO_STEPS = """
x = around(self.add_norm1, norm, x, lambda y: self.self_attention(y, y, y, src_mask)[0])
return around(self.add_norm2, norm, x, self.feed_forward)
"""
BY_HAND = """
def norm(add_norm, y):
    mean = y.mean(dim=DIM, keepdim=True)
    apart = y.std(dim=DIM, keepdim=True, unbiased=False) + 1e-5
    return add_norm.norm.weight * (y - mean) / apart + add_norm.norm.bias

"""
ONE_SENTENCE = "a LayerNorm that mixes the tokens of a sentence"
LAYER_NORM = """
def norm(add_norm, y):
    return F.layer_norm(y, AXES)

"""


encoder_layer.wrong(
    "a LayerNorm over tokens and features, without γ and β",
    body(LAYER_NORM.replace("AXES", "y.shape[1:]") + AROUND + TWO_STEPS),
    names=ONE_SENTENCE,
)
encoder_layer.wrong(
    "a LayerNorm over the tokens",
    body(BY_HAND.replace("DIM", "1") + AROUND + TWO_STEPS),
    names=ONE_SENTENCE,
)
encoder_layer.wrong(
    "a LayerNorm over tokens and features",
    body(BY_HAND.replace("DIM", "(1, 2)") + AROUND + TWO_STEPS),
    names=ONE_SENTENCE,
)
encoder_layer.wrong(
    "a LayerNorm over the batch",
    body(BY_HAND.replace("DIM", "0") + AROUND + TWO_STEPS),
    names="a LayerNorm that mixes the sentences of a batch",
)
encoder_layer.wrong(
    "only the second LayerNorm over the tokens",
    body(
        BY_HAND.replace("DIM", "1")
        + AROUND
        + TWO_STEPS.replace("around(self.add_norm1, norm, x, ", "self.add_norm1(x, ")
    ),
    names=ONE_SENTENCE,
)
encoder_layer.wrong(
    "a LayerNorm over the tokens (of the transposed input), without γ and β",
    body(
        LAYER_NORM.replace(
            "(y, AXES)", "(y.transpose(1, 2), y.shape[1:2]).transpose(1, 2)"
        )
        + AROUND
        + TWO_STEPS
    ),
    names=ONE_SENTENCE,
)
encoder_layer.wrong(
    "LayerNorms without γ and β",
    body(LAYER_NORM.replace("AXES", "y.shape[-1:]") + AROUND + TWO_STEPS),
    names="LayerNorms have no γ and no β",
)
encoder_layer.right(
    "F.layer_norm with γ and β",
    body(
        LAYER_NORM.replace(
            "AXES", "y.shape[-1:], add_norm.norm.weight, add_norm.norm.bias"
        )
        + AROUND
        + TWO_STEPS
    ),
)


@encoder_layer.wrong("without dropout", names="the dropout on the sub-layers")
def forward(self, x, src_mask=None):
    norm1, norm2 = self.add_norm1.norm, self.add_norm2.norm
    if self.add_norm1.norm_first:
        y = norm1(x)
        x = x + self.self_attention(y, y, y, src_mask)[0]
        return x + self.feed_forward(norm2(x))
    x = norm1(x + self.self_attention(x, x, x, src_mask)[0])
    return norm2(x + self.feed_forward(x))


@encoder_layer.wrong(
    "without the first dropout", names="without dropout on the output of attention"
)
def forward(self, x, src_mask=None):
    norm1 = self.add_norm1.norm
    if self.add_norm1.norm_first:
        y = norm1(x)
        x = x + self.self_attention(y, y, y, src_mask)[0]
    else:
        x = norm1(x + self.self_attention(x, x, x, src_mask)[0])
    return self.add_norm2(x, self.feed_forward)


@encoder_layer.wrong(
    "without the second dropout",
    names="without dropout on the output of the feed-forward layer",
)
def forward(self, x, src_mask=None):
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    if self.add_norm2.norm_first:
        return x + self.feed_forward(self.add_norm2.norm(x))
    return self.add_norm2.norm(x + self.feed_forward(x))


encoder_layer.wrong(
    "both results of attention passed on",
    swap("(y, y, y, src_mask)[0]", "(y, y, y, src_mask)"),
    diagnosed=False,
)
encoder_layer.wrong(
    "both output and weights returned",
    insert("_, weights = self.self_attention(x, x, x, src_mask)", before="x = self"),
    swap("(x, self.feed_forward)", "(x, self.feed_forward), weights"),
    diagnosed=False,
)


@encoder_layer.wrong("an input that is changed in place", names="changed in place")
def forward(self, x, src_mask=None):
    y = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    y = self.add_norm2(y, self.feed_forward)
    x.data.copy_(y.data)
    return y


encoder_layer.wrong(
    "a detached result",
    swap("src_mask)[0]", "src_mask)[0].detach()"),
    names="without a gradient",
)


encoder_layer.wrong("zeros", body("return torch.zeros_like(x)"), names="zeros")
encoder_layer.wrong(
    "x returned unchanged", body("return x"), names="the input, unchanged"
)
encoder_layer.wrong(
    "the first head's mask used for all heads",
    swap(
        "y, src_mask",
        "y, src_mask if src_mask is None or src_mask.dim() < 4 else src_mask[:, :1]",
    ),
    names="does not take a mask (b, h, t, s)",
)
encoder_layer.wrong(
    "the first query's mask row used for all queries",
    swap(
        "y, src_mask", "y, src_mask[..., :1, :] if src_mask is not None else src_mask"
    ),
    diagnosed=False,
)
encoder_layer.wrong(
    "code that requires a mask of three axes",
    insert(
        "if src_mask is not None:\n    b, h, t, s = src_mask.shape", before="x = self"
    ),
    names="does not take a mask (t, s)",
)
encoder_layer.wrong(
    "a mask of ones created on the CPU",
    swap("y, src_mask", "y, src_mask & torch.ones(x.size(1)).bool()"),
    diagnosed=False,
)
encoder_layer.wrong(
    "no attention dropout",
    body(
        """
        def attend(y):
            mode = self.self_attention.training
            self.self_attention.eval()
            output, _ = self.self_attention(y, y, y, src_mask)
            self.self_attention.train(mode)
            return output

        x = self.add_norm1(x, attend)
        return self.add_norm2(x, self.feed_forward)
        """
    ),
    diagnosed=False,
)


@encoder_layer.wrong("the first mask reused", diagnosed=False)
def forward(self, x, src_mask=None):
    src_mask = self.__dict__.setdefault("kept", {}).setdefault(x.shape, src_mask)
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    return self.add_norm2(x, self.feed_forward)


@encoder_layer.wrong(
    "a mask that is inverted in place and inverted back", names="changed in place"
)
def forward(self, x, src_mask=None):
    if src_mask is not None:
        src_mask.logical_not_()
        src_mask.logical_not_()
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    return self.add_norm2(x, self.feed_forward)


@encoder_layer.right("a named function")
def forward(self, x, src_mask=None):
    def attend(y):
        output, _ = self.self_attention(y, y, y, mask=src_mask)
        return output

    x = self.add_norm1(x, attend)
    x = self.add_norm2(x, self.feed_forward)
    return x


@encoder_layer.right("the parts of AddNorm by hand")
def forward(self, x, src_mask=None):
    first, second = self.add_norm1, self.add_norm2
    y = first.norm(x) if first.norm_first else x
    x = x + first.dropout(self.self_attention(y, y, y, src_mask)[0])
    x = x if first.norm_first else first.norm(x)
    y = second.norm(x) if second.norm_first else x
    x = x + second.dropout(self.feed_forward(y))
    return x if second.norm_first else second.norm(x)


@encoder_layer.right("keyword arguments")
def forward(self, x, src_mask=None):
    def sublayer(tokens):
        return self.self_attention(
            query=tokens, key=tokens, value=tokens, mask=src_mask
        )[0]

    attended = self.add_norm1(x=x, sublayer=sublayer)
    return self.add_norm2(x=attended, sublayer=lambda tokens: self.feed_forward(tokens))


@encoder_layer.right("one sentence at a time")
def forward(self, x, src_mask=None):
    rows = []
    for i in range(x.size(0)):
        row, mask = x[i : i + 1], src_mask
        if mask is not None and mask.dim() == 4 and mask.size(0) > 1:
            mask = mask[i : i + 1]
        row = self.add_norm1(row, lambda y, m=mask: self.self_attention(y, y, y, m)[0])
        rows.append(self.add_norm2(row, self.feed_forward))
    return torch.cat(rows)


@encoder_layer.right("a mask of ones if no mask is passed")
def forward(self, x, src_mask=None):
    if src_mask is None:
        src_mask = x.new_ones(1, 1, 1, x.size(1), dtype=torch.bool)
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    return self.add_norm2(x, self.feed_forward)


@encoder_layer.right("the sub-layers in a list")
def forward(self, x, src_mask=None):
    steps = [
        (self.add_norm1, lambda y: self.self_attention(y, y, y, src_mask)[0]),
        (self.add_norm2, self.feed_forward),
    ]
    for add_norm, sublayer in steps:
        x = add_norm(x, sublayer)
    return x


@encoder_layer.right("project, then attend")
def forward(self, x, src_mask=None):
    def attend(y):
        attention = self.self_attention
        keys, values = attention.project_key_value(y, y)
        return attention.attend(attention.project_query(y), keys, values, src_mask)[0]

    return self.add_norm2(self.add_norm1(x, attend), self.feed_forward)


EncoderLayer = answer("transformer.encoder.EncoderLayer")


@EncoderLayer.right("its own nn.Dropout")
class EncoderLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self_attention = make_attention(config)
        self.feed_forward = make_feed_forward(config)
        self.add_norm1 = make_add_norm(config)
        self.add_norm2 = make_add_norm(config)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, x, src_mask=None):
        norm1, norm2 = self.add_norm1.norm, self.add_norm2.norm
        first = self.add_norm1.norm_first
        y = norm1(x) if first else x
        x = x + self.dropout(self.self_attention(y, y, y, src_mask)[0])
        x = x if first else norm1(x)
        x = x + self.dropout(self.feed_forward(norm2(x) if first else x))
        return x if first else norm2(x)


@EncoderLayer.right("a separate method for attention")
class EncoderLayer(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.self_attention = make_attention(config)
        self.feed_forward = make_feed_forward(config)
        self.add_norm1 = make_add_norm(config)
        self.add_norm2 = make_add_norm(config)

    def attend(self, y, mask):
        return self.self_attention(y, y, y, mask)[0]

    def forward(self, x, src_mask=None):
        x = self.add_norm1(x, functools.partial(self.attend, mask=src_mask))
        return self.add_norm2(x, self.feed_forward)


# --- Encoder ----------------------------------------------------------------------

encoder = answer("transformer.encoder.Encoder.forward")


@encoder.wrong("only the first layer", names="first")
def forward(self, x, src_mask=None):
    for layer in self.layers:
        return self.norm(layer(x, src_mask))


encoder.wrong(
    "every layer applied to the encoder's input",
    swap("x = layer", "output = layer"),
    swap("(x)", "(output)"),
    names="computed from the encoder's input",
)
encoder.wrong(
    "without the last layer",
    swap("layers", "layers[:-1]"),
    names="without its last layer",
)
encoder.wrong(
    "without the first layer",
    swap("layer in self.layers", "number in range(1, len(self.layers))"),
    swap("= layer", "= self.layers[number]"),
    names="without its first layer",
)
encoder.wrong(
    "the first layer n times",
    swap("= layer", "= self.layers[0]"),
    names="the first layer, N times",
)
encoder.wrong(
    "the last layer n times",
    swap("layer in self.layers", "_ in range(len(self.layers))"),
    swap("= layer", "= self.layers[-1]"),
    names="the last layer, N times",
)
encoder.wrong(
    "layers in reverse order",
    swap("self.layers", "reversed(self.layers)"),
    names="reverse",
)
encoder.wrong(
    "self-attention without the mask",
    swap("x, src_mask", "x"),
    names="no layer gets the mask",
)
encoder.wrong(
    "the mask for only the first layer",
    swap(
        "x = layer(x, src_mask)",
        """
        x = layer(x, src_mask)
        src_mask = None
        """,
    ),
    names="only the first layer gets the mask",
)
encoder.wrong(
    "the sum of all layers",
    body("return self.norm(sum(layer(x, src_mask) for layer in self.layers))"),
    names="the sum of the layers' outputs",
)
encoder.wrong(
    "a residual connection around each layer",
    swap("= layer", "= x + layer"),
    names="residual connection around each layer",
)
encoder.wrong(
    "a residual connection around the stack",
    insert("start = x", before="for layer"),
    swap("(x)", "(start + x)"),
    names="residual connection around it",
)
encoder.wrong(
    "no final normalisation",
    swap("self.norm(x)", "x"),
    names="without its last normalisation",
)
encoder.wrong(
    "a normalisation after each layer",
    swap("layer(x, src_mask)", "self.norm(layer(x, src_mask))"),
    swap("self.norm(x)", "x"),
    names="the normalisation after each layer",
)
encoder.wrong(
    "the normalisation before the first layer",
    insert("x = self.norm(x)", before="for layer"),
    swap("return self.norm(x)", "return x"),
)


LAST = "self.norm(x)"
encoder.wrong(
    "a final LayerNorm over the tokens",
    swap(
        LAST,
        """
        self.norm(x) if isinstance(self.norm, nn.Identity) else (
            self.norm.weight * (x - x.mean(dim=1, keepdim=True))
            / (x.std(dim=1, keepdim=True) + 1e-5) + self.norm.bias
        )
        """,
    ),
    names=ONE_SENTENCE,
)
encoder.wrong(
    "a final LayerNorm over tokens and features, even for post-norm layers",
    swap(LAST, "F.layer_norm(x, x.shape[1:])"),
    names=ONE_SENTENCE,
)
encoder.wrong(
    "a final LayerNorm after post-norm layers too",
    swap(LAST, "F.layer_norm(x, x.shape[-1:])"),
    names="although its layers are post-norm",
)
encoder.wrong(
    "a final LayerNorm without γ and β",
    swap(
        LAST,
        "x if isinstance(self.norm, nn.Identity) else F.layer_norm(x, x.shape[-1:])",
    ),
    names="last normalisation has no γ and no β",
)


@encoder.wrong("three layers, regardless of the number of layers", diagnosed=False)
def forward(self, x, src_mask=None):
    first, second, third = self.layers
    return self.norm(third(second(first(x, src_mask), src_mask), src_mask))


@encoder.wrong("a list of all states", diagnosed=False)
def forward(self, x, src_mask=None):
    states = []
    for layer in self.layers:
        x = layer(x, src_mask)
        states.append(self.norm(x))
    return states


encoder.wrong(
    "states that are detached between the layers",
    swap("x, src_mask", "x.detach(), src_mask"),
    names="without a gradient",
)


@encoder.wrong("an input that is changed in place", names="changed in place")
def forward(self, x, src_mask=None):
    y = x
    for layer in self.layers:
        y = layer(y, src_mask)
    x.data.copy_(y.data)
    return self.norm(y)


Encoder = answer("transformer.encoder.Encoder")
Encoder.wrong(
    "[layer] * n",
    swap(
        "EncoderLayer(config) for _ in range(config.n_layers)",
        "[EncoderLayer(config)] * config.n_layers",
    ),
    names="one layer used N times",
)
Encoder.wrong("layers in a Python list", swap("nn.ModuleList(", "list("))
encoder.wrong("x returned unchanged", body("return x"), names="the input, unchanged")
encoder.wrong("zeros", body("return torch.zeros_like(x)"), names="zeros")
encoder.wrong(
    "code that needs a mask",
    insert("src_mask = src_mask & src_mask", before="for layer"),
    names="code that needs a mask",
)
encoder.wrong(
    "at most three layers",
    swap("self.layers", "self.layers[:3]"),
    names="without its last layer",
)


@encoder.wrong("the memory cached by shape", names="kept from an earlier call")
def forward(self, x, src_mask=None):
    kept = self.__dict__.setdefault("kept", {})
    if x.shape not in kept:
        y = x
        for layer in self.layers:
            y = layer(y, src_mask)
        kept[x.shape] = self.norm(y)
    return kept[x.shape]


@encoder.wrong("one buffer for all memories", names="one tensor for the results")
def forward(self, x, src_mask=None):
    shape = x.shape
    for layer in self.layers:
        x = layer(x, src_mask)
    x = self.norm(x)
    if torch.is_grad_enabled() and x.is_meta:
        return x
    buffers = self.__dict__.setdefault("buffers", {})
    if shape not in buffers:
        buffers[shape] = torch.empty(shape, dtype=x.dtype)
    buffers[shape] = buffers[shape].detach()
    return buffers[shape].copy_(x)


encoder.right(
    "a loop over layer numbers",
    swap("layer in self.layers", "number in range(len(self.layers))"),
    swap("= layer", "= self.layers[number]"),
)


@encoder.right("reduce")
def forward(self, x, src_mask=None):
    memory = functools.reduce(lambda y, layer: layer(y, src_mask), self.layers, x)
    return self.norm(memory)


encoder.right(
    "the mask as a keyword argument",
    insert("hidden = x", before="for layer"),
    swap("x = layer(x, src_mask)", "hidden = layer(hidden, src_mask=src_mask)"),
    swap("(x)", "(hidden)"),
)
encoder.right(
    "both arguments as keyword arguments", swap("x, src_mask", "x=x, src_mask=src_mask")
)


@encoder.right("the mask converted to bool")
def forward(self, x, src_mask=None):
    if src_mask is not None:
        src_mask = src_mask.bool()
    for layer in self.layers:
        x = layer(x, src_mask)
    return self.norm(x)


@encoder.right("a mask of ones if no mask is passed")
def forward(self, x, src_mask=None):
    if src_mask is None:
        src_mask = x.new_ones(1, 1, 1, x.size(1), dtype=torch.bool)
    for layer in self.layers:
        x = layer(x, src_mask)
    return self.norm(x)


encoder.right(
    "the norm if the layers are pre-norm",
    swap("(x)", "(x) if self.layers[0].add_norm1.norm_first else x"),
)
encoder.right(
    "all states collected, and the last one returned",
    insert("states = [x]", before="for layer"),
    swap("x = layer(x, src_mask)", "states.append(layer(states[-1], src_mask))"),
    swap("(x)", "(states[-1])"),
)


@encoder.right("an iterator")
def forward(self, x, src_mask=None):
    layers = iter(self.layers)
    while (layer := next(layers, None)) is not None:
        x = layer(x, src_mask)
    return self.norm(x)


encoder.right(
    "layer_states", body("return self.norm(layer_states(self, x, src_mask)[-1])")
)
encoder.right(
    "the norm only if there is one",
    swap("layers", "layers.children()"),
    swap("(x)", "(x) if isinstance(self.norm, nn.LayerNorm) else x"),
)

# --- layer_states -----------------------------------------------------------------

layer_states = answer("transformer.encoder.layer_states")
layer_states.wrong(
    "without the input",
    swap("return states", "return states[1:]"),
    names="one state too few",
)
layer_states.wrong(
    "without the last layer",
    swap("return states", "return states[:-1]"),
    names="one state too few",
)
layer_states.wrong(
    "only the memory",
    body("return encoder(x, src_mask)"),
    names="something other than a list",
)
layer_states.wrong(
    "every layer applied to the input",
    body("return [x] + [layer(x, src_mask) for layer in encoder.layers]"),
    names="output for the encoder's",
)
layer_states.wrong("without the mask", swap("[-1], src_mask", "[-1]"))
layer_states.wrong(
    "a last state that is normalised",
    insert("states[-1] = encoder.norm(states[-1])", before="return states"),
    names="after the final normalisation",
)
layer_states.wrong(
    "the memory as an extra state",
    swap("return states", "return [*states, encoder.norm(states[-1])]"),
    names="states",
    diagnosed=False,
)
layer_states.wrong(
    "three layers, regardless of the number of layers",
    swap("layer in encoder.layers", "number in range(3)"),
    swap("layer(states[-1], src_mask)", "encoder.layers[number](states[-1], src_mask)"),
    names="one state too few",
)


@layer_states.wrong("one tensor that is overwritten", names="like all other states")
def layer_states(encoder, x, src_mask=None):
    x = x.clone()
    states = [x]
    for layer in encoder.layers:
        x.data.copy_(layer(x, src_mask).data)
        states.append(x)
    return states


layer_states.wrong(
    "a detached result",
    swap("(states[-1], src_mask)", "(states[-1], src_mask).detach()"),
    names="the gradient is cut off",
)


@layer_states.wrong("without a gradient", names="the gradient is cut off")
def layer_states(encoder, x, src_mask=None):
    states = [x]
    with torch.no_grad():
        for layer in encoder.layers:
            states.append(layer(states[-1], src_mask))
    return states


layer_states.wrong(
    "an input that is overwritten",
    swap("[x]", "[x.clone()]"),
    insert("x.data.copy_(states[-1].data)", before="return states"),
    names="changed in place",
)


@layer_states.wrong("each layer's input, after the encoder's input", names="its layer")
def layer_states(encoder, x, src_mask=None):
    states = [x]
    for layer in encoder.layers:
        states.append(x)
        x = layer(x, src_mask)
    return states


layer_states.wrong(
    "the input for every state",
    body("return [x] * (len(encoder.layers) + 1)"),
    names="the input of its layer",
)
layer_states.wrong(
    "zeros",
    body("return [torch.zeros_like(x)] * (len(encoder.layers) + 1)"),
    names="zeros",
)
layer_states.wrong(
    "at most three layers",
    swap("encoder.layers", "encoder.layers[:3]"),
    names="one state too few",
)
layer_states.wrong(
    "a detached first state",
    swap("[x]", "[x.detach()]"),
    names="the gradient is cut off",
)


@layer_states.wrong("a conversion to numpy and back", names="the gradient is cut off")
def layer_states(encoder, x, src_mask=None):
    states = [x]
    for layer in encoder.layers:
        states.append(layer(states[-1], src_mask))
    return [torch.from_numpy(state.detach().numpy()) for state in states]


@layer_states.right("x passed from layer to layer")
def layer_states(encoder, x, src_mask=None):
    states = [x]
    for layer in encoder.layers:
        x = layer(x, src_mask)
        states.append(x)
    return states


layer_states.right(
    "a tuple",
    swap("[x]", "(x,)"),
    swap(".append", "+="),
    swap("(states[-1], src_mask)", "(states[-1], src_mask),"),
)


@layer_states.right("one stacked tensor")
def layer_states(encoder, x, src_mask=None):
    states = [x]
    for number in range(len(encoder.layers)):
        states.append(encoder.layers[number](states[number], src_mask))
    return torch.stack(states)


@layer_states.right("all layers from the input for each state")
def layer_states(encoder, x, src_mask=None):
    def after(count):
        y = x
        for layer in encoder.layers[:count]:
            y = layer(y, src_mask)
        return y

    return [after(count) for count in range(len(encoder.layers) + 1)]


@layer_states.right("a generator and itertools.accumulate")
def layer_states(encoder, x, src_mask=None):
    def states():
        y = x
        yield y
        for layer in encoder.layers:
            y = layer(y, src_mask)
            yield y

    return list(states())


@layer_states.right("the mask as a keyword argument")
def layer_states(encoder, x, src_mask=None):
    states = [x.clone()]
    for layer in encoder.layers.children():
        states = [*states, layer(states[-1], src_mask=src_mask)]
    return states


layer_states.right(
    "both arguments as keyword arguments",
    swap("states[-1],", "x=states[-1], src_mask="),
)


@layer_states.right("a bool mask that is created if no mask is passed")
def layer_states(encoder, x, src_mask=None):
    if src_mask is None:
        src_mask = x.new_ones(1, 1, 1, x.size(1))
    states = [x]
    for layer in encoder.layers:
        states.append(layer(states[-1], src_mask.bool()))
    return states


# --- drift ------------------------------------------------------------------------

drift = answer("transformer.analysis.encoder.drift")
drift.with_faults("kept buffer state default float32 rounded written cpu")
drift.wrong(
    "the cosine itself", swap("1 - torch.stack(cosines)", "torch.stack(cosines)")
)
drift.wrong(
    "the sign flipped",
    swap("1 - torch.stack(cosines)", "torch.stack(cosines) - 1"),
    names="sign flipped",
)


@drift.wrong("the drift from layer to layer", names="from one layer to the next")
def drift(states):
    before = [states[0], *states[:-1]]
    pairs = zip(states, before, strict=True)
    return torch.stack([1 - F.cosine_similarity(a, b, dim=-1) for a, b in pairs])


drift.wrong("the drift from the last state", swap("states[0]", "states[-1]"))
drift.wrong(
    "the dot product",
    body("return 1 - torch.stack([(s * states[0]).sum(dim=-1) for s in states])"),
    names="not divided by the lengths",
)


@drift.wrong(
    "the dot product divided by only one length", names="one of the two lengths"
)
def drift(states):
    length = states[0].norm(dim=-1)
    return 1 - torch.stack([(s * states[0]).sum(dim=-1) / length for s in states])


drift.wrong(
    "the distance",
    body("return torch.stack([(s - states[0]).norm(dim=-1) for s in states])"),
    names="the distance between the vectors",
)
drift.wrong(
    "the squared distance",
    body("return torch.stack([((s - states[0]) ** 2).sum(dim=-1) for s in states])"),
)
drift.wrong(
    "the angle",
    swap("1 - torch.stack(cosines)", "torch.stack(cosines).clamp(-1, 1).acos()"),
    names="the angle itself",
)
drift.wrong(
    "the mean over tokens",
    swap(
        "return 1 - torch.stack(cosines)",
        "return (1 - torch.stack(cosines)).mean(dim=-1)",
    ),
)
drift.wrong(
    "the mean over everything",
    swap(
        "return 1 - torch.stack(cosines)",
        "return (1 - torch.stack(cosines)).mean(dim=(1, 2))",
    ),
    names="the mean over batch",
)
drift.wrong(
    "cosines over the tokens, the default dim",
    swap("states[0], dim=-1", "states[0]"),
    names="over the tokens, not",
)
drift.wrong("without the first state", swap("in states]", "in states[1:]]"))


@drift.wrong("states that are normalised in place", names="changed in place")
def drift(states):
    for state in states:
        state /= state.norm(dim=-1, keepdim=True)
    return 1 - torch.stack([(state * states[0]).sum(dim=-1) for state in states])


drift.wrong(
    "zeros",
    body("return torch.zeros(len(states), *states[0].shape[:2])"),
    names="zeros",
)
drift.wrong(
    "the states themselves",
    body("return torch.stack(list(states))"),
    names="the states themselves",
)
drift.wrong(
    "1e-3 added to the lengths",
    body(
        """
        start, rows = states[0], []
        for state in states:
            lengths = state.norm(dim=-1) * start.norm(dim=-1)
            rows.append(1 - (state * start).sum(dim=-1) / (lengths + 1e-3))
        return torch.stack(rows)
        """
    ),
    diagnosed=False,
)
drift.wrong(
    "a computation with numpy",
    body(
        """
        cosines = [F.cosine_similarity(state, states[0], dim=-1) for state in states]
        return 1 - torch.from_numpy(torch.stack(cosines).numpy())
        """
    ),
    names="numpy",
)
drift.wrong(
    "at most three states",
    swap("in states]", "in states[:3]]"),
    names="the first three states",
)


@drift.wrong("the first start reused", diagnosed=False)
def drift(states, kept={}):
    start = kept.setdefault(states[0].shape, states[0])
    return 1 - torch.stack([F.cosine_similarity(s, start, dim=-1) for s in states])


@drift.wrong("a start that is removed from the list", names="changed in place")
def drift(states):
    states = states if isinstance(states, list) else list(states)
    start = states.pop(0)
    turned = [1 - F.cosine_similarity(s, start, dim=-1) for s in [start, *states]]
    return torch.stack(turned)


@drift.right("a cosine computed by hand")
def drift(states):
    start = states[0]
    rows = []
    for state in states:
        dot = (state * start).sum(dim=-1)
        rows.append(1 - dot / (state.norm(dim=-1) * start.norm(dim=-1)))
    return torch.stack(rows)


@drift.right("unit vectors and einsum")
def drift(states):
    unit = F.normalize(torch.stack(list(states)), dim=-1)
    return 1 - torch.einsum("nbsd,bsd->nbs", unit, unit[0])


@drift.right("one call for all states")
def drift(states):
    stacked = torch.stack(tuple(states))
    return 1 - torch.cosine_similarity(stacked, stacked[:1], dim=3)


@drift.right("half the squared distance of unit vectors")
def drift(states):
    unit = [F.normalize(state, dim=-1) for state in states]
    return torch.stack([(u - unit[0]).square().sum(dim=-1) / 2 for u in unit])


@drift.right("nn.CosineSimilarity and cat")
def drift(states):
    cosine = nn.CosineSimilarity(dim=2)
    return torch.cat([(1 - cosine(state, states[0]))[None] for state in states])


@drift.right("matrix products")
def drift(states):
    unit = [F.normalize(state, dim=-1) for state in states]
    dots = [(u.unsqueeze(-2) @ unit[0].unsqueeze(-1)).flatten(-3) for u in unit]
    return 1 - torch.stack([d.view(states[0].shape[:2]) for d in dots])


@drift.right("loops over sentences and tokens")
def drift(states):
    b, s, _ = states[0].shape
    turned = states[0].new_zeros(len(states), b, s)
    for n, state in enumerate(states):
        for i in range(b):
            for j in range(s):
                cosine = F.cosine_similarity(state[i, j], states[0][i, j], dim=0)
                turned[n, i, j] = 1 - cosine
    return turned


# --- mask_words -------------------------------------------------------------------

mask_words = answer("transformer.one_stack.masked_words.mask_words")
mask_words.with_faults("seed default float32 written cpu")
SPECIAL = "(ids >= N_SPECIAL) & "
OTHERS = "N_SPECIAL, mask_id, ids.shape, generator=generator, device=ids.device"

mask_words.wrong(
    "special tokens that are chosen too",
    drop(SPECIAL),
    names="special tokens as targets",
)
mask_words.wrong(
    "padding that is chosen too",
    swap("ids >= N_SPECIAL", "(ids >= N_SPECIAL) | (ids == 1)"),
    names="special tokens as targets",
)
mask_words.wrong(
    "the share that should stay unchanged",
    swap("chance[0] < share", "chance[0] > share"),
    names="should not be chosen",
)
mask_words.wrong(
    "15 %, regardless of the share",
    swap("< share", "< 0.15"),
    names="15 % of the words",
)
mask_words.wrong(
    "all chosen words hidden",
    swap("chosen & (chance[1] < 0.8)", "chosen"),
    swap("chosen & (chance[1] >= 0.9)", "chosen & False"),
    names="only hidden words",
)
mask_words.wrong(
    "no words that stay unchanged",
    swap(">= 0.9", ">= 0.8"),
    names="no words that stay unchanged",
)
mask_words.wrong(
    "no replaced words",
    swap(">= 0.9", ">= 1"),
    names="no words replaced by other words",
)
mask_words.wrong(
    "hidden and replaced words swapped",
    swap("hidden, other = ", "other, hidden = "),
    names="80 % replaced words",
)
mask_words.wrong(
    "hidden and unchanged words swapped",
    swap("chosen & (chance[1] < 0.8)", "chosen & (chance[1] < 0.1)"),
    names="80 % unchanged words",
)
mask_words.wrong(
    "10 % of the rest as replacements",
    body(
        """
        chosen = (torch.rand(ids.shape, generator=generator) < share) & (ids > 3)
        hidden = (torch.rand(ids.shape, generator=generator) < 0.8) & chosen
        other = (torch.rand(ids.shape, generator=generator) < 0.1) & chosen & ~hidden
        others = torch.randint(4, mask_id, ids.shape, generator=generator)
        read = ids.masked_fill(hidden, mask_id)
        read[other] = others[other]
        return read, ids.masked_fill(~chosen, NOT_ASKED)
        """
    ),
    names="10 % of the words that are not hidden",
)
mask_words.wrong(
    "only hidden words as targets",
    swap("~chosen", "~hidden"),
    names="changed words that are not targets",
)
mask_words.wrong(
    "only changed words as targets",
    swap("~chosen", "read == ids"),
    names="90 % of the share",
)
mask_words.wrong(
    "all words as targets",
    swap("~chosen", "ids < N_SPECIAL"),
    names="all words as targets",
)
mask_words.wrong(
    "all positions as targets",
    swap("ids.masked_fill(~chosen, NOT_ASKED)", "ids.clone()"),
    names="all words as targets",
)
mask_words.wrong(
    "words that are not chosen as targets",
    swap("~chosen", "chosen"),
    names="special tokens as targets",
)
mask_words.wrong(
    "the model's input as targets",
    swap("ids.masked_fill(~chosen", "read.masked_fill(~chosen"),
    names="the model's input used as the targets",
)
mask_words.wrong(
    "padding instead of NOT_ASKED",
    swap("NOT_ASKED", "1"),
    names="special tokens as targets",
)
mask_words.wrong(
    "one draw for a whole column",
    swap("torch.rand(2, *ids.shape,", "torch.rand(2, ids.size(1),"),
    names="one draw for a whole column",
)
mask_words.wrong(
    "one draw for a whole sentence",
    swap("torch.rand(2, *ids.shape,", "torch.rand(2, ids.size(0), 1,"),
    names="one draw for a whole sentence",
)
mask_words.wrong(
    "one decision for a whole sentence",
    insert("chance[1] = chance[1, :, :1]", before="chosen ="),
    names="one draw for a whole sentence",
)
mask_words.wrong(
    "one decision for a whole column",
    insert("chance[1] = chance[1, :1]", before="chosen ="),
    names="one draw for a whole column",
)
mask_words.wrong(
    "one replacement word for all",
    insert("others = others[:1, :1].expand_as(ids)", before="chosen ="),
    names="one replacement word for all",
)
mask_words.wrong(
    "one replacement word for a sentence",
    insert("others = others[:, :1].expand_as(ids)", before="chosen ="),
    names="one draw for a whole sentence",
)
mask_words.wrong(
    "special tokens drawn as replacements",
    swap("N_SPECIAL, mask_id, ids", "0, mask_id, ids"),
    names="special tokens as replacements",
)
mask_words.wrong(
    "mask_id drawn as a replacement too",
    swap("mask_id, ids.shape", "mask_id + 1, ids.shape"),
    names="drawn as a replacement",
)
mask_words.wrong(
    "a last word that is never drawn",
    swap("mask_id, ids.shape", "max(mask_id - 1, N_SPECIAL + 1), ids.shape"),
    names="some words never drawn",
)
mask_words.wrong(
    "replacements from the same sentence",
    swap("torch.where(other, others,", "torch.where(other, ids.roll(1, 1),"),
    names="special tokens as replacements",
)
mask_words.wrong(
    "a generator that is ignored",
    swap("generator=generator, device", "device", every=True),
    names="the random state of torch",
)
mask_words.wrong(
    "a generator that is ignored for the replacements",
    swap(OTHERS, "N_SPECIAL, mask_id, ids.shape, device=ids.device"),
    names="the random state of torch",
)
mask_words.wrong(
    "a fixed seed",
    insert("generator = torch.Generator().manual_seed(0)", before="chance ="),
    names="the same random numbers",
)
mask_words.wrong(
    "a generator that is seeded again",
    insert(
        """
        if generator is not None:
            generator.manual_seed(0)
        """,
        before="chance =",
    ),
    names="the same random numbers",
)
mask_words.wrong(
    "a seed without a generator",
    insert(
        """
        if generator is None:
            torch.manual_seed(0)
        """,
        before="chance =",
    ),
    names="a seed that the code sets",
)
mask_words.wrong(
    "ids that are overwritten",
    swap("ids.masked_fill(hidden, mask_id)", "ids.masked_fill_(hidden, mask_id)"),
    names="changed in place",
)
mask_words.wrong(
    "only the model's input",
    body("return ids.masked_fill(ids >= N_SPECIAL, mask_id)"),
    names="a different number of results",
)
mask_words.wrong(
    "no chosen words",
    body("return ids.clone(), torch.full_like(ids, NOT_ASKED)"),
    names="no word as a target",
)
mask_words.wrong(
    "every word hidden",
    body(
        """
        words = ids >= N_SPECIAL
        return ids.masked_fill(words, mask_id), ids.masked_fill(~words, NOT_ASKED)
        """
    ),
    names="all words as targets",
)


@mask_words.wrong("a result cached by shape", names="the same random numbers")
def mask_words(ids, mask_id, share=0.15, generator=None, kept={}):
    if ids.shape not in kept:
        words = ids >= N_SPECIAL
        chance = torch.rand(2, *ids.shape, generator=generator)
        chosen = words & (chance[0] < share)
        others = torch.randint(N_SPECIAL, mask_id, ids.shape, generator=generator)
        read = ids.masked_fill(chosen & (chance[1] < 0.8), mask_id)
        read = torch.where(chosen & (chance[1] >= 0.9), others, read)
        kept[ids.shape] = read, ids.masked_fill(~chosen, NOT_ASKED)
    return kept[ids.shape]


FIXED = "fixed number of words"


@mask_words.wrong("a fixed number of words from each batch", names=FIXED)
def mask_words(ids, mask_id, share=0.15, generator=None):
    words = (ids >= N_SPECIAL).nonzero()
    order = torch.randperm(len(words), generator=generator)
    chosen = torch.zeros_like(ids, dtype=torch.bool)
    chosen[tuple(words[order[: round(share * len(words))]].T)] = True
    chance = torch.rand(ids.shape, generator=generator)
    others = torch.randint(N_SPECIAL, mask_id, ids.shape, generator=generator)
    read = ids.masked_fill(chosen & (chance < 0.8), mask_id)
    read = torch.where(chosen & (chance >= 0.9), others, read)
    return read, ids.masked_fill(~chosen, NOT_ASKED)


@mask_words.wrong("a fixed number of words from each sentence", names=FIXED)
def mask_words(ids, mask_id, share=0.15, generator=None):
    words = ids >= N_SPECIAL
    ranks = torch.rand(ids.shape, generator=generator).masked_fill(~words, 2).argsort(1)
    number = (share * words.sum(dim=1, keepdim=True)).round()
    chosen = (ranks.argsort(1) < number) & words
    chance = torch.rand(ids.shape, generator=generator)
    others = torch.randint(N_SPECIAL, mask_id, ids.shape, generator=generator)
    read = ids.masked_fill(chosen & (chance < 0.8), mask_id)
    read = torch.where(chosen & (chance >= 0.9), others, read)
    return read, ids.masked_fill(~chosen, NOT_ASKED)


@mask_words.right("one random draw after the other")
def mask_words(ids, mask_id, share=0.15, generator=None):
    def coin(p):
        return torch.rand(ids.shape, generator=generator, device=ids.device) < p

    chosen = coin(share) & (ids > 3)
    asked, read = torch.full_like(ids, -100), ids.clone()
    asked[chosen] = ids[chosen]
    hidden = chosen & coin(0.8)
    other = chosen & ~hidden & coin(0.5)
    read[hidden] = mask_id
    words = torch.randint(4, mask_id, ids.shape, generator=generator, device=ids.device)
    read[other] = words[other]
    return read, asked


@mask_words.right("one random number for all decisions of a word")
def mask_words(ids, mask_id, share=0.15, generator=None):
    chance = torch.rand(ids.shape, generator=generator, device=ids.device)
    chance = chance.masked_fill(ids < N_SPECIAL, 1.0)
    others = torch.randint(
        N_SPECIAL, mask_id, ids.shape, generator=generator, device=ids.device
    )
    read = torch.where(chance < 0.9 * share, others, ids)
    read = read.masked_fill(chance < 0.8 * share, mask_id)
    return [read, ids.masked_fill(chance >= share, NOT_ASKED)]


@mask_words.right("probabilities and bernoulli")
def mask_words(ids, mask_id, share=0.15, generator=None):
    words = (ids >= N_SPECIAL).float()
    chosen = torch.bernoulli(share * words, generator=generator).bool()
    hidden = torch.bernoulli(torch.full_like(words, 0.8), generator=generator).bool()
    other = torch.bernoulli(torch.full_like(words, 0.5), generator=generator).bool()
    drawn = torch.randint(
        N_SPECIAL, mask_id, ids.shape, generator=generator, device=ids.device
    )
    read = torch.where(chosen & ~hidden & other, drawn, ids)
    read = torch.where(chosen & hidden, mask_id, read)
    return read, torch.where(chosen, ids, NOT_ASKED)


@mask_words.right("a replacement that differs from the original word")
def mask_words(ids, mask_id, share=0.15, generator=None):
    chance = torch.rand(2, *ids.shape, generator=generator, device=ids.device)
    n = mask_id - N_SPECIAL
    step = torch.randint(1, n, ids.shape, generator=generator, device=ids.device)
    others = (ids - N_SPECIAL + step) % n + N_SPECIAL
    chosen = (ids >= N_SPECIAL) & (chance[0] < share)
    read = ids.masked_fill(chosen & (chance[1] < 0.8), mask_id)
    read = torch.where(chosen & (chance[1] >= 0.9), others, read)
    return read, ids.masked_fill(~chosen, NOT_ASKED)


@mask_words.right("a loop over the words")
def mask_words(ids, mask_id, share=0.15, generator=None):
    chance = torch.rand(2, *ids.shape, generator=generator, device=ids.device)
    drawn = torch.randint(
        N_SPECIAL, mask_id, ids.shape, generator=generator, device=ids.device
    )
    words, drawn = ids.tolist(), drawn.tolist()
    first, second = chance.tolist()
    read, asked = ids.clone().tolist(), torch.full_like(ids, NOT_ASKED).tolist()
    for i, row in enumerate(words):
        for j, word in enumerate(row):
            if word < N_SPECIAL or first[i][j] >= share:
                continue
            asked[i][j] = word
            if second[i][j] < 0.8:
                read[i][j] = mask_id
            elif second[i][j] < 0.9:
                read[i][j] = drawn[i][j]
    return (
        torch.tensor(read, device=ids.device),
        torch.tensor(asked, device=ids.device),
    )


# --- answers that try to pass without solving the exercise ------------------------

own_layer = answer("transformer.encoder.EncoderLayer.forward")
own_layer.with_faults("kept seed default float32 written cpu")
own_layer.wrong(
    "a mask (h, t, s) read as one mask per sentence",
    insert(
        """
        if src_mask is not None and src_mask.dim() == 3:
            src_mask = src_mask.unsqueeze(1)
        """,
        before="x = self.add_norm1",
    ),
    names="does not take a mask (h, t, s)",
)
own_layer.wrong(
    "a result cached by the identity of the tensors in evaluation mode",
    body("""
    kept = self.__dict__.setdefault("kept", {})
    if self.training or (id(x), id(src_mask)) not in kept:
        y = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
        kept[id(x), id(src_mask)] = self.add_norm2(y, self.feed_forward), x, src_mask
    return kept[id(x), id(src_mask)][0]
    """),
    names="a result kept from an earlier call",
)
own_stack = answer("transformer.encoder.Encoder.forward")
own_stack.with_faults("kept state default written cpu")
own_stack.wrong(
    "a result cached by the identity of the tensors in evaluation mode",
    body("""
    kept = self.__dict__.setdefault("kept", {})
    if self.training or (id(x), id(src_mask)) not in kept:
        y = x
        for layer in self.layers:
            y = layer(y, src_mask)
        kept[id(x), id(src_mask)] = self.norm(y), x, src_mask
    return kept[id(x), id(src_mask)][0]
    """),
    names="a result kept from an earlier call",
)
own_stack.wrong(
    "no gradient below the last three layers",
    body("""
    for number, layer in enumerate(self.layers):
        with torch.set_grad_enabled(number >= len(self.layers) - 3):
            x = layer(x, src_mask)
    return self.norm(x)
    """),
    diagnosed=False,
)
own_states = answer("transformer.encoder.layer_states")
own_states.with_faults("kept state default detached written cpu")
for mode in ("eval", "train"):
    own_states.wrong(
        f"a module that is left in {mode} mode",
        insert(f"encoder.{mode}()", before="states ="),
        names="the mode of a module that it is given",
    )
answer("transformer.analysis.encoder.drift").wrong(
    "vectors that are centred first",
    body("""
    centred = [state - state.mean(dim=-1, keepdim=True) for state in states]
    start = centred[0]
    return 1 - torch.stack([F.cosine_similarity(c, start, dim=-1) for c in centred])
    """),
    diagnosed=False,
)

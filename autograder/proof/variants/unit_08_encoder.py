"""Wrong variants and right styles of unit 08, as students write them."""

import functools

import torch
import torch.nn.functional as F
from torch import nn

from autograder.proof.variants import right, wrong
from transformer.parts import make_add_norm, make_attention, make_feed_forward

# --- EncoderLayer.forward: wrong --------------------------------------------------


@wrong(
    "pre-norm where post-norm is asked",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="a pre-norm layer",
)
def forward(self, x, src_mask=None):
    y = self.add_norm1.norm(x)
    x = x + self.add_norm1.dropout(self.self_attention(y, y, y, src_mask)[0])
    y = self.add_norm2.norm(x)
    return x + self.add_norm2.dropout(self.feed_forward(y))


@wrong(
    "post-norm where pre-norm is asked",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="a post-norm layer",
)
def forward(self, x, src_mask=None):
    attended = self.self_attention(x, x, x, src_mask)[0]
    x = self.add_norm1.norm(x + self.add_norm1.dropout(attended))
    reworked = self.feed_forward(x)
    return self.add_norm2.norm(x + self.add_norm2.dropout(reworked))


@wrong(
    "no residual",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="without residual connections",
)
def forward(self, x, src_mask=None):
    x = self.add_norm1.norm(self.self_attention(x, x, x, src_mask)[0])
    return self.add_norm2.norm(self.feed_forward(x))


@wrong(
    "no residual around attention",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="the residual connection around attention",
)
def forward(self, x, src_mask=None):
    x = self.add_norm1.norm(self.self_attention(x, x, x, src_mask)[0])
    return self.add_norm2(x, self.feed_forward)


@wrong(
    "no residual around the feed-forward",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="around the feed-forward",
)
def forward(self, x, src_mask=None):
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    return self.add_norm2.norm(self.feed_forward(x))


@wrong(
    "the residual connection twice",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="two residual connections around each",
)
def forward(self, x, src_mask=None):
    def attend(y):
        return y + self.self_attention(y, y, y, src_mask)[0]

    x = self.add_norm1(x, attend)
    return self.add_norm2(x, lambda y: y + self.feed_forward(y))


@wrong(
    "one LayerNorm for all",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="uses the first LayerNorm twice",
)
def forward(self, x, src_mask=None):
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    return self.add_norm1(x, self.feed_forward)


@wrong(
    "the second LayerNorm for all",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="uses the second LayerNorm twice",
)
def forward(self, x, src_mask=None):
    x = self.add_norm2(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    return self.add_norm2(x, self.feed_forward)


@wrong(
    "LayerNorms exchanged",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="two LayerNorms exchanged",
)
def forward(self, x, src_mask=None):
    x = self.add_norm2(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    return self.add_norm1(x, self.feed_forward)


@wrong(
    "feed-forward before attention",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="feed-forward before attention",
)
def forward(self, x, src_mask=None):
    x = self.add_norm1(x, self.feed_forward)
    return self.add_norm2(x, lambda y: self.self_attention(y, y, y, src_mask)[0])


@wrong(
    "feed-forward before attention, each with its own norm",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="the feed-forward and its norm before attention",
)
def forward(self, x, src_mask=None):
    x = self.add_norm2(x, self.feed_forward)
    return self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])


@wrong(
    "self-attention unmasked",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="ignores the mask",
)
def forward(self, x, src_mask=None):
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y)[0])
    return self.add_norm2(x, self.feed_forward)


@wrong(
    "an inverted mask",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="inverted",
)
def forward(self, x, src_mask=None):
    hidden = None if src_mask is None else ~src_mask
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, hidden)[0])
    return self.add_norm2(x, self.feed_forward)


@wrong(
    "x instead of what the function is handed",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="a layer without LayerNorm",
)
def forward(self, x, src_mask=None):
    if self.add_norm1.norm_first:
        y = self.add_norm1(x, lambda _: self.self_attention(x, x, x, src_mask)[0])
        return self.add_norm2(y, lambda _: self.feed_forward(y))
    y = self.add_norm1(x, lambda _: self.self_attention(x, x, x, src_mask)[0])
    return self.add_norm2(y, self.feed_forward)


@wrong(
    "attention of x, worked out beforehand",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="not what its function is handed",
)
def forward(self, x, src_mask=None):
    attended, _ = self.self_attention(x, x, x, src_mask)
    x = self.add_norm1(x, lambda _: attended)
    return self.add_norm2(x, self.feed_forward)


@wrong(
    "keys and values from x, the query from the norm",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="but not keys and values",
)
def forward(self, x, src_mask=None):
    y = self.add_norm1(x, lambda q: self.self_attention(q, x, x, src_mask)[0])
    return self.add_norm2(y, self.feed_forward)


@wrong(
    "the second residual from the layer's input",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="second residual connection starts",
)
def forward(self, x, src_mask=None):
    y = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    return self.add_norm2(x, lambda _: self.feed_forward(y))


@wrong(
    "the feed-forward reads the layer's input",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="feed-forward reads the layer's input",
)
def forward(self, x, src_mask=None):
    y = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    return self.add_norm2(y, lambda _: self.feed_forward(x))


@wrong(
    "attention alone",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="the feed-forward is missing",
)
def forward(self, x, src_mask=None):
    return self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])


@wrong(
    "the feed-forward alone",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="attention is missing",
)
def forward(self, x, src_mask=None):
    return self.add_norm2(x, self.feed_forward)


@wrong(
    "norm(x) + f(x)",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="norm(x) + f(x)",
)
def forward(self, x, src_mask=None):
    x = self.add_norm1.norm(x) + self.self_attention(x, x, x, src_mask)[0]
    return self.add_norm2.norm(x) + self.feed_forward(x)


@wrong(
    "x + norm(f(x))",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="x + norm(f(x))",
)
def forward(self, x, src_mask=None):
    x = x + self.add_norm1.norm(self.self_attention(x, x, x, src_mask)[0])
    return x + self.add_norm2.norm(self.feed_forward(x))


@wrong(
    "no LayerNorm",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="a layer without LayerNorm",
)
def forward(self, x, src_mask=None):
    x = x + self.self_attention(x, x, x, src_mask)[0]
    return x + self.feed_forward(x)


@wrong(
    "without dropout",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="the dropout of the sub-layers",
)
def forward(self, x, src_mask=None):
    norm1, norm2 = self.add_norm1.norm, self.add_norm2.norm
    if self.add_norm1.norm_first:
        y = norm1(x)
        x = x + self.self_attention(y, y, y, src_mask)[0]
        return x + self.feed_forward(norm2(x))
    x = norm1(x + self.self_attention(x, x, x, src_mask)[0])
    return norm2(x + self.feed_forward(x))


@wrong(
    "without the first dropout",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="the dropout of what attention adds",
)
def forward(self, x, src_mask=None):
    norm1 = self.add_norm1.norm
    if self.add_norm1.norm_first:
        y = norm1(x)
        x = x + self.self_attention(y, y, y, src_mask)[0]
    else:
        x = norm1(x + self.self_attention(x, x, x, src_mask)[0])
    return self.add_norm2(x, self.feed_forward)


@wrong(
    "without the second dropout",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="the dropout of what the feed-forward adds",
)
def forward(self, x, src_mask=None):
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    if self.add_norm2.norm_first:
        return x + self.feed_forward(self.add_norm2.norm(x))
    return self.add_norm2.norm(x + self.feed_forward(x))


@wrong("attention's two results handed on", replaces="EncoderLayer.forward")
def forward(self, x, src_mask=None):
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask))
    return self.add_norm2(x, self.feed_forward)


@wrong("output and weights returned", replaces="EncoderLayer.forward")
def forward(self, x, src_mask=None):
    _, weights = self.self_attention(x, x, x, src_mask)
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    return self.add_norm2(x, self.feed_forward), weights


@wrong(
    "in place",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="changed in place",
)
def forward(self, x, src_mask=None):
    y = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    y = self.add_norm2(y, self.feed_forward)
    x.data.copy_(y.data)
    return y


@wrong(
    "detached",
    diagnosed=True,
    replaces="EncoderLayer.forward",
    names="without a gradient",
)
def forward(self, x, src_mask=None):
    def attend(y):
        return self.self_attention(y, y, y, src_mask)[0].detach()

    return self.add_norm2(self.add_norm1(x, attend), self.feed_forward)


# --- EncoderLayer.forward: right --------------------------------------------------


@right("a function with a name", replaces="EncoderLayer.forward")
def forward(self, x, src_mask=None):
    def attend(y):
        output, _ = self.self_attention(y, y, y, mask=src_mask)
        return output

    x = self.add_norm1(x, attend)
    x = self.add_norm2(x, self.feed_forward)
    return x


@right("the parts of AddNorm by hand", replaces="EncoderLayer.forward")
def forward(self, x, src_mask=None):
    first, second = self.add_norm1, self.add_norm2
    y = first.norm(x) if first.norm_first else x
    x = x + first.dropout(self.self_attention(y, y, y, src_mask)[0])
    x = x if first.norm_first else first.norm(x)
    y = second.norm(x) if second.norm_first else x
    x = x + second.dropout(self.feed_forward(y))
    return x if second.norm_first else second.norm(x)


@right("keyword arguments", replaces="EncoderLayer.forward")
def forward(self, x, src_mask=None):
    def sublayer(tokens):
        return self.self_attention(
            query=tokens, key=tokens, value=tokens, mask=src_mask
        )[0]

    attended = self.add_norm1(x=x, sublayer=sublayer)
    return self.add_norm2(x=attended, sublayer=lambda tokens: self.feed_forward(tokens))


@right("one sentence at a time", replaces="EncoderLayer.forward")
def forward(self, x, src_mask=None):
    rows = []
    for i in range(x.size(0)):
        row, mask = x[i : i + 1], src_mask
        if mask is not None and mask.dim() == 4 and mask.size(0) > 1:
            mask = mask[i : i + 1]
        row = self.add_norm1(row, lambda y, m=mask: self.self_attention(y, y, y, m)[0])
        rows.append(self.add_norm2(row, self.feed_forward))
    return torch.cat(rows)


@right("a mask of ones where there is none", replaces="EncoderLayer.forward")
def forward(self, x, src_mask=None):
    if src_mask is None:
        src_mask = x.new_ones(1, 1, 1, x.size(1), dtype=torch.bool)
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])
    return self.add_norm2(x, self.feed_forward)


@right("the sub-layers in a list", replaces="EncoderLayer.forward")
def forward(self, x, src_mask=None):
    steps = [
        (self.add_norm1, lambda y: self.self_attention(y, y, y, src_mask)[0]),
        (self.add_norm2, self.feed_forward),
    ]
    for add_norm, sublayer in steps:
        x = add_norm(x, sublayer)
    return x


@right("project, then attend", replaces="EncoderLayer.forward")
def forward(self, x, src_mask=None):
    def attend(y):
        attention = self.self_attention
        keys, values = attention.project_key_value(y, y)
        return attention.attend(attention.project_query(y), keys, values, src_mask)[0]

    return self.add_norm2(self.add_norm1(x, attend), self.feed_forward)


@right("a dropout of its own")
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


@right("a method of its own for attention")
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


# --- Encoder.forward: wrong -------------------------------------------------------


@wrong(
    "the first layer alone", diagnosed=True, replaces="Encoder.forward", names="first"
)
def forward(self, x, src_mask=None):
    for layer in self.layers:
        return self.norm(layer(x, src_mask))


@wrong(
    "every layer reads the encoder's input",
    diagnosed=True,
    replaces="Encoder.forward",
    names="reading the encoder's input",
)
def forward(self, x, src_mask=None):
    for layer in self.layers:
        output = layer(x, src_mask)
    return self.norm(output)


@wrong(
    "without the last layer",
    diagnosed=True,
    replaces="Encoder.forward",
    names="without its last layer",
)
def forward(self, x, src_mask=None):
    for layer in self.layers[:-1]:
        x = layer(x, src_mask)
    return self.norm(x)


@wrong(
    "without the first layer",
    diagnosed=True,
    replaces="Encoder.forward",
    names="without its first layer",
)
def forward(self, x, src_mask=None):
    for number in range(1, len(self.layers)):
        x = self.layers[number](x, src_mask)
    return self.norm(x)


@wrong(
    "the first layer n times",
    diagnosed=True,
    replaces="Encoder.forward",
    names="the first layer, N times",
)
def forward(self, x, src_mask=None):
    for _ in self.layers:
        x = self.layers[0](x, src_mask)
    return self.norm(x)


@wrong(
    "the last layer n times",
    diagnosed=True,
    replaces="Encoder.forward",
    names="the last layer, N times",
)
def forward(self, x, src_mask=None):
    for _ in range(len(self.layers)):
        x = self.layers[-1](x, src_mask)
    return self.norm(x)


@wrong("in reverse order", diagnosed=True, replaces="Encoder.forward", names="reverse")
def forward(self, x, src_mask=None):
    for layer in reversed(self.layers):
        x = layer(x, src_mask)
    return self.norm(x)


@wrong(
    "self-attention unmasked",
    diagnosed=True,
    replaces="Encoder.forward",
    names="no layer gets the mask",
)
def forward(self, x, src_mask=None):
    for layer in self.layers:
        x = layer(x)
    return self.norm(x)


@wrong(
    "the mask for the first layer alone",
    diagnosed=True,
    replaces="Encoder.forward",
    names="only the first layer gets the mask",
)
def forward(self, x, src_mask=None):
    for layer in self.layers:
        x = layer(x, src_mask)
        src_mask = None
    return self.norm(x)


@wrong(
    "the sum of all layers",
    diagnosed=True,
    replaces="Encoder.forward",
    names="the sum of what each layer makes",
)
def forward(self, x, src_mask=None):
    return self.norm(sum(layer(x, src_mask) for layer in self.layers))


@wrong(
    "a residual connection around each layer",
    diagnosed=True,
    replaces="Encoder.forward",
    names="residual connection around each layer",
)
def forward(self, x, src_mask=None):
    for layer in self.layers:
        x = x + layer(x, src_mask)
    return self.norm(x)


@wrong(
    "a residual connection around the stack",
    diagnosed=True,
    replaces="Encoder.forward",
    names="residual connection around it",
)
def forward(self, x, src_mask=None):
    start = x
    for layer in self.layers:
        x = layer(x, src_mask)
    return self.norm(start + x)


@wrong(
    "no last normalisation",
    diagnosed=True,
    replaces="Encoder.forward",
    names="without its last normalisation",
)
def forward(self, x, src_mask=None):
    for layer in self.layers:
        x = layer(x, src_mask)
    return x


@wrong(
    "a normalisation after each layer",
    diagnosed=True,
    replaces="Encoder.forward",
    names="the normalisation after each layer",
)
def forward(self, x, src_mask=None):
    for layer in self.layers:
        x = self.norm(layer(x, src_mask))
    return x


@wrong(
    "the normalisation before the first layer",
    diagnosed=True,
    replaces="Encoder.forward",
    names="the normalisation before the first layer",
)
def forward(self, x, src_mask=None):
    x = self.norm(x)
    for layer in self.layers:
        x = layer(x, src_mask)
    return x


@wrong("three layers, however many there are", replaces="Encoder.forward")
def forward(self, x, src_mask=None):
    first, second, third = self.layers
    return self.norm(third(second(first(x, src_mask), src_mask), src_mask))


@wrong("a list of all states", replaces="Encoder.forward")
def forward(self, x, src_mask=None):
    states = []
    for layer in self.layers:
        x = layer(x, src_mask)
        states.append(self.norm(x))
    return states


@wrong(
    "detached between the layers",
    diagnosed=True,
    replaces="Encoder.forward",
    names="without a gradient",
)
def forward(self, x, src_mask=None):
    for layer in self.layers:
        x = layer(x.detach(), src_mask)
    return self.norm(x)


@wrong("in place", diagnosed=True, replaces="Encoder.forward", names="changed in place")
def forward(self, x, src_mask=None):
    y = x
    for layer in self.layers:
        y = layer(y, src_mask)
    x.data.copy_(y.data)
    return self.norm(y)


@wrong("[layer] * n", diagnosed=True, names="one layer used N times")
class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers = nn.ModuleList([EncoderLayer(config)] * config.n_layers)
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def forward(self, x, src_mask=None):
        for layer in self.layers:
            x = layer(x, src_mask)
        return self.norm(x)


@wrong("layers in a Python list", diagnosed=True)
class Encoder(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.layers = [EncoderLayer(config) for _ in range(config.n_layers)]
        self.norm = nn.LayerNorm(config.d_model) if config.norm_first else nn.Identity()

    def forward(self, x, src_mask=None):
        for layer in self.layers:
            x = layer(x, src_mask)
        return self.norm(x)


# --- Encoder.forward: right -------------------------------------------------------


@right("by number", replaces="Encoder.forward")
def forward(self, x, src_mask=None):
    for number in range(len(self.layers)):
        x = self.layers[number](x, src_mask)
    return self.norm(x)


@right("reduce", replaces="Encoder.forward")
def forward(self, x, src_mask=None):
    memory = functools.reduce(lambda y, layer: layer(y, src_mask), self.layers, x)
    return self.norm(memory)


@right("the mask by its name", replaces="Encoder.forward")
def forward(self, x, src_mask=None):
    hidden = x
    for layer in self.layers:
        hidden = layer(hidden, src_mask=src_mask)
    return self.norm(hidden)


@right("both arguments by their names", replaces="Encoder.forward")
def forward(self, x, src_mask=None):
    for layer in self.layers:
        x = layer(x=x, src_mask=src_mask)
    return self.norm(x)


@right("the mask made a bool", replaces="Encoder.forward")
def forward(self, x, src_mask=None):
    if src_mask is not None:
        src_mask = src_mask.bool()
    for layer in self.layers:
        x = layer(x, src_mask)
    return self.norm(x)


@right("a mask of ones where there is none", replaces="Encoder.forward")
def forward(self, x, src_mask=None):
    if src_mask is None:
        src_mask = x.new_ones(1, 1, 1, x.size(1), dtype=torch.bool)
    for layer in self.layers:
        x = layer(x, src_mask)
    return self.norm(x)


@right("the norm where the layers are pre-norm", replaces="Encoder.forward")
def forward(self, x, src_mask=None):
    for layer in self.layers:
        x = layer(x, src_mask)
    return self.norm(x) if self.layers[0].add_norm1.norm_first else x


@right("the states collected, the last returned", replaces="Encoder.forward")
def forward(self, x, src_mask=None):
    states = [x]
    for layer in self.layers:
        states.append(layer(states[-1], src_mask))
    return self.norm(states[-1])


@right("an iterator", replaces="Encoder.forward")
def forward(self, x, src_mask=None):
    layers = iter(self.layers)
    while (layer := next(layers, None)) is not None:
        x = layer(x, src_mask)
    return self.norm(x)


@right("layer_states", replaces="Encoder.forward")
def forward(self, x, src_mask=None):
    return self.norm(layer_states(self, x, src_mask)[-1])


@right("the norm only where there is one", replaces="Encoder.forward")
def forward(self, x, src_mask=None):
    for layer in self.layers.children():
        x = layer(x, src_mask)
    return self.norm(x) if isinstance(self.norm, nn.LayerNorm) else x


# --- layer_states: wrong ----------------------------------------------------------


@wrong("without the input", diagnosed=True, names="a state too few")
def layer_states(encoder, x, src_mask=None):
    states = []
    for layer in encoder.layers:
        x = layer(x, src_mask)
        states.append(x)
    return states


@wrong("without the last layer", diagnosed=True, names="a state too few")
def layer_states(encoder, x, src_mask=None):
    states = []
    for layer in encoder.layers:
        states.append(x)
        x = layer(x, src_mask)
    return states


@wrong("the memory alone", diagnosed=True, names="something else than a list")
def layer_states(encoder, x, src_mask=None):
    return encoder(x, src_mask)


@wrong("every layer reads the input", diagnosed=True, names="makes of the encoder's")
def layer_states(encoder, x, src_mask=None):
    return [x] + [layer(x, src_mask) for layer in encoder.layers]


@wrong("without the mask", diagnosed=True)
def layer_states(encoder, x, src_mask=None):
    states = [x]
    for layer in encoder.layers:
        states.append(layer(states[-1]))
    return states


@wrong("the last one normalised", diagnosed=True, names="after the last normalisation")
def layer_states(encoder, x, src_mask=None):
    states = [x]
    for layer in encoder.layers:
        states.append(layer(states[-1], src_mask))
    states[-1] = encoder.norm(states[-1])
    return states


@wrong("the memory added", names="states")
def layer_states(encoder, x, src_mask=None):
    states = [x]
    for layer in encoder.layers:
        states.append(layer(states[-1], src_mask))
    return [*states, encoder.norm(states[-1])]


@wrong("three layers, however many there are")
def layer_states(encoder, x, src_mask=None):
    states = [x]
    for number in range(3):
        states.append(encoder.layers[number](states[-1], src_mask))
    return states


@wrong("one tensor, written over", diagnosed=True, names="as all others do")
def layer_states(encoder, x, src_mask=None):
    x = x.clone()
    states = [x]
    for layer in encoder.layers:
        x.data.copy_(layer(x, src_mask).data)
        states.append(x)
    return states


@wrong("detached", diagnosed=True, names="the gradient is cut off")
def layer_states(encoder, x, src_mask=None):
    states = [x]
    for layer in encoder.layers:
        states.append(layer(states[-1], src_mask).detach())
    return states


@wrong("without a gradient", diagnosed=True, names="the gradient is cut off")
def layer_states(encoder, x, src_mask=None):
    states = [x]
    with torch.no_grad():
        for layer in encoder.layers:
            states.append(layer(states[-1], src_mask))
    return states


@wrong("the input overwritten", diagnosed=True, names="changed in place")
def layer_states(encoder, x, src_mask=None):
    states = [x.clone()]
    for layer in encoder.layers:
        states.append(layer(states[-1], src_mask))
    x.data.copy_(states[-1].data)
    return states


@wrong(
    "the input of each layer, and the input again", diagnosed=True, names="its layer"
)
def layer_states(encoder, x, src_mask=None):
    states = [x]
    for layer in encoder.layers:
        states.append(x)
        x = layer(x, src_mask)
    return states


# --- layer_states: right ----------------------------------------------------------


@right("x handed from layer to layer")
def layer_states(encoder, x, src_mask=None):
    states = [x]
    for layer in encoder.layers:
        x = layer(x, src_mask)
        states.append(x)
    return states


@right("a tuple")
def layer_states(encoder, x, src_mask=None):
    states = (x,)
    for layer in encoder.layers:
        states += (layer(states[-1], src_mask),)
    return states


@right("one stacked tensor")
def layer_states(encoder, x, src_mask=None):
    states = [x]
    for number in range(len(encoder.layers)):
        states.append(encoder.layers[number](states[number], src_mask))
    return torch.stack(states)


@right("from the beginning each time")
def layer_states(encoder, x, src_mask=None):
    def after(count):
        y = x
        for layer in encoder.layers[:count]:
            y = layer(y, src_mask)
        return y

    return [after(count) for count in range(len(encoder.layers) + 1)]


@right("a generator and accumulate")
def layer_states(encoder, x, src_mask=None):
    def states():
        y = x
        yield y
        for layer in encoder.layers:
            y = layer(y, src_mask)
            yield y

    return list(states())


@right("the mask by its name")
def layer_states(encoder, x, src_mask=None):
    states = [x.clone()]
    for layer in encoder.layers.children():
        states = [*states, layer(states[-1], src_mask=src_mask)]
    return states


@right("both arguments by their names")
def layer_states(encoder, x, src_mask=None):
    states = [x]
    for layer in encoder.layers:
        states.append(layer(x=states[-1], src_mask=src_mask))
    return states


@right("a bool mask, made where there is none")
def layer_states(encoder, x, src_mask=None):
    if src_mask is None:
        src_mask = x.new_ones(1, 1, 1, x.size(1))
    states = [x]
    for layer in encoder.layers:
        states.append(layer(states[-1], src_mask.bool()))
    return states


# --- drift: wrong -----------------------------------------------------------------


@wrong("the cosine itself", diagnosed=True)
def drift(states):
    return torch.stack([F.cosine_similarity(s, states[0], dim=-1) for s in states])


@wrong("the sign turned", diagnosed=True, names="sign turned")
def drift(states):
    return torch.stack([F.cosine_similarity(s, states[0], dim=-1) - 1 for s in states])


@wrong("from layer to layer", diagnosed=True, names="from one layer to the next")
def drift(states):
    before = [states[0], *states[:-1]]
    pairs = zip(states, before, strict=True)
    return torch.stack([1 - F.cosine_similarity(a, b, dim=-1) for a, b in pairs])


@wrong("from the last state", diagnosed=True)
def drift(states):
    return 1 - torch.stack([F.cosine_similarity(s, states[-1], dim=-1) for s in states])


@wrong("the dot product", diagnosed=True, names="not divided by the lengths")
def drift(states):
    return 1 - torch.stack([(s * states[0]).sum(dim=-1) for s in states])


@wrong("divided by one length", diagnosed=True, names="one of the two lengths")
def drift(states):
    length = states[0].norm(dim=-1)
    return 1 - torch.stack([(s * states[0]).sum(dim=-1) / length for s in states])


@wrong("the distance", diagnosed=True, names="the distance of the vectors")
def drift(states):
    return torch.stack([(s - states[0]).norm(dim=-1) for s in states])


@wrong("the squared distance", diagnosed=True, names="the squared distance")
def drift(states):
    return torch.stack([((s - states[0]) ** 2).sum(dim=-1) for s in states])


@wrong("the angle", diagnosed=True, names="the angle itself")
def drift(states):
    cosine = torch.stack([F.cosine_similarity(s, states[0], dim=-1) for s in states])
    return cosine.clamp(-1, 1).acos()


@wrong("the mean over tokens", diagnosed=True)
def drift(states):
    cosine = torch.stack([F.cosine_similarity(s, states[0], dim=-1) for s in states])
    return (1 - cosine).mean(dim=-1)


@wrong("the mean over everything", diagnosed=True, names="the mean over batch")
def drift(states):
    cosine = torch.stack([F.cosine_similarity(s, states[0], dim=-1) for s in states])
    return (1 - cosine).mean(dim=(1, 2))


@wrong("over the tokens: the default dim", diagnosed=True, names="over the tokens, not")
def drift(states):
    return 1 - torch.stack([F.cosine_similarity(s, states[0]) for s in states])


@wrong("without the first state", diagnosed=True)
def drift(states):
    return 1 - torch.stack(
        [F.cosine_similarity(s, states[0], dim=-1) for s in states[1:]]
    )


@wrong("normalised in place", diagnosed=True, names="changed in place")
def drift(states):
    for state in states:
        state /= state.norm(dim=-1, keepdim=True)
    return 1 - torch.stack([(state * states[0]).sum(dim=-1) for state in states])


@wrong("turns everything into float32", diagnosed=True, names="a fixed dtype")
def drift(states):
    start = states[0].float()
    return 1 - torch.stack(
        [F.cosine_similarity(s.float(), start, dim=-1) for s in states]
    )


# --- drift: right -----------------------------------------------------------------


@right("by hand")
def drift(states):
    start = states[0]
    rows = []
    for state in states:
        dot = (state * start).sum(dim=-1)
        rows.append(1 - dot / (state.norm(dim=-1) * start.norm(dim=-1)))
    return torch.stack(rows)


@right("unit vectors and einsum")
def drift(states):
    unit = F.normalize(torch.stack(list(states)), dim=-1)
    return 1 - torch.einsum("nbsd,bsd->nbs", unit, unit[0])


@right("one call for all states")
def drift(states):
    stacked = torch.stack(tuple(states))
    return 1 - torch.cosine_similarity(stacked, stacked[:1], dim=3)


@right("half the squared distance of unit vectors")
def drift(states):
    unit = [F.normalize(state, dim=-1) for state in states]
    return torch.stack([(u - unit[0]).square().sum(dim=-1) / 2 for u in unit])


@right("nn.CosineSimilarity and cat")
def drift(states):
    cosine = nn.CosineSimilarity(dim=2)
    return torch.cat([(1 - cosine(state, states[0]))[None] for state in states])


@right("matrix products")
def drift(states):
    unit = [F.normalize(state, dim=-1) for state in states]
    dots = [(u.unsqueeze(-2) @ unit[0].unsqueeze(-1)).flatten(-3) for u in unit]
    return 1 - torch.stack([d.view(states[0].shape[:2]) for d in dots])


@right("loops over sentences and tokens")
def drift(states):
    b, s, _ = states[0].shape
    turned = states[0].new_zeros(len(states), b, s)
    for n, state in enumerate(states):
        for i in range(b):
            for j in range(s):
                cosine = F.cosine_similarity(state[i, j], states[0][i, j], dim=0)
                turned[n, i, j] = 1 - cosine
    return turned

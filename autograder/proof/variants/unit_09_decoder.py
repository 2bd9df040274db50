"""Wrong variants and right styles of unit 09, as students write them."""

# ruff: noqa: B006 (a mutable default keeps values between calls)

import torch
import torch.nn.functional as F

from autograder.proof.variants import answer, body, insert, swap
from transformer.masks import target_mask

# --- DecoderLayer -----------------------------------------------------------------

decoder_layer = answer(
    "transformer.decoder.DecoderLayer.forward",
    body("""
        found = {}

        def look_up(y):
            output, found["weights"] = self.cross_attention(y, memory, memory, src_mask)
            return output

        x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
        x = self.add_norm2(x, look_up)
        x = self.add_norm3(x, self.feed_forward)
        return x, found["weights"]
        """),
)


@decoder_layer.wrong(
    "pre-norm instead of post-norm", names="normalises before each sub-layer"
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    z = self.add_norm1.norm(x)
    x = x + self.self_attention(z, z, z, tgt_mask)[0]
    output, weights = self.cross_attention(
        self.add_norm2.norm(x), memory, memory, src_mask
    )
    x = x + output
    return x + self.feed_forward(self.add_norm3.norm(x)), weights


@decoder_layer.wrong(
    "post-norm, regardless of norm_first", names="always normalises after"
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    y, _ = self.self_attention(x, x, x, tgt_mask)
    x = self.add_norm1.norm(x + self.add_norm1.dropout(y))
    y, weights = self.cross_attention(x, memory, memory, src_mask)
    x = self.add_norm2.norm(x + self.add_norm2.dropout(y))
    y = self.feed_forward(x)
    return self.add_norm3.norm(x + self.add_norm3.dropout(y)), weights


@decoder_layer.wrong("no residual connections", names="without residual connections")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    y, _ = self.self_attention(x, x, x, tgt_mask)
    x = self.add_norm1.norm(y)
    y, weights = self.cross_attention(x, memory, memory, src_mask)
    x = self.add_norm2.norm(y)
    return self.add_norm3.norm(self.feed_forward(x)), weights


decoder_layer.wrong(
    "one LayerNorm for all sub-layers",
    swap("add_norm2", "add_norm1"),
    swap("add_norm3", "add_norm1"),
    names="one normalisation three times",
)
decoder_layer.wrong(
    "feed-forward before attention",
    swap("lambda y: self.self_attention(y, y, y, tgt_mask)[0]", "self.feed_forward"),
    swap("x, look_up", "x, lambda y: self.self_attention(y, y, y, tgt_mask)[0]"),
    swap("add_norm3(x, self.feed_forward)", "add_norm3(x, look_up)"),
    names="feed-forward layer comes first",
)
decoder_layer.wrong(
    "cross-attention before self-attention",
    swap("x, look_up", "x, lambda y: self.self_attention(y, y, y, tgt_mask)[0]"),
    swap(
        "add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])",
        "add_norm1(x, look_up)",
    ),
    names="cross-attention before self-attention",
)
decoder_layer.wrong(
    "cross-attention, with its own normalisation, before self-attention",
    swap(
        "add_norm2(x, look_up)",
        "add_norm1(x, lambda z: self.self_attention(z, z, z, tgt_mask)[0])",
    ),
    swap(
        "add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])",
        "add_norm2(x, look_up)",
    ),
    names="with its own normalisation, before",
)
decoder_layer.wrong(
    "feed-forward between the two attentions",
    swap("add_norm2(x, look_up)", "add_norm2(x, self.feed_forward)"),
    swap("add_norm3(x, self.feed_forward)", "add_norm3(x, look_up)"),
    names="between the two attentions",
)
decoder_layer.wrong(
    "the cross-attention's query and key swapped",
    swap("y, memory, memory, src_mask", "memory, y, y, None"),
    names="swaps query and key",
)
decoder_layer.wrong(
    "cross-attention without a mask",
    swap(", src_mask", ", None"),
    names="cross-attention has no mask",
)
decoder_layer.wrong(
    "self-attention without a mask",
    swap("y, tgt_mask", "y"),
    names="self-attention has no mask",
)
decoder_layer.wrong(
    "the self-attention module for both",
    swap("cross_attention", "self_attention"),
    names="uses its self-attention for both",
)
decoder_layer.wrong(
    "the cross-attention module for both",
    swap("self_attention", "cross_attention"),
    names="uses its cross-attention for both",
)


@decoder_layer.wrong(
    "the self-attention's weights instead of the cross-attention's",
    names="returns the self-attention's weights",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def read(y):
        output, found["weights"] = self.self_attention(y, y, y, tgt_mask)
        return output

    x = self.add_norm1(x, read)
    x = self.add_norm2(
        x, lambda y: self.cross_attention(y, memory, memory, src_mask)[0]
    )
    return self.add_norm3(x, self.feed_forward), found["weights"]


decoder_layer.wrong(
    "a cross-attention whose queries come from the layer's input",
    insert("asked = look_up(x)", before="x = self.add_norm1"),
    swap("x, look_up", "x, lambda y: asked"),
    names="computes its queries from the layer's input",
)
decoder_layer.wrong(
    "only x",
    swap('return x, found["weights"]', "return x"),
    names="a different number of results",
)
decoder_layer.wrong(
    "combined masks, so the code needs them",
    swap("y, tgt_mask", "y, tgt_mask & tgt_mask"),
    names="needs a mask",
)
decoder_layer.wrong(
    "one LayerNorm for all sub-layers, and cross-attention without a mask",
    swap(", src_mask", ", None"),
    swap("add_norm2", "add_norm1"),
    swap("add_norm3", "add_norm1"),
    names="one normalisation three times, and",
)
decoder_layer.wrong(
    "x instead of the argument of every function",
    swap("y, memory", "x, memory"),
    swap("y, y, y", "x, x, x"),
    swap("self.feed_forward", "lambda y: self.feed_forward(x)"),
    names="functions use x: each must use its argument",
)
decoder_layer.wrong(
    "x instead of the argument of both attentions",
    swap("y, memory", "x, memory"),
    swap("y, y, y", "x, x, x"),
    names="attentions use x: each must use its argument",
)
decoder_layer.wrong(
    "x instead of the argument of the self-attention",
    swap("y, y, y", "x, x, x"),
    names="self-attention uses x: it must use its argument",
)
decoder_layer.wrong(
    "x instead of the argument of the cross-attention",
    swap("y, memory", "x, memory"),
    names="cross-attention uses x: it must use its argument",
)


@decoder_layer.wrong(
    "norms by hand, without dropout",
    names="output of self-attention and cross-attention and the feed-forward layer",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    def around(add_norm, x, function):
        if add_norm.norm_first:
            output, *rest = function(add_norm.norm(x))
            return x + output, *rest
        output, *rest = function(x)
        return add_norm.norm(x + output), *rest

    x, _ = around(self.add_norm1, x, lambda y: self.self_attention(y, y, y, tgt_mask))
    x, weights = around(
        self.add_norm2, x, lambda y: self.cross_attention(y, memory, memory, src_mask)
    )
    (x,) = around(self.add_norm3, x, lambda y: (self.feed_forward(y),))
    return x, weights


@decoder_layer.wrong(
    "a second norm by hand, without dropout",
    names="dropout on the output of cross-attention",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    norm, first = self.add_norm2.norm, self.add_norm2.norm_first
    y, weights = self.cross_attention(norm(x) if first else x, memory, memory, src_mask)
    x = x + y if first else norm(x + y)
    return self.add_norm3(x, self.feed_forward), weights


@decoder_layer.wrong("dropout in eval mode too", names="in eval mode too")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def drop(y):
        return torch.nn.functional.dropout(y, self.add_norm1.dropout.p)

    def look_up(y):
        output, found["weights"] = self.cross_attention(y, memory, memory, src_mask)
        return drop(output)

    x = self.add_norm1(x, lambda y: drop(self.self_attention(y, y, y, tgt_mask)[0]))
    x = self.add_norm2(x, look_up)
    x = self.add_norm3(x, lambda y: drop(self.feed_forward(y)))
    return x, found["weights"]


decoder_layer.wrong(
    "detached weights",
    swap('return x, found["weights"]', 'return x, found["weights"].detach()'),
    names="cut off",
)
decoder_layer.wrong(
    "a detached input",
    insert("x = x.detach()", before="x = self.add_norm1"),
    names="cut off",
)


@decoder_layer.wrong("x returned with equal weights", names="x unchanged")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    heads = self.cross_attention.n_heads
    return x, x.new_ones(x.size(0), heads, x.size(1), memory.size(1)) / memory.size(1)


@decoder_layer.wrong("zeros", names="zeros")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    heads = self.cross_attention.n_heads
    return 0 * x, x.new_zeros(x.size(0), heads, x.size(1), memory.size(1))


decoder_layer.wrong(
    "swapped masks",
    swap(", src_mask", ", tgt_mask"),
    swap("y, tgt_mask", "y, src_mask"),
    names="two masks swapped",
)
decoder_layer.wrong(
    "the target's mask on the source",
    swap(", src_mask", ", tgt_mask"),
    names="cross-attention has the target's mask",
)
decoder_layer.wrong(
    "both masks for the self-attention",
    swap("y, tgt_mask", "y, tgt_mask & src_mask"),
    names="self-attention has both masks",
)


@decoder_layer.wrong(
    "residual connections from the layer's input", names="start from the layer's input"
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    y, _ = self.self_attention(x, x, x, tgt_mask)
    y = self.add_norm1.norm(x + self.add_norm1.dropout(y))
    y, weights = self.cross_attention(y, memory, memory, src_mask)
    y = self.add_norm2.norm(x + self.add_norm2.dropout(y))
    y = self.feed_forward(y)
    return self.add_norm3.norm(x + self.add_norm3.dropout(y)), weights


@decoder_layer.wrong("without cross-attention", names="without cross-attention")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    _, weights = self.cross_attention(x, memory, memory, src_mask)
    return self.add_norm3(x, self.feed_forward), weights


decoder_layer.wrong(
    "the first head's target mask used for all heads",
    swap(
        "y, tgt_mask",
        "y, tgt_mask if tgt_mask is None or tgt_mask.dim() < 4 else tgt_mask[:, :1]",
    ),
    names="does not take a mask (b, h, t, s)",
)
decoder_layer.wrong(
    "the first query's source mask used for all queries",
    swap(", src_mask", ", None if src_mask is None else src_mask[..., :1, :]"),
    diagnosed=False,
)


@decoder_layer.wrong("the first memory reused", diagnosed=False)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    memory = self.__dict__.setdefault("kept", {}).setdefault(memory.shape, memory)
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    found = []

    def look_up(y):
        found.extend(self.cross_attention(y, memory, memory, src_mask))
        return found[0]

    x = self.add_norm2(x, look_up)
    return self.add_norm3(x, self.feed_forward), found[1]


@decoder_layer.wrong("the first weights reused", diagnosed=False)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = self.__dict__.setdefault("kept", {})

    def look_up(y):
        output, weights = self.cross_attention(y, memory, memory, src_mask)
        kept.setdefault(weights.shape, weights)
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm2(x, look_up)
    x = self.add_norm3(x, self.feed_forward)
    return x, next(iter(kept.values()))


@decoder_layer.right("a dictionary that collects the weights")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(y, memory, memory, src_mask)
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm2(x, look_up)
    x = self.add_norm3(x, self.feed_forward)
    return x, found["weights"]


@decoder_layer.right("a list that collects the weights")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []

    def cross(y):
        output, weights = self.cross_attention(y, memory, memory, src_mask)
        kept.append(weights)
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm2(x, cross)
    x = self.add_norm3(x, self.feed_forward)
    return x, kept[0]


@decoder_layer.right("both norms by hand")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    def around(add_norm, x, function):
        if add_norm.norm_first:
            output, *rest = function(add_norm.norm(x))
            return x + add_norm.dropout(output), *rest
        output, *rest = function(x)
        return add_norm.norm(x + add_norm.dropout(output)), *rest

    x, _ = around(self.add_norm1, x, lambda y: self.self_attention(y, y, y, tgt_mask))
    x, weights = around(
        self.add_norm2, x, lambda y: self.cross_attention(y, memory, memory, src_mask)
    )
    (x,) = around(self.add_norm3, x, lambda y: (self.feed_forward(y),))
    return x, weights


@decoder_layer.right("F.dropout instead of the module")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    def around(add_norm, x, function):
        output = function(add_norm.norm(x) if add_norm.norm_first else x)
        rate = add_norm.dropout.p
        x = x + torch.nn.functional.dropout(output, rate, self.training)
        return x if add_norm.norm_first else add_norm.norm(x)

    found = []

    def look_up(y):
        found.extend(self.cross_attention(y, memory, memory, src_mask))
        return found[0]

    x = around(self.add_norm1, x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = around(self.add_norm2, x, look_up)
    return around(self.add_norm3, x, self.feed_forward), found[1]


@decoder_layer.right("project, then attend")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def read(y):
        q = self.self_attention.project_query(y)
        k, v = self.self_attention.project_key_value(y, y)
        return self.self_attention.attend(q, k, v, tgt_mask)[0]

    def look_up(y):
        q = self.cross_attention.project_query(y)
        k, v = self.cross_attention.project_key_value(memory, memory)
        output, found["weights"] = self.cross_attention.attend(q, k, v, src_mask)
        return output

    x = self.add_norm2(self.add_norm1(x, read), look_up)
    return self.add_norm3(x, self.feed_forward), found["weights"]


@decoder_layer.right("keyword arguments and a nonlocal name")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    weights = None

    def look_up(y):
        nonlocal weights
        output, weights = self.cross_attention(
            query=y, key=memory, value=memory, mask=src_mask
        )
        return output

    after_self = self.add_norm1(
        x, lambda y: self.self_attention(query=y, key=y, value=y, mask=tgt_mask)[0]
    )
    after_cross = self.add_norm2(after_self, look_up)
    return self.add_norm3(after_cross, self.feed_forward), weights


@decoder_layer.right("named functions, and a list for the result")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    def self_attend(y):
        output, _ = self.self_attention(y, y, y, tgt_mask)
        return output

    caught = {}

    def cross_attend(y):
        result = self.cross_attention(y, memory, memory, src_mask)
        caught.update(weights=result[1])
        return result[0]

    for add_norm, sublayer in [
        (self.add_norm1, self_attend),
        (self.add_norm2, cross_attend),
        (self.add_norm3, self.feed_forward),
    ]:
        x = add_norm(x, sublayer)
    return [x, caught["weights"]]


# --- Decoder ----------------------------------------------------------------------

decoder = answer("transformer.decoder.Decoder.forward")
decoder.wrong(
    "the first layer N times",
    swap("= layer", "= self.layers[0]"),
    names="runs its first layer N times",
)
decoder.wrong(
    "the last layer N times",
    swap("= layer", "= self.layers[-1]"),
    names="runs its last layer N times",
)
decoder.wrong(
    "the same x as the input of every layer",
    swap("x, weights", "y, weights"),
    swap("(x)", "(y)"),
    names="the same x",
)


@decoder.wrong("a stack that stops after the first layer", names="only the first layer")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    x, weights = self.layers[0](x, memory, tgt_mask, src_mask)
    return self.norm(x), [weights] * len(self.layers)


decoder.wrong("without the target's mask", swap(", tgt_mask", ", None"))
decoder.wrong("without the source's mask", swap("tgt_mask, src_mask", "tgt_mask"))


@decoder.wrong(
    "the output of the previous layer instead of the memory",
    names="attend to the output of the previous layer",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept, seen, mask = [], memory, src_mask
    for layer in self.layers:
        x, weights = layer(x, seen, tgt_mask, mask)
        kept.append(weights)
        seen, mask = x, tgt_mask
    return self.norm(x), kept


decoder.wrong(
    "no final normalisation",
    swap("self.norm(x)", "x"),
    names="without its last normalisation",
)
decoder.wrong(
    "the weights in the opposite order",
    swap("(x), cross_attention", "(x), cross_attention[::-1]"),
    names="opposite order",
)
decoder.wrong(
    "only the last layer's weights",
    swap("(x), cross_attention", "(x), weights"),
    names="a different number of results",
)
decoder.wrong(
    "swapped masks",
    swap("tgt_mask, src_mask", "src_mask, tgt_mask"),
    diagnosed=False,
)
decoder.wrong(
    "outputs that are detached between the layers",
    swap("x, memory", "x.detach(), memory"),
    names="is cut off",
)
decoder.wrong(
    "detached weights", swap("(weights)", "(weights.detach())"), names="is cut off"
)
decoder.wrong(
    "x returned without any layer's weights", body("return x, []"), diagnosed=False
)


@decoder.wrong("the unchanged x with the right weights", names="x unchanged")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    y, cross_attention = x, []
    for layer in self.layers:
        y, weights = layer(y, memory, tgt_mask, src_mask)
        cross_attention.append(weights)
    return x, cross_attention


@decoder.wrong(
    "at most two layers, with the last weights repeated",
    names="only the first two layers",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    cross_attention = []
    for layer in self.layers[:2]:
        x, weights = layer(x, memory, tgt_mask, src_mask)
        cross_attention.append(weights)
    cross_attention += [weights] * (len(self.layers) - 2)
    return self.norm(x), cross_attention


decoder.wrong(
    "code that needs masks",
    insert("tgt_mask = tgt_mask & tgt_mask", before="for layer"),
    names="needs a mask",
)


@decoder.wrong("the first memory reused", diagnosed=False)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    memory = self.__dict__.setdefault("kept", {}).setdefault(memory.shape, memory)
    cross_attention = []
    for layer in self.layers:
        x, weights = layer(x, memory, tgt_mask, src_mask)
        cross_attention.append(weights)
    return self.norm(x), cross_attention


decoder.right(
    "a tuple of weights", swap("[]", "()"), swap(".append(weights)", "+= (weights,)")
)


@decoder.right("a loop over indices")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = [None] * len(self.layers)
    for i in range(len(self.layers)):
        x, kept[i] = self.layers[i](x, memory, tgt_mask, src_mask)
    return self.norm(x), kept


@decoder.right("keyword arguments")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    cross_attention = []
    for layer in self.layers:
        result = layer(x, memory, tgt_mask=tgt_mask, src_mask=src_mask)
        x = result[0]
        cross_attention.append(result[1])
    x = self.norm(x)
    return x, cross_attention


decoder.right(
    "all four arguments as keyword arguments",
    swap(
        "x, memory, tgt_mask, src_mask",
        "x=x, memory=memory, src_mask=src_mask, tgt_mask=tgt_mask",
    ),
)


@decoder.right("recursion")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    def go(x, layers):
        if not layers:
            return self.norm(x), []
        x, weights = layers[0](x, memory, tgt_mask, src_mask)
        x, rest = go(x, layers[1:])
        return x, [weights, *rest]

    return go(x, list(self.layers))


@decoder.right("the layers' results collected before they are split")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    results = []
    for layer in self.layers:
        results.append(layer(x, memory, tgt_mask, src_mask))
        x = results[-1][0]
    return self.norm(x), [weights for _, weights in results]


@decoder.right("modules found by name, with prints in between")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []
    for name, layer in self.layers.named_children():
        x, weights = layer(x, memory, tgt_mask, src_mask)
        print("layer", name, tuple(x.shape))
        kept.append(weights)
    return self.norm(x), kept


Decoder = answer("transformer.decoder.Decoder")
Decoder.wrong(
    "[layer] * n",
    swap(
        "DecoderLayer(config) for _ in range(config.n_layers)",
        "[DecoderLayer(config)] * config.n_layers",
    ),
    names="one layer used N times",
)
Decoder.wrong(
    "layers in a Python list",
    swap("nn.ModuleList(", "list("),
    names="layers in a Python list",
)
Decoder.wrong(
    "layers in a list of one",
    swap("range(config.n_layers)", "range(1)"),
    names="one layer used N times",
)


# --- average_heads ----------------------------------------------------------------

average_heads = answer("transformer.analysis.decoder.average_heads")
average_heads.with_faults("kept buffer state default detached float32 written cpu")
average_heads.wrong(
    "only the last layer",
    body("return cross_attention[-1].mean(dim=1)"),
    names="last layer's mean",
)
average_heads.wrong(
    "only the first layer",
    body("return cross_attention[0].mean(dim=1)"),
    names="first layer's mean",
)
average_heads.wrong(
    "only the first head",
    swap(".mean(dim=(0, 2))", "[:, :, 0].mean(dim=0)"),
    names="first head's mean",
)
average_heads.wrong(
    "summed over the layers",
    body("return sum(weights.mean(dim=1) for weights in cross_attention)"),
    names="sum over the layers",
)
average_heads.wrong(
    "summed over the heads",
    swap("mean(dim=(0, 2))", "sum(dim=2).mean(dim=0)"),
    names="sum over the heads",
)
average_heads.wrong(
    "summed over both", swap("mean", "sum"), names="sum over layers and heads"
)
average_heads.wrong(
    "the largest weight", swap("mean", "amax"), names="largest weight of any head"
)
average_heads.wrong("the mean over the batch", swap("2", "1"), names="over the batch")
average_heads.wrong(
    "no mean over the heads", swap("(0, 2)", "0"), names="over only the layers"
)
average_heads.wrong(
    "code for exactly two layers",
    body("return ((cross_attention[0] + cross_attention[1]) / 2).mean(dim=1)"),
    names="the first two layers",
)


@average_heads.wrong(
    "sums added in place to the first layer's weights",
    names="an input is changed in place",
)
def average_heads(cross_attention):
    total = cross_attention[0]
    for weights in cross_attention[1:]:
        total += weights
    return total.mean(dim=1) / len(cross_attention)


@average_heads.wrong(
    "code that needs at least two layers", names="a certain number of layers"
)
def average_heads(cross_attention):
    first, second, *others = cross_attention
    total = first + second + sum(others)
    return total.mean(dim=1) / (2 + len(others))


@average_heads.wrong("without a gradient", names="the gradient is cut off")
def average_heads(cross_attention):
    with torch.no_grad():
        return torch.stack(cross_attention).mean(dim=(0, 2))


average_heads.wrong(
    "equal weights",
    body(
        """
        first = cross_attention[0][:, 0]
        return torch.ones_like(first) / first.size(-1)
        """
    ),
    names="equal weights",
)
average_heads.wrong(
    "zeros",
    body("return torch.zeros_like(cross_attention[0][:, 0])"),
    names="zeros",
)
average_heads.wrong(
    "three layers, regardless of the number of layers",
    body("return torch.stack(cross_attention[:3]).mean(dim=(0, 2))"),
    names="first three layers",
)
average_heads.wrong(
    "a gradient from only the last layer",
    body(
        """
        first = [weights.detach() for weights in cross_attention[:-1]]
        return torch.stack([*first, cross_attention[-1]]).mean(dim=(0, 2))
        """
    ),
    names="the gradient is cut off",
)


@average_heads.wrong("one average for all calls", diagnosed=False)
def average_heads(cross_attention, kept={}):
    average = torch.stack(cross_attention).mean(dim=(0, 2))
    return kept.setdefault(average.shape, average)


@average_heads.wrong("layers that are removed from the list", names="changed in place")
def average_heads(cross_attention):
    total, count = cross_attention.pop(0).mean(dim=1), 1
    while cross_attention:
        total, count = total + cross_attention.pop(0).mean(dim=1), count + 1
    return total / count


@average_heads.right("a mean of means")
def average_heads(cross_attention):
    return torch.stack([weights.mean(dim=1) for weights in cross_attention]).mean(dim=0)


average_heads.right(
    "the heads of all layers concatenated",
    body("return torch.cat(cross_attention, dim=1).mean(dim=1)"),
)


@average_heads.right("a sum of means divided by the number of layers")
def average_heads(cross_attention):
    return sum(weights.mean(1) for weights in cross_attention) / len(cross_attention)


@average_heads.right("einsum")
def average_heads(cross_attention):
    stacked = torch.stack(list(cross_attention))
    layers, _, heads = stacked.shape[:3]
    return torch.einsum("lbhts->bts", stacked) / (layers * heads)


@average_heads.right("two loops")
def average_heads(cross_attention):
    total = torch.zeros_like(cross_attention[0][:, 0])
    count = 0
    for weights in cross_attention:
        for head in range(weights.size(1)):
            total = total + weights[:, head]
            count += 1
    return total / count


average_heads.right(
    "one mean at a time",
    body("return torch.stack(tuple(cross_attention), dim=1).mean(dim=1).mean(dim=1)"),
)


# --- LanguageModel ----------------------------------------------------------------

scores = answer("transformer.one_stack.language_model.LanguageModel.forward")
scores.with_faults("kept seed default detached written cpu")
MASK = "target_mask(ids, self.pad_id)"

scores.wrong(
    "no mask",
    swap("self.embedding(ids), mask", "self.embedding(ids)"),
    names="without a mask",
)
scores.wrong(
    "only the padding mask",
    swap(MASK, "(ids != self.pad_id)[:, None, None, :]"),
    names="only the padding mask",
)
scores.wrong(
    "only the causal mask",
    swap(MASK, "causal_mask(ids.size(1), ids.device)"),
    names="only the causal mask",
)
scores.wrong("an inverted mask", swap(MASK, f"~{MASK}"), names="is inverted")
scores.wrong(
    "a mask that hides each word from itself",
    swap(MASK, f"{MASK}.tril(-1)"),
    names="hides a word from itself",
)
scores.wrong(
    "a mask that shows one word of the future",
    body(
        """
        t = ids.size(1)
        past = torch.ones(t, t, dtype=torch.bool, device=ids.device).tril(1)
        mask = past & (ids != self.pad_id)[:, None, None, :]
        return self.projection(self.stack(self.embedding(ids), mask))
        """
    ),
    names="one word of the future",
)
scores.wrong(
    "the past or the words",
    swap(
        MASK,
        "causal_mask(ids.size(1), ids.device) | (ids != self.pad_id)[:, None, None, :]",
    ),
    names="`|` instead of `&`",
)
scores.wrong(
    "the pad id 1",
    swap("self.pad_id", "1"),
    names="hides the word with id 1",
)
scores.wrong(
    "the first sentence's mask used for all sentences",
    swap(MASK, f"{MASK}[:1]"),
    names="first sentence's mask",
)
scores.wrong(
    "no stack", body("return self.projection(self.embedding(ids))"), names="its stack"
)
scores.wrong(
    "no projection",
    body("return self.stack(self.embedding(ids), target_mask(ids, self.pad_id))"),
    names="not projected to the vocabulary",
)
scores.wrong(
    "no positions",
    swap("self.embedding(ids)", "self.embedding.tokens(ids)"),
    names="without positions",
)
scores.wrong(
    "one layer",
    swap("self.stack", "self.stack.layers[0]"),
    names="only its first layer",
)
scores.wrong(
    "a softmax on the logits",
    swap("return self.projection", "return torch.softmax(self.projection"),
    swap(", mask))", ", mask)), dim=-1)"),
    names="probabilities instead of logits",
)
scores.wrong(
    "a log-softmax on the logits",
    swap("return self.projection", "return F.log_softmax(self.projection"),
    swap(", mask))", ", mask)), dim=-1)"),
    names="logarithms of probabilities",
)
scores.wrong(
    "only the last row",
    swap("mask))", "mask))[:, -1]"),
    names="only the last row",
)
scores.wrong(
    "zeros",
    body("return torch.zeros(*ids.shape, self.projection.out_features)"),
    names="zeros",
)
scores.wrong(
    "a detached result",
    swap("mask))", "mask).detach())"),
    names="the gradient is cut off",
)
scores.wrong(
    "without dropout",
    insert("self.eval()", before="mask ="),
    names="the same random numbers",
)
scores.wrong(
    "padding that is overwritten",
    insert("ids[ids == self.pad_id] = 0", before="mask ="),
    names="changed in place",
)
scores.wrong(
    "padding that is overwritten and restored",
    body(
        """
        padded = ids == self.pad_id
        ids[padded] = 0
        x = self.embedding(ids)
        ids[padded] = self.pad_id
        return self.projection(self.stack(x, target_mask(ids, self.pad_id)))
        """
    ),
    names="changed in place",
)


@scores.right("two masks combined by hand")
def forward(self, ids):
    t = ids.size(1)
    past = torch.ones(t, t, dtype=torch.bool, device=ids.device).tril()
    words = (ids != self.pad_id).unsqueeze(1).unsqueeze(2)
    x = self.stack(self.embedding(ids), words & past)
    return self.projection(x)


@scores.right("a loop over the layers")
def forward(self, ids):
    x, mask = self.embedding(ids), target_mask(ids, self.pad_id)
    for layer in self.stack.layers:
        x = layer(x, src_mask=mask)
    return self.projection(self.stack.norm(x))


@scores.right("the projection computed by hand")
def forward(self, ids):
    x = self.stack(self.embedding(ids), target_mask(ids, self.pad_id))
    return F.linear(x, self.projection.weight, self.projection.bias)


loss = answer("transformer.one_stack.language_model.LanguageModel.loss")
LOSS = """
logits, wanted = self(ids[:, :-1]), ids[:, 1:]
found = F.cross_entropy(
    logits.flatten(0, 1), wanted.flatten(), ignore_index=self.pad_id
)
return """

loss.wrong(
    "a target that is not shifted",
    swap("ids[:, 1:]", "ids[:, :-1]"),
    names="the target is not shifted",
)
loss.wrong(
    "a target that is shifted in the wrong direction",
    swap("self(ids[:, :-1]), ids[:, 1:]", "self(ids)[:, 1:-1], ids[:, :-2]"),
    names="shifted in the wrong direction",
)
loss.wrong(
    "padding included", swap(", ignore_index=self.pad_id", ""), names="padding included"
)
loss.wrong(
    "the word 1 ignored",
    swap("ignore_index=self.pad_id", "ignore_index=1"),
    names="ignores the word with id 1",
)
loss.wrong(
    "the word 0 ignored",
    swap("ignore_index=self.pad_id", "ignore_index=0"),
    names="ignores the word with id 0",
)
loss.wrong(
    "the sum",
    swap("ignore_index=self.pad_id", 'ignore_index=self.pad_id, reduction="sum"'),
    names="the sum over all words",
)


@loss.wrong(
    "the sum of each sentence, averaged over the sentences",
    names="sum of each sentence",
)
def loss(self, ids):
    logits, wanted = self(ids[:, :-1]), ids[:, 1:]
    total = F.cross_entropy(
        logits.flatten(0, 1),
        wanted.flatten(),
        ignore_index=self.pad_id,
        reduction="sum",
    )
    return total / len(ids)


@loss.wrong(
    "divided by the number of all positions",
    names="divided by the number of all positions",
)
def loss(self, ids):
    logits, wanted = self(ids[:, :-1]), ids[:, 1:]
    each = F.cross_entropy(
        logits.transpose(1, 2), wanted, ignore_index=self.pad_id, reduction="none"
    )
    return each.mean()


@loss.wrong("the mean of the sentences' means", names="the sentences' means")
def loss(self, ids):
    logits, wanted = self(ids[:, :-1]), ids[:, 1:]
    words = (wanted != self.pad_id).float()
    each = F.cross_entropy(logits.transpose(1, 2), wanted, reduction="none")
    return ((each * words).sum(dim=1) / words.sum(dim=1).clamp(min=1)).mean()


loss.wrong(
    "an extra softmax",
    swap("logits.flatten(0, 1)", "logits.softmax(dim=-1).flatten(0, 1)"),
    names="an extra softmax",
)
loss.wrong(
    "the perplexity",
    body(f"{LOSS}found.exp()"),
    names="the perplexity",
)
loss.wrong(
    "the sign flipped",
    swap("return F.cross_entropy(", "return -F.cross_entropy("),
    names="sign flipped",
)
loss.wrong(
    "only the first sentence",
    body(
        """
        logits, wanted = self(ids[:1, :-1]), ids[:1, 1:]
        return F.cross_entropy(logits[0], wanted[0], ignore_index=self.pad_id)
        """
    ),
    names="only the first sentence",
)
loss.wrong(
    "one number for each word",
    swap("ignore_index=self.pad_id", 'ignore_index=self.pad_id, reduction="none"'),
    names="more than one number",
)
loss.wrong(
    "a loss without a gradient",
    body(f"{LOSS}torch.tensor(found.item())"),
    names="the gradient is cut off",
)
loss.wrong(
    "detached logits",
    swap("logits.flatten", "logits.detach().flatten"),
    names="the gradient is cut off",
)
loss.wrong("zero", body("return torch.zeros(())"), names="zero")
loss.wrong(
    "a loss computed in evaluation mode",
    insert("self.eval()", before="logits, wanted ="),
    names="the same random numbers",
)


@loss.wrong(
    "the loss cached by the identity of the tensor", names="kept from an earlier call"
)
def loss(self, ids):
    kept = self.__dict__.setdefault("kept", [])
    for known, found in kept:
        if known is ids:
            return found
    logits, wanted = self(ids[:, :-1]), ids[:, 1:]
    found = F.cross_entropy(
        logits.flatten(0, 1), wanted.flatten(), ignore_index=self.pad_id
    )
    kept.append((ids, found))
    return found


@loss.wrong("the loss cached by the words", names="kept from an earlier call")
def loss(self, ids):
    kept, key = self.__dict__.setdefault("kept", {}), str(ids.tolist())
    if key not in kept:
        logits, wanted = self(ids[:, :-1]), ids[:, 1:]
        kept[key] = F.cross_entropy(
            logits.flatten(0, 1), wanted.flatten(), ignore_index=self.pad_id
        )
    return kept[key]


@loss.right("logits that are stored but never read again")
def loss(self, ids):
    self.last = self(ids[:, :-1])
    return F.cross_entropy(
        self.last.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=self.pad_id
    )


@loss.right("the logits of the last word discarded")
def loss(self, ids):
    logits = self(ids)[:, :-1]
    return F.cross_entropy(logits.transpose(1, 2), ids[:, 1:], ignore_index=self.pad_id)


@loss.right("only the words selected")
def loss(self, ids):
    wanted = ids[:, 1:]
    words = wanted != self.pad_id
    return F.cross_entropy(self(ids[:, :-1])[words], wanted[words])


@loss.right("by hand")
def loss(self, ids):
    wanted = ids[:, 1:].unsqueeze(-1)
    words = (wanted != self.pad_id).squeeze(-1)
    chosen = self.forward(ids[:, :-1]).log_softmax(dim=-1).gather(-1, wanted)
    return -(chosen.squeeze(-1) * words).sum() / words.sum()


# --- answers that try to pass without solving the exercise ------------------------

own_layer = answer("transformer.decoder.DecoderLayer.forward")
own_layer.with_faults("kept seed default detached written cpu")
for name in ("src_mask", "tgt_mask"):
    own_layer.wrong(
        f"a {name} (h, t, s) read as one mask per sentence",
        insert(
            f"""
            if {name} is not None and {name}.dim() == 3:
                {name} = {name}.unsqueeze(1)
            """,
            before="found: list[Tensor] = []",
        ),
        names="does not take a mask (h, t, s)",
    )
own_stack = answer("transformer.decoder.Decoder.forward")
own_stack.with_faults("kept state default detached written cpu")
own_stack.wrong(
    "weights in a list that is stored in the class",
    body("""
    found = type(self).__dict__.get("found")
    if found is None:
        found = type(self).found = []
    found.clear()
    for layer in self.layers:
        x, weights = layer(x, memory, tgt_mask, src_mask)
        found.append(weights)
    return self.norm(x), found
    """),
    names="one tensor for the results of all calls",
)
own_stack.wrong(
    "weights with a gradient from only the last layer",
    body("""
    found = []
    for layer in self.layers:
        x, weights = layer(x, memory, tgt_mask, src_mask)
        found.append(weights)
    return self.norm(x), [*(w.detach() for w in found[:-1]), found[-1]]
    """),
    diagnosed=False,
)
own_stack.wrong(
    "the memory's gradient from only the first layer",
    body("""
    found = []
    for layer in self.layers:
        x, weights = layer(x, memory, tgt_mask, src_mask)
        memory = memory.detach()
        found.append(weights)
    return self.norm(x), found
    """),
    names="passes no gradient to the memory",
)
answer("transformer.analysis.decoder.average_heads").wrong(
    "a result cached by the identity of the list",
    body("""
    kept = average_heads.__dict__
    if id(cross_attention) not in kept:
        mean = torch.stack(cross_attention).mean(dim=(0, 2))
        kept[id(cross_attention)] = mean, cross_attention
    return kept[id(cross_attention)][0]
    """),
    names="a result kept from an earlier call",
)
answer("transformer.one_stack.language_model.LanguageModel.forward").wrong(
    "the padding of the first model",
    body("""
    if not hasattr(type(self), "first"):
        type(self).first = self.pad_id
    mask = target_mask(ids, type(self).first)
    return self.projection(self.stack(self.embedding(ids), mask))
    """),
    names="the padding of another model",
)
own_loss = answer("transformer.one_stack.language_model.LanguageModel.loss")
own_loss.with_faults("kept seed default detached written")
own_loss.wrong(
    "label smoothing in training mode",
    swap(
        "ignore_index=self.pad_id",
        "ignore_index=self.pad_id, label_smoothing=0.1 * self.training",
    ),
    diagnosed=False,
)
own_loss.wrong(
    "a loss clamped to at most 10",
    swap("return F.cross_entropy(", "return torch.clamp(F.cross_entropy("),
    swap("ignore_index=self.pad_id", "ignore_index=self.pad_id), max=10.0"),
    diagnosed=False,
)


# --- right only for some sizes, or in one mode ------------------------------------

decoder_layer.wrong(
    "no source mask where the target is longer than the source",
    insert(
        "src_mask = None if x.size(1) > memory.size(1) else src_mask",
        before="found = {}",
    ),
    names="right only for some sizes",
)
answer("transformer.decoder.Decoder.forward").wrong(
    "a memory without a gradient in training",
    insert(
        "memory = memory.detach() if self.training else memory",
        before="cross_attention = []",
    ),
    diagnosed=False,
)
answer("transformer.one_stack.language_model.LanguageModel").wrong(
    "padding not hidden if its number is 0",
    swap(
        "mask = target_mask(ids, self.pad_id)",
        "mask = target_mask(ids, self.pad_id or -1)",
    ),
    names="right only for some sizes",
)

"""Wrong variants and right styles of unit 09, as students write them."""

import torch

from autograder.proof.variants import right, wrong

LAYER = "DecoderLayer.forward"
STACK = "Decoder.forward"

# --- DecoderLayer.forward: wrong --------------------------------------------------


@wrong(
    "pre-norm where post-norm is asked",
    diagnosed=True,
    replaces=LAYER,
    names="normalises before each sub-layer",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    z = self.add_norm1.norm(x)
    x = x + self.self_attention(z, z, z, tgt_mask)[0]
    output, weights = self.cross_attention(
        self.add_norm2.norm(x), memory, memory, src_mask
    )
    x = x + output
    return x + self.feed_forward(self.add_norm3.norm(x)), weights


@wrong(
    "post-norm whatever norm_first says",
    diagnosed=True,
    replaces=LAYER,
    names="always normalises after",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    y, _ = self.self_attention(x, x, x, tgt_mask)
    x = self.add_norm1.norm(x + self.add_norm1.dropout(y))
    y, weights = self.cross_attention(x, memory, memory, src_mask)
    x = self.add_norm2.norm(x + self.add_norm2.dropout(y))
    y = self.feed_forward(x)
    return self.add_norm3.norm(x + self.add_norm3.dropout(y)), weights


@wrong(
    "no residual", diagnosed=True, replaces=LAYER, names="without residual connections"
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    y, _ = self.self_attention(x, x, x, tgt_mask)
    x = self.add_norm1.norm(y)
    y, weights = self.cross_attention(x, memory, memory, src_mask)
    x = self.add_norm2.norm(y)
    return self.add_norm3.norm(self.feed_forward(x)), weights


@wrong(
    "one LayerNorm for all",
    diagnosed=True,
    replaces=LAYER,
    names="one normalisation three times",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(y, memory, memory, src_mask)
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm1(x, look_up)
    x = self.add_norm1(x, self.feed_forward)
    return x, found["weights"]


@wrong(
    "feed-forward before attention",
    diagnosed=True,
    replaces=LAYER,
    names="feed-forward comes first",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(y, memory, memory, src_mask)
        return output

    x = self.add_norm1(x, self.feed_forward)
    x = self.add_norm2(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm3(x, look_up)
    return x, found["weights"]


@wrong(
    "cross before self",
    diagnosed=True,
    replaces=LAYER,
    names="looks at the source before itself",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(y, memory, memory, src_mask)
        return output

    x = self.add_norm1(x, look_up)
    x = self.add_norm2(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm3(x, self.feed_forward)
    return x, found["weights"]


@wrong(
    "the cross-attention's query and key swapped",
    diagnosed=True,
    replaces=LAYER,
    names="swaps query and key",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(memory, y, y, None)
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm2(x, look_up)
    x = self.add_norm3(x, self.feed_forward)
    return x, found["weights"]


@wrong(
    "cross-attention unmasked",
    diagnosed=True,
    replaces=LAYER,
    names="cross-attention has no mask",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(y, memory, memory, None)
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm2(x, look_up)
    x = self.add_norm3(x, self.feed_forward)
    return x, found["weights"]


@wrong(
    "self-attention unmasked",
    diagnosed=True,
    replaces=LAYER,
    names="self-attention has no mask",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(y, memory, memory, src_mask)
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y)[0])
    x = self.add_norm2(x, look_up)
    x = self.add_norm3(x, self.feed_forward)
    return x, found["weights"]


@wrong(
    "the self-attention module for both",
    diagnosed=True,
    replaces=LAYER,
    names="uses its self-attention for both",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.self_attention(y, memory, memory, src_mask)
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm2(x, look_up)
    x = self.add_norm3(x, self.feed_forward)
    return x, found["weights"]


@wrong(
    "the cross-attention module for both",
    diagnosed=True,
    replaces=LAYER,
    names="uses its cross-attention for both",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(y, memory, memory, src_mask)
        return output

    x = self.add_norm1(x, lambda y: self.cross_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm2(x, look_up)
    x = self.add_norm3(x, self.feed_forward)
    return x, found["weights"]


@wrong(
    "returns self- instead of cross-weights",
    diagnosed=True,
    replaces=LAYER,
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


@wrong(
    "the cross-attention asks with the layer's input",
    diagnosed=True,
    replaces=LAYER,
    names="asks with the layer's input",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    start = x
    output, weights = self.cross_attention(start, memory, memory, src_mask)
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm2(x, lambda y: output)
    return self.add_norm3(x, self.feed_forward), weights


@wrong("x alone", diagnosed=True, replaces=LAYER, names="another number of results")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm2(
        x, lambda y: self.cross_attention(y, memory, memory, src_mask)[0]
    )
    return self.add_norm3(x, self.feed_forward)


@wrong(
    "combines the masks, and so needs them",
    diagnosed=True,
    replaces=LAYER,
    names="needs a mask",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(y, memory, memory, src_mask)
        return output

    x = self.add_norm1(
        x, lambda y: self.self_attention(y, y, y, tgt_mask & tgt_mask)[0]
    )
    x = self.add_norm2(x, look_up)
    x = self.add_norm3(x, self.feed_forward)
    return x, found["weights"]


@wrong(
    "one LayerNorm for all, cross-attention unmasked",
    diagnosed=True,
    replaces=LAYER,
    names="one normalisation three times, and",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(y, memory, memory, None)
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm1(x, look_up)
    x = self.add_norm1(x, self.feed_forward)
    return x, found["weights"]


@wrong(
    "all functions use x, not what they are handed",
    diagnosed=True,
    replaces=LAYER,
    names="functions use x: each must use the vector it is handed",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(x, memory, memory, src_mask)
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(x, x, x, tgt_mask)[0])
    x = self.add_norm2(x, look_up)
    x = self.add_norm3(x, lambda y: self.feed_forward(x))
    return x, found["weights"]


@wrong(
    "the attentions use x, not what they are handed",
    diagnosed=True,
    replaces=LAYER,
    names="attentions use x: each must use the vector",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(x, memory, memory, src_mask)
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(x, x, x, tgt_mask)[0])
    x = self.add_norm2(x, look_up)
    x = self.add_norm3(x, self.feed_forward)
    return x, found["weights"]


@wrong(
    "the self-attention uses x",
    diagnosed=True,
    replaces=LAYER,
    names="self-attention uses x: it must use the vector",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(y, memory, memory, src_mask)
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(x, x, x, tgt_mask)[0])
    x = self.add_norm2(x, look_up)
    x = self.add_norm3(x, self.feed_forward)
    return x, found["weights"]


@wrong(
    "the cross-attention uses x",
    diagnosed=True,
    replaces=LAYER,
    names="cross-attention uses x: it must use the vector",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(x, memory, memory, src_mask)
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm2(x, look_up)
    x = self.add_norm3(x, self.feed_forward)
    return x, found["weights"]


@wrong(
    "the norms by hand, without dropout",
    diagnosed=True,
    replaces=LAYER,
    names="self-attention and cross-attention and the feed-forward layer adds",
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


@wrong(
    "the second norm by hand, without dropout",
    diagnosed=True,
    replaces=LAYER,
    names="the dropout of what cross-attention adds",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    norm, first = self.add_norm2.norm, self.add_norm2.norm_first
    y, weights = self.cross_attention(norm(x) if first else x, memory, memory, src_mask)
    x = x + y if first else norm(x + y)
    return self.add_norm3(x, self.feed_forward), weights


@wrong(
    "dropout in eval mode too",
    diagnosed=True,
    replaces=LAYER,
    names="in eval mode too",
)
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


@wrong("the weights detached", diagnosed=True, replaces=LAYER, names="cut off")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, weights = self.cross_attention(y, memory, memory, src_mask)
        found["weights"] = weights.detach()
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm2(x, look_up)
    return self.add_norm3(x, self.feed_forward), found["weights"]


@wrong("the input detached", diagnosed=True, replaces=LAYER, names="cut off")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(y, memory, memory, src_mask)
        return output

    x = x.detach()
    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm2(x, look_up)
    return self.add_norm3(x, self.feed_forward), found["weights"]


# --- DecoderLayer.forward: right --------------------------------------------------


@right("a dictionary that catches the weights", replaces=LAYER)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    found = {}

    def look_up(y):
        output, found["weights"] = self.cross_attention(y, memory, memory, src_mask)
        return output

    x = self.add_norm1(x, lambda y: self.self_attention(y, y, y, tgt_mask)[0])
    x = self.add_norm2(x, look_up)
    x = self.add_norm3(x, self.feed_forward)
    return x, found["weights"]


@right("a list that catches the weights", replaces=LAYER)
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


@right("both norms by hand", replaces=LAYER)
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


@right("dropout as a function", replaces=LAYER)
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


@right("project, then attend", replaces=LAYER)
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


@right("keyword arguments and a nonlocal name", replaces=LAYER)
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


@right("functions with a name, a list for the result", replaces=LAYER)
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


# --- Decoder.forward: wrong -------------------------------------------------------


@wrong(
    "the first layer again and again",
    diagnosed=True,
    replaces=STACK,
    names="one layer twice",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []
    for _ in self.layers:
        x, weights = self.layers[0](x, memory, tgt_mask, src_mask)
        kept.append(weights)
    return self.norm(x), kept


@wrong(
    "the last layer again and again",
    diagnosed=True,
    replaces=STACK,
    names="last layer twice",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []
    for _ in self.layers:
        x, weights = self.layers[-1](x, memory, tgt_mask, src_mask)
        kept.append(weights)
    return self.norm(x), kept


@wrong(
    "every layer starts from the same x",
    diagnosed=True,
    replaces=STACK,
    names="the same x",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []
    for layer in self.layers:
        y, weights = layer(x, memory, tgt_mask, src_mask)
        kept.append(weights)
    return self.norm(y), kept


@wrong(
    "stops after the first layer",
    diagnosed=True,
    replaces=STACK,
    names="first layer alone",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    x, weights = self.layers[0](x, memory, tgt_mask, src_mask)
    return self.norm(x), [weights, weights]


@wrong(
    "without the target's mask",
    diagnosed=True,
    replaces=STACK,
    names="without the target's mask",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []
    for layer in self.layers:
        x, weights = layer(x, memory, None, src_mask)
        kept.append(weights)
    return self.norm(x), kept


@wrong(
    "without the source's mask",
    diagnosed=True,
    replaces=STACK,
    names="without the source's mask",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []
    for layer in self.layers:
        x, weights = layer(x, memory, tgt_mask)
        kept.append(weights)
    return self.norm(x), kept


@wrong(
    "each layer looks at the one before",
    diagnosed=True,
    replaces=STACK,
    names="looks at the first one's output",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept, seen, mask = [], memory, src_mask
    for layer in self.layers:
        x, weights = layer(x, seen, tgt_mask, mask)
        kept.append(weights)
        seen, mask = x, tgt_mask
    return self.norm(x), kept


@wrong(
    "without the last normalisation",
    diagnosed=True,
    replaces=STACK,
    names="without its last normalisation",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []
    for layer in self.layers:
        x, weights = layer(x, memory, tgt_mask, src_mask)
        kept.append(weights)
    return x, kept


@wrong(
    "the weights in the opposite order",
    diagnosed=True,
    replaces=STACK,
    names="opposite order",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []
    for layer in self.layers:
        x, weights = layer(x, memory, tgt_mask, src_mask)
        kept.append(weights)
    return self.norm(x), kept[::-1]


@wrong(
    "the last layer's weights alone",
    diagnosed=True,
    replaces=STACK,
    names="another number of results",
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []
    for layer in self.layers:
        x, weights = layer(x, memory, tgt_mask, src_mask)
        kept.append(weights)
    return self.norm(x), weights


@wrong("masks in each other's place", replaces=STACK)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []
    for layer in self.layers:
        x, weights = layer(x, memory, src_mask, tgt_mask)
        kept.append(weights)
    return self.norm(x), kept


@wrong(
    "detached between the layers", diagnosed=True, replaces=STACK, names="is cut off"
)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []
    for layer in self.layers:
        x, weights = layer(x.detach(), memory, tgt_mask, src_mask)
        kept.append(weights)
    return self.norm(x), kept


@wrong("detached weights", diagnosed=True, replaces=STACK, names="is cut off")
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []
    for layer in self.layers:
        x, weights = layer(x, memory, tgt_mask, src_mask)
        kept.append(weights.detach())
    return self.norm(x), kept


# --- Decoder.forward: right -------------------------------------------------------


@right("a tuple of weights", replaces=STACK)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = ()
    for layer in self.layers:
        x, weights = layer(x, memory, tgt_mask, src_mask)
        kept += (weights,)
    return self.norm(x), kept


@right("by index", replaces=STACK)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = [None] * len(self.layers)
    for i in range(len(self.layers)):
        x, kept[i] = self.layers[i](x, memory, tgt_mask, src_mask)
    return self.norm(x), kept


@right("keyword arguments", replaces=STACK)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    cross_attention = []
    for layer in self.layers:
        result = layer(x, memory, tgt_mask=tgt_mask, src_mask=src_mask)
        x = result[0]
        cross_attention.append(result[1])
    x = self.norm(x)
    return x, cross_attention


@right("all four arguments by their names", replaces=STACK)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []
    for layer in self.layers:
        x, weights = layer(x=x, memory=memory, src_mask=src_mask, tgt_mask=tgt_mask)
        kept.append(weights)
    return self.norm(x), kept


@right("recursion", replaces=STACK)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    def go(x, layers):
        if not layers:
            return self.norm(x), []
        x, weights = layers[0](x, memory, tgt_mask, src_mask)
        x, rest = go(x, layers[1:])
        return x, [weights, *rest]

    return go(x, list(self.layers))


@right("the layers' results collected first", replaces=STACK)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    results = []
    for layer in self.layers:
        results.append(layer(x, memory, tgt_mask, src_mask))
        x = results[-1][0]
    return self.norm(x), [weights for _, weights in results]


@right("modules by name, prints in between", replaces=STACK)
def forward(self, x, memory, tgt_mask=None, src_mask=None):
    kept = []
    for name, layer in self.layers.named_children():
        x, weights = layer(x, memory, tgt_mask, src_mask)
        print("layer", name, tuple(x.shape))
        kept.append(weights)
    return self.norm(x), kept


# --- average_heads: wrong ---------------------------------------------------------


@wrong("the last layer alone", diagnosed=True, names="last layer's mean")
def average_heads(cross_attention):
    return cross_attention[-1].mean(dim=1)


@wrong("the first layer alone", diagnosed=True, names="first layer's mean")
def average_heads(cross_attention):
    return cross_attention[0].mean(dim=1)


@wrong("the first head alone", diagnosed=True, names="first head's mean")
def average_heads(cross_attention):
    return torch.stack(cross_attention)[:, :, 0].mean(dim=0)


@wrong("summed over the layers", diagnosed=True, names="sum over the layers")
def average_heads(cross_attention):
    return sum(weights.mean(dim=1) for weights in cross_attention)


@wrong("summed over the heads", diagnosed=True, names="sum over the heads")
def average_heads(cross_attention):
    return torch.stack(cross_attention).sum(dim=2).mean(dim=0)


@wrong("summed over both", diagnosed=True, names="sum over layers and heads")
def average_heads(cross_attention):
    return torch.stack(cross_attention).sum(dim=(0, 2))


@wrong("the largest weight", diagnosed=True, names="largest weight of any head")
def average_heads(cross_attention):
    return torch.stack(cross_attention).amax(dim=(0, 2))


@wrong("the mean over the batch", diagnosed=True, names="over the batch")
def average_heads(cross_attention):
    return torch.stack(cross_attention).mean(dim=(0, 1))


@wrong("heads kept", diagnosed=True, names="over the layers alone")
def average_heads(cross_attention):
    return torch.stack(cross_attention).mean(dim=0)


@wrong("counts on two layers", diagnosed=True, names="the first two layers")
def average_heads(cross_attention):
    return ((cross_attention[0] + cross_attention[1]) / 2).mean(dim=1)


@wrong(
    "adds into the first layer's weights",
    diagnosed=True,
    names="an input is changed in place",
)
def average_heads(cross_attention):
    total = cross_attention[0]
    for weights in cross_attention[1:]:
        total += weights
    return total.mean(dim=1) / len(cross_attention)


@wrong("needs two layers", diagnosed=True, names="more than one layer")
def average_heads(cross_attention):
    first, second, *others = cross_attention
    total = first + second + sum(others)
    return total.mean(dim=1) / (2 + len(others))


@wrong("without a gradient", diagnosed=True, names="the gradient is cut off")
def average_heads(cross_attention):
    with torch.no_grad():
        return torch.stack(cross_attention).mean(dim=(0, 2))


# --- average_heads: right ---------------------------------------------------------


@right("a mean of means")
def average_heads(cross_attention):
    return torch.stack([weights.mean(dim=1) for weights in cross_attention]).mean(dim=0)


@right("heads of all layers side by side")
def average_heads(cross_attention):
    return torch.cat(cross_attention, dim=1).mean(dim=1)


@right("a sum, divided")
def average_heads(cross_attention):
    return sum(weights.mean(1) for weights in cross_attention) / len(cross_attention)


@right("einsum")
def average_heads(cross_attention):
    stacked = torch.stack(list(cross_attention))
    layers, _, heads = stacked.shape[:3]
    return torch.einsum("lbhts->bts", stacked) / (layers * heads)


@right("two loops")
def average_heads(cross_attention):
    total = torch.zeros_like(cross_attention[0][:, 0])
    count = 0
    for weights in cross_attention:
        for head in range(weights.size(1)):
            total = total + weights[:, head]
            count += 1
    return total / count


@right("one mean at a time")
def average_heads(cross_attention):
    return torch.stack(tuple(cross_attention), dim=1).mean(dim=1).mean(dim=1)

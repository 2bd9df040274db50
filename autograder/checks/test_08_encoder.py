"""Hidden checks of unit 08: layer, encoder, states, drift, and masked words."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.checking.behaviour import (
    blame,
    expect_dtype,
    expect_gradients,
    expect_own_layers,
)
from autograder.checking.chance import slack
from autograder.checking.compare import describe
from autograder.checking.expect import (
    check,
    expect_close,
    expect_equal,
    expect_shape,
    fail,
)
from autograder.checking.generic_checks import (
    SAME_DRAWS,
    expect_each_call_anew,
    expect_no_seed,
    expect_no_traces,
    expect_same_device,
)
from autograder.checking.kinds_of_inputs import (
    close_rows,
    expect_double,
    expect_every_mask,
    masks_of_every_kind,
)
from autograder.checking.varied_inputs import (
    SOME_SIZES,
    Varied,
    expect_every_size,
    expect_modules_of_every_size,
    orders_of,
    varied_inputs,
)
from autograder.phrases import Phrase
from transformer import encoder as reference
from transformer.config import TransformerConfig
from transformer.one_stack.sentences import N_SPECIAL, NOT_ASKED
from transformer.parts import make_add_norm, make_attention

B, S, D, H, D_FF, N = 3, 6, 16, 2, 22, 4
SIZES: dict[str, Any] = {"d_model": D, "n_heads": H, "n_layers": N, "d_ff": D_FF}
SIZES |= {"dropout": 0.0}
BUILT_INS = [
    "torch.nn.TransformerEncoderLayer",
    "torch.nn.MultiheadAttention",
    "torch.nn.functional.multi_head_attention_forward",
    "torch.nn.functional.scaled_dot_product_attention",
]

NEARLY_ALL = 1 - 2**-53  # dropout rate; a configuration accepts only rates below 1

Mistakes = dict[str, Tensor]
Trusted = TypeVar("Trusted", bound=nn.Module)


def drawn_state(draw, module: nn.Module) -> dict[str, Tensor]:
    """Draw weights of a suitable size, and random γ and β for every LayerNorm."""
    shapes = {name: value.shape for name, value in module.state_dict().items()}
    state = draw.state(shapes)
    return {
        name: 1 + 0.5 * value if "norm" in name and "weight" in name else 0.4 * value
        for name, value in state.items()
    }


def config_of(student, **changes) -> Any:
    """Make a configuration in the student's process."""
    make = student.load("transformer.config.TransformerConfig")
    return make(30, 31, **{**SIZES, **changes})


def pair_of(student, draw, kind: type[Trusted], **changes) -> tuple[Any, Trusted]:
    """Make the student's module and the reference in float64, with equal weights."""
    trusted = kind(TransformerConfig(30, 31, **SIZES | changes))
    state = drawn_state(draw, trusted)
    trusted.double().eval().load_state_dict(state)
    own = student[kind.__name__](config_of(student, **changes))
    own.double().eval().load_state_dict(state)
    return own, trusted


def words(draw, *shape: int) -> Tensor:
    """Draw vectors in float64; the default is a batch (B, S, D)."""
    return draw.normal(*(shape or (B, S, D)), dtype=torch.float64)


# --- EncoderLayer -----------------------------------------------------------------


@dataclass(frozen=True)
class Steps:
    """The steps of a reference layer, which other functions call in wrong orders."""

    layer: reference.EncoderLayer
    mask: Tensor | None

    def attend(
        self, query: Tensor, key: Tensor | None = None, value: Tensor | None = None
    ) -> Tensor:
        """Attend with the mask; without keys and values, this is self-attention."""
        key = query if key is None else key
        value = key if value is None else value
        return self.layer.self_attention(query, key, value, self.mask)[0]

    def feed(self, y: Tensor) -> Tensor:
        """Run the feed-forward layer."""
        return self.layer.feed_forward(y)

    def norm1(self, y: Tensor) -> Tensor:
        """Apply the LayerNorm of the first sub-layer."""
        return self.layer.add_norm1.norm(y)

    def norm2(self, y: Tensor) -> Tensor:
        """Apply the LayerNorm of the second sub-layer."""
        return self.layer.add_norm2.norm(y)

    def second(self, y: Tensor) -> Tensor:
        """Run the second sub-layer in post-norm order."""
        return self.norm2(y + self.feed(y))


def layer_mistakes(
    layer: reference.EncoderLayer, x: Tensor, mask: Tensor | None
) -> Mistakes:
    """Return wrong results of a post-norm layer, keyed by the name of the mistake."""
    steps = Steps(layer, mask)
    ff, n1, n2, second = steps.feed, steps.norm1, steps.norm2, steps.second
    y, pre = n1(x + steps.attend(x)), x + steps.attend(n1(x))
    bare = replace(steps, mask=None)
    inverted = replace(steps, mask=None if mask is None else ~mask)
    return {
        "zeros": torch.zeros_like(x),
        "the input, unchanged": x,
        "a pre-norm layer, although the configuration asks for post-norm": (
            pre + ff(n2(pre))
        ),
        **residual_mistakes(steps, x),
        **order_mistakes(steps, x),
        "a layer whose attention ignores the mask": second(n1(x + bare.attend(x))),
        "a layer with an inverted mask (True means: may attend)": (
            second(n1(x + inverted.attend(x)))
        ),
        **norm_mistakes(steps, x),
        "a layer whose second residual connection starts from the layer's input": (
            n2(x + ff(y))
        ),
        "a layer whose feed-forward layer reads the layer's input": n2(y + ff(x)),
        "only attention: the feed-forward layer is missing": y,
        "only the feed-forward layer: attention is missing, or its result is not "
        "used": (second(x)),
        "norm(x) + f(x) instead of norm(x + f(x))": (
            (lambda z: n2(z) + ff(z))(n1(x) + steps.attend(x))
        ),
        "x + norm(f(x)) instead of norm(x + f(x))": (
            (lambda z: z + n2(ff(z)))(x + n1(steps.attend(x)))
        ),
    }


def residual_mistakes(steps: Steps, x: Tensor) -> Mistakes:
    """Return results with missing or repeated residual connections, keyed by name."""
    ff, n1, n2 = steps.feed, steps.norm1, steps.norm2
    y, bare = n1(x + steps.attend(x)), n1(steps.attend(x))
    twice = n1(x + x + steps.attend(x))
    return {
        "a layer without residual connections": n2(ff(bare)),
        "a layer without the residual connection around attention": steps.second(bare),
        "a layer without the residual connection around the feed-forward layer": n2(
            ff(y)
        ),
        "a layer with two residual connections around each sub-layer": (
            n2(twice + twice + ff(twice))
        ),
        "a layer with two residual connections around attention": steps.second(twice),
    }


def order_mistakes(steps: Steps, x: Tensor) -> Mistakes:
    """Return results with swapped LayerNorms or sub-layers, keyed by name."""
    ff, n1, n2, second = steps.feed, steps.norm1, steps.norm2, steps.second
    y, swapped, fed = n1(x + steps.attend(x)), n2(x + steps.attend(x)), n1(x + ff(x))
    return {
        "a layer that uses the first LayerNorm twice": n1(y + ff(y)),
        "a layer that uses the second LayerNorm twice": second(swapped),
        "a layer with its two LayerNorms swapped": n1(swapped + ff(swapped)),
        "a layer with the feed-forward layer before attention": n2(
            fed + steps.attend(fed)
        ),
        "a layer with the feed-forward layer and its norm before attention": (
            n1(second(x) + steps.attend(second(x)))
        ),
    }


def norm_mistakes(steps: Steps, x: Tensor) -> Mistakes:
    """Return results without some LayerNorms, keyed by name."""
    added = x + steps.attend(x)
    y = steps.norm1(added)
    return {
        "a layer without its first LayerNorm": steps.second(added),
        "a layer without its second LayerNorm": y + steps.feed(y),
        "a layer without LayerNorm": added + steps.feed(added),
        **gain_mistakes(steps, x),
    }


def without_gains(y: Tensor) -> Tensor:
    """Normalise each token's vector without γ and β."""
    return F.layer_norm(y, y.shape[-1:])


def gain_mistakes(steps: Steps, x: Tensor) -> Mistakes:
    """Return results of a post-norm layer without γ and β, keyed by name."""
    added = x + steps.attend(x)
    y, z = without_gains(added), steps.norm1(added)
    return {
        "a layer whose LayerNorms have no γ and no β": without_gains(y + steps.feed(y)),
        "a layer whose first LayerNorm has no γ and no β": steps.second(y),
        "a layer whose second LayerNorm has no γ and no β": (
            without_gains(z + steps.feed(z))
        ),
    }


def pre_norm_mistakes(
    layer: reference.EncoderLayer, x: Tensor, mask: Tensor
) -> Mistakes:
    """Return wrong results of a pre-norm layer, keyed by the name of the mistake."""
    ff, n1, n2 = layer.feed_forward, layer.add_norm1.norm, layer.add_norm2.norm
    attend = Steps(layer, mask).attend

    def second(y: Tensor) -> Tensor:
        return y + ff(n2(y))

    z = n1(x)
    y = n1(x + attend(x))
    after_norm = n2(z + attend(z))
    return {
        "a post-norm layer, although the configuration asks for pre-norm": n2(
            y + ff(y)
        ),
        "a pre-norm layer that normalises the queries, but not keys and values": (
            second(x + attend(z, x))
        ),
        "a pre-norm layer whose attention reads x, not the argument of its function": (
            second(x + attend(x))
        ),
        "a pre-norm layer that normalises queries and keys, but not values": (
            second(x + attend(z, z, x))
        ),
        "a pre-norm layer whose residual connections start after the norm": (
            after_norm + ff(after_norm)
        ),
        "a pre-norm layer that ignores the mask": (
            second(x + Steps(layer, None).attend(z))
        ),
        "a pre-norm layer with an extra LayerNorm at its end": n2(
            second(x + attend(z))
        ),
        "a layer without LayerNorm": (lambda a: a + ff(a))(x + attend(x)),
        "a pre-norm layer whose LayerNorms have no γ and no β": (
            (lambda a: a + ff(without_gains(a)))(x + attend(without_gains(x)))
        ),
        "a pre-norm layer without residual connections": ff(n2(attend(z))),
        "a pre-norm layer with the feed-forward layer before attention": (
            (lambda a: a + attend(n2(a)))(x + ff(z))
        ),
    }


@check("encoder-layer", share=1, title="The shape stays (b, s, d_model)", form=True)
def test_layer_shape(student, draw):
    layer, _ = pair_of(student, draw, reference.EncoderLayer)
    got = layer(words(draw), draw.mask(B, 1, 1, S))
    expect_shape(got, (B, S, D), "The layer's output")


def deaf(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return weights for which attention outputs only zeros.

    The weights and the bias of its output projection are 0.
    """
    zeros = {name: 0 * value for name, value in state.items() if ".w_o." in name}
    return {**state, **zeros}


def expect_tokens_apart(
    call: Callable[[Tensor], Any], x: Tensor, other: Tensor, what: str
) -> None:
    """Fail if a token changes another token's result although attention outputs zeros.

    Args:
        call: the student's layer or stack, with weights from `deaf`.
        x: the input, (b, s, d_model).
        other: the same input with a different token at [1, 2].
        what: a name of the result.
    """
    results = call(x), call(other)
    for result in results:
        expect_shape(result, tuple(x.shape), what)
    moved = ~torch.isclose(*results, atol=1e-6, equal_nan=True).all(dim=-1)
    moved[1, 2] = False
    if bool(moved[1].any()):
        fail(
            "Although attention adds nothing here, a change in one token also "
            "changes other tokens of its sentence: LayerNorm should use only the "
            "d_model features of one token.",
            mistake="a LayerNorm that mixes the tokens of a sentence",
        )
    if bool(moved.any()):
        fail(
            "Although attention adds nothing here, a change in one token also "
            "changes other sentences: LayerNorm should use only the d_model "
            "features of one token.",
            mistake="a LayerNorm that mixes the sentences of a batch",
        )


def with_another_token(draw) -> tuple[Tensor, Tensor]:
    """Draw a batch, and the same batch with a different token at [1, 2]."""
    x = words(draw)
    other = x.clone()
    other[1, 2] = 3 * words(draw, D)
    return x, other


def expect_norms_of_tokens(student, draw, **changes) -> None:
    """Fail if a LayerNorm in the layer averages over several tokens."""
    layer, trusted = pair_of(student, draw, reference.EncoderLayer, **changes)
    layer.load_state_dict(deaf(trusted.state_dict()))
    mask = draw.mask(B, 1, 1, S)
    expect_tokens_apart(
        lambda x: layer(x, mask), *with_another_token(draw), "The layer's output"
    )


@check("encoder-layer", share=3, title="Right values: post-norm, with a padding mask")
def test_layer_values(student, draw):
    expect_norms_of_tokens(student, draw)
    layer, trusted = pair_of(student, draw, reference.EncoderLayer)
    x, mask = words(draw), draw.mask(B, 1, 1, S)
    mistakes = partial(layer_mistakes, trusted, x, mask)
    expect_close(layer(x, mask), trusted(x, mask), "The layer's output", mistakes)


@check(
    "encoder-layer", share=1, title="Without a mask, every token attends to every token"
)
def test_layer_without_mask(student, draw):
    layer, trusted = pair_of(student, draw, reference.EncoderLayer)
    x = words(draw)
    mistakes = partial(layer_mistakes, trusted, x, None)
    expect_close(layer(x), trusted(x), "The layer's output", mistakes)


@check("encoder-layer", share=2, title="norm_first=True: pre-norm")
def test_layer_pre_norm(student, draw):
    expect_norms_of_tokens(student, draw, norm_first=True)
    layer, trusted = pair_of(student, draw, reference.EncoderLayer, norm_first=True)
    x, mask = words(draw), draw.mask(B, 1, 1, S)
    mask[..., :2] = True  # a single visible key would always have weight 1
    mistakes = partial(pre_norm_mistakes, trusted, x, mask)
    expect_close(layer(x, mask), trusted(x, mask), "The layer's output", mistakes)


@check(
    "encoder-layer", share=1, title="Any sizes, any feed-forward layer, any mask shape"
)
def test_layer_with_every_mask(student, draw):
    layer, trusted = pair_of(student, draw, reference.EncoderLayer, feed_forward="conv")
    x, masks = words(draw), masks_of_every_kind(draw, B, H, S, S)
    one_for_all = masks["(1, 1, t, s), one mask for all sentences"]
    masks["(b, 1, t, s), with a query that may attend to no key"] = close_rows(
        one_for_all.repeat(B, 1, 1, 1)
    )
    expect_every_mask(
        lambda mask: layer(x, mask),
        lambda mask: trusted(x, mask),
        masks,
        "the layer's output",
    )
    make = partial(pair_of, student, draw, reference.EncoderLayer)
    expect_modules(student, draw, make, "the layer's output")


def expect_modules(
    student, draw, make: Callable[..., tuple[Any, nn.Module]], what: str
) -> None:
    """Fail unless modules of every size are right, post-norm and pre-norm.

    Args:
        student: the fixture.
        draw: the fixture.
        make: makes the student's module and the trusted one, with changes of the
            configuration.
        what: the result, in words.
    """
    for norm_first in (False, True):

        def sized(n: dict[str, int], first=norm_first) -> tuple[Any, nn.Module]:
            return make(norm_first=first, d_ff=n["d_ff"], **sizes_of(n))

        expect_modules_of_every_size(student, sized, every_source(draw), draw, what)


def every_source(draw) -> Iterator[Varied]:
    """Draw sources and masks of every order of sizes."""
    return varied_inputs(
        draw, ["b,s,h*d_k"], ["b,1,s,s"], large=9.0, others=["d_ff", "layers"]
    )


def sizes_of(n: dict[str, int]) -> dict[str, int]:
    """Return the changes to the configuration for these sizes."""
    layers = min(n["layers"], N + 1)
    return {"d_model": n["h"] * n["d_k"], "n_heads": n["h"], "n_layers": layers}


def dropout_mistakes(
    layer: reference.EncoderLayer, x: Tensor, mask: Tensor
) -> Mistakes:
    """Return results without dropout in one place, if dropout sets all values to 0."""
    ff, n1, n2 = layer.feed_forward, layer.add_norm1.norm, layer.add_norm2.norm
    y = n1(x + layer.self_attention(x, x, x, mask)[0])
    start = n1(x)
    return {
        "a layer that drops nothing: the dropout on the sub-layers is missing": (
            n2(y + ff(y))
        ),
        "a layer without dropout on the output of attention": n2(y),
        "a layer without dropout on the output of the feed-forward layer": (
            n2(start + ff(start))
        ),
    }


@check("encoder-layer", share=1, title="Dropout in training, and only in training")
def test_layer_dropout(student, draw):
    rates = {"dropout": NEARLY_ALL, "attention_dropout": 0.0, "ff_dropout": 0.0}
    layer, trusted = pair_of(student, draw, reference.EncoderLayer, **rates)
    x, mask = words(draw), draw.mask(B, 1, 1, S)
    expect_close(layer(x, mask), trusted(x, mask), "The layer's output in eval mode")
    layer.train()
    left = trusted.add_norm2.norm(trusted.add_norm1.norm(x))
    what = (
        "The output in training mode, if the whole output of every sub-layer is "
        "dropped,"
    )
    mistakes = partial(dropout_mistakes, trusted, x, mask)
    expect_close(layer(x, mask), left, what, mistakes)
    rates = {"dropout": 0.0, "attention_dropout": NEARLY_ALL, "ff_dropout": NEARLY_ALL}
    layer, trusted = pair_of(student, draw, reference.EncoderLayer, **rates)
    layer.train()
    trusted.train()
    what = (
        "The output in training mode, if the dropout inside the sub-layers drops "
        "everything,"
    )
    expect_close(layer(x, mask), trusted(x, mask), what)


@check(
    "encoder-layer",
    share=1,
    title="Each call has its own result and its own random draws",
)
def test_layer_of_each_call(student, draw):
    layer, trusted = pair_of(student, draw, reference.EncoderLayer, dropout=0.3)
    calls = [(words(draw, B, S + 1, D), draw.mask(B, 1, 1, S + 1)) for _ in range(3)]
    calls.append((calls[-1][0], calls[0][1]))
    expect_each_call_anew(student, layer, calls, trusted, "the layer's output")
    layer.train()
    expect_no_seed(student, layer, *calls[0], draws=True)


@check("encoder-layer", share=1, title="Gradients reach the input and every parameter")
def test_layer_gradients(student, draw):
    expect_norms_of_tokens(student, draw)
    layer, trusted = pair_of(student, draw, reference.EncoderLayer)
    x, mask, upstream = words(draw), draw.mask(B, 1, 1, S), words(draw)
    layer.train()  # where gradients count; its dropout is 0
    run = student.gradients(layer, x, mask, upstream=upstream)
    expect_every_parameter(run.parameters)
    expect_gradients(run, lambda x: trusted(x, mask), [x], upstream)


@check(
    "encoder-layer",
    share=1,
    title="Written by you; a batch of one; also float32",
    bans=("EncoderLayer", BUILT_INS),
)
def test_layer_of_one_sentence(student, draw):
    test_layer_values(student, draw)
    layer, trusted = pair_of(student, draw, reference.EncoderLayer)
    x, mask = words(draw, S, 1, D).transpose(0, 1), draw.mask(1, 1, 1, S)
    got, want = layer(x, mask), trusted(x, mask)
    mistakes = partial(layer_mistakes, trusted, x, mask)
    expect_close(got, want, "The output for a batch of one", mistakes)
    expect_dtype(got, torch.float64, "the output")
    layer.float()
    got = layer(x.float(), mask)
    expect_close(got, want, "The output in float32", mistakes, tolerance=1e-4)
    expect_dtype(got, torch.float32, "the output")


@check(
    "encoder-layer",
    share=1,
    title="The input does not change and stays on its device",
    form=True,
)
def test_layer_leaves_its_input(student, draw):
    layer, _ = pair_of(student, draw, reference.EncoderLayer)
    given = words(draw), draw.mask(B, 1, 1, S)
    expect_no_traces(student, layer, *given, still=True)
    expect_same_device(student, layer, *given, what="the output")


def expect_every_parameter(gradients: dict[str, Tensor | None]) -> None:
    """Fail if a parameter gets no gradient."""
    left_out = [name for name, value in gradients.items() if value is None]
    if left_out:
        fail(
            Phrase(
                "No gradient reaches {count} of {total} parameters, such as "
                "{name}: the output does not depend on them.",
                len(left_out),
                len(gradients),
                left_out[0],
            ),
            mistake="a parameter without a gradient",
        )


# --- Encoder ----------------------------------------------------------------------
# The layers here are correct, so a mistake in EncoderLayer costs points only once. They
# have no feed-forward part, because the encoder does not use the parts of its layers.

PARTS = {"self_attention": "make_attention", "add_norm1": "make_add_norm"}
FORWARD = """
lambda layer: lambda x, src_mask=None: layer.add_norm1(
    x, lambda y: layer.self_attention(y, y, y, src_mask)[0]
)
"""


class HalfLayer(nn.Module):
    """The first half of an encoder layer: PARTS and FORWARD in the grader's process."""

    def __init__(self, config: TransformerConfig):
        """Make the parts in the configuration's sizes."""
        super().__init__()
        self.self_attention = make_attention(config)
        self.add_norm1 = make_add_norm(config)

    def forward(self, x: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """Compute the output (b, s, d_model) for x."""
        return self.add_norm1(x, lambda y: self.self_attention(y, y, y, src_mask)[0])


class HalfLayers(nn.Module):
    """A trusted encoder of such layers."""

    def __init__(self, layers: Sequence[nn.Module], norm: nn.Module):
        """Take the layers and the last normalisation."""
        super().__init__()
        self.layers, self.norm = nn.ModuleList(layers), norm

    def forward(self, x: Tensor, src_mask: Tensor | None = None) -> Tensor:
        """Compute the memory (b, s, d_model) from x."""
        return self.norm(through(list(self.layers), x, src_mask))


def encoders(student, draw, norm_first: bool, **changes) -> tuple[Any, HalfLayers]:
    """Make the student's encoder around trusted layers, and the trusted encoder."""
    changes["norm_first"] = norm_first
    layers = foreign_layers(draw, **changes)
    norm = nn.LayerNorm(changes["d_model"]) if norm_first else nn.Identity()
    return encoder_around(student, layers, **changes), HalfLayers(layers, norm)


def foreign_layers(draw, **changes) -> list[HalfLayer]:
    """Make N correct layers with random weights."""
    layers = []
    for _ in range(changes.get("n_layers", N)):
        layer = HalfLayer(TransformerConfig(30, 31, **SIZES | changes))
        layer.double().load_state_dict(drawn_state(draw, layer))
        layers.append(layer)
    return layers


def encoder_around(student, layers: Sequence[nn.Module], **changes) -> Any:
    """Make the student's encoder with copies of correct layers."""
    config = config_of(student, **changes)
    copies = student.stack_of_parts(config, PARTS, FORWARD, len(layers))
    copies.double().load_state_dict(nn.ModuleList(layers).state_dict())
    encoder = student.Encoder(config)
    encoder.add_module("layers", copies)
    encoder.double()
    return encoder


def last_norm(draw, encoder: Any) -> nn.LayerNorm:
    """Give a pre-norm encoder's last LayerNorm random weights; return a copy of it."""
    norm = nn.LayerNorm(D).double()
    state = drawn_state(draw, nn.ModuleDict({"norm": norm}))
    norm.load_state_dict({name.removeprefix("norm."): v for name, v in state.items()})
    encoder.attribute("norm").load_state_dict(norm.state_dict())
    return norm


def through(layers: Sequence[nn.Module], x: Tensor, mask: Tensor | None) -> Tensor:
    """Apply layers to x, one after the other."""
    for layer in layers:
        x = layer(x, mask)
    return x


def stack_mistakes(layers: Sequence[nn.Module], x: Tensor, mask: Any) -> Mistakes:
    """Return wrong results of the stack, keyed by the name of the mistake."""
    each = [layer(x, mask) for layer in layers]
    whole = through(layers, x, mask)
    return {
        "the output of the first layer": each[0],
        "the output of only the last layer, computed from the encoder's input": each[
            -1
        ],
        "the stack without its last layer": through(layers[:-1], x, mask),
        "the stack without its first layer": through(layers[1:], x, mask),
        "the first layer, N times": through([layers[0]] * N, x, mask),
        "the last layer, N times": through([layers[-1]] * N, x, mask),
        "the layers in reverse order": through(layers[::-1], x, mask),
        "the stack if no layer gets the mask": through(layers, x, None),
        "the stack if only the first layer gets the mask": (
            through(layers[1:], each[0], None)
        ),
        "the sum of the layers' outputs, each computed from the encoder's input": sum(
            each
        ),
        "the stack with an extra residual connection around it": x + whole,
        "the stack with an extra residual connection around each layer": (
            with_residuals(layers, x, mask)
        ),
        "the input, unchanged": x,
        "zeros": torch.zeros_like(x),
    }


def with_residuals(layers: Sequence[nn.Module], x: Tensor, mask: Any) -> Tensor:
    """Apply layers with an extra residual connection around each."""
    for layer in layers:
        x = x + layer(x, mask)
    return x


def normed_mistakes(
    layers: Sequence[nn.Module], norm: nn.Module, x: Tensor, mask: Any
) -> Mistakes:
    """Return wrong results of a pre-norm encoder, keyed by the name of the mistake."""
    whole, after_each = through(layers, x, mask), x
    for layer in layers:
        after_each = norm(layer(after_each, mask))
    wrong = stack_mistakes(layers, x, mask)
    return {
        "the stack without its last normalisation": whole,
        "the stack with the normalisation before the first layer": (
            through(layers, norm(x), mask)
        ),
        "the stack with the normalisation after each layer": after_each,
        "the stack normalised twice": norm(norm(whole)),
        "the stack whose last normalisation has no γ and no β": without_gains(whole),
    } | {phrase: norm(value) for phrase, value in wrong.items()}


def expect_last_norm_of_tokens(student, draw, **changes) -> None:
    """Fail if the encoder mixes tokens between or after its layers."""
    layers = foreign_layers(draw, **changes)
    for layer in layers:
        layer.load_state_dict(deaf(layer.state_dict()))
    encoder, mask = encoder_around(student, layers, **changes), draw.mask(B, 1, 1, S)
    expect_tokens_apart(
        lambda x: encoder(x, mask), *with_another_token(draw), "The memory"
    )


@check("encoder", share=1, title="The memory has the shape (b, s, d_model)", form=True)
def test_encoder_shape(student, draw):
    encoder = encoder_around(student, foreign_layers(draw))
    expect_shape(encoder(words(draw), draw.mask(B, 1, 1, S)), (B, S, D), "The memory")


@check("encoder", share=3, title="The layers run in order, each with the mask")
def test_encoder_values(student, draw):
    expect_last_norm_of_tokens(student, draw)
    memory_of_layers(student, draw)()


def memory_of_layers(student, draw) -> Callable[[], None]:
    """Return a function that fails unless the encoder applies its layers in order."""
    layers, x, mask = foreign_layers(draw), words(draw), draw.mask(B, 1, 1, S)
    encoder, want = encoder_around(student, layers), through(layers, x, mask)

    def mistakes() -> Mistakes:
        phrase = (
            "the stack with a final normalisation, although its layers are post-norm"
        )
        return stack_mistakes(layers, x, mask) | {phrase: without_gains(want)}

    return lambda: expect_close(encoder(x, mask), want, "The memory", mistakes)


@check("encoder", share=2, title="Pre-norm layers: a final normalisation at the end")
def test_encoder_last_norm(student, draw):
    expect_last_norm_of_tokens(student, draw, norm_first=True)
    layers, x = foreign_layers(draw, norm_first=True), words(draw)
    encoder = encoder_around(student, layers, norm_first=True)
    mask = draw.mask(B, 1, 1, S)
    norm = last_norm(draw, encoder)
    want = norm(through(layers, x, mask))
    mistakes = partial(normed_mistakes, layers, norm, x, mask)
    expect_close(encoder(x, mask), want, "The memory", mistakes)


@check("encoder", share=1, title="No two layers share a parameter", form=True)
def test_encoder_parameters(student, draw):
    encoder = student.Encoder(config_of(student))
    trusted = reference.Encoder(TransformerConfig(30, 31, **SIZES))
    expect_own_layers(encoder, trusted, N, Phrase("The encoder"))
    encoder_around(student, foreign_layers(draw))(words(draw))  # fails if unsolved


@check("encoder", share=1, title="The whole encoder, with your own layers")
def test_encoder_with_own_layers(student, draw):
    encoder, trusted = pair_of(student, draw, reference.Encoder)
    x, mask = words(draw), draw.mask(B, 1, 1, S)
    want = trusted(x, mask)
    mistakes = partial(stack_mistakes, list(trusted.layers), x, mask)

    def compare() -> None:
        expect_close(encoder(x, mask), want, "The memory", mistakes)

    compare()
    with blame("code that needs a mask; it is None by default", compare):
        expect_close(encoder(x), trusted(x), "The memory without a mask")


@check("encoder", share=1, title="Any sizes; calls do not share results")
def test_encoder_of_each_call(student, draw):
    layers = foreign_layers(draw)
    encoder = encoder_around(student, layers)
    encoder.eval()
    calls = [(words(draw, B, S + 1, D), draw.mask(B, 1, 1, S + 1)) for _ in range(3)]
    calls.append((calls[-1][0], calls[0][1]))
    expect_each_call_anew(
        student, encoder, calls, lambda x, mask: through(layers, x, mask), "the memory"
    )
    expect_modules(student, draw, partial(encoders, student, draw), "the memory")


@check(
    "encoder", share=1, title="No input changes or moves to another device", form=True
)
def test_encoder_leaves_its_inputs(student, draw):
    encoder, _ = pair_of(student, draw, reference.Encoder, n_layers=2)
    given = words(draw), draw.mask(B, 1, 1, S)
    expect_no_traces(student, encoder, *given, still=True)
    expect_same_device(student, encoder, *given, what="the memory")


@check(
    "encoder",
    share=1,
    title="With one layer fewer, gradients reach all remaining layers",
    bans=("Encoder", ["torch.nn.TransformerEncoder"]),
)
def test_encoder_gradients(student, draw):
    memory_of_layers(student, draw)()
    stack, x, mask = foreign_layers(draw), words(draw), draw.mask(B, 1, 1, S)
    for layers in (stack, stack[:-1]):
        encoder, upstream = encoder_around(student, layers), words(draw)
        encoder.train()  # where gradients count; its dropout is 0
        run = student.gradients(encoder, x, mask, upstream=upstream)
        expect_every_parameter(run.parameters)
        expect_gradients(run, partial(through, layers, mask=mask), [x], upstream)
    one = words(draw, S, 1, D).transpose(0, 1)
    want = through(layers, one, mask[:1])
    expect_close(encoder(one, mask[:1]), want, "The memory of a batch of one")


# --- layer_states -----------------------------------------------------------------


def states_of(layers: Sequence[nn.Module], x: Tensor, mask: Any) -> list[Tensor]:
    """Return the states of the reference layers."""
    return [through(layers[:count], x, mask) for count in range(len(layers) + 1)]


def listed(states: Any) -> list[Tensor]:
    """Return a student's states as a list; a stacked tensor is also accepted."""
    if isinstance(states, Tensor) and states.dim() == 4:
        return list(states)
    if not isinstance(states, (list, tuple)):
        fail(
            Phrase(
                "layer_states should return a list of tensors, not {found}.",
                describe(states),
            ),
            mistake="something other than a list",
        )
    return list(states)


@check(
    "layer-states",
    share=2,
    title="N + 1 states: the input, then one for each layer",
    form=True,
)
def test_states_count(student, draw):
    layers, x, mask = foreign_layers(draw), words(draw), draw.mask(B, 1, 1, S)
    encoder = encoder_around(student, layers)
    states = listed(student.layer_states(encoder, x, mask))
    if len(states) == N:
        fail(
            Phrase(
                "{n} layers have {states} states, including the input, but you "
                "return {n}.",
                N,
                N + 1,
            ),
            mistake="one state too few: the input or the last layer is missing",
        )
    if len(states) != N + 1:
        fail(
            Phrase(
                "{n} layers have {states} states, including the input, not {count}.",
                N,
                N + 1,
                len(states),
            )
        )
    for number, state in enumerate(states):
        expect_shape(state, (B, S, D), Phrase("State {number}", number))


@check(
    "layer-states",
    share=3,
    title="Each state is its layer's output for the previous state",
)
def test_states_values(student, draw):
    layers, x, mask = foreign_layers(draw), words(draw), draw.mask(B, 1, 1, S)
    encoder = encoder_around(student, layers)
    states = listed(student.layer_states(encoder, x, mask))
    wanted = states_of(layers, x, mask)
    if len(states) == N and states[0].shape == x.shape:
        expect_not_input(states[0], x)
    for number, want in enumerate(wanted[: len(states)]):
        mistakes = partial(state_mistakes, layers, x, mask, number)
        expect_close(states[number], want, Phrase("State {number}", number), mistakes)
    if len(states) != len(wanted):
        fail(
            Phrase("There should be {states} states, not {count}.", N + 1, len(states))
        )


def state_mistakes(
    layers: Sequence[nn.Module], x: Tensor, mask: Tensor, number: int
) -> dict[str, Callable[[], Tensor]]:
    """Return wrong values for the state with this number, keyed by name."""
    wanted, unmasked = states_of(layers, x, mask), states_of(layers, x, None)
    return {
        "zeros": lambda: torch.zeros_like(x),
        "the last state, like all other states": lambda: wanted[-1],
        "its layer's output for the encoder's input": lambda: layers[number - 1](
            x, mask
        ),
        "the state without the mask": lambda: unmasked[number],
        "the state of the next layer": lambda: wanted[number + 1],
        "the input of its layer, not the output": lambda: wanted[number - 1],
    }


def expect_not_input(first: Tensor, x: Tensor) -> None:
    """Fail if the first state is the output of the first layer instead of the input."""
    if not torch.allclose(first, x):
        phrase = "one state too few: the input or the last layer is missing"
        fail("The first state should be the encoder's input itself.", phrase)


@check("layer-states", share=1, title="The last state, before any final normalisation")
def test_states_of_a_pre_norm_encoder(student, draw):
    layers, x = foreign_layers(draw, norm_first=True), words(draw)
    encoder = encoder_around(student, layers, norm_first=True)
    mask = draw.mask(B, 1, 1, S)
    norm = last_norm(draw, encoder)
    states = listed(student.layer_states(encoder, x, mask))
    want = through(layers, x, mask)
    mistakes = {"the memory after the final normalisation": norm(want)}
    expect_close(states[-1], want, "The last state", mistakes)


@check("layer-states", share=1, title="Gradients pass, even without a mask")
def test_states_gradients(student, draw):
    layers, x, upstream = foreign_layers(draw), words(draw), words(draw)
    encoder = encoder_around(student, layers)
    run = student.gradients(
        student.layer_states, encoder, x, upstream=upstream, output=N
    )
    run.inputs.pop(0)  # drop the encoder, so that x is the first
    expect_gradients(run, lambda x: through(layers, x, None), [x], upstream)


@check("layer-states", share=1, title="Any sizes; a stack of one layer, and of three")
def test_states_of_other_stacks(student, draw):
    layers, x, mask = foreign_layers(draw), words(draw), draw.mask(B, 1, 1, S)
    for some in (layers[:1], layers[:3]):
        encoder = encoder_around(student, some)
        states = listed(student.layer_states(encoder, x, mask))
        wanted = states_of(some, x, mask)
        if len(states) != len(wanted):
            fail(
                Phrase(
                    "{n} layers have {states} states, not {count}.",
                    len(some),
                    len(wanted),
                    len(states),
                )
            )
        for number, want in enumerate(wanted):
            what = Phrase("State {number} of a stack of {n}", number, len(some))
            expect_close(states[number], want, what)
    for case in every_source(draw):
        with blame(SOME_SIZES, lambda: test_states_values(student, draw)):
            expect_states_of_size(student, draw, case)


def expect_states_of_size(student, draw, case: Varied) -> None:
    """Compare all states of a stack, in evaluation and in training."""
    x, mask = case.inputs[0].double(), case.inputs[1]
    layers = foreign_layers(draw, **sizes_of(case.sizes))
    encoder = encoder_around(student, layers, **sizes_of(case.sizes))
    call = student.layer_states
    if not case.keeps_gradients:
        call = student.load("torch.no_grad")()(call)
    for mode, is_training in (("eval()", False), ("train()", True)):
        encoder.train(is_training)
        states, wanted = listed(call(encoder, x, mask)), states_of(layers, x, mask)
        last = Phrase("State {number}", len(layers))
        whose = Phrase("After {mode}, with {sizes}, {what}", mode, case.words, last)
        for got, want in zip(states[::-1], wanted[::-1], strict=False):
            expect_close(got, want, whose)


@check("layer-states", share=1, title="Each call has its own states")
def test_states_of_each_call(student, draw):
    layers, others = foreign_layers(draw), foreign_layers(draw)
    encoders = [encoder_around(student, some) for some in (layers, others)]
    x, y = (words(draw, B, S + 1, D) for _ in range(2))
    mask = draw.mask(B, 1, 1, S + 1)
    calls = [(encoders[0], x, mask), (encoders[0], y, mask), (encoders[1], y, mask)]

    def last(encoder: Any, x: Tensor, mask: Tensor) -> Tensor:
        return through(layers if encoder is encoders[0] else others, x, mask)

    source = "lambda states: lambda *given: states(*given)[-1]"
    function = student.load("builtins.eval")(source)(student.layer_states)
    expect_each_call_anew(student, function, calls, last, "the last state")


@check(
    "layer-states",
    share=1,
    title="No input changes or moves to another device",
    form=True,
)
def test_states_leave_their_input(student, draw):
    encoder, _ = pair_of(student, draw, reference.Encoder, n_layers=2)
    given = encoder, words(draw), draw.mask(B, 1, 1, S)
    expect_no_traces(student, student.layer_states, *given, still=True)
    encoder.train()  # without dropout, training also draws no random numbers
    expect_no_traces(student, student.layer_states, *given, still=True)
    expect_same_device(student, student.layer_states, *given, what="a state")


# --- drift ------------------------------------------------------------------------


def cosines(states: Sequence[Tensor], others: Sequence[Tensor], dim: int) -> Tensor:
    """Return the stacked cosines between pairs of states."""
    pairs = zip(states, others, strict=True)
    return torch.stack([torch.cosine_similarity(a, b, dim=dim) for a, b in pairs])


def drift_mistakes(states: Sequence[Tensor]) -> Mistakes:
    """Return wrong drifts, keyed by the name of the mistake."""
    start = [states[0]] * len(states)
    right = cosines(states, start, -1)
    stacked = torch.stack(list(states)).double()
    each = 1 - right
    return {
        "the cosine itself; the drift is 1 minus the cosine": right,
        "the drift with its sign flipped": -each,
        "the drift from one layer to the next, not from the first state": (
            1 - cosines(states, [states[0], *states[:-1]], -1)
        ),
        "the drift from the last state, not from the first": (
            1 - cosines(states, [states[-1]] * len(states), -1)
        ),
        "the dot product, not divided by the lengths of the vectors": (
            1 - (stacked * stacked[0]).sum(dim=-1)
        ),
        "the dot product, divided by one of the two lengths": (
            1 - (stacked * stacked[0]).sum(dim=-1) / stacked[0].norm(dim=-1)
        ),
        "the distance between the vectors instead of their angle": (
            (stacked - stacked[0]).norm(dim=-1)
        ),
        "the squared distance between the vectors instead of their angle": (
            (stacked - stacked[0]).square().sum(dim=-1)
        ),
        "the angle itself instead of 1 minus its cosine": (right.clamp(-1, 1).arccos()),
        "one number per state: the mean over batch and tokens": each.mean(dim=(1, 2)),
        "one number per state and sentence: the mean over tokens": each.mean(dim=2),
        "the cosines over the tokens, not over d_model": 1 - cosines(states, start, 1),
        "the cosines over the batch, not over d_model": 1 - cosines(states, start, 0),
        "the drift without the first state": each[1:],
        "the drift of the first three states": each[:3],
        "zeros": torch.zeros_like(each),
        "the states themselves": stacked,
    }


@check("drift", share=1, title="One number per state, sentence and token", form=True)
def test_drift_shape(student, draw):
    states = [words(draw) for _ in range(N + 1)]
    expect_shape(student.drift(states), (N + 1, B, S), "The drift")


@check("drift", share=3, title="1 minus the cosine to the first state")
def test_drift_values(student, draw):
    states = [draw.normal(B, S, D) * (1 + count) for count in range(N + 1)]
    wanted = 1 - cosines(
        [s.double() for s in states], [states[0].double()] * (N + 1), -1
    )
    got = student.drift(states)
    expect_close(got, wanted, "The drift", drift_mistakes(states))


def drift_of(states: Sequence[Tensor]) -> Tensor:
    """Compute the right drift in float64."""
    exact = [state.double() for state in states]
    return 1 - cosines(exact, [exact[0]] * len(exact), -1)


@check("drift", share=1, title="Any sizes; a list or a tuple of any length")
def test_drift_of_few_states(student, draw):
    for count in (2, 1, 9):
        states = tuple(words(draw, 1, S, D) for _ in range(count))
        got, named = student.drift(states), drift_mistakes(states) if count > 1 else {}
        expect_close(
            got, drift_of(states), Phrase("The drift of {count} states", count), named
        )
    source = "lambda drift: lambda states: drift(list(states))"
    expect_every_size(
        student,
        student.load("builtins.eval")(source)(student.drift),
        drift_of,
        varied_inputs(draw, ["n,b,s,d_model"]),
        "the drift",
    )


@check("drift", share=1, title="Vectors of any length; full float64 precision")
def test_drift_of_lengths(student, draw):
    lengths = torch.tensor([1e-3, 1.0, 1e3]).repeat(2)[:S, None]
    states = [(words(draw) * lengths).float() for _ in range(N)]
    got = student.drift(states)
    expect_close(got, drift_of(states), "The drift of long and short vectors")
    first, other = words(draw), words(draw)
    call = of_states(student)
    expect_double(call, lambda *s: drift_of(s), (first, other), "the drift")


def of_states(student) -> Any:
    """Return the student's drift as a function that takes the states as arguments."""
    source = "lambda drift: lambda *states: drift(list(states))"
    return student.load("builtins.eval")(source)(student.drift)


@check("drift", share=1, title="Each call has its own result")
def test_drift_of_each_call(student, draw):
    calls = [([words(draw, B, S + 1, D) for _ in range(3)],) for _ in range(3)]
    expect_each_call_anew(student, student.drift, calls, drift_of, "the drift")


@check("drift", share=1, title="No state changes or moves to another device", form=True)
def test_drift_leaves_its_input(student, draw):
    states = [words(draw, S, B, D).transpose(0, 1) for _ in range(N)]
    expect_no_traces(student, student.drift, states, still=True)
    expect_same_device(student, student.drift, states, what="the drift")


# --- mask_words -------------------------------------------------------------------

ROWS, COLUMNS, WORDS, SHARE = 200, 240, 20, 0.3
RULE = 0.8, 0.1, 0.1  # shares of chosen words that are hidden, replaced, unchanged
OTHER_RULES = {
    "only hidden words: no replaced and no unchanged words": (1.0, 0.0, 0.0),
    "no words that stay unchanged": (0.8, 0.2, 0.0),
    "no words replaced by other words": (0.8, 0.0, 0.2),
    "words that are never hidden": (0.0, 0.1, 0.9),
    "80 % replaced words, and 10 % hidden": (0.1, 0.8, 0.1),
    "80 % unchanged words, and 10 % hidden": (0.1, 0.1, 0.8),
    "10 % of the words that are not hidden, instead of 10 % of the chosen words": (
        0.8,
        0.02,
        0.18,
    ),
    "90 % of the chosen words hidden": (0.9, 0.1, 0.0),
    "half of the chosen words hidden": (0.5, 0.25, 0.25),
}


@dataclass(frozen=True)
class Masked:
    """Hold sentences, and the results of the student's code for them."""

    ids: Tensor
    mask_id: int
    read: Tensor
    asked: Tensor

    @property
    def chosen(self) -> Tensor:
        """Return the positions that the model must predict."""
        return self.asked != NOT_ASKED

    @property
    def fates(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the chosen positions that are hidden, replaced and unchanged."""
        hidden, kept = self.read == self.mask_id, self.read == self.ids
        return (
            self.chosen & hidden,
            self.chosen & ~hidden & ~kept,
            self.chosen & kept,
        )


def padded_sentences(draw, b: int = ROWS, t: int = COLUMNS, words: int = WORDS):
    """Draw sentences with special tokens at random positions."""
    ids = draw.ids(b, t, low=N_SPECIAL, high=N_SPECIAL + words)
    special = draw.ids(b, t, low=0, high=N_SPECIAL)
    return torch.where(draw.uniform(b, t) < 0.1, special, ids)


def masked(
    student, draw, share: float = SHARE, words: int = WORDS, **arguments
) -> Masked:
    """Call the student's mask_words on many sentences."""
    ids, mask_id = padded_sentences(draw, words=words), N_SPECIAL + words
    result = student.mask_words(ids, mask_id, share, **arguments)
    if not isinstance(result, (tuple, list)) or len(result) != 2:
        fail(
            Phrase(
                "mask_words should return two tensors, the model's input and its "
                "targets, not {found}.",
                describe(result),
            ),
            mistake="a different number of results",
        )
    for part, what in zip(result, ("the model's input", "the targets"), strict=True):
        expect_shape(part, tuple(ids.shape), what)
    return Masked(ids, mask_id, *result)


@check("mask-words", share=1, title="Two tensors (b, s) of word ids", form=True)
def test_masked_shapes(student, draw):
    found = masked(student, draw)
    expect_dtype(found.read, torch.int64, "the model's input")
    expect_dtype(found.asked, torch.int64, "the targets")


@check(
    "mask-words",
    share=2,
    title="The targets are the original words; other words do not change",
)
def test_masked_places(student, draw):
    found = masked(student, draw)
    expect_asked_words(found)
    if not torch.equal(found.read[~found.chosen], found.ids[~found.chosen]):
        fail(
            "You changed words that are not targets: every chosen word is a "
            "target, whether it is hidden, replaced or unchanged.",
            mistake="changed words that are not targets",
        )
    for n in orders_of(("b", "s", "n_words")).values():
        with blame(SOME_SIZES, lambda: expect_asked_words(masked(student, draw))):
            expect_all_or_nothing(student, draw, n)


def expect_all_or_nothing(student, draw, n: dict[str, int]) -> None:
    """Fail unless a share of 1 chooses all words, and a share of 0 chooses none."""
    words = n["n_words"] + 1  # so that a word can become another one
    ids, mask_id = padded_sentences(draw, n["b"], n["s"], words), N_SPECIAL + words
    ids[-1, 0] = N_SPECIAL + words - 1  # the last word
    ids[:-1, 0] = 0  # a sentence of one token may have no word
    every = ids.masked_fill(ids < N_SPECIAL, NOT_ASKED)
    for share, want in ((1.0, every), (0.0, torch.full_like(ids, NOT_ASKED))):
        read, asked = student.mask_words(ids, mask_id, share)
        expect_equal(asked, want, "the targets")
        same = want == NOT_ASKED
        expect_equal(read[same], ids[same], "the model's input")


def expect_asked_words(found: Masked) -> None:
    """Fail unless all targets are original words, and none is a special token."""
    ids, chosen, special = found.ids, found.chosen, found.ids < N_SPECIAL
    if torch.equal(found.asked[~special], ids[~special]):
        fail(
            "All words are targets, but words that are not chosen should get "
            "NOT_ASKED.",
            mistake="all words as targets, whether chosen or not",
        )
    if bool((chosen & special).any()):
        fail(
            "Your targets include special tokens: never choose ids below 4, and mark "
            "them with NOT_ASKED, like all ids that are not chosen.",
            mistake="special tokens as targets",
        )
    if not bool(chosen.any()):
        fail("No word is a target.", mistake="no word as a target")
    if not torch.equal(found.asked[chosen], ids[chosen]):
        left = torch.equal(found.asked[chosen], found.read[chosen])
        fail(
            "The targets are not the original words.",
            mistake="the model's input used as the targets" if left else None,
        )


@check("mask-words", share=2, title="A share of the words, each chosen independently")
def test_masked_share(student, draw):
    found = masked(student, draw)
    expect_asked_words(found)
    words = found.ids >= N_SPECIAL
    expect_each_for_itself(found.chosen, words, "chosen")
    share, bound = mean(found.chosen[words]), slack(int(words.sum()))
    named = {
        "the share of words that should not be chosen": 1 - SHARE,
        "15 % of the words, regardless of the share": 0.15,
        "80 % of the share": 0.8 * SHARE,
        "90 % of the share": 0.9 * SHARE,
    }
    if abs(share - SHARE) > bound:
        mistake = next((p for p, s in named.items() if abs(share - s) <= bound), None)
        whose = Phrase(
            "With share={p}, you choose {share} of the words.", SHARE, f"{share:.1%}"
        )
        fail(whose, mistake)
    none, every = (masked(student, draw, share=share) for share in (0.0, 1.0))
    if bool(none.chosen.any()) or not torch.equal(none.read, none.ids):
        fail(
            "With share=0, you still choose words.", mistake="words chosen with share=0"
        )
    if not torch.equal(every.chosen, every.ids >= N_SPECIAL):
        fail("With share=1, you do not choose all words.")


def mean(places: Tensor) -> float:
    """Return the share of True values."""
    return float(places.double().mean())


def expect_each_for_itself(hit: Tensor, places: Tensor, what: str) -> None:
    """Fail if each row, or each column, has one outcome but the batch has both."""
    if bool(hit[places].all()) or not bool(hit[places].any()):
        return
    for axis, name in ((1, "sentence"), (0, "column")):
        mixed = (hit & places).any(axis) & (~hit & places).any(axis)
        if not bool(mixed.any()):
            fail(
                Phrase(
                    "In each {name}, either all words or none are {what}: decide at "
                    "random for every word independently.",
                    name,
                    what,
                ),
                mistake=Phrase("one draw for a whole {name}", name),
            )


@check(
    "mask-words",
    share=2,
    title="Of the chosen words, 80 % hidden, 10 % replaced, 10 % unchanged",
)
def test_masked_fates(student, draw):
    found = masked(student, draw)
    expect_asked_words(found)
    for fate, what in zip(
        found.fates, ("hidden", "replaced", "unchanged"), strict=True
    ):
        expect_each_for_itself(fate, found.chosen, what)
    shares = [mean(fate[found.chosen]) for fate in found.fates]
    bound = slack(int(found.chosen.sum()))

    def distance(rule: tuple[float, float, float]) -> float:
        apart = max(abs(s - r) for s, r in zip(shares, rule, strict=True))
        return apart - rule[1] / WORDS  # a random new word may equal the old one

    if distance(RULE) > bound:
        nearest = min(OTHER_RULES, key=lambda words: distance(OTHER_RULES[words]))
        mistake = nearest if distance(OTHER_RULES[nearest]) <= bound else None
        hidden, other, kept = (f"{share:.0%}" for share in shares)
        fail(
            Phrase(
                "Of the chosen words, {hidden} are hidden, {other} are replaced "
                "and {kept} are unchanged.",
                hidden,
                other,
                kept,
            ),
            mistake,
        )


@check(
    "mask-words", share=1, title="Replacements can be any word, but no special token"
)
def test_masked_others(student, draw):
    found = masked(student, draw)
    expect_asked_words(found)
    other = found.fates[1]
    drawn, wanted = found.read[other], range(N_SPECIAL, found.mask_id)
    if bool((drawn < N_SPECIAL).any()):
        fail(
            "Special tokens are used as replacements for words.",
            mistake="special tokens as replacements",
        )
    if bool((drawn > found.mask_id).any()):
        fail("There are ids above mask_id, which is the last id.")
    if set(drawn.tolist()) != set(wanted):
        first = bool((drawn == drawn[:1]).all()) and bool(drawn.numel())
        fail(
            "Some words are never drawn as replacements.",
            mistake="one replacement word for all"
            if first
            else "some words never drawn",
        )
    expect_each_for_itself(
        other & (found.read == found.mask_id - 1), other, "the same word"
    )
    expect_hidden_share_of_few_words(masked(student, draw, share=0.9, words=2))


def expect_hidden_share_of_few_words(found: Masked) -> None:
    """Fail if `mask_id` is drawn as a replacement.

    With two words in the vocabulary, it would be every third replacement.
    """
    expect_each_for_itself(found.fates[0], found.chosen, "hidden")
    hidden, bound = mean(found.fates[0][found.chosen]), slack(int(found.chosen.sum()))
    if abs(hidden - RULE[0]) > bound:
        more = abs(hidden - (RULE[0] + RULE[1] / 3)) <= bound
        fail(
            Phrase(
                "With a vocabulary of two words, you hide {share} of the chosen words.",
                f"{hidden:.1%}",
            ),
            mistake="`mask_id` drawn as a replacement word" if more else None,
        )


TWICE = """
lambda f: lambda seed, ids, *given: (
    lambda chance: [f(ids, *given, generator=chance)[0] for _ in range(2)]
)(__import__("torch").Generator(ids.device).manual_seed(seed))
"""


@check("mask-words", share=1, title="Randomness comes only from the generator")
def test_masked_generator(student, draw):
    ids = padded_sentences(draw, 7, 31)
    twice = student.load("builtins.eval")(TWICE)(student.mask_words)
    given = ids, N_SPECIAL + WORDS, 0.5
    first, second = expect_no_traces(student, twice, 3, *given, still=True)
    again, _ = twice(3, *given)
    other, _ = twice(4, *given)
    if not torch.equal(first, again):
        fail(
            "Two generators with the same seed hide different words.",
            mistake="randomness that does not come from the generator",
        )
    if torch.equal(first, other) or torch.equal(first, second):
        fail(
            "A generator with a different seed, or in a second call, hides the "
            "same words.",
            mistake=SAME_DRAWS,
        )
    expect_asked_words(masked(student, draw))


@check(
    "mask-words", share=1, title="Each call draws new numbers, even without a generator"
)
def test_masked_of_each_call(student, draw):
    expect_asked_words(masked(student, draw, share=0.5))
    given = padded_sentences(draw, 9, 33), N_SPECIAL + WORDS, 0.5
    expect_no_seed(student, student.mask_words, *given, part=0, draws=True)
    expect_no_seed(student, student.mask_words, *given, part=1, draws=True)
    others = (padded_sentences(draw, 9, 33), *given[1:])
    results = student.calls_in_turn(student.mask_words, given, others)
    for (ids, *_), (result, _) in zip((given, others), results, strict=True):
        expect_asked_words(Masked(ids, given[1], *result))
    again = student.calls_in_turn(student.mask_words, *[given] * 6)
    numbers = {int((asked != NOT_ASKED).sum()) for (_, asked), _ in again}
    if len(numbers) == 1:
        fail(
            Phrase(
                "Six calls with the same sentences choose {n} words each: decide "
                "at random for every word independently.",
                *numbers,
            ),
            mistake="a fixed number of words from each batch",
        )


@check("mask-words", share=1, title="The ids and their device stay the same", form=True)
def test_masked_leaves_its_input(student, draw):
    given = padded_sentences(draw, 5, 11), N_SPECIAL + WORDS, 0.5
    expect_no_traces(student, student.mask_words, *given)
    expect_same_device(student, student.mask_words, *given, what="a result")

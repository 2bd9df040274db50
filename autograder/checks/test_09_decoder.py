"""Hidden checks of unit 09: layer, decoder, average weights, and a language model."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, Generic, TypeVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.checking.behaviour import (
    blame,
    expect_dtype,
    expect_gradients,
    expect_own_layers,
    expect_parts,
)
from autograder.checking.expect import (
    check,
    expect_close,
    expect_shape,
    fail,
)
from autograder.checking.generic_checks import (
    KEPT,
    ONE_BUFFER,
    expect_each_call_anew,
    expect_no_seed,
    expect_no_traces,
    expect_same_device,
)
from autograder.checking.kinds_of_inputs import (
    close_rows,
    expect_every_mask,
    masks_of_every_kind,
)
from autograder.checking.varied_inputs import (
    SOME_SIZES,
    expect_every_size,
    expect_modules_of_every_size,
    orders_of,
    varied_inputs,
)
from autograder.phrases import Phrase, series
from transformer import decoder as reference
from transformer.config import TransformerConfig
from transformer.feed_forward import AddNorm
from transformer.masks import causal_mask, target_mask
from transformer.multi_head import MultiHeadAttention
from transformer.one_stack.language_model import LanguageModel

B, H, T, S, D, N = 3, 2, 5, 7, 16, 4
SIZES: dict[str, Any] = {"src_vocab_size": 20, "tgt_vocab_size": 21}
SIZES |= {"d_model": D, "n_heads": H}
SIZES |= {"n_layers": N, "d_ff": 22, "dropout": 0.0}
CONFIG = "transformer.config.TransformerConfig"
NEARLY_ALL = 1 - 2**-53  # dropout rate; a configuration accepts only rates below 1


Trusted = TypeVar("Trusted", bound=nn.Module)


@dataclass(frozen=True)
class Twins(Generic[Trusted]):
    """The student's module and the reference, with the same random weights."""

    student: Any
    trusted: Trusted


@dataclass(frozen=True)
class Inputs:
    """The inputs of a decoder: sources of length 4, 6 and 1, targets of 3, 4 and 2."""

    x: Tensor
    memory: Tensor
    tgt_mask: Tensor
    src_mask: Tensor

    @property
    def all(self) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return the four arguments in order."""
        return self.x, self.memory, self.tgt_mask, self.src_mask


def drawn_state(draw, module: nn.Module) -> dict[str, Tensor]:
    """Draw weights that make every layer's output depend on its input."""
    shapes = {name: tuple(p.shape) for name, p in module.state_dict().items()}
    return {
        name: 1 + 0.5 * value if "norm" in name and "weight" in name else 0.4 * value
        for name, value in draw.state(shapes).items()
    }


def twins(student, draw, kind: type[Trusted], **changes) -> Twins[Trusted]:
    """Build the student's module and the reference, with the same random weights."""
    options = SIZES | changes
    trusted = kind(TransformerConfig(**options))
    state = drawn_state(draw, trusted)
    trusted.load_state_dict(state)
    theirs = student[kind.__name__](student.load(CONFIG)(**options))
    theirs.load_state_dict(state)
    theirs.double().eval()
    return Twins(theirs, trusted.double().eval())


def expect_modules(student, draw, make: Callable[..., Twins[Any]]) -> None:
    """Fail unless modules of every size are right, post-norm and pre-norm.

    Args:
        student: the fixture.
        draw: the fixture.
        make: makes the modules with changes to the configuration.
    """
    for norm_first in (False, True):

        def sized(n: Mapping[str, int], first=norm_first) -> tuple[Any, nn.Module]:
            sizes = {"d_model": n["h"] * n["d_k"], "n_heads": n["h"], "d_ff": n["d_ff"]}
            sizes["n_layers"] = min(n["layers"], N + 1)
            pair = make(student, draw, norm_first=first, **sizes)
            return pair.student, pair.trusted

        expect_modules_of_every_size(
            student,
            sized,
            varied_inputs(
                draw,
                ["b,t,h*d_k", "b,s,h*d_k"],
                masks=["b,1,t,t", "b,1,t,s"],
                large=9.0,
                others=["d_ff", "layers"],
            ),
            draw,
            "x",
            part=0,
        )


def inputs(draw) -> Inputs:
    """Draw a batch of sentences of different lengths."""
    src_lengths, tgt_lengths = torch.tensor([4, 6, 1]), torch.tensor([3, 4, 2])
    src_mask = (torch.arange(S) < src_lengths[:, None])[:, None, None, :]
    tgt_padding = (torch.arange(T) < tgt_lengths[:, None])[:, None, None, :]
    return Inputs(
        draw.normal(B, T, D, dtype=torch.float64),
        draw.normal(B, S, D, dtype=torch.float64),
        tgt_padding & causal_mask(T),
        src_mask,
    )


def run_layer(layer, given: Inputs) -> tuple[Tensor, Tensor]:
    """Call a student's layer, and fail unless it returns a pair."""
    what = "two things, x and the weights"
    x, weights = expect_parts(layer(*given.all), 2, what)
    return x, weights


def expect_layer(pair: Twins[reference.DecoderLayer], given: Inputs) -> None:
    """Compare the output of the student's layer with the right output."""
    x, _ = run_layer(pair.student, given)
    want, _ = pair.trusted(*given.all)
    named = outputs_of(layer_mistakes(pair.trusted, given), 0)
    expect_close(x, want, "x", mistakes=named)


def post_norm(add_norm: AddNorm, x: Tensor, output: Tensor) -> Tensor:
    """Add the residual and normalise, in the paper's order."""
    return add_norm.norm(x + output)


Run = Callable[[], tuple[Tensor, Tensor]]  # returns output and weights


@dataclass(frozen=True)
class Steps:
    """The three steps of a post-norm layer, each with its own mask and normalisation.

    Attributes:
        layer: the reference layer.
        given: the input of the layer.
        self_mask: the mask of the first step.
        cross_mask: the mask of the second step.
        self_attention: the attention of the first step.
        cross_attention: the attention of the second step.
        norms: a normalisation for each step.
        skip: whether to leave out the residual connections.
        returns: the attention whose weights the layer returns: "cross" or "self".
    """

    layer: reference.DecoderLayer
    given: Inputs
    self_mask: Tensor | None
    cross_mask: Tensor | None
    self_attention: MultiHeadAttention
    cross_attention: MultiHeadAttention
    norms: tuple[AddNorm, AddNorm, AddNorm]
    skip: bool = False
    returns: str = "cross"

    def run(self) -> tuple[Tensor, Tensor]:
        """Return the layer's output and weights."""
        x, memory = self.given.all[:2]
        attended, self_weights = self.self_attention(x, x, x, self.self_mask)
        y = self.add(0, x, attended)
        looked_up, weights = self.cross_attention(y, memory, memory, self.cross_mask)
        y = self.add(1, y, looked_up)
        y = self.add(2, y, self.layer.feed_forward(y))
        return y, weights if self.returns == "cross" else self_weights

    def add(self, number: int, y: Tensor, output: Tensor) -> Tensor:
        """Add the residual to a step's output, and normalise."""
        norm = self.norms[number]
        return norm.norm(output) if self.skip else post_norm(norm, y, output)


def right_steps(layer: reference.DecoderLayer, given: Inputs) -> Steps:
    """Return the steps of a correct layer."""
    attentions = layer.self_attention, layer.cross_attention
    norms = layer.add_norm1, layer.add_norm2, layer.add_norm3
    return Steps(layer, given, given.tgt_mask, given.src_mask, *attentions, norms)


def layer_mistakes(layer: reference.DecoderLayer, given: Inputs) -> dict[str, Run]:
    """Return wrong results of a layer, keyed by the name of the mistake."""
    right = right_steps(layer, given)
    once = (layer.add_norm1, layer.add_norm1, layer.add_norm1)

    def but(**changes: Any) -> Run:
        return replace(right, **changes).run

    return {
        "a layer whose self-attention has no mask": but(self_mask=None),
        "a layer whose cross-attention has no mask": but(cross_mask=None),
        "a layer without residual connections": but(skip=True),
        "a layer that uses one normalisation three times": but(norms=once),
        "a layer that uses one normalisation three times, and whose cross-attention "
        "has no mask": but(norms=once, cross_mask=None),
        "a layer that uses its self-attention for both attentions": but(
            cross_attention=layer.self_attention
        ),
        "a layer that uses its cross-attention for both attentions": but(
            self_attention=layer.cross_attention
        ),
        **order_mistakes(layer, given),
        **mask_mistakes(but, given),
        "x unchanged": lambda: (given.x, given.x),
        "zeros": lambda: (torch.zeros_like(given.x), torch.zeros(B, H, T, T)),
        "a layer that returns the self-attention's weights": but(returns="self"),
    }


def mask_mistakes(but: Callable[..., Run], given: Inputs) -> dict[str, Run]:
    """Return results with a mask in the wrong attention, keyed by name.

    Most of these masks fit only if t = s.
    """
    tgt_mask, src_mask = given.tgt_mask, given.src_mask
    return {
        "a layer with its two masks swapped": but(
            self_mask=src_mask, cross_mask=tgt_mask
        ),
        "a layer whose cross-attention has the target's mask": but(cross_mask=tgt_mask),
        "a layer whose cross-attention has both masks": lambda: but(
            cross_mask=tgt_mask & src_mask
        )(),
        "a layer whose self-attention has the source's mask": but(self_mask=src_mask),
        "a layer whose self-attention has both masks": lambda: but(
            self_mask=tgt_mask & src_mask
        )(),
    }


def order_mistakes(layer: reference.DecoderLayer, given: Inputs) -> dict[str, Run]:
    """Return results of misplaced or badly connected sub-layers, keyed by name."""
    x, memory, tgt_mask, src_mask = given.all
    n1, n2, n3 = layer.add_norm1, layer.add_norm2, layer.add_norm3
    feed_forward = layer.feed_forward

    def swapped() -> tuple[Tensor, Tensor]:
        y = post_norm(n1, x, layer.self_attention(x, x, x, tgt_mask)[0])
        looked_up, weights = layer.cross_attention(memory, y, y)
        y = post_norm(n2, y, looked_up)
        return post_norm(n3, y, feed_forward(y)), weights

    def in_order(order: Sequence[int], norms: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Apply the sub-layers 0, 1 and 2 in another order, each with one norm."""
        y, weights = x, x
        for part, norm in zip(order, norms, strict=True):
            output = feed_forward(y)
            if part == 0:
                output = layer.self_attention(y, y, y, tgt_mask)[0]
            elif part == 1:
                output, weights = layer.cross_attention(y, memory, memory, src_mask)
            y = post_norm((n1, n2, n3)[norm], y, output)
        return y, weights

    return {
        "a layer whose cross-attention swaps query and key": swapped,
        "a layer that applies cross-attention before self-attention": partial(
            in_order, (1, 0, 2), (0, 1, 2)
        ),
        "a layer that applies cross-attention, with its own normalisation, before "
        "self-attention": partial(in_order, (1, 0, 2), (1, 0, 2)),
        "a layer whose feed-forward layer comes first": partial(
            in_order, (2, 0, 1), (0, 1, 2)
        ),
        "a layer whose feed-forward layer, with its own normalisation, comes "
        "first": partial(in_order, (2, 0, 1), (2, 0, 1)),
        "a layer whose feed-forward layer comes between the two attentions": partial(
            in_order, (0, 2, 1), (0, 1, 2)
        ),
        "a layer whose feed-forward layer, with its own normalisation, comes between "
        "the two attentions": partial(in_order, (0, 2, 1), (0, 2, 1)),
        "a layer that normalises before each sub-layer (pre-norm)": partial(
            pre_norm_layer, layer, given
        ),
        **source_mistakes(layer, given),
    }


def source_mistakes(layer: reference.DecoderLayer, given: Inputs) -> dict[str, Run]:
    """Return results with a mistake in or around cross-attention, keyed by name."""
    x, memory, tgt_mask, src_mask = given.all
    n1, n2, n3 = layer.add_norm1, layer.add_norm2, layer.add_norm3
    feed_forward = layer.feed_forward

    def stale_query() -> tuple[Tensor, Tensor]:
        y = post_norm(n1, x, layer.self_attention(x, x, x, tgt_mask)[0])
        looked_up, weights = layer.cross_attention(x, memory, memory, src_mask)
        y = post_norm(n2, y, looked_up)
        return post_norm(n3, y, feed_forward(y)), weights

    def from_the_start() -> tuple[Tensor, Tensor]:
        y = post_norm(n1, x, layer.self_attention(x, x, x, tgt_mask)[0])
        looked_up, weights = layer.cross_attention(y, memory, memory, src_mask)
        y = post_norm(n2, x, looked_up)
        return post_norm(n3, x, feed_forward(y)), weights

    def without_source(normed: bool) -> tuple[Tensor, Tensor]:
        y = post_norm(n1, x, layer.self_attention(x, x, x, tgt_mask)[0])
        _, weights = layer.cross_attention(y, memory, memory, src_mask)
        y = n2.norm(y) if normed else y
        return post_norm(n3, y, feed_forward(y)), weights

    return {
        "a layer without cross-attention": partial(without_source, False),
        "a layer that skips cross-attention but applies its norm": partial(
            without_source, True
        ),
        "a layer whose residual connections all start from the layer's input": (
            from_the_start
        ),
        "a layer whose cross-attention computes its queries from the "
        "layer's input": stale_query,
    }


def pre_norm_layer(
    layer: reference.DecoderLayer, given: Inputs
) -> tuple[Tensor, Tensor]:
    """Run the layer's parts in pre-norm order."""
    x, memory, tgt_mask, src_mask = given.all
    z = layer.add_norm1.norm(x)
    y = x + layer.self_attention(z, z, z, tgt_mask)[0]
    z = layer.add_norm2.norm(y)
    looked_up, weights = layer.cross_attention(z, memory, memory, src_mask)
    y = y + looked_up
    return y + layer.feed_forward(layer.add_norm3.norm(y)), weights


HANDED = "must use its argument, which pre-norm normalises"


def pre_norm_mistakes(
    layer: reference.DecoderLayer, given: Inputs
) -> dict[str, Callable[[], Tensor]]:
    """Return wrong outputs of a pre-norm layer, keyed by the name of the mistake."""
    x, memory, tgt_mask, src_mask = given.all
    n1, n2, n3 = (a.norm for a in (layer.add_norm1, layer.add_norm2, layer.add_norm3))

    def by_steps(
        own=(n1, n2, n3), self_mask=tgt_mask, cross_mask=src_mask, keys=n1
    ) -> Tensor:
        z, source = own[0](x), keys(x)
        y = x + layer.self_attention(z, source, source, self_mask)[0]
        z = own[1](y)
        y = y + layer.cross_attention(z, memory, memory, cross_mask)[0]
        return y + layer.feed_forward(own[2](y))

    return {
        "a layer that always normalises after the sub-layer": lambda: post_norm_layer(
            layer, given
        ),
        "a layer whose cross-attention has no mask": lambda: by_steps(cross_mask=None),
        "a layer whose self-attention has no mask": lambda: by_steps(self_mask=None),
        "a layer that uses one normalisation three times": lambda: by_steps(
            (n1, n1, n1)
        ),
        "a layer that uses one normalisation three times, and whose cross-attention "
        "has no mask": lambda: by_steps((n1, n1, n1), cross_mask=None),
        **handed_mistakes(by_steps, (n1, n2, n3)),
    }


def handed_mistakes(
    by_steps: Callable[..., Tensor], norms: Sequence[nn.Module]
) -> dict[str, Callable[[], Tensor]]:
    """Return results of pre-norm layers in which a sub-layer reads x unnormalised."""
    n1, n2, n3 = norms
    raw = nn.Identity()
    return {
        Phrase("a layer whose functions use x: each {handed}", HANDED): lambda: (
            by_steps((raw, raw, raw), keys=raw)
        ),
        Phrase("a layer whose attentions use x: each {handed}", HANDED): lambda: (
            by_steps((raw, raw, n3), keys=raw)
        ),
        Phrase("a layer whose self-attention uses x: it {handed}", HANDED): lambda: (
            by_steps((raw, n2, n3), keys=raw)
        ),
        Phrase(
            "a layer whose self-attention uses x as keys: it {handed}", HANDED
        ): lambda: by_steps(keys=raw),
        Phrase("a layer whose cross-attention uses x: it {handed}", HANDED): lambda: (
            by_steps((n1, raw, n3))
        ),
        Phrase(
            "a layer whose feed-forward layer uses x: it {handed}", HANDED
        ): lambda: by_steps((n1, n2, raw)),
    }


def post_norm_layer(layer: reference.DecoderLayer, given: Inputs) -> Tensor:
    """Run the layer's parts in post-norm order."""
    x, memory, tgt_mask, src_mask = given.all
    x = post_norm(layer.add_norm1, x, layer.self_attention(x, x, x, tgt_mask)[0])
    looked_up, _ = layer.cross_attention(x, memory, memory, src_mask)
    x = post_norm(layer.add_norm2, x, looked_up)
    return post_norm(layer.add_norm3, x, layer.feed_forward(x))


def outputs_of(named: Mapping[str, Run], index: int) -> dict[str, Callable[[], Tensor]]:
    """Return only the outputs or only the weights of wrong results."""

    def part_of(run: Run) -> Callable[[], Tensor]:
        return lambda: run()[index]

    return {phrase: part_of(run) for phrase, run in named.items()}


# --- DecoderLayer.forward ---------------------------------------------------------


@check(
    "decoder-layer",
    share=1,
    title="Output (b, t, d_model), weights (b, h, t, s)",
    form=True,
)
def test_layer_shapes(student, draw):
    layer = twins(student, draw, reference.DecoderLayer).student
    x, weights = run_layer(layer, inputs(draw))
    expect_shape(x, (B, T, D), "x")
    expect_shape(weights, (B, H, T, S), "the tensor of weights")


@check("decoder-layer", share=4, title="Right values with both masks")
def test_layer_values(student, draw):
    expect_layer(twins(student, draw, reference.DecoderLayer), inputs(draw))


@check("decoder-layer", share=2, title="The cross-attention's weights, even with t = s")
def test_layer_weights(student, draw):
    pair, given = twins(student, draw, reference.DecoderLayer), inputs(draw)
    square = Inputs(
        given.x, given.memory[:, :T], given.tgt_mask, given.src_mask[..., :T]
    )
    x, weights = run_layer(pair.student, square)
    want_x, want = pair.trusted(*square.all)
    mistakes = layer_mistakes(pair.trusted, square)
    expect_close(x, want_x, "x", outputs_of(mistakes, 0))
    named = outputs_of(mistakes, 1)
    early = named.pop(
        "a layer whose cross-attention computes its queries from the layer's input"
    )
    del named[
        "a layer that applies cross-attention before self-attention"
    ]  # with the same weights
    named["a layer whose cross-attention runs before the self-attention"] = early
    expect_close(weights, want, "the tensor of weights", mistakes=named)


@check("decoder-layer", share=1, title="The same layer with pre-norm (norm_first)")
def test_layer_pre_norm(student, draw):
    pair = twins(student, draw, reference.DecoderLayer, norm_first=True)
    given = inputs(draw)
    x, _ = run_layer(pair.student, given)
    want, _ = pair.trusted(*given.all)
    named = pre_norm_mistakes(pair.trusted, given)
    expect_close(x, want, "x", mistakes=named)


@check(
    "decoder-layer", share=1, title="Without a mask, every query attends to every key"
)
def test_layer_without_masks(student, draw):
    pair, given = twins(student, draw, reference.DecoderLayer), inputs(draw)
    usual = partial(expect_layer, pair, given)
    expect_masks_optional(pair, given, "two things, x and the weights", usual)


def expect_masks_optional(
    pair: Twins[Any], given: Inputs, parts: str, usual: Callable[[], None] | None = None
) -> None:
    """Fail unless a module works without masks, and with one of them."""
    x, memory, tgt_mask, src_mask = given.all
    for masks in ((), (tgt_mask,), (None, src_mask)):
        with blame(
            "code that needs a mask, although both masks are None by default", usual
        ):
            result = pair.student(x, memory, *masks)
            got, _ = expect_parts(result, 2, parts)
            want, _ = pair.trusted(x, memory, *masks)
            what = "x with only one mask" if masks else "x without masks"
            expect_close(got, want, what)


@check(
    "decoder-layer",
    share=1,
    title="A later word does not change earlier results",
    form=True,
)
def test_layer_is_causal(student, draw):
    layer, given = twins(student, draw, reference.DecoderLayer).student, inputs(draw)
    before, _ = run_layer(layer, given)
    later = given.x.clone()
    later[:, 2:] = draw.normal(B, T - 2, D)
    after, _ = run_layer(
        layer, Inputs(later, given.memory, given.tgt_mask, given.src_mask)
    )
    expect_shape(after, (B, T, D), "x")
    if not torch.allclose(before[:, :2], after[:, :2], atol=1e-5):
        fail(
            "If we change the target's words from the third on, earlier outputs "
            "change: information gets past the target's mask.",
            mistake="information that gets past the target's mask",
        )
    if torch.allclose(before[:, 2:], after[:, 2:], atol=1e-5):
        fail("If we change the target's words from the third on, nothing changes.")


def expect_reached(gradients: dict[str, Tensor | None], of: str) -> None:
    """Fail if a gradient is missing or 0."""
    for name, gradient in gradients.items():
        silent = gradient is None or not gradient.any()
        if silent and "w_k.bias" not in name:  # the softmax cancels the keys' bias
            fail(
                Phrase("No gradient of {of} reaches {name}.", of, name),
                mistake="the gradient is cut off",
            )


@check("decoder-layer", share=1, title="Gradients reach every weight and the inputs")
def test_layer_gradients(student, draw):
    pair, given = twins(student, draw, reference.DecoderLayer), inputs(draw)
    upstream = draw.normal(B, T, D)
    pair.student.train()  # where gradients count; its dropout is 0
    run = student.gradients(pair.student, *given.all, upstream=upstream)
    reached = {"x": run.inputs[0], "the memory": run.inputs[1]} | run.parameters
    expect_reached(reached, "the layer's output")
    upstream = draw.normal(B, H, T, S)
    run = student.gradients(pair.student, *given.all, upstream=upstream, output=1)
    expect_reached({"x": run.inputs[0]}, "the layer's weights")


@check("decoder-layer", share=1, title="Any sizes, and masks of any shape")
def test_layer_with_every_mask(student, draw):
    pair, given = twins(student, draw, reference.DecoderLayer), inputs(draw)
    for place, keys in (("tgt_mask", T), ("src_mask", S)):
        masks = masks_of_every_kind(draw, B, H, T, keys)
        one_for_all = masks["(1, 1, t, s), one mask for all sentences"].repeat(
            B, 1, 1, 1
        )
        masks["(b, 1, t, s), with a query that may attend to no key"] = close_rows(
            one_for_all
        )

        own = partial(output_under, pair.student, given.all, place)
        right = partial(output_under, pair.trusted, given.all, place)
        expect_every_mask(
            own, right, masks, Phrase("x with this mask as {place}", place)
        )
    expect_modules(student, draw, partial(twins, kind=reference.DecoderLayer))


def output_under(layer: Any, given: Sequence[Tensor], place: str, mask: Tensor) -> Any:
    """Call a layer with one of its masks replaced, and return the output x."""
    x, memory, tgt_mask, src_mask = given
    masks = {"tgt_mask": tgt_mask, "src_mask": src_mask} | {place: mask}
    result = layer(x, memory, masks["tgt_mask"], masks["src_mask"])
    return expect_parts(result, 2, "two things, x and the weights")[0]


@check(
    "decoder-layer",
    share=1,
    title="Each call has its own results and its own random draws",
)
def test_layer_of_each_call(student, draw):
    expect_calls_anew(student, draw, twins(student, draw, reference.DecoderLayer))
    layer = twins(student, draw, reference.DecoderLayer, dropout=0.3).student
    layer.train()
    expect_no_seed(student, layer, *inputs(draw).all, part=0, draws=True)


def expect_calls_anew(student, draw, pair: Twins[Any]) -> None:
    """Fail if a result of an earlier call is returned for other inputs.

    Only this check uses a batch of this size, so nothing is stored from other checks.
    """
    first, second = (
        tuple(torch.cat([one, one[:1]]) for one in inputs(draw).all) for _ in range(2)
    )
    x, memory, tgt_mask, src_mask = second
    tgt_mask, src_mask = tgt_mask.flip(0), src_mask.flip(0)
    calls = [first, second, (x, memory, tgt_mask, src_mask), (x, first[1], *second[2:])]

    def right(x: Tensor, memory: Tensor, tgt_mask: Tensor, src_mask: Tensor) -> Tensor:
        return pair.trusted(x, memory, tgt_mask, src_mask)[0]

    expect_each_call_anew(student, pair.student, calls, right, "x", part=0)
    for then, now in student.calls_in_turn(pair.student, *calls[:2]):
        before, after = (list(listed(result[1])) for result in (then, now))
        if len(before) != len(after) or not all(map(torch.equal, before, after)):
            fail(
                "A later call changed the weights that an earlier call returned. "
                "Return new weights each time.",
                mistake=ONE_BUFFER,
            )


def listed(weights: Any) -> Sequence[Tensor]:
    """Return the weights of one layer or of several layers as a sequence."""
    return weights if isinstance(weights, (list, tuple)) else [weights]


def expect_nothing_left(student, module: Any, given: Inputs) -> None:
    """Fail if a module changes its arguments, or moves a result to another device."""
    expect_no_traces(student, module, *given.all, still=True)
    expect_same_device(student, module, *given.all, what="a result")


@check(
    "decoder-layer",
    share=1,
    title="Written by you; inputs, device and dtype stay the same",
    form=True,
    bans=("DecoderLayer", ["torch.nn.TransformerDecoderLayer"]),
)
def test_layer_keeps_its_promises(student, draw):
    test_layer_values(student, draw)
    layer, given = twins(student, draw, reference.DecoderLayer).student, inputs(draw)
    expect_nothing_left(student, layer, given)
    layer.float()
    single = given.x.float(), given.memory.float(), given.tgt_mask, given.src_mask
    x, _ = expect_parts(layer(*single), 2, "two things, x and the weights")
    expect_dtype(x, torch.float32, "x")


@check("decoder-layer", share=1, title="Dropout in training, and only in training")
def test_layer_dropout(student, draw):
    expect_layer(twins(student, draw, reference.DecoderLayer), inputs(draw))
    expect_dropout(student, draw)


ADDERS = ("self-attention", "cross-attention", "the feed-forward layer")


def expect_dropout(student, draw) -> None:
    """Fail if dropout skips a sub-layer in training, or is applied in evaluation."""
    rates = {"dropout": NEARLY_ALL, "attention_dropout": 0.0, "ff_dropout": 0.0}
    pair, given = twins(student, draw, reference.DecoderLayer, **rates), inputs(draw)
    calm, _ = run_layer(pair.student, given)
    pair.student.train()
    x, _ = run_layer(pair.student, given)
    kept_in_training: dict[str, Tensor] = {}
    dropped_in_eval: dict[str, Tensor] = {}
    for dropped in product((False, True), repeat=3):
        value = left_over(pair.trusted, given, dropped)
        kept = [name for name, gone in zip(ADDERS, dropped, strict=True) if not gone]
        gone = [name for name in ADDERS if name not in kept]
        phrase = Phrase(
            "a layer without dropout on the output of {names}",
            series(kept),
        )
        kept_in_training |= {phrase: value} if kept else {}
        phrase = Phrase(
            "a layer with dropout on the output of {names} in eval mode too",
            series(gone),
        )
        dropped_in_eval |= {phrase: value} if gone else {}
    exact = pair.trusted(*given.all)[0]
    what = "x of a layer with dropout in eval mode"
    expect_close(calm, exact, what, dropped_in_eval)
    want = left_over(pair.trusted, given, (True, True, True))
    what = "x in training mode, if the whole output of every sub-layer is dropped,"
    expect_close(x, want, what, kept_in_training)
    rates = {"dropout": 0.0, "attention_dropout": NEARLY_ALL, "ff_dropout": NEARLY_ALL}
    pair = twins(student, draw, reference.DecoderLayer, **rates)
    pair.student.train()
    pair.trusted.train()
    x, _ = run_layer(pair.student, given)
    what = "x in training mode, if the dropout inside the sub-layers drops everything,"
    expect_close(x, pair.trusted(*given.all)[0], what)


def left_over(
    layer: reference.DecoderLayer, given: Inputs, dropped: Sequence[bool]
) -> Tensor:
    """Run a post-norm layer in which dropout removes the outputs of some sub-layers."""
    x, memory, tgt_mask, src_mask = given.all
    n1, n2, n3 = layer.add_norm1, layer.add_norm2, layer.add_norm3

    def keep(number: int, output: Tensor) -> Tensor:
        return torch.zeros_like(output) if dropped[number] else output

    x = post_norm(n1, x, keep(0, layer.self_attention(x, x, x, tgt_mask)[0]))
    looked_up, _ = layer.cross_attention(x, memory, memory, src_mask)
    x = post_norm(n2, x, keep(1, looked_up))
    return post_norm(n3, x, keep(2, layer.feed_forward(x)))


# --- Decoder.forward --------------------------------------------------------------
# These layers consist of the course's correct parts, so a mistake in DecoderLayer costs
# points only once.

PARTS = {"self_attention": "make_attention", "cross_attention": "make_attention"}
PARTS |= {"feed_forward": "make_feed_forward", "add_norm1": "make_add_norm"}
PARTS |= {"add_norm2": "make_add_norm", "add_norm3": "make_add_norm"}
FORWARD = """
lambda layer: lambda x, memory, tgt_mask=None, src_mask=None: (lambda found: (
    layer.add_norm3(
        layer.add_norm2(
            layer.add_norm1(x, lambda y: layer.self_attention(y, y, y, tgt_mask)[0]),
            lambda y: found.extend(layer.cross_attention(y, memory, memory, src_mask))
            or found[0],
        ),
        layer.feed_forward,
    ),
    found[1],
))([])
"""


def stacks(student, draw, **changes) -> Twins[reference.Decoder]:
    """Build the student's stack of correct layers, and the reference stack."""
    options = SIZES | changes
    trusted = reference.Decoder(TransformerConfig(**options))
    state = drawn_state(draw, trusted)
    trusted.load_state_dict(state)
    config = student.load(CONFIG)(**options)
    layers = student.stack_of_parts(config, PARTS, FORWARD, len(trusted.layers))
    theirs = student.Decoder(config)
    theirs.add_module("layers", layers)
    theirs.load_state_dict(state)
    theirs.double().eval()
    return Twins(theirs, trusted.double().eval())


def stack_mistakes(
    decoder: reference.Decoder, given: Inputs
) -> dict[str, Callable[[], Tensor]]:
    """Return wrong results of the stack, keyed by the name of the mistake."""
    x, memory, tgt_mask, src_mask = given.all
    layers = list(decoder.layers)

    def through(some: Sequence[nn.Module], masks=(tgt_mask, src_mask)) -> Tensor:
        y = x
        for layer in some:
            y, _ = layer(y, memory, *masks)
        return y

    def memory_replaced() -> Tensor:
        y, _ = layers[0](x, memory, tgt_mask, src_mask)
        for layer in layers[1:]:
            y, _ = layer(y, y, tgt_mask, tgt_mask)
        return y

    return {
        "x unchanged": lambda: x,
        "only the first two layers": lambda: through(layers[:2]),
        "a stack that runs its first layer N times": lambda: through(layers[:1] * N),
        "a stack that runs its last layer N times": lambda: through(layers[-1:] * N),
        "a stack whose layers all start from the same x": lambda: through(layers[-1:]),
        "only the first layer": lambda: through(layers[:1]),
        "the stack without its last layer": lambda: through(layers[:-1]),
        "the layers in reverse order": lambda: through(layers[::-1]),
        "a stack without the target's mask": lambda: through(layers, (None, src_mask)),
        "a stack without the source's mask": lambda: through(layers, (tgt_mask, None)),
        "a stack without masks": lambda: through(layers, (None, None)),
        "a stack whose layers attend to the output of the previous layer instead "
        "of the memory": memory_replaced,
    }


def run_stack(decoder, given: Inputs) -> tuple[Tensor, list[Tensor]]:
    """Call a student's stack, and fail unless it returns x and a list."""
    result = decoder(*given.all)
    x, weights = expect_parts(result, 2, "x and a list of weights")
    return x, list(expect_parts(weights, N, "the weights of each layer, in a list"))


@check(
    "decoder-stack",
    share=1,
    title="x, and one tensor of weights for each layer",
    form=True,
)
def test_stack_shapes(student, draw):
    own = student.Decoder(student.load(CONFIG)(**SIZES))
    trusted = reference.Decoder(TransformerConfig(**SIZES))
    expect_own_layers(own, trusted, N, Phrase("The decoder"))
    decoder = stacks(student, draw).student
    x, weights = run_stack(decoder, inputs(draw))
    expect_shape(x, (B, T, D), "x")
    for number, one in enumerate(weights):
        expect_shape(one, (B, H, T, S), Phrase("the weights of layer {number}", number))


@check(
    "decoder-stack",
    share=3,
    title="Right values through all layers, with and without masks",
)
def test_stack_values(student, draw):
    pair, given = stacks(student, draw), inputs(draw)
    expect_stack_values(pair, given)
    expect_masks_optional(pair, given, "x and a list of weights")


def expect_stack_values(pair: Twins[reference.Decoder], given: Inputs) -> None:
    """Fail unless x passes through all layers with the right masks."""
    x, _ = run_stack(pair.student, given)
    want, _ = pair.trusted(*given.all)
    named = stack_mistakes(pair.trusted, given)
    expect_close(x, want, "x", mistakes=named)


@check(
    "decoder-stack",
    share=1,
    title="Written by you; each layer's weights in order; gradients pass",
    bans=("Decoder", ["torch.nn.TransformerDecoder"]),
)
def test_stack_weights(student, draw):
    pair, given = stacks(student, draw), inputs(draw)
    expect_stack_values(pair, given)
    _, got = run_stack(pair.student, given)
    _, want = pair.trusted(*given.all)
    for number, (one, right) in enumerate(zip(got, want, strict=True)):
        named = {}
        if number == 0:
            named["the weights in the opposite order"] = want[-1]
        what = Phrase("the tensor of weights of layer {number}", number)
        expect_close(one, right, what, named)
    expect_stack_gradients(student, draw, pair, given)


WEIGHTS_OF = "lambda stack: lambda *given: stack(*given)[1][{}]"


def expect_stack_gradients(student, draw, pair: Twins[Any], given: Inputs) -> None:
    """Fail unless gradients of both results reach the inputs and all weights."""
    decoder, upstream = pair.student, draw.normal(B, T, D)
    decoder.train()  # where gradients count; its dropout is 0
    run = student.gradients(decoder, *given.all, upstream=upstream)
    reached = {"x": run.inputs[0], "the memory": run.inputs[1]} | run.parameters
    expect_reached(reached, "the stack's output")

    def trusted(x: Tensor, memory: Tensor) -> Tensor:
        return pair.trusted(x, memory, *given.all[2:])[0]

    with blame("a layer that passes no gradient to the memory"):
        expect_gradients(run, trusted, given.all[:2], upstream)
    for number in range(N):
        source = WEIGHTS_OF.format(number)
        weights = student.load("builtins.eval")(source)(decoder)
        run = student.gradients(weights, *given.all, upstream=draw.normal(B, H, T, S))
        expect_reached({"x": run.inputs[0]}, "the stack's weights")


@check("decoder-stack", share=2, title="A pre-norm stack ends with a normalisation")
def test_stack_pre_norm(student, draw):
    pair, given = stacks(student, draw, norm_first=True), inputs(draw)
    x, _ = run_stack(pair.student, given)
    want, _ = pair.trusted(*given.all)

    def without_norm() -> Tensor:
        y = given.x
        for layer in pair.trusted.layers:
            y, _ = layer(y, *given.all[1:])
        return y

    named = {"a stack without its last normalisation": without_norm}
    expect_close(x, want, "x", mistakes=named)


@check("decoder-stack", share=1, title="Any sizes; calls do not share results")
def test_stack_of_each_call(student, draw):
    expect_calls_anew(student, draw, stacks(student, draw))
    expect_modules(student, draw, stacks)


@check("decoder-stack", share=1, title="Inputs and device stay the same", form=True)
def test_stack_leaves_its_inputs(student, draw):
    own = twins(student, draw, reference.Decoder, n_layers=2).student
    expect_nothing_left(student, own, inputs(draw))


@check(
    "decoder-stack",
    share=1,
    title="Padding and other sentences of the batch change nothing",
    form=True,
)
def test_stack_ignores_batch_mates(student, draw):
    decoder, given = stacks(student, draw).student, inputs(draw)
    together, _ = run_stack(decoder, given)
    alone = Inputs(  # one sentence with its 4 words, and the 6 of its source
        given.x[1:2, :4],
        given.memory[1:2, :6],
        given.tgt_mask[1:2, :, :4, :4],
        given.src_mask[1:2, ..., :6],
    )
    x, _ = run_stack(decoder, alone)
    expect_shape(x, (1, 4, D), "x of one sentence on its own")
    expect_shape(together, (B, T, D), "x")
    if not torch.allclose(together[1:2, :4], x, atol=5e-5):
        fail(
            "A sentence has different results on its own and in a padded batch.",
            mistake="padding that affects the result",
        )


# --- average_heads ----------------------------------------------------------------


OF_LAYERS = "lambda average: lambda weights: average(list(weights))"
OF_TENSORS = "lambda average: lambda *weights: average(list(weights))"


def many_weights(draw) -> list[Tensor]:
    """Draw the attention weights of four layers; each row sums to 1."""
    return [draw.normal(B, H, T, S).softmax(dim=-1) for _ in range(N)]


@check("average-heads", share=1, title="One matrix (t, s) for each sentence", form=True)
def test_average_shape(student, draw):
    expect_shape(student.average_heads(many_weights(draw)), (B, T, S), "average")


@check("average-heads", share=3, title="The mean over layers and heads")
def test_average_values(student, draw):
    expect_average(student, many_weights(draw))


def expect_average(student, weights: list[Tensor]) -> None:
    """Compare the student's average with the right average."""
    exact = torch.stack([w.double() for w in weights])
    named = {
        "zeros": lambda: torch.zeros(B, T, S),
        "equal weights": lambda: torch.full((B, T, S), 1 / S),
        "the mean of the first three layers, regardless of the "
        "number of layers": lambda: exact[:3].mean((0, 2)),
        "the last layer's mean, without the other layers": lambda: exact[-1].mean(1),
        "the first layer's mean, without the other layers": lambda: exact[0].mean(1),
        "the mean of the first two layers, regardless of the number "
        "of layers": lambda: exact[:2].mean((0, 2)),
        "the first head's mean over the layers": lambda: exact[:, :, 0].mean(0),
        "the sum over the layers": lambda: exact.mean(2).sum(0),
        "the sum over the heads": lambda: exact.sum(2).mean(0),
        "the sum over layers and heads": lambda: exact.sum(2).sum(0),
        "the largest weight of any head": lambda: exact.amax((0, 2)),
        "the mean over the batch instead of the heads": lambda: exact.mean((0, 1)),
        "the mean over only the layers": lambda: exact.mean(0),
    }
    got = student.average_heads(weights)
    expect_close(got, exact.mean((0, 2)), "average", mistakes=named)


@check("average-heads", share=1, title="Any sizes, one layer or many; also float64")
def test_average_of_few_layers(student, draw):
    weights = many_weights(draw)
    usual = partial(expect_average, student, weights)
    for some in (weights[:1], [*weights, *many_weights(draw)]):
        with blame("code that assumes a certain number of layers", usual):
            what = Phrase("average of {n} layers", len(some))
            expect_close(student.average_heads(some), right_average(some), what)
    exact = [one.double() for one in weights]
    got = student.average_heads(exact)
    expect_close(got, right_average(exact), "average")
    expect_dtype(got, torch.float64, "average")
    expect_every_size(
        student,
        student.load("builtins.eval")(OF_LAYERS)(student.average_heads),
        right_average,
        [
            replace(case, inputs=[case.inputs[0].softmax(dim=-1)])
            for case in varied_inputs(draw, ["n,b,h,t,s"])
        ],
        "average",
    )


def right_average(weights: Sequence[Tensor]) -> Tensor:
    """Compute the right average in float64."""
    return torch.stack([one.double() for one in weights]).mean((0, 2))


@check("average-heads", share=1, title="Gradients reach the weights of every layer")
def test_average_gradients(student, draw):
    weights, upstream = many_weights(draw), draw.normal(B, T, S)
    of_tensors = student.load("builtins.eval")(OF_TENSORS)(student.average_heads)
    run = student.gradients(of_tensors, *weights, upstream=upstream)
    expect_gradients(run, lambda *ws: right_average(ws), weights, upstream)


@check("average-heads", share=1, title="Each call has its own average")
def test_average_of_each_call(student, draw):
    calls = [([one[:, :, 1:] for one in many_weights(draw)],) for _ in range(3)]
    what = "average"
    expect_each_call_anew(student, student.average_heads, calls, right_average, what)


@check(
    "average-heads",
    share=1,
    title="No weights change or move to another device",
    form=True,
)
def test_average_leaves_its_inputs(student, draw):
    weights = many_weights(draw)
    expect_no_traces(student, student.average_heads, weights, still=True)
    expect_same_device(student, student.average_heads, weights, what="average")


# --- LanguageModel ----------------------------------------------------------------

PAD, VOCABULARY = 5, SIZES["tgt_vocab_size"]
OF_LOSS = "lambda model: lambda ids: model.loss(ids)"
IN_ONE_TENSOR = """
lambda loss, *batches: (
    lambda one: [loss(one.copy_(ids)) for ids in batches]
)(batches[0].clone())
"""


def sentences(draw, b: int = B, t: int = T) -> dict[str, Tensor]:
    """Draw ids with padding in different places; 0, 1 and 3 are ordinary words here."""
    places = draw.padded_ids(b, t, pad_id=-1, low=0, high=VOCABULARY - 1)
    for ids in places.values():
        longest = ids[b // 2, 1:3]
        longest[longest >= 0] = torch.tensor([1, 0])[longest >= 0]
    return {
        words: torch.where(ids >= PAD, ids + 1, ids).masked_fill(ids < 0, PAD)
        for words, ids in places.items()
    }


def padded(draw) -> Tensor:
    """Draw sentences of 3, 4 and 2 words, with padding after them."""
    lengths = torch.tensor([[3], [4], [2]])
    return sentences(draw)["no padding"].masked_fill(torch.arange(T) >= lengths, PAD)


def language_models(student, draw, **changes) -> Twins[LanguageModel]:
    """Build the student's language model and the reference, with the same weights."""
    return twins(student, draw, LanguageModel, **{"pad_id": PAD, **changes})


def at_words(logits: Tensor, ids: Tensor) -> Tensor:
    """Set the logits at padding to 0, because they may have any values."""
    return logits.masked_fill((ids == PAD).unsqueeze(-1), 0.0)


def logits_mistakes(
    model: LanguageModel, ids: Tensor
) -> dict[str, Callable[[], Tensor]]:
    """Return wrong logits (b, t, vocab_size), keyed by the name of the mistake."""
    words, past = (ids != PAD)[:, None, None, :], causal_mask(ids.size(1))
    x, both = model.embedding(ids), words & past

    def under(mask: Tensor | None) -> Callable[[], Tensor]:
        return lambda: model.projection(model.stack(x, mask))

    return {
        "zeros": lambda: torch.zeros_like(model(ids)),
        "a model without a mask, which sees the words that it should predict": under(
            None
        ),
        "a model with only the padding mask, which sees the future": under(words),
        "a model with only the causal mask, in which padding affects the result": under(
            past
        ),
        "a model whose mask is inverted": under(~both),
        "a model that uses the first sentence's mask for every sentence": under(
            both[:1]
        ),
        "a model whose mask hides a word from itself": under(both & past.tril(-1)),
        "a model whose mask shows one word of the future": under(
            words & torch.ones(ids.size(1), ids.size(1)).tril(1).bool()
        ),
        "a model that joins its two masks with `|` instead of `&`": under(words | past),
        "a model whose mask hides the word with id 1 instead of its padding": under(
            (ids != 1)[:, None, None, :] & past
        ),
        "a model without its stack": lambda: model.projection(x),
        "a model whose stack has only its first layer": lambda: model.projection(
            model.stack.norm(model.stack.layers[0](x, both))
        ),
        "a model without positions": lambda: model.projection(
            model.stack(model.embedding.tokens(ids), both)
        ),
        "probabilities instead of logits": lambda: model(ids).softmax(-1),
        "logarithms of probabilities instead of logits": lambda: model(ids).log_softmax(
            -1
        ),
    }


def expect_logits(pair: Twins[LanguageModel], ids: Tensor, what: str) -> None:
    """Compare the logits at words with the right logits."""
    got, named = pair.student(ids), logits_mistakes(pair.trusted, ids)
    expect_rows_of_logits(got, ids, what)
    mistakes = {
        phrase: lambda wrong=wrong: at_words(wrong(), ids)
        for phrase, wrong in named.items()
    }
    want = at_words(pair.trusted(ids), ids)
    expect_close(at_words(got, ids), want, what, mistakes)


def expect_rows_of_logits(got: Any, ids: Tensor, what: str) -> None:
    """Fail unless each position has a logit for every word."""
    named = {
        "vectors that are not projected to the vocabulary": (*ids.shape, D),
        "only the last row": (len(ids), VOCABULARY),
    }
    shape = tuple(got.shape) if isinstance(got, Tensor) else None
    for phrase, wrong in named.items():
        if shape == wrong:
            fail(
                Phrase(
                    "You return {phrase}, but {what} should have the shape (b, t, "
                    "vocab_size).",
                    phrase,
                    what,
                ),
                phrase,
            )
    expect_shape(got, (*ids.shape, VOCABULARY), what)


@check("language-model", share=1, title="Logits of shape (b, t, vocab_size)", form=True)
def test_logits_shape(student, draw):
    ids = padded(draw)
    model = language_models(student, draw).student
    expect_rows_of_logits(model(ids), ids, "the result of forward")


@check(
    "language-model",
    share=3,
    title="The logits of the next word, from the words so far",
)
def test_logits_values(student, draw):
    pair = language_models(student, draw)
    expect_logits(pair, padded(draw), "the logits")


@check("language-model", share=1, title="Padding has no effect at any position")
def test_logits_with_padding(student, draw):
    pair = language_models(student, draw)
    for place, ids in sentences(draw).items():
        expect_logits(pair, ids, Phrase("with {place}, the tensor of logits", place))
    expect_own_padding(student, draw)


def expect_own_padding(student, draw) -> None:
    """Fail if a second model with another pad_id uses the padding of the first."""
    other = language_models(student, draw, pad_id=PAD - 1)
    ids = padded(draw).flip(1)  # padding first, so that later words could attend to it
    ids = torch.where(ids == PAD, PAD - 1, ids.masked_fill(ids == PAD - 1, PAD))
    rows = (ids == PAD - 1)[..., None]
    old = other.trusted.projection(
        other.trusted.stack(other.trusted.embedding(ids), target_mask(ids, PAD))
    )
    what = "the logits of a second model with a different pad_id"
    named = {"logits with the padding of another model": old.masked_fill(rows, 0.0)}
    want = other.trusted(ids).masked_fill(rows, 0.0)
    expect_close(other.student(ids).masked_fill(rows, 0.0), want, what, named)


@check("language-model", share=1, title="Any sizes, pre-norm, and float32")
def test_logits_of_another_model(student, draw):
    changes = {"norm_first": True, "positions": "sinusoidal", "n_layers": 3}
    pair = language_models(student, draw, **changes)
    ids = padded(draw).flip(1)
    expect_logits(pair, ids, "the pre-norm model's logits")
    pair.student.float()
    one = ids[1:2]
    got, want = at_words(pair.student(one), one), at_words(pair.trusted(one), one)
    expect_close(got, want, "the logits in float32", tolerance=1e-4)
    for number in range(len(orders_of(MODEL_SIZES))):
        with blame(SOME_SIZES, lambda: expect_model_of_size(student, draw, 0)):
            expect_model_of_size(student, draw, number)


MODEL_SIZES = ("b", "t", "h", "half", "d_ff", "n_words", "layers")


def expect_model_of_size(student, draw, number: int) -> None:
    """Compare logits and loss of a model that has the sizes of set `number`."""
    case, n = list(orders_of(MODEL_SIZES).items())[number]
    pair = language_models(
        student,
        draw,
        d_model=2 * n["h"] * n["half"],
        n_heads=n["h"],
        d_ff=n["d_ff"],
        tgt_vocab_size=n["n_words"] + 1,
        n_layers=min(n["layers"], N + 1),
        norm_first=number % 2 == 0,
        positions=("learned", "sinusoidal")[number % 2],
        pad_id=(pad := 0 if case in ("falling", "long") else n["n_words"]),
    )
    longest = torch.arange(n["b"])[:, None] % n["t"] + 2  # 2 words or more
    ids = draw.ids(n["b"], n["t"] + 1, low=0, high=n["n_words"]) + (pad == 0)
    ids = ids.masked_fill(torch.arange(n["t"] + 1) >= longest, pad)
    if case == "equal":
        ids = ids[-1:].repeat(n["b"], 1)
    read = ids[:, :-1].flip(1) if pad == 0 else ids[:, :-1]  # padding in front
    words = (read != pad)[..., None]
    want = pair.trusted(read) * words
    call = pair.student
    if case != "rising":
        call = student.load("torch.no_grad")()(call)
    sizes = ", ".join(f"{name} = {size}" for name, size in n.items())
    for mode, is_training in (("eval()", False), ("train()", True)):
        pair.student.train(is_training)
        whose = Phrase("After {mode}, with {sizes}, {what}", mode, sizes, "the logits")
        got = call(read)
        expect_shape(got, want.shape, whose)
        expect_close(got * words, want, whose, tolerance=1e-4)
        rows = call(ids[:, :-1]).transpose(1, 2)
        right = F.cross_entropy(rows, ids[:, 1:], ignore_index=pad)
        whose = Phrase("After {mode}, with {sizes}, {what}", mode, sizes, "the loss")
        expect_close(pair.student.loss(ids), right, whose, tolerance=1e-4)


def loss_mistakes(logits: Tensor, ids: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Return wrong losses, keyed by the name of the mistake.

    `logits` has no row for the last word.
    """
    wanted = ids[:, 1:]
    rows = logits.transpose(1, 2)

    def entropy(rows: Tensor, wanted: Tensor, ignored: int = PAD) -> Tensor:
        return F.cross_entropy(rows, wanted, ignore_index=ignored)

    return {
        "zero": lambda: torch.tensor(0.0),
        "the loss on the input words: the target is not shifted": lambda: entropy(
            rows, ids[:, :-1]
        ),
        "the loss on the previous words: the target is shifted in "
        "the wrong direction": lambda: entropy(rows[..., 1:], ids[:, :-2]),
        "the loss with padding included": lambda: entropy(rows, wanted, -100),
        "the loss that ignores the word with id 1 instead of the padding": lambda: (
            entropy(rows, wanted, 1)
        ),
        "the loss that ignores the word with id 0 instead of the padding": lambda: (
            entropy(rows, wanted, 0)
        ),
        **mean_mistakes(rows, wanted),
        "the loss of the probabilities, after an extra softmax": lambda: entropy(
            rows.softmax(1), wanted
        ),
        "the perplexity, not the loss": lambda: entropy(rows, wanted).exp(),
        "the loss with its sign flipped": lambda: -entropy(rows, wanted),
        "the loss of only the first sentence": lambda: entropy(rows[:1], wanted[:1]),
    }


def mean_mistakes(rows: Tensor, wanted: Tensor) -> dict[str, Callable[[], Tensor]]:
    """Return losses that are not the mean over words, keyed by name.

    In `rows`, axis 1 contains the classes.
    """
    each = F.cross_entropy(rows, wanted, ignore_index=PAD, reduction="none")
    words = (wanted != PAD).sum(1).clamp(min=1)
    return {
        "the sum over all words, not the mean": lambda: each.sum(),
        "the sum of each sentence, averaged over the sentences": lambda: (
            each.sum() / len(wanted)
        ),
        "the sum over the words, divided by the number of all positions": lambda: (
            each.mean()
        ),
        "the mean of the sentences' means": lambda: (each.sum(1) / words).mean(),
    }


@check("language-model", share=3, title="The loss on the next words, without padding")
def test_loss_values(student, draw):
    model = language_models(student, draw).student
    expect_loss(model, padded(draw), "For your logits, the loss")
    expect_loss(model, sentences(draw)["no padding"][:1], "The loss of one sentence")
    model.train()  # without dropout, the result is the same
    expect_loss(model, padded(draw), "In training mode, for your logits, the loss")
    state = model.state_dict()
    model.load_state_dict({**state, PROJECTION: 90 * state[PROJECTION]})
    expect_loss(model, padded(draw), "For your logits, which are large, the loss")


PROJECTION = "projection.weight"


def expect_loss(model: Any, ids: Tensor, what: str) -> None:
    """Compare the loss with that of the student's logits, even if they are wrong."""
    logits = model(ids[:, :-1])
    expect_shape(logits, (len(ids), ids.size(1) - 1, VOCABULARY), "the logits")
    rows = logits.double().transpose(1, 2)
    want = F.cross_entropy(rows, ids[:, 1:], ignore_index=PAD)
    loss = model.loss(ids)
    if isinstance(loss, Tensor) and loss.dim():
        fail(
            Phrase(
                "{what} should be one number, but it has the shape {shape}.",
                what,
                tuple(loss.shape),
            ),
            mistake="more than one number for the loss",
        )
    expect_close(loss, want, what, loss_mistakes(logits.double(), ids))


@check("language-model", share=1, title="Gradients of the loss reach every weight")
def test_loss_gradients(student, draw):
    pair, ids = language_models(student, draw), padded(draw)
    pair.student.train()  # where gradients count; its dropout is 0
    around = student.load("torch.nn.Module")()
    around.add_module("model", pair.student)
    student.load("builtins.setattr")(around, "forward", loss_of(student, pair.student))
    run = student.gradients(around, ids)
    expect_reached(run.parameters, "the loss")


def loss_of(student, model: Any) -> Any:
    """Return a function from ids to the student's loss."""
    return student.load("builtins.eval")(OF_LOSS)(model)


@check(
    "language-model",
    share=1,
    title="Each call has its own result and its own random draws",
)
def test_language_model_of_each_call(student, draw):
    pair = language_models(student, draw)
    calls = [(sentences(draw, B + 1, T + 1)["no padding"],) for _ in range(3)]
    expect_each_call_anew(student, pair.student, calls, pair.trusted, "the logits")
    expect_each_loss_anew(student, draw)
    model = language_models(student, draw, dropout=0.3).student
    model.train()
    expect_no_seed(student, model, *calls[0], draws=True)
    expect_no_seed(student, loss_of(student, model), *calls[0], draws=True)


def expect_each_loss_anew(student, draw) -> None:
    """Fail if a loss of an earlier call is returned for other words or weights.

    Only this check uses a batch of this size. The logits come from a separate model of
    the student's, so they may be wrong.
    """
    pair, twin = (language_models(student, draw) for _ in range(2))
    batches = [sentences(draw, B + 2, T + 2)["no padding"] for _ in range(3)]
    twin.student.load_state_dict(pair.trusted.state_dict())

    def right(ids: Tensor, read: Tensor | None = None) -> Tensor:
        logits = twin.student((ids if read is None else read)[:, :-1])
        rows = logits.double().transpose(1, 2)
        return F.cross_entropy(rows, ids[:, 1:], ignore_index=PAD)

    loss, what = loss_of(student, pair.student), "the loss"
    of_old_logits = right(batches[1], read=batches[0])
    expect_each_call_anew(
        student,
        loss,
        [(ids,) for ids in batches],
        right,
        what,
        mistakes={"the loss of logits kept from an earlier call": of_old_logits},
    )
    found = student.load("builtins.eval")(IN_ONE_TENSOR)(loss, *batches)
    wanted = [right(ids) for ids in batches]
    for got, want, before in zip(found[1:], wanted[1:], wanted, strict=False):
        words = "The loss after other words are written into the same tensor"
        expect_close(got, want, words, {KEPT: before})
    weights = drawn_state(draw, pair.trusted)
    for model in (pair.student, twin.student):
        model.load_state_dict(weights)
    again, want = loss(batches[0]), right(batches[0])
    expect_close(again, want, "The loss with other weights", {KEPT: wanted[0]})


@check("language-model", share=1, title="Ids, device and mode stay the same", form=True)
def test_language_model_leaves_its_input(student, draw):
    model = language_models(student, draw).student
    ids = padded(draw)
    for function in (model, loss_of(student, model)):
        expect_no_traces(student, function, ids, still=True)
    table = student.load("torch.nn.Embedding")(VOCABULARY, D)  # it returns no values
    model.add_module("embedding", table.double())
    expect_same_device(student, model, ids, what="the tensor of logits")
    loss = student.load("builtins.getattr")(model, "loss")
    expect_same_device(student, loss, ids, what="the loss")

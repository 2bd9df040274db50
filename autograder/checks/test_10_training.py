"""Hidden checks of unit 10: the whole model, the shift, the loss, the rate, the step.

The checks of a training step use the course's `BagTranslator`, because it is small. As
in real training, the step uses the student's own loss and shift.
"""

import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from autograder.checking.behaviour import (
    blame,
    expect_dtype,
    expect_gradients,
    expect_parts,
)
from autograder.checking.expect import (
    check,
    expect_close,
    expect_equal,
    expect_shape,
    fail,
)
from autograder.checking.generic_checks import (
    KEPT,
    expect_each_call_anew,
    expect_no_seed,
    expect_no_traces,
    expect_raises,
    expect_same_device,
)
from autograder.checking.kinds_of_inputs import expect_double, rows_far_apart
from autograder.checking.varied_inputs import SOME_SIZES, Varied, orders_of
from autograder.phrases import Phrase
from transformer.config import TransformerConfig
from transformer.experiments.bag_translator import BagTranslator
from transformer.masks import padding_mask, target_mask
from transformer.model import Transformer
from transformer.training.label_smoothing import label_smoothed_loss
from transformer.training.step import average_checkpoints
from transformer.training.step_settings import StepSettings

Named = dict[str, Tensor | Callable[[], Tensor]]
PAD, SOS, EOS = 1, 2, 3
WORDS = 12  # vocabulary size of the loss and of BagTranslator
CONFIG = "transformer.config.TransformerConfig"
SETTINGS = "transformer.training.step_settings.StepSettings"
BAG = "transformer.experiments.bag_translator.BagTranslator"


def expect_every_padding(places: Iterable[str], compare: Callable[[str], None]) -> None:
    """Compare results with padding in each place; the first place is the usual one."""
    usual, *others = places
    compare(usual)
    for place in others:
        with blame(
            Phrase("code that does not accept {place}", place), lambda: compare(usual)
        ):
            compare(place)


# --- Transformer.forward ----------------------------------------------------------

B, T, S, D, SRC_WORDS, TGT_WORDS = 3, 4, 5, 12, 20, 21
SIZES: dict[str, Any] = {"src_vocab_size": SRC_WORDS, "tgt_vocab_size": TGT_WORDS}
SIZES |= {"d_model": D, "n_heads": 3, "n_layers": 2, "d_ff": 10, "max_len": 8}
SIZES |= {"dropout": 0.0}


@dataclass(frozen=True)
class Twins:
    """The student's model and the reference, with the same random weights."""

    student: Any
    trusted: Transformer


def twins(student, draw, **changes) -> Twins:
    """Build both models with the same random weights."""
    options = SIZES | changes
    trusted = Transformer(TransformerConfig(**options))
    shapes = {name: tuple(p.shape) for name, p in trusted.state_dict().items()}
    state = {name: 0.5 * value for name, value in draw.state(shapes).items()}
    trusted.load_state_dict(state)
    theirs = student.Transformer(student.load(CONFIG)(**options))
    theirs.load_state_dict(state)
    theirs.eval()
    return Twins(theirs, trusted.double().eval())


def draw_batch(draw, pad: int = PAD) -> tuple[Tensor, Tensor]:
    """Draw sources of length 5, 3 and 1, and targets of length 4, 2 and 3."""
    src = draw.ids(B, S, low=4, high=SRC_WORDS)
    tgt = draw.ids(B, T, low=4, high=SRC_WORDS)
    src[1, 3:], src[2, 1:], tgt[1, 2:], tgt[2, 3:] = pad, pad, pad, pad
    return src, tgt


def read(model: Any, src: Tensor, tgt: Tensor) -> Tensor:
    """Call a student's model, and fail unless it returns only logits."""
    logits = model(src, tgt)
    if isinstance(logits, (tuple, list)):
        fail(
            Phrase(
                "forward should return only the logits, but it returns "
                "{count} things. `decode` returns two: use the first.",
                len(logits),
            ),
            mistake="logits and attention weights together",
        )
    return logits


def model_mistakes(model: Transformer, src: Tensor, tgt: Tensor) -> Named:
    """Return wrong logits of the whole model, keyed by the name of the mistake."""
    pad = model.config.pad_id
    src_mask, tgt_mask = padding_mask(src, pad), target_mask(tgt, pad)

    def by_steps(
        encoder_mask=src_mask, self_mask=tgt_mask, cross_mask=src_mask, memory=None
    ) -> Tensor:
        if memory is None:
            memory = model.encoder(model.src_embedding(src), encoder_mask)
        x = model.tgt_embedding(tgt)
        return model.projection(model.decoder(x, memory, self_mask, cross_mask)[0])

    right = by_steps()
    return {
        "probabilities: one softmax too many": right.softmax(dim=-1),
        "log-probabilities: one log-softmax too many": right.log_softmax(dim=-1),
        "a model whose target has no causal mask": lambda: by_steps(
            self_mask=padding_mask(tgt, pad)
        ),
        "a model whose target has no mask at all": lambda: by_steps(self_mask=None),
        "a model whose encoder has no mask": lambda: by_steps(encoder_mask=None),
        "a model whose cross-attention has no mask": lambda: by_steps(cross_mask=None),
        "a model that does not mask the source's padding": lambda: by_steps(
            encoder_mask=None, cross_mask=None
        ),
        "a model that reads the target as its source": lambda: model.decode(
            tgt, model.encode(tgt), tgt
        )[0],
        "a model with source and target swapped": lambda: model.decode(
            src, model.encode(tgt), tgt
        )[0],
        "a model whose memory is the embedded source: no encoder": lambda: by_steps(
            memory=model.src_embedding(src)
        ),
        "a model that embeds the source with the target's table": lambda: by_steps(
            memory=model.encoder(model.tgt_embedding(src), src_mask)
        ),
        **score_mistakes(model, src, tgt),
    }


def score_mistakes(model: Transformer, src: Tensor, tgt: Tensor) -> Named:
    """Return results that a model may return instead of its logits, keyed by name."""
    pad = model.config.pad_id
    src_mask, tgt_mask = padding_mask(src, pad), target_mask(tgt, pad)
    right = model(src, tgt)
    return {
        "only the scores after the last word": right[:, -1],
        "only the scores after the last word, with the axis of positions kept": right[
            :, -1:
        ],
        "the scores of a target that is shortened a second time": right[:, :-1],
        "the scores without the position of <sos>": right[:, 1:],
        "the decoder's output, without the projection": lambda: model.decoder(
            model.tgt_embedding(tgt), model.encode(src), tgt_mask, src_mask
        )[0],
        "the likeliest words instead of the scores": right.argmax(dim=-1),
        "the scores with the words in the second axis": right.transpose(1, 2),
    }


@check(
    "transformer-forward",
    share=1,
    title="Logits of shape (b, t, tgt_vocab_size)",
    form=True,
)
def test_forward_shape(student, draw):
    logits = read(twins(student, draw).student, *draw_batch(draw))
    expect_shape(logits, (B, T, TGT_WORDS), "the tensor of logits")


@check(
    "transformer-forward",
    share=4,
    title="Right scores, with padding in source and target",
)
def test_forward_values(student, draw):
    pair, (src, tgt) = twins(student, draw), draw_batch(draw)
    want, named = pair.trusted(src, tgt), model_mistakes(pair.trusted, src, tgt)
    got = read(pair.student, src, tgt)
    expect_close(got, want, "the tensor of logits", mistakes=named, tolerance=1e-4)


@check(
    "transformer-forward",
    share=2,
    title="Any sizes and pad_id, pre-norm, sinusoidal positions",
)
def test_forward_of_another_configuration(student, draw):
    changes: dict[str, Any] = {"norm_first": True, "positions": "sinusoidal"}
    pair = twins(student, draw, pad_id=3, n_layers=3, n_heads=4, **changes)
    src, tgt = draw_batch(draw, pad=3)
    words = "a model that assumes one configuration, such as the padding id 1"
    with blame(words, lambda: test_forward_values(student, draw)):
        got = read(pair.student, src, tgt)
        expect_close(
            got, pair.trusted(src, tgt), "the tensor of logits", tolerance=2e-4
        )
    for number in range(len(orders_of(MODEL_SIZES))):
        with blame(SOME_SIZES, lambda: test_forward_values(student, draw)):
            expect_model_of_size(student, draw, number)


MODEL_SIZES = ("b", "s", "t", "h", "half", "d_ff", "src_words", "tgt_words", "layers")


def expect_model_of_size(student, draw, number: int) -> None:
    """Compare the logits of a model that has the sizes of set `number`."""
    case, n = list(orders_of(MODEL_SIZES).items())[number]
    is_first = case in ("falling", "long")  # is the padding the first word?
    fewest = min(n["src_words"], n["tgt_words"])
    pad = 0 if is_first else fewest
    changes: dict[str, Any] = {"d_model": 2 * n["h"] * n["half"], "n_heads": n["h"]}
    changes |= {"d_ff": n["d_ff"], "n_layers": min(n["layers"], 5), "max_len": 100}
    changes |= {"positions": ("learned", "sinusoidal", "none")[number % 3]}
    changes |= {"norm_first": number % 2 == 1, "pad_id": pad}
    changes |= {f"{x}_vocab_size": n[f"{x}_words"] + 1 for x in ("src", "tgt")}
    pair = twins(student, draw, **changes)
    src, tgt = (
        draw_rows(draw, n["b"], n[length], n[words], pad)
        for length, words in (("s", "src_words"), ("t", "tgt_words"))
    )
    if case == "equal":  # the same sentences in every place, in training too
        src, tgt = (one[-1:].repeat(n["b"], 1) for one in (src, tgt))
    want = pair.trusted(src, tgt)
    call = pair.student
    if case != "rising":
        call = student.load("torch.no_grad")()(call)
    for mode, is_training in (("eval()", False), ("train()", True)):
        pair.student.train(is_training)
        what = "the tensor of logits"
        whose = Phrase(
            "After {mode}, with {sizes}, {what}", mode, Varied(case, n, []).words, what
        )
        expect_close(read(call, src, tgt), want, whose, tolerance=5e-4)


def draw_rows(draw, b: int, t: int, words: int, pad: int) -> Tensor:
    """Draw sentences of 1 to t words, whose ids are up to `words`, and padding."""
    ids = draw.ids(b, t, low=0, high=words)
    ids = ids + (ids >= pad)
    return ids.masked_fill(torch.arange(t) > torch.arange(b)[:, None] % t, pad)


@check(
    "transformer-forward",
    share=2,
    title="Padding before words, between words and in a whole row",
)
def test_forward_of_every_padding(student, draw):
    pair = twins(student, draw)
    places = [
        "padding after the words",
        "padding before the words",
        "padding between words",
    ]
    places.append("a row of padding")
    sources = {  # different lengths, so that no stored result fits
        place: draw.padded_ids(B, S + n, PAD, high=SRC_WORDS)[place]
        for n, place in enumerate(places)
    }
    targets = draw.padded_ids(B, T, PAD, high=TGT_WORDS)

    def compare(place: str) -> None:
        src, tgt = sources[place], targets[place]
        got, want = read(pair.student, src, tgt), pair.trusted(src, tgt)
        expect_close(
            got,
            want,
            Phrase("With {place}, the tensor of logits", place),
            tolerance=1e-4,
        )

    expect_every_padding(places, compare)


@check(
    "transformer-forward",
    share=1,
    title="A later word does not change earlier scores",
    form=True,
)
def test_forward_is_causal(student, draw):
    model, (src, tgt) = twins(student, draw).student, draw_batch(draw)
    before, later = read(model, src, tgt), tgt.clone()
    later[:, 2:] = 4 + (later[:, 2:] + 3) % 16
    after = read(model, src, later)
    expect_shape(after, (B, T, TGT_WORDS), "the tensor of logits")
    if not torch.allclose(before[:, :2], after[:, :2], atol=1e-5):
        fail(
            "If we change the target's words 3 and 4, earlier scores change.",
            mistake="a model whose target has no causal mask",
        )
    if torch.allclose(before[0, 2:], after[0, 2:], atol=1e-5):
        fail("If we change the target's words 3 and 4, nothing changes.")


@check("transformer-forward", share=1, title="Gradients reach encoder and decoder")
def test_forward_gradients(student, draw):
    pair, (src, tgt) = twins(student, draw), draw_batch(draw)
    upstream = draw.normal(TGT_WORDS)
    pair.student.train()  # where gradients count; its dropout is 0
    run = student.gradients(pair.student, src, tgt, upstream=upstream)
    (pair.trusted(src, tgt) * upstream).sum().backward()
    for name, parameter in pair.trusted.named_parameters():
        got, want = run.parameters.get(name), torch.as_tensor(parameter.grad)
        if got is None or (want.abs().max() > 1e-6 and not got.any()):
            fail(
                Phrase("No gradient reaches {name}.", name),
                mistake="the gradient is cut off",
            )
        expect_close(got, want, Phrase("The gradient of {name}", name), tolerance=1e-3)


@check(
    "transformer-forward",
    share=1,
    title="A batch of one sentence; calls are independent",
)
def test_forward_of_one_sentence(student, draw):
    pair, (src, tgt) = twins(student, draw), draw_batch(draw)
    want = pair.trusted(src, tgt)[1:2, :2]
    words = "padding or other sentences that affect the result"
    with blame(words, lambda: test_forward_values(student, draw)):
        got = read(pair.student, src[1:2, :3], tgt[1:2, :2])
        expect_close(
            got, want, "the tensor of logits of one sentence on its own", tolerance=1e-4
        )
    other = draw_batch(draw)
    with torch.no_grad():
        old = pair.trusted.decode(other[1], pair.trusted.encode(src), other[0])[0]
    expect_each_call_anew(
        student,
        pair.student,
        [(src, tgt), other],
        pair.trusted,
        "the tensor of logits",
        mistakes={"scores for the source from an earlier call": old},
        tolerance=1e-4,
    )


@check(
    "transformer-forward",
    share=1,
    title="Dropout in training, drawn again in each call",
)
def test_forward_in_training(student, draw):
    pair, batch = twins(student, draw, dropout=0.4), draw_batch(draw)
    expect_close(
        read(pair.student, *batch), pair.trusted(*batch), "the logits", tolerance=1e-4
    )
    pair.student.train()
    expect_no_seed(student, pair.student, *batch, draws=True)


@check(
    "transformer-forward",
    share=1,
    title="dtype, device and errors as required; the inputs unchanged",
    form=True,
)
def test_forward_keeps_its_promises(student, draw):
    pair, (src, tgt) = twins(student, draw), draw_batch(draw)
    what = "the tensor of logits"
    expect_no_traces(student, pair.student, src, tgt)
    unknown = "a word id outside the source's vocabulary"
    given = src + SRC_WORDS, tgt
    expect_raises(student, pair.student, *given, kind="ValueError", what=unknown)
    alone = "one sentence without a batch axis"
    expect_raises(student, pair.student, src[0], tgt[0], kind="Exception", what=alone)
    expect_same_device(student, pair.student, src, tgt, what=what)
    pair.student.double()
    expect_double(partial(read, pair.student), pair.trusted, [src, tgt], what)


@check(
    "transformer-forward",
    share=1,
    title="Built from your parts, not from nn.Transformer",
    bans=("Transformer", ["torch.nn.Transformer"]),
)
def test_forward_is_no_built_in(student, draw):
    test_forward_values(student, draw)


# --- teacher_forcing_split --------------------------------------------------------


def draw_targets(draw, rows: int = 3, length: int = 6, pad: int = PAD) -> Tensor:
    """Draw sentences from <sos> to <eos>, each shorter than the previous one."""
    tgt = draw.ids(rows, length, low=4, high=WORDS)
    tgt[:, 0], tgt[0, -1] = SOS, EOS
    for row in range(1, rows):
        end = max(length - 1 - 2 * row, 1)
        tgt[row, end], tgt[row, end + 1 :] = EOS, pad
    if pad != PAD:
        tgt[0, 2] = PAD  # an ordinary word here
    return tgt


@check("teacher-forcing-split", share=4, title="The target is one token ahead")
def test_split_target(student, draw):
    tgt = draw_targets(draw)
    result = student.teacher_forcing_split(tgt)
    _, target = expect_parts(result, 2, "the decoder's input and the target")
    named = {
        "the decoder's input: the two are swapped, or the target is not shifted": tgt[
            :, :-1
        ],
        "the whole sentence: the target is not shifted": tgt,
        "a target that is two tokens ahead": tgt[:, 2:],
        "a target rotated by one: its last token is <sos>": tgt.roll(-1, dims=1),
        "a target without its first and last token": tgt[:, 1:-1],
        "the batch without its first sentence": tgt[1:],
    }
    expect_equal(target, tgt[:, 1:], "the target", named)


@check("teacher-forcing-split", share=3, title="The decoder reads all but the last")
def test_split_input(student, draw):
    tgt = draw_targets(draw)
    result = student.teacher_forcing_split(tgt)
    decoder_input, _ = expect_parts(result, 2, "the decoder's input and the target")
    named = {
        "the input without <eos>, which is not always the last token": tgt[
            tgt != EOS
        ].view(len(tgt), -1),
        "the target: target and input are swapped, or the input begins after "
        "<sos>": tgt[:, 1:],
        "the whole sentence, including its last token": tgt,
        "an input without its first and last token": tgt[:, 1:-1],
        "the input rotated by one": tgt.roll(1, dims=1),
        "the batch without its last sentence": tgt[:-1],
        "the input without its last two tokens": tgt[:, :-2],
    }
    expect_equal(decoder_input, tgt[:, :-1], "the decoder's input", named)


def expect_split(student, tgt: Tensor, whose: str) -> None:
    """Compare both parts of a split with the right parts."""
    result = student.teacher_forcing_split(tgt)
    first, second = expect_parts(result, 2, "the decoder's input and the target")
    expect_equal(first, tgt[:, :-1], Phrase("the input of {whose}", whose))
    expect_equal(second, tgt[:, 1:], Phrase("the target of {whose}", whose))


@check("teacher-forcing-split", share=2, title="Any batch, any length, any tokens")
def test_split_of_other_batches(student, draw):
    def ordinary() -> None:
        test_split_target(student, draw)
        test_split_input(student, draw)

    with blame("code that assumes a certain batch size or length", ordinary):
        short = draw_targets(draw, rows=1, length=2)
        expect_split(student, short, "a sentence of two tokens")
    with blame("special tokens written into the code", ordinary):
        expect_split(student, draw.ids(2, 4, low=20), "sentences with other tokens")
    with blame("code that cuts off columns of padding", ordinary):
        padding = torch.full((3, 2), PAD)
        padded = torch.cat([draw_targets(draw), padding], dim=1)
        expect_split(student, padded, "sentences followed by only padding")
    for part in (0, 1):
        expect_each_call_anew(
            student,
            student.teacher_forcing_split,
            [(draw_targets(draw, 4, 7),), (draw_targets(draw, 4, 7),)],
            lambda tgt, part=part: (tgt[:, :-1], tgt[:, 1:])[part],
            "the target" if part else "the decoder's input",
            part=part,
        )
    for n in orders_of(("b", "t"), least=2).values():
        with blame(SOME_SIZES, ordinary):
            ids = draw.ids(n["t"], n["b"], low=0, high=12).mT  # not contiguous
            expect_split(student, ids, "batches of other sizes")
            same = ids[:1].repeat(n["b"], 1)
            expect_split(student, same, "a sentence at every position of a batch")


@check(
    "teacher-forcing-split",
    share=1,
    title="Integers on the same device; tgt unchanged",
    form=True,
)
def test_split_keeps_its_promises(student, draw):
    tgt = draw_targets(draw)
    split = student.teacher_forcing_split
    result = expect_no_traces(student, split, tgt)
    for part, what in zip(
        expect_parts(result, 2, "two things"), ("the input", "it"), strict=True
    ):
        expect_dtype(part, torch.int64, what)
    other = draw_targets(draw, 5, 8)  # no stored result fits these
    expect_same_device(student, split, other, what="one of your tensors")


# --- label_smoothed_loss ----------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """Logits (b, t, V), targets (b, t) with padding, and the settings of the loss."""

    logits: Tensor
    target: Tensor
    pad: int = PAD
    smoothing: float = 0.0

    @property
    def arguments(self) -> tuple:
        """Return the four arguments in the order of the function's parameters."""
        return self.logits, self.target, self.pad, self.smoothing


def draw_case(draw, pad: int = PAD, smoothing: float = 0.0) -> Case:
    """Draw logits for sentences of length 5, 3 and 1 in a vocabulary of 12 words.

    With the fixed seed 0 and with smoothing, each known mistake changes the loss
    clearly.
    """
    target = draw.ids(3, 5, low=4, high=WORDS)
    target[0, 1], target[0, 4], target[1, 0], target[1, 2] = 0, EOS, SOS, EOS
    target[target == pad] = 4
    target[0, 2] = 1 if pad != 1 else 4
    target[1, 3:], target[2, 1:] = pad, pad
    return Case(2 * draw.normal(3, 5, WORDS), target, pad, smoothing)


def true_loss(case: Case) -> Tensor:
    """Compute the right loss in float64."""
    return label_smoothed_loss(case.logits.double(), *case.arguments[1:])


class Losses:
    """The loss of each token of a case, in float64, and means over tokens.

    Attributes:
        log_p: the log-probabilities (b, t, V).
        kept: True at real tokens (b, t).
        from_target: the loss of the target only (b, t).
        from_all: the mean of the losses of all words (b, t).
        each: both losses, combined by label smoothing (b, t).
    """

    def __init__(self, case: Case) -> None:
        """Compute the attributes for a case."""
        self.target, self.smoothing = case.target, case.smoothing
        self.kept = case.target != case.pad
        self.log_p = case.logits.double().log_softmax(dim=-1)
        self.from_target = -self.at_target(self.log_p)
        self.from_all = -self.log_p.mean(dim=-1)
        s = case.smoothing
        self.each = (1 - s) * self.from_target + s * self.from_all

    def at_target(self, values: Tensor) -> Tensor:
        """Return the targets' values (b, t), from values of all words (b, t, V)."""
        return values.gather(-1, self.target.unsqueeze(-1)).squeeze(-1)

    def mean(self, values: Tensor, where: Tensor | None = None) -> Tensor:
        """Return the mean over the real tokens, or over the tokens of `where`."""
        return values[self.kept if where is None else where].mean()

    def spread(self, values: Tensor, others: int) -> Tensor:
        """Return the loss if the smoothing is divided among `others` words.

        These words do not include the target.
        """
        s, own = self.smoothing, self.at_target(values)
        return -((1 - s) * own + s * (values.sum(dim=-1) - own) / others)


def loss_mistakes(case: Case) -> Named:
    """Return wrong losses, keyed by the name of the mistake."""
    losses = Losses(case)
    each, kept, mean = losses.each, losses.kept, losses.mean
    logits = case.logits.double()
    named: Named = {
        **sum_mistakes(losses),
        **logarithm_mistakes(case, losses),
        "the loss with <unk> (id 0) left out instead of padding": lambda: mean(
            each, case.target != 0
        ),
        "the loss with 1 used as the padding id": lambda: mean(each, case.target != 1),
        "the loss with <eos> (id 3) left out instead of padding": lambda: mean(
            each, case.target != EOS
        ),
        "the loss without <eos>": lambda: mean(each, kept & (case.target != EOS)),
        "a loss whose softmax runs over the positions": lambda: mean(
            -losses.at_target(logits.log_softmax(dim=1))
        ),
        "the perplexity, not the loss": lambda: mean(each).exp(),
        "2 to the power of the loss": lambda: 2 ** mean(each),
        "the loss of each token, not their mean": each * kept,
        "the losses of the real tokens, not their mean": each[kept],
        "the loss with the first sentence's padding for every sentence": lambda: mean(
            each, kept & kept[0]
        ),
    }
    if case.smoothing:
        return named | smoothing_mistakes(case, losses)
    usual = Losses(replace(case, smoothing=0.1))
    return named | {
        "a loss with label smoothing of 0.1 instead of 0": lambda: mean(usual.each)
    }


def sum_mistakes(losses: Losses) -> Named:
    """Return losses with a wrong sum or divisor, keyed by the name of the mistake."""
    each, kept = losses.each, losses.kept
    return {
        "the loss with padding counted": lambda: losses.mean(each, kept | True),
        "a sum over the tokens, not their mean": lambda: each[kept].sum(),
        "a sum over the real tokens, divided by all positions": lambda: (
            each[kept].sum() / kept.numel()
        ),
        "the sum of the tokens divided by the number of sentences": lambda: (
            each[kept].sum() / len(kept)
        ),
        "the mean of the sentences' means": lambda: (
            (each * kept).sum(dim=1) / kept.sum(dim=1)
        ).mean(),
    }


def logarithm_mistakes(case: Case, losses: Losses) -> Named:
    """Return losses with a wrong softmax, logarithm or sign, keyed by name."""
    logits, s = case.logits.double(), case.smoothing
    at_target, mean = losses.at_target, losses.mean
    return {
        "only the target's score: the log-sum-exp is missing": lambda: mean(
            -at_target(logits)
        ),
        "a loss with a softmax before the log-softmax": lambda: mean(
            -(1 - s) * at_target(logits.softmax(-1).log_softmax(-1))
            - s * logits.softmax(-1).log_softmax(-1).mean(-1)
        ),
        "the probability of the target, without the logarithm": lambda: mean(
            -at_target(losses.log_p.exp())
        ),
        "the loss with the wrong sign": lambda: -mean(losses.each),
        "a loss in bits: the logarithm to base 2": lambda: (
            mean(losses.each) / math.log(2)
        ),
    }


def smoothed_label(smoothing: float, words: int) -> Tensor:
    """Return the smoothed label of a position whose target is the first word."""
    label = torch.full((words,), smoothing / words, dtype=torch.float64)
    label[0] += 1 - smoothing
    return label


def smoothing_mistakes(case: Case, losses: Losses) -> dict[str, Callable[[], Tensor]]:
    """Return losses with wrong label smoothing, keyed by the name of the mistake."""
    mean, spread, log_p = losses.mean, losses.spread, losses.log_p
    from_target, from_all = losses.from_target, losses.from_all
    s, words = case.smoothing, case.logits.size(-1)
    label = smoothed_label(s, words)

    def without_pad() -> Tensor:
        values = log_p.clone()
        values[..., case.pad] = 0.0
        return mean(spread(values, words - 2))

    return {
        "the loss without label smoothing": lambda: mean(from_target),
        "a loss whose smoothing is spread over only the other words": lambda: mean(
            spread(log_p, words - 1)
        ),
        "a loss whose smoothing leaves out target and padding": without_pad,
        "a loss whose smoothing gives ε / (V - 2) to each other word": lambda: mean(
            spread(log_p, words - 2)
        ),
        "the KL divergence: the label's entropy is subtracted": lambda: (
            mean(losses.each) + label.xlogy(label).sum()
        ),
        "a loss with smoothing added, not mixed in": lambda: mean(
            from_target + s * from_all
        ),
        "a loss with the weights of target and smoothing swapped": lambda: mean(
            s * from_target + (1 - s) * from_all
        ),
        "a loss whose smoothing is summed over the words, not averaged": lambda: mean(
            (1 - s) * from_target - s * log_p.sum(dim=-1)
        ),
        "a loss whose smoothing counts padding": lambda: (
            (1 - s) * mean(from_target) + s * from_all.mean()
        ),
        "only the target's share, 1 - smoothing: the rest is missing": lambda: mean(
            (1 - s) * from_target
        ),
    }


def expect_loss(student, case: Case, what: str = "the loss") -> None:
    """Compare the loss of a case with the right loss."""
    got = student.label_smoothed_loss(*case.arguments)
    expect_close(got, true_loss(case), what, mistakes=loss_mistakes(case))


@check("label-smoothed-loss", share=6, title="Plain cross-entropy, without the padding")
def test_loss_without_smoothing(student, draw):
    case = draw_case(draw)
    expect_loss(student, case)
    got = student.label_smoothed_loss(*case.arguments[:3])
    expect_close(got, true_loss(case), "without `smoothing`, the loss")


@check(
    "label-smoothed-loss",
    share=6,
    title="Smoothed labels, with weak and strong smoothing",
)
def test_loss_with_smoothing(student, draw):
    for smoothing in (0.15, 0.35, 1.0):
        case = draw_case(draw.fixed(0), smoothing=smoothing)
        expect_loss(student, case, "the smoothed loss")


@check("label-smoothed-loss", share=2, title="A different padding id")
def test_loss_of_another_pad_id(student, draw):
    words = "a loss that assumes one padding id"
    with blame(words, lambda: test_loss_with_smoothing(student, draw)):
        expect_loss(student, draw_case(draw.fixed(0), pad=7, smoothing=0.2))
    with blame(words, lambda: test_loss_without_smoothing(student, draw)):
        expect_loss(student, draw_case(draw, pad=0))


@check("label-smoothed-loss", share=2, title="Any sizes; padding at every position")
def test_loss_of_every_padding(student, draw):
    ids, place = draw.ids(4, 6, low=4, high=WORDS), torch.arange(6)
    first, second = (
        Case(
            2 * draw.normal(4, 6, WORDS),
            ids.masked_fill(place >= torch.tensor(lengths)[:, None], PAD),
            smoothing=0.2,
        )
        for lengths in ((6, 2, 5, 3), (3, 5, 2, 4))
    )
    losses = Losses(second)
    named = loss_mistakes(second)
    named["a loss with the padding from an earlier call"] = losses.mean(
        losses.each, first.target != PAD
    )
    expect_each_call_anew(
        student,
        student.label_smoothed_loss,
        [first.arguments, second.arguments],
        lambda *arguments: true_loss(Case(*arguments)),
        "the loss",
        mistakes=named,
    )
    targets = draw.padded_ids(3, 5, PAD, high=WORDS)
    logits = 2 * draw.normal(3, 5, WORDS)

    def compare(place: str) -> None:
        case = Case(logits, targets[place], smoothing=0.2)
        expect_loss(student, case, Phrase("with {place}, the loss", place))

    expect_every_padding(targets, compare)
    many = draw.ids(3, 173, low=4, high=WORDS)  # in eight bits, 519 would be 7
    with blame("a loss that counts words in a dtype with too few bits"):
        expect_loss(student, Case(2 * draw.normal(3, 173, WORDS), many))
    expect_loss_of_every_size(student, draw)


def expect_loss_of_every_size(student, draw) -> None:
    """Fail unless the loss is right for every order of sizes, and any smoothing."""
    quiet = student.load("torch.no_grad")()(student.label_smoothed_loss)
    for number, (case, n) in enumerate(orders_of(("b", "t", "n_words")).items()):
        pad = 0 if number % 2 else n["n_words"]
        target = draw_rows(draw, n["b"], n["t"], n["n_words"], pad)
        logits = 2 * draw.normal(n["b"], n["t"], n["n_words"] + 1)
        if case == "falling":
            logits = logits.abs() + 0.1
        if case == "equal":
            logits, target = logits[:1].repeat(4, 1, 1), target[-1:].repeat(4, 1)
        for smoothing in (0.0, 0.05, 0.1, 0.7):
            given = Case(logits, target, pad, smoothing)
            whose = Phrase(
                "With {sizes}, {what}", Varied(case, n, []).words, "the loss"
            )
            with blame(SOME_SIZES, lambda: test_loss_with_smoothing(student, draw)):
                expect_close(quiet(*given.arguments), true_loss(given), whose)


@check("label-smoothed-loss", share=3, title="The gradient is also right")
def test_loss_gradient(student, draw):
    case = draw_case(draw.fixed(0), smoothing=0.15)
    run = student.gradients(student.label_smoothed_loss, *case.arguments)

    def of_plain_part() -> Tensor:
        leaf = case.logits.double().requires_grad_()
        loss = true_loss(replace(case, logits=leaf, smoothing=0.0))
        return (1 - case.smoothing) * torch.autograd.grad(loss, leaf)[0]

    expect_gradients(
        run,
        lambda logits: label_smoothed_loss(logits, *case.arguments[1:]),
        [case.logits],
        torch.tensor(1.0),
        [{"the target's gradient only: the smoothing adds nothing": of_plain_part}],
    )


def little_mistakes(case: Case) -> Named:
    """Return losses from a softmax to which a small number is added, keyed by name."""
    losses, s = Losses(case), case.smoothing

    def loss(epsilon: float) -> Tensor:
        log_p = (losses.log_p.exp() + epsilon).log()
        each = (1 - s) * losses.at_target(log_p) + s * log_p.mean(dim=-1)
        return -losses.mean(each)

    return {
        Phrase(
            "the logarithm of a softmax to which a small number is added, {added}",
            f"{e:g}",
        ): partial(loss, e)
        for e in (1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-12)
    }


@check("label-smoothed-loss", share=2, title="Large scores stay finite")
def test_loss_of_large_scores(student, draw):
    case = draw_case(draw.fixed(0), smoothing=0.45)
    high = replace(case, logits=case.logits + 200)
    apart = replace(case, logits=rows_far_apart(draw, 3, 5, WORDS))
    large = replace(case, logits=200 * case.logits)
    for hard, what, words in (
        (high, "the loss of high scores", "an exponential that overflows"),
        (
            apart,
            "the loss of tokens whose scores differ by thousands",
            "the largest score of the whole batch, subtracted from every row",
        ),
        (
            large,
            "the loss of large scores",
            "the logarithm of a softmax, whose small probabilities become 0",
        ),
    ):
        with blame(words, lambda: test_loss_with_smoothing(student, draw)):
            got = student.label_smoothed_loss(*hard.arguments)
            want, named = true_loss(hard), little_mistakes(hard)
            expect_close(got, want, what, named, tolerance=5e-4)


@check(
    "label-smoothed-loss",
    share=2,
    title="No tokens: loss and gradient are 0; one token: that token's loss",
)
def test_loss_of_padding_alone(student, draw):
    case = draw_case(draw.fixed(0), smoothing=0.15)
    empty = torch.full_like(case.target, PAD)

    words = "a division by zero when there is no token"
    with blame(words, lambda: test_loss_with_smoothing(student, draw)):
        got = student.label_smoothed_loss(case.logits, empty, PAD, 0.15)
    zero, named = torch.tensor(0.0), {words: torch.tensor(math.nan)}
    expect_close(got, zero, "the loss of a batch of only padding", named)
    single = replace(case, target=empty.index_fill(1, torch.tensor([0]), 4))
    single = replace(single, logits=case.logits[:1], target=single.target[:1])
    expect_loss(student, single, "the loss of a single token")
    run = student.gradients(student.label_smoothed_loss, case.logits, empty, PAD, 0.15)
    (gradient, *_) = run.inputs
    if gradient is None:
        fail(
            "The loss of a batch of only padding has no gradient, and "
            "`backward` raises an error: compute this loss from the "
            "logits.",
            mistake="no gradient when everything is padding",
        )
    if gradient.isnan().any():
        fail(
            "When everything is padding, the loss is 0, but its "
            "gradient contains NaN: the code still computes 0 / 0.",
            mistake="a NaN in the gradient when everything is padding",
        )
    expect_close(
        gradient, torch.zeros_like(gradient), "The gradient of a batch of only padding"
    )


@check(
    "label-smoothed-loss",
    share=2,
    title="Scalar, dtype and device kept, inputs unchanged",
    form=True,
)
def test_loss_keeps_its_promises(student, draw):
    case, loss = draw_case(draw.fixed(0), smoothing=0.15), student.label_smoothed_loss
    expect_shape(loss(*case.arguments), (), "the loss")
    expect_no_traces(student, loss, *case.arguments, still=True)
    expect_same_device(student, loss, *case.arguments, what="the loss")
    rest = case.arguments[1:]
    expect_double(
        lambda logits: loss(logits, *rest),
        lambda logits: label_smoothed_loss(logits, *rest),
        [case.logits],
        "the loss",
    )
    across = case.logits.transpose(0, 2).contiguous().transpose(0, 2)
    words = "code that requires its inputs to be contiguous in memory"
    with blame(words, lambda: test_loss_with_smoothing(student, draw)):
        got = loss(across, *rest)
        expect_close(got, true_loss(case), "the loss of a transposed tensor")


def is_number(value: Any) -> bool:
    """Return whether a value is a plain number."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


# --- warmup_rate ------------------------------------------------------------------


def rate_mistakes(step: int, d: int, w: int) -> dict[str, Callable[[], float]]:
    """Return wrong learning rates, keyed by the name of the mistake."""
    n, fall, rise = float(step), step**-0.5 if step else math.inf, step * w**-1.5
    low, peak = min(fall, rise), w**-0.5
    return {
        "a schedule with max instead of min": lambda: d**-0.5 * max(fall, rise),
        "a schedule that only rises": lambda: d**-0.5 * rise,
        "a schedule that only falls": lambda: d**-0.5 * fall,
        "a schedule without d_model": lambda: low,
        "a schedule multiplied by the square root of d_model": lambda: d**0.5 * low,
        "a schedule divided by d_model, not by its square root": lambda: low / d,
        "a schedule whose rise has the wrong power of warmup": lambda: (
            d**-0.5 * min(fall, n * w**-0.5)
        ),
        "a schedule whose rise is divided by warmup only": lambda: (
            d**-0.5 * min(fall, n / w)
        ),
        "a schedule that falls as 1/step, not as 1/√step": lambda: (
            d**-0.5 * min(1 / n, rise)
        ),
        "a schedule that stays at its highest rate": lambda: d**-0.5 * min(peak, rise),
        "a schedule that is one step ahead": lambda: (
            d**-0.5 * min((n + 1) ** -0.5, (n + 1) * w**-1.5)
        ),
        "a schedule that is one step behind": lambda: (
            d**-0.5 * min((n - 1) ** -0.5, (n - 1) * w**-1.5)
        ),
        "a schedule with the signs of two exponents flipped": lambda: (
            d**-0.5 * min(n**0.5, n * w**1.5)
        ),
    }


def true_rate(step: int, d_model: int, warmup: int) -> float:
    """Compute the right rate of a step after step 0."""
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)


def expect_rates(
    student,
    steps: list[int],
    d_model: int,
    warmup: int,
    ambiguous: tuple = (),
    before: tuple[int, int] | None = None,
) -> None:
    """Compare the rates of some steps, each divided by the right rate.

    The rates are divided because they are very small.

    Args:
        student: the fixture.
        steps: the numbers of the steps.
        d_model: the width.
        warmup: the length of the warm-up.
        ambiguous: mistakes that give the same rates at these steps.
        before: width and warm-up of an earlier comparison of the same steps.
    """
    rates = [rate_of(student, step, d_model, warmup) for step in steps]
    wrong = [rate_mistakes(step, d_model, warmup) for step in steps]
    right = [true_rate(step, d_model, warmup) for step in steps]

    def relative(phrase: str) -> Tensor:
        makers = (mistakes[phrase] for mistakes in wrong)
        return torch.tensor([make() / r for make, r in zip(makers, right, strict=True)])

    named: Named = {
        phrase: partial(relative, phrase)
        for phrase in wrong[0]
        if phrase not in ambiguous
    }
    if before is not None:
        old = [true_rate(n, *before) / r for n, r in zip(steps, right, strict=True)]
        named[KEPT] = torch.tensor(old)
    want = torch.ones(len(steps))
    expect_close(torch.tensor(rates), want, "The row of rates", mistakes=named)


def rate_of(student, step: int, d_model: int, warmup: int) -> float:
    """Return the student's rate divided by the right rate."""
    got = student.warmup_rate(step, d_model, warmup)
    got = got.item() if isinstance(got, Tensor) and got.dim() == 0 else got
    if not is_number(got):
        fail("The rate should be a number.", mistake="something other than a number")
    return got / true_rate(step, d_model, warmup)


# Step, d_model and warm-up below, at and above each other, at 1, and far apart.
ODD_RATES = [(2, 3, 4), (4, 3, 2), (5, 5, 5), (1, 1, 1), (3, 1, 2), (2, 2, 1)]
ODD_RATES += [(7, 2000, 7), (3000, 2, 9000), (50, 50, 49), (49, 512, 50)]
ODD_RATES += [(4000, 512, 4000), (4001, 256, 4000), (4096, 1024, 4096)]

# These mistakes give the same rates on one half of the schedule.
ANY_HALF = ("a schedule with max instead of min",)
RISE, FALL = "a schedule that only rises", "a schedule that only falls"


@check("warmup-rate", share=3, title="The rate rises linearly")
def test_rate_rises(student, draw):
    d_model, warmup = draw.integer(10, 90), draw.integer(60, 90)
    steps = [3, draw.integer(4, 9), draw.integer(12, 25), warmup // 2, warmup - 2]
    expect_rates(student, steps, d_model, warmup, (*ANY_HALF, FALL))


@check("warmup-rate", share=3, title="Then it falls with the square root of the step")
def test_rate_falls(student, draw):
    # No other check uses these steps, so a stored rate is found only by another check.
    d_model, warmup = draw.integer(10, 90), draw.integer(100, 140)
    steps = [warmup + 2, draw.integer(200, 900), draw.integer(2000, 9000)]
    expect_rates(student, steps, d_model, warmup, (*ANY_HALF, RISE))


@check("warmup-rate", share=3, title="The whole schedule, for several models in turn")
def test_whole_rate(student, draw):
    steps = [1, 2, 1200, 1699, 1700, 1701, 100_000]
    expect_rates(student, steps, 640, 1700)
    expect_rates(student, steps, 96, 700, before=(640, 1700))
    expect_rates(student, [1, 2, 30], draw.integer(7, 30), 1)
    with blame("a table of rates that is too short"):
        expect_rates(student, [3_000_000], 640, 1700)
    for step, d_model, warmup in ODD_RATES:
        with blame(SOME_SIZES, lambda: expect_rates(student, [1, 2, 1200], 640, 1700)):
            got = torch.tensor(rate_of(student, step, d_model, warmup))
            expect_close(got, torch.tensor(1.0), "The row of rates")


@check("warmup-rate", share=1, title="At step 0 the rate is 0", form=True)
def test_rate_at_zero(student, draw):
    d_model, warmup = draw.integer(10, 90), draw.integer(40, 90)
    words = "a division by zero at step 0"
    with blame(words, lambda: test_whole_rate(student, draw)):
        got = student.warmup_rate(0, d_model, warmup)
    named = {
        "the rate of step 1": torch.tensor(true_rate(1, d_model, warmup)),
        Phrase("infinity: {words}", words): torch.tensor(math.inf),
    }
    zero = torch.tensor(0.0)
    expect_close(got, zero, "The rate at step 0", named, tolerance=1e-12)


# --- train_step -------------------------------------------------------------------

WIDTH, RATE = 5, 0.7


@dataclass(frozen=True)
class Batch:
    """Padded sources (b, s) and targets (b, t)."""

    src: Tensor
    tgt: Tensor


@dataclass(frozen=True)
class Way:
    """A way to take a step, which is correct by default.

    Attributes:
        read: a function from the sentences to the decoder's input.
        asked: a function from the sentences to the target.
        clip: a function that clips the gradients of parameters to a maximum norm.
        training: whether dropout is on.
        clear: whether the step clears old gradients.
        clear_late: whether the step clears gradients after the update.
        total: whether the loss is a sum.
        uphill: whether the step increases the loss.
    """

    read: Callable[[Tensor], Tensor] = lambda tgt: tgt[:, :-1]
    asked: Callable[[Tensor], Tensor] = lambda tgt: tgt[:, 1:]
    clip: Callable[[list, float], Any] = nn.utils.clip_grad_norm_
    training: bool = True
    clear: bool = True
    clear_late: bool = False
    total: bool = False
    uphill: bool = False


@dataclass(frozen=True)
class Start:
    """A model with its weights, and the settings of its training.

    With `old`, the model already has a gradient, that of the logits of this batch.
    """

    model: BagTranslator
    settings: StepSettings
    rate: float = RATE
    momentum: float = 0.0
    old: Batch | None = None

    def settled(self, **changes) -> "Start":
        """Return a copy with other settings."""
        return replace(self, settings=replace(self.settings, **changes))


def do_nothing(parameters: list, length: float) -> None:
    """Leave the gradients unclipped."""


def cut_each(parameters: list, length: float) -> None:
    """Clip the gradient of each parameter separately."""
    for parameter in parameters:
        nn.utils.clip_grad_norm_([parameter], length)


def always_scale(parameters: list, length: float) -> None:
    """Scale every gradient to the maximum norm, even if it is already shorter."""
    norm = torch.cat([p.grad.flatten() for p in parameters]).norm()
    for parameter in parameters:
        parameter.grad *= length / norm


def after(start: Start, batches: list[Batch], way: Way = Way()) -> tuple[float, Tensor]:
    """Take a step on each batch; return the last loss and all weights."""
    model = deepcopy(start.model).double()
    if start.old is not None:
        model(start.old.src, start.old.tgt).sum().backward()
    model.train(way.training)
    parameters, settings = list(model.parameters()), start.settings
    sgd = torch.optim.SGD(
        parameters, start.rate, momentum=start.momentum, maximize=way.uphill
    )
    for batch in batches:
        if way.clear:
            model.zero_grad()
        target = way.asked(batch.tgt)
        logits = model(batch.src, way.read(batch.tgt))
        loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
        loss = loss * (target != settings.pad_id).sum() if way.total else loss
        loss.backward()
        way.clip(parameters, settings.max_norm)
        sgd.step()
        if way.clear_late:
            model.zero_grad()
    return loss.item(), flat(dict(model.named_parameters()))


def flat(state: dict[str, Tensor]) -> Tensor:
    """Return all weights of a model as one vector."""
    return torch.cat([state[name].detach().flatten() for name in sorted(state)])


def draw_start(draw, dropout: float = 0.0, model_pad=PAD, **settings) -> Start:
    """Draw a model with random weights, and settings."""
    settings = {"pad_id": PAD, "smoothing": 0.2, "max_norm": 0.15} | settings
    model = BagTranslator(WORDS, WIDTH, dropout, model_pad)
    shapes = {name: tuple(p.shape) for name, p in model.state_dict().items()}
    model.load_state_dict(draw.state(shapes))
    return Start(model, StepSettings(**settings))


def draw_pairs(draw, pad: int = PAD, rows: int = 3) -> Batch:
    """Draw a batch of pairs."""
    src, tgt = draw_targets(draw, rows, 5, pad), draw_targets(draw, rows, pad=pad)
    return Batch(src, tgt)


@dataclass(frozen=True)
class Taken:
    """The results of the student's steps: the last loss and tokens, weights, model."""

    loss: Any
    tokens: Any
    weights: Tensor
    model: Any


def step_arguments(student, start: Start, batch: Batch) -> tuple:
    """Return all arguments of a step, made in the student's process."""
    settings, old = start.settings, start.old
    model = student.load(BAG)(WORDS, WIDTH, start.model.dropout.p, start.model.pad_id)
    model.load_state_dict(start.model.state_dict())
    model.eval()
    sgd = student.load("torch.optim.SGD")(
        model.parameters(), lr=start.rate, momentum=start.momentum
    )
    if old is not None:
        student.gradients(model, old.src, old.tgt)
    given = settings.pad_id, settings.smoothing, settings.max_norm
    return model, batch.src, batch.tgt, sgd, student.load(SETTINGS)(*given)


def take(student, start: Start, batches: list[Batch]) -> Taken:
    """Call the student's function once for each batch."""
    model, *_, sgd, settings = step_arguments(student, start, batches[0])
    for batch in batches:
        result = student.train_step(model, batch.src, batch.tgt, sgd, settings)
    loss, tokens = expect_parts(result, 2, "the loss and the number of tokens")
    return Taken(loss, tokens, flat(model.state_dict()), model)


LENGTH_LEFT = """
lambda model: sum(
    float((p.grad**2).sum()) for p in model.parameters() if p.grad is not None
) ** 0.5
"""


def is_cut_late(student, taken: Taken, start: Start) -> bool:
    """Return whether the model's gradient after a step has the maximum norm."""
    length = student.load("builtins.eval")(LENGTH_LEFT)(taken.model)
    return math.isclose(length, start.settings.max_norm, rel_tol=1e-3)


def step_mistakes(start: Start, batches: list[Batch]) -> Named:
    """Return wrong weights after a step, keyed by the name of the mistake."""

    def weights_after(start: Start, way: Way = Way()) -> Callable[[], Tensor]:
        return lambda: after(start, batches, way)[1]

    first = [Batch(batch.src, batches[0].tgt) for batch in batches]
    named: Named = {
        "the weights from before: nothing is updated": lambda: flat_of(start),
        "a step on the target of the first batch": lambda: after(start, first)[1],
    }
    others = wrong_starts(start)
    named |= {phrase: weights_after(start, way) for phrase, way in wrong_ways().items()}
    return named | {phrase: weights_after(other) for phrase, other in others.items()}


def wrong_starts(start: Start) -> dict[str, Start]:
    """Return wrong settings with which a step may start, keyed by name."""
    return {
        "a step on a loss that counts padding": start.settled(pad_id=-1),
        "a step on a loss without label smoothing": start.settled(smoothing=0.0),
        "a step with the usual settings, not the given ones": replace(
            start, settings=StepSettings()
        ),
        "a step with the usual max_norm, not the given one": start.settled(
            max_norm=1.0
        ),
        "a step with the usual pad_id, not the given one": start.settled(pad_id=PAD),
        "a step with the model's pad_id, not the given one": start.settled(
            pad_id=start.model.pad_id
        ),
        "weights that are updated twice in a step": replace(start, rate=2 * start.rate),
        "code that updates the weights itself, without the optimiser": replace(
            start, momentum=0.0
        ),
    }


def wrong_ways() -> dict[str, Way]:
    """Return the wrong ways to take a step, keyed by name."""
    unshifted = Way(asked=lambda tgt: tgt[:, :-1])
    return {
        "a step that adds to old gradients: no zero_grad": Way(clear=False),
        "a step that adds to an older gradient: zero_grad comes at the end": Way(
            clear=False, clear_late=True
        ),
        "a step whose gradient is not clipped": Way(clip=do_nothing),
        "a step that clips each entry of the gradient separately": Way(
            clip=nn.utils.clip_grad_value_
        ),
        "a step that clips each parameter's gradient separately": Way(clip=cut_each),
        "a step that measures a gradient by its largest entry": Way(
            clip=partial(nn.utils.clip_grad_norm_, norm_type=math.inf)
        ),
        "a step that also scales up short gradients": Way(clip=always_scale),
        "a step in evaluation mode, without dropout": Way(training=False),
        "a step on a target that is not shifted": unshifted,
        "a step with input and target swapped": Way(Way().asked, Way().read),
        "a step that increases the loss": Way(uphill=True),
        "a step on the sum of the losses": Way(total=True),
    }


def flat_of(start: Start) -> Tensor:
    """Return the weights with which a model starts, as one vector."""
    return flat(dict(deepcopy(start.model).double().named_parameters()))


def expect_weights(student, start: Start, batches: list[Batch]) -> None:
    """Fail unless the weights after the student's steps are right."""
    taken, named = take(student, start, batches), step_mistakes(start, batches)

    def cut_late() -> Tensor:
        if not is_cut_late(student, taken, start):
            raise LookupError("the remaining gradient has a different length")
        return after(start, batches, Way(clip=do_nothing))[1]

    late = {"a step that clips its gradient only after the update": cut_late}
    want = after(start, batches)[1]
    expect_close(taken.weights, want, "The tensor of new weights", late | named)


@check("train-step", share=4, title="One step changes the weights correctly")
def test_step_weights(student, draw):
    expect_weights(student, draw_start(draw), [draw_pairs(draw)])


@check("train-step", share=2, title="A gradient that is short enough is not changed")
def test_step_with_a_short_gradient(student, draw):
    draw = draw.fixed(0)  # its gradient's norm is between 1 and 40
    start, batch = draw_start(draw, max_norm=50.0), draw_pairs(draw)
    expect_weights(student, start, [batch])


@check("train-step", share=3, title="Each step starts from a clean gradient")
def test_step_clears_gradients(student, draw):
    start = replace(draw_start(draw, max_norm=50.0), old=draw_pairs(draw))
    expect_weights(student, start, [draw_pairs(draw), draw_pairs(draw)])


@check("train-step", share=2, title="Dropout is on, although the model was in eval()")
def test_step_trains(student, draw):
    start, batches = draw_start(draw, dropout=1.0, max_norm=50.0), [draw_pairs(draw)]
    still = after(start, batches, Way(training=False))[1]
    named = {"a step in evaluation mode, without dropout": still}
    got, want = take(student, start, batches).weights, after(start, batches)[1]
    expect_close(got, want, "With dropout the tensor of new weights", named)


@check(
    "train-step", share=2, title="pad_id, smoothing and max_norm have the given values"
)
def test_step_uses_its_settings(student, draw):
    start = draw_start(draw, model_pad=5, pad_id=0, smoothing=0.4, max_norm=0.05)
    batch = draw_pairs(draw, pad=0)
    batch.tgt[0, 1] = start.model.pad_id  # an ordinary word here
    expect_weights(student, start, [batch])


@check("train-step", share=3, title="It returns the loss before the update, a number")
def test_step_returns_the_loss(student, draw):
    start, batch = draw_start(draw, max_norm=50.0), draw_pairs(draw)
    loss = take(student, start, [batch]).loss
    if isinstance(loss, Tensor):
        fail(
            "The loss is a tensor: get its value with .item().",
            mistake="a tensor instead of a number",
        )
    if not is_number(loss):
        fail("The loss should be a number.", mistake="something other than a number")

    def loss_of(other: Start = start, way: Way = Way()) -> Tensor:
        return torch.tensor(after(other, [batch], way)[0])

    settled = replace(start, model=deepcopy(start.model))
    named = {
        "the loss after the update": lambda: torch.tensor(
            after(start, [batch, batch])[0]
        ),
        "the sum of the tokens' losses, not their mean": lambda: loss_of(
            way=Way(total=True)
        ),
        "the loss with padding counted": lambda: loss_of(settled.settled(pad_id=-1)),
        "the loss without label smoothing": lambda: loss_of(
            settled.settled(smoothing=0.0)
        ),
        "the loss of a target that is not shifted": lambda: loss_of(
            way=Way(asked=lambda tgt: tgt[:, :-1])
        ),
        "the perplexity, not the loss": lambda: loss_of().exp(),
        "2 to the power of the loss": lambda: 2 ** loss_of(),
    }
    expect_close(loss, loss_of(), "The loss", mistakes=named)


@check("train-step", share=2, title="It returns the number of target tokens that count")
def test_step_returns_the_tokens(student, draw):
    for pad in (PAD, 0):
        start, batch = draw_start(draw, model_pad=5, pad_id=pad), draw_pairs(draw, pad)
        batch.tgt[0, 1] = start.model.pad_id  # an ordinary word here
        tokens = take(student, start, [batch]).tokens
        if isinstance(tokens, Tensor):
            fail(
                "The number of tokens is a tensor: convert it with int(…).",
                mistake="a tensor instead of a number",
            )
        expect_tokens(tokens, batch, pad)


def expect_tokens(tokens: Any, batch: Batch, pad: int) -> None:
    """Compare the number of tokens that count with the right number."""
    target, read = batch.tgt[:, 1:], batch.tgt[:, :-1]
    named = {
        "the number of positions, including padding": target.numel(),
        "the number of tokens if the padding id is 1": int((target != 1).sum()),
        "the number of tokens, including <sos>": int((batch.tgt != pad).sum()),
        "the number of the decoder's input tokens": int((read != pad).sum()),
        "the number of the source's tokens": int((batch.src != pad).sum()),
        "the number of sentences": len(target),
        "the number of padding tokens": int((target == pad).sum()),
    }
    expect_equal(tokens, int((target != pad).sum()), "the number of tokens", named)


@check("train-step", share=1, title="The optimiser updates the weights")
def test_step_uses_the_optimiser(student, draw):
    start = replace(draw_start(draw), momentum=0.9)
    batches = [draw_pairs(draw, rows=4), draw_pairs(draw, rows=4)]
    expect_weights(student, start, batches)


@check("train-step", share=1, title="The batch unchanged, no seed set", form=True)
def test_step_leaves_no_traces(student, draw):
    start, step = draw_start(draw, dropout=0.4), student.train_step
    given = step_arguments(student, start, draw_pairs(draw))
    given[0].train()
    expect_no_traces(student, step, *given)
    expect_no_seed(student, step, *step_arguments(student, start, draw_pairs(draw)))


# --- average_checkpoints ----------------------------------------------------------


def draw_states(draw, number: int = 4) -> list[dict[str, Tensor]]:
    """Draw checkpoints with weights, a counter and a flag.

    The first element of the flag is False only in the last checkpoint, and the second
    is True only there.
    """
    states = [
        {
            "weight": draw.normal(2, 3),
            "exact": draw.normal(4).double(),
            "single": draw.normal(1).squeeze(),
            "half": draw.normal(3, dtype=torch.bfloat16),
            "count": draw.ids(2, low=5, high=90),
            "steps": 2**53 + 1 + 4 * draw.ids(1, low=5, high=90),
            "flag": draw.mask(5),
        }
        for _ in range(number)
    ]
    for state in states:
        state["flag"][:2] = torch.tensor([state is not states[-1], state is states[-1]])
    return states


def mean_mistakes(states: list[dict[str, Tensor]], name: str) -> Named:
    """Return wrong means, keyed by the name of the mistake."""
    values = torch.stack([state[name].double() for state in states])

    def in_turn() -> Tensor:
        mean = values[0]
        for value in values[1:]:
            mean = (mean + value) / 2
        return mean

    return {
        "the sum, not the mean": lambda: values.sum(dim=0),
        "the last checkpoint, not the mean": values[-1],
        "the first checkpoint, not the mean": values[0],
        "the mean of the first and the last checkpoint": (values[0] + values[-1]) / 2,
        "the mean without the first checkpoint": values[1:].mean(dim=0),
        "the mean without the last checkpoint": values[:-1].mean(dim=0),
        "the mean of only the last five checkpoints": values[-5:].mean(dim=0),
        "the mean of the mean so far and the next checkpoint, so that the last one "
        "counts most": in_turn,
        "the median, not the mean": lambda: values.median(dim=0).values,
        "the sum divided by the number of entries": lambda: (
            values.sum(dim=0) / len(states[0])
        ),
        "the sum divided by the number of checkpoints minus 1": lambda: (
            values.sum(dim=0) / (len(states) - 1)
        ),
    }


def averaged(student, states: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Call the student's function, and fail unless it returns a state dict."""
    average = student.average_checkpoints(states)
    if not isinstance(average, dict):
        fail("You should return a dict of names and tensors.", mistake="no state dict")
    if set(average) != set(states[0]):
        fail(
            "The names differ from the checkpoints' names.",
            mistake="names that differ from the checkpoints' names",
        )
    return average


@check("average-checkpoints", share=3, title="The mean of the weights")
def test_average_of_weights(student, draw):
    states = draw_states(draw, 9)
    average = averaged(student, states)
    want = average_checkpoints(states)
    for name in ("weight", "exact", "single"):
        named = mean_mistakes(states, name)
        expect_close(
            average[name],
            want[name],
            Phrase("The mean of {name}", name),
            mistakes=named,
        )


def counter_mistakes(counts: Tensor) -> Named:
    """Return wrong counters, keyed by name, for the counters of all checkpoints."""
    mean = counts.double().mean(dim=0)
    return {
        "the mean of a counter, instead of the last value": mean,
        "the mean of a counter, truncated to an integer": counts.sum(0) // len(counts),
        "the mean of a counter, rounded": mean.round().long(),
        "the first checkpoint's counter": counts[0],
        "the sum of a counter": counts.sum(dim=0),
        "the largest counter": counts.amax(dim=0),
    }


@check(
    "average-checkpoints",
    share=2,
    title="Counters and flags come from the last checkpoint",
)
def test_average_of_counters(student, draw):
    states = draw_states(draw)
    average, last = averaged(student, states), states[-1]
    for state, which in ((last, "last"), (states[0], "first")):
        if average["weight"].equal(state["weight"]):
            words = Phrase("the {which} checkpoint, not the mean", which)
            fail(Phrase("The weights are those of {words}.", words), mistake=words)
    named = counter_mistakes(torch.stack([state["count"] for state in states]))
    expect_equal(average["count"], last["count"], "The counter", named)
    with blame("a counter that is rounded by a conversion to floating point"):
        expect_equal(average["steps"], last["steps"], "A counter of 17 digits")
    expect_equal(average["flag"], last["flag"], "The flag")
    expect_dtype(average["count"], torch.int64, "the counter")


@check("average-checkpoints", share=2, title="Sums in float64, results in each dtype")
def test_average_of_each_dtype(student, draw):
    states = draw_states(draw)
    average = averaged(student, states)
    for name, value in states[0].items():
        if average[name].dtype != value.dtype:
            fail(
                Phrase(
                    "A parameter of {dtype} should stay {dtype}, but its mean is "
                    "{found}.",
                    value.dtype,
                    average[name].dtype,
                ),
                mistake="a mean in a different dtype",
            )
    small = draw.integer(1, 9) / 4
    values = [small, 1e8, 1e8, -2e8]
    words = "sums in the parameter's own precision"
    with blame(words, lambda: test_average_of_weights(student, draw)):
        for each in (values, values[::-1]):
            mean = averaged(student, [{"w": torch.tensor([v])} for v in each])["w"]
            want = torch.tensor([small / 4])
            expect_close(mean, want, "The mean of large numbers")
    large = torch.tensor([60_000.0], dtype=torch.float16)  # the largest is 65,504
    mean = averaged(student, [{"w": large}, {"w": large}, {"w": large}])["w"]
    named = {"a sum that is rounded before it is divided": torch.tensor([math.inf])}
    expect_close(mean, large, "The mean of large numbers in float16", named)


@check(
    "average-checkpoints", share=1, title="Each average is independent, on any device"
)
def test_average_of_each_call(student, draw):
    mean_of = student.load("builtins.eval")("lambda f: lambda states: f(states)['w']")
    runs = [[{"w": draw.normal(5, 2)} for _ in range(3)] for _ in range(2)]
    expect_each_call_anew(
        student,
        mean_of(student.average_checkpoints),
        [(states,) for states in runs],
        lambda states: average_checkpoints(states)["w"],
        "the mean",
    )
    given = student.average_checkpoints, draw_states(draw)
    expect_same_device(student, *given, what="an average")


@check(
    "average-checkpoints",
    share=1,
    title="One checkpoint; the given checkpoints unchanged",
    form=True,
)
def test_average_changes_nothing(student, draw):
    states = draw_states(draw, 3)
    expect_no_traces(student, student.average_checkpoints, states)
    single = averaged(student, states[:1])

    def ordinary() -> None:
        test_average_of_weights(student, draw)
        test_average_of_counters(student, draw)

    with blame("code that assumes several checkpoints", ordinary):
        for name, value in states[0].items():
            expect_close(single[name], value, "The mean of one checkpoint")


@check(
    "average-checkpoints",
    share=1,
    title="The result shares no memory with a model",
    form=True,
)
def test_average_shares_nothing(student, draw):
    norm = student.load("torch.nn.BatchNorm1d")(3)
    state_of = student.load("operator.methodcaller")("state_dict")
    held = student.load("collections.UserList")
    each = student.load("builtins.map")
    states = held(each(state_of, [norm]))  # live tensors, so they stay there
    result = held(each(student.average_checkpoints, [states]))
    (before,) = result.attribute("data")
    changed = {name: value + 5 for name, value in before.items()}
    norm.load_state_dict(changed)  # writes into the model's own tensors
    (now,) = result.attribute("data")
    for name, value in before.items():
        if not torch.equal(now[name], value):
            fail(
                Phrase(
                    "If the model continues to train, {name} of your "
                    "average changes with it. Return a copy: .clone().",
                    name,
                ),
                mistake="an average that shares its memory with a checkpoint",
            )

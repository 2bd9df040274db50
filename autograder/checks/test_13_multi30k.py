"""Hidden checks of unit 13: losses, perplexity, BLEU, its interval, copies, merges.

The checks train no model. The Transformer is small and has random weights, and the
translations consist of a few words.
"""

import copy
import functools
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, cycle, pairwise
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from autograder.checking.behaviour import blame, expect_parts, expect_unchanged
from autograder.checking.expect import (
    Callback,
    check,
    expect_close,
    expect_equal,
    expect_shape,
    fail,
)
from autograder.checking.generic_checks import (
    FIXED,
    KEPT,
    ONE_BUFFER,
    expect_each_call_anew,
    expect_no_traces,
)
from autograder.checking.generic_checks import WRITTEN as CHANGED
from autograder.checking.varied_inputs import SOME_SIZES, orders_of
from autograder.phrases import Phrase
from transformer.config import TransformerConfig
from transformer.data import Batch
from transformer.experiments import report as reference
from transformer.model import Transformer
from transformer.translation.bleu import ngram_precision

PAD, SOS, EOS = 1, 2, 3
SIZES: dict[str, Any] = {"src_vocab_size": 13, "tgt_vocab_size": 11, "d_model": 8}
SIZES |= {
    "n_heads": 2,
    "n_layers": 2,
    "d_ff": 12,
    "max_len": 9,
    "positions": "sinusoidal",
}
CONFIG = "transformer.config.TransformerConfig"
MODEL = "transformer.model.Transformer"
BATCH = "transformer.data.batches.Batch"
# Lengths of the targets, with <sos> and <eos>; their positions are shuffled.
LENGTHS = ((6, 4, 3), (5, 7), (7, 3))
PLACES = ((4, 0, 5), (6, 2), (1, 3))
N = 7
VERSIONS = "lambda batches: [(x.src._version, x.tgt._version) for x in batches]"
Named = dict[str, Callable[[], Any]]

# --- sentence_losses --------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """The student's model and batches, and the reference model and batches."""

    model: Any
    batches: list[Any]
    trusted: nn.Module
    given: list[Batch]
    pad: int


def draw_batch(
    draw,
    lengths: Sequence[int],
    places: Sequence[int],
    pad: int,
    s: int = 5,
    more: int = 1,
) -> Batch:
    """Draw padded sentences with targets of these lengths and sources of up to s words.

    `more` is the number of columns in which all targets are padded.
    """
    b = len(lengths)
    src = draw.ids(b, s, low=5, high=13)
    tgt = draw.ids(b, max(lengths) + more, low=5, high=11)
    tgt[:, 0] = SOS
    words = [word for word in (0, PAD, 4) if word != pad]  # neither is padding
    tgt[0, 1:3] = torch.tensor(words[: tgt.size(1) - 1][:2])
    for row, length in enumerate(lengths):
        src[row, s - row % min(4, s) :] = pad
        tgt[row, length - 1] = EOS
        tgt[row, length:] = pad
    return Batch(src, tgt, tuple(places))


def losses_case(
    student,
    draw,
    pad=PAD,
    lengths=LENGTHS,
    places=PLACES,
    dropout=0.0,
    sure=1.0,
    s=(5,),
    more=1,
    **others,
) -> Case:
    """Build batches, and the student's model and the reference with equal weights.

    Args:
        student: the fixture.
        draw: the fixture.
        pad: id of the padding token.
        lengths: lengths of the targets, batch by batch.
        places: positions in the corpus, batch by batch.
        dropout: dropout of the student's model.
        sure: a factor for the weights of the last layer. A large factor makes the model
            confident.
        s: lengths of the sources, in turn for the batches.
        more: number of columns in which all targets are padded.
        others: further settings of the model.
    """
    options = SIZES | {"pad_id": pad, "dropout": dropout} | others
    trusted = Transformer(TransformerConfig(**options))
    shapes = {name: tuple(p.shape) for name, p in trusted.state_dict().items()}
    state = trusted.state_dict()
    for name, value in draw.state(shapes).items():
        if not name.endswith("encoding"):
            state[name] = 0.4 * value * (sure if "projection" in name else 1.0)
    trusted.load_state_dict(state)
    theirs = student.load(MODEL)(student.load(CONFIG)(**options))
    theirs.load_state_dict(state)
    theirs.eval()
    batches_of = zip(lengths, places, cycle(s))
    given = [draw_batch(draw, x, at, pad, n, more) for x, at, n in batches_of]
    make = student.load(BATCH)
    batches = [make(b.src, b.tgt, b.indices) for b in given]
    return Case(theirs, batches, trusted.double().eval(), given, pad)


def losses_with(
    case: Case,
    read: Callable[[Tensor], Tensor] = lambda tgt: tgt[:, :-1],
    wanted: Callable[[Tensor], Tensor] = lambda tgt: tgt[:, 1:],
    change: Callable[[Tensor], Tensor] = lambda logits: logits,
    of_batch: Callable[[Tensor, Tensor], Tensor] = lambda each, kept: each.sum(1),
    kept: Callable[[Tensor, int], Tensor] = lambda target, pad: target != pad,
    in_order: bool = True,
    smoothing: float = 0.0,
) -> Tensor:
    """Compute the losses, correctly or with one part replaced."""
    places: list[int] = []
    losses: list[Tensor] = []
    for batch in case.given:
        with torch.no_grad():
            logits = change(case.trusted(batch.src, read(batch.tgt)))
        target = wanted(batch.tgt)
        logits = logits[:, : target.size(1)]
        counted = kept(target, case.pad)
        each = F.cross_entropy(
            logits.transpose(1, 2), target, reduction="none", label_smoothing=smoothing
        )
        losses += [of_batch(each * counted, counted)]
        places += batch.indices
    result = torch.cat(losses)
    return result[torch.tensor(places).argsort()] if in_order else result


def counts_with(
    case: Case, extra: int = 0, padding: bool = False, in_order: bool = True
) -> Tensor:
    """Count the target tokens, correctly or with a mistake."""
    places: list[int] = []
    counts: list[Tensor] = []
    for batch in case.given:
        target = batch.tgt[:, 1:]
        counts += [((target != case.pad) | padding).sum(dim=1) + extra]
        places += batch.indices
    result = torch.cat(counts)
    return result[torch.tensor(places).argsort()] if in_order else result


def mean_of(each: Tensor, kept: Tensor) -> Tensor:
    """Return the mean loss of each sentence's tokens."""
    return each.sum(1) / kept.sum(1)


def whole(each: Tensor, kept: Tensor) -> Tensor:
    """Return the mean loss of a batch's tokens, once for each sentence."""
    return (each.sum() / kept.sum()).expand(len(each))


def order_mistakes(case: Case, what: str, of_batches: Callable[[], Tensor]) -> Named:
    """Return losses or counts in the wrong order, keyed by the name of the mistake."""
    places = [place for batch in case.given for place in batch.indices]
    return {
        Phrase(
            "the {what} in the order of the batches, not of the corpus", what
        ): of_batches,
        Phrase(
            "{what}[indices], although the indices say where each one belongs", what
        ): lambda: of_batches()[places],
    }


def loss_mistakes(case: Case) -> Named:
    """Return wrong losses of sentences, keyed by the name of the mistake."""

    def with_(**changes: Any) -> Callable[[], Tensor]:
        return lambda: losses_with(case, **changes)

    return {
        **order_mistakes(case, "losses", with_(in_order=False)),
        "losses that include padding": with_(kept=lambda t, pad: torch.ones_like(t)),
        "the mean of each sentence's token losses, not their sum": with_(
            of_batch=mean_of
        ),
        "the perplexity of each sentence, not its loss": with_(
            of_batch=lambda each, kept: mean_of(each, kept).exp()
        ),
        "the mean loss of the whole batch for each sentence": with_(of_batch=whole),
        "the mean loss of the whole batch times each sentence's count": with_(
            of_batch=lambda each, kept: whole(each, kept) * kept.sum(1)
        ),
        "the sum divided by the padded length": with_(
            of_batch=lambda each, kept: each.mean(1)
        ),
        "losses on a target that is not shifted": with_(wanted=lambda tgt: tgt[:, :-1]),
        "losses of a model that reads the word it must predict": with_(
            read=lambda tgt: tgt[:, 1:]
        ),
        "losses after a second softmax": with_(change=lambda x: x.softmax(-1)),
        "losses with label smoothing, which is only for training": with_(smoothing=0.1),
        "losses without the loss of <eos>": with_(
            kept=lambda t, pad: (t != pad) & (t != EOS)
        ),
        "losses in bits, not in nats": lambda: losses_with(case) / math.log(2),
        "the log-probability instead of its negative": lambda: -losses_with(case),
        "losses that ignore a token other than pad_id": with_(
            kept=lambda t, pad: t != PAD
        ),
        "losses that ignore token 0": with_(kept=lambda t, pad: t != 0),
    }


def count_mistakes(case: Case) -> Named:
    """Return wrong counts of tokens, keyed by the name of the mistake."""
    return {
        **order_mistakes(case, "counts", lambda: counts_with(case, in_order=False)),
        "counts that include padding": lambda: counts_with(case, padding=True),
        "counts that include <sos>, which the model does not predict": lambda: (
            counts_with(case, 1)
        ),
        "counts without <eos>": lambda: counts_with(case, -1),
        "counts of the padded length, including <sos>": lambda: counts_with(
            case, 1, True
        ),
        "counts that ignore a token other than pad_id": lambda: _counts_of_1(case),
    }


def _counts_of_1(case: Case) -> Tensor:
    return counts_with(Case(None, [], nn.Identity(), case.given, PAD))


def run_losses(student, case: Case) -> tuple[Any, Any]:
    """Call the student's function, and fail unless it returns a pair."""
    got = student.sentence_losses(case.model, case.batches, case.pad)
    losses, counts = expect_parts(got, 2, "two things, the losses and the counts")
    return losses, counts


@check(
    "sentence-losses", share=1, title="A loss and a count for each sentence", form=True
)
def test_losses_shapes(student, draw):
    losses, counts = run_losses(student, losses_case(student, draw))
    expect_shape(losses, (N,), "the tensor of losses")
    expect_shape(counts, (N,), "the tensor of counts")
    again, _ = run_losses(student, losses_case(student, draw))
    if isinstance(again, Tensor) and again.shape == (2 * N,):
        fail(
            "A second call returns the sentences of both calls.",
            mistake="sentences that are kept for the next call",
        )


@check("sentence-losses", share=5, title="The summed loss of each sentence, in order")
def test_losses_values(student, draw):
    case = losses_case(student, draw)
    losses, _ = run_losses(student, case)
    want, named = losses_with(case), loss_mistakes(case)
    expect_close(losses, want, "the tensor of losses", named, tolerance=3e-5)


@check("sentence-losses", share=2, title="The number of target tokens of each sentence")
def test_losses_counts(student, draw):
    case = losses_case(student, draw)
    _, counts = run_losses(student, case)
    want = counts_with(case)
    expect_close(counts, want, "the tensor of counts", count_mistakes(case))
    if counts.dtype != torch.int64:
        fail(
            Phrase("The counts should be int64, not {found}.", counts.dtype),
            mistake="counts that are not 64-bit integers",
        )


@check("sentence-losses", share=3, title="No dropout during evaluation")
def test_losses_without_dropout(student, draw):
    case = losses_case(student, draw, dropout=0.5)
    words = "a model that is evaluated in train() mode, with dropout"
    for training in (True, False):
        case.model.train(training)
        losses, _ = run_losses(student, case)
        with blame(words, lambda: test_losses_values(student, draw)):
            want = losses_with(case)
            expect_close(losses, want, "the tensor of losses", tolerance=3e-5)


@check("sentence-losses", share=1, title="No gradients during evaluation", form=True)
def test_losses_without_gradients(student, draw):
    case = losses_case(student, draw)
    asked: list[bool] = []
    kept: list[Tensor] = []
    projection = case.model.attribute("projection")
    projection.register_forward_hook(Callback(lambda *_: asked.append(True)))
    # PyTorch calls both functions only for tensors that a backward pass would need.
    watch = student.load("torch.autograd.graph.saved_tensors_hooks")
    stack = student.load("contextlib.ExitStack")()
    stack.enter_context(watch(Callback(kept.append), Callback(kept.append)))
    try:
        run_losses(student, case)
    finally:
        stack.close()
    if not asked:
        fail("The model was never called.", mistake="losses without a model")
    if kept:
        fail(
            "While your function runs, PyTorch stores tensors for a backward "
            "pass that is not needed.",
            mistake="a model that is evaluated with gradients",
        )


@check(
    "sentence-losses",
    share=1,
    title="The model's mode is restored",
    form=True,
)
def test_losses_keep_the_mode(student, draw):
    case = losses_case(student, draw, dropout=0.5)
    for training in (True, False):
        case.model.train(training)
        run_losses(student, case)
        if case.model.attribute("training") is not training:
            came, left = ("training", "evaluation")[:: 1 if training else -1]
            fail(
                Phrase(
                    "The model was in {came} mode before the call, but is in {left} "
                    "mode afterwards.",
                    came,
                    left,
                ),
                mistake="a model whose mode is not restored",
            )


@check("sentence-losses", share=1, title="pad_id is used; batches of any size")
def test_losses_with_another_padding(student, draw):
    lengths, places = ((5, 3), (4,)), ((2, 0), (1,))
    case = losses_case(student, draw, 4, lengths, places)
    losses, counts = run_losses(student, case)
    named = loss_mistakes(case)
    expect_close(
        losses, losses_with(case), "the tensor of losses", named, tolerance=3e-5
    )
    expect_close(
        counts, counts_with(case), "the tensor of counts", count_mistakes(case)
    )
    expect_many_sentences(student, draw)
    with blame(SOME_SIZES, lambda: test_losses_values(student, draw)):
        expect_losses_of_every_size(student, draw)


def expect_losses_of_every_size(student, draw) -> None:
    """Fail unless batches of any size and padding are right, in both modes.

    Among the batches are those without padding and with sentences without a word. In
    one batch, pairs share a source or are equal.
    """
    fives = ((5, 5), (5,), (5,) * 4, (5,) * 5)
    backwards = ((11, 10), (9,), (8, 7, 6, 5), (4, 3, 2, 1, 0))
    long = {"s": (70,), "max_len": 80, "norm_first": True, "more": 0}
    starts = (70, 0, 210, 140, 280)
    cases: list[tuple[Any, Any, Any, dict[str, Any]]] = [
        ((), ((4,),), ((0,),), {"s": (3,), "more": 0}),
        (0, ((2, 2, 2), (2,)), ((0, 1, 2), (3,)), {"s": (2,), "more": 0}),
        (4, fives, backwards, {"s": (4, 3), "more": 0}),
        (0, ((40, 3, 66),), ((2, 0, 1),), long),
        (1, ((3, 6, 6, 6, 4), (12,)), ((1, 2, 3, 4, 5), (0,)), {"max_len": 20}),
        (4, ((3,) * 3,) * 18, [(n, n + 18, n + 36) for n in range(18)], {"more": 0}),
        ((), ((3, 5) * 35,) * 5, [range(n, n + 70) for n in starts], {"s": (1, 6)}),
    ]
    quiet = student.load("torch.no_grad")()(student.sentence_losses)
    for number, (pad, lengths, places, options) in enumerate(cases):
        given = pad if isinstance(pad, int) else PAD
        case = losses_case(student, draw, given, lengths, places, n_layers=1, **options)
        if number in (4, 5):
            case = with_equal_pairs(student, case)
        case.model.train(number % 2 == 0)
        batches = tuple(case.batches) if number == 4 else case.batches
        call = quiet if number in (1, 2) else student.sentence_losses
        got = call(case.model, batches, *([pad] if isinstance(pad, int) else []))
        losses, counts = expect_parts(got, 2, "two things, the losses and the counts")
        expect_close(losses, losses_with(case), "the tensor of losses", tolerance=1e-4)
        expect_close(counts, counts_with(case), "the tensor of counts")


def with_equal_pairs(student, case: Case) -> Case:
    """Let all pairs of a batch share a source, and two of them a target too."""
    given, make = [], student.load(BATCH)
    for batch in case.given:
        src, tgt = batch.src[:1].repeat(len(batch.src), 1), batch.tgt.clone()
        tgt[1:2] = tgt[2:3]
        given.append(Batch(src.T.contiguous().T, tgt.T.contiguous().T, batch.indices))
    batches = [make(x.src, x.tgt, x.indices) for x in given]
    return replace(case, given=given, batches=batches)


def expect_many_sentences(student, draw) -> None:
    """Fail if the code cannot handle more sentences than int8 or a small table can."""
    n, size = 130, 13
    places = [tuple(range(start, n, n // size)) for start in range(n // size)]
    lengths = [tuple(3 + place % 2 for place in batch) for batch in places]
    case = losses_case(student, draw, lengths=lengths, places=places)
    words = "code that works only for a few sentences"
    with blame(words, lambda: test_losses_values(student, draw)):
        losses, counts = run_losses(student, case)
        want, number = losses_with(case), counts_with(case)
        as_texts = sorted(range(n), key=str)
        phrase = "the losses with position 10 before 2, as in string order"
        named = {phrase: want[as_texts]}
        expect_close(losses, want, "the tensor of losses", named, tolerance=3e-5)
        expect_close(counts, number, "the tensor of counts")


@check("sentence-losses", share=1, title="A model that is confident but wrong")
def test_losses_of_the_sure(student, draw):
    # A confident model may be right by chance, but this draw reveals each known
    # mistake.
    case = losses_case(student, draw.fixed(2), sure=60.0)
    words = "a logarithm of probabilities that are rounded to 0 or have a number added"
    with blame(words, lambda: test_losses_values(student, draw)):
        losses, _ = run_losses(student, case)
        want = losses_with(case)
        expect_close(losses, want, "the tensor of losses", tolerance=1e-3)


@check("sentence-losses", share=1, title="Batches that can be iterated over only once")
def test_losses_of_a_generator(student, draw):
    case = losses_case(student, draw)
    once = replace(case, batches=student.load("builtins.iter")(case.batches))
    words = "code that iterates over the batches twice"
    with blame(words, lambda: test_losses_values(student, draw)):
        losses, counts = run_losses(student, once)
        want = losses_with(case)
        expect_close(losses, want, "the tensor of losses", tolerance=3e-5)
        expect_close(counts, counts_with(case), "the tensor of counts")


@check("sentence-losses", share=1, title="Nothing else changes", form=True)
def test_losses_leave_no_traces(student, draw):
    case = losses_case(student, draw)
    given = (case.model, case.batches, case.pad)
    student.load("torch.set_grad_enabled")(True)  # undo changes of earlier calls
    look = student.load("builtins.eval")(VERSIONS)
    before = look(case.batches)
    expect_no_traces(student, student.sentence_losses, *given, still=True)
    if look(case.batches) != before:
        fail(
            "Your function writes into the batches, even if it restores the "
            "values: target[...] = x changes the batch's own tensor.",
            mistake=CHANGED,
        )
    student.load("torch.set_grad_enabled")(False)
    run_losses(student, case)
    if student.load("torch.is_grad_enabled")():
        fail(
            "Gradients were off before the call of your function, but are on "
            "afterwards: restore the setting, as `with torch.no_grad()` does.",
            mistake="a call that switches gradients on although they were off",
        )
    for batch, before in zip(case.batches, case.given, strict=True):
        expect_unchanged(
            [batch.attribute("src"), batch.attribute("tgt")], [before.src, before.tgt]
        )


@check(
    "sentence-losses",
    share=1,
    title="Independent calls: different weights, different words",
)
def test_losses_of_each_call(student, draw):
    lengths, places = ((4, 3), (6, 5, 3), (8, 4)), ((2, 0), (1, 5, 3), (6, 4))
    others = ((3, 4), (6, 4, 2), (5, 8))  # the padded lengths are the same
    case = losses_case(student, draw, lengths=lengths, places=places)
    other = losses_case(student, draw, lengths=others, places=places)
    results = [run_losses(student, case)]
    weights = other.trusted.state_dict()
    case.model.load_state_dict({name: x.float() for name, x in weights.items()})
    cases = [case, *changed_in_turn(student, case, other)]
    calls = [(case.model, one.batches, one.pad) for one in cases[1:]]
    in_turn = student.calls_in_turn(student.sentence_losses, *calls)
    words = "two things, the losses and the counts"
    for then, _ in in_turn:
        losses, counts = expect_parts(then, 2, words)
        results.append((losses, counts))
    (first, _), (second, _), *_ = results
    earlier: tuple[dict[str, Any], dict[str, Any]] = {}, {}
    if isinstance(first, Tensor) and torch.equal(first, torch.as_tensor(second)):
        earlier = {FIXED: first}, {}
    for (losses, counts), one in zip(results, cases, strict=True):
        want, number = losses_with(one), counts_with(one)
        whose = "In one of several calls, the tensor of"
        expect_close(
            losses, want, Phrase("{whose} losses", whose), earlier[0], tolerance=3e-5
        )
        expect_close(counts, number, Phrase("{whose} counts", whose), earlier[1])
        earlier = {KEPT: want}, {KEPT: number}
    expect_tensors_apart(in_turn)


def expect_tensors_apart(results: Sequence[tuple[Any, Any]]) -> None:
    """Fail if a later call changed the tensors that an earlier call returned."""
    for then, now in results:
        for before, after in zip(then, now, strict=True):
            if not torch.equal(torch.as_tensor(before), torch.as_tensor(after)):
                fail(
                    "A later call changed the tensor that an earlier call returned. "
                    "Return a new tensor each time.",
                    mistake=ONE_BUFFER,
                )


def changed_in_turn(student, case: Case, other: Case) -> list[Case]:
    """Replace first the weights, then the sources, the targets and the positions."""
    make = student.load(BATCH)
    n = sum(len(batch.indices) for batch in case.given)
    cases = []
    for number in range(4):
        given = []
        for mine, theirs in zip(case.given, other.given, strict=True):
            src = (theirs if number > 0 else mine).src
            tgt = (theirs if number > 1 else mine).tgt
            turned = tuple(n - 1 - place for place in mine.indices)
            given.append(Batch(src, tgt, turned if number > 2 else mine.indices))
        batches = [make(x.src, x.tgt, x.indices) for x in given]
        cases.append(Case(case.model, batches, other.trusted, given, case.pad))
    return cases


# --- corpus_perplexity ------------------------------------------------------------


def perplexity_mistakes(losses: Tensor, counts: Tensor) -> Named:
    """Return wrong perplexities, keyed by the name of the mistake."""
    mean = (losses / counts).mean().item()
    right = losses.sum().item() / counts.sum().item()
    return {
        "2 to the power of the mean loss, although the loss is in nats": lambda: (
            2**right
        ),
        "10 to the power of the mean loss, although the loss is in nats": lambda: (
            10**right
        ),
        "e to the power of the mean of the sentences' means": lambda: math.exp(mean),
        "the mean of the sentences' perplexities": lambda: (
            (losses / counts).exp().mean()
        ),
        "the mean of the sentences' perplexities, weighted by length": lambda: (
            ((losses / counts).exp() * counts).sum() / counts.sum()
        ),
        "the mean loss without the exponential": lambda: right,
        "the mean of the sentences' means without the exponential": lambda: mean,
        "e to the power of the mean loss per sentence, not per token": lambda: (
            losses.mean().exp()
        ),
        "e to the power of the summed loss": lambda: losses.sum().exp(),
        "e to the power of minus the mean loss": lambda: math.exp(-right),
        "e to the power of the number of tokens divided by their loss": lambda: (
            math.exp(1 / right)
        ),
        "e to the power of the median of the sentences' means": lambda: (
            (losses / counts).median().exp()
        ),
        "e to the power of the mean loss, with each sentence weighted by its length "
        "twice": (lambda: math.exp((losses * counts).sum() / (counts**2).sum())),
        "1, the perplexity of a model that is always right": lambda: 1.0,
        "the perplexity of only the first sentence": lambda: math.exp(
            losses[0].item() / counts[0].item()
        ),
        "the perplexity of only the first hundred sentences": lambda: perplexity_of(
            losses[:100], counts[:100]
        ),
        "the perplexity rounded to two digits": lambda: round(math.exp(right), 2),
        "the perplexity rounded to three digits": lambda: round(math.exp(right), 3),
    }


def perplexity_of(losses: Tensor, counts: Tensor) -> float:
    """Compute the right perplexity of a corpus."""
    return math.exp(losses.double().sum().item() / counts.sum().item())


def draw_losses(draw, n: int = 6) -> tuple[Tensor, Tensor]:
    """Draw losses of long, easy sentences and of short, hard sentences.

    With the fixed seeds, rounding and low precision change the perplexity.
    """
    counts = torch.arange(n) * 3 + 2
    counts = counts[torch.argsort(draw.uniform(n))]
    hard = 0.5 + 1.2 * draw.uniform(n) + 3.0 / counts
    return (hard * counts).float(), counts


@check("corpus-perplexity", share=4, title="e to the power of the mean loss per token")
def test_perplexity_value(student, draw):
    losses, counts = draw_losses(draw.fixed(3))
    got = student.corpus_perplexity(losses, counts)
    want = perplexity_of(losses, counts)
    named = perplexity_mistakes(losses.double(), counts.double())
    expect_close(got, want, "the perplexity", named)


@check(
    "corpus-perplexity",
    share=1,
    title="A part of a corpus, including a single sentence",
)
def test_perplexity_of_one(student, draw):
    losses, counts = draw_losses(draw.fixed(6))
    words = "code that works only for several sentences"
    with blame(words, lambda: test_perplexity_value(student, draw)):
        got = student.corpus_perplexity(losses[2:3], counts[2:3])
        want = math.exp(losses[2].item() / counts[2].item())
        expect_close(got, want, "the perplexity of one sentence")


@check(
    "corpus-perplexity",
    share=1,
    title="A large corpus; losses and counts do not change",
)
def test_perplexity_of_a_large_corpus(student, draw):
    losses, counts = draw_losses(draw.fixed(2), 300)
    given = losses.clone(), counts.clone()
    words = (
        "a product of probabilities or a sum in the exponent that "
        "overflows or underflows"
    )
    with blame(words, lambda: test_perplexity_value(student, draw)):
        got, after = student.call_and_return_inputs(
            student.corpus_perplexity, losses, counts
        )
        named = perplexity_mistakes(*given)
        expect_close(got, perplexity_of(*given), "the perplexity", named)
    expect_unchanged(after, given)
    bound = "a bound on the loss or on the perplexity"
    with blame(bound, lambda: test_perplexity_value(student, draw)):
        hard = 30.0 * given[1][:5]
        got = student.corpus_perplexity(hard, given[1][:5])
        expect_close(got, math.exp(30), "the perplexity of a poor model")
    with blame(SOME_SIZES, lambda: test_perplexity_value(student, draw)):
        for mean, part in (
            (0.004, torch.tensor([1])),
            (0.5, torch.tensor([1, 1])),
            (4.5, torch.tensor([1, 4, 4])),
            (7.0, torch.tensor([2_000, 30, 9, 1])),
            (0.06, torch.full((7,), 5)),
            (1.5, draw.ids(6_001, low=1, high=400)),
        ):
            losses = mean * part * (0.2 + draw.uniform(len(part)))
            if len(part) == 7:
                losses[:] = losses[3]
            if len(part) == 4:
                losses[1] = 0
            for given in (losses, losses.double()):
                got = student.corpus_perplexity(given, part)
                expect_close(got, perplexity_of(given, part), "the perplexity")
        got = student.corpus_perplexity(torch.zeros(1), torch.tensor([4]))
        expect_close(got, 1.0, "the perplexity")


@check(
    "corpus-perplexity",
    share=1,
    title="The perplexity of a model that is always right is 1",
    form=True,
)
def test_perplexity_of_the_sure(student, draw):
    counts = draw.ids(5, low=3, high=9)
    words = "code that adds a number to the loss"
    with blame(words, lambda: test_perplexity_value(student, draw)):
        got = student.corpus_perplexity(torch.zeros(5), counts)
        expect_close(got, 1.0, "the perplexity of a model that is always right")


@check("corpus-perplexity", share=1, title="Each call has its own result")
def test_perplexity_of_each_call(student, draw):
    losses, counts = draw_losses(draw.fixed(5), 9)  # used by no other check
    others, _ = draw_losses(draw.fixed(6), 9)
    calls = [(losses, counts), (others, counts), (others, counts + 2)]
    function = student.corpus_perplexity

    def right(losses: Tensor, counts: Tensor) -> Tensor:
        return (losses.double().sum() / counts.sum()).exp()

    expect_each_call_anew(student, function, calls, right, "the perplexity")
    expect_no_traces(student, function, *calls[0], still=True)


# --- Translations of a few words --------------------------------------------------

WORDS = ["the", "woman", "calls", "an", "old", "man", "in", "a", "park", "."]
Sentences = list[list[str]]
LIMITS = (4, 6, 9)


@functools.lru_cache(4096)
def counted(hypothesis: tuple[str, ...], reference: tuple[str, ...]) -> Tensor:
    """Return a pair's counts for BLEU (10,): matches, n-grams and both lengths."""
    pair = [hypothesis], [reference]
    by_n = [ngram_precision(*pair, n + 1) for n in range(4)]
    confirmed, found = zip(*by_n, strict=True)
    return torch.tensor([*confirmed, *found, len(hypothesis), len(reference)])


def bleu_of(hypotheses: Sequence[Sequence[str]], references: Sentences) -> float:
    """Compute the same score as `corpus_bleu`; the counts of equal pairs are reused."""
    pairs = zip(map(tuple, hypotheses), map(tuple, references), strict=True)
    sums = torch.stack([counted(*pair) for pair in pairs]).sum(0).double()
    confirmed, found, (written, wanted) = sums[:4], sums[4:8], sums[8:]
    if not bool(confirmed.all()):
        return 0.0
    penalty = (1 - wanted / written).clamp(max=0)
    return 100 * float(((confirmed / found).log().mean() + penalty).exp())


@dataclass(frozen=True)
class Corpus:
    """Sources of any length, references, and translations that partly match them."""

    sources: Sentences
    hypotheses: Sentences
    references: Sentences

    def part(self, places: Sequence[int]) -> tuple[Sentences, Sentences]:
        """Return the translations at these positions with their references."""
        return (
            [self.hypotheses[i] for i in places],
            [self.references[i] for i in places],
        )

    def bleu(self, places: Sequence[int]) -> float:
        """Return the BLEU of the sentences at these positions."""
        return bleu_of(*self.part(places))

    def bleu_swapped(self, places: Sequence[int]) -> float:
        """Return the BLEU of the references, with the hypotheses as references."""
        hypotheses, references = self.part(places)
        return bleu_of(references, hypotheses)

    def bleu_by_words(self, places: Sequence[int]) -> float:
        """Return the BLEU if references are looked up by the translation's words."""
        written, _ = self.part(places)
        _, references = self.part([self.hypotheses.index(words) for words in written])
        return bleu_of(written, references)


def words_of(draw, count: int) -> list[str]:
    """Draw a random sentence."""
    return [draw.choice(WORDS) for _ in range(count)]


def draw_corpus(draw, lengths: Sequence[int]) -> Corpus:
    """Draw sentences whose sources have these lengths.

    Sources of equal length are equal.
    """
    of_length = {length: words_of(draw, length) for length in lengths}
    sources = [of_length[length] for length in lengths]  # some sources occur twice
    references = [words_of(draw, draw.integer(7, 13)) for _ in lengths]
    hypotheses = []
    for reference_ in references:
        # At least four words in a row are right, so BLEU is above 0. Each translation
        # is shorter than its reference, so swapping the two changes the score.
        written = [draw.choice(WORDS), *reference_[1:]]
        hypotheses.append(written[: len(written) - draw.integer(1, 2)])
    return Corpus(sources, hypotheses, references)


SOME_SENTENCES = "code that is right only for some kinds of corpora"
ODD_WORDS = ["3.5", "12", "e-mail", "it's", "@@en", "<eos>", "größe", "x_1", "Uhr"]
ODD_WORDS += ["uhr", "Donaudampfschifffahrt", "–", "7", "Der", "한국", "§"]


def other_corpora(draw) -> list[tuple[Any, Any]]:
    """Draw translations and references of other kinds.

    The kinds are: equal to the references, or longer, with the same words in another
    order, or equal pairs; unusual words in tuples; long and very short sentences; no
    word; many sentences.
    """
    draw = draw.fixed(3)
    a, b, c = (words_of(draw, n) for n in (9, 8, 7))
    odd, long = ODD_WORDS, words_of(draw, 70)
    many = [words_of(draw, 5 + n % 4) for n in range(120)]
    return [
        ([a, b, c], [a, b, c]),
        ([[*a, *b[:3]], [*c[3:], *c[:3]], b[:7], b[:7]], [a, c, b, b]),
        ((tuple(odd), tuple(odd[2:9])), (tuple(odd[1:]), tuple(odd[:11]))),
        ([long[:60], long[9:20], a[:3]], [long, long[8:40], a[:7]]),
        ([["a"], [], ["park"], b, c], [["a"], ["an"], ["park", "."], b, a]),
        ([a[:5]], [[*a, *b]]),
        ([words[:-1] for words in many], [[*words[:-2], "."] for words in many]),
        ([c, a], [c, [*a[:7], "Park", "the"]]),
    ]


def other_tables(draw) -> list[tuple[Corpus, Sequence[int]]]:
    """Draw corpora with other kinds of sources, and limits for them."""
    choices: Sequence[Callable[[int], Sequence[int]]] = (
        lambda n: [0, 2],
        lambda n: list(range(n + 1)),
        lambda n: [40, 150],
        lambda n: (1, 2, 3, 4),
        lambda n: [n, n + 20, n + 40, n + 60, n + 90],
    )
    tables = []
    for number, (hypotheses, references) in enumerate(other_corpora(draw)):
        n = len(hypotheses)
        places = range(n)[:: -1 if number % 2 else 1]
        sources: Any = [words_of(draw, place) for place in places]
        if number == 2:
            sources = tuple(tuple(ODD_WORDS[place:]) for place in places)
        elif number == 3:
            sources = [[*words, *hypotheses[0]] for words in sources]
        elif number == 0:
            sources = [words[:6] for words in hypotheses]
        corpus = Corpus(sources, hypotheses, references)
        tables += [(corpus, choices[(number + k) % 5](n)) for k in (0, 2)]
    nothing = Corpus([], [], [])
    return [*tables, (nothing, (3,)), (nothing, ())]


def expect_left(student, function: Any, *given: Any) -> None:
    """Fail if a call changes one of its arguments."""
    before = copy.deepcopy(given)
    _, after = student.call_and_return_inputs(function, *given)
    for number, (now, then) in enumerate(zip(after, before, strict=True), start=1):
        same = now.equal(then) if isinstance(then, Tensor) else now == then
        if not same:
            fail(
                Phrase("Your function changed its argument {number}.", number),
                mistake=CHANGED,
            )


# --- bleu_by_length ---------------------------------------------------------------

Table = list[tuple[int, float | None]]
DIGITS = {"a whole number": 0, "one digit": 1, "two digits": 2}
MANY_LIMITS: Sequence[tuple[int, ...]] = (
    (7,),
    (3, 5, 6, 8, 9, 10),
    tuple(range(2, 16)),
    (),
)
SOURCE_LENGTHS = (4, 9, 6, 12, 3, 5, 10, 8, 6, 4, 15, 7)  # equal to and between limits


def places_with(
    corpus: Corpus,
    limits: Sequence[int],
    measured: str = "sources",
    below: Callable[[int, int], bool] = lambda length, limit: length <= limit,
) -> list[list[int]]:
    """Group the positions of sentences by the length of the source or another text."""
    lengths = [len(words) for words in getattr(corpus, measured)]
    groups: list[list[int]] = [[] for _ in range(len(limits) + 1)]
    for place, length in enumerate(lengths):
        fits = [below(length, limit) for limit in limits]
        groups[fits.index(True) if any(fits) else len(limits)].append(place)
    return groups


def first_of_equals(corpus: Corpus, groups: list[list[int]]) -> list[list[int]]:
    """Replace each position by the first position that has the same source."""
    sources = corpus.sources
    return [[sources.index(sources[place]) for place in group] for group in groups]


def table_of(corpus: Corpus, groups: Sequence[Sequence[int]], score=None) -> Table:
    """Return a table with the size and the score of each group."""
    score = score or corpus.bleu
    return [(len(places), score(places) if places else None) for places in groups]


def table_mistakes(corpus: Corpus, limits: Sequence[int] = LIMITS) -> Named:
    """Return wrong tables, keyed by the name of the mistake."""
    groups = places_with(corpus, limits)
    return {
        **group_mistakes(corpus, limits),
        **score_mistakes(corpus, groups),
        **row_mistakes(corpus, groups),
    }


def group_mistakes(corpus: Corpus, limits: Sequence[int]) -> Named:
    """Return tables with sentences in wrong groups, keyed by name."""

    def cumulative() -> Table:
        lengths = [len(words) for words in corpus.sources]
        upper = [[i for i, n in enumerate(lengths) if n <= limit] for limit in limits]
        return table_of(corpus, [*upper, list(range(len(lengths)))])

    def of(**changes: Any) -> Callable[[], Table]:
        return lambda: table_of(corpus, places_with(corpus, limits, **changes))

    return {
        "groups by the length of the translations": of(measured="hypotheses"),
        "groups by the length of the references": of(measured="references"),
        "groups without the sources whose length is exactly the limit": of(
            below=lambda length, limit: length < limit
        ),
        "groups by lengths that include <sos> and <eos>": of(
            below=lambda length, limit: length + 2 <= limit
        ),
        "groups that also contain all shorter sources": cumulative,
        "groups that all contain every sentence: [[]] * n repeats one list": lambda: (
            table_of(corpus, [range(len(corpus.sources))] * (len(limits) + 1))
        ),
        "groups that repeat the first of several equal sources": lambda: table_of(
            corpus, first_of_equals(corpus, places_with(corpus, limits))
        ),
        "groups without any sentence": lambda: [(0, None)] * (len(limits) + 1),
    }


def score_mistakes(corpus: Corpus, groups: Sequence[Sequence[int]]) -> Named:
    """Return tables with wrong scores, keyed by name."""

    def mean_of_sentences(places: Sequence[int]) -> float:
        return sum(corpus.bleu([i]) for i in places) / len(places)

    def without_zeros(places: Sequence[int]) -> float:
        kept = [place for place in places if corpus.bleu([place])]
        return corpus.bleu(kept) if kept else 0.0

    def first_references(places: Sequence[int]) -> float:
        return bleu_of(corpus.part(places)[0], corpus.references[: len(places)])

    return {
        "the mean of the sentences' scores in each group": lambda: table_of(
            corpus, groups, mean_of_sentences
        ),
        "BLEU with the arguments swapped": lambda: table_of(
            corpus, groups, corpus.bleu_swapped
        ),
        "BLEU against the references of other sentences": lambda: table_of(
            corpus, groups, first_references
        ),
        "BLEU of all sentences in each group": lambda: table_of(
            corpus, groups, lambda _: corpus.bleu(range(len(corpus.sources)))
        ),
        "BLEU without the sentences that score 0": lambda: table_of(
            corpus, groups, without_zeros
        ),
    }


def row_mistakes(corpus: Corpus, groups: Sequence[Sequence[int]]) -> Named:
    """Return tables with wrongly constructed rows, keyed by name."""
    right = table_of(corpus, groups)

    def by_count_of_words() -> Table:
        words = [sum(len(corpus.sources[i]) for i in places) for places in groups]
        return [(n, bleu) for n, (_, bleu) in zip(words, right, strict=True)]

    return {
        "the table without the sentences longer than the last limit": lambda: right[
            :-1
        ],
        "the table without its first group": lambda: right[1:],
        "the table from the longest to the shortest sources": lambda: right[::-1],
        "BLEU first and the number of sentences second": lambda: [
            (bleu, n) for n, bleu in right
        ],
        "only BLEU, without the sentence counts": lambda: [b for _, b in right],
        "BLEU as a fraction, not times 100": lambda: table_of(
            corpus, groups, lambda places: corpus.bleu(places) / 100
        ),
        "the number of words in each group, not of sentences": by_count_of_words,
        "the table without its empty groups": lambda: [row for row in right if row[0]],
        "0 as the BLEU of an empty group": lambda: [
            (n, bleu or 0.0) for n, bleu in right
        ],
        "None instead of a BLEU of 0 for a group that scores 0": lambda: [
            (n, bleu or None) for n, bleu in right
        ],
        **{
            Phrase("BLEU rounded to {words}", words): functools.partial(
                rounded, right, digits
            )
            for words, digits in DIGITS.items()
        },
        "NaN as the BLEU of an empty group": lambda: [
            (n, math.nan if bleu is None else bleu) for n, bleu in right
        ],
    }


def rounded(table: Table, digits: int) -> Table:
    """Round the scores of a table."""
    return [(n, None if bleu is None else round(bleu, digits)) for n, bleu in table]


def plain(table: Any) -> Any:
    """Round the scores and convert pairs to tuples, so that tables can be compared."""
    if not isinstance(table, (list, tuple)):
        return table

    def number(value: Any) -> Any:
        if isinstance(value, Tensor) and value.dim() == 0:
            value = value.item()
        if isinstance(value, float) and math.isnan(value):
            return "nan"
        real = isinstance(value, (int, float)) and not isinstance(value, bool)
        return round(float(value), 3) if real else value

    return [
        tuple(number(part) for part in row)
        if isinstance(row, (list, tuple))
        else number(row)
        for row in table
    ]


def carried(mistakes: Named, step: Callable[[Any], Any]) -> Named:
    """Apply `step` to the wrong values, and keep the names of the mistakes."""

    def after(make: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: step(make())

    return {phrase: after(make) for phrase, make in mistakes.items()}


def expect_table(
    got: Any,
    corpus: Corpus,
    limits: Sequence[int] = LIMITS,
    earlier: Named | None = None,
) -> None:
    """Compare a table with the right table.

    The mistakes in `earlier` have priority.
    """
    want = table_of(corpus, places_with(corpus, limits))
    named = carried({**(earlier or {}), **table_mistakes(corpus, limits)}, plain)
    if isinstance(got, (list, tuple)) and len(got) == len(want):
        got = list(got)
    expect_equal(plain(got), plain(want), "the table", named)


def by_length(student, corpus: Corpus, limits: Sequence[int] = LIMITS) -> Any:
    """Call the student's function on a corpus."""
    return student.bleu_by_length(
        corpus.sources, corpus.hypotheses, corpus.references, tuple(limits)
    )


@check(
    "bleu-by-length",
    share=1,
    title="One row per group, and a pair in each row",
    form=True,
)
def test_table_shape(student, draw):
    corpus = draw_corpus(draw, SOURCE_LENGTHS)
    got = by_length(student, corpus)
    rows = expect_parts(got, len(LIMITS) + 1, "a list with one row per group")
    for row in rows:
        expect_parts(row, 2, "rows with the number of sentences and their BLEU")


@check("bleu-by-length", share=2, title="The number of sentences in each group")
def test_table_counts(student, draw):
    corpus = draw_corpus(draw, SOURCE_LENGTHS)
    got = by_length(student, corpus)
    named = carried(table_mistakes(corpus), lambda t: [row[0] for row in plain(t)])
    want = [float(len(places)) for places in places_with(corpus, LIMITS)]
    rows = expect_parts(plain(got), len(want), "a list with one row per group")
    counts = [row[0] if isinstance(row, tuple) and row else row for row in rows]
    expect_equal(counts, want, "the list of counts", named)


@check("bleu-by-length", share=4, title="The corpus BLEU of each group")
def test_table_scores(student, draw):
    corpus = draw_corpus(draw.fixed(0), SOURCE_LENGTHS)  # reveals rounding
    expect_table(by_length(student, corpus), corpus)


@check("bleu-by-length", share=2, title="None for an empty group")
def test_table_with_an_empty_group(student, draw):
    corpus = draw_corpus(draw.fixed(0), (3, 8, 8, 4, 12))
    words = "code that works only if every group has a sentence"
    with blame(words, lambda: test_table_scores(student, draw)):
        expect_table(by_length(student, corpus), corpus)


@check("bleu-by-length", share=1, title="0 for a group without a correct word")
def test_table_with_a_zero(student, draw):
    corpus = draw_corpus(draw.fixed(0), (3, 8, 5, 12, 14))
    corpus.hypotheses[0][:] = ["nonsense"] * 5  # the only sentence of its group
    corpus.hypotheses[3][:] = ["nonsense"] * 5  # one of two sentences of its group
    expect_table(by_length(student, corpus), corpus)


@check("bleu-by-length", share=1, title="Sentences and limits do not change", form=True)
def test_table_changes_nothing(student, draw):
    corpus = draw_corpus(draw, SOURCE_LENGTHS)
    given = (corpus.sources, corpus.hypotheses, corpus.references, LIMITS)
    expect_left(student, student.bleu_by_length, *given)


@check("bleu-by-length", share=1, title="One limit, many limits, or none")
def test_table_of_other_limits(student, draw):
    corpus = draw_corpus(draw.fixed(1), SOURCE_LENGTHS)  # reveals rounding
    words = "code that works only for a certain number of groups"
    with blame(words, lambda: test_table_scores(student, draw)):
        for limits in MANY_LIMITS:
            expect_table(by_length(student, corpus, limits), corpus, limits)
    corpus = draw_corpus(draw.fixed(0), (4, 1200, 6, 9, 8))
    bound = "an upper limit for the sources in the last group"
    with blame(bound, lambda: test_table_scores(student, draw)):
        expect_table(by_length(student, corpus), corpus)
    with blame(SOME_SENTENCES, lambda: test_table_scores(student, draw)):
        for one, groups in other_tables(draw):
            given = one.sources, one.hypotheses, one.references, groups
            expect_table(student.bleu_by_length(*given), one, groups)


def cut(sentences: Sentences) -> Sentences:
    """Return the sentences without their last words."""
    return [words[:-1] for words in sentences]


def corpora_in_turn(draw) -> list[tuple[Corpus, Sequence[int]]]:
    """Draw corpora and limits for several calls, each with one new part.

    With the check's fixed seed, each table differs from the previous one.
    """
    corpus = draw_corpus(draw.fixed(0), (*SOURCE_LENGTHS, 5))
    written = replace(corpus, hypotheses=cut(corpus.hypotheses))
    wanted = replace(written, references=cut(corpus.references))
    read = replace(wanted, sources=corpus.sources[::-1])
    turns: list[tuple[Corpus, Sequence[int]]] = [
        (one, LIMITS) for one in (corpus, written, wanted, read)
    ]
    return [*turns, (read, (5, 8, 11))]


@check("bleu-by-length", share=1, title="Each call has its own table")
def test_table_of_each_call(student, draw):
    turns = corpora_in_turn(draw)
    calls = [(x.sources, x.hypotheses, x.references, limits) for x, limits in turns]
    results = student.calls_in_turn(student.bleu_by_length, *calls)
    (first, _), (second, _), *_ = results
    earlier: Named = {FIXED: lambda: first} if plain(first) == plain(second) else {}
    for (then, now), (corpus, limits) in zip(results, turns, strict=True):
        expect_table(then, corpus, limits, earlier)
        expect_table(now, corpus, limits)
        groups = places_with(corpus, limits)
        earlier = {KEPT: functools.partial(table_of, corpus, groups)}
    expect_no_traces(student, student.bleu_by_length, *calls[0], still=True)


# --- bootstrap_interval -----------------------------------------------------------

R, SENTENCES = 71, 8  # R = 71 reveals each way to round an index
OTHER_SIZES = (50, 68, 90, 94, 96, 99)  # percentages of the scores in an interval
END_DIGITS = {"one digit": 1, "two digits": 2, "three digits": 3}
EXACT = 2e-6  # tolerance that reveals rounding to three digits
OTHER_METHODS: Sequence[Any] = ("weibull", "hazen", "median_unbiased", "midpoint")


def interval_with(
    corpus: Corpus,
    draws: Tensor,
    ends: Sequence[float] = (0.025, 0.975),
    score: Callable[[list[int]], float] | None = None,
) -> Tensor:
    """Compute the interval, correctly or with one part replaced."""
    return quantiles(scores_of(corpus, draws, score), ends)


def scores_of(
    corpus: Corpus, draws: Tensor, score: Callable[[list[int]], float] | None = None
) -> Tensor:
    """Return the scores of the resampled test sets, by default their BLEU."""
    score = score or corpus.bleu
    return torch.tensor([score(row) for row in draws.tolist()], dtype=torch.float64)


def quantiles(scores: Tensor, ends: Sequence[float]) -> Tensor:
    """Return two percentiles, with interpolation."""
    return scores.quantile(torch.tensor(ends, dtype=torch.float64))


def interval_mistakes(corpus: Corpus, draws: Tensor) -> dict[str, Any]:
    """Return wrong intervals, keyed by the name of the mistake."""
    everything = list(range(len(corpus.references)))

    def of(**changes: Any) -> Callable[[], Tensor]:
        return lambda: interval_with(corpus, draws, **changes)

    def mean_of_sentences(row: list[int]) -> float:
        return sum(corpus.bleu([i]) for i in row) / len(row)

    def half_drawn(row: list[int]) -> float:
        return bleu_of(corpus.part(row)[0], corpus.references)

    def references_drawn(row: list[int]) -> float:
        return bleu_of(corpus.hypotheses, corpus.part(row)[1])

    return {
        "an interval for which the references are not resampled": of(score=half_drawn),
        "an interval for which the translations are not resampled": of(
            score=references_drawn
        ),
        "an interval computed from averages of sentence scores": of(
            score=mean_of_sentences
        ),
        "an interval from draws without repetitions": of(
            score=lambda row: corpus.bleu(sorted(set(row)))
        ),
        "an interval that swaps hypotheses and references": of(
            score=corpus.bleu_swapped
        ),
        "an interval in which equal translations all get "
        "the reference of the first": of(score=corpus.bleu_by_words),
        "an interval that treats the columns of `draws` as test sets": lambda: (
            interval_with(corpus, draws.T)
        ),
        "the score of the test set at both ends, without resampling": lambda: (
            torch.tensor([corpus.bleu(everything)] * 2)
        ),
        **rounded_ends(corpus, draws),
        **end_mistakes(scores_of(corpus, draws), corpus.bleu(everything)),
    }


def rounded_ends(corpus: Corpus, draws: Tensor) -> dict[str, Tensor]:
    """Return intervals that are right except for rounding, keyed by name."""
    right = interval_with(corpus, draws)
    return {
        Phrase("ends rounded to {words}", words): right.round(decimals=digits)
        for words, digits in END_DIGITS.items()
    }


def draws_left_out(corpus: Corpus, draws: Tensor) -> dict[str, Any]:
    """Return intervals that ignore some of the draws, keyed by name."""

    def of(rows: Sequence[tuple[int, ...]]) -> Tensor:
        return interval_with(corpus, torch.tensor(sorted(rows)))

    def of_scores(keep: Callable[[list[float]], Any]) -> Tensor:
        kept = sorted(keep(scores_of(corpus, draws).tolist()))
        ends = torch.tensor(kept, dtype=torch.float64)
        return quantiles(ends, (0.025, 0.975))

    rows = list(map(tuple, draws.tolist()))
    return {
        "an interval in which equal draws count only once": lambda: of(list(set(rows))),
        "an interval in which draws of the same sentences count only once": lambda: of(
            list({tuple(sorted(row)) for row in rows})
        ),
        "an interval in which equal scores count only once": lambda: of_scores(set),
        "an interval without the scores that are 0": lambda: of_scores(
            lambda scores: [score for score in scores if score]
        ),
    }


def end_mistakes(scores: Tensor, whole: float) -> dict[str, Tensor]:
    """Return intervals that are computed wrongly from right scores, keyed by name.

    Args:
        scores: the scores of the resampled test sets, (r,).
        whole: the score of the test set itself.
    """
    rank = scores.sort().values
    mean, deviation = scores.mean(), scores.std()
    error = deviation / math.sqrt(len(scores))

    def around(middle: Tensor | float, half: Tensor) -> Tensor:
        return torch.stack([middle - half, middle + half])

    def nearest(how: str) -> Tensor:
        ends = torch.tensor([0.025, 0.975], dtype=scores.dtype)
        return scores.quantile(ends, interpolation=how)

    return {
        "an interval whose ends are swapped": quantiles(scores, (0.975, 0.025)),
        **interpolated_elsewhere(scores),
        "the lowest and the highest score": rank[[0, -1]],
        "the mean ± 1.96 standard deviations": around(mean, 1.96 * deviation),
        "the mean ± two standard deviations": around(mean, 2 * deviation),
        "the score ± 1.96 standard deviations": around(whole, 1.96 * deviation),
        "the mean ± 1.96 standard errors, which shrink with more draws": around(
            mean, 1.96 * error
        ),
        "ends as fractions, not times 100": quantiles(scores, (0.025, 0.975)) / 100,
        "0 at both ends": torch.zeros(2),
        "percentiles of scores rounded to whole numbers": quantiles(
            scores.round(), (0.025, 0.975)
        ),
        "percentiles that are not interpolated": nearest("nearest"),
        "percentiles rounded down to a score that occurs": nearest("lower"),
        "percentiles rounded up to a score that occurs": nearest("higher"),
        "the scores at indices 0.025 r and 0.975 r, rounded down, not interpolated": (
            rank[[int(0.025 * len(rank)), int(0.975 * len(rank))]]
        ),
    }


def interpolated_elsewhere(scores: Tensor) -> dict[str, Tensor]:
    """Return wrong or wrongly interpolated percentiles, keyed by name."""
    holding = {
        n: quantiles(scores, (0.5 - n / 200, 0.5 + n / 200)) for n in OTHER_SIZES
    }
    by_method = {
        method: torch.from_numpy(np.percentile(scores, (2.5, 97.5), method=method))
        for method in OTHER_METHODS
    }
    return {
        **{
            Phrase("the interval that contains {n} of 100 scores", n): x
            for n, x in holding.items()
        },
        "the interval from the 5th to the 97.5th percentile": quantiles(
            scores, (0.05, 0.975)
        ),
        "the interval from the 2.5th to the 95th percentile": quantiles(
            scores, (0.025, 0.95)
        ),
        **{
            Phrase(
                "percentiles by numpy's method {method} instead of 'linear'",
                repr(method),
            ): ends
            for method, ends in by_method.items()
        },
    }


def draw_test_sets(draw, r: int = 9) -> tuple[Corpus, Tensor]:
    """Draw a corpus and r resampled test sets with many repeated sentences.

    With the fixed seeds, the first score changes if hypotheses and references are
    swapped, if each sentence counts only once, or if the score is rounded.
    """
    corpus = draw_corpus(draw, [5] * SENTENCES)
    corpus.hypotheses[1][:] = corpus.hypotheses[0]  # only their positions differ
    corpus.references[3][:] = corpus.references[2]
    draws = draw.ids(r, SENTENCES, low=0, high=SENTENCES)
    draws[0, :4] = torch.tensor([1, 1, 3, 3])
    return corpus, draws


def draw_telling_sets(draw) -> tuple[Corpus, Tensor]:
    """Draw test sets that give a different result for each wrong pair of ends.

    Some test sets occur twice, and rounded ends differ too.
    """
    corpus, draws = draw_test_sets(draw.fixed(1), R)
    draws[5:9] = draws[4]
    return corpus, draws


def draw_longer_sets(draw) -> tuple[Corpus, Tensor]:
    """Draw test sets that are longer than the corpus and reveal every wrong end."""
    draw = draw.fixed(0)
    corpus, _ = draw_test_sets(draw)
    return corpus, draw.ids(9, SENTENCES + 3, low=1, high=SENTENCES)


def run_interval(student, corpus: Corpus, draws: Tensor) -> Tensor:
    """Call the student's function, and return the two ends as a tensor."""
    return ends_in(
        student.bootstrap_interval(corpus.hypotheses, corpus.references, draws)
    )


def ends_in(got: Any) -> Tensor:
    """Return the two ends of a student's interval as a tensor."""
    if isinstance(got, Tensor) and tuple(got.shape) == (2,):
        return got
    low, high = expect_parts(got, 2, "two numbers, the ends of the interval")
    for end in (low, high):
        if not isinstance(end, (int, float)) and not (
            isinstance(end, Tensor) and end.dim() == 0
        ):
            fail("Each end of the interval should be a number.")
    return torch.tensor([float(low), float(high)])


@check(
    "bootstrap-interval", share=1, title="Two numbers, the lower one first", form=True
)
def test_interval_shape(student, draw):
    ends = run_interval(student, *draw_test_sets(draw.fixed(0)))
    if not bool(ends[0] <= ends[1]):
        fail(
            "The first number should be the lower end.",
            mistake="an interval whose ends are swapped",
        )


@check("bootstrap-interval", share=5, title="The percentiles of the resampled scores")
def test_interval_value(student, draw):
    corpus, draws = draw_telling_sets(draw)
    got = run_interval(student, corpus, draws)
    want = interval_with(corpus, draws)
    named = interval_mistakes(corpus, draws)
    expect_close(got, want, "your interval", named, tolerance=EXACT)


@check(
    "bootstrap-interval", share=1, title="The interval of a single draw has no width"
)
def test_interval_of_one_draw(student, draw):
    corpus, draws = draw_test_sets(draw.fixed(1))
    words = "code that works only for many draws"
    with blame(words, lambda: test_interval_value(student, draw)):
        got = run_interval(student, corpus, draws[:1])
        want = torch.tensor([corpus.bleu(draws[0].tolist())] * 2)
        expect_close(got, want, "the interval of one draw", tolerance=EXACT)


@check(
    "bootstrap-interval",
    share=1,
    title="Sentences, draws and the random state do not change",
    form=True,
)
def test_interval_changes_nothing(student, draw):
    corpus, draws = draw_test_sets(draw.fixed(2))
    given = (corpus.hypotheses, corpus.references, draws)
    expect_no_traces(student, student.bootstrap_interval, *given, still=True)
    expect_left(student, student.bootstrap_interval, *given)


@check("bootstrap-interval", share=1, title="Only the given indices are used")
def test_interval_of_other_sizes(student, draw):
    corpus, draws = draw_longer_sets(draw)
    words = "code that works only for n indices in each row"
    with blame(words, lambda: test_interval_value(student, draw)):
        got = run_interval(student, corpus, draws)
        want = interval_with(corpus, draws)
        expect_close(got, want, "your interval", tolerance=EXACT)
    corpus, draws = draw_repeated_sets(draw)
    got = run_interval(student, corpus, draws)
    named = draws_left_out(corpus, draws)
    expect_close(
        got, interval_with(corpus, draws), "your interval", named, tolerance=EXACT
    )
    with blame(SOME_SENTENCES, lambda: test_interval_value(student, draw)):
        for corpus, draws in other_test_sets(draw):
            want = interval_with(corpus, draws)
            got = run_interval(student, corpus, draws)
            expect_close(got, want, "your interval", tolerance=EXACT)


def other_test_sets(draw) -> list[tuple[Corpus, Tensor]]:
    """Draw other kinds of corpora, with other numbers of draws and of sentences."""
    draw = draw.fixed(4)
    sets = []
    for number, (hypotheses, references) in enumerate(other_corpora(draw)):
        n = len(hypotheses)
        if n == 1:
            continue  # right code may turn sentences of one length into a matrix
        for r in ((2, 5), (n, 41), (3, 8), (4,), (130,), (2, 9), (3,), (520,))[number]:
            draws = draw.ids(n, r, low=0, high=n).T  # not contiguous
            if r == 5:
                draws = draws[:1].repeat(5, 1)
            elif r == 8:
                draws = draws[:, :1].repeat(1, n)
            elif r in (4, 41):
                draws = draws.sort(dim=1).values
            if r != 8:
                draws[:, -1] = n - 1  # a sentence of at least four words
            sets.append((Corpus([], hypotheses, references), draws))
    return sets


def draw_repeated_sets(draw) -> tuple[Corpus, Tensor]:
    """Draw test sets, some of which occur twice and some of which score 0.

    Leaving out any of these test sets changes the interval.
    """
    corpus, draws = draw_test_sets(draw.fixed(2), 17)
    corpus.hypotheses[7][:] = ["nonsense"] * 6
    draws[11:14] = draws[0]
    draws[14:16] = draws[1].flip(0)
    draws[16] = 7
    return corpus, draws


def intervals_in_turn(draw) -> list[tuple[Corpus, Tensor]]:
    """Draw test sets for several calls, each with one new part and other ends."""
    draw = draw.fixed(0)
    corpus, draws = draw_test_sets(draw, 13)  # no other check uses this number
    _, others = draw_test_sets(draw, 13)
    written = replace(corpus, hypotheses=cut(corpus.hypotheses))
    wanted = replace(written, references=cut(corpus.references))
    return [(corpus, draws), (written, draws), (wanted, draws), (wanted, others)]


@check("bootstrap-interval", share=1, title="Each call has its own interval")
def test_interval_of_each_call(student, draw):
    turns = intervals_in_turn(draw)
    calls = [(corpus.hypotheses, corpus.references, draws) for corpus, draws in turns]
    results = student.calls_in_turn(student.bootstrap_interval, *calls)
    first, second, *_ = [ends_in(then) for then, _ in results]
    earlier: dict[str, Any] = {FIXED: first} if first.equal(second) else {}
    for (then, now), turn in zip(results, turns, strict=True):
        want = interval_with(*turn)
        whose = "In one of several calls, your interval"
        expect_close(ends_in(then), want, whose, earlier, tolerance=EXACT)
        whose = "After further calls, your interval"
        expect_close(ends_in(now), want, whose, tolerance=EXACT)
        earlier = {KEPT: want}


# --- copy_unknown_words -----------------------------------------------------------

SOURCE = [
    "die",
    "junge",
    "dirigentin",
    "ruft",
    "herrn",
    "nowak",
    "aus",
    "dem",
    "park",
    "morgen",
    "an",
    ".",
]
LAYERS, HEADS, WRITTEN = 3, 4, 24
UNKNOWN = "<unk>"
KNOWN = (3, 6, 7, 13, 18, 23)  # positions of known words


@dataclass(frozen=True)
class Copying:
    """A translation with unknown words, the attention weights, and the source."""

    target: list[str]
    weights: Tensor
    source: list[str]

    @property
    def given(self) -> tuple[list[str], Tensor, list[str]]:
        """Return the arguments of the student's function."""
        return self.target, self.weights, self.source

    def behind_the_first(self) -> "Copying":
        """Return a copy without the first token of the translation."""
        return Copying(self.target[1:], self.weights[:, :, 1:], self.source)

    def filled(self, places: Sequence[int], every: bool = False) -> list[str]:
        """Replace each unknown word by the source word with the given index."""
        return [
            self.source[place] if every or word == UNKNOWN else word
            for word, place in zip(self.target, places, strict=True)
        ]


def draw_copying(draw, known: Sequence[int] = KNOWN) -> Copying:
    """Draw attention weights for which each likely mistake copies different words.

    The heads disagree, and their weights for `<sos>` and `<eos>` differ.
    """
    target = [*words_of(draw, WRITTEN - 1), "<eos>"]
    target[3] = "trunk"
    unknown = sorted(set(range(WRITTEN)) - set(known))
    for place in unknown:
        target[place] = UNKNOWN
    heads = (LAYERS, HEADS, WRITTEN)
    words = (1.5 * draw.normal(*heads, len(SOURCE))).softmax(dim=-1)
    share = 0.1 + 0.8 * draw.uniform(*heads, 1)  # total weight of the words
    start = 0.2 + 0.6 * draw.uniform(*heads, 1)  # share of <sos> in the rest
    words = share * words
    order = torch.randperm(len(SOURCE), generator=draw.generator)
    for number, row in enumerate(
        unknown
    ):  # so that each word has the largest weight in some row
        now = int(words[:, :, row].mean(dim=(0, 1)).argmax())
        turns = int(order[number % len(SOURCE)]) - now
        words[:, :, row] = words[:, :, row].roll(turns, -1)
    ends = [(1 - share) * start, words, (1 - share) * (1 - start)]
    return Copying(target, torch.cat(ends, dim=-1), SOURCE)


def copying_mistakes(case: Copying) -> Named:
    """Return wrong copies, keyed by the name of the mistake."""
    return {**place_mistakes(case), **weight_mistakes(case), **word_mistakes(case)}


# Each function takes the average weights (t, s), and returns the indices of the words
# to copy, (t,).
OTHER_PLACES: dict[str, Callable[[Tensor], Tensor]] = {
    "copies of the nearest word if <sos> or <eos> "
    "has the largest weight": lambda average: (
        average.argmax(dim=-1).clamp(1, average.size(1) - 2) - 1
    ),
    "copies in which <eos> counts as the last word": lambda average: (
        average[:, 1:].argmax(dim=-1).clamp(max=average.size(1) - 3)
    ),
    "copies of word i for column i of the weights, although column 0 is <sos>": (
        lambda average: average[:, :-2].argmax(dim=-1)
    ),
    "copies that never use the first word": lambda average: (
        average[:, 2:-1].argmax(dim=-1) + 1
    ),
    "copies that never use the last word": lambda average: average[:, 1:-2].argmax(
        dim=-1
    ),
    "copies of the word before the one with the largest weight": lambda average: (
        (looked_at(average) - 1) % (average.size(1) - 2)
    ),
    "copies of the word after the one with the largest weight": lambda average: (
        (looked_at(average) + 1) % (average.size(1) - 2)
    ),
    "copies of the word at the same position": lambda average: torch.arange(
        len(average)
    ).clamp(max=average.size(1) - 3),
    "copies of the word with the smallest weight": lambda average: average[
        :, 1:-1
    ].argmin(dim=-1),
    "copies that use the next token's weights": lambda average: looked_at(
        average.roll(-1, 0)
    ),
    "copies that use the previous token's weights": lambda average: looked_at(
        average.roll(1, 0)
    ),
    "the same word for every <unk>": lambda average: (
        average[:, 1:-1].sum(dim=0).argmax().expand(len(average))
    ),
}
# Each function takes the weights (layers, h, t, s), and returns the weights for
# copying, (t, s).
OTHER_WEIGHTS: dict[str, Callable[[Tensor], Tensor]] = {
    "only the first layer": lambda weights: weights[0].mean(0),
    "only the second layer": lambda weights: weights[1].mean(0),
    "only the last layer": lambda weights: weights[-1].mean(0),
    "only the first two layers": lambda weights: weights[:2].mean(dim=(0, 1)),
    "only the first head": lambda weights: weights[:, 0].mean(0),
    "only the last head": lambda weights: weights[:, -1].mean(0),
    "all heads but the first": lambda weights: weights[:, 1:].mean(dim=(0, 1)),
    "all heads but the last": lambda weights: weights[:, :-1].mean(dim=(0, 1)),
    "only one head of one layer": lambda weights: weights[-1, 0],
    "only the first head of the first layer": lambda weights: weights[0, 0],
    "the largest weight of any head": lambda weights: weights.amax(dim=(0, 1)),
    "the mean over the layers of the heads' largest weight": lambda weights: (
        weights.amax(1).mean(0)
    ),
    "the maximum over the layers of the heads' mean": lambda weights: weights.mean(
        1
    ).amax(0),
    "the median of the heads": lambda weights: (
        weights.flatten(0, 1).median(dim=0).values
    ),
    "the product of the heads' weights": lambda weights: weights.log().sum(dim=(0, 1)),
    "the squares of the weights": lambda weights: weights.square().mean(dim=(0, 1)),
    "the square roots of the weights": lambda weights: weights.sqrt().mean(dim=(0, 1)),
    "the weights after a second softmax": lambda weights: weights.softmax(dim=-1).mean(
        dim=(0, 1)
    ),
    "weights renormalised without <sos> and <eos>": lambda weights: (
        weights / weights[..., 1:-1].sum(dim=-1, keepdim=True)
    ).mean(dim=(0, 1)),
}


def looked_at(weights: Tensor) -> Tensor:
    """Return the index of the largest weight in each row, without <sos> and <eos>."""
    return weights[..., 1:-1].argmax(dim=-1)


def place_mistakes(case: Copying) -> Named:
    """Return copies of words that do not have the largest weight, keyed by name."""
    average = case.weights.mean(dim=(0, 1))  # (t, s)
    framed = Copying(case.target, case.weights, ["<sos>", *case.source, "<eos>"])

    def by(places: Callable[[Tensor], Tensor]) -> Callable[[], list[str]]:
        return lambda: case.filled(places(average).tolist())

    return {
        "copies that include <sos> and <eos>": lambda: framed.filled(
            average.argmax(dim=-1).tolist()
        ),
        **{phrase: by(places) for phrase, places in OTHER_PLACES.items()},
    }


def weight_mistakes(case: Copying) -> Named:
    """Return copies that use wrong weights instead of the average, keyed by name."""

    def by(weights: Callable[[Tensor], Tensor]) -> Callable[[], list[str]]:
        return lambda: case.filled(looked_at(weights(case.weights)).tolist())

    return {
        **{
            Phrase("copies that use {words}", words): by(weights)
            for words, weights in OTHER_WEIGHTS.items()
        },
        "copies of the word that most heads attend to": lambda: case.filled(
            looked_at(case.weights).flatten(0, 1).mode(dim=0).values.tolist()
        ),
    }


def each_word_once(case: Copying) -> list[str]:
    """Return copies in which no word is copied twice."""
    average = case.weights.mean(dim=(0, 1)).clone()  # (t, s)
    places = []
    for row, word in enumerate(case.target):
        places.append(int(looked_at(average[row])))
        if word == UNKNOWN:
            average[:, places[-1] + 1] = 0
    return case.filled(places)


def word_mistakes(case: Copying) -> Named:
    """Return wrongly constructed lists of words, keyed by name."""
    average = case.weights.mean(dim=(0, 1))  # (t, s)
    looked = looked_at(average).tolist()
    right = case.filled(looked)
    first = case.target.index(UNKNOWN) if UNKNOWN in case.target else 0

    def only_first() -> list[str]:
        return [*right[: first + 1], *case.target[first + 1 :]]

    return {
        "copies for every word, not only for unknown words": lambda: case.filled(
            looked, every=True
        ),
        "copies for each word in angle brackets, including <eos>": lambda: [
            case.source[place] if word.startswith("<") else word
            for word, place in zip(case.target, looked, strict=True)
        ],
        "copies for each word that contains unk, not only for <unk>": lambda: [
            case.source[place] if "unk" in word else word
            for word, place in zip(case.target, looked, strict=True)
        ],
        "copies that use each source word only once": lambda: each_word_once(case),
        "the words of the source": lambda: list(case.source),
        "a copy for only the first unknown word": only_first,
        "the target without its unknown words": lambda: [
            word for word in case.target if word != UNKNOWN
        ],
        "the unchanged target": lambda: list(case.target),
        "the translation without <eos>, which should stay": lambda: right[:-1],
        "the words joined into a string": lambda: " ".join(right),
        "the indices of the words, not the words": lambda: [
            place if word == UNKNOWN else word
            for word, place in zip(case.target, looked, strict=True)
        ],
    }


def expect_copies(got: Any, case: Copying, earlier: Copying | None = None) -> None:
    """Compare the words with the right words, and with those of an earlier call."""
    named = copying_mistakes(case)
    if earlier:
        named[KEPT] = lambda: reference.copy_unknown_words(*earlier.given)
    want = reference.copy_unknown_words(*case.given)
    got = list(got) if isinstance(got, tuple) else got
    expect_equal(got, want, "your translation", named)


def expect_lists_apart(results: Sequence[tuple[Any, Any]]) -> None:
    """Fail if a later call changed the list that an earlier call returned."""
    if any(then != now for then, now in results):
        fail(
            "A later call changed the list that an earlier call returned. "
            "Return a new list each time.",
            mistake="one list for the results of all calls",
        )


def run_copying(student, case: Copying) -> Any:
    """Call the student's function on a case."""
    return student.copy_unknown_words(*case.given)


@check(
    "copy-unknown-words",
    share=1,
    title="One output token for each input token, and no <unk>",
    form=True,
)
def test_copies_shape(student, draw):
    case = draw_copying(draw.fixed(1)).behind_the_first()  # reveals each mistake
    got = run_copying(student, case)
    words = expect_parts(
        got, len(case.target), "a list with one word for each target token"
    )
    if UNKNOWN in words:
        fail(
            "There is still an <unk> in your translation.",
            mistake="an <unk> that stays",
        )


@check("copy-unknown-words", share=5, title="The word with the largest average weight")
def test_copies_values(student, draw):
    first, second = draw_copying(draw.fixed(3)), draw_copying(draw.fixed(6))
    first = replace(first, source=[*SOURCE[1:], SOURCE[0]])  # no other check uses it
    other_weights = replace(first, weights=second.weights)
    other_source = replace(other_weights, source=SOURCE[::-1])
    other_target = replace(other_source, target=second.target)
    earlier: Copying | None = None
    cases = [first, other_weights, other_source, other_target]
    calls = [case.given for case in cases]
    results = student.calls_in_turn(student.copy_unknown_words, *calls)
    for (got, _), case in zip(results, cases, strict=True):
        expect_copies(got, case, earlier)
        earlier = case
    expect_lists_apart(results)


@check(
    "copy-unknown-words",
    share=1,
    title="Known words and the input do not change",
    form=True,
)
def test_copies_change_nothing_else(student, draw):
    case = draw_copying(draw, known=range(WRITTEN))
    expect_copies(run_copying(student, case), case)
    case = draw_copying(draw.fixed(10))
    expect_left(student, student.copy_unknown_words, *case.given)
    expect_no_traces(student, student.copy_unknown_words, *case.given, still=True)


@check("copy-unknown-words", share=1, title="Any sizes, such as one layer and one word")
def test_copies_of_another_size(student, draw):
    weights = torch.tensor([0.45, 0.2, 0.35]).repeat(1, 1, 2, 1)
    case = Copying([UNKNOWN, "<eos>"], weights, ["nowak"])

    def as_usual() -> None:
        test_copies_values(student, draw)
        test_copies_change_nothing_else(student, draw)

    with blame("code that works only for several layers, heads or words", as_usual):
        expect_copies(run_copying(student, case), case)
    expect_copies_of_equal_words(student)
    expect_copies_of_little_weight(student)
    with blame(SOME_SIZES, as_usual):
        for case in other_copying(draw):
            got = run_copying(student, case)
            want = reference.copy_unknown_words(*case.given)
            got = list(got) if isinstance(got, tuple) else got
            expect_equal(got, want, "your translation")


def other_copying(draw) -> list[Copying]:
    """Draw translations of other sizes, with unusual words.

    Some weights are 0, have the dtype float64 or are not contiguous.
    """
    draw = draw.fixed(12)
    cases = []
    odd = [*ODD_WORDS, "unk", "<UNK>", "<sos>", "<pad>", "[unk]"]
    sizes = [*orders_of(("layers", "h", "t", "n")).values(), *OTHER_SIZES_OF_COPIES]
    for number, size in enumerate(sizes):
        layers, h, t, n = size.values()
        words = [odd[(number + i * 5) % len(odd)] for i in range(max(n, t))]
        target = [UNKNOWN if (i + number) % 3 else words[i] for i in range(t)]
        source = [word for word in [*words, *WORDS * 7] if not word.startswith("<")]
        weights = (4 * draw.normal(layers, h, n + 2, t)).mT.softmax(dim=-1)
        weights = torch.where(weights < 0.01, 0.0, weights)
        weights = weights.double() if number % 2 else weights.mT.contiguous().mT
        given: Any = target, weights, source[:n]
        if number % 3 == 0:
            given = tuple(target), weights, tuple(source[:n])
        cases.append(Copying(*given))
    return cases


OTHER_SIZES_OF_COPIES: Sequence[dict[str, int]] = (
    {"layers": 5, "h": 2, "t": 110, "n": 34},
    {"layers": 2, "h": 9, "t": 9, "n": 9},
    {"layers": 9, "h": 4, "t": 9, "n": 7},
    {"layers": 1, "h": 17, "t": 3, "n": 68},
    {"layers": 6, "h": 3, "t": 2, "n": 2},
)


def expect_copies_of_equal_words(student) -> None:
    """Fail if two positions of the same source word share one weight."""
    weights = torch.tensor([0.1, 0.5, 0.3, 0.05, 0.05]).repeat(2, 3, 1, 1)
    case = Copying([UNKNOWN], weights, ["der", "hund", "der"])
    by_word = (
        "copies by a dictionary of the words, in which equal words share one weight"
    )
    named = {by_word: ["hund"]}
    expect_equal(list(run_copying(student, case)), ["der"], "your translation", named)


def expect_copies_of_little_weight(student) -> None:
    """Fail if the code cannot handle very small or almost equal weights."""
    little = torch.tensor([0.9, 2e-5, 2.004e-5, 1e-5, 0.09995]).repeat(2, 3, 1, 1)
    case = Copying([UNKNOWN], little, ["park", "herrn", "ruft"])
    named = {
        "an <unk> that stays if the words have little weight": [UNKNOWN],
        "copies that use weights with few digits": ["park"],
    }
    got = list(run_copying(student, case))
    expect_equal(got, ["herrn"], "your translation for low-weight words", named)


# --- apply_merges -----------------------------------------------------------------

Pair = tuple[str, str]
Merge = Callable[[Sequence[str], Pair], list[str]]
START = "▁"
# The letters a, b, c and d are replaced by random letters in the same alphabetical
# order. Whatever the letters, each mistake gives a different result.
PIECES = "c a bc a a ab bc b a a b a a a c a c a"
MERGES = "d_a b_a a_c a_b a_ac ab_c ac_a"
OTHER_MERGES = "c_a b_c a_a aa_a ca_bc d_b ab_ab"
LETTERS = "abdefgiklmnoprstuvwz"
ALPHABET = "abcdefghijklmnopqrstuvwxyz"


def renamed(draw) -> Callable[[str], str]:
    """Draw four letters, and return a function that replaces a, b, c and d by them."""
    drawn = torch.randperm(len(LETTERS), generator=draw.generator)[:4].sort().values
    table = str.maketrans("abcd", "".join(LETTERS[i] for i in drawn))
    return lambda text: text.translate(table)


def pairs_of(text: str) -> list[Pair]:
    """Read pairs from a text such as "a_b ab_c"."""
    halves = [pair.split("_") for pair in text.split()]
    return [(first, second) for first, second in halves]


def places_of(pieces: Sequence[str], pair: Pair) -> list[int]:
    """Return the positions at which the pair occurs."""
    found = enumerate(pairwise(pieces))
    return [place for place, neighbours in found if neighbours == pair]


def joined_at(pieces: Sequence[str], places: Sequence[int]) -> list[str]:
    """Join the pieces at these positions with the next pieces; use no piece twice."""
    made: list[str] = []
    i = 0
    while i < len(pieces):
        end = i + 2 if i in places else i + 1
        made.append("".join(pieces[i:end]))
        i = end
    return made


def merged(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Merge one pair correctly."""
    return joined_at(pieces, places_of(pieces, pair))


def merged_once(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Merge a pair only at its first position."""
    return joined_at(pieces, places_of(pieces, pair)[:1])


def merged_from_the_right(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Merge a pair from right to left: aaa becomes a aa."""
    turned = merged([p[::-1] for p in pieces[::-1]], (pair[1][::-1], pair[0][::-1]))
    return [piece[::-1] for piece in turned[::-1]]


def merged_twice(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Merge a pair even in overlapping positions: aaa becomes aa aa."""
    places = places_of(pieces, pair)
    return [
        "".join(pair) if i in places else piece
        for i, piece in enumerate(pieces)
        if i in places or i - 1 not in places
    ]


def merged_in_runs(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Merge overlapping occurrences into one piece: aaa remains together."""
    places, made = places_of(pieces, pair), list(pieces[:1])
    for i, piece in enumerate(pieces[1:]):
        if i in places:
            made[-1] += piece
        else:
            made.append(piece)
    return made


def merged_in_text(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Merge by replacing text, which also finds the pair inside longer pieces."""
    return " ".join(pieces).replace(" ".join(pair), "".join(pair)).split(" ")


def merged_by_pattern(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Merge with a regular expression, in which a dot matches any letter."""
    pattern = rf"(?<!\S){' '.join(pair)}(?!\S)"
    return re.sub(pattern, "".join(pair), " ".join(pieces)).split(" ")


def merged_if(fits: Callable[[str, str, Pair], bool]) -> Merge:
    """Return a function that merges two neighbours under a wrong condition."""

    def merge(pieces: Sequence[str], pair: Pair) -> list[str]:
        made: list[str] = []
        for piece in pieces:
            if made and fits(made[-1], piece, pair):
                made[-1] += piece
            else:
                made.append(piece)
        return made

    return merge


def merged_before_the_last(pieces: Sequence[str], pair: Pair) -> list[str]:
    """Merge a pair, but lose the last piece, like `range(len(pieces) - 1)`."""
    made = merged(pieces, pair)
    return made[:-1] if made[-1:] == list(pieces[-1:]) else made


by_letters = merged_if(lambda left, right, pair: left + right == "".join(pair))
either_way = merged_if(lambda left, right, pair: {left, right} == set(pair))


def applied(
    pieces: Sequence[str], merges: Sequence[Pair], merge: Merge = merged
) -> list[str]:
    """Apply merges in order, with the right way or a wrong way to merge."""
    for pair in merges:
        pieces = merge(pieces, pair)
    return list(pieces)


def applied_in_one_pass(pieces: Sequence[str], merges: Sequence[Pair]) -> list[str]:
    """Merge from left to right in one pass, with any merge that matches."""
    return merged_if(lambda left, right, _: (left, right) in merges)(pieces, ("", ""))


def applied_from_the_left(pieces: Sequence[str], merges: Sequence[Pair]) -> list[str]:
    """Apply any merge at the first position where one matches, until none matches."""
    pieces = list(pieces)
    while places := [place for pair in merges for place in places_of(pieces, pair)]:
        pieces = joined_at(pieces, [min(places)])
    return pieces


def longest_pieces(pieces: Sequence[str], merges: Sequence[Pair]) -> list[str]:
    """Repeatedly cut off the longest piece that a merge creates."""
    text, known = "".join(pieces), set(map("".join, merges))
    made: list[str] = []
    while text:
        end = max([n for n in range(1, len(text) + 1) if text[:n] in known] or [1])
        made.append(text[:end])
        text = text[end:]
    return made


def applied_mistakes(pieces: Sequence[str], merges: Sequence[Pair]) -> Named:
    """Return wrong lists of pieces, keyed by the name of the mistake."""

    def by(merge: Merge) -> Callable[[], list[str]]:
        return lambda: applied(pieces, merges, merge)

    def of(merges: Sequence[Pair]) -> Callable[[], list[str]]:
        return lambda: applied(pieces, merges)

    fitting = [pair for pair in merges if places_of(pieces, pair)]
    return {
        "the unchanged pieces": lambda: list(pieces),
        "the merges applied from the last one learned to the first": of(merges[::-1]),
        "the merges applied in alphabetical order": of(sorted(merges)),
        "the merges without the last one": of(merges[:-1]),
        "only the first merge that matches": of(fitting[:1]),
        "one pass from left to right in which any merge may apply": lambda: (
            applied_in_one_pass(pieces, merges)
        ),
        "merges from left to right, regardless of which was learned first": lambda: (
            applied_from_the_left(pieces, merges)
        ),
        "the longest known pieces from left to right, not merge by merge": lambda: (
            longest_pieces(pieces, merges)
        ),
        "each merge applied only at its first position": by(merged_once),
        "merges found inside longer pieces too": by(merged_in_text),
        "merges of any two pieces with the same joined spelling as the pair": by(
            by_letters
        ),
        "merges of the pair in either order": by(either_way),
        "merges of letters, although the input has longer pieces": lambda: applied(
            list("".join(pieces)), merges
        ),
        "a list that loses its last piece": by(merged_before_the_last),
        "merges by a regular expression, in which a dot matches any letter": by(
            merged_by_pattern
        ),
        "pieces in lower case": lambda: applied([p.lower() for p in pieces], merges),
        **overlap_mistakes(by),
        **unknown_mistakes(applied(pieces, merges), merges),
    }


def unknown_mistakes(right: Sequence[str], merges: Sequence[Pair]) -> Named:
    """Return wrong lists that lose or change unknown pieces, keyed by name."""
    known = {*map("".join, merges), *(piece for pair in merges for piece in pair)}
    return {
        "the pieces joined into a string": lambda: " ".join(right),
        "pieces without those that no merge contains": lambda: [
            piece for piece in right if piece in known
        ],
        "<unk> for pieces that no merge contains": lambda: [
            piece if piece in known else "<unk>" for piece in right
        ],
    }


def overlap_mistakes(by: Callable[[Merge], Callable[[], Any]]) -> Named:
    """Return wrong merges of overlapping pairs, keyed by name."""
    return {
        "merges from right to left": by(merged_from_the_right),
        "merges that use one piece twice: aaa becomes aa aa": by(merged_twice),
        "merges of more than two pieces: aaa becomes one piece": by(merged_in_runs),
    }


def expect_pieces(
    got: Any, pieces: Sequence[str], merges: Sequence[Pair], earlier: Any = None
) -> None:
    """Compare pieces with the right pieces, and with those of an earlier call."""
    named = applied_mistakes(pieces, merges)
    if earlier is not None:
        named = {KEPT: earlier, **named}
    expect_equal(got, applied(pieces, merges), "the list of pieces", named)


def expect_applied(student, pieces: Sequence[str], merges: Sequence[Pair]) -> None:
    """Call the student's function, and compare its pieces with the right pieces."""
    got = student.apply_merges(list(pieces), list(merges))
    expect_pieces(got, pieces, merges)


@check("apply-merges", share=4, title="Merge by merge, in the order learned")
def test_applied_in_order(student, draw):
    name = renamed(draw)
    pieces, merges = name(PIECES).split(), pairs_of(name(MERGES))
    others = pairs_of(name(OTHER_MERGES))
    calls = [(pieces, merges), (pieces[::-1], merges), (pieces[::-1], others)]
    earlier = None
    results = student.calls_in_turn(student.apply_merges, *calls)
    for call, (got, _) in zip(calls, results, strict=True):
        expect_pieces(got, *call, earlier)
        earlier = applied(*call)
    expect_lists_apart(results)
    with blame("a bound on the number of merges or of pieces"):
        growing = [(ALPHABET[:i], ALPHABET[i]) for i in range(1, len(ALPHABET))]
        got = student.apply_merges(list(2 * ALPHABET), growing)
        expect_equal(got, [ALPHABET] * 2, "the list of pieces")
    with blame(SOME_PIECES):
        for unusual, rules in other_pieces():
            got = student.apply_merges(unusual, rules)
            expect_equal(got, applied(unusual, rules), "the list of pieces")


SOME_PIECES = "code that is right only for some kinds of pieces or words"
SIGNS_APART = [*"#$^%@'\\[(,-+\"*|ßA7_&?{", "😀", "한", "e\u0301", "<unk>", "▁▁", "▁x"]


def other_pieces() -> list[tuple[Sequence[str], Sequence[Pair]]]:
    """Return pieces and merges with unusual signs, and in other numbers."""
    signs, a, b = SIGNS_APART, ["a"], ["b"]
    pairs = list(pairwise(signs))
    joined = ["".join(pair) for pair in pairs]
    runs: list[tuple[Sequence[str], Sequence[Pair]]] = [
        (n * a, [("a", "a"), ("aa", "aa"), ("aa", "a")]) for n in (2, 3, 6, 7, 130)
    ]
    return [
        *runs,
        ([*signs, *signs[::-1]], pairs),
        (signs, pairs[1::2]),
        ([*signs, *joined[::3]], list(zip(signs, joined[3:], strict=False))),
        (signs, [(sign.swapcase(), sign) for sign in signs]),
        (tuple("banana"), (("n", "a"), ("b", "a"), ("na", "na"), ("n", "a"))),
        (["ab", "ab", "c"], [("a", "b"), ("ab", "ab"), ("a", "bab")]),
        (["a", "bc", "ab", "c"], [("ab", "c"), ("a", "bc")]),
        (["ab", "c"], [("ab", "c")]),
        (30 * [*a, *b], [*[("b", "b"), ("c", "a")] * 60, ("b", "a"), ("a", "ba")]),
        (["ab", "cd"], [("b", "c"), ("b", "cd"), ("ab", "c")]),
    ]


@check("apply-merges", share=2, title="Pairs that share a piece")
def test_applied_to_runs(student, draw):
    name = renamed(draw)
    for word, merges in (("caaab", "a_a"), ("ababbabaaaaad", "b_a ba_ba a_a")):
        expect_applied(student, list(name(word)), pairs_of(name(merges)))


@check(
    "apply-merges", share=1, title="Unknown letters, punctuation, and nothing to merge"
)
def test_applied_to_the_unknown(student, draw):
    merges = pairs_of("e_. ▁_e x_Ä ä_x")
    expect_applied(student, [START, *"e?xÄe.exÄxe"], merges)
    words = "code that needs at least one merge and two pieces"
    with blame(words, lambda: test_applied_in_order(student, draw)):
        for pieces, given in (([START, "q"], []), ([START], merges), ([], merges)):
            expect_applied(student, pieces, given)


@check("apply-merges", share=1, title="Pieces and merges do not change", form=True)
def test_applied_changes_nothing(student, draw):
    name = renamed(draw)
    given = (name(PIECES).split()[1:], pairs_of(name(MERGES)))
    expect_no_traces(student, student.apply_merges, *given, still=True)
    expect_left(student, student.apply_merges, *given)


# --- learn_merges -----------------------------------------------------------------

Seen = Counter[Pair]
Words = dict[str, int]
# As above, each mistake gives a different result whatever the letters. The numbers are
# each word's counts in two corpora, in which different pairs are the most frequent.
TWO_CORPORA = {
    "dacbd": (13, 3),
    "acdcb": (14, 15),
    "ddb": (14, 16),
    "adb": (5, 13),
    "cdaaacd": (11, 14),
    "cdbcc": (18, 4),
    "ccabadb": (15, 8),
    "dccb": (3, 9),
}
EQUALS = {"cdcba": 2, "ccc": 1, "cc": 2, "ccaab": 2, "abcb": 2, "aadd": 2}
RUNS = {"baacbac": 6, "bbaacabaa": 3, "ccca": 8, "ccccaa": 5}
ONCE = "merges of pairs that count once per word, even if the word repeats them"
BY_AND_BY = {"ab": 2, "d": 9, "a": 4, "abc": 1, "c": 20}  # no ties at any step
CAPITAL = {"Zab": 2}  # in Python, Z comes before a
SIGNS = {"Ei.": 2, "ei": 7, "e.": 10, "Eier": 3, "ex": 6, "ex.": 12, "über": 3}


@dataclass(frozen=True)
class Way:
    """A way to learn merges, which is correct by default."""

    spell: Callable[[str], list[str]] = lambda word: [START, *word]
    pairs: Callable[[list[str]], Sequence[Pair]] = lambda pieces: list(pairwise(pieces))
    weigh: Callable[[int], int] = lambda count: count
    add: Callable[[int, int], int] = lambda before, count: before + count
    choose: Callable[[Seen, Counter[str]], Pair] = lambda seen, _: min(
        seen, key=lambda pair: (-seen[pair], pair)
    )
    merge: Merge = merged
    least: int = 1

    def learn(self, words: Words, n: int) -> list[Pair]:
        """Learn n merges from word counts."""
        spelled = {word: self.spell(word) for word in words}
        merges: list[Pair] = []
        for _ in range(n):
            seen, single = Seen(), Counter[str]()
            for word, pieces in spelled.items():
                for pair in self.pairs(pieces):
                    seen[pair] = self.add(seen[pair], self.weigh(words[word]))
                for piece in pieces:
                    single[piece] += words[word]
            if max(seen.values(), default=0) < self.least:
                break
            merges.append(self.choose(seen, single))
            spelled = {w: self.merge(p, merges[-1]) for w, p in spelled.items()}
        return merges


def learned(words: Words, n: int, **changes: Any) -> list[Pair]:
    """Learn n merges, correctly or with one part replaced."""
    return Way(**changes).learn(words, n)


def learned_by(words: Words, n: int) -> Callable[..., Callable[[], list[Pair]]]:
    """Return a function that makes wrong results for these words."""
    return lambda **changes: lambda: learned(words, n, **changes)


def learn_mistakes(words: Words, n: int) -> Named:
    """Return wrong merges, keyed by the name of the mistake."""
    return {
        **spelling_mistakes(words, n),
        **counting_mistakes(words, n),
        **choosing_mistakes(words, n),
        **list_mistakes(words, n),
    }


def spelling_mistakes(words: Words, n: int) -> Named:
    """Return merges of words that are split or merged wrongly, keyed by name."""
    of = learned_by(words, n)
    text = "".join((START + word) * count for word, count in words.items())
    return {
        "merges without the ▁ before each word": of(spell=list),
        "merges with the ▁ after each word, not before it": of(
            spell=lambda word: [*word, START]
        ),
        "merges with a ▁ both before and after each word": of(
            spell=lambda word: [START, *word, START]
        ),
        "merges with an underscore _ before each word instead of a ▁": of(
            spell=lambda word: ["_", *word]
        ),
        "merges with </w> after each word instead of a ▁ before it": of(
            spell=lambda word: [*word, "</w>"]
        ),
        "merges of words whose last letter and </w> are one piece": of(
            spell=lambda word: [*word[:-1], word[-1:] + "</w>"]
        ),
        "merges of words whose ▁ and first letter are one piece from the start": of(
            spell=lambda word: [START + word[:1], *word[1:]]
        ),
        "merges that reach from one word into the next": lambda: learned(
            {text: 1}, n, spell=list
        ),
        "merges that are each applied at only one position of a word": of(
            merge=merged_once
        ),
        "merges applied inside longer pieces too": of(merge=merged_in_text),
    }


def counting_mistakes(words: Words, n: int) -> Named:
    """Return merges of pairs that are counted wrongly, keyed by name."""
    of = learned_by(words, n)
    first = Counter[Pair]()
    for word, count in words.items():
        for pair in pairwise([START, *word]):
            first[pair] += count
    return {
        "merges of words that each count once, regardless of how often they occur": of(
            weigh=lambda count: 1
        ),
        ONCE: of(pairs=lambda pieces: list(dict.fromkeys(pairwise(pieces)))),
        "merges of pieces that are not necessarily adjacent": of(
            pairs=lambda pieces: list(combinations(pieces, 2))
        ),
        "merges of pairs counted in either order": of(
            pairs=lambda pieces: [(min(pair), max(pair)) for pair in pairwise(pieces)],
            merge=either_way,
        ),
        "merges by the last word's count for a pair, not by the sum over all words": of(
            add=lambda before, count: count
        ),
        "the most frequent pairs of letters, counted only once at the start": (
            lambda: sorted(first, key=lambda pair: (-first[pair], pair))[:n]
        ),
    }


def choosing_mistakes(words: Words, n: int) -> Named:
    """Return merges of pairs that are chosen by a wrong rule, keyed by name."""
    of = learned_by(words, n)

    def first_by(key: Callable[..., float]) -> Callable[[Seen, Counter[str]], Pair]:
        return lambda seen, single: min(
            seen, key=lambda pair: (key(pair, seen, single), pair)
        )

    def with_its_follower(seen: Seen, single: Counter[str]) -> Pair:
        best = min(single, key=lambda piece: (-single[piece], piece))
        pairs = [pair for pair in seen if pair[0] == best] or list(seen)
        return min(pairs, key=lambda pair: (-seen[pair], pair))

    def two_most(seen: Seen, single: Counter[str]) -> Pair:
        best = sorted(single, key=lambda piece: (-single[piece], piece))
        return best[0], best[1]

    return {
        "the least frequent pairs": of(
            choose=first_by(lambda pair, seen, _: seen[pair])
        ),
        "pairs by their count divided by their pieces' counts, as in WordPiece": of(
            choose=first_by(
                lambda pair, seen, single: (
                    -seen[pair] / (single[pair[0]] * single[pair[1]])
                )
            )
        ),
        "the most frequent piece paired with the piece that most often follows it": of(
            choose=with_its_follower
        ),
        "the two most frequent pieces, adjacent or not": of(choose=two_most),
    }


def list_mistakes(words: Words, n: int) -> Named:
    """Return wrongly constructed lists of merges, keyed by name."""
    right = learned(words, n)
    return {
        "the same pair every time: counted but not merged": lambda: right[:1] * n,
        "one merge more than n_merges": lambda: learned(words, n + 1),
        "all possible merges instead of n_merges": lambda: learned(words, 99),
        "merges until there are n_merges pieces, including letters": lambda: learned(
            words, n - len({START, *"".join(words)})
        ),
        "one merge fewer than n_merges": lambda: right[:-1],
        "the merged pieces, not the pairs": lambda: [a + b for a, b in right],
        "strings with a space, not pairs": lambda: [f"{a} {b}" for a, b in right],
        "the merges in alphabetical order, not in the order learned": lambda: sorted(
            right
        ),
        "the merges from the last to the first": lambda: right[::-1],
        "the words split into pieces, not the merges": lambda: {
            word: applied([START, *word], right) for word in words
        },
        "no merges": lambda: [],
    }


def equals_mistakes(words: Words, n: int) -> Named:
    """Return merges with wrong choices in case of a tie, keyed by name."""

    def by(
        key: Callable[[Pair], Any] = lambda pair: 0, last: bool = False
    ) -> Callable[[], list[Pair]]:
        step = -1 if last else 1
        return lambda: learned(
            words,
            n,
            choose=lambda seen, _: min(
                list(seen)[::step], key=lambda pair: (-seen[pair], key(pair))
            ),
        )

    def greatest(key: Callable[[Pair], Any]) -> Callable[[], list[Pair]]:
        return lambda: learned(
            words,
            n,
            choose=lambda seen, _: max(seen, key=lambda pair: (seen[pair], key(pair))),
        )

    return {
        "the pair seen first in case of a tie": by(),
        "the pair seen last in case of a tie": by(last=True),
        "the last pair in Python's order in case of a tie": greatest(tuple),
        "in case of a tie, the pair whose joined text sorts first": by("".join),
        "in case of a tie, the pair whose joined text sorts last": greatest("".join),
        "in case of a tie, the pair whose second piece sorts first": by(
            lambda pair: pair[::-1]
        ),
        "the first pair in case of a tie, with ▁ sorted before all letters": by(
            lambda pair: tuple(piece.replace(START, " ") for piece in pair)
        ),
        "the longest pair in case of a tie": by(
            lambda pair: (-len("".join(pair)), pair)
        ),
        "the shortest pair in case of a tie": by(
            lambda pair: (len("".join(pair)), pair)
        ),
    }


def apart(pieces: list[str]) -> list[Pair]:
    """Return a word's pairs, but only the first of two overlapping equal pairs."""
    found = dict.fromkeys(pairwise(pieces))
    return [p for p in found for _ in range(len(pieces) - len(merged(pieces, p)))]


def run_mistakes(words: Words, n: int) -> Named:
    """Return wrong merges of overlapping pairs, keyed by the name of the mistake."""
    of = learned_by(words, n)
    return {
        ONCE: counting_mistakes(words, n)[ONCE],
        "merges that count (a, a) only once in aaa": of(pairs=apart),
        **overlap_mistakes(lambda merge: of(merge=merge)),
    }


def sign_mistakes(words: Words, n: int) -> Named:
    """Return merges with a mistake in capital letters or punctuation, keyed by name."""
    of = learned_by(words, n)
    return {
        "merges of words in lower case": of(spell=lambda word: [START, *word.lower()]),
        "merges of words without their symbols": of(
            spell=lambda word: [START, *filter(str.isalpha, word)]
        ),
        "merges by a regular expression, in which a dot matches any letter": of(
            merge=merged_by_pattern
        ),
    }


def expect_learned(
    got: Any, words: Words, n: int, named: Named, earlier: Any = None
) -> None:
    """Compare merges with the right merges, and with those of an earlier call."""
    right = learned(words, n)
    if earlier is not None:
        of_all = "merges left in the list by an earlier call"
        named = {KEPT: earlier, of_all: lambda: [*earlier, *right], **named}
    expect_equal(got, right, "the list of merges", named)


@check("learn-merges", share=5, title="The most frequent pair in each round")
def test_learned_in_order(student, draw):
    name = renamed(draw)
    corpora: list[Words] = [
        {name(word): counts[which] for word, counts in TWO_CORPORA.items()}
        for which in (0, 1)
    ]
    calls = [(words, 8) for words in corpora]
    earlier = None
    results = student.calls_in_turn(student.learn_merges, *calls)
    for call, (got, _) in zip(calls, results, strict=True):
        expect_learned(got, *call, learn_mistakes(*call), earlier)
        earlier = learned(*call)
    expect_lists_apart(results)
    with blame("a bound on the number of merges"):
        once = {ALPHABET: 1}, len(ALPHABET)
        for words, n in [once, *other_words()[-2:]]:
            expect_learned(student.learn_merges(dict(words), n), words, n, {})


@check(
    "learn-merges", share=2, title="In case of a tie, the first pair in Python's order"
)
def test_learned_of_equals(student, draw):
    name = renamed(draw)
    words = {name(word): count for word, count in EQUALS.items()}
    for given in (words, dict(reversed(words.items()))):
        got = student.learn_merges(given, 7)
        expect_learned(got, words, 7, equals_mistakes(given, 7))


@check("learn-merges", share=1, title="Letters that occur several times in a row")
def test_learned_of_runs(student, draw):
    name = renamed(draw)
    words = {name(word): count for word, count in RUNS.items()}
    got = student.learn_merges(words, 5)
    expect_learned(got, words, 5, run_mistakes(words, 5))


@check("learn-merges", share=1, title="Merges until each word is one piece")
def test_learned_to_the_end(student, draw):
    name = renamed(draw)
    words = {name(word): count for word, count in BY_AND_BY.items()}
    # More merges than exist, but only a few more, because in wrong code pieces may
    # accumulate between calls.
    n = 9
    seen_twice = learned(words, n, least=2)
    named: Named = {
        "merges of only the pairs that occur at least twice": lambda: seen_twice
    }
    ends = "code that needs a remaining pair and at least one word"
    with blame(ends, lambda: test_learned_in_order(student, draw)):
        expect_learned(student.learn_merges(words, n), words, n, named)
        expect_learned(student.learn_merges({}, 3), {}, 3, {})
    one: Named = {"a merge that was not requested": lambda: learned(words, 1)}
    expect_learned(student.learn_merges(words, 0), words, 0, one)


@check(
    "learn-merges",
    share=1,
    title="Capital letters and punctuation count like other letters",
)
def test_learned_of_signs(student, draw):
    got = student.learn_merges(dict(SIGNS), 6)
    expect_learned(got, SIGNS, 6, sign_mistakes(SIGNS, 6))
    small = learned(
        CAPITAL,
        1,
        choose=lambda seen, _: min(
            seen, key=lambda pair: (-seen[pair], "_".join(pair).lower(), pair)
        ),
    )
    named: Named = {"the first pair in case of a tie, ignoring case": lambda: small}
    expect_learned(student.learn_merges(dict(CAPITAL), 1), CAPITAL, 1, named)
    with blame(SOME_PIECES, lambda: test_learned_in_order(student, draw)):
        for words, n in other_words()[:-2]:
            expect_learned(student.learn_merges(dict(words), n), words, n, {})


def other_words() -> list[tuple[Words, int]]:
    """Return words with unusual signs, and in other numbers, with other counts."""
    signs = "".join(SIGNS_APART[:-2]).replace("\\", "")  # right code may use re.sub
    some = {signs[i : i + 3]: 3 + i % 4 for i in range(len(signs) - 2)}
    text = 5 * "abcbacbadcabbadcacd"
    many = {text[i : i + 3 + i % 4]: 1 + i * i % 11 for i in range(90)}
    many |= {word + word[::-1]: 5 for word in many}
    return [
        ({"ab": 2, "ba": 2}, 1),
        ({"abc": 3, "cba": 4}, 4),
        ({"ab": 7, "aab": 5, "b": 40}, 2),
        ({"a": 2, "b": 3, "c": 3}, 2),
        ({"aaaa": 300, "bab": 2_049, "ba": 2_048, "abba": 1}, 4),
        ({"Ab": 1_000, "aB": 999, "ab": 2_500, "AB": 30}, 3),
        ({"a▁b": 4, "▁": 9, "▁a": 3}, 4),
        (some, 9),
        (many, 3),
        ({text[:70]: 1}, 17),
        (many, 120),
    ]


@check("learn-merges", share=1, title="The counts do not change", form=True)
def test_learned_changes_nothing(student, draw):
    name = renamed(draw)
    words = {name(word): count for word, (count, _) in TWO_CORPORA.items()}
    expect_no_traces(student, student.learn_merges, words, 7, still=True)
    expect_left(student, student.learn_merges, words, 7)

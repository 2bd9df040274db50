"""Hidden checks of unit 11: searches, the cached step, sampling words, and BLEU.

The searches receive a model that was made for these checks. It reads its logits from
tables, which depend on every earlier word, on the source and on the source's padding.
The model also records how the search calls it.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor

from autograder.checking.behaviour import blame, expect_parts
from autograder.checking.expect import (
    Callback,
    check,
    expect_close,
    expect_equal,
    expect_shape,
    fail,
)
from autograder.checking.generic_checks import (
    ZEROS,
    expect_each_call_anew,
    expect_no_seed,
    expect_no_traces,
    expect_same_device,
)
from autograder.checking.kinds_of_inputs import expect_double, expect_every_mask
from autograder.checking.random_inputs import Draw
from autograder.checking.varied_inputs import SOME_SIZES, orders_of, varied_inputs
from autograder.phrases import Phrase
from transformer.config import TransformerConfig
from transformer.decoder import DecoderLayer
from transformer.feed_forward import AddNorm
from transformer.masks import causal_mask
from transformer.multi_head import MultiHeadAttention
from transformer.translation import bleu
from transformer.translation.beams import SearchSettings
from transformer.translation.sampling import sampling_probabilities
from transformer.translation.sampling_settings import SamplingSettings

UNK, PAD, SOS, EOS = 0, 1, 2, 3
OTHER_IDS = (4, 9, 10)  # other ids of padding, <sos> and <eos>
DIVIDES = "code that divides by a temperature of 0"
SMALL_K = "code that needs a k of at most V"
SRC_WORDS, TGT_WORDS = 12, 11
CONFIG = "transformer.config.TransformerConfig"
SETTINGS = "transformer.translation.beams.SearchSettings"

# --- The grader's model -----------------------------------------------------------


@dataclass
class Rows:
    """A cache of the words that each row of a batch has received so far."""

    words: list[list[int]]
    about: Tensor

    def __getitem__(self, rows: Tensor) -> Callback:
        """Return these rows as a new cache, in this order."""
        order = torch.arange(len(self.words))[rows].tolist()
        words = [list(self.words[row]) for row in order]
        return Callback(Rows(words, self.about[order]), ["__getitem__"])


@dataclass
class TableModel:
    """A "Transformer" that reads its logits from tables.

    Attributes:
        after: logits of the next word, given the last word.
        earlier: logits of the next word, for each earlier word.
        source: logits of the next word, for each word of the source.
        ending: increase of the logit of `<eos>` with every word.
        special: ids of padding, start and end.
        cached: whether the model takes one word at a time and remembers the others.
        calls: the shape of each `tgt` that the model received.
        encoded: number of times that the source was encoded.
    """

    after: Tensor
    earlier: Tensor
    source: Tensor
    ending: float = 0.7
    special: tuple[int, int, int] = (PAD, SOS, EOS)
    cached: bool = False
    calls: list[tuple[int, ...]] = field(default_factory=list)
    encoded: int = 0

    def encode(self, src: Tensor) -> Any:
        """Encode the source (b, s)."""
        self.encoded += 1
        memory = self.source[src]
        if not self.cached:
            return memory
        empty: list[list[int]] = [[] for _ in range(len(src))]
        return Callback(Rows(empty, self.about(memory, src)), ["__getitem__"])

    def about(self, memory: Tensor, src: Tensor) -> Tensor:
        """Return the mean of the source words' logits for each source."""
        kept = (src != self.special[0]).unsqueeze(-1)
        return (memory * kept).sum(dim=1) / kept.sum(dim=1).clamp(min=1)

    def decode(self, tgt: Tensor, memory: Any, src: Tensor) -> tuple[Tensor, list]:
        """Compute logits after each word of `tgt` (b, t), or after its last word."""
        self.calls.append(tuple(tgt.shape))
        if not self.cached:
            return self.scores(tgt, self.about(memory, src)), []
        if any(len(row) + 1 != tgt.size(1) for row in memory.words):
            raise ValueError(
                "with the cache, each call must add exactly one word to the sentence"
            )
        for row, word in zip(memory.words, tgt[:, -1].tolist(), strict=True):
            row.append(word)
        return self.scores(torch.tensor(memory.words), memory.about)[:, -1:], []

    def scores(self, tgt: Tensor, about: Tensor) -> Tensor:
        """Compute all logits (b, t, v)."""
        place = torch.arange(tgt.size(1)).view(1, -1, 1)
        history = self.earlier[tgt]
        past = (history.cumsum(dim=1) - history) / (place + 1)
        pad, start, end = self.special
        scores = self.after[tgt] + past + about.unsqueeze(1)
        scores[..., [pad, start]] = -15.0 + place * 0.1
        scores[..., [end]] = scores[..., [end]] + self.ending * place - 1.5
        return scores

    def handed_to(self, student) -> Any:
        """Make an object in the student's process whose methods call this model."""
        pad = self.special[0]
        config = student.load(CONFIG)(SRC_WORDS, TGT_WORDS, pad_id=pad)
        return student.load("types.SimpleNamespace")(
            encode=Callback(self.encode),
            decode=Callback(self.decode),
            eval=Callback(lambda: None),
            train=Callback(lambda mode=True: None),
            config=config,
            training=False,
        )


class OddModel(TableModel):
    """A model for which padding is the likeliest second word, and `<sos>` the third."""

    def scores(self, tgt: Tensor, about: Tensor) -> Tensor:
        """Compute all logits (b, t, v)."""
        scores = super().scores(tgt, about)
        for place, word in ((1, self.special[0]), (2, self.special[1])):
            scores[:, place : place + 1, word] = 99.0
        return scores


def expect_asked(model: TableModel) -> None:
    """Fail if the search never called the decoder."""
    if not model.calls:
        fail(
            "The decoder was never called: the search does not use the model.",
            mistake="a search that never calls the model",
        )


def draw_model(draw, **options) -> TableModel:
    """Draw the tables of a model at random."""
    return TableModel(
        1.2 * draw.normal(TGT_WORDS, TGT_WORDS),
        0.8 * draw.normal(TGT_WORDS, TGT_WORDS),
        draw.normal(SRC_WORDS, TGT_WORDS),
        **options,
    )


def draw_sources(draw, pad: int = PAD) -> Tensor:
    """Draw sources of length 3, 4 and 1, with a column of padding."""
    src = draw.ids(3, 5, low=5, high=9)
    return src.masked_fill(torch.arange(5) >= torch.tensor([[3], [4], [1]]), pad)


def sole(named: Mapping[str, Any]) -> dict[str, Any]:
    """Return only the mistakes whose result differs from all other results."""
    values = {}
    for phrase, value in named.items():
        with suppress(ZeroDivisionError):  # the mistake has no result here
            values[phrase] = value() if callable(value) else value

    def alone(phrase: str) -> bool:
        others = (value for other, value in values.items() if other != phrase)
        return not any(alike(values[phrase], other) for other in others)

    return {phrase: value for phrase, value in values.items() if alone(phrase)}


def alike(one: Any, other: Any) -> bool:
    """Return whether two results are equal up to rounding."""
    if isinstance(one, Tensor):
        return one.shape == other.shape and torch.allclose(
            one.double(), other.double(), rtol=1e-5, atol=1e-5
        )
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-5)
    return bool(one == other)


# --- greedy_decode ----------------------------------------------------------------

MAX_LEN = 8
GOES_ON = "a search that continues after <eos> in a batch"
EOS_AGAIN = "repeated <eos> after the end instead of padding"


def greedy(
    model: TableModel,
    src: Tensor,
    max_len: int = MAX_LEN,
    place: int = -1,
    alone: bool = False,
    freeze: bool = True,
    fill: int | None = None,
    ids: tuple[int, int] | None = None,
    stop: Callable[[Tensor], Tensor | bool] = torch.all,
    pick: Callable[[Tensor], Tensor] = lambda scores: scores.argmax(dim=-1),
) -> Tensor:
    """Search greedily, correctly or with one part replaced."""
    pad, start, end = model.special
    start, end = ids or (start, end)
    memory = model.encode(src)
    tgt = torch.full((len(src), 1), start)
    ended = torch.zeros(len(src), dtype=torch.bool)
    for _ in range(max_len):
        scores, _ = model.decode(tgt[:, -1:] if alone else tgt, memory, src)
        word = pick(scores[:, place])
        if freeze:
            word = torch.where(ended, pad if fill is None else fill, word)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == end)
        if stop(ended):
            break
    return tgt


def never(_ended: Tensor) -> bool:
    """Never stop the search before the maximum length."""
    return False


def greedy_mistakes(
    model: TableModel, src: Tensor, max_len: int = MAX_LEN
) -> dict[str, Callable[[], Tensor]]:
    """Return wrong results of greedy search, keyed by the name of the mistake."""
    _, start, end = model.special
    ends = bool((greedy(model, src, max_len) == end).any())
    last = "the words without the last token"
    last = last if ends else Phrase("one word fewer than max_len, or {last}", last)

    def found(**changes: Any) -> Callable[[], Tensor]:
        return lambda: greedy(model, src, **({"max_len": max_len} | changes))

    return {
        "the words of a search that never stops at <eos>": found(
            freeze=False, stop=never
        ),
        GOES_ON: found(freeze=False),
        "a search that pads to max_len after all sentences have ended": found(
            stop=never
        ),
        "a search that stops when the first sentence ends": found(stop=torch.any),
        EOS_AGAIN: found(fill=end),
        "zeros after the end instead of padding": found(fill=UNK),
        "padding with id 1, although the model has a different pad_id": found(fill=PAD),
        "the argmax of the first position": found(place=0),
        "the words if the decoder reads only the last token, without a cache": found(
            alone=True
        ),
        "the least probable words": found(pick=lambda scores: scores.argmin(dim=-1)),
        "only <sos>: no token was appended": lambda: torch.full((len(src), 1), start),
        "the words without <sos>": lambda: found()()[:, 1:],
        last: lambda: found()()[:, :-1],
        "one word more than max_len": found(max_len=max_len + 1),
        "a search that assumes the usual ids of <sos> and <eos>": found(ids=(SOS, EOS)),
        "a search that assumes the usual id of <eos>": found(ids=(start, EOS)),
    }


def draw_uneven(
    draw,
    number: int = 4,
    special: tuple[int, int, int] = (PAD, SOS, EOS),
    cached: bool = False,
) -> tuple[TableModel, Tensor]:
    """Draw a model and sources that reveal mistakes at the end of a translation.

    The translations have different lengths, all of them end before the limit, and some
    word occurs twice in a row. This holds for the draws 4 and 29, and for 41 with
    `OTHER_IDS`.
    """
    draw = draw.fixed(number)
    model, src = draw_model(draw, special=special), draw_sources(draw, special[0])
    return replace(model, cached=cached), src


def expect_greedy(got: Any, model: TableModel, src: Tensor, max_len: int = MAX_LEN):
    """Compare the words of a student's search with the right words."""
    plain = replace(model, cached=False)
    right = greedy(plain, src, max_len)
    if not (isinstance(got, Tensor) and got.equal(right)):
        named = sole(greedy_mistakes(plain, src, max_len))
        expect_equal(got, right, "your output", named)


@check("greedy-decode", share=5, title="Every sentence of a batch, padding after <eos>")
def test_greedy_words(student, draw):
    model, src = draw_uneven(draw)
    got = student.greedy_decode(model.handed_to(student), src, MAX_LEN)
    expect_greedy(got, model, src)


@check("greedy-decode", share=2, title="A batch of one sentence gives the same words")
def test_greedy_alone(student, draw):
    model, src = draw_uneven(draw)
    row = src[1:2, :4]
    got = student.greedy_decode(model.handed_to(student), row, MAX_LEN)
    expect_greedy(got, model, row)


@check("greedy-decode", share=2, title="Any sizes; at most max_len tokens after <sos>")
def test_greedy_stops_at_max_len(student, draw):
    model, src = draw_uneven(draw)
    model.ending = -9.0
    got = student.greedy_decode(model.handed_to(student), src, 4)
    expect_greedy(got, model, src, 4)
    odd = OddModel(**vars(replace(model, calls=[], encoded=0)))
    with blame("a search that never writes padding or <sos>, even if they are likely"):
        got = student.greedy_decode(odd.handed_to(student), src, 4)
        expect_greedy(got, odd, src, 4)
    for number, n in enumerate(orders_of(("b", "s", "n")).values()):
        model = draw_model(draw.fixed(number), ending=0.3 if number % 2 else -9.0)
        src = sources_of_size(draw, n["b"], n["s"])
        with blame(SOME_SIZES, lambda: test_greedy_words(student, draw)):
            got = student.greedy_decode(model.handed_to(student), src, n["n"])
            expect_equal(got, greedy(replace(model), src, n["n"]), "your output")


def sources_of_size(draw, b: int, s: int) -> Tensor:
    """Draw sources of 1 to s words."""
    longest = torch.arange(b)[:, None] % s
    return draw.ids(b, s, low=4, high=SRC_WORDS).masked_fill(
        torch.arange(s) > longest, PAD
    )


def expect_read_once(model: TableModel) -> None:
    """Fail unless the search encoded the source exactly once."""
    if model.encoded != 1:
        fail(
            Phrase(
                "The source should be encoded once, but it was {count} times.",
                model.encoded,
            ),
            mistake="a source that is encoded repeatedly",
        )


@check(
    "greedy-decode",
    share=2,
    title="The source is encoded once, and the search stops in time",
    form=True,
)
def test_greedy_calls(student, draw):
    model, src = draw_uneven(draw)
    steps = greedy(model, src).size(1) - 1
    model = replace(model, calls=[], encoded=0)
    student.greedy_decode(model.handed_to(student), src, MAX_LEN)
    expect_asked(model)
    expect_read_once(model)
    if max(shape[1] for shape in model.calls) > steps:
        fail(
            "You call the decoder after every sentence has ended.",
            mistake="a search that never stops at <eos>",
        )


@check("greedy-decode", share=2, title="sos_id, eos_id and the model's pad_id are used")
def test_greedy_other_numbers(student, draw):
    model, src = draw_uneven(draw, 41, special=OTHER_IDS)
    handed, (_, start, end) = model.handed_to(student), OTHER_IDS
    got = student.greedy_decode(handed, src, MAX_LEN, sos_id=start, eos_id=end)
    expect_greedy(got, model, src)


@check("greedy-decode", share=1, title="A cached model works too")
def test_greedy_cached(student, draw):
    model, src = draw_uneven(draw, cached=True)
    words = "code that does not work with a CachedTransformer"
    with blame(words, lambda: test_greedy_words(student, draw)):
        got = student.greedy_decode(model.handed_to(student), src, MAX_LEN)
        expect_greedy(got, model, src)


@check("greedy-decode", share=1, title="Calls are independent; src stays unchanged")
def test_greedy_leaves_no_traces(student, draw):
    models = [draw_uneven(draw, number) for number in (4, 29)]
    calls = [(model.handed_to(student), src, MAX_LEN) for model, src in models]
    expect_no_traces(student, student.greedy_decode, *calls[0], still=True)
    rights = iter([greedy(replace(model), src).double() for model, src in models])
    expect_each_call_anew(
        student, student.greedy_decode, calls, lambda *_: next(rights), "your output"
    )


# --- prune ---------------------------------------------------------------------


@dataclass(frozen=True)
class Candidates:
    """The arguments of `prune`: log-probabilities (b, k, V), lengths (b, k) and α."""

    log_prob: Tensor
    length: Tensor
    alpha: float

    @property
    def divisor(self) -> Tensor:
        """Return the length penalties (b, k, 1)."""
        return self.to_the_power(self.alpha)

    def to_the_power(self, alpha: float) -> Tensor:
        """Return the length penalties for another α."""
        return ((5 + self.length.double()) / 6).unsqueeze(-1) ** alpha

    def kept(
        self,
        rank: Tensor,
        score: Tensor | None = None,
        k: int | None = None,
        largest: bool = True,
    ) -> Tensor:
        """Keep the candidates with the best `rank` (b, k, V).

        Returns:
            parents, words, log-probabilities and scores, in one tensor (4, b, k).
        """
        count, words = self.log_prob.shape[1:]
        best = rank.flatten(1).topk(count, largest=largest).indices
        log_prob = self.log_prob.double().flatten(1).gather(1, best)
        value = (rank if score is None else score).flatten(1).gather(1, best)
        width = k or words
        return torch.stack([best // width, best % width, log_prob, value])

    def right(self) -> Tensor:
        """Return the right result of `prune` as one tensor (4, b, k)."""
        return self.kept(self.log_prob.double() / self.divisor)


def best_of_each(given: Candidates) -> Tensor:
    """Return the result if only the best word of each hypothesis is kept."""
    score = given.log_prob.double() / given.divisor
    only = torch.zeros_like(score).scatter(-1, score.argmax(-1, keepdim=True), 1.0)
    return given.kept(score.masked_fill(only == 0, -1e9))


def among_all(given: Candidates) -> Tensor:
    """Return the result if the candidates of all sentences compete."""
    score = given.log_prob.double() / given.divisor
    b, k, words = score.shape
    value, best = score.flatten().topk(b * k)
    place = best % (k * words)
    log_prob = given.log_prob.double().flatten(1).gather(1, place.view(b, k)).flatten()
    return torch.stack([place // words, place % words, log_prob, value]).view(4, b, k)


def cut_mistakes(given: Candidates) -> dict[str, Tensor]:
    """Return wrong results of `prune`, keyed by the name of the mistake."""
    log_prob, divisor, right = given.log_prob.double(), given.divisor, given.right()
    return {
        **mistakes_of_results(right),
        "a pruning step without the length penalty": given.kept(log_prob),
        "a pruning step that multiplies by the length penalty": given.kept(
            log_prob * divisor
        ),
        "a pruning step that divides by n^α": given.kept(
            log_prob / given.length.double().unsqueeze(-1) ** given.alpha
        ),
        "a pruning step whose α is always 0.6": given.kept(
            log_prob / given.to_the_power(0.6)
        ),
        "a pruning step that uses the penalty only in the returned scores": given.kept(
            log_prob, log_prob / divisor
        ),
        "the best word of each hypothesis: k greedy searches side by side": (
            best_of_each(given)
        ),
        "the candidates of all sentences, pruned together": among_all(given),
        "the candidates with the worst first": right.flip(-1),
        "the k worst candidates": given.kept(log_prob / divisor, largest=False),
        "a pruning step that assumes k words per hypothesis instead of V": given.kept(
            log_prob / divisor, k=log_prob.size(1)
        ),
        "a pruning step with the first hypothesis's penalty for every "
        "hypothesis": given.kept(log_prob / divisor[:, :1]),
        "a pruning step that assumes 7 words per hypothesis, whatever V is": given.kept(
            log_prob / divisor, k=7
        ),
        ZEROS: torch.zeros_like(right),
        "a pruning step that ranks in too few digits (half precision)": given.kept(
            (log_prob / divisor).half().double(), log_prob / divisor
        ),
    }


def mistakes_of_results(right: Tensor) -> dict[str, Tensor]:
    """Return wrong results that contain the right candidates, keyed by name."""
    parent, word, kept, score = right
    return {
        "the right candidates, but parent and word are swapped": torch.stack(
            [word, parent, kept, score]
        ),
        "log-probabilities that are divided by the length penalty": torch.stack(
            [parent, word, score, score]
        ),
        "a score that is not divided by the length penalty": torch.stack(
            [parent, word, kept, kept]
        ),
    }


def candidates(draw, b: int, k: int, words: int, alpha: float) -> Candidates:
    """Draw candidates at random.

    The fixed seeds reveal all mistakes except low precision.
    """
    length = 2 + (12 * draw.uniform(b, k)).long()
    log_prob = -0.6 * length.unsqueeze(-1) - 3 * draw.uniform(b, k, words)
    return Candidates(log_prob, length, alpha)


def run_cut(student, given: Candidates) -> Tensor:
    """Call a student's `prune`, and join its four results to one tensor (4, b, k)."""
    got = student.prune(given.log_prob, given.length, given.alpha)
    what = "four things: parent, word, log-probability and score"
    names = ("parent", "word", "the log-probability", "the score")
    for name, part in zip(names, expect_parts(got, 4, what), strict=True):
        expect_shape(part, given.length.shape, name)
    return torch.stack([part.double() for part in got])


def expect_cut(student, given: Candidates) -> None:
    """Compare the results of a student's `prune` with the right results."""
    what = "your result (parent, word, log-probability, score)"
    expect_close(run_cut(student, given), given.right(), what, cut_mistakes(given))


@check("beam-cut", share=5, title="The k best candidates of each sentence, best first")
def test_cut(student, draw):
    expect_cut(student, candidates(draw.fixed(0), 4, 3, 6, 0.9))


@check("beam-cut", share=2, title="Different sizes and a different α")
def test_cut_of_other_sizes(student, draw):
    expect_cut(student, candidates(draw.fixed(0), 2, 5, 11, 2.3))
    with blame(SMALL_K, lambda: test_cut(student, draw)):
        expect_cut(student, candidates(draw.fixed(0), 2, 8, 5, 1.3))
        order = torch.stack([draw.uniform(20 * 9).argsort() for _ in range(2)])
        length = torch.full((2, 20), 5)  # no two scores are almost equal
        expect_cut(student, Candidates(-1 - 0.1 * order.view(2, 20, 9), length, 0.3))
    alphas = (0.0, 0.3, 0.6, 1.0, 3.0)
    for number, n in enumerate(orders_of(("b", "k", "n")).values()):
        alpha = alphas[number % 5]
        given = candidates(draw.fixed(number), n["b"], n["k"], n["n"], alpha)
        if number % 2:
            given = replace(given, length=torch.full_like(given.length, number))
        with blame(SOME_SIZES, lambda: test_cut(student, draw)):
            what = "your result (parent, word, log-probability, score)"
            expect_close(run_cut(student, given), given.right(), what)


@check("beam-cut", share=2, title="Hypotheses that do not exist yet, or have ended")
def test_cut_with_nothing(student, draw):
    log_prob = torch.full((3, 3, 7), -torch.inf)
    log_prob[0, 0] = -60 - (1 + draw.uniform(7)).cumsum(0)  # the first step of a search
    log_prob[1, :, 1] = -70 - (1 + draw.uniform(3)).cumsum(0)  # all have ended
    log_prob[2, 1] = -80 - (1 + draw.uniform(7)).cumsum(0)
    length = torch.tensor([[1, 1, 1], [4, 9, 6], [5, 7, 3]])
    expect_cut(student, Candidates(log_prob, length, 0.0))
    expect_cut(student, Candidates(log_prob, length, 0.7))


@check("beam-cut", share=1, title="A beam of 1, for one sentence and in a batch")
def test_cut_of_one(student, draw):
    log_prob, length = -1 - 4 * draw.uniform(3, 1, 7), torch.tensor([[3], [8], [5]])
    words = "code that assumes a beam of more than 1, or a batch"
    with blame(words, lambda: test_cut(student, draw)):
        expect_cut(student, Candidates(log_prob[:1], length[:1], 1.7))
        expect_cut(student, Candidates(log_prob, length, 1.7))


@check("beam-cut", share=2, title="Candidates with nearly equal scores")
def test_cut_of_close_ones(student, draw):
    draw = draw.fixed(0)  # one row has two of the best candidates
    order = torch.stack([draw.uniform(24).argsort() for _ in range(2)])
    log_prob = -3 - 1e-4 * order.view(2, 4, 6)
    expect_cut(student, Candidates(log_prob, torch.full((2, 4), 3), 0.8))


@check(
    "beam-cut",
    share=2,
    title="Calls are independent; log_prob and length stay unchanged",
)
def test_cut_leaves_no_traces(student, draw):
    calls = [candidates(draw.fixed(number), 4, 3, 6, 0.9) for number in (0, 2)]
    arguments = [(one.log_prob, one.length, one.alpha) for one in calls]
    expect_no_traces(student, student.prune, *arguments[0], still=True)

    def right(*given: Any) -> Tensor:
        return Candidates(*given).right()[3]

    expect_each_call_anew(student, student.prune, arguments, right, "the score", part=3)


@check("beam-cut", share=1, title="On the device of its inputs", form=True)
def test_cut_on_device(student, draw):
    given = candidates(draw.fixed(0), 4, 3, 6, 0.9)
    expect_same_device(
        student,
        student.prune,
        *(given.log_prob, given.length, given.alpha),
        what="the step's result",
    )


# --- beam_search ------------------------------------------------------------------

K = 3


class Hypothesis(NamedTuple):
    """The prefix of a sentence and its log-probability."""

    words: list[int]
    score: float
    ended: bool = False


Found = list[list[Hypothesis]]  # for each sentence, its hypotheses, best first


def all_ended(found: Found) -> bool:
    """Return whether every hypothesis has ended."""
    return all(h.ended for beam in found for h in beam)


def any_ended(found: Found) -> bool:
    """Return whether any hypothesis has ended."""
    return any(h.ended for beam in found for h in beam)


def first_ended(found: Found) -> bool:
    """Return whether all hypotheses of the first sentence have ended."""
    return all(h.ended for h in found[0])


def best_ended(found: Found) -> bool:
    """Return whether the best hypothesis of each sentence has ended."""
    return all(beam[0].ended for beam in found)


@dataclass(frozen=True)
class Rule:
    """The rules of a beam search, which are correct by default.

    Attributes:
        add: computes the new score from the old score and the word's log-probability.
        divisor: computes the divisor of the score from the length and α.
        logits: whether the search uses logits instead of log-probabilities.
        frozen: whether a hypothesis that has ended no longer changes.
        apart: whether each hypothesis continues without competing with the others.
        crossed: whether the search appends a word to the hypothesis at the same place
            instead of the word's parent.
        copies: the number of hypotheses at the start.
        cut_plainly: whether the search uses the length penalty only at the end.
        mixed: whether hypotheses attend to the memory of other sentences.
        first: whether, after the first step, all hypotheses attend to the memory of the
            first one.
        stale: whether the search does not reorder the rows of the memory, and of a
            cache, with the hypotheses.
        stop: the condition that ends the search.
        returns_score: whether the search returns the divided score instead of the
            log-probability.
        divided: whether the search stores the divided score instead of the
            log-probability.
        reverse: whether the best hypothesis comes last.
        tail: the number of words by which the maximum length is too small.
        late: whether the length omits the newest token.
        ids: `<sos>` and `<eos>`, if they differ from those of the settings.
    """

    add: Callable[[float, float], float] = lambda old, new: old + new
    divisor: Callable[[int, float], float] = lambda n, a: ((5 + n) / 6) ** a
    logits: bool = False
    frozen: bool = True
    apart: bool = False
    crossed: bool = False
    copies: int = 1
    cut_plainly: bool = False
    mixed: bool = False
    first: bool = False
    stale: bool = False
    stop: Callable[[Found], bool] = all_ended
    returns_score: bool = True
    divided: bool = False
    reverse: bool = False
    tail: int = 0
    late: bool = False
    ids: tuple[int, int] | None = None


RIGHT = Rule()
STALE = "a search that does not select the memory's rows with the hypotheses"
PENALTIES = {
    "a search that uses the length penalty only at the end": Rule(cut_plainly=True),
    "a search without the length penalty": Rule(divisor=lambda n, a: 1.0),
    "a search that multiplies by the length penalty": Rule(
        divisor=lambda n, a: ((5 + n) / 6) ** -a
    ),
    "a search that divides by n^α": Rule(divisor=lambda n, a: n**a),
    "a search whose α is always 0.6": Rule(divisor=lambda n, a: ((5 + n) / 6) ** 0.6),
    "a search whose length counts <sos>": Rule(divisor=lambda n, a: ((6 + n) / 6) ** a),
    "a search whose length does not count the newest token": Rule(late=True),
    "the log-probability, not divided by the length penalty": Rule(returns_score=False),
    "a search that continues with the divided score": Rule(divided=True),
}
ENDS = {
    "a search whose finished hypotheses continue to grow": Rule(frozen=False),
    "a search that stops at the first hypothesis that ends": Rule(stop=any_ended),
    "a search that stops when the best hypothesis has ended": Rule(stop=best_ended),
}
FIRST_ENDED = {
    "a search that stops when the first sentence's hypotheses have ended": Rule(
        stop=first_ended
    )
}
CUT_OFF = {"one word fewer than max_len": Rule(tail=1)}
OTHERS = {
    "a search that adds probabilities": Rule(add=lambda old, new: old + math.exp(new)),
    "a search that multiplies log-probabilities": Rule(
        add=lambda old, new: (old or 1.0) * new
    ),
    "a search that adds scores, not log-probabilities": Rule(logits=True),
    "a search that keeps only the newest word's log-probability": Rule(
        add=lambda old, new: new
    ),
    "k greedy searches side by side": Rule(apart=True),
    "a search that adds a word to the wrong hypothesis": Rule(crossed=True),
    "a search that starts with k equal hypotheses": Rule(copies=K),
    "a search that looks at the memory of a different sentence": Rule(mixed=True),
    "a search that uses the first sentence's memory for every sentence": Rule(
        first=True
    ),
    "the hypotheses with the worst first": Rule(reverse=True),
}
USUAL = {
    "a search that assumes the usual ids of <sos> and <eos>": Rule(ids=(SOS, EOS)),
    "a search that assumes the usual id of <eos>": Rule(ids=(OTHER_IDS[1], EOS)),
}
EVERY = PENALTIES | ENDS | CUT_OFF | OTHERS


@dataclass(eq=False)
class Problem:
    """The arguments of a search, and the result of each rule, computed only once.

    Attributes:
        model: the model of these checks, without a cache.
        src: ids (b, s).
        settings: the settings of the search.
        asked: logits of the next word, by row of the source and previous words.
        known: the results found so far, by rule.
    """

    model: TableModel
    src: Tensor
    settings: SearchSettings
    asked: dict[tuple[int, tuple[int, ...]], Tensor] = field(default_factory=dict)
    known: dict[Rule, tuple[Tensor, Tensor]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Compute the source's part of the logits."""
        self.about = self.model.about(self.model.source[self.src], self.src)

    def next_scores(self, row: int, words: Sequence[int]) -> Tensor:
        """Return the logits of the next word after `words`, in float64."""
        key = (row, tuple(words))
        if key not in self.asked:
            about = self.about[row : row + 1]
            scores = self.model.scores(torch.tensor([key[1]]), about)
            self.asked[key] = scores[0, -1].double()
        return self.asked[key]

    def found(self, rule: Rule = RIGHT) -> tuple[Tensor, Tensor]:
        """Return a rule's hypotheses (b, k, t) and their scores (b, k)."""
        if rule not in self.known:
            self.known[rule] = in_tensors(searched(self, rule), self.model.special[0])
        return self.known[rule]

    def model_for(self, cached: bool = False) -> TableModel:
        """Return a fresh copy of the model, which has not been called yet."""
        return replace(self.model, cached=cached, calls=[], encoded=0)


def in_tensors(found: Found, pad: int) -> tuple[Tensor, Tensor]:
    """Return hypotheses as a tensor (b, k, t), and their scores as one (b, k)."""
    longest = max(len(h.words) for beam in found for h in beam)
    rows = [
        [h.words + [pad] * (longest - len(h.words)) for h in beam] for beam in found
    ]
    score = [[h.score for h in beam] for beam in found]
    return torch.tensor(rows), torch.tensor(score, dtype=torch.float64)


def searched(problem: Problem, rule: Rule) -> Found:
    """Search all sentences in parallel; return hypotheses with divided scores."""
    settings = problem.settings
    searches = [OneSearch(problem, row, rule) for row in range(len(problem.src))]
    for _ in range(settings.max_len - rule.tail):
        found = [one.step() for one in searches]
        if rule.stop(found):
            break
    return [one.result() for one in searches]


class OneSearch:
    """The search for one sentence of a batch, with the mistakes of a rule."""

    def __init__(self, problem: Problem, row: int, rule: Rule) -> None:
        """Start with the hypothesis `<sos>`."""
        self.problem, self.row, self.rule = problem, row, rule
        settings = problem.settings
        self.k, self.alpha = settings.beam_size, settings.length_penalty
        self.start, self.end = rule.ids or (settings.sos_id, settings.eos_id)
        self.steps = 0
        self.beam = [Hypothesis([self.start], 0.0)] * rule.copies
        self.fed = [[self.start] for _ in range(self.k)]

    def step(self) -> list[Hypothesis]:
        """Continue each hypothesis, and keep the best continuations."""
        self.steps += 1
        beam = self.cut(self.grown())
        if self.rule.divided:
            beam = [h._replace(score=self.divided_score(h)) for h in beam]
        for place, h in enumerate(beam):
            is_new = len(h.words) == self.steps + 1
            pad = self.problem.model.special[0]
            self.fed[place].append(h.words[-1] if is_new else pad)
        self.beam = beam
        return beam

    def result(self) -> list[Hypothesis]:
        """Return the hypotheses with divided scores, the best first."""
        rule = self.rule
        if rule.divided:
            return self.beam
        beam = sorted(self.beam, key=self.divided_score, reverse=not rule.reverse)
        return [
            h._replace(score=self.divided_score(h)) if rule.returns_score else h
            for h in beam
        ]

    def divided_score(self, h: Hypothesis) -> float:
        """Return a hypothesis's score, divided by the length penalty."""
        length = len(h.words) - 1
        if self.rule.late and length == self.steps:
            length -= 1
        return h.score / self.rule.divisor(length, self.alpha)

    def grown(self) -> list[list[Hypothesis]]:
        """Return all continuations of each hypothesis."""
        rule, found = self.rule, []
        for place, h in enumerate(self.beam):
            if h.ended and rule.frozen:
                found.append([h])
                continue
            of = self.row
            if rule.mixed:
                of = (of * self.k + place) % len(self.problem.src)
            if rule.first and len(h.words) > 1:
                of = 0
            words = self.fed[place] if rule.stale else h.words
            found.append(self.continued(h, self.problem.next_scores(of, words)))
        return found

    def continued(self, h: Hypothesis, scores: Tensor) -> list[Hypothesis]:
        """Return all continuations of one hypothesis."""
        rule = self.rule
        scores = scores if rule.logits else scores.log_softmax(dim=-1)
        return [
            Hypothesis(
                [*h.words, word], rule.add(h.score, value), h.ended or word == self.end
            )
            for word, value in enumerate(scores.tolist())
        ]

    def cut(self, grown: list[list[Hypothesis]]) -> list[Hypothesis]:
        """Return the best of the continued hypotheses."""
        rule = self.rule
        by = plain_score if rule.cut_plainly else self.divided_score
        if rule.apart and len(self.beam) > 1:
            return [max(own, key=by) for own in grown]
        kept = sorted((h for own in grown for h in own), key=by, reverse=True)
        if rule.crossed and len(self.beam) == self.k:
            pairs = zip(self.beam, kept[: self.k], strict=True)
            return [onto(h, old) for old, h in pairs]
        return kept[: self.k]


def plain_score(h: Hypothesis) -> float:
    """Return the sum of the log-probabilities."""
    return h.score


def onto(h: Hypothesis, old: Hypothesis) -> Hypothesis:
    """Append the newest word of `h` to the words of another hypothesis."""
    longer = len(h.words) > len(old.words)
    return h._replace(words=[*old.words, h.words[-1]]) if longer else h


def settled(tgt: Tensor, pad: int = PAD) -> Tensor:
    """Remove the last columns that contain only padding."""
    while tgt.dim() == 3 and tgt.size(2) > 1 and bool((tgt[..., -1] == pad).all()):
        tgt = tgt[..., :-1]
    return tgt


SEARCH = SearchSettings(K, 1.4, 5)


@cache
def problem_of(kind: str) -> Problem:
    """Draw a search problem that reveals every mistake of a given kind."""
    number, settings, options = KINDS[kind]
    draw = Draw("11_inference", "fixed", number)
    model = draw_model(draw, **options)
    return Problem(model, draw_sources(draw, model.special[0]), settings)


def settings_for(student, settings: SearchSettings) -> Any:
    """Make settings in the student's process."""
    return student.load(SETTINGS)(
        settings.beam_size,
        settings.length_penalty,
        settings.max_len,
        settings.sos_id,
        settings.eos_id,
    )


def run_beam(
    student, problem: Problem, model: TableModel | None = None
) -> tuple[Tensor, Tensor]:
    """Call a student's beam search, and fail unless it returns two tensors."""
    model = model or problem.model_for()
    theirs = settings_for(student, problem.settings)
    result = student.beam_search(model.handed_to(student), problem.src, theirs)
    what = "two things, the hypotheses and their scores"
    tgt, score = expect_parts(result, 2, what)
    expect_asked(model)
    if not isinstance(tgt, Tensor) or tgt.dim() != 3:
        fail("The hypotheses should be a tensor of shape (b, k, t).")
    shape = (len(problem.src), problem.settings.beam_size)
    expect_shape(score, shape, "the scores of the hypotheses")
    return tgt, score


def named_searches(
    problem: Problem, rules: Mapping[str, Rule], part: int
) -> dict[str, Callable[[], Tensor]]:
    """Return the results of wrong rules by name, if they are unique."""
    pad = problem.model.special[0]
    found = {
        phrase: settled(problem.found(rule)[part], pad)
        for phrase, rule in rules.items()
    }
    return sole(found)


def expect_words(problem: Problem, tgt: Tensor, rules: Mapping[str, Rule]) -> None:
    """Compare hypotheses with the right hypotheses."""
    pad = problem.model.special[0]
    want = settled(problem.found()[0], pad)
    named = named_searches(problem, rules, 0)
    expect_equal(settled(tgt, pad), want, "your list of hypotheses", named)


def expect_score(problem: Problem, score: Tensor, rules: Mapping[str, Rule]) -> None:
    """Compare the scores of hypotheses with the right scores."""
    named = named_searches(problem, rules, 1)
    what, want = "the scores of the hypotheses", problem.found()[1]
    expect_close(score, want, what, named, tolerance=2e-5)


def expect_found(student, problem: Problem, rules: Mapping[str, Rule]) -> None:
    """Compare both results of a student's search with the right results."""
    tgt, score = run_beam(student, problem)
    expect_score(problem, score, rules)
    expect_words(problem, tgt, rules)


@check("beam-search", share=4, title="The scores of the k best hypotheses")
def test_beam_score(student, draw):
    problem = problem_of("all")
    _, score = run_beam(student, problem)
    expect_score(problem, score, EVERY)


@check("beam-search", share=4, title="The words of the k best hypotheses, best first")
def test_beam_words(student, draw):
    problem = problem_of("all")
    tgt, _ = run_beam(student, problem)
    expect_words(problem, tgt, OTHERS | PENALTIES | ENDS | CUT_OFF)
    problem = problem_of("first")  # its first sentence ends early
    expect_words(problem, run_beam(student, problem)[0], FIRST_ENDED)


@check(
    "beam-search",
    share=3,
    title="If no hypothesis ends: the k best prefixes of max_len words",
)
def test_beam_without_an_end(student, draw):
    expect_found(student, problem_of("endless"), EVERY)


@check("beam-search", share=2, title="α = 0 compares plain log-probabilities")
def test_beam_without_penalty(student, draw):
    expect_found(student, problem_of("plain"), OTHERS | ENDS | CUT_OFF)


@check(
    "beam-search",
    share=1,
    title="A beam of 1 is greedy search, for one sentence or in a batch",
)
def test_beam_of_one(student, draw):
    problem = problem_of("one")
    alone = Problem(problem.model, problem.src[1:2], problem.settings)
    words = "code that assumes a beam of more than 1, or a batch"
    with blame(words, lambda: test_beam_words(student, draw)):
        expect_found(student, problem, EVERY)
        expect_found(student, alone, EVERY)


@check(
    "beam-search",
    share=2,
    title="It prunes to k, and stops when all hypotheses have ended",
    form=True,
)
def test_beam_calls(student, draw):
    problem = problem_of("short")
    steps, model = problem.found()[0].size(2) - 1, problem.model_for()
    run_beam(student, problem, model)
    expect_asked(model)
    expect_read_once(model)
    rows = len(problem.src) * problem.settings.beam_size
    widest = max(shape[0] for shape in model.calls)
    if widest > rows:
        fail(
            Phrase(
                "The decoder was called with {widest} rows, although "
                "there are never more than b k = {rows} hypotheses.",
                widest,
                rows,
            ),
            mistake="a growing tree that is not pruned to k",
        )
    if max(shape[1] for shape in model.calls) > steps:
        fail(
            "You call the decoder after every hypothesis has ended.",
            mistake="a search that never stops at <eos>",
        )


@check("beam-search", share=1, title="Any sizes, and more hypotheses than words")
def test_beam_wider_than_the_vocabulary(student, draw):
    usual = problem_of("all")
    with blame(SMALL_K, lambda: expect_found(student, usual, EVERY)):
        expect_found(student, problem_of("wide"), {})
    alphas = (0.6, 0.0, 1.0, 2.5)
    for number, n in enumerate(orders_of(("b", "s", "k", "n")).values()):
        model = draw_model(draw.fixed(number), ending=0.3 if number % 2 else -0.5)
        settings = SearchSettings(n["k"], alphas[number % 4], n["n"])
        problem = Problem(model, sources_of_size(draw, n["b"], n["s"]), settings)
        with blame(SOME_SIZES, lambda: expect_found(student, usual, EVERY)):
            expect_found(student, problem, {})


@check("beam-search", share=2, title="Different ids for <sos>, <eos> and padding")
def test_beam_other_numbers(student, draw):
    expect_found(student, problem_of("numbers"), EVERY | USUAL)


@check(
    "beam-search",
    share=2,
    title="A cached model also works: its rows follow the hypotheses",
)
def test_beam_cached(student, draw):
    stale = {STALE: Rule(stale=True)}
    words = "code that does not work with a CachedTransformer"
    with blame(words, lambda: test_beam_words(student, draw)):
        problem = problem_of("all")
        tgt, score = run_beam(student, problem, problem.model_for(cached=True))
        expect_words(problem, tgt, EVERY | stale)
        expect_score(problem, score, EVERY)


@check(
    "beam-search",
    share=1,
    title="Calls are independent; src and settings stay unchanged",
)
def test_beam_leaves_no_traces(student, draw):
    problems = [problem_of("plain"), problem_of("another plain")]
    calls = [
        (
            one.model_for().handed_to(student),
            one.src,
            settings_for(student, one.settings),
        )
        for one in problems
    ]
    expect_no_traces(student, student.beam_search, *calls[0], still=True)
    rights = iter(problems)
    expect_each_call_anew(
        student,
        student.beam_search,
        calls,
        lambda *_: next(rights).found()[1],
        "the scores of the hypotheses",
        part=1,
        tolerance=2e-5,
    )


# Number of a fixed draw, settings of the search, and options of the model.
KINDS: dict[str, tuple[int, SearchSettings, dict[str, Any]]] = {
    "all": (233, SEARCH, {}),
    "endless": (0, replace(SEARCH, max_len=3), {"ending": -9.0}),
    "plain": (211, SearchSettings(2, 0.0, 4), {}),
    "another plain": (84, SearchSettings(2, 0.0, 4), {}),
    "first": (0, SearchSettings(2, 0.9, MAX_LEN), {"ending": 2.0}),
    "one": (2, SearchSettings(1, 0.6, MAX_LEN), {}),
    "short": (0, SearchSettings(K, 0.6, 30), {"ending": 6.0}),
    "wide": (5, SearchSettings(TGT_WORDS + 2, 0.8, 4), {}),
    "numbers": (
        208,
        SearchSettings(2, 0.9, MAX_LEN, *OTHER_IDS[1:]),
        {"special": OTHER_IDS},
    ),
}


# --- decode_step_cached -----------------------------------------------------------

B, H, T, S, D = 3, 2, 4, 5, 12
SIZES: dict[str, Any] = {"src_vocab_size": 20, "tgt_vocab_size": 21, "d_model": D}
SIZES |= {"n_heads": H, "n_layers": 2, "d_ff": 20, "dropout": 0.0}
Run = Callable[[], tuple[Tensor, Tensor]]  # returns the output and the weights
LAYER_CACHE = "transformer.translation.cache.LayerCache"
STEP_OF_TENSORS = (
    "lambda step, cache: lambda layer, x, parts, tgt_mask, src_mask: "
    "step(layer, x, cache(*parts), tgt_mask, src_mask)"
)


@dataclass(frozen=True)
class Step:
    """The student's layer, the reference and their input, for one cached step.

    Attributes:
        layer: the student's layer.
        trusted: the same layer of the reference, in float64.
        x: all t tokens.
        memory: the output of the encoder.
        tgt_mask: the mask's row for the newest token, (b, 1, 1, t).
        src_mask: (b, 1, 1, s).
    """

    layer: Any
    trusted: DecoderLayer
    x: Tensor
    memory: Tensor
    tgt_mask: Tensor
    src_mask: Tensor

    def right(self, masked: bool = True) -> tuple[Tensor, Tensor]:
        """Compute all tokens without a cache; return the newest token's result."""
        mask = causal_mask(self.x.size(1))
        both = self.tgt_mask & mask if masked else mask
        y, weights = self.trusted(
            self.x.double(),
            self.memory.double(),
            both,
            self.src_mask if masked else None,
        )
        return y[:, -1:], weights[:, :, -1:]

    def projected(self, count: int) -> list[Tensor]:
        """Compute keys and values of the memory and of the first `count` tokens."""
        x, add_norm = self.x[:, :count].double(), self.trusted.add_norm1
        x = add_norm.norm(x) if add_norm.norm_first else x
        memory = self.memory.double()
        return [
            *self.trusted.cross_attention.project_key_value(memory, memory),
            *self.trusted.self_attention.project_key_value(x, x),
        ]

    def cache(self, student, count: int) -> Any:
        """Make a cache of the first `count` tokens in the student's process."""
        tensors = [part.float() for part in self.projected(count)]
        return student.load(LAYER_CACHE)(*tensors)

    def arguments(self) -> tuple:
        """Return the arguments of `step_of_tensors`, with the cache as four tensors."""
        parts = [part.float() for part in self.projected(self.x.size(1) - 1)]
        return self.layer, self.x[:, -1:], parts, self.tgt_mask, self.src_mask

    def under(self, place: str, mask: Tensor) -> "Step":
        """Return a copy with another mask; `place` is "tgt_mask" or "src_mask"."""
        changed: dict[str, Any] = {place: mask}
        return replace(self, **changed)

    def with_others(self, draw) -> "Step":
        """Return a copy with other tokens, memory and masks.

        The batch is larger than in other checks.
        """
        return replace(
            self,
            x=draw.normal(B + 1, T, D),
            memory=draw.normal(B + 1, S, D),
            tgt_mask=draw.mask(B + 1, 1, 1, T),
            src_mask=draw.mask(B + 1, 1, 1, S),
        )


def draw_step(student, draw, **changes) -> Step:
    """Draw a layer and t tokens, some of which are padding."""
    options = SIZES | changes
    trusted = DecoderLayer(TransformerConfig(**options))
    shapes = {name: tuple(p.shape) for name, p in trusted.state_dict().items()}
    state = {name: 0.5 * value for name, value in draw.state(shapes).items()}
    trusted.load_state_dict(state)
    layer = student.load("transformer.decoder.DecoderLayer")(
        student.load(CONFIG)(**options)
    )
    layer.load_state_dict(state)
    layer.eval()
    tgt_mask = torch.ones(B, 1, 1, T, dtype=torch.bool)
    tgt_mask[1, ..., 2], tgt_mask[2, ..., 1] = False, False
    lengths = torch.tensor([5, 3, 1])
    src_mask = (torch.arange(S) < lengths[:, None])[:, None, None, :]
    return Step(
        layer,
        trusted.double().eval(),
        draw.normal(B, T, D),
        draw.normal(B, S, D),
        tgt_mask,
        src_mask,
    )


def run_step(student, step: Step, cache: Any, masked: bool = True):
    """Call a student's step with the newest token; fail unless it returns a pair."""
    masks = (step.tgt_mask, step.src_mask) if masked else ()
    result = student.decode_step_cached(step.layer, step.x[:, -1:], cache, *masks)
    return expect_parts(result, 2, "two things, x and the weights")


@dataclass(frozen=True)
class Way:
    """A way to compute a cached step, with possible mistakes.

    Attributes:
        step: the input.
        key: the keys of the cache, with the newest token's key.
        value: the values of the cache, with the newest token's value.
        tgt_mask: the mask of the self-attention.
        src_mask: the mask of the cross-attention.
        norms: a normalisation for each sub-layer.
        projector: the attention that projects the cross-attention's query.
        skip: whether the residual connections are left out.
        stale: whether the cross-attention computes its query from the layer's input.
        self_weights: whether the step returns the weights of the self-attention.
        feed_forward: whether the step applies the feed-forward layer.
        pre: whether the sub-layers are pre-norm.
    """

    step: Step
    key: Tensor
    value: Tensor
    tgt_mask: Tensor | None
    src_mask: Tensor | None
    norms: tuple[AddNorm, ...]
    projector: MultiHeadAttention
    skip: bool = False
    stale: bool = False
    self_weights: bool = False
    feed_forward: bool = True
    pre: bool = False

    def run(self) -> tuple[Tensor, Tensor]:
        """Return the newest token's output and its weights."""
        layer, x = self.step.trusted, self.step.x[:, -1:].double()
        kept = {}

        def look_back(y: Tensor) -> Tensor:
            q = layer.self_attention.project_query(y)
            output, kept["self"] = layer.self_attention.attend(
                q, self.key, self.value, self.tgt_mask
            )
            return output

        def look_up(y: Tensor) -> Tensor:
            q = self.projector.project_query(x if self.stale else y)
            memory_key, memory_value = self.step.projected(0)[:2]
            output, kept["cross"] = layer.cross_attention.attend(
                q, memory_key, memory_value, self.src_mask
            )
            return output

        y = self.around(self.norms[0], x, look_back)
        y = self.around(self.norms[1], y, look_up)
        if self.feed_forward:
            y = self.around(self.norms[2], y, layer.feed_forward)
        return y, kept["self" if self.self_weights else "cross"]

    def around(
        self, add_norm: AddNorm, y: Tensor, function: Callable[[Tensor], Tensor]
    ) -> Tensor:
        """Apply a sub-layer with its residual connection and normalisation."""
        if self.pre:
            return y + function(add_norm.norm(y))
        return add_norm.norm(function(y) if self.skip else y + function(y))


@dataclass(frozen=True)
class Projected:
    """Keys and values of the earlier tokens and of the newest token."""

    old_key: Tensor
    old_value: Tensor
    new_key: Tensor
    new_value: Tensor

    @property
    def key(self) -> Tensor:
        """Return the keys of all tokens."""
        return torch.cat([self.old_key, self.new_key], dim=2)

    @property
    def value(self) -> Tensor:
        """Return the values of all tokens."""
        return torch.cat([self.old_value, self.new_value], dim=2)


def projections_of(step: Step) -> Projected:
    """Compute keys and values for a post-norm step."""
    x = step.x[:, -1:].double()
    old_key, old_value = step.projected(T - 1)[2:]
    newest = step.trusted.self_attention.project_key_value(x, x)
    return Projected(old_key, old_value, *newest)


def step_mistakes(step: Step) -> dict[str, Run]:
    """Return wrong results of a post-norm cached step, keyed by name."""
    layer, parts = step.trusted, projections_of(step)
    norms = (layer.add_norm1, layer.add_norm2, layer.add_norm3)
    masks = (step.tgt_mask, step.src_mask)
    right = Way(step, parts.key, parts.value, *masks, norms, layer.cross_attention)
    normed = normalised_first(step, parts)

    def but(**changes: Any) -> Run:
        return replace(right, **changes).run

    return {
        **cache_mistakes(step, parts, but),
        "a step whose self-attention has no mask": but(tgt_mask=None),
        "a step whose cross-attention has no mask": but(src_mask=None),
        "a step that has no mask at all": but(tgt_mask=None, src_mask=None),
        "a step without residual connections": but(skip=True),
        "a step that uses one normalisation three times": but(
            norms=(layer.add_norm1,) * 3
        ),
        "a step whose cross-attention computes its queries from the layer's input": but(
            stale=True
        ),
        "a step that projects the cross-attention's query with the "
        "self-attention's weights": but(projector=layer.self_attention),
        "a step without the feed-forward layer": but(feed_forward=False),
        "a step that normalises before each sub-layer (pre-norm)": but(
            key=normed.key, value=normed.value, pre=True
        ),
        "a step that returns the self-attention's weights": but(self_weights=True),
    }


def normalised_first(step: Step, parts: Projected) -> Projected:
    """Project the newest token after the normalisation of a pre-norm layer."""
    layer = step.trusted
    z = layer.add_norm1.norm(step.x[:, -1:].double())
    key, value = layer.self_attention.project_key_value(z, z)
    return replace(parts, new_key=key, new_value=value)


def cache_mistakes(
    step: Step, parts: Projected, but: Callable[..., Run]
) -> dict[str, Run]:
    """Return results with wrong keys or values in the cache, keyed by name."""
    old_key, old_value = parts.old_key, parts.old_value
    new_key, new_value = parts.new_key, parts.new_value
    return {
        "a step that attends before the newest token is in the cache": but(
            key=old_key, value=old_value, tgt_mask=step.tgt_mask[..., :-1]
        ),
        "a step that attends to only the newest token": but(
            key=new_key, value=new_value, tgt_mask=step.tgt_mask[..., -1:]
        ),
        "a step that adds the newest token in front": but(
            key=torch.cat([new_key, old_key], 2),
            value=torch.cat([new_value, old_value], 2),
        ),
        "a step that adds the newest token twice": but(
            key=torch.cat([parts.key, new_key], 2),
            value=torch.cat([parts.value, new_value], 2),
            tgt_mask=None,
        ),
        "a step with keys and values swapped": but(
            key=torch.cat([old_key, new_value], 2),
            value=torch.cat([old_value, new_key], 2),
        ),
        "a step that uses keys instead of values": but(value=parts.key),
    }


def part_of(named: Mapping[str, Run], index: int) -> dict[str, Callable[[], Tensor]]:
    """Return only the outputs or only the weights of wrong results."""

    def one_of(run: Run) -> Callable[[], Tensor]:
        return lambda: run()[index]

    return {phrase: one_of(run) for phrase, run in named.items()}


@check(
    "decode-step-cached",
    share=4,
    title="The newest token has the same result as without a cache",
)
def test_step_values(student, draw):
    step = draw_step(student, draw)
    x, _ = run_step(student, step, step.cache(student, T - 1))
    named = part_of(step_mistakes(step), 0)
    expect_close(x, step.right()[0], "x", named, tolerance=5e-5)


@check(
    "decode-step-cached", share=2, title="The cross-attention's weights (b, h, 1, s)"
)
def test_step_weights(student, draw):
    step = draw_step(student, draw.fixed(0))  # its mistakes differ clearly
    named, want = part_of(step_mistakes(step), 1), step.right()[1]
    _, weights = run_step(student, step, step.cache(student, T - 1))
    expect_close(weights, want, "the tensor of weights", named, tolerance=5e-5)


@check("decode-step-cached", share=3, title="The cache grows by the newest token")
def test_step_grows_the_cache(student, draw):
    step = draw_step(student, draw)
    cache = step.cache(student, T - 1)
    run_step(student, step, cache)
    memory_key, memory_value, key, value = step.projected(T)
    got = cache.attribute("key")
    if isinstance(got, Tensor) and got.size(2) == T - 1:
        fail(
            "The cache has not grown: the next step will not see this token.",
            mistake="a step that does not change the cache",
        )
    if isinstance(got, Tensor) and got.size(2) == T + 1:
        fail(
            "The cache has grown by two tokens.",
            mistake="a step that adds the newest token twice",
        )
    newest_first = torch.cat([key[:, :, -1:], key[:, :, :-1]], dim=2)
    swapped = torch.cat([key[:, :, :-1], value[:, :, -1:]], dim=2)
    named = {
        "a step that adds the newest token in front": newest_first,
        "a step with keys and values swapped": swapped,
    }
    expect_close(got, key, "the cache's tensor of keys", named, tolerance=5e-5)
    expect_close(
        cache.attribute("value"), value, "the cache's tensor of values", tolerance=5e-5
    )
    got = cache.attribute("memory_key")
    expect_close(
        got, memory_key, "the cache's tensor of keys of the source", tolerance=5e-5
    )
    got = cache.attribute("memory_value")
    expect_close(
        got, memory_value, "its tensor of values of the source", tolerance=5e-5
    )


@check("decode-step-cached", share=2, title="Two steps, one after the other; no masks")
def test_step_twice(student, draw):
    step = draw_step(student, draw)
    cache = step.cache(student, T - 2)
    early = Step(
        step.layer,
        step.trusted,
        step.x[:, :-1],
        step.memory,
        step.tgt_mask[..., :-1],
        step.src_mask,
    )
    words = "code that needs a mask, although both masks are None by default"
    with blame(words, lambda: test_step_values(student, draw)):
        run_step(student, early, cache, masked=False)
        x, _ = run_step(student, step, cache, masked=False)
    expect_shape(x, (B, 1, D), "x")
    want, _ = step.right(masked=False)
    expect_close(x, want, "x after two steps", tolerance=5e-5)


@check("decode-step-cached", share=2, title="The first token, in an empty cache")
def test_step_from_nothing(student, draw):
    step = draw_step(student, draw)
    first = Step(
        step.layer,
        step.trusted,
        step.x[:, :1],
        step.memory,
        step.tgt_mask[..., :1],
        step.src_mask,
    )
    x, _ = run_step(student, first, first.cache(student, 0))
    expect_close(x, first.right()[0], "x", tolerance=5e-5)


def step_of_tensors(student) -> Any:
    """Return a function that calls the student's step with a new cache each time."""
    make = student.load("builtins.eval")(STEP_OF_TENSORS)
    return make(student.decode_step_cached, student.load(LAYER_CACHE))


@check(
    "decode-step-cached",
    share=2,
    title="Any sizes; a mask for each head, each sentence, or for all",
)
def test_step_under_every_mask(student, draw):
    step, function = draw_step(student, draw), step_of_tensors(student)
    for place, keys, letter in (("tgt_mask", T, "t"), ("src_mask", S, "s")):
        masks: dict[str, Tensor] = {
            Phrase("(b, 1, 1, {letter}), one for each sentence", letter): draw.mask(
                B, 1, 1, keys
            ),
            Phrase("(b, h, 1, {letter}), one for each head", letter): draw.mask(
                B, H, 1, keys
            ),
            Phrase("(1, h, 1, {letter}), one for each head", letter): draw.mask(
                1, H, 1, keys
            ),
            Phrase(
                "(1, 1, 1, {letter}), one mask for all sentences", letter
            ): draw.mask(1, 1, 1, keys),
            Phrase("({letter},), one mask for all sentences", letter): draw.mask(keys),
            Phrase("(h, 1, {letter}), one for each head", letter): draw.mask(
                H, 1, keys
            ),
        }

        def own(mask: Tensor, place: str = place) -> Any:
            result = function(*step.under(place, mask).arguments())
            return expect_parts(result, 2, "two things, x and the weights")[0]

        def right(mask: Tensor, place: str = place) -> Tensor:
            return step.under(place, mask).right()[0]

        what = Phrase("x with this mask as {place}", place)
        expect_every_mask(own, right, masks, what)
    expect_step_of_every_size(student, draw)


def expect_step_of_every_size(student, draw, norm_first: bool = False) -> None:
    """Fail unless steps of every size are right, in evaluation and in training."""
    shapes, masks = ["b,t,h*d_k", "b,s,h*d_k"], ["b,1,1,t", "b,1,1,s"]
    for case in varied_inputs(
        draw, shapes, masks, closed=False, large=9.0, others=["d_ff"]
    ):
        n = case.sizes
        options = {"d_model": n["h"] * n["d_k"], "n_heads": n["h"], "d_ff": n["d_ff"]}
        x, memory, tgt_mask, src_mask = case.inputs
        made = draw_step(student, draw, norm_first=norm_first, **options)
        step = Step(made.layer, made.trusted, x, memory, tgt_mask, src_mask)
        call = student.decode_step_cached
        if not case.keeps_gradients:
            call = student.load("torch.no_grad")()(call)
        for mode, is_training in (("eval()", False), ("train()", True)):
            step.layer.train(is_training)
            with blame(SOME_SIZES, lambda: test_step_values(student, draw)):
                cache = step.cache(student, x.size(1) - 1)
                got = call(step.layer, x[:, -1:], cache, tgt_mask, src_mask)
                parts = expect_parts(got, 2, "two things, x and the weights")
                whats = ("x", "the tensor of weights")
                for part, right, what in zip(parts, step.right(), whats, strict=True):
                    whose = Phrase(
                        "After {mode}, with {sizes}, {what}", mode, case.words, what
                    )
                    expect_close(part, right, whose, tolerance=1e-4)


@check(
    "decode-step-cached",
    share=1,
    title="Calls are independent; no dropout in evaluation",
)
def test_step_of_each_call(student, draw):
    step, function = draw_step(student, draw, dropout=0.3), step_of_tensors(student)
    expect_each_step_anew(student, draw, draw_step(student, draw))
    with blame("dropout in evaluation", lambda: test_step_values(student, draw)):
        result = function(*step.arguments())
        x, _ = expect_parts(result, 2, "two things, x and the weights")
        what = "x of a layer with dropout in eval mode"
        expect_close(x, step.right()[0], what, tolerance=5e-5)


def expect_each_step_anew(student, draw, step: Step) -> None:
    """Fail if a step returns or uses a tensor from an earlier call."""
    first, second = (step.with_others(draw) for _ in range(2))
    of_first_source = replace(second, memory=first.memory)
    tokens = torch.cat([first.x[:, :-1], second.x[:, -1:]], dim=1)
    named = {
        "a step that looks at the source from an earlier call": (
            of_first_source.right()[0]
        ),
        "a step that looks back at the tokens from an earlier call": (
            replace(second, x=tokens).right()[0]
        ),
    }
    rights = iter([first.right()[0], second.right()[0]])
    calls = [first.arguments(), second.arguments()]
    expect_each_call_anew(
        student,
        step_of_tensors(student),
        calls,
        lambda *_: next(rights),
        "x",
        part=0,
        mistakes=named,
        tolerance=5e-5,
    )


@check(
    "decode-step-cached",
    share=1,
    title="x, masks and source stay the same; device and random state too",
    form=True,
)
def test_step_leaves_no_traces(student, draw):
    step, function = draw_step(student, draw, dropout=0.3), step_of_tensors(student)
    expect_no_seed(student, function, *step.arguments())
    expect_no_traces(student, function, *step.arguments(), still=True)
    expect_same_device(student, function, *step.arguments(), what="the step's result")


@check("decode-step-cached", share=2, title="The same step with pre-norm (norm_first)")
def test_step_pre_norm(student, draw):
    step = draw_step(student, draw, norm_first=True)
    x, _ = run_step(student, step, step.cache(student, T - 1))
    words = "a step that is right only with norm_first=False"
    with blame(words, lambda: test_step_values(student, draw)):
        expect_close(x, step.right()[0], "x", tolerance=5e-5)
        expect_step_of_every_size(student, draw, norm_first=True)


# --- BLEU -------------------------------------------------------------------------

WORDS = ["die", "frau", "ruft", "den", "alten", "mann", "an"]
BUILT_INS = [
    "torchtext.data.metrics.bleu_score",
    "sacrebleu.corpus_bleu",
    "sacrebleu.sentence_bleu",
    "sacrebleu.BLEU",
]
Corpus = tuple[list[list[str]], list[Any]]
Grams = Counter[tuple[str, ...]]


def some_words(draw, count: int) -> list[str]:
    """Draw a sentence that may repeat words."""
    return [draw.choice(WORDS) for _ in range(count)]


def distinct_words(draw, count: int) -> list[str]:
    """Draw a sentence that repeats no word."""
    return [WORDS[place] for place in draw.uniform(len(WORDS)).argsort()[:count]]


def spoil(draw, words: Sequence[str]) -> list[str]:
    """Change one word, and perhaps repeat or remove others."""
    spoiled = list(words)
    spoiled[draw.integer(0, len(spoiled))] = draw.choice(WORDS)
    if draw.integer(0, 2):
        spoiled.insert(draw.integer(0, len(spoiled)), spoiled[0])
    return spoiled


def draw_corpus(draw, several: bool, shorter: int = 0) -> Corpus:
    """Draw references, and hypotheses that partly agree with them."""
    references, hypotheses = [], []
    for length in (12, 9, 7):
        reference = some_words(draw, length + shorter)
        written = spoil(draw, reference[:length])
        hypotheses.append(written)
        other = spoil(draw, spoil(draw, reference))
        references.append([other[:-2], reference, other] if several else reference)
    return hypotheses, references


def lists_of(references: Sequence[Any]) -> list[list[list[str]]]:
    """Return the references of each sentence as a list, even if there is only one."""
    return [ref if isinstance(ref[0], list) else [ref] for ref in references]


def grams(words: Sequence[str], n: int) -> list[tuple[str, ...]]:
    """List the n-grams of a sentence."""
    return [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]


def matches(corpus: Corpus, n: int, how: str = "right") -> tuple[int, int]:
    """Count matches and n-grams, correctly or with the mistake `how`."""
    found = total = 0
    for words, known in zip(corpus[0], lists_of(corpus[1]), strict=True):
        written = Counter(grams(words, n))
        counts = [Counter(grams(ref, n)) for ref in known]
        largest: Grams = Counter()
        for count in counts:
            largest = largest + count if how == "summed" else largest | count
        largest = {"first": counts[0], "last": counts[-1]}.get(how, largest)
        if how == "all":
            for count in counts:
                largest = Counter({g: min(largest[g], count[g]) for g in largest})
        if how == "no clipping":
            found += sum(c for gram, c in written.items() if largest[gram])
        elif how == "distinct":
            found += len(written.keys() & largest.keys())
        elif how == "once":
            found += len([1 for gram in written if largest[gram]])
        else:
            found += (written & largest).total()
        total += len(written) if how == "distinct" else written.total()
    return found, total


def edited(corpus: Corpus) -> dict[str, Corpus]:
    """Return corpora with tokens added or removed, and one with swapped sides."""
    hypotheses, several = corpus[0], lists_of(corpus[1])
    ended = (
        [[*h, "<eos>"] for h in hypotheses],
        [[[*r, "<eos>"] for r in refs] for refs in several],
    )
    framed = (
        [["<sos>", *h] for h in ended[0]],
        [[["<sos>", *r] for r in refs] for refs in ended[1]],
    )
    return {
        "ended": ended,
        "framed": framed,
        "cut": ([h[:-1] for h in hypotheses], several),
        "swapped": ([refs[0] for refs in several], [[h] for h in hypotheses]),
    }


def pooled(corpus: Corpus, n: int) -> tuple[int, int]:
    """Count matches and n-grams with clipping over the whole corpus."""
    written: Grams = Counter()
    known: Grams = Counter()
    for words, refs in zip(corpus[0], lists_of(corpus[1]), strict=True):
        written += Counter(grams(words, n))
        most: Grams = Counter()
        for ref in refs:
            most |= Counter(grams(ref, n))
        known += most
    return (written & known).total(), written.total()


def precision_mistakes(corpus: Corpus, n: int) -> dict[str, Callable[[], Any]]:
    """Return wrong counts of n-grams, keyed by the name of the mistake."""
    found, total = matches(corpus, n)
    other = edited(corpus)

    def counted(how: str) -> Callable[[], tuple[int, int]]:
        return lambda: matches(corpus, n, how)

    def reference_total() -> tuple[int, int]:
        return found, sum(len(grams(refs[0], n)) for refs in lists_of(corpus[1]))

    return {
        "the counts without clipping": counted("no clipping"),
        "the counts of distinct n-grams": counted("distinct"),
        "the counts when each n-gram may match only once": counted("once"),
        "the counts against only the first reference": counted("first"),
        "the counts against only the last reference": counted("last"),
        "the counts with the references added up": counted("summed"),
        "the counts of n-grams that occur in all references": counted("all"),
        "the counts with the total of the references (arguments swapped?)": (
            reference_total
        ),
        "the counts with the arguments swapped": lambda: matches(other["swapped"], n),
        "the counts of a corpus clipped as a whole, not by sentence": lambda: pooled(
            corpus, n
        ),
        "the counts of (n + 1)-grams": lambda: matches(corpus, n + 1),
        "the counts of (n - 1)-grams": lambda: matches(corpus, n - 1),
        "the counts with <sos> and <eos> left in": lambda: matches(other["framed"], n),
        "the counts with <eos> left in": lambda: matches(other["ended"], n),
        "the counts with the last token always cut": lambda: matches(other["cut"], n),
        "both counts increased by one": lambda: (found + 1, total + 1),
        "the ratio, not the two counts": lambda: found / total,
        "0 of 0": lambda: (0, 0),
    }


def expect_counts(got: Any, corpus: Corpus, n: int) -> None:
    """Compare a pair of counts with the right pair."""
    right = matches(corpus, n)
    if not (isinstance(got, tuple) and got == right):
        named = sole(precision_mistakes(corpus, n))
        expect_equal(got, right, "your result", named)


@check("ngram-precision", share=4, title="Words, clipped to the reference")
def test_counts_of_words(student, draw):
    corpus = draw_corpus(draw.fixed(0), several=False)  # reveals each mistake
    expect_counts(student.ngram_precision(*corpus, 1), corpus, 1)


GLUED = (
    "the counts of n-grams joined into one string, so that different ones look equal"
)


@check("ngram-precision", share=2, title="Longer n-grams")
def test_counts_of_longer_ones(student, draw):
    corpus = draw_corpus(draw.fixed(45), several=False)  # reveals each mistake
    for n in (2, 3):
        expect_counts(student.ngram_precision(*corpus, n), corpus, n)
    words = distinct_words(draw, 9)
    alike = ([words], [[*words[:7], *words[:2]]])
    with blame("code for n-grams of four tokens at most"):
        expect_counts(student.ngram_precision(*alike, 6), alike, 6)
    expect_any_tokens(student)
    one, two, three = distinct_words(draw, 3)
    hypotheses = [[one + two, three], [three, one]]
    references = [[one, two + three], [three, one]]
    got = student.ngram_precision(hypotheses, references, 2)
    expect_equal(got, (1, 2), "your result", {GLUED: (2, 2)})


@check("ngram-precision", share=2, title="Several references")
def test_counts_with_several_references(student, draw):
    corpus = draw_corpus(draw.fixed(65), several=True)  # reveals each mistake
    expect_counts(student.ngram_precision(*corpus, 1), corpus, 1)
    words = distinct_words(draw, 5)
    each = ([words], [[[word] for word in words]])  # each reference has one word
    with blame("code that uses only the first references"):
        expect_counts(student.ngram_precision(*each, 1), each, 1)
    for number, other in enumerate(other_corpora(draw)):
        for n in (1, 2 + number % 3):
            with blame(SOME_SENTENCES):
                want = bleu.ngram_precision(*other, n)
                got = student.ngram_precision(*other, n)
                expect_equal(got, want, "your result")


SOME_SENTENCES = "code that is right only for some kinds of corpora"


def other_corpora(draw) -> list[tuple[Sequence[Any], Sequence[Any]]]:
    """Draw corpora of other kinds of sentences, references and tokens.

    The kinds are: pairs that occur several times, words in another order, long
    sentences, tuples and unusual tokens, a different number of references for each
    sentence, hypotheses that equal their references or are much shorter, and a corpus
    of many sentences.
    """
    words = some_words(draw, 70)
    a, b, c = (distinct_words(draw, 7) for _ in range(3))
    odd: tuple[str, ...] = (
        "3.5",
        "12",
        "e-mail",
        "it's",
        "@@en",
        "<eos>",
        "größe",
        "x_1",
        "Uhr",
    )
    odd += ("", "uhr", "Donaudampfschifffahrt", "–", "7", "Der")
    many = [some_words(draw, 4 + n % 5) for n in range(120)]
    return [
        ([a, a[:6], a, a[:6]], [a, a, a, a]),
        ([[*a[4:], *a[:4]], b[::-1], c], [a, b, [*c[2:], *c[:2]]]),
        ([words[:60], words[5:9]], [words, words[4:30]]),
        ((odd, odd[2:9], tuple(a)), (odd[1:], odd, tuple(a[::-1]))),
        (
            [a, b, c, a[:5]],
            [a[:6], [b[:4]], [c[:3], c[2:], c[1:5], c[:4]], [b, a]],
        ),
        ([a, b, c], [a, b, c]),
        ([a[:5]], [[*a, *b, *c]]),
        (many, [spoil(draw, one) for one in many]),
        ([["die"], ["an"], ["der"]], [["die"], ["an"], ["den"]]),
    ]


TOKENS = {
    "counts that ignore capital letters, although these are different "
    "tokens": str.lower,
    "counts without <unk> and <pad>, which are ordinary tokens here": lambda token: (
        "" if token in ("<unk>", "<pad>") else token
    ),
    "counts without full stops, which are ordinary tokens here": lambda token: (
        token.replace(".", "")
    ),
}


def expect_any_tokens(student) -> None:
    """Fail if capitals, punctuation or special tokens do not count as words."""
    corpus = (
        [["Der", "mann", ".", "<unk>", ".", "<pad>"], ["<unk>", ".", "sie", "<pad>"]],
        [["der", "mann", ".", "<unk>", "."], ["<unk>", ".", "Sie", "<pad>", "<pad>"]],
    )
    for n in (1, 2):
        named = {
            phrase: partial(matches, changed(corpus, change), n)
            for phrase, change in TOKENS.items()
        }
        found, total = matches(corpus, n)
        got, what = student.ngram_precision(*corpus, n), "your result"
        expect_equal(got, (found, total), what, sole(named))


def changed(corpus: Corpus, change: Callable[[str], str]) -> Corpus:
    """Return a corpus with each token changed, or removed if it becomes empty."""

    def of(sentence: list[str]) -> list[str]:
        return [new for token in sentence if (new := change(token))]

    return [of(h) for h in corpus[0]], [of(r) for r in corpus[1]]


@check("ngram-precision", share=1, title="Sentences shorter than n, and empty ones")
def test_counts_of_short_sentences(student, draw):
    long = distinct_words(draw, 5)
    corpus = (
        [[], ["die"], long, some_words(draw, 2)],
        [["die"], ["die"], long, ["an"]],
    )
    words = "code that assumes n words in every sentence"
    with blame(words, lambda: test_counts_of_longer_ones(student, draw)):
        expect_counts(student.ngram_precision(*corpus, 3), corpus, 3)


@check(
    "ngram-precision",
    share=1,
    title="Written by you; the lists stay unchanged",
    bans=("ngram_precision", BUILT_INS),
)
def test_counts_change_nothing(student, draw):
    test_counts_of_words(student, draw)
    words = distinct_words(draw, 6)
    corpus = ([words, words[1:]], [[words, words * 2], [words[1:]]])
    got, after = student.call_and_return_inputs(student.ngram_precision, *corpus, 2)
    expect_counts(got, corpus, 2)
    if after[0] != corpus[0] or after[1] != corpus[1]:
        fail(
            "Your function changed the lists that it was given.",
            mistake="an input is changed in place",
        )


GOES_FROM = "code that continues from the counts of an earlier call"


def two_corpora(draw) -> list[Corpus]:
    """Draw two corpora of equal size with different counts and scores.

    Both begin with the same sentence, and they have more sentences than the corpora of
    all other checks. No word is repeated. Otherwise it would depend on the draw whether
    other checks find a mistake.
    """

    def one() -> Corpus:
        references = [distinct_words(draw, 7) for _ in range(5)]
        hypotheses = [list(words[:6]) for words in references]
        for number, words in enumerate(hypotheses):
            words[draw.integer(0, 6) if number else 0] = "der"
        return hypotheses, references

    draw = draw.fixed(1)  # their counts and scores differ
    both = [one(), one()]
    for first, second in zip(*both, strict=True):
        second[0] = list(first[0])
    return both


def expect_each_corpus_anew(
    student,
    function: Any,
    calls: Sequence[tuple],
    right: Callable[..., Any],
    what: str,
    part: int | None = None,
) -> None:
    """Fail if a call uses or returns a result of an earlier call."""
    (then, _), (again, _) = student.calls_in_turn(
        function, calls[0], deepcopy(calls[0])
    )
    if then != again:
        fail(
            Phrase(
                "A second call with the same corpus gives a different "
                "result: {what} should start from scratch each time. "
                "Python keeps a list or Counter that is a default "
                "argument.",
                what,
            ),
            mistake=GOES_FROM,
        )
    expect_each_call_anew(student, function, calls, right, what, part)


@check("ngram-precision", share=1, title="Each corpus is independent")
def test_counts_of_each_call(student, draw):
    calls = [(*corpus, 2) for corpus in two_corpora(draw)]

    def right(hypotheses: Any, references: Any, n: int) -> int:
        return matches((hypotheses, references), n)[0]

    what = "the number of matching n-grams"
    expect_each_corpus_anew(student, student.ngram_precision, calls, right, what, 0)


def score_with(
    corpus: Corpus,
    max_n: int = 4,
    how: str = "right",
    mean: str = "geometric",
    penalty: Callable[[int, int], float] = lambda c, r: min(1.0, math.exp(1 - r / c)),
    length: Callable[[int, list[int]], int] | None = None,
    add: int = 0,
    factor: float = 100.0,
) -> float:
    """Compute BLEU, correctly or with one part replaced."""
    counts = [matches(corpus, n + 1, how) for n in range(max_n)]
    counts = [(found + add, total + add) for found, total in counts]
    ratios = [found / total for found, total in counts]
    if mean == "geometric":
        middle = math.prod(ratios) ** (1 / max_n) if all(ratios) else 0.0
    elif mean == "sum":
        middle = math.prod(ratios) if all(ratios) else 0.0
    elif mean == "last":
        middle = ratios[-1]
    else:
        middle = sum(ratios) / max_n

    def nearest(c: int, lengths: list[int]) -> int:
        return min((abs(r - c), r) for r in lengths)[1]

    pick = length or nearest
    several = lists_of(corpus[1])
    c = sum(len(h) for h in corpus[0])
    r = sum(
        pick(len(h), [len(ref) for ref in refs])
        for h, refs in zip(corpus[0], several, strict=True)
    )
    return factor * middle * penalty(c, r)


Score = Callable[..., Callable[[], float]]  # makes BLEU with some parts replaced


def bleu_mistakes(corpus: Corpus, max_n: int = 4) -> dict[str, Callable[[], float]]:
    """Return wrong BLEU scores, keyed by the name of the mistake."""
    hypotheses, several = corpus[0], lists_of(corpus[1])
    pairs = [([h], [refs]) for h, refs in zip(hypotheses, several, strict=True)]
    other = edited(corpus)

    def score(**changes: Any) -> Callable[[], float]:
        return lambda: score_with(corpus, max_n, **changes)

    def by_sentence() -> float:
        return sum(score_with(pair, max_n) for pair in pairs) / len(pairs)

    def score_of(edit: str) -> Callable[[], float]:
        return lambda: score_with(other[edit], max_n)

    return {
        **penalty_mistakes(score, shorter(corpus)),
        "BLEU without clipping": score(how="no clipping"),
        "BLEU of distinct n-grams": score(how="distinct"),
        "BLEU with an arithmetic mean of the precisions": score(mean="arithmetic"),
        "BLEU with the product of the precisions, without the root": score(mean="sum"),
        "BLEU of only the longest n-grams": score(mean="last"),
        "the mean of the sentences' scores": by_sentence,
        "BLEU with one added to every count (smoothing)": score(add=1),
        "BLEU with the arguments swapped": score_of("swapped"),
        "BLEU with <eos> left in": score_of("ended"),
        "BLEU with <sos> and <eos> left in": score_of("framed"),
        "BLEU with the last token always cut": score_of("cut"),
        "BLEU as a fraction, not times 100": score(factor=1.0),
        "0, although n-grams of every length match": lambda: 0.0,
        "BLEU with n-grams up to a different length": lambda: score_with(corpus, 4),
        "BLEU without one length of n-grams": lambda: score_with(corpus, max_n - 1),
        **length_mistakes(score),
    }


def shorter(corpus: Corpus) -> bool:
    """Return whether the hypotheses have fewer words than the first references."""
    written = sum(len(h) for h in corpus[0])
    return written < sum(len(refs[0]) for refs in lists_of(corpus[1]))


def penalty_mistakes(score: Score, short: bool) -> dict[str, Callable[[], float]]:
    """Return scores with a wrong brevity penalty, keyed by the name of the mistake.

    An inverted penalty does not change the score of a short corpus.
    """
    inverted = score(penalty=lambda c, r: min(1.0, math.exp(1 - c / r)))
    if short:
        named = {"BLEU without the brevity penalty, or with it inverted": inverted}
    else:
        named = {"BLEU with the brevity penalty inverted": inverted}
    return named | {
        "BLEU with a penalty also for long corpora": score(
            penalty=lambda c, r: math.exp(1 - r / c)
        ),
        "BLEU with the length ratio as the penalty": score(
            penalty=lambda c, r: min(1.0, c / r)
        ),
    }


def length_mistakes(score: Score) -> dict[str, Callable[[], float]]:
    """Return scores with the length of a wrong reference, keyed by name."""
    return {
        "BLEU with the first reference's length": score(length=lambda c, rs: rs[0]),
        "BLEU with the shortest reference's length": score(
            length=lambda c, rs: min(rs)
        ),
        "BLEU with the longest reference's length": score(length=lambda c, rs: max(rs)),
        "BLEU against only the first reference": score(how="first"),
        "BLEU with the longer of two lengths that are equally near": score(
            length=lambda c, rs: min(rs, key=lambda r: (abs(r - c), -r))
        ),
        "BLEU with the first of two lengths that are equally near": score(
            length=lambda c, rs: min(rs, key=lambda r: abs(r - c))
        ),
        "BLEU with the last of two lengths that are equally near": score(
            length=lambda c, rs: min(rs[::-1], key=lambda r: abs(r - c))
        ),
    }


def expect_bleu(got: Any, corpus: Corpus, max_n: int = 4) -> None:
    """Compare a BLEU score with the right score."""
    want = bleu.corpus_bleu(*corpus, max_n)
    if not (isinstance(got, float) and math.isclose(got, want, rel_tol=1e-6)):
        named = sole(bleu_mistakes(corpus, max_n))
        expect_close(got, want, "your score", named, tolerance=1e-5)


@check("corpus-bleu", share=4, title="A corpus that is too short for its references")
def test_bleu_of_short_hypotheses(student, draw):
    corpus = draw_corpus(draw.fixed(0), False, 3)  # reveals each mistake
    expect_bleu(student.corpus_bleu(*corpus), corpus)


@check("corpus-bleu", share=2, title="A corpus that is longer than its references")
def test_bleu_of_long_hypotheses(student, draw):
    draw = draw.fixed(0)  # reveals missing clipping
    references = [some_words(draw, n) for n in (9, 7, 6)]
    hypotheses = [[*spoil(draw, r), *some_words(draw, 2)] for r in references]
    corpus = hypotheses, references
    expect_bleu(student.corpus_bleu(*corpus), corpus)


def several_lengths(draw) -> Corpus:
    """Draw several references; the one with the nearest length differs each time."""
    hypotheses, known = [], []
    for number, length in enumerate((12, 9, 7)):
        r = some_words(draw, length)
        written = r[:-1]
        written[1] = draw.choice(WORDS)
        lengths = (11, 9) if number == 0 else (4, 8)
        refs = [[*r, *some_words(draw, extra)] for extra in lengths]
        hypotheses.append(written)
        known.append(refs if number == 0 else [*refs, r[:-4], r])
    return hypotheses, known


@check(
    "corpus-bleu", share=2, title="With several references, the nearest length counts"
)
def test_bleu_with_several_references(student, draw):
    corpus = several_lengths(draw.fixed(0))  # reveals missing clipping
    expect_bleu(student.corpus_bleu(*corpus), corpus)


@check("corpus-bleu", share=1, title="Sentences shorter than 4 words, and empty ones")
def test_bleu_of_short_sentences(student, draw):
    words = distinct_words(draw, 7)
    pairs = [(words[:6], words), (words[:2], words[:3]), ([], words[3:5])]
    pairs += [(words[1:4], words[1:4]), (words[2:7], words[2:7])]
    corpus = ([h for h, _ in pairs], [r for _, r in pairs])

    def score_of(*kept: int) -> float:
        return score_with(([pairs[i][0] for i in kept], [pairs[i][1] for i in kept]))

    named = {
        "BLEU without the sentences of fewer than four words": score_of(0, 4),
        "BLEU without the empty hypotheses": score_of(0, 1, 3, 4),
    }
    got = student.corpus_bleu(*corpus)
    expect_close(got, score_with(corpus), "your score", named)


@check(
    "corpus-bleu",
    share=1,
    title="If two lengths are equally near, the shorter one counts",
)
def test_bleu_of_equally_near_lengths(student, draw):
    first, second, third = (distinct_words(draw, 7) for _ in range(3))
    other = ["der"] * 9
    corpus = (
        [first, second, third],
        [
            [first + other[:5], first + other[:2], first[:5]],
            [second[:6], second + other[:1], second + other[:5]],
            [other],
        ],
    )
    words = "code that uses the wrong length if two are equally near"
    with blame(words, lambda: test_bleu_with_several_references(student, draw)):
        expect_bleu(student.corpus_bleu(*corpus), corpus)


@check(
    "corpus-bleu",
    share=1,
    title="Written by you; 0 if no n-gram matches",
    bans=("corpus_bleu", BUILT_INS),
)
def test_bleu_of_nothing(student, draw):
    test_bleu_of_short_hypotheses(student, draw)
    words = list(dict.fromkeys([*some_words(draw, 4), *WORDS]))
    corpus = ([[words[0], words[1], words[2], words[3], words[4]]], [words[::-1]])
    if student.corpus_bleu([words], [words]) == 0:
        fail("A corpus that equals its references should not score 0.")
    score_words = "code that takes the logarithm of 0, or smooths"
    with blame(score_words, lambda: test_bleu_of_short_hypotheses(student, draw)):
        got = student.corpus_bleu(*corpus)
        named = {
            "BLEU with one added to every count (smoothing)": score_with(corpus, add=1)
        }
        expect_close(got, 0.0, "your score", named)
    divided = "code that divides by the number of words or n-grams written"
    with blame(divided, lambda: test_bleu_of_short_hypotheses(student, draw)):
        expect_close(
            student.corpus_bleu([[]], [words]), 0.0, "the score of empty hypotheses"
        )
    short = ([words[:3], words[3:6]], [words[:3], words[3:6]])
    named = {"BLEU of only the lengths for which n-grams exist": 100.0}
    what = "the score of a corpus without a 4-gram"
    expect_close(student.corpus_bleu(*short), 0.0, what, named)


@check("corpus-bleu", share=1, title="max_n is the length of the longest n-grams")
def test_bleu_with_another_length(student, draw):
    corpus = draw_corpus(draw.fixed(0), False, 2)  # reveals missing clipping
    words = "code that is right only with max_n = 4"
    with blame(words, lambda: test_bleu_of_short_hypotheses(student, draw)):
        expect_bleu(student.corpus_bleu(*corpus, 2), corpus, 2)
    for number, other in enumerate(other_corpora(draw)):
        for n in (4, 1 + number % 6):
            want = bleu.corpus_bleu(*other, n)
            with blame(SOME_SENTENCES):
                if want:  # another check has corpora without a match
                    expect_close(student.corpus_bleu(*other, n), want, "your score")


@check(
    "corpus-bleu", share=1, title="Each corpus is independent; the lists stay unchanged"
)
def test_bleu_of_each_call(student, draw):
    calls = two_corpora(draw)

    def right(*corpus: Any) -> float:
        return score_with(corpus)

    expect_each_corpus_anew(student, student.corpus_bleu, calls, right, "your score")
    _, after = student.call_and_return_inputs(student.corpus_bleu, *calls[0])
    if any(now != then for now, then in zip(after, calls[0], strict=True)):
        fail(
            "Your function changed the lists that it was given.",
            mistake="an input is changed in place",
        )


# --- sampling_probabilities -------------------------------------------------------

SAMPLING = "transformer.translation.sampling_settings.SamplingSettings"
N_WORDS, N_ROWS = 11, 40  # enough rows to reveal each mistake


@dataclass(frozen=True)
class Cutting:
    """A way to truncate a distribution, which is correct by default.

    Attributes:
        sharpened: the logits after the temperature.
        late: whether the temperature is applied after the truncation.
        p_first: whether top-p comes before top-k.
        more: the number of words that are kept in addition to k.
        lot: chooses the nucleus from the cumulative sums before and with each word.
        falling: whether the likeliest words come first.
        summed: whether the remaining probabilities sum to 1 again.
    """

    sharpened: Callable[[Tensor, float], Tensor] = lambda logits, t: logits / t
    late: bool = False
    p_first: bool = False
    more: int = 0
    lot: Callable[[Tensor, Tensor, float], Tensor] = lambda before, _, p: before < p
    falling: bool = True
    summed: bool = True

    def left(self, logits: Tensor, settings: SamplingSettings) -> Tensor:
        """Return the truncated distributions (..., V)."""
        logits = logits.double()
        t = settings.temperature or 1.0
        start = logits if self.late else self.sharpened(logits, t)
        p = start.softmax(dim=-1)
        cuts = [self.likeliest, self.nucleus]
        for cut in cuts[::-1] if self.p_first else cuts:
            p = cut(p, settings)
        if self.late:
            p = self.sharpened(p.log(), t).softmax(dim=-1)
        return p

    def likeliest(self, p: Tensor, settings: SamplingSettings) -> Tensor:
        """Keep the k likeliest words."""
        if settings.top_k is None:
            return p
        place = p.sort(dim=-1, descending=self.falling, stable=True).indices.argsort(-1)
        return self.again(p * (place < settings.top_k + self.more))

    def nucleus(self, p: Tensor, settings: SamplingSettings) -> Tensor:
        """Keep the fewest likeliest words whose probabilities reach the sum p."""
        if settings.top_p >= 1:
            return p
        ranked, words = p.sort(dim=-1, descending=self.falling, stable=True)
        total = ranked.cumsum(dim=-1)
        keep = self.lot(total - ranked, total, settings.top_p)
        return self.again(p * torch.zeros_like(keep).scatter(-1, words, keep))

    def again(self, p: Tensor) -> Tensor:
        """Divide the remaining probabilities by their sum."""
        return p / p.sum(dim=-1, keepdim=True) if self.summed else p


def right_left(logits: Tensor, settings: SamplingSettings) -> Tensor:
    """Return the correct distribution in float64."""
    return sampling_probabilities(logits.double(), settings)


def draw_logits(draw, *lead: int) -> Tensor:
    """Draw logits whose probabilities are neither all equal nor all on one word."""
    return 1.5 * draw.normal(*lead, N_WORDS)


def draw_settings(draw, logits: Tensor, low: float, **other: Any) -> SamplingSettings:
    """Choose a p above `low` that is not close to any sum of the likeliest words."""
    kept = right_left(logits, SamplingSettings(**other))
    sums = kept.sort(dim=-1, descending=True).values.cumsum(dim=-1)

    def distance(p: float) -> float:
        return float((sums - p).abs().min())

    choices = [low + 0.004 * step for step in range(25)]
    return SamplingSettings(**other, top_p=max(choices, key=distance))


CUTTINGS = {
    "the logits multiplied by the temperature": Cutting(lambda logits, t: logits * t),
    "a softmax without the temperature": Cutting(lambda logits, t: logits),
    "the temperature after the truncation": Cutting(late=True),
    "the likeliest words removed, the others kept": Cutting(falling=False),
    "one word more than k": Cutting(more=1),
    "one word fewer than k": Cutting(more=-1),
    "all words, regardless of k": Cutting(more=99),
    "a nucleus without the word that reaches p": Cutting(
        lot=lambda before, total, p: total <= p
    ),
    "a nucleus with one word too many": Cutting(
        lot=lambda before, total, p: (
            torch.cat([torch.ones_like(total[..., :1]), (before < p)[..., :-1]], dim=-1)
            > 0
        )
    ),
    "all words, regardless of p": Cutting(lot=lambda before, total, p: before < 2),
    "the words that are likelier than p": Cutting(
        lot=lambda before, total, p: total - before > p
    ),
    "the words that are likelier than 1 - p": Cutting(
        lot=lambda before, total, p: total - before > 1 - p
    ),
    "the words after the nucleus": Cutting(lot=lambda before, total, p: before >= p),
    "top_p of the probabilities before top_k, not after it": Cutting(p_first=True),
    "the remaining probabilities, not renormalised": Cutting(summed=False),
}


def sampling_mistakes(
    logits: Tensor, settings: SamplingSettings
) -> dict[str, Callable[[], Tensor]]:
    """Return wrong truncated distributions, keyed by the name of the mistake."""
    right = right_left(logits, settings)
    named: dict[str, Callable[[], Tensor]] = {
        ZEROS: lambda: torch.zeros_like(right),
        "equal probabilities": lambda: torch.full_like(right, 1 / right.size(-1)),
        "the words in the order of their probabilities, not of their ids": lambda: (
            right.sort(dim=-1, descending=True).values
        ),
        "logarithms instead of probabilities": lambda: right.log(),
        "the first row's truncation applied to every row": lambda: (
            (p := logits.double().softmax(-1) * (right[:1] > 0))
            / p.sum(-1, keepdim=True)
        ),
        "1 for each word that is kept": lambda: (right > 0).double(),
        "the nucleus in the order of the words' ids": lambda: by_number(
            logits, settings
        ),
        "only the likeliest word": lambda: right_left(logits, SamplingSettings(0)),
    }
    if settings.temperature != 1:
        named["probabilities divided by the temperature"] = lambda: (
            logits.double().softmax(-1) / settings.temperature
        )
    return {
        p: partial(cutting.left, logits, settings) for p, cutting in CUTTINGS.items()
    } | named


def by_number(logits: Tensor, settings: SamplingSettings) -> Tensor:
    """Return the distribution of a nucleus that adds words in the order of ids."""
    p = right_left(logits, replace(settings, top_p=1.0))
    p = p * (p.cumsum(dim=-1) - p < settings.top_p)
    return p / p.sum(dim=-1, keepdim=True)


def expect_left(
    student, logits: Tensor, settings: SamplingSettings, what: str, named: bool = True
) -> None:
    """Compare the student's distribution with the correct one."""
    got = student.sampling_probabilities(logits, settings_of(student, settings))
    mistakes = sampling_mistakes(logits, settings) if named else {}
    expect_close(got, right_left(logits, settings), what, sole(mistakes))


def settings_of(student, settings: SamplingSettings) -> Any:
    """Make the settings in the student's process."""
    return student.load(SAMPLING)(settings.temperature, settings.top_k, settings.top_p)


@check(
    "sampling-probabilities", share=1, title="One probability for each word", form=True
)
def test_sampling_shape(student, draw):
    logits, settings = draw_logits(draw, 3, 5), SamplingSettings(0.8, 5, 0.9)
    got = student.sampling_probabilities(logits, settings_of(student, settings))
    expect_shape(got, (3, 5, N_WORDS), "your distribution")


@check("sampling-probabilities", share=2, title="The temperature divides the logits")
def test_sampling_temperature(student, draw):
    for temperature in (0.6, 2.5):
        logits, settings = draw_logits(draw, N_ROWS), SamplingSettings(temperature)
        expect_left(
            student,
            logits,
            settings,
            Phrase("With T = {temperature}, the distribution", temperature),
        )
    what = "With T = 0.6 and logits in the hundreds, the distribution"
    with blame("a softmax by hand that overflows"):
        logits = 200 * draw_logits(draw, N_ROWS)
        expect_left(student, logits, SamplingSettings(0.6), what, named=False)
    with blame("a temperature that is limited from below"):
        logits, what = draw_logits(draw, N_ROWS), "With T = 0.04, the distribution"
        expect_left(student, logits, SamplingSettings(0.04), what, named=False)


@check("sampling-probabilities", share=2, title="top_k keeps the k likeliest")
def test_sampling_top_k(student, draw):
    for k in (4, 1):
        logits = draw_logits(draw, N_ROWS)
        expect_left(
            student,
            logits,
            SamplingSettings(top_k=k),
            Phrase("With k = {k}, the distribution", k),
        )


@check("sampling-probabilities", share=3, title="top_p keeps the nucleus")
def test_sampling_top_p(student, draw):
    logits = draw_logits(draw, N_ROWS)
    for low in (0.75, 0.4):
        settings = draw_settings(draw, logits, low)
        expect_left(
            student,
            logits,
            settings,
            Phrase("With p = {p}, the distribution", f"{settings.top_p:.3f}"),
        )
    expect_left(
        student,
        logits,
        SamplingSettings(top_p=0.001),
        "With p = 0.001, the distribution",
    )


@check("sampling-probabilities", share=2, title="First the temperature, then k, then p")
def test_sampling_order(student, draw):
    logits = draw_logits(draw, N_ROWS)
    for temperature, k, low in ((1.4, 5, 0.7), (1.6, 4, 0.9)):
        other = {"temperature": temperature, "top_k": k}
        settings = draw_settings(draw, logits, low, **other)
        what = Phrase(
            "With T = {temperature}, k = {k} and p = {p}, the distribution",
            temperature,
            k,
            f"{settings.top_p:.3f}",
        )
        expect_left(student, logits, settings, what)


@check(
    "sampling-probabilities",
    share=2,
    title="T = 0, k above V, p = 1, equally likely words",
)
def test_sampling_at_the_ends(student, draw):
    logits = draw_logits(draw, N_ROWS)
    usual = partial(
        expect_left, student, logits, SamplingSettings(0.8, 5), "the distribution"
    )
    equal = torch.tensor([[1.0, 2, 0, 2, 2, 1], [0, 0, 0, 0, 0, 0], [3, 1, 1, 1, 3, 1]])
    many = 1.5 * draw.normal(2, 90)
    unlikely = equal.masked_fill(equal == 0, -torch.inf)
    unlikely[1, 2] = 0.0
    first = "code that does not put the smaller id first if words are equally likely"
    for given, settings, phrase in (
        (logits, SamplingSettings(0), DIVIDES),
        (logits, SamplingSettings(0, 3, 0.5), DIVIDES),
        (logits, SamplingSettings(top_k=99), SMALL_K),
        (many, SamplingSettings(top_k=70), "code that works only for k up to 50"),
        (equal, SamplingSettings(top_k=2), first),
        (equal, SamplingSettings(top_p=0.4), first),
        (equal, SamplingSettings(0), first),
        (unlikely, SamplingSettings(0.5, 3, 0.9), "code that fails for -inf"),
    ):
        what = Phrase("With {settings}, the distribution", settings)
        with blame(phrase, usual):
            expect_left(student, given, settings, what, named=False)
    expect_no_cut(student, draw)


def expect_no_cut(student, draw) -> None:
    """Fail if p = 1 removes words that are too rare to change a sum close to 1."""
    logits = draw_logits(draw, N_ROWS)
    far = torch.cat([logits, logits - 40], dim=-1)
    got = student.sampling_probabilities(far, settings_of(student, SamplingSettings()))
    expect_close(
        got, right_left(far, SamplingSettings()), "With p = 1, the distribution"
    )
    if not bool((got > 0).all()):
        phrase = "rare words removed although p = 1"
        fail(
            "With p = 1, no word should be removed, but some rare "
            "words have probability 0.",
            phrase,
        )


@check("sampling-probabilities", share=1, title="Batches and vocabularies of any size")
def test_sampling_axes(student, draw):
    expect_every_vocabulary(student, draw)
    for lead in ((4,), (), (2, 3), (2, 1, 3)):
        logits = draw_logits(draw, *lead)
        usual = draw_logits(draw, 4)
        ordinary = partial(expect_left, student, usual, SamplingSettings(0.8, 5), "it")
        with blame("code that assumes one axis before the vocabulary axis", ordinary):
            for settings in (
                SamplingSettings(0.8),
                SamplingSettings(0),
                SamplingSettings(top_k=5),
                draw_settings(draw, logits, 0.7),
            ):
                what = Phrase(
                    "The distribution, with {n} leading axes before "
                    "the vocabulary axis",
                    len(lead),
                )
                warm = partial(
                    expect_left, student, logits, SamplingSettings(0.8), what
                )
                with (
                    blame(DIVIDES, warm) if not settings.temperature else nullcontext()
                ):
                    expect_left(student, logits, settings, what, named=False)


def expect_every_vocabulary(student, draw) -> None:
    """Fail unless the distribution is right for every number of rows and words."""
    usual = partial(
        expect_left, student, draw_logits(draw, 4), SamplingSettings(0.8, 5), "it"
    )
    quiet = student.load("torch.no_grad")()(student.sampling_probabilities)
    for n in orders_of(("n", "n_words")).values():
        words = n["n_words"]
        logits = 1.5 * draw.normal(words, n["n"]).mT
        for others in (
            {},
            {"temperature": 0.3, "top_k": min(2, words)},
            {"temperature": 12.0},
            {"top_k": words},
            {"temperature": 2.0, "top_k": max(1, words - 1)},
        ):
            for low in (None, 0.02, 0.88):
                settings = SamplingSettings(**others)
                if low is not None:
                    settings = draw_settings(draw, logits, low, **others)
                what = Phrase("With {settings}, the distribution", settings)
                with blame(SOME_SIZES, usual):
                    got = quiet(logits, settings_of(student, settings))
                    expect_close(got, right_left(logits, settings), what)


@check(
    "sampling-probabilities",
    share=1,
    title="Calls are independent; float64 is exact to all digits",
)
def test_sampling_of_each_call(student, draw):
    settings = SamplingSettings(0.8, 5)
    own = settings_of(student, settings)
    calls = [(draw_logits(draw, 6), own) for _ in range(3)]

    def right(logits: Tensor, _: Any) -> Tensor:
        return right_left(logits, settings)

    expect_each_call_anew(
        student, student.sampling_probabilities, calls, right, "the distribution"
    )
    expect_double(student.sampling_probabilities, right, calls[0], "the distribution")


@check(
    "sampling-probabilities",
    share=1,
    title="The logits and their device stay the same",
    form=True,
)
def test_sampling_leaves_no_traces(student, draw):
    for settings in (SamplingSettings(0.8, 5, 0.9), SamplingSettings(0)):
        given = draw_logits(draw, 6), settings_of(student, settings)
        function = student.sampling_probabilities
        expect_no_traces(student, function, *given, still=True)
        expect_same_device(student, function, *given, what="your distribution")

"""Hidden checks of unit 01: shifting, a GRU, scores, attention, a Bi-LSTM."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from autograder.checking.behaviour import (
    blame,
    blame_error,
    expect_dtype,
    expect_gradients,
    expect_parts,
)
from autograder.checking.compare import last_place
from autograder.checking.expect import (
    check,
    expect_close,
    expect_equal,
    expect_shape,
    fail,
)
from autograder.checking.generic_checks import (
    ZEROS,
    expect_each_call_anew,
    expect_no_traces,
    expect_same_device,
)
from autograder.checking.kinds_of_inputs import expect_double, rows_far_apart
from autograder.checking.varied_inputs import (
    SOME_SIZES,
    Varied,
    expect_every_size,
    orders_of,
    varied_inputs,
)
from autograder.phrases import Phrase
from transformer.recurrent import attention as reference
from transformer.recurrent.cell import gru_step
from transformer.recurrent.seq2seq import run_packed

B, S, H, M, A, D = 4, 7, 5, 3, 6, 2
LENGTHS = (4, 7, 1, 3)  # not sorted
PAD = 6  # no usual id, so that a model must use the given pad_id
AGAIN = 6  # only this check uses a batch of this size
EOS = 3
SPECIALS = (0, 1, 2, EOS)  # ordinary words in a model whose padding is PAD
WORDS, CLASSES, WIDTH, HIDDEN = 23, 3, 8, 5
BUILT_INS = [
    "torch.nn.functional.scaled_dot_product_attention",
    "torch.nn.MultiheadAttention",
]
CELLS = ["torch.nn.GRUCell", "torch.nn.GRU"]
OTHERS_PAD = "weights that use the padding of another model"
NOT_CONTIGUOUS = "`view` on a tensor that is not contiguous; `reshape` can copy"
SQUEEZED = "`squeeze` without an axis, which also removes the axis of a batch of 1"
INVERTED = "a classifier with an inverted mask (True means: may be attended to)"
Named = dict[str, Callable[[], Any]]


# --- shift_right ------------------------------------------------------------------


def shift_mistakes(tgt: Tensor, sos_id: int) -> Named:
    """Return wrong shifted targets, keyed by the name of the mistake."""
    start = torch.full_like(tgt[:, :1], sos_id)
    return {
        "the target, not shifted at all": lambda: tgt,
        "the target shifted left: the decoder reads the word after the one that it "
        "must predict": lambda: torch.cat([tgt[:, 1:], start], dim=1),
        "the target with its first word replaced, not shifted": lambda: torch.cat(
            [start, tgt[:, 1:]], dim=1
        ),
        "the start token and the whole target, which is one token too long": (
            lambda: torch.cat([start, tgt], dim=1)
        ),
        "the target without its last word and without a start token": lambda: tgt[
            :, :-1
        ],
        "the target rotated by one, with its last word first": lambda: tgt.roll(1, 1),
        "the target shifted along the batch": lambda: torch.cat(
            [torch.full_like(tgt[:1], sos_id), tgt[:-1]]
        ),
        "the shifted target in reverse order": lambda: torch.cat(
            [start, tgt[:, :-1]], dim=1
        ).flip(1),
        "a start token that is always 2, whatever sos_id says": lambda: torch.cat(
            [torch.full_like(start, 2), tgt[:, :-1]], dim=1
        ),
        "a start token that is always 0, whatever sos_id says": lambda: torch.cat(
            [torch.zeros_like(start), tgt[:, :-1]], dim=1
        ),
        "the start token at every position": lambda: torch.full_like(tgt, sos_id),
        "the shifted target without the `<eos>` of short sentences": lambda: torch.cat(
            [start, tgt[:, :-1].masked_fill(tgt[:, :-1] == EOS, 1)], dim=1
        ),
        "the shifted target cast to float16, which cannot hold large ids": lambda: (
            reference.shift_right(tgt, sos_id).half().long()
        ),
        "the shifted target cast to float32, which cannot hold ids above 2²⁴": lambda: (
            reference.shift_right(tgt, sos_id).float().long()
        ),
        ZEROS: lambda: torch.zeros_like(tgt),
    }


def targets(draw, b: int = B) -> Tensor:
    """Draw any ids, with special tokens at, before and after the end."""
    tgt = draw.ids(b, S, low=100, high=2**40)
    tgt[0, -1], tgt[1, 2], tgt[2, 1], tgt[2, 2:] = EOS, 0, EOS, 1
    return tgt


@check("shift-right", share=1, title="As many words as before: (b, t)", form=True)
def test_shift_shape(student, draw):
    expect_shape(student.shift_right(draw.ids(B, S), 2), (B, S), "the shifted target")


@check("shift-right", share=3, title="Each position gets the word before")
def test_shift_values(student, draw):
    tgt, sos_id = targets(draw), draw.integer(60, 90)
    want = reference.shift_right(tgt, sos_id)
    got = student.shift_right(tgt, sos_id)
    expect_equal(got, want, "the shifted target", shift_mistakes(tgt, sos_id))


@check("shift-right", share=1, title="Any sizes; a transposed tensor")
def test_shift_of_little(student, draw):
    many = draw.ids(B, S)

    def ordinary() -> None:
        expect_equal(student.shift_right(many, 2), reference.shift_right(many, 2), "")

    with blame("code that needs more than one word or sentence", ordinary):
        got = student.shift_right(draw.ids(1, 1), 2)
        expect_equal(got, torch.tensor([[2]]), "the shifted target of one word")
    tgt = draw.ids(S, B).T
    with blame(NOT_CONTIGUOUS, ordinary):
        got = student.shift_right(tgt, 2)
    expect_equal(got, reference.shift_right(tgt, 2), "the shifted target")
    for number, n in enumerate(orders_of(("b", "s")).values()):
        some = draw.ids(n["b"], n["s"], low=0, high=9)
        with blame(SOME_SIZES, ordinary):
            got = student.shift_right(some, number)
            want = reference.shift_right(some, number)
            expect_equal(got, want, "the shifted target")


@check("shift-right", share=1, title="Calls are independent, on the target's device")
def test_shift_again(student, draw):
    calls = [(targets(draw, AGAIN), draw.integer(60, 90)) for _ in range(2)]
    function, what = student.shift_right, "the shifted target"
    expect_each_call_anew(student, function, calls, reference.shift_right, what)
    expect_same_device(student, function, *calls[0], what=what)


@check(
    "shift-right",
    share=1,
    title="Ids stay int64, and the target stays as it was",
    form=True,
)
def test_shift_keeps_its_promises(student, draw):
    got = expect_no_traces(student, student.shift_right, targets(draw), 2, still=True)
    expect_shape(got, (B, S), "the shifted target")
    expect_dtype(got, torch.int64, "the shifted target")


# --- gru_step ---------------------------------------------------------------------


def step_inputs(draw, b: int = B) -> list[Tensor]:
    """Draw x, a state, W, U and two biases, with sizes that all differ."""
    shapes = [(b, M), (b, H), (3 * H, M), (3 * H, H), (3 * H,), (3 * H,)]
    return [draw.normal(*shape) for shape in shapes]


def step_of(given: Sequence[Tensor]) -> Tensor:
    """Compute the right new state in float64."""
    return gru_step(*(x.double() for x in given))


@dataclass(frozen=True)
class Step:
    """A way to compute the new state, which is correct by default.

    Attributes:
        given: x, state, W, U, b and b', in float64.
        order: the positions of the blocks of rows of the reset gate, the update gate
            and the proposal.
        gate: the activation of a gate.
        squash: the activation of the proposal.
        reset: a function of the reset gate, whose result the proposal adds to the part
            of x; None = the gate times U h + b'.
        interleaved: whether the rows of the three parts alternate.
    """

    given: Sequence[Tensor]
    order: Sequence[int] = (0, 1, 2)
    gate: Callable[[Tensor], Tensor] = torch.sigmoid
    squash: Callable[[Tensor], Tensor] = torch.tanh
    reset: Callable[[Tensor, "Step"], Tensor] | None = None
    interleaved: bool = False

    def blocks(self, of: Tensor) -> list[Tensor]:
        """Return the blocks of the reset gate, the update gate and the proposal."""
        parts = of.unflatten(-1, (-1, 3)).unbind(-1)
        parts = parts if self.interleaved else of.chunk(3, dim=-1)
        return [parts[n] for n in self.order]

    def parts(self) -> tuple[Tensor, Tensor, Tensor]:
        """Return the update gate, the proposal and the old state."""
        x, state, w_x, w_state, b_x, b_state = self.given
        from_x = self.blocks(x @ w_x.T + b_x)
        from_state = self.blocks(state @ w_state.T + b_state)
        reset, update = (
            self.gate(a + b) for a, b in zip(from_x[:2], from_state[:2], strict=True)
        )
        seen = self.reset(reset, self) if self.reset else reset * from_state[2]
        return update, self.squash(from_x[2] + seen), state

    def new_state(self) -> Tensor:
        """Return the new state h_j."""
        update, proposal, state = self.parts()
        return update * state + (1 - update) * proposal


def with_zeros(given: Sequence[Tensor], *places: int) -> Step:
    """Return the right step for arguments of which some are replaced by 0."""
    return Step([0 * x if n in places else x for n, x in enumerate(given)])


def gates_without(given: Sequence[Tensor], *places: int) -> Step:
    """Return the right step, with some weights of both gates replaced by 0."""
    of_gates = torch.arange(2 * H)
    cut = [
        x.index_fill(0, of_gates, 0) if n in places else x for n, x in enumerate(given)
    ]
    return Step(cut)


def reset_first(reset: Tensor, step: Step) -> Tensor:
    """Multiply the state by the reset gate before U, as the paper does."""
    _, state, _, w_state, _, b_state = step.given
    return (reset * state) @ step.blocks(w_state.T)[2] + step.blocks(b_state)[2]


def bias_outside(reset: Tensor, step: Step) -> Tensor:
    """Add b' after the product with the reset gate."""
    _, state, _, w_state, _, b_state = step.given
    return reset * (state @ step.blocks(w_state.T)[2]) + step.blocks(b_state)[2]


def no_reset(reset: Tensor, step: Step) -> Tensor:
    """Compute the proposal from the old state without the reset gate."""
    return step.blocks(step.given[1] @ step.given[3].T + step.given[5])[2]


def reset_of_both(reset: Tensor, step: Step) -> Tensor:
    """Multiply the whole sum by the reset gate, including the part of x."""
    x, _, w_x, _, b_x, _ = step.given
    from_x = step.blocks(x @ w_x.T + b_x)[2]
    return reset * (from_x + no_reset(reset, step)) - from_x


def other_steps(given: Sequence[Tensor]) -> dict[str, Step]:
    """Return wrong ways to compute the gates and the proposal, keyed by name."""
    return {
        "the new state with the reset gate before U, as the paper has it": Step(
            given, reset=reset_first
        ),
        "the new state with b' added outside the product with the reset gate": Step(
            given, reset=bias_outside
        ),
        "the new state without the reset gate": Step(given, reset=no_reset),
        "the new state with a reset gate that also multiplies W x": Step(
            given, reset=reset_of_both
        ),
        "the new state with the update gate's rows first": Step(given, order=(1, 0, 2)),
        "the new state with the proposal's rows first": Step(given, order=(1, 2, 0)),
        "the new state with the three parts interleaved, row by row": Step(
            given, interleaved=True
        ),
        "the new state with a sigmoid instead of the proposal's tanh": Step(
            given, squash=torch.sigmoid
        ),
        "the new state with a tanh instead of the gates' sigmoid": Step(
            given, gate=torch.tanh
        ),
        "the new state without the tanh": Step(given, squash=lambda a: a),
        "the new state without the biases": with_zeros(given, 4, 5),
        "the new state without b_state": with_zeros(given, 5),
        "the new state without b_x": with_zeros(given, 4),
        "the new state without x": with_zeros(given, 0, 4),
        "the new state with gates that do not use the old state": gates_without(
            given, 3, 5
        ),
        "the new state with gates that do not use x": gates_without(given, 2, 4),
    }


def step_mistakes(raw: Sequence[Tensor]) -> Named:
    """Return wrong new states, keyed by the name of the mistake."""
    given = [x.double() for x in raw]
    update, proposal, state = Step(given).parts()
    kept, new = update * state, (1 - update) * proposal
    one_state = [given[0], state[:1].expand_as(state), *given[2:]]
    return {
        **{phrase: way.new_state for phrase, way in other_steps(given).items()},
        "the new state with z and 1 - z exchanged": lambda: (
            (1 - update) * state + update * proposal
        ),
        "only the proposal, without the update gate": lambda: proposal,
        "the old state": lambda: state,
        "only the old state's share": lambda: kept,
        "only the proposal's share": lambda: new,
        "z times the old state, plus the whole proposal": lambda: kept + proposal,
        "the sum of the old state and the proposal's share": lambda: state + new,
        "the first sentence's new state for every sentence": lambda: (kept + new)[
            :1
        ].expand_as(state),
        "the new state with the first sentence's old state in every sentence": lambda: (
            step_of(one_state)
        ),
        "the new state after a second tanh": lambda: (kept + new).tanh(),
        ZEROS: lambda: torch.zeros_like(state),
    }


@check(
    "gru-step", share=1, title="One new state for each sentence: (b, d_h)", form=True
)
def test_step_shape(student, draw):
    expect_shape(student.gru_step(*step_inputs(draw)), (B, H), "the new state")


@check("gru-step", share=4, title="The new state has the right values")
def test_step_values(student, draw):
    given = step_inputs(draw)
    got, named = student.gru_step(*given), step_mistakes(given)
    expect_close(got, step_of(given), "the new state", mistakes=named)


@check("gru-step", share=1, title="Any sizes, and a batch of one sentence")
def test_step_of_one(student, draw):
    usual, one = step_inputs(draw), step_inputs(draw, b=1)

    def ordinary() -> None:
        expect_close(student.gru_step(*usual), step_of(usual), "")

    with blame(SQUEEZED, ordinary):
        got = student.gru_step(*one)
        what = "the new state for a batch of 1"
        expect_close(got, step_of(one), what, step_mistakes(one))
    shapes = ["b,d", "b,d_h", "d_h,d", "d_h,d_h", "d_h", "d_h"]
    expect_every_size(
        student,
        student.gru_step,
        gru_step,
        [in_three_blocks(case) for case in varied_inputs(draw, shapes, large=2.0)],
        "the new state",
        tolerance=1e-4,
    )


def in_three_blocks(case: Varied) -> Varied:
    """Make weights and biases three blocks high."""
    x, state, *weights = (one.contiguous() for one in case.inputs)
    high = [torch.cat([w, w.roll(1, -1) / 2, -w]) for w in weights]
    return replace(case, inputs=[x, state, *high])


@check("gru-step", share=1, title="Large numbers; calls are independent")
def test_step_again(student, draw):
    first, second = step_inputs(draw, AGAIN), step_inputs(draw, AGAIN)
    kept = {
        "the new state with the old state from an earlier call": lambda: step_of(
            [second[0], first[1], *second[2:]]
        )
    }
    expect_each_call_anew(
        student,
        student.gru_step,
        [tuple(first), tuple(second)],
        lambda *given: step_of(given),
        "the new state",
        mistakes=kept,
    )
    in_turn = 2 * (torch.arange(3 * H) % 2) - 1
    large = [*first[:4], 1000.0 * in_turn, first[5]]
    with blame("a sigmoid or tanh by hand that overflows; those of torch do not"):
        got = student.gru_step(*large)
        expect_close(got, step_of(large), "the new state for large biases")
    expect_step_from_zero(student, first)


def expect_step_from_zero(student, given: Sequence[Tensor]) -> None:
    """Fail if a step from a state of zeros is wrong."""
    start = [given[0], torch.zeros_like(given[1]), *given[2:]]
    named = {
        "the whole proposal if the old state is 0: the update gate must act there "
        "too": Step([x.double() for x in start]).parts()[1]
    }
    got, what = student.gru_step(*start), "the new state after a state of zeros"
    expect_close(got, step_of(start), what, named)


@check("gru-step", share=1, title="Float64; tensors that are not contiguous")
def test_step_of_views(student, draw):
    given = step_inputs(draw)
    turned = [x.T.contiguous().T if x.dim() == 2 else x for x in given]
    with blame(NOT_CONTIGUOUS, lambda: student.gru_step(*given)):
        got = student.gru_step(*turned)
    expect_close(got, step_of(given), "the new state", mistakes=step_mistakes(given))
    expect_double(student.gru_step, gru_step, given, "the new state")


@check(
    "gru-step",
    share=1,
    title="Written by you; gradients reach all six inputs",
    bans=("gru_step", CELLS),
)
def test_step_gradients(student, draw):
    given, upstream = step_inputs(draw), draw.normal(B, H)
    function = student.gru_step
    function(*given)
    got = expect_no_traces(student, function, *given, still=True)
    expect_shape(got, (B, H), "the new state")
    run = student.gradients(function, *given, upstream=upstream)
    leaves = [x.double().requires_grad_() for x in given]
    update, proposal, state = Step(leaves).parts()
    past = (update * state.detach() + (1 - update) * proposal) * upstream.double()
    (cut,) = torch.autograd.grad(past.sum(), leaves[1])
    named = {"a gradient that flows only through the gates and the proposal": cut}
    expect_gradients(run, gru_step, given, upstream, [{}, named])
    expect_same_device(student, function, *given, what="the new state")


# --- additive_score ---------------------------------------------------------------


def score_inputs(draw, b: int = B, dtype: torch.dtype = torch.float32) -> list[Tensor]:
    """Draw a state, a memory, W, U and v, with sizes that all differ."""
    shapes = [(b, H), (b, S, M), (A, H), (A, M), (A,)]
    return [draw.normal(*shape, dtype=dtype) for shape in shapes]


def score_mistakes(given: list[Tensor]) -> Named:
    """Return wrong scores, keyed by the name of the mistake."""
    state, memory, w_state, w_memory, v = (x.double() for x in given)
    query, keys = (state @ w_state.T)[:, None], memory @ w_memory.T
    both = query + keys
    right = both.tanh() @ v
    return {
        "the scores without the tanh": lambda: both @ v,
        "the scores with the tanh after v instead of before": lambda: (both @ v).tanh(),
        "the scores with a sigmoid instead of the tanh": lambda: both.sigmoid() @ v,
        "the scores with a ReLU instead of the tanh": lambda: both.relu() @ v,
        "the scores without the state": lambda: keys.tanh() @ v,
        "the scores without the memory": lambda: (query + 0 * keys).tanh() @ v,
        "the scores with W g times U h instead of their sum": lambda: (
            (query * keys).tanh() @ v
        ),
        "the scores with W g minus U h instead of their sum": lambda: (
            (query - keys).tanh() @ v
        ),
        "the scores with one tanh for each term": lambda: (
            (query.tanh() + keys.tanh()) @ v
        ),
        "the scores without v: the sum of the hidden units": (
            lambda: both.tanh().sum(-1)
        ),
        "the scores without v: the mean of the hidden units": (
            lambda: both.tanh().mean(-1)
        ),
        "the dot products of W g and U h": lambda: (query * keys).sum(-1),
        "the scores after a softmax, which belongs to attend": lambda: right.softmax(
            dim=-1
        ),
        "the scores divided by the square root of a width": lambda: right / A**0.5,
        "the scores with the first sentence's state for every sentence": lambda: (
            (query[:1] + keys).tanh() @ v
        ),
        "the scores with states assigned to the wrong sentences (`repeat`, then "
        "`view`)": lambda: (
            ((state @ w_state.T).repeat(S, 1).view(len(state), S, -1) + keys).tanh() @ v
        ),
        ZEROS: lambda: torch.zeros_like(right),
        "the scores summed over the source positions": lambda: right.sum(dim=1),
        "the scores with a last axis of length 1": lambda: right[..., None],
    }


def score_of(given: list[Tensor]) -> Tensor:
    """Compute the right scores in float64."""
    return reference.additive_score(*(x.double() for x in given))


@check(
    "additive-score",
    share=1,
    title="One score for each source position: (b, s)",
    form=True,
)
def test_score_shape(student, draw):
    expect_shape(student.additive_score(*score_inputs(draw)), (B, S), "the result")


@check("additive-score", share=4, title="Scores have the right values")
def test_score_values(student, draw):
    given = score_inputs(draw)
    got = student.additive_score(*given)
    expect_close(got, score_of(given), "the result", mistakes=score_mistakes(given))


@check(
    "additive-score",
    share=1,
    title="Any sizes, and a single sentence",
)
def test_score_of_other_sizes(student, draw):
    usual = score_inputs(draw)

    def ordinary() -> None:
        expect_close(student.additive_score(*usual), score_of(usual), "")

    square = score_inputs(draw, S)
    state, memory, w_state, w_memory, v = (x.double() for x in square)
    across = {
        "the scores with the states added along the source positions": (
            (state @ w_state.T + memory @ w_memory.T).tanh() @ v
        )
    }
    got, want = student.additive_score(*square), score_of(square)
    expect_close(got, want, Phrase("the result for a batch of {size}", S), across)
    one = score_inputs(draw, 1)
    with blame(SQUEEZED, ordinary):
        got = student.additive_score(*one)
        expect_close(got, score_of(one), "the result for a batch of 1")
    expect_every_size(
        student,
        student.additive_score,
        reference.additive_score,
        [
            replace(case, inputs=[one.contiguous() for one in case.inputs])
            for case in varied_inputs(
                draw, ["b,d_h", "b,s,m", "a,d_h", "a,m", "a"], large=9.0
            )
        ],
        "the result",
        tolerance=1e-4,
    )


@check("additive-score", share=1, title="Float64, and a memory that is not contiguous")
def test_score_of_views(student, draw):
    given = score_inputs(draw, dtype=torch.float64)
    plain = list(given)
    given[1] = draw.normal(S, B, M, dtype=torch.float64).transpose(0, 1)
    with blame(NOT_CONTIGUOUS, lambda: student.additive_score(*plain)):
        got = student.additive_score(*given)
    expect_close(got, score_of(given), "the result", mistakes=score_mistakes(given))
    function = student.additive_score
    expect_double(function, reference.additive_score, given, "the result")


@check("additive-score", share=1, title="States of any size; calls are independent")
def test_score_again(student, draw):
    first, second = score_inputs(draw, AGAIN), score_inputs(draw, AGAIN)
    mixed = {
        "the scores with the memory from an earlier call": lambda: score_of(
            [second[0], first[1], *second[2:]]
        ),
        "the scores with the state from an earlier call": lambda: score_of(
            [first[0], *second[1:]]
        ),
    }
    expect_each_call_anew(
        student,
        student.additive_score,
        [tuple(first), tuple(second)],
        lambda *given: score_of(list(given)),
        "the result",
        mistakes=mixed,
    )
    large = [1000 * first[0], *first[1:]]
    with blame("a tanh by hand that overflows; `torch.tanh` does not"):
        got, want = student.additive_score(*large), score_of(large)
        # If terms of size 1000 cancel each other, float32 leaves errors of about 1e-4.
        expect_close(got, want, "the result for large states", tolerance=2e-3)


@check(
    "additive-score", share=1, title="Gradients reach all five inputs; no input changes"
)
def test_score_gradients(student, draw):
    given, upstream = score_inputs(draw), draw.normal(B, S)
    function = student.additive_score
    got = expect_no_traces(student, function, *given, still=True)
    expect_shape(got, (B, S), "the result")
    run = student.gradients(function, *given, upstream=upstream)
    expect_gradients(run, reference.additive_score, given, upstream)
    expect_same_device(student, function, *given, what="the result")


# --- attend -----------------------------------------------------------------------


def attend_inputs(draw, b: int = B) -> tuple[Tensor, Tensor]:
    """Draw scores and values of different sizes."""
    return draw.normal(b, S), draw.normal(b, S, D)


def wrong_masks(x: Tensor, hidden: Tensor) -> Named:
    """Return weights with a wrong mask, keyed by name; `x` holds the scores."""
    return {
        "the result when the mask is ignored": lambda: x.softmax(dim=-1),
        "the result of an inverted mask (True means: may be attended to)": lambda: (
            x.masked_fill(~hidden, -1e30).softmax(dim=-1)
        ),
        "the result of masking after the softmax without dividing by the new sum": (
            lambda: x.softmax(dim=-1).masked_fill(hidden, 0)
        ),
    }


def weight_mistakes(scores: Tensor, mask: Tensor | None) -> Named:
    """Return wrong weights for right scores, keyed by the name of the mistake."""
    x = scores.double()
    hidden = torch.zeros_like(x, dtype=torch.bool) if mask is None else ~mask
    low = x.masked_fill(hidden, -1e30)
    right = low.softmax(dim=-1)
    return {
        "the result of a softmax over the batch instead of the source": lambda: (
            low.softmax(dim=0)
        ),
        "the result of one softmax over all sentences together": lambda: (
            low.flatten().softmax(0).view_as(x)
        ),
        **wrong_masks(x, hidden),
        "the result when masked scores become 0 (a score of 0 still gets weight)": (
            lambda: x.masked_fill(hidden, 0).softmax(dim=-1)
        ),
        "the result when masked scores become -1 (they still get weight)": lambda: (
            x.masked_fill(hidden, -1).softmax(dim=-1)
        ),
        "the result with the first sentence's mask for every sentence": lambda: (
            x.masked_fill(hidden[:1], -1e30).softmax(dim=-1)
        ),
        ZEROS: lambda: torch.zeros_like(x),
        "the scores, not the weights": lambda: x,
        "the logarithm of the weights (log-softmax)": lambda: right.log(),
        "the result of scores divided by the square root of the width": lambda: (
            low / D**0.5
        ).softmax(dim=-1),
        "equal weights for all positions that may be attended to": lambda: (
            (~hidden).double() / (~hidden).sum(-1, keepdim=True)
        ),
        "weights of 1 at the highest score (argmax) and 0 elsewhere": lambda: (
            nn.functional.one_hot(low.argmax(-1), S).double()
        ),
    }


def context_mistakes(scores: Tensor, values: Tensor, mask: Tensor | None) -> Named:
    """Return wrong contexts, keyed by the name of the mistake."""
    v = values.double()
    right = reference.attend(scores.double(), v, mask)[1]
    named = {
        phrase: lambda wrong=wrong: (wrong()[:, None] @ v)[:, 0]
        for phrase, wrong in weight_mistakes(scores, mask).items()
    }
    return {
        "the sum of the values, without the weights": lambda: v.sum(1),
        "the mean of the values, without the weights": lambda: v.mean(1),
        "the mean of the weighted values instead of their sum": lambda: (
            right[..., None] * v
        ).mean(1),
        "the weighted values, not summed": lambda: right[..., None] * v,
        "the context with an extra axis of length 1": lambda: right[:, None] @ v,
        **named,
    }


def run_attend(student, *args) -> tuple[Tensor, Tensor]:
    """Call the student's function, and fail unless it returns a pair."""
    result = student.attend(*args)
    what = "two things, the context and the weights"
    context, weights = expect_parts(result, 2, what)
    return context, weights


def expect_order(context: Any, weights: Any) -> None:
    """Fail if the function returns the weights before the context."""
    shapes = [getattr(x, "shape", None) for x in (context, weights)]
    if shapes == [(B, S), (B, D)]:
        fail(
            "You return the weights first and the context second: swap the two.",
            mistake="the results in the opposite order",
        )


@check("attend", share=1, title="Context (b, d) and weights (b, s)", form=True)
def test_attend_shapes(student, draw):
    context, weights = run_attend(student, *attend_inputs(draw))
    expect_order(context, weights)
    expect_shape(context, (B, D), "the context")
    expect_shape(weights, (B, S), "the tensor of weights")


@check("attend", share=2, title="Right context and weights without a mask")
def test_attend_without_mask(student, draw):
    (scores, values), mask = attend_inputs(draw), draw.mask(B, S)

    def with_mask() -> None:
        want = reference.attend(scores.double(), values.double(), mask)[0]
        expect_close(run_attend(student, scores, values, mask)[0], want, "")

    needed = "code that fails without a mask, although the mask is optional"
    with blame(needed, with_mask):
        context, weights = run_attend(student, scores, values)
    want = reference.attend(scores.double(), values.double())
    named = context_mistakes(scores, values, None)
    expect_close(context, want[0], "the context", mistakes=named)
    named = weight_mistakes(scores, None)
    expect_close(weights, want[1], "the tensor of weights", mistakes=named)


@check("attend", share=3, title="Right context and weights with a mask")
def test_attend_with_mask(student, draw):
    (scores, values), mask = attend_inputs(draw), draw.mask(B, S)
    context, weights = run_attend(student, scores, values, mask)
    want = reference.attend(scores.double(), values.double(), mask)
    named = weight_mistakes(scores, mask)
    expect_close(weights, want[1], "the tensor of weights", mistakes=named)
    if weights[~mask].any():
        fail(
            "Masked positions should get a weight of exactly 0, but some of them do "
            "not.",
            mistake="weights that are nearly 0, not 0, where the mask is False",
        )
    named = context_mistakes(scores, values, mask)
    expect_close(context, want[0], "the context", mistakes=named)


@check("attend", share=1, title="Zeros for a sentence with nothing to attend to")
def test_attend_to_nothing(student, draw):
    (scores, values), mask = attend_inputs(draw), draw.mask(B, S)
    mask[1] = False
    context, weights = run_attend(student, scores, values, mask)
    expect_shape(weights, (B, S), "the tensor of weights")
    if weights[1].isnan().any():
        fail(
            "The weights of a sentence with nothing to attend to are NaN: the softmax "
            "of a row of -inf divides 0 by 0. They should be 0.",
            mistake="NaN where there is nothing to attend to",
        )
    if torch.allclose(weights[1].double(), torch.full((S,), 1 / S).double(), atol=1e-5):
        fail(
            "The weights of a sentence with nothing to attend to are 1/s each: it "
            "attends to everything that is masked. They should be 0.",
            mistake="equal weights where there is nothing to attend to",
        )
    want = reference.attend(scores.double(), values.double(), mask)
    beside = "in a batch with a sentence that has nothing to attend to"
    expect_close(weights, want[1], Phrase("the tensor of weights {beside}", beside))
    expect_close(context, want[0], Phrase("the context {beside}", beside))


@check("attend", share=1, title="Any sizes, and scores far above or below 0")
def test_attend_with_large_scores(student, draw):
    (scores, values), mask = attend_inputs(draw), draw.mask(B, S)

    def ordinary() -> None:
        want = reference.attend(scores.double(), values.double(), mask)[1]
        expect_close(run_attend(student, scores, values, mask)[1], want, "")

    for shift, words in (
        (
            20_000,
            "an exponential that overflows; `softmax` first subtracts the largest "
            "score",
        ),
        (
            -20_000,
            "masked scores that are not low enough when other scores are very low",
        ),
        (
            None,
            "the largest score of the batch subtracted, not the largest of each "
            "sentence",
        ),
    ):
        large = rows_far_apart(draw, B, S) if shift is None else scores + shift
        with blame(words, ordinary):
            context, weights = run_attend(student, large, values, mask)
            want = reference.attend(large.double(), values.double(), mask)
            last = last_place(large)
            what = "the tensor of weights for large scores"
            expect_close(weights, want[1], what, tolerance=last)
            what = "the context for large scores"
            expect_close(context, want[0], what, tolerance=4 * last)
    for part, what in enumerate(("the context", "the tensor of weights")):
        expect_every_size(
            student,
            student.attend,
            lambda *given, part=part: reference.attend(*given)[part],
            [
                case
                for case in varied_inputs(draw, ["b,s", "b,s,d"], ["b,s"], large=9.0)
                if case.case != "ones"  # another check has a batch of one
            ],
            what,
            part=part,
        )


@check("attend", share=1, title="Calls are independent, on the scores' device")
def test_attend_again(student, draw):
    calls = [(*attend_inputs(draw, AGAIN), draw.mask(AGAIN, S)) for _ in range(2)]

    def right(scores: Tensor, values: Tensor, mask: Tensor, part: int) -> Tensor:
        return reference.attend(scores.double(), values.double(), mask)[part]

    for part, what in enumerate(("the context", "the tensor of weights")):
        with_first = right(*calls[1][:2], calls[0][2], part)
        expect_each_call_anew(
            student,
            student.attend,
            calls,
            partial(right, part=part),
            what,
            part=part,
            mistakes={"the result with the mask from an earlier call": with_first},
        )
    expect_same_device(student, student.attend, *calls[0], what="a result")


@check("attend", share=1, title="Gradients reach scores and values, none of them NaN")
def test_attend_gradients(student, draw):
    (scores, values), mask = attend_inputs(draw), draw.mask(B, S)
    mask[1] = False
    upstream = draw.normal(B, D)
    run = student.gradients(student.attend, scores, values, mask, upstream=upstream)
    if run.inputs[0] is not None and run.inputs[0].isnan().any():
        fail(
            "The gradient of the scores holds NaN: the softmax of a row of only -inf "
            "has a NaN gradient, even if you replace its weights afterwards.",
            mistake="NaN in the gradient",
        )
    expect_gradients(
        run,
        lambda scores, values: reference.attend(scores, values, mask)[0],
        [scores, values],
        upstream,
    )


@check(
    "attend",
    share=1,
    title="Written by you; float64, batch of 1, inputs unchanged",
    bans=("attend", BUILT_INS),
)
def test_attend_keeps_its_promises(student, draw):
    (scores, values), mask = attend_inputs(draw), draw.mask(B, S)
    run_attend(student, scores, values)
    run_attend(student, scores, values, mask)
    expect_no_traces(student, student.attend, scores, values, mask, still=True)
    one = [scores[:1].double(), values[:1].double(), mask[:1]]
    pair = [scores.double(), values.double(), mask]
    with blame(
        SQUEEZED, lambda: expect_shape(run_attend(student, *pair)[0], (B, D), "")
    ):
        context, _ = run_attend(student, *one)
        expect_shape(context, (1, D), "the context of one sentence")
    expect_close(context, reference.attend(*one)[0], "the context of one sentence")
    for part, what in enumerate(("the context", "the tensor of weights")):
        expect_double(
            lambda *given, part=part: run_attend(student, *given)[part],
            lambda *given, part=part: reference.attend(*given)[part],
            pair,
            what,
        )


# --- concat_final_states ----------------------------------------------------------


def state_mistakes(h_n: Tensor) -> Named:
    """Return wrong joined states, keyed by the name of the mistake."""
    x = h_n.double()
    h, b = x.size(2), x.size(1)
    ahead, back = x[-2], x[-1]
    return {
        "the result of `view` or `reshape`, which mixes the sentences of the batch": (
            lambda: x[-2:].reshape(-1, 2 * h)
        ),
        "the result of `view` over all layers, which mixes the sentences": lambda: (
            x.reshape(-1, 2 * h)
        ),
        "the result of a `view` to (b, …), which mixes the sentences": lambda: (
            x.reshape(b, -1)
        ),
        "the backward state first": lambda: torch.cat([back, ahead], -1),
        "the sum of both directions": lambda: ahead + back,
        "the mean of both directions": lambda: (ahead + back) / 2,
        "the first layer's states, not the last's": lambda: torch.cat([x[0], x[1]], -1),
        "the second layer's states, not the last's": lambda: torch.cat(
            [x[2], x[3]], -1
        ),
        "the states of all layers": lambda: x.transpose(0, 1).reshape(b, -1),
        "the forward state twice": lambda: torch.cat([ahead, ahead], -1),
        "the backward state twice": lambda: torch.cat([back, back], -1),
        "the last state in each half of the layers": lambda: torch.cat(
            [x[len(x) // 2 - 1], x[-1]], -1
        ),
        "the first and the last of all states": lambda: torch.cat([x[0], x[-1]], -1),
        "the directions below each other, in 2b rows": lambda: torch.cat([ahead, back]),
        ZEROS: lambda: torch.zeros(b, 2 * h),
        "the numbers of both directions, alternating": lambda: torch.stack(
            [ahead, back], -1
        ).flatten(1),
    }


@check(
    "concat-final-states",
    share=1,
    title="Two states side by side: (b, 2 d_h)",
    form=True,
)
def test_states_shape(student, draw):
    got = student.concat_final_states(draw.normal(2, B, H))
    expect_shape(got, (B, 2 * H), "the tensor of joined states")


@check("concat-final-states", share=3, title="Each sentence gets its own two states")
def test_states_values(student, draw):
    h_n = draw.normal(2, B + 1, H)
    with blame_error("view size is not compatible", NOT_CONTIGUOUS):
        got = student.concat_final_states(h_n)
    want = reference.concat_final_states(h_n.double())
    expect_close(got, want, "the tensor of joined states", mistakes=state_mistakes(h_n))


@check(
    "concat-final-states",
    share=2,
    title="The last layer's states, for any number of layers",
)
def test_states_of_many_layers(student, draw):
    h_n = draw.normal(8, B, H)
    got = student.concat_final_states(h_n)
    want = reference.concat_final_states(h_n.double())
    expect_close(got, want, "the tensor of joined states", mistakes=state_mistakes(h_n))
    expect_every_size(
        student,
        student.concat_final_states,
        reference.concat_final_states,
        [
            replace(case, inputs=[torch.cat([case.inputs[0], 2 * case.inputs[0]])])
            for case in varied_inputs(draw, ["layers,b,d_h"])
        ],
        "the tensor of joined states",
    )


@check(
    "concat-final-states",
    share=1,
    title="A batch equals its sentences one by one",
    form=True,
)
def test_states_of_batch_mates(student, draw):
    h_n = draw.normal(2, B, H)
    together = student.concat_final_states(h_n)
    expect_shape(together, (B, 2 * H), "the tensor of joined states")
    for row in range(B):
        alone = student.concat_final_states(h_n[:, row : row + 1].contiguous())
        if not torch.equal(together[row : row + 1], alone):
            fail(
                "A sentence gets different states in a batch and on its own: the batch "
                "is mixed. `view` keeps reading in memory, past the end of a sentence.",
                mistake="mixes the sentences",
            )


@check("concat-final-states", share=1, title="Gradients, float64, not contiguous")
def test_states_keep_their_promises(student, draw):
    h_n, upstream = draw.normal(2, B, H), draw.normal(B, 2 * H)
    expect_shape(student.concat_final_states(h_n), (B, 2 * H), "the result")
    run = student.gradients(student.concat_final_states, h_n, upstream=upstream)
    ahead, back = (torch.zeros_like(h_n) for _ in range(2))
    ahead[0], back[1] = upstream[:, :H], upstream[:, H:]
    cuts = {
        "a gradient that reaches only the forward states": ahead,
        "a gradient that reaches only the backward states": back,
    }
    expect_gradients(run, reference.concat_final_states, [h_n], upstream, [cuts])
    turned = draw.normal(B, 2, H, dtype=torch.float64).transpose(0, 1)
    with blame(
        NOT_CONTIGUOUS, lambda: student.concat_final_states(turned.contiguous())
    ):
        got = student.concat_final_states(turned)
    what = "the tensor of joined states"
    expect_close(got, reference.concat_final_states(turned), what)
    function, right = student.concat_final_states, reference.concat_final_states
    expect_double(function, right, [turned], what)


@check("concat-final-states", share=1, title="Calls are independent; states unchanged")
def test_states_again(student, draw):
    function, what = student.concat_final_states, "the tensor of joined states"
    calls = [(draw.normal(2, AGAIN, H),) for _ in range(2)]
    expect_each_call_anew(student, function, calls, reference.concat_final_states, what)
    expect_no_traces(student, function, *calls[0], still=True)
    expect_same_device(student, function, *calls[0], what=what)


# --- BiLSTMAttention.forward ------------------------------------------------------


@dataclass(frozen=True)
class Twins:
    """The student's classifier and the reference, with the same random weights."""

    student: Any
    trusted: reference.BiLSTMAttention


def twins(
    student,
    draw,
    pad_id: int = PAD,
    words: int = WORDS,
    classes: int = CLASSES,
    width: int = WIDTH,
    hidden: int = HIDDEN,
) -> Twins:
    """Build both classifiers with the same random weights."""
    sizes = (words, classes, width, hidden, pad_id)
    trusted = reference.BiLSTMAttention(*sizes)
    shapes = {name: tuple(p.shape) for name, p in trusted.state_dict().items()}
    state = draw.state(shapes)
    trusted.load_state_dict(state)
    theirs = student.BiLSTMAttention(*sizes)
    theirs.load_state_dict(state)
    theirs.eval()
    return Twins(theirs, trusted.double().eval())


def sentences(draw) -> Tensor:
    """Draw ids (b, s) with LENGTHS words; the ids 0 to 3 are ordinary words."""
    ids = full_sentences(draw)
    ids[1, :4] = torch.tensor(SPECIALS)
    return ids.masked_fill(torch.arange(S) >= torch.tensor(LENGTHS)[:, None], PAD)


def full_sentences(draw) -> Tensor:
    """Draw ids (b, s) without padding; the last words are 0, 1, 2 and 3."""
    ids = draw.ids(B, S, low=PAD + 1, high=WORDS)
    ids[0, 0] = PAD - 1  # a word with an id below PAD
    ids[:, -1] = torch.tensor(SPECIALS)
    return ids


def with_column(ids: Tensor) -> Tensor:
    """Add a column of padding, as in a batch with a longer sentence."""
    return nn.functional.pad(ids, (0, 1), value=PAD)


def classify(model, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Call a student's classifier, and fail unless it returns a pair."""
    what = "two things, the logits and the weights"
    logits, weights = expect_parts(model(ids), 2, what)
    return logits, weights


@dataclass(frozen=True)
class Way:
    """A way to compute both results from the states of the reference classifier.

    Attributes:
        model: the classifier.
        states: outputs of the LSTM (b, s, 2 d_h).
        query: the query (b, 2 d_h).
        mask: True where attention is allowed (b, s), or None.
        scale: a factor for the scores.
        feed: computes the input of the last layer.
        softmax: the axis of the softmax.
    """

    model: reference.BiLSTMAttention
    states: Tensor
    query: Tensor
    mask: Tensor | None
    scale: float = 1.0
    feed: str = "context"
    softmax: int = -1

    def results(self) -> tuple[Tensor, Tensor]:
        """Return the logits and the weights."""
        scores = (self.states @ self.query[..., None])[..., 0] * self.scale
        if self.mask is not None:
            scores = scores.masked_fill(~self.mask, -1e30)
        weights = scores.softmax(self.softmax)
        context = (weights[:, None] @ self.states)[:, 0]
        fed = {"context": context, "query": self.query, "sum": context + self.query}
        return self.model.output(fed[self.feed]), weights


Other = Callable[..., Tensor]  # the right result with some changes


def reading_mistakes(
    other: Other, model: reference.BiLSTMAttention, vectors: Tensor
) -> Named:
    """Return results of classifiers whose LSTM reads the padding, keyed by name."""
    read_on, (h_n, _) = model.lstm(vectors)
    query = reference.concat_final_states(h_n)
    mixed = "mixes the sentences of the batch"
    return {
        "a classifier whose LSTM reads the padding (not packed)": lambda: other(
            states=read_on, query=query
        ),
        "a classifier that reads the padding and attends to it": lambda: other(
            states=read_on, query=query, mask=None
        ),
        Phrase("a classifier that reads the padding and {mixed}", mixed): lambda: other(
            states=read_on, query=h_n.reshape(-1, 2 * HIDDEN)
        ),
    }


def query_mistakes(other: Other, right: Way, vectors: Tensor, mask: Tensor) -> Named:
    """Return results with a wrong query, keyed by the name of the mistake."""
    rows, last = torch.arange(len(mask)), mask.sum(1) - 1

    def cell_state() -> Tensor:
        found = nn.utils.rnn.pack_padded_sequence(
            vectors, mask.sum(1), batch_first=True, enforce_sorted=False
        )
        return reference.concat_final_states(right.model.lstm(found)[1][1])

    return {
        "a classifier whose query is the output at the last position": lambda: other(
            query=right.states[:, -1]
        ),
        "a classifier whose query is the output at the last word": lambda: other(
            query=right.states[rows, last]
        ),
        "a classifier whose query is the output at the first word": lambda: other(
            query=right.states[:, 0]
        ),
        "a classifier whose query has the directions swapped": lambda: other(
            query=right.query.roll(HIDDEN, dims=1)
        ),
        "a classifier whose query is the cell state": lambda: other(query=cell_state()),
    }


def mask_mistakes(right: Way, mask: Tensor, index: int) -> Named:
    """Return results with a wrong mask, keyed by the name of the mistake.

    The states at padding are zeros, so two of the mistakes give the same logits.
    """
    unmasked = replace(right, mask=None).results()[index]
    if index == 0:
        phrase = (
            "a classifier whose softmax counts padding: no mask, or a mask after it"
        )
        return {phrase: lambda: unmasked}
    late = "a classifier that masks after the softmax without dividing by the new sum"
    return {
        "a classifier that attends to padding (no mask)": lambda: unmasked,
        late: lambda: unmasked * mask,
    }


def expect_upright_mask(weights: Any, ids: Tensor) -> None:
    """Fail if padding gets all the weight of a sentence and its words get none."""
    if not isinstance(weights, Tensor) or weights.shape != ids.shape:
        return
    padding = ids == PAD
    of_words = weights.masked_fill(padding, 0.0)[padding.any(1)]
    of_padding = weights.masked_fill(~padding, 0.0)[padding.any(1)]
    if bool((of_words.abs() < 1e-6).all()) and bool((of_padding.sum(1) > 0.9).all()):
        fail(
            "In sentences with padding, the padding gets all of the weight and the "
            "words get none: True in the mask means that a position may be attended "
            "to.",
            mistake=INVERTED,
        )


@torch.no_grad()
def classifier_mistakes(
    model: reference.BiLSTMAttention, ids: Tensor, index: int
) -> Named:
    """Return wrong logits (`index` 0) or weights (`index` 1), keyed by name."""
    mask, vectors = ids != PAD, model.embedding(ids)
    packed, final = run_packed(model.lstm, vectors, mask)
    right = Way(model, packed, reference.concat_final_states(final), mask)

    def other(**changes: Any) -> Tensor:
        return replace(right, **changes).results()[index]

    def mean() -> Tensor:
        weights = mask.double() / mask.sum(1, keepdim=True)
        return (model.output((weights[:, None] @ packed)[:, 0]), weights)[index]

    order = mask.sum(1).argsort(descending=True)
    return {
        "a classifier whose query mixes the sentences of the batch (`view`)": lambda: (
            other(query=final.reshape(-1, 2 * HIDDEN))
        ),
        **mask_mistakes(right, mask, index),
        **reading_mistakes(other, model, vectors),
        **query_mistakes(other, right, vectors, mask),
        "a classifier with scores divided by the square root of the width": lambda: (
            other(scale=(2 * HIDDEN) ** -0.5)
        ),
        "a classifier that does not feed the context to the output": lambda: other(
            feed="query"
        ),
        "a classifier that feeds the sum of context and query to the output": (
            lambda: other(feed="sum")
        ),
        "a classifier whose softmax runs over the batch": lambda: other(softmax=0),
        "a classifier that averages the states with equal weights": mean,
        "the results in the order of the lengths: restore the order of the "
        "sentences": lambda: other()[order],
        ZEROS: lambda: torch.zeros_like(other()),
    }


@check(
    "bilstm-attention",
    share=1,
    title="Logits (b, classes) and weights (b, s)",
    form=True,
)
def test_classifier_shapes(student, draw):
    logits, weights = classify(twins(student, draw).student, sentences(draw))
    expect_shape(logits, (B, CLASSES), "the tensor of logits")
    expect_shape(weights, (B, S), "the tensor of weights")


def with_mask(
    model: reference.BiLSTMAttention, ids: Tensor, mask: Tensor
) -> tuple[Tensor, Tensor]:
    """Compute the reference classifier's results with a mask that may be wrong."""
    seen, ends = run_packed(model.lstm, model.embedding(ids), mask)
    return Way(model, seen, reference.concat_final_states(ends), mask).results()


@check("bilstm-attention", share=2, title="Right logits for sentences of equal length")
def test_classifier_without_padding(student, draw):
    pair, ids = twins(student, draw), full_sentences(draw)
    above = ids.clamp(min=PAD + 1)

    def without_low_ids() -> None:
        want = pair.trusted(above)[0]
        expect_close(classify(pair.student, above)[0], want, "", tolerance=2e-5)

    words = "a classifier that treats ids below `pad_id` as padding"
    with (
        blame(words, without_low_ids),
        blame_error("expected at least one word in every sentence", INVERTED),
    ):
        logits, _ = classify(pair.student, ids)
    want, _ = pair.trusted(ids)
    model, vectors = pair.trusted, pair.trusted.embedding(ids)
    states, final = run_packed(model.lstm, vectors, ids != PAD)

    def with_padding(pad_id: int) -> Tensor:
        return with_mask(model, ids, ids != pad_id)[0]

    named: Named = {
        Phrase(
            "a classifier that treats {pad_id} as padding, whatever `pad_id` is", pad_id
        ): partial(with_padding, pad_id)
        for pad_id in SPECIALS
    }
    named["a classifier whose query mixes the sentences of the batch (`view`)"] = (
        lambda: Way(model, states, final.reshape(-1, 2 * HIDDEN), None).results()[0]
    )
    expect_close(logits, want, "the tensor of logits", mistakes=named, tolerance=2e-5)


@check("bilstm-attention", share=3, title="Right logits for lengths 4, 7, 1 and 3")
def test_classifier_logits(student, draw):
    pair, ids = twins(student, draw), sentences(draw)
    with blame_error("enforce_sorted", "code that needs sentences sorted by length"):
        logits, _ = classify(pair.student, ids)
    named = classifier_mistakes(pair.trusted, ids, 0)
    want, _ = pair.trusted(ids)
    expect_close(logits, want, "the tensor of logits", mistakes=named, tolerance=2e-5)


def scores_of(model: reference.BiLSTMAttention, ids: Tensor) -> Tensor:
    """Compute the reference classifier's scores, before the mask."""
    states, final = run_packed(model.lstm, model.embedding(ids), ids != PAD)
    return (states @ reference.concat_final_states(final)[..., None])[..., 0]


@check("bilstm-attention", share=2, title="Right weights, none on padding; any sizes")
def test_classifier_weights(student, draw):
    pair, ids = twins(student, draw), sentences(draw)
    _, weights = classify(pair.student, ids)
    expect_upright_mask(weights, ids)
    named = classifier_mistakes(pair.trusted, ids, 1)
    _, want = pair.trusted(ids)
    named["the scores, not the weights"] = lambda: scores_of(pair.trusted, ids)
    expect_close(weights, want, "the tensor of weights", mistakes=named, tolerance=2e-5)
    for case, n in orders_of(MODEL_SIZES).items():
        with blame(SOME_SIZES, lambda: test_classifier_logits(student, draw)):
            expect_classifier_of_size(student, draw, case, n)


MODEL_SIZES = ("b", "s", "n_words", "classes", "width", "hidden")


def expect_classifier_of_size(student, draw, case: str, n: dict[str, int]) -> None:
    """Compare both results of a classifier with these sizes, in both modes."""
    pad_id = 0 if case in ("falling", "long") else n["n_words"]
    pair = twins(student, draw, pad_id, n["n_words"] + 1, *list(n.values())[3:])
    ids = draw.ids(n["b"], n["s"], low=0, high=n["n_words"]) + (pad_id == 0)
    longest = torch.arange(n["b"])[:, None] % n["s"]
    ids = ids.masked_fill(torch.arange(n["s"]) > longest, pad_id)
    if case == "equal":  # the same sentence in every place
        ids = ids[-1:].repeat(n["b"], 1)
    call, words = pair.student, Varied(case, n, []).words
    if case != "rising":
        call = student.load("torch.no_grad")()(call)
    for mode, is_training in (("eval()", False), ("train()", True)):
        pair.student.train(is_training)
        whats = ("the tensor of logits", "the tensor of weights")
        for got, want, what in zip(
            classify(call, ids), pair.trusted(ids), whats, strict=True
        ):
            whose = Phrase("After {mode}, with {sizes}, {what}", mode, words, what)
            expect_close(got, want, whose, tolerance=1e-4)


@check(
    "bilstm-attention",
    share=2,
    title="A batch of 4 equals four batches of 1",
    form=True,
)
def test_classifier_ignores_batch_mates(student, draw):
    model, ids = twins(student, draw).student, sentences(draw)
    together, _ = classify(model, ids)
    expect_shape(together, (B, CLASSES), "the tensor of logits")
    for row, length in enumerate(LENGTHS):
        alone, _ = classify(model, ids[row : row + 1, :length].contiguous())
        expect_shape(alone, (1, CLASSES), "the tensor of logits of one sentence")
        if not torch.allclose(together[row : row + 1], alone, atol=2e-5):
            fail(
                "A sentence gets different logits in a batch and on its own: padding "
                "or other sentences affect them.",
                mistake="a classifier in which padding or other sentences affect the "
                "result",
            )


def gradients_of(
    model: reference.BiLSTMAttention, ids: Tensor, upstream: Tensor, cut: str = ""
) -> dict[str, Tensor]:
    """Compute the reference classifier's gradients, perhaps without one part."""
    mask = ids != PAD
    states, final = run_packed(model.lstm, model.embedding(ids), mask)
    query = reference.concat_final_states(final)
    keys, values = states, states
    if cut == "query":
        query = query.detach()
    if cut == "states":
        keys = values = states.detach()
    weights = Way(model, keys, query, mask).results()[1]
    if cut == "weights":
        weights = weights.detach()
    logits = model.output((weights[:, None] @ values)[:, 0])
    named = dict(model.named_parameters())
    total = (logits * upstream.double()).sum()
    found = torch.autograd.grad(total, list(named.values()), materialize_grads=True)
    return dict(zip(named, found, strict=True))


@check(
    "bilstm-attention", share=1, title="Gradients reach every weight, along every path"
)
def test_classifier_gradients(student, draw):
    pair, ids = twins(student, draw), sentences(draw)
    upstream = draw.normal(B, CLASSES)
    run = student.gradients(pair.student, ids, upstream=upstream)
    silent = [n for n, g in run.parameters.items() if g is None or not g.any()]
    if silent:
        fail(
            Phrase("No gradient reaches {name}.", silent[0]),
            mistake="the gradient is cut off",
        )
    cuts = {
        Phrase("a gradient that does not flow through the {part}", part): gradients_of(
            pair.trusted, ids, upstream, part
        )
        for part in ("query", "weights", "states")
    }
    for name, want in gradients_of(pair.trusted, ids, upstream).items():
        named: dict[str, Any] = {
            phrase: gradients[name] for phrase, gradients in cuts.items()
        }
        what, got = Phrase("the gradient of {name}", name), run.parameters[name]
        expect_close(got, want, what, mistakes=named, tolerance=1e-4)


@check(
    "bilstm-attention",
    share=1,
    title="Batches are independent, also with a column of padding",
)
def test_classifier_again(student, draw):
    pair = twins(student, draw)
    first, second = sentences(draw), sentences(draw).roll(1, dims=0)
    batches = [(with_column(first),), (with_column(second),)]
    _, weights = classify(pair.student, *batches[0])
    if isinstance(weights, Tensor) and weights.shape == (B, S):
        fail(
            Phrase(
                "For ids of shape {ids} the tensor of weights has the shape {shape}: "
                "it has the length of the longest sentence, not of the batch.",
                (B, S + 1),
                (B, S),
            ),
            mistake="weights without the last column of padding; see `total_length`",
        )
    kept = with_mask(pair.trusted, batches[1][0], batches[0][0] != PAD)
    for part, what in enumerate(("the tensor of logits", "the tensor of weights")):
        expect_each_call_anew(
            student,
            pair.student,
            batches,
            lambda ids, part=part: pair.trusted(ids)[part],
            what,
            part=part,
            mistakes={"the result with the mask from an earlier call": kept[part]},
            tolerance=2e-5,
        )
    expect_same_device(student, pair.student, *batches[0], what="a result")


@check(
    "bilstm-attention", share=1, title="Float64 stays float64; ids stay as they were"
)
def test_classifier_keeps_its_promises(student, draw):
    pair, ids = twins(student, draw), sentences(draw)
    other = twins(student, draw, pad_id=PAD + 1)
    moved = torch.where(ids == PAD, PAD + 1, ids.masked_fill(ids == PAD + 1, PAD + 2))
    expect_close(
        classify(other.student, moved)[1],
        other.trusted(moved)[1],
        "the tensor of weights of a second model, with a different pad_id,",
        {OTHERS_PAD: with_mask(other.trusted, moved, moved != PAD)[1]},
        tolerance=2e-5,
    )
    model = pair.student
    model.train()  # its results in training are the same
    expect_no_traces(student, model, ids, still=True)
    model.double()
    for part, what in enumerate(("the tensor of logits", "the tensor of weights")):
        expect_double(
            lambda ids, part=part: classify(model, ids)[part],
            lambda ids, part=part: pair.trusted(ids)[part],
            [ids],
            what,
        )

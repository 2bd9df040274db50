"""Hidden checks of unit 03: sines, the offset matrix, and the two layers."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import torch
from torch import Tensor

from autograder.checking.behaviour import blame, expect_dtype, looks_like
from autograder.checking.expect import check, expect_close, expect_shape, fail
from autograder.checking.failures import StudentError
from autograder.checking.generic_checks import (
    ZEROS,
    expect_each_call_anew,
    expect_no_seed,
    expect_no_traces,
    expect_same_device,
)
from autograder.checking.varied_inputs import varied_inputs
from autograder.phrases import Phrase

B, T, D, LENGTH, MAX_LEN = 3, 5, 10, 7, 13
MANY = 700  # rows: too many for a table of fixed size, or for bfloat16
FIXED_LENGTH = "a table with a fixed length that ignores `max_len`"
BY_BATCH = "positions counted along the batch: `x.size(0)` is the number of sentences"
UPWARDS = "a multiplication by 10000^(2i/d_model) instead of a division"
Mistakes = dict[str, Callable[[], Tensor]]


def rates_of(d_model: int, base: float = 10000.0, factor: float = 1.0) -> Tensor:
    """Compute the rate of each pair: base ** (-factor * 2i / d_model)."""
    two_i = torch.arange(0, d_model, 2, dtype=torch.float64)
    return base ** (-factor * two_i / d_model)


def waves(
    angles: Tensor, even: Callable = torch.sin, odd: Callable = torch.cos
) -> Tensor:
    """Put one function of the angles into even columns and another into odd columns."""
    return torch.stack([even(angles), odd(angles)], dim=-1).flatten(start_dim=-2)


def encoding(length: int, rates: Tensor, first: int = 0) -> Tensor:
    """Compute the encoding with the given rates in float64."""
    places = torch.arange(first, first + length, dtype=torch.float64)
    return waves(places[:, None] * rates)


def wrong_rates(d_model: int) -> dict[str, Tensor]:
    """Return wrong rates for the table and the matrix, keyed by name."""
    halves = torch.arange(d_model // 2, dtype=torch.float64)
    exponents = 2 * halves / d_model
    return {
        "the exponent 2·(2i)/d_model: `arange(0, d_model, 2)` is already 2i": rates_of(
            d_model, factor=2
        ),
        "the exponent i/d_model: `arange(d_model // 2)` is i, not 2i": rates_of(
            d_model, factor=0.5
        ),
        "the base 1000 instead of 10000": rates_of(d_model, base=1000),
        UPWARDS: 1 / rates_of(d_model),
        "log10 instead of the natural logarithm": torch.exp(-exponents * 4),
        "angles with a factor 2π that is not in the formula": (
            2 * math.pi * rates_of(d_model)
        ),
        "the same rate for all pairs": torch.ones(d_model // 2, dtype=torch.float64),
        "the exponent 2i/(d_model - 2), so that the last rate is 1/10000": (
            10000.0 ** (-2 * halves / max(d_model - 2, 1))
        ),
        "only 2i/d_model, without the power of 10000": exponents,
    }


def encoding_mistakes(length: int, d_model: int) -> Mistakes:
    """Return wrong tables, keyed by the name of the mistake."""
    rates = rates_of(d_model)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * rates
    columns = torch.arange(d_model, dtype=torch.float64)
    each = torch.arange(length)[:, None] * 10000.0 ** (-columns / d_model)
    mistakes: Mistakes = {
        Phrase("the result of {phrase}", phrase): partial(encoding, length, wrong)
        for phrase, wrong in wrong_rates(d_model).items()
    }
    return mistakes | {
        "the result with sine and cosine swapped": lambda: waves(
            angles, torch.cos, torch.sin
        ),
        "sines in all columns": lambda: waves(angles, torch.sin, torch.sin),
        "cosines in all columns": lambda: waves(angles, torch.cos, torch.cos),
        "all sines before all cosines; they should alternate": lambda: torch.cat(
            [angles.sin(), angles.cos()], dim=-1
        ),
        "a different rate for each column; the two columns of a pair should have the "
        "same rate": lambda: torch.where(columns % 2 == 0, each.sin(), each.cos()),
        "the positions counted from 1, not from 0": lambda: encoding(length, rates, 1),
        "the positions divided by the length": lambda: waves(angles / length),
        "the positions in degrees instead of radians": lambda: waves(
            torch.deg2rad(angles)
        ),
        "the transposed table": lambda: waves(angles).T,
        "the angles, without sine and cosine": lambda: waves(
            angles, lambda x: x, lambda x: x
        ),
        "the positions in reverse order": lambda: waves(angles).flip(0),
        ZEROS: lambda: torch.zeros(length, d_model),
    }


def expect_table(table, length: int, d_model: int, tolerance: float = 1e-5) -> None:
    """Fail unless a table is right, and report the mistake."""
    if d_model > 2 and length > 1 and isinstance(table, Tensor):
        # In float32, the sines of angles of several thousand are inexact.
        first, faster = table[:2].double(), encoding(2, 1 / rates_of(d_model))
        if first.shape == faster.shape and torch.allclose(first, faster, atol=0.02):
            fail(
                Phrase(
                    "The table is not right: it equals the result of {mistake}.",
                    UPWARDS,
                ),
                UPWARDS,
            )
    want = encoding(length, rates_of(d_model))
    if isinstance(table, Tensor) and table.dim() == 2 and len(table) > length:
        first = table[:length].double()
        if first.shape == want.shape and torch.allclose(first, want, atol=tolerance):
            fail(
                Phrase(
                    "The table should have {length} rows, but it has {count}. The "
                    "first {length} rows are right.",
                    length,
                    len(table),
                ),
                mistake="more rows than requested",
            )
    mistakes = encoding_mistakes(length, d_model)
    expect_close(table, want, "The table", mistakes=mistakes, tolerance=tolerance)


# --- sinusoidal_encoding ----------------------------------------------------------


@check(
    "sinusoidal-encoding",
    share=1,
    title="The table has the shape (length, d_model) in float32",
    form=True,
)
def test_encoding_shape(student, draw):
    table = student.sinusoidal_encoding(LENGTH, D)
    if isinstance(table, Tensor) and table.shape == (D, LENGTH):
        fail(
            Phrase(
                "The table should have one row for each position and the shape "
                "({length}, {d_model}), but it is transposed.",
                LENGTH,
                D,
            ),
            mistake="the transposed table",
        )
    expect_shape(table, (LENGTH, D), "The table")
    if table.dtype != torch.float32:
        fail(
            Phrase(
                "The table should be float32, but it is {dtype}. If a model adds it "
                "to float32 vectors, their dtype changes.",
                table.dtype,
            ),
            mistake="a table that is not float32",
        )


@check("sinusoidal-encoding", share=4, title="The table has the right values")
def test_encoding_values(student, draw):
    length, d_model = draw.integer(LENGTH + 1, 12), draw.choice([6, 8, 10])
    expect_table(student.sinusoidal_encoding(length, d_model), length, d_model)


@check(
    "sinusoidal-encoding", share=1, title="Position 0 has alternating zeros and ones"
)
def test_encoding_of_the_first_position(student, draw):
    for d_model in (2, D):
        table = student.sinusoidal_encoding(1, d_model)
        want = torch.tensor([0.0, 1.0]).repeat(d_model // 2)[None]
        mistakes = unlike(encoding_mistakes(1, d_model))
        expect_close(table, want, "The first row", mistakes=mistakes)


@check(
    "sinusoidal-encoding",
    share=1,
    title="Tables with many positions or many columns are right",
)
def test_encoding_of_many_positions(student, draw):
    length = draw.integer(60, 100)
    expect_table(student.sinusoidal_encoding(length, D), length, D, 1e-4)
    for length, d_model in ((3 * MANY, 6), (9, 128)):
        with blame("code that works only for small tables"):
            table = student.sinusoidal_encoding(length, d_model)
            # float32 represents angles of about 2,000 with errors of about 1e-4.
            expect_table(table, length, d_model, 1e-3)


@check(
    "sinusoidal-encoding",
    share=1,
    title="Calls are independent and change nothing else",
)
def test_encoding_again(student, draw):
    function, calls = student.sinusoidal_encoding, [(8, D), (5, D), (8, D - 2), (8, D)]
    for length, d_model in calls:
        expect_table(function(length, d_model), length, d_model)
    student.load("builtins.eval")("lambda f, *args: f(*args).fill_(0.5)")(
        function, 8, D
    )
    with blame(
        "one table for all calls, so that a change of one result changes all results"
    ):
        expect_table(function(8, D), 8, D)
    expect_no_traces(student, function, 8, D, still=True)


# --- offset_matrix ----------------------------------------------------------------


def matrix_of(
    k: float, rates: Tensor, sign: float = 1.0, sine: Callable = torch.sin
) -> Tensor:
    """Compute the block-diagonal matrix of rotations in float64."""
    cos, sin = torch.cos(k * rates), sign * sine(k * rates)
    blocks = torch.stack([cos, sin, -sin, cos], dim=-1).view(-1, 2, 2)
    return torch.block_diag(*blocks)


def matrix_mistakes(k: int, d_model: int) -> Mistakes:
    """Return wrong matrices, keyed by the name of the mistake."""
    rates = rates_of(d_model)
    cos, sin = torch.cos(k * rates).diag(), torch.sin(k * rates).diag()
    mistakes: Mistakes = {
        Phrase("the matrix of {phrase}", phrase): partial(matrix_of, k, wrong)
        for phrase, wrong in wrong_rates(d_model).items()
    }
    both = torch.stack([torch.cos(k * rates), torch.sin(k * rates)], dim=-1)
    return mistakes | {
        "the matrix that moves back by k: its minus sign is in the wrong place": (
            lambda: matrix_of(k, rates, sign=-1)
        ),
        "the matrix for sines in the first half and cosines in the second": lambda: (
            torch.cat([torch.cat([cos, sin], 1), torch.cat([-sin, cos], 1)])
        ),
        "the matrix that always moves by 1 and ignores k": lambda: matrix_of(1, rates),
        "a matrix with sine and cosine swapped": lambda: (
            matrix_of(k, rates) @ matrix_of(1, torch.full_like(rates, -math.pi / 2))
        ),
        "blocks without a minus sign, which do not rotate": lambda: (
            matrix_of(k, rates).abs() * _sines_positive(k, rates)
        ),
        "only the cosines on the diagonal": lambda: (
            torch.cos(k * rates).repeat_interleave(2).diag()
        ),
        "the angles instead of their sines": lambda: matrix_of(
            k, rates, sine=lambda angles: angles
        ),
        "the identity": lambda: torch.eye(d_model),
        ZEROS: lambda: torch.zeros(d_model, d_model),
        "the blocks in one row instead of along the diagonal": lambda: both.flatten(),
    }


def _sines_positive(k: int, rates: Tensor) -> Tensor:
    """Return the signs of a matrix with the blocks [cos, sin; sin, cos]."""
    cos, sin = torch.cos(k * rates).sign(), torch.sin(k * rates).sign()
    blocks = torch.stack([cos, sin, sin, cos], dim=-1).view(-1, 2, 2)
    return torch.block_diag(*blocks)


def unlike(mistakes: Mistakes) -> Mistakes:
    """Remove mistakes with equal results, because a check cannot distinguish them."""
    results = {phrase: value().float() for phrase, value in mistakes.items()}
    return {
        phrase: value
        for phrase, value in mistakes.items()
        if not any(
            result.shape == results[phrase].shape
            and torch.allclose(result, results[phrase], atol=1e-3)
            for other, result in results.items()
            if other != phrase
        )
    }


def expect_matrix(got, k: int, d_model: int, tolerance: float = 1e-5) -> None:
    """Fail unless a matrix is right, and report the mistake."""
    mistakes, want = (
        unlike(matrix_mistakes(k, d_model)),
        matrix_of(k, rates_of(d_model)),
    )
    faster = matrix_of(k, 1 / rates_of(d_model))
    same_shape = isinstance(got, Tensor) and got.shape == faster.shape
    if d_model > 2 and same_shape and torch.allclose(got.double(), faster, atol=0.05):
        # In float32, the sines of angles of several thousand are inexact.
        fail(
            Phrase(
                "The matrix is not right: it equals the matrix of {mistake}.", UPWARDS
            ),
            UPWARDS,
        )
    expect_close(got, want, "The matrix", mistakes=mistakes, tolerance=tolerance)


def offset_of(draw) -> int:
    """Draw an offset for which all mistakes give different results."""
    return draw.choice([2, 3, 4, 5, 7, 8, 9])


@check(
    "offset-matrix",
    share=1,
    title="The matrix has the shape (d_model, d_model)",
    form=True,
)
def test_matrix_shape(student, draw):
    expect_shape(student.offset_matrix(1, D), (D, D), "The matrix")


@check("offset-matrix", share=3, title="The matrix has the right values")
def test_matrix_values(student, draw):
    k, other = offset_of(draw), D + 2 * draw.integer(4, 6)
    for d_model in (D, other):
        expect_matrix(student.offset_matrix(k, d_model), k, d_model)


@check("offset-matrix", share=2, title="M @ PE[p] is PE[p + k], for every p")
def test_matrix_moves_positions(student, draw):
    k = draw.integer(2, 9)
    got = student.offset_matrix(k, D)
    expect_shape(got, (D, D), "The matrix")
    table = encoding(20, rates_of(D))
    moved, want = table[:10] @ got.double().T, table[k : k + 10]
    right = matrix_of(k, rates_of(D))
    mistakes = {
        "PE[p - k]: the matrix moves back": lambda: table[:10] @ right,
        "PE[p + 1] for every k": table[1:11],
        "PE[p]: the matrix moves nothing": table[:10],
    }
    expect_close(moved, want, "M @ PE[p]", mistakes=mistakes)


@check("offset-matrix", share=1, title="k = 0 gives the identity, and k < 0 moves back")
def test_matrix_of_other_offsets(student, draw):
    zero = student.offset_matrix(0, D)
    expect_close(zero, torch.eye(D), "The matrix for k = 0")
    k = -draw.integer(2, 9)

    def ordinary() -> None:
        expect_close(student.offset_matrix(-k, D), matrix_of(-k, rates_of(D)), "")

    with blame("code that works only for k above 0", ordinary):
        got = student.offset_matrix(k, D)
        mistakes = matrix_mistakes(k, D)
        del mistakes["the identity"]  # `blame` reports this mistake
        expect_close(got, matrix_of(k, rates_of(D)), "The matrix", mistakes=mistakes)


@check(
    "offset-matrix",
    share=1,
    title="The matrix is right for d_model = 2 and for large offsets",
)
def test_matrix_of_one_pair(student, draw):
    k = draw.integer(100, 200)
    for d_model in (2, D, 64):
        expect_matrix(student.offset_matrix(k, d_model), k, d_model, 1e-4)


@check("offset-matrix", share=1, title="Calls are independent and change nothing else")
def test_matrix_again(student, draw):
    function, k = student.offset_matrix, offset_of(draw)
    calls = [(k, D + 4), (k + 1, D + 4), (k, D + 6)]
    expect_each_call_anew(
        student,
        function,
        calls,
        lambda k, d_model: matrix_of(k, rates_of(d_model)),
        "the matrix",
    )
    expect_no_traces(student, function, k, D, still=True)


# --- both layers ------------------------------------------------------------------


def layer_mistakes(x: Tensor, table: Tensor, start: int = 0) -> Mistakes:
    """Return wrong sums of `x` and the table's rows, keyed by name."""
    x, table = x.double(), table.double()
    t, d = x.shape[1:]
    right = x + table[start : start + t]
    root = d**0.5
    return {
        "only the words: no position is added": lambda: x,
        "only the positions: they are not added to the words": lambda: table[
            start : start + t
        ].expand_as(x),
        "the product of words and positions instead of their sum": lambda: (
            x * table[start : start + t]
        ),
        "the words minus the positions": lambda: x - table[start : start + t],
        "the sum times √d_model: only the words should be scaled, before this layer": (
            lambda: right * root
        ),
        "the words scaled by √d_model a second time": lambda: (
            x * root + table[start : start + t]
        ),
        **row_mistakes(x, table, start),
        "the sum divided by 2": lambda: right / 2,
        "sines instead of the learned rows": lambda: (
            x + encoding(len(table), rates_of(d))[start : start + t]
        ),
        ZEROS: lambda: torch.zeros_like(x),
        "the words and positions side by side": lambda: torch.cat(
            [x, table[start : start + t].expand_as(x)], dim=-1
        ),
    }


def row_mistakes(x: Tensor, table: Tensor, start: int) -> Mistakes:
    """Return sums with wrong rows of the table, keyed by the name of the mistake."""
    b, t = x.shape[:2]
    return {
        BY_BATCH: lambda: x + table[start : start + b, None],
        "positions counted from 1": lambda: x + table[start + 1 : start + 1 + t],
        "positions that begin at 0 instead of `start`": lambda: x + table[:t],
        "the same position for all words": lambda: x + table[start],
        "the position of the last word for all words": lambda: x + table[start + t - 1],
        "the last rows of the table": lambda: x + table[-t:],
        "the positions of the words in reverse order": lambda: (
            x + table[start : start + t].flip(0)
        ),
        "the sum of the positions of all earlier words": lambda: (
            x + table[start : start + t].cumsum(0)
        ),
        "the words plus the mean of their positions": lambda: (
            x + table[start : start + t].mean(0)
        ),
    }


@contextmanager
def as_many_sentences_as_words(
    layer, x: Tensor, table: Tensor, start: int = 0
) -> Iterator[None]:
    """Report the mistake of code that fails unless there are t sentences of t words."""
    try:
        yield
    except StudentError as error:
        if error.kind != "raised" or not is_right_on_a_square(layer, x, table, start):
            raise
        fail(looks_like(error.message, BY_BATCH), BY_BATCH)


def is_right_on_a_square(layer, x: Tensor, table: Tensor, start: int) -> bool:
    """Return whether a layer adds the right rows to t sentences of t words."""
    t = x.size(1)
    square = x[:1].expand(t, t, x.size(2)).clone()
    try:
        got = layer(square, start) if start else layer(square)
    except StudentError:
        return False
    want = square.double() + table.double()[start : start + t]
    same_shape = isinstance(got, Tensor) and got.shape == want.shape
    tolerance = 0.1 if x.dtype == torch.bfloat16 else 1e-5
    return same_shape and torch.allclose(got.double(), want, atol=tolerance)


def expect_sum(layer, x: Tensor, table: Tensor, start: int = 0) -> None:
    """Fail unless a layer adds the rows of a table from row `start` on."""
    with as_many_sentences_as_words(layer, x, table, start):
        got = layer(x, start) if start else layer(x)
    want = x.double() + table.double()[start : start + x.size(1)]
    mistakes = layer_mistakes(x, table, start)
    expect_close(got, want, "The result", mistakes=mistakes)


def expect_any_batch(student, draw, layer, table: Tensor) -> None:
    """Fail unless a layer works for any batch, independently of other calls."""
    square = draw.normal(4, 4, D)
    expect_sum(layer, square, table)
    calls = [(draw.normal(B, T + 1, D),) for _ in range(2)]
    right, what = lambda x: x.double() + table.double()[: T + 1], "the result"
    expect_each_call_anew(student, layer, calls, right, what)
    for b, t in [(B, 5), (5, 3), (1, 1), (1, MAX_LEN)]:
        expect_sum(layer, draw.normal(b, t, D), table)


def expect_every_layer(student, draw, make: Callable[[int, int], tuple]) -> None:
    """Fail unless layers of every size are right, in evaluation and in training.

    Args:
        student: the fixture.
        draw: the fixture.
        make: a function from max_len and width to a layer and the table that it should
            add.
    """
    for case in varied_inputs(draw, ["b,t,2*half"]):
        (x,) = case.inputs
        t = x.size(1)
        layer, table = make(2 * t, x.size(2))
        call = layer
        if not case.keeps_gradients:
            call = student.load("torch.no_grad")()(layer)
        for is_training in (True, False):
            layer.train(is_training)
            for start in (0, t):
                expect_sum(call, x, table, start)


def expect_start(draw, layer, table: Tensor) -> None:
    """Fail unless a layer uses positions from `start` on, up to the table's end."""
    for start, t in [
        (draw.integer(1, 6), 6),
        (draw.integer(2, 9), 3),
        (len(table) - 1, 1),
        (draw.integer(6, 9), 1),
        (2, 1),
        (0, len(table)),
    ]:
        expect_sum(layer, draw.normal(B, t, D), table, start)


def expect_shape_kept(draw, layer, table: Tensor) -> None:
    """Fail unless a layer keeps the shape of its input."""
    x = draw.normal(B, T, D)
    with as_many_sentences_as_words(layer, x, table):
        got = layer(x)
    expect_shape(got, (B, T, D), "The result")


def gradients(student, layer, table: Tensor, x: Tensor, upstream: Tensor):
    """Run a layer forward and backward, and return the gradients."""
    with as_many_sentences_as_words(layer, x, table):
        layer(x)
    return student.gradients(layer, x, upstream=upstream)


def expect_pure(student, draw, layer, table: Tensor) -> None:
    """Fail if a layer changes its input or draws random numbers."""
    x = draw.normal(T, B, D).transpose(0, 1)
    with as_many_sentences_as_words(layer, x, table):
        first = layer(x)
    second = layer(x)
    if isinstance(second, Tensor) and not torch.equal(first, second):
        fail(
            "Two calls with the same words give different results. If you apply "
            "dropout here, remove it: the layer that calls this one applies dropout "
            "to the sum.",
            mistake="the result is random",
        )
    expect_no_seed(student, layer, x)
    expect_no_traces(student, layer, x, still=True)


def expect_dtype_kept(draw, layer, table: Tensor, move: str, start: int = 0) -> None:
    """Fail unless a layer that is moved to another dtype returns that dtype."""
    dtype = getattr(torch, move)
    layer.to(dtype)
    x = draw.normal(B, T, D, dtype=dtype)
    with as_many_sentences_as_words(layer, x, table, start):
        got = layer(x, start) if start else layer(x)
    if isinstance(got, Tensor) and got.dtype != dtype:
        fail(
            Phrase(
                "After layer.to(torch.{move}), the result is still {dtype}, because "
                "the table did not move with the layer. The table would also stay on "
                "the CPU if the layer moved to a GPU. Store the table with "
                "register_buffer.",
                move,
                got.dtype,
            ),
            mistake="a table that does not move with the layer",
        )
    expect_dtype(got, dtype, "The result")
    want = x.double() + table.to(dtype).double()[start : start + T]
    bound = max(8 * torch.finfo(dtype).eps, 1e-5)
    expect_close(
        got, want, Phrase("After layer.to(torch.{move}), the result", move), None, bound
    )


# --- SinusoidalPositionalEncoding -------------------------------------------------


def sines(student, max_len: int = MAX_LEN, d_model: int = D) -> tuple:
    """Make the student's layer, and return it with the table that it should add.

    Another check takes off points for a mistake in the student's `sinusoidal_encoding`.
    Here, a layer is therefore right if it adds the rows of the student's table. This
    does not apply to a table with equal rows, because then it is not clear which row
    was added.
    """
    layer = student.SinusoidalPositionalEncoding(d_model, max_len)
    table = encoding(max_len, rates_of(d_model))
    own = student.sinusoidal_encoding(max_len, d_model)
    added = layer(torch.zeros(1, max_len, d_model))
    if isinstance(own, Tensor) and isinstance(added, Tensor):
        same = own.shape == table.shape and added.shape == (1, *own.shape)
        is_added = same and torch.allclose(added[0].float(), own.float(), atol=1e-5)
        if is_added and torch.pdist(own.float()).min() > 1e-3:
            return layer, own
    return layer, table


@check(
    "sinusoidal-positional-encoding",
    share=1,
    title="The result has the shape of the words, (b, t, d)",
    form=True,
)
def test_sines_shape(student, draw):
    expect_shape_kept(draw, *sines(student))


@check(
    "sinusoidal-positional-encoding",
    share=2,
    title="The layer adds the rows 0, 1, … to the words",
)
def test_sines_values(student, draw):
    layer, table = sines(student)
    expect_sum(layer, draw.normal(B, T, D), table)


@check(
    "sinusoidal-positional-encoding",
    share=1,
    title="Each call adds as many rows as there are words",
)
def test_sines_any_batch(student, draw):
    expect_any_batch(student, draw, *sines(student))
    expect_every_layer(student, draw, partial(sines, student))


@check(
    "sinusoidal-positional-encoding",
    share=1,
    title="With `start`, the layer adds the rows from `start` on",
)
def test_sines_start(student, draw):
    expect_start(draw, *sines(student))
    with blame(FIXED_LENGTH):
        layer, table = sines(student, MANY)
        x = draw.normal(B, T, D)
        want = x.double() + table.double()[MANY - T :]
        expect_close(layer(x, MANY - T), want, "The result", tolerance=1e-3)


@check(
    "sinusoidal-positional-encoding",
    share=1,
    title="The layer has no trainable parameters",
    form=True,
)
def test_sines_are_not_trained(student, draw):
    layer, table = sines(student)
    if layer.parameters_by_name():
        fail(
            "The table is a parameter, so an optimiser would train it. Sines and "
            "cosines should stay fixed: use register_buffer.",
            mistake="a trainable table",
        )
    x, upstream = draw.normal(B, T, D), draw.normal(B, T, D)
    run = gradients(student, layer, table, x, upstream)
    if run.inputs[0] is None:
        fail(
            "No gradient reaches the words through this layer.",
            mistake="the gradient is cut off",
        )
    expect_close(run.inputs[0], upstream, "The gradient of the words")


@check(
    "sinusoidal-positional-encoding", share=1, title="The table moves with the layer"
)
def test_sines_move(student, draw):
    layer, table = sines(student, MANY)
    with blame(FIXED_LENGTH, lambda: expect_dtype_kept(draw, layer, table, "bfloat16")):
        expect_dtype_kept(draw, layer, table, "bfloat16", MANY - 2 * T)
    expect_same_device(student, layer, draw.normal(B, T, D), what="the result")


@check(
    "sinusoidal-positional-encoding",
    share=1,
    title="The words do not change, and the result is not random",
    form=True,
)
def test_sines_are_pure(student, draw):
    expect_pure(student, draw, *sines(student))


# --- LearnedPositionalEncoding ----------------------------------------------------


def learned(student, draw, max_len: int = MAX_LEN, d_model: int = D) -> tuple:
    """Make the student's layer with a random table, and return both."""
    layer = student.LearnedPositionalEncoding(d_model, max_len)
    shapes = layer.parameters_by_name()
    if list(shapes.values()) != [(max_len, d_model)]:
        fail(
            Phrase(
                "LearnedPositionalEncoding(d_model, max_len) should have one "
                "parameter of shape ({max_len}, {d_model}), but your parameters have "
                "the shapes {shapes}.",
                max_len,
                d_model,
                list(shapes.values()),
            )
        )
    state = draw.state(shapes)
    layer.load_state_dict(state, strict=False)  # the layer may save its own buffers
    return layer, next(iter(state.values()))


@check(
    "learned-positional-encoding",
    share=1,
    title="The result has the shape of the words, (b, t, d)",
    form=True,
)
def test_learned_shape(student, draw):
    expect_shape_kept(draw, *learned(student, draw))


@check(
    "learned-positional-encoding",
    share=2,
    title="The layer adds the rows 0, 1, … to the words",
)
def test_learned_values(student, draw):
    layer, table = learned(student, draw)
    expect_sum(layer, draw.normal(B, T, D), table)


@check(
    "learned-positional-encoding",
    share=1,
    title="Each call adds as many rows as there are words",
)
def test_learned_any_batch(student, draw):
    layer, table = learned(student, draw)
    expect_any_batch(student, draw, layer, table)
    layer.eval()
    expect_any_batch(student, draw, layer, table)
    expect_every_layer(student, draw, partial(learned, student, draw))


@check(
    "learned-positional-encoding",
    share=1,
    title="With `start`, the layer adds the rows from `start` on",
)
def test_learned_start(student, draw):
    expect_start(draw, *learned(student, draw))
    with blame("code that works only for short tables"):
        expect_start(draw, *learned(student, draw, MANY))


@check(
    "learned-positional-encoding", share=1, title="New tensors are on the device of x"
)
def test_learned_device(student, draw):
    layer, table = learned(student, draw)
    x, start = draw.normal(B, T, D), draw.integer(2, 8)
    expect_sum(layer, x, table, start)
    expect_same_device(student, layer, x, start, what="the result")


@check("learned-positional-encoding", share=1, title="Gradients reach rows and words")
def test_learned_gradients(student, draw):
    layer, table = learned(student, draw)
    x, upstream = draw.normal(B, T, D), draw.normal(B, T, D)
    run = gradients(student, layer, table, x, upstream)
    (got,) = run.parameters.values()
    if got is None or run.inputs[0] is None:
        whom = "the words" if got is not None else "the table: it is never trained"
        fail(
            Phrase(
                "No gradient reaches {whom}. .detach(), .data or torch.no_grad() "
                "cuts it off.",
                whom,
            ),
            mistake="the gradient is cut off",
        )
    want = torch.zeros(MAX_LEN, D)
    want[:T] = upstream.sum(dim=0)
    cut = want.clone()
    cut[0] = 0
    named = {"the gradient with zeros for row 0, as with `padding_idx=0`": cut}
    expect_close(got, want, "The table's gradient", named, tolerance=1e-4)
    expect_close(run.inputs[0], upstream, "The gradient of the words")


@check(
    "learned-positional-encoding",
    share=1,
    title="float64 works, the words do not change, and nothing is random",
)
def test_learned_is_pure(student, draw):
    layer, table = learned(student, draw)
    expect_pure(student, draw, layer, table)
    expect_dtype_kept(draw, layer, table, "float64")

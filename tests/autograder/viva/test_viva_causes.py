"""The stated cause of an effect is true: its values are those of the changed part."""

import pytest

from autograder.sandbox import LocalStudent
from autograder.viva.causes import cause_of, part_of
from autograder.viva.effects import read_results
from autograder.viva.listing import ChangedLine, changed_lines
from autograder.viva.sheets import RUN_INSIDE

SCALED = "def f(x, n=4):\n    return x / n ** 0.5"
FILLED = "def f(x, mask=None):\n    if mask is not None:\n"
FILLED += "        x = x.masked_fill(mask, -1e9)\n    return x.softmax(dim=-1)"
SMALL = "def f(x):\n    return (x + 1e-9).log().nan_to_num()"
SHAPED = "def f(x):\n    return x.view(2, x.size(-1))"
LOOP = "def f(x):\n    for k in (1, 2):\n        x = x / k\n    return x"
CLASS = "class f:\n    base = 1\n    half = base / 2\n    def __new__(cls, x):\n"
CLASS += "        return x * cls.half"


def line_of(listing: str, change: str) -> ChangedLine:
    lines = changed_lines(listing, given=())
    return next(one for one in lines if one.change == change)


def cause(listing: str, change: str, *calls: str, changed: str = "A") -> str:
    line = line_of(listing, change)
    part, student = part_of(listing, line), LocalStudent([RUN_INSIDE])
    assert part is not None
    values = [
        read_results(student["run_calls"](source, "f", list(calls), True), len(calls))
        for source in part.sources
    ]
    return cause_of(line, part, values, "ABCDE"[: len(calls)], changed)


def test_the_inputs_of_the_changed_part_have_their_values() -> None:
    assert cause(SCALED, "x / n ** 0.5 -> x", "f(tensor([2., 6.]))") == (
        "The change turns `x / n ** 0.5` into `x`. A: `x` is [2, 6] and `n ** 0.5` "
        "is 2, so this part is [1, 3] before and is [2, 6] after."
    )


def test_an_input_without_effect_says_why() -> None:
    said = cause(
        FILLED,
        "-1000000000.0 -> 0.0",
        "f(tensor([0., 0]), tensor([False, True]))",
        "f(tensor([0., 0]), tensor([False, False]))",
        "f(tensor([0., 0]))",
        "f(tensor([0.]), tensor([True]))",
    )
    turned, a, b, c, d = said.replace(". ", ".\n").splitlines()
    assert turned.endswith(
        "`x.masked_fill(mask, -1e9)` into `x.masked_fill(mask, 0.0)`."
    )
    assert "this part is [0, -1e+09] before and is [0, 0] after." in a
    assert b.endswith(
        "`mask` is [False, False], so the value of this part does not change."
    )
    assert c == "C: this part does not run."
    assert d.endswith(
        "is [-1e+09] before and is [0] after, but the result is the same."
    )


def test_a_small_change_of_the_part_is_not_called_none() -> None:
    said = cause(SMALL, "x + 1e-09 -> x", "f(tensor([0.]))", "f(tensor([1.]))")
    assert "A: `x` is [0], so this part changes by at most 1e-09." in said
    assert "B: `x` is [1], so the value of this part does not change." in said


def test_an_error_is_named_only_where_it_happens() -> None:
    said = cause(
        "def f(x):\n    return x.sum(dim=1)", "dim=1 -> dim=2", "f(ones(1, 1))"
    )
    assert said.endswith("this part is [1] before, and raises an error after.")
    said = cause(SHAPED, "x.size(-1) -> x.size(-2)", "f(tensor([[1.], [2]]))")
    assert said.endswith("so this part is 1 before and is 2 after.")


@pytest.mark.parametrize(
    ("listing", "change"), [(LOOP, "x / k -> x"), (CLASS, "base / 2 -> base")]
)
def test_a_part_that_does_not_run_once_has_no_values(listing: str, change: str) -> None:
    before, after = change.split(" -> ")
    only = f"The change turns `{before}` into `{after}`."
    assert cause(listing, change, "f(tensor([2.]))") == only


def test_a_part_without_a_value_has_only_the_change() -> None:
    listing = "def f(x):\n    n = -1e9\n    return x + n"
    line = line_of(listing, "-1000000000.0 -> 0.0")
    assert part_of(listing, line) is None
    said = cause_of(line, None, [], "A", "A")
    assert said == "The change turns `-1e9` into `0.0`."

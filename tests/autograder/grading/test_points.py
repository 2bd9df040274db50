"""Checks become points, and a check that did not run earns nothing."""

import dataclasses

import pytest

from autograder.grading.check_results import score_of, scores_of
from autograder.grading.feedback_table import as_html, as_text, graded_outputs
from autograder.grading.hidden_checks import BrokenChecks, checks_with_points
from autograder.grading.points import run_checks
from autograder.sandbox import LocalStudent
from autograder.unit import GradedUnit

RIGHT = """
import torch
from torch import nn

def double(x):
    return 2 * x

def quadruple(x):
    return double(double(x))

class Scaler(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
    def forward(self, x):
        return x * self.weight
"""


def results_of(unit, *cells, **kwargs):
    return run_checks(unit, LocalStudent([RIGHT, *cells]), **kwargs)


def statuses(results):
    return {result.name.removeprefix("test_"): result.status for result in results}


def unit_with(tmp_path, source, **points):
    path = tmp_path / "test_some.py"
    path.write_text("from autograder.checking.expect import *\n" + source)
    return GradedUnit("some", path, points, None, tmp_path)


def test_right_answers_get_every_point(tiny_unit):
    results = results_of(tiny_unit)
    assert {result.status for result in results} == {"passed"}
    assert score_of(results) == 70
    by_name = {r.name: r.points for r in results}
    assert by_name["test_double_shape"] == 6.67
    assert by_name["test_double_values"] == 13.33


def test_wrong_answers_lose_theirs_and_hear_why(tiny_unit):
    results = results_of(tiny_unit, "def double(x):\n    return x * x")
    failed = {r.name: r for r in results if r.status == "failed"}
    assert set(failed) == {"test_double_values", "test_quadruple_values"}
    assert failed["test_double_values"].mistake == "the square"
    assert failed["test_double_values"].hint == "Multiply by 2."


def test_a_student_who_is_gone_is_not_run_from_there_on(tiny_unit):
    never = (
        "from autograder.sandbox import NeverReturns\n"
        "def double(x):\n    raise NeverReturns"
    )
    results = results_of(tiny_unit, never)
    assert [r.status for r in results[:2]] == ["not run", "not run"]
    assert results[0].message.startswith("Not run: ")
    assert scores_of(results) == {"double": 0, "quadruple": 0, "scaler": 40}


def test_reading_the_source_alone_earns_nothing(tiny_unit):
    empty = "class Scaler:\n    pass"
    results = results_of(tiny_unit, empty)
    assert statuses(results)["scaler_is_written"] == "failed"
    assert [r.points for r in results if r.exercise == "scaler"] == [0, 0, 0]


FORM = """
@check('e', share=1, title='shape', form=True)
def test_shape(student, draw):
    expect_shape(student.double(draw.normal(2, 3)), (2, 3), 'it')

@check('e', share=3, title='values')
def test_values(student, draw):
    x = draw.normal(2, 3)
    expect_close(student.double(x), 2 * x, 'it')
"""


@pytest.mark.parametrize(("answer", "score"), [("2 * x", 4), ("torch.zeros(2, 3)", 0)])
def test_form_pays_only_where_values_are_right(tmp_path, answer, score):
    cell = f"def double(x):\n    return {answer}\n"
    results = results_of(unit_with(tmp_path, FORM, e=4.0), cell)
    assert score_of(results) == score
    told = "" if score else "This counts as soon as a check of the exercise's values"
    assert results[0].message.startswith(told)


GUESSES = """
@check('e', share=1, title='ordinary')
def test_ordinary(student, draw):
    expect_close(student.double(torch.ones(2)), torch.full((2,), 2.0), 'it')

@check('e', share=1, title='large')
def test_large(student, draw):
    with blame('code for small numbers'):
        expect_close(student.double(torch.tensor(99.0)), 198.0, 'it')

@check('e', share=1, title='a batch')
def test_batch(student, draw):
    with blame('code for one axis'):
        expect_close(student.double(torch.ones(2, 3)), torch.full((2, 3), 2.0), 'it')

@check('e', share=1, title='shape', form=True)
def test_shape(student, draw):
    expect_shape(student.double(torch.tensor(99.0)), (), 'it')
"""


@pytest.mark.parametrize(
    ("answer", "guess"),
    [
        ("return 2 * x.clamp(max=9)", "code for small numbers"),
        ("return 2 * x if x.dim() < 2 else x", "code for one axis"),
        ("return (2 * x.clamp(max=9)).flatten()", None),  # two guesses
        ("return 3 * x", None),  # the ordinary case also fails
        ("return 2 * x.min() if x.dim() != 1 else 3 * x", None),
        ("if x.dim() < 1:\n        return [x]\n    return 2 * x", "code for small"),
    ],
)
def test_a_guess_is_said_where_it_explains_all_that_failed(tmp_path, answer, guess):
    imports = "import torch\nfrom autograder.checking.behaviour import blame\n"
    unit = unit_with(tmp_path, imports + GUESSES, e=4.0)
    results = results_of(unit, f"def double(x):\n    {answer}\n")
    said = {one.mistake for one in results if one.mistake}
    told = [one for one in results if "This looks like" in one.message]
    if guess is None:
        assert not said and not told
        assert any(one.status == "failed" for one in results)
    else:
        assert len(said) == 1 and said.pop().startswith(guess)
        assert told and all(one.status == "failed" for one in told)


def test_a_guess_explains_an_error_in_the_same_line(tmp_path):
    checks = """
@check('e', share=1, title='values')
def test_values(student, draw):
    expect_close(student.double(torch.ones(2, 2)), torch.ones(2, 2), 'it')

@check('e', share=1, title='axes')
def test_axes(student, draw):
    with blame('code that needs a square'):
        expect_close(student.double(torch.ones(2, 3)), torch.ones(2, 3), 'it')
"""
    imports = "import torch\nfrom autograder.checking.behaviour import blame\n"
    unit = unit_with(tmp_path, imports + checks, e=4.0)
    results = results_of(unit, "def double(x):\n    return x.view(7)\n")
    assert {one.mistake for one in results} == {None, "code that needs a square"}


def test_what_is_banned_earns_nothing_and_costs_no_other_exercise(tiny_unit):
    banned = (
        "class Scaler(nn.Linear):\n"
        "    def __init__(self, size):\n"
        "        super().__init__(1, 1, bias=False)\n"
        "        self.weight = nn.Parameter(torch.ones(size))\n"
        "    def forward(self, x):\n"
        "        return x * self.weight\n"
    )
    results = results_of(tiny_unit, banned)
    own = [r for r in results if r.exercise == "scaler"]
    assert {r.points for r in own} == {0} and {r.status for r in own} == {"failed"}
    (found,) = [r for r in own if r.name == "test_scaler_is_written"]
    assert found.message.startswith("Scaler uses torch.nn.Linear, which this exercise")
    told = {r.message for r in own if r is not found}
    assert all(words.startswith("Does not count: ") for words in told)
    assert all(f"see “{found.title}”" in words for words in told)
    assert score_of(results) == 30


def test_unwritten_exercises_are_not_asked(tiny_unit):
    results = results_of(tiny_unit, unwritten={"scaler"})
    told = {r.message for r in results if r.exercise == "scaler"}
    assert told == {"This exercise is not written yet."}
    assert score_of(results) == 30


def test_what_a_check_did_not_foresee_fails_it(tmp_path):
    unit = unit_with(
        tmp_path,
        "@check('e', share=1, title='t')\ndef test_it(student, draw):\n"
        "    a, b, c = student.double(1)\n",
        e=4.0,
    )
    (result,) = results_of(unit)
    assert result.status == "failed"
    assert "of the wrong type" in result.message


def test_points_of_an_exercise_add_up(tmp_path):
    source = "".join(
        f"@check('e', share={share}, title='t')\ndef test_{n}(student): pass\n"
        for n, share in enumerate((1, 1, 1, 3, 1))
    )
    checks = checks_with_points(unit_with(tmp_path, source, e=10.0))
    assert [c.max_points for c in checks] == [1.43, 1.43, 1.43, 4.29, 1.42]


@pytest.mark.parametrize(
    ("source", "points", "words"),
    [
        ("", {"e": 1.0}, "no function marked"),
        (
            "@check('e', 1, 't')\ndef test_a(student): pass\n",
            {},
            "no graded cell for e",
        ),
        (
            "@check('e', 1, 't')\ndef test_a(student): pass\n",
            {"e": 1.0, "f": 1.0},
            "no hidden check for f",
        ),
        ("@check('e', 1, 't')\ndef test_a(gold): pass\n", {"e": 1.0}, "asks for gold"),
    ],
)
def test_broken_checks_are_named(tmp_path, source, points, words):
    with pytest.raises(BrokenChecks, match=words):
        checks_with_points(unit_with(tmp_path, source, **points))


def test_the_report_names_checks_points_and_hints_and_escapes(tiny_unit):
    results = results_of(tiny_unit, "def double(x):\n    raise ValueError('<script>')")
    text, html = as_text(results[:2]), as_html(results[:2])
    for words in ("Every value is doubled", "Multiply by 2."):
        assert words in text and words in html
    assert "<script>" not in html and "&lt;script&gt;" in html
    report, score = graded_outputs(results[:2])
    assert report.output_type == "display_data"
    assert score.output_type == "execute_result"
    assert score.data["text/plain"] == "0"


def test_a_score_is_never_above_the_points(tiny_unit):
    results = results_of(tiny_unit)
    more = [dataclasses.replace(r, points=r.points + 1) for r in results]
    assert score_of(more) == 70

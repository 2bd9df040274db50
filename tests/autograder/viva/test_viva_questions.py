"""The stated answers are true, and the questions quote only the student's own code."""

import math
import re
from dataclasses import replace

import pytest
import torch
from viva_students import UNIT_04, answer_cells, hand_in, proof, runner_of, styled

from autograder.sandbox.limits import Limits
from autograder.viva.effects import exact, kind_of_change, read_results, shown
from autograder.viva.listing import (
    ChangedLine,
    changed_lines,
    given_lines,
    listing_of,
)
from autograder.viva.questions import (
    EASY,
    LETTERS,
    WRONG_CHOICES,
    Question,
    choose,
    questions_about,
)
from autograder.viva.sheets import Sheet, make_sheet

pytestmark = pytest.mark.integration


@pytest.fixture
def sheet_of(solution, tmp_path):
    """Make the sheet of a student with some answers."""

    def made(answers, student="ann") -> Sheet:
        number = len(list(tmp_path.iterdir()))
        submission = hand_in(tmp_path / str(number), student, answers)
        sheet = make_sheet(solution, proof(UNIT_04).graded, submission, Limits())
        assert sheet.questions, sheet.reason
        return replace(sheet, submission=replace(submission, path=tmp_path))

    return made


def number_in(text: str) -> float:
    """Read a number as the sheet prints it, such as 3√2/2 or 2 ln 3."""
    text = re.sub(r"√(\d)", r"*math.sqrt(\1)", text)
    text = re.sub(r" ?ln (\d)", r"*math.log(\1)", text)
    return eval(re.sub(r"^(-?)\*", r"\g<1>1*", text), {"math": math, "nan": math.nan})


def numbers_in(text: str) -> torch.Tensor:
    return torch.tensor(
        [number_in(one) for one in re.findall(r"[^][(),\s][^][(),]*", text)]
    )


def flat(result) -> torch.Tensor:
    return torch.cat([part.float().flatten() for part in result])


def differ(one, other) -> bool:
    if isinstance(one, str) or isinstance(other, str):
        return one != other
    if [part.shape for part in one] != [part.shape for part in other]:
        return True
    return not torch.allclose(flat(one), flat(other), equal_nan=True)


@pytest.mark.parametrize("number", range(4))
def test_each_answer_is_true_when_the_printed_line_runs_again(number, sheet_of):
    answers = styled(number)
    run = runner_of([*answer_cells(UNIT_04), *answers.values()])
    sheet = sheet_of(answers)
    assert len(sheet.questions) == 3
    assert {one.form for one in sheet.questions} & set(EASY)
    assert "which" in {one.form for one in sheet.questions}
    for one in sheet.questions:
        text, calls = sheet.listings[one.function]
        lines = text.splitlines()
        assert one.changed is not None
        at = one.changed.number - 1
        assert lines[at].strip() == one.changed.old and one.changed.old in one.text
        assert one.changed.new in one.text
        lines[at] = lines[at].replace(one.changed.old, one.changed.new)
        before = run(None, one.function, calls)
        after = run("\n".join(lines), one.function, calls)
        pairs = dict(zip(LETTERS, zip(before, after, strict=True), strict=False))
        if one.form == "which":
            changed = [letter for letter, pair in pairs.items() if differ(*pair)]
            assert one.right == ", ".join(changed)
            continue
        old, new = pairs[one.letter]
        if one.form == "shape":
            assert one.right == shown_shape(new)
        elif one.form == "factor":
            factor = number_in(one.right)
            assert torch.allclose(flat(new), factor * flat(old), atol=1e-5)
        else:
            found = numbers_in(one.right)
            assert torch.allclose(found, flat(new), atol=1e-5, equal_nan=True)


def shown_shape(result) -> str:
    shapes = [str(tuple(part.shape)) for part in result]
    return shapes[0] if len(shapes) == 1 else f"({', '.join(shapes)})"


def test_comments_and_blank_lines_change_nothing_and_other_code_does(sheet_of):
    answers = styled(0)
    commented = {
        name: "# my answer\n\n"
        + source.replace("\n    return", "\n\n    # so\n    return")
        for name, source in answers.items()
    }
    assert commented != answers
    assert sheet_of(commented) == sheet_of(answers)
    assert sheet_of(styled(1)).questions != sheet_of(answers).questions
    assert sheet_of(answers, "bo").questions != sheet_of(answers).questions


def test_each_question_has_distinct_wrong_choices(sheet_of):
    for number in range(3):
        for one in sheet_of(styled(number)).questions:
            assert 0 < len(set(one.wrong)) == len(one.wrong) <= WRONG_CHOICES
            assert one.right not in one.wrong


def test_a_wrong_function_gets_a_question_about_its_own_result(sheet_of):
    answers = styled(0)
    answers["attention-scores"] = (
        "def attention_scores(query, key):\n    return query @ key.transpose(-2, -1)\n"
    )
    sheet = sheet_of(answers)
    own = next(one for one in sheet.questions if one.function == "attention_scores")
    assert own.form == "own" and own.changed is None
    calls = sheet.listings["attention_scores"][1]
    call = calls[LETTERS.index(own.letter)]
    wrong = runner_of([*answer_cells(UNIT_04), *answers.values()])
    right = runner_of(answer_cells(UNIT_04))
    mine, correct = (
        shown(run(None, own.function, [call])[0]) for run in (wrong, right)
    )
    assert mine != correct
    assert own.right == f"Your function: {mine}. Correct: {correct}."
    assert own.cause == "Each number is 2 times the correct one."


def test_the_cause_of_a_wrong_result_is_one_of_its_lines(sheet_of):
    answers = styled(0)
    answers["masked-softmax"] = (
        "def masked_softmax(scores, mask=None):\n"
        "    if mask is not None:\n"
        "        scores = scores.masked_fill(~mask, float('-inf'))\n"
        "    return scores.softmax(dim=-2).nan_to_num(0.0)\n"
    )
    sheet = sheet_of(answers)
    own = next(one for one in sheet.questions if one.form == "own")
    assert own.cause.endswith(
        "If line 4 were `return scores.softmax(dim=-1).nan_to_num(0.0)`, the results "
        "for all inputs of the sheet would be correct."
    )


def test_a_factor_leaves_0_as_it_is():
    runs = {
        one: [(torch.tensor([0.0, 4.0]),), (torch.tensor([2.0, 4.0]),)]
        for one in changed_lines("def f(x):\n    return x / 2", given=())[:1]
    }
    own = [(torch.tensor([0.0, 2.0]),), (torch.tensor([1.0, 2.0]),)]
    a, b = (one.text for one in questions_about("f", own, runs, ""))
    assert "would each number except 0 change" in a
    assert "would each number change" in b


def test_given_code_is_never_changed():
    graded = proof("05").graded
    given = given_lines(graded.released)
    stub = next(one.source for one in graded.released.cells if one.id == "split-heads")
    text = listing_of(stub, "split_heads")
    assert text and changed_lines(text, given) == []
    reformatted = (
        "def split_heads(x, n_heads):\n"
        "    if x.size( -1 ) % n_heads:  # as given\n"
        "        raise ValueError('no')\n"
        "    b, t, d = x.shape\n"
        "    return x.view(b, t, n_heads, d // n_heads).transpose(1, 2)\n"
    )
    changed = changed_lines(listing_of(reformatted, "split_heads"), given)
    last = "return x.view(b, t, n_heads, d // n_heads).transpose(1, 2)"
    assert {one.old for one in changed} == {last}


def test_a_changed_line_differs_in_one_line_only():
    source = "def f(x, mask):\n    '''Doc.'''\n    y = x.masked_fill(mask, -1e9)\n"
    source += "    return (y / 2).sum(dim=-1, keepdim=True)  # end\n"
    text = listing_of(source, "f")
    assert text.splitlines()[1] == "    y = x.masked_fill(mask, -1e9)"
    changed = changed_lines(text, given=())
    assert {one.new for one in changed} >= {
        "y = x.masked_fill(mask, 0.0)",
        "y = x.masked_fill(mask, float('-inf'))",
        "return y.sum(dim=-1, keepdim=True)",
        "return (y / 2).sum(dim=-2, keepdim=True)",
        "return (y / 2).sum(dim=-1, keepdim=False)",
    }
    for one in changed:
        pairs = zip(text.splitlines(), one.source.splitlines(), strict=True)
        assert [a.strip() for a, b in pairs if a != b] == [one.old]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (-0.125, "-1/8"),
        (0.015625, "1/64"),
        (math.sqrt(2) * 1.5, "3√2/2"),
        (-math.log(3), "-ln 3"),
        (2 * math.log(2), "2 ln 2"),
        (0.5623, None),
        (math.nan, "nan"),
    ],
)
def test_numbers_are_written_as_on_paper(number, text):
    assert exact(number) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (2.06e-9, "≈0"),  # not 0, because a division can make it large
        (-6e-8, "≈0"),
        (0.0, "0"),
        (632.4545, "632.5"),  # near 6957/11 by chance
        (15811.388, "1.581e+04"),  # near 22811 ln 2 by chance
        (-1000.0, "-1000"),
        (99.5, "199/2"),
    ],
)
def test_a_printed_number_claims_no_exact_value_that_it_lacks(number, text):
    assert shown((torch.tensor(number, dtype=torch.float64),)) == text


def test_a_result_of_two_tensors_on_paper_shows_its_numbers():
    weights = torch.full((1, 2, 3, 3), 1 / 3)
    assert shown((torch.ones(1, 3, 4), weights)).count("1/3") == 18


def asked(function: str, number: int, change: str, form: str, is_weak=False):
    line = ChangedLine(number, "old", "new", change, "", is_weak)
    return Question(function, form, line, "A", change + form, "A", "", (), is_weak)


def test_a_guess_and_a_mere_error_are_not_asked_about():
    line = ChangedLine(1, "x <= 0", "x < 0", "<= -> <", "", is_weak=True)
    one, no = (torch.tensor([True]),), (torch.tensor([False]),)
    both, none = (torch.tensor([True, True]),), (torch.tensor([False, True]),)
    (value,) = questions_about("f", [one, both], {line: [no, none]}, "salt")
    assert (value.form, value.letter) == ("value", "B")
    runs = {line: [one, "RuntimeError"]}
    assert list(questions_about("f", [one, both], runs, "salt")) == []
    runs = {replace(line, is_weak=False): [one, "RuntimeError"]}
    (which,) = questions_about("f", [one, both], runs, "salt")
    assert which.form == "which" and which.is_weak


def test_no_question_asks_which_inputs_change_if_one_changes_by_a_little():
    line = ChangedLine(1, "v + eps", "v", "v + eps -> v", "", is_weak=False)
    own = [(torch.tensor([1 - 5e-6, 2]),), (torch.tensor([1.0, 0]),)]
    for tiny, forms in ((0.0, ["value"]), (5e-6, ["which", "value"])):
        new = [(torch.tensor([1 - tiny, 2]),), (torch.tensor([1.0, 3]),)]
        asked = questions_about("f", own, {line: new}, "salt")
        assert [one.form for one in asked] == forms


def test_a_shape_with_repeated_numbers_is_weak():
    line = ChangedLine(1, "a", "b", "a -> b", "", is_weak=False)
    own = (torch.ones(1, 1, 4), torch.ones(1, 2, 1, 2))
    wide = (torch.ones(1, 2, 4), torch.ones(1, 2, 2, 2))
    turned = (torch.ones(1, 4, 1), torch.ones(1, 2, 1, 2))
    for new, is_weak in ((wide, True), (turned, False)):
        (shape,) = questions_about("f", [own], {line: [new]}, "salt")
        assert shape.form == "shape" and shape.is_weak == is_weak


def test_no_change_makes_a_slice_end_at_minus_0():
    changed = changed_lines("def f(x):\n    return (x[:-1], x[1:])", given=())
    assert changed and not any("-0" in one.new for one in changed)


def test_other_lines_and_changes_come_before_repetitions():
    unsqueezed = "x.unsqueeze(1) -> x.unsqueeze(2)"
    first = asked("f", 1, "a -> b", "shape")
    which = asked("f", 2, unsqueezed, "which")
    again = asked("g", 1, unsqueezed, "which")
    same_line = asked("f", 1, "c -> d", "value")
    far = asked("g", 2, "e -> f", "value")
    weak = asked("g", 3, "k -> l", "which", is_weak=True)
    for salt in "abcdef":
        chosen = choose([first, far, which, again], salt)
        assert len(chosen) == 3 and not {which, again} <= set(chosen)
        chosen = choose([first, which, same_line, far], salt)
        assert len(chosen) == 3 and not {first, same_line} <= set(chosen)
        assert set(choose([first, which, again, weak], salt)) == {first, which, again}


def test_the_same_dropped_call_in_two_functions_is_a_repetition():
    dropped = [asked(f, 1, f"{f}(x).clamp(min=0) -> {f}(x)", "which") for f in "fg"]
    others = [asked("f", 2, "a -> b", "shape"), asked("f", 3, "c -> d", "value")]
    for salt in "abcdef":
        chosen = choose([*dropped, *others], salt)
        assert len(chosen) == 3 and not set(dropped) <= set(chosen)


def test_a_result_that_depends_on_earlier_calls_is_not_asked_about(sheet_of):
    answers = styled(0)
    answers["attention-scores"] = (
        "def attention_scores(query, key, kept=[]):\n"
        "    kept.append(query @ key.mT / query.size(-1) ** 0.5)\n"
        "    return kept[0]\n"
    )
    functions = {one.function for one in sheet_of(answers).questions}
    assert functions and "attention_scores" not in functions


def test_a_quotient_of_1_keeps_its_divisor():
    changed = changed_lines("def f(x):\n    return 1 / (x / 2) ** 0.5", given=())
    instructive = {one.change for one in changed if not one.is_weak}
    assert instructive == {"x / 2 -> x", "(x / 2) ** 0.5 -> (x / 2) ** 1"}


def test_the_size_of_the_batch_is_no_other_axis():
    text = "def f(x):\n    return x.view(x.size(0), x.size(1), -1)"
    assert {one.change for one in changed_lines(text, given=())} >= {
        "x.size(1) -> x.size(2)"
    }
    instructive = [one for one in changed_lines(text, given=()) if not one.is_weak]
    assert [one.change for one in instructive] == ["x.size(1) -> x.size(2)"]


def test_a_change_that_may_be_rounding_is_unclear():
    old, far = (torch.tensor([1.0, 2.0]),), (torch.tensor([2.0, 4.0]),)
    assert kind_of_change(old, (torch.tensor([1.001, 2.0]),)) == "unclear"
    assert kind_of_change(old, (old[0].double(),)) == "unclear"
    assert kind_of_change(old, old) == "same"
    assert kind_of_change(old, far) == "factor"
    assert kind_of_change(old, (torch.tensor([[1.0, 2.0]]),)) == "shape"
    assert kind_of_change(old, "ValueError") == "error"


@pytest.mark.parametrize(
    "reply",
    [
        None,
        [],
        [("value", "text")],
        [("value", torch.zeros(10_000))],
        [("value", 10**400)],
        [("value", torch.zeros(2, dtype=torch.complex64))],
        [("value", ())],
        ["value"],
    ],
)
def test_an_odd_reply_gives_no_results(reply):
    assert read_results(reply, 1) is None


def test_a_result_with_many_axes_has_a_question_at_once():
    line = ChangedLine(1, "return x", "return -x", "x -> -x", "", is_weak=False)
    many = torch.ones(2, *[1] * 20, 3)
    runs = {line: [(many,)]}
    (asked,) = questions_about("f", [(torch.ones(2),)], runs, "salt")
    assert asked.form == "shape" and asked.right == str(tuple(many.shape))

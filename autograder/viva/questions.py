"""Write questions about changed lines from test runs, and choose three of them.

A question is only about results that the program has computed. It never claims that a
change has no effect on any input.
"""

import hashlib
import itertools
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import torch

from autograder.phrases import Phrase
from autograder.viva import NUMBER
from autograder.viva.effects import (
    Result,
    agree,
    exact,
    factor_of,
    is_by_hand,
    kind_of_change,
    shapes_of,
    shown,
    shown_shapes,
)
from autograder.viva.listing import ChangedLine

LETTERS = "ABCDE"
EASY, HARD, OWN = ("shape", "factor", "value"), ("which",), ("own",)
WORTH = {"own": 20, "which": 12, "factor": 9, "shape": 8, "value": 7}
WEAK = 5  # a weak question is worth this much less
WRONG_CHOICES = 3
MOST_ORDERS = 24  # of a shape's sizes; all orders of 32 sizes need too much memory


@dataclass(frozen=True)
class Question:
    """Hold a question about one line or about a wrong result.

    Attributes:
        function: the function or class.
        form: a key of `WORTH`.
        changed: the changed line, or None if the question is about a wrong result.
        letter: the letter of the input that the question names, or "".
        text: the question.
        right: the answer in the form of a choice for a quiz.
        answer: the answer with the results, written in English for the examiner.
        cause: why the answer is true, written in English for the examiner.
        wrong: wrong choices for a quiz.
        is_weak: whether a better question should replace this one.
    """

    function: str
    form: str
    changed: ChangedLine | None
    letter: str
    text: str
    right: str
    answer: str
    wrong: tuple[str, ...]
    is_weak: bool = False
    cause: str = ""


def shuffled(texts: Collection[str], salt: str) -> tuple[str, ...]:
    """Return the texts in an order that depends only on the texts and the salt."""
    return tuple(sorted(texts, key=lambda text: _hash(salt, text)))


def own_result_question(
    name: str,
    own: Sequence[Result],
    right: Sequence[Result],
    runs: Mapping[ChangedLine, Sequence[Result]],
) -> Question:
    """Return a question about the first wrong result of a function.

    Args:
        name: the function.
        own: the results of the student's function, in the order of the letters.
        right: the correct results.
        runs: the results with each changed line, one of which may be correct.
    """
    pairs = zip(LETTERS, own, right, strict=False)
    letter, mine, correct = next(one for one in pairs if not agree(*one[1:]))
    text = Phrase(
        "For input {letter}, {name} does not return the correct result. What does "
        "your function return, what is correct, and which line causes the difference?",
        *(letter, f"`{name}`"),
    )
    a, b = shown(mine), shown(correct)
    answer, *wrong = (
        Phrase("Your function: {own}. Correct: {right}.", *pair)
        for pair in ((a, b), (b, a), (a, a), (b, b))
    )
    cause = _difference(mine, correct)
    repairs = [line for line, new in runs.items() if all(map(agree, new, right))]
    if repairs:
        cause += (
            f" If line {repairs[0].number} were `{repairs[0].new}`, the results for "
            "all inputs of the sheet would be correct."
        )
    choices = answer, answer, tuple(wrong)
    return Question(name, "own", None, letter, text, *choices, cause=cause)


def _difference(mine: Result, correct: Result) -> str:
    """Describe how a wrong result differs from the correct result."""
    if isinstance(mine, str):
        return f"The function ends with {mine}."
    if shapes_of(mine) != shapes_of(correct):
        return f"Its shape is {shown_shapes(mine)} instead of {shown_shapes(correct)}."
    factor = factor_of(correct, mine)
    if factor:
        shown_factor = exact(factor) or f"{factor:.4g}"
        return f"Each number is {shown_factor} times the correct one."
    return "The shape is correct, and some values are wrong."


def questions_about(
    name: str,
    own: Sequence[Result],
    runs: Mapping[ChangedLine, Sequence[Result]],
    salt: str,
) -> Iterator[Question]:
    """Yield the questions about all changed lines of a correct function.

    Args:
        name: the function.
        own: the results of the function, in the order of the letters.
        runs: the results with each changed line.
        salt: determines which wrong choices a quiz has.
    """
    for line, new in runs.items():
        kinds = [kind_of_change(*pair) for pair in zip(own, new, strict=True)]
        if "unclear" in kinds:
            continue
        suppose = Phrase(
            "Line {number} of {name} is {code}. Suppose it were {quoted}.",
            *(line.number, f"`{name}`", f"`{line.old}`", f"`{line.new}`"),
        )
        if 0 < len(kinds) - kinds.count("same") < len(kinds):
            only_errors = set(kinds) == {"same", "error"}
            if not (line.is_weak and only_errors) and not _has_tiny(own, new, kinds):
                parts = _which(suppose, own, new, kinds, salt)
                is_weak = line.is_weak or only_errors
                yield Question(name, "which", line, "", *parts, is_weak)
        for at, kind in enumerate(kinds):
            can_ask = kind == "shape" or (
                is_by_hand(own[at]) and is_by_hand(new[at]) and not _is_truth(new[at])
            )
            if kind in EASY and can_ask:
                others = [run[at] for run in runs.values()]
                where = suppose, LETTERS[at]
                asked = _about_input(kind, where, own[at], new[at], others)
                form, found = asked[0], asked[1:]
                is_weak = line.is_weak or _is_repeated(own[at], new[at])
                yield Question(name, form, line, LETTERS[at], *found, is_weak)


def _has_tiny(
    own: Sequence[Result], new: Sequence[Result], kinds: Sequence[str]
) -> bool:
    """Return whether a result that counts as the same has changed a little.

    For example, `eps` changes a result by 0.000005, so the answer could be disputed.
    """
    runs = zip(own, new, kinds, strict=True)
    return any(kind == "same" and not agree(a, b, 1e-6) for a, b, kind in runs)


def _is_truth(result: Result) -> bool:
    """Return whether a result is only True or False, which a student can guess."""
    if isinstance(result, str) or len(result) > 1:
        return False
    return result[0].numel() == 1 and result[0].dtype == torch.bool


def _is_repeated(old: Result, new: Result) -> bool:
    """Return whether broadcasting may have repeated numbers, so that axes mean little.

    For example, the axis of the heads and that of the positions may be mixed up.
    """
    if isinstance(old, str) or isinstance(new, str):
        return False
    sizes = [(a.numel(), b.numel()) for a, b in zip(old, new, strict=False)]
    return any(b > a and b % a == 0 for a, b in sizes if a)


def _which(
    suppose: str,
    own: Sequence[Result],
    new: Sequence[Result],
    kinds: Sequence[str],
    salt: str,
) -> tuple[str, str, str, tuple[str, ...]]:
    """Ask which inputs reveal a change.

    Returns:
        The text, the right choice, the answer and the wrong choices.
    """
    letters = LETTERS[: len(kinds)]
    text = Phrase(
        "{suppose} For which of the inputs A to {last} would the result change or an "
        "error occur? Say why, and why not for the others.",
        *(suppose, letters[-1]),
    )
    at = [number for number, kind in enumerate(kinds) if kind != "same"]
    right = ", ".join(letters[one] for one in at)
    results = [f"{letters[one]}: {_instead(own[one], new[one])}" for one in at]
    answer = f"Only {right}. {' '.join(results)}"
    sets = {
        ", ".join(chosen)
        for size in (len(at) - 1, len(at), len(at) + 1)
        for chosen in itertools.combinations(letters, size)
    }
    wrong = shuffled(sets - {right, ""}, salt + text)
    return text, right, answer, wrong[:WRONG_CHOICES]


def _about_input(
    kind: str,
    where: tuple[str, str],
    old: Result,
    new: Result,
    others: Sequence[Result],
) -> tuple[str, str, str, str, tuple[str, ...]]:
    """Ask for a shape, a factor or numbers.

    Returns:
        The form, the text, the right choice, the answer and the wrong choices.
    """
    factor = exact(factor_of(old, new) or 0.0)
    if kind == "shape":
        text = Phrase(
            "{suppose} For input {letter}, no error occurs. Which shape would the "
            "result have, and what would each axis mean?",
            *where,
        )
        right, before = shown_shapes(new), shown_shapes(old)
        answer = _instead(old, new)
        shape = shapes_of(new)[0]
        orders = itertools.islice(itertools.permutations(shape), MOST_ORDERS)
        near = [*orders, shape[1:], (1, *shape)]
        wrong = [before, *(shown_shapes(one) for one in others if shapes_of(one))]
        wrong += map(str, near if len(new) == 1 else ())
    elif kind == "factor" and factor not in (None, "0", "-1"):
        text = _factor_text(*where, shown(old), _has_zero(old))
        right, value = str(factor), factor_of(old, new) or 1.0
        answer = f"{right}: {_instead(old, new)}"
        near_values = (1 / value, value**2, 2 * value, value / 2)
        wrong = [exact(one) or f"{one:.4g}" for one in near_values]
    else:
        kind = "value"
        text = Phrase(
            "{suppose} For input {letter}, your function returns {old}. What would it "
            "return?",
            *(*where, shown(old)),
        )
        right = answer = shown(new)
        same_shape = [one for one in others if shapes_of(one) == shapes_of(new)]
        wrong = [shown(one) for one in (old, *same_shape)]
    wrong = [one for one in dict.fromkeys(wrong) if one != right]
    return kind, text, right, answer, tuple(wrong[:WRONG_CHOICES])


def _has_zero(result: Result) -> bool:
    return any(not isinstance(one, str) and not one.all() for one in result)


def _factor_text(suppose: str, letter: str, old: str, has_zero: bool) -> Phrase:
    """Ask for a factor; zeros in a result do not reveal the factor."""
    if has_zero:
        return Phrase(
            "{suppose} For input {letter}, your function returns {old}. By what "
            "factor would each number except 0 change, and where does that factor "
            "come from?",
            *(suppose, letter, old),
        )
    return Phrase(
        "{suppose} For input {letter}, your function returns {old}. By what "
        "factor would each number change, and where does that factor come from?",
        *(suppose, letter, old),
    )


def _instead(old: Result, new: Result) -> str:
    if isinstance(new, str) or shapes_of(old) == shapes_of(new):
        return f"{shown(new)} instead of {shown(old)}."
    shapes = f"shape {shown_shapes(new)} instead of {shown_shapes(old)}"
    values = shown(new)
    return f"{shapes}." if values == shown_shapes(new) else f"{values}, {shapes}."


def choose(questions: Collection[Question], salt: str) -> tuple[Question, ...]:
    """Choose an easy question, a hard one and a third one.

    The choice is the same for the same code. If possible, the questions are about
    different changes, lines and functions.
    """

    def rank(one: Question) -> float:
        chance = int(_hash(salt, one.text)[:4], 16) / 0xFFFF
        size = one.right.count(",") if one.form == "which" else 0
        return 3 * chance + WORTH[one.form] - size - WEAK * one.is_weak

    chosen: list[Question] = []
    ranked = sorted(questions, key=rank, reverse=True)
    for forms in (EASY, HARD, (*OWN, *HARD, *EASY), (*HARD, *EASY)):
        fitting = [one for one in ranked if one.form in forms
                   and not any(_clash(one, other) for other in chosen)]  # fmt: skip
        used = {one.function for one in chosen}
        fitting.sort(
            key=lambda one: (
                one.is_weak,
                max((_repetition(one, other) for other in chosen), default=0),
                one.function in used,
            )
        )
        if len(chosen) < NUMBER:
            chosen += fitting[:1]
    return tuple(chosen)


def _clash(one: Question, other: Question) -> bool:
    if one.function != other.function or None in (one.changed, other.changed):
        return one.function == other.function
    same_line = one.changed.number == other.changed.number  # type: ignore[union-attr]
    same_change = one.changed.change == other.changed.change  # type: ignore[union-attr]
    return same_change or (same_line and one.form == other.form)


def _repetition(one: Question, other: Question) -> int:
    """Return 2 for the same change of a calculation, 1 for the same line, else 0."""
    if one.changed is None or other.changed is None:
        return 0
    change = _operation(one.changed.change)
    if change == _operation(other.changed.change) and "(" in change:
        return 2
    is_same = one.function == other.function
    return int(is_same and one.changed.number == other.changed.number)


def _operation(change: str) -> str:
    """Return what a change drops at an end, such as `.contiguous()`, or the change."""
    before, _, after = change.partition(" -> ")
    return before.removeprefix(after) if before.startswith(after) else change


def _hash(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode("utf-8", "replace")).hexdigest()

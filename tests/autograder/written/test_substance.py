"""Answers with substance, and answers that only look as if they had substance."""

import itertools
import random
import time

import pytest

from autograder.unit import course_of, graded_unit
from autograder.written.own_words import HandedOut
from autograder.written.reading import handed_out_in
from autograder.written.substance import (
    Answer,
    judge,
    similar_together,
    words_needed,
)

CHAPTER = (
    "The softmax turns scores into weights that add up to one. Large scores leave one "
    "weight near one and the others near zero, so that queries and keys hardly learn."
)
QUESTION = (
    "Why are the scores divided by the square root of the width, and what happens to "
    "the gradient of the softmax if they are not divided at all?"
)
GOOD = (
    "A dot product adds up many independent terms, each with variance one. So scores "
    "spread with the square root of the width, the softmax saturates, its derivative "
    "vanishes, and training the queries would stall from the very beginning."
)
OTHER = (
    "Without division the variance grows with every dimension: a single key wins, all "
    "others lose their weight, backpropagation carries almost nothing to either of "
    "them. Dividing keeps scores near unit spread whatever size we choose."
)
POINTS = 15


@pytest.fixture(scope="module")
def handed_out() -> HandedOut:
    return HandedOut([CHAPTER, QUESTION, "YOUR ANSWER HERE"])


def verdict(text: str, handed_out: HandedOut, *others: str):
    answers = {"me": Answer(text)} | {
        f"other-{number}": Answer(other) for number, other in enumerate(others)
    }
    return judge(answers, POINTS, handed_out)["me"]


def changed(text: str, every: int) -> str:
    """Return a text in which every n-th word is replaced: n is `every`."""
    words = text.split()
    return " ".join(
        "really" if number % every == every - 1 else word
        for number, word in enumerate(words)
    )


@pytest.mark.parametrize("text", [GOOD, OTHER, f"{QUESTION}\n\n{GOOD}"])
def test_an_answer_of_substance(text, handed_out):
    assert verdict(text, handed_out, OTHER if text != OTHER else GOOD).has_substance


def test_an_answer_in_another_language_with_the_words_of_the_subject(handed_out):
    german = (
        "Ein Skalarprodukt addiert viele unabhängige Summanden, deren Varianzen sich "
        "addieren. Ohne Division sättigt die Softmax, der Gradient verschwindet, und "
        "die Queries und Keys lernen nichts: scores, keys und queries bleiben stehen."
    )
    assert verdict(german, handed_out).has_substance


ATTACKS = {
    "nothing": "",
    "blanks": " \n\t\u200b\u2060\xa0 \n",
    "punctuation": ". . . , ; ! ? - – — ** __ ## > >" * 20,
    "digits": "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22",
    "the stub": "YOUR ANSWER HERE",
    "the question": QUESTION,
    "the question twice": f"{QUESTION} {QUESTION}",
    "the question with words changed": changed(QUESTION, 6),
    "the chapter": CHAPTER,
    "the chapter with words changed": changed(CHAPTER, 6),
    "the chapter in capitals, in bold": f"**{CHAPTER.upper()}**",
    "hidden in a comment": f"<!-- {GOOD} -->",
    "one word again and again": "softmax query gradient scores " * 20,
    "lorem ipsum": "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do "
    "eiusmod tempor incididunt ut labore et dolore magna aliqua. Ut enim ad minim "
    "veniam, quis nostrud exercitation ullamco laboris nisi ut aliquip ex ea commodo "
    "consequat. Softmax, query, gradient, scores.",
    "a keyboard": "asdf jklö qwer uiop zxcv bnm yxcv tzui ghjk fdsa rewq poiu lkjh "
    "mnbv cxyv edcr fvtg bzhn ujmi kolp",
    "another alphabet inside": GOOD.replace("e", "\u0435").replace("a", "\u0430"),
    "a link": f"[x](https://example.org/{GOOD.replace(' ', '-')})",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_has_no_substance(name, handed_out):
    found = verdict(ATTACKS[name], handed_out)
    assert found.has_substance is False
    assert found.why


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        changed(GOOD, 12),
        " ".join(reversed(GOOD.split(". "))),
        f"{QUESTION} {GOOD}",
        GOOD.upper(),
    ],
)
def test_a_neighbours_answer_counts_for_neither(text, handed_out):
    answers = {"a": Answer(GOOD), "b": Answer(text), "c": Answer(OTHER)}
    found = judge(answers, POINTS, handed_out)
    assert [found[one].has_substance for one in "abc"] == [False, False, True]
    assert (found["a"].like, found["b"].like) == (("b",), ("a",))
    assert "b" not in found["a"].why.split()  # the student does not learn their names


def test_members_of_a_team_may_hand_in_one_answer(handed_out):
    team = Answer(GOOD, source="1234 team-1.ipynb")
    found = judge({"a": team, "b": team, "c": Answer(GOOD)}, POINTS, handed_out)
    assert {who: one.like for who, one in found.items()} == {
        "a": ("c",),
        "b": ("c",),
        "c": ("a", "b"),
    }
    found = judge({"a": team, "b": team}, POINTS, handed_out)
    assert all(one.has_substance for one in found.values())


def test_a_picture_awaits_a_human_unless_the_words_suffice(handed_out):
    answers = {
        "a": Answer("See below.", has_picture=True),
        "b": Answer(GOOD, has_picture=True),
    }
    found = judge(answers, POINTS, handed_out)
    assert found["a"].has_substance is None
    assert found["b"].has_substance is True


def test_more_points_need_more_words():
    assert [words_needed(points) for points in (2, 15, 20.5)] == [8, 15, 21]


@pytest.mark.integration
def test_every_model_answer_of_the_course_has_substance():
    course = course_of()
    for slug in ("04_attention", "09_decoder"):
        unit = graded_unit(slug)
        text = course.master(course.unit(slug)).read_text(encoding="utf-8")
        answer = text.split("<!-- BEGIN SOLUTION -->")[-1].split("<!-- END")[0]
        found = judge({"a": Answer(answer)}, POINTS, handed_out_in(course, unit))
        assert found["a"].has_substance, (slug, found["a"])


@pytest.mark.parametrize("text", ["." * 300_000 + "x", "ab cd ab cd ab. " * 20_000])
def test_no_answer_keeps_the_grader_busy(text):
    book = HandedOut([". ".join(f"ab word{n} word{n + 1} ab cd" for n in range(5_000))])
    started = time.process_time()
    assert not verdict(text, book).has_substance
    assert time.process_time() - started < 5


def test_rewordings_of_an_answer_are_next_to_each_other():
    kinds = [
        "the variance of a dot product grows with the width, so we divide by {}",
        "without the {} one key gets nearly all the weight and the gradient vanishes",
        "I think that it makes the numbers {} and then training is faster",
    ]
    answers = [
        (kind, text.format(word).split())
        for kind, text in enumerate(kinds)
        for word in ("root", "scale", "factor", "square root", "")
    ]
    random.Random(0).shuffle(answers)
    order = similar_together([words for _, words in answers])
    assert order[0] == 0 and sorted(order) == list(range(len(answers)))
    found = [answers[n][0] for n in order]
    changes = sum(one != other for one, other in itertools.pairwise(found))
    assert changes == len(kinds) - 1
    assert similar_together([]) == []

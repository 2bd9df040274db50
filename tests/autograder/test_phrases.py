"""The grader's messages keep their parts, and translations use these parts."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from autograder.phrases import (
    Phrase,
    capitalised,
    joined,
    restored,
    series,
    translated,
    with_templates,
)

KOREAN = {
    "{what} should not equal {phrase}.": "{what} 값이 다릅니다: {phrase}.",
    "the tensor of scores": "점수 텐서",
    "With {n} axes in front, {what}": "앞에 축이 {n}개 있을 때 {what}",
    "{what} should be {a}, not {b}.": "{what}: {b}가 아니라 {a}.",
    "{message} This looks like {mistake}.": "{message} {mistake}(으)로 보입니다.",
    "code that counts on {n} axes": "축이 {n}개라고 가정한 코드",
    "{name} raised {kind}: {quoted}{place}": "{name}의 오류 {kind}: “{quoted}”{place}",
    " (line {number}: {code})": " ({number}번째 줄: “{code}”)",
    "{one} and {more}": "{one}, {more}",
    "the head": "헤드",
}
SCORES = Phrase("With {n} axes in front, {what}", 2, "the tensor of scores")
WRONG = Phrase("{what} should not equal {phrase}.", SCORES, "x")
LINE = Phrase(" (line {number}: {code})", 3, "the head")
RAISED = Phrase("{name} raised {kind}: {quoted}{place}", "f", "E", "the head", LINE)
MISTAKE = Phrase("code that counts on {n} axes", 2)
PHRASES = {
    WRONG: "앞에 축이 2개 있을 때 점수 텐서 값이 다릅니다: x.",
    Phrase("{what} should be {a}, not {b}.", "the head", 1, 2): "헤드: 2가 아니라 1.",
    Phrase("{message} This looks like {mistake}.", WRONG, MISTAKE): (
        "앞에 축이 2개 있을 때 점수 텐서 값이 다릅니다: x. "
        "축이 2개라고 가정한 코드(으)로 보입니다."
    ),
    RAISED: "f의 오류 E: “the head” (3번째 줄: “the head”)",
    series(["f", "the head", "g"]): "f, 헤드, g",
    capitalised("the head"): "헤드",
    capitalised(Phrase("the {x}", "{y}")): "The {y}",
}


def test_the_text_is_the_filled_template() -> None:
    assert WRONG == ("With 2 axes in front, the tensor of scores should not equal x.")
    assert RAISED == "f raised E: the head (line 3: the head)"
    assert Phrase("{dtype} and {dtype} of {x}", "a", "b") == "a and a of b"
    assert Phrase("{{x}} {y}", 1) == "{x} 1"
    assert capitalised(Phrase("the {x}", "head")) == "The head"
    assert capitalised("theta") == "theta"
    assert joined("{one}; {more}", ["", "a", "b", ""]) == "a; b"
    assert joined("{one}; {more}", []) == "" and series(["a"]) == "a"


def test_each_field_has_one_value() -> None:
    for values in ((), ("a", "b")):
        with pytest.raises(ValueError):
            Phrase("one {x}", *values)


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_is_translated_with_its_fields(phrase: str) -> None:
    assert translated(phrase, KOREAN) == PHRASES[phrase]


@pytest.mark.parametrize("phrase", PHRASES)
def test_copies_and_records_keep_what_a_phrase_was_made_of(phrase: str) -> None:
    record = {"checks": [{"message": phrase, "points": 1.5}], "problem": None}
    kept = restored(json.loads(json.dumps(with_templates(record))))
    assert kept == record
    copies = copy.deepcopy(phrase), pickle.loads(pickle.dumps(phrase))
    for made in (kept["checks"][0]["message"], *copies):
        assert made == phrase
        assert translated(made, KOREAN) == translated(phrase, KOREAN)


def test_what_is_unknown_stays_english_as_a_whole() -> None:
    unknown = Phrase("{what} is not known.", "the head")
    assert translated(unknown, KOREAN) == "the head is not known."
    assert translated("nobody knows", KOREAN) == "nobody knows"
    both = joined("{one} {more}", [unknown, SCORES])
    assert translated(both, KOREAN) == (
        "the head is not known. 앞에 축이 2개 있을 때 점수 텐서"
    )


def test_a_record_of_plain_texts_stays_as_it_is() -> None:
    record = {"notes": ["one", "two {x}"], "seconds": 1.0, "more": {"a": None}}
    assert with_templates(record) == restored(record) == record

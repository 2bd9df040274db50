"""What the grader says is put into Korean by the phrases that it is made of."""

from __future__ import annotations

import time

import pytest

from autograder.translations.readings import Phrases

KOREAN = {
    "{what} is not right: it equals {phrase}.": "{what} 값이 다릅니다: {phrase}.",
    "the tensor of scores": "점수 텐서",
    "the tensor of {name}": "{name} 텐서",
    "the result without the division by √d_k": "√d_k로 나누지 않은 결과",
    "With {n} axes in front, {what}": "앞에 축이 {n}개 있을 때 {what}",
    "With a mask {words}, {what}": "마스크가 {words}일 때 {what}",
    "(b, 1, t, s), one for each sentence": "문장마다 하나인 (b, 1, t, s)",
    "{what} should have the shape {a}, but it has {a}.": "{what}: {a}가 아니라 {a}.",
    "This looks like {mistake}.": "다음 실수로 보입니다: {mistake}.",
    "code that counts on {n} axes": "축이 {n}개라고 가정한 코드",
    "{name} raised {kind}: {quoted}": "{name}의 오류 {kind}: “{quoted}”",
    "{name} raised {kind}: {quoted} (line {n} of its cell: {code})": (
        "{name}의 오류 {kind}: “{quoted}” ({n}번째 줄: “{code}”)"
    ),
    "Numbers{line} meet.": "수가 만납니다{line}.",
    " (line {n} of its cell: {code})": " ({n}번째 줄: “{code}”)",
    "a layer": "층",
    "the head": "헤드",
    "{message}{stop} See {title}.": "{message}{stop} {title} 참고.",
}
WRONG = "is not right: it equals the result without the division by √d_k."
IN_KOREAN = {
    f"The tensor of scores {WRONG}": (
        "점수 텐서 값이 다릅니다: √d_k로 나누지 않은 결과."
    ),
    f"With 2 axes in front, the tensor of scores {WRONG}": (
        "앞에 축이 2개 있을 때 점수 텐서 값이 다릅니다: √d_k로 나누지 않은 결과."
    ),
    "The tensor of y should have the shape (2,), but it has (3,).": (
        "y 텐서: (2,)가 아니라 (3,)."
    ),
    "The head should have the shape (2,), but it has (3,). This looks like code that "
    "counts on 2 axes.": (
        "헤드: (2,)가 아니라 (3,). 다음 실수로 보입니다: 축이 2개라고 가정한 코드."
    ),
    f"With a mask (b, 1, t, s), one for each sentence, the tensor of scores {WRONG}": (
        "마스크가 문장마다 하나인 (b, 1, t, s)일 때 점수 텐서 값이 다릅니다: "
        "√d_k로 나누지 않은 결과."
    ),
    "f raised ValueError: not enough. Use more (line 3 of its cell: a, b = x). This "
    "looks like code that counts on 2 axes.": (
        "f의 오류 ValueError: “not enough. Use more” (3번째 줄: “a, b = x”). "
        "다음 실수로 보입니다: 축이 2개라고 가정한 코드."
    ),
    "f raised ValueError: the head": "f의 오류 ValueError: “the head”",
    "Numbers (line 3 of its cell: a layer) meet.": (
        "수가 만납니다 (3번째 줄: “a layer”)."
    ),
    "Numbers meet.": "수가 만납니다.",
    "A layer. See the head.": "층. 헤드 참고.",
    "the head and a layer": "헤드, 층",
    "attend and attention_scores": "attend, attention_scores",
    "the tensor of attend and the head": "attend, 헤드 텐서",
}


@pytest.mark.parametrize("english", IN_KOREAN)
def test_the_reading_that_leaves_the_least_english_is_taken(english: str) -> None:
    assert Phrases(KOREAN).translated(english) == IN_KOREAN[english]


def test_what_is_unknown_stays_english_as_a_whole() -> None:
    table = Phrases({"It is late.": "늦었습니다.", "{a} of {b}": "{b}의 {a}"})
    assert table.translated("It is late. Nobody knows.") == "늦었습니다. Nobody knows."
    for unknown in (
        "a sentence that nobody knows of the course",
        "a sentence that nobody knows and another one",
    ):
        assert table.translated(unknown) == unknown
    assert Phrases({}).translated("It is {late} now.") == "It is {late} now."
    braces = table.translated("one {x} of two {{y}}")
    assert braces == "two {{y}}의 one {x}"


def test_a_long_text_of_many_matches_takes_no_time() -> None:
    hostile = "the tensor of " * 60 + "With a mask , , , " * 20 + WRONG
    start = time.perf_counter()
    Phrases(KOREAN).translated(hostile)
    assert time.perf_counter() - start < 5

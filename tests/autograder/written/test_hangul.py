"""Answers in Korean: particles are attached to words, and words are short."""

from __future__ import annotations

import functools
import re

import nbformat
import pytest

from autograder.course import load_course
from autograder.grading.language import translated_notebooks
from autograder.translations.catalogue import translations
from autograder.translations.sources import PAGES, locale_dir
from autograder.unit import graded_unit
from autograder.written.hangul import is_of_a_subject, stem
from autograder.written.own_words import HandedOut, sentences_of
from autograder.written.reading import handed_out_in
from autograder.written.substance import Answer, Verdict, judge, words_needed

COURSE = load_course()
POINTS = 15
# Answers as a student would write them. The first is the model answer in other words.
ANSWERS = {
    "04_attention": (
        "내적은 서로 독립인 항 $d_k$개를 더한 값이라서 분산도 $d_k$배가 되고 "
        "표준편차는 $\\sqrt{d_k}$배로 커진다. 나누지 않으면 점수 차이가 벌어져 "
        "소프트맥스가 한 키에만 몰리고, 미분값이 0에 가까워 쿼리와 키가 거의 "
        "배우지 못한다. $d_k$로 나누면 처음에는 가중치가 균등해지지만 사영이 "
        "자라면서 손실은 줄어든다."
    ),
    "07_masks": (
        "소프트맥스 전에 점수를 -inf로 바꾸면 분모에서도 빠져서 남은 단어끼리 "
        "합이 1이 됩니다. 나중에 0을 곱하면 합이 줄어들어 출력이 작아집니다. "
        "룩-어헤드 마스크가 없으면 디코더가 정답을 그대로 베끼므로 학습 손실은 "
        "낮아도 번역할 때는 엉망이 됩니다."
    ),
    "09_decoder": (
        "셀프 어텐션에는 타깃의 패딩과 미래를 가리는 마스크를 쓰고, 크로스 "
        "어텐션에는 소스의 패딩 마스크만 쓴다. 인코더의 메모리는 이미 다 읽은 "
        "문장이라 미래가 없기 때문이다. 둘을 바꿔 쓰면 길이가 같을 때는 오류도 "
        "나지 않아 찾아내기 힘들다."
    ),
}
OTHER = (
    "분산을 더하면 차원 수만큼 커진다. 그러면 가장 큰 점수 하나가 가중치를 "
    "독차지하고 역전파되는 기울기는 사라지니, 크기를 맞춰 주어야 학습이 "
    "시작될 수 있다고 봅니다. 스케일이 그 역할을 맡는 셈입니다."
)


def verdict(text: str, handed_out: HandedOut, *others: str) -> Verdict:
    answers = {"me": Answer(text)} | {
        f"other-{number}": Answer(other) for number, other in enumerate(others)
    }
    return judge(answers, POINTS, handed_out)["me"]


@functools.cache
def handed_out(slug: str) -> HandedOut:
    return handed_out_in(COURSE, graded_unit(slug))


@pytest.mark.integration
@pytest.mark.parametrize("slug", ANSWERS)
def test_a_korean_answer_has_substance(slug: str) -> None:
    found = verdict(ANSWERS[slug], handed_out(slug), OTHER)
    assert found.has_substance, found.why


def changed(text: str, every: int) -> str:
    """Return a text in which every n-th word is replaced: n is `every`."""
    words = text.split()
    return " ".join(
        "정말로" + "." * word.endswith(".") if number % every == every - 1 else word
        for number, word in enumerate(words)
    )


def other_particles(text: str) -> str:
    """Return a text with other particles, which is not a new sentence."""
    swaps = {"은 ": "이 ", "는 ": "가 ", "을 ": "은 ", "를 ": "는 ", "에서 ": "에는 "}
    for one, other in swaps.items():
        text = text.replace(one, other)
    return text


def of_chapter(slug: str) -> str:
    """Return the longest paragraph of the chapter's Korean text."""
    texts = translations(locale_dir(COURSE) / PAGES / f"{slug}.po").values()
    return max(filter(re.compile("[가-힣]").search, texts), key=len)


def of_notebook(slug: str) -> str:
    """Return the question's cell in the Korean notebook."""
    path = next(translated_notebooks(graded_unit(slug)))
    cells = [x.source for x in nbformat.read(path, 4).cells if x.cell_type != "code"]
    return max(cells, key=len)


ATTACKS = {
    "nothing": lambda slug: " \n",
    "the stub": lambda slug: "여기에 답을 적으세요.",
    "the chapter": of_chapter,
    "the chapter with words changed": lambda slug: changed(of_chapter(slug), 6),
    "the chapter with other particles": lambda slug: other_particles(of_chapter(slug)),
    "the notebook": of_notebook,
    "one word again and again": lambda slug: "소프트맥스가 쿼리를 키로 마스크는 " * 20,
    "one word with every particle": lambda slug: " ".join(
        f"마스크{particle}" for particle in (*"가는를의에로와도만", "에서", "에게")
    ),
    "a keyboard": lambda slug: (
        "먕뎌 랴쟈 켜챠 뮤혀 로뇨 퍄뎌 쟈며 켸벼 표랴 츄뎌 뱌져 햐며 댜벼 퓨쳐 갸뎌"
    ),
    "laughter": lambda slug: "ㅋㅋㅋ ㅎㅎㅎ ㅠㅠ ㅇㅇ ㄴㄴ ㄱㄱ " * 10,
    "words of any text": lambda slug: (
        "그리고 저는 그래서 이것이 매우 좋다고 생각합니다. 하지만 때문에 다른 경우에는 "
        "그렇지 않을 수도 있습니다. 그러면 무엇을 어떻게 해야 하는지 잘 모르겠습니다."
    ),
    "hidden in a comment": lambda slug: f"<!-- {ANSWERS['04_attention']} -->",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_has_no_substance_in_korean(name: str) -> None:
    found = verdict(ATTACKS[name]("04_attention"), handed_out("04_attention"))
    assert found.has_substance is False
    assert found.why


def test_a_neighbours_answer_in_korean_counts_for_neither() -> None:
    own = ANSWERS["04_attention"]
    near = other_particles(changed(own, 12))
    assert verdict(own, handed_out("04_attention"), near).like == ("other-0",)


def test_words_in_hangul_lose_their_particles() -> None:
    glued = "마스크가 마스크에서는 마스크들의 softmax를 쿼리와 $d_k$에서 값은 ㅋㅋ 키"
    words = ["마스크", "마스크", "마스크", "softmax", "쿼리", "값은"]
    assert list(sentences_of(glued)) == [words]
    assert stem("차이") == "차이" and stem("어텐션으로") == "어텐션"


def test_a_word_of_any_text_is_none_of_a_subject() -> None:
    nouns = ["소프트맥스", "쿼리", "점수", "마스크", "학습", "순서", "문장"]
    assert all(map(is_of_a_subject, nouns))
    others = ["그리고", "때문", "있습니다", "나누면", "계산하고", "커지는데", "한다"]
    assert [word for word in others if is_of_a_subject(word)] == ["나누면"]


def test_korean_says_it_in_three_quarters_of_the_words() -> None:
    korean, english = ["점수", "가중치", "softmax"], ["scores", "weights", "점수"]
    assert [words_needed(points, korean) for points in (2, 15, 20)] == [6, 12, 15]
    assert [words_needed(points, english) for points in (2, 15, 20)] == [8, 15, 20]

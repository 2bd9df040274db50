"""Every fault of a translation is found, and a right translation has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.translations.catalogue import HEADER
from autograder.translations.faults import faults
from autograder.translations.report import State, fallen, faults_in, state, table

FAULTY = [
    ("divide by $\\sqrt{d_k}$", "나눕니다", "formula lost"),
    ("divide it", "$2$로 나눕니다", "formula new"),
    ("call `softmax`", "부릅니다", "code lost"),
    ("call it", "`softmax`를 부릅니다", "code new"),
    ("a {term}`query`", "{term}`쿼리`", "role lost"),
    ("see {doc}`unit 05 <05_x>`", "{doc}`5단원 <06_x>`를 보세요", "role new"),
    ("hand in @unit@.ipynb", "제출하세요", "mark lost"),
    ("[here](a.md)", "[여기](b.md)", "link lost"),
    ("the **query** is", "**쿼리(query)**는", "asterisks"),
    ("the *query* is", "*쿼리(query)*는", "asterisks"),
    ("a **b** c", "가 **나 다", "odd number"),
]


@pytest.mark.parametrize(("english", "korean", "fault"), FAULTY)
def test_a_fault_is_found(english: str, korean: str, fault: str) -> None:
    assert any(fault in one for one in faults(english, korean))


@pytest.mark.parametrize(
    ("english", "korean"),
    [
        (
            "the **query** asks {term}`values <value>`",
            "**쿼리**(query)는 {term}`값 <value>`",
        ),
        ("$a$ and $b$: `f(x)`", "`f(x)`: $b$와 $a$"),
        (
            "kinds: (*leicht*); agree (*thinks* for *think*)",
            "종류: (*leicht*); 맞습니다",
        ),
        ("not yet", ""),
        ("*a* of **b**", "**나**의 *가*"),
    ],
)
def test_what_is_right_is_no_fault(english: str, korean: str) -> None:
    assert list(faults(english, korean)) == []


def test_fields_count_where_something_is_put_in() -> None:
    lost = list(faults("{what} is {how}", "{what}입니다", with_fields=True))
    assert lost == ["placeholder lost: {how}"]
    assert list(faults("set {1, 2}", "집합 {1, 2}", with_fields=False)) == []


def catalogue(folder: Path, name: str, *pairs: tuple[str, str]) -> Path:
    path = folder / name
    body = [f'msgid "{one}"\nmsgstr "{other}"\n' for one, other in pairs]
    path.write_text(HEADER + "\n".join(body))
    return path


def test_two_terms_of_one_name_are_found(tmp_path: Path) -> None:
    pairs = ("head", "헤드"), ("attention head", "헤드")
    path = catalogue(tmp_path, "glossary.po", *pairs)
    assert any("same translation" in one for one in faults_in("a/glossary.po", path))
    assert not list(faults_in("a/intro.po", path))


def test_words_are_counted_and_a_share_that_falls_is_told(tmp_path: Path) -> None:
    path = catalogue(tmp_path, "a.po", ("one two three", "하나 둘 셋"), ("four", ""))
    path.write_text(f'{path.read_text()}\n#, fuzzy\nmsgid "five six"\nmsgstr "x"\n')
    found = state("a.po", path)
    assert found == State("a.po", done=3, stale=2, missing=1) and found.share == 0.5
    assert list(fallen([found], {"a.po": 0.5})) == []
    assert list(fallen([found], {"a.po": 0.6})) == [
        "a.po: 50.0% is done, and it was 60.0%: "
        "translate what is empty or marked `#, fuzzy`"
    ]
    assert list(table([found]))[-1].split() == ["all", "6", "50.0", "%", "2", "1"]

"""A class with Korean notebooks gets a Korean report."""

from __future__ import annotations

import re
from dataclasses import replace

import nbformat
import pytest
from bs4 import BeautifulSoup
from test_report_figures import check, report_of, row
from tiny_grading import UNIT, grade, only

from autograder.class_report import gather
from autograder.class_report.gathering import AS_GIVEN_OUT
from autograder.class_report.page import page_of
from autograder.class_report.report import ClassReport, Row
from autograder.class_report.words import Words, language_of_most, words_in
from autograder.classroom.folder import ClassFolder
from autograder.course import ROOT
from autograder.phrases import Phrase, joined
from autograder.sandbox.transport import TIME
from autograder.written.substance import OFF_SUBJECT

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
MISTAKE = "the result without the division by √d_k"
HOW = (
    Phrase("found by what it defines"),
    Phrase("it was there {count} times", 2),
)
REPAIRS = (
    Phrase("{name}: {how}", "first", joined("{one}; {more}", HOW)),
    Phrase("{name}: the check was missing; ours is used", "second"),
)
LIMITS = (
    Phrase("submission time"),
    Phrase("{name}: {limit}", "second", TIME),
    Phrase("cell {number}: protocol", 3),
)
LIKE = Phrase("It is similar to the answer of {names}.", "ben")
DOUBTS = (
    AS_GIVEN_OUT,
    joined(
        "{one} {more}",
        [Phrase("{question}: {why}", "second", OFF_SUBJECT), LIKE],
    ),
)
IDS = ("ada", "ben", "cem", "dan", "eve", "first", "second", "01_tiny", "Tiny", "id")


def class_of_five(words: Words) -> ClassReport:
    """Grade a class with every kind of row, so that the report uses all its texts."""
    wrong = check("first", "Scores have the right values", "failed", MISTAKE)
    report = report_of(
        row("ada", 2.0, 4.0, wrong, seconds=1.0, repair=REPAIRS),
        row("ben", 5.0, None, wrong, seconds=2.0, limits_hit=LIMITS),
        row("cem", 1.0, 0.0, doubtful=DOUBTS, penalty=2.0),
        Row("dan", "refused", "the file is empty"),
        Row("eve", "missing"),
        by_hand=["second"],
    )
    return replace(report, words=words)


def shown(page: str) -> BeautifulSoup:
    """Return a page without the parts that stay English: code, figures, the style."""
    soup = BeautifulSoup(page, "html.parser")
    for node in soup.select("style, svg, code"):
        node.decompose()
    return soup


def test_the_report_in_korean_shows_no_english_word() -> None:
    soup = shown(page_of(class_of_five(words_in("ko", "04_attention", ROOT))))
    assert soup.html["lang"] == "ko"
    texts = [
        soup.get_text(" "),
        *(n["aria-label"] for n in soup.select("[aria-label]")),
    ]
    left = set(re.findall(r"[A-Za-z]{2,}", " ".join(texts))) - {"tiny", *IDS}
    assert left == set()
    assert "√d_k로 나누지 않은 결과" in soup.get_text()


def test_the_report_in_english_is_as_it_was() -> None:
    text = shown(page_of(class_of_five(Words()))).get_text()
    assert MISTAKE in text and "0 of 2" in text and not re.search("[가-힣]", text)
    assert f"Repaired: {REPAIRS[0]}." in text


def test_the_language_is_that_of_most_notebooks() -> None:
    assert language_of_most(["ko", "en", "ko"]) == "ko"
    assert language_of_most(["ko", "en"]) == language_of_most([]) == "en"


def test_a_class_with_korean_notebooks_has_a_korean_report(classroom) -> None:
    only(classroom, "perfect-one")
    assert grade(classroom).exit_code == 0
    folder = ClassFolder(classroom)
    assert gather(folder, UNIT).words.language == "en"
    path = classroom / "autograded" / "perfect-one" / UNIT / f"{UNIT}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    notebook.metadata["course_language"] = "ko"
    path.chmod(0o644)
    nbformat.write(notebook, path)
    found = gather(folder, UNIT)
    assert found.words.language == "ko"
    assert '<html lang="ko">' in page_of(found)

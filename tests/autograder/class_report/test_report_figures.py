"""The figures of a class report, and its page, without a class."""

from dataclasses import replace

import pytest

from autograder.class_report.page import page_of
from autograder.class_report.report import ClassReport, Row

POINTS = {"first": 10.0, "second": 20.0}


def check(exercise, title, status="passed", mistake=None):
    return {
        "exercise": exercise,
        "title": title,
        "status": status,
        "mistake": mistake,
    }


def row(name, first, second, *checks, **more):
    scores = {"first": first, "second": second}
    total = sum(score or 0.0 for score in scores.values())
    awaits = None in scores.values()
    return Row(name, "graded", "", total, scores, awaits, checks, **more)


def report_of(*rows, by_hand=()):
    return ClassReport("01_tiny", "Tiny", 30.0, POINTS, frozenset(by_hand), tuple(rows))


def test_exercises_are_counted_over_those_who_have_points():
    found = report_of(
        row("a", 10.0, 20.0),
        row("b", 5.0, None),
        row("c", 0.0, 0.0),
        Row("d", "refused", "it is empty"),
        by_hand=["second"],
    ).exercises()
    assert [one.name for one in found] == ["first", "second"]
    assert (found[0].mean, found[0].full, found[0].none) == (0.5, 1 / 3, 1 / 3)
    assert (found[1].graded, found[1].mean, found[1].by_hand) == (2, 0.5, True)


def test_discrimination_is_the_correlation_with_the_rest():
    rows = [row(str(n), float(n % 5), 2.0 * (n % 5)) for n in range(10)]
    first, second = report_of(*rows).exercises()
    assert first.discrimination == pytest.approx(1.0)
    assert second.discrimination == pytest.approx(1.0)
    against = [row(str(n), float(n % 5), 10.0 - n % 5) for n in range(10)]
    assert report_of(*against).exercises()[0].discrimination == pytest.approx(-1.0)
    few = report_of(*rows[:5]).exercises()[0]
    alike = report_of(*[row(str(n), 3.0, float(n)) for n in range(10)]).exercises()[0]
    assert few.discrimination is None and alike.discrimination is None


def test_a_mistake_counts_once_a_student():
    wrong = [check("first", f"check {n}", "failed", "no √d_k") for n in range(3)]
    other = check("second", "check", "failed", "a softmax too many")
    report = report_of(
        row("a", 0.0, 0.0, *wrong),
        row("b", 0.0, 0.0, wrong[0], other),
        row("c", 1.0, 1.0),
    )
    found = [(one.exercise, one.name, one.students) for one in report.mistakes()]
    assert found == [("first", "no √d_k", 2), ("second", "a softmax too many", 1)]


def test_checks_are_counted():
    report = report_of(
        row("a", 0.0, 0.0, check("first", "shape"), check("first", "value", "failed")),
        row("b", 0.0, 0.0, check("first", "shape"), check("first", "value", "not run")),
    )
    assert [(r.title, r.passed, r.students) for r in report.check_rates()] == [
        ("shape", 2, 2),
        ("value", 0, 2),
    ]


def test_reasons_end_once_and_what_does_not_count_has_no_points():
    one = row("a", 1.0, 0.0, doubtful=("It is short.", "found by its place"))
    report = replace(report_of(one), points={"first": 10.0, "second": 0.0})
    page = page_of(report)
    assert "Doubtful: It is short. Doubtful: found by its place.<" in page
    assert '<td class="n">1</td><td class="n">–</td>' in page


def test_an_empty_class_has_a_page():
    page = page_of(report_of())
    assert "No mistake was recognised" in page
    assert report_of().summary() == {}


def test_nothing_in_the_page_acts():
    evil = "<script>alert(1)</script><img src=x onerror=alert(2)>"
    page = page_of(
        report_of(
            Row(evil, "refused", evil),
            row("b", 1.0, 2.0, check(evil, evil, "failed", evil), repair=(evil,)),
            row("c", 1.0, 2.0, doubtful=(evil,), limits_hit=(evil,), seconds=2.0),
        )
    )
    assert "<script" not in page and "<img" not in page
    assert "&lt;script&gt;" in page
    assert "default-src 'none'" in page

"""Write the report as one HTML file that needs no network and no scripts."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import quote

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from autograder.class_report.plots import grading_times, pass_rates, score_histogram
from autograder.class_report.report import ClassReport, Row, by_exercise
from autograder.class_report.words import Told, statuses, summary_names
from autograder.grading.feedback_table import number, with_code
from autograder.sandbox.error_words import clean

TEMPLATES = Path(__file__).resolve().parents[1] / "pages" / "class_report"
MOST_COMMON, SLOWEST, REASON = 15, 5, 200
GOOD, WEAK = 0.3, 0.2  # limits between good, medium and weak discrimination


def write_page(report: ClassReport, path: Path) -> None:
    """Write the page with relative addresses; escape all inserted texts."""
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = tuple(
        replace(row, page=quote(os.path.relpath(row.page, path.parent)))
        if row.page
        else row
        for row in report.rows
    )
    path.write_text(page_of(replace(report, rows=rows)), encoding="utf-8")


def page_of(report: ClassReport) -> str:
    """Return the page as HTML."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    words = report.words
    filters: dict[str, Any] = {
        "number": lambda value: "–" if value is None else number(value),
        "percent": lambda share: "–" if share is None else f"{share:.0%}",
        "plain": lambda text: clean(str(text), REASON),
        "stopped": lambda text: text if text.endswith(".") else f"{text}.",
        "judged": lambda value: judged(value, words.told),
        "in_words": words.of_grader,
        "with_code": with_code,
    }
    environment.filters |= filters
    timed = [row for row in report.graded if row.seconds]
    return environment.get_template("class_report.html.j2").render(
        report=report,
        told=words.told,
        statuses=statuses(words.told),
        summary_names=summary_names(words.told),
        figures={
            "scores": _figure(*score_histogram(report)),
            "exercises": _figure(*pass_rates(report)),
            "times": _figure(*grading_times(report)),
        },
        mistakes=report.mistakes()[:MOST_COMMON],
        checks=by_exercise(report.check_rates()),
        slowest=sorted(timed, key=lambda row: -(row.seconds or 0))[:SLOWEST],
        awaiting=[row for row in report.rows if row.awaits_a_human],
        to_look_at=[row for row in report.rows if needs_a_look(row)],
        missing=[row for row in report.rows if row.status == "missing"],
        has_penalty=any(row.penalty for row in report.rows),
        has_viva=any(row.viva for row in report.rows),
    )


def needs_a_look(row: Row) -> bool:
    """Return whether a person should look at a submission."""
    unsettled = row.status in ("refused", "failed", "not graded", "not taken")
    return unsettled or bool(row.repair or row.doubtful or row.limits_hit)


def judged(discrimination: float | None, told: Told = str) -> str:
    """Describe a discrimination index in a few words."""
    if discrimination is None:
        return told("too few students, or all alike")
    if discrimination >= GOOD:
        return told("tells strong from weak")
    return told("little") if discrimination >= WEAK else told("look at it again")


def _figure(svg: str, words: str) -> Markup:
    return Markup('<div role="img" aria-label="{}">{}</div>').format(words, Markup(svg))

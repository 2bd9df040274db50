"""Write the report of an exercise that a student reads in the feedback."""

from collections.abc import Sequence
from html import escape

from nbformat import NotebookNode
from nbformat.v4 import new_output

from autograder.grading.points import CheckResult, max_score_of, score_of

MARKS = {"passed": "✓", "failed": "✗", "not run": "–"}
COLOURS = {"passed": "#1a6f37", "failed": "#b3261e", "not run": "#6b5900"}
CELL = 'style="padding:2px 8px;vertical-align:top;text-align:left"'


def number(value: float) -> str:
    """Write points without needless zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def words_of(result: CheckResult) -> str:
    """Return what a student is told about a check beyond its title."""
    return " ".join(part for part in (result.message, result.hint) if part)


def as_text(results: Sequence[CheckResult]) -> str:
    """Write the report as plain text, a check a line."""
    lines = []
    for result in results:
        points = f"{number(result.points)}/{number(result.max_points)}"
        line = f"{MARKS[result.status]} {points:>9}  {result.title}"
        if result.status == "not run" and "not run" not in result.message.lower():
            line += " (not run)"
        lines += [
            line,
            *([f"             {words_of(result)}"] * bool(words_of(result))),
        ]
    return "\n".join(lines)


def as_html(results: Sequence[CheckResult]) -> str:
    """Write the report as a table; every text is escaped."""
    rows = "".join(_row(result) for result in results)
    earned = number(score_of(results))
    total = number(max_score_of(results))
    return (
        f'<table class="hidden-checks" style="border-collapse:collapse"><caption>'
        f"Checks: {earned} of {total} points</caption>"
        f"<thead><tr><th {CELL}></th><th {CELL}>Points</th><th {CELL}>Check</th></tr>"
        f"</thead><tbody>{rows}</tbody></table>"
    )


def _row(result: CheckResult) -> str:
    points = f"{number(result.points)} / {number(result.max_points)}"
    words = escape(words_of(result))
    words = f'<div style="color:#444">{words}</div>' if words else ""
    return (
        f'<tr><td {CELL}><b style="color:{COLOURS[result.status]}" '
        f'title="{result.status}">{MARKS[result.status]} {result.status}</b></td>'
        f"<td {CELL}>{points}</td><td {CELL}>{escape(result.title)}{words}</td></tr>"
    )


def graded_outputs(results: Sequence[CheckResult]) -> list[NotebookNode]:
    """Return the outputs of a graded cell: the report, and the score for nbgrader."""
    report = {"text/html": as_html(results), "text/plain": as_text(results)}
    score = {"text/plain": number(score_of(results))}
    return [
        new_output("display_data", data=report),
        new_output("execute_result", data=score, execution_count=None),
    ]

"""Write the report on an exercise that students read in their feedback."""

import functools
import re
from collections.abc import Callable, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup, escape
from nbformat import NotebookNode, from_dict

from autograder.grading.check_results import CheckResult, max_score_of, score_of

MARKS = {"passed": "✓", "failed": "✗", "not run": "–"}
COLOURS = {"passed": "#1a6f37", "failed": "#b3261e", "not run": "#6b5900"}
CODE = re.compile(r"`([^`\n]+)`")
TEMPLATES = Path(__file__).resolve().parents[1] / "pages" / "feedback_table"


def number(value: float) -> str:
    """Return points as text without trailing zeros."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def with_code(text: str) -> Markup:
    """Return a text as HTML in which the parts between backticks are code."""
    return Markup(CODE.sub(r"<code>\1</code>", str(escape(text))))


def words_of(result: CheckResult) -> str:
    """Return the text that a student reads below the title of a check."""
    return " ".join(part for part in (result.message, result.hint) if part)


def as_text(results: Sequence[CheckResult]) -> str:
    """Return the report as plain text, with one check per line."""
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


def as_html(results: Sequence[CheckResult], told: Callable[[str], str] = str) -> str:
    """Return the report as an HTML table; `told` translates each text.

    All texts are escaped.
    """
    return _template().render(
        told=told,
        results=results,
        score=score_of(results),
        max_score=max_score_of(results),
        marks=MARKS,
        colours=COLOURS,
    )


@functools.cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    environment.filters |= {
        "number": number,
        "words": words_of,
        "with_code": with_code,
    }
    return environment.get_template("feedback_table.html.j2")


def graded_outputs(
    results: Sequence[CheckResult], told: Callable[[str], str] = str
) -> list[NotebookNode]:
    """Return the outputs of a graded cell: the report and the score for nbgrader.

    They are not validated here, because nbformat validates them when the notebook is
    written.
    """
    report = {"text/html": as_html(results, told), "text/plain": as_text(results)}
    score = {"text/plain": number(score_of(results))}
    shown = {"output_type": "display_data", "data": report, "metadata": {}}
    result = {"output_type": "execute_result", "data": score, "metadata": {}}
    return [from_dict(one) for one in (shown, result | {"execution_count": None})]

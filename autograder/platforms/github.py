"""Grade one folder on a GitHub runner; write a Markdown report and a table row.

The script `grade`, which is in the same folder as the checks, runs this module.
"""

import argparse
import csv
import html
import os
import re
from collections.abc import Iterator
from pathlib import Path

from autograder.grading.feedback_table import MARKS, number, words_of
from autograder.grading.outcome import Outcome
from autograder.platforms.alone import grade_alone, protection, what_to_see_to
from autograder.platforms.classroom50 import write_scores
from autograder.sandbox.bubblewrap import kind_in_a_container
from autograder.sandbox.safe_cells import safe_cell
from autograder.unit import Submission, graded_unit

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = ("student", "unit", "status", "score", "max_score", "reason")
NOT_FETCHED = "The repository could not be fetched: nothing is graded. Run it again."
ACTIVE = re.compile(r"([\\`*_{}\[\]()#+!|~-])")


def plain(text: str) -> str:
    """Return text that Markdown shows unchanged: no markup, links or mentions."""
    escaped = ACTIVE.sub(r"\\\1", " ".join(text.split()))
    return html.escape(escaped, quote=False).replace("@", "@\u200b")


def as_markdown(outcome: Outcome, kind: str) -> str:
    """Return a report on one submission for its student."""
    return "\n".join([*_lines(outcome), "", protection(outcome, kind), ""])


def _lines(outcome: Outcome) -> Iterator[str]:
    yield f"## {outcome.submission.slug}"
    if outcome.status != "graded":
        yield f"\n{outcome.status.capitalize()}: {plain(outcome.reason)}"
        return
    score = f"{number(outcome.score)} of {number(outcome.max_score)}"
    yield f"\n**{score}** points by the checks; written answers are not among them.\n"
    if lines := what_to_see_to(outcome):
        yield from (f"- {plain(line)}" for line in lines)
        yield ""
    yield "| | check | points | |"
    yield "|---|---|---:|---|"
    for one in outcome.results:
        points = f"{number(one.points)} of {number(one.max_points)}"
        title = plain(f"{one.exercise}: {one.title}")
        yield f"| {MARKS[one.status]} | {title} | {points} | {plain(words_of(one))} |"


def add_to_table(outcome: Outcome, path: Path) -> None:
    """Add a row to the table of all submissions, which is created if necessary."""
    is_new = not path.exists()
    with path.open("a", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(COLUMNS)
        one = outcome.submission
        score = (outcome.score, outcome.max_score) if outcome.results else ("", "")
        row = (one.student, one.slug, outcome.status, *score, outcome.reason)
        writer.writerow(safe_cell(cell) for cell in row)


def main() -> int:
    """Grade the folder named on the command line; return 0 only for full marks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("unit")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--summary", type=Path, help="the Markdown file to add to")
    parser.add_argument("--table", type=Path, help="the CSV file to add a line to")
    parser.add_argument("--scores", type=Path, help="the JSON file for Classroom 50")
    parser.add_argument(
        "--not-fetched", action="store_true", help="add only the line that says so"
    )
    options = parser.parse_args()
    if options.not_fetched:
        submission = Submission(options.folder.name, options.unit, options.folder)
        add_to_table(Outcome(submission, "failed", NOT_FETCHED), options.table)
        return 1
    kind = kind_in_a_container()
    unit = graded_unit(options.unit, ROOT)
    outcome = grade_alone(unit, options.folder.resolve(), kind)
    text = as_markdown(outcome, kind)
    print(text.encode("utf-8", errors="replace").decode())
    summary = options.summary or os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with Path(summary).open("a", encoding="utf-8", errors="replace") as file:
            file.write(text)
    if options.table:
        add_to_table(outcome, options.table)
    if options.scores and outcome.status != "failed":
        write_scores(outcome, sum(unit.points.values()), options.scores)
    return 0 if outcome.results and outcome.score == outcome.max_score else 1


if __name__ == "__main__":
    raise SystemExit(main())

"""Write the scores of a class in the formats of the learning platforms."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from autograder.atomic_write import atomic_write
from autograder.class_report.report import ClassReport
from autograder.platforms import canvas, moodle
from autograder.sandbox.safe_cells import as_csv


def write_scores(
    report: ClassReport,
    folder: Path,
    canvas_heading: str = "",
    sections: Mapping[str, str] | None = None,
) -> list[Path]:
    """Write a CSV file for Canvas and one for Moodle, and return their paths.

    The score is empty for students who have neither a graded submission nor points by
    hand, and for students whom a person must still grade. Both platforms ignore empty
    scores. Canvas identifies the assignment by `canvas_heading`, by default the unit's
    slug. `sections` contains each student's section in Canvas.
    """
    for_canvas = canvas.score_rows(report, canvas_heading, sections or {})
    made = {
        folder / f"{report.slug}-canvas.csv": for_canvas,
        folder / f"{report.slug}-moodle.csv": moodle.score_rows(report),
    }
    for path, rows in made.items():
        atomic_write(path, as_csv(rows))
    return list(made)

"""Define `course explain`, which shows how one student's score is computed."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from autograder.commands.console import complain, did_you_mean, show
from autograder.commands.report import canvas_headings, gathered
from autograder.library_log import log_warnings

if TYPE_CHECKING:
    from autograder.class_report import ClassReport
    from autograder.classroom.folder import ClassFolder

WITHOUT_SCORE = "nothing"
AWAITS_A_HUMAN = "nothing, because a human must still give points,"
Student = Annotated[str, typer.Argument(help="The student's id.")]
OneUnit = Annotated[str, typer.Argument(help="Such as 04 or attention.")]
Root = Annotated[
    Path, typer.Option("--course-root", help="The folder with the gradebook in it.")
]


def register(app: typer.Typer) -> None:
    """Add `explain` to the `course` command."""
    app.command()(explain)


def explain(student: Student, unit: OneUnit, course_root: Root = Path(".")) -> None:
    """Show how a student's score is computed, up to the file for the platform.

    The command prints which file and hand-in time count, the result of each check, the
    points given by hand, the late rule with its numbers, and the total. Like `course
    report`, it first applies the current late rule, and prints which scores this
    changes.
    """
    from autograder.class_report.explanation import explain as lines_about
    from autograder.classroom.folder import ClassFolder
    from autograder.course import CourseError
    from autograder.gradebook import GradebookError

    log_warnings(course_root)
    try:
        found = gathered(course_root, unit, student)
        folder = ClassFolder(course_root)
    except (CourseError, GradebookError, FileNotFoundError) as error:
        complain(error)
        raise typer.Exit(2) from None
    if not found.rows:
        hint = did_you_mean(student, _known(folder, found.slug), "collect it first.")
        complain(f"The class has no student {student!r}: {hint}")
        raise typer.Exit(2)
    console = Console()
    show(console, f"{student}, {found.slug}")
    show(console, *lines_about(folder, found, found.rows[0]))
    show(console, *_cells(course_root, found))


def _known(folder: "ClassFolder", slug: str) -> set[str]:
    """Return the ids of the class's students."""
    with folder.open_gradebook() as gradebook:
        known = {one.id for one in gradebook.students}
    return known | {one.student for one in folder.submissions(slug)}


def _cells(course_root: Path, report: "ClassReport") -> list[str]:
    """Return the cell with the student's score in the file for each platform."""
    from autograder.platforms import canvas, moodle

    headings = canvas_headings(course_root, report)
    heading = headings[0] if len(headings) == 1 else ""
    tables = {
        "canvas": list(canvas.score_rows(report, heading, {})),
        "moodle": list(moodle.score_rows(replace(report, note=""))),
    }
    row = report.rows[0]
    empty = AWAITS_A_HUMAN if row.awaits_a_human else WITHOUT_SCORE
    return [
        f"{platform.capitalize()}: `course report` writes {rows[-1][-1] or empty} into "
        f"{report.slug}-{platform}.csv, row {rows[-1][0]}, column {rows[0][-1]}"
        for platform, rows in tables.items()
    ]

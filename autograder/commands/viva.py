"""Define `course viva`, which writes questions about each student's own lines."""

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from autograder.commands.console import complain, problems_table, require_fork, show
from autograder.commands.grading import (
    Root,
    Students,
    Unprotected,
    chosen_submissions,
    require_sandbox,
)
from autograder.library_log import log_warnings


def register(app: typer.Typer) -> None:
    """Add `viva` to the `course` command."""
    app.command()(viva)


def viva(
    unit: Annotated[str, typer.Argument(help="Such as 04 or attention.")],
    student: Students = None,
    course_root: Root = Path("."),
    to: Annotated[
        Path | None, typer.Option(help="The folder to write into; default: report/.")
    ] = None,
    unprotected: Unprotected = False,
) -> None:
    """Write a sheet for each student with three questions about their own lines.

    Each question changes one line and asks for the effect. The answers are true,
    because the program runs the changed code in the sandbox.

    Print the first page, which has one sheet for each student. The second page has the
    answers, and the CSV file has the questions as a quiz. With --student, the file
    names contain the ids, so the pages of the whole class stay as they are.
    """
    require_fork()
    if not unprotected:
        require_sandbox()
    log_warnings(course_root)
    from autograder.classroom.folder import ClassFolder, require_class
    from autograder.course import CourseError
    from autograder.sandbox.control_channel import NoParent
    from autograder.unit import graded_unit
    from autograder.viva.pages import write_sheets
    from autograder.viva.sheets import CALLS, sheets_of

    try:
        require_class(course_root)
        folder = ClassFolder(course_root)
        slug = folder.course.unit(unit).slug
        graded = graded_unit(slug, folder.root)
    except (CourseError, FileNotFoundError) as error:
        complain(error)
        raise typer.Exit(2) from None
    if slug not in CALLS:
        numbers = ", ".join(name[:2] for name in CALLS)
        complain(f"Unit {slug[:2]} has no sheets: only the units {numbers} have them.")
        raise typer.Exit(2)
    chosen = chosen_submissions(folder, [slug], student)[slug]
    console = Console()
    workers = min(os.cpu_count() or 1, len(chosen))
    with Progress(console=console) as progress:
        task = progress.add_task(slug, total=len(chosen))
        try:
            sheets = sheets_of(
                graded, chosen, folder.limits, workers, lambda: progress.advance(task)
            )
        except (NoParent, CourseError) as error:
            complain(f"{error}. Nothing was written.")
            raise typer.Exit(2) from None
    place = to or course_root.resolve() / "report"
    ids = [one.student for one in chosen] if student else []
    paths = write_sheets(folder.root, graded, sheets, place, ids)
    number = sum(bool(one.questions) for one in sheets)
    show(console, f"{slug}: {number} of {len(sheets)} sheets have questions.")
    if rows := [(one.submission.student, one.reason) for one in sheets if one.reason]:
        console.print(problems_table(rows, "student", "no questions, because"))
    show(console, *paths)

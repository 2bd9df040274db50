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

Taken = Annotated[
    list[Path] | None,
    typer.Option("--take", help="A filled-in table of marks; may be repeated."),
]


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
    take: Taken = None,
    unprotected: Unprotected = False,
) -> None:
    """Write a sheet for each student with three questions about their own lines.

    Each question changes one line and asks for the effect. The answers are certain,
    because the program runs the changed code in the sandbox.

    Print the first page, which contains one sheet for each student. The second page
    contains the answers, and the CSV file contains the questions as a quiz. With
    --student, the file names contain the ids, so that the files of the whole class are
    not overwritten. A student who has handed in nothing is named and skipped.

    Another CSV file is for your marks. Fill in 0, 1 or 2 for each question, and read
    the file with --take. `course report` then shows the marks.
    """
    log_warnings(course_root)
    if take:
        _take(course_root, unit, take)
        return
    require_fork()
    if not unprotected:
        require_sandbox()
    from autograder.classroom.folder import ClassFolder, require_class
    from autograder.course import CourseError
    from autograder.sandbox.control_channel import NoParent
    from autograder.unit import graded_unit
    from autograder.viva.marks import marks_path, read_marks, write_marks
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
    chosen = chosen_submissions(folder, [slug], student, skip_unknown=True)[slug]
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
    table = paths[-1].with_name(paths[-1].name.replace("-viva-quiz", "-viva-marks"))
    asked = [one.submission.student for one in sheets if one.questions]
    try:  # the file may contain marks that have not been read yet
        taken = read_marks(marks_path(folder.root, slug))
        chosen_marks = {one: taken[one] for one in asked if one in taken}
        write_marks(table, asked, chosen_marks, read_marks(table))
        paths.append(table)
    except CourseError as error:
        complain(error)
    number = sum(bool(one.questions) for one in sheets)
    show(console, f"{slug}: {number} of {len(sheets)} sheets have questions.")
    if rows := [(one.submission.student, one.reason) for one in sheets if one.reason]:
        console.print(problems_table(rows, "student", "no questions, because"))
    show(console, *paths)


def _take(course_root: Path, unit: str, paths: list[Path]) -> None:
    """Read the marks from filled-in tables.

    Raises:
        Exit: with status 2 and a message if a table has an error.
    """
    from autograder.classroom.folder import ClassFolder, require_class
    from autograder.collect.warnings import several
    from autograder.course import CourseError
    from autograder.viva.marks import take

    try:
        require_class(course_root)
        folder = ClassFolder(course_root)
        slug = folder.course.unit(unit).slug
        students = {one.student for one in folder.submissions(slug)}
        for path in paths:
            number = take(folder.root, slug, path, students)
            show(Console(), f"{path}: took the marks of {several(number, 'student')}.")
    except CourseError as error:
        complain(f"{error}. Nothing of this table was taken.")
        raise typer.Exit(2) from None
    show(Console(), f"`course report {slug[:2]}` shows them.")

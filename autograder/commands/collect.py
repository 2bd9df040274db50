"""The command `course collect`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from autograder.commands.screen import add_row, complain, show

if TYPE_CHECKING:
    from autograder.collect import Collected


def register(app: typer.Typer) -> None:
    """Add `collect` to the command `course`."""
    app.command()(collect)


def collect(
    path: Annotated[
        Path, typer.Argument(help="A folder of notebooks, or a platform's zip archive.")
    ],
    unit: Annotated[
        str | None, typer.Option(help="Such as 04: take this unit's notebooks only.")
    ] = None,
    roster: Annotated[
        Path | None, typer.Option(help="A CSV file of the students.")
    ] = None,
    course_root: Annotated[
        Path, typer.Option("--course-root", help="The folder to put submitted/ in.")
    ] = Path("."),
) -> None:
    """Put what was handed in where nbgrader expects it: submitted/STUDENT/UNIT/.

    It takes archives of Canvas, Moodle, Google Classroom and Drive. Every submission is
    kept in collected/; the last one counts. Collecting the same again changes nothing.
    """
    from autograder.classroom.folder import ClassFolder
    from autograder.collect import CollectError
    from autograder.collect import collect as collect_class
    from autograder.course import CourseError

    console = Console()
    try:
        done = collect_class(path, ClassFolder(course_root), unit, roster)
    except (CollectError, CourseError) as error:
        complain(f"{error}\n\nNothing was collected.")
        raise typer.Exit(2) from None
    if done.placed:
        console.print(table_of(done))
    show(console, *lines_of(done))
    if done.refused or not done.placed:
        raise typer.Exit(1)


def table_of(done: "Collected") -> Table:
    """Return the table: a student's submissions of a unit a row."""
    from autograder.sandbox.error_words import clean

    table = Table("unit", "student", "handed in (UTC)", "kept", "new", "the one taken")
    for one in done.placed:
        when = f"{one.last.when}{' late' if one.last.late else ''}"
        source = clean(one.last.source, 60)
        add_row(
            table, one.slug, clean(one.student, 40), when, one.kept, one.new, source
        )
    return table


def lines_of(done: "Collected") -> list[str]:
    """Return what else the instructor should know, a line each."""
    from autograder.sandbox.error_words import clean

    lines = [f"{clean(s, 60)}: new, not known before" for s in done.created]
    lines += [
        f"not taken: {clean(s, 120)} {clean(why, 200)}" for s, why in done.refused
    ]
    lines += [f"warning: {clean(s, 120)} {clean(w, 200)}" for s, w in done.warnings]
    if done.ignored:
        shown = ", ".join(clean(name, 60) for name in done.ignored[:5])
        more = ", …" if len(done.ignored) > 5 else ""
        lines.append(f"no notebooks: {len(done.ignored)} files ({shown}{more})")
    for slug, students in done.missing.items():
        names = ", ".join(clean(student, 40) for student in students)
        lines.append(f"{slug}: {len(students)} missing{': ' if names else ''}{names}")
    handed_in = len({one.student for one in done.placed})
    lines.append(f"{handed_in} students collected.")
    return lines

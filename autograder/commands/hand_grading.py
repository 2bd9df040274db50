"""Define `course marks` and `course extend`, for decisions by a person."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from autograder.commands.console import complain, did_you_mean, show
from autograder.commands.return_feedback import opened, renewed
from autograder.library_log import log_warnings

if TYPE_CHECKING:
    from autograder.classroom.folder import ClassFolder
    from autograder.unit import GradedUnit
    from autograder.written.rubric import Rubric

OneUnit = Annotated[str, typer.Argument(help="Such as 04 or attention.")]
Root = Annotated[
    Path, typer.Option("--course-root", help="The folder with the gradebook in it.")
]
Taken = Annotated[
    list[Path] | None,
    typer.Option("--take", help="A filled-in table to read in; may be repeated."),
]
Among = Annotated[
    str, typer.Option(help="Graders who share the answers, such as ann,bo,cem.")
]
Anonymous = Annotated[
    bool, typer.Option("--anonymous", help="Codes in place of the students' ids.")
]
Target = Annotated[
    Path | None, typer.Option("--to", help="Folder to write into; default: marks/.")
]


def register(app: typer.Typer) -> None:
    """Add `marks` and `extend` to the `course` command."""
    app.command()(marks)
    app.command()(extend)


def marks(
    unit: OneUnit,
    take: Taken = None,
    among: Among = "",
    anonymous: Anonymous = False,
    to: Target = None,
    course_root: Root = Path("."),
) -> None:
    """Write tables for grading by hand, or read the tables back when filled in.

    The same folder contains the rubric, which is made from the model answers. Fill in
    `points` or the points of each part, and `comment`. @NAME inserts the comment of
    that name from comments.csv. An empty row changes nothing, with one exception: a row
    with `same as` gets the marks of the student named there, whose answer is identical.
    If any row has an error, the command names all errors and imports nothing.
    """
    from autograder.collect.warnings import several
    from autograder.unit import graded_unit, written_points
    from autograder.written import marks_table
    from autograder.written.rubric import rubrics_of, write_rubric

    log_warnings(course_root)
    folder, slug = opened(course_root, unit)
    console, graded = Console(), graded_unit(slug, folder.root)
    points = written_points(graded.released)
    rubrics = rubrics_of(folder.course, folder.course.unit(slug), points)
    if not take:
        _require_graded(folder, slug)
        place = to or folder.root / "marks"
        graders = [name.strip() for name in among.split(",") if name.strip()]
        _require_room(folder, graded, rubrics, place, graders)
        made, equal = marks_table.write_tables(
            folder, graded, rubrics, place, graders, anonymous
        )
        rubric = place / f"{slug}-rubric.md"
        write_rubric(rubrics, rubric)
        show(console, *made, f"Rubric: {rubric}")
        if equal:
            show(
                console,
                f"{several(equal, 'answer')} with `same as` equal another answer, and "
                "get its marks unless you fill in their rows.",
            )
        show(console, f"Fill them in, then: course marks {slug[:2]} --take FILE")
        return
    _take(folder, graded, rubrics, take)


def _require_graded(folder: "ClassFolder", slug: str) -> None:
    """Refuse to write an empty table.

    Raises:
        Exit: with status 2 and a message if no submission of the unit is graded.
    """
    if not any(folder.root.glob(f"{folder.coursedir.autograded_directory}/*/{slug}")):
        complain(f"Nothing of {slug} is graded here: run `course grade {slug[:2]}`.")
        raise typer.Exit(2)


def _require_room(
    folder: "ClassFolder",
    unit: "GradedUnit",
    rubrics: "list[Rubric]",
    place: Path,
    graders: list[str],
) -> None:
    """Refuse to overwrite a table that a grader has begun to fill in.

    Raises:
        Exit: with status 2 and a message that names the table.
    """
    from autograder.written.filled_in import MarksError
    from autograder.written.marks_table import table_of
    from autograder.written.untaken import untaken

    paths = [table_of(place, unit.slug, grader) for grader in graders or [""]]
    if len({str(path).casefold() for path in paths}) < len(paths):
        complain(f"--among {','.join(graders)} names a grader twice: write each once.")
        raise typer.Exit(2)
    try:
        found = untaken(folder, unit, rubrics, paths)
    except MarksError as error:
        complain(f"{error} Nothing was written.")
        raise typer.Exit(2) from None
    if found:
        words = " ".join(f"--take {path}" for path in found)
        complain(
            f"{', '.join(map(str, found))}: points or comments in there were not "
            f"taken. Take them with `course marks {unit.slug[:2]} {words}`, or "
            "move the file away. Nothing was written."
        )
        raise typer.Exit(2)


def _take(
    folder: "ClassFolder",
    unit: "GradedUnit",
    rubrics: "list[Rubric]",
    paths: list[Path],
) -> None:
    """Read filled-in tables into the gradebook.

    Raises:
        Exit: with status 2 and a message if a table has an error.
    """
    from autograder.collect.warnings import several
    from autograder.written.filled_in import (
        MarksError,
        kept_comments,
        read_tables,
        unknown_names,
    )
    from autograder.written.marks_table import take

    try:
        kept = kept_comments(folder)
        found, faults = read_tables(paths, kept, rubrics)
        with renewed(folder, unit.slug):
            new = take(folder, unit, found, faults)
            rows = several(len(found), "row")
            show(Console(), f"{unit.slug}: {rows} read, {new} of them new.")
            if names := unknown_names(found):
                words = ", ".join(f"@{name}" for name in names)
                said = f"warning: {words}: not in comments.csv, left as written"
                show(Console(), said)
    except MarksError as error:
        complain(f"{error} Nothing was taken.")
        raise typer.Exit(2) from None


def extend(
    student: Annotated[str, typer.Argument(help="The student's id.")],
    unit: OneUnit,
    days: Annotated[
        float, typer.Argument(min=0, max=3650, help="0 removes the extension.")
    ],
    course_root: Root = Path("."),
) -> None:
    """Give one student extra days for a unit."""
    from nbgrader.api import MissingEntry

    from autograder.late_rule import NoDueDateError
    from autograder.late_rule import extend as extend_in

    log_warnings(course_root)
    folder, slug = opened(course_root, unit)
    try:
        folder.register(slug)
        with folder.open_gradebook() as gradebook:
            is_first = not gradebook.students
        due = extend_in(folder.db_url, slug, student, days)
    except MissingEntry:
        with folder.open_gradebook() as gradebook:
            known = [one.id for one in gradebook.students]
        hint = did_you_mean(student, known, "collect with a roster first.")
        complain(f"The gradebook knows no student {student!r}: {hint}")
        raise typer.Exit(2) from None
    except NoDueDateError:
        complain(
            f"{slug} has no due date to extend: set one, as in `nbgrader db assignment "
            f'add {slug} --duedate "2030-01-15 23:59 UTC"`, and run this again.'
        )
        raise typer.Exit(2) from None
    when = f", until {due:%Y-%m-%d %H:%M} UTC" if due else "; no due date is set"
    more = "1 day more" if days == 1 else f"{days:g} days more"
    more = more if days else "no extension"
    with renewed(folder, slug):
        show(Console(), f"{student} has {more} for {slug}{when}.")
        if is_first:
            show(Console(), "The gradebook knew no student before: check this id.")

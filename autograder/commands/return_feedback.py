"""Define `course return`, which writes feedback in a form that platforms accept."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from autograder.commands.console import SHOWN, complain, problems_table, show, some
from autograder.library_log import log_warnings

if TYPE_CHECKING:
    from autograder.classroom.folder import ClassFolder
    from autograder.return_feedback import Page, Returned

NEXT = {
    "moodle": 'In Moodle: the assignment, "Upload multiple feedback files in a zip".',
    "canvas": 'In Canvas: the assignment, "Upload submissions".',
    "exchange": "Students fetch it with `nbgrader fetch_feedback`.",
    "mail": "Use it in a mail merge. The column File names the attachment.",
}
OneUnit = Annotated[str, typer.Argument(help="Such as 04 or attention.")]
Moodle = Annotated[bool, typer.Option("--moodle", help="Moodle's feedback zip.")]
Canvas = Annotated[
    bool, typer.Option("--canvas", help="A zip of the names that Canvas gave.")
]
Exchange = Annotated[bool, typer.Option("--exchange", help="nbgrader's exchange.")]
Mail = Annotated[
    bool, typer.Option("--mail-merge", help="A table of addresses and files.")
]
Subject = Annotated[
    str | None, typer.Option(help="Of the mails; default: Feedback on the unit.")
]
Target = Annotated[
    Path | None, typer.Option("--to", help="Folder to write into; default: return/.")
]
Root = Annotated[
    Path, typer.Option("--course-root", help="The folder with feedback/ in it.")
]


def register(app: typer.Typer) -> None:
    """Add `return` to the `course` command."""
    app.command("return")(return_feedback)


def return_feedback(
    unit: OneUnit,
    moodle: Moodle = False,
    canvas: Canvas = False,
    exchange: Exchange = False,
    mail_merge: Mail = False,
    subject: Subject = None,
    to: Target = None,
    course_root: Root = Path("."),
) -> None:
    """Write feedback for Moodle, Canvas, nbgrader's exchange or a mail merge.

    First, pages whose marks differ from the gradebook are rewritten.

    The exit status is 1 if the feedback of some students was left out, and 2 if no
    feedback was written.
    """
    log_warnings(course_root)
    folder, slug = opened(course_root, unit)
    place = to or folder.root / "return"
    asked = {
        "moodle": moodle,
        "canvas": canvas,
        "exchange": exchange,
        "mail": mail_merge,
    }
    ways = [way for way, is_asked in asked.items() if is_asked]
    if not ways:
        complain("Choose --moodle, --canvas, --exchange or --mail-merge.")
        raise typer.Exit(2)
    pages = _pages(folder, slug)
    mail = subject or f"Feedback: {folder.course.unit(slug).title}"
    console, worst = Console(), 0
    for way in ways:
        done = _written(way, pages, folder, place, mail)
        _tell(slug, way, done, console)
        worst = max(worst, 2 if not done.students else int(bool(done.left_out)))
    if worst:
        raise typer.Exit(worst)


def opened(root: Path, unit: str) -> "tuple[ClassFolder, str]":
    """Open the class in `root`.

    Raises:
        Exit: with status 2 and a message if there is no class or no gradebook.
    """
    from autograder.classroom.folder import ClassFolder, require_class
    from autograder.course import CourseError
    from autograder.gradebook import GradebookError, require_gradebook

    try:
        require_class(root)
        folder = ClassFolder(root)
        require_gradebook(folder.db_url)
        slug = folder.course.unit(unit).slug
    except (CourseError, GradebookError) as error:
        complain(error)
        raise typer.Exit(2) from None
    if not folder.has_gradebook:
        complain(
            f"Nothing of {slug} is graded here: run `course grade` first, or name the "
            "class's folder with --course-root."
        )
        raise typer.Exit(2)
    return folder, slug


def _pages(folder: "ClassFolder", slug: str) -> "list[Page]":
    """Update the feedback pages and return them.

    Raises:
        Exit: with status 2 and a message if there are no submissions.
    """
    from autograder.return_feedback import pages_of

    pages = list(pages_of(folder, slug))
    if not pages:
        complain(f"Nothing of {slug} is handed in here: run `course collect` first.")
        raise typer.Exit(2)
    with renewed(folder, slug):
        return pages


@contextmanager
def renewed(folder: "ClassFolder", slug: str) -> Iterator[None]:
    """After the `with` block, update scores and pages and print changed scores.

    The scores then match the settings of the course and the gradebook.
    """
    from autograder.classroom.grading_run import renew_pages
    from autograder.score_changes import changes_shown
    from autograder.unit import graded_unit
    from autograder.written.up_to_date import bring_up_to_date

    unit = graded_unit(slug, folder.root)
    with changes_shown(folder, slug, partial(show, Console())):
        yield
        bring_up_to_date(folder, unit)
    renew_pages(folder, unit)


def _written(
    way: str, pages: "list[Page]", folder: "ClassFolder", place: Path, subject: str
) -> "Returned":
    """Write the feedback in the form `way`.

    Raises:
        Exit: with status 2 and a message if the exchange cannot be used.
    """
    from autograder.platforms import canvas, exchange, mail_merge, moodle

    if way == "moodle":
        return moodle.write_feedback(pages, place)
    if way == "canvas":
        return canvas.write_feedback(pages, place)
    if way == "mail":
        return mail_merge.write_feedback(pages, place, subject)
    try:
        return exchange.release_feedback(pages, folder)
    except RuntimeError as error:
        complain(f"The exchange cannot be used: {error}")
        raise typer.Exit(2) from None


def _tell(slug: str, way: str, done: "Returned", console: Console) -> None:
    """Print where the feedback is, and which students have no feedback."""
    from autograder.collect.warnings import several

    if done.students:
        students = several(len(done.students), "student")
        show(console, f"{slug}: feedback of {students} in {done.place}")
        show(console, NEXT[way])
    else:
        complain(f"{slug}: nobody's feedback can be returned in this way.")
    if rows := by_reason(done.left_out):
        console.print(problems_table(rows, "student", "why it is left out"))


def by_reason(left_out: dict[str, str]) -> list[tuple[str, str]]:
    """Return rows of students and reasons; several students can share a row."""
    whose: dict[str, list[str]] = {}
    for student, why in left_out.items():
        whose.setdefault(why, []).append(student)
    rows = []
    for why, students in whose.items():
        if len(students) <= SHOWN:
            rows += [(student, why) for student in students]
        else:
            rest = f"{len(students)} students"
            rows.append((rest, f"{why}: {some(students)}"))
    return rows

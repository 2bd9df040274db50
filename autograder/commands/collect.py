"""Define the `course collect` command."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from autograder.commands.console import complain, problems_table, show, some
from autograder.library_log import log_warnings

if TYPE_CHECKING:
    from autograder.collect import Collected

MOST_ROWS = 20  # rows in the table of problems; the page lists all problems


Archive = Annotated[
    Path, typer.Argument(help="A folder of notebooks, or a platform's zip archive.")
]
OneUnit = Annotated[
    str | None, typer.Option(help="Such as 04: take this unit's notebooks only.")
]
RosterFile = Annotated[
    Path | None,
    typer.Option(
        help="A CSV file of the students. Submissions of anyone else are put aside. "
        "Later runs use the same roster."
    ),
]
TimesFile = Annotated[
    Path | None,
    typer.Option(help="A CSV file with each student's id and hand-in time."),
]
Root = Annotated[
    Path, typer.Option("--course-root", help="The folder to put submitted/ in.")
]


def register(app: typer.Typer) -> None:
    """Add `collect` to the `course` command."""
    app.command()(collect)


def collect(
    path: Archive,
    unit: OneUnit = None,
    roster: RosterFile = None,
    times: TimesFile = None,
    course_root: Root = Path("."),
) -> None:
    """Copy submissions to the folders where nbgrader expects them.

    These folders are submitted/STUDENT/UNIT/. The command accepts archives from Canvas,
    Moodle, Google Classroom and Google Drive. It stores every submission in collected/,
    and each student's last submission counts. Collecting the same archive again changes
    nothing. A page and a table in collected/_accounts/ list the result for every file.

    The exit status is 1 if a student's work was put aside or refused, and 2 if no
    notebook was collected.
    """
    from autograder.classroom.folder import ClassFolder
    from autograder.collect import CollectError
    from autograder.collect import collect as collect_class
    from autograder.course import CourseError
    from autograder.gradebook import GradebookError, require_gradebook

    log_warnings(course_root)
    try:
        folder = ClassFolder(course_root)
        require_gradebook(folder.db_url)
        done = collect_class(path, folder, unit, roster, times)
    except (CollectError, CourseError, GradebookError) as error:
        complain(f"{error}\n\nNothing was collected.")
        raise typer.Exit(2) from None
    _tell(done, Console())
    if not done.placed:
        raise typer.Exit(2)
    if done.report.problems():
        raise typer.Exit(1)


def _tell(done: "Collected", console: Console) -> None:
    """Print the successes, a table of the problems and the missing students."""
    show(console, *lines_of(done))
    rows = [
        (", ".join(one.students) or "?", f"{one.state}: {one.source} {one.why}")
        for one in done.report.problems()
    ]
    if rows:
        console.print(problems_table(rows[:MOST_ROWS], "student", "what became of it"))
    if rows[MOST_ROWS:]:
        show(console, f"and {len(rows) - MOST_ROWS} more on the page")
    show(console, *last_lines_of(done))


def lines_of(done: "Collected") -> list[str]:
    """Return one line for each success and one for each problem to look at."""
    from autograder.collect.warnings import several

    lines = []
    for slug in dict.fromkeys(one.slug for one in done.placed):
        placed = [one for one in done.placed if one.slug == slug]
        new, late = sum(one.new for one in placed), sum(one.late for one in placed)
        words = f"{slug}: {several(len(placed), 'student')}, {several(new, 'new file')}"
        words += f", {late} late" if late else ""
        untouched = [one.student for one in placed if one.last.is_untouched]
        lines.append(words)
        again = [one.student for one in placed if one.new and one.kept > one.new]
        if again:
            lines.append(f"{len(again)} had handed in before: {some(again)}")
        if untouched:
            lines.append(f"{len(untouched)} as it was given out: {some(untouched)}")
    if done.created:
        number = len(done.created)
        lines.append(f"{number} new, not known before: {some(done.created)}")
    if done.moved:
        pairs = [f"{old} is {new}" for old, new in sorted(done.moved.items())]
        lines.append(f"{len(pairs)} got the roster's ids: {some(pairs)}")
    lines += [f"warning: {source} {words}" for source, words in done.warnings]
    return lines


def last_lines_of(done: "Collected") -> list[str]:
    """Return lines on missing students, the number of files and the page's path."""
    from autograder.collect.import_report import PUT_ASIDE, STATES
    from autograder.collect.warnings import several

    report = done.report
    lines = [
        f"{slug}: {len(students)} missing{': ' if students else ''}"
        f"{some(report.missing_by_name(slug))}"
        for slug, students in report.missing.items()
    ]
    if any(not one.students for one in report.of(PUT_ASIDE)):
        lines.append(
            "To collect a file that was put aside, put an id in front of its name, as "
            "in `al1815 - …`, and collect collected/_not-sorted."
        )
    if instead := report.instead():
        lines.append(
            f"{len(instead)} sent only files that were not taken: "
            f"{some(sorted(instead))}"
        )
    counts = [(len(report.of(state)), state) for state in STATES]
    words = ", ".join(f"{number} {state}" for number, state in counts if number)
    lines.append(
        f"{several(len(report.results), 'file')}: {words or 'nothing to take'}."
    )
    if done.named and not report.results:
        students_named = several(done.named, "student")
        lines.append(f"{students_named} of the roster are in the gradebook by name.")
    lines.append(f"Each of them: {report.page}")
    students = {one.student for one in done.placed}
    lines.append(f"{several(len(students), 'student')} collected.")
    return lines

"""Define `course report`, which writes a page on a unit and CSV files of scores."""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from autograder.commands.console import complain, show, some
from autograder.library_log import log_warnings

if TYPE_CHECKING:
    from autograder.class_report import ClassReport

NOTHING = (
    "Nothing of {slug} is graded here: run `course grade` first, or name the class's "
    "folder with --course-root."
)


OneUnit = Annotated[str, typer.Argument(help="Such as 04 or attention.")]
Root = Annotated[
    Path, typer.Option("--course-root", help="The folder with the gradebook in it.")
]
Target = Annotated[
    Path | None, typer.Option("--to", help="Folder to write into; default: report/.")
]


def register(app: typer.Typer) -> None:
    """Add `report` to the `course` command."""
    app.command()(report)


def report(unit: OneUnit, course_root: Root = Path("."), to: Target = None) -> None:
    """Write a page on a class's work, and CSV files of scores for Canvas and Moodle.

    The page shows the scores, the pass rate and the discrimination of each exercise,
    the most common mistakes, the repaired and refused submissions, and the grading
    times.
    """
    from autograder.class_report import write_page
    from autograder.collect import CollectError
    from autograder.collect.roster import sections_in
    from autograder.course import CourseError
    from autograder.gradebook import GradebookError
    from autograder.platforms.scores import write_scores

    log_warnings(course_root)
    try:
        found = gathered(course_root, unit)
        sections = sections_in(course_root.resolve())
    except (CollectError, CourseError, GradebookError, FileNotFoundError) as error:
        complain(error)
        raise typer.Exit(2) from None
    place = to or course_root.resolve() / "report"
    page = place / f"{found.slug}.html"
    write_page(found, page)
    typer.echo(f"{page}: {found.count('graded')} of {len(found.rows)} graded")
    if found.note:
        typer.echo(found.note)
    if awaiting := sum(row.awaits_a_human for row in found.rows):
        typer.echo(
            f"{awaiting} await a human: without a score in the files for the platforms."
            f" Give points with `course marks {found.slug[:2]}`, or in formgrader."
        )
    headings = canvas_headings(course_root, found)
    certain = headings[0] if len(headings) == 1 else ""
    for path in write_scores(found, place, certain, sections):
        typer.echo(path)
    show(Console(), _about_canvas(headings, found.slug))


def canvas_headings(course_root: Path, found: "ClassReport") -> list[str]:
    """Return the headings of the unit's columns in the collected Canvas export."""
    from autograder.collect.canvas_assignments import columns_of, kept_assignments
    from autograder.unit import course_of

    root = course_root.resolve()
    unit = course_of(root).unit(found.slug)
    return columns_of(unit, kept_assignments(root), [found.title])


def _about_canvas(headings: list[str], slug: str) -> str:
    """Return a message on which heading the scores have in the file for Canvas."""
    if len(headings) == 1:
        return f"Canvas's file has the heading of your export: {headings[0]}"
    if headings:
        return (
            f"Canvas's file has the heading {slug}. Expected one column of this unit "
            f"in your export, found {len(headings)}: {some(headings)}. Put the right "
            "heading into the file before you import it."
        )
    return (
        f"Canvas's file has the heading {slug}. Canvas creates a new assignment "
        "with it, unless you first collect with --roster and Canvas's gradebook export."
    )


def gathered(course_root: Path, unit: str, only: str | None = None) -> "ClassReport":
    """Update the scores, and return the report on a class's work.

    Args:
        course_root: the class's folder.
        unit: the unit.
        only: the id of one student, or None. If it is given, the report contains only
            this student's row, or no row if the student is unknown.

    Raises:
        CourseError, GradebookError: if the course or the gradebook cannot be read.
        FileNotFoundError: if no submission is graded.
    """
    from autograder.class_report import gather
    from autograder.classroom.folder import ClassFolder, require_class
    from autograder.classroom.grading_run import renew_pages
    from autograder.gradebook import require_gradebook
    from autograder.score_changes import changes_shown
    from autograder.unit import graded_unit
    from autograder.written.up_to_date import bring_up_to_date

    require_class(course_root)
    folder = ClassFolder(course_root)
    require_gradebook(folder.db_url)
    slug = folder.course.unit(unit).slug
    if folder.has_gradebook:
        graded = graded_unit(slug, folder.root)
        with changes_shown(folder, slug, partial(show, Console())):
            _, has_changed = bring_up_to_date(folder, graded)
        pages = folder.root / folder.coursedir.feedback_directory
        if has_changed and pages.is_dir():
            renew_pages(folder, graded)
        found = gather(folder, slug, only)
        if only or {row.status for row in found.rows} - {"missing", "not taken"}:
            return found
    raise FileNotFoundError(NOTHING.format(slug=slug))

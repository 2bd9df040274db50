"""The command `course similar`: whose answers agree more than the exercise explains."""

import contextlib
import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from autograder.commands.console import add_row, complain, show
from autograder.library_log import log_warnings

if TYPE_CHECKING:
    from nbformat import NotebookNode

    from autograder.classroom.folder import ClassFolder
    from autograder.classroom.similarity import Pair
    from autograder.unit import GradedUnit

HINT = (
    "A hint for a human, no proof: short exercises have few right answers, people who "
    "learn together write alike, and the same source may stand behind both. Read both "
    "answers, and talk to both students, before you conclude anything."
)


def register(app: typer.Typer) -> None:
    """Add `similar` to the command `course`."""
    app.command()(similar)


def similar(
    unit: Annotated[str, typer.Argument(help="Such as 04 or attention.")],
    course_root: Annotated[
        Path, typer.Option("--course-root", help="The folder with submitted/ in it.")
    ] = Path("."),
    least: Annotated[
        float,
        typer.Option(min=0, max=1, help="List pairs from this agreement on, 0 to 1."),
    ] = 0.8,
) -> None:
    """List pairs of submissions whose code agrees more than the class's does.

    Names, comments and layout do not count, nor does what was handed out; what the
    class's answers have in common anyway is taken off. It is a hint for a human, no
    proof: short exercises have few right answers. Read both answers, and talk to both
    students, before you conclude anything.
    """
    from autograder.classroom.folder import ClassFolder, require_class
    from autograder.classroom.similarity import similar_pairs
    from autograder.course import CourseError
    from autograder.unit import graded_unit

    log_warnings(course_root)
    try:
        require_class(course_root)
        folder = ClassFolder(course_root)
        graded = graded_unit(folder.course.unit(unit).slug, folder.root)
    except (CourseError, FileNotFoundError) as error:
        complain(error)
        raise typer.Exit(2) from None
    answers, left_out = answers_of(folder, graded)
    about = _about(answers, left_out)
    if len(answers) < 2:
        words = "first, or name the class's folder with --course-root."
        complain(f"{about} Two are needed: collect {graded.slug} {words}")
        raise typer.Exit(2)
    same = identical_files(folder, graded.slug)
    given = answers_in(graded.released, graded)
    pairs = similar_pairs(_one_of_each(answers, same), given, least)
    _tell(graded.slug, as_given_out(folder, graded.slug), same, pairs, least, about)


def _one_of_each(
    answers: dict[str, dict[str, str]], same: list[list[str]]
) -> dict[str, dict[str, str]]:
    """Return the answers without the copies of a file."""
    copies = {student for students in same for student in students[1:]}
    return {who: own for who, own in answers.items() if who not in copies}


def identical_files(folder: "ClassFolder", slug: str) -> list[list[str]]:
    """Return the groups of students whose files are the same, the largest first."""
    groups: dict[str, list[str]] = {}
    for submission in folder.submissions(slug):
        with contextlib.suppress(OSError):
            digest = hashlib.sha256(submission.path.read_bytes()).hexdigest()
            groups.setdefault(digest, []).append(submission.student)
    several = [students for students in groups.values() if len(students) > 1]
    return sorted(several, key=lambda one: (-len(one), one))


def as_given_out(folder: "ClassFolder", slug: str) -> set[str]:
    """Return the students whose answers are as they were given out."""
    from autograder.collect.detect_unit import UnitDetector

    detector, unit, blank = UnitDetector(folder.course), folder.course.unit(slug), set()
    for submission in folder.submissions(slug):
        with contextlib.suppress(OSError):
            if detector.is_untouched(submission.path.read_bytes(), unit):
                blank.add(submission.student)
    return blank


def _tell(
    slug: str,
    blank: set[str],
    same: list[list[str]],
    pairs: "list[Pair]",
    least: float,
    about: str,
) -> None:
    """Print who handed in the same file, then the pairs, or that there are none."""
    console = Console()
    same = [students for students in same if not blank.issuperset(students)]
    if blank:
        show(console, f"{slug}: as it was given out: {', '.join(sorted(blank))}")
    for students in same:
        show(console, f"{slug}: the very same file: {', '.join(students)}")
    if same:
        show(console, "Of each such group the first is compared with the others.")
    if pairs:
        console.print(_table(slug, pairs))
        show(console, about)
        console.print(HINT)
    else:
        show(
            console,
            f"{slug}: no pair agrees {least:.0%} or more beyond the class. {about}",
        )


def answers_of(
    folder: "ClassFolder", unit: "GradedUnit"
) -> tuple[dict[str, dict[str, str]], list[str]]:
    """Return each student's answers, and the students whose file cannot be read."""
    from autograder.repair import Refused, read_submission, rebuild

    answers, left_out = {}, []
    for submission in folder.submissions(unit.slug):
        try:
            repaired = rebuild(unit, read_submission(submission.path))
        except (Refused, OSError):
            left_out.append(submission.student)
            continue
        answers[submission.student] = answers_in(repaired.notebook, unit)
    return answers, left_out


def answers_in(notebook: "NotebookNode", unit: "GradedUnit") -> dict[str, str]:
    """Return the source of each exercise's answer in a notebook."""
    return {
        cell.metadata.nbgrader.grade_id: cell.source
        for cell in notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") in unit.points
    }


def _table(slug: str, pairs: "list[Pair]") -> Table:
    from autograder.sandbox.error_words import clean

    columns = ("one", "another", "beyond the class", "agree", "usual", "exercises")
    table = Table(*columns, title=f"{slug}: pairs that agree")
    for pair in pairs:
        shares = (f"{x:.0%}" for x in (pair.beyond, pair.agreement, pair.usual))
        who = (clean(student, 60) for student in pair.students)
        add_row(table, *who, *shares, ", ".join(pair.exercises))
    return table


def _about(answers: dict[str, dict[str, str]], left_out: list[str]) -> str:
    from autograder.sandbox.error_words import clean

    words = f"{len(answers)} submissions were compared."
    if left_out:
        words += f" Not read: {', '.join(clean(name, 60) for name in left_out)}."
    return words

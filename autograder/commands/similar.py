"""The command `course similar`: whose answers agree more than the exercise explains."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.table import Table

from autograder.commands.console import add_row, complain, show
from autograder.library_log import log_warnings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sized

    from autograder.classroom.similar_answers import ReadAnswers
    from autograder.classroom.similarity import Pair

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
    from autograder.classroom.similar_answers import read_answers
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
    read = read_answers(graded, folder.submissions(graded.slug))
    answers = {who: own for who, own in read.items() if not own.failure}
    about = _about(answers, {who: own.failure for who, own in read.items()})
    if len(answers) < 2:
        words = "first, or name the class's folder with --course-root."
        complain(f"{about} Two are needed: collect {graded.slug} {words}")
        raise typer.Exit(2)
    blank = {who for who, own in answers.items() if own.is_untouched}
    same = identical_files(answers)
    copies = {student for students in same for student in students[1:]}
    tokens = {who: own.tokens for who, own in answers.items() if who not in copies}
    pairs = similar_pairs(tokens, least)
    _tell(graded.slug, blank, same, pairs, least, about)


def identical_files(answers: "Mapping[str, ReadAnswers]") -> list[list[str]]:
    """Return the groups of students whose files are the same, the largest first."""
    groups: dict[str, list[str]] = {}
    for student, own in answers.items():
        groups.setdefault(own.digest, []).append(student)
    several = [students for students in groups.values() if len(students) > 1]
    return sorted(several, key=lambda one: (-len(one), one))


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


def _table(slug: str, pairs: "list[Pair]") -> Table:
    from autograder.sandbox.error_words import clean

    columns = ("one", "another", "beyond the class", "agree", "usual", "exercises")
    table = Table(*columns, title=f"{slug}: pairs that agree")
    for pair in pairs:
        shares = (f"{x:.0%}" for x in (pair.beyond, pair.agreement, pair.usual))
        who = (clean(student, 60) for student in pair.students)
        add_row(table, *who, *shares, ", ".join(pair.exercises))
    return table


def _about(answers: "Sized", failures: "Mapping[str, str]") -> str:
    from autograder.sandbox.error_words import clean

    words = f"{len(answers)} submissions were compared."
    failed = [
        f"{clean(name, 60)} ({clean(why, 150)})"
        for name, why in failures.items()
        if why
    ]
    return f"{words} Not read: {', '.join(failed)}." if failed else words

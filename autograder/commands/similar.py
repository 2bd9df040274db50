"""Define `course similar`, which groups students with unusually similar answers."""

import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from autograder.commands.console import complain, show
from autograder.library_log import log_warnings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from autograder.classroom.similar_answers import ReadAnswers
    from autograder.classroom.similarity_report import SimilarityReport

MOST_LINES = 20
NAMED = 6  # students of a cluster; the page lists all of them
HINT = (
    "This is a hint for a human, no proof: read the answers and talk to the students "
    "before you conclude anything."
)


def register(app: typer.Typer) -> None:
    """Add `similar` to the `course` command."""
    app.command()(similar)


def similar(
    unit: Annotated[str, typer.Argument(help="Such as 04 or attention.")],
    course_root: Annotated[
        Path, typer.Option("--course-root", help="The folder with submitted/ in it.")
    ] = Path("."),
    least: Annotated[
        float,
        typer.Option(min=0, max=1, help="Link submissions from this similarity on."),
    ] = 0.8,
    known: Annotated[
        Path | None,
        typer.Option(help="A folder of public solutions: notebooks or .py files."),
    ] = None,
    to: Annotated[
        Path | None, typer.Option(help="The folder to write into; default: report/.")
    ] = None,
) -> None:
    """Group submissions whose code is more similar than is usual in the class.

    Names, comments, layout and the code that students were given are ignored. The usual
    agreement of the class is subtracted, and answers that are common in the class do
    not link students. The page in report/ shows the clusters, and the CSV file lists
    all students.

    A cluster is a hint and not a proof, because short exercises have few right answers.
    Read the answers and talk to the students before you conclude anything.
    """
    from autograder.classroom.folder import ClassFolder, require_class
    from autograder.classroom.known_solutions import near_known, read_known
    from autograder.classroom.similar_answers import read_answers, sources_in
    from autograder.classroom.similarity import ComparedClass
    from autograder.classroom.similarity_report import SimilarityReport
    from autograder.course import CourseError
    from autograder.repair.slots import top_names
    from autograder.unit import graded_unit

    log_warnings(course_root)
    try:
        require_class(course_root)
        folder = ClassFolder(course_root)
        graded = graded_unit(folder.course.unit(unit).slug, folder.root)
    except (CourseError, FileNotFoundError) as error:
        complain(error)
        raise typer.Exit(2) from None
    given = sources_in(graded.released, graded)
    solutions = read_known(known, "\n\n".join(given.values())) if known else []
    if known and not solutions:
        complain(
            f"{known}: expected a folder with notebooks or .py files, found none. "
            "Correct the path after --known."
        )
        raise typer.Exit(2)
    read = read_answers(graded, folder.submissions(graded.slug))
    answers = {who: own for who, own in read.items() if not own.failure}
    failures = {who: own.failure for who, own in read.items() if own.failure}
    failures |= {one.name: one.failure for one in solutions if one.failure}
    blank = {who for who, own in answers.items() if own.is_untouched}
    if len(answers) < 2:
        complain(
            f"Expected at least two submissions of {graded.slug}, found "
            f"{len(answers)}. {_not_read(failures)}Collect the class first, or name "
            "its folder with --course-root."
        )
        raise typer.Exit(2)
    written = {who: own for who, own in answers.items() if who not in blank}
    same = identical_files(written)
    copies = {student for students in same for student in students[1:]}
    tokens = {who: own.tokens for who, own in written.items() if who not in copies}
    compared = ComparedClass(tokens, least)
    names = {name: set(top_names(source)) for name, source in given.items()}
    near = near_known(compared, tokens, solutions, names)
    report = SimilarityReport(
        graded.slug, compared, same, near, failures, frozenset(blank)
    )
    paths = report.write(to or course_root.resolve() / "report")
    _tell(report, len(answers), paths)


def identical_files(answers: "Mapping[str, ReadAnswers]") -> list[list[str]]:
    """Return the groups of students with identical files, the largest group first."""
    groups: dict[str, list[str]] = {}
    for student, own in answers.items():
        groups.setdefault(own.digest, []).append(student)
    several = [students for students in groups.values() if len(students) > 1]
    return sorted(several, key=lambda one: (-len(one), one))


def _tell(report: "SimilarityReport", number: int, paths: "Sequence[Path]") -> None:
    """Print at most 20 lines, the largest clusters first, and the pages' paths."""
    clusters = "no cluster"
    if report.clusters:
        clusters = f"{_several(len(report.clusters), 'cluster')} with "
        clusters += _several(sum(map(len, report.clusters)), "student")
    before = _wrapped(f"{report.slug}: {number} submissions were compared; {clusters}.")
    after = _wrapped(*_other_findings(report), HINT)
    room = MOST_LINES - len(before) - len(after) - len(paths) - 1
    shown: list[str] = []
    for line in _cluster_lines(report):
        lines = _wrapped(line)
        if len(shown) + len(lines) > room:
            shown.append("More clusters are on the page.")
            break
        shown += lines
    show(Console(), *before, *shown, *after, *paths)


def _cluster_lines(report: "SimilarityReport") -> "Iterator[str]":
    for number, students in enumerate(report.clusters, 1):
        pairs = report.inside(students)
        least, most = pairs[-1].beyond, pairs[0].beyond
        share = f"{least:.0%}" if round(least, 2) == round(most, 2) else (
            f"{least:.0%} to {most:.0%}"
        )  # fmt: skip
        exercises = ", ".join(report.exercises_of(students))
        yield f"{number}. {_named(students)}: {share} in {exercises}"


def _other_findings(report: "SimilarityReport") -> "Iterator[str]":
    if report.near:
        near = [f"{one.student} ({one.file})" for one in report.near]
        yield f"Near a known solution: {_named(near)}."
    if report.blank:
        yield f"As given out: {_named(sorted(report.blank))}."
    if report.failures:
        yield _not_read(report.failures)


def _not_read(failures: "Mapping[str, str]") -> str:
    from autograder.sandbox.error_words import clean

    named = [f"{name} ({clean(why, 80)})" for name, why in failures.items()]
    return f"Not read: {_named(named, 4)}. " if named else ""


def _named(names: "Sequence[str]", most: int = NAMED) -> str:
    """List the first ids in full, and state how many more there are."""
    from autograder.sandbox.error_words import clean

    rest = len(names) - most
    more = f" and {rest} more" if rest > 0 else ""
    return ", ".join(clean(name, 200) for name in names[:most]) + more


def _several(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"


def _wrapped(*texts: str) -> list[str]:
    """Break texts between words to fit the terminal, so that no id is broken."""
    width = shutil.get_terminal_size().columns
    return [
        line
        for text in texts
        for line in textwrap.wrap(
            text, width, break_long_words=False, break_on_hyphens=False
        )
    ]

"""The commands `course grade` and `course sample-class`."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from autograder.course import load_course

if TYPE_CHECKING:
    from autograder.classroom.folder import ClassFolder
    from autograder.classroom.grading_run import Choice
    from autograder.grading.outcome import Outcome

OneUnit = Annotated[
    str | None, typer.Argument(help="Such as 04 or attention; default: all.")
]
Students = Annotated[
    list[str] | None, typer.Option(help="Only this student; may be repeated.")
]
Root = Annotated[
    Path, typer.Option("--course-root", help="The folder with submitted/ in it.")
]
Feedback = Annotated[bool, typer.Option(help="Also write the feedback pages.")]
Workers = Annotated[
    int | None,
    typer.Option(min=1, help="Submissions at a time; default: one a core."),
]
Force = Annotated[
    bool, typer.Option("--force", help="Grade again what is graded already.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Grade on the dask cluster whose scheduler is at tcp://HOST:PORT, "
        "which only people you trust can reach."
    ),
]
Device = Annotated[
    str | None,
    typer.Option(help="Run the checks on this device, such as cuda; default: cpu."),
]


def register(app: typer.Typer) -> None:
    """Add the commands to `course`."""
    app.command()(grade)
    app.command("sample-class")(sample_class)


def grade(
    unit: OneUnit = None,
    student: Students = None,
    course_root: Root = Path("."),
    feedback: Feedback = True,
    workers: Workers = None,
    force: Force = False,
    scheduler: Scheduler = None,
    device: Device = None,
) -> None:
    """Grade what was handed in: hidden checks, gradebook, feedback.

    What is graded already and has not changed since is kept: a run that was
    interrupted or killed goes on where it was. Each submission has its line in
    grading/audit.jsonl.
    """
    from autograder.sandbox.warm_start import prepare_for

    if scheduler is None:
        prepare_for(course_root)
    from autograder.classroom.grading_run import Choice

    console, choice = Console(), Choice(feedback, workers, force, scheduler)
    folder, slugs = _opened(course_root, unit, device, scheduler)
    outcomes: list[Outcome] = []
    for slug in slugs:
        with _ended_by_hand(), _said_clearly(scheduler):
            outcomes += _grade_unit(folder, slug, student, console, choice)
    _say_where(folder, feedback, console)
    if any(outcome.status == "failed" for outcome in outcomes):
        raise typer.Exit(1)


def _opened(
    root: Path, unit: str | None, device: str | None, scheduler: str | None
) -> "tuple[ClassFolder, list[str]]":
    """Open the class in `root`; return it, and the units to grade.

    Raises:
        Exit: with status 2 and a sentence, if it cannot be graded.
    """
    from autograder.classroom.folder import ClassFolder
    from autograder.course import CourseError
    from autograder.gradebook import GradebookError, require_gradebook

    try:
        folder = ClassFolder(root, device)
        _require_device(folder.limits.device, scheduler)
        slugs = [folder.course.unit(unit).slug] if unit else folder.units()
        require_gradebook(folder.db_url)
    except (CourseError, GradebookError, ValueError) as error:
        typer.echo(error, err=True)
        raise typer.Exit(2) from None
    if not slugs:
        typer.echo(f"Nothing is handed in under {folder.root / 'submitted'}.", err=True)
        raise typer.Exit(2)
    return folder, slugs


def _say_where(folder: "ClassFolder", feedback: bool, console: Console) -> None:
    """Say where gradebook and feedback are."""
    from autograder.gradebook import shown_address

    console.print(f"Gradebook: {shown_address(folder.db_url)}", soft_wrap=True)
    pages = folder.root / folder.coursedir.feedback_directory
    if feedback and pages.is_dir():
        console.print(f"Feedback: {pages}", soft_wrap=True)


def _require_device(name: str, scheduler: str | None) -> None:
    """Refuse a device that this machine lacks; a cluster's workers look themselves.

    Raises:
        ValueError: if PyTorch does not know the device or cannot reach it.
    """
    if name != "cpu" and scheduler is None:
        from transformer.data import check_device

        check_device(name)


@contextlib.contextmanager
def _ended_by_hand() -> Iterator[None]:
    """End with one sentence at Ctrl-C; what was in hand is graded by the next run."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("Stopped. What is graded stays; grade again to go on.", err=True)
        raise typer.Exit(130) from None


@contextlib.contextmanager
def _said_clearly(scheduler: str | None) -> Iterator[None]:
    """End with one sentence where the cluster is at fault, not with a traceback."""
    if scheduler is None:
        yield
        return
    try:
        from autograder.classroom.cluster import ClusterError
    except ModuleNotFoundError as error:
        typer.echo(error, err=True)
        raise typer.Exit(2) from None
    try:
        yield
    except ClusterError as error:
        typer.echo(f"{error}. What is graded stays; grade again to go on.", err=True)
        raise typer.Exit(2) from None


def _grade_unit(
    folder: "ClassFolder",
    slug: str,
    students: list[str] | None,
    console: Console,
    choice: "Choice",
) -> "list[Outcome]":
    """Grade one unit with a progress bar, and print its table of scores."""
    from autograder.classroom.grading_run import run_through
    from autograder.sandbox.warm_start import prepare
    from autograder.unit import graded_unit

    unit = graded_unit(slug, folder.root)
    if choice.scheduler is None:
        prepare()
    folder.register(slug)
    chosen = [
        item
        for item in folder.submissions(slug)
        if not students or item.student in students
    ]
    with _progress(console) as progress:
        task = progress.add_task(slug, total=len(chosen), failures=0)

        def done(outcome: "Outcome") -> None:
            bad = int(outcome.status != "graded")
            failures = progress.tasks[task].fields["failures"] + bad
            progress.update(task, advance=1, failures=failures)
            progress.console.print(line_of(outcome), highlight=False, markup=False)

        outcomes = run_through(folder, unit, chosen, done, choice)
    console.print(table_of(slug, outcomes))
    return outcomes


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failures]} not graded"),
        console=console,
    )


def line_of(outcome: "Outcome") -> str:
    """Say in one line what became of a submission."""
    from autograder.grading.feedback_table import number
    from autograder.sandbox.error_words import clean

    who = clean(outcome.submission.student, 60)
    if outcome.status != "graded":
        return f"{who}: {outcome.status}: {clean(outcome.reason)}"
    score, most = number(outcome.score), number(outcome.max_score)
    notes = f"; repaired: {'; '.join(outcome.notes)}" if outcome.notes else ""
    took = "as before" if outcome.is_kept else f"in {outcome.seconds:.1f} s"
    return f"{who}: {score} of {most} {took}{clean(notes)}"


def table_of(slug: str, outcomes: "list[Outcome]") -> Table:
    """Return the table of scores: a student a row, an exercise a column."""
    from autograder.grading.feedback_table import number
    from autograder.sandbox.error_words import clean

    exercises = list(dict.fromkeys(name for o in outcomes for name in o.scores))
    table = Table("student", *exercises, "checks", "remarks", title=slug)
    for outcome in outcomes:
        scores, total = [""] * len(exercises), "–"
        if outcome.results:
            scores = [number(outcome.scores.get(name, 0.0)) for name in exercises]
            total = number(outcome.score)
        remark = outcome.reason or "; ".join(outcome.doubtful)
        if outcome.status != "graded":
            remark = f"{outcome.status}: {remark}"
        table.add_row(
            clean(outcome.submission.student, 60), *scores, total, clean(remark, 200)
        )
    return table


def sample_class(
    units: Annotated[
        list[str] | None, typer.Argument(help="Such as 04 or attention; default: 04.")
    ] = None,
    to: Annotated[
        Path, typer.Option("--to", help="Where the students' folders go.")
    ] = Path("submitted"),
) -> None:
    """Make twelve submissions of each unit, and the score that each must get."""
    import torch

    from autograder.course import CourseError
    from autograder.proof.sample_class import scores_file, write_sample_class

    torch.set_num_threads(1)
    for unit in units or ["04"]:
        try:
            slug = load_course().unit(unit).slug
            expected = write_sample_class(slug, to)
        except (CourseError, FileNotFoundError) as error:
            typer.echo(error, err=True)
            raise typer.Exit(2) from None
        table = Table("student", "what it is", "score of the checks", title=slug)
        for student, entry in expected.items():
            table.add_row(student, entry["what"], f"{entry['score']:g}")
        console = Console()
        console.print(table)
        path = scores_file(to, slug)
        console.print(f"Made in {to}; the scores are in {path} too.", soft_wrap=True)

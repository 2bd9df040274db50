"""Define the `course grade` command."""

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
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

from autograder.commands.console import (
    complain,
    did_you_mean,
    problems_table,
    require_fork,
    show,
)
from autograder.library_log import log_warnings

if TYPE_CHECKING:
    from autograder.classroom.folder import ClassFolder
    from autograder.classroom.grading_run import Choice
    from autograder.grading.outcome import Outcome
    from autograder.unit import Submission

FEW = 20  # up to this many submissions get one line each
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
    typer.Option(min=1, help="Submissions graded at a time; default: one per core."),
]
Force = Annotated[
    bool, typer.Option("--force", help="Grade all again, even if already graded.")
]
Scheduler = Annotated[
    str | None,
    typer.Option(
        help="Grade on the dask cluster whose scheduler is at tcp://HOST:PORT, "
        "which only people you trust can reach."
    ),
]
Unprotected = Annotated[
    bool,
    typer.Option(
        "--unprotected",
        envvar="COURSE_UNPROTECTED",
        help="Grade without a sandbox: only if you trust every submission.",
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run", help="Show which scores would change, and change nothing."
    ),
]
Device = Annotated[
    str | None,
    typer.Option(help="Run the checks on this device, such as cuda; default: cpu."),
]


def register(app: typer.Typer) -> None:
    """Add `grade` to the `course` command."""
    app.command()(grade)


def grade(
    unit: OneUnit = None,
    student: Students = None,
    course_root: Root = Path("."),
    feedback: Feedback = True,
    workers: Workers = None,
    force: Force = False,
    scheduler: Scheduler = None,
    device: Device = None,
    unprotected: Unprotected = False,
    dry_run: DryRun = False,
) -> None:
    """Grade submissions with the hidden checks; write the gradebook and feedback.

    A submission that has not changed since it was graded keeps its result. A run
    therefore continues where an interrupted run stopped. The file grading/audit.jsonl
    contains a line for each submission.

    If the scores of graded students change, the command prints how many, and writes a
    page and a CSV file into grading/changes/.

    Without a sandbox, no submission is graded unless you pass --unprotected.

    The exit status is 1 if a submission was refused or failed, and 2 if grading
    stopped.
    """
    from autograder.sandbox.prestart import prepare_for

    if scheduler is None:
        require_fork()
    if scheduler is None and not unprotected:
        require_sandbox()
    with _copied(course_root) if dry_run else contextlib.nullcontext(course_root) as at:
        log_warnings(at)
        if scheduler is None and at.is_dir():
            prepare_for(at)
        from autograder.classroom.grading_run import Choice
        from autograder.score_changes import changes_shown

        console = Console()
        feedback = feedback and not dry_run
        choice = Choice(feedback, workers, force, scheduler)
        folder, slugs = _opened(at, unit, device, scheduler)
        outcomes: list[Outcome] = []
        for slug, chosen in chosen_submissions(folder, slugs, student).items():
            folder.register(slug)
            with (
                _ended_by_hand(),
                _said_clearly(scheduler),
                changes_shown(folder, slug, partial(show, console), dry_run),
            ):
                outcomes += _grade_unit(folder, slug, chosen, console, choice)
                _tell(slug, outcomes[-len(chosen) :], console)
                _settle(folder, slug, console, feedback)
        if not dry_run:
            _say_where(folder, feedback, console)
        _say_unprotected(outcomes, console)
    if any(outcome.status != "graded" for outcome in outcomes):
        raise typer.Exit(1)


@contextlib.contextmanager
def _copied(root: Path) -> Iterator[Path]:
    """Provide a copy of a class's folder within a `with` block.

    Raises:
        Exit: with status 2 and a message if the gradebook is not in the folder.
    """
    from autograder.classroom.folder import ClassFolder, require_class
    from autograder.course import CourseError
    from autograder.gradebook import shown_address

    try:
        require_class(root)
        address = shown_address(ClassFolder(root).db_url)
    except CourseError as error:
        complain(error)
        raise typer.Exit(2) from None
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place).resolve() / root.resolve().name
        shutil.copytree(root, copy, symlinks=True, ignore=_not_of_class)
        if not Path(shown_address(ClassFolder(copy).db_url)).is_relative_to(copy):
            complain(
                "A dry run needs a gradebook in the class's folder, because it grades "
                f"in a copy of that folder; this one is {address}."
            )
            raise typer.Exit(2)
        typer.echo("Dry run: a copy is graded, and nothing here changes.")
        yield copy


_not_of_class = shutil.ignore_patterns(
    *(".git", ".venv", "__pycache__", "_build", "build", "feedback", "report")
)


def chosen_submissions(
    folder: "ClassFolder",
    slugs: list[str],
    students: list[str] | None,
    skip_unknown: bool = False,
) -> "dict[str, list[Submission]]":
    """Return the submissions to grade for each unit.

    Args:
        folder: the class's folder.
        slugs: the units.
        students: the chosen students, or None for all.
        skip_unknown: whether to name a chosen student without a submission and to
            continue with the others.

    Raises:
        Exit: with status 2 and a message if there are none, or if a chosen student has
            none and is not skipped.
    """
    there = {slug: list(folder.submissions(slug)) for slug in slugs}
    known = {item.student for items in there.values() for item in items}
    if not known:
        complain(
            f"Nothing{f' of {slugs[0]}' if slugs else ''} is handed in under "
            f"{folder.root / 'submitted'}: run `course collect` first, or name the "
            "class's folder with --course-root."
        )
        raise typer.Exit(2)
    named = set(students or ())
    for unknown in sorted(named - known):
        hint = did_you_mean(unknown, known, "look into submitted/.")
        complain(f"{unknown} has handed in nothing of {', '.join(slugs)}: {hint}")
    if named - known and not (skip_unknown and named & known):
        raise typer.Exit(2)
    chosen = {
        slug: [item for item in items if not students or item.student in students]
        for slug, items in there.items()
    }
    return {slug: items for slug, items in chosen.items() if items}


def _opened(
    root: Path, unit: str | None, device: str | None, scheduler: str | None
) -> "tuple[ClassFolder, list[str]]":
    """Open the class in `root`, and return it with the units to grade.

    Raises:
        Exit: with status 2 and a message if the class cannot be graded.
    """
    from autograder.classroom.folder import ClassFolder, require_class
    from autograder.course import CourseError
    from autograder.gradebook import GradebookError, require_gradebook

    try:
        require_class(root)
        folder = ClassFolder(root, device)
        _require_device(folder.limits.device, scheduler)
        slugs = [folder.course.unit(unit).slug] if unit else folder.units()
        require_gradebook(folder.db_url)
    except (CourseError, GradebookError, ValueError) as error:
        complain(error)
        raise typer.Exit(2) from None
    return folder, slugs


def _say_where(folder: "ClassFolder", feedback: bool, console: Console) -> None:
    """Print the location of the gradebook and the feedback."""
    from autograder.gradebook import shown_address

    show(console, f"Gradebook: {shown_address(folder.db_url)}")
    pages = folder.root / folder.coursedir.feedback_directory
    if feedback and pages.is_dir():
        show(console, f"Feedback: {pages}")


def _say_unprotected(outcomes: "list[Outcome]", console: Console) -> None:
    """Print how many submissions ran without a sandbox, if any did."""
    number = sum(outcome.is_unprotected for outcome in outcomes)
    if number:
        show(
            console, f"UNPROTECTED: {number} of {len(outcomes)} ran without a sandbox."
        )


def require_sandbox() -> None:
    """Refuse to run submissions if there is no sandbox to protect this machine.

    Raises:
        Exit: with status 2 and a message if there is no sandbox.
    """
    from autograder.sandbox.bubblewrap import NO_SANDBOX, sandbox_kind

    if sandbox_kind() == "none":
        complain(
            f"Nothing was graded: {NO_SANDBOX}; install bubblewrap on Linux, or say "
            "--unprotected if you trust every submission."
        )
        raise typer.Exit(2)


def _require_device(name: str, scheduler: str | None) -> None:
    """Refuse a device that is not available here; a cluster's workers check theirs.

    Raises:
        ValueError: if PyTorch does not recognise the device or cannot use it.
    """
    if name != "cpu" and scheduler is None:
        from transformer.data import check_device

        check_device(name)


@contextlib.contextmanager
def _ended_by_hand() -> Iterator[None]:
    """Print a message on Ctrl-C; the next run grades the unfinished submissions."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo("Stopped. What is graded stays; grade again to go on.", err=True)
        raise typer.Exit(130) from None


@contextlib.contextmanager
def _said_clearly(scheduler: str | None) -> Iterator[None]:
    """Report an error of the cluster as one sentence instead of a traceback."""
    if scheduler is None:
        yield
        return
    try:
        from autograder.classroom.cluster import ClusterError
    except ModuleNotFoundError as error:
        complain(error)
        raise typer.Exit(2) from None
    try:
        yield
    except ClusterError as error:
        complain(f"{error}. What is graded stays; grade again to go on.")
        raise typer.Exit(2) from None


def _grade_unit(
    folder: "ClassFolder",
    slug: str,
    chosen: "list[Submission]",
    console: Console,
    choice: "Choice",
) -> "list[Outcome]":
    """Grade one unit with a progress bar."""
    from autograder.classroom.grading_run import run_through
    from autograder.course import BY_HAND
    from autograder.sandbox.prestart import prepare
    from autograder.unit import graded_unit

    unit = graded_unit(slug, folder.root)
    if folder.course.unit(slug).written_answers != BY_HAND:
        choice = replace(choice, with_feedback=False)  # write pages after `_settle`
    if choice.scheduler is None:
        prepare()
    with _progress(console) as progress:
        task = progress.add_task(slug, total=len(chosen), failures=0)

        def done(outcome: "Outcome") -> None:
            bad = int(outcome.status != "graded")
            failures = progress.tasks[task].fields["failures"] + bad
            progress.update(task, advance=1, failures=failures)
            if bad or len(chosen) <= FEW:
                show(progress.console, line_of(outcome))

        return run_through(folder, unit, chosen, done, choice)


def _settle(folder: "ClassFolder", slug: str, console: Console, feedback: bool) -> None:
    """Apply the rule for written answers, and print it if no person grades them."""
    from autograder.classroom.grading_run import renew_pages
    from autograder.collect.warnings import several
    from autograder.course import BY_HAND
    from autograder.unit import graded_unit
    from autograder.written.settling import how_settled
    from autograder.written.telling import lines_about
    from autograder.written.up_to_date import bring_up_to_date, untimed

    unit, before = graded_unit(slug, folder.root), how_settled(folder, slug)
    now, changed = bring_up_to_date(folder, unit)
    show(console, *lines_about(slug, now))
    if count := untimed(folder, slug):
        show(
            console,
            f"{slug}: no hand-in time is known for {several(count, 'submission')}. "
            "Without a time, a submission counts as on time. Add times with "
            "`course collect --times`.",
        )
    if feedback and (changed or {before.mode, now.mode} != {BY_HAND}):
        renew_pages(folder, unit)


def _tell(slug: str, outcomes: "list[Outcome]", console: Console) -> None:
    """Print a summary line and a table of the submissions that need attention."""
    graded = [outcome for outcome in outcomes if outcome.status == "graded"]
    words = f"{slug}: {len(graded)} of {len(outcomes)} graded"
    if graded:
        scores = sorted(outcome.score or 0.0 for outcome in graded)
        words += f", {scores[0]:g} to {scores[-1]:g}, median {median(scores):g}"
        words += f" of {graded[0].max_score:g} by the checks"
    show(console, f"{words}. All scores: `course report {slug[:2]}`.")
    rows = [(one.submission.student, remark_on(one)) for one in outcomes]
    if rows := [row for row in rows if row[1]]:
        console.print(problems_table(rows, "student", "what to look at"))


def remark_on(outcome: "Outcome") -> str:
    """Return what a person should check in a submission, or ""."""
    remark = outcome.reason or "; ".join(outcome.doubtful)
    return remark if outcome.status == "graded" else f"{outcome.status}: {remark}"


def _progress(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[failures]} refused"),
        console=console,
    )


def line_of(outcome: "Outcome") -> str:
    """Return a submission's result as one line."""
    from autograder.grading.feedback_table import number
    from autograder.sandbox.error_words import clean

    who = clean(outcome.submission.student, 60)
    if outcome.status != "graded":
        return f"{who}: {outcome.status}: {clean(outcome.reason)}"
    score, most = number(outcome.score), number(outcome.max_score)
    notes = f"; repaired: {'; '.join(outcome.notes)}" if outcome.notes else ""
    took = "as before" if outcome.is_kept else f"in {outcome.seconds:.1f} s"
    return f"{who}: {score} of {most} {took}{clean(notes)}"

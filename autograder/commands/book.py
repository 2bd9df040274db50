"""The commands `course book` and `course all`."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from autograder.course import ROOT, Course, load_course

SAMPLE_CLASS = ROOT / "build" / "sample-class"
# One of the class loops for ever in every unit: wait for it less long than usual.
SETTINGS = """\
\"\"\"Settings of the sample class: the course's own, with shorter limits.\"\"\"

from autograder.nbgrader_steps.settings import configure

configure(get_config())  # noqa: F821 (nbgrader defines it)
get_config().RunHiddenChecks.limits = {"exercise_seconds": 8.0}  # noqa: F821
"""


def register(app: typer.Typer) -> None:
    """Add `book` and `all` to the command `course`."""
    app.command()(book)
    app.command(name="all")(everything)


def book(
    edition: Annotated[
        str, typer.Option(help="public, or instructor with the answers.")
    ] = "public",
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print warnings only.")
    ] = False,
) -> None:
    """Build the book; a warning is an error."""
    run(sys.executable, ROOT / "book" / "build.py", "--edition", edition, quiet=quiet)


def everything() -> None:
    """Make the notebooks, build the book, and grade a sample class of every unit.

    The book is built while the class is graded: its chapters are executed one by one.
    """
    course = load_course()
    run_course("notebooks")
    with subprocess.Popen(command_of("book", "--quiet"), cwd=ROOT) as building:
        grade_sample_class(course)
    if building.returncode:
        raise typer.Exit(building.returncode)
    typer.echo(f"""
The book:            {ROOT / "book" / "_build" / "html" / "index.html"}
The notebooks:       {ROOT / "assignments"}
The sample class:    {SAMPLE_CLASS / "submitted"}
  its scores:        {SAMPLE_CLASS / "gradebook.db"}, and the tables above
  its feedback:      {SAMPLE_CLASS / "feedback"}
""")


def grade_sample_class(course: Course) -> None:
    """Make the sample class of every unit, grade it, and compare the scores."""
    slugs = [unit.slug for unit in course.units if course.master(unit).exists()]
    submitted = SAMPLE_CLASS / "submitted"
    run_course("sample-class", *slugs, "--to", submitted)
    (SAMPLE_CLASS / "nbgrader_config.py").write_text(SETTINGS, encoding="utf-8")
    run_course("grade", "--course-root", SAMPLE_CLASS)
    check_scores(submitted, slugs)


def check_scores(submitted: Path, slugs: Sequence[str]) -> None:
    """Compare the sample class's scores with those known; leave if any differs."""
    from autograder.classroom.writing import scores_in_gradebook
    from autograder.proof.sample_class import wrong_scores

    gradebook = f"sqlite:///{submitted.parent / 'gradebook.db'}"
    found = {slug: scores_in_gradebook(gradebook, slug) for slug in slugs}
    wrong = [
        line for slug in slugs for line in wrong_scores(submitted, slug, found[slug])
    ]
    if wrong:
        typer.echo("\n".join(["The sample class got wrong scores.", *wrong]), err=True)
        raise typer.Exit(1)
    number = sum(map(len, found.values()))
    typer.echo(f"All {number} submissions of the sample class got their scores.")


def run_course(*arguments: object) -> None:
    """Run another command of `course` in a process of its own."""
    run(*command_of(*arguments))


def command_of(*arguments: object) -> list[str]:
    """Return the command line of another command of `course`."""
    return [sys.executable, "-m", "autograder", *map(str, arguments)]


def run(*command: object, quiet: bool = False) -> None:
    """Run a command in the course's folder; leave with its status if it fails."""
    extra = ["--quiet"] if quiet else []
    done = subprocess.run([*map(str, command), *extra], cwd=ROOT)
    if done.returncode:
        raise typer.Exit(done.returncode)

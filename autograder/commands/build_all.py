"""Define the `course all` command, which runs five steps and lists the results."""

import os
import re
from typing import Annotated

import typer

from autograder.commands.progress_log import STEPS, Job, ProgressLog, course_command
from autograder.commands.sample_steps import SampleClass
from autograder.course import ROOT, load_course

BUILD = ROOT / "build"
READING = re.compile(r"(?:executed|reading sources)\W+(\d+%)\W+(\w+)")
DEFAULT_UNIT = "04"
Units = Annotated[
    list[str] | None,
    typer.Argument(help=f"Units to grade a sample class of; default: {DEFAULT_UNIT}."),
]
EveryUnit = Annotated[
    bool, typer.Option("--every-unit", help="Grade a sample class of every unit.")
]
Began = Annotated[
    float | None,
    typer.Option(hidden=True, help="When `make course` began with the first step."),
]


def register(app: typer.Typer) -> None:
    """Add `all` to the `course` command."""
    app.command(name="all")(build_all)


def build_all(
    units: Units = None, every_unit: EveryUnit = False, began: Began = None
) -> None:
    """Make the notebooks, build the book and grade a sample class for one unit.

    The book is built while the notebooks are made and the class is graded.
    """
    course = load_course()
    if every_unit:
        chosen = list(course.units)
    else:
        chosen = [course.unit(name) for name in units or [DEFAULT_UNIT]]
    sample = SampleClass(BUILD / "sample-class", [unit.slug for unit in chosen])
    progress = ProgressLog(BUILD / "course.log", began)
    with progress.failures_shown():
        if began is None:
            progress.say(f"1/{STEPS} Set up: done before")
        read = ["0%"]

        def listen(line: str) -> None:
            if found := READING.match(line):
                read.append(f"{found[1]}, {found[2]}")

        with Job(progress, "book", course_command("book"), listen) as book:
            progress.say(
                f"2/{STEPS} Notebooks: what students get, made from the masters"
            )
            with Job(progress, "notebooks", course_command("notebooks")) as job:
                job.wait()
            sample.make(progress)
            sample.grade(progress)
            progress.say(
                f"5/{STEPS} Book: begun with step 2, and read up to {read[-1]}"
            )
            book.wait(lambda: f"its chapters are executed: {read[-1]}")
        say_where(progress, sample)


def say_where(progress: ProgressLog, sample: SampleClass) -> None:
    """List the results, and explain how to look at them."""
    unit, root = sample.slugs[0], sample.root
    places = {
        "the book": ROOT / "book" / "_build" / "html" / "index.html",
        "what students get": ROOT / "assignments",
        "what came back": sample.submitted,
    }
    if hasattr(os, "fork"):  # otherwise the class is not graded
        places["  feedback on it"] = root / "feedback"
        places["  report of a unit"] = root / "report" / f"{unit}.html"
    places["all details"] = progress.log
    progress.say("Done. Where to look, in a browser or an editor:")
    for what, place in places.items():
        progress.say(f"  {what:<19}{os.path.relpath(place, ROOT)}", stamp=False)
    progress.say("To mark by hand, in the menu Nbgrader, Formgrader:", stamp=False)
    folder = os.path.relpath(root, ROOT)
    progress.say(f"  cd {folder} && ../../.venv/bin/jupyter lab", stamp=False)
    if len(sample.slugs) == 1:
        progress.say("A sample class of every unit, in ten minutes more:", stamp=False)
        progress.say("  .venv/bin/course all --every-unit", stamp=False)

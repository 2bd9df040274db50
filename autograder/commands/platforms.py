"""Define `course gradescope`, `course classroom-github` and `course classroom-50`."""

import re
from pathlib import Path
from typing import Annotated

import typer

from autograder.commands.console import complain

OneUnit = Annotated[str, typer.Argument(help="Such as 04 or attention.")]
Root = Annotated[
    Path | None, typer.Option(help="The course's folder; default: this one.")
]

RISK = (
    "Its workflow needs a secret, COURSE_CHECKS_TOKEN. Anyone who can push to a "
    "student's repository can read this secret and the checks."
)
IS_PUBLIC = (
    "Classroom 50 publishes the autograder on GitHub Pages: anyone with its address "
    "can read the checks and answers. Use it for practice only."
)


def register(app: typer.Typer) -> None:
    """Add the commands to `course`."""
    app.command()(gradescope)
    app.command("classroom-github")(classroom_github)
    app.command("classroom-50")(classroom_50)


def gradescope(
    unit: OneUnit,
    out: Annotated[
        Path | None, typer.Option(help="The zip; default: gradescope-UNIT.zip.")
    ] = None,
    visibility: Annotated[
        str,
        typer.Option(
            help="When students see the hidden checks' results: visible, "
            "after_due_date, after_published or hidden."
        ),
    ] = "after_published",
    course_root: Root = None,
) -> None:
    """Write an autograder for Gradescope: a zip file that you upload there.

    The zip contains the unit's checks and answers, so do not give it to students.
    """
    from autograder.atomic_write import atomic_write
    from autograder.course import load_course
    from autograder.platforms.package import VISIBILITY, gradescope_zip
    from autograder.unit import graded_unit

    if visibility not in VISIBILITY:
        complain(f"--visibility is one of {', '.join(VISIBILITY)}, not {visibility}.")
        raise typer.Exit(2)
    course = load_course(course_root)
    chosen = course.unit(unit)
    path = out or Path(f"gradescope-{chosen.number:02}.zip")
    content = gradescope_zip(course, chosen, visibility)
    atomic_write(path, content)
    points = sum(graded_unit(chosen.slug, course.root).points.values())
    typer.echo(f"{path}: {len(content) / 1e6:.1f} MB. Upload it as the autograder.")
    typer.echo(f"Autograder points: {points:g}.")


def classroom_github(
    unit: OneUnit,
    checks: Annotated[
        str, typer.Option(help="The private repository of the checks: OWNER/NAME.")
    ],
    to: Annotated[Path, typer.Option(help="The folder to write into.")] = Path(
        "github"
    ),
    at_each_push: Annotated[
        bool,
        typer.Option(
            "--at-each-push",
            help="Let students' repositories fetch the checks and grade at each push. "
            "Anyone who can push there can read the checks.",
        ),
    ] = False,
    course_root: Root = None,
) -> None:
    """Write two repositories that grade a unit on GitHub: yours and the students'.

    Your private repository contains the unit's checks and answers, so do not give it to
    students.
    """
    from autograder.course import load_course
    from autograder.platforms.package import (
        at_each_push_file,
        github_files,
        write_files,
    )

    if not re.fullmatch(r"[\w.-]+/[\w.-]+", checks):
        complain(f"--checks is OWNER/NAME, such as our-course/checks, not {checks}.")
        raise typer.Exit(2)
    course = load_course(course_root)
    chosen = course.unit(unit)
    write_files(github_files(course, chosen, checks, at_each_push), to)
    typer.echo(f"{to / 'checks'}: push it to {checks}, which must be private.")
    begin = to / "student" / chosen.slug
    typer.echo(f"{begin}: what a student's repository begins with.")
    if not at_each_push:
        _take_back(to / at_each_push_file(chosen))
    else:
        typer.echo(RISK)


def _take_back(workflow: Path) -> None:
    """Remove an old workflow that grades in students' repositories at each push."""
    if workflow.is_file():
        workflow.unlink()
        typer.echo(f"{workflow}: removed. Remove it from students' repositories.")


def classroom_50(
    unit: OneUnit,
    to: Annotated[Path, typer.Option(help="The folder to write into.")] = Path(
        "classroom50"
    ),
    course_root: Root = None,
) -> None:
    """Write an autograder for Classroom 50 and the students' template repository.

    Classroom 50 publishes the autograder with the unit's checks and answers, so use it
    only for practice.
    """
    from autograder.course import load_course
    from autograder.platforms.package import (
        assignment_name,
        classroom50_files,
        write_files,
    )

    course = load_course(course_root)
    chosen = course.unit(unit)
    write_files(classroom50_files(course, chosen), to)
    name = assignment_name(chosen)
    typer.echo(
        f"{to / 'autograders' / name}: copy it to CLASSROOM/autograders/{name} in your "
        "organisation's repository classroom50."
    )
    typer.echo(f"{to / 'runtime.json'}: the assignment's runtime.")
    begin = to / "student" / chosen.slug
    typer.echo(f"{begin}: what a student's repository begins with.")
    typer.echo(IS_PUBLIC)

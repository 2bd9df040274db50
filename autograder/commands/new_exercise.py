"""Define `course new-exercise` and `course new-unit`, which write working examples."""

from typing import TYPE_CHECKING, Annotated

import typer

from autograder.commands.console import complain

if TYPE_CHECKING:
    from autograder.assemble.new_exercise import Stubs
    from autograder.course import Course

EXERCISE_STEPS = """\
The exercise works already: it doubles a tensor. Next:
1. Run `course notebooks` and `course verify {number} --only {name}`.
2. Replace the doubling in each file by your exercise, and number the new heading.
   The comments in the hidden checks say what each part does.
3. Run the commands of step 1 again, until the checks name every wrong variant.
4. Translate the new sentences into Korean: CONTRIBUTING.md, step 5. Then run
   `course notebooks` again. Without Korean, leave the entries empty, and say so.
5. Add a line to CHANGELOG.md, run `make test`, and commit all new and
   changed files, also those of later units."""
UNIT_STEPS = """\
6. Write the chapter book/{slug}.md, and add it to book/_toc.yml: book/AUTHORS.md."""
OneUnit = Annotated[str, typer.Argument(help="Such as 04 or attention.")]
Name = Annotated[str, typer.Argument(help="Such as attention-scores.")]
Module = Annotated[
    str,
    typer.Option(help="Module of the unit for the answer; default: the first."),
]
Points = Annotated[
    int, typer.Option(min=1, help="Taken from the exercise with the most points.")
]
Number = Annotated[int, typer.Argument(min=1, max=99, help="Such as 14.")]
Topic = Annotated[str, typer.Argument(help="Such as sparse_attention.")]
Title = Annotated[str, typer.Option(help="The unit's title.")]
NewModule = Annotated[
    str, typer.Option("--module", help="New module; default: experiments.TOPIC.")
]


def register(app: typer.Typer) -> None:
    """Add `new-exercise` and `new-unit` to the `course` command."""
    app.command("new-exercise")(new_exercise)
    app.command("new-unit")(new_unit)


def new_exercise(
    unit: OneUnit, name: Name, module: Module = "", points: Points = 5
) -> None:
    """Write a small working exercise, and explain how to replace it with your own.

    The command adds cells to the master notebook, a function to the unit's module, and
    hidden checks, variants and hints to their files. It overwrites nothing.
    """
    from autograder.assemble.new_exercise import StubError
    from autograder.assemble.new_exercise import new_exercise as made_in
    from autograder.assemble.problems import AssemblyError
    from autograder.course import CourseError, load_course

    try:
        course = load_course()
        found = course.unit(unit)
        stubs = made_in(course, found, name, module, points)
    except (AssemblyError, CourseError, StubError) as error:
        complain(f"{error}. Nothing was changed.")
        raise typer.Exit(2) from None
    _write(course, stubs)
    typer.echo(
        f"{stubs.giver} gave {points} of its points and has {stubs.giver_points:g} now."
    )
    typer.echo(EXERCISE_STEPS.format(number=found.slug[:2], name=name))


def new_unit(
    number: Number, topic: Topic, title: Title, module: NewModule = ""
) -> None:
    """Write a small working unit with one exercise, and explain how to replace it.

    The command writes the unit's files, and adds its entry to course.toml. It
    overwrites nothing.
    """
    from autograder.assemble.new_exercise import StubError
    from autograder.assemble.new_exercise import new_unit as made_in
    from autograder.course import CourseError, load_course

    try:
        course = load_course()
        stubs = made_in(course, number, topic, title, module)
    except (CourseError, StubError) as error:
        complain(f"{error}. Nothing was changed.")
        raise typer.Exit(2) from None
    _write(course, stubs)
    name = topic.replace("_", "-")
    typer.echo(EXERCISE_STEPS.format(number=f"{number:02}", name=name))
    typer.echo(UNIT_STEPS.format(slug=f"{number:02}_{topic}"))


def _write(course: "Course", stubs: "Stubs") -> None:
    """Write the files, and print their paths."""
    stubs.write()
    for path in stubs.files:
        typer.echo(f"{path.relative_to(course.root).as_posix()} written")

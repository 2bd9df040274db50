"""Define the `course notebooks` command."""

from __future__ import annotations

from typing import Annotated

import typer


def register(app: typer.Typer) -> None:
    """Add `notebooks` to the `course` command."""
    app.command()(notebooks)


def notebooks(
    units: Annotated[
        list[str] | None,
        typer.Argument(help="Units such as 04 or attention; default: all."),
    ] = None,
    check: Annotated[
        bool,
        typer.Option("--check", help="Change nothing; fail if something is outdated."),
    ] = False,
) -> None:
    """Make answer notebooks, released notebooks and kits from the master notebooks."""
    from autograder.assemble.assembler import assemble
    from autograder.assemble.problems import AssemblyError
    from autograder.assemble.readme import write_readme
    from autograder.course import CourseError, load_course

    try:
        course = load_course()
        chosen = [course.unit(name) for name in units or []]
        done = assemble(course, chosen, install=not check)
        readme_changed = not check and write_readme(course)
    except (AssemblyError, CourseError) as error:
        typer.echo(f"{error}\n\nNothing was changed.", err=True)
        raise typer.Exit(1) from None
    for warning in done.warnings:
        typer.echo(f"warning: {warning}", err=True)
    for path in done.changed:
        typer.echo(f"{path} {'is outdated' if check else 'made'}")
    if readme_changed:
        typer.echo("README.md made")
    typer.echo(f"{len(done.units)} units assembled.")
    if check and done.changed:
        typer.echo("Run `make notebooks`.", err=True)
        raise typer.Exit(1)

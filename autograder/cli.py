"""The command `course`: `notebooks`, and what the modules `commands_…` add."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Annotated

import typer

import autograder

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    help="Make the notebooks of the course, and grade what comes back.",
)


@app.callback()
def _root() -> None:
    """Keep the names of the commands even while there is only one."""


@app.command()
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
    """Make answer notebooks, released notebooks and kits from the masters."""
    from autograder.assemble import AssemblyError, assemble
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


def _add_commands() -> None:
    """Add the commands of the modules `commands_…`: each has `register(app)`."""
    for module in sorted(info.name for info in iter_modules(autograder.__path__)):
        if module.startswith("commands_"):
            import_module(f"autograder.{module}").register(app)


_add_commands()

if __name__ == "__main__":
    app()

"""Define the command `course translations`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

GROUP = typer.Typer(no_args_is_help=False, help="Keep the Korean edition in step.")
PAGES = Annotated[
    bool, typer.Option(help="The book's pages too. This executes changed chapters.")
]


def register(app: typer.Typer) -> None:
    """Add `translations` to the `course` command."""
    app.add_typer(GROUP, name="translations")


@GROUP.callback(invoke_without_command=True)
def translations(context: typer.Context) -> None:
    """Print how many words of the English text are translated, stale and missing."""
    if context.invoked_subcommand is None:
        from autograder.course import load_course
        from autograder.translations.report import states, table

        for line in table(states(load_course())):
            typer.echo(line)


@GROUP.command()
def extract(
    pages: PAGES = True,
    check: Annotated[
        bool,
        typer.Option("--check", help="Change nothing; fail if something is outdated."),
    ] = False,
) -> None:
    """Update the catalogues to match the English text, and keep the translations."""
    from autograder.course import load_course
    from autograder.translations.book import ExtractionError
    from autograder.translations.sources import all_messages, quick_messages
    from autograder.translations.update import outdated, update

    course = load_course()
    if pages:
        typer.echo("The book's pages are read, and changed chapters are executed.")
    try:
        found = all_messages(course) if pages else quick_messages(course)
    except ExtractionError as error:
        typer.echo(f"{error}\n\nNothing was changed.", err=True)
        raise typer.Exit(1) from None
    if check:
        changed = [path for path, _ in outdated(course, found)]
    else:
        changed = update(course, found)
    for path in changed:
        place = path.relative_to(course.root).as_posix()
        typer.echo(f"{place} {'is outdated' if check else 'written'}")
    typer.echo(f"{len(found)} catalogues, {len(changed)} of them changed.")
    if check and changed:
        typer.echo("Run `course translations extract`.", err=True)
        raise typer.Exit(1)


@GROUP.command()
def record() -> None:
    """Record the translated share of each catalogue, which must not become smaller."""
    from autograder.course import load_course
    from autograder.translations import report

    course = load_course()
    report.record(course, report.states(course))


@GROUP.command()
def check(
    files: Annotated[
        list[Path] | None, typer.Argument(help="Catalogues; default: all.")
    ] = None,
) -> None:
    """Find lost formulas, code, roles, links and fields, and visible asterisks."""
    from autograder.course import load_course
    from autograder.translations.report import (
        catalogues,
        fallen,
        faults_in,
        recorded,
        state,
        table,
    )

    course = load_course()
    known = catalogues(course)
    chosen = [one.resolve() for one in files or []]
    strange = set(chosen) - {path for _, path in known}
    for path in sorted(strange):
        typer.echo(f"{path} is no catalogue of the course", err=True)
    found = [one for one in known if not chosen or one[1] in chosen]
    faults = [fault for name, path in found for fault in faults_in(name, path)]
    states = [state(name, path) for name, path in found]
    faults += fallen(states, recorded(course))
    for line in table(states):
        typer.echo(line)
    for fault in faults:
        typer.echo(fault, err=True)
    typer.echo(f"{len(faults)} faults.")
    if faults or strange:
        raise typer.Exit(1)

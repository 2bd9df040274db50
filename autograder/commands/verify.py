"""The command `course verify`: do the hidden checks judge known answers rightly?"""

import contextlib
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from multiprocessing import get_context
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from autograder.commands.console import complain
from autograder.course import CourseError, load_course


def register(app: typer.Typer) -> None:
    """Add `verify` to the command `course`."""
    app.command()(verify)


def verify(
    units: Annotated[
        list[str] | None, typer.Argument(help="Units; default: all that have variants.")
    ] = None,
    seeds: Annotated[int, typer.Option(help="How often to draw anew.")] = 20,
    workers: Annotated[int, typer.Option(help="How many processes judge.")] = 1,
    only: Annotated[
        str, typer.Option(help="A part of the exercise's or the variant's name.")
    ] = "",
    keep: Annotated[
        bool, typer.Option("--record", help="Keep what is found in verified.json.")
    ] = False,
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Mechanical mutants too; takes minutes.")
    ] = False,
) -> None:
    """Run every wrong variant and right style, and print who was judged how."""
    from autograder.proof.judging import variants_file, verify_unit
    from autograder.proof.mutation import mutate_unit
    from autograder.proof.record import record

    if keep and only:
        complain("--record keeps what is found of a whole unit: leave --only out.")
        raise typer.Exit(2)
    try:
        course = load_course()
        chosen = [course.unit(name) for name in units or []]
    except CourseError as error:
        complain(error)
        raise typer.Exit(2) from None
    written = [unit for unit in course.units if variants_file(course, unit).exists()]
    judged, tallies = chosen or written, {}
    with judges(workers) as pool:
        for unit in judged:
            tallies[unit.slug] = verify_unit(course, unit, seeds, pool, only)
            if keep and not problems_of({unit.slug: tallies[unit.slug]}):
                record(course, unit, tallies[unit.slug], seeds)
    verdicts = {unit.slug: mutate_unit(course, unit) for unit in judged if mutants}
    show(tallies, seeds, verdicts)


def show(tallies: dict, seeds: int, verdicts: dict) -> None:
    """Print the tables and the problems.

    Raises:
        typer.Exit: 1 if there is a problem.
    """
    console = Console()
    console.print(table_of(tallies))
    console.print(summary_of(tallies, seeds), markup=False, highlight=False)
    if verdicts:
        console.print(mutant_table(verdicts))
    problems = [*problems_of(tallies), *survivors(verdicts)]
    for problem in problems:
        console.print(problem, style="red", markup=False, highlight=False)
    if problems:
        raise typer.Exit(1)


@contextlib.contextmanager
def judges(workers: int) -> Iterator[Executor | None]:
    """Give a pool of processes; None where one worker does it here."""
    if workers < 2:
        yield None
        return
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        yield pool


def summary_of(tallies: dict, seeds: int) -> str:
    """Say how many variants were judged and how much chance had to do with it."""
    rows = [row for rows in tallies.values() for row in rows]
    wrong = sum(row.count("wrong") for row in rows)
    right = sum(row.count("right") for row in rows)
    spread = max((row.spread for row in rows), default=0.0)
    return (
        f"{wrong} wrong and {right} right variants at {seeds} seeds: the points of one "
        f"differ by {spread:g} at most."
    )


def table_of(tallies: dict) -> Table:
    """Return the table, an exercise a row: killed, named, spread, accepted."""
    table = Table("unit", "exercise", "wrong: killed", "named", "spread", "right")
    for slug, rows in tallies.items():
        for row in rows:
            wrong, right = row.count("wrong"), row.count("right")
            table.add_row(
                slug,
                row.exercise,
                f"{row.count('wrong', good=True)} of {wrong}",
                f"{row.diagnosed} of {wrong}",
                f"{row.spread:g}",
                f"{row.count('right', good=True)} of {right}",
            )
    return table


def problems_of(tallies: dict) -> list[str]:
    """Return a line for each variant that was misjudged or not diagnosed."""
    lines = []
    for slug, rows in tallies.items():
        for row in rows:
            for verdict in row.verdicts:
                name = f"{slug}: {row.exercise}: {verdict.variant.kind} variant "
                name += f"'{verdict.variant.description}'"
                lines += [f"{name}: {slip}" for slip in verdict.slips[:2]]
                if verdict.spread:
                    lines.append(f"{name}: points by the seed: {verdict.counted}")
            lines += [
                f"{slug}: {row.exercise}: '{verdict.variant.description}' was not named"
                for verdict in row.undiagnosed
            ]
    return lines


def mutant_table(verdicts: dict) -> Table:
    """Return the table of mechanical mutants: made, killed, equivalent."""
    table = Table("unit", "mutants", "killed", "of those not equivalent")
    for slug, rows in verdicts.items():
        killed = sum(row.killed for row in rows)
        real = sum(not row.why or row.killed for row in rows)
        share = f"{killed / real:.1%}" if real else "-"
        table.add_row(slug, str(len(rows)), str(killed), share)
    return table


def survivors(verdicts: dict) -> list[str]:
    """Return a line for each mutant that lives and that nobody explained."""
    return [
        f"{slug}: mutant lives: {row.exercise}: {row.change}"
        for slug, rows in verdicts.items()
        for row in rows
        if not row.killed and not row.why
    ]

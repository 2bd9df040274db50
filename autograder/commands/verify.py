"""Define `course verify`, which tests the hidden checks on known answers."""

import os
from collections import Counter
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from autograder.commands.console import complain, require_fork
from autograder.course import CourseError, load_course


def register(app: typer.Typer) -> None:
    """Add `verify` to the `course` command."""
    app.command()(verify)


def verify(
    units: Annotated[
        list[str] | None, typer.Argument(help="Units; default: all that have variants.")
    ] = None,
    workers: Annotated[
        int, typer.Option(help="Number of judging processes; 0: one per processor.")
    ] = 0,
    only: Annotated[
        str, typer.Option(help="A part of the exercise's or the variant's name.")
    ] = "",
    mutants: Annotated[
        bool, typer.Option("--mutants", help="Test mutants too, which takes minutes.")
    ] = False,
    visible: Annotated[
        bool, typer.Option("--visible", help="Use the notebooks' visible checks.")
    ] = False,
    self_study: Annotated[
        bool, typer.Option("--self-study", help="Use python -m transformer.check.")
    ] = False,
) -> None:
    """Run the known wrong and right answers and show how each was graded."""
    from autograder.proof.judging import judge_units
    from autograder.proof.mutation import mutate_unit
    from autograder.proof.own_check import counts_of, judge_own
    from autograder.proof.visible import judge_visible

    try:
        course = load_course()
        chosen = [course.unit(name) for name in units or []]
    except CourseError as error:
        complain(error)
        raise typer.Exit(2) from None
    written = [unit for unit in course.units if course.variants_file(unit).exists()]
    judged = chosen or written
    if visible:
        seen = list(judge_visible(course, judged, only))
        _require_some(seen, only)
        Console().print(visible_table(seen))
        for line in misjudged_by_visible(seen):
            typer.echo(line)
        return
    if self_study:
        own = list(judge_own(course, judged, only))
        _require_some(own, only)
        slugs = dict.fromkeys(one.slug for one in own)
        counts = {
            slug: counts_of([one for one in own if one.slug == slug]) for slug in slugs
        }
        Console().print(own_table(counts))
        if not all(one.are_enough for one in counts.values()):
            raise typer.Exit(1)
        return
    require_fork()
    verdicts = list(judge_units(course, judged, only, workers or os.cpu_count() or 1))
    _require_some(verdicts, only)
    mutated = {unit.slug: mutate_unit(course, unit) for unit in judged if mutants}
    console = Console()
    console.print(table_of(verdicts))
    console.print(summary_of(verdicts), markup=False, highlight=False)
    if mutated:
        console.print(mutant_table(mutated))
    problems = [line for verdict in verdicts for line in verdict.problems]
    for problem in [*problems, *survivors(mutated)]:
        console.print(problem, style="red", markup=False, highlight=False)
    if problems or survivors(mutated):
        raise typer.Exit(1)


def _require_some(verdicts: list, only: str) -> None:
    """Refuse a text that occurs in no name of an exercise or a variant.

    Raises:
        Exit: with status 2 and a message if no variant was judged.
    """
    if not verdicts:
        complain(f"No exercise and no variant of these units contains {only!r}.")
        raise typer.Exit(2)


def table_of(verdicts: list) -> Table:
    """Return a table with a row per exercise: variants killed, named and accepted."""
    table = Table("unit", "exercise", "wrong: killed", "named", "right")
    for row in dict.fromkeys((one.slug, one.exercise) for one in verdicts):
        own = [one for one in verdicts if (one.slug, one.exercise) == row]
        wrong = [one for one in own if one.variant.kind == "wrong"]
        right = [one for one in own if one.variant.kind == "right"]
        killed = sum("no check fails" not in one.slips for one in wrong)
        table.add_row(
            *row,
            f"{killed} of {len(wrong)}",
            f"{sum(one.is_named for one in wrong)} of {len(wrong)}",
            f"{sum(not one.slips for one in right)} of {len(right)}",
        )
    return table


def visible_table(every: list) -> Table:
    """Return a table of the visible checks with a row per exercise and a total."""
    table = Table("unit", "exercise", "wrong: caught", "", "in words", "right: passed")
    rows = list(dict.fromkeys((one.slug, one.exercise) for one in every))
    for row in [*rows, ("all", "")]:
        own = [one for one in every if (one.slug, one.exercise) == row] or every
        wrong = [one for one in own if one.variant.kind == "wrong"]
        right = [one for one in own if one.variant.kind == "right"]
        caught = sum(one.error is not None for one in wrong)
        table.add_row(
            *row,
            f"{caught} of {len(wrong)}",
            f"{caught / max(1, len(wrong)):.0%}",
            str(sum(one.is_explained for one in wrong)),
            f"{sum(one.error is None for one in right)} of {len(right)}",
        )
    return table


def misjudged_by_visible(every: list) -> list[str]:
    """Return a line for each wrong answer that passes and each right one that fails."""
    return [
        f"{one.slug}, {one.exercise}: the visible check "
        f"{'misses' if one.error is None else 'refuses'} {one.variant.description!r}"
        for one in every
        if (one.error is None) == (one.variant.kind == "wrong")
    ]


def own_table(counts: dict) -> Table:
    """Return a table of the learners' own check with a row per unit."""
    table = Table("unit", "wrong: caught", "", "named", "", "right: passed")
    for slug, one in counts.items():
        table.add_row(
            slug,
            f"{one.caught} of {one.wrong}",
            f"{one.caught / max(1, one.wrong):.1%}",
            f"{one.named} of {one.to_name}",
            f"{one.named / max(1, one.to_name):.1%}",
            f"{one.accepted} of {one.right}",
        )
    return table


def summary_of(verdicts: list) -> str:
    """State how many variants were judged, and how many of them wrongly."""
    kinds = Counter(one.variant.kind for one in verdicts)
    misjudged = sum(bool(one.slips) for one in verdicts)
    return (
        f"{kinds['wrong']} wrong and {kinds['right']} right variants: "
        f"{misjudged or 'none'} misjudged."
    )


def mutant_table(verdicts: dict) -> Table:
    """Return a table of mechanical mutants: made, killed and equivalent."""
    table = Table("unit", "mutants", "killed", "of those not equivalent")
    for slug, rows in verdicts.items():
        killed = sum(row.killed for row in rows)
        real = sum(not row.why or row.killed for row in rows)
        share = f"{killed / real:.1%}" if real else "-"
        table.add_row(slug, str(len(rows)), str(killed), share)
    return table


def survivors(verdicts: dict) -> list[str]:
    """Return a line for each surviving mutant without a recorded explanation."""
    return [
        f"{slug}: mutant lives: {row.exercise}: {row.change}"
        for slug, rows in verdicts.items()
        for row in rows
        if not row.killed and not row.why
    ]

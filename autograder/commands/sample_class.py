"""Define `course sample-class`, which makes submissions with known scores."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from autograder.commands.console import add_row, complain, show
from autograder.course import load_course


def register(app: typer.Typer) -> None:
    """Add `sample-class` to the `course` command."""
    app.command("sample-class")(sample_class)


def sample_class(
    units: Annotated[
        list[str] | None, typer.Argument(help="Such as 04 or attention; default: 04.")
    ] = None,
    to: Annotated[
        Path, typer.Option("--to", help="Where the students' folders go.")
    ] = Path("submitted"),
    language: Annotated[
        str, typer.Option(help="Language of the filled-in notebooks: en or ko.")
    ] = "en",
) -> None:
    """Make twelve submissions for each unit, and list the expected scores."""
    import torch

    from autograder.assemble.translation import translate_submissions
    from autograder.course import TRANSLATIONS, CourseError
    from autograder.proof.sample_class import scores_file, write_sample_class

    torch.set_num_threads(1)
    for unit in units or ["04"]:
        try:
            course = load_course()
            slug = course.unit(unit).slug
            expected = write_sample_class(slug, to)
            if language in TRANSLATIONS:
                translate_submissions(course, course.unit(unit), to, language)
        except (CourseError, FileNotFoundError) as error:
            complain(error)
            raise typer.Exit(2) from None
        table = Table("student", "what it is", "score of the checks", title=slug)
        for student, entry in expected.items():
            add_row(table, student, entry["what"], f"{entry['score']:g}")
        console = Console()
        console.print(table)
        path = scores_file(to, slug)
        show(console, f"Made in {to}; the scores are in {path} too.")

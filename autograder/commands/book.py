"""Define the `course book` command."""

import subprocess
import sys
from typing import Annotated

import typer

from autograder.course import ROOT


def register(app: typer.Typer) -> None:
    """Add `book` to the `course` command."""
    app.command()(book)


def book(
    edition: Annotated[
        str, typer.Option(help="public, or instructor with the answers.")
    ] = "public",
    language: Annotated[
        str, typer.Option(help="en, or ko for the Korean edition.")
    ] = "en",
    quiet: Annotated[
        bool, typer.Option("--quiet", help="Print warnings only.")
    ] = False,
) -> None:
    """Build the book, and treat every warning as an error."""
    command = [sys.executable, str(ROOT / "book" / "build.py"), "--edition", edition]
    command += ["--language", language]
    done = subprocess.run([*command, *(["--quiet"] if quiet else [])], cwd=ROOT)
    if done.returncode:
        raise typer.Exit(done.returncode)

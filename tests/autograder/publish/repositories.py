"""Write files, and read the state of a repository."""

from __future__ import annotations

from pathlib import Path

from autograder.publish import repository as steps


def write(path: Path, text: str) -> None:
    """Write a file and the folders around it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def state(folder: Path) -> tuple[str, dict[str, bytes]]:
    """Return the last commit of a repository and its files."""
    files = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    own = {str(p): data for p, data in files.items() if ".git" not in p.parts}
    return steps.git(folder, "rev-parse", "HEAD"), own

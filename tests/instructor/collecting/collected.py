"""Read the files that `course collect` put into a class's folder."""

from datetime import UTC, datetime
from pathlib import Path

from lms_archives import UNIT

from autograder.collect import Collected


def place(root: Path, student: str) -> Path:
    return root / "submitted" / student / UNIT / f"{UNIT}.ipynb"


def taken(root: Path) -> dict[str, bytes]:
    found = (root / "submitted").glob(f"*/{UNIT}/{UNIT}.ipynb")
    return {path.parents[1].name: path.read_bytes() for path in found}


def stamp(root: Path, student: str) -> str:
    return place(root, student).with_name("timestamp.txt").read_text().strip()


def utc(*when: int) -> str:
    """Return a time of this machine's zone as nbgrader writes it."""
    moment = datetime(*when).timestamp()
    return f"{datetime.fromtimestamp(moment, UTC):%Y-%m-%d %H:%M:%S} UTC"


def problems(done: Collected) -> list[tuple[str, str]]:
    """Return the cases that need a human, with the reasons."""
    return [(result.source, result.why) for result in done.report.problems()]


def beside(done: Collected) -> list[str]:
    """Return the files that were put aside or refused and that need no human."""
    aside = done.report.of("put aside", "refused")
    looked_at = done.report.problems()
    return [result.source for result in aside if result not in looked_at]

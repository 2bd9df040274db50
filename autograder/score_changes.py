"""Report which scores a command has changed, by how much and why."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from nbgrader.api import Assignment, SubmittedAssignment, SubmittedNotebook
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import selectinload

from autograder.atomic_write import atomic_write
from autograder.classroom.folder import ClassFolder, grading_folder
from autograder.gradebook import fetch_cells, open_session
from autograder.marks import Marks, marks_in
from autograder.sandbox.safe_cells import as_csv
from autograder.unit import CHECK_SUFFIX

TEMPLATES = Path(__file__).with_name("pages") / "score_changes"
NAMED = 3  # maximum number of exercises in a cause


@dataclass(frozen=True)
class ScoreChange:
    """Hold a score that has changed.

    Attributes:
        student: the student's id.
        before: the earlier points, minus the late penalty.
        after: the current points, minus the late penalty.
        cause: the parts of the score that changed, in words.
    """

    student: str
    before: float
    after: float
    cause: str


def marks_of_class(folder: ClassFolder, slug: str) -> dict[str, Marks]:
    """Read the marks of all students whose work on a unit has been graded."""
    with_rows = selectinload(SubmittedAssignment.notebooks)
    with open_session(folder.db_url) as session:
        rows = session.query(SubmittedAssignment).join(Assignment)
        rows = rows.filter(Assignment.name == slug).options(
            with_rows.selectinload(SubmittedNotebook.grades),
            with_rows.selectinload(SubmittedNotebook.comments),
        )
        try:
            found = rows.all()
        except OperationalError:  # a new gradebook has no tables yet
            return {}
        for row in found:
            for notebook in row.notebooks:
                fetch_cells(notebook.notebook)
        return {row.student_id: marks_in(row) for row in found if row.notebooks}


def score_changes(
    before: Mapping[str, Marks], after: Mapping[str, Marks]
) -> list[ScoreChange]:
    """Compare the marks of a class, ignoring students without earlier marks."""
    return [
        ScoreChange(student, old.score, new.score, _cause(old, new))
        for student, old in sorted(before.items())
        if (new := after.get(student, Marks())).score != old.score
        and any(score is not None for score in old.scores.values())
    ]


def _cause(old: Marks, new: Marks) -> str:
    """Name the points that changed: from checks, by hand, or the late penalty."""
    if not new.scores:
        return "no longer graded"
    changed = [name for name in new.scores if new.scores[name] != old.scores.get(name)]
    checked = [one for one in changed if new.auto.get(one) != old.auto.get(one)]
    by_hand = [one for one in changed if one not in checked]
    causes = []
    if checked:
        causes.append(f"checks: {_names(checked)}")
    if by_hand:
        causes.append(f"points by hand: {_names(by_hand)}")
    if old.penalty != new.penalty:
        causes.append(f"late penalty {old.penalty:g} → {new.penalty:g}")
    return "; ".join(causes)


def _names(cells: list[str]) -> str:
    more = f" and {len(cells) - NAMED} more" if len(cells) > NAMED else ""
    return ", ".join(one.removesuffix(CHECK_SUFFIX) for one in cells[:NAMED]) + more


def sentence_about(slug: str, changes: list[ScoreChange], is_dry: bool = False) -> str:
    """State the number of changed scores, the largest change and its cause."""
    most = max(changes, key=lambda one: abs(one.after - one.before))
    lower = sum(one.after < one.before for one in changes)
    counts = {"higher": len(changes) - lower, "lower": lower}
    ways = ", ".join(f"{count} {way}" for way, count in counts.items() if count)
    scores = "1 score has" if len(changes) == 1 else f"{len(changes)} scores have"
    changed = f"{scores} changed"
    if is_dry:
        changed = f"{len(changes)} score{'s' * (len(changes) > 1)} would change"
    return (
        f"{slug}: {changed} ({ways}). The largest change: "
        f"{most.student}, {most.before:g} → {most.after:g} ({most.cause})."
    )


@contextlib.contextmanager
def changes_shown(
    folder: ClassFolder, slug: str, say: Callable[[str], None], is_dry: bool = False
) -> Iterator[None]:
    """Print which scores of a unit the `with` block has changed.

    Args:
        folder: the class.
        slug: the slug of the unit.
        say: a function that prints a line.
        is_dry: whether the class is a copy. In this case, all changes are printed, and
            no files are written.
    """
    before = marks_of_class(folder, slug)
    yield
    changes = score_changes(before, marks_of_class(folder, slug))
    if changes:
        say(sentence_about(slug, changes, is_dry))
    elif is_dry:
        say(f"{slug}: no score would change.")
    if changes and not is_dry:
        say(f"All changed scores: {write_changes(folder, slug, changes)}")
    for one in changes if is_dry else ():
        say(f"  {one.student}: {one.before:g} → {one.after:g} ({one.cause})")


def write_changes(folder: ClassFolder, slug: str, changes: list[ScoreChange]) -> Path:
    """Write a page and a CSV file with all changes, and return the page's path.

    The files of each command get a new number, so that no file is overwritten.
    """
    home = grading_folder(folder.root) / "changes"
    number = 1 + sum(1 for _ in home.glob(f"{slug}-*.csv"))
    page = home / f"{slug}-{number:03}.html"
    rows = [("student", "before", "after", "cause")]
    rows += [(c.student, f"{c.before:g}", f"{c.after:g}", c.cause) for c in changes]
    template = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    ).get_template("score_changes.html.j2")
    told = sentence_about(slug, changes)
    text = template.render(slug=slug, sentence=told, changes=changes)
    atomic_write(page, text.encode())
    atomic_write(page.with_suffix(".csv"), as_csv(rows))
    return page

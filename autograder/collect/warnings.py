"""Warn about doubtful hand-in times, and about students with no id or with two ids."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from datetime import datetime
from pathlib import Path

from autograder.collect.submission_store import TIME, Record

AT_ONCE_SECONDS = 600  # too short for a whole class to hand in
FEWEST = 3  # this many submissions in this time are suspicious
NAMED = 12  # maximum number of names in a message
NO_DUE_DATE = "no due date is set, so they cost nothing; set it and collect again"


def several(number: int, thing: str) -> str:
    """Return a number and its noun, such as `1 file` or `2 files`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def warnings_about_times(
    slug: str, last: list[Record], due: datetime | None, grace: float = 0
) -> list[tuple[str, str]]:
    """Return warnings about the hand-in times of a unit.

    Args:
        slug: the unit.
        last: for each student, the submission that counts.
        due: the due date, if any.
        grace: how many minutes of lateness have no penalty.
    """
    found = []
    unknown = [one for one in last if not one.is_known]
    if late := sum(one.late for one in unknown):
        words = "Canvas does not say since when: "
        words += _a_second(grace) if due else NO_DUE_DATE
        found.append((f"{slug}, {late} LATE:", words))
    untimed = sum(one.file is None for one in unknown)
    if untimed:
        words = "no time is known: they count as on time; add times with --times"
        found.append((f"{slug}, {several(untimed, 'notebook')}:", words))
    times = [datetime.strptime(one.when, TIME) for one in last
             if one.is_known and not one.handed_in]  # fmt: skip
    if due and len(times) >= FEWEST and any(one.is_late(due) for one in last):
        seconds = (max(times) - min(times)).total_seconds()
        if seconds < AT_ONCE_SECONDS:
            span = "a minute" if seconds < 60 else f"{seconds / 60:.0f} minutes"
            words = (
                f"all times lie within {span}, perhaps those of the download, and "
                "count as late: look, and say when with --times"
            )
            found.append((f"{slug}, {len(times)} files:", words))
    return found


def _a_second(grace: float) -> str:
    """Explain in words how one second of lateness counts."""
    if not grace:
        return "they count as one second late; say more with --times"
    return (
        f"they count as one second late, which minutes_of_grace = {grace:g} forgives; "
        "set it to 0, or say more with --times"
    )


def strays(submitted: Path, known: Container[str]) -> list[tuple[str, str]]:
    """Return a warning about earlier submissions by students not in the roster."""
    names = [path.name for path in sorted(submitted.glob("*")) if path.is_dir()]
    left = [name for name in names if name not in known]
    if not left:
        return []
    words = f"not in the roster, but graded as long as they lie there: {_first(left)}"
    return [(f"{submitted.name}/, {several(len(left), 'folder')}:", words)]


def two_ids(graded: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return a warning about graded students whose id differs from the roster's."""
    if not graded:
        return []
    pairs = [f"{old} is {new} there" for old, new in sorted(graded.items())]
    words = f"graded under other ids than the roster's, and keep them: {_first(pairs)}"
    return [(f"{several(len(graded), 'student')}", words)]


def other_logins(logins: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return a warning about students who keep an id that was their former login."""
    if not logins:
        return []
    pairs = [f"{old} is {new} there" for old, new in sorted(logins.items())]
    words = (
        f"with a login in the roster that differs from the id here: {_first(pairs)}. "
        "The ids here stay. To replace them, give the roster a column `id`"
    )
    return [(f"{several(len(logins), 'student')}", words)]


def _first(names: Sequence[str]) -> str:
    rest = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {rest} more" if rest > 0 else "")

"""What collecting did."""

from __future__ import annotations

from dataclasses import dataclass, field

from autograder.collect.account import Account
from autograder.collect.shelf import Record


@dataclass(frozen=True)
class Placed:
    """What became of one student's submissions of one unit."""

    student: str
    slug: str
    last: Record
    kept: int
    new: int
    when: str
    late: bool


@dataclass
class Collected:
    """What collecting did.

    Attributes:
        account: what became of each file.
        placed: who handed in what.
        created: students who were unknown.
        moved: students who now have the id of the roster.
        named: how many students of a roster the gradebook now has by name.
        warnings: what was taken, and what an instructor should look at.
    """

    account: Account = field(default_factory=Account)
    placed: list[Placed] = field(default_factory=list)
    created: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    named: int = 0
    warnings: list[tuple[str, str]] = field(default_factory=list)

    @property
    def missing(self) -> dict[str, list[str]]:
        """Return each unit's students of whom nothing came."""
        return self.account.missing

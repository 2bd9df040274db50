"""What can be wrong with a master, said so that its author can mend it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class Complaint(Exception):
    """What is wrong with the cell or file at hand, and what to do about it."""

    def __init__(self, what: str, remedy: str) -> None:
        """Keep both halves apart."""
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy


@dataclass(frozen=True)
class Problem:
    """A complaint with its place."""

    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        """Write the place, what is wrong, and what to do."""
        return f"{self.where}: {self.what}\n    -> {self.remedy}"


class AssemblyError(ValueError):
    """Some masters cannot be assembled; `problems` lists every one found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Make one message of all problems."""
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in problems))

"""Describe problems in a master so that its author can correct them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class Complaint(Exception):
    """Report a problem in the current cell or file, and its remedy."""

    def __init__(self, what: str, remedy: str) -> None:
        """Store the problem and the remedy separately."""
        super().__init__(f"{what}; {remedy}")
        self.what = what
        self.remedy = remedy


@dataclass(frozen=True)
class Problem:
    """Hold a problem and where it is."""

    where: str
    what: str
    remedy: str

    def __str__(self) -> str:
        """Return the place, the problem and the remedy as text."""
        return f"{self.where}: {self.what}\n    -> {self.remedy}"


class AssemblyError(ValueError):
    """Report that some masters cannot be assembled; `problems` lists all problems."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Join all problems into one message."""
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in problems))

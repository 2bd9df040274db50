"""What keeps a course from being published."""

from __future__ import annotations

from collections.abc import Sequence

from autograder.assemble import Problem


class PublishError(ValueError):
    """The course cannot be published; `problems` lists every reason found."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Make one message of all problems."""
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in problems))


def refuse(where: object, what: str, remedy: str) -> PublishError:
    """Make the error of a single problem."""
    return PublishError([Problem(str(where), what, remedy)])

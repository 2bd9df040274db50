"""Say how a check can end early: a failed expectation, or the student's own error."""

from dataclasses import dataclass

from autograder.phrases import capitalised


class CheckFailed(AssertionError):
    """Stop a check that failed, with words for the student.

    Attributes:
        message: what was expected and what was found, without values of the check.
        mistake: the phrase that names the recognised mistake, or None.
        guess: the phrase of a mistake that would explain the failure, or None. The
            student reads it only if no other check contradicts it.
        place: the line of the student's cell that raised an error, or "".
    """

    def __init__(
        self,
        message: str,
        mistake: str | None = None,
        guess: str | None = None,
        place: str = "",
    ):
        """Keep the message with a capital letter, and the rest as it is."""
        super().__init__(message)
        self.message = capitalised(message)
        self.mistake = mistake
        self.guess = guess
        self.place = place


class BannedCall(CheckFailed):
    """Report that an answer uses what would be the whole answer: it earns nothing."""


@dataclass
class StudentError(Exception):
    """Report that the student's code could not do what the check asked of it.

    Attributes:
        kind: "missing", "not written" or "raised".
        name: the name that was asked for.
        message: what happened, in words for the student.
        place: the line of the student's cell, " (line 3 of its cell: x = y)", or "".
    """

    kind: str
    name: str
    message: str
    place: str = ""

    def __str__(self) -> str:
        """Return the message alone."""
        return self.message


@dataclass
class StudentGone(Exception):
    """Report that the student's process ended, hung or broke the protocol.

    Attributes:
        reason: why, in words: "it took longer than 20 s", "the process ended".
        limit: the name of the limit that was hit, or None.
    """

    reason: str
    limit: str | None = None

    def __str__(self) -> str:
        """Return the reason alone."""
        return self.reason

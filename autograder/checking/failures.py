"""Define the exceptions that end a check early."""

from dataclasses import dataclass

from autograder.phrases import capitalised


class CheckFailed(AssertionError):
    """End a failed check with a message for the student.

    Attributes:
        message: the expected result and the actual one, without the values that the
            check uses.
        mistake: the phrase that names the mistake, if it is certain, or None.
        guess: the phrase of a mistake that may explain the failure, or None. The
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
        """Store the message with a capital letter, and the other values unchanged."""
        super().__init__(message)
        self.message = capitalised(message)
        self.mistake = mistake
        self.guess = guess
        self.place = place


class BannedCall(CheckFailed):
    """Report that an answer uses a banned built-in and therefore earns no points."""


@dataclass
class StudentError(Exception):
    """Report that the student's code could not carry out a check's request.

    Attributes:
        kind: "missing", "not written" or "raised".
        name: the requested name.
        message: a description of the error for the student.
        place: the line of the student's cell, " (line 3 of its cell: x = y)", or "".
    """

    kind: str
    name: str
    message: str
    place: str = ""

    def __str__(self) -> str:
        """Return only the message."""
        return self.message


@dataclass
class StudentGone(Exception):
    """Report that the student's process ended, hung or broke the protocol.

    Attributes:
        reason: the reason in words, such as "it took longer than 20 s".
        limit: the name of the limit that was exceeded, or None.
    """

    reason: str
    limit: str | None = None

    def __str__(self) -> str:
        """Return only the reason."""
        return self.reason

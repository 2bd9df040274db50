"""Carry requests to a child and its answers back, and read its reports on cells."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from autograder.checking.failures import StudentGone
from autograder.phrases import Phrase
from autograder.sandbox.student_side.messages import (
    Channel,
    ChannelClosed,
    Message,
    ProtocolError,
)
from autograder.sandbox.student_side.values import Decoder
from autograder.sandbox.submission_proxy import Answer

TIME = Phrase("time")
TOLD_OF_ERRORS, MAX_WORDS = ("type", "message", "line", "code"), 2_000


class RemoteTransport:
    """Send requests to a child until a deadline."""

    def __init__(
        self,
        channel: Channel,
        deadline: float,
        reason: str,
        gone: Callable[[Exception], StudentGone],
    ):
        """Set the `deadline` for answers and the `reason` reported if it is missed.

        If the child closes or breaks its channel, `gone` describes how the child ended.
        """
        self.channel = channel
        self.deadline = deadline
        self.reason = reason
        self.gone = gone

    def ask(self, request: Message, answer: Answer) -> Message:
        """Send one request, answer the calls that come back, and return the reply.

        Raises:
            StudentGone: if no answer arrives in time.
        """
        try:
            self.channel.send(request, self.deadline)
            while True:
                reply = self.channel.receive(self.deadline)
                if "callback" not in reply.body:
                    return reply
                self.channel.send(answer(reply), self.deadline)
        except TimeoutError as error:
            raise StudentGone(self.reason, TIME) from error
        except (ChannelClosed, ProtocolError) as error:
            raise self.gone(error) from error


@dataclass
class CellRun:
    """The child's report on one cell, which the grader must not trust.

    The grader sets `once` if the cell need not run again for the next exercise.
    """

    outputs: list[dict[str, Any]] = field(default_factory=list)
    error: dict[str, Any] | None = None
    seconds: float = 0.0
    stopped: str | None = None
    once: bool = False


def read_run(reply: Message) -> CellRun:
    """Read the report on a cell, and check its form, because a child can forge it."""
    report = Decoder(reply, _refuse, keep_strides=False).part("ran")
    if not isinstance(report, dict):
        raise ProtocolError(Phrase("a cell's report that is none"))
    outputs, error = report.get("outputs"), report.get("error")
    seconds = report.get("seconds")
    return CellRun(
        [item for item in outputs if isinstance(item, dict)]
        if isinstance(outputs, list)
        else [],
        _shortened(error) if isinstance(error, dict) else None,
        seconds if type(seconds) is float else 0.0,
    )


def _shortened(error: dict[str, Any]) -> dict[str, Any]:
    """Keep the parts of an error report that are displayed, and limit their length."""
    told = {key: error.get(key) for key in TOLD_OF_ERRORS}
    return {
        key: value if type(value) is int else str(value)[:MAX_WORDS]
        for key, value in told.items()
        if value is not None
    }


def _refuse(value: Any) -> NoReturn:
    raise ProtocolError("a reference where only values are allowed")

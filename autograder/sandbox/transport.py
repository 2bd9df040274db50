"""Carry a check's requests to a child, and its answers back."""

import contextlib
from collections.abc import Callable, Iterator

from autograder.checking.failures import StudentGone
from autograder.sandbox.student import Answer
from autograder.sandbox.student_side.messages import (
    Channel,
    ChannelClosed,
    Message,
    ProtocolError,
)

TIME = "time"


class RemoteTransport:
    """Send requests to a child, until a deadline."""

    def __init__(
        self,
        channel: Channel,
        deadline: float,
        reason: str,
        gone: Callable[[Exception], StudentGone],
    ):
        """Answers must come before `deadline`; `reason` says what it means.

        `gone` says what became of a child that closed or broke its channel.
        """
        self.channel = channel
        self.deadline = deadline
        self.reason = reason
        self.gone = gone
        self._unread = 0  # answers that say nothing but that a check has begun

    def ask(self, request: Message, answer: Answer) -> Message:
        """Send one request, serve the questions that come back, return the answer.

        The answer to the beginning of a check is read with the next one.
        """
        with self._told():
            self.channel.send(request, self.deadline)
            if request.body.get("do") == "begin":
                self._unread += 1
                return Message({"ok": None})
            self._catch_up()
            while True:
                reply = self.channel.receive(self.deadline)
                if "callback" not in reply.body:
                    return reply
                self.channel.send(answer(reply), self.deadline)

    def settle(self) -> None:
        """Read what has not been read."""
        with self._told():
            self._catch_up()

    def _catch_up(self) -> None:
        while self._unread:
            self._unread -= 1
            if "ok" not in self.channel.receive(self.deadline).body:
                raise ProtocolError("a check could not begin")

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        """Say what became of a child that does not answer."""
        try:
            yield
        except TimeoutError as error:
            raise StudentGone(self.reason, TIME) from error
        except (ChannelClosed, ProtocolError) as error:
            raise self.gone(error) from error

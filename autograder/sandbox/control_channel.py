"""The line to a pre-warmed parent: orders go there, and its reports come back."""

import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from autograder.phrases import Phrase
from autograder.sandbox.student_side.messages import (
    Channel,
    ChannelClosed,
    Message,
    ProtocolError,
)

START_SECONDS = 180  # it takes 3, but for a machine that is busy otherwise
ORDER_SECONDS = 20


class NoParent(Exception):
    """Report that the pre-warmed parent did not start or is gone.

    Attributes:
        reason: why, in words.
    """

    def __init__(self, reason: str) -> None:
        """Keep the reason."""
        super().__init__(reason)
        self.reason = reason


@dataclass
class ControlChannel:
    """The line to a parent or to a copy of one; it can be handed to another process.

    Attributes:
        control: takes the orders; who holds it holds the parent.
        sandbox: the kind of sandbox that the parent lives in; see `bubblewrap.py`.
        kit: the label of the kit that is imported in it; empty if there is none.
    """

    control: socket.socket
    sandbox: str
    kit: str = ""

    @property
    def is_protected(self) -> bool:
        """Say whether there is a sandbox around the parent itself."""
        return self.sandbox in ("root", "user")

    def order(
        self,
        order: dict[str, Any],
        descriptors: Sequence[int] = (),
        contents: bytearray | None = None,
    ) -> dict[str, Any]:
        """Send an order, with open files and contents of files; return the report.

        Raises:
            NoParent: if the parent is gone or does not report in time.
        """
        channel = Channel(self.control)
        is_long = order["do"] == "import"  # of whole libraries
        deadline = time.monotonic() + (START_SECONDS if is_long else ORDER_SECONDS)
        message = Message(order, contents or bytearray(), 0, list(descriptors))
        try:
            channel.send(message, deadline)
            return channel.receive(deadline).body
        except (OSError, ChannelClosed, ProtocolError) as error:
            raise NoParent(
                Phrase("the pre-warmed parent is gone: {error}", error)
            ) from error

    def wait_for_first_report(self) -> None:
        """Wait until a parent that was just started says that it takes orders.

        Raises:
            NoParent: if it ends before, or does not say so in time.
        """
        try:
            Channel(self.control).receive(time.monotonic() + START_SECONDS)
        except (OSError, ChannelClosed, ProtocolError) as error:
            words = Phrase("the pre-warmed parent closed its channel")
            raise NoParent(words) from error

    def close(self) -> None:
        """Close this end: the parent ends, and so does every child of it."""
        self.control.close()

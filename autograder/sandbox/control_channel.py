"""Send orders to a pre-warmed parent and receive its reports."""

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

START_SECONDS = 180  # a start takes 3 s unless the machine is busy
ORDER_SECONDS = 20


class NoParent(Exception):
    """Report that the pre-warmed parent did not start or has ended.

    Attributes:
        reason: the reason as text.
    """

    def __init__(self, reason: str) -> None:
        """Store the reason."""
        super().__init__(reason)
        self.reason = reason


@dataclass
class ControlChannel:
    """The channel to a parent or to its copy; another process can receive it.

    Attributes:
        control: the socket for orders. The parent ends when every process that has this
            socket has closed it.
        sandbox: the kind of sandbox around the parent; see `bubblewrap.py`.
        kit: the label of the kit that the parent has imported, or an empty string.
    """

    control: socket.socket
    sandbox: str
    kit: str = ""

    @property
    def is_protected(self) -> bool:
        """Return whether there is a sandbox around the parent itself."""
        return self.sandbox in ("root", "user")

    def order(
        self,
        order: dict[str, Any],
        descriptors: Sequence[int] = (),
        contents: bytearray | None = None,
    ) -> dict[str, Any]:
        """Send an order with open files and file contents, and return the report.

        Raises:
            NoParent: if the parent has ended or does not report in time.
        """
        channel = Channel(self.control)
        is_long = order["do"] == "import"  # an import may load whole libraries
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
        """Wait until a newly started parent reports that it accepts orders.

        Raises:
            NoParent: if it ends first, or does not report in time.
        """
        try:
            Channel(self.control).receive(time.monotonic() + START_SECONDS)
        except (OSError, ChannelClosed, ProtocolError) as error:
            words = Phrase("the pre-warmed parent closed its channel")
            raise NoParent(words) from error

    def close(self) -> None:
        """Close this end, which ends the parent and all its children."""
        self.control.close()

"""The line to a pre-warmed parent: orders go there as JSON, its reports come back."""

import json
import socket
import struct
from dataclasses import dataclass
from typing import Any

from autograder.phrases import Phrase

SIZE = struct.Struct(">I")
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
class Line:
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
        self, order: dict[str, Any], descriptors: list[int] | None = None
    ) -> dict[str, Any]:
        """Send an order, and open files with it; return the parent's report.

        Raises:
            NoParent: if the parent is gone or does not report in time.
        """
        text = json.dumps(order).encode()
        try:
            self.control.settimeout(_patience(order))
            head = [SIZE.pack(len(text))]
            socket.send_fds(self.control, head, descriptors or [])
            self.control.sendall(text)
            return self._receive()
        except OSError as error:
            raise NoParent(
                Phrase("the pre-warmed parent is gone: {error}", error)
            ) from error

    def wait_for_first_report(self) -> None:
        """Wait until a parent that was just started says that it takes orders.

        Raises:
            NoParent: if it ends before.
            OSError: if it does not say so in time.
        """
        self.control.settimeout(START_SECONDS)
        self._receive()

    def close(self) -> None:
        """Close this end: the parent ends, and so does every child of it."""
        self.control.close()

    def _receive(self) -> dict[str, Any]:
        (size,) = SIZE.unpack(self._exactly(SIZE.size))
        return json.loads(self._exactly(size))

    def _exactly(self, size: int) -> bytes:
        text = b""
        while len(text) < size:
            part = self.control.recv(size - len(text))
            if not part:
                raise NoParent(Phrase("the pre-warmed parent closed its channel"))
            text += part
        return text


def _patience(order: dict[str, Any]) -> float:
    """Return how long an order may take: imports of whole libraries are slow."""
    return START_SECONDS if order["do"] == "import" else ORDER_SECONDS

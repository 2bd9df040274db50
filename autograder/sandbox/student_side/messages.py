"""Send and receive messages: a JSON header and raw bytes, never pickle.

The grader uses this protocol with the pre-warmed parent and with each child.
"""

import json
import socket
import struct
import time
from dataclasses import dataclass, field
from typing import Any

HEADER = struct.Struct(">4sIQ")
MAGIC = b"ATG1"
CHUNK = 1 << 20


class ProtocolError(Exception):
    """Report a message that breaks the protocol or is larger than allowed."""


class ChannelClosed(Exception):
    """Report that the other side closed the channel."""


@dataclass
class Message:
    """One message: a JSON object, and the bytes of its tensors or files.

    In a received message, `size` is the number of bytes and `descriptors` are the open
    files that came with it.
    """

    body: dict[str, Any]
    blob: bytearray = field(default_factory=bytearray)
    size: int = 0
    descriptors: list[int] = field(default_factory=list)


@dataclass(frozen=True)
class FrameLimits:
    """The maximum size of a received message, in bytes."""

    json_bytes: int = 2 << 20
    blob_bytes: int = 256 << 20


class Channel:
    """Exchange messages over a connected socket."""

    def __init__(
        self,
        connection: socket.socket,
        limits: FrameLimits | None = None,
        takes_descriptors: bool = False,
    ):
        """Use `connection` from now on; received messages must be within `limits`.

        The channel receives open files only if `takes_descriptors` is True.
        """
        self.connection = connection
        self.limits = limits or FrameLimits()
        self.takes_descriptors = takes_descriptors
        self._descriptors: list[int] = []

    def send(self, message: Message, deadline: float | None = None) -> None:
        """Send one complete message.

        Raises:
            ChannelClosed: if the other side has closed the channel.
            TimeoutError: if the other side does not receive the message before
                `deadline`.
        """
        text = json.dumps(message.body, separators=(",", ":")).encode()
        header = HEADER.pack(MAGIC, len(text), len(message.blob))
        self._set_timeout(deadline)
        begin = header + text
        try:
            if message.descriptors:
                socket.send_fds(self.connection, [begin[:1]], message.descriptors)
                begin = begin[1:]
            if len(message.blob) <= CHUNK:  # one piece wakes the other side only once
                self.connection.sendall(begin + message.blob)
            else:
                self.connection.sendall(begin)
                self.connection.sendall(message.blob)
        except (BrokenPipeError, ConnectionError) as error:
            raise ChannelClosed(str(error)) from error

    def receive(self, deadline: float | None = None) -> Message:
        """Receive one complete message.

        Raises:
            ChannelClosed: if the other side has closed the channel.
            ProtocolError: if the data are not a valid message, or are too large.
            TimeoutError: if the message does not arrive before `deadline`.
        """
        header = self._read(HEADER.size, deadline)
        magic, json_size, blob_size = HEADER.unpack(header)
        if magic != MAGIC:
            raise ProtocolError("the message does not begin as messages do")
        if json_size > self.limits.json_bytes or blob_size > self.limits.blob_bytes:
            raise ProtocolError(f"a message of {json_size} + {blob_size} bytes")
        blob = self._read(json_size + blob_size, deadline)
        text = blob[:json_size]
        del blob[:json_size]
        try:
            body = json.loads(text.decode())
        except (ValueError, RecursionError) as error:
            raise ProtocolError("the message's header is not JSON") from error
        if not isinstance(body, dict):
            raise ProtocolError("the message's header is not a JSON object")
        descriptors, self._descriptors = self._descriptors, []
        return Message(body, blob, json_size + blob_size, descriptors)

    def close(self) -> None:
        """Close the connection."""
        self.connection.close()

    def _read(self, size: int, deadline: float | None) -> bytearray:
        parts = bytearray()
        while len(parts) < size:
            self._set_timeout(deadline)
            try:
                part = self._receive(min(size - len(parts), CHUNK))
            except ConnectionError as error:
                raise ChannelClosed(str(error)) from error
            if not part:
                raise ChannelClosed("the other side closed the channel")
            parts += part
        return parts

    def _receive(self, size: int) -> bytes:
        if not self.takes_descriptors:
            return self.connection.recv(size)
        part, descriptors, _, _ = socket.recv_fds(self.connection, size, 1)
        self._descriptors += descriptors
        return part

    def _set_timeout(self, deadline: float | None) -> None:
        if deadline is None:
            self.connection.settimeout(None)
            return
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("no time is left")
        self.connection.settimeout(left)

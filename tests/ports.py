"""Ports of loopback that stay ours from when they are chosen until they are used."""

import socket
import sys

_HELD: list[socket.socket] = []


def held_port() -> int:
    """Return the number of a port on which nobody listens, and hold it.

    As long as this process lives the kernel gives the port to nobody who asks for any;
    a server that asks for it by its number gets it.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    number = holder.getsockname()[1]
    if sys.platform == "linux":
        _HELD.append(holder)
    else:  # there the server would not get it
        holder.close()
    return number

"""Ports of loopback that stay reserved between choosing and using them."""

import socket
import sys

_HELD: list[socket.socket] = []


def held_port() -> int:
    """Reserve a free port, and return its number.

    As long as this process lives, the kernel gives the port to no process that asks for
    any port. A server that asks for this number gets it.
    """
    holder = socket.socket()
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    holder.bind(("127.0.0.1", 0))
    number = holder.getsockname()[1]
    if sys.platform == "linux":
        _HELD.append(holder)
    else:  # the server could not use the port there
        holder.close()
    return number

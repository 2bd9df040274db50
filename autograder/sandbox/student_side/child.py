"""Isolate a forked child as requested, and then let it run a submission."""

import os
import socket
import traceback
from typing import Any

from .cells import CellRunner
from .messages import Channel, FrameLimits
from .namespaces import (
    become_account,
    become_nobody,
    die_with_parent,
    enter_namespaces,
    forbid_nested_namespaces,
    give_up_rights,
    mount_own_folders,
)
from .submission_server import limit_resources, serve
from .system_calls import forbid_calls


def run_child(
    order: dict[str, Any], descriptor: int, report: int, runner: CellRunner
) -> None:
    """Turn this process into the one that runs a submission, and never return."""
    try:
        if order["isolate"] == "none":
            os.setsid()
            die_with_parent()
        elif order["isolate"] == "account":
            _take_account(order["user"], order["folder"])
        else:
            _isolate(order, report)
        _close_all_but(descriptor, report)
        limit_resources(order["limits"])
        os.close(report)
    except BaseException as error:
        words = f"problem={type(error).__name__}: {error}".replace("\n", " ")
        os.write(report, f"{words}\n".encode())
        os._exit(70)
    _serve_and_exit(order, descriptor, runner)


def _isolate(order: dict[str, Any], report: int) -> None:
    """Enter new namespaces and give up all capabilities."""
    enter_namespaces(order["isolate"], order["apart"])
    inner = 0 if order["apart"] else os.fork()
    if inner:
        os.write(report, f"pid={inner}\n".encode())
        os._exit(0)
    os.setsid()  # in another process group it could not be killed: see zap_pid_ns
    is_root = order["isolate"] == "root"
    user = order["user"] if is_root else os.getuid()
    mount_own_folders(order["folder"], order["folder_bytes"], user)
    if is_root:
        become_nobody(user)
    forbid_nested_namespaces()
    give_up_rights()
    forbid_calls()


def _take_account(user: int, folder: str) -> None:
    """Change to the child's own account, without capabilities and without a network."""
    os.setsid()
    os.chown(folder, user, user)
    become_account(user)
    die_with_parent()  # needed again, because the change of account cancelled it
    give_up_rights()
    forbid_calls()


def _serve_and_exit(order: dict[str, Any], descriptor: int, runner: CellRunner) -> None:
    try:
        connection = socket.socket(fileno=descriptor)
        channel = Channel(connection, FrameLimits())
        serve(channel, runner, order["folder"], order["device"])
    except BaseException:
        traceback.print_exc()
        os._exit(71)
    os._exit(0)


def _close_all_but(*kept: int) -> None:
    """Close all descriptors except `kept`, and connect 0, 1 and 2 to /dev/null."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    low = 3
    for descriptor in sorted(kept):
        os.closerange(low, descriptor)
        low = descriptor + 1
    os.closerange(low, 4096)

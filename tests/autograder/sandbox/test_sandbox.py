"""The sandbox shows no private package, wherever the course is installed."""

import pytest

from autograder.sandbox import bubblewrap
from autograder.sandbox.fork_server_client import start_parent
from autograder.sandbox.submission_runner import SubmissionRunner


@pytest.mark.parametrize("package", ["autograder", "transformer"])
def test_a_package_installed_among_the_others_is_hidden(package, tmp_path, monkeypatch):
    root = tmp_path / "python"
    places = {
        name: root / "lib" / "site-packages" / name
        for name in ("autograder", "transformer")
    }
    outside = tmp_path / "repository"
    monkeypatch.setattr(bubblewrap, "python_roots", lambda: [root])
    for name, place in places.items():
        here = place if name == package else outside / name
        if name == "autograder":
            monkeypatch.setattr(bubblewrap, "AUTOGRADER", here)
        else:
            monkeypatch.setattr(bubblewrap, "_package", lambda _name, here=here: here)
    assert bubblewrap.hidden_places() == [places[package]]


@pytest.mark.needs("bubblewrap")
def test_a_hidden_place_is_empty_in_a_child(monkeypatch):
    root = bubblewrap.python_roots()[0]
    hidden = next(path for path in (root / "include", root / "share") if path.is_dir())
    monkeypatch.setattr(bubblewrap, "hidden_places", lambda: [hidden])
    parent = start_parent()
    try:
        look = f"import os\nprint(os.listdir({str(hidden)!r}))"
        students = SubmissionRunner(parent, [look], {})
        with students.fresh("any") as student:
            student.begin(0)
        assert students.runs[0].outputs[0]["text"] == "[]\n"
    finally:
        parent.close()


TRIES = """
import mmap, socket
def tried(what):
    try:
        what()
    except OSError as error:
        return type(error).__name__
    except ValueError as error:  # of a map of a file that has no bytes
        return type(error).__name__
    return "got it"
def zeros():
    with open("/dev/zero", "r+b") as file:
        mmap.mmap(file.fileno(), 4096)
print(tried(lambda: mmap.mmap(-1, 4096)), tried(zeros))
print(tried(lambda: mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)))
print(tried(lambda: socket.socket(40)), tried(lambda: socket.socket(socket.AF_INET)))
print(tried(lambda: socket.socketpair(30)))
print(tried(lambda: socket.socket(socket.AF_UNIX)), tried(socket.socketpair))
"""


@pytest.mark.needs("bubblewrap")
def test_no_memory_is_shared_unseen_and_no_socket_leads_out(parents):
    """No limit counts shared memory that is written and no longer mapped.

    The family 40 is AF_VSOCK, which connects a virtual machine with its host. The
    family 30 is AF_TIPC, which has pairs of sockets.
    """
    students = SubmissionRunner(parents("sandbox"), [TRIES], {})
    with students.fresh("any"):
        (shown,) = students.runs[0].outputs
    shared, private, out, pair, within = shown["text"].splitlines()
    assert shared.startswith("PermissionError ") and "got it" not in shared
    assert private == "got it"
    assert out == "PermissionError PermissionError"
    assert pair == "PermissionError"
    assert within == "got it got it"


LOCKS = """
import ctypes, fcntl, os, struct
file = open(os.__file__)
def tried(call, *arguments):
    try:
        call(file, *arguments)
    except OSError as error:
        return type(error).__name__
    return "got it"
shared = struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 0, 0)
alone = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
"""
HOLD = "fcntl.flock(file, fcntl.LOCK_EX)\nfcntl.fcntl(file, fcntl.F_SETLK, shared)"
ASK = """
print(tried(fcntl.flock, fcntl.LOCK_EX | fcntl.LOCK_NB))
print(fcntl.fcntl(file, fcntl.F_GETLK, alone) == alone)
print(ctypes.CDLL(None).inotify_init1(0), ctypes.CDLL(None).inotify_init())
"""


@pytest.mark.needs("bubblewrap")
def test_no_submission_sees_a_lock_of_another(parents):
    """One may run with the course's answers, and the feedback shows the other's output.

    Both can read the file, and the kernel would keep its locks for all processes.
    """
    parent = parents("sandbox")
    holds = SubmissionRunner(parent, [LOCKS + HOLD], {})
    asks = SubmissionRunner(parent, [LOCKS + ASK], {})
    with holds.fresh("any"), asks.fresh("any"):
        (shown,) = asks.runs[0].outputs
    assert holds.runs[0].error is None
    assert shown["text"] == "got it\nTrue\n-1 -1\n"

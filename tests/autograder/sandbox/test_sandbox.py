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
print(tried(lambda: socket.socket(socket.AF_UNIX)), tried(socket.socketpair))
"""


@pytest.mark.needs("bubblewrap")
def test_no_memory_is_shared_unseen_and_no_socket_leads_out(parents):
    """No limit counts shared memory that is written and no longer mapped.

    The family 40 is AF_VSOCK, which connects a virtual machine with its host.
    """
    students = SubmissionRunner(parents("sandbox"), [TRIES], {})
    with students.fresh("any"):
        (shown,) = students.runs[0].outputs
    shared, private, out, within = shown["text"].splitlines()
    assert shared.startswith("PermissionError ") and "got it" not in shared
    assert private == "got it"
    assert out == "PermissionError PermissionError"
    assert within == "got it got it"

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

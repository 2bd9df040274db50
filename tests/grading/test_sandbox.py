"""The sandbox shows no private package, wherever the course is installed."""

import pytest

from autograder.student import sandbox
from autograder.student.remote import RemoteStudents
from autograder.student.warm_parent import WarmParent


@pytest.mark.parametrize("package", ["autograder", "transformer"])
def test_a_package_installed_among_the_others_is_hidden(package, tmp_path, monkeypatch):
    root = tmp_path / "python"
    places = {
        name: root / "lib" / "site-packages" / name
        for name in ("autograder", "transformer")
    }
    outside = tmp_path / "repository"
    monkeypatch.setattr(sandbox, "python_roots", lambda: [root])
    for name, place in places.items():
        here = place if name == package else outside / name
        if name == "autograder":
            monkeypatch.setattr(sandbox, "CHILD", here / "child")
        else:
            monkeypatch.setattr(sandbox, "_package", lambda _name, here=here: here)
    assert sandbox.hidden_places() == [places[package]]


def test_a_hidden_place_is_empty_in_a_child(monkeypatch):
    if sandbox.sandbox_kind() == "none":
        pytest.skip("bubblewrap does not work here")
    root = sandbox.python_roots()[0]
    hidden = next(path for path in (root / "include", root / "share") if path.is_dir())
    monkeypatch.setattr(sandbox, "hidden_places", lambda: [hidden])
    parent = WarmParent()
    try:
        look = f"import os\nprint(os.listdir({str(hidden)!r}))"
        students = RemoteStudents(parent, [look], {})
        with students.fresh("any") as student:
            student.begin(0)
        assert students.runs[0].outputs[0]["text"] == "[]\n"
    finally:
        parent.close()

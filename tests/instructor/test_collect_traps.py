"""`course collect` refuses what leads out of an archive, links, bombs and lies."""

import zipfile

import pytest
from collected import taken
from lms_archives import archive

from autograder.collect import CollectError, collect

TRAPS = {
    "../../gradebook.db.ipynb": "leads out of the archive",
    "/etc/01_tiny.ipynb": "leads out of the archive",
    "a\\..\\..\\01_tiny.ipynb": "leads out of the archive",
    "C:\\01_tiny.ipynb": "leads out of the archive",
}


@pytest.mark.parametrize("name", TRAPS)
def test_archives_that_lead_out_are_refused(folder, root, numbered, tmp_path, name):
    path = archive(
        tmp_path / "a.zip",
        ("Ada Lovelace/01_tiny.ipynb", numbered(1)),
        (name, numbered(2)),
    )
    with pytest.raises(CollectError, match=TRAPS[name]):
        collect(path, folder)
    assert taken(root) == {}


def test_links_bombs_and_broken_archives_are_refused(
    folder, root, numbered, tmp_path, monkeypatch
):
    name = "Ada Lovelace/01_tiny.ipynb"
    link = archive(tmp_path / "link.zip", (name, b"/etc/passwd"), link=name)
    with pytest.raises(CollectError, match="which is a link"):
        collect(link, folder)
    bomb = archive(tmp_path / "bomb.zip", (name, b"\0" * (64 << 20)))
    with pytest.raises(CollectError, match=r"unpacks \d+-fold"):
        collect(bomb, folder)
    monkeypatch.setattr("autograder.collect.incoming.MAX_TOTAL", 1000)
    many = archive(tmp_path / "many.zip", (name, numbered(1)), ("b", numbered(2)))
    with pytest.raises(CollectError, match="unpacks to more than"):
        collect(many, folder)
    monkeypatch.setattr("autograder.collect.incoming.MAX_FILES", 1)
    with pytest.raises(CollectError, match="holds 2 files"):
        collect(many, folder)
    cut = tmp_path / "cut.zip"
    cut.write_bytes(many.read_bytes()[:-40])
    with pytest.raises(CollectError, match="expected a folder, a zip archive"):
        collect(cut, folder)
    assert taken(root) == {}


def test_one_students_trap_does_not_stop_the_class(folder, root, numbered, tmp_path):
    trap = tmp_path / "trap.zip"
    archive(trap, ("../../x.ipynb", b"{}"))
    home = tmp_path / "home"
    (home / "Emmy Noether").mkdir(parents=True)
    (home / "Emmy Noether" / "01_tiny.zip").write_bytes(trap.read_bytes())
    (home / "Ada Lovelace").mkdir()
    (home / "Ada Lovelace" / "01_tiny.ipynb").write_bytes(numbered(1))
    (home / "Niels Abel").mkdir()
    (home / "Niels Abel" / "01_tiny.ipynb").symlink_to("/etc/passwd")
    huge = home / "Leonhard Euler" / "01_tiny.ipynb"
    huge.parent.mkdir()
    with huge.open("wb") as file:
        file.truncate(21 << 20)
    done = collect(home, folder)
    assert set(taken(root)) == {"ada-lovelace"}
    why = dict(done.refused)
    assert "leads out" in why["Emmy Noether/01_tiny.zip"]
    assert "is a link" in why["Niels Abel/01_tiny.ipynb"]
    assert "has 21 MiB" in why["Leonhard Euler/01_tiny.ipynb"]


def test_a_lying_size_is_noticed(folder, tmp_path, numbered):
    path = archive(tmp_path / "a.zip", ("Ada Lovelace/01_tiny.ipynb", numbered(1)))
    with zipfile.ZipFile(path) as made:
        size = made.infolist()[0].file_size
    content = path.read_bytes()
    told = size.to_bytes(4, "little")
    assert content.count(told) == 2
    path.write_bytes(content.replace(told, (10).to_bytes(4, "little")))
    with pytest.raises(CollectError, match="broken archive"):
        collect(path, folder)

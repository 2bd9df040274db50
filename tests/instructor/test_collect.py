"""`course collect` finds student and unit, keeps all, loses nothing, refuses traps."""

import json
import os
import shutil
import zipfile
from datetime import datetime, timezone
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis.strategies import text
from lms_archives import NOON, UNIT, archive, as_colab_saves, zipped
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.classroom.folder import ClassFolder
from autograder.collect import CollectError, collect, collecting
from autograder.collect.names import folder_name, take_apart
from autograder.collect.roster import read_roster
from autograder.commands.app import app
from autograder.grading.student_names import is_safe_name

ROSTER = """id,first_name,last_name,email,lms_user_id
al1815,Ada,Lovelace,ada@example.org,101
en1882,Emmy,Noether,noether@example.org,102
eg1811,Évariste,Galois,galois@example.org,103
sd1781,Siméon Denis,Poisson,poisson@example.org,104
"""
SLUGS = ("01_tiny", "04_attention")


@pytest.fixture
def roster(tmp_path: Path) -> Path:
    path = tmp_path / "roster.csv"
    path.write_text(ROSTER, encoding="utf-8")
    return path


def place(root: Path, student: str) -> Path:
    return root / "submitted" / student / UNIT / f"{UNIT}.ipynb"


def taken(root: Path) -> dict[str, bytes]:
    found = (root / "submitted").glob(f"*/{UNIT}/{UNIT}.ipynb")
    return {path.parents[1].name: path.read_bytes() for path in found}


def stamp(root: Path, student: str) -> str:
    return place(root, student).with_name("timestamp.txt").read_text().strip()


def utc(*when: int) -> str:
    """Return a time of this machine's zone as nbgrader writes it."""
    moment = datetime(*when).timestamp()
    return f"{datetime.fromtimestamp(moment, timezone.utc):%Y-%m-%d %H:%M:%S} UTC"


@pytest.mark.parametrize(
    ("path", "people", "stem", "more"),
    [
        ("lovelaceada_12_345_04_attention.ipynb", "lovelaceada", "04_attention",
         {"user": "12", "file": 345}),
        ("lovelaceada_LATE_12_345_04_attention-1.ipynb", "lovelaceada",
         "04_attention", {"late": True, "version": 1}),
        ("lovelaceada_12_345_work.zip/hw/04_attention.ipynb", "lovelaceada",
         "04_attention", {"file": 345}),
        ("Ada Lovelace_77_assignsubmission_file_/04_attention.ipynb",
         "Ada Lovelace", "04_attention", {"participant": "77", "user": ""}),
        ("Ada Lovelace_77_assignsubmission_file_04_attention (2).ipynb",
         "Ada Lovelace", "04_attention", {"version": 2}),
        ("Ada Lovelace - 04_attention.ipynb", "Ada Lovelace", None, {}),
        ("Copy of 04_attention - Ada Lovelace.ipynb", "Ada Lovelace", None, {}),
        ("Ada Lovelace/Colab Notebooks/Copy of Copy of 04_attention.ipynb",
         "Ada Lovelace", "04_attention", {}),
        ("Attention-20261121T201500Z-001.zip/Ada Lovelace/04_attention (1).ipynb",
         "Ada Lovelace", "04_attention", {"version": 1}),
        ("04_attention_lovelace_v2_final.ipynb", "lovelace", None, {}),
        ("al1815/04_attention/anything.ipynb", "al1815", "anything",
         {"platform": "nbgrader"}),
        ("秦九韶 - 04_attention.ipynb", "秦九韶", None, {}),
        ("04_attention (1).ipynb", None, "04_attention", {"version": 1}),
        ("Drive-20261121T201500Z-001.zip/Copy_of_04_attention.ipynb", None,
         "04_attention", {}),
    ],
)  # fmt: skip
def test_names_of_the_platforms(path, people, stem, more):
    named = take_apart(tuple(path.split("/")), SLUGS)
    assert (named.people or (None,))[0] == people
    assert stem in (None, named.stem)
    assert {key: getattr(named, key) for key in more} == more


@pytest.mark.parametrize("text", ["../..", "..", ".git", "a/b", "A\\B", "x\0y", "~"])
def test_a_students_name_is_never_a_path(text):
    found = folder_name(text)
    assert found == "" or found[0].isalnum()
    assert not set(found) & set("/\\\0~")


@given(text())
@example('<img src=x onerror="steal()">')
def test_no_name_of_a_file_can_act_in_formgrader(written):
    assert is_safe_name(folder_name(written))


def test_no_id_of_a_roster_can_act_in_formgrader(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text('id,first_name,last_name\n"<b onclick=""steal()"">",Ada,Lovelace\n')
    assert list(read_roster(path).students) == ["b-onclick-steal"]


def test_canvas(folder, root, roster, numbered, tmp_path):
    path = archive(
        tmp_path / "submissions.zip",
        ("lovelaceada_101_900_01_tiny.ipynb", as_colab_saves(numbered(1))),
        ("lovelaceada_101_910_01_tiny-1.ipynb", numbered(2), (2026, 11, 2, 9, 0, 0)),
        ("noetheremmy_LATE_102_950_Copy_of_01_tiny.ipynb", numbered(3)),
        ("galoisevariste_103_951_homework.ipynb", numbered(4)),
        ("abelnielshenrik_555_952_01_tiny.ipynb", numbered(5)),
        ("galoisevariste_103_953_text.html", b"<p>I did it</p>"),
    )
    done = collect(path, folder, roster=roster)
    assert taken(root) == {
        "al1815": numbered(2),  # the later file's number counts, not the entry's time
        "en1882": numbered(3),
        "eg1811": numbered(4),
        "abelnielshenrik": numbered(5),
    }
    assert done.created == ["abelnielshenrik"]
    assert done.missing == {UNIT: ["sd1781"]}
    assert done.ignored == ["galoisevariste_103_953_text.html"]
    assert not done.refused
    by_student = {one.student: one for one in done.placed}
    assert (by_student["al1815"].kept, by_student["en1882"].last.late) == (2, True)
    kept = list((root / "collected" / "al1815" / UNIT).glob("*.ipynb"))
    assert sorted(p.read_bytes() for p in kept) == sorted(
        [as_colab_saves(numbered(1)), numbered(2)]
    )
    with Gradebook(folder.db_url) as gradebook:
        found = {one.id: (one.last_name, one.lms_user_id) for one in gradebook.students}
    assert found["sd1781"] == ("Poisson", "104")
    assert found["abelnielshenrik"] == (None, "555")


def test_moodle(folder, root, roster, numbered, tmp_path):
    path = archive(
        tmp_path / "moodle.zip",
        ("Évariste Galois_7001_assignsubmission_file_/01_tiny.ipynb", numbered(1)),
        ("Siméon Denis Poisson_7002_assignsubmission_file_01_tiny.ipynb", numbered(2)),
        ("Emmy Noether_7003_assignsubmission_file_/all.zip",
         zipped("deep/down/01_tiny.ipynb", numbered(3))),
        ("Emmy Noether_7003_assignsubmission_onlinetext_/onlinetext.html", b"Done."),
    )  # fmt: skip
    done = collect(path, folder, roster=roster)
    assert taken(root) == {
        "eg1811": numbered(1),
        "sd1781": numbered(2),
        "en1882": numbered(3),
    }
    assert stamp(root, "eg1811") == utc(*NOON)
    assert done.missing == {UNIT: ["al1815"]}


def test_drive_copies_and_the_last_counts(folder, root, roster, numbered, tmp_path):
    home = tmp_path / "drive"
    names = {
        "Ada Lovelace/01_tiny.ipynb": 300,
        "Ada Lovelace/Copy of 01_tiny.ipynb": 200,
        "Ada Lovelace/01_tiny (1).ipynb": 100,
        "Emmy Noether - 01_tiny.ipynb": 100,
        "Copy of 01_tiny - Évariste Galois (3).ipynb": 100,
    }
    for number, (name, when) in enumerate(names.items()):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(numbered(number))
        os.utime(home / name, (1762000000 + when, 1762000000 + when))
    done = collect(home, folder, roster=roster)
    assert taken(root) == {
        "al1815": numbered(0),
        "en1882": numbered(3),
        "eg1811": numbered(4),
    }
    assert {one.student: one.kept for one in done.placed}["al1815"] == 3
    assert stamp(root, "al1815") == "2025-11-01 12:31:40 UTC"


def test_again_changes_nothing_and_older_ones_do_not_win(
    folder, root, numbered, tmp_path
):
    late = archive(
        tmp_path / "late.zip",
        ("Ada Lovelace - 01_tiny.ipynb", numbered(2), (2026, 11, 9, 9, 0, 0)),
    )
    early = archive(
        tmp_path / "early.zip",
        ("Ada Lovelace - Copy of 01_tiny.ipynb", numbered(1), NOON),
    )
    collect(late, folder)
    before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    done = collect(late, folder)
    assert [one.new for one in done.placed] == [0]
    after = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    assert after == before
    done = collect(early, folder)
    assert taken(root) == {"ada-lovelace": numbered(2)}
    assert [(one.new, one.kept) for one in done.placed] == [(1, 2)]
    assert done.created == []


def test_what_was_put_there_by_hand_is_kept(folder, root, numbered, tmp_path):
    place(root, "ada-lovelace").parent.mkdir(parents=True)
    place(root, "ada-lovelace").write_bytes(b"{ broken, but hers")
    place(root, "ada-lovelace").with_name("timestamp.txt").write_text(
        "2026-11-01 10:00:00 UTC"
    )
    path = archive(
        tmp_path / "a.zip", ("Ada Lovelace/01_tiny.ipynb", numbered(1), NOON)
    )
    collect(path, folder)
    assert taken(root) == {"ada-lovelace": numbered(1)}
    kept = (root / "collected" / "ada-lovelace" / UNIT).glob("*.ipynb")
    assert b"{ broken, but hers" in {path.read_bytes() for path in kept}


def test_the_unit_is_told_by_cells_then_name_then_title(
    folder, root, numbered, tmp_path
):
    raw = json.loads(numbered(1))
    for cell in raw["cells"]:
        cell["metadata"], cell["id"] = {}, f"x{raw['cells'].index(cell)}"
    lost = json.dumps(raw).encode()
    path = archive(
        tmp_path / "a.zip",
        ("Ada Lovelace/anything.ipynb", numbered(1)),
        ("Emmy Noether/01-Tiny.ipynb", b'{"cells": [{"cut off'),
        ("Niels Abel/my work.ipynb", lost),
        ("Leonhard Euler/thesis.ipynb", b'{"cells": []}'),
    )
    done = collect(path, folder)
    assert set(taken(root)) == {"ada-lovelace", "emmy-noether", "niels-abel"}
    (refused,) = done.refused
    assert refused[0] == "Leonhard Euler/thesis.ipynb"
    assert "is of no unit that is known" in refused[1]
    (kept,) = (root / "collected" / "_not-sorted").iterdir()
    assert kept.read_bytes() == b'{"cells": []}'
    collect(path, folder, unit="01")
    assert "leonhard-euler" in taken(root)


def test_two_of_one_name_are_not_mixed_up(folder, root, numbered, tmp_path):
    path = archive(
        tmp_path / "canvas.zip",
        ("bernoullijohann_1_10_01_tiny.ipynb", numbered(1)),
        ("bernoullijohann_2_11_01_tiny.ipynb", numbered(2)),
    )
    collect(path, folder)
    expected = {
        "bernoullijohann": numbered(1),
        "bernoullijohann-2": numbered(2),
    }
    assert taken(root) == expected
    collect(path, folder)
    assert taken(root) == expected
    path = archive(
        tmp_path / "moodle.zip",
        ("Jakob Bernoulli_1_assignsubmission_file_/01_tiny.ipynb", numbered(3)),
        ("Jakob Bernoulli_2_assignsubmission_file_/01_tiny.ipynb", numbered(4)),
    )
    done = collect(path, folder)
    assert taken(root) == expected
    assert {why for _, why in done.refused} == {
        "is of one of two students with this name"
    }
    assert len(list((root / "collected" / "_not-sorted").iterdir())) == 2


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


@pytest.mark.parametrize("failing", range(1, 9))
def test_when_it_fails_nothing_is_lost_and_again_completes_it(
    folder, root, numbered, tmp_path, monkeypatch, failing
):
    first = archive(
        tmp_path / "1.zip",
        ("Ada Lovelace/01_tiny.ipynb", numbered(1), NOON),
        ("Emmy Noether/01_tiny.ipynb", numbered(2), NOON),
    )
    collect(first, folder)
    second = archive(
        tmp_path / "2.zip",
        ("Ada Lovelace/01_tiny.ipynb", numbered(3), (2026, 11, 3, 9, 0, 0)),
        ("Emmy Noether/01_tiny.ipynb", numbered(4), (2026, 11, 3, 9, 0, 0)),
    )
    before = taken(root)
    replace, calls = os.replace, []

    def fail(source, target):
        calls.append(target)
        if len(calls) == failing:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        collect(second, folder)
    monkeypatch.undo()
    now = taken(root)
    allowed = {"ada-lovelace": (1, 3), "emmy-noether": (2, 4)}
    for student, numbers in allowed.items():
        assert now[student] in [numbered(number) for number in numbers]
    shelved = {p.read_bytes() for p in (root / "collected").rglob("*.ipynb")}
    assert shelved >= set(before.values())
    assert not list(root.rglob("*.part"))
    collect(second, folder)
    assert taken(root) == {"ada-lovelace": numbered(3), "emmy-noether": numbered(4)}
    assert stamp(root, "emmy-noether") == utc(2026, 11, 3, 9)


def test_due_dates_and_what_canvas_says(folder, root, numbered, tmp_path):
    folder.register(UNIT)
    with Gradebook(folder.db_url) as gradebook:
        gradebook.update_or_create_assignment(UNIT, duedate="2026-11-01 20:00:00 UTC")
    path = archive(
        tmp_path / "a.zip",
        ("lovelaceada_1_10_01_tiny.ipynb", numbered(1), NOON),
        ("noetheremmy_LATE_2_11_01_tiny.ipynb", numbered(2), NOON),
        ("Niels Abel_3_assignsubmission_file_/01_tiny.ipynb", numbered(3), NOON),
    )
    done = collect(path, folder)
    assert {one.student: one.last.late for one in done.placed} == {
        "lovelaceada": False,
        "noetheremmy": True,
        "niels-abel": True,
    }
    assert stamp(root, "lovelaceada") == "2026-11-01 20:00:00 UTC"
    assert stamp(root, "noetheremmy") == utc(*NOON)


@pytest.mark.parametrize(
    "text",
    [
        "Student,ID,SIS User ID,SIS Login ID,Section\n"
        '    Points Possible,,,,\n"Lovelace, Ada",101,x,al1815,A\n"Student, Test",\n',
        "First name;Surname;ID number;Email address\nAda;Lovelace;al1815;a@b.c\n",
        "\ufeffname\tid\nAda Lovelace\tal1815\n",
        "name,email\nAda Lovelace,al1815@example.org\n",
    ],
)
def test_rosters_of_the_platforms(tmp_path, text):
    path = tmp_path / "roster.csv"
    path.write_text(text, encoding="utf-8")
    found = read_roster(path)
    assert list(found.students) == ["al1815"]
    for who in ("lovelaceada", "Ada Lovelace", "Lovelace, Ada", "al1815"):
        assert found.find([who]).id == "al1815"
    assert found.find(["Lovelace"]) is None


def test_a_roster_is_refused_with_reasons(tmp_path, roster):
    roster.write_text("colour,size\nred,4\n")
    with pytest.raises(CollectError, match="expected a heading with id"):
        read_roster(roster)
    roster.write_text("id,name\nx,Ada Lovelace\nx,Emmy Noether\n")
    with pytest.raises(CollectError, match="the id 'x' is missing or there twice"):
        read_roster(roster)


def test_the_command(root, roster, numbered, tmp_path):
    path = archive(
        tmp_path / "a.zip",
        ("lovelaceada_101_10_01_tiny.ipynb", numbered(1)),
        ("abelniels_9_11_01_tiny.ipynb", numbered(2)),
    )
    words = ["collect", str(path), "--course-root", str(root), "--roster", str(roster)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    for expected in (
        "abelniels: new, not known before",
        "01_tiny: 3 missing: eg1811, en1882, sd1781",
        "2 students collected.",
    ):
        assert expected in done.output
    shutil.rmtree(root / "submitted")
    done = CliRunner().invoke(app, ["collect", "nowhere", "--course-root", str(root)])
    assert done.exit_code == 2
    assert "Nothing was collected." in done.output
    assert "unknown unit" in CliRunner().invoke(app, [*words, "--unit", "x"]).output


def test_two_runs_at_once_wait_for_each_other(folder, numbered, tmp_path, monkeypatch):
    held = []
    lock = collecting.FileLock

    def noted(path):
        held.append(path)
        return lock(path)

    monkeypatch.setattr(collecting, "FileLock", noted)
    path = archive(tmp_path / "a.zip", ("Ada Lovelace/01_tiny.ipynb", numbered(1)))
    collect(path, ClassFolder(folder.root))
    assert held == [folder.root / "grading" / "collect.lock"]

"""`course collect` finds student and unit, keeps all files, and loses nothing."""

import json
import os
import shutil

import pytest
from collected import beside, place, problems, stamp, taken, utc
from lms_archives import NOON, UNIT, archive, as_colab_saves, zipped
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.classroom.folder import ClassFolder
from autograder.collect import CollectError, collect, collecting
from autograder.commands.app import app


@pytest.mark.integration
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
    }
    assert done.created == []
    assert done.missing == {UNIT: ["sd1781"]}
    assert beside(done) == ["galoisevariste_103_953_text.html"]
    why = "is of abelnielshenrik, who is not in the roster"
    assert problems(done) == [("abelnielshenrik_555_952_01_tiny.ipynb", why)]
    by_student = {one.student: one for one in done.placed}
    assert (by_student["al1815"].kept, by_student["en1882"].late) == (2, True)
    kept = list((root / "collected" / "al1815" / UNIT).glob("*.ipynb"))
    assert sorted(p.read_bytes() for p in kept) == sorted(
        [as_colab_saves(numbered(1)), numbered(2)]
    )
    with Gradebook(folder.db_url) as gradebook:
        found = {one.id: (one.last_name, one.lms_user_id) for one in gradebook.students}
    assert found["sd1781"] == ("Poisson", "104")
    assert "abelnielshenrik" not in found


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


@pytest.mark.parametrize("own", ["submitted", "submitted/al1815", "collected"])
def test_the_class_own_folders_are_not_collected_again(folder, root, numbered, own):
    path = place(root, "al1815")
    path.parent.mkdir(parents=True)
    path.write_bytes(numbered(1))
    before = {one: one.read_bytes() for one in path.parent.iterdir()}
    (root / own).mkdir(parents=True, exist_ok=True)
    with pytest.raises(CollectError, match="is where collected work lies"):
        collect(root / own, folder)
    assert {one: one.read_bytes() for one in path.parent.iterdir()} == before


def test_an_empty_folder_brings_a_roster_alone(folder, roster, tmp_path):
    (tmp_path / "empty").mkdir()
    assert collect(tmp_path / "empty", folder, roster=roster).placed == []
    with Gradebook(folder.db_url) as gradebook:
        names = {one.id: one.last_name for one in gradebook.students}
    assert names["sd1781"] == "Poisson" and None not in names.values()


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
    (refused,) = problems(done)
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
    assert {why.partition(",")[0] for _, why in problems(done)} == {
        "is of one of several students with this name (accents do not count)"
    }
    assert len(list((root / "collected" / "_not-sorted").iterdir())) == 2


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
    assert {one.student: one.late for one in done.placed} == {
        "lovelaceada": False,
        "noetheremmy": True,
        "niels-abel": True,
    }
    assert stamp(root, "lovelaceada") == "2026-11-01 20:00:00 UTC"
    assert stamp(root, "noetheremmy") == "2026-11-01 20:00:01 UTC"


def test_the_command(root, roster, numbered, tmp_path):
    path = archive(
        tmp_path / "a.zip",
        ("lovelaceada_101_10_01_tiny.ipynb", numbered(1)),
        ("abelniels_9_11_01_tiny.ipynb", numbered(2)),
    )
    words = ["collect", str(path), "--course-root", str(root), "--roster", str(roster)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1, done.output
    for expected in (
        "01_tiny: 1 student, 1 new file",
        "01_tiny: 3 missing: eg1811 (Évariste Galois), en1882 (Emmy Noether), sd1781",
        "2 files: 1 taken, 1 put aside.",
        "1 student collected.",
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

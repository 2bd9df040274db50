"""The time of a download is no time of handing in."""

import os
from dataclasses import replace

import pytest
from collected import stamp, utc
from lms_archives import NOON, UNIT, archive
from nbgrader.api import Gradebook

from autograder.collect import CollectError, collect
from autograder.collect.times import read_times
from autograder.course import LateRule

DUE = "2026-11-01 20:00:00 UTC"
WEEK_LATER = (2026, 11, 8, 12, 0, 0)
LATE = "noetheremmy_LATE_2_11_01_tiny.ipynb"


@pytest.fixture
def due(folder):
    folder.register(UNIT)
    with Gradebook(folder.db_url) as gradebook:
        gradebook.update_or_create_assignment(UNIT, duedate=DUE)


@pytest.fixture
def canvas(numbered, tmp_path):
    return archive(tmp_path / "a.zip", (LATE, numbered(1), WEEK_LATER))


def words_of(done) -> str:
    return " ".join(f"{source} {words}" for source, words in done.warnings)


def test_late_on_canvas_is_a_second_and_is_warned_of(folder, root, due, canvas):
    done = collect(canvas, folder)
    assert stamp(root, "noetheremmy") == "2026-11-01 20:00:01 UTC"
    assert "1 LATE: Canvas does not say since when" in words_of(done)
    assert "--times" in words_of(done)


def test_a_grace_that_forgives_the_one_second_is_warned_of(folder, due, canvas):
    assert "minutes_of_grace" not in words_of(collect(canvas, folder))
    late = LateRule(percent_once=20, minutes_of_grace=15)
    folder.course = replace(folder.course, late=late)
    assert "one second late, which minutes_of_grace = 15 forgives" in words_of(
        collect(canvas, folder)
    )
    assert late.share(1) == 0


def test_late_without_a_due_date_costs_nothing_later(folder, root, canvas):
    done = collect(canvas, folder)
    stamps = list((root / "submitted").rglob("timestamp.txt"))
    assert stamps == []
    assert "no due date is set" in words_of(done)
    assert done.placed[0].late


@pytest.mark.parametrize(
    "rows",
    [
        "id,time\nnoetheremmy,2026-11-02 07:30 +0000\n",
        "name,unit,submitted_at\nEmmy Noether,01,2026-11-02T07:30:00Z\n"
        "Emmy Noether,tiny,-\n",
        "lms_user_id,last_name,time\n2,Noether,2026-11-02 08:30 +0100\n",
    ],
)
def test_a_table_tells_the_times(folder, root, due, canvas, tmp_path, rows):
    times = tmp_path / "times.csv"
    times.write_text(rows)
    collect(canvas, folder)
    done = collect(canvas, folder, times=times)
    assert stamp(root, "noetheremmy") == "2026-11-02 07:30:00 UTC"
    assert done.warnings == []
    assert collect(canvas, folder).placed[0].when == "2026-11-02 07:30:00"


def test_a_table_may_say_that_it_was_in_time(folder, root, due, canvas, tmp_path):
    times = tmp_path / "times.csv"
    times.write_text("id,time\nnoetheremmy,2026-11-01 19:59 +0000\nnobody,2026-01-01\n")
    done = collect(canvas, folder, times=times)
    assert not done.placed[0].late
    assert "1 row of the times fits no submission that was collected: nobody" in (
        words_of(done)
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,time\nx,02/11/2026 18:30\n", "row 2: cannot read the time '02/11/2026"),
        ("id,time\nx,soon\n", "write it as 2026-11-02 18:30"),
        ("id,colour\nx,red\n", "expected a heading with id and time"),
    ],
)
def test_a_time_that_may_be_another_is_refused(folder, tmp_path, text, words):
    path = tmp_path / "times.csv"
    path.write_text(text)
    with pytest.raises(CollectError, match=words):
        read_times(path, folder.course)


def test_a_whole_class_of_one_moment_is_warned_of(
    folder, root, due, numbered, tmp_path
):
    home = tmp_path / "copied"
    home.mkdir()
    for number, who in enumerate(("Ada Lovelace", "Emmy Noether", "Niels Abel")):
        path = home / f"{who} - {UNIT}.ipynb"
        path.write_bytes(numbered(number))
        os.utime(path, (1794000000 + number, 1794000000 + number))
    done = collect(home, folder)
    assert "3 files: all times lie within a minute, perhaps those of the download" in (
        words_of(done)
    )


def test_an_archive_without_times_is_not_late(folder, root, due, numbered, tmp_path):
    path = archive(
        tmp_path / "a.zip",
        (f"Ada Lovelace - {UNIT}.ipynb", numbered(1), (1980, 1, 1, 0, 0, 0)),
        (f"Emmy Noether - {UNIT}.ipynb", numbered(2), NOON),
    )
    done = collect(path, folder)
    assert stamp(root, "ada-lovelace") == DUE
    assert stamp(root, "emmy-noether") == utc(*NOON)
    assert "1 notebook: nothing tells when" in words_of(done)


@pytest.mark.parametrize(
    ("names", "when", "handed_in"),
    [
        (("7", "8"), NOON, utc(*NOON)),  # Moodle tells the time of each file
        (("LATE_7_71", "8_81"), WEEK_LATER, "2026-11-01 20:00:01 UTC"),
        (("7_71", "8_81"), WEEK_LATER, DUE),  # on Canvas, not LATE is in time
    ],
)
def test_what_was_put_aside_keeps_its_time(
    folder, root, due, roster, numbered, tmp_path, names, when, handed_in
):
    is_moodle = "_" not in names[0]
    form = "Ada Twin_{}_assignsubmission_file_/" if is_moodle else "twinada_{}_"
    files = [(f"{form.format(name)}01_tiny.ipynb", numbered(n), when)
             for n, name in enumerate(names)]  # fmt: skip
    collect(archive(tmp_path / "a.zip", *files), folder, roster=roster)
    aside = root / "collected" / "_not-sorted"
    own = next(p for p in aside.iterdir() if p.read_bytes() == numbered(0))
    assert own.name.count(".ipynb") == 1
    renamed = tmp_path / "by-hand" / f"al1815 - {own.name}"
    renamed.parent.mkdir()
    own.rename(renamed)
    done = collect(renamed.parent, folder)
    assert stamp(root, "al1815") == handed_in
    assert done.placed[0].late == (handed_in > DUE)

"""The time of a download is not the time of a submission."""

import os
from dataclasses import replace
from datetime import date, time

import pytest
from collected import stamp, utc
from lms_archives import NOON, UNIT, archive
from nbgrader.api import Gradebook

from autograder.collect import CollectError, collect
from autograder.collect.times import UncertainTime, parse_time, read_times
from autograder.late_rule import late_rule_of

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
    late = {"percent_once": 20, "minutes_of_grace": 15}
    folder.course = replace(folder.course, late=late)
    assert "one second late, which minutes_of_grace = 15 forgives" in words_of(
        collect(canvas, folder)
    )
    assert late_rule_of(folder.course).share(1) == 0


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
    times.write_text(
        "id,time\nnoetheremmy,2026-11-01 19:59 +0000\nnobody,2026-01-01 12:00\n"
    )
    done = collect(canvas, folder, times=times)
    assert not done.placed[0].late
    assert "1 row of the times fits no submission that was collected: nobody" in (
        words_of(done)
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("id,time\nx,02/11/2026 18:30\n", "row 2: cannot read the time '02/11/2026"),
        ("id,time\nx,soon\n", "Write it as 2026-11-02 18:30"),
        ("id,colour\nx,red\n", "expected a heading with id and time"),
        ("id,time\nx,2026-11-02 18:30\ny,18:30\n", "row 3: .* it has no date"),
    ],
)
def test_a_time_that_may_be_another_is_refused(folder, tmp_path, text, words):
    path = tmp_path / "times.csv"
    path.write_text(text)
    with pytest.raises(CollectError, match=words):
        read_times(path, folder.course)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("02-11-2026 18:30", "may be the day or the month"),
        ("2.11.26 18:30", "may be the day or the month"),
        ("11 02 2026 18:30", "may be the day or the month"),
        ("2026-11-02 18:30 PST", "PST is the name of several zones"),
        ("2026-11-02 18:30 CEST", "CEST is the name of several zones"),
        ("Nov 2, 2026 6:30 PM ET", "ET is the name of several zones"),
        ("2026-11-02 18:30 UTC+2", "UTC.2 is the name of several zones"),
        ("2026-11-02 18:30 Mars/Base", "no zone Mars/Base"),
        ("18:30", "it has no date"),
        ("6:30 pm", "it has no date"),
        ("2026-11-02", "it has no time of day"),
        ("2 November 2026", "it has no time of day"),
        ("2062-11-02 18:30", "the year 2062"),
        ("0026-11-02 18:30", "the year 26"),
        ("2026-13-02 18:30", "no such month"),
        ("2026-02-30 18:30", "no such month"),
        ("2026-11-02 18:30 pm", "no such month, day or hour"),
        ("2026-11-02 18:30 +25:00", "no zone"),
        ("Monday, 3 November 2026, 12:00 PM", "is a Tuesday"),
        ("2026-10-25 02:30 Europe/Berlin", "the clocks were changed"),
        ("2026-03-29 02:30 Europe/Berlin", "the clocks were changed"),
        ("46327.77", "no time of day"),
    ],
)
def test_a_time_that_is_not_certain_is_refused(text, why):
    with pytest.raises(UncertainTime, match=why):
        parse_time(text)


@pytest.mark.parametrize(
    ("text", "when"),
    [
        ("2026-11-02T07:30:00Z", (7, 30)),
        ("2026-11-02T07:30:00.123456000 UTC", (7, 30)),
        ("2026/11/02 08:30 +01:00", (7, 30)),
        ("2026.11.2, 08:30:00 +0100", (7, 30)),
        ("Monday, 2 November 2026, 7:30 AM GMT", (7, 30)),
        ("Nov 2, 2026 at 12:05 AM UTC", (0, 5)),
        ("2. November 2026 12:05 pm Z", (12, 5)),
        ("2026-11-02 01:30 America/Chicago", (7, 30)),
    ],
)
def test_a_time_that_is_certain_is_read(text, when):
    found = parse_time(text)
    assert (found.date(), found.time()) == (date(2026, 11, 2), time(*when))


def test_a_row_of_the_times_is_one_students(folder, root, due, numbered, tmp_path):
    """An address of two students, or another student's id, gives nobody a time."""
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "id,first_name,last_name,email\na1,Ada,Lovelace,team@example.org\n"
        "b1,Emmy,Noether,team@example.org\nc1,Niels,Abel,a1\n"
    )
    times = tmp_path / "times.csv"
    times.write_text(
        "id,email,time\n,team@example.org,2026-11-02 18:30 Z\n"
        "A1,b1,2026-11-02 19:30 Z\n"
    )
    people = ("Ada Lovelace", "Emmy Noether", "Niels Abel")
    files = [(f"{who} - {UNIT}.ipynb", numbered(n)) for n, who in enumerate(people)]
    path = archive(tmp_path / "a.zip", *files)
    done = collect(path, folder, roster=roster, times=times)
    assert stamp(root, "a1") == "2026-11-02 19:30:00 UTC"
    assert stamp(root, "b1") == stamp(root, "c1") == utc(*NOON)
    assert "1 row of the times fits no submission" in words_of(done)


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
    assert "1 notebook: no time is known" in words_of(done)


@pytest.mark.parametrize(
    ("names", "when", "handed_in"),
    [
        (("7", "8"), NOON, utc(*NOON)),  # Moodle records the time of each file
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
    own.rename(aside / f"al1815 - {own.name}")
    done = collect(aside, folder)
    assert stamp(root, "al1815") == handed_in
    assert done.placed[0].late == (handed_in > DUE)

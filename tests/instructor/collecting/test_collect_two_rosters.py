"""After a second roster, each student is still there once and has all files."""

from datetime import timedelta

import pytest
from collected import problems, stamp, taken
from lms_archives import UNIT, archive
from nbgrader.api import Gradebook
from sqlalchemy.exc import SAWarning
from typer.testing import CliRunner

from autograder.classroom.folder import ClassFolder
from autograder.collect import collect
from autograder.collect.roster import read_roster
from autograder.collect.submission_store import ROSTER, STORE
from autograder.commands.app import app
from autograder.late_rule import extend

OURS = """id,first_name,last_name,email,team,github
st1,Anna,Müller,am1@example.org,Team 1,anna
st2,Anna,Müller,am2@example.org,,
st3,민준,김,kim@example.org,,
st4,Ada,Lovelace,,,
"""
WORKSHEET = """Identifier,Full name,Email address,Status,Grade
Participant 71,Anna Müller,am1@example.org,Submitted,
Participant 72,Anna Müller,AM2@example.org,Submitted,
Participant 73,민준 김,kim@example.org,Submitted,
Participant 74,Ada Lovelace,ada@example.org,Submitted,
Participant 75,Niels Abel,na@example.org,Submitted,
"""
CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section
"Müller, Anna",101,,am1@example.org,A
"김, 민준",103,,kim,A
"Lovelace, Ada",104,,ada,A
"""
MOODLE = "_assignsubmission_file_/01_tiny.ipynb"
WHO = {71: "Anna Müller", 72: "Anna Müller", 73: "민준 김", 74: "Ada Lovelace"}


@pytest.fixture
def handed_in(numbered, tmp_path):
    files = ((f"{name}_{n}{MOODLE}", numbered(n)) for n, name in WHO.items())
    return archive(tmp_path / "moodle.zip", *files)


@pytest.fixture
def roster_of(tmp_path):
    def write(text: str):
        path = tmp_path / "given.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def students(root) -> set[str]:
    with Gradebook(ClassFolder(root).db_url) as gradebook:
        return {one.id for one in gradebook.students}


def test_moodles_worksheet_after_a_roster_keeps_the_rosters_ids(
    root, handed_in, numbered, roster_of
):
    first = collect(handed_in, ClassFolder(root), roster=roster_of(OURS))
    assert len(problems(first)) == 2  # the two namesakes
    done = collect(handed_in, ClassFolder(root), roster=roster_of(WORKSHEET))
    assert problems(done) == []
    assert done.warnings == []
    assert done.moved == {}
    ids = dict(zip(WHO, ("st1", "st2", "st3", "st4"), strict=True))
    assert taken(root) == {who: numbered(n) for n, who in ids.items()}
    assert students(root) == {*ids.values(), "na"}
    known = read_roster(root / STORE / ROSTER).students
    assert (known["st1"].team, known["st1"].github) == ("Team 1", "anna")
    assert known["st4"].email == "ada@example.org"
    again = collect(handed_in, ClassFolder(root))
    assert problems(again) == []


def test_a_roster_after_moodles_worksheet_gives_its_ids(
    root, handed_in, numbered, roster_of
):
    collect(handed_in, ClassFolder(root), roster=roster_of(WORKSHEET))
    assert set(taken(root)) == {"am1", "AM2", "kim", "ada"}
    with Gradebook(ClassFolder(root).db_url) as gradebook:
        gradebook.update_or_create_assignment(UNIT, duedate="2030-01-01")
    with pytest.warns(SAWarning):  # nbgrader's way of making a submission
        extend(ClassFolder(root).db_url, UNIT, "kim", 3)
    ours = OURS.replace("Lovelace,,", "Lovelace,ada@example.org,")
    done = collect(handed_in, ClassFolder(root), roster=roster_of(ours))
    assert done.moved == {"am1": "st1", "AM2": "st2", "kim": "st3", "ada": "st4"}
    assert problems(done) == []  # the worksheet's numbers are still known
    assert set(taken(root)) == {"st1", "st2", "st3", "st4"}
    assert students(root) == {"st1", "st2", "st3", "st4", "na"}
    with Gradebook(ClassFolder(root).db_url) as gradebook:
        extended = gradebook.find_submission(UNIT, "st3")
        assert extended.extension == timedelta(days=3)


def test_who_is_graded_keeps_the_id(root, handed_in, numbered, roster_of):
    folder = ClassFolder(root)
    collect(handed_in, folder, roster=roster_of(OURS))
    folder.autograded("st3", UNIT).mkdir(parents=True)
    text = OURS.replace("st3,", "x3,").replace("st4,", "x4,")
    done = collect(handed_in, ClassFolder(root), roster=roster_of(text))
    words = "graded under other ids than the roster's, and keep them: st3 is x3 there"
    assert ("1 student", words) in done.warnings
    assert set(taken(root)) == {"st3", "st4", "x4"}  # Ada has no address
    assert "st3" in read_roster(root / STORE / ROSTER).students


def test_canvas_logins_are_the_same_people(root, handed_in, numbered, roster_of):
    collect(handed_in, ClassFolder(root), roster=roster_of(OURS))
    done = collect(handed_in, ClassFolder(root), roster=roster_of(CANVAS))
    assert done.moved == {}
    assert students(root) == {"st1", "st2", "st3", "st4"}
    known = read_roster(root / STORE / ROSTER).students
    numbers = {student.id: student.lms for student in known.values()}
    assert numbers == {"st1": "101", "st3": "103", "st4": "104"}


def test_what_lay_in_its_place_moves_too(root, numbered, handed_in, roster_of):
    collect(handed_in, ClassFolder(root), roster=roster_of(OURS))
    other = root / "submitted" / "st3" / UNIT / f"{UNIT}.ipynb"
    other.write_bytes(numbered(9))
    text = OURS.replace("st3,", "x3,")
    done = collect(handed_in, ClassFolder(root), roster=roster_of(text))
    assert done.moved == {"st3": "x3"}
    kept = [one.read_bytes() for one in (root / STORE / "x3" / UNIT).glob("*.ipynb")]
    assert sorted(kept) == sorted([numbered(9), numbered(73)])


def test_a_first_name_that_is_a_login_stays_a_name(root, numbered, roster_of, tmp_path):
    text = "id,first_name,last_name,github\nkim,Kim,Lee,\nan1,Anna,Moll,anna\n"
    files = [f"Kim Lee_1{MOODLE}", f"Anna Moll_2{MOODLE}"]
    entries = ((name, numbered(n)) for n, name in enumerate(files))
    path = archive(tmp_path / "a.zip", *entries)
    done = collect(path, ClassFolder(root), roster=roster_of(text))
    assert problems(done) == []
    assert taken(root) == {"kim": numbered(0), "an1": numbered(1)}


def test_the_worksheet_tells_when_namesakes_handed_in(
    root, handed_in, roster_of, tmp_path
):
    sheet = WORKSHEET.replace("Grade", "Last modified (submission)")
    for n, day in ((71, 3), (72, 4), (73, 5), (74, 6)):
        row = next(line for line in sheet.splitlines() if f"Participant {n}," in line)
        sheet = sheet.replace(row, f'{row}"{day} November 2026, 12:00 PM"')
    times = tmp_path / "times.csv"
    times.write_text(sheet, encoding="utf-8")
    collect(handed_in, ClassFolder(root), roster=roster_of(OURS))
    collect(handed_in, ClassFolder(root), roster=roster_of(WORKSHEET), times=times)
    days = {one: stamp(root, one)[:10] for one in ("st1", "st2", "st3", "st4")}
    assert days == {f"st{n}": f"2026-11-0{n + 2}" for n in range(1, 5)}


def test_a_changed_login_is_reported_and_the_id_stays(
    root, numbered, tmp_path, roster_of
):
    files = (f"mueller_101_9{n}_01_tiny.ipynb" for n in (1,))
    handed_in = archive(tmp_path / "canvas.zip", *((f, numbered(101)) for f in files))
    collect(handed_in, ClassFolder(root), roster=roster_of(CANVAS))
    changed = CANVAS.replace("am1@example.org", "mueller2")
    done = collect(handed_in, ClassFolder(root), roster=roster_of(changed))
    ((who, words),) = done.warnings
    assert who == "1 student"
    assert "am1@example.org is mueller2 there. The ids here stay." in words
    assert students(root) == {"am1@example.org", "kim", "ada"}


def test_missing_students_have_names(root, numbered, tmp_path, roster_of):
    handed_in = archive(tmp_path / "m.zip", (f"Anna Müller_71{MOODLE}", numbered(71)))
    roster = roster_of(CANVAS)
    words = ["collect", str(handed_in), "--roster", str(roster)]
    done = CliRunner().invoke(app, [*words, "--course-root", str(root)])
    assert "01_tiny: 2 missing: ada (Ada Lovelace), kim (김민준)" in done.output
    page = next((root / STORE / "_accounts").glob("*.html")).read_text("utf-8")
    assert "<li>ada (Ada Lovelace)</li>" in page

"""Ids come before names, a roster is binding, and teams and hidden names are read."""

import pytest
from collected import problems, taken
from lms_archives import UNIT, archive
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.classroom.folder import ClassFolder
from autograder.collect import CollectError, collect
from autograder.collect.name_cleaning import folder_name, letters
from autograder.collect.roster import read_roster
from autograder.commands.app import app
from autograder.commands.collect import last_lines_of

NAMESAKES = """id,first_name,last_name,email,team
20231234,민준,김,,Team 1
20231235,민준,김,,Team 1
007,Student,Seven,,Team 2
k1,Kim,Lee,,Team 2
k2,Lee,Kim,,
am1,Anna,Müller,am1@example.org,
am2,Anna,Müller,am2@example.org,
"""
MOODLE = "_assignsubmission_file_/01_tiny.ipynb"


@pytest.fixture
def namesakes(tmp_path):
    path = tmp_path / "roster.csv"
    path.write_text(NAMESAKES, encoding="utf-8")
    return path


def test_an_id_comes_before_a_name(folder, root, namesakes, numbered, tmp_path):
    names = {
        "20231234 김민준 - 01_tiny.ipynb": "20231234",
        "20231235 김민준 - 01_tiny.ipynb": "20231235",
        "007/01_tiny.ipynb": "007",
        "01_tiny Anna Müller am1@example.org.ipynb": "am1",
    }
    entries = ((name, numbered(n)) for n, name in enumerate(names))
    done = collect(archive(tmp_path / "a.zip", *entries), folder, roster=namesakes)
    assert problems(done) == []
    assert taken(root) == {who: numbered(n) for n, who in enumerate(names.values())}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("김민준 - 01_tiny.ipynb", "is of 20231234 or 20231235, who have one name"),
        (f"Anna Müller_7{MOODLE}", "is of am1 or am2, who have one name"),
        ("20231234 20231235 - 01_tiny.ipynb",
         "names several students: 20231234, 20231235"),
        ("20231234 Kim Lee - 01_tiny.ipynb", "has the id 20231234, but the name of k1"),
        ("20239999 김민준 - 01_tiny.ipynb",
         "is of 20239999 김민준, who is not in the roster"),
    ],
)  # fmt: skip
def test_whom_a_name_does_not_tell_is_put_aside(
    folder, root, namesakes, numbered, tmp_path, name, why
):
    path = archive(tmp_path / "a.zip", (name, numbered(1)))
    done = collect(path, folder, roster=namesakes)
    assert problems(done) == [(name, why)]
    assert taken(root) == {}
    kept = (root / "collected" / "_not-sorted").iterdir()
    assert [path.read_bytes() for path in kept] == [numbered(1)]


def test_the_order_of_a_platform_tells_kim_lee_from_lee_kim(namesakes):
    roster = read_roster(namesakes)
    for person, platform, who in (
        ("Kim Lee", "moodle", "k1"),
        ("Lee Kim", "files", "k2"),
        ("leekim", "canvas", "k1"),
        ("kimlee", "canvas", "k2"),
    ):
        assert [one.id for one in roster.by_name([person], platform)] == [who]


def test_without_a_roster_no_digit_is_dropped_and_namesakes_wait(
    folder, root, numbered, tmp_path
):
    names = {
        "20231234 김민준 - 01_tiny.ipynb": "20231234-김민준",
        "20231235 김민준 - 01_tiny.ipynb": "20231235-김민준",
        "Student 007 - 01_tiny.ipynb": "student-007",
        "Student 008 - 01_tiny.ipynb": "student-008",
        "20231236/01_tiny.ipynb": "20231236",
        "मीना - 01_tiny.ipynb": "मीना",
        "मान - 01_tiny.ipynb": "मान",
    }
    twins = (
        "伟 王 - 01_tiny.ipynb",
        "伟 王 - 01_tiny (1).ipynb",
        "伟 王/01_tiny.ipynb",
    )
    everything = [*names, *twins]
    entries = ((name, numbered(n)) for n, name in enumerate(everything))
    done = collect(archive(tmp_path / "a.zip", *entries), folder)
    assert taken(root) == {who: numbered(n) for n, who in enumerate(names.values())}
    assert [source for source, _ in problems(done)] == list(twins)


def test_two_of_canvas_with_one_name_are_not_one_of_the_roster(
    folder, root, numbered, tmp_path
):
    roster = tmp_path / "roster.csv"
    roster.write_text("id,first_name,last_name\nam1,Anna,Müller\n")
    names = [f"mulleranna_{n}_1{n}_01_tiny.ipynb" for n in (1, 2)]
    entries = ((name, numbered(n)) for n, name in enumerate(names))
    done = collect(archive(tmp_path / "a.zip", *entries), folder, roster=roster)
    assert taken(root) == {}
    assert [source for source, _ in problems(done)] == names


def test_moodles_worksheet_tells_namesakes_apart(folder, root, numbered, tmp_path):
    worksheet = tmp_path / "grades.csv"
    worksheet.write_text(
        "Identifier,Full name,ID number,Email address\n"
        "Participant 71,Anna Müller,am1,\nParticipant 72,Anna Müller,am2,\n"
        "Participant 73,Kim Lee,k1,\n"
    )
    names = [f"Anna Müller_{n}{MOODLE}" for n in (72, 71)]
    names += [f"Anna Müller_{n}{MOODLE}" for n in (73, 74)]  # not hers, and nobody's
    files = [(name, numbered(n)) for n, name in enumerate(names)]
    done = collect(archive(tmp_path / "a.zip", *files), folder, roster=worksheet)
    assert taken(root) == {"am2": numbered(0), "am1": numbered(1)}
    assert [source for source, _ in problems(done)] == names[2:]


def test_what_a_worksheet_identifies_is_no_longer_put_aside(
    folder, root, numbered, tmp_path
):
    """The archive is collected with the participants, and then with the worksheet."""
    students = "Anna,Müller,am1@example.org\nAnna,Müller,am2@example.org\n"
    participants = tmp_path / "participants.csv"
    participants.write_text(f"First name,Last name,Email address\n{students}")
    names = [f"Anna Müller_{n}{MOODLE}" for n in (71, 72)]
    files = [(name, numbered(n)) for n, name in enumerate(names)]
    path = archive(tmp_path / "a.zip", *files)
    done = collect(path, folder, roster=participants)
    assert all("Moodle's grading worksheet" in why for _, why in problems(done))
    assert any("put an id in front" in line for line in last_lines_of(done))
    aside = root / "collected" / "_not-sorted"
    assert len(list(aside.iterdir())) == 2
    worksheet = tmp_path / "worksheet.csv"
    worksheet.write_text(
        "Identifier,Full name,Email address\n"
        "Participant 71,Anna Müller,am1@example.org\n"
        "Participant 72,Anna Müller,am2@example.org\n"
    )
    done = collect(path, folder, roster=worksheet)
    assert taken(root) == {"am1": numbered(0), "am2": numbered(1)}
    assert not list(aside.iterdir())
    assert not any("put an id in front" in line for line in last_lines_of(done))


def test_two_archives_of_moodle_number_students_anew(folder, root, numbered, tmp_path):
    home = tmp_path / "downloads"
    home.mkdir()
    for n in (1, 2):
        path = home / f"{n}.zip"
        archive(
            path, (f"Ada Lovelace_{n}{MOODLE}", numbered(n), (2026, 11, n, 9, 0, 0))
        )
    collect(home, folder)
    assert taken(root) == {"ada-lovelace": numbered(2)}


def test_a_roster_holds_for_the_next_times(folder, root, roster, numbered, tmp_path):
    first = archive(tmp_path / "1.zip", ("Ada Lovelace - 01_tiny.ipynb", numbered(1)))
    collect(first, folder, roster=roster)
    second = archive(tmp_path / "2.zip", ("Niels Abel - 01_tiny.ipynb", numbered(2)))
    done = collect(second, ClassFolder(root))
    assert problems(done) == [
        ("Niels Abel - 01_tiny.ipynb", "is of Niels Abel, who is not in the roster")
    ]
    assert set(taken(root)) == {"al1815"}


CANVAS = (
    ("lovelaceada_101_10_01_tiny.ipynb", 1),
    ("noetheremmy_102_11_01_tiny.ipynb", 2),
    ("abelniels_109_12_01_tiny.ipynb", 3),
)


def test_a_roster_that_comes_later_names_who_is_there(root, roster, numbered, tmp_path):
    path = archive(tmp_path / "a.zip", *((name, numbered(n)) for name, n in CANVAS))
    collect(path, ClassFolder(root))
    words = ["collect", str(path), "--course-root", str(root), "--roster", str(roster)]
    done = CliRunner().invoke(app, words)
    assert "2 got the roster's ids: lovelaceada is al1815, noetheremmy is en1882" in (
        " ".join(done.output.split())
    )
    assert taken(root) == {
        "al1815": numbered(1), "en1882": numbered(2), "abelniels": numbered(3),
    }  # fmt: skip
    assert not (root / "collected" / "lovelaceada").exists()
    with Gradebook(ClassFolder(root).db_url) as gradebook:
        known = {one.id for one in gradebook.students}
    assert known == {"al1815", "en1882", "eg1811", "sd1781", "abelniels"}


def test_a_roster_that_comes_after_grading_is_refused(
    folder, root, roster, numbered, tmp_path
):
    path = archive(tmp_path / "a.zip", *((name, numbered(n)) for name, n in CANVAS))
    collect(path, folder)
    folder.autograded("lovelaceada", UNIT).mkdir(parents=True)
    before = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    with pytest.raises(CollectError, match="lovelaceada is al1815"):
        collect(path, ClassFolder(root), roster=roster)
    after = {p: p.read_bytes() for p in root.rglob("*") if p.is_file()}
    assert after == before


def test_blind_marking_of_moodle(folder, root, roster, numbered, tmp_path):
    names = [f"Participant_{n}{MOODLE}" for n in range(1, 4)]
    names += [f"Teilnehmerin_4{MOODLE}", f"Team 2-참가자_5{MOODLE}"]
    entries = ((name, numbered(n)) for n, name in enumerate(names))
    done = collect(archive(tmp_path / "a.zip", *entries), folder, roster=roster)
    assert problems(done) == []
    assert {int(who.rpartition("-")[2]): content for who, content in
            taken(root).items()} == {n + 1: numbered(n) for n in range(5)}  # fmt: skip


def test_anonymous_marking_of_canvas(folder, root, numbered, tmp_path):
    path = archive(
        tmp_path / "a.zip",
        ("LATE_anon_aB3dE_950_01_tiny.ipynb", numbered(1)),
        ("LATE_anon_aB3dE_960_01_tiny-1.ipynb", numbered(2)),
        ("anon_ab3de_970_01_tiny.ipynb", numbered(3)),
    )
    done = collect(path, folder)
    assert taken(root) == {
        "anon_ab3de": numbered(2), "anon_ab3de-ab3de": numbered(3),
    }  # fmt: skip
    by_student = {one.student: one for one in done.placed}
    assert (by_student["anon_ab3de"].kept, by_student["anon_ab3de"].late) == (2, True)
    assert not by_student["anon_ab3de-ab3de"].late


def test_a_team_is_all_of_its_members(folder, root, namesakes, numbered, tmp_path):
    path = archive(
        tmp_path / "a.zip",
        ("Team 1 - 01_tiny.ipynb", numbered(1)),
        (f"Team 2-Kim Lee_7{MOODLE}", numbered(2)),
        (f"Team 2-Student Seven_8{MOODLE}", numbered(2)),
    )
    done = collect(path, folder, roster=namesakes)
    assert taken(root) == {
        "20231234": numbered(1), "20231235": numbered(1),
        "k1": numbered(2), "007": numbered(2),
    }  # fmt: skip
    assert len(done.report.results) == 3
    assert done.report.results[0].students == ("20231234", "20231235")


def test_members_of_a_team_without_a_roster(folder, root, numbered, tmp_path):
    people = ("Team 1-Ada Lovelace", "Gruppe B-Emmy Noether", "Jean-Pierre Dupont")
    names = [f"{who}_{n}{MOODLE}" for n, who in enumerate(people)]
    entries = ((name, numbered(n)) for n, name in enumerate(names))
    collect(archive(tmp_path / "a.zip", *entries), folder)
    assert set(taken(root)) == {"ada-lovelace", "emmy-noether", "jean-pierre-dupont"}


def test_signs_of_vowels_are_part_of_a_name():
    assert letters("Évariste") == "evariste"
    assert letters("मीना") != letters("मान")
    assert letters("たかだ") != letters("たがた")
    assert folder_name("मीना कुमारी") == "मीना-कुमारी"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "is not there"),
        ("id,name\nx,Müller\n".encode("cp1252"), "is not in UTF-8: save it again"),
    ],
)
def test_a_roster_that_cannot_be_read_says_what_to_do(tmp_path, content, words):
    path = tmp_path / "roster.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(CollectError, match=words):
        read_roster(path)


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
    with pytest.raises(CollectError, match="rows 2 and 3: the id 'x' is there twice"):
        read_roster(roster)


def test_an_empty_folder_with_a_roster_names_the_students(root, namesakes, tmp_path):
    (tmp_path / "empty").mkdir()
    command = ["collect", str(tmp_path / "empty"), "--roster", str(namesakes)]
    told = CliRunner().invoke(app, [*command, "--course-root", str(root)])
    assert "7 students of the roster are in the gradebook by name." in told.output
    with Gradebook(ClassFolder(root).db_url) as gradebook:
        assert gradebook.find_student("k1").last_name == "Lee"

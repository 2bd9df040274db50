"""A file counts only for a student whom it names: ids, addresses, logins, names."""

import csv
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from collected import problems, taken
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lms_archives import UNIT, archive

from autograder.classroom.folder import ClassFolder
from autograder.collect import CollectError, collect
from autograder.collect.name_cleaning import letters
from autograder.collect.roster import read_roster

ROSTER = """id,first_name,last_name,email,lms_user_id,team,github
s1001,Ada,Lovelace,shared@example.org,11,,s1002
s1002,Emmy,Noether,shared@example.org,12,,emmy
s1003,Niels,Abel,niels@example.org,13,,
niels@example.org,Leonhard,Euler,,14,,
s1005,Ann,Alee,,15,Ada Lovelace,
s1006,Kim,Lee,,16,Team 7,
s1007,Ida,Rhodes,,17,Team 7,
s1008,Sofia,Kovalevskaya,,99,,
s1009,Maria,Agnesi,,99,,
"""


@pytest.fixture
def sheet(tmp_path):
    """Return a function that writes a roster."""

    def write(text: str) -> Path:
        path = tmp_path / "given.csv"
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("name", "student", "why"),
    [
        # A student's own id takes precedence over another student's login or address.
        (f"s1002 - {UNIT}.ipynb", "s1002", ""),
        (f"S1002 - {UNIT}.ipynb", "s1002", ""),
        (f"niels@example.org - {UNIT}.ipynb", "niels@example.org", ""),
        # An address that two students share identifies neither, but the name may.
        (f"shared@example.org - {UNIT}.ipynb", "", "which s1001 and s1002 share"),
        (f"Ada Lovelace shared@example.org {UNIT}.ipynb", "s1001", ""),
        (f"Emmy Noether shared@example.org {UNIT}.ipynb", "s1002", ""),
        (f"Niels Abel shared@example.org {UNIT}.ipynb", "", "but the name of s1003"),
        # A number that two students share, and a number whose owner has a different
        # name.
        (f"kovalevskayasofia_99_7_{UNIT}.ipynb", "s1008", ""),
        (f"who_99_7_{UNIT}.ipynb", "", "which s1008 and s1009 share"),
        (f"abelniels_12_7_{UNIT}.ipynb", "", "number of s1002, but the name of s1003"),
        (f"noethere_12_7_{UNIT}.ipynb", "s1002", ""),
        # Names with the same letters, and teams with the name of a student.
        (f"Anna Lee - {UNIT}.ipynb", "", "who is not in the roster"),
        (f"Ann Alee - {UNIT}.ipynb", "s1005", ""),
        (f"annalee - {UNIT}.ipynb", "s1005", ""),
        (f"Ada Lovelace - {UNIT}.ipynb", "", "names a team, and s1001"),
        (f"s1001 Ada Lovelace - {UNIT}.ipynb", "s1001", ""),
        # A student's prefix of the name is not the instructor's.
        (f"s1006 - Ida Rhodes - {UNIT}.ipynb", "", "has the id s1006, but the name of"),
        (f"s1006 - s1007 - {UNIT}.ipynb", "", "names several students"),
        (f"s1006 - Team 7 - {UNIT}.ipynb", "s1006", ""),
    ],
)
def test_whom_a_name_means(folder, root, sheet, numbered, tmp_path, name, student, why):
    path = archive(tmp_path / "a.zip", (name, numbered(1)))
    done = collect(path, folder, roster=sheet(ROSTER))
    assert list(taken(root)) == ([student] if student else [])
    assert [why in told for _, told in problems(done)] == ([] if student else [True])


def test_a_repository_of_a_login_that_is_anothers_id(
    folder, root, sheet, numbered, tmp_path
):
    """`s1002` is one student's login on GitHub, and the id of another."""
    for name, number in (("01-tiny-s1002", 1), ("01-tiny-emmy", 2)):
        clone = tmp_path / "clones" / name
        (clone / ".git").mkdir(parents=True)
        (clone / ".git" / "config").write_bytes(b"")
        (clone / f"niels_13_5_{UNIT}.ipynb").write_bytes(numbered(number))
    done = collect(tmp_path / "clones", folder, roster=sheet(ROSTER))
    assert taken(root) == {"s1002": numbered(2)}
    ((source, why),) = problems(done)
    assert source.startswith("01-tiny-s1002/")
    assert why == "is of s1001 or s1002, who have one name"


def test_an_id_in_front_counts_in_the_quarantine_only(
    folder, root, sheet, numbered, tmp_path
):
    flat = tmp_path / "drive"
    flat.mkdir()
    name = f"s1002 - Niels Abel - {UNIT}.ipynb"
    (flat / name).write_bytes(numbered(1))
    done = collect(flat, folder, roster=sheet(ROSTER))
    assert problems(done) == [(name, "has the id s1002, but the name of s1003")]
    quarantine = root / "collected" / "_not-sorted"
    (kept,) = quarantine.iterdir()
    kept.rename(quarantine / f"s1003 - {kept.name}")
    assert problems(collect(quarantine, folder)) == []
    assert taken(root) == {"s1003": numbered(1)}


def test_a_roster_says_which_rows_conflict(folder, sheet, tmp_path):
    (tmp_path / "empty").mkdir()
    done = collect(tmp_path / "empty", folder, roster=sheet(ROSTER))
    told = [words for source, words in done.warnings if source == "given.csv"]
    assert told == [
        "rows 2 and 3 have the same address, 'shared@example.org', so it identifies "
        "nobody",
        "rows 9 and 10 have the same platform's number, '99', so it identifies nobody",
        "the address of row 4 is the id of row 5, 'niels@example.org': it means the "
        "student with this id",
        "the login of row 2 is the id of row 3, 's1002': it means the student with "
        "this id",
    ]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ("al1,A\nx,B\nAL1,C\n", "rows 2 and 4: the ids 'al1' and 'AL1' differ only in"),
        ("straße,A\nSTRASSE,B\n", "rows 2 and 3: the ids"),
        ("ıd1,A\nID1,B\n", "rows 2 and 3: the ids"),
        ("ＡＬ1,A\nal1,B\n", "rows 2 and 3: the ids"),
        ("a b,A\na-b,B\n", "rows 2 and 3: the id 'a-b' is there twice"),
        ("x,A\n\nx,B\n", "rows 2 and 4: the id 'x' is there twice"),
        ("2.02612E+11,A\n", "row 2: the id '2.02612E.11' is a number that a"),
        ('1,A\n"2,02612E+11",B\n', "row 3: the id '2,02612E.11' is a number"),
        ("20261234.0,A\n", "row 2: the id '20261234.0' is a number"),
        ("#REF!,A\n", "row 2: the id '#REF!' is a number"),
        ("########,A\n", "row 2: the id"),
        ("x,A,5,gut\n", "row 2 has 4 cells, but the heading has 2"),
        ('x,"A\ny,B\n', "a quotation mark that is not closed"),
    ],
)
def test_a_roster_that_may_be_read_in_two_ways_is_refused(sheet, rows, words):
    with pytest.raises(CollectError, match=words):
        read_roster(sheet(f"id,name\n{rows}"))


def test_a_workbook_is_called_so(tmp_path):
    path = tmp_path / "roster.xlsx"
    path.write_bytes(b"PK\x03\x04\xff\xfe")
    with pytest.raises(CollectError, match=r"is a workbook \(such as .xlsx\)"):
        read_roster(path)


def test_a_heading_that_is_there_twice_is_refused(sheet):
    with pytest.raises(CollectError, match="has two columns 'Name'"):
        read_roster(sheet("id,Name,Name\nx,Ada,Lovelace\n"))


KIM = ("20261234", "민준", "김", "kim@example.org")
ADA = ("al1815", "Ada", "Lovelace", "ada@example.org")
WHOLE = ("20261234", "", "김민준", "kim@example.org")
HEADINGS = {
    "Matrikelnummer;Nachname;Vorname;E-Mail-Adresse": "{0};{2};{1};{3}",
    "Matrikel-Nr.;Name;Vorname;E-Mail": "{0};{2};{1};{3}",
    "Numéro étudiant;Nom;Prénom;Adresse de courriel": "{0};{2};{1};{3}",
    "Nombre;Apellido(s);Número de ID;Dirección de correo": "{1};{2};{0};{3}",
    "姓名,学号,邮箱": "{1} {2},{0},{3}",
    "姓,名,学号,电子邮件": "{2},{1},{0},{3}",
    "성,이름,학번,이메일 주소": "{2},{1},{0},{3}",
    "氏名\t学籍番号\tメールアドレス": "{1} {2}\t{0}\t{3}",
    "LAST NAME , First_Name,Student-ID,e-mail": "{2},{1},{0},{3}",
    "sep=;\nid;first name;surname;mail": "{0};{1};{2};{3}",
    "id,first_name,last_name,email": '="{0}",{1},{2},\ufeff{3}\u200b',
}


@pytest.mark.parametrize("heading", HEADINGS)
def test_headings_of_other_languages(sheet, heading):
    found = read_roster(sheet(f"{heading}\n{HEADINGS[heading].format(*ADA)}\n"))
    (student,) = found.students.values()
    assert (student.id, student.first, student.last, student.email) == ADA
    assert student.has_own_id == ("Número de ID" not in heading)  # Moodle's
    assert found.warnings == []


@pytest.mark.parametrize("name", ["김민준", "김 민준", "민준 김"])
def test_a_korean_name_has_its_family_name_first(sheet, name):
    found = read_roster(sheet(f"학번,이름,이메일\n20261234,{name},kim@example.org\n"))
    (student,) = found.students.values()
    assert (student.id, student.email) == (KIM[0], KIM[3])
    assert (student.first, student.last) in [KIM[1:3], WHOLE[1:3]]
    for written in ("김민준", "김 민준"):
        assert found.find([written]) == student


def test_columns_that_say_nothing_are_named(folder, sheet, tmp_path):
    (tmp_path / "empty").mkdir()
    path = sheet("Kennziffer;Nachname;Vorname;Sternzeichen\n7;Lovelace;Ada;Schütze\n")
    done = collect(tmp_path / "empty", folder, roster=path)
    words = "these columns were not read: 'Kennziffer', 'Sternzeichen'"
    assert done.warnings == [("given.csv", words)]


def test_turkish_letters(sheet):
    found = read_roster(sheet("id,name\nid7,Işıl Yılmaz\nx,İpek Kaya\n"))
    for who, student in (
        ("IŞIL YILMAZ", "id7"),
        ("işil yilmaz", "id7"),
        ("İPEK KAYA", "x"),
        ("ıpek kaya", "x"),
    ):
        assert found.find([who]).id == student
    assert [one.id for one in found.by_key("ID7")] == ["id7"]
    assert [one.id for one in found.by_key("ıd7")] == ["id7"]


def test_another_case_of_an_id_in_a_new_roster_is_the_same_student(
    folder, root, sheet, numbered, tmp_path
):
    path = archive(tmp_path / "a.zip", (f"al1815 - {UNIT}.ipynb", numbered(1)))
    collect(path, folder, roster=sheet("id,name\nal1815,Ada Lovelace\n"))
    done = collect(
        path, ClassFolder(root), roster=sheet("id,name\nAL1815,Ada Lovelace\n")
    )
    assert (done.moved, done.warnings) == ({}, [])
    assert taken(root) == {"al1815": numbered(1)}


def test_two_of_the_same_letters_without_a_roster(folder, root, numbered, tmp_path):
    for number, who in enumerate(("Anna Lee", "Ann Alee", "ANNA  LEE")):
        name = f"{who} - {UNIT}.ipynb"
        when = (2026, 11, 2, 12, number, 0)
        collect(archive(tmp_path / "a.zip", (name, numbered(number), when)), folder)
    assert taken(root) == {"anna-lee": numbered(2), "ann-alee": numbered(1)}


SCRIPTS = (
    *("ada", "Ada", "ADA", "s1", "S1", "s2", "1002", "kim", "lee", "Kim Lee"),
    *(
        "김민준",
        "김 민준",
        "민준",
        "伟",
        "王伟",
        "Işıl",
        "ISIL",
        "Straße",
        "मीना",
        "मान",
    ),
    *("a.b", "a-b", "a b", "ａ", "s1@x.org", "S1@X.ORG", "s2@x.org", "Éva", "Eva"),
)
TEXTS = st.one_of(
    st.sampled_from(SCRIPTS),
    st.text(st.characters(categories=("L", "Nd")), min_size=1, max_size=5),
)
KEYS = st.one_of(
    st.just(""), st.sampled_from([one for one in SCRIPTS if " " not in one])
)
PEOPLE = st.lists(
    st.fixed_dictionaries(
        {
            "id": TEXTS,
            "first_name": TEXTS,
            "last_name": TEXTS,
            "email": KEYS,
            "github": KEYS,
            "lms_user_id": st.sampled_from(["", "1", "2", "3"]),
        }
    ),
    min_size=1,
    max_size=5,
)
FIELDS = ("id", "first_name", "last_name", "email", "github", "lms_user_id")


def drive(who: dict) -> str:
    return f"{who['first_name']} {who['last_name']} - {UNIT}.ipynb"


def by_id(who: dict) -> str:
    return f"{who['id']} - {UNIT}.ipynb"


def by_address(who: dict) -> str:
    return f"{who['email'] or who['id']}/{UNIT}.ipynb"


def by_login(who: dict) -> str:
    return f"01-tiny-{who['github'] or who['id']}/work.ipynb"


def canvas(who: dict) -> str:
    name = f"{who['last_name']}{who['first_name']}".replace(" ", "").lower()
    return f"{name}_{who['lms_user_id'] or 9}_7_{UNIT}.ipynb"


def moodle(who: dict) -> str:
    name = f"{who['first_name']} {who['last_name']}"
    return f"{name}_5_assignsubmission_file_/{UNIT}.ipynb"


def brightspace(who: dict) -> str:
    name = f"{who['first_name']} {who['last_name']}"
    return f"{who['lms_user_id'] or 9}-4 - {name} - Nov 2, 2026 1015 PM/{UNIT}.ipynb"


NAMINGS = (drive, by_id, by_address, by_login, canvas, moodle, brightspace)


def says(name: str, who: dict) -> bool:
    """Tell whether a file's name contains a key or the name of a student."""
    first, last = who["first_name"], who["last_name"]
    keys = [who[key] for key in ("id", "email", "github")]
    keys += [who["email"].partition("@")[0], first + last, last + first]
    number = who["lms_user_id"]
    in_it = letters(name)
    return any(letters(key) and letters(key) in in_it for key in keys) or bool(
        number and (f"_{number}_7_" in name or name.startswith(f"{number}-4 - "))
    )


@pytest.mark.integration
@pytest.mark.integration
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(PEOPLE, st.sampled_from(NAMINGS), st.randoms(use_true_random=False))
def test_no_file_counts_for_a_student_whom_it_does_not_name(
    tiny_root, numbered, people, naming, random
):
    """A file belongs to its own student or waits in the quarantine.

    The student's own file may count for another student only if it also names that
    student: two students have the same name, or the key is the other's own id.
    """
    with TemporaryDirectory() as place:
        root = Path(place) / "class"
        shutil.copytree(tiny_root, root)
        roster = Path(place) / "roster.csv"
        rows = list(people)
        random.shuffle(rows)
        with roster.open("w", encoding="utf-8", newline="") as file:
            table = csv.DictWriter(file, FIELDS)
            table.writeheader()
            table.writerows(rows)
        names = {naming(who): n for n, who in enumerate(people)}
        files = [(name, numbered(n)) for name, n in names.items()]
        random.shuffle(files)
        path = archive(Path(place) / "a.zip", *files)
        try:
            collect(path, ClassFolder(root), roster=roster)
        except CollectError as error:
            assert "rows" in str(error)  # two rows with one id
            assert taken(root) == {}
            return
        known = read_roster(roster).students
        numbers = {content: name for name, content in files}
        for student, content in taken(root).items():
            whose = next(
                one for one in rows if known[student].row == rows.index(one) + 2
            )
            assert says(numbers[content], whose), (student, numbers[content])

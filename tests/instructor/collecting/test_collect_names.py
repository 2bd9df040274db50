"""`course collect` reads the names of files and folders, and a roster."""

from unicodedata import normalize

import pytest
from collected import stamp, taken, utc
from hypothesis import example, given
from hypothesis.strategies import text
from lms_archives import archive
from typer.testing import CliRunner

from autograder.classroom.folder import ClassFolder
from autograder.collect import CollectError, collect
from autograder.collect.name_cleaning import folder_name
from autograder.collect.platform_names import parse_path
from autograder.collect.roster import read_roster
from autograder.commands.app import app
from autograder.grading.student_names import is_safe_name

SLUGS = ("01_tiny", "04_attention")
NOON = 1_790_000_000


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
        ("김민준 - 04_attention.ipynb의 사본.ipynb", "김민준", None, {}),
        ("김민준/04_attention_ipynb의_사본 (2).ipynb", "김민준", "04_attention",
         {"version": 2}),
        (normalize("NFD", "04_attention.ipynb의 사본의 사본"), None, "04_attention",
         {}),
        ("김사본 - 04_attention.ipynb", "김사본", None, {}),
        ("04_attention (1).ipynb", None, "04_attention", {"version": 1}),
        ("Drive-20261121T201500Z-001.zip/Copy_of_04_attention.ipynb", None,
         "04_attention", {}),
    ],
)  # fmt: skip
def test_names_of_the_platforms(path, people, stem, more):
    named = parse_path(tuple(path.split("/")), SLUGS)
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


def test_who_is_left_when_a_roster_comes_later(folder, roster, numbered, tmp_path):
    came = tmp_path / "came"
    came.mkdir()
    (came / "Maya Lin - 01_tiny.ipynb").write_bytes(numbered(1))
    (came / "Ada Lovelace - 01_tiny.ipynb").write_bytes(numbered(2))
    assert not collect(came, folder).warnings
    words = "not in the roster, but graded as long as they lie there: maya-lin"
    assert ("submitted/, 1 folder:", words) in collect(
        came, folder, roster=roster
    ).warnings


def canvas_then_roster(folder, place, numbered, names, rows):
    """Collect two Canvas files by these names.

    Return the archive and a later roster.
    """
    path = archive(
        place / "a.zip",
        *((f"{who}_{n}_1{n}_01_tiny.ipynb", numbered(n))
          for n, who in enumerate(names, 301)),
    )  # fmt: skip
    collect(path, folder)
    roster = place / "roster.csv"
    roster.write_text(rows)
    return path, roster


def test_a_roster_that_comes_later_knows_canvas_order_of_names(
    folder, root, numbered, tmp_path
):
    """Kim Lee is `leekim` there, and Lee Kim is `kimlee`."""
    rows = "id,first_name,last_name\nk1,Kim,Lee\nk2,Lee,Kim\n"
    names = "leekim", "kimlee"
    path, roster = canvas_then_roster(folder, tmp_path, numbered, names, rows)
    done = collect(path, ClassFolder(root), roster=roster)
    assert done.moved == {"leekim": "k1", "kimlee": "k2"}
    assert taken(root) == {"k1": numbered(301), "k2": numbered(302)}
    assert [one.kept for one in done.placed] == [1, 1]


def test_a_roster_that_comes_later_does_not_choose_between_namesakes(
    folder, root, numbered, tmp_path
):
    """The roster has one of two namesakes. Only a number tells their files apart."""
    rows = "id,first_name,last_name\nam1,Anna,Müller\n"
    names = "mulleranna", "mulleranna"
    path, roster = canvas_then_roster(folder, tmp_path, numbered, names, rows)
    assert collect(path, ClassFolder(root), roster=roster).moved == {}
    assert "am1" not in taken(root)
    roster.write_text("id,first_name,last_name,lms_user_id\nam1,Anna,Müller,302\n")
    done = collect(path, ClassFolder(root), roster=roster)
    assert done.moved == {"mulleranna-302": "am1"}
    assert taken(root)["am1"] == numbered(302)


def test_only_a_pdf_without_a_roster(root, numbered, tmp_path):
    """The owner is unknown, but the report says that a human must look at the file."""
    came = tmp_path / "came"
    came.mkdir()
    (came / "Ada Lovelace - 01_tiny.ipynb").write_bytes(numbered(1))
    (came / "Ada Lovelace - 01_tiny.pdf").write_bytes(b"%PDF")
    arguments = ["collect", str(came), "--course-root", str(root)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    (came / "Maya Lin - 01_tiny.pdf").write_bytes(b"%PDF")
    ran = CliRunner().invoke(app, arguments)
    assert (ran.exit_code, "Maya Lin" in ran.output) == (1, True)


def test_lfs_other_unit_and_own_folders(folder, root, numbered, tmp_path):
    came = tmp_path / "came"
    came.mkdir()
    note = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    (came / "Ann - 01_tiny.ipynb").write_bytes(note)
    (came / "Bob - 01_tiny.ipynb").write_bytes(numbered(1))
    done = collect(came, folder)
    assert [one.why for one in done.report.problems()] == [
        "is Git LFS's note about a notebook: fetch it with `git lfs pull`"
    ]
    with pytest.raises(CollectError, match="holds the class's own folders"):
        collect(root, folder)


def test_each_folder_has_an_account_of_its_own(folder, numbered, tmp_path):
    """If two downloads have the same name, the second one gets its own page."""
    pages = set()
    for week, who in enumerate(("Ann", "Bob", "Ann")):
        came = tmp_path / f"week{week % 2}" / "submissions"
        came.mkdir(parents=True, exist_ok=True)
        (came / f"{who} - 01_tiny.ipynb").write_bytes(numbered(1))
        pages.add(collect(came, folder).report.page)
    assert sorted(page.name for page in pages) == [
        "submissions-2.html",
        "submissions.html",
    ]
    assert all("Ann" in p.read_text() or "Bob" in p.read_text() for p in pages)


BRIGHTSPACE = "{}-4711 - {} - {}"
FIRST, SECOND = "Nov 2, 2026 1015 PM", "Nov 2, 2026 1130 PM"


@pytest.mark.parametrize("with_roster", [False, True])
def test_brightspace(folder, root, roster, numbered, tmp_path, with_roster):
    """Each attempt has its own folder, and two attempts belong to one student."""
    ada = BRIGHTSPACE.format(9001, "Ada Lovelace", FIRST)
    again = BRIGHTSPACE.format(9001, "Ada Lovelace", SECOND)
    emmy = BRIGHTSPACE.format(9002, "N0042 - Emmy Noether", FIRST)
    path = archive(
        tmp_path / "a.zip",
        (f"{again}/04.ipynb", numbered(2), (2026, 11, 20, 8, 0, 0)),
        (f"{ada}/04.ipynb", numbered(1), (2026, 11, 20, 8, 0, 2)),
        (f"{emmy} - 04.ipynb", numbered(3)),
        ("index.html", b"<p>"),
    )
    done = collect(path, folder, roster=roster if with_roster else None)
    names = ("al1815", "en1882") if with_roster else ("ada-lovelace", "emmy-noether")
    assert taken(root) == dict(zip(names, (numbered(2), numbered(3)), strict=True))
    assert done.report.problems() == []
    assert stamp(root, names[0]) == utc(2026, 11, 2, 23, 30, 0)


LIST = """---
submission_11:
  :submitters:
  - :name: Ada Lovelace
    :sid: al1815
    :email: ada@example.org
  :created_at: 2026-11-01 10:00:00.123456000 Z
  :results:
    :output: "submission_12:\\n  :submitters:\\n  - :name: Ada Lovelace"
submission_12:
  :submitters:
  - :name: Emmy Noether
    :sid: en1882
    :email: noether@example.org
  - :name: Évariste Galois
    :sid: eg1811
    :email: galois@example.org
  :created_at: 2026-11-01 11:00:00.5 Z
submission_13:
  :submitters:
  - :name: Ada Lovelace
    :sid: sd1781
    :email: ''
  :created_at: 2026-11-01 11:00:00.5 Z
"""


@pytest.mark.parametrize("home", ["", "assignment_5_export/"])
def test_gradescope(folder, root, roster, numbered, tmp_path, home):
    """The list names the owner of a folder, whatever the names of the files in it."""
    path = archive(
        tmp_path / "assignment_5_export.zip",
        (f"{home}submission_11/noetheremmy_102_5_01_tiny.ipynb", numbered(1)),
        (f"{home}submission_12/a/01_tiny.ipynb", numbered(2)),
        (f"{home}submission_13/01_tiny.ipynb", numbered(3)),
        (f"{home}submission_metadata.yml", LIST.encode()),
    )
    done = collect(path, folder, roster=roster)
    assert taken(root) == {
        "al1815": numbered(1), "en1882": numbered(2), "eg1811": numbered(2),
    }  # fmt: skip
    assert stamp(root, "al1815") == "2026-11-01 10:00:00 UTC"
    assert [one.why for one in done.report.problems()] == [
        "has the id sd1781, but the name of al1815"
    ]


def test_gradescope_without_a_roster(folder, root, numbered, tmp_path):
    files = [(f"submission_{n}/01_tiny.ipynb", numbered(n)) for n in (11, 12)]
    path = archive(
        tmp_path / "export.zip", *files, ("submission_metadata.yml", LIST.encode())
    )
    collect(path, folder)
    assert taken(root) == {
        "ada-lovelace": numbered(11),
        "emmy-noether": numbered(12),
        "évariste-galois": numbered(12),
    }


@pytest.mark.parametrize("home", ["Niels Abel/", "abelniels_5_6_work.zip/", "a/b/"])
def test_a_students_list_of_submissions_is_not_believed(
    folder, root, roster, numbered, tmp_path, home
):
    came = tmp_path / "came"
    files = {
        f"{home}submission_11/01_tiny.ipynb": numbered(1),
        f"{home}submission_metadata.yml": LIST.encode(),
        "Emmy Noether - 01_tiny.ipynb": numbered(2),
    }
    for name, content in files.items():
        (came / name).parent.mkdir(parents=True, exist_ok=True)
        (came / name).write_bytes(content)
    done = collect(came, folder, roster=roster)
    assert set(taken(root)) == {"en1882"}
    assert any("collect the export by itself" in one.why
               for one in done.report.problems())  # fmt: skip


def test_what_was_entered_in_canvas_is_of_its_student(folder, roster, tmp_path):
    """A text or a link has no file number, and its name may lack the student."""
    path = archive(
        tmp_path / "a.zip",
        ("lovelaceada_101_text.html", b"<p>"),
        ("noetheremmy_LATE_102_link.html", b"<p>"),
        ("_103_7_01_tiny.ipynb", b"{}"),
    )
    done = collect(path, folder, roster=roster)
    assert set(done.report.instead()) == {"al1815", "en1882"}
    assert [one.student for one in done.placed] == ["eg1811"]


def test_nbgitpullers_copy_is_the_same_students(folder, root, numbered, tmp_path):
    home = tmp_path / "came" / "Ada Lovelace"
    home.mkdir(parents=True)
    (home / "01_tiny__20261102183000.ipynb").write_bytes(numbered(1))
    collect(home.parent, folder)
    assert taken(root) == {"ada-lovelace": numbered(1)}
    alone = tmp_path / "alone"
    alone.mkdir()
    (alone / "01_tiny__20261102183000.ipynb").write_bytes(numbered(2))
    (done,) = collect(alone, folder).report.problems()
    assert done.why == "does not say whose it is"

"""What `course collect` reads from the names of files and folders, and a roster."""

import os

import pytest
from collected import beside, taken
from hypothesis import example, given
from hypothesis.strategies import text
from lms_archives import answered, archive
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.collect import CollectError, collect
from autograder.collect.account import PASSED_OVER, TAKEN
from autograder.collect.names import take_apart
from autograder.collect.roster import read_roster
from autograder.collect.words import folder_name
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


@pytest.mark.parametrize("is_zipped", [False, True])
def test_clones_of_students_repositories(folder, root, numbered, tmp_path, is_zipped):
    """A notebook is its repository's, whatever it and its folder are called."""
    clones = tmp_path / "clones"
    files = {
        "01-tiny-fay/.git/config": b"",
        "01-tiny-fay/work/My attention.ipynb": numbered(1),
        f"01-tiny-fay/{folder.course.package}/attention.py": b"",
        "01-tiny-gus/.git": b"gitdir: elsewhere",
        "01-tiny-gus/01_tiny.ipynb": numbered(2),
        "01-tiny-gus/notes.py": b"",
        "01-tiny-ida/.git/config": b"",
        "01-tiny-ida/01_tiny/01_tiny.ipynb": numbered(4),
        "Hal Jordan/course/.git/config": b"",
        "Hal Jordan/course/01_tiny.ipynb": numbered(3),
    }
    for name, content in files.items():
        path = clones / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    if is_zipped:
        clones = archive(tmp_path / "clones.zip", *files.items())
    done = collect(clones, folder)
    assert taken(root) == {
        "fay": numbered(1),
        "gus": numbered(2),
        "hal-jordan": numbered(3),
        "ida": numbered(4),
    }
    passed = {fate.source: fate.why for fate in done.account.of(PASSED_OVER)}
    kit = f"01-tiny-fay/{folder.course.package}/attention.py"
    assert passed.pop(kit) == "is a module that students are given"
    assert all("/.git" in source for source in passed)
    assert beside(done) == ["01-tiny-gus/notes.py"]
    assert len(done.account.fates) == len(files)


def test_two_notebooks_in_one_repository(folder, root, notebook, tmp_path):
    """What is as it was given out never counts; of two others one is named."""
    one = answered(notebook, {"double": "def double(x):\n    return 2 * x\n"})
    other = answered(notebook, {"double": "def double(x):\n    return x + x\n"})
    clones = tmp_path / "clones"
    for name, content in (
        ("01-tiny-ann/01_tiny.ipynb", one),
        ("01-tiny-ann/zz/01_tiny.ipynb", notebook),
        ("01-tiny-bob/01_tiny.ipynb", one),
        ("01-tiny-bob/zz/01_tiny.ipynb", other),
    ):
        path = clones / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        os.utime(path, (NOON, NOON + ("zz" in name and content == notebook)))
        (clones / name.split("/")[0] / ".git").write_bytes(b"gitdir: elsewhere")
    done = collect(clones, folder)
    assert taken(root) == {"ann": one, "bob": other}
    why = {fate.source: fate.why for fate in done.account.of(TAKEN) if fate.why}
    assert why == {
        "01-tiny-ann/zz/01_tiny.ipynb": "as it was given out; kept, and one with "
        "answers counts",
        "01-tiny-bob/01_tiny.ipynb": "of the same moment; kept, and "
        "01-tiny-bob/zz/01_tiny.ipynb counts",
    }
    assert ("01-tiny-bob/01_tiny.ipynb", why["01-tiny-bob/01_tiny.ipynb"]) in (
        done.warnings
    )


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


def test_only_a_pdf_without_a_roster(root, numbered, tmp_path):
    """Whose it is nobody knows, but that something must be looked at."""
    came = tmp_path / "came"
    came.mkdir()
    (came / "Ada Lovelace - 01_tiny.ipynb").write_bytes(numbered(1))
    (came / "Ada Lovelace - 01_tiny.pdf").write_bytes(b"%PDF")
    arguments = ["collect", str(came), "--course-root", str(root)]
    assert CliRunner().invoke(app, arguments).exit_code == 0
    (came / "Maya Lin - 01_tiny.pdf").write_bytes(b"%PDF")
    ran = CliRunner().invoke(app, arguments)
    assert (ran.exit_code, "Maya Lin" in ran.output) == (1, True)


def clones_of(folder, files):
    """Write a folder of repositories; each has Git's own files."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    for clone in {name.split("/")[0] for name in files}:
        for own in (".git/config", ".git/objects/ab", ".git/hooks/pre-commit"):
            path = folder / clone / own
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"")
    return folder


def test_what_a_roster_says_of_repositories(folder, root, numbered, tmp_path):
    roster = tmp_path / "roster.csv"
    roster.write_text(
        "id,name,github\nkim,Kim Lee,octocat\nal,Ada Lovelace,\nbo,Bo Ray,b-ray\n"
    )
    clones = clones_of(
        tmp_path / "clones",
        {
            "01-tiny-octocat/work.ipynb": numbered(1),
            "01-tiny-B-Ray/work.ipynb": numbered(2),
            "al - 01-tiny-who-knows/work.ipynb": numbered(3),
            "01-tiny-stranger/work.ipynb": numbered(4),
        },
    )
    done = collect(clones, folder, roster=roster)
    assert taken(root) == {"kim": numbered(1), "bo": numbered(2), "al": numbered(3)}
    assert [fate.source for fate in done.account.problems()] == [
        "01-tiny-stranger/work.ipynb"
    ]
    git = [fate.source for fate in done.account.of(PASSED_OVER)]
    assert len(git) == 4 and all(source.endswith("/.git") for source in git)


def test_a_clone_tells_no_time(folder, root, numbered, tmp_path):
    """Its files have the time of the cloning, which is nobody's lateness."""
    with Gradebook(folder.db_url) as gradebook:
        gradebook.update_or_create_assignment(
            "01_tiny", duedate="2026-01-01 00:00:00 UTC"
        )
    files = {f"01-tiny-{who}/work.ipynb": numbered(1) for who in ("ann", "bob")}
    clones = clones_of(tmp_path / "clones", files)
    assert not any(one.late for one in collect(clones, folder).placed)
    times = tmp_path / "times.csv"
    times.write_text("id,time\nann,2026-01-02T00:00:00Z\n")
    late = {
        one.student: one.late for one in collect(clones, folder, times=times).placed
    }
    assert late == {"ann": True, "bob": False}


def test_a_repository_without_a_notebook_is_looked_at(folder, numbered, tmp_path):
    files = {"01-tiny-ann/work.ipynb": numbered(1), "01-tiny-kim/README.md": b"#"}
    done = collect(clones_of(tmp_path / "clones", files), folder)
    found = {(one.students, one.why) for one in done.account.problems()}
    assert (("kim",), "is of a repository without a notebook") in found


def test_a_repository_downloaded_as_a_zip(folder, root, numbered, tmp_path):
    came = tmp_path / "came"
    came.mkdir()
    for who in ("ann", "kim"):
        inner = f"01-tiny-{who}-main/01_tiny.ipynb"
        archive(came / f"01-tiny-{who}-main.zip", (inner, numbered(len(who))))
    collect(came, folder)
    assert sorted(taken(root)) == ["ann", "kim"]


def test_a_file_that_was_put_aside_is_taken_from_there(
    folder, root, roster, numbered, tmp_path
):
    came = tmp_path / "came"
    came.mkdir()
    (came / "Nobody Known - 01_tiny.ipynb").write_bytes(numbered(1))
    collect(came, folder, roster=roster)
    aside = root / "collected" / "_not-sorted"
    (kept,) = aside.iterdir()
    again = collect(aside, folder)
    assert (again.placed, list(aside.iterdir())) == ([], [kept])
    (someone, *_) = read_roster(roster).students
    kept.rename(aside / f"{someone} - {kept.name}")
    assert [one.student for one in collect(aside, folder).placed] == [someone]


def test_lfs_other_unit_and_own_folders(folder, root, numbered, tmp_path):
    came = tmp_path / "came"
    came.mkdir()
    note = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
    (came / "Ann - 01_tiny.ipynb").write_bytes(note)
    (came / "Bob - 01_tiny.ipynb").write_bytes(numbered(1))
    done = collect(came, folder)
    assert [one.why for one in done.account.problems()] == [
        "is Git LFS's note about a notebook: fetch it with `git lfs pull`"
    ]
    with pytest.raises(CollectError, match="holds the class's own folders"):
        collect(root, folder)


def test_each_folder_has_an_account_of_its_own(folder, numbered, tmp_path):
    """Two downloads may have one name; the second does not take the first's page."""
    pages = set()
    for week, who in enumerate(("Ann", "Bob", "Ann")):
        came = tmp_path / f"week{week % 2}" / "submissions"
        came.mkdir(parents=True, exist_ok=True)
        (came / f"{who} - 01_tiny.ipynb").write_bytes(numbered(1))
        pages.add(collect(came, folder).account.page)
    assert sorted(page.name for page in pages) == [
        "submissions-2.html",
        "submissions.html",
    ]
    assert all("Ann" in p.read_text() or "Bob" in p.read_text() for p in pages)

"""`course collect` reads clones of students' repositories."""

import os

import pytest
from collected import beside, taken
from lms_archives import answered, archive
from nbgrader.api import Gradebook

from autograder.collect import collect
from autograder.collect.import_report import PASSED_OVER, TAKEN
from autograder.collect.roster import read_roster

NOON = 1_790_000_000


@pytest.mark.integration
@pytest.mark.parametrize("is_zipped", [False, True])
def test_clones_of_students_repositories(folder, root, numbered, tmp_path, is_zipped):
    """A notebook belongs to its repository's student, whatever its name and folder.

    Classroom 50 puts its classroom in front of the unit.
    """
    clones = tmp_path / "clones"
    files = {
        "01-tiny-fay/.git/config": b"",
        "01-tiny-fay/work/My attention.ipynb": numbered(1),
        f"01-tiny-fay/{folder.course.package}/attention.py": b"",
        "01-tiny-gus/.git": b"gitdir: elsewhere",
        "01-tiny-gus/01_tiny.ipynb": numbered(2),
        "01-tiny-gus/notes.py": b"",
        "cs-2026-01-tiny-ida/.git/config": b"",
        "cs-2026-01-tiny-ida/01_tiny/01_tiny.ipynb": numbered(4),
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
    passed = {result.source: result.why for result in done.report.of(PASSED_OVER)}
    kit = f"01-tiny-fay/{folder.course.package}/attention.py"
    assert passed.pop(kit) == "is a module that students are given"
    assert all("/.git" in source for source in passed)
    assert beside(done) == ["01-tiny-gus/notes.py"]
    assert len(done.report.results) == len(files)


def test_two_notebooks_in_one_repository(folder, root, notebook, tmp_path):
    """An unchanged released notebook never counts. Two changed ones need a decision."""
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
    why = {result.source: result.why for result in done.report.of(TAKEN) if result.why}
    assert why == {
        "01-tiny-ann/zz/01_tiny.ipynb": "as it was given out; kept, and one with "
        "answers counts",
        "01-tiny-bob/01_tiny.ipynb": "of the same moment; kept, and "
        "01-tiny-bob/zz/01_tiny.ipynb counts",
    }
    assert ("01-tiny-bob/01_tiny.ipynb", why["01-tiny-bob/01_tiny.ipynb"]) in (
        done.warnings
    )


def clones_of(folder, files):
    """Write a folder of repositories, each with Git's own files."""
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
            "cs-2026-01-tiny-octocat/work.ipynb": numbered(1),
            "01-tiny-B-Ray/work.ipynb": numbered(2),
            "01-tiny-al/work.ipynb": numbered(3),
            "01-tiny-b-ray - Kim Lee/work.ipynb": numbered(5),  # the message names two
            "01-tiny-stranger/work.ipynb": numbered(4),
        },
    )
    done = collect(clones, folder, roster=roster)
    assert taken(root) == {"kim": numbered(1), "bo": numbered(2), "al": numbered(3)}
    assert [result.source for result in done.report.problems()] == [
        "01-tiny-b-ray - Kim Lee/work.ipynb",
        "01-tiny-stranger/work.ipynb",
    ]
    git = [result.source for result in done.report.of(PASSED_OVER)]
    assert len(git) == 5 and all(source.endswith("/.git") for source in git)


def test_a_clone_tells_no_time(folder, root, numbered, tmp_path):
    """Its files have the time of the cloning, which makes nobody late."""
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
    files = {
        "01-tiny-ann/work.ipynb": numbered(1),
        "01-tiny-kim/README.md": b"#",
        "01-tiny-bob/my work.pdf": b"%PDF",
    }
    done = collect(clones_of(tmp_path / "clones", files), folder)
    found = {(one.students, one.why) for one in done.report.problems()}
    assert (("kim",), "is of a repository without a notebook") in found
    assert [why for who, why in found if who == ("bob",)] == [
        "is a PDF, not a notebook"
    ]


def test_a_repository_downloaded_as_a_zip(folder, root, numbered, tmp_path):
    came = tmp_path / "came"
    came.mkdir()
    for who in ("ann", "kim"):
        inner = f"01-tiny-{who}-main/01_tiny.ipynb"
        archive(came / f"01-tiny-{who}-main.zip", (inner, numbered(len(who))))
    with Gradebook(folder.db_url) as gradebook:
        gradebook.update_or_create_assignment(
            "01_tiny", duedate="2026-01-01 00:00:00 UTC"
        )
    placed = collect(came, folder).placed
    assert sorted(taken(root)) == ["ann", "kim"]
    assert not any(one.late for one in placed)  # it holds the time of a commit


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
    again = collect(came, folder)
    assert not again.report.problems()
    (result,) = again.report.of(TAKEN)
    assert (result.students, "now taken as" in result.why) == ((someone,), True)


def test_a_namesake_with_a_friends_very_file_is_put_aside(
    folder, root, numbered, tmp_path
):
    """The file waits until a human chooses, and never counts as the friend's."""
    roster = tmp_path / "roster.csv"
    roster.write_text("id,first_name,last_name\n1,민준,김\n2,민준,김\nk1,Kim,Lee\n")
    names = ["김민준 - 01_tiny.ipynb", "Kim Lee - 01_tiny.ipynb"]
    path = archive(tmp_path / "a.zip", *((name, numbered(1)) for name in names))
    for given in (roster, None):
        done = collect(path, folder, roster=given)
        assert [result.source for result in done.report.problems()] == names[:1]
        assert set(taken(root)) == {"k1"}
    aside = root / "collected" / "_not-sorted"
    (kept,) = aside.iterdir()
    kept.rename(aside / f"2 - {kept.name}")
    collect(aside, folder)
    done = collect(path, folder)
    assert done.report.problems() == []
    assert (set(taken(root)), done.missing) == ({"k1", "2"}, {"01_tiny": ["1"]})


def test_a_clone_that_was_put_aside_is_not_late_either(
    folder, roster, numbered, tmp_path
):
    with Gradebook(folder.db_url) as gradebook:
        gradebook.update_or_create_assignment(
            "01_tiny", duedate="2026-01-01 00:00:00 UTC"
        )
    files = {f"01-tiny-{who}/work.ipynb": numbered(1) for who in ("who", "what")}
    files["01-tiny-what/work.ipynb"] = numbered(2)
    collect(clones_of(tmp_path / "clones", files), folder, roster=roster)
    aside = folder.root / "collected" / "_not-sorted"
    kept, _ = aside.iterdir()
    (someone, *_) = read_roster(roster).students
    kept.rename(aside / f"{someone} - {kept.name}")
    (placed,) = collect(aside, folder).placed
    assert (placed.student, placed.late) == (someone, False)


def test_one_clone_alone(folder, root, numbered, tmp_path):
    clones_of(tmp_path, {"01-tiny-ann/work.ipynb": numbered(1)})
    collect(tmp_path / "01-tiny-ann", folder)
    assert sorted(taken(root)) == ["ann"]

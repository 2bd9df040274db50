"""`course publish` never publishes private files, and leaves other files unchanged."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from repositories import state, write

from autograder.course import Course
from autograder.publish import PublishError, publish
from autograder.publish import repository as steps

KIT = "assignments/01_sums/pocket/words/letters.py"
PLANTED = [
    (KIT, "for one_number in numbers:\n total_of_numbers += one_number\n", "add_up"),
    ("book/01_sums.md", "sum_of_all = add_up(self.numbers)\n"
     "return sum_of_all / len(self.numbers)\n", "Mean.value"),
    ("book/01_sums.md", "### BEGIN SOLUTION\n", "### BEGIN SOLUTION"),
    ("book/01_sums.md", "<!-- BEGIN MARK SCHEME -->\n", "MARK SCHEME"),
    ("book/new.md", "\n:answer: pocket.sums.add_up\n", "is a master"),
    ("book/x.py", "found = student.add_up(secret_numbers_of_the_check)\n", "test_sum"),
    ("book/_static/test_02_means.py", "pass\n", "has a name that only private"),
    ("book/a/gradebook.db", "", "has a name that only private files have"),
    ("assignments/01_sums/mine.txt", "my notes\n", "neither the notebook nor"),
    ("book/_build/html/a.html", "<b>Five points for Brahmagupta, five for the</b> "
     "positional system.\n", "gives away the model answer or mark scheme number 2"),
    ("book/_build/html/b.html", "<span>largest_of_all</span>, smallest_of_all = "
     "max(<i>numbers</i>), min(numbers)\n", "spread"),
    ("book/grades.csv", "assignment,student_id,score\n", "students' scores"),
    ("book/notes.md", "-----BEGIN RSA PRIVATE KEY-----\n", "a private key"),
    ("LICENSE", "    return (low + high) / 2\n", "middle"),
]  # fmt: skip


@pytest.mark.integration
@pytest.mark.parametrize(("name", "text", "named"), PLANTED)
def test_what_is_private_is_refused_and_named(
    course: Course, public: Path, name: str, text: str, named: str
) -> None:
    before = state(public)
    path = course.root / name
    write(path, (path.read_text() if path.exists() else "") + text)
    with pytest.raises(PublishError) as error:
        publish(course, public)
    found = [one for one in error.value.problems if named in one.what]
    assert found, str(error.value)
    assert {one.where for one in found} == {name}
    assert state(public) == before
    assert not list(public.parent.glob(".publish-*"))


def test_the_search_index_of_a_book_about_grading_is_harmless(
    course: Course, tmp_path: Path
) -> None:
    index = 'Search.setIndex({"terms": {"score": 3, "student_id": 4, "score": 5}})\n'
    write(course.root / "book" / "_build" / "html" / "searchindex.js", index)
    assert publish(course, tmp_path / "public").commit


def test_a_real_gradebook_is_found_under_any_name(
    course: Course, tmp_path: Path
) -> None:
    with sqlite3.connect(course.root / "book" / "logo.png") as database:
        database.execute("create table grade (score real)")
    database.close()
    with pytest.raises(PublishError, match=r"book/logo\.png: holds a gradebook"):
        publish(course, tmp_path / "public")
    assert not (tmp_path / "public").exists()


def test_outputs_folders_of_this_machine_and_links_are_refused(
    course: Course, tmp_path: Path
) -> None:
    path = course.release_notebook(course.units[0])
    notebook = json.loads(path.read_text())
    output = {"output_type": "stream", "name": "stdout", "text": "42"}
    cell = next(c for c in notebook["cells"] if c["cell_type"] == "code")
    cell["outputs"] = [output]
    path.write_text(json.dumps(notebook))
    write(course.root / "book" / "02_means.md", f"See {course.root}/solutions.\n")
    with pytest.raises(PublishError) as error:
        publish(course, tmp_path / "public")
    words = str(error.value)
    assert "01_sums.ipynb: holds the outputs of a run" in words
    assert "book/02_means.md: names a folder of this machine" in words
    assert "01_sums: differs from what its master makes" in words
    (course.root / "book" / "answers").symlink_to(course.root / "solutions")
    with pytest.raises(PublishError, match="answers: is a link"):
        publish(course, tmp_path / "public")


def test_a_folder_that_is_no_public_repository_is_refused(
    course: Course, public: Path, tmp_path: Path
) -> None:
    write(tmp_path / "mine" / "thesis.txt", "years of work")
    with pytest.raises(PublishError, match="is no git repository"):
        publish(course, tmp_path / "mine")
    for place in (course.root, course.root.parent, course.root / "book" / "out"):
        with pytest.raises(PublishError, match="the private course"):
            publish(course, place)
    write(public / "README.md", "my own words")
    with pytest.raises(PublishError, match="changes that are not committed"):
        publish(course, public)
    assert (public / "README.md").read_text() == "my own words"


@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("solutions/pocket/sums.py", "x = 1\n", "solutions/pocket/sums.py"),
        ("notes.py", "    ### BEGIN SOLUTION\n", "solution marker in the history"),
    ],
)
def test_a_private_history_is_refused(
    course: Course, public: Path, name: str, text: str, named: str
) -> None:
    write(public / name, text)
    steps.git(public, "add", "-A")
    steps.git(public, *steps.NOBODY, "commit", "-qm", "Oh")
    steps.git(public, "rm", "-q", name)
    steps.git(public, *steps.NOBODY, "commit", "-qm", "Remove it")
    with pytest.raises(PublishError, match=named):
        publish(course, public)


def test_a_clone_of_the_private_course_is_refused(
    course: Course, tmp_path: Path
) -> None:
    steps.git(course.root, "init", "-q")
    steps.git(course.root, "add", "LICENSE")
    steps.git(course.root, *steps.NOBODY, "commit", "-qm", "Begin")
    steps.git(tmp_path, "clone", "-q", str(course.root), "public")
    with pytest.raises(PublishError, match="shares its history"):
        publish(course, tmp_path / "public")

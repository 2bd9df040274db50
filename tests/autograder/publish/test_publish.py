"""`course publish` writes what is public, names what is not, and leaves no half."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner

from autograder.assemble import assemble
from autograder.commands.app import app
from autograder.course import Course, CourseError, load_course
from autograder.publish import PublishError, publish
from autograder.publish import repository as steps

ROOT = Path(__file__).resolve().parents[3]
PAGE = "<html><body><pre><span>x</span> &lt; 1\n</pre></body></html>\n"
TOP = {"README.md", "requirements.txt", "environment.yml", ".gitignore", "LICENSE"}


@pytest.fixture
def course(pocket: Course) -> Course:
    """Assemble the pocket course, with a book, a site and a licence."""
    for unit, chapter in (("01_sums", "Sums"), ("02_means", "Means")):
        write(pocket.root / "book" / f"{unit}.md", f"# {chapter}\n")
    write(pocket.root / "book" / "build.py", "print('needs the private part')\n")
    write(pocket.root / "book" / "_build" / "html" / "index.html", PAGE)
    write(pocket.root / "LICENSE", "MIT\n")
    write(pocket.root / "autograder" / "gradebook.db", "private")
    assemble(pocket)
    return pocket


@pytest.fixture
def public(course: Course, tmp_path: Path) -> Path:
    """Publish everything once."""
    publish(course, tmp_path / "public")
    return tmp_path / "public"


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def names(folder: Path) -> set[str]:
    listed = steps.git(folder, "ls-files").splitlines()
    assert steps.git(folder, "status", "--porcelain", "--ignored") == ""
    return set(listed)


def state(folder: Path) -> tuple[str, dict[str, bytes]]:
    files = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    own = {str(p): data for p, data in files.items() if ".git" not in p.parts}
    return steps.git(folder, "rev-parse", "HEAD"), own


def test_what_is_published(public: Path) -> None:
    found = names(public)
    assert {name for name in found if "/" not in name} == TOP
    assert {name for name in found if name.startswith("book/")} == {
        "book/01_sums.md",
        "book/02_means.md",
    }
    assert {"docs/index.html", "docs/.nojekyll"} <= found
    kit = {n for n in found if n.startswith("assignments/02_means/")}
    assert "assignments/02_means/02_means.ipynb" in kit
    assert "assignments/02_means/pocket/sums.py" in kit
    assert not {n for n in found if "gradebook" in n or n.startswith("autograder")}
    assert steps.git(public, "rev-list", "--count", "--all") == "1"


def test_the_readme_links_to_what_is_there(public: Path) -> None:
    text = (public / "README.md").read_text()
    assert "[Sums](book/01_sums.md)" in text
    assert "/github/pocket/course/blob/main/assignments/02_means" in text
    assert "https://pocket.github.io/course/" in text
    assert "03" not in text.split("## The book")[0].split("|---|")[1]
    assert "@" not in text


def test_students_can_install_what_is_required(public: Path) -> None:
    lines = (public / "requirements.txt").read_text().split()
    assert {"spacy>=3.7", "torchtext==0.6.0", "jupyterlab", "ipykernel"} == set(lines)
    environment = yaml.safe_load((public / "environment.yml").read_text())
    assert environment["dependencies"][-1] == {"pip": ["-r requirements.txt"]}


def test_until_leaves_later_units_out_and_then_brings_them(
    course: Course, tmp_path: Path
) -> None:
    target = tmp_path / "public"
    done = publish(course, target, "01")
    assert [unit.slug for unit in done.units] == ["01_sums"]
    assert not (target / "assignments" / "02_means").exists()
    assert "02_means" not in (target / "README.md").read_text().split("## The book")[0]
    publish(course, target, "means")
    assert (target / "assignments" / "02_means" / "pocket" / "sums.py").is_file()
    assert steps.git(target, "rev-list", "--count", "HEAD") == "2"
    subjects = steps.git(target, "log", "--format=%s").splitlines()
    assert subjects[0] == "Publish the course up to unit 02"


def test_publishing_again_changes_nothing(course: Course, public: Path) -> None:
    before = state(public)
    assert publish(course, public).commit is None
    assert state(public) == before


def test_the_published_repositorys_own_files_stay(course: Course, public: Path) -> None:
    write(public / "docs" / "CNAME", "course.example.org\n")
    write(public / ".github" / "FUNDING.yml", "github: nobody\n")
    steps.git(public, "add", "-A")
    steps.git(public, *steps.NOBODY, "commit", "-qm", "Add a domain")
    steps.git(public, "remote", "add", "origin", "https://example.org/course.git")
    write(course.root / "book" / "01_sums.md", "# Sums, and why\n")
    assert publish(course, public, "01").commit
    assert {"docs/CNAME", ".github/FUNDING.yml"} <= names(public)
    assert not (public / "assignments" / "02_means").exists()
    assert steps.git(public, "remote") == "origin"


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


def test_a_failure_at_the_last_step_leaves_the_old_one(
    course: Course, public: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state(public)
    write(course.root / "book" / "01_sums.md", "# Sums, and why\n")
    monkeypatch.setattr(steps, "_exchange", lambda one, other: False)
    rename = Path.rename

    def fail(self: Path, target: Path) -> Path:
        if self.name == "new":
            raise OSError("the disk is gone")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", fail)
    with pytest.raises(OSError, match="the disk is gone"):
        publish(course, public)
    monkeypatch.undo()
    assert state(public) == before
    monkeypatch.setattr(steps, "_exchange", lambda one, other: False)
    assert publish(course, public).commit
    assert (public / "book" / "01_sums.md").read_text() == "# Sums, and why\n"


def test_without_a_built_book_it_says_so(course: Course, tmp_path: Path) -> None:
    shutil.rmtree(course.root / "book" / "_build")
    with pytest.raises(PublishError, match="the book is not built"):
        publish(course, tmp_path / "public")
    publish(course, tmp_path / "public", site=False)
    assert not (tmp_path / "public" / "docs").exists()


def test_without_any_notebook_it_says_so(pocket: Course, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match="no notebook is released yet"):
        publish(pocket, tmp_path / "public")


def test_the_command(course: Course, tmp_path: Path) -> None:
    def run(*more: str, status: int = 0) -> str:
        target = str(tmp_path / "public")
        words = ["publish", target, "--course-root", str(course.root), *more]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == status, done.output
        return done.output

    assert "units 01." in run("--until", "01")
    assert "is up to date: units 01." in run("--until", "01")
    assert "unknown unit 'nonsense'" in run("--until", "nonsense", status=1)
    write(course.root / "book" / "01_sums.md", "### END SOLUTION\n")
    output = run(status=1)
    assert "book/01_sums.md: contains '### END SOLUTION'" in output
    assert "Nothing was published." in output


def test_the_sources_of_the_real_book_and_kits_are_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.publish._outdated", lambda *_: [])
    publish(load_course(ROOT), tmp_path / "public", "05", site=False)
    clone = ["git", "clone", "-q", str(tmp_path / "public"), str(tmp_path / "clone")]
    subprocess.run(clone, check=True)
    found = {path.name for path in (tmp_path / "clone" / "assignments").iterdir()}
    assert "05_multi_head_attention" in found and "06_feed_forward" not in found


def test_renaming_in_one_step(tmp_path: Path) -> None:
    exchange: Callable[[Path, Path], bool] = steps._exchange
    write(tmp_path / "a" / "one", "1")
    write(tmp_path / "b" / "two", "2")
    if not exchange(tmp_path / "a", tmp_path / "b"):
        pytest.skip("this system cannot exchange two folders in one step")
    assert (tmp_path / "a" / "two").is_file() and (tmp_path / "b" / "one").is_file()

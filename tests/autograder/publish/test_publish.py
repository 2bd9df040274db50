"""`course publish` writes only public files, names private ones, and stops cleanly."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from repositories import state, write
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.course import Course, CourseError, load_course
from autograder.publish import PublishError, publish
from autograder.publish import repository as steps
from autograder.publish.contents import readme

ROOT = Path(__file__).resolve().parents[3]
TOP = {
    *("README.md", "requirements.txt", "environment.yml", ".gitignore", "LICENSE"),
    *("AGENTS.md", "CLAUDE.md"),
}


def names(folder: Path) -> set[str]:
    listed = steps.git(folder, "ls-files").splitlines()
    assert steps.git(folder, "status", "--porcelain", "--ignored") == ""
    return set(listed)


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


def test_the_smaller_build_is_offered_where_the_course_names_its_index(
    course: Course, public: Path
) -> None:
    offer = "pip install --no-deps --index-url https://cpu.example torch`"
    assert "--index-url" not in (public / "README.md").read_text()
    named = replace(course, torch_index="https://cpu.example")
    assert offer in readme(named, named.units, site=False)


def test_students_can_install_what_is_required(public: Path) -> None:
    lines = (public / "requirements.txt").read_text().split()
    assert {"spacy>=3.7", "torch>=2.2", "jupyterlab", "ipykernel"} == set(lines)
    environment = yaml.safe_load((public / "environment.yml").read_text())
    assert environment["dependencies"][-1] == {"pip": ["-r requirements.txt"]}


def test_conda_installs_the_versions_of_the_constraints(
    course: Course, tmp_path: Path
) -> None:
    (course.root / "constraints.txt").write_text("torch==2.13.0\n")
    publish(course, tmp_path / "public", "01")
    environment = yaml.safe_load((tmp_path / "public" / "environment.yml").read_text())
    expected = ["-c constraints.txt", "-r requirements.txt"]
    assert environment["dependencies"][-1] == {"pip": expected}


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


@pytest.mark.integration
def test_the_sources_of_the_real_book_and_kits_are_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("autograder.publish.refusals.outdated", lambda *_: [])
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

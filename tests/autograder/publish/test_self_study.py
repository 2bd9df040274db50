"""The self-study edition has the hidden checks, and stays apart from every class."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from nbformat import read
from nbgrader.utils import compute_checksum
from repositories import state, write

from autograder.course import Course, load_course
from autograder.publish import PublishError, publish
from autograder.publish import repository as steps
from autograder.publish.refusals import OF_CLASS
from autograder.publish.self_study import AUTOGRADER
from autograder.self_study.progress import minutes_of


@pytest.fixture
def learners(course: Course, tmp_path: Path) -> Path:
    """Publish the self-study edition once."""
    publish(course, tmp_path / "learners", self_study=True)
    return tmp_path / "learners"


def names(folder: Path) -> set[str]:
    return set(steps.git(folder, "ls-files").splitlines())


def test_it_has_the_checks_the_answers_and_the_command(
    learners: Path, public: Path
) -> None:
    more = names(learners) - names(public)
    assert {
        "checks/autograder/checks/test_01_sums.py",
        "checks/assignments/01_sums/01_sums.ipynb",
        "checks/solutions/notebooks/02_means/02_means.ipynb",
        "checks/solutions/pocket/sums.py",
        "assignments/01_sums/pocket/check.py",
        "pocket/check.py",
    } <= more
    assert {name.partition("/")[0] for name in more} == {
        "assignments",
        "checks",
        "pocket",
    }
    assert not [name for name in more if name.endswith((".db", ".md", "cli.py"))]
    kits = [name for name in more if name.startswith("assignments/")]
    assert all(name.endswith("/pocket/check.py") for name in kits)


def test_no_other_edition_has_any_of_it(public: Path) -> None:
    found = names(public)
    assert not [name for name in found if "check" in name]


def test_it_checks_and_does_not_hand_in(learners: Path, public: Path) -> None:
    readmes = [(one / "README.md").read_text("utf-8") for one in (learners, public)]
    assert "python -m transformer.check 01" in readmes[0]
    assert "## Handing in" not in readmes[0] and "## Handing in" in readmes[1]
    assert "## Check your answers" not in readmes[1]


def test_the_first_cell_switches_to_the_learners_own_answers(
    learners: Path, public: Path
) -> None:
    name = "assignments/01_sums/01_sums.ipynb"
    cells = [read(folder / name, 4).cells for folder in (learners, public)]
    first, other = (next(c for c in own if c.id == "setup") for own in cells)
    lines = first.source.splitlines()
    assert lines.pop(1).startswith("mine = False  # True: run on your own")
    end = "\nif mine:\n    from pocket.check import use_mine\n\n    use_mine()"
    assert "\n".join(lines) == f"{other.source}\n{end}"
    assert first.metadata.get("editable", True) and not other.metadata.editable
    assert compute_checksum(first) == first.metadata.nbgrader.checksum


def test_the_minutes_of_the_plans_are_those_of_the_units() -> None:
    whole = load_course()
    minutes = {
        unit.number: sum(minutes_of(read(whole.release_notebook(unit), 4)).values())
        for unit in whole.units
    }
    texts = [
        (AUTOGRADER / "publish/templates/checking.md").read_text("utf-8"),
        (whole.root / "book" / "intro.md").read_text("utf-8"),
    ]
    plans = {
        (4, 5, 7, 8, 9): "04, 05, 07, 08 and 09 ({} minutes)",
        (2, 3, 4): "units 02 to 04 ({} minutes)",
        (5, 6, 7): "units 05 to 07 ({} minutes)",
        (8, 9, 10): "units 08 to 10 ({} minutes)",
        (11, 12): "units 11 and 12 ({} minutes)",
        tuple(range(1, 14)): "from 01 to 13 ({} minutes)",
    }
    for units, words in plans.items():
        found = words.format(sum(minutes[one] for one in units))
        assert all(found in text for text in texts)
    readme = (whole.root / "README.md").read_text("utf-8")
    sums = [sum(minutes[n] for n in one) for one in [(4, 5, 7, 8, 9), range(2, 13)]]
    assert (
        "a weekend ({} minutes of exercises), four weeks ({} minutes)".format(*sums)
        in readme
    )


def test_it_is_published_again_where_it_was(course: Course, learners: Path) -> None:
    before = state(learners)
    assert publish(course, learners, self_study=True).commit is None
    assert state(learners) == before
    write(course.root / "book" / "01_sums.md", "# More about sums\n")
    assert publish(course, learners, self_study=True).commit


def test_a_classs_repository_gets_no_hidden_checks(
    course: Course, public: Path
) -> None:
    before = state(public)
    with pytest.raises(PublishError, match="is a class's repository"):
        publish(course, public, self_study=True)
    assert state(public) == before


def test_a_class_is_not_published_where_hidden_checks_are(
    course: Course, learners: Path
) -> None:
    before = state(learners)
    with pytest.raises(PublishError, match=r"has checks/autograder/.* in its history"):
        publish(course, learners)
    assert state(learners) == before
    steps.git(learners, "rm", "-rq", "checks")
    steps.git(learners, *steps.NOBODY, "commit", "-qm", "Remove the checks")
    with pytest.raises(PublishError, match=r"has checks/autograder/.* in its history"):
        publish(course, learners)
    with pytest.raises(PublishError, match="is a class's repository"):
        publish(course, learners, self_study=True)


def test_a_course_with_a_class_has_no_self_study_edition(
    course: Course, tmp_path: Path
) -> None:
    for name in OF_CLASS:
        place = course.root / name
        write(place if place.suffix else place / "ada" / "01_sums.ipynb", "{}")
        with pytest.raises(PublishError, match=f"{name}: belongs to a class"):
            publish(course, tmp_path / "learners", self_study=True)
        assert not (tmp_path / "learners").exists()
        place.unlink() if place.suffix else shutil.rmtree(place)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "named"),
    [
        ("book/x.py", "found = student.add_up(secret_numbers_of_the_check)\n", "test_"),
        ("book/_static/test_02_means.py", "pass\n", "has a name that only private"),
        ("book/01_sums.md", "### BEGIN SOLUTION\n", "### BEGIN SOLUTION"),
        ("solutions/pocket/words/notes.txt", "-----BEGIN RSA PRIVATE KEY-----", "key"),
        ("autograder/checks/test_01_sums.py", "# ghp_" + "a" * 36, "access token"),
    ],
)
def test_outside_of_the_checks_all_that_is_private_is_refused(
    course: Course, tmp_path: Path, name: str, text: str, named: str
) -> None:
    path = course.root / name
    write(path, (path.read_text("utf-8") if path.exists() else "") + text)
    with pytest.raises(PublishError, match=named):
        publish(course, tmp_path / "learners", self_study=True)
    assert not (tmp_path / "learners").exists()


def test_the_private_history_of_another_folder_is_refused(
    course: Course, learners: Path
) -> None:
    write(learners / "solutions" / "sums.py", "x = 1\n")
    steps.git(learners, "add", "-A")
    steps.git(learners, *steps.NOBODY, "commit", "-qm", "Oh")
    with pytest.raises(PublishError, match=r"has solutions/sums\.py in its history"):
        publish(course, learners, self_study=True)


def test_a_language_that_is_asked_for_is_the_commands(
    course: Course, tmp_path: Path
) -> None:
    publish(course, tmp_path / "en", site=False, self_study=True)
    text = (tmp_path / "en" / "pocket" / "check.py").read_text("utf-8")
    assert 'LANGUAGE = "en"' in text and "@" not in text

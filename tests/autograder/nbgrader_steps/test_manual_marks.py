"""A human's marks survive every kind of regrading, and formgrader shows changes."""

import shutil
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from sets import first_of
from tiny_grading import EXPECTED, UNIT, cells, grade, nbgrader, only, submission

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
STUDENT = "mistake-1"


def by_course(root: Path) -> None:
    done = grade(root, "--force")
    assert done.exit_code == 0, done.output


def by_command(root: Path) -> None:
    done = nbgrader(root, "autograde", UNIT, "--force")
    assert done.returncode == 0, done.stderr[-3000:]


WAYS = [by_course, by_command]


def give_marks(root: Path) -> None:
    """Grade the written answer, overrule a check, and comment on both."""
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        where = (UNIT, UNIT, STUDENT)
        written = gradebook.find_grade("why", *where)
        written.manual_score, written.extra_credit = 25, 2
        written.needs_manual_grade = False
        overruled = gradebook.find_grade("double-check", *where)
        overruled.manual_score, overruled.needs_manual_grade = 15, False
        gradebook.find_comment("why", *where).manual_comment = "Well said."
        gradebook.find_comment("double", *where).manual_comment = "Nearly there."
        gradebook.db.commit()


def marks(root: Path) -> dict[str, tuple]:
    """Return all marks and comments that a human gave, and the student's score."""
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        found = gradebook.find_submission(UNIT, STUDENT)
        (notebook,) = found.notebooks
        given = {g.name: (g.manual_score, g.extra_credit) for g in notebook.grades}
        said = {c.name: (c.manual_comment,) for c in notebook.comments}
        return {**given, **said, "score": (round(found.score, 2),)}


def auto_score(root: Path, cell: str) -> float | None:
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        return gradebook.find_grade(cell, UNIT, UNIT, STUDENT).auto_score


def open_cells(root: Path) -> set[str]:
    """Return the student's cells that a human should look at."""
    found = cells(root).items()
    return {
        cell for (who, cell), (_, _, is_open) in found if is_open and who == STUDENT
    }


@pytest.mark.parametrize("again", first_of(WAYS))
def test_grading_again_keeps_manual_scores_and_comments(classroom, again):
    only(classroom, STUDENT)
    assert grade(classroom).exit_code == 0
    give_marks(classroom)
    before = marks(classroom)
    assert before["score"] == (EXPECTED[STUDENT] - 6.67 + 15 + 25 + 2,)
    again(classroom)
    assert marks(classroom) == before
    assert open_cells(classroom) == set()  # plain nbgrader asks after every regrade


@pytest.mark.parametrize("again", WAYS[:1])
def test_another_answer_is_checked_anew_and_asks_for_a_look(classroom, again):
    only(classroom, STUDENT, "perfect-one")
    assert grade(classroom, "--student", STUDENT).exit_code == 0
    give_marks(classroom)
    before = marks(classroom)
    assert auto_score(classroom, "double-check") == pytest.approx(6.67)
    source = submission(classroom, "perfect-one")
    text = source.read_text().replace("Because the products", "As the products")
    submission(classroom, STUDENT).write_text(text)
    shutil.rmtree(classroom / "submitted" / "perfect-one")
    again(classroom)
    assert auto_score(classroom, "double-check") == 20
    assert marks(classroom)["why"] == before["why"]
    assert open_cells(classroom) == {"double-check", "why"}
    assert marks(classroom)["double"] == ("Nearly there.",)


def test_a_refused_submission_keeps_what_a_human_gave(classroom):
    only(classroom, STUDENT)
    assert grade(classroom).exit_code == 0
    give_marks(classroom)
    before = marks(classroom)
    submission(classroom, STUDENT).write_text("")
    assert "refused" in grade(classroom).output
    after = marks(classroom)
    assert {k: v for k, v in after.items() if k != "score"} == {
        k: v for k, v in before.items() if k != "score"
    }
    assert after["score"] == (15 + 25 + 2,)
    assert auto_score(classroom, "double-check") is None

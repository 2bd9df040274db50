"""The report lists a student who handed in an unchanged released notebook."""

import shutil

import pytest
from tiny_grading import UNIT, grade, only, submission

from autograder.class_report import gather
from autograder.class_report.page import page_of
from autograder.classroom.folder import ClassFolder
from autograder.collect import collect

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")


def test_a_notebook_as_it_was_given_out_is_to_look_at(classroom, tmp_path):
    given, written = tmp_path / "given" / "ann", tmp_path / "given" / "ben"
    folder = ClassFolder(classroom)
    for home in (given, written):
        home.mkdir(parents=True)
    shutil.copy(folder.course.release_notebook(folder.course.unit(UNIT)), given)
    shutil.copy(submission(classroom, "half-done"), written)
    only(classroom)
    assert collect(tmp_path / "given", folder).report.taken_from() == {"ann", "ben"}
    assert grade(classroom).exit_code == 0
    rows = {row.student: row for row in gather(folder, UNIT).rows}
    assert rows["ann"].doubtful == ("its answers are as they were given out",)
    assert rows["ben"].doubtful == ()
    assert "its answers are as they were given out." in page_of(gather(folder, UNIT))

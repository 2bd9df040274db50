"""In a class of thousands, no submission costs more than the one before it."""

import gc
import tracemalloc
import weakref
from datetime import timedelta
from pathlib import Path

import pytest
from nbgrader.api import Gradebook, SubmittedAssignment
from sqlalchemy import event
from tiny_grading import UNIT

import autograder
from autograder import gradebook
from autograder.classroom import grading_run
from autograder.classroom.folder import ClassFolder
from autograder.classroom.writing import converter
from autograder.grading.check_results import CheckResult
from autograder.grading.outcome import Outcome
from autograder.late_rule import renew_penalties
from autograder.marks import Marks
from autograder.unit import GradedUnit, Submission, graded_unit

pytestmark = pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
MANY = 300


class Quick:
    """Workers that grade every submission at once."""

    def __init__(self, *_: object) -> None:
        self.asked, self.pending = 0, []

    def has_room(self) -> bool:
        self.asked += 1
        return not self.pending

    def is_busy(self) -> bool:
        return bool(self.pending)

    def give(self, submission: Submission) -> None:
        self.pending.append(submission)

    def outcomes(self) -> list[Outcome]:
        names = [f"test_{number}" for number in range(20)]
        results = [CheckResult("a", n, n, 1.0, 1.0, 1.0, "passed") for n in names]
        return [Outcome(self.pending.pop(), results=results)]

    def close(self) -> None:
        pass


class NoWriter:
    """A writer that writes nothing."""

    def __init__(self, _: ClassFolder) -> None:
        pass

    def write(self, outcome: Outcome, with_feedback: bool) -> Marks:
        return Marks()

    def close(self) -> None:
        pass


def memory_of_the_course() -> int:
    """Return the bytes that the course's code and this file allocated and still hold.

    Other packages also allocate memory, at times that depend on earlier tests.
    """
    own = [
        tracemalloc.Filter(inclusive=True, filename_pattern=pattern)
        for pattern in (f"{Path(autograder.__file__).parent}/*", __file__)
    ]
    return sum(
        trace.size for trace in tracemalloc.take_snapshot().filter_traces(own).traces
    )


@pytest.fixture
def many(tiny_class: Path) -> ClassFolder:
    """Return a class with many students, whose files are empty."""
    for number in range(MANY):
        folder = tiny_class / "submitted" / f"s{number:04}" / UNIT
        folder.mkdir(parents=True)
        (folder / f"{UNIT}.ipynb").touch()
    return ClassFolder(tiny_class)


@pytest.mark.integration
def test_a_submission_takes_no_more_of_the_run_than_the_one_before(
    many: ClassFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    workers, sizes = Quick(), {}
    monkeypatch.setattr("autograder.classroom.workers.Processes", lambda *_: workers)
    monkeypatch.setattr(grading_run, "Writer", NoWriter)
    submissions = list(many.submissions(UNIT))
    count = 0

    def done(outcome: Outcome) -> None:
        nonlocal count
        count += 1
        if count in (MANY // 4, MANY - 10):
            gc.collect()
            sizes[count] = memory_of_the_course()

    tracemalloc.start()
    try:
        ended = grading_run.run_through(
            many, graded_unit(UNIT, many.root), submissions, done
        )
    finally:
        tracemalloc.stop()
    assert [one.submission for one in ended] == submissions
    assert {one.score for one in ended} == {20}
    assert workers.asked < 10 * MANY
    (few, less), (most, more) = sizes.items()
    assert (more - less) / (most - few) < 1000  # bytes


@pytest.mark.integration
def test_penalties_are_renewed_with_few_submissions_in_memory(
    tiny_class: Path, tiny_unit: GradedUnit, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, students = ClassFolder(tiny_class), [f"s{number}" for number in range(9)]
    folder.register(UNIT)
    with Gradebook(folder.db_url) as book:
        book.update_or_create_assignment(UNIT, duedate="2026-11-01 00:00:00 UTC")
        for student in students:
            book.add_student(student)
            one = book.add_submission(UNIT, student)
            one.timestamp = one.duedate + timedelta(days=2)
            one.notebooks[0].grades[0].auto_score = 10
        book.db.commit()
    path = tiny_class / "autograder" / "course.toml"
    path.write_text(f"{path.read_text()}\n[late]\npercent_a_day = 10\n")
    monkeypatch.setattr(gradebook, "AT_ONCE", 2)
    alive: weakref.WeakSet[SubmittedAssignment] = weakref.WeakSet()
    most = 0

    def loaded(one: SubmittedAssignment, _: object) -> None:
        nonlocal most
        alive.add(one)
        gc.collect()
        most = max(most, len(alive))

    event.listen(SubmittedAssignment, "load", loaded)
    folder = ClassFolder(tiny_class)
    try:
        assert renew_penalties(converter(folder), UNIT)
    finally:
        event.remove(SubmittedAssignment, "load", loaded)
    assert 2 <= most <= 4
    with Gradebook(folder.db_url) as book:
        found = {one.student.id: one for one in book.assignment_submissions(UNIT)}
        assert sorted(found) == students
        assert {one.late_submission_penalty for one in found.values()} == {2}
    assert not renew_penalties(converter(folder), UNIT)

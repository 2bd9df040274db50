"""Explain one student's score for a unit, from the submission to the total.

No number is computed again here. Every number comes from the report, the collected
records, the gradebook or the late rule.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta

from nbgrader.api import Grade, SubmittedAssignment

from autograder.class_report.report import ClassReport, Row
from autograder.classroom.folder import ClassFolder
from autograder.classroom.writing import converter
from autograder.collect.submission_store import (
    TIME,
    Record,
    SubmissionStore,
    last_of,
    why_not,
)
from autograder.gradebook import open_session
from autograder.grading.check_results import CheckResult
from autograder.grading.feedback_table import as_text, number
from autograder.late_rule import DAY, CourseLatePenalty, late_plugin, late_rule_of
from autograder.marks import Marks, find_submission, marks_in, time_in
from autograder.unit import CHECK_SUFFIX

BY_FILE = "from timestamp.txt in the submission's folder"
CAPPED = "no points, because all checks together exceed the exercise's points"


def explain(folder: ClassFolder, report: ClassReport, row: Row) -> Iterator[str]:
    """Yield lines that explain a student's score.

    Args:
        folder: the class. Its gradebook must be up to date.
        report: the report of the class.
        row: the student's row in the report.
    """
    with open_session(folder.db_url) as session:
        found = find_submission(session, report.slug, row.student)
        yield from _about_file(folder, report.slug, row, found)
        if found is None or row.score is None:
            return
        marks = marks_in(found)
        yield from _about_points(report, row, marks, found)
        yield from _about_lateness(folder, found)
        yield from _about_total(report, row, marks)


def _about_file(
    folder: ClassFolder, slug: str, row: Row, found: SubmittedAssignment | None
) -> Iterator[str]:
    """Yield the status, the file that counts, the other files and the hand-in time."""
    yield f"Status: {row.status}{f': {row.reason}' if row.reason else ''}"
    if row.status == "not graded":
        yield f"  Grade it: course grade {slug[:2]} --student {row.student}"
    submitted = folder.root / folder.coursedir.submitted_directory
    store = SubmissionStore(folder.root, submitted, row.student, slug)
    path = next(
        (one.path for one in folder.submissions(slug) if one.student == row.student),
        None,
    )
    if path is None:
        yield "File: none was handed in"
        return
    yield f"File: {path.relative_to(folder.root)}"
    records = store.records()
    last = last_of(records) if records else None
    if last is not None:
        yield f"  collected as {last.source}"
    for one in records:
        if last is not None and one is not last:
            yield f"  does not count: {one.source}: {why_not(one, last)}"
    due = found.assignment.duedate if found else None
    yield f"Handed in: {_time_and_origin(store, last, due)}"
    notes = {"repaired": row.repair, "look at": row.doubtful, "limit": row.limits_hit}
    for kind, texts in notes.items():
        yield from (f"  {kind}: {text}" for text in texts)


def _time_and_origin(
    store: SubmissionStore, last: Record | None, due: datetime | None
) -> str:
    """Return the hand-in time that counts, and explain where it comes from."""
    try:
        time = time_in(store.notebook.parent)
    except ValueError as error:
        return f"at an unknown time, because {error}"
    by_record = last.time(due) if last else ""
    if time is None:
        origin = f" ({last.origin_of_time(due)})" if last else ""
        return f"at an unknown time, which counts as on time{origin}"
    is_by_record = last is not None and by_record == f"{time:{TIME}}"
    origin = last.origin_of_time(due) if last and is_by_record else BY_FILE
    return f"{_moment(time)}, {origin}"


def _about_points(
    report: ClassReport, row: Row, marks: Marks, found: SubmittedAssignment
) -> Iterator[str]:
    """Yield each exercise's points, followed by the results of its checks."""
    grades = {
        grade.cell.name.removesuffix(CHECK_SUFFIX): grade
        for notebook in found.notebooks
        for grade in notebook.grades
    }
    results = [CheckResult(**one) for one in row.checks]
    for name, most in report.points.items():
        if name not in grades:
            continue
        score = marks.scores[grades[name].cell.name]
        shown = "?" if score is None else number(score)
        is_by_hand = name in report.by_hand
        yield f"{name}: {shown} of {number(most)}, {_origin(grades[name], is_by_hand)}"
        said: set[str] = set()
        for result in results:
            if result.exercise == name:
                is_new = result.hint not in said
                yield from _about_check(result if is_new else replace(result, hint=""))
                said.add(result.hint)


def _origin(grade: Grade, is_by_hand: bool) -> str:
    """Explain who gave the points of a graded cell."""
    if grade.manual_score is None and grade.needs_manual_grade:
        return "a human must still give the points"
    words = "by the course's rule for written answers" if is_by_hand else "by checks"
    if grade.manual_score is not None:
        words = "by hand"
        if grade.auto_score is not None:
            words += f" in place of {number(grade.auto_score)}"
        if grade.needs_manual_grade:
            words += "; the answer has changed, so a human must look again"
    if grade.extra_credit:
        words += f"; with {number(grade.extra_credit)} points of extra credit"
    return words


def _about_check(result: CheckResult) -> Iterator[str]:
    """Yield the result of a check, and a cap that its message does not mention."""
    yield from (f"  {line}" for line in as_text([result]).splitlines())
    if result.status == "passed" and result.points < result.max_points:
        yield f"               {CAPPED}"


def _about_lateness(folder: ClassFolder, found: SubmittedAssignment) -> Iterator[str]:
    """Yield the due date, the lateness and the numbers in the late rule."""
    due = found.assignment.duedate
    if due is None:
        yield "Late rule: no due date is set, so no points are lost"
        return
    more, days = "", (found.extension or timedelta()) / timedelta(days=1)
    if days:
        unit = "day" if days == 1 else "days"
        more = f" + {number(days)} {unit} of extension = {_moment(found.duedate)}"
    yield f"Due: {_moment(due)}{more}"
    late = found.total_seconds_late
    if late <= 0:
        yield "Late rule: on time, so no points are lost"
        return
    plugin = late_plugin(converter(folder))
    if isinstance(plugin, CourseLatePenalty):
        rule = late_rule_of(folder.course).explanation(late)
        if not folder.course.late:
            rule = "course.toml has no late rule, so no points are lost"
    else:
        rule = f"the class's own rule {type(plugin).__name__}"
    yield f"Late rule: {number(late / DAY)} days late: {rule}"


def _about_total(report: ClassReport, row: Row, marks: Marks) -> Iterator[str]:
    """Yield the sum of the points, the late penalty, any scaling, and the score."""
    total = sum(score for score in marks.scores.values() if score is not None)
    lost = f" − {number(marks.penalty)} for lateness" if marks.penalty else ""
    score = f"Score: {number(total)}{lost} = {number(marks.score)}"
    if row.score is not None and row.score != marks.score:
        score += f", scaled to {number(row.score)}"
    yield f"{score} of {number(report.max_score)}"
    if row.awaits_a_human:
        yield "  A human must still give points, so this score is not final."
    if report.note:
        yield f"  {report.note}"


def _moment(time: datetime) -> str:
    return f"{time:{TIME}} UTC"

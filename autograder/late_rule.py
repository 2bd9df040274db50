"""Apply the rule for late work in `course.toml` to nbgrader's gradebook.

nbgrader computes a penalty only when it autogrades, before a person gives points.
Therefore, this module computes penalties again when points, extensions or the rule have
changed.
"""

import math
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry, SubmittedNotebook
from nbgrader.converters import Autograde
from nbgrader.plugins import LateSubmissionPlugin
from nbgrader.preprocessors import AssignLatePenalties

from autograder.course import Course, CourseError, refuse_unknown
from autograder.gradebook import submissions_in_turn
from autograder.unit import course_of

DAY = 86_400  # seconds


@dataclass(frozen=True)
class LateRule:
    """Hold the percentages of the score that late work loses.

    Attributes:
        percent_a_day: the loss for each day or part of a day.
        percent_once: the loss for any lateness, however short.
        percent_at_most: the maximum loss.
        minutes_of_grace: minutes after the due date without a loss.
    """

    percent_a_day: float = 0
    percent_once: float = 0
    percent_at_most: float = 100
    minutes_of_grace: float = 0

    def share(self, seconds: float) -> float:
        """Return the share of the score, 0 to 1, that work this late loses."""
        days = self._days_begun(seconds)
        percent = self.percent_once + self.percent_a_day * days if days else 0.0
        return min(percent, self.percent_at_most, 100.0) / 100

    def explanation(self, seconds: float) -> str:
        """Explain how the share is computed, with the numbers of the rule."""
        days = self._days_begun(seconds)
        if not days:
            return f"within the {self.minutes_of_grace:g} minutes of grace: 0 %"
        begun = "1 day" if days == 1 else f"{days} days"
        return (
            f"{self.percent_once:g} % once + {begun} begun × {self.percent_a_day:g} %, "
            f"at most {min(self.percent_at_most, 100):g} %: "
            f"{100 * self.share(seconds):g} %"
        )

    def _days_begun(self, seconds: float) -> int:
        """Return how many days have begun after the minutes of grace."""
        return max(0, math.ceil((seconds - 60 * self.minutes_of_grace) / DAY))


def late_rule_of(course: Course) -> LateRule:
    """Read the late rule of a course.

    Raises:
        CourseError: if the rule in `course.toml` has an error. The message names the
            entry.
    """
    path = course.root / "autograder" / "course.toml"
    known = [field.name for field in fields(LateRule)]
    refuse_unknown(f"{path}: [late]: ", course.late, known)
    for name, value in course.late.items():
        if type(value) not in (int, float) or value < 0:
            raise CourseError(
                f"{path}: [late]: {name} = {value!r}: expected a number, 0 or more"
            )
    return LateRule(**course.late)


class CourseLatePenalty(LateSubmissionPlugin):
    """Apply the course's rule as a plugin of nbgrader's `AssignLatePenalties`."""

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float:
        """Return how many points to subtract."""
        above = self.parent
        while not hasattr(above, "coursedir"):
            above = above.parent
        rule = late_rule_of(course_of(Path(above.coursedir.root)))
        return round(score * rule.share(total_seconds_late), 2)


def late_plugin(converter: Autograde) -> LateSubmissionPlugin:
    """Return the late plugin in the class's settings, which is ours by default."""
    step = AssignLatePenalties(parent=converter)
    step.init_plugin()
    return step.plugin_inst


def late_penalty(
    plugin: LateSubmissionPlugin, notebook: SubmittedNotebook
) -> float | None:
    """Return how many points a submitted notebook loses, at most its score."""
    submission = notebook.assignment
    if submission.assignment.duedate is None:  # nbgrader fails if there is an extension
        return None
    late = submission.total_seconds_late
    if late <= 0:
        return None
    student, score = submission.student_id, notebook.score
    penalty = plugin.late_submission_penalty(student, score, late)
    return None if penalty is None else min(max(penalty, 0), score)


def renew_penalties(converter: Autograde, slug: str) -> bool:
    """Compute all penalties of a unit again, and return whether one changed."""
    plugin, has_changed = late_plugin(converter), False
    with Gradebook(converter.coursedir.db_url) as gradebook:
        try:
            for submission in submissions_in_turn(gradebook, slug):
                for notebook in submission.notebooks:
                    before = notebook.late_submission_penalty
                    penalty = late_penalty(plugin, notebook)
                    has_changed |= (before or 0) != (penalty or 0)
                    notebook.late_submission_penalty = penalty
        except MissingEntry:
            return False
        gradebook.db.commit()
    return has_changed


class NoDueDateError(ValueError):
    """Report an extension without a due date, which would make nbgrader fail."""


def extend(db_url: str, slug: str, student: str, days: float) -> datetime | None:
    """Give one student extra days.

    Before the first `course collect`, the gradebook contains no students. In this case,
    add the student.

    Returns:
        The student's due date in UTC, if the unit has one.

    Raises:
        MissingEntry: if the student or the unit is not in the gradebook.
        NoDueDateError: if the unit has no due date. Then nothing is written.
    """
    from autograder.grading.student_names import is_safe_name

    with Gradebook(db_url) as gradebook:
        if days and gradebook.find_assignment(slug).duedate is None:
            raise NoDueDateError
        if not gradebook.students and is_safe_name(student):
            gradebook.add_student(student)
        gradebook.find_student(student)
        submission = gradebook.update_or_create_submission(slug, student)
        submission.extension = timedelta(days=days) if days else None
        gradebook.db.commit()
        return submission.duedate

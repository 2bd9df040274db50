"""Take from late work what `course.toml` says."""

from pathlib import Path

from nbgrader.plugins import LateSubmissionPlugin

from autograder.unit import course_of


class CourseLatePenalty(LateSubmissionPlugin):
    """The rule under `[late]` in `course.toml`."""

    def late_submission_penalty(
        self, student_id: str, score: float, total_seconds_late: float
    ) -> float:
        """Return the points to take away."""
        above = self.parent
        while above is not None and not hasattr(above, "coursedir"):
            above = above.parent
        root = Path(above.coursedir.root) if above is not None else None
        return round(score * course_of(root).late.share(total_seconds_late), 2)

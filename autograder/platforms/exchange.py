"""Send feedback through nbgrader's exchange, for `nbgrader fetch_feedback`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from nbgrader.auth import Authenticator
from nbgrader.exchange import ExchangeFactory
from nbgrader.utils import capture_log

from autograder.classroom.folder import ClassFolder
from autograder.return_feedback import NOT_GRADED, Page, Returned

NO_SECRET = "not handed in through the exchange"


def release_feedback(pages: Iterable[Page], folder: ClassFolder) -> Returned:
    """Release feedback as nbgrader does.

    Raises:
        RuntimeError: if the release fails. The error contains nbgrader's message.
    """
    done = Returned(Path())
    course, config = folder.coursedir, folder.config
    factory = ExchangeFactory(config=config)
    authenticator = Authenticator(config=config)
    for page in pages:
        if not page.path.is_file():
            done.left_out[page.student] = NOT_GRADED
        elif not page.path.with_name("submission_secret.txt").is_file():
            done.left_out[page.student] = NO_SECRET
        else:
            course.assignment_id, course.student_id = page.slug, page.student
            release = factory.ReleaseFeedback(
                coursedir=course, authenticator=authenticator, config=config
            )
            result = capture_log(release)
            if not result["success"]:
                lines = (result.get("log") or result["error"]).strip().splitlines()
                raise RuntimeError(lines[-1])
            done.place = Path(release.dest_path)
            done.students.append(page.student)
    return done

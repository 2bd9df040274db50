"""Find each student's feedback page and names on the platforms; write archives.

`platforms/` writes the files for Moodle, Canvas, nbgrader's exchange or a mail merge.
"""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Gradebook, MissingEntry

from autograder.atomic_write import atomic_path
from autograder.classroom.folder import ClassFolder
from autograder.collect.platform_names import ANONYMOUS, CANVAS, MOODLE, match_platform
from autograder.collect.submission_store import SubmissionStore, last_of

NOT_GRADED = "no feedback page: run `course grade` first"
NOT_FROM = "not collected from an archive of {platform}"


@dataclass(frozen=True)
class Page:
    """Describe the feedback for one student.

    Attributes:
        student: nbgrader's id.
        slug: the slug of the unit.
        path: the feedback page.
        graded: the graded notebook.
        source: the path of the submission when it was collected, or "" if unknown.
        email: the e-mail address, or "" if unknown.
        name: first and last name, or "" if unknown.
    """

    student: str
    slug: str
    path: Path
    graded: Path
    source: str = ""
    email: str = ""
    name: str = ""

    @property
    def moodle_folder(self) -> str:
        """Return the submission's folder name from Moodle, or "" if not from Moodle."""
        found = self._named(MOODLE)
        return found.string[: found.start("rest")] if found else ""

    @property
    def canvas_file(self) -> str:
        """Return the submission's file name from Canvas, or "" for other platforms."""
        found = self._named(CANVAS, ANONYMOUS)
        return found.string if found else ""

    def _named(self, *patterns: re.Pattern[str]) -> re.Match[str] | None:
        """Match the outermost platform name in the path with one of `patterns`."""
        names = (match_platform(part) for part in self.source.split("/"))
        outermost = next(filter(None, names), None)
        return outermost if outermost and outermost.re in patterns else None


@dataclass
class Returned:
    """Hold the result of writing a class's feedback.

    Attributes:
        place: the file or folder that was written.
        students: the students whose feedback was written.
        left_out: maps each other student to the reason.
    """

    place: Path
    students: list[str] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)


def pages_of(folder: ClassFolder, slug: str) -> Iterator[Page]:
    """Yield a page for each student of a unit, even if its file does not exist."""
    submitted = folder.root / folder.coursedir.submitted_directory
    with Gradebook(folder.db_url) as gradebook:
        for item in folder.submissions(slug):
            records = SubmissionStore(
                folder.root, submitted, item.student, slug
            ).records()
            try:
                known = gradebook.find_student(item.student)
            except MissingEntry:
                known = None
            names = (getattr(known, key, "") for key in ("first_name", "last_name"))
            last = last_of(records) if records else None
            yield Page(
                item.student,
                slug,
                folder.feedback_page(item),
                folder.autograded(item.student, slug) / f"{slug}.ipynb",
                (last.came_as or last.source) if last else "",
                getattr(known, "email", "") or "",
                " ".join(filter(None, names)),
            )


def write_zip(
    pages: Iterable[Page],
    folder: Path,
    platform: str,
    entry_of: Callable[[Page], tuple[str, bytes] | None],
) -> Returned:
    """Write an archive with an entry for each page that belongs to the platform."""
    pages = list(pages)
    done = Returned(folder / f"{pages[0].slug}-{platform.lower()}.zip")
    folder.mkdir(parents=True, exist_ok=True)
    with (
        atomic_path(done.place) as part,
        zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        names: set[str] = set()
        for page in pages:
            if not page.path.is_file():
                done.left_out[page.student] = NOT_GRADED
            elif entry := entry_of(page):
                if entry[0] not in names:  # the members of a team share an entry
                    archive.writestr(*entry)
                    names.add(entry[0])
                done.students.append(page.student)
            else:
                done.left_out[page.student] = NOT_FROM.format(platform=platform)
    if not done.students:
        done.place.unlink()
    return done

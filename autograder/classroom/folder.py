"""Open a class's folder: its settings, its submissions and its gradebook.

Collecting also uses this module, so it imports the code that assembles or grades only
when needed. The module `writing.py` writes the results of grading.
"""

import functools
import traceback
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.coursedir import CourseDirectory
from sqlalchemy.engine import make_url
from traitlets.config import Config, PyFileConfigLoader

from autograder.atomic_write import atomic_path
from autograder.course import Course, CourseError, Unit
from autograder.gradebook import find_alembic, make_gradebook
from autograder.repair.finding import find_notebook
from autograder.sandbox.limits import Limits
from autograder.unit import Submission, course_of, graded_unit

SETTINGS = "nbgrader_config.py"
GRADING = "grading"


class ClassFolder:
    """Give access to a class's settings, submissions and gradebook."""

    def __init__(self, root: Path, device: str | None = None):
        """Open the class in `root` without changing anything.

        Checks run on `device`, or by default on the device in the settings.
        """
        self.root = root.resolve()
        self.device = device
        self.config = self._settings()
        self.config.CourseDirectory.root = str(self.root)
        self.coursedir = CourseDirectory(config=self.config)
        find_alembic()

    def _settings(self) -> Config:
        """Return the settings of the class, or the course's settings if it has none."""
        from autograder.nbgrader_steps.settings import configure

        config = Config()
        try:
            if (self.root / SETTINGS).is_file():
                return _read_settings(self.root)
            configure(config, self.root)
        except SystemExit as error:  # otherwise nbgrader would exit too
            raise CourseError(str(error)) from None
        return config

    @functools.cached_property
    def course(self) -> Course:
        """Return the course that the class takes."""
        return course_of(self.root)

    @property
    def db_url(self) -> str:
        """Return the address of the gradebook."""
        return self.coursedir.db_url

    @property
    def limits(self) -> Limits:
        """Return the limits on a submission from the class's settings."""
        settings = dict(self.config.RunHiddenChecks.get("limits", {}))
        given = settings | ({"device": self.device} if self.device else {})
        try:
            return Limits(**given)
        except TypeError as error:
            words = str(error).rpartition(") ")[2]
            raise CourseError(f"{self.root / SETTINGS}: limits: {words}") from None

    def units(self) -> list[str]:
        """Return the slugs of the units for which there is a submission."""
        submitted = Path(self.coursedir.format_path("submitted", ".", "."))
        found = {path.name for path in submitted.glob("*/*") if path.is_dir()}
        return [unit.slug for unit in self.course.units if unit.slug in found]

    def submissions(self, slug: str) -> Iterator[Submission]:
        """Yield the submissions of a unit, by student."""
        pattern = self.root / self.coursedir.submitted_directory
        excluded = self.coursedir.student_id_exclude.split(",")  # as nbgrader does
        for folder in sorted(pattern.glob(f"*/{slug}")):
            if folder.parent.name in excluded:
                continue
            path = find_notebook(folder, slug)
            yield Submission(folder.parent.name, slug, path)

    def register(self, slug: str) -> None:
        """Ensure that the gradebook has the unit with all of its cells.

        A new gradebook is moved into place only when it is complete, so that a killed
        process leaves no incomplete gradebook.
        """
        with FileLock(grading_folder(self.root) / "register.lock"):
            is_there = self.has_gradebook
            if not (is_there and self._is_registered(slug)):
                new = None if is_there else self._gradebook_file()
                self._register(self.course.unit(slug), new)

    def _register(self, unit: Unit, new: Path | None) -> None:
        """Write the unit into the gradebook, or into a `new` gradebook."""
        from autograder.assemble.release import register_assignment

        if new is None:
            register_assignment(self.course, unit, self.db_url)
            return
        with atomic_path(new) as part:
            register_assignment(self.course, unit, f"sqlite:///{part}")

    def open_gradebook(self) -> Gradebook:
        """Open the gradebook, and create it if it does not exist."""
        make_gradebook(self.db_url)
        return Gradebook(self.db_url)

    @property
    def has_gradebook(self) -> bool:
        """Return whether a gradebook exists, here or on a server."""
        path = self._gradebook_file()
        return path is None or path.exists()

    def _gradebook_file(self) -> Path | None:
        """Return the gradebook's file, or None if it is not an SQLite file."""
        url = make_url(self.db_url)
        if url.get_backend_name() != "sqlite" or not url.database:
            return None
        return Path(url.database)

    def _is_registered(self, slug: str) -> bool:
        """Return whether the gradebook has the unit's cells and the checks' points.

        If a notebook with marks has other cells, they stay as they are. The points of
        written answers do not count, because `written_answers` may set them to 0.
        """
        released = graded_unit(slug, self.root).released
        ours = {
            cell.metadata.nbgrader.grade_id: cell.metadata.nbgrader
            for cell in released.cells
            if "nbgrader" in cell.metadata
        }
        points = {
            name: float(cell["points"])
            for name, cell in ours.items()
            if cell["grade"] and not cell["solution"]
        }
        with Gradebook(self.db_url) as gradebook:
            try:
                found = gradebook.find_notebook(slug, slug)
            except MissingEntry:
                return False
            known = {cell.name for cell in found.source_cells}
            if known != set(ours) and found.submissions:
                return True
            theirs = {cell.name: cell.max_score for cell in found.grade_cells}
            has_points = all(theirs.get(name) == n for name, n in points.items())
            return set(ours) <= known and has_points

    def autograded(self, student: str, slug: str) -> Path:
        """Return the folder to which nbgrader writes a graded submission."""
        return self.root / self.coursedir.autograded_directory / student / slug

    def feedback_page(self, submission: Submission) -> Path:
        """Return the path of a submission's feedback page, which may not exist yet."""
        folder = self.root / self.coursedir.feedback_directory
        slug = submission.slug
        return folder / submission.student / slug / f"{slug}.html"


def require_class(root: Path) -> None:
    """Raise CourseError if the folder does not exist."""
    if not root.is_dir():
        raise CourseError(
            f"{root} is not there: go to the class's folder, or name it with "
            "--course-root"
        )


def _read_settings(root: Path) -> Config:
    """Run a class's configuration file, and explain any error in it.

    Raises:
        CourseError: if there is an error. The message names the file, the line and the
            error.
    """
    try:
        return PyFileConfigLoader(SETTINGS, path=str(root)).load_config()
    except CourseError:
        raise  # this error already names its file
    except Exception as error:
        frames = traceback.extract_tb(error.__traceback__)
        own = [one.lineno for one in frames if one.filename.endswith(SETTINGS)]
        line = error.lineno if isinstance(error, SyntaxError) else (own or [0])[-1]
        raise CourseError(
            f"{root / SETTINGS}, line {line}: {type(error).__name__}: {error}. Fix "
            "it, or copy the course's file again"
        ) from None


def grading_folder(root: Path) -> Path:
    """Return the folder for records, locks and the audit log, which git ignores."""
    home = root / GRADING
    home.mkdir(parents=True, exist_ok=True)
    ignore = home / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n")
    return home

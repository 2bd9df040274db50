"""Run `nbgrader generate_assignment` in this process.

`configure_release` is part of the course's nbgrader settings, so that nbgrader's own
command and formgrader's button make the same release as `make notebooks`, including the
kit.

Assembling uses no gradebook. It therefore also runs on a machine without the class, and
it cannot change an existing gradebook. `register_assignment` (called by `course grade`)
or `nbgrader generate_assignment` adds an assignment to the course's gradebook.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from nbgrader.preprocessors import (
    CheckCellMetadata,
    ClearHiddenTests,
    ClearMarkScheme,
    ClearOutput,
    ComputeChecksums,
    IncludeHeaderFooter,
    LockCells,
    SaveCells,
)
from nbgrader.utils import capture_log
from traitlets.config import Config

from autograder.assemble.preprocessors import (
    CODE_STUB,
    AddKit,
    NamedStubs,
    StableMetadata,
)
from autograder.assemble.problems import AssemblyError, Problem
from autograder.course import Course, Unit
from autograder.gradebook import make_gradebook
from autograder.unit import course_of

PREPROCESSORS = [
    IncludeHeaderFooter,
    LockCells,
    NamedStubs,
    ClearOutput,
    StableMetadata,
    CheckCellMetadata,
    ComputeChecksums,
    SaveCells,
    ClearHiddenTests,
    ClearMarkScheme,
    ComputeChecksums,
    CheckCellMetadata,
    AddKit,
]

SOURCES, RELEASED = "solutions/notebooks", "assignments"


def configure_release(c: Config, root: Path | None = None) -> None:
    """Set all nbgrader options that affect a release.

    If the folder of a class has no masters, the masters of the course are used.
    """
    here = root or Path.cwd()
    course = course_of(here)
    home = Path() if (here / SOURCES).is_dir() else course.root
    c.CourseDirectory.course_id = course.course_id
    c.CourseDirectory.source_directory = str(home / SOURCES)
    c.CourseDirectory.release_directory = str(home / RELEASED)
    c.CourseDirectory.ignore = [
        ".ipynb_checkpoints",
        "*.pyc",
        "__pycache__",
        "*.md",  # the masters, which contain the answers
    ]
    c.GenerateAssignment.preprocessors = PREPROCESSORS
    c.ClearSolutions.code_stub = {"python": CODE_STUB}
    c.ClearSolutions.text_stub = "YOUR ANSWER HERE"
    if root is not None:
        c.AddKit.root = str(root)


def release(course: Course, unit: Unit, folder: Path, db_url: str | None) -> Path:
    """Release a unit into `folder`/assignments, and return the new folder.

    `folder` must have the same layout as the course's folder, with the answer notebook
    in solutions/notebooks. If `db_url` is None, no gradebook is used.

    Raises:
        AssemblyError: if nbgrader refuses the notebook. The message contains nbgrader's
            log.
    """
    c = Config()
    configure_release(c, course.root)
    c.CourseDirectory.root = str(folder)
    if db_url is None:
        c.GenerateAssignment.no_database = True
        c.GenerateAssignment.preprocessors = [
            step for step in PREPROCESSORS if step is not SaveCells
        ]
    else:
        c.CourseDirectory.db_url = db_url
        make_gradebook(db_url)
    coursedir = CourseDirectory(config=c)
    coursedir.assignment_id = unit.slug
    converter = GenerateAssignment(coursedir=coursedir, config=c)
    converter.force = True
    outcome = capture_log(converter)
    if not outcome["success"]:
        where = course.answer_notebook(unit).relative_to(course.root).as_posix()
        what = f"nbgrader refuses it\n{outcome.get('log') or outcome['error']}"
        raise AssemblyError([Problem(where, what, "correct the master")])
    return folder / "assignments" / unit.slug


def register_assignment(course: Course, unit: Unit, db_url: str) -> None:
    """Write a unit's cells and points into a gradebook, and change nothing else.

    It is safe to register a unit again: scores, comments and submissions are kept.

    Raises:
        AssemblyError: if there is no answer notebook yet, or if the gradebook has
            submissions for a notebook with different cells.
    """
    source = course.answer_notebook(unit)
    if not source.is_file():
        where = source.relative_to(course.root).as_posix()
        raise AssemblyError([Problem(where, "is not there", "run `make notebooks`")])
    with tempfile.TemporaryDirectory(prefix="course-register-") as folder:
        copy = Path(folder) / source.relative_to(course.root)
        copy.parent.mkdir(parents=True)
        shutil.copyfile(source, copy)
        release(course, unit, Path(folder), db_url)

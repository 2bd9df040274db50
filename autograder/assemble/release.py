"""Run `nbgrader generate_assignment` in process.

`configure_release` is part of the course's nbgrader settings, so that nbgrader's own
command and formgrader's button release exactly what `make notebooks` does, the kit
included.

Assembling uses no gradebook at all: it runs on a machine without the class, and cannot
disturb one that has it. The course's gradebook learns of an assignment by
`register_assignment` (`course grade` calls it) or by `nbgrader generate_assignment`.
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
    """Set everything about nbgrader that decides what a release looks like.

    A class's folder that holds no masters takes the course's own.
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
        "*.md",  # the masters, with their answers
    ]
    c.GenerateAssignment.preprocessors = PREPROCESSORS
    c.ClearSolutions.code_stub = {"python": CODE_STUB}
    c.ClearSolutions.text_stub = "YOUR ANSWER HERE"
    if root is not None:
        c.AddKit.root = str(root)


def release(course: Course, unit: Unit, folder: Path, db_url: str | None) -> Path:
    """Release a unit into `folder`/assignments; return the unit's folder there.

    `folder` is laid out as the course's folder: the answer notebook is read from its
    solutions/notebooks. Without a `db_url`, no gradebook is used.

    Raises:
        AssemblyError: with nbgrader's log, if nbgrader refuses the notebook.
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
    """Write a unit's cells and points into a gradebook; nothing else is changed.

    Registering again is harmless. Scores, comments and submissions stay.

    Raises:
        AssemblyError: if there is no answer notebook yet, or the gradebook holds
            submissions for a notebook with other cells.
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

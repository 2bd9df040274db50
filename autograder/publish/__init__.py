"""Write the public repository, which contains only what students may see.

`contents.py` lists the contents, and `self_study.py` lists the additional files of the
self-study edition. `github_pages.py` writes the files with which GitHub serves the
book. `refusals.py` refuses private or outdated contents.
`repository.py` makes the commit and replaces the folder in one step.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path

from autograder.course import Course, CourseError, Unit
from autograder.publish.contents import write_contents
from autograder.publish.refusals import (
    SUBJECT,
    PublishError,
    refuse_class,
    refuse_contents,
)
from autograder.publish.repository import add_own_words, commit, start, swap
from autograder.publish.self_study import self_study_files

__all__ = ["PublishError", "Published", "publish"]


@dataclass(frozen=True)
class Published:
    """Hold the published units, and the commit, or None if nothing has changed."""

    units: tuple[Unit, ...]
    commit: str | None


def publish(
    course: Course,
    target: Path,
    until: str | None = None,
    *,
    site: bool = True,
    guide: bool = False,
    language: str = "en",
    self_study: bool = False,
) -> Published:
    """Make `target` the public repository, with a new commit if anything has changed.

    Args:
        course: the course.
        target: a new or empty folder, or the folder of the last publication.
        until: the last unit to publish: number, topic or slug; by default all.
        site: whether to publish the built book too.
        guide: whether to publish the pages for instructors too.
        language: the language of the notebooks and the README.
        self_study: whether to publish the hidden checks too, for readers without a
            class.

    Raises:
        PublishError: if the contents are private, a notebook is outdated, or the target
            is not a public repository. The target is then unchanged.
        CourseError: if there is no such unit.
    """
    units = chosen_units(course, until)
    target = Path(target).absolute()
    if self_study:
        refuse_class(course)
    more = self_study_files(course, units, language) if self_study else {}
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".publish-", dir=target.parent) as name:
        staged = Path(name) / "new"
        start(course, staged, target, self_study)
        write_contents(
            *(course, units, staged, more), site=site, guide=guide, language=language
        )
        add_own_words(staged, target)
        refuse_contents(course, units, staged, more)
        made = commit(staged, f"{SUBJECT} {units[-1].number:02}")
        if made:
            swap(staged, target)
    return Published(units, made)


def chosen_units(course: Course, until: str | None = None) -> tuple[Unit, ...]:
    """Return the units with a released notebook, up to the named one.

    Raises:
        CourseError: if there is no such unit, or no released notebook.
    """
    last = course.unit(until).number if until else course.units[-1].number
    units = tuple(
        unit
        for unit in course.units
        if unit.number <= last and course.release_notebook(unit).is_file()
    )
    if not units:
        raise CourseError("no notebook is released yet: run `make notebooks`")
    return units

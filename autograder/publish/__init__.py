"""Write the public repository, which contains only what students may see.

`contents.py` selects the contents, and `self_study.py` the additional files of the
self-study edition. `github_pages.py` writes the files that GitHub Pages needs.
`refusals.py` refuses private or outdated contents. `repository.py` makes the commit and
replaces the folder in one step.
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
    """Hold the published units and the commit, or None if nothing has changed."""

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
    """Publish the course to the repository `target`; commit if anything changed.

    Args:
        course: the course.
        target: a new or empty folder, or the folder of the last publication.
        until: the number, topic or slug of the last unit to publish; by default all
            units.
        site: whether to include the built book.
        guide: whether to include the pages for instructors.
        language: the language of the notebooks and the README.
        self_study: whether to include the hidden checks, for readers without a class.

    Raises:
        PublishError: if something to publish is private, if a notebook is outdated, or
            if the target is not a public repository. The target is then not changed.
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
    """Return the units with a released notebook, up to the unit `until`.

    Raises:
        CourseError: if there is no such unit, or if there is no released notebook.
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

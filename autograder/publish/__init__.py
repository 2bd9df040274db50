"""Write the public repository: what students get, and nothing else.

`contents.py` says what goes in, `self_study.py` what the self-study edition has more,
`refusals.py` holds everything that is refused, and
`repository.py` makes the commit and puts the folder in place in one step.
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
    """What publishing did: the units, and the commit; None if nothing differed."""

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
    """Make `target` the public repository, with one more commit if anything differs.

    Args:
        course: the course.
        target: A folder that is not there yet, an empty one, or the one that was
            published last time.
        until: the last unit to publish: number, topic or slug; by default all.
        site: whether to publish the built book too.
        guide: whether to publish the pages for instructors too.
        language: of the notebooks and the README.
        self_study: whether to publish the hidden checks too, for readers without a
            class.

    Raises:
        PublishError: if something private is inside, a notebook is outdated, or the
            target is not a public repository. The target has not changed then.
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
    """Return the units that have a released notebook, up to the one named.

    Raises:
        CourseError: if there is no such unit, or no notebook at all.
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

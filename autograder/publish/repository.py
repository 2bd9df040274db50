"""Commit to the public repository, and replace the folder in one step."""

from __future__ import annotations

import ctypes
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from autograder.course import Course
from autograder.publish.contents import COPIED, FOLDERS, KEPT, MADE
from autograder.publish.refusals import (
    README,
    git,
    is_new,
    parts_of_readme,
    refuse_target,
)
from autograder.publish.self_study import CHECKS

AT_FDCWD, RENAME_EXCHANGE = -100, 2  # linux/fs.h
NOBODY = (
    "-c",
    "user.name=the authors of the course",
    "-c",
    "user.email=course@invalid",
)


def start(course: Course, staged: Path, target: Path, self_study: bool = False) -> None:
    """Copy the old version to `staged`, but without the files that we write.

    Raises:
        PublishError: if publishing to the target is refused.
    """
    not_ours = [f":(exclude){name}" for name in KEPT]
    folders = (*FOLDERS, *((CHECKS, course.package) if self_study else ()))
    places = [*folders, *COPIED, *MADE, *not_ours]
    refuse_target(course, target, places, self_study)
    if is_new(target):
        staged.mkdir()
        git(staged, "init", "-q", "-b", course.branch)
        return
    shutil.copytree(target, staged, symlinks=True)
    _remove_published(staged, folders)


def add_own_words(staged: Path, target: Path) -> None:
    """Append the instructor's part of the old README to the new README."""
    if (target / README).is_file():
        own = parts_of_readme((target / README).read_text(encoding="utf-8"))[1]
        with (staged / README).open("a", encoding="utf-8", newline="\n") as file:
            file.write(own)


def _remove_published(staged: Path, folders: Sequence[str]) -> None:
    kept = {name: (staged / name) for name in KEPT if (staged / name).is_file()}
    contents = {name: path.read_bytes() for name, path in kept.items()}
    for name in folders:
        shutil.rmtree(staged / name, ignore_errors=True)
    for name in (*COPIED, *MADE):
        (staged / name).unlink(missing_ok=True)
    for name, content in contents.items():
        (staged / name).parent.mkdir(parents=True, exist_ok=True)
        (staged / name).write_bytes(content)


def commit(staged: Path, words: str) -> str | None:
    """Commit everything in `staged`; return the commit, or None if nothing changed."""
    git(staged, "add", "--all", "--force")
    if not git(staged, "status", "--porcelain"):
        return None
    known = git(staged, "config", "--default", "", "user.email")
    git(staged, *(() if known else NOBODY), "commit", "-q", "-m", words)
    return git(staged, "rev-parse", "--short", "HEAD")


def swap(staged: Path, target: Path) -> None:
    """Exchange `staged` and the target; `staged` then contains the old folder."""
    if not target.exists() or not any(target.iterdir()):
        staged.replace(target)
    elif not _exchange(staged, target):
        aside = staged.with_name("old")
        target.rename(aside)
        try:
            staged.rename(target)
        except OSError:
            aside.rename(target)
            raise


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; return False if this system cannot do so."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    first, second = os.fsencode(one), os.fsencode(other)
    return rename(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE) == 0

"""Make the public repository's commit, and put the folder in place in one step."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from pathlib import Path

from autograder.course import Course
from autograder.publish.audit import PRIVATE_PATH
from autograder.publish.contents import COPIED, FOLDERS, KEPT, MADE
from autograder.publish.problems import refuse

SUBJECT = "Publish the course up to unit"
README = "README.md"
OWN_WORDS = "<!-- Words of your own: "  # the last line of ours in the README begins so
NEW_FOLDER = "name a new folder: publishing makes it"
AT_FDCWD, RENAME_EXCHANGE = -100, 2  # linux/fs.h
NOBODY = (
    "-c",
    "user.name=the authors of the course",
    "-c",
    "user.email=course@invalid",
)


def start(course: Course, staged: Path, target: Path) -> None:
    """Begin a new version in `staged`: the old one without what we publish.

    Raises:
        PublishError: if the target is the course itself, is no repository, has
            changes of its own, or has anything private in its history.
    """
    _refuse_own_folder(course, target)
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        staged.mkdir()
        git(staged, "init", "-q", "-b", course.branch)
        return
    if not (target / ".git").is_dir():
        raise refuse(target, "is there, and is no git repository", NEW_FOLDER)
    if git(target, "status", "--porcelain"):
        what = "has changes that are not committed"
        raise refuse(target, what, "commit them, or undo them")
    refuse_private_history(course, target)
    refuse_changed_by_hand(target)
    shutil.copytree(target, staged, symlinks=True)
    _remove_published(staged)


def _refuse_own_folder(course: Course, target: Path) -> None:
    root, target = course.root, target.resolve()
    if target == root or target in root.parents:
        raise refuse(target, "holds the private course", NEW_FOLDER)
    if root in target.parents and root / "build" not in target.parents:
        what = "lies inside the private course"
        raise refuse(target, what, "name a folder elsewhere, or under build/")


def refuse_private_history(course: Course, target: Path) -> None:
    """Refuse a repository that has, or once had, something private.

    Raises:
        PublishError: naming the file or the commit.
    """
    names = git(target, "log", "--all", "--format=", "--name-only").splitlines()
    private = sorted(name for name in set(names) if PRIVATE_PATH.search(name))
    if private:
        what = f"has {private[0]} in its history"
        raise refuse(target, what, NEW_FOLDER)
    pattern = "^[[:space:]]*### (BEGIN|END) SOLUTION"
    marked = git(
        target, "log", "--all", "--format=%h", "--extended-regexp", "-G", pattern
    )
    if marked:
        what = f"has a solution marker in the history: commit {marked.split()[0]}"
        raise refuse(target, what, NEW_FOLDER)
    if (course.root / ".git").exists() and _roots(course.root) & _roots(target):
        what = "shares its history with the private course"
        raise refuse(target, what, NEW_FOLDER)


def refuse_changed_by_hand(target: Path) -> None:
    """Refuse to undo what somebody changed in what was published.

    Below its last line of ours, the README is theirs.

    Raises:
        PublishError: naming the file.
    """
    found = git(target, "log", "--format=%h %s").splitlines()
    ours = [line.split()[0] for line in found if SUBJECT in line]
    if not ours:
        return
    places = (*FOLDERS, *COPIED, *MADE)
    names = git(target, "diff", "--name-only", ours[0], "HEAD", "--", *places)
    for name in names.splitlines():
        if name in KEPT or (name == README and _same_readme(target, ours[0])):
            continue
        what = "was changed here since it was published, and that would be lost"
        remedy = "change it in the private course; here, "
        remedy += f"`git checkout {ours[0]} -- {name}`, and commit"
        if name == README:
            remedy += f". Words of your own stay below the line {OWN_WORDS!r}"
        raise refuse(target / name, what, remedy)


def _same_readme(target: Path, published: str) -> bool:
    before = git(target, "show", f"{published}:{README}")
    now = git(target, "show", f"HEAD:{README}")
    return _parts(before)[0].strip() == _parts(now)[0].strip()


def _parts(readme: str) -> tuple[str, str]:
    """Return our part of a README, with its last line, and theirs."""
    head, mark, rest = readme.partition(OWN_WORDS)
    line, end, own = rest.partition("\n")
    return head + mark + line + end, own


def add_own_words(staged: Path, target: Path) -> None:
    """Write below our README what an instructor has written below the old one."""
    if (target / README).is_file():
        own = _parts((target / README).read_text(encoding="utf-8"))[1]
        with (staged / README).open("a", encoding="utf-8", newline="\n") as file:
            file.write(own)


def _roots(repository: Path) -> set[str]:
    return set(git(repository, "rev-list", "--max-parents=0", "--all").split())


def _remove_published(staged: Path) -> None:
    kept = {name: (staged / name) for name in KEPT if (staged / name).is_file()}
    contents = {name: path.read_bytes() for name, path in kept.items()}
    for name in FOLDERS:
        shutil.rmtree(staged / name, ignore_errors=True)
    for name in (*COPIED, *MADE):
        (staged / name).unlink(missing_ok=True)
    for name, content in contents.items():
        (staged / name).parent.mkdir(parents=True, exist_ok=True)
        (staged / name).write_bytes(content)


def commit(staged: Path, words: str) -> str | None:
    """Commit everything in `staged`; return the commit, or None if nothing differs."""
    git(staged, "add", "--all", "--force")
    if not git(staged, "status", "--porcelain"):
        return None
    known = git(staged, "config", "--default", "", "user.email")
    git(staged, *(() if known else NOBODY), "commit", "-q", "-m", words)
    return git(staged, "rev-parse", "--short", "HEAD")


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder; return what it prints.

    Raises:
        PublishError: with git's own words, if it fails.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    command = ["git", "-c", "core.quotePath=false", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        what = f"`git {arguments[0]}` fails: {done.stderr.strip()}"
        raise refuse(folder, what, "see what git says")
    return done.stdout.strip()


def swap(staged: Path, target: Path) -> None:
    """Put `staged` in the target's place; the old folder is then where it was."""
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
    """Exchange two folders in one step; say whether this system can."""
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (AttributeError, OSError, TypeError):
        return False
    first, second = os.fsencode(one), os.fsencode(other)
    return rename(AT_FDCWD, first, AT_FDCWD, second, RENAME_EXCHANGE) == 0

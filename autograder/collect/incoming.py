"""Represent the incoming notebooks and other files, each with its path."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import PurePosixPath

from autograder.collect.name_cleaning import stem_of
from autograder.collect.platform_names import (
    BRANCH,
    BRIGHTSPACE,
    GRADESCOPE_LIST,
    ParsedName,
    match_platform,
    parse_path,
    parse_repository_path,
    time_of_brightspace,
)
from autograder.repair.reading import MAX_BYTES

CLONE = ".git"  # the folder that marks a repository
SKIPPED = ("__MACOSX", ".ipynb_checkpoints", "__pycache__")
BY_PRODUCT = "was added by an operating system or Jupyter"
HIDDEN = "is hidden: its name, or its folder's, starts with a dot"
OF_GIT = "is Git's own"
OF_A_PLATFORM = "is the platform's list of submissions"
OF_LFS = b"version https://git-lfs.github.com/spec/"
NOT_FETCHED = "is Git LFS's note about a notebook: fetch it with `git lfs pull`"
ADDED = (".DS_Store",)
KINDS = {
    ".pdf": "a PDF",
    ".html": "a web page",
    ".htm": "a web page",
    ".rar": "a RAR archive, which cannot be opened here",
    ".7z": "a 7z archive, which cannot be opened here",
    ".gz": "an archive that cannot be opened here",
    ".tar": "an archive that cannot be opened here",
    ".doc": "a text document",
    ".docx": "a text document",
    ".odt": "a text document",
    ".py": "a program without cells",
    ".png": "a picture",
    ".jpg": "a picture",
    ".jpeg": "a picture",
    ".txt": "a text",
    ".json": "a JSON file",
    ".md": "a text",
    ".url": "a link",
    ".gdoc": "a link to a file in Drive",
}
INSTEAD = (".pdf", ".html", ".htm", ".rar", ".7z", ".gz", ".tar", ".docx", ".gdoc")


class CollectError(ValueError):
    """Report that the input cannot be collected and nothing was changed."""


@dataclass(frozen=True)
class IncomingNotebook:
    """Hold one notebook as it was received.

    Attributes:
        parts: the names of the folders and archives that contain the file, then its
            own.
        when: the time of the file or of the archive entry, in UTC.
        content: the bytes of the file.
        is_timed: whether the time is the file's own time and not its archive's.
    """

    parts: tuple[str, ...]
    when: datetime
    content: bytes
    is_timed: bool = True

    @property
    def source(self) -> str:
        """Return its path as text."""
        return "/".join(self.parts)


@dataclass(frozen=True)
class LeftOut:
    """Hold one file that is not taken.

    Attributes:
        parts: the path, in the same form as for a notebook.
        why: the kind of file, or the problem with it.
        may_be_work: whether it is a notebook or an archive that could not be read.
        is_by_product: whether a program and not the student created it.
    """

    parts: tuple[str, ...]
    why: str
    may_be_work: bool = True
    is_by_product: bool = False

    @property
    def source(self) -> str:
        """Return its path as text."""
        return "/".join(self.parts)

    @property
    def may_stand_for_work(self) -> bool:
        """Return whether students often send this kind of file and no notebook."""
        return self.parts[-1].lower().endswith(INSTEAD)


@dataclass
class IncomingFiles:
    """Hold all files that were found, each in one of two lists.

    Attributes:
        notebooks: files that are notebooks or that look like notebooks.
        left_out: files that are not notebooks or cannot be read.
        clones: the folders that are students' repositories.
        lists: Gradescope's lists of submissions, in any folder.
        submissions: maps each folder in such a list to its students.
        times: maps the folder of a submission to the time that the platform gives for
            it.
    """

    notebooks: list[IncomingNotebook] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    clones: set[tuple[str, ...]] = field(default_factory=set)
    lists: list[IncomingNotebook] = field(default_factory=list)
    submissions: dict[tuple[str, ...], ParsedName] = field(default_factory=dict)
    times: dict[tuple[str, ...], datetime] = field(default_factory=dict)

    def named(self, parts: tuple[str, ...], slugs: tuple[str, ...]) -> ParsedName:
        """Parse a path; the outermost folder that names a student determines the owner.

        The names of inner files are ignored for this, because the student chose them.
        """
        found = parse_path(parts, slugs)
        is_of_a_platform = found.platform not in ("files", "nbgrader")
        for depth in range(1, len(parts)):
            if is_of_a_platform and depth >= len(found.home):
                break
            if told := self.submissions.get(parts[:depth]):
                stem, version = stem_of(parts[-1])
                inner = parse_path(parts[depth:], slugs)
                home = parts[:depth]
                return replace(told, stem=stem, version=version, inner=inner, home=home)
            if parts[:depth] in self.clones:
                return parse_repository_path(parts, depth, slugs)
        return found

    def has_work(self, clone: tuple[str, ...]) -> bool:
        """Return whether a repository contains a notebook or, for example, a PDF."""
        work = [one.parts for one in self.notebooks]
        work += [
            one.parts
            for one in self.left_out
            if one.why != OF_GIT and (one.may_be_work or one.may_stand_for_work)
        ]
        return any(parts[: len(clone)] == clone for parts in work)

    def note_clones(self) -> None:
        """Record which folders are repositories, and report Git's own files as one.

        A folder counts as a student's repository if it is at the top, or if there are
        several repositories in the same folder. A single repository deeper inside is
        part of a student's submission.
        """
        own = [item for item in self.left_out if item.why == OF_GIT]
        clones = {item.parts[: item.parts.index(CLONE)]: item for item in own}
        self.left_out = [item for item in self.left_out if item.why != OF_GIT]
        self.left_out += [
            replace(item, parts=(*clone, CLONE)) for clone, item in clones.items()
        ]
        beside = Counter(clone[:-1] for clone in clones)
        self.clones = {one for one in clones if len(one) == 1 or beside[one[:-1]] > 1}
        self.clones |= {clone for one in self.notebooks if (clone := _of_github(one))}

    def note_platforms(self) -> None:
        """Record the hand-in times and the lists of submissions that platforms give."""
        folders = {
            one.parts[:n] for one in self.notebooks for n in range(1, len(one.parts))
        }
        for folder in folders:
            is_outermost = not any(map(match_platform, folder[:-1]))
            if is_outermost and (when := time_of_brightspace(folder[-1])):
                self.times.setdefault(folder, when)
        self.notebooks = [self._at_its_time(one) for one in self.notebooks]
        of_brightspace = {
            folder[:-1]
            for folder in folders
            if (found := match_platform(folder[-1])) and found.re is BRIGHTSPACE
        }
        self.left_out = [
            replace(item, why=OF_A_PLATFORM, may_be_work=False, is_by_product=True)
            if item.parts[-1] == "index.html" and item.parts[:-1] in of_brightspace
            else item
            for item in self.left_out
        ]

    def _at_its_time(self, incoming: IncomingNotebook) -> IncomingNotebook:
        parts = incoming.parts
        told = (self.times.get(parts[:depth]) for depth in range(1, len(parts)))
        when = next(filter(None, told), None)
        return replace(incoming, when=when, is_timed=True) if when else incoming

    def refuse(self, parts: Sequence[str], why: object) -> None:
        """Record a file that is or may be a student's work but cannot be taken."""
        self.left_out.append(LeftOut(tuple(parts), str(why)))


def _of_github(incoming: IncomingNotebook) -> tuple[str, ...]:
    """Return the repository folder of a GitHub zip that contains a notebook, or ().

    Such a zip contains a single folder, which has the same name as the zip. The name
    ends with the branch.
    """
    pairs = zip(incoming.parts, incoming.parts[1:], strict=False)
    for depth, (around, folder) in enumerate(pairs, start=2):
        is_archive_of_it = is_archive(around) and stem_of(around)[0] == folder
        if is_archive_of_it and BRANCH.search(folder):
            return incoming.parts[:depth]
    return ()


def is_skipped(name: str) -> bool:
    """Return whether a file or folder with this name cannot be a student's work."""
    return name in SKIPPED or name.startswith(".")


def left_out_by_name(parts: tuple[str, ...]) -> LeftOut | None:
    """If the name shows that a file is not work, return it as left out, else None."""
    if CLONE in parts:
        return LeftOut(parts, OF_GIT, may_be_work=False, is_by_product=True)
    skipped = [part for part in parts if is_skipped(part) and part != ".."]
    if skipped:
        why = BY_PRODUCT if set(skipped) & {*SKIPPED, *ADDED} else HIDDEN
        return LeftOut(parts, why, may_be_work=False, is_by_product=True)
    if parts and not (may_be_notebook(parts[-1]) or is_archive(parts[-1])):
        return _of_other_kind(parts)
    return None


def _of_other_kind(parts: tuple[str, ...]) -> LeftOut:
    kind = PurePosixPath(parts[-1]).suffix.lower()
    words = KINDS.get(kind, f"a file of kind {kind}" if kind else "a file of no kind")
    return LeftOut(parts, f"is {words}, not a notebook", may_be_work=False)


def is_archive(name: str) -> bool:
    """Return whether a name belongs to a zip archive."""
    return name.lower().endswith(".zip")


def may_be_notebook(name: str) -> bool:
    """Return whether this may be a notebook's name, even if a browser changed it."""
    plain = name.lower()
    kind = PurePosixPath(plain).suffix
    is_list = name == GRADESCOPE_LIST
    return ".ipynb" in plain or kind in (".json", ".txt", "") or is_list


def take_or_leave(incoming: IncomingNotebook, reading: IncomingFiles) -> None:
    """Use its name or content to record a file as a notebook or as another file."""
    if incoming.parts[-1] == GRADESCOPE_LIST:
        reading.lists.append(incoming)
        reading.left_out.append(
            LeftOut(incoming.parts, OF_A_PLATFORM, False, is_by_product=True)
        )
        return
    is_named_so = incoming.parts[-1].lower().endswith(".ipynb")
    if is_named_so and incoming.content.startswith(OF_LFS):
        reading.refuse(incoming.parts, NOT_FETCHED)
    elif is_named_so or _looks_like_one(incoming.content):
        reading.notebooks.append(incoming)
    else:
        reading.left_out.append(_of_other_kind(incoming.parts))


def _looks_like_one(content: bytes) -> bool:
    begins = content[:100].removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{")
    return begins and b'"cells"' in content


def too_large(size: int, most: int = MAX_BYTES) -> str:
    """Return the reason for refusing a file that is too large."""
    return f"has {size >> 20} MiB; {most >> 20} MiB are allowed"

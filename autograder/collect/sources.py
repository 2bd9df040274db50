"""Read the instructor's download: a folder, an archive or one notebook."""

from __future__ import annotations

import os
import stat
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from autograder.collect.archives import (
    MAX_OF_A_STUDENT,
    MAX_TOTAL,
    read_archive,
    read_inner_archive,
)
from autograder.collect.gradescope import read_gradescope
from autograder.collect.incoming import (
    CLONE,
    CollectError,
    IncomingFiles,
    IncomingNotebook,
    LeftOut,
    is_archive,
    left_out_by_name,
    take_or_leave,
    too_large,
)
from autograder.repair.reading import MAX_BYTES

LINK = "is a link, which is not followed"


def read_incoming(path: Path) -> IncomingFiles:
    """Read every notebook from a folder, an archive or a single file.

    Raises:
        CollectError: if the path is missing, or the archive is broken or malicious.
    """
    reading = IncomingFiles()
    if path.is_dir():
        _read_folder(path, reading, (path.resolve().name,) if is_clone(path) else ())
    elif not path.exists():
        raise CollectError(f"{path} is not there: look at the path.")
    elif path.is_file() and zipfile.is_zipfile(path):
        read_archive(path.read_bytes(), (), _time(path), reading)
    elif path.is_file() and is_archive(path.name):
        raise CollectError(
            f"{path} is a broken archive, perhaps cut off: download it again."
        )
    elif path.is_file() and path.suffix == ".ipynb":
        _read_file(path, (path.name,), reading)
    else:
        raise CollectError(f"{path}: expected a folder, a zip archive or a notebook.")
    reading.note_clones()
    read_gradescope(reading)
    reading.note_platforms()
    return reading


def refuse_inside(path: Path, root: Path, *own: str) -> None:
    """Refuse to collect from the class's own folders, because the times would change.

    Raises:
        CollectError: if the path is such a folder, or is inside one, or contains one.
    """
    given, folders = path.resolve(), [(root / name).resolve() for name in own]
    if any(one.is_dir() and given in one.parents for one in folders):
        raise CollectError(
            f"{path} holds the class's own folders: name the folder or the archive "
            "that came from the students."
        )
    if any(given.is_relative_to(one) for one in folders):
        raise CollectError(
            f"{path} is where collected work lies: name what came from the students. "
            "To bring a roster alone, name an empty folder elsewhere."
        )


def is_clone(path: Path) -> bool:
    """Return whether a folder is a repository, whose name identifies the student."""
    return (path / CLONE).exists()


def _read_folder(folder: Path, reading: IncomingFiles, around: tuple[str, ...]) -> None:
    for home, folders, names in os.walk(folder):
        folders.sort()
        for name in [*folders, *sorted(names)]:
            path = Path(home, name)
            parts = (*around, *path.relative_to(folder).parts)
            if path.is_symlink():
                reading.refuse(parts, LINK)
            elif name in names:
                _read_file(path, parts, reading)


def _read_file(path: Path, parts: tuple[str, ...], reading: IncomingFiles) -> None:
    size = path.lstat().st_size
    if found := left_out_by_name(parts):
        reading.left_out.append(found)
    elif not stat.S_ISREG(path.lstat().st_mode):
        reading.refuse(parts, "is not a file")
    elif is_archive(path.name):
        _read_archive(path, parts, size, reading)
    elif size > MAX_BYTES:
        is_work = ".ipynb" in path.name.lower()
        reading.left_out.append(LeftOut(parts, too_large(size), is_work))
    else:
        take_or_leave(IncomingNotebook(parts, _time(path), path.read_bytes()), reading)


def _read_archive(
    path: Path, parts: tuple[str, ...], size: int, reading: IncomingFiles
) -> None:
    """Read an archive inside a folder, which a student or a platform made."""
    try:
        if size > MAX_TOTAL:
            raise CollectError(too_large(size, MAX_OF_A_STUDENT))
        read_inner_archive(
            IncomingNotebook(parts, _time(path), path.read_bytes()), reading
        )
    except CollectError as error:
        reading.refuse(parts, error)


def _time(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)

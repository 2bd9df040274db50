"""Read the notebooks of a folder or an archive; nothing is ever unpacked to a path."""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

from autograder.repair.reading import BROKEN_ARCHIVE, MAX_BYTES

MAX_FILES = 20_000  # notebooks in one archive
MAX_TOTAL = 4 << 30  # bytes of notebooks that an archive says it holds
MAX_OF_A_STUDENT = 256 << 20  # bytes that an archive within an archive says it holds
MAX_RATIO = 1000  # deflate reaches 1032; a notebook seldom 50
SMALL = 1 << 20  # below this no ratio is suspicious
SKIPPED = ("__MACOSX", ".ipynb_checkpoints", "__pycache__")
UTF8 = 0x800  # the flag of an archive's entry whose name is in UTF-8
ENCRYPTED = 0x1


class CollectError(ValueError):
    """What was given cannot be collected; nothing was changed."""


@dataclass(frozen=True)
class Incoming:
    """One notebook as it came.

    Attributes:
        parts: the folders, archives and at last the file that it lay in.
        when: the time of the file, or of the archive's entry; in UTC.
        content: the file.
    """

    parts: tuple[str, ...]
    when: datetime
    content: bytes

    @property
    def source(self) -> str:
        """Name it for a human."""
        return "/".join(self.parts)


@dataclass
class Reading:
    """What was found: notebooks, files of other kinds, and refused ones."""

    notebooks: list[Incoming] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    refused: list[tuple[tuple[str, ...], str]] = field(default_factory=list)


def read_incoming(path: Path) -> Reading:
    """Read every notebook of a folder, an archive, or a single file.

    Raises:
        CollectError: if there is nothing, or the archive is broken or malicious.
    """
    reading = Reading()
    if path.is_dir():
        _read_folder(path, reading)
    elif path.is_file() and zipfile.is_zipfile(path):
        _read_archive(path.read_bytes(), (), _time(path), reading)
    elif path.is_file() and path.suffix == ".ipynb":
        _read_file(path, (path.name,), reading)
    else:
        raise CollectError(f"{path}: expected a folder, a zip archive or a notebook")
    return reading


def _read_folder(folder: Path, reading: Reading) -> None:
    for home, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not _is_skipped(name))
        for name in [*folders, *sorted(names)]:
            path = Path(home, name)
            parts = path.relative_to(folder).parts
            if path.is_symlink():
                reading.refused.append((parts, "is a link, which is not followed"))
            elif name in names and not _is_skipped(name):
                _read_file(path, parts, reading)


def _is_skipped(name: str) -> bool:
    return name in SKIPPED or name.startswith(".")


def _read_file(path: Path, parts: tuple[str, ...], reading: Reading) -> None:
    kind = path.suffix.lower()
    if kind not in (".ipynb", ".zip"):
        reading.ignored.append("/".join(parts))
    elif not stat.S_ISREG(path.lstat().st_mode):
        reading.refused.append((parts, "is not a file"))
    elif kind == ".zip":
        try:
            _read_archive(path.read_bytes(), parts, _time(path), reading)
        except CollectError as error:
            reading.refused.append((parts, str(error)))
    elif path.stat().st_size > MAX_BYTES:
        reading.refused.append((parts, _too_large(path.stat().st_size)))
    else:
        reading.notebooks.append(Incoming(parts, _time(path), path.read_bytes()))


def _time(path: Path) -> datetime:
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _too_large(size: int, most: int = MAX_BYTES) -> str:
    return f"has {size >> 20} MiB; {most >> 20} MiB are allowed"


def _read_archive(
    content: bytes, parents: tuple[str, ...], when: datetime, reading: Reading
) -> None:
    """Read an archive, and the archives right inside it.

    An entry that is broken or malicious is refused, and the others are read.

    Raises:
        CollectError: if all of it is broken, or too much; nothing is taken then.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            infos = list(_wanted(archive, parents, reading))
            _refuse_too_much(infos, MAX_OF_A_STUDENT if parents else MAX_TOTAL)
            for info, parts in infos:
                _read_entry(archive, info, parts, _entry_time(info, when), reading)
    except BROKEN_ARCHIVE as error:
        raise CollectError(f"is a broken archive: {error}") from error


def _wanted(
    archive: zipfile.ZipFile, parents: tuple[str, ...], reading: Reading
) -> Iterator[tuple[zipfile.ZipInfo, tuple[str, ...]]]:
    """Yield the entries to read and where they lie; note what is not taken."""
    for info in archive.infolist():
        name = _name(info)
        parts = tuple(part for part in re.split(r"[/\\]", name) if part != ".")
        if info.is_dir() or any(_is_skipped(part) for part in parts if part != ".."):
            continue
        kind = Path(name).suffix.lower()
        if parts and not (kind == ".ipynb" or (kind == ".zip" and not parents)):
            reading.ignored.append("/".join((*parents, *parts)))
        elif problem := _problem_of(info, name, parts):
            reading.refused.append(((*parents, name), problem))
        else:
            yield info, (*parents, *parts)


def _problem_of(info: zipfile.ZipInfo, name: str, parts: tuple[str, ...]) -> str:
    """Say why an entry is not even looked into; "" if it may be."""
    drive = re.match(r"[A-Za-z]:", name)
    if not parts or ".." in parts or "" in parts or drive or "\0" in info.orig_filename:
        return "leads out of the archive"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "is a link"
    if info.flag_bits & ENCRYPTED:
        return "is encrypted"
    most = MAX_OF_A_STUDENT if parts[-1].lower().endswith(".zip") else MAX_BYTES
    if info.file_size > most:
        return _too_large(info.file_size, most)
    ratio = info.file_size / max(info.compress_size, 1)
    if info.file_size > SMALL and ratio > MAX_RATIO:
        return f"unpacks {ratio:.0f}-fold"
    return ""


def _refuse_too_much(
    found: list[tuple[zipfile.ZipInfo, tuple[str, ...]]], limit: int
) -> None:
    if len(found) > MAX_FILES:
        raise CollectError(f"holds {len(found)} notebooks; {MAX_FILES} are allowed")
    if sum(info.file_size for info, _ in found) > limit:
        raise CollectError(f"unpacks to more than {limit >> 20} MiB")


def _name(info: zipfile.ZipInfo) -> str:
    """Return an entry's name; many programs write UTF-8 without saying so."""
    if info.flag_bits & UTF8:
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _entry_time(info: zipfile.ZipInfo, otherwise: datetime) -> datetime:
    """Return an entry's time, which is that of this machine's zone."""
    try:
        when = datetime(*info.date_time).astimezone(UTC)
    except (ValueError, OverflowError):
        return otherwise
    return when if when.year > 1980 else otherwise


def _read_entry(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    parts: tuple[str, ...],
    when: datetime,
    found: Reading,
) -> None:
    """Read one entry; what is wrong with it does not touch the others."""
    try:
        content = archive.read(info)
        if parts[-1].lower().endswith(".ipynb"):
            found.notebooks.append(Incoming(parts, when, content))
        else:
            _read_archive(content, parts, when, found)
    except CollectError as error:
        found.refused.append((parts, str(error)))
    except BROKEN_ARCHIVE as error:
        found.refused.append((parts, f"is broken in the archive: {error}"))

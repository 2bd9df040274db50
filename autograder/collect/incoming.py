"""Read the notebooks of a folder or an archive; nothing is ever unpacked to a path."""

from __future__ import annotations

import io
import os
import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path

from autograder.repair.reading import BROKEN_ARCHIVE, MAX_BYTES

MAX_FILES = 20_000  # in one archive
MAX_TOTAL = 4 << 30  # bytes that an archive says it holds
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
    return datetime.fromtimestamp(path.stat().st_mtime, timezone.utc)


def _too_large(size: int) -> str:
    return f"has {size >> 20} MiB; {MAX_BYTES >> 20} MiB are allowed"


def _read_archive(
    content: bytes, parents: tuple[str, ...], when: datetime, reading: Reading
) -> None:
    """Read an archive, and the archives right inside it.

    Raises:
        CollectError: if it is broken or malicious; nothing of it is taken then.
    """
    found = Reading()
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = list(
                _entries(archive, MAX_OF_A_STUDENT if parents else MAX_TOTAL)
            )
            for info, names in entries:
                parts = (*parents, *names)
                _read_entry(archive, info, parts, _entry_time(info, when), found)
    except CollectError:
        raise
    except BROKEN_ARCHIVE as error:
        raise CollectError(f"is a broken archive: {error}") from error
    reading.notebooks += found.notebooks
    reading.ignored += found.ignored
    reading.refused += found.refused


def _entries(
    archive: zipfile.ZipFile, limit: int
) -> Iterator[tuple[zipfile.ZipInfo, tuple[str, ...]]]:
    """Yield the files of an archive and their names, once all were looked at.

    Raises:
        CollectError: if one leads out of the archive, is a link, or is a bomb.
    """
    infos = [info for info in archive.infolist() if not info.is_dir()]
    if len(infos) > MAX_FILES:
        raise CollectError(f"holds {len(infos)} files; {MAX_FILES} are allowed")
    if sum(info.file_size for info in infos) > limit:
        raise CollectError(f"unpacks to more than {limit >> 20} MiB")
    found = []
    for info in infos:
        name = _name(info)
        parts = tuple(part for part in re.split(r"[/\\]", name) if part != ".")
        leads_out = (
            not parts or ".." in parts or "" in parts or re.match(r"[A-Za-z]:", name)
        )
        if leads_out or "\0" in info.orig_filename:
            raise CollectError(f"holds '{name}', which leads out of the archive")
        if stat.S_ISLNK(info.external_attr >> 16):
            raise CollectError(f"holds '{name}', which is a link")
        if info.flag_bits & ENCRYPTED:
            raise CollectError(f"holds '{name}', which is encrypted")
        ratio = info.file_size / max(info.compress_size, 1)
        if info.file_size > SMALL and ratio > MAX_RATIO:
            raise CollectError(f"holds '{name}', which unpacks {ratio:.0f}-fold")
        if not any(_is_skipped(part) for part in parts):
            found.append((info, parts))
    yield from found


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
        when = datetime(*info.date_time).astimezone(timezone.utc)
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
    kind = Path(parts[-1]).suffix.lower()
    is_nested = kind == ".zip" and not any(p.endswith(".zip") for p in parts[:-1])
    if kind != ".ipynb" and not is_nested:
        found.ignored.append("/".join(parts))
    elif info.file_size > (MAX_OF_A_STUDENT if is_nested else MAX_BYTES):
        found.refused.append((parts, _too_large(info.file_size)))
    elif is_nested:
        try:
            _read_archive(archive.read(info), parts, when, found)
        except CollectError as error:
            found.refused.append((parts, str(error)))
    else:
        found.notebooks.append(Incoming(parts, when, archive.read(info)))

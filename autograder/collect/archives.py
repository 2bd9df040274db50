"""Read the notebooks of a zip archive; nothing is ever unpacked to a path."""

from __future__ import annotations

import contextlib
import io
import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from autograder.collect.incoming import (
    CollectError,
    IncomingFiles,
    IncomingNotebook,
    LeftOut,
    is_archive,
    left_out_by_name,
    take_or_leave,
    too_large,
)
from autograder.repair.reading import BROKEN_ARCHIVE, MAX_BYTES, count_of_entries

MAX_FILES = 20_000  # that may be notebooks, in one archive
MAX_ENTRIES = 200_000  # of all kinds: each costs memory, whatever it holds
MAX_ENTRIES_OF_A_STUDENT = 50_000
MAX_TOTAL = 4 << 30  # bytes of notebooks that an archive says it holds
MAX_OF_A_STUDENT = 256 << 20  # bytes that archives within an archive say they hold
MAX_DEPTH = 4  # archives within each other
MAX_RATIO = 1000  # deflate reaches 1032; a notebook seldom 50
SMALL = 1 << 20  # below this no ratio is suspicious
UTF8 = 0x800  # the flag of an archive's entry whose name is in UTF-8
ENCRYPTED = 0x1


@dataclass
class Allowance:
    """What may still be read of an archive and of those in it."""

    size: int
    files: int
    entries: int

    def open(self, content: bytes) -> zipfile.ZipFile:
        """Open an archive, unless it has too many entries.

        Raises:
            CollectError: if it has; nothing is read then.
        """
        count = count_of_entries(content)
        if count > self.entries:
            raise CollectError(f"holds {count} files; {self.entries} are allowed")
        self.entries -= count
        return zipfile.ZipFile(io.BytesIO(content))

    def take(self, infos: list[zipfile.ZipInfo]) -> None:
        """Take entries off.

        Raises:
            CollectError: if they are too many or too large; nothing is read then.
        """
        size = sum(info.file_size for info in infos)
        if len(infos) > self.files:
            raise CollectError(
                f"holds {len(infos)} files that may be notebooks; {self.files} are "
                "allowed"
            )
        if size > self.size:
            raise CollectError(f"unpacks to more than {self.size >> 20} MiB")
        self.size, self.files = self.size - size, self.files - len(infos)


def read_archive(
    content: bytes,
    parents: tuple[str, ...],
    when: datetime,
    reading: IncomingFiles,
    allowance: Allowance | None = None,
    depth: int = 1,
) -> None:
    """Read an archive, and the archives in it.

    An entry that is broken or malicious is refused, and the others are read.

    Args:
        content: of the archive.
        parents: where it lay, and its own name.
        when: its own time, in UTC.
        reading: what is found is added.
        allowance: what may be read; without one, that of a whole class.
        depth: the number of this archive and those around it.

    Raises:
        CollectError: if all of it is broken, empty or too much; nothing is taken then.
    """
    own = allowance or Allowance(MAX_TOTAL, MAX_FILES, MAX_ENTRIES)
    try:
        with own.open(content) as archive:
            if parents and all(info.is_dir() for info in archive.infolist()):
                raise CollectError("is an archive with nothing in it")
            left_out: list[LeftOut] = []
            found = list(_wanted(archive, parents, left_out, depth))
            infos = [info for info, _ in found]
            own.take(infos)
            reading.left_out += left_out
            for info, parts in found:
                budget = own if depth > 1 else of_a_student()
                _read_entry(archive, info, parts, when, reading, budget, depth)
    except CollectError:
        raise
    except BROKEN_ARCHIVE as error:
        raise CollectError(f"is a broken archive: {error}") from error


def of_a_student() -> Allowance:
    """Return what may be read of an archive that one student sent."""
    return Allowance(MAX_OF_A_STUDENT, MAX_FILES, MAX_ENTRIES_OF_A_STUDENT)


def _wanted(
    archive: zipfile.ZipFile,
    parents: tuple[str, ...],
    left_out: list[LeftOut],
    depth: int,
) -> Iterator[tuple[zipfile.ZipInfo, tuple[str, ...]]]:
    """Yield the entries to read and where they lie; note what is not taken."""
    for info in archive.infolist():
        name = _name(info)
        parts = tuple(part for part in re.split(r"[/\\]", name) if part != ".")
        if info.is_dir():
            continue
        if found := left_out_by_name(parts):
            left_out.append(LeftOut((*parents, *parts), *_about(found)))
        elif problem := _problem_of(info, name, parts, depth):
            left_out.append(LeftOut((*parents, name), problem))
        else:
            yield info, (*parents, *parts)


def _about(found: LeftOut) -> tuple[str, bool, bool]:
    return found.why, found.may_be_work, found.is_by_product


def _problem_of(
    info: zipfile.ZipInfo, name: str, parts: tuple[str, ...], depth: int
) -> str:
    """Say why an entry is not even looked into; "" if it may be."""
    drive = re.match(r"[A-Za-z]:", name)
    if not parts or ".." in parts or "" in parts or drive or "\0" in info.orig_filename:
        return "leads out of the archive"
    if stat.S_ISLNK(info.external_attr >> 16):
        return "is a link"
    if info.flag_bits & ENCRYPTED:
        return "is encrypted"
    if is_archive(name) and depth >= MAX_DEPTH:
        return f"lies in {depth} archives; {MAX_DEPTH - 1} are allowed"
    most = MAX_OF_A_STUDENT if is_archive(name) else MAX_BYTES
    if info.file_size > most:
        return too_large(info.file_size, most)
    ratio = info.file_size / max(info.compress_size, 1)
    if info.file_size > SMALL and ratio > MAX_RATIO:
        return f"unpacks {ratio:.0f}-fold"
    return ""


def _name(info: zipfile.ZipInfo) -> str:
    """Return an entry's name; many programs write UTF-8 without saying so.

    Windows in Korean writes its own code, which never is a name in another one: where
    it has Hangul, that one has lines of tables.
    """
    if info.flag_bits & UTF8:
        return info.filename
    try:
        raw = info.filename.encode("cp437")
    except UnicodeError:
        return info.filename
    with contextlib.suppress(UnicodeError):
        return raw.decode("utf-8")
    with contextlib.suppress(UnicodeError):
        name = raw.decode("euc_kr")
        if all(one.isascii() or "가" <= one <= "힣" for one in name):
            return name
    return info.filename


def _entry_time(info: zipfile.ZipInfo) -> datetime | None:
    """Return an entry's time, which is that of this machine's zone; None if none."""
    try:
        when = datetime(*info.date_time).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return when if when.year > 1980 else None


def _read_entry(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    parts: tuple[str, ...],
    otherwise: datetime,
    reading: IncomingFiles,
    allowance: Allowance,
    depth: int,
) -> None:
    """Read one entry; what is wrong with it does not touch the others."""
    own = _entry_time(info)
    when = own or otherwise
    try:
        content = archive.read(info)
        if is_archive(parts[-1]):
            read_archive(content, parts, when, reading, allowance, depth + 1)
        else:
            take_or_leave(
                IncomingNotebook(parts, when, content, own is not None), reading
            )
    except CollectError as error:
        reading.refuse(parts, error)
    except BROKEN_ARCHIVE as error:
        reading.refuse(parts, f"is broken in the archive: {error}")

"""Read the notebooks of a zip archive in memory, without unpacking it to disk."""

from __future__ import annotations

import contextlib
import io
import re
import stat
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, replace
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
from autograder.collect.platform_names import match_platform
from autograder.repair.reading import BROKEN_ARCHIVE, MAX_BYTES, count_of_entries

MAX_FILES = 20_000  # files that may be notebooks, in one archive
MAX_ENTRIES = 200_000  # entries of any kind, because each entry needs memory
MAX_ENTRIES_OF_A_STUDENT = 50_000
MAX_TOTAL = 4 << 30  # declared bytes of all notebooks in one archive
MAX_OF_A_STUDENT = 256 << 20  # declared bytes in one student's archives
USUAL_RATIO = 50  # of a whole archive, which a class of notebooks does not exceed
SMALL_ARCHIVE = 2 * MAX_BYTES  # archives that unpack to less may have any ratio
MAX_DEPTH = 4  # nested archives
MAX_RATIO = 1000  # deflate reaches 1032, but a notebook seldom exceeds 50
SMALL = 1 << 20  # smaller files may have any ratio
LONGEST_PART, LONGEST_NAME = 255, 1000  # characters; parsing longer names takes hours
UTF8 = 0x800  # the flag of an archive entry with a UTF-8 name
ENCRYPTED = 0x1


@dataclass
class Allowance:
    """Track how much may still be read from an archive and the archives in it."""

    size: int
    files: int
    entries: int

    def open(self, content: bytes) -> zipfile.ZipFile:
        """Open an archive and subtract its entries from the allowance.

        Raises:
            CollectError: if it has too many entries. In this case, nothing is read.
        """
        count = count_of_entries(content)
        if count > self.entries:
            raise CollectError(f"holds {count} files; {self.entries} are allowed")
        self.entries -= count
        return zipfile.ZipFile(io.BytesIO(content))

    def of_a_student(self, content: bytes) -> Allowance:
        """Return the part of this allowance for an archive that one student sent."""
        size = min(MAX_OF_A_STUDENT, usual_size(content), self.size)
        return Allowance(size, MAX_FILES, MAX_ENTRIES_OF_A_STUDENT)

    def take(self, infos: list[zipfile.ZipInfo]) -> None:
        """Subtract entries from the allowance.

        Raises:
            CollectError: if the entries are too many or too large. In this case,
                nothing is read.
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
    """Read an archive and all archives inside it.

    Broken and malicious entries are refused, but the others are still read.

    Args:
        content: the bytes of the archive.
        parents: the names of the folders and archives around it, then its own name.
        when: the archive's own time, in UTC.
        reading: collects the files that are found.
        allowance: how much may be read. The default is the limits for a whole class.
        depth: the nesting depth of this archive, which is 1 for the outermost.

    Raises:
        CollectError: if the whole archive is broken, empty or too large. In this case,
            no file is taken.
    """
    size = min(MAX_TOTAL, max(MAX_OF_A_STUDENT, usual_size(content)))
    own = allowance or Allowance(size, MAX_FILES, MAX_ENTRIES)
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
                _read_entry(archive, info, parts, when, reading, own, depth)
    except CollectError:
        raise
    except BROKEN_ARCHIVE as error:
        raise CollectError(f"is a broken archive: {error}") from error


def read_inner_archive(
    file: IncomingNotebook,
    reading: IncomingFiles,
    allowance: Allowance | None = None,
    depth: int = 1,
) -> None:
    """Read an archive that is a file in a folder or in another archive.

    In a student's archive, every notebook gets the time of the archive, because the
    student could choose the times of its entries.

    Raises:
        CollectError: under the same conditions as in `read_archive`.
    """
    before = len(reading.notebooks)
    read_archive(file.content, file.parts, file.when, reading, allowance, depth)
    if any(map(match_platform, file.parts)):
        reading.notebooks[before:] = [
            replace(one, when=file.when, is_timed=file.is_timed)
            for one in reading.notebooks[before:]
        ]


def usual_size(content: bytes) -> int:
    """Return the largest size, in bytes, of an honest archive once unpacked."""
    return max(SMALL_ARCHIVE, USUAL_RATIO * len(content))


def _wanted(
    archive: zipfile.ZipFile,
    parents: tuple[str, ...],
    left_out: list[LeftOut],
    depth: int,
) -> Iterator[tuple[zipfile.ZipInfo, tuple[str, ...]]]:
    """Yield the entries to read, each with its path, and record all others."""
    for info in archive.infolist():
        name = _name(info)
        parts = tuple(part for part in re.split(r"[/\\]", name) if part != ".")
        if info.is_dir():
            continue
        if len(name) > LONGEST_NAME or max(map(len, parts), default=0) > LONGEST_PART:
            left_out.append(LeftOut((*parents, f"{name[:40]}…"), "has too long a name"))
        elif found := left_out_by_name(parts):
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
    """Return why an entry must not be opened, or "" if it may be opened."""
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
    """Return an entry's name, even if it is in UTF-8 without the UTF-8 flag.

    The Korean version of Windows writes names in EUC-KR. Hangul in EUC-KR can be
    recognised, because in cp437 the same bytes are box-drawing characters, which no
    real name contains.
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
    """Return an entry's time, interpreted in this machine's time zone, or None."""
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
    """Read one entry, so that its errors do not affect the others."""
    own = _entry_time(info)
    when = own or otherwise
    try:
        file = IncomingNotebook(parts, when, archive.read(info), own is not None)
        if is_archive(parts[-1]):
            part = allowance.of_a_student(file.content) if depth == 1 else allowance
            before = part.size
            try:
                read_inner_archive(file, reading, part, depth + 1)
            finally:
                if depth == 1:  # together, they stay within the allowance
                    allowance.size -= before - part.size
        else:
            take_or_leave(file, reading)
    except CollectError as error:
        reading.refuse(parts, error)
    except BROKEN_ARCHIVE as error:
        reading.refuse(parts, f"is broken in the archive: {error}")

"""Store every collected submission, and install each student's last one for grading."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from nbgrader.utils import parse_utc

from autograder.atomic_write import atomic_write

STORE, ROSTER = "collected", "roster.csv"
RECORDS = "submissions.json"
TIME = "%Y-%m-%d %H:%M:%S"
AS_GIVEN_OUT = "as it was given out"
LONGEST_TIME = 100  # characters read from a timestamp.txt


@dataclass(frozen=True)
class Record:
    """Describe one submission as it was received.

    Attributes:
        sha256: the digest of the notebook's bytes.
        when: its time in UTC, in nbgrader's format.
        source: its original path.
        file: the platform's number for the file; later files have larger numbers.
        version: the number of the copy, such as 2 in "(2)".
        late: whether the platform marks it as late.
        is_timed: whether `when` is the file's own time and not the archive's.
        handed_in: the hand-in time from an instructor's table, if any.
        is_untouched: whether all answers are unchanged since release.
        came_as: the name from the platform, if the file was in the quarantine before.
        stamped: the UTC time that was last written into the notebook's folder.
    """

    sha256: str
    when: str
    source: str
    file: int | None = None
    version: int = 0
    late: bool = False
    is_timed: bool = True
    handed_in: str = ""
    is_untouched: bool = False
    came_as: str = ""
    stamped: str = ""

    @property
    def is_known(self) -> bool:
        """Return whether the hand-in time is known; Canvas does not give it."""
        return bool(self.handed_in) or (self.file is None and self.is_timed)

    def time(self, due: datetime | None) -> str:
        """Return the hand-in time, or "" if it is unknown.

        If there is a due date but no known time, a submission that is marked as late
        gets the due time plus one second. Any other submission gets the time of its
        file, but at the latest the due time.
        """
        if self.is_known or due is None:
            return (self.handed_in or self.when) if self.is_known else ""
        if self.late:
            return f"{due + timedelta(seconds=1):{TIME}}"
        return min(self.when, f"{due:{TIME}}")

    def origin_of_time(self, due: datetime | None) -> str:
        """Explain in words where the result of `time` comes from."""
        if self.handed_in:
            return "from the table given with --times"
        if self.is_known:
            return "the time of the file itself"
        if due is None:
            return "unknown, because the archive has no time and there is no due date"
        if self.late:
            return "the due date plus 1 second, because the platform marks it as late"
        return (
            "the time of the archive or the due date, whichever is earlier, because "
            "the platform does not mark it as late"
        )

    def is_late(self, due: datetime | None) -> bool:
        """Return whether it was late, according to its time or else to the platform."""
        if due is None or not self.is_known:
            return self.late
        return self.time(due) > f"{due:{TIME}}"

    @property
    def name(self) -> str:
        """Return the name of the submission's file in the store."""
        stamp = self.when.replace(":", "").replace(" ", "T")
        stamp = re.sub(r"[^\w+.-]", "", stamp)  # so that a record cannot contain a path
        return f"{stamp}Z-{self.sha256[:8]}.ipynb"


def last_of(records: Sequence[Record]) -> Record:
    """Return the last submission by the platform's number, or else by time.

    Without numbers, a submission with answers is preferred to one without answers.
    """
    numbered = all(record.file is not None for record in records)
    if numbered:
        return max(records, key=lambda record: (record.file, record.version))
    return max(
        records,
        key=lambda one: (not one.is_untouched, one.when, one.version, one.source),
    )


def why_not(record: Record, last: Record) -> str:
    """Return why another submission counts instead of this one."""
    if record.file is None and record.is_untouched and not last.is_untouched:
        return f"{AS_GIVEN_OUT}; kept, and one with answers counts"
    if record.file is None and record.when == last.when:
        return f"of the same moment; kept, and {last.source} counts"
    return "an earlier one; kept, and a later one counts"


class SubmissionStore:
    """Store and install the submissions of one student for one unit."""

    def __init__(self, root: Path, submitted: Path, student: str, slug: str) -> None:
        """Determine the paths, but create nothing."""
        self.store = root / STORE / student / slug
        self.notebook = submitted / student / slug / f"{slug}.ipynb"
        self.stamp = self.notebook.with_name("timestamp.txt")

    def records(self) -> list[Record]:
        """Return the stored submissions."""
        path = self.store / RECORDS
        if not path.is_file():
            return []
        return [Record(**one) for one in json.loads(path.read_text(encoding="utf-8"))]

    @property
    def is_untouched(self) -> bool:
        """Return whether the submission that counts has no answers."""
        known = self.records()
        return bool(known) and last_of(known).is_untouched

    def keep(self, record: Record, content: bytes) -> Record | None:
        """Store a submission, or return None if it is already stored."""
        known = self.records()
        if any(_is_same(record, one) for one in known):
            return None
        if record.file is None and known and last_of(known).sha256 == record.sha256:
            return None  # a copy of the last one, with the time of copying
        atomic_write(self.store / record.name, content)
        self._write([*known, record])
        return record

    def keep_what_is_there(self) -> None:
        """Store a notebook that was put into its folder without being collected."""
        if not self.notebook.is_file() or self.notebook.is_symlink():
            return
        content = self.notebook.read_bytes()
        digest = sha256(content)
        if digest in {record.sha256 for record in self.records()}:
            return
        when = _written_time(self.stamp) or datetime.fromtimestamp(
            self.notebook.stat().st_mtime, UTC
        )
        self.keep(Record(digest, f"{when:{TIME}}", "found in its place"), content)

    def note_time(self, when: str) -> None:
        """Record the last submission's hand-in time from an instructor's table."""
        known = self.records()
        last = last_of(known)
        if last.handed_in != when:
            changed = [replace(one, handed_in=when) if one is last else one
                       for one in known]  # fmt: skip
            self._write(changed)

    def _write(self, records: list[Record]) -> None:
        text = json.dumps([asdict(one) for one in records], indent=1)
        atomic_write(self.store / RECORDS, f"{text}\n".encode())

    def install(self, due: datetime | None = None) -> Record:
        """Copy the last submission and its time into the folder that nbgrader reads."""
        last = last_of(self.records())
        content = (self.store / last.name).read_bytes()
        if not self.notebook.is_file() or self.notebook.read_bytes() != content:
            atomic_write(self.notebook, content)
        self._stamp(last, due)
        return last

    def renew_time(self, due: datetime | None) -> None:
        """Rewrite the last submission's time if it depends on the due date.

        A time that somebody wrote into `timestamp.txt` by hand is kept.
        """
        known = self.records()
        if not known or not self.notebook.is_file():
            return
        last = last_of(known)
        if last.is_known or sha256(self.notebook.read_bytes()) != last.sha256:
            return
        if not last.stamped or _written_time(self.stamp) == parse_utc(last.stamped):
            self._stamp(last, due)

    def _stamp(self, last: Record, due: datetime | None) -> None:
        """Write a submission's time into its folder, and remember the written time."""
        when = last.time(due)
        if when:
            atomic_write(self.stamp, f"{when} UTC\n".encode())
        else:
            self.stamp.unlink(missing_ok=True)
        if last.stamped != when:
            new = replace(last, stamped=when)
            self._write([new if one == last else one for one in self.records()])


def _written_time(path: Path) -> datetime | None:
    """Return the UTC time in a `timestamp.txt`, or None if it contains no time."""
    if not path.is_file() or path.is_symlink():
        return None
    try:
        with path.open(encoding="utf-8") as file:
            when = parse_utc(file.read(LONGEST_TIME).strip())
    except Exception:  # a student may have written it, and dateutil raises many errors
        return None
    return when if when.year >= 1000 else None  # `%Y` does not pad, so sorting fails


def _is_same(one: Record, other: Record) -> bool:
    """Return whether two records, perhaps from two archives, are of one submission."""
    if one.sha256 != other.sha256:
        return False
    if one.file is None and other.file is None:
        return one.when == other.when
    return None in (one.file, other.file) or one.file == other.file


def sha256(content: bytes) -> str:
    """Return a file's SHA-256 digest as hexadecimal text."""
    return hashlib.sha256(content).hexdigest()

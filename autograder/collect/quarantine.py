"""Keep files without a known student or unit until the instructor assigns them."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from autograder.atomic_write import atomic_write
from autograder.collect.incoming import IncomingNotebook
from autograder.collect.name_cleaning import folder_name
from autograder.collect.submission_store import RECORDS, STORE, TIME, Record, sha256

UNSORTED, UNTIMED, CAME_AS = "_not-sorted", "_not-timed.json", "_came-as.json"


class Quarantine:
    """Manage the folder of files that were put aside."""

    def __init__(self, root: Path) -> None:
        """Read which files have no hand-in time; `root` is the class's folder."""
        self.store = root / STORE
        self.folder = self.store / UNSORTED
        self._known = self.store / UNTIMED
        self._untimed: set[str] = set()
        self._owners: dict[
            str, dict[str, set[tuple[str, str]]]
        ] = {}  # by unit and then by digest
        self._came_as: dict[str, str] = {}  # a file's name here, to its original name
        if self._known.is_file():
            self._untimed |= set(json.loads(self._known.read_text(encoding="utf-8")))
        if (names := self.store / CAME_AS).is_file():
            self._came_as |= json.loads(names.read_text(encoding="utf-8"))

    def holds(self, path: Path) -> bool:
        """Return whether a path is the quarantine folder or is inside it."""
        return path.resolve().is_relative_to(self.folder.resolve())

    def keep(
        self, incoming: IncomingNotebook, record: Record, due: datetime | None
    ) -> None:
        """Store a notebook, and its hand-in time if that is known."""
        path = self.folder / f"{_name_of(incoming)}.ipynb"
        self._came_as[path.stem] = incoming.source
        names = json.dumps(self._came_as, indent=1, sort_keys=True)
        atomic_write(self.store / CAME_AS, f"{names}\n".encode())
        atomic_write(path, incoming.content)
        moment = datetime.strptime(record.time(due) or record.when, TIME)
        seconds = moment.replace(tzinfo=UTC).timestamp()
        os.utime(path, (seconds, seconds))
        if not (record.is_known or record.late):
            self._untimed.add(record.sha256)
            text = json.dumps(sorted(self._untimed), indent=1)
            atomic_write(self._known, f"{text}\n".encode())

    def release(self, incoming: IncomingNotebook) -> None:
        """Delete the copy of a file that now has a student, as its name there says."""
        (self.folder / f"{_name_of(incoming)}.ipynb").unlink(missing_ok=True)

    def with_time(self, incoming: IncomingNotebook) -> IncomingNotebook:
        """Return a notebook, marked as untimed if the original had no own time."""
        if self._untimed and sha256(incoming.content) in self._untimed:
            return replace(incoming, is_timed=False)
        return incoming

    def came_as(self, incoming: IncomingNotebook) -> str:
        """Return the name that a platform gave to a quarantined file, or ""."""
        digest = sha256(incoming.content)[:8]
        names = (
            n for n in self._came_as if n.startswith(digest) and n in incoming.source
        )
        return self._came_as.get(max(names, key=len, default=""), "")

    def owner(self, incoming: IncomingNotebook, slug: str) -> str:
        """Return the student to whom this quarantined file was assigned before, or "".

        Another student who handed in a file with identical content does not count.
        """
        if slug not in self._owners:
            self._owners[slug] = defaultdict(set)
            for path in self.store.glob(f"*/{slug}/{RECORDS}"):
                for record in json.loads(path.read_text(encoding="utf-8")):
                    own = (path.parts[-3], record["source"])
                    self._owners[slug][record["sha256"]].add(own)
        known = self._owners[slug].get(sha256(incoming.content), set())
        name = _name_of(incoming)
        owners = {student for student, source in known if name in source}
        return min(owners) if len(owners) == 1 else ""


def _name_of(incoming: IncomingNotebook) -> str:
    """Return a file's name in the quarantine. An instructor can put an id before it."""
    plain = incoming.source.removesuffix(".ipynb").replace("_", " ")
    source = folder_name(plain)  # in a platform's format, it would identify a student
    return f"{sha256(incoming.content)[:8]}-{source}"

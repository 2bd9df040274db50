"""Give each student one folder, and the same one every time."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.classroom.folder import ClassFolder
from autograder.collect.names import Named, folder_name, is_filling, letters
from autograder.collect.roster import Roster, Student
from autograder.collect.shelf import SHELF
from autograder.whole_files import write_whole

IDENTITIES = "students.json"


class Identities:
    """Give each student the same folder every time."""

    def __init__(self, root: Path, roster: Roster) -> None:
        """Read which folders earlier runs gave."""
        self.path = root / SHELF / IDENTITIES
        self.roster = roster
        self.known: dict[str, str] = {}
        if self.path.is_file():
            self.known = json.loads(self.path.read_text(encoding="utf-8"))
        self.created: set[str] = set()

    def student(self, named: Named) -> str:
        """Return the folder's name of the student; "" if the path names nobody."""
        found = self.roster.find(named.people, named.user)
        if found:
            return found.id
        if not named.people:
            return ""
        keys = [f"{named.platform}:{named.user}"] if named.user else []
        keys.append(f"name:{letters(named.people[0])}")
        if keys[0] not in self.known:
            self.known[keys[0]] = self._new_name(named)
        student = self.known[keys[0]]
        self.created.add(student)
        return student

    def holder(self, named: Named) -> str:
        """Return the known student in whose folder it lies, the outermost; else ""."""
        found = (self.roster.find([person]) for person in named.around)
        return next((student.id for student in found if student), "")

    def others(self, named: Named, student: str) -> Iterator[str]:
        """Yield who else is named within what a student handed in."""
        inner = named.inner
        while inner:
            known = [self.roster.find([one], inner.user) for one in inner.people]
            names = [one.id for one in known if one]
            if not names and inner.platform in ("canvas", "moodle"):
                name = inner.people[0]
                same = letters(name) == letters(named.people[0])
                names = [] if same or is_filling(name) else [name]
            yield from (name for name in names if name != student)
            inner = inner.inner

    def _new_name(self, named: Named) -> str:
        taken = {*self.known.values(), *self.roster.students, ""}
        name = folder_name(named.people[0])
        if name in taken and named.user:
            name = f"{name}-{named.user}"
        number = 2
        while name in taken:
            name, number = f"{folder_name(named.people[0])}-{number}", number + 1
        return name

    def save(self) -> None:
        """Remember who is who."""
        text = json.dumps(self.known, indent=1, ensure_ascii=False, sort_keys=True)
        write_whole(self.path, f"{text}\n".encode())
        write_whole(self.path.with_name(".gitignore"), b"*\n")


def students_in_gradebook(folder: ClassFolder) -> Iterator[Student]:
    """Yield whom the gradebook knows; none if there is no gradebook yet."""
    path = folder.db_url.removeprefix("sqlite:///")
    if "sqlite" in folder.db_url and not Path(path).is_file():
        return
    with Gradebook(folder.db_url) as gradebook:
        for one in gradebook.students:
            words = (one.first_name, one.last_name, one.email, one.lms_user_id)
            yield Student(one.id, *(word or "" for word in words))

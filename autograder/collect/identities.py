"""Give each student one folder, and the same one every time."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from nbgrader.api import Gradebook

from autograder.classroom.folder import ClassFolder
from autograder.collect.names import Named
from autograder.collect.roster import Roster, Student
from autograder.collect.shelf import SHELF
from autograder.collect.words import folder_name, is_filling, letters
from autograder.whole_files import write_whole

IDENTITIES = "students.json"
NOBODY = "does not say whose it is"
TWINS = "is of one of several students with this name, or of one who handed in twice"


@dataclass(frozen=True)
class Who:
    """Whose a file is.

    Attributes:
        students: their folders' names; of a team all members, else one or none.
        why: why it is nobody's.
    """

    students: tuple[str, ...] = ()
    why: str = ""


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

    def who(self, named: Named, is_twin: bool = False, may_be_new: bool = True) -> Who:
        """Say whose a file is: by number, then by id, then by name.

        An id that an instructor has put in front, as in `al1815 - …`, comes before all.

        Args:
            named: what its path says.
            is_twin: whether others have the same name.
            may_be_new: whether a student whom nobody knows gets a folder.
        """
        roster = self.roster
        if put_there := roster.by_whole_id(named.front):
            return Who((put_there,))
        if team := roster.team(named.people):
            return Who(tuple(one.id for one in team))
        if one := roster.by_number(named.user):
            return Who((one.id,))
        ids = roster.by_id(named.texts)
        people = [
            form for one in named.people for form in (one, roster.without_ids(one))
        ]
        meant = roster.by_name(people, named.platform, named.user)
        if one := _of_participant(meant, named.participant):
            return Who((one.id,))
        names = [student.id for student in meant]
        if len(ids) > 1:
            return Who(why=f"names several students: {', '.join(ids)}")
        if ids and names and ids[0] not in names:
            return Who(why=f"has the id {ids[0]}, but the name of {', '.join(names)}")
        if ids:
            return Who((ids[0],))
        has_full_name = bool(meant) and bool(meant[0].last)
        is_sure = not is_twin or (named.platform == "files" and has_full_name)
        if len(names) == 1 and is_sure:
            return Who((names[0],))
        if is_twin and (roster.is_given or named.platform != "canvas"):
            return Who(why=TWINS)
        if len(names) > 1:
            return Who(why=f"is of {' or '.join(names)}, who have one name")
        return self._not_in_roster(named, may_be_new)

    def _not_in_roster(self, named: Named, may_be_new: bool) -> Who:
        """Return a folder made for whom no roster knows; none if a roster is given."""
        if not named.people:
            return Who(why=NOBODY)
        if self.roster.is_given and not named.is_anonymous:
            return Who(why=f"is of {named.people[0]}, who is not in the roster")
        name = f"name:{letters(named.people[0])}"
        key = f"{named.platform}:{named.user}" if named.user else name
        if key not in self.known:
            if not may_be_new:
                return Who(why=NOBODY)
            self.known[key] = self._new_name(named)
        if may_be_new:
            self.created.add(self.known[key])
        return Who((self.known[key],))

    def holder(self, named: Named) -> str:
        """Return the known student in whose folder it lies, the outermost; else ""."""
        found = (self.roster.find([person]) for person in named.around)
        return next((student.id for student in found if student), "")

    def others(self, named: Named, students: tuple[str, ...]) -> Iterator[str]:
        """Yield who else is named within what students handed in."""
        inner = named.inner
        while inner:
            known = [self.roster.find([one], inner.user) for one in inner.people]
            names = [one.id for one in known if one]
            if not names and inner.platform in ("canvas", "moodle"):
                name = inner.people[0]
                same = letters(name) == letters(named.people[0])
                names = [] if same or is_filling(name) else [name]
            yield from (name for name in names if name not in students)
            inner = inner.inner

    def _new_name(self, named: Named) -> str:
        taken = {*self.known.values(), *self.roster.students, ""}
        name = folder_name(named.people[0])
        if name in taken and named.user:
            name = f"{name}-{folder_name(named.user)}"
        number = 2
        while name in taken:
            name, number = f"{folder_name(named.people[0])}-{number}", number + 1
        return name

    def rename(self, moves: Mapping[str, str]) -> None:
        """Know students by their new folders from now on."""
        self.known = {key: moves.get(old, old) for key, old in self.known.items()}

    def save(self) -> None:
        """Remember who is who."""
        text = json.dumps(self.known, indent=1, ensure_ascii=False, sort_keys=True)
        write_whole(self.path, f"{text}\n".encode())
        write_whole(self.path.with_name(".gitignore"), b"*\n")


def _of_participant(meant: Iterable[Student], participant: str) -> Student | None:
    """Return the one of namesakes who has Moodle's number, if the roster tells it."""
    fits = (one for one in meant if participant and one.participant == participant)
    return next(fits, None)


def students_in_gradebook(folder: ClassFolder) -> Iterator[Student]:
    """Yield whom the gradebook knows; none if there is no gradebook yet."""
    path = folder.db_url.removeprefix("sqlite:///")
    if "sqlite" in folder.db_url and not Path(path).is_file():
        return
    with Gradebook(folder.db_url) as gradebook:
        for one in gradebook.students:
            yield Student(
                one.id,
                one.first_name or "",
                one.last_name or "",
                one.email or "",
                one.lms_user_id or "",
            )

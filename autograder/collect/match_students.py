"""Give each student one folder, and the same one every time."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.atomic_write import atomic_write
from autograder.classroom.folder import ClassFolder
from autograder.collect.incoming import IncomingNotebook
from autograder.collect.name_cleaning import folder_name, is_filling, letters
from autograder.collect.platform_names import ParsedName
from autograder.collect.roster import Roster, Student
from autograder.collect.submission_store import STORE

IDENTITIES = "students.json"
Name = tuple[tuple[str, ...], str]
NOBODY = "does not say whose it is"
TWINS = "is of one of several students with this name, or of one who handed in twice"


@dataclass(frozen=True)
class Match:
    """Whose a file is.

    Attributes:
        students: their folders' names; of a team all members, else one or none.
        why: why it is nobody's.
    """

    students: tuple[str, ...] = ()
    why: str = ""


class StudentMatcher:
    """Give each student the same folder every time."""

    def __init__(self, root: Path, roster: Roster) -> None:
        """Read which folders earlier runs gave."""
        self.path = root / STORE / IDENTITIES
        self.roster = roster
        self.known: dict[str, str] = {}
        if self.path.is_file():
            self.known = json.loads(self.path.read_text(encoding="utf-8"))
        self.created: set[str] = set()

    def match(
        self, named: ParsedName, is_twin: bool = False, may_be_new: bool = True
    ) -> Match:
        """Say whose a file is: by number, then by id, then by name.

        An id that an instructor has put in front, as in `al1815 - …`, comes before all.

        Args:
            named: what its path says.
            is_twin: whether others have the same name.
            may_be_new: whether a student whom nobody knows gets a folder.
        """
        roster = self.roster
        if put_there := roster.by_whole_id(named.front):
            return Match((put_there,))
        if team := roster.team(named.people):
            return Match(tuple(one.id for one in team))
        if one := roster.by_number(named.user):
            return Match((one.id,))
        ids = roster.by_id(named.texts)
        people = [
            form for one in named.people for form in (one, roster.without_ids(one))
        ]
        meant = roster.by_name(people, named.platform, named.user)
        if one := _of_participant(meant, named.participant):
            return Match((one.id,))
        names = [student.id for student in meant]
        if len(ids) > 1:
            return Match(why=f"names several students: {', '.join(ids)}")
        if ids and names and ids[0] not in names:
            return Match(why=f"has the id {ids[0]}, but the name of {', '.join(names)}")
        if ids:
            return Match((ids[0],))
        has_full_name = bool(meant) and bool(meant[0].last)
        is_sure = not is_twin or (named.platform == "files" and has_full_name)
        if len(names) == 1 and is_sure:
            return Match((names[0],))
        if is_twin and (roster.is_given or named.platform != "canvas"):
            return Match(why=TWINS)
        if len(names) > 1:
            return Match(why=f"is of {' or '.join(names)}, who have one name")
        return self._not_in_roster(named, may_be_new)

    def _not_in_roster(self, named: ParsedName, may_be_new: bool) -> Match:
        """Return a folder made for whom no roster knows; none if a roster is given."""
        if not named.people:
            return Match(why=NOBODY)
        if self.roster.is_given and not named.is_anonymous:
            return Match(why=f"is of {named.people[0]}, who is not in the roster")
        name = f"name:{letters(named.people[0])}"
        key = f"{named.platform}:{named.user}" if named.user else name
        if key not in self.known:
            if not may_be_new:
                return Match(why=NOBODY)
            self.known[key] = self._new_name(named)
        if may_be_new:
            self.created.add(self.known[key])
        return Match((self.known[key],))

    def holder(self, named: ParsedName) -> str:
        """Return the known student in whose folder it lies, the outermost; else ""."""
        found = (self.roster.find([person]) for person in named.around)
        return next((student.id for student in found if student), "")

    def others(self, named: ParsedName, students: tuple[str, ...]) -> Iterator[str]:
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

    def _new_name(self, named: ParsedName) -> str:
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
        atomic_write(self.path, f"{text}\n".encode())
        atomic_write(self.path.with_name(".gitignore"), b"*\n")


def _of_participant(meant: Iterable[Student], participant: str) -> Student | None:
    """Return the one of namesakes who has Moodle's number, if the roster tells it."""
    fits = (one for one in meant if participant and one.participant == participant)
    return next(fits, None)


def twins_of_a_platform(all_named: Iterable[ParsedName]) -> set[Name]:
    """Return the names that have several of a platform's numbers in one archive."""
    numbers: dict[Name, set[str]] = defaultdict(set)
    for named in all_named:
        if named.number and not named.is_anonymous:
            numbers[name_in_archive(named)].add(named.number)
    return {name for name, found in numbers.items() if len(found) > 1}


def name_in_archive(named: ParsedName) -> Name:
    """Return a name, and where it stands."""
    return named.home[:-1], letters(named.people[0]) if named.people else ""


def twins_among_files(
    files: Sequence[tuple[IncomingNotebook, ParsedName, str]],
) -> set[int]:
    """Return which files may be of namesakes, by their places.

    Files that no platform named, with one name, of one unit, of different content, and
    not side by side in one folder: one student handed in twice, or two students once.

    Args:
        files: notebooks, what their paths say, and their units.
    """
    groups: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place, (_, named, slug) in enumerate(files):
        if named.platform == "files" and named.people:
            groups[slug, letters(named.people[0])].append(place)
    found: set[int] = set()
    for places in groups.values():
        contents = {files[place][0].content for place in places}
        if len(contents) > 1 and not _are_in_one_folder([files[n] for n in places]):
            found |= set(places)
    return found


def _are_in_one_folder(files: list[tuple[IncomingNotebook, ParsedName, str]]) -> bool:
    """Say whether one folder names the student of all these files."""
    paths = [incoming.parts for incoming, _, _ in files]
    homes = {named.home for _, named, _ in files}
    return len(homes) == 1 and homes.isdisjoint(paths) and len({*paths}) == len(paths)


def students_in_gradebook(folder: ClassFolder) -> Iterator[Student]:
    """Yield whom the gradebook knows; none if there is no gradebook yet."""
    path = folder.db_url.removeprefix("sqlite:///")
    if "sqlite" in folder.db_url and not Path(path).is_file():
        return
    with folder.open_gradebook() as gradebook:
        for one in gradebook.students:
            yield Student(
                one.id,
                one.first_name or "",
                one.last_name or "",
                one.email or "",
                one.lms_user_id or "",
            )

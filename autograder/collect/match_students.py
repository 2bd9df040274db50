"""Find the student who sent a file, and use one folder for each student."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.atomic_write import atomic_write
from autograder.collect.incoming import IncomingNotebook
from autograder.collect.name_cleaning import fold_id, folder_name, is_filling, letters
from autograder.collect.platform_names import ParsedName
from autograder.collect.roster import (
    Roster,
    Student,
    Words,
    are_one_name,
    words_of,
)
from autograder.collect.submission_store import STORE

IDENTITIES = "students.json"
Name = tuple[tuple[str, ...], str]
NOBODY = "does not say whose it is"
TWINS = (
    "is of one of several students with this name (accents do not count), or of one "
    "who handed in twice"
)
OF_MOODLE = f"{TWINS}: collect again with Moodle's grading worksheet as --roster"


@dataclass(frozen=True)
class Match:
    """Hold the students of one file.

    Attributes:
        students: the folder names of all members of a team, of one student, or of
            nobody.
        why: the reason if there is no student.
    """

    students: tuple[str, ...] = ()
    why: str = ""


class StudentMatcher:
    """Find the student of each file, and assign folders to new students."""

    def __init__(
        self, root: Path, roster: Roster, is_from_quarantine: bool = False
    ) -> None:
        """Read which folders earlier runs assigned.

        In the quarantine, an id before a file name, as in `al1815 - …`, was put there
        by the instructor and decides. Elsewhere a student may have written it.
        """
        self.path = root / STORE / IDENTITIES
        self.roster = roster
        self.is_from_quarantine = is_from_quarantine
        self.known: dict[str, str] = {}
        if self.path.is_file():
            self.known = json.loads(self.path.read_text(encoding="utf-8"))
        self.created: set[str] = set()

    def match(
        self, named: ParsedName, is_twin: bool = False, may_be_new: bool = True
    ) -> Match:
        """Find the student who sent a file from all the information in its path.

        A file matches a student only if nothing in its name contradicts the match. If
        several students share a key, such as an address, the student's name decides.

        Args:
            named: the parsed path.
            is_twin: whether other files have the same name.
            may_be_new: whether to assign a folder to an unknown student.
        """
        roster = self.roster
        if self.is_from_quarantine and (meant := roster.by_key(named.front)):
            return _only(meant, named.front)
        if named.submitters:
            return self._team_of(named.submitters, may_be_new)
        people = [
            form for one in named.people for form in (one, roster.without_keys(one))
        ]
        keys = self._keys(named)
        if team := roster.team(named.people):
            return _unless_another(team, named, [*keys.values()], roster)
        number = self._number(named)
        if numbered := roster.by_number(number):
            if len(numbered) == 1:
                return _unless_another_name(numbered[0], people, named, roster)
            keys[number] = numbered
        meant = roster.by_name(people, named.platform, number)
        if own := _of_participant(meant, named.participant):
            keys[named.participant] = own
        sure = {one.id: key for key, (one, *more) in keys.items() if not more}
        if len(sure) > 1:
            return Match(why=f"names several students: {', '.join(sure)}")
        if sure:
            ((id_, key),) = sure.items()
            others = [found for found in (*keys.values(), meant) if found]
            against = [found for found in others if id_ not in _ids(found)]
            if not against:
                return Match((id_,))
            theirs = " or ".join(_ids(against[0]))
            if against[0] is meant:
                return Match(why=f"has the id {id_}, but the name of {theirs}")
            return Match(why=f"has {key}, which is {id_}'s, and a key of {theirs}")
        return self._by_name(named, meant, keys, is_twin, may_be_new)

    def _number(self, named: ParsedName) -> str:
        """Return the student's number on a platform, or "" if no roster contains it.

        A roster may contain only Canvas's numbers. Without a roster, the numbers in the
        gradebook come from earlier files, so any platform's number may match.
        """
        is_known = named.platform == "canvas" or not self.roster.is_given
        return named.user if is_known else ""

    def _keys(self, named: ParsedName) -> dict[str, list[Student]]:
        """Return each id, address and login in a name, with the students it matches.

        A repository's name contains a login. If the login is also another student's id,
        it matches both students.
        """
        keys = self.roster.keys_in(named.texts)
        if named.platform == "git":
            for text in keys:
                both = (*keys[text], *self.roster.by_login(text))
                keys[text] = list({one.id: one for one in both}.values())
        return keys

    def _by_name(
        self,
        named: ParsedName,
        meant: list[Student],
        shared: Mapping[str, list[Student]],
        is_twin: bool,
        may_be_new: bool,
    ) -> Match:
        """Find the student of a file without a key that identifies one student."""
        for key, students in shared.items():
            both = [one for one in meant if one.id in _ids(students)]
            if not both:
                owners = " and ".join(_ids(students))
                but = f", but the name of {' or '.join(_ids(meant))}" if meant else ""
                return Match(why=f"has {key}, which {owners} share{but}")
            meant = both
        names = _ids(meant)
        has_full_name = bool(meant) and bool(meant[0].last)
        is_sure = not is_twin or (named.platform == "files" and has_full_name)
        if len(names) == 1 and is_sure:
            return Match((names[0],))
        if is_twin and (self.roster.is_given or not named.user):
            return Match(why=OF_MOODLE if named.platform == "moodle" else TWINS)
        if len(names) > 1:
            return Match(why=f"is of {' or '.join(names)}, who have one name")
        return self._not_in_roster(named, may_be_new)

    def _team_of(self, submitters: Sequence[ParsedName], may_be_new: bool) -> Match:
        """Return all members of a team, but only if each of them is known."""
        found = [self.match(one, may_be_new=may_be_new) for one in submitters]
        if bad := next((one for one in found if not one.students), None):
            return bad
        return Match(tuple(dict.fromkeys(one.students[0] for one in found)))

    def _not_in_roster(self, named: ParsedName, may_be_new: bool) -> Match:
        """Return a new student's folder, or no match if there is a roster."""
        if not named.people:
            return Match(why=NOBODY)
        if self.roster.is_given and not named.is_anonymous:
            return Match(why=f"is of {named.people[0]}, who is not in the roster")
        key = self._key_of_new(named)
        if key not in self.known:
            if not may_be_new:
                return Match(why=NOBODY)
            self.known[key] = self._new_name(named)
        if may_be_new:
            self.created.add(self.known[key])
        return Match((self.known[key],))

    def _key_of_new(self, named: ParsedName) -> str:
        """Return the key that identifies a student who is not in the roster."""
        if number := named.user or named.account:
            return f"{named.platform}:{number}"
        words = words_of(named.people[0])
        for key in self.known:
            kind, _, name = key.partition(":")
            if kind == "name" and are_one_name(tuple(name.split()), words):
                return key
        return f"name:{' '.join(words)}"

    def holder(self, named: ParsedName) -> str:
        """Return the known student whose name a surrounding folder has, or ""."""
        found = (self.roster.find([person]) for person in named.around)
        return next((student.id for student in found if student), "")

    def others(self, named: ParsedName, students: tuple[str, ...]) -> Iterator[str]:
        """Yield other people whose names occur inside the students' submission."""
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
        taken = {fold_id(one) for one in (*self.known.values(), *self.roster.students)}
        name = folder_name(named.people[0])
        if name in taken and named.user:
            name = f"{name}-{folder_name(named.user)}"
        number = 2
        while not name or fold_id(name) in taken:
            name, number = f"{folder_name(named.people[0])}-{number}", number + 1
        return name

    def rename(self, moves: Mapping[str, str]) -> None:
        """Use the students' new folder names from now on."""
        self.known = {key: moves.get(old, old) for key, old in self.known.items()}

    def save(self) -> None:
        """Save which folder each student has."""
        text = json.dumps(self.known, indent=1, ensure_ascii=False, sort_keys=True)
        atomic_write(self.path, f"{text}\n".encode())
        atomic_write(self.path.with_name(".gitignore"), b"*\n")


def _ids(students: Iterable[Student]) -> list[str]:
    return [one.id for one in students]


def _only(students: list[Student], key: str) -> Match:
    """Return the student with this key, or no match if several students share it."""
    if len(students) == 1:
        return Match((students[0].id,))
    return Match(why=f"has {key}, which {' and '.join(_ids(students))} share")


def _of_participant(meant: list[Student], participant: str) -> list[Student]:
    """Return the students with this Moodle number, if the roster has such numbers."""
    return [one for one in meant if participant and one.participant == participant]


def _unless_another(
    team: list[Student],
    named: ParsedName,
    keys: Iterable[list[Student]],
    roster: Roster,
) -> Match:
    """Return a team, unless the file's name also matches a student outside the team."""
    number = named.user if named.platform == "canvas" else ""
    found = [roster.by_number(number), *keys]
    found.append(roster.by_name(named.people, named.platform, number))
    outside = [one for one in found if one and not set(_ids(one)) & set(_ids(team))]
    if outside:
        theirs = " or ".join(_ids(outside[0]))
        return Match(why=f"names a team, and {theirs}, who is not in it")
    return Match(tuple(_ids(team)))


def _unless_another_name(
    student: Student, people: list[str], named: ParsedName, roster: Roster
) -> Match:
    """Return the student with a platform's number, unless the name contradicts it."""
    if not (student.first or student.last):
        return Match((student.id,))
    meant = roster.by_name(people, named.platform)
    own = set[Words]().union(*student.forms())
    is_own = any(are_one_name(form, words_of(one)) for form in own for one in people)
    if meant and not is_own and student.id not in _ids(meant):
        theirs = " or ".join(_ids(meant))
        return Match(why=f"has the number of {student.id}, but the name of {theirs}")
    return Match((student.id,))


def twins_of_a_platform(all_named: Iterable[ParsedName]) -> set[Name]:
    """Return the names that occur with several different numbers of a platform."""
    numbers: dict[Name, set[str]] = defaultdict(set)
    for named in all_named:
        if named.number and not named.is_anonymous:
            numbers[name_in_archive(named)].add(named.number)
    return {name for name, found in numbers.items() if len(found) > 1}


def name_in_archive(named: ParsedName) -> Name:
    """Return the folder in which a name occurs, and the name."""
    return named.home[:-1], letters(named.people[0]) if named.people else ""


def twins_among_files(
    files: Sequence[tuple[IncomingNotebook, ParsedName, str]],
) -> set[int]:
    """Return the indices of files that may come from students with the same name.

    Such files have the same student name and unit but different contents. They do not
    come from a platform and are not together in one folder. Either one student handed
    in twice, or two students with the same name handed in once.

    Args:
        files: notebooks, their parsed paths and their units.
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
    """Return whether one folder names the student of all these files."""
    paths = [incoming.parts for incoming, _, _ in files]
    homes = {named.home for _, named, _ in files}
    return len(homes) == 1 and homes.isdisjoint(paths) and len({*paths}) == len(paths)

"""Parse the names that learning platforms give to submitted files.

- Canvas: `lastfirst_LATE_USER_FILE_04_attention-1.ipynb`, all files in one folder.
  `LATE` marks a late submission, and `-1` a name that was uploaded before. With
  anonymous marking: `LATE_anon_aB3dE_FILE_04_attention.ipynb`. A text or link that a
  student entered has no file number: `lastfirst_USER_text.html`.
- Moodle: `First Last_NUMBER_assignsubmission_file_/04_attention.ipynb`, or the same as
  one file name. The number differs from assignment to assignment. With blind marking:
  `Participant_NUMBER_assignsubmission_file_`. With teams: `Team 1-First Last`.
- Brightspace: a folder for each attempt, `USER-ITEM - First Last - Nov 2, 2026 1015
  PM`.
- Gradescope: a folder `submission_NUMBER/`. The students are listed in
  `submission_metadata.yml`, which `gradescope.py` reads.
- Google Classroom and Drive: `First Last - 04_attention.ipynb`, `Copy of 04_…`, `04_…
  (1).ipynb`. The name of the file or of a folder contains the student's name.
- Git: each student's repository is a folder, `04-attention-ada` or `ada`. The names of
  the files in it do not identify the student.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from autograder.collect.name_cleaning import (
    may_be_a_name,
    spaced,
    stem_of,
    without_filling,
    without_units,
)

CANVAS = re.compile(
    r"(?P<name>|\d*[^\W\d_].*?)_(?:(?P<late>LATE)_)?(?P<user>\d{1,18})_"
    r"(?P<file>\d{1,18})_(?P<rest>.+)",
    re.DOTALL,
)
CANVAS_ENTRY = re.compile(
    r"(?P<name>|\d*[^\W\d_].*?)_(?:(?P<late>LATE)_)?(?P<user>\d{1,18})_"
    r"(?P<rest>(?:text|link|url)\.html)"
)
ANONYMOUS = re.compile(
    r"(?:(?P<late>LATE)_)?(?P<name>anon_(?P<user>[A-Za-z0-9]{1,12}))_"
    r"(?:(?P<late_too>LATE)_)?(?P<file>\d{1,18})_(?P<rest>.+)",
    re.DOTALL,
)
MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<user>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)",
    re.DOTALL,
)
BRIGHTSPACE = re.compile(
    r"(?P<user>\d+)-\d+ ?- (?P<name>.+?) ?- (?P<when>[^-]*\b20\d\d\b[^-]*?)"
    r"(?: - (?P<rest>.+))?",
    re.DOTALL,
)
# Moodle's word for an anonymous participant in the most common languages.
PARTICIPANT = re.compile(
    r"(?:participant|participante|partecipante|teilnehmer(?:[ /*:_]?in)?|deelnemer|"
    r"deltagare|deltaker|deltager|uczestnik|участник|参加者|参与者|參與者|참가자|참여자)",
    re.I,
)
TEAM = re.compile(
    r".*\d.*|.*\b(?:group|team|gruppe|groupe|grupo|gruppo|equipo)\b.*", re.I
)
GRADESCOPE_LIST = "submission_metadata.yml"
PLATFORMS = (ANONYMOUS, MOODLE, BRIGHTSPACE, CANVAS, CANVAS_ENTRY)
BRANCH = re.compile(r"(?<=\w)-(?:main|master)$")  # end of a folder name in a GitHub zip
INNER_LEVELS = 4  # number of nested names that are parsed


@dataclass(frozen=True)
class ParsedName:
    """Hold the information that a path gives about a submission.

    Attributes:
        platform: "canvas", "moodle", "brightspace", "gradescope", "nbgrader", "git" or
            "files".
        people: possible names of the student, the most likely name first.
        stem: the file's own name, without the platform's additions, copy marks and
            suffix.
        user: the platform's number for the student in the whole course.
        account: Gradescope's id or address for the student.
        participant: Moodle's number for the student in this assignment.
        file: the platform's number for the file; later files have larger numbers.
        version: the number of the copy, such as 2 in "(2)" or "-2".
        late: whether the platform marks it as late.
        is_anonymous: whether the platform hides the name.
        texts: texts that may contain a student's id.
        front: the text before the first " - ", if the name is not from a platform.
        home: the part of the path that names the student, and all parts before it.
        around: possible names in the folders around that name, the outermost first.
        inner: the rest of the path, which the student chose and which never determines
            the owner.
        submitters: the members of a team, if the platform lists them.
    """

    platform: str
    people: tuple[str, ...]
    stem: str
    user: str = ""
    file: int | None = None
    version: int = 0
    late: bool = False
    participant: str = ""
    account: str = ""
    is_anonymous: bool = False
    texts: tuple[str, ...] = ()
    front: str = ""
    home: tuple[str, ...] = ()
    around: tuple[str, ...] = ()
    inner: ParsedName | None = None
    submitters: tuple[ParsedName, ...] = ()

    @property
    def number(self) -> str:
        """Return the platform's number for the student, in the course or assignment."""
        return self.user or self.participant


def parse_path(
    parts: tuple[str, ...], slugs: tuple[str, ...], levels: int = INNER_LEVELS
) -> ParsedName:
    """Parse a path; `slugs` are the names of the units.

    The outermost name in a platform's format counts, because the student chose the
    inner names.
    """
    for index, part in enumerate(parts):
        if found := match_platform(part):
            named = _named(found, index, parts)
            around = _names_of_folders(parts[:index], slugs)
            inside = (found["rest"] or "", *parts[index + 1 :])
            inner = parse_path(inside, slugs, levels - 1) if levels else None
            home = parts[: index + 1]
            return replace(named, around=around, inner=inner, home=home)
    stem, version = stem_of(parts[-1])
    if len(parts) == 3 and parts[1] in slugs:
        person = parts[:1]
        return ParsedName(
            "nbgrader", person, stem, version=version, texts=person, home=person
        )
    return _of_files(parts, slugs)


def parse_repository_path(
    parts: tuple[str, ...], depth: int, slugs: tuple[str, ...]
) -> ParsedName:
    """Parse a path whose first `depth` parts lead to a Git clone."""
    stem, version = stem_of(parts[-1])
    name = _without_classroom(BRANCH.sub("", parts[depth - 1]), slugs)
    text = without_units(name, slugs)
    return ParsedName(
        "git",
        tuple(_people([text])),
        stem,
        version=version,
        texts=(text,),
        front=_front(parts[depth - 1]),
        home=parts[:depth],
        around=_names_of_folders(parts[: depth - 1], slugs),
        inner=parse_path(parts[depth:], slugs),
    )


def _without_classroom(name: str, slugs: tuple[str, ...]) -> str:
    """Remove the classroom from the name of a Classroom 50 repository.

    Such a name is `CLASSROOM-UNIT-LOGIN` in lower case, with `-` between the words.
    """
    for slug in slugs:
        unit = re.escape(slug.replace("_", "-"))
        if found := re.fullmatch(rf"[a-z0-9-]+-({unit}-[a-z0-9-]+)", name):
            return found[1]
    return name


def match_platform(part: str) -> re.Match[str] | None:
    """Match a name from a platform; if two formats match, use the shorter name."""
    found = [pattern.fullmatch(part) for pattern in PLATFORMS]
    return min(filter(None, found), key=lambda one: one.end("name"), default=None)


def _named(found: re.Match[str], index: int, parts: tuple[str, ...]) -> ParsedName:
    """Parse the platform's name at `index` and the last part's own name."""
    rest = found["rest"]
    own = rest if index == len(parts) - 1 else parts[-1]
    if found.re is MOODLE:
        return _of_moodle(spaced(found["name"]), found["user"], own)
    if found.re is BRIGHTSPACE:
        return _of_brightspace(found, own or parts[-1])
    is_anonymous = found.re is ANONYMOUS
    return ParsedName(
        "canvas",
        (found["name"],) if found["name"] else (),
        stem_of(own, dashed=True)[0],
        user=found["user"],
        file=None if found.re is CANVAS_ENTRY else int(found["file"]),
        version=stem_of(rest, dashed=True)[1],
        late=bool(found["late"] or (is_anonymous and found["late_too"])),
        is_anonymous=is_anonymous,
        texts=() if is_anonymous or not found["name"] else (found["name"],),
    )


def _of_brightspace(found: re.Match[str], own: str) -> ParsedName:
    """Parse a Brightspace name, which may start with an id such as `N01 - `."""
    stem, version = stem_of(own)
    before, _, last = found["name"].rpartition(" - ")
    name = spaced(last)
    return ParsedName(
        "brightspace",
        (name,),
        stem,
        user=found["user"],
        version=version,
        texts=tuple(filter(None, (name, before.strip()))),
    )


def time_of_brightspace(part: str) -> datetime | None:
    """Return the time in a folder's name, interpreted in this machine's time zone."""
    found = match_platform(part)
    if found is None or found.re is not BRIGHTSPACE:
        return None
    try:
        moment = datetime.strptime(found["when"].strip(), "%b %d, %Y %I%M %p")
    except ValueError:
        return None
    return moment.astimezone(UTC)


def _of_moodle(name: str, number: str, own: str) -> ParsedName:
    """Parse a Moodle name, which may start with a team such as `Team 1-`."""
    stem, version = stem_of(own)
    last = name.rpartition("-")[2].strip()
    if PARTICIPANT.fullmatch(last):
        people, is_anonymous = [f"{last} {number}"], True
    else:
        cuts = [found.start() for found in re.finditer("-", name)]
        after = [name[cut + 1 :].strip() for cut in cuts]
        teams = [person for cut, person in zip(cuts, after, strict=True)
                 if TEAM.fullmatch(name[:cut])]  # fmt: skip
        order = [*teams[:1], name, *after]
        people, is_anonymous = list(filter(None, dict.fromkeys(order))), False
    return ParsedName(
        "moodle",
        tuple(people),
        stem,
        version=version,
        participant=number,
        is_anonymous=is_anonymous,
        texts=(people[0],) if is_anonymous else (name,),
    )


def _of_files(parts: tuple[str, ...], slugs: tuple[str, ...]) -> ParsedName:
    """Parse a path in which no part is in a platform's format."""
    stem, version = stem_of(parts[-1])
    folders = [BRANCH.sub("", stem_of(folder)[0]) for folder in reversed(parts[:-1])]
    ends = [stem, *folders]
    texts = [without_units(text, slugs) for text in ends]
    people = tuple(_people(texts))
    place = next(
        (i for i, text in enumerate(texts) if people and _says(text, people[0])), 0
    )
    return ParsedName(
        "files",
        people,
        stem,
        version=version,
        texts=tuple(texts),
        front=_front(parts[-1]),
        home=parts[: len(parts) - place],
        around=_names_of_folders(parts[:-1], slugs),
    )


def _front(name: str) -> str:
    """Return the text before the first " - "; an instructor can put an id there."""
    return name.partition(" - ")[0].strip() if " - " in name else ""


def _says(text: str, person: str) -> bool:
    return person in (text, without_filling(text))


def _names_of_folders(
    folders: tuple[str, ...], slugs: tuple[str, ...]
) -> tuple[str, ...]:
    """Return possible names in the surrounding folders, the outermost first."""
    plain = [without_units(stem_of(folder)[0], slugs) for folder in folders]
    return tuple(without_filling(one) or one for one in plain)


def _people(texts: list[str]) -> Iterator[str]:
    """Yield possible names of the student, the most likely name first.

    First come names without filler words such as "final"; among these, names of several
    words come first, and inner names precede outer ones. Then come the names with
    filler words, because these words may be part of a real name. Names without numbers
    come last, because they match only rosters without numbers.
    """
    bare = [one if may_be_a_name(one) else "" for one in map(without_filling, texts)]
    sure = [person for person in bare if " " in person]
    more = [whole for whole, person in zip(texts, bare, strict=True) if person]
    plain = (" ".join(re.sub(r"(?<!\S)\d{1,4}(?!\S)", "", p).split()) for p in bare)
    yield from dict.fromkeys(filter(None, [*sure, *bare, *more, *plain]))

"""Parse the names that learning platforms give to submitted files.

Canvas: `lastfirst_LATE_USER_FILE_04_attention-1.ipynb`, in one flat archive; LATE
only where it is, and `-1` where the same name was uploaded before. Where marking is
anonymous: `LATE_anon_aB3dE_FILE_04_attention.ipynb`. A text or a link that was entered
has no number of a file: `lastfirst_USER_text.html`.
Moodle: `First Last_NUMBER_assignsubmission_file_/04_attention.ipynb`, or the same in
one flat name; the number is another one in each assignment. Where marking is blind:
`Participant_NUMBER_assignsubmission_file_`; where teams hand in, `Team 1-First Last`.
Brightspace: a folder for each attempt, `USER-ITEM - First Last - Nov 2, 2026 1015 PM`.
Gradescope: `submission_NUMBER/`; `submission_metadata.yml` says whose (gradescope.py).
Google Classroom and Drive: `First Last - 04_attention.ipynb`, `Copy of 04_…`,
`04_… (1).ipynb`; the student's name is in the file's name or in a folder's.
Git: each student's repository is a folder, `04-attention-ada` or `ada`; what lies in
it, and how it is called there, says nothing about whose it is.
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
# What Moodle calls whom it does not name, in the languages that it speaks most.
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
BRANCH = re.compile(r"(?<=\w)-(?:main|master)$")  # as GitHub's zip of a repository ends
INNER_LEVELS = 4  # names within names that are looked at


@dataclass(frozen=True)
class ParsedName:
    """What a path says about a submission.

    Attributes:
        platform: "canvas", "moodle", "brightspace", "gradescope", "nbgrader", "git" or
            "files".
        people: what may be the student's name, the likeliest first.
        stem: the file's own name, without platform, copies and suffix.
        user: the platform's number of the student, for the whole course.
        account: the id or the address that Gradescope has of the student.
        participant: Moodle's number of the student, in this assignment.
        file: the platform's number of the file: later ones are greater.
        version: how often the name was used before: "(2)", "-2".
        late: whether the platform says that it came late.
        is_anonymous: whether the platform hides the name.
        texts: where a student's id may stand.
        front: what stands before the first " - ", where no platform wrote the name.
        home: the part of the path that names the student, and all before it.
        around: what may be names in the folders around that name, the outermost first.
        inner: what the rest says, which the student wrote: never whose it is.
        submitters: each of a team, where the platform names them one by one.
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
        """Return the platform's number of the student, whatever it is good for."""
        return self.user or self.participant


def parse_path(
    parts: tuple[str, ...], slugs: tuple[str, ...], levels: int = INNER_LEVELS
) -> ParsedName:
    """Read what a path says; `slugs` are the names of the units.

    The outermost name that a platform wrote counts: the student chose those inside it.
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
    """Read what a path says whose first `depth` parts lead to a clone of Git's."""
    stem, version = stem_of(parts[-1])
    text = without_units(BRANCH.sub("", parts[depth - 1]), slugs)
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


def match_platform(part: str) -> re.Match[str] | None:
    """Return what a platform wrote: of two readings the one with the shorter name."""
    found = [pattern.fullmatch(part) for pattern in PLATFORMS]
    return min(filter(None, found), key=lambda one: one.end("name"), default=None)


def _named(found: re.Match[str], index: int, parts: tuple[str, ...]) -> ParsedName:
    """Return what the part at `index` says, and the last part's own name."""
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
    """Return what Brightspace says; before a name an id may stand, as `N01 - `."""
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
    """Return the time in a folder's name, which is one of this machine's zone."""
    found = match_platform(part)
    if found is None or found.re is not BRIGHTSPACE:
        return None
    try:
        moment = datetime.strptime(found["when"].strip(), "%b %d, %Y %I%M %p")
    except ValueError:
        return None
    return moment.astimezone(UTC)


def _of_moodle(name: str, number: str, own: str) -> ParsedName:
    """Return what Moodle says; before a name may stand a team's, as `Team 1-`."""
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
    """Return what a path says that no platform wrote."""
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
    """Return what stands before the first " - ", where an instructor puts an id."""
    return name.partition(" - ")[0].strip() if " - " in name else ""


def _says(text: str, person: str) -> bool:
    return person in (text, without_filling(text))


def _names_of_folders(
    folders: tuple[str, ...], slugs: tuple[str, ...]
) -> tuple[str, ...]:
    """Return what may be names in the folders around, the outermost first."""
    plain = [without_units(stem_of(folder)[0], slugs) for folder in folders]
    return tuple(without_filling(one) or one for one in plain)


def _people(texts: list[str]) -> Iterator[str]:
    """Yield what may be the student's name, the innermost of several words first.

    Without filling words such as "final"; then with them, for who is called so; at last
    without numbers, for a roster that knows none.
    """
    bare = [one if may_be_a_name(one) else "" for one in map(without_filling, texts)]
    sure = [person for person in bare if " " in person]
    more = [whole for whole, person in zip(texts, bare, strict=True) if person]
    plain = (" ".join(re.sub(r"(?<!\S)\d{1,4}(?!\S)", "", p).split()) for p in bare)
    yield from dict.fromkeys(filter(None, [*sure, *bare, *more, *plain]))

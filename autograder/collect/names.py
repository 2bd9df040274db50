"""Take apart the names that learning platforms give to submitted files.

Canvas: `lastfirst_LATE_USER_FILE_04_attention-1.ipynb`, in one flat archive; LATE
only where it is, and `-1` where the same name was uploaded before.
Moodle: `First Last_NUMBER_assignsubmission_file_/04_attention.ipynb`, or the same in
one flat name; the number is another one in each assignment.
Google Classroom and Drive: `First Last - 04_attention.ipynb`, `Copy of 04_…`,
`04_… (1).ipynb`; the student's name is in the file's name or in a folder's.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

CANVAS = re.compile(
    r"(?P<name>[^\W\d].*?)_(?:(?P<late>LATE)_)?(?P<user>\d{1,18})_"
    r"(?P<file>\d{1,18})_(?P<rest>.+)",
    re.DOTALL,
)
MOODLE = re.compile(
    r"(?P<name>.+?)_(?P<user>\d+)_assignsubmission_(?:file|onlinetext)_?(?P<rest>.*)",
    re.DOTALL,
)
COPY_OF = re.compile(r"(?:copy[ _]of|kopie[ _]von|copie[ _]de|copia[ _]de)[ _]+", re.I)
COUNTED = re.compile(
    r"(?:[ _]?\((?P<brackets>\d{1,3})\)|-(?P<dash>\d{1,2})"
    r"|(?P<word>[ _-]+(?:copy|kopie)(?:[ _](?P<nth>\d+))?))$",
    re.I,
)
FILLING = """
abgabe answer answers assignment assignments attempt backup colab completed copy done
drive download draft edited exercise export file files final finished hand handin
homework hw in ipynb last lab late latest new notebook notebooks of old projects
solution solutions solved submission submissions submit submitted the unit untitled
update updated upload uploads v version week work zip
"""
INNER_LEVELS = 4  # names within names that are looked at
NOISE = frozenset(FILLING.split())  # what people and platforms add to names


@dataclass(frozen=True)
class Named:
    """What a path says about a submission.

    Attributes:
        platform: "canvas", "moodle", "nbgrader" or "files".
        people: what may be the student's name, the likeliest first.
        stem: the file's own name, without platform, copies and suffix.
        user: the platform's number of the student, for the whole course.
        participant: Moodle's number of the student, in this assignment.
        file: the platform's number of the file: later ones are greater.
        version: how often the name was used before: "(2)", "-2".
        late: whether the platform says that it came late.
        around: what may be names in the folders around that name, the outermost first.
        inner: what the rest says, which the student wrote: never whose it is.
    """

    platform: str
    people: tuple[str, ...]
    stem: str
    user: str = ""
    file: int | None = None
    version: int = 0
    late: bool = False
    participant: str = ""
    around: tuple[str, ...] = ()
    inner: Named | None = None


def take_apart(
    parts: tuple[str, ...], slugs: tuple[str, ...], levels: int = INNER_LEVELS
) -> Named:
    """Read what a path says; `slugs` are the names of the units.

    The outermost name that a platform wrote counts: the student chose those inside it.
    """
    for index, part in enumerate(parts):
        if found := _of_a_platform(part):
            named = _named(found, index, parts)
            around = _names_of_folders(parts[:index], slugs)
            inside = (found["rest"], *parts[index + 1 :])
            inner = take_apart(inside, slugs, levels - 1) if levels else None
            return replace(named, around=around, inner=inner)
    stem, version = _stem(parts[-1])
    if len(parts) == 3 and parts[1] in slugs:
        return Named("nbgrader", (parts[0],), stem, version=version)
    people = tuple(_people(stem, parts[:-1], slugs))
    around = _names_of_folders(parts[:-1], slugs)
    return Named("files", people, stem, version=version, around=around)


def _of_a_platform(part: str) -> re.Match[str] | None:
    """Return what a platform wrote: of two readings the one with the shorter name."""
    found = [pattern.fullmatch(part) for pattern in (MOODLE, CANVAS)]
    return min(filter(None, found), key=lambda one: one.end("name"), default=None)


def _named(found: re.Match[str], index: int, parts: tuple[str, ...]) -> Named:
    """Return what the part at `index` says, and the last part's own name."""
    rest = found["rest"]
    own = rest if index == len(parts) - 1 else parts[-1]
    if found.re is MOODLE:
        stem, version = _stem(own)
        people, number = (_spaced(found["name"]),), found["user"]
        return Named("moodle", people, stem, version=version, participant=number)
    return Named(
        "canvas",
        (found["name"],),
        _stem(own)[0],
        user=found["user"],
        file=int(found["file"]),
        version=_stem(rest)[1],
        late=bool(found["late"]),
    )


def _names_of_folders(
    folders: tuple[str, ...], slugs: tuple[str, ...]
) -> tuple[str, ...]:
    """Return what may be names in the folders around, the outermost first."""
    plain = [_without_units(_stem(folder)[0], slugs) for folder in folders]
    return tuple(_without_filling(one) or one for one in plain)


def _stem(name: str) -> tuple[str, int]:
    """Return a file's name without suffix and copies, and the number of its copy."""
    stem = re.sub(r"(\.ipynb|\.zip|\.txt|\.json)+$", "", name.strip(), flags=re.I)
    version = 0
    while True:
        if found := COPY_OF.match(stem):
            stem = stem[found.end() :]
        elif found := COUNTED.search(stem):
            number = found["brackets"] or found["dash"] or found["nth"]
            version = max(version, int(number or 1))
            stem = stem[: found.start()]
        else:
            return stem.strip(), version


def _people(
    stem: str, folders: tuple[str, ...], slugs: tuple[str, ...]
) -> Iterator[str]:
    """Yield what may be the student's name, the innermost of several words first.

    Without filling words such as "final"; and with them, for who is called so.
    """
    texts = [stem, *(_stem(folder)[0] for folder in reversed(folders))]
    full = [_without_units(text, slugs) for text in texts]
    bare = [_without_filling(one) for one in full]
    sure = [person for person in bare if " " in person]
    more = [whole for whole, person in zip(full, bare, strict=True) if person]
    yield from dict.fromkeys(filter(None, [*sure, *bare, *more]))


def _without_filling(text: str) -> str:
    """Drop filling words; next to a single word, those in capitals may be a name."""
    words = text.split()
    kept = [word for word in words if not _is_noise(word)]
    if len(kept) == 1:
        kept = [w for w in words if w in kept or (w[0].isupper() and w.isalpha())]
    return " ".join(kept)


def is_filling(text: str) -> bool:
    """Say whether a name is no name: `final` in `final_04_11_attention.ipynb`."""
    return not _without_filling(_spaced(text))


def _without_units(text: str, slugs: tuple[str, ...]) -> str:
    for slug in slugs:
        words = r"[\s_-]+".join(map(re.escape, slug.split("_")))
        text = re.sub(words, " ", text, flags=re.I)
    return _spaced(text)


def _is_noise(word: str) -> bool:
    bare = word.casefold().strip(".,;()[]'\"")
    numbered = re.fullmatch(r"v?\d+[a-z]?|\S*\d{8}t\d{6}z\S*|20\d\d\w*", bare)
    return bare in NOISE or bool(numbered) or not re.search(r"[^\W\d_]", bare)


def _spaced(text: str) -> str:
    return re.sub(r"\s+-\s+|[_\s]+|^-|-$", " ", text).strip(" -")


def letters(text: str) -> str:
    """Return the letters and digits of a name alone, without accents or case."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    return "".join(letter for letter in plain if letter.isalnum())


def folder_name(text: str) -> str:
    """Return a name that is safe as a folder's: `jane-smith`; "" if nothing is left."""
    plain = unicodedata.normalize("NFC", text).casefold()
    words = re.findall(r"[\w.]+", plain)
    return "-".join(words).strip("._-")[:60].strip("._-")

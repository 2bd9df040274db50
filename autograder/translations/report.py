"""Report how many English words of each catalogue are translated, stale and missing."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from babel.messages.catalog import Message as Entry

from autograder.course import Course
from autograder.translations.catalogue import entries, read
from autograder.translations.faults import faults_of
from autograder.translations.sources import has_fields, locale_dir

RECORD = "done.json"  # the smallest share that each catalogue may have
ONE_WORD = re.compile(r"\$[^$]*\$|`[^`]*`")


@dataclass(frozen=True)
class State:
    """Hold the progress of a catalogue, counted in English words.

    Attributes:
        name: a name such as `notebooks/04_attention.po`.
        done: words with a current translation.
        stale: words that were translated before the English changed.
        missing: words without a translation.
    """

    name: str
    done: int
    stale: int
    missing: int

    @property
    def words(self) -> int:
        """Return the number of words in the catalogue."""
        return self.done + self.stale + self.missing

    @property
    def share(self) -> float:
        """Return the share of words with a current translation."""
        return self.done / self.words if self.words else 1.0


def catalogues(course: Course) -> list[tuple[str, Path]]:
    """Return the name and the path of each catalogue."""
    return catalogues_in(locale_dir(course))


def catalogues_in(folder: Path) -> list[tuple[str, Path]]:
    """Return the name and the path of each catalogue in a language's folder."""
    paths = sorted(folder.rglob("*.po"))
    return [(path.relative_to(folder).as_posix(), path) for path in paths]


def state(name: str, path: Path) -> State:
    """Count the words of a catalogue."""
    done = stale = missing = 0
    for entry in entries(read(path)):
        number = len(ONE_WORD.sub("X", str(entry.id)).split())
        if entry.fuzzy:
            stale += number
        elif entry.string:
            done += number
        else:
            missing += number
    return State(name, done, stale, missing)


def states(course: Course) -> list[State]:
    """Return the state of every catalogue."""
    return [state(name, path) for name, path in catalogues(course)]


def faults_in(name: str, path: Path) -> Iterator[str]:
    """Yield the errors in a catalogue's translations, with the English sentences."""
    found = entries(read(path))
    if name.endswith("/glossary.po"):
        yield from _same_terms(name, found)
    for entry in found:
        for fault in faults_of(entry, has_fields(name)):
            text = " ".join(str(entry.id).split())
            yield f"{name}: {fault}\n    in: {text[:100]}"


def _same_terms(name: str, found: list[Entry]) -> Iterator[str]:
    """Yield translations that two terms share; Sphinx accepts each term only once."""
    words = Counter(str(entry.string) for entry in found if not entry.fuzzy)
    for word, number in words.items():
        if word and number > 1:
            yield f"{name}: {number} terms have the same translation: {word}"


def table(found: list[State]) -> Iterator[str]:
    """Yield the lines of a table with all states and the total."""
    total = State(
        "all",
        sum(one.done for one in found),
        sum(one.stale for one in found),
        sum(one.missing for one in found),
    )
    yield f"{'':40}{'words':>8}{'done':>8}{'stale':>8}{'missing':>9}"
    for one in [*found, total]:
        share = f"{100 * one.share:.1f} %" if one.share < 1 else "100 %"
        yield f"{one.name:40}{one.words:8}{share:>8}{one.stale:8}{one.missing:9}"


def recorded(course: Course) -> dict[str, float]:
    """Return the recorded share of each catalogue."""
    path = locale_dir(course) / RECORD
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


def record(course: Course, found: list[State]) -> None:
    """Record the shares, even if a share has fallen."""
    shares = {one.name: round(one.share, 4) for one in found if one.done}
    path = locale_dir(course) / RECORD
    path.write_text(json.dumps(shares, indent=1) + "\n", encoding="utf-8")


def fallen(found: list[State], shares: Mapping[str, float]) -> Iterator[str]:
    """Yield the catalogues whose share is below the recorded share."""
    for one in found:
        before = shares.get(one.name, 0.0)
        if one.share < before - 0.0001:
            yield (
                f"{one.name}: {one.share:.1%} is done, and it was {before:.1%}: "
                "translate what is empty or marked `#, fuzzy`"
            )

"""Find names that may be those of several students."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from autograder.collect.incoming import Incoming
from autograder.collect.names import Named
from autograder.collect.words import letters

Name = tuple[tuple[str, ...], str]


def twins_of_a_platform(all_named: Iterable[Named]) -> set[Name]:
    """Return the names that have several of a platform's numbers in one archive."""
    numbers: dict[Name, set[str]] = defaultdict(set)
    for named in all_named:
        if named.number and not named.is_anonymous:
            numbers[name_in_archive(named)].add(named.number)
    return {name for name, found in numbers.items() if len(found) > 1}


def name_in_archive(named: Named) -> Name:
    """Return a name, and where it stands."""
    return named.home[:-1], letters(named.people[0]) if named.people else ""


def twins_among_files(files: Sequence[tuple[Incoming, Named, str]]) -> set[int]:
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


def _are_in_one_folder(files: list[tuple[Incoming, Named, str]]) -> bool:
    """Say whether one folder names the student of all these files."""
    paths = [incoming.parts for incoming, _, _ in files]
    homes = {named.home for _, named, _ in files}
    return len(homes) == 1 and homes.isdisjoint(paths) and len({*paths}) == len(paths)

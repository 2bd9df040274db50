"""Update the catalogues to match the English text, and report outdated ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from autograder.course import Course
from autograder.translations.catalogue import Message, read, updated
from autograder.translations.sources import PAGES, locale_dir

THEME = f"{PAGES}/sphinx.po"  # words of Sphinx and its theme, edited by hand


def outdated(
    course: Course, messages: Mapping[str, Sequence[Message]]
) -> Iterator[tuple[Path, str | None]]:
    """Yield each outdated catalogue and its new text, or None if it must be removed."""
    folder = locale_dir(course)
    for name, texts in messages.items():
        path = folder / name
        new = updated(read(path), texts)
        if not path.is_file() or path.read_text("utf-8") != new:
            yield path, new
    rooms = {name.rpartition("/")[0] for name in messages}
    for room in sorted(rooms):
        for path in sorted((folder / room).glob("*.po")):
            name = path.relative_to(folder).as_posix()
            if name not in messages and name != THEME:
                yield path, None


def update(course: Course, messages: Mapping[str, Sequence[Message]]) -> list[Path]:
    """Rewrite the outdated catalogues, and return their paths."""
    changed = []
    for path, text in outdated(course, messages):
        if text is None:
            path.unlink()
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        changed.append(path)
    return changed

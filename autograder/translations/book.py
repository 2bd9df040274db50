"""Extract the messages of the book's pages with Sphinx's gettext builder."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from babel.messages.pofile import read_po

from autograder.course import Course
from autograder.translations.catalogue import Message
from autograder.translations.markdown import has_words

THEME = "sphinx"  # words of templates, in a catalogue that is edited by hand
ROLE = re.compile(r"\{[a-z:-]+\}`([^`<]*)(<[^`]*>)?`")


class ExtractionError(RuntimeError):
    """Report that the messages of the book could not be extracted."""


def messages(course: Course) -> dict[str, list[Message]]:
    """Return the messages of each page; the key is the page's name.

    Sphinx executes the chapters that are not in its cache.

    Raises:
        ExtractionError: if the book cannot be built.
    """
    with tempfile.TemporaryDirectory(prefix="course-messages-") as folder:
        script = course.root / "book" / "build.py"
        command = [sys.executable, str(script), "--messages", folder]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise ExtractionError(
                f"{done.stdout}{done.stderr}\nThe book does not build."
            )
        found = sorted((Path(folder) / "_build" / "gettext").glob("*.pot"))
        return {one.stem: page_messages(one) for one in found if one.stem != THEME}


def page_messages(path: Path) -> list[Message]:
    """Return the messages in a page's template that contain words to translate.

    A paragraph that is only a formula is not a message, because MyST-Parser would lose
    the formula.
    """
    with path.open("rb") as file:
        texts = [str(entry.id) for entry in read_po(file) if entry.id]
    return [Message(text) for text in texts if is_translated(text)]


def is_translated(text: str) -> bool:
    """Return whether a message contains words to translate."""
    own = ROLE.sub(lambda role: role[1] if role[2] or "term" in role[0] else "", text)
    return not text.startswith("\n") and has_words(own)

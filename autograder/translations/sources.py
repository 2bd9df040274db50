"""All messages of the course, by the catalogue that holds them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import nbformat

from autograder.course import Course, Unit
from autograder.translations import book, markdown, notebooks, phrases, scripts
from autograder.translations.catalogue import LANGUAGE, Message
from autograder.translations.unit_table import PAGES, PUBLISHED, README, locale_of

NOTEBOOKS, FEEDBACK = "notebooks", "feedback"
SHARED = f"{NOTEBOOKS}/shared.po"
CHECKING, GRADER = f"{FEEDBACK}/checking.po", f"{FEEDBACK}/grader.po"
BOOK = "book.po"  # what the book's own code writes
FEEDBACK_WORDS = "nbgrader_steps/feedback*.py"
UNIT_TABLE = "translations/unit_table.py"
PAGES_OF_GRADER = f"{FEEDBACK}/pages.po"
REPORT = f"{FEEDBACK}/report.po"  # of a class
REPORT_WORDS = ("pages/class_report/*.j2", "class_report/*.py")
UNITS = re.compile(
    r"<!-- units:.*?<!-- end of units -->", re.DOTALL
)  # a table of facts
# Where the grader puts what a student reads into words.
GRADER_FILES = (
    *("grading/earlier_exercises", "grading/feedback_table", "grading/points"),
    "grading/running",
    *("grading/written_answers", "repair/fences", "repair/finding", "repair/matching"),
    *("repair/reading", "repair/rebuild", "repair/slots", "sandbox/error_words"),
    *(
        "sandbox/handles",
        "sandbox/isolated",
        "sandbox/student_side/watching",
        "sandbox/parent_line",
        "sandbox/transport",
        "sandbox/student",
    ),
    *("sandbox/warm_parent", "written/substance", "nbgrader_steps/feedback"),
)
# Words that checks put into their sentences, each too short to be found as a phrase.
SHORT = (
    *("first", "second", "third", "fourth", "fifth", "axis", "axes", "head"),
    *("bools", "numbers", "infinity", "a {kind}", "an {kind}"),
    *("self-attention", "cross-attention", "the new state without x"),
    "the new state without b_x",
)
# Sentences that the code puts together out of several strings.
JOINED = (
    "This looks like {mistake}.",
    "{name} raised {kind}: {quoted} (line {number} of its cell: {code})",
    "{name} raised {kind} (line {number} of its cell: {code})",
    "{name} raised {kind}: {quoted}",
    "A tensor of yours, perhaps a mask, is on the CPU, and the input on {device}: "
    "make it with `device=x.device`, or keep it in a buffer",
    "{name} turns off what looks at the functions it runs.",
    "{name} starts a process or a thread where the grader cannot see what runs.",
    "dropout={p} is the share of {what} that becomes 0, but yours drops 1 - p of it.",
    "dropout={p} is the share of {what} that becomes 0, but yours drops another share.",
    "For {what} an error is promised, but none was raised.",
    "For {what} a {kind} is promised, but none was raised.",
    "For {what} a {kind} is promised, but a {found} was raised.",
    "With no axes in front, {what}",
    "With {n} axis in front, {what}",
    "With {n} axes in front, {what}",
)
# In their messages, {name} is a field.
WITH_FIELDS = (NOTEBOOKS, FEEDBACK, BOOK, PUBLISHED)


def locale_dir(course: Course) -> Path:
    """Locate the catalogues."""
    return locale_of(course, LANGUAGE)


def has_fields(name: str) -> bool:
    """Say whether `{name}` is a field in the messages of a catalogue."""
    return name.startswith(WITH_FIELDS)


def unit_catalogue(room: str, unit: Unit) -> str:
    """Name a unit's catalogue in a room such as `NOTEBOOKS`."""
    return f"{room}/{unit.slug}.po"


def all_messages(course: Course) -> dict[str, list[Message]]:
    """Return the messages of every catalogue; the book's pages take a minute.

    Raises:
        ExtractionError: if the book does not build.
    """
    pages = book.messages(course)
    found = {f"{PAGES}/{page}.po": texts for page, texts in pages.items()}
    return found | quick_messages(course)


def quick_messages(course: Course) -> dict[str, list[Message]]:
    """Return the messages of every catalogue but those of the book's pages."""
    found: dict[str, list[Message]] = {SHARED: []}
    for unit in course.units:
        released = course.release_notebook(unit)
        if released.is_file():
            notebook = nbformat.read(released, as_version=4)
            found[SHARED] += notebooks.shared_messages(notebook, unit.slug)
            found[unit_catalogue(NOTEBOOKS, unit)] = list(notebooks.messages(notebook))
    for unit in course.units:
        if course.checks_file(unit).is_file():
            found[unit_catalogue(FEEDBACK, unit)] = [
                *_phrases([course.checks_file(unit)]),
                *_names(course, unit),
            ]
    grader = course.root / "autograder"
    found[CHECKING] = list(_phrases((grader / "checking").glob("*.py")))
    found[CHECKING] += [Message(text, "a part of sentences") for text in SHORT]
    found[CHECKING] += [Message(text, "a whole sentence") for text in JOINED]
    found[GRADER] = list(_phrases(grader / f"{name}.py" for name in GRADER_FILES))
    of_report = {path for one in REPORT_WORDS for path in grader.glob(one)}
    said_by_pages = {*(grader / "pages").rglob("*.j2"), *grader.glob(FEEDBACK_WORDS)}
    found[PAGES_OF_GRADER] = list(_told(said_by_pages - of_report))
    found[REPORT] = list(_told(of_report))
    found[BOOK] = list(_of_book(course.root / "book"))
    public = grader / "publish"
    template = public / "templates" / "README.md"
    if template.is_file():
        sentences = [
            *markdown.messages(template.read_text("utf-8")),
            *phrases.said_in((public / "contents.py").read_text("utf-8")),
            *phrases.said_in((grader / UNIT_TABLE).read_text("utf-8")),
        ]
        found[PUBLISHED] = [Message(text) for text in sentences]
    readme = course.root / "README.md"
    if readme.is_file():
        texts = markdown.messages(UNITS.sub("", readme.read_text("utf-8")))
        found[README] = [Message(text) for text in texts]
    return {name: _once(texts) for name, texts in found.items() if texts}


def _phrases(paths: Iterable[Path]) -> Iterator[Message]:
    for path in sorted(paths):
        for text in phrases.phrases_of(path.read_text("utf-8")):
            yield Message(text)


def _names(course: Course, unit: Unit) -> Iterator[Message]:
    """Yield the names of a unit's exercises, as its feedback page shows them."""
    released = course.release_notebook(unit)
    if released.is_file():
        for cell in nbformat.read(released, as_version=4).cells:
            if cell.metadata.get("nbgrader", {}).get("points"):
                name = notebooks.exercise_name(notebooks.grade_id(cell))
                yield Message(name, "name of an exercise")


def _told(paths: Iterable[Path]) -> Iterator[Message]:
    for path in sorted(paths):
        for text in phrases.told_in(path.read_text("utf-8")):
            yield Message(text, path.stem)


def _of_book(folder: Path) -> Iterator[Message]:
    for path in sorted((folder / "_extensions").rglob("*.py")):
        for text in phrases.said_in(path.read_text("utf-8")):
            yield Message(text, path.stem)
    for path in sorted((folder / "live").glob("*/*.js")):
        for text in scripts.messages(path.read_text("utf-8")):
            yield Message(text, f"live figure, {path.stem}")
    for path in sorted(folder.glob("*.md")):
        for text in markdown.picture_words(path.read_text("utf-8")):
            yield Message(text, f"picture, {path.stem}")
    examples = folder / "live" / "examples.json"
    if examples.is_file():
        for one in json.loads(examples.read_text("utf-8")):
            yield Message(one["why"], "examples")


def _once(messages: list[Message]) -> list[Message]:
    return list({one.text: one for one in reversed(messages)}.values())[::-1]

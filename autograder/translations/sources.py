"""Collect all messages of the course for each catalogue."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import nbformat

from autograder.course import Course, Unit
from autograder.phrases import FIELD, WORD
from autograder.translations import book, code, markdown, notebooks, scripts
from autograder.translations.catalogue import LANGUAGE, Message
from autograder.translations.feedback_catalogues import (
    CHECKING,
    ERRORS,
    FEEDBACK,
    GRADER,
    NOTEBOOKS,
    PAGES_OF_GRADER,
)
from autograder.translations.unit_table import PAGES, PUBLISHED, README, locale_of

SHARED = f"{NOTEBOOKS}/shared.po"
EXPLAINED_ERRORS = "explained_errors.py"
BOOK = "book.po"  # text in the book's own code
FEEDBACK_WORDS = "nbgrader_steps/feedback*.py"
UNIT_TABLE = "translations/unit_table.py"
REPORT = f"{FEEDBACK}/report.po"  # the report on a class
REPORT_WORDS = ("pages/class_report/*.j2", "class_report/*.py")
UNITS = re.compile(
    r"<!-- units:.*?<!-- end of units -->", re.DOTALL
)  # a generated table
# These texts come from a student's process, which cannot use phrases.
STUDENT_SIDE = "sandbox/student_side/side_effects.py"
# Functions of the grader and its pages whose first argument is a text to translate.
PHRASES, TOLD = ("Phrase", "joined"), ("said", "told")
EXPLAINED = ("Sentence", "Cause")
NO_TEXT = re.compile(r"^lambda |\\[dwsS(]|\(\?|^\w+ \| \w+$|^<\w+ \w+=")
STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
TOLD_IN_TEMPLATE = re.compile(
    rf"\btold\(\s*({STRING.pattern}(?:\s*[+~]\s*{STRING.pattern})*)"
)
# In the messages of these catalogues, {name} is a field.
WITH_FIELDS = (NOTEBOOKS, FEEDBACK, BOOK, PUBLISHED)


def locale_dir(course: Course) -> Path:
    """Return the folder of the catalogues."""
    return locale_of(course, LANGUAGE)


def has_fields(name: str) -> bool:
    """Return whether `{name}` is a field in the messages of a catalogue."""
    return name.startswith(WITH_FIELDS)


def unit_catalogue(room: str, unit: Unit) -> str:
    """Return the name of a unit's catalogue in a folder such as `NOTEBOOKS`."""
    return f"{room}/{unit.slug}.po"


def all_messages(course: Course) -> dict[str, list[Message]]:
    """Return the messages of every catalogue; the book's pages take a minute.

    Raises:
        ExtractionError: if the book cannot be built.
    """
    pages = book.messages(course)
    found = {f"{PAGES}/{page}.po": texts for page, texts in pages.items()}
    return found | quick_messages(course)


def quick_messages(course: Course) -> dict[str, list[Message]]:
    """Return the messages of every catalogue except those for the book's pages."""
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
                *_messages(shown_by, [course.checks_file(unit)]),
                *_names(course, unit),
                *_hints(course, unit),
            ]
    grader = course.root / "autograder"
    explained = grader.glob(EXPLAINED_ERRORS)
    found[ERRORS] = list(_messages(partial(handed_to, EXPLAINED), explained))
    of_checks = {*(grader / "checking").glob("*.py"), *(grader / "checks").glob("*.py")}
    of_report = {path for one in REPORT_WORDS for path in grader.glob(one)}
    of_pages = {*(grader / "pages").rglob("*.j2"), *grader.glob(FEEDBACK_WORDS)}
    others = {*grader.rglob("*.py")} - of_checks - of_report
    found[CHECKING] = list(_messages(shown_by, (grader / "checking").glob("*.py")))
    found[GRADER] = [
        *_messages(partial(handed_to, PHRASES), others),
        *_messages(shown_by, grader.glob(STUDENT_SIDE)),
    ]
    found[PAGES_OF_GRADER] = list(_messages(told_in, of_pages - of_report, True))
    found[REPORT] = [
        *_messages(told_in, of_report, True),
        *_messages(partial(handed_to, PHRASES), grader.glob(REPORT_WORDS[1]), True),
    ]
    found[BOOK] = list(_of_book(course.root / "book"))
    public = grader / "publish"
    templates = sorted((public / "templates").glob("*.md"))
    if templates:
        sentences = [
            *markdown.messages("\n".join(one.read_text("utf-8") for one in templates)),
            *handed_to(TOLD, (public / "contents.py").read_text("utf-8")),
            *handed_to(TOLD, (public / "assistants.py").read_text("utf-8")),
            *handed_to(TOLD, (public / "github_pages.py").read_text("utf-8")),
            *handed_to(TOLD, (grader / UNIT_TABLE).read_text("utf-8")),
        ]
        found[PUBLISHED] = [Message(text) for text in sentences]
    readme = course.root / "README.md"
    if readme.is_file():
        texts = markdown.messages(UNITS.sub("", readme.read_text("utf-8")))
        found[README] = [Message(text) for text in texts]
    return {name: _once(texts) for name, texts in found.items() if texts}


def shown_by(source: str) -> Iterator[str]:
    """Yield a checks module's texts: phrases, and strings of at least two words."""
    tree = ast.parse(source)
    phrases = {id(node) for node in _first_arguments(PHRASES, tree)}
    skipped = set()
    for node in ast.walk(tree):
        if isinstance(node, (*code.DOCUMENTED, ast.Module)) and ast.get_docstring(node):
            skipped.add(id(node.body[0].value))  # type: ignore[attr-defined]
        if isinstance(node, ast.JoinedStr):  # students do not read it
            skipped.update(map(id, ast.walk(node)))
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    for node in sorted(texts, key=lambda one: (one.lineno, one.col_offset)):
        text = node.value
        if not isinstance(text, str) or id(node) in skipped:
            continue
        if _has_two_words(text) or (id(node) in phrases and WORD.search(text)):
            yield text


def _has_two_words(text: str) -> bool:
    bare = FIELD.sub("x", text).strip()
    return bool(WORD.search(bare)) and " " in bare and not NO_TEXT.search(bare)


def handed_to(names: Sequence[str], source: str) -> Iterator[str]:
    """Yield the text that a module passes to functions with these names."""
    found = _first_arguments(names, ast.parse(source))
    for node in sorted(found, key=lambda one: (one.lineno, one.col_offset)):
        text = code.template(node)
        if text and WORD.search(FIELD.sub("", text)):
            yield text


def _first_arguments(names: Sequence[str], tree: ast.Module) -> Iterator[ast.expr]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            yield from node.args[:1] if name in names else ()


def told_in(script: str) -> Iterator[str]:
    """Yield the text that a script or a template passes to `told`."""
    for match in TOLD_IN_TEMPLATE.finditer(script):
        yield "".join(map(json.loads, STRING.findall(match[1])))


def _messages(
    find: Callable[[str], Iterable[str]], paths: Iterable[Path], named: bool = False
) -> Iterator[Message]:
    """Yield the messages in files, with the file's name as a comment if `named`."""
    for path in sorted(paths):
        for text in find(path.read_text("utf-8")):
            yield Message(text, path.stem if named else "")


def _names(course: Course, unit: Unit) -> Iterator[Message]:
    """Yield the names of a unit's exercises as they are on its feedback page."""
    released = course.release_notebook(unit)
    if released.is_file():
        for cell in nbformat.read(released, as_version=4).cells:
            if cell.metadata.get("nbgrader", {}).get("points"):
                name = notebooks.exercise_name(notebooks.grade_id(cell))
                yield Message(name, "name of an exercise")


def _hints(course: Course, unit: Unit) -> Iterator[Message]:
    for exercise, hints in course.hints_of(unit).items():
        for number, hint in enumerate(hints, 1):
            yield Message(hint, f"hint {number} of {exercise}")


def _of_book(folder: Path) -> Iterator[Message]:
    for path in sorted((folder / "_extensions").rglob("*.py")):
        for text in handed_to(TOLD, path.read_text("utf-8")):
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

"""Write pages that tell AI assistants how to help a learner without giving answers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import nbformat

from autograder.course import Course, Unit
from autograder.publish.refusals import ASSISTANTS
from autograder.translations import markdown
from autograder.translations.feedback_catalogues import feedback_table
from autograder.translations.unit_table import told_in_readme
from autograder.unit import headings

TEMPLATE = Path(__file__).with_name("templates") / "AGENTS.md"
REMEDY = re.compile(r"[:;(`]")  # the text after one of these is the remedy


def assistants_pages(
    course: Course, unit: Unit | None, language: str, site: bool
) -> dict[str, str]:
    """Return the pages for a unit's folder, or if `unit` is None, for the repository.

    The result is empty if `course.toml` disables these pages.
    """
    told = told_in_readme(course, language)
    facts = {
        "unit": told("Each unit has such a page, with questions of its own."),
        "chapter": told("The chapters are in `book/`."),
        "questions": "",
    }
    if unit is not None:
        chapter = course.chapter_url(unit, language, site)
        facts["unit"] = told("This page is about unit {unit}.").format(
            unit=f"{unit.number:02}"
        )
        facts["chapter"] = told("The chapter: {chapter}").format(chapter=chapter)
        facts["questions"] = _questions(course, unit, language)
    text = markdown.translated(TEMPLATE.read_text("utf-8"), told)
    text = re.sub(r"@(\w+)@", lambda match: facts[match[1]], text).rstrip() + "\n"
    return dict.fromkeys(ASSISTANTS, text) if course.assistants else {}


def _questions(course: Course, unit: Unit, language: str) -> str:
    """Return the mistakes that a unit's checks name, as questions to the learner."""
    told = told_in_readme(course, language)
    translated = feedback_table(course.root, language, unit.slug)
    path = course.checks_file(unit)
    checks = path.read_text("utf-8") if path.is_file() else ""
    notebook = course.notebook(unit, language)
    if not notebook.is_file():
        notebook = course.release_notebook(unit)
    titles = headings(nbformat.read(notebook, as_version=4))
    lines = [
        f"## {told('Questions')}",
        "",
        told(
            "These questions are about the known mistakes of this unit. Ask the one "
            "that fits, and let the learner find out."
        ),
        "",
    ]
    words = told("Which small example would show {mistake}?")
    for exercise, mistakes in named_mistakes(checks).items():
        lines += [f"### {titles.get(exercise, exercise)}", ""]
        own = (translated.get(mistake, mistake) for mistake in mistakes)
        lines += [*(f"- {words.format(mistake=mistake)}" for mistake in own), ""]
    return "\n".join(lines)


def named_mistakes(checks: str) -> dict[str, list[str]]:
    """For each exercise, return the mistakes that its checks can name.

    A mistake belongs to the exercise whose check comes next in the file. Names that
    also describe the remedy are left out.
    """
    tree = ast.parse(checks)
    places = {
        node.value: node.lineno
        for node in _phrases(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    named = [text for text in places if " " in text and not REMEDY.search(text)]
    ends = sorted(_ends_of_checks(tree))
    found: dict[str, list[str]] = {}
    for text in sorted(named, key=lambda text: places[text]):
        exercise = next((name for end, name in ends if end >= places[text]), None)
        found.setdefault(exercise or ends[-1][1], []).append(text)
    return found


def _ends_of_checks(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the last line of each check and its exercise."""
    for node in tree.body:
        for one in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if isinstance(one, ast.Call) and isinstance(one.func, ast.Name):
                name = one.args[0] if one.args else None
                if one.func.id == "check" and isinstance(name, ast.Constant):
                    yield node.end_lineno or node.lineno, str(name.value)


def _phrases(tree: ast.Module) -> Iterator[ast.AST | None]:
    """Yield possible names of mistakes: keys of wrong values, and `mistake=`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Dict):
            pairs = zip(node.keys, node.values, strict=True)
            yield from (key for key, one in pairs if not isinstance(one, ast.Constant))
        elif isinstance(node, ast.Assign):
            yield from (t.slice for t in node.targets if isinstance(t, ast.Subscript))
        elif isinstance(node, ast.keyword) and node.arg == "mistake":
            yield node.value

"""Write a feedback page in the language of the submitted notebook.

The record of a submission is in English, and the templates of its messages are the keys
of the catalogues. Text without a translation appears in English.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from nbformat import NotebookNode

from autograder.grading.check_results import CheckResult
from autograder.grading.feedback_table import graded_outputs
from autograder.grading.outcome import RECORD
from autograder.phrases import restored, translated
from autograder.unit import CHECK_SUFFIX, is_graded_code

Told = Callable[[str], str]
# Words on nbgrader's own page, each with the surrounding text.
NBGRADERS = tuple(
    (re.compile(pattern), words)
    for pattern, words in (
        (r'(?<=<span class="nbgrader-label">)Student\'s answer(?=</span>)', "answer"),
        (r'(?<=<span class="nbgrader-label">)Student\'s task(?=</span>)', "task"),
        (r'(?<=<a href="#top">)\(Top\)(?=</a>)', "top"),
        (r"(?<=<b>)Comments:(?=</b>)", "comments"),
        (r"(?<=\">)Comment(?=</a></li>)", "comment"),
        (r'(?<=<li class="late-penalty">)Late submission penalty', "late"),
        (r"(?<=\()Score:(?= -?[\d.]+(?: / [\d.]+)?[;)])", "score"),
        (r'(?<=<span class="pull-right">)\s*Score:(?= [\d.]+ / )', "score"),
    )
)


def nbgraders_words(told: Told) -> dict[str, str]:
    """Return the translations of the words on nbgrader's page."""
    return {
        "answer": told("Student's answer"),
        "task": told("Student's task"),
        "top": told("(Top)"),
        "comments": told("Comments:"),
        "comment": told("Comment"),
        "late": told("Late submission penalty"),
        "score": told("Score:"),
    }


def translate_checks(notebook: NotebookNode, table: Mapping[str, str]) -> None:
    """Translate the checks' messages in a graded notebook's metadata and cells."""
    checks = restored(notebook.metadata.get(RECORD, {})).get("checks", [])
    results = [translated_result(CheckResult(**fields), table) for fields in checks]
    if not results:
        return
    notebook.metadata[RECORD]["checks"] = [dict(vars(one)) for one in results]
    for cell in notebook.cells:
        if is_graded_code(cell):
            exercise = cell.metadata.nbgrader["grade_id"].removesuffix(CHECK_SUFFIX)
            own = [one for one in results if one.exercise == exercise]
            cell.outputs = graded_outputs(own, lambda text: translated(text, table))


def translated_result(result: CheckResult, table: Mapping[str, str]) -> CheckResult:
    """Return a check's result with translated texts."""
    title, message, hint = (
        translated(text, table) for text in (result.title, result.message, result.hint)
    )
    return replace(result, title=title, message=message, hint=hint)


def with_nbgraders_words(html: str, told: Told) -> str:
    """Return a feedback page with nbgrader's own words translated."""
    words = nbgraders_words(told)
    for pattern, name in NBGRADERS:
        html = pattern.sub(words[name].replace("\\", r"\\"), html)
    return html

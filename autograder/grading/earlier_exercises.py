"""Tell students when a mistake in an earlier exercise makes a later one fail."""

import ast
from collections.abc import Mapping, Sequence
from dataclasses import replace

from nbformat import NotebookNode

from autograder.grading.check_results import CheckResult
from autograder.notebook_syntax import names_in_text, parse_cell
from autograder.phrases import Phrase, joined, series


def point_to_earlier(
    results: Sequence[CheckResult], notebook: NotebookNode
) -> list[CheckResult]:
    """Add a hint to each exercise that uses an earlier exercise with a mistake.

    If a check passed with the course's earlier answers, its hint says so. Otherwise,
    the exercise's first failed check gets a hint, unless its message already names a
    mistake. Points do not change.

    Args:
        results: every check's result, in the order of the notebook.
        notebook: the submission. Its answers show which exercises use which others.
    """
    answers = answers_of(notebook)
    blamed = blamed_by_exercise(results, answers)
    told: list[CheckResult] = []
    for exercise, names in blamed.items():
        own = [result for result in results if result.exercise == exercise]
        told += _told(own, list(names))
    return told


def blamed_by_exercise(
    results: Sequence[CheckResult], answers: Mapping[str, str]
) -> dict[str, dict[str, str]]:
    """For each exercise, return the names it uses from wrong earlier exercises.

    Each name is mapped to the exercise that defines it.

    Args:
        results: every check's result, in the order of the notebook.
        answers: the source of each exercise's answer.
    """
    broken: dict[str, str] = {}
    blamed: dict[str, dict[str, str]] = {}
    for exercise in dict.fromkeys(result.exercise for result in results):
        own = [result for result in results if result.exercise == exercise]
        source = answers.get(exercise, "")
        used = names_used(source)
        blamed[exercise] = {name: broken[name] for name in broken if name in used}
        if any(result.status != "passed" for result in own):
            broken |= dict.fromkeys(names_in_text(source), exercise)
    return blamed


def _told(results: list[CheckResult], blamed: list[str]) -> list[CheckResult]:
    if any(result.with_reference_answers for result in results):
        words = passes_with_ours(blamed)
        return [
            replace(r, hint=words) if r.with_reference_answers else r for r in results
        ]
    failed = [result for result in results if result.status == "failed"]
    if not blamed or not failed or any(result.mistake for result in failed):
        return results
    words = uses_what_is_wrong(blamed)
    hint = joined("{one} {more}", [failed[0].hint, words])
    return [replace(r, hint=hint) if r is failed[0] else r for r in results]


def passes_with_ours(names: Sequence[str]) -> Phrase:
    """Write that an exercise passes with the course's earlier functions."""
    return Phrase(
        "It passes with the course's {names} instead of yours: fix yours next.",
        series(names) or Phrase("earlier functions"),
    )


def uses_what_is_wrong(names: Sequence[str]) -> Phrase:
    """Write that an exercise uses earlier functions that are wrong."""
    return Phrase(
        "It uses {names}, and a check there has failed too: fix that first, then look "
        "at this check again.",
        series(names),
    )


def answers_of(notebook: NotebookNode) -> Mapping[str, str]:
    """Return the source code of each exercise's answer cell."""
    found = {}
    for cell in notebook.cells:
        details = cell.metadata.get("nbgrader", {})
        if cell.cell_type == "code" and details.get("solution"):
            found[details["grade_id"]] = cell.source
    return found


def names_used(source: str) -> set[str]:
    """Return the names that a cell reads, or none if it is not valid Python."""
    tree = parse_cell(source)
    if tree is None:
        return set()
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}

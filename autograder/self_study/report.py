"""Report which checks pass, and the first cause of each failure."""

import ast
from collections.abc import Callable, Collection, Sequence
from typing import Any

from nbformat import NotebookNode

from autograder.checking.compare import NOTHING as RETURNED_NOTHING
from autograder.checking.generic_checks import KEPT
from autograder.grading.check_results import CheckResult, score_of
from autograder.grading.earlier_exercises import (
    answers_of,
    blamed_by_exercise,
    passes_with_ours,
    uses_what_is_wrong,
)
from autograder.notebook_syntax import parse_cell
from autograder.phrases import Phrase, series
from autograder.self_study.progress import FAILED, NOTHING, PASSED
from autograder.unit import headings, written_points

Told = Callable[[str], str]


def report(
    results: Sequence[CheckResult],
    notebook: NotebookNode,
    unwritten: Collection[str],
    told: Told,
    missing: Collection[str] = (),
) -> str:
    """Return a report on a notebook's checks, translated with `told`.

    Args:
        results: every check's result, in the order of the notebook.
        notebook: the notebook that was checked, with the course's headings.
        unwritten: the exercises without an answer.
        told: a function that translates a phrase.
        missing: the exercises whose answer cell is missing from the notebook.
    """
    titles, answers = headings(notebook), answers_of(notebook)
    blamed = blamed_by_exercise(results, answers)
    written = written_points(notebook)
    order = [name for name in titles if name in written or name in blamed]
    lines: list[str] = []
    wrong: list[str] = []
    for exercise in dict.fromkeys([*order, *blamed]):
        names = blamed.get(exercise, {})
        own = [result for result in results if result.exercise == exercise]
        title = titles.get(exercise, exercise)
        if exercise in written:
            words = Phrase(
                "{title}: a written answer, which no check reads. Compare yours with "
                "the course's: {code}",
                *(title, f"`--answer {title.partition('.')[0]}`"),
            )
            lines.append(f"{NOTHING} {told(words)}")
            continue
        if exercise in unwritten:
            words = Phrase("{title}: not written yet", title)
            if exercise in missing:
                words = Phrase(
                    "{title}: not written yet, because its cell is missing or has not "
                    "run. Run it, or write your answer in a new cell.",
                    title,
                )
            lines.append(f"{NOTHING} {told(words)}")
            wrong.append(exercise)
            continue
        passed = [result for result in own if is_passed(result)]
        is_right = len(passed) == len(own)
        count = _count(title, own, len(passed), list(names))
        lines.append(f"{PASSED if is_right else FAILED} {told(count)}")
        lines += [f"    {PASSED} {told(result.title)}" for result in passed]
        if not is_right:
            cause, place = _cause(own, names, (wrong or [exercise])[-1], exercise)
            wrong.append(exercise)
            where = _where(cause, titles.get(place, place), answers.get(place, ""))
            lines += [f"    {FAILED} {told(cause)}", f"      → {told(where)}"]
    return "\n".join(lines)


def facts_of(
    results: Sequence[CheckResult],
    notebook: NotebookNode,
    unwritten: Collection[str],
    told: Told,
) -> dict[str, dict[str, Any]]:
    """Return data on each exercise, including the learner's answer.

    The data on a written question contain no points.
    """
    found: dict[str, dict[str, Any]] = {}
    for exercise, own in answers_of(notebook).items():
        mine = [result for result in results if result.exercise == exercise]
        failed = [result for result in mine if result.status != "passed"]
        cause = first_cause(failed) if failed else None
        found[exercise] = {
            "passed": all(map(is_passed, mine)),
            "points": score_of(mine),
            "written": exercise not in unwritten,
            "named": told(cause.message) if cause and cause.mistake else "",
            "cause": told(cause.message) if cause else "",
            "own": own,
        }
    for name in written_points(notebook):
        found[name] = {"own": _written(notebook, name)}
    return found


def _written(notebook: NotebookNode, name: str) -> str:
    """Return a written answer; for a task, return the cells the learner added."""
    places = [c.metadata.get("nbgrader", {}).get("grade_id") for c in notebook.cells]
    cell = notebook.cells[places.index(name)]
    if not cell.metadata.nbgrader.get("task"):
        return str(cell.source)
    added = [c for c in notebook.cells if str(c.get("id", "")).startswith("extra-")]
    return "\n\n".join(c.source for c in added if c.cell_type == "markdown")


def is_passed(result: CheckResult) -> bool:
    """Return whether a check passes with the learner's own earlier answers."""
    return result.status == "passed" and not result.with_reference_answers


def _count(
    title: str, own: Sequence[CheckResult], passed: int, names: Sequence[str]
) -> Phrase:
    """State how many checks pass, and how many more with the course's answers."""
    ours = sum(result.with_reference_answers for result in own)
    if not ours:
        return Phrase(
            "{title}: {passed} of {count} checks pass", title, passed, len(own)
        )
    return Phrase(
        "{title}: {passed} of {count} checks pass with your {names}, and {both} with "
        "the course's",
        *(title, passed, len(own)),
        series(names) or Phrase("earlier functions"),
        passed + ours,
    )


def _where(cause: str, title: str, answer: str) -> Phrase:
    """Name the exercise, and the function without a `return` if it returned None."""
    tree = parse_cell(answer) if RETURNED_NOTHING in cause else None
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.FunctionDef) and _returns_nothing(node):
            return Phrase(
                "in exercise {title}: {name}, line {line} of its cell",
                *(title, f"`{node.name}`", node.lineno),
            )
    return Phrase("in exercise {title}", title)


def _returns_nothing(function: ast.FunctionDef) -> bool:
    """Return whether a function returns no value, ignoring its inner functions."""
    nodes: list[ast.AST] = list(function.body)
    for node in nodes:
        if isinstance(node, ast.Return) and node.value is not None:
            return False
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            nodes += ast.iter_child_nodes(node)
    return function.name != "__init__"


def _cause(
    own: Sequence[CheckResult], names: dict[str, str], last_wrong: str, exercise: str
) -> tuple[str, str]:
    """Return the main cause of an exercise's failures, and the exercise to fix.

    If a check names a mistake, the mistake is the cause. Otherwise, if this exercise
    uses an earlier exercise with a failed check, the earlier exercise is the cause.
    `last_wrong` is the last of the earlier exercises with a failed check.
    """
    failed = [result for result in own if result.status != "passed"]
    first = first_cause(failed) if failed else None
    if first is not None and (first.mistake or not names):
        return first.message, exercise
    if first is not None:
        return uses_what_is_wrong(list(names)), next(iter(names.values()))
    return passes_with_ours(list(names)), next(iter(names.values()), last_wrong)


def first_cause(failed: Sequence[CheckResult]) -> CheckResult:
    """Return the failed check to read first: one that names a mistake, if possible.

    If a check names a result kept from an earlier call, it comes before all others,
    because then each check sees results of the previous check. This does not apply to
    the message that the result may also be fixed. If no check names a mistake, the
    check with the most points is returned.
    """
    named = [result for result in failed if result.mistake]
    kept = [result for result in named if str(result.mistake).startswith(KEPT)]
    return next(iter(kept or named), max(failed, key=lambda one: one.max_points))

"""Say in words which checks pass, and what the first cause of a failure is."""

from collections.abc import Callable, Collection, Sequence

from nbformat import NotebookNode

from autograder.checking.generic_checks import KEPT
from autograder.grading.earlier_exercises import (
    answers_of,
    blamed_by_exercise,
    passes_with_ours,
    uses_what_is_wrong,
)
from autograder.grading.points import CheckResult
from autograder.phrases import Phrase

Told = Callable[[str], str]
PASSED, FAILED, NOTHING = "✓", "✗", "–"


def report(
    results: Sequence[CheckResult],
    notebook: NotebookNode,
    unwritten: Collection[str],
    told: Told,
) -> str:
    """Write a report of a notebook's checks, in the words of `told`.

    Args:
        results: every check's result, in the order of the notebook.
        notebook: the notebook that was checked, with the course's headings.
        unwritten: the exercises that are as they were handed out.
        told: translates a phrase.
    """
    titles = headings(notebook)
    blamed = blamed_by_exercise(results, answers_of(notebook))
    lines = []
    for exercise, names in blamed.items():
        own = [result for result in results if result.exercise == exercise]
        title = titles.get(exercise, exercise)
        if exercise in unwritten:
            words = Phrase("{title}: not written yet", title)
            lines.append(f"{NOTHING} {told(words)}")
            continue
        passed = [result for result in own if is_passed(result)]
        count = Phrase(
            "{title}: {passed} of {count} checks pass", title, len(passed), len(own)
        )
        is_right = len(passed) == len(own)
        lines.append(f"{PASSED if is_right else FAILED} {told(count)}")
        lines += [f"    {PASSED} {told(result.title)}" for result in passed]
        if not is_right:
            cause, place = _cause(own, names, exercise)
            where = Phrase("in exercise {title}", titles.get(place, place))
            lines += [f"    {FAILED} {told(cause)}", f"      → {told(where)}"]
    return "\n".join(lines)


def is_passed(result: CheckResult) -> bool:
    """Say whether a check passes with the learner's own earlier answers."""
    return result.status == "passed" and not result.with_reference_answers


def _cause(
    own: Sequence[CheckResult], names: dict[str, str], exercise: str
) -> tuple[str, str]:
    """Return the first cause of an exercise's failures, and where it is.

    A named mistake comes first. Without one, an earlier exercise that this one uses
    is to blame if a check has failed there.
    """
    failed = [result for result in own if result.status != "passed"]
    first = first_cause(failed) if failed else None
    if first is not None and (first.mistake or not names):
        return first.message, exercise
    if first is not None:
        return uses_what_is_wrong(list(names)), next(iter(names.values()))
    return passes_with_ours(list(names)), next(iter(names.values()), exercise)


def first_cause(failed: Sequence[CheckResult]) -> CheckResult:
    """Return the failed check to read first: one with a named mistake, if any has one.

    A result kept from an earlier call comes before all others, because each check
    then sees the results of the check before. Without a name, it is the check with
    the most points.
    """
    named = [result for result in failed if result.mistake]
    kept = [result for result in named if KEPT in str(result.mistake)]
    return next(iter(kept or named), max(failed, key=lambda one: one.max_points))


def headings(notebook: NotebookNode) -> dict[str, str]:
    """Return the heading above each answer of a notebook."""
    found, heading = {}, ""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            lines = [line for line in cell.source.splitlines() if line.startswith("#")]
            heading = lines[-1].lstrip("# ") if lines else heading
        details = cell.metadata.get("nbgrader", {})
        if details.get("solution"):
            found[details["grade_id"]] = heading
    return found

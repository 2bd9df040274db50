"""Grade a single submission in a container or on a platform's machine."""

from pathlib import Path

from autograder.classroom.workers import Processes
from autograder.grading.outcome import Outcome
from autograder.repair.finding import find_notebook
from autograder.sandbox import prestart
from autograder.sandbox.error_words import clean
from autograder.sandbox.limits import Limits
from autograder.unit import GradedUnit, Submission

PROTECTION = {
    "root": "Protected by bubblewrap: the submission had no network and saw no files "
    "but its own.",
    "user": "Protected by bubblewrap: the submission had no network and saw no files "
    "but its own.",
    "account": "Protected by an account of its own: the submission could not read the "
    "checks, write the results or use the network. It could read what everybody may "
    "read on this machine.",
    "none": "NOT PROTECTED: there is no bubblewrap, and the grader cannot give the "
    "submission an account of its own: it is not root, or its Python is in root's "
    "folder. The submission could read the checks and answers, use the network, and "
    "write the results. Do not trust this score.",
}
TWO = (
    "There are {count} notebooks ({names}), and none is named {slug}.ipynb: hand one "
    "in, or give it this name."
)
NONE = "The submission contains no notebook: hand in {slug}.ipynb."


def grade_alone(
    unit: GradedUnit, folder: Path, sandbox: str, limits: Limits | None = None
) -> Outcome:
    """Grade the notebook in a folder, and write no files.

    Args:
        unit: the unit with the hidden checks.
        folder: the folder with the submission.
        sandbox: the kind of sandbox; see `autograder.sandbox.bubblewrap`.
        limits: the limits on time, memory and output.

    Returns:
        The outcome. There is an outcome even if grading fails.
    """
    path = find_notebook(folder, unit.slug)
    submission = Submission(folder.name, unit.slug, path)
    if not path.is_file() and not path.is_symlink():
        return Outcome(submission, "refused", _not_found(unit, folder))
    prestart.begin(sandbox)
    workers = Processes(unit, limits or Limits(), 1)
    try:
        workers.give(submission)
        while workers.is_busy():
            for outcome in workers.outcomes():
                return outcome
    finally:
        workers.close()
        prestart.end()
    raise AssertionError("the processes have ended without an outcome")


def protection(outcome: Outcome, kind: str) -> str:
    """Describe how the grader was protected, or return "" if no student code ran."""
    return "" if outcome.status == "refused" else PROTECTION[kind]


def what_to_see_to(outcome: Outcome) -> list[str]:
    """Return notes for the student that are not about the checks' results."""
    lines = [f"Repaired: {note}" for note in outcome.notes]
    for cell in outcome.notebook.cells if outcome.notebook else ():
        lines += [
            f"An error in the cell {clean(cell.get('id', ''), 60)}: "
            f"{clean(one.ename, 60)}: {clean(one.evalue, 200)}"
            for one in cell.get("outputs", ())
            if one.output_type == "error"
        ]
    return lines + [f"Not written yet: {name}" for name in sorted(outcome.unwritten)]


def _not_found(unit: GradedUnit, folder: Path) -> str:
    there = sorted(path.name for path in folder.rglob("*.ipynb"))
    names = ", ".join(name[:60] for name in there[:5])
    words = TWO if there else NONE
    return words.format(count=len(there), names=names, slug=unit.slug)

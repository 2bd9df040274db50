"""Show the next hint for an exercise, or the course's answer and the learner's."""

import contextlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import nbformat

from autograder.course import Course, Unit
from autograder.phrases import Phrase
from autograder.self_study.progress import read_progress, record
from autograder.self_study.waiting import NotRun
from autograder.unit import headings

PITFALL = 2  # number of the hint that the check's result can replace
FEWEST_WORDS = 6  # minimum number of words in a written answer
MARKERS = re.compile(r"(?m)^\s*(###|<!--) (BEGIN|END) [A-Z]+( [A-Z]+)*( -->)?$\n?")
Exercises = Mapping[str, Mapping[str, Any]]  # the check's results for each exercise


def exercise_named(course: Course, unit: Unit, name: str) -> str:
    """Return the exercise with this name, or with this number in its heading.

    Raises:
        NotRun: if there is no such exercise.
    """
    titles = headings(_read(course.release_notebook(unit)))
    numbers = {title.partition(".")[0]: exercise for exercise, title in titles.items()}
    wanted = name.strip(" .").replace("_", "-")
    if wanted not in titles and wanted not in numbers:
        raise NotRun(
            Phrase(
                "There is no exercise {name}. The exercises are numbered {numbers}.",
                *(name, ", ".join(numbers)),
            )
        )
    return wanted if wanted in titles else numbers[wanted]


def next_hint(
    course: Course,
    unit: Unit,
    exercise: str,
    folder: Path,
    found: Callable[[], Exercises],
) -> list[Phrase]:
    """Return an exercise's next hint, and record that it was shown.

    `found` runs the check. If the check names a mistake, this mistake is shown as the
    second hint. After the last hint, each call returns the mistake that the check now
    names, or repeats the last hint.

    Raises:
        NotRun: if the exercise has no hints, as for a written question.
    """
    hints = course.hints_of(unit).get(exercise)
    if hints is None:
        raise NotRun(
            Phrase(
                "This exercise has no hints. After you have written your answer, "
                "{code} shows the course's.",
                f"`--answer {exercise}`",
            )
        )
    seen = read_progress(folder).get(unit.slug, {}).get(exercise, {}).get("hints", 0)
    number = min(seen + 1, len(hints))
    text = hints[number - 1]
    facts: Mapping[str, Any] = {}
    if number == PITFALL or seen >= len(hints):
        with contextlib.suppress(NotRun):
            facts = found().get(exercise, {})
    if number == PITFALL:
        text = facts.get("named") or text
    record(folder, unit, {exercise: {"hints": number}})
    hint = Phrase("Hint {number} of {count}: {hint}", number, len(hints), text)
    if facts.get("cause") and seen >= len(hints):
        hint = Phrase("The check finds: {hint}", facts["cause"])
    if number < len(hints):
        return [hint]
    last = Phrase(
        "This is the last hint. For the course's answer, add {code}. In a notebook, "
        "run {quoted}.",
        f"`--answer {exercise} --give-up`",
        f"`from transformer.check import answer; answer({exercise!r}, give_up=True)`",
    )
    return [hint, last]


def both_answers(
    course: Course, unit: Unit, exercise: str, facts: Mapping[str, Any], give_up: bool
) -> tuple[str, str]:
    """Return the learner's answer and the course's.

    Raises:
        NotRun: if the exercise does not pass and `give_up` is False, or if the learner
            has not answered a written question.
    """
    is_written = "points" not in facts
    if is_written and len(facts["own"].split()) < FEWEST_WORDS:
        raise NotRun(
            Phrase(
                "Write an answer of your own first, of {count} words or more.",
                FEWEST_WORDS,
            )
        )
    if not (is_written or give_up or facts["passed"]):
        raise NotRun(
            Phrase(
                "Exercise {exercise} does not pass yet. Ask for a hint, or add "
                "`--give-up` (in a notebook: `give_up=True`).",
                exercise,
            )
        )
    cells = _read(course.answer_notebook(unit)).cells
    ours = next(
        cell.source
        for cell in cells
        if cell.metadata.get("nbgrader", {}).get("grade_id") == exercise
    )
    return facts["own"].strip(), MARKERS.sub("", ours).strip()


def next_step(exercises: Exercises, course: Course, unit: Unit, folder: Path) -> Phrase:
    """Return a sentence that suggests the next step after a check."""
    numbers = {
        exercise: title.partition(".")[0]
        for exercise, title in headings(_read(course.release_notebook(unit))).items()
    }
    own = read_progress(folder).get(unit.slug, {})
    code = [name for name, facts in exercises.items() if "points" in facts]
    for name in code:
        if not exercises[name]["passed"]:
            return Phrase(
                "For a hint, add {code}. In a notebook, run {quoted}.",
                f"`--hint {numbers[name]}`",
                f"`from transformer.check import hint; hint({numbers[name]})`",
            )
    written = [name for name in exercises if name not in code]
    open_ones = [name for name in written if not own.get(name, {}).get("passed")]
    shown = numbers[(open_ones or code)[0]]
    given = (
        f"`--answer {shown}`",
        f"`from transformer.check import answer; answer({shown})`",
    )
    if open_ones:
        return Phrase(
            "Exercise {number} is not done yet: write your answer, save the notebook, "
            "and add {code} to see the course's. In a notebook, run {quoted}.",
            *(shown, *given),
        )
    return Phrase(
        "For the course's answer of an exercise, add {code}. In a notebook, run "
        "{quoted}.",
        *given,
    )


def _read(path: Path) -> nbformat.NotebookNode:
    return nbformat.read(path, as_version=4)

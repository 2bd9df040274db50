"""Make the sheets of a class by running each student's code in the sandbox."""

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from autograder.checking.failures import StudentError, StudentGone
from autograder.classroom.workers import Processes
from autograder.course import CourseError
from autograder.grading.language import language_of
from autograder.grading.submission import read_and_repair, shared_parent, warm_up
from autograder.phrases import Phrase
from autograder.repair import Refused
from autograder.sandbox.control_channel import NoParent
from autograder.sandbox.kit import folder_files
from autograder.sandbox.limits import Limits
from autograder.sandbox.submission_runner import SubmissionRunner
from autograder.unit import GradedUnit, Submission, cells_to_run
from autograder.viva.causes import cause_of, part_of
from autograder.viva.effects import Result, agree, read_results
from autograder.viva.listing import (
    ChangedLine,
    changed_lines,
    given_lines,
    listing_of,
)
from autograder.viva.questions import (
    LETTERS,
    Question,
    choose,
    own_result_question,
    questions_about,
    shuffled,
)

HERE = Path(__file__).parent
RUN_INSIDE = (HERE / "run_inside.py").read_text(encoding="utf-8")
CALLS: dict[str, dict[str, list[str]]] = tomllib.loads(
    (HERE / "inputs.toml").read_text(encoding="utf-8")
)  # unit to function to calls
SECONDS, ALL_SECONDS = 4.0, 60.0  # limits for one function and for one submission
NO_NOTEBOOK = Phrase("The student's folder has no notebook.")
NO_ANSWER = Phrase("The student has written no answer.")
NO_QUESTION = Phrase("The program found no question with a certain answer.")

# Maps a function to its calls and to the sources to run; None means the notebook's own
# definition.
Functions = Mapping[str, tuple[Sequence[str], Sequence[str | None]]]


@dataclass(frozen=True)
class Sheet:
    """Hold the sheet for one student.

    Attributes:
        submission: the submission.
        reason: why there are no questions, or "".
        questions: at most three questions.
        listings: maps a function to the code and the calls that its questions refer to.
        language: the notebook's language, such as "ko", or None for English.
    """

    submission: Submission
    reason: str = ""
    questions: tuple[Question, ...] = ()
    listings: Mapping[str, tuple[str, Sequence[str]]] = field(default_factory=dict)
    language: str | None = None


def sheets_of(
    unit: GradedUnit,
    submissions: Sequence[Submission],
    limits: Limits,
    workers: int,
    done: Callable[[], None] = lambda: None,
) -> list[Sheet]:
    """Make the sheets for submissions in several processes, in the same order.

    Raises:
        CourseError: if the course's own solution does not run.
        NoParent: if the sandbox does not start.
    """
    limits = replace(limits, exercise_seconds=SECONDS, submission_seconds=ALL_SECONDS)
    pool = Processes(unit, limits, workers, partial(make_sheet, solution_of(unit)))
    waiting, found = list(submissions), dict[Submission, Sheet]()
    try:
        while waiting or pool.is_busy():
            while waiting and pool.has_room():
                pool.give(waiting.pop(0))
            ended: list[Any] = pool.outcomes()
            for one in ended:
                is_made = isinstance(one, Sheet)  # otherwise its process was lost
                own = one if is_made else Sheet(one.submission, one.reason)
                found[one.submission] = own
                done()
    finally:
        pool.close()
    return [found[submission] for submission in submissions]


def solution_of(unit: GradedUnit) -> dict[str, Result]:
    """Return the results of the course's own solution for all calls of a unit.

    Raises:
        CourseError: if the solution does not run.
        NoParent: if the sandbox does not start.
    """
    cells = cells_to_run(unit.released)
    calls = CALLS[unit.slug]
    functions = {name: (texts, [None]) for name, texts in calls.items()}
    with _started(unit, [*cells, *unit.answers.values()], Limits()) as runner:
        found = _results(runner, functions)
    if missing := [name for name, results in found.items() if results == [None]]:
        raise CourseError(
            f"{unit.slug}: expected results of the course's solution, found none of "
            f"{', '.join(missing)}. Run `make notebooks`, and try again"
        )
    return {
        call: result
        for name, (results,) in found.items()
        for call, result in zip(calls[name], results or (), strict=True)
    }


def make_sheet(
    solution: Mapping[str, Result],
    unit: GradedUnit,
    submission: Submission,
    limits: Limits,
) -> Sheet:
    """Make one sheet; errors of the notebook affect only this sheet."""
    try:
        return _sheet(solution, unit, submission, limits)
    except FileNotFoundError:
        return Sheet(submission, NO_NOTEBOOK)
    except (Refused, NoParent) as error:
        return Sheet(submission, error.reason)
    except Exception as error:
        return Sheet(submission, f"{type(error).__name__}: {error}"[:300])


def _sheet(
    solution: Mapping[str, Result],
    unit: GradedUnit,
    submission: Submission,
    limits: Limits,
) -> Sheet:
    outcome = read_and_repair(unit, submission)
    assert outcome.notebook is not None
    asked = {
        exercise
        for exercise, source in unit.answers.items()
        if any(listing_of(source, name) for name in CALLS[unit.slug])
    }
    if asked <= outcome.unwritten:
        return Sheet(submission, NO_ANSWER, language=language_of(outcome.notebook))
    written = [
        cell.source
        for cell in outcome.notebook.cells
        if cell.metadata.get("nbgrader", {}).get("grade_id")
        in unit.points.keys() - outcome.unwritten
    ]
    found = {
        name: text
        for name in CALLS[unit.slug]
        for cell in written
        if (text := listing_of(cell, name))
    }
    salt = "\n".join([submission.student, *found.values()])
    calls = {name: shuffled(CALLS[unit.slug][name], salt) for name in found}
    given = given_lines(unit.released)
    lines = {name: changed_lines(text, given) for name, text in found.items()}
    functions = {
        name: (calls[name], [None, text, *(line.source for line in lines[name])])
        for name, text in found.items()
    }
    with _started(unit, cells_to_run(outcome.notebook), limits) as runner:
        results = _results(runner, functions)
        questions = _questions(results, calls, lines, solution, salt)
        chosen = [
            replace(one, cause=_cause(runner, one, found[one.function], calls))
            if one.changed
            else one
            for one in choose(questions, salt)
        ]
    used = {one.function: (found[one.function], calls[one.function]) for one in chosen}
    reason = "" if chosen else NO_QUESTION
    language = language_of(outcome.notebook)
    return Sheet(submission, reason, tuple(chosen), used, language)


def _questions(
    results: Mapping[str, Sequence[list[Result] | None]],
    calls: Mapping[str, Sequence[str]],
    lines: Mapping[str, Sequence[ChangedLine]],
    solution: Mapping[str, Result],
    salt: str,
) -> list[Question]:
    """Return the questions about all functions."""
    questions: list[Question] = []
    for name, (own, again, *changed) in results.items():
        right = [solution[call] for call in calls[name]]
        if not own or not again or not all(map(agree, own, again)):
            continue  # a later cell changes the function, or its results vary
        pairs = zip(lines[name], changed, strict=True)
        runs = {line: one for line, one in pairs if one}
        if all(map(agree, own, right)):
            questions += questions_about(name, again, runs, salt)
        elif all(one.form != "own" for one in questions):  # one is about a wrong result
            questions.append(own_result_question(name, own, right, runs))
    return questions


def _cause(
    runner: SubmissionRunner,
    question: Question,
    listing: str,
    calls: Mapping[str, Sequence[str]],
) -> str:
    """Explain why the answer to a question about a changed line is true."""
    name, line = question.function, question.changed
    assert line is not None
    part = part_of(listing, line)
    functions = {name: (calls[name], part.sources if part else ())}
    values = _results(runner, functions, is_recording=True)[name]
    letters = LETTERS[: len(calls[name])]
    asked = "".join(one if question.letter in ("", one) else " " for one in letters)
    return cause_of(line, part, values, asked, question.letter or question.right)


@contextmanager
def _started(
    unit: GradedUnit, cells: Sequence[str], limits: Limits
) -> Iterator[SubmissionRunner]:
    """Yield a runner in which the given cells and then `run_calls` can run."""
    parent, files = shared_parent(), folder_files(unit.kit)
    warm_up(unit, files, parent)
    with SubmissionRunner(parent, [*cells, RUN_INSIDE], files, limits) as runner:
        yield runner


def _results(
    runner: SubmissionRunner, functions: Functions, is_recording: bool = False
) -> dict[str, list[list[Result] | None]]:
    """Return each function's results for each source, or None if there are none.

    If a source of a function does not end, the function's later sources do not run.
    """
    found: dict[str, list[list[Result] | None]] = {}
    for name, (calls, sources) in functions.items():
        found[name] = [None] * len(sources)
        with suppress(StudentGone), runner.fresh(name) as student:
            student.begin(0)
            for number, source in enumerate(sources):
                with suppress(StudentError):
                    words = source, name, list(calls), is_recording
                    reply = student["run_calls"](*words)
                    found[name][number] = read_results(reply, len(calls))
    return found

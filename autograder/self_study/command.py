"""Run `python -m transformer.check`, or `check()` in a notebook."""

import argparse
import contextlib
import json
import re
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from autograder.course import (
    ENGLISH,
    ROOT,
    TRANSLATIONS,
    Course,
    CourseError,
    Unit,
    load_course,
)
from autograder.phrases import Phrase, translated
from autograder.repair.slots import top_names
from autograder.self_study.answers import (
    both_answers,
    exercise_named,
    next_hint,
    next_step,
)
from autograder.self_study.mine import store, use_mine
from autograder.self_study.progress import course_map, read_progress, record
from autograder.self_study.waiting import NotRun, check_notebook
from autograder.unit import graded_unit

ALL_PASSED, SOME_FAILED, NOT_RUN = 0, 1, 2
POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Wish:
    """Hold which notebook to check, in which language, and the repository's folder."""

    unit: Unit
    notebook: Path
    language: str
    folder: Path


def main(
    arguments: Sequence[str], language: str, folder: Path, default_unit: str = ""
) -> int:
    """Check a saved notebook: return 0 if all checks pass, 1 if not, 2 after a problem.

    If no unit is given, print an overview of all units.

    Args:
        arguments: the arguments on the command line.
        language: the language of this repository.
        folder: the folder of this repository, with `assignments/` and the progress.
        default_unit: the unit to check if none is named.
    """
    with contextlib.suppress(AttributeError):  # a notebook's output lacks this method
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    parser = argparse.ArgumentParser("python -m transformer.check", description=__doc__)
    parser.add_argument("unit", nargs="?", default=default_unit, help="such as 04")
    parser.add_argument(
        "notebook", nargs="?", type=Path, help="default: the unit's own"
    )
    parser.add_argument("--watch", action="store_true", help="run again on each save")
    parser.add_argument("--language", choices=[ENGLISH, *TRANSLATIONS])
    parser.add_argument(
        "--hint",
        nargs="?",
        const="",
        metavar="EXERCISE",
        help="show the next hint; default: of the next exercise",
    )
    parser.add_argument("--answer", metavar="EXERCISE", help="show the course's, too")
    parser.add_argument("--give-up", action="store_true", help="without passing first")
    asked = parser.parse_args(arguments)
    language = asked.language or language
    try:
        wants_unit = asked.hint is not None or asked.answer or asked.watch
        if not (asked.unit or wants_unit):
            _print(course_map(load_course(), folder, language, _teller(language)))
            return ALL_PASSED
        unit, notebook = _chosen(asked.unit, asked.notebook, default_unit, folder)
        wish = Wish(unit, notebook, language, folder)
        if asked.hint is not None:
            return _hint(wish, asked.hint)
        if asked.answer:
            return _answer(wish, asked.answer, asked.give_up)
        return _watch(wish) if asked.watch else _check(wish)
    except (CourseError, NotRun) as error:
        _print(_teller(language)(error.args[0]))
        return NOT_RUN


def _print(text: str) -> None:
    print(text, flush=True)


def _chosen(
    name: str, notebook: Path | None, default: str, folder: Path
) -> tuple[Unit, Path]:
    """Return the requested unit and notebook.

    A notebook's file name is enough if it contains the unit's number.

    Raises:
        CourseError: if there is no such unit.
        NotRun: if no unit is named, or if the unit is not in this repository.
    """
    course = load_course()
    if notebook is None and name.endswith(".ipynb"):
        notebook, number = Path(name), re.search(r"\d\d", Path(name).name)
        name = number[0] if number else default
    if not name:
        raise NotRun(
            Phrase("Specify the unit, for example: python -m transformer.check 04")
        )
    unit = course.unit(name)
    if not course.release_notebook(unit).is_file():
        raise NotRun(
            Phrase("Unit {unit} is not in this repository: try `git pull`.", unit.slug)
        )
    own = folder / "assignments" / unit.slug / f"{unit.slug}.ipynb"
    return unit, notebook or own


def _teller(language: str, slug: str = "") -> Callable[[str], str]:
    """Return a function that translates the messages about a unit."""
    if language == ENGLISH:
        return str
    from autograder.translations.feedback_catalogues import feedback_table

    return partial(translated, table=feedback_table(ROOT, language, slug))


def _found(wish: Wish) -> dict[str, Any]:
    """Check a notebook once, and store the results and the answers that pass.

    Exercises without an answer keep their earlier results, because a kernel may not
    have run the cells of all exercises.

    Raises:
        NotRun: if the notebook could not be checked.
    """
    found = check_notebook(wish.unit.slug, wish.notebook.absolute(), wish.language)
    facts = {
        name: {"passed": one["passed"], "points": one["points"]}
        for name, one in found["exercises"].items()
        if one.get("written")
    }
    for write, kept in ((record, facts), (store, found["exercises"])):
        try:
            write(wish.folder, wish.unit, kept)
        except NotRun as error:  # the report is more important than the stored files
            _print(_teller(wish.language)(error.args[0]))
    return found


def _check(wish: Wish) -> int:
    """Check a notebook once, and print the report and the next step."""
    found, told = _found(wish), _teller(wish.language)
    _print(found["report"])
    step = next_step(found["exercises"], load_course(), wish.unit, wish.folder)
    _print(f"\n{told(step)}")
    return ALL_PASSED if found["passed"] else SOME_FAILED


def _hint(wish: Wish, name: str) -> int:
    """Print the next hint for an exercise."""
    course, told = load_course(), _teller(wish.language, wish.unit.slug)
    exercise = exercise_named(course, wish.unit, name or _unfinished(course, wish))

    def found() -> dict[str, Any]:
        return _found(wish)["exercises"]

    for words in next_hint(course, wish.unit, exercise, wish.folder, found):
        _print(told(words))
    return ALL_PASSED


def _unfinished(course: Course, wish: Wish) -> str:
    """Return the first exercise that has hints and does not pass.

    Stored results are used first. If all exercises passed before, this function runs
    the check, because the learner may have changed them.

    Raises:
        NotRun: if all exercises pass.
    """
    hinted = course.hints_of(wish.unit)
    own = read_progress(wish.folder).get(wish.unit.slug, {})
    left = [name for name in hinted if not own.get(name, {}).get("passed")]
    if not left and wish.notebook.is_file():
        found = _found(wish)["exercises"]
        left = [name for name in hinted if found[name].get("passed") is False]
    if left:
        return left[0]
    raise NotRun(Phrase("All exercises pass: name the one that you want a hint for."))


def _answer(wish: Wish, name: str, give_up: bool) -> int:
    """Print the learner's answer and the course's answer."""
    course, told = load_course(), _teller(wish.language)
    exercise = exercise_named(course, wish.unit, name)
    facts = _found(wish)["exercises"][exercise]
    own, ours = both_answers(course, wish.unit, exercise, facts, give_up)
    _print(told(Phrase("Your answer:")) + f"\n\n{own}\n")
    _print(told(Phrase("The course's answer:")) + f"\n\n{ours}")
    if "points" not in facts:
        record(wish.folder, wish.unit, {exercise: {"passed": True}})
    return ALL_PASSED


def _watch(wish: Wish) -> int:
    """Check a notebook whenever it is saved, until the learner presses Ctrl+C."""
    status, seen = NOT_RUN, -1
    told = _teller(wish.language)
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            exists = wish.notebook.exists()
            saved = wish.notebook.stat().st_mtime_ns if exists else 0
            if saved == seen:
                time.sleep(POLL_SECONDS)
                continue
            seen = saved
            try:
                status = _check(wish)
            except NotRun as error:
                status = NOT_RUN
                _print(told(error.args[0]))
            words = Phrase("Waiting for the next save. Ctrl+C ends it.")
            _print(f"\n{told(words)}\n")
    return status


def check_kernel(
    names: Mapping[str, object],
    unit: str,
    language: str,
    folder: Path,
    options: Sequence[str] = (),
) -> int:
    """Check the functions of a running kernel, using the cells that it has run.

    Args:
        names: the names in the kernel; IPython stores the cells there.
        unit: the unit.
        language: the language of this repository.
        folder: the folder of this repository.
        options: further options, in the form used on the command line.
    """
    with tempfile.TemporaryDirectory() as place:
        path = Path(place, f"{unit}.ipynb")
        sources = last_versions([str(source) for source in names["In"]])  # type: ignore[attr-defined]
        if "--hint" not in options and not _defines_answers(unit, sources):
            words = Phrase(
                "This kernel has not run any of your answers yet. Run the cells of "
                "your exercises from the first cell on, then check again."
            )
            _print(_teller(language)(words))
            return NOT_RUN
        cells = [
            {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
            for source in sources
        ]
        notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
        path.write_text(json.dumps(notebook), encoding="utf-8")
        return main([unit, str(path), *options], language, folder)


def _defines_answers(unit: str, sources: Sequence[str]) -> bool:
    """Return whether any of the cells defines a function or class of an exercise."""
    released = graded_unit(unit).released
    asked = {
        name
        for cell in released.cells
        if cell.cell_type == "code"
        and cell.metadata.get("nbgrader", {}).get("solution")
        for name in top_names(cell.source)
    }
    return not asked or any(asked & {*top_names(source)} for source in sources)


def use_own_answers(unit: str, language: str, folder: Path) -> None:
    """Let a kernel use the learner's answers to earlier units, and list them.

    The arguments are the same as for `check_kernel`.
    """
    course = load_course()
    _print(use_mine(course, course.unit(unit), folder, _teller(language)))


def last_versions(sources: Sequence[str]) -> list[str]:
    """Return the last version of each cell that a kernel has run.

    Cells that define the same functions and classes count as versions of the same cell.
    """
    last: dict[object, str] = {}
    for source in sources:
        key = tuple(sorted(top_names(source))) or source
        last.pop(key, None)
        last[key] = source
    return list(last.values())

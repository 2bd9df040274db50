"""The command `python -m transformer.check`, and `check()` in a notebook."""

import argparse
import contextlib
import json
import re
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from autograder.course import (
    ENGLISH,
    ROOT,
    TRANSLATIONS,
    CourseError,
    Unit,
    load_course,
)
from autograder.phrases import Phrase, translated
from autograder.repair.slots import top_names
from autograder.self_study.waiting import NotRun, check_notebook

ALL_PASSED, SOME_FAILED, NOT_RUN = 0, 1, 2
POLL_SECONDS = 0.5


def main(arguments: Sequence[str], language: str, default_unit: str = "") -> int:
    """Check a saved notebook; return 0 if all passes, 1 if not, 2 if it did not run.

    Args:
        arguments: of the command line.
        language: of this repository.
        default_unit: the unit that is checked if none is named.
    """
    with contextlib.suppress(AttributeError):  # a notebook's own output has none
        sys.stdout.reconfigure(errors="replace")  # type: ignore[union-attr]
    parser = argparse.ArgumentParser("python -m transformer.check", description=__doc__)
    parser.add_argument("unit", nargs="?", default=default_unit, help="such as 04")
    parser.add_argument(
        "notebook", nargs="?", type=Path, help="default: the unit's own"
    )
    parser.add_argument("--watch", action="store_true", help="run again on each save")
    parser.add_argument("--language", choices=[ENGLISH, *TRANSLATIONS])
    asked = parser.parse_args(arguments)
    language = asked.language or language
    try:
        unit, notebook = _chosen(asked.unit, asked.notebook, default_unit)
    except (CourseError, NotRun) as error:
        print(_told(error.args[0], language))
        return NOT_RUN
    if not asked.watch:
        return _check(unit, notebook, language)
    return _watch(unit, notebook, language)


def _chosen(name: str, notebook: Path | None, default: str) -> tuple[Unit, Path]:
    """Return the unit and the notebook that are asked for.

    A notebook may be named without its unit if its name has the unit's number.

    Raises:
        CourseError: if there is no such unit.
        NotRun: if no unit is named, or it is not in this repository.
    """
    course = load_course()
    if notebook is None and name.endswith(".ipynb"):
        notebook, number = Path(name), re.search(r"\d\d", Path(name).name)
        name = number[0] if number else default
    if not name:
        raise NotRun(Phrase("Name the unit, such as: python -m transformer.check 04"))
    unit = course.unit(name)
    if not course.release_notebook(unit).is_file():
        raise NotRun(
            Phrase("Unit {unit} is not in this repository: try `git pull`.", unit.slug)
        )
    own = ROOT.parent / "assignments" / unit.slug / f"{unit.slug}.ipynb"
    return unit, notebook or own


def _told(text: str, language: str) -> str:
    if language == ENGLISH:
        return text
    from autograder.translations.feedback_catalogues import feedback_table

    return translated(text, feedback_table(ROOT, language, ""))


def _check(unit: Unit, notebook: Path, language: str) -> int:
    """Check a notebook once and print the report."""
    try:
        report, is_right = check_notebook(unit.slug, notebook.absolute(), language)
    except NotRun as error:
        print(_told(error.args[0], language), flush=True)
        return NOT_RUN
    print(report, flush=True)
    return ALL_PASSED if is_right else SOME_FAILED


def _watch(unit: Unit, notebook: Path, language: str) -> int:
    """Check a notebook on each save, until the learner interrupts."""
    status, seen = NOT_RUN, -1
    with contextlib.suppress(KeyboardInterrupt):
        while True:
            saved = notebook.stat().st_mtime_ns if notebook.exists() else 0
            if saved == seen:
                time.sleep(POLL_SECONDS)
                continue
            seen = saved
            status = _check(unit, notebook, language)
            words = Phrase("Waiting for the next save. Ctrl+C ends it.")
            print(f"\n{_told(words, language)}\n", flush=True)
    return status


def check_kernel(names: Mapping[str, object], unit: str, language: str) -> int:
    """Check the functions of a running kernel, by the cells that it has run.

    Args:
        names: of the kernel; IPython keeps the cells there.
        unit: the unit.
        language: of this repository.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"{unit}.ipynb")
        sources = last_versions([str(source) for source in names["In"]])  # type: ignore[attr-defined]
        cells = [
            {"cell_type": "code", "source": source, "metadata": {}, "outputs": []}
            for source in sources
        ]
        notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 4}
        path.write_text(json.dumps(notebook), encoding="utf-8")
        return main([unit, str(path)], language)


def last_versions(sources: Sequence[str]) -> list[str]:
    """Return the cells that a kernel has run, each in its last version only.

    Two cells are versions of one if they define the same functions and classes.
    """
    last: dict[object, str] = {}
    for source in sources:
        key = tuple(sorted(top_names(source))) or source
        last.pop(key, None)
        last[key] = source
    return list(last.values())

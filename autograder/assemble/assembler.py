"""Make answer notebooks, released notebooks and kits from the master files."""

from __future__ import annotations

import filecmp
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from autograder.assemble.notebook import AnswerNotebook, make_answer_notebook
from autograder.assemble.problems import AssemblyError, Problem
from autograder.assemble.release import release
from autograder.assemble.translation import has_translation, translate_release
from autograder.course import TRANSLATIONS, Course, Unit

LEFT_BEHIND = ("__pycache__", ".ipynb_checkpoints")  # created by Python and Jupyter


@dataclass(frozen=True)
class Assembled:
    """Hold the result of assembling units."""

    units: tuple[Unit, ...]
    changed: tuple[str, ...]
    warnings: tuple[str, ...]


def assemble(
    course: Course, units: Sequence[Unit] = (), *, install: bool = True
) -> Assembled:
    """Assemble the given units, or by default all units that have a master.

    Everything is first built in a temporary folder, so that an error leaves all files
    of the course unchanged. If `install` is False, no file is changed, and `changed`
    lists the files that would change.

    Raises:
        AssemblyError: with a list of the problems in all masters.
    """
    chosen = tuple(units) or tuple(
        unit for unit in course.units if course.master(unit).is_file()
    )
    notebooks = _answer_notebooks(course, chosen)
    with tempfile.TemporaryDirectory(prefix=".assemble-", dir=course.root) as name:
        folder = Path(name)
        for unit in chosen:
            _build(course, unit, notebooks[unit], folder)
        outdated = [pair for unit in chosen for pair in _outdated(course, unit, folder)]
        for built, target in outdated if install else ():
            where = target.relative_to(course.root)
            _replace(built, target, folder / "replaced" / where)
    warnings = [line for made in notebooks.values() for line in made.warnings]
    changed = [target.relative_to(course.root).as_posix() for _, target in outdated]
    return Assembled(chosen, tuple(changed), tuple(warnings))


def _answer_notebooks(
    course: Course, units: Sequence[Unit]
) -> dict[Unit, AnswerNotebook]:
    problems = list(_stray_files(course))
    notebooks = {}
    for unit in units:
        try:
            _require_master(course, unit)
            notebooks[unit] = make_answer_notebook(course, unit)
        except AssemblyError as error:
            problems += error.problems
    if problems:
        raise AssemblyError(problems)
    return notebooks


def _require_master(course: Course, unit: Unit) -> None:
    path = course.master(unit)
    if not path.is_file():
        where = path.relative_to(course.root).as_posix()
        remedy = "write it as solutions/notebooks/README.md shows"
        raise AssemblyError([Problem(where, "there is no such master", remedy)])


def _stray_files(course: Course) -> Iterator[Problem]:
    """Report folders that belong to no unit and files that nbgrader would publish."""
    slugs = {unit.slug for unit in course.units}
    for path in sorted((course.root / "solutions" / "notebooks").glob("*/*")):
        where = path.relative_to(course.root).as_posix()
        slug = path.parent.name
        if slug not in slugs:
            remedy = "correct its name, or add the unit to autograder/course.toml"
            yield Problem(where, f"'{slug}' is no unit of this course", remedy)
        elif path.suffix != ".md" and path.name not in (f"{slug}.ipynb", *LEFT_BEHIND):
            remedy = "move it: only the master belongs here"
            yield Problem(where, "nbgrader would publish this file", remedy)


def _build(course: Course, unit: Unit, made: AnswerNotebook, folder: Path) -> None:
    answer = folder / course.answer_notebook(unit).relative_to(course.root)
    answer.parent.mkdir(parents=True)
    answer.write_text(made.text, encoding="utf-8", newline="\n")
    release(course, unit, folder, db_url=None)
    translate_release(course, unit, folder)


def _outdated(course: Course, unit: Unit, folder: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the built files that differ from the files in the course."""
    translated = [
        course.translated_notebook(unit, language).parent
        for language in TRANSLATIONS
        if has_translation(course, language)
    ]
    own = (course.answer_notebook(unit), course.release_dir(unit))
    for target in (*own, *translated):
        built = folder / target.relative_to(course.root)
        if not _same(built, target):
            yield built, target


def _replace(built: Path, target: Path, old: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.is_dir():
        old.parent.mkdir(parents=True, exist_ok=True)
        target.rename(old)
    try:
        os.replace(built, target)
    except OSError:
        if old.is_dir():
            old.rename(target)
        raise


def _same(built: Path, target: Path) -> bool:
    """Return whether two files or folders have the same content."""
    if not (built.is_dir() and target.is_dir()):
        both = built.is_file() and target.is_file()
        return both and filecmp.cmp(built, target, shallow=False)
    names = {path.relative_to(built) for path in built.rglob("*")}
    if names != {path.relative_to(target) for path in _kept(target)}:
        return False
    files = [str(name) for name in names if (built / name).is_file()]
    _, differ, errors = filecmp.cmpfiles(built, target, files, shallow=False)
    return not differ and not errors


def _kept(folder: Path) -> Iterator[Path]:
    """Yield a folder's contents, except the folders that Python and Jupyter create."""
    for path in folder.rglob("*"):
        if not set(LEFT_BEHIND) & set(path.relative_to(folder).parts):
            yield path

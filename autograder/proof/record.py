"""The record of a proof: what it found, and the files that it rests on.

Judging every variant at fifty seeds takes an hour. What was found holds as long as no
file that was loaded while judging has changed, nor a version of what runs it.
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

from autograder.classroom.regrade_hash import versions
from autograder.course import Course, Unit
from autograder.proof.judging import Tally, judge_one, variants_file
from autograder.unit import graded_unit, is_run
from autograder.whole_files import write_whole

RECORD = Path("benchmarks/results/verified.json")
# Loaded by the command and by this module, or to find the files: no part of judging.
NOT_JUDGING = (
    *("autograder/__main__.py", "autograder/classroom", "autograder/course.py"),
    *("autograder/gradebook.py", "autograder/lazy_iri_grammar.py"),
    *("autograder/proof/record.py", "autograder/whole_files.py"),
)


@dataclass(frozen=True)
class Found:
    """What judging all variants of a unit found.

    Attributes:
        seeds: the seeds they were judged at.
        exercises: of each exercise its wrong variants, those named, its right ones.
        files: a digest of each file that it rests on, by its path in the course.
        versions: of Python and of the packages.
    """

    seeds: int
    exercises: Mapping[str, Mapping[str, int]]
    files: Mapping[str, str]
    versions: Mapping[str, str]

    def holds(self, root: Path) -> bool:
        """Say whether it would be found again: nothing that it rests on changed."""
        return self.versions == versions() and self.files == _digests(root, self.files)


def found_before(course: Course, unit: Unit) -> Found | None:
    """Return what the record says of a unit; None if nothing that still holds."""
    found = _read(course.root).get(unit.slug)
    known = Found(**found) if found else None
    return known if known is not None and known.holds(course.root) else None


def record(course: Course, unit: Unit, tallies: Sequence[Tally], seeds: int) -> None:
    """Write what was found of all variants of a unit, none of them misjudged."""
    files = _files_by_themselves(course, unit)
    found = Found(seeds, counted(tallies), _digests(course.root, files), versions())
    known = dict(sorted({**_read(course.root), unit.slug: vars(found)}.items()))
    lines = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in known.items())
    write_whole(course.root / RECORD, f"{{\n{lines}\n}}\n".encode())


def counted(tallies: Sequence[Tally]) -> dict[str, dict[str, int]]:
    """Count of each exercise the wrong variants, those named, and the right ones."""
    return {
        tally.exercise: {
            "wrong": tally.count("wrong"),
            "named": tally.diagnosed,
            "right": tally.count("right"),
        }
        for tally in tallies
    }


def _files_by_themselves(course: Course, unit: Unit) -> list[str]:
    """Ask a new process, which has loaded nothing for other units."""
    with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
        return fresh.submit(files_that_judge, course, unit).result()


def files_that_judge(course: Course, unit: Unit) -> list[str]:
    """Judge a variant and name the files of ours that this process has loaded."""
    judge_one(unit.slug, course.root, 0, 1)
    graded = graded_unit(unit.slug, course.root)
    loaded = {getattr(module, "__file__", None) for module in sys.modules.values()}
    read = {graded.checks_file, variants_file(course, unit)}
    read |= {course.answer_notebook(unit), course.release_notebook(unit)}
    paths = {Path(name).resolve() for name in loaded if name} | read
    inside = (course.root / "autograder", course.package_dir)
    judging = read | {p for p in paths if any(p.is_relative_to(h) for h in inside)}
    names = {path.relative_to(course.root) for path in judging}
    return sorted(
        name.as_posix()
        for name in names
        if not any(name.is_relative_to(other) for other in NOT_JUDGING)
    )


def _digests(root: Path, names: Iterable[str]) -> dict[str, str]:
    """Return a short digest of each file."""
    return {name: sha256(_deciding(root / name)).hexdigest()[:16] for name in names}


def _deciding(path: Path) -> bytes:
    """Return what decides of a file: of a notebook the points and the code that runs.

    The visible checks do not: they stand in cells that the hidden checks replace.
    """
    if not path.is_file():
        return b"not there"
    if path.suffix != ".ipynb":
        return path.read_bytes()
    cells = nbformat.read(path, as_version=4).cells
    return repr([_deciding_of(c) for c in cells if c.cell_type == "code"]).encode()


def _deciding_of(cell: NotebookNode) -> tuple[str, dict[str, Any]]:
    told = dict(cell.metadata.get("nbgrader", {}))
    told.pop("checksum", None)  # of the source, which may be a visible check
    return cell.source if is_run(cell) else "", told


def _read(root: Path) -> dict[str, Any]:
    try:
        return json.loads((root / RECORD).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}

"""Grade submissions on a worker of a dask.distributed cluster."""

import hashlib
import os
import tempfile
import threading
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import nbformat
from distributed import Worker, WorkerPlugin

from autograder.classroom.fingerprint import fingerprint_of_code, versions
from autograder.classroom.worker_process import limited
from autograder.grading.language import translated_notebooks
from autograder.grading.outcome import Outcome
from autograder.grading.submission import grade_submission
from autograder.sandbox.kit import folder_files
from autograder.sandbox.limits import Limits
from autograder.unit import GradedUnit, Submission, points_of

CODE = "the course's code"
_units: dict[str, "UnitPlugin"] = {}
_unpacked: dict[str, tuple[GradedUnit, tempfile.TemporaryDirectory]] = {}
_one_at_a_time = threading.Lock()  # a pre-warmed parent accepts one order at a time


class OtherVersions(Exception):
    """Report that a worker's versions differ from those of the requesting machine."""


@dataclass(frozen=True)
class Parcel:
    """Hold a submission that is sent to a worker.

    Attributes:
        unit: the key of the unit, which the workers already have.
        student: the student's id, from which the seed of the checks' inputs is derived.
        name: the file's name.
        content: the bytes of the notebook.
        limits: the limits on its resources.
        facts: the versions that the worker must have.
        others: the notebooks in the same folder, the most recent first.
    """

    unit: str
    student: str
    name: str
    content: bytes
    limits: Limits
    facts: dict[str, str]
    others: tuple[tuple[str, bytes], ...] = ()


class UnitPlugin(WorkerPlugin):
    """Send a unit to every worker, including workers that join later."""

    def __init__(self, unit: GradedUnit):
        """Pack the released notebook, the kit, the hidden checks and our answers."""
        kit = folder_files(unit.kit)
        self.slug = unit.slug
        self.released = nbformat.writes(unit.released)
        self.translated_notebooks = {
            f"{path.parents[1].name}/{path.parent.name}/{path.name}": path.read_bytes()
            for path in translated_notebooks(unit)
        }
        self.checks = (unit.checks_file.name, unit.checks_file.read_bytes())
        self.kit = {n: kit[n] for n in sorted(kit) if "__pycache__" not in n}
        self.answers = dict(unit.answers)
        packed = repr(vars(self))
        self.key = hashlib.sha256(packed.encode()).hexdigest()
        self.name = f"course-{self.slug}-{self.key[:16]}"

    def setup(self, worker: Worker) -> None:
        """Store the unit until a submission for it arrives."""
        _units[self.key] = self

    def unpack(self, place: Path) -> GradedUnit:
        """Write the unit's files under `place`."""
        name, checks = self.checks
        files = {
            f"checks/{name}": checks,
            **self.translated_notebooks,
            **self._kit_files(),
        }
        for path, content in files.items():
            (place / path).parent.mkdir(parents=True, exist_ok=True)
            (place / path).write_bytes(content)
        released = nbformat.reads(self.released, as_version=4)
        points = points_of(released)
        checks_file = place / "checks" / name
        return GradedUnit(
            self.slug, checks_file, points, released, place / "kit", self.answers
        )

    def _kit_files(self) -> dict[str, bytes]:
        files = {f"kit/{name}": content for name, content in self.kit.items()}
        return files or {"kit/.empty": b""}


def open_parcel(parcel: Parcel) -> Outcome:
    """Grade the submission in a parcel with this worker's own pre-warmed parent.

    Raises:
        OtherVersions: if the versions differ from those of the requesting machine.
    """
    if parcel.facts != facts():
        raise OtherVersions(f"the worker {difference(facts(), parcel.facts)}")
    with _one_at_a_time, tempfile.TemporaryDirectory(prefix="course-") as folder:
        path = Path(folder, parcel.name)
        for seconds, (name, content) in enumerate(reversed(parcel.others)):
            other = Path(folder, name)
            other.write_bytes(content)
            os.utime(other, (seconds, seconds))  # the most recent file comes last
        path.write_bytes(parcel.content)
        unit = _unit(parcel.unit)
        submission = Submission(parcel.student, unit.slug, path)
        with limited(parcel.limits):
            return grade_submission(unit, submission, parcel.limits)


def _unit(key: str) -> GradedUnit:
    """Return a unit that this worker has; its files exist as long as the worker."""
    if key not in _unpacked:
        folder = tempfile.TemporaryDirectory(prefix="course-unit-")
        _unpacked[key] = (_units[key].unpack(Path(folder.name)), folder)
    return _unpacked[key][0]


@cache
def facts() -> dict[str, str]:
    """Return the versions of everything in this process that may affect a score."""
    found = {name: version(name) for name in ("dask", "distributed")}
    code = fingerprint_of_code(package=_installed_answers())
    return {**versions(), CODE: code[:12], **found}


def _installed_answers() -> Path | None:
    """Return the folder from which this process would import the reference answers."""
    spec = find_spec("transformer")
    places = spec.submodule_search_locations if spec is not None else None
    return Path(next(iter(places))) if places else None


def difference(theirs: dict[str, str], ours: dict[str, str]) -> str:
    """Describe in which versions a worker differs from the requesting machine."""
    names = sorted(theirs.keys() | ours.keys())
    parts = [
        f"{name} {theirs.get(name, 'none')} where we have {ours.get(name, 'none')}"
        for name in names
        if theirs.get(name) != ours.get(name)
    ]
    return f"has {'; '.join(parts)}: install the same course and packages there"

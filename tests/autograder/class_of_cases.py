"""Grade a whole collection of submissions as one class, and store the results."""

import contextlib
import io
import os
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from handing_in import UNIT, Case, HandIn
from nbgrader.api import Gradebook
from rich.console import Console

from autograder.classroom import workers
from autograder.classroom.folder import ClassFolder
from autograder.classroom.grading_run import Choice, run_through
from autograder.commands.console import problems_table
from autograder.commands.grading import line_of, remark_on
from autograder.grading.outcome import Outcome
from autograder.sandbox import prestart
from autograder.sandbox.limits import crowding
from autograder.unit import graded_unit

# A slow submission on a busy machine must not count as endless. On a quiet machine, the
# slowest submission takes a seventh of this time, and an honest one a tenth.
LIMITS = {
    "cell_seconds": 3,
    "exercise_seconds": 6,
    "submission_seconds": 40,
    "memory_bytes": 1 << 30,
}
ENDING = 60  # seconds in which an idle worker should end and clean up
SETTINGS = """
from pathlib import Path
from autograder.nbgrader_steps.settings import configure

c = get_config()
configure(c, Path({root!r}))
c.RunHiddenChecks.limits = {limits!r}
"""


@dataclass
class GradedClass:
    """The results of grading a class of cases.

    Attributes:
        root: the folder of the class.
        students: the student of each case, in the order of grading.
        outcomes: the outcome of each student.
        scores: the score of each student in the gradebook.
        shown: the terminal output of the run.
        patience: the factor by which the run could exceed each of the `LIMITS`.
        left: the traces after the run that did not exist before.
    """

    root: Path
    students: dict[str, str]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    shown: str = ""
    patience: float = 1.0
    left: dict[str, set[str]] = field(default_factory=dict)

    def outcome(self, case: Case) -> Outcome:
        """Return a case's outcome."""
        return self.outcomes[self.students[case.name]]

    def score(self, case: Case) -> float:
        """Return a case's score in the gradebook, or 0 if it has none."""
        return round(self.scores.get(self.students[case.name], 0.0), 2)

    def written(self, case: Case) -> Iterator[tuple[Path, str]]:
        """Yield the files about a case, with their text."""
        for kind in ("autograded", "feedback"):
            for path in (self.root / kind / self.students[case.name]).rglob("*"):
                if path.is_file():
                    yield path, path.read_bytes().decode(errors="replace")


def hand_in(root: Path, cases: Iterable[Case]) -> dict[str, str]:
    """Write the submissions of a collection, and return the student of each case."""
    (root / "nbgrader_config.py").write_text(
        SETTINGS.format(root=str(root), limits=LIMITS)
    )
    unit, students = graded_unit(UNIT, root), {}
    for number, case in enumerate(cases):
        student = case.student or f"{number:03}-{case.name}"
        hand = HandIn(unit, root, student)
        case.build(hand)
        hand.save()
        students[case.name] = student
    return students


def grade_class(root: Path, students: dict[str, str], feedback: bool) -> GradedClass:
    """Grade the submissions with two workers, and look for traces before and after."""
    made = GradedClass(root, students)
    folder, unit = ClassFolder(root), graded_unit(UNIT, root)
    folder.register(UNIT)
    console = Console(file=io.StringIO(), width=200)
    known = running()
    before = traces(root, known)

    def show(outcome: Outcome) -> None:
        made.patience = max(made.patience, crowding())
        console.print(line_of(outcome), markup=False, highlight=False)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(workers, "PATIENCE", ENDING)
        outcomes = run_through(
            folder,
            unit,
            list(folder.submissions(UNIT)),
            show,
            Choice(with_feedback=feedback, workers=2),
        )
    rows = [(one.submission.student, remark_on(one)) for one in outcomes]
    console.print(problems_table(rows, "student", "what to look at"))
    made.shown = console.file.getvalue()
    made.outcomes = {outcome.submission.student: outcome for outcome in outcomes}
    with Gradebook(folder.db_url) as gradebook:
        rows = gradebook.assignment_submissions(UNIT)
        made.scores = {row.student.id: row.score for row in rows}
    prestart.end()  # kept for the next class, in its own folder
    after = traces(root, known)
    made.left = {kind: after[kind] - before[kind] for kind in after}
    return made


def traces(root: Path, known: set[int]) -> dict[str, set[str]]:
    """Return possible traces of an attack: processes, files, shared memory.

    `known` are the processes that existed before the run.
    """
    places = [Path(tempfile.gettempdir()), Path("/dev/shm"), Path("/tmp"), Path.home()]
    places += [root, root / "assignments" / UNIT, root / "solutions", Path.cwd()]
    own = {"autograded", "feedback", "gradebook.db", "grading", "__pycache__"}
    return {
        "processes": lasting_processes(known),
        "files": {
            str(path)
            for place in places
            if place.is_dir()
            for path in place.iterdir()
            if path.name not in own and not is_other_peoples(path)
        },
    }


def is_other_peoples(path: Path) -> bool:
    """Tell whether a file belongs to another program or to Python, and to no attack."""
    is_common = path.parent in (Path("/tmp"), Path("/dev/shm"))
    return path.name.startswith("pymp-") or (is_common and "attack" not in path.name)


def running() -> set[int]:
    """Return the numbers of all processes of this machine."""
    return {int(path.name) for path in Path("/proc").glob("[0-9]*")}


def lasting_processes(known: set[int], seconds: float = 8.0) -> set[str]:
    """Return the processes of attacks that do not end by themselves."""
    until = time.monotonic() + seconds
    found = set(processes(known))
    while found and time.monotonic() < until:
        time.sleep(0.5)
        found &= set(processes(known))
    return found


def processes(known: set[int]) -> Iterator[str]:
    """Yield the processes that have a child's user id or look like an attack's."""
    for number in running():
        path = Path("/proc", str(number))
        with contextlib.suppress(OSError):
            words = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            is_child = 61184 <= path.stat().st_uid < 61184 + 4096
            if (is_child or "98765" in words) and is_ours(number, known):
                yield f"{number} {words}"


def is_ours(number: int, known: set[int]) -> bool:
    """Tell whether this process started a process, or the run left it as an orphan."""
    line = [number, *forefathers(number)]
    ours = {os.getpid(), *forefathers(os.getpid()), 1}
    highest = [each for each in line if each not in ours][-1:]
    return os.getpid() in line or not known.intersection(highest)


def forefathers(number: int) -> Iterator[int]:
    """Yield the ids of the ancestors of a process, up to the first process."""
    while number > 1:
        stat = Path(f"/proc/{number}/stat").read_text()
        number = int(stat.rpartition(")")[2].split()[1])
        yield number


@contextlib.contextmanager
def places_of_its_own(folder: Path) -> Iterator[Path]:
    """Give a run its own home, temporary folder and working folder.

    Home and temporary folder contain a canary. Files that other programs write into
    their own folders, such as caches in the course's folder, do not appear in these.
    """
    home, temporary, work = (folder / name for name in ("home", "temporary", "work"))
    for place in (home, temporary, work):
        place.mkdir()
    for place in (home, temporary):
        (place / ".course-canary").write_text("CANARY-HOME")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(home))
        patch.setenv("TMPDIR", str(temporary))
        patch.setattr(tempfile, "tempdir", None)
        patch.chdir(work)
        yield home


def plant_canaries(root: Path) -> None:
    """Write hidden words into places that an attack must not read."""
    with (root / "autograder" / "checks" / "test_01_tiny.py").open("a") as file:
        file.write('\nHIDDEN = "CANARY-CHECKS"\n')
    with (root / "solutions" / "tiny" / "scaling.py").open("a") as file:
        file.write('\nHIDDEN = "CANARY-ANSWERS"\n')
    (root / "solutions" / "notes.txt").write_text("CANARY-ANSWERS")
    folder = ClassFolder(root)
    folder.register(UNIT)
    with Gradebook(folder.db_url) as gradebook:
        gradebook.add_student("000-canary", last_name="CANARY-GRADEBOOK")


def copied(tiny_root: Path, folder: Path) -> Path:
    """Copy the tiny course, so that a test can grade a class in it."""
    return shutil.copytree(tiny_root, folder / "class")

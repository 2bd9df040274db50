"""Grade a whole collection of submissions as one class; keep what came of it."""

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

# What is slow on a busy machine must not count as endless: on a quiet one the slowest
# submission takes a seventh of its time, and an honest one a tenth.
LIMITS = {
    "cell_seconds": 3,
    "exercise_seconds": 6,
    "submission_seconds": 40,
    "memory_bytes": 1 << 30,
}
ENDING = 60  # seconds that an idle worker gets to end and to clear up
SETTINGS = """
from pathlib import Path
from autograder.nbgrader_steps.settings import configure

c = get_config()
configure(c, Path({root!r}))
c.RunHiddenChecks.limits = {limits!r}
"""


@dataclass
class GradedClass:
    """What grading a class of cases gave.

    Attributes:
        root: the folder of the class.
        students: each case's student, in the order of grading.
        outcomes: each student's outcome.
        scores: each student's score in the gradebook.
        shown: what the run wrote on the terminal.
        patience: how many times longer than `LIMITS` anything was allowed to take.
        left: what was found afterwards that had not been there before.
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
        """Return a case's score as the gradebook has it; 0 if it is not in it."""
        return round(self.scores.get(self.students[case.name], 0.0), 2)

    def written(self, case: Case) -> Iterator[tuple[Path, str]]:
        """Yield the files that were written about a case, with their text."""
        for kind in ("autograded", "feedback"):
            for path in (self.root / kind / self.students[case.name]).rglob("*"):
                if path.is_file():
                    yield path, path.read_bytes().decode(errors="replace")


def hand_in(root: Path, cases: Iterable[Case]) -> dict[str, str]:
    """Write a collection's submissions; return each case's student."""
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
    """Grade what was handed in with two workers, and look around before and after."""
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
    prestart.end()  # it is kept for the next class, with a folder of its own
    after = traces(root, known)
    made.left = {kind: after[kind] - before[kind] for kind in after}
    return made


def traces(root: Path, known: set[int]) -> dict[str, set[str]]:
    """Return what an attack could leave: processes, files, shared memory.

    `known` are the processes that were there before the run.
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
    """Say whether a file cannot be an attack's: another program's, or Python's own."""
    is_common = path.parent in (Path("/tmp"), Path("/dev/shm"))
    return path.name.startswith("pymp-") or (is_common and "attack" not in path.name)


def running() -> set[int]:
    """Return the numbers of all processes of this machine."""
    return {int(path.name) for path in Path("/proc").glob("[0-9]*")}


def lasting_processes(known: set[int], seconds: float = 8.0) -> set[str]:
    """Return the processes of attacks that do not go away by themselves."""
    until = time.monotonic() + seconds
    found = set(processes(known))
    while found and time.monotonic() < until:
        time.sleep(0.5)
        found &= set(processes(known))
    return found


def processes(known: set[int]) -> Iterator[str]:
    """Yield the processes that run with a child's number or look like an attack's.

    Tests that run beside these have such processes too: theirs are left out.
    """
    for number in running():
        path = Path("/proc", str(number))
        with contextlib.suppress(OSError):
            words = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            is_child = 61184 <= path.stat().st_uid < 61184 + 4096
            if (is_child or "98765" in words) and is_ours(number, known):
                yield f"{number} {words}"


def is_ours(number: int, known: set[int]) -> bool:
    """Say whether a process was started by this one, or is an orphan of the run.

    Above any other one stands a program that was `known` before the run.
    """
    line = [number, *forefathers(number)]
    ours = {os.getpid(), *forefathers(os.getpid()), 1}
    highest = [each for each in line if each not in ours][-1:]
    return os.getpid() in line or not known.intersection(highest)


def forefathers(number: int) -> Iterator[int]:
    """Yield the numbers of the processes above one, up to the first of all."""
    while number > 1:
        stat = Path(f"/proc/{number}/stat").read_text()
        number = int(stat.rpartition(")")[2].split()[1])
        yield number


@contextlib.contextmanager
def places_of_its_own(folder: Path) -> Iterator[Path]:
    """Give a run a home, a folder for temporary files and one that it works in.

    In home and temporary folder lies a canary. What other programs write into theirs,
    as caches in the course's own folder, does not lie in these.
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
    """Put hidden words where an attack must not read them."""
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
    """Return a copy of the tiny course in which a class may be graded."""
    return shutil.copytree(tiny_root, folder / "class")

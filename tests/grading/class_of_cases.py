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

from handing_in import UNIT, Case, HandIn
from nbgrader.api import Gradebook
from rich.console import Console

from autograder.class_folder import ClassFolder
from autograder.class_run import Outcome
from autograder.commands_grading import line_of, table_of
from autograder.grade_class import Choice, grade_all
from autograder.graded_unit import graded_unit

LIMITS = {
    "cell_seconds": 2,
    "exercise_seconds": 2,
    "submission_seconds": 8,
    "memory_bytes": 1 << 30,
}
SETTINGS = """
from pathlib import Path
from autograder.nbgrader_settings import configure

c = get_config()
configure(c, Path({root!r}))
c.RunHiddenChecks.limits = {limits!r}
"""


@dataclass
class GradedClass:
    """What grading a class of cases gave.

    Attributes:
        root: The folder of the class.
        students: Each case's student, in the order of grading.
        outcomes: Each student's outcome.
        scores: Each student's score in the gradebook.
        shown: What the run wrote on the terminal.
        seconds: How long the run took.
        left: What was found afterwards that had not been there before.
    """

    root: Path
    students: dict[str, str]
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    scores: dict[str, float] = field(default_factory=dict)
    shown: str = ""
    seconds: float = 0.0
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
    before = traces(root)
    started = time.monotonic()
    outcomes = grade_all(
        folder,
        unit,
        list(folder.submissions(UNIT)),
        lambda outcome: console.print(line_of(outcome), markup=False, highlight=False),
        Choice(with_feedback=feedback, workers=2),
    )
    made.seconds = time.monotonic() - started
    console.print(table_of(UNIT, outcomes))
    made.shown = console.file.getvalue()
    made.outcomes = {outcome.submission.student: outcome for outcome in outcomes}
    with Gradebook(folder.db_url) as gradebook:
        rows = gradebook.assignment_submissions(UNIT)
        made.scores = {row.student.id: row.score for row in rows}
    after = traces(root)
    made.left = {kind: after[kind] - before[kind] for kind in after}
    return made


def traces(root: Path) -> dict[str, set[str]]:
    """Return what an attack could leave: processes, files, shared memory."""
    places = [Path(tempfile.gettempdir()), Path("/dev/shm"), Path("/tmp"), Path.home()]
    places += [root, root / "assignments" / UNIT, root / "solutions", Path.cwd()]
    own = {"autograded", "feedback", "gradebook.db", "grading", "__pycache__"}
    return {
        "processes": lasting_processes(),
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


def lasting_processes(seconds: float = 8.0) -> set[str]:
    """Return the processes of attacks that do not go away by themselves."""
    until = time.monotonic() + seconds
    found = set(processes())
    while found and time.monotonic() < until:
        time.sleep(0.5)
        found &= set(processes())
    return found


def processes() -> Iterator[str]:
    """Yield the processes that run with a child's number or look like an attack's."""
    for path in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (path / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            is_child = 61184 <= path.stat().st_uid < 61184 + 4096
            if is_child or "98765" in words:
                yield f"{path.name} {words}"


@contextlib.contextmanager
def places_of_its_own(folder: Path) -> Iterator[Path]:
    """Give a run a home and a folder for temporary files, with a canary in each."""
    home, temporary = folder / "home", folder / "temporary"
    for place in (home, temporary):
        place.mkdir()
        (place / ".course-canary").write_text("CANARY-HOME")
    before = {name: os.environ.get(name) for name in ("HOME", "TMPDIR")}
    os.environ.update(HOME=str(home), TMPDIR=str(temporary))
    tempfile.tempdir = None
    try:
        yield home
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
        tempfile.tempdir = None


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

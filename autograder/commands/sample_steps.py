"""Make a sample class, grade it and compare its scores, as steps of `course all`."""

import json
import os
import shutil
import time
import warnings
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from autograder.commands.progress_log import (
    INDENT,
    STEPS,
    Job,
    ProgressLog,
    StepFailed,
    course_command,
)

# In every unit, one submission never ends. A short time limit keeps the run short.
SETTINGS = """\
\"\"\"Settings of the sample class: the course's own, with shorter limits.\"\"\"

from autograder.nbgrader_steps.settings import configure

configure(get_config())  # noqa: F821 (nbgrader defines it)
get_config().RunHiddenChecks.limits = {"exercise_seconds": 8.0}  # noqa: F821
"""
UNPROTECTED = "Graded without a sandbox, as bubblewrap is not here."


class NewLines:
    """Read the lines that are added to a file from now on."""

    def __init__(self, path: Path):
        """Start after the last line of a file, which need not exist yet."""
        self._path = path
        self._place = path.stat().st_size if path.exists() else 0

    def __iter__(self) -> Iterator[bytes]:
        """Yield the complete lines that were added since the last call."""
        if not self._path.exists():
            return
        with self._path.open("rb") as file:
            file.seek(self._place)
            for line in file:
                if line.endswith(b"\n"):
                    self._place += len(line)
                    yield line


@dataclass
class SampleClass:
    """Make and grade twelve fictitious students per unit, whose scores are known.

    Attributes:
        root: the folder of the class.
        slugs: the units of the class.
    """

    root: Path
    slugs: Sequence[str]
    _graded: dict[str, dict[str, float]] = field(
        default_factory=lambda: defaultdict(dict)
    )

    @property
    def submitted(self) -> Path:
        """Return the folder of the submissions."""
        return self.root / "submitted"

    @property
    def gradebook(self) -> Path:
        """Return the path of the gradebook."""
        return self.root / "gradebook.db"

    def make(self, progress: ProgressLog) -> None:
        """Write the submissions, and replace those of an earlier run.

        Raises:
            StepFailed: if they cannot be made.
        """
        number = len(self.slugs)
        where = self.slugs[0] if number == 1 else f"each of {number} units"
        progress.say(f"3/{STEPS} Sample class: twelve made-up students of {where}")
        shutil.rmtree(self.submitted, ignore_errors=True)
        command = course_command("sample-class", *self.slugs, "--to", self.submitted)
        made = self.submitted.glob
        with Job(progress, "sample-class", command) as job:
            job.wait(lambda: f"{len(list(made('*.json')))} of {number} units")
        settings = self.root / "nbgrader_config.py"
        settings.write_text(SETTINGS, encoding="utf-8")

    def grade(self, progress: ProgressLog) -> None:
        """Grade all units, print a line for each unit, and compare the scores.

        Raises:
            StepFailed: if grading fails or a score is wrong.
        """
        from autograder.sandbox.bubblewrap import sandbox_kind

        if not hasattr(os, "fork"):
            progress.say(f"4/{STEPS} Grading: left out, as it needs Linux or macOS")
            return
        trusted = ["--unprotected"] if sandbox_kind() == "none" else []  # our own code
        progress.say(f"4/{STEPS} Grading: hidden checks, points, feedback")
        began = time.monotonic()
        log = NewLines(self.root / "grading" / "audit.jsonl")
        command = course_command("grade", "--course-root", self.root, *trusted)

        def doing() -> str:
            self._read(log, progress, began)
            number = sum(map(len, self._graded.values()))
            handed_in = len(list(self.submitted.glob("*/*")))
            return f"{number} of {handed_in} submissions graded"

        with Job(progress, "grade", command) as job:
            job.wait(doing, fine=(0, 1))  # status 1: some submissions must be refused
        doing()
        self.compare(progress)
        if trusted:
            progress.say(f"{INDENT}{UNPROTECTED}")
        report = course_command("report", self.slugs[0], "--course-root", self.root)
        with Job(progress, "report", report) as job:
            job.wait(lambda: "a page about the class")

    def _read(self, log: NewLines, progress: ProgressLog, began: float) -> None:
        """Read the log's new lines, and print a line for each unit that is complete."""
        for line in map(json.loads, log):
            unit = self._graded[line["unit"]]
            unit[line["student"]] = line["score"] or 0.0
            if len(unit) == len(list(self.submitted.glob(f"*/{line['unit']}"))):
                each = (time.monotonic() - began) / len(self._graded)
                left = each * (len(self.slugs) - len(self._graded))
                progress.say(
                    f"{INDENT}{line['unit']:<24} {len(unit)} graded{_left(left)}"
                )

    def compare(self, progress: ProgressLog) -> None:
        """Compare the scores in the gradebook with the expected scores.

        Raises:
            StepFailed: if a score differs. The message lists the differences.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # warnings of other packages
            from autograder.marks import scores_in_gradebook
            from autograder.proof.sample_class import wrong_scores

            address = f"sqlite:///{self.gradebook}"
            wrong = [
                line
                for slug in self.slugs
                for line in wrong_scores(
                    self.submitted, slug, scores_in_gradebook(address, slug)
                )
            ]
        if wrong:
            raise StepFailed("these scores are not what they must be:", lines=wrong)
        number = sum(map(len, self._graded.values()))
        progress.say(f"{INDENT}all {number} have the score that they must have")


def _left(seconds: float) -> str:
    """Describe the estimated remaining time, or return "" if no time remains."""
    return f"; about {max(1, round(seconds / 60))} min left" if seconds else ""

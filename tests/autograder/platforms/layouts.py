"""Gradescope's container and GitHub's runner, as plain folders of this machine."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from handing_in import HandIn

from autograder.unit import GradedUnit

LIKE_A_NEW_PYTHON = """#!/bin/sh
if [ "$2" = venv ]; then exec ln -s {prefix} "$3"; fi
exec {python} "$@"
"""
SAYS_WHAT_IT_WAS_ASKED = """#!/bin/sh
echo "{name} $*" >>{log}
exit {status}
"""
# pip uses only the installed packages.
OFFLINE = {
    "PIP_NO_INDEX": "1",
    "PIP_DRY_RUN": "1",
    "PIP_CONFIG_FILE": os.devnull,
    "PIP_FIND_LINKS": "",
    "PIP_EXTRA_INDEX_URL": "",
}
USUAL = (
    *("bash", "cat", "chmod", "dirname", "env", "git", "grep", "head", "ln", "ls"),
    *("mkdir", "sh", "timeout"),
)


class Machine:
    """A folder of programs, and a way to run one with only these on the path.

    Attributes:
        programs: the only folder on the path.
        log: the arguments of the programs that only record them.
    """

    def __init__(self, folder: Path, python: Path):
        """Make the programs. `python` is the machine's Python."""
        self.programs, self.log = folder / "programs", folder / "asked.txt"
        self.programs.mkdir()
        self.log.touch()
        for name in USUAL:
            (self.programs / name).symlink_to(shutil.which(name) or "")
        facts = {"python": python, "prefix": python.parents[1]}
        for name in ("python3.13", "python"):
            self.add(name, LIKE_A_NEW_PYTHON.format(**facts))
        self.add("apt-get", self.noting("apt-get"))

    def add(self, name: str, text: str) -> None:
        """Add a program."""
        path = self.programs / name
        path.write_text(text)
        path.chmod(0o755)

    def noting(self, name: str, status: int = 0) -> str:
        """Return a program that only records its arguments."""
        return SAYS_WHAT_IT_WAS_ASKED.format(name=name, log=self.log, status=status)

    def run(
        self, *command: object, cwd: Path, **variables: object
    ) -> subprocess.CompletedProcess[str]:
        """Run a command on this machine, without a network for pip."""
        words = {name: str(value) for name, value in variables.items()}
        return subprocess.run(
            [*map(str, command)],
            cwd=cwd,
            env={"PATH": str(self.programs), "HOME": "/", **OFFLINE, **words},
            capture_output=True,
            text=True,
            timeout=1500,
        )


def notebook(unit: GradedUnit, *wrong: str, cells: Iterable[str] = ()) -> bytes:
    """Return a notebook of the tiny course with right answers and some mistakes."""
    hand = HandIn(unit, Path("nowhere"), "student")
    hand.right()
    for exercise in wrong:
        hand.answer(exercise, f"def {exercise}(x):\n    return x")
    for source in cells:
        hand.last(source)
    return json.dumps(hand.raw).encode()


def results(root: Path) -> dict[str, Any]:
    """Return the results that Gradescope would read."""
    return json.loads((root / "results" / "results.json").read_text(encoding="utf-8"))

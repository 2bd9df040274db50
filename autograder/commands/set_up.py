"""Make `.venv` with everything in it: `python3 autograder/commands/set_up.py`.

It runs before anything is installed, on whatever Python there is: what is too old for
the course, or not there, is said at once and in one sentence.
"""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autograder.commands.progress_log import ProgressLog

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
INSTALLED = VENV / "installed"
DECIDING = ("pyproject.toml", "constraints.txt")
OLDEST = (3, 11)  # what the versions in constraints.txt need
LOG = ROOT / "build" / "set-up.log"
INSTALL = ("--progress-bar", "off", "--disable-pip-version-check")


def too_old(version: tuple, program: str) -> str:
    """Say that a Python is too old, and what to do; nothing if it is not."""
    if tuple(version[:2]) >= OLDEST:
        return ""
    needed, found = (".".join(map(str, v[:2])) for v in (OLDEST, version))
    return (
        f"The course needs Python {needed} or later, and {program} is Python {found}: "
        "name a newer one, such as `make course PYTHON=python3.12`."
    )


def is_installed() -> bool:
    """Tell whether all is installed, and asked for nothing else since."""
    if not (INSTALLED.exists() and PYTHON.exists()):
        return False
    made = INSTALLED.stat().st_mtime
    return all((ROOT / name).stat().st_mtime <= made for name in DECIDING)


def fetch_mathjax() -> None:
    """Fetch MathJax where it is missing; leave with its own words if it cannot be."""
    script = ROOT / "book" / "fetch_mathjax.py"
    done = subprocess.run([sys.executable, str(script)], stdout=subprocess.DEVNULL)
    if done.returncode:
        sys.exit(done.returncode)


def install(progress: "ProgressLog") -> None:
    """Make `.venv`, and have pip install everything, with its lines in the log.

    Raises:
        StepFailed: if something cannot be installed.
    """
    from autograder.commands.progress_log import INDENT, Job

    collected: list = []

    def heard(line: str) -> None:
        if line.startswith("Collecting "):
            collected.append(re.split("[^A-Za-z0-9._-]", line.split()[1])[0])
        elif line.startswith("Installing collected packages"):
            progress.say(f"{INDENT}{len(collected) or 'no new'} packages; unpacking")

    with Job(progress, "venv", [sys.executable, "-m", "venv", VENV]) as job:
        job.wait(lambda: "making .venv")
    pip = [PYTHON, "-m", "pip", "install", *INSTALL]
    wanted = ["-c", ROOT / "constraints.txt", "-e", f"{ROOT}[course,test]"]
    with Job(progress, "pip", [*pip, *wanted], heard) as job:
        job.wait(lambda: " ".join([f"{len(collected)} packages", *collected[-1:]]))
    INSTALLED.touch()


def main() -> None:
    """Read the command line, and set up what is not set up yet."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--began", type=float, help="when `make course` began")
    began = parser.parse_args().began
    is_new = not is_installed()
    if is_new and too_old(sys.version_info, sys.executable):
        sys.exit(too_old(sys.version_info, sys.executable))
    fetch_mathjax()
    if not is_new and began is None:
        return
    sys.path[0] = str(ROOT)
    from autograder.commands.progress_log import STEPS, ProgressLog

    progress = ProgressLog(LOG, began)
    with progress.failures_shown():
        number = "" if began is None else f"1/{STEPS} "
        if is_new:
            progress.say(
                f"{number}Set up: PyTorch and all else into .venv (2 to 5 min)"
            )
            install(progress)
            progress.say(f"        done; details in {os.path.relpath(str(LOG))}")
        else:
            progress.say(f"{number}Set up: done before")


if __name__ == "__main__":
    main()

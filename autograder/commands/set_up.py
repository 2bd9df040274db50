"""Create `.venv` with all packages: `python3 autograder/commands/set_up.py`.

This script runs before anything is installed, with any version of Python. If the
version is too old, the script immediately prints a message.
"""

import argparse
import os
import platform
import re
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from autograder.commands.progress_log import ProgressLog

ROOT = Path(__file__).resolve().parents[2]
VENV = ROOT / ".venv"
PYTHON = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
INSTALLED = VENV / "installed"
DECIDING = ("pyproject.toml", "constraints.txt")
OLDEST = (3, 11)  # the versions in constraints.txt require it
LOG = ROOT / "build" / "set-up.log"
# Python compiles each module when it is first imported. Compiling all of them here
# would take a minute.
INSTALL = ("--progress-bar", "off", "--disable-pip-version-check", "--no-compile")
GPU_TOOL = "nvidia-smi"  # installed with the driver of an NVIDIA GPU
CPU_IS_SMALLER = (
    "no NVIDIA GPU here: `CPU=1 make course` needs 2.0 GB for .venv, not 5.8 GB"
)
CUDA_STAYS = (
    "CPU=1 changes nothing, because .venv has PyTorch's CUDA build already: "
    "delete the folder .venv, and run the command again."
)


def too_old(version: tuple, program: str) -> str:
    """Return a message if a version of Python is too old, otherwise ""."""
    if tuple(version[:2]) >= OLDEST:
        return ""
    needed, found = (".".join(map(str, v[:2])) for v in (OLDEST, version))
    return (
        f"The course needs Python {needed} or later, and {program} is Python {found}: "
        "name a newer one, such as `make course PYTHON=python3.12`."
    )


def is_installed() -> bool:
    """Return whether everything is installed and the requirements are unchanged."""
    if not (INSTALLED.exists() and PYTHON.exists()):
        return False
    made = INSTALLED.stat().st_mtime
    return all((ROOT / name).stat().st_mtime <= made for name in DECIDING)


def has_only_cuda_build(system: str, environ: "Mapping[str, str]") -> bool:
    """Return whether pip would install the CUDA build without an NVIDIA GPU."""
    is_linux_on_intel = system == "Linux" and platform.machine() == "x86_64"
    return is_linux_on_intel and not environ.get("CPU") and not shutil.which(GPU_TOOL)


def has_installed_cuda() -> bool:
    """Return whether `.venv` contains the libraries of PyTorch's CUDA build."""
    return any(VENV.glob("lib/python3*/site-packages/nvidia"))


def cpu_torch(index: str) -> list:
    """Return pip's arguments to install the pinned PyTorch's CPU build from `index`.

    pip installs PyTorch's dependencies later, from the default index.

    Raises:
        SystemExit: if no index is set.
    """
    if not index:
        sys.exit("CPU=1 needs `torch_index` in autograder/course.toml; it is empty.")
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = [line for line in pins if line.startswith("torch==")]
    return ["--no-deps", "--index-url", index, *pinned]


def torch_index() -> str:
    """Read the address of PyTorch's CPU builds from the course's settings."""
    import tomllib  # missing in the old versions of Python that this script refuses

    settings = (ROOT / "autograder" / "course.toml").read_text(encoding="utf-8")
    return str(tomllib.loads(settings)["torch_index"])


def install(progress: "ProgressLog") -> None:
    """Create `.venv`, install all packages with pip, and log the output.

    Raises:
        StepFailed: if the installation fails.
    """
    from autograder.commands.progress_log import INDENT, Job

    collected: list = []

    def heard(line: str) -> None:
        if line.startswith("Collecting "):
            collected.append(re.split("[^A-Za-z0-9._-]", line.split()[1])[0])
        elif line.startswith("Installing collected packages"):
            progress.say(f"{INDENT}{len(collected) or 'no new'} packages; unpacking")

    # The pip that comes with Python 3.11 needs a minute longer to resolve the versions.
    command = [sys.executable, "-m", "venv", "--upgrade-deps", VENV]
    with Job(progress, "venv", command) as job:
        job.wait(lambda: "making .venv")
    pip = [PYTHON, "-m", "pip", "install", *INSTALL]
    if os.environ.get("CPU"):
        command = [*pip, *cpu_torch(torch_index())]
        with Job(progress, "pip", command) as job:
            job.wait(lambda: "PyTorch's CPU build")
    elif has_only_cuda_build(platform.system(), os.environ):
        progress.say(f"{INDENT}{CPU_IS_SMALLER}")
    wanted = ["-c", ROOT / "constraints.txt", "-e", f"{ROOT}[course,test]"]
    with Job(progress, "pip", [*pip, *wanted], heard) as job:
        job.wait(lambda: " ".join([f"{len(collected)} packages", *collected[-1:]]))
    INSTALLED.touch()


def main() -> None:
    """Read the command line, and install whatever is missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--began", type=float, help="when `make course` began")
    began = parser.parse_args().began
    is_new = not is_installed()
    if is_new and too_old(sys.version_info, sys.executable):
        sys.exit(too_old(sys.version_info, sys.executable))
    if os.environ.get("CPU") and has_installed_cuda():
        print(CUDA_STAYS, flush=True)
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

"""The record of the notebooks that ran: it holds until a file that they use changes.

To run a notebook takes a kernel, and some of them train a model: all 26 together take
five minutes of processor time. `COURSE_RECORD=1` keeps those that run now.
"""

import json
import os
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from autograder.assemble import run_notebook
from autograder.classroom.regrade_hash import versions
from autograder.course import load_course
from autograder.whole_files import write_whole

RECORD = load_course().root / "benchmarks" / "results" / "notebooks_run.json"
LEFT_OUT = {"__pycache__", ".ipynb_checkpoints"}


def digest(root: Path, places: Iterable[Path]) -> str:
    """Return a digest of files and folders, of what runs them, and of its versions."""
    total = sha256(repr(sorted(versions().items())).encode())
    total.update(Path(run_notebook.__file__).read_bytes())
    for place in places:
        files = [place] if place.is_file() else sorted(place.rglob("*"))
        for path in files:
            name = path.relative_to(root)
            if path.is_file() and not LEFT_OUT & set(name.parts):
                total.update(f"{name.as_posix()} {path.stat().st_size} ".encode())
                total.update(path.read_bytes())
    return total.hexdigest()[:16]


def is_recorded(name: str, rests_on: str) -> bool:
    """Say whether a run is known, and would be the same again."""
    return _read().get(name) == rests_on


def record(name: str, rests_on: str) -> None:
    """Keep that a notebook ran, where that is asked for."""
    if os.environ.get("COURSE_RECORD"):
        known = dict(sorted({**_read(), name: rests_on}.items()))
        write_whole(RECORD, (json.dumps(known, indent=1) + "\n").encode())


def _read() -> dict[str, str]:
    return json.loads(RECORD.read_text("utf-8")) if RECORD.is_file() else {}

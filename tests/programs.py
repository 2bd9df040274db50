"""Optional programs of the course: without one, its tests skip and give the reason.

A test says `@pytest.mark.needs("chromium")`. In CI, every program must be installed,
except for those in `HIDDEN_PROGRAMS`, which `.ci/without-programs` hides on purpose.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from firefox import find_firefox
from guide_pictures.chromium import find_chromium

from autograder.sandbox.bubblewrap import sandbox_kind


@dataclass(frozen=True)
class Program:
    """A program that tests may need.

    Attributes:
        package: the Debian and Ubuntu package that contains it.
        is_there: tells whether it is installed and works.
    """

    package: str
    is_there: Callable[[], bool]


def find_postgresql(name: str) -> str | None:
    """Find one of the server's programs, or return None if it is not installed.

    On Debian, only `psql` is on the path.
    """
    found: list[Path] = []
    if shutil.which("psql"):
        found = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return shutil.which(name) or (str(found[-1]) if found else None)


PROGRAMS = {
    "bubblewrap": Program("bubblewrap", lambda: sandbox_kind() != "none"),
    "chromium": Program("chromium", lambda: find_chromium() is not None),
    "firefox": Program("firefox-esr", lambda: find_firefox() is not None),
    "postgresql": Program("postgresql", lambda: find_postgresql("initdb") is not None),
}


def require(name: str, environment: Mapping[str, str] = os.environ) -> None:
    """Skip the test, with a reason and a remedy, unless a program is installed.

    Raises:
        Failed: in CI, if a program is missing, or if a program is there that should be
            hidden.
    """
    program, is_hidden = PROGRAMS[name], name in hidden(environment)
    if program.is_there():
        if is_hidden:
            pytest.fail(f"{name} is in HIDDEN_PROGRAMS, and was found all the same")
        return
    reason = f"{name} is not here or does not work: `apt-get install {program.package}`"
    if environment.get("CI") and not is_hidden:
        pytest.fail(reason)
    pytest.skip(reason)


def hidden(environment: Mapping[str, str]) -> set[str]:
    """Return the programs that CI hides on purpose."""
    return set(environment.get("HIDDEN_PROGRAMS", "").split())

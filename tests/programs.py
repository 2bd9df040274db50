"""Programs that the course can do without, and its tests too: they skip, and say why.

A test says `@pytest.mark.needs("chromium")`. In CI every program must be there, but for
those that are named in `HIDDEN_PROGRAMS`: `.ci/without-programs` hides them on purpose.
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
        package: what Debian and Ubuntu call the package that brings it.
        is_there: says whether it is installed and works.
    """

    package: str
    is_there: Callable[[], bool]


def find_postgresql(name: str) -> str | None:
    """Locate one of the server's programs; None where it is not installed.

    Debian keeps them off the path, and `psql` on it.
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
    """Skip the test, with the reason and what helps, unless a program is there.

    Raises:
        Failed: in CI, where nothing may be missing; and where a program is there that
            was to be hidden.
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
    """Return the programs that are hidden on purpose."""
    return set(environment.get("HIDDEN_PROGRAMS", "").split())

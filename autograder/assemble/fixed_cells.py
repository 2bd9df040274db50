"""Fill in the cells that are the same in every notebook: set-up and hand-in."""

from __future__ import annotations

import re
from pathlib import Path

from autograder.course import Course, Unit
from autograder.toml_files import read_toml

TEMPLATES = Path(__file__).with_name("templates")
FILES = {"setup": "setup.py", "hand-in": "hand_in.py"}


def fixed_source(role: str, course: Course, unit: Unit) -> str:
    """Return the source of the set-up or the hand-in cell of a unit."""
    text = (TEMPLATES / FILES[role]).read_text(encoding="utf-8")
    names = {
        "unit": unit.slug,
        "repository": course.repository,
        "branch": course.branch,
        "package": course.package,
        "install_alone": " ".join(_pinned(course, course.colab_install_alone)),
        "install": " ".join(_pinned(course, course.colab_install)),
        "install_imports": ", ".join(course.colab_install),
    }
    _, _, code = text.partition("\n\n")  # the docstring is for us
    return re.sub(r"@(\w+)@", lambda match: names[match[1]], code).strip()


def _pinned(course: Course, packages: tuple[str, ...]) -> list[str]:
    """Write packages as `pyproject.toml` requires them; others by their bare name."""
    table = read_toml(course.root / "pyproject.toml")
    required = {
        re.split(r"[^\w.-]", one)[0]: one for one in table["project"]["dependencies"]
    }
    found = (required.get(name, name) for name in packages)
    return [one if "==" in one else re.split(r"[<>=!~]", one)[0] for one in found]

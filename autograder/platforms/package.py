"""Make what is uploaded: Gradescope's zip, and the folders for GitHub."""

from __future__ import annotations

import io
import re
import shlex
import zipfile
from pathlib import Path

from autograder.atomic_write import atomic_write
from autograder.course import Course, Unit
from autograder.platforms.bundle import bundle, released
from autograder.publish.contents import students_requirements

TEMPLATES = Path(__file__).with_name("templates")
VISIBILITY = ("visible", "after_due_date", "after_published", "hidden")
DAY = (2020, 1, 1, 0, 0, 0)  # the same zip whenever it is made
FILE, PROGRAM = 0o100644, 0o100755
ON_GITHUB = ("install", "grade")


def gradescope_zip(course: Course, unit: Unit, visibility: str) -> bytes:
    """Return Gradescope's autograder for a unit, the zip that one uploads.

    Args:
        course: the course.
        unit: what is graded.
        visibility: who sees the checks, and when; one of Gradescope's four words.

    Raises:
        CourseError: if the unit's notebooks were not made yet.
    """
    facts = {"unit": unit.slug, "visibility": visibility, "index": _index(course)}
    programs = {
        name: filled_in(name, facts).encode() for name in ("setup.sh", "run_autograder")
    }
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in {**programs, **bundle(course, unit)}.items():
            entry = zipfile.ZipInfo(name, DAY)
            entry.external_attr = (PROGRAM if name in programs else FILE) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    return made.getvalue()


def _index(course: Course) -> str:
    """Return the option that tells pip where else to look, with a space behind it."""
    url = course.torch_index
    return f"--extra-index-url {shlex.quote(url)} " if url else ""


def filled_in(name: str, facts: dict[str, str]) -> str:
    """Return a template with every `@fact@` in its place."""
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda match: facts[match[1]], text)


def github_files(
    course: Course, unit: Unit, checks: str, at_each_push: bool
) -> dict[str, bytes]:
    """Return what goes to GitHub for a unit: a path in two folders, and the content.

    `checks/` is for a private repository, a folder in `student/` is what students'
    repositories of the unit begin with. Units do not meet there: the kit of a later one
    holds an earlier one's answers.

    Args:
        course: the course.
        unit: what is graded.
        checks: the private repository, as `OWNER/NAME`.
        at_each_push: whether students' repositories fetch the checks and grade.

    Raises:
        CourseError: if the unit's notebooks were not made yet.
    """
    facts = {"unit": unit.slug, "checks": checks, "index": _index(course)}
    facts["title"] = unit.title
    begin = f"student/{unit.slug}"
    files = released(course, unit, begin) | _beside(course, unit, facts, begin)
    for name, content in bundle(course, unit).items():
        files[f"checks/{unit.slug}/{name}"] = content
    for name in ON_GITHUB:
        files[f"checks/{unit.slug}/{name}"] = filled_in(name, facts).encode()
    workflows = {"checks/.github/workflows/grade-all.yml": "grade-all.yml"}
    if at_each_push:
        workflows[at_each_push_file(unit)] = "hidden-checks.yml"
    for place, name in workflows.items():
        files[place] = filled_in(name, facts).encode()
    return files


def _beside(
    course: Course, unit: Unit, facts: dict[str, str], place: str
) -> dict[str, bytes]:
    """Return what a student needs beside a unit's notebook, to lie in `place`."""
    needed = "\n".join([*students_requirements(course, unit), ""])
    return {
        f"{place}/README.md": filled_in("README.md", facts).encode(),
        f"{place}/requirements.txt": needed.encode(),
        f"{place}/.gitignore": b".venv/\n__pycache__/\n.ipynb_checkpoints/\n",
    }


def at_each_push_file(unit: Unit) -> str:
    """Return where the workflow lies that a student's repository grades itself by."""
    return f"student/{unit.slug}/.github/workflows/hidden-checks.yml"


def write_files(files: dict[str, bytes], folder: Path) -> None:
    """Write files into a folder; those that begin as programs do can be run."""
    for name, content in files.items():
        path = folder / name
        atomic_write(path, content)
        if content.startswith(b"#!"):
            path.chmod(0o755)

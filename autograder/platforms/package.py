"""Make the uploads: Gradescope's zip, and the folders for GitHub and Classroom 50."""

from __future__ import annotations

import io
import json
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
DAY = (2020, 1, 1, 0, 0, 0)  # a fixed date, so that the same files give the same zip
FILE, PROGRAM = 0o100644, 0o100755
ON_GITHUB = ("install", "grade")
# Classroom 50's name for the grading machine; see its page "Advanced Autograding".
RUNTIME = {"runs-on": "ubuntu-latest", "python": "3.12"}


def gradescope_zip(course: Course, unit: Unit, visibility: str) -> bytes:
    """Return the zip file that is uploaded as Gradescope's autograder for a unit.

    Args:
        course: the course.
        unit: the unit to grade.
        visibility: when students see the checks' results, one of Gradescope's four
            values.

    Raises:
        CourseError: if the unit's notebooks have not been made yet.
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
    """Return pip's option for an additional index, with a space at the end."""
    url = course.torch_index
    return f"--extra-index-url {shlex.quote(url)} " if url else ""


def filled_in(name: str, facts: dict[str, str]) -> str:
    """Return a template with every `@fact@` replaced by its value."""
    text = (TEMPLATES / name).read_text(encoding="utf-8")
    return re.sub(r"@(\w+)@", lambda match: facts[match[1]], text)


def github_files(
    course: Course, unit: Unit, checks: str, at_each_push: bool
) -> dict[str, bytes]:
    """Return the paths and contents of a unit's files for GitHub.

    The folder `checks/` is for a private repository. Each folder in `student/` is the
    template of the students' repositories for one unit. Each unit needs its own
    repository, because the kit of a later unit contains answers to earlier units.

    Args:
        course: the course.
        unit: the unit to grade.
        checks: the private repository, as `OWNER/NAME`.
        at_each_push: whether students' repositories fetch the checks and grade at each
            push.

    Raises:
        CourseError: if the unit's notebooks have not been made yet.
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


def classroom50_files(course: Course, unit: Unit) -> dict[str, bytes]:
    """Return the paths and contents of a unit's files for Classroom 50.

    Each folder in `autograders/` is for the organisation's repository `classroom50`,
    which publishes the folder. Each folder in `student/` is the template of the
    students' repositories. `runtime.json` selects the machine that grades.

    Raises:
        CourseError: if the unit's notebooks have not been made yet.
    """
    facts = {"unit": unit.slug, "index": _index(course), "title": unit.title}
    begin = f"student/{unit.slug}"
    files = released(course, unit, begin) | _beside(course, unit, facts, begin)
    place = f"autograders/{assignment_name(unit)}"
    for name, content in bundle(course, unit).items():
        files[f"{place}/grader/{name}"] = content
    for name in ON_GITHUB:
        files[f"{place}/grader/{name}"] = filled_in(name, facts).encode()
    files[f"{place}/autograder.py"] = (TEMPLATES / "autograder.py").read_bytes()
    files["runtime.json"] = f"{json.dumps(RUNTIME, indent=1)}\n".encode()
    return files


def assignment_name(unit: Unit) -> str:
    """Return Classroom 50's name for a unit, which must not contain an underscore."""
    return unit.slug.replace("_", "-")


def _beside(
    course: Course, unit: Unit, facts: dict[str, str], place: str
) -> dict[str, bytes]:
    """Return the other files that a student needs, with paths in the folder `place`."""
    needed = "\n".join([*students_requirements(course, unit), ""])
    return {
        f"{place}/README.md": filled_in("README.md", facts).encode(),
        f"{place}/requirements.txt": needed.encode(),
        f"{place}/.gitignore": b".venv/\n__pycache__/\n.ipynb_checkpoints/\n",
    }


def at_each_push_file(unit: Unit) -> str:
    """Return the path of the workflow that lets a student's repository grade itself."""
    return f"student/{unit.slug}/.github/workflows/hidden-checks.yml"


def write_files(files: dict[str, bytes], folder: Path) -> None:
    """Write files into a folder, and make scripts executable."""
    for name, content in files.items():
        path = folder / name
        atomic_write(path, content)
        if content.startswith(b"#!"):
            path.chmod(0o755)

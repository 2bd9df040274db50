"""Select the files that a platform needs to grade one unit.

These are the code that the grader imports, the unit's checks, the answers that the
checks import, and the unit's notebooks. They keep their paths in the course's folder.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.assemble.imported import imported_names
from autograder.course import TRANSLATIONS, Course, CourseError, Unit

AUTOGRADER = Path(__file__).resolve().parents[1]
BEGIN = ("platforms/gradescope.py", "platforms/github.py", "checks/__init__.py")
LOADED_BY_PATH = "sandbox/student_side"
PAGES = "pages/feedback_table"
GRADERS_TOOLS = ("filelock", "ipykernel", "nbformat", "nh3")
Packages = dict[str, Path]


def bundle(course: Course, unit: Unit) -> dict[str, bytes]:
    """Return the path and content of each file that is needed to grade a unit.

    Raises:
        CourseError: if the unit's notebooks have not been made yet.
    """
    for notebook in (course.release_notebook(unit), course.answer_notebook(unit)):
        if not notebook.is_file():
            raise CourseError(f"{notebook} is not there: run `make notebooks` first")
    packages = {"autograder": AUTOGRADER, course.package: course.package_dir}
    homes = {"autograder": "autograder", course.package: f"solutions/{course.package}"}
    files = {}
    for path in _code(course, unit, packages):
        package = "autograder" if AUTOGRADER in path.parents else course.package
        inside = path.relative_to(packages[package]).as_posix()
        files[f"{homes[package]}/{inside}"] = path.read_bytes()
    checks, answers = course.checks_file(unit), course.answer_notebook(unit)
    files[f"autograder/checks/{checks.name}"] = checks.read_bytes()
    files["autograder/course.toml"] = _read(course, "autograder/course.toml")
    files[answers.relative_to(course.root).as_posix()] = answers.read_bytes()
    files |= released(course, unit, f"assignments/{unit.slug}")
    for language in TRANSLATIONS:  # a submission may be in any language
        if (edition := course.translated_notebook(unit, language)).is_file():
            files[edition.relative_to(course.root).as_posix()] = edition.read_bytes()
    files["requirements.txt"] = "\n".join([*requirements(course), ""]).encode()
    pins = course.root / "constraints.txt"
    files[pins.name] = pins.read_bytes() if pins.is_file() else b""
    return dict(sorted(files.items()))


def released(course: Course, unit: Unit, place: str) -> dict[str, bytes]:
    """Return the files that students of a unit receive, under the folder `place`."""
    folder = course.release_dir(unit)
    return {
        f"{place}/{path.relative_to(folder).as_posix()}": path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"} & {*path.parts}
    }


def requirements(course: Course) -> list[str]:
    """Return the packages to install for the notebooks and the grader."""
    table = tomllib.loads(_read(course, "pyproject.toml").decode())
    project = table["project"]
    extras = project.get("optional-dependencies", {}).get("course", [])
    tools = [line for line in extras if re.split(r"[^\w-]", line)[0] in GRADERS_TOOLS]
    return sorted({*project["dependencies"], *(tools or GRADERS_TOOLS)})


def _read(course: Course, name: str) -> bytes:
    return (course.root / name).read_bytes()


def _code(course: Course, unit: Unit, packages: Packages) -> Iterator[Path]:
    """Yield the files of both packages that are needed to grade a unit."""
    found: set[Path] = set()
    waiting = [course.checks_file(unit), *(AUTOGRADER / name for name in BEGIN)]
    waiting += (AUTOGRADER / LOADED_BY_PATH).glob("*.py")
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path, packages)
    yield from sorted(found - {course.checks_file(unit)})
    yield from sorted((AUTOGRADER / PAGES).iterdir())
    for folder in {path.parent for path in found if course.package_dir in path.parents}:
        yield from (p for p in folder.iterdir() if p.is_file() and p.suffix != ".py")


def _imported(path: Path, packages: Packages) -> Iterator[Path]:
    """Yield the package files that a file imports, and their parent packages."""
    for name in imported_names(path, _package_of(path, packages)):
        yield from _files_of(name, packages)


def _package_of(path: Path, packages: Packages) -> Sequence[str]:
    """Return the parts of the name of a file's package, or () for other files."""
    for package, folder in packages.items():
        if folder in path.parents:
            return package, *path.parent.relative_to(folder).parts
    return ()


def _files_of(name: str, packages: Packages) -> Iterator[Path]:
    """Yield the existing files for a dotted name and its parents."""
    package, *parts = name.split(".")
    if package not in packages:
        return
    place = packages[package]
    for part in ["", *parts]:
        place = place / part
        for path in (place / "__init__.py", place.with_suffix(".py")):
            if path.is_file():
                yield path

"""Select the part of the package that the students of a unit receive.

The kit of unit N contains the modules that its notebook imports, directly or
indirectly. It never contains the command line, solution markers, or modules that
students write in unit N or later. It also contains the module that explains errors,
which is not part of the package.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from autograder.assemble.imported import imported_names
from autograder.assemble.markers import without_markers
from autograder.course import TRANSLATIONS, Course, Unit
from autograder.translations.catalogue import translations
from autograder.translations.sources import ERRORS
from autograder.translations.unit_table import locale_of

IMPORT = re.compile(
    r"^\s*(?:from\s+(?P<base>[\w.]+)\s+import\s+(?P<names>\([^)]*\)|[^\n]+)"
    r"|import\s+(?P<module>[\w.]+))",
    re.MULTILINE,
)
MODULE = Path(__file__).parents[1] / "explained_errors.py"
IGNORED = ("__pycache__", ".ipynb_checkpoints")


def kit_files(course: Course, unit: Unit) -> dict[str, bytes]:
    """Return the files of a unit's kit, by their paths in the notebook's folder."""
    given = kit_modules(course, unit)
    files = {}
    for path, module in _files(course):
        if path.suffix != ".py" and module in given:
            files[_beside(course, path)] = path.read_bytes()
        elif path.suffix == ".py" and module in given:
            text = without_markers(path.read_text(encoding="utf-8"))
            files[_beside(course, path)] = text.encode()
    return files | _explained_errors(course)


def _explained_errors(course: Course) -> dict[str, bytes]:
    """Return the module that explains errors, and the translations of its sentences."""
    files = {f"{course.package}/{MODULE.name}": MODULE.read_bytes()}
    for language in TRANSLATIONS:
        table = translations(locale_of(course, language) / ERRORS)
        if table:
            name = MODULE.with_suffix(f".{language}.json").name
            text = json.dumps(table, ensure_ascii=False, indent=0)
            files[f"{course.package}/{name}"] = f"{text}\n".encode()
    return files


def kit_modules(course: Course, unit: Unit) -> frozenset[str]:
    """Return the names of a unit's kit modules within the package: `data.grammar`."""
    modules = {module: path for path, module in _files(course) if path.suffix == ".py"}
    imports = {
        module: _imports(course, module, path, frozenset(modules))
        for module, path in modules.items()
    }
    out = {module for module in modules if _withheld(course, unit, module)}
    while more := {name for name in set(modules) - out if imports[name] & out}:
        out |= more
    given = {""} | (_asked_for(course, unit) & set(modules)) - out
    while more := {name for module in given for name in imports[module]} - given:
        given |= more
    return frozenset(given)


def _asked_for(course: Course, unit: Unit) -> frozenset[str]:
    """Return the modules of the package that a unit's master imports."""
    found: set[str] = set()
    if not course.master(unit).exists():
        return frozenset()
    for match in IMPORT.finditer(course.master(unit).read_text(encoding="utf-8")):
        base = match["base"] or match["module"]
        names = re.findall(r"\w+", match["names"] or "")
        found |= {base, *(f"{base}.{name}" for name in names)}
    return _inside(course, found)


def _withheld(course: Course, unit: Unit, module: str) -> bool:
    written_in = course.unit_of_module(module)
    if written_in is not None and written_in.number >= unit.number:
        return True
    return module.partition(".")[0] in course.private_modules


def _files(course: Course) -> Iterator[tuple[Path, str]]:
    """Yield each file of the package with its module; for a data file, the folder."""
    for path in sorted(course.package_dir.rglob("*")):
        parts = path.relative_to(course.package_dir).with_suffix("").parts
        if path.is_file() and not set(IGNORED) & set(parts) and path.suffix != ".pyc":
            own = path.suffix == ".py" and path.stem != "__init__"
            yield path, ".".join(parts if own else parts[:-1])


def _beside(course: Course, path: Path) -> str:
    inside = path.relative_to(course.package_dir).as_posix()
    return str(PurePosixPath(course.package) / inside)


def _imports(
    course: Course, module: str, path: Path, modules: frozenset[str]
) -> frozenset[str]:
    """Return the package's modules that a module imports, and their parents."""
    inside = path.stem == "__init__"
    package = [course.package, *module.split(".")] if module else [course.package]
    found = imported_names(path, package if inside else package[:-1])
    found.add(".".join(package))
    return _inside(course, found) & modules - {module}


def _inside(course: Course, names: set[str]) -> frozenset[str]:
    """Return those dotted names that are in the package, and their parents."""
    return frozenset(
        ".".join(name.split(".")[1:length])
        for name in names
        if name.split(".")[0] == course.package
        for length in range(1, len(name.split(".")) + 1)
    )

"""Make the files of a new exercise or unit, which work without any edits.

The templates contain a tiny exercise that doubles a tensor. The author replaces each
part of it.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template

from autograder.assemble.cells import LONGEST_NAME, NAME, Cell, read_cell
from autograder.assemble.master import read_master
from autograder.assemble.problems import Complaint
from autograder.assemble.rules import FULL_MARKS
from autograder.atomic_write import atomic_write
from autograder.course import Course, Unit

TEMPLATES = Path(__file__).with_name("templates")
FENCE = "```"
HAND_IN = f"\n{FENCE}{{code-cell}}\n:hand-in:\n{FENCE}\n"
LONGEST_BANNER = 84
# The names that the templates use but do not import, and the remedy if they are
# missing.
NEEDED = {
    "master": (
        {"torch", "Tensor"},
        "add `import torch` and `from torch import Tensor` to its first code cell",
    ),
    "answer": ({"Tensor"}, "add `from torch import Tensor`"),
    "checks": (
        {"check", "expect_close", "expect_shape"},
        "import them from autograder.checking.expect",
    ),
    "variants": ({"answer", "body"}, "import them from autograder.proof.variants"),
}


class StubError(ValueError):
    """Report why an exercise or a unit cannot be made."""


@dataclass(frozen=True)
class Stubs:
    """Hold the files of a new exercise or unit.

    Attributes:
        files: maps the path of each file to its complete new text.
        giver: the exercise whose points were reduced for the new exercise, or "".
        giver_points: the points that this exercise still has.
    """

    files: Mapping[Path, str]
    giver: str = ""
    giver_points: float = 0

    def write(self) -> None:
        """Write all files."""
        for path, text in self.files.items():
            atomic_write(path, text.encode())


def new_exercise(
    course: Course, unit: Unit, name: str, module: str = "", points: int = 5
) -> Stubs:
    """Make the files of a new exercise, which becomes the last one of its unit.

    The points of a unit must add up to 100, so the points of the new exercise are taken
    from the exercise with the most points.

    Args:
        course: the course.
        unit: the unit of the exercise.
        name: the exercise's name, such as `attention-scores`.
        module: the unit's module for the answer. The default is the first module with
            tensors.
        points: the points of the exercise.

    Raises:
        StubError: if the name is already used or not allowed, or if a file lacks an
            import.
        AssemblyError: if the master cannot be read.
    """
    module = module or _with_tensors(course, unit)
    if module not in unit.modules:
        known = ", ".join(unit.modules)
        raise StubError(f"{unit.slug} has no module '{module}': it has {known}")
    function = _function(name)
    places = _places(course, unit, module)
    texts = {kind: _text(course, kind, path) for kind, path in places.items()}
    cells = _cells(course, unit)
    _refuse_taken(course, places, texts, name, cells)
    texts["master"], giver = _with_points_taken(texts["master"], cells, points)
    facts = _facts(course, module, name, function, points)
    section = _filled_in("exercise", "master", facts)
    made = {
        kind: f"{text.rstrip()}\n{_filled_in('exercise', kind, facts)}"
        for kind, text in texts.items()
    }
    made["master"] = _after_last_check(texts["master"], cells, section)
    files = {places[kind]: text for kind, text in made.items()}
    return Stubs(files, str(giver.name), (giver.points or 0) - points)


def new_unit(
    course: Course, number: int, topic: str, title: str, module: str = ""
) -> Stubs:
    """Make the files of a new unit with one exercise, and its entry in `course.toml`.

    Args:
        course: the course.
        number: the number of the unit.
        topic: the unit's topic, such as `attention`, which is also the exercise's name.
        title: the title of the unit.
        module: the new module for the answer. The default is `experiments.TOPIC`.

    Raises:
        StubError: if the number, the topic or a file already exists.
    """
    name, module = topic.replace("_", "-"), module or f"experiments.{topic}"
    function = _function(name)
    if not title.isprintable() or not title.strip() or set(title) & set('"\\'):
        raise StubError(f"the title {title!r} is not allowed: write words, no quotes")
    if not all(part.isidentifier() for part in module.split(".")):
        raise StubError(f"the module '{module}' is not allowed: write FOLDER.MODULE")
    unit = Unit(number, f"{number:02}_{topic}", title, (module,))
    for one in course.units:
        if number == one.number or topic == one.topic:
            raise StubError(f"{one.slug} exists already: choose another unit")
    places = _places(course, unit, module)
    for path in places.values():
        if path.exists():
            raise StubError(f"{_shown(course, path)} exists already: choose another")
    if not places["answer"].parent.is_dir():
        folder = _shown(course, places["answer"].parent)
        raise StubError(f"there is no folder {folder}: name a module with --module")
    facts = _facts(course, module, name, function, FULL_MARKS)
    facts |= {"number": f"{number:02}", "title": title}
    made = {
        kind: _filled_in("unit", kind, facts) + _filled_in("exercise", kind, facts)
        for kind in places
    }
    for kind in ("checks", "variants"):  # ruff requires an empty line after an import
        made[kind] = made[kind].replace("\n\n\n", "\n\n", 1)
    made["master"] += HAND_IN
    files = {places[kind]: text for kind, text in made.items()}
    settings = course.root / "autograder" / "course.toml"
    entry = f'\n[[unit]]\nslug = "{unit.slug}"\ntitle = "{title}"\n'
    before = settings.read_text(encoding="utf-8").rstrip()
    files[settings] = f'{before}\n{entry}modules = ["{module}"]\n'
    return Stubs(files)


def _with_tensors(course: Course, unit: Unit) -> str:
    """Return the unit's first module that imports `Tensor`, or its first module."""
    for module in unit.modules:
        path = course.module_file(module)
        if path.is_file() and "Tensor" in _names_in(path.read_text(encoding="utf-8")):
            return module
    return unit.modules[0]


def _places(course: Course, unit: Unit, module: str) -> dict[str, Path]:
    return {
        "master": course.master(unit),
        "answer": course.module_file(module),
        "checks": course.checks_file(unit),
        "variants": course.variants_file(unit),
        "hints": course.hints_file(unit),
    }


def _facts(
    course: Course, module: str, name: str, function: str, points: int
) -> dict[str, str]:
    return {
        "exercise": name,
        "function": function,
        "answer": f"{course.package}.{module}.{function}",
        "heading": name.replace("-", " ").capitalize(),
        "points": str(points),
        "banner": f"# --- {function} ".ljust(LONGEST_BANNER, "-"),
    }


def _filled_in(folder: str, kind: str, facts: Mapping[str, str]) -> str:
    text = (TEMPLATES / folder / f"{kind}.txt").read_text(encoding="utf-8")
    return Template(text).substitute(facts)


def _shown(course: Course, path: Path) -> str:
    return path.relative_to(course.root).as_posix()


def _function(name: str) -> str:
    """Return the name of the function that solves an exercise.

    Raises:
        StubError: if the name is not allowed.
    """
    is_name = NAME.fullmatch(name) and len(name) <= LONGEST_NAME
    function = name.replace("-", "_")
    if not is_name or name.endswith("-check") or not function.isidentifier():
        raise StubError(
            f"the name '{name}' is not allowed: use lower-case letters, digits and "
            f"single hyphens, such as causal-mask, at most {LONGEST_NAME} characters, "
            "with a letter first and without -check at the end"
        )
    if keyword.iskeyword(function) or hasattr(builtins, function):
        raise StubError(f"'{function}' is a word of Python: choose another name")
    return function


def _text(course: Course, kind: str, path: Path) -> str:
    """Read a file; if a file of hints is missing, return the first lines of a new one.

    Raises:
        StubError: if any other file is missing.
    """
    if path.is_file():
        return path.read_text(encoding="utf-8")
    if kind == "hints":
        return _filled_in("unit", kind, {})
    raise StubError(f"{_shown(course, path)} is missing: write it first")


def _cells(course: Course, unit: Unit) -> list[Cell]:
    """Return the cells of a master.

    Raises:
        StubError: if a cell has an error. `course notebooks` explains it.
        AssemblyError: if the file cannot be read.
    """
    shown = _shown(course, course.master(unit))
    try:
        return [read_cell(one) for one in read_master(course.master(unit), shown).cells]
    except Complaint as complaint:
        raise StubError(f"{shown} has an error: {complaint}") from None


def _refuse_taken(
    course: Course,
    places: Mapping[str, Path],
    texts: Mapping[str, str],
    name: str,
    cells: Sequence[Cell],
) -> None:
    """Refuse a name that a file already uses, or a file that lacks an import.

    Raises:
        StubError: if the name is already used or an import is missing. The message
            names the file.
    """
    function = _function(name)
    known = {
        "master": {str(cell.name) for cell in cells},
        "hints": set(tomllib.loads(texts["hints"])),
    }
    for kind, names in known.items():
        if name in names:
            shown = _shown(course, places[kind])
            raise StubError(f"'{name}' exists already in {shown}: choose another name")
    sources = {kind: [texts[kind]] for kind in ("answer", "checks", "variants")}
    sources["master"] = [one.source for one in cells if one.cell_type == "code"]
    for kind, code in sources.items():
        used = {one for source in code for one in _names_in(source)}
        shown = _shown(course, places[kind])
        if {function, f"test_{function}_values", f"test_{function}_shape"} & used:
            raise StubError(
                f"'{function}' exists already in {shown}: choose another name"
            )
        needed, remedy = NEEDED[kind]
        if missing := sorted(needed - used):
            raise StubError(f"{shown} lacks {', '.join(missing)}: {remedy}")


def _names_in(source: str) -> Iterator[str]:
    """Yield the names that code defines, imports or uses; none if it is not Python."""
    try:
        tree = ast.parse(source)
    except SyntaxError:  # a cell with an IPython command
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.alias):
            yield node.asname or node.name


def _with_points_taken(
    master: str, cells: Sequence[Cell], points: int
) -> tuple[str, Cell]:
    """Return the master with points taken from the exercise with the most points.

    Raises:
        StubError: if no exercise has more points than `points`.
    """
    checks = [cell for cell in cells if cell.role == "check"]
    giver = max(checks, key=lambda cell: cell.points or 0, default=None)
    if giver is None or not 0 < points < (giver.points or 0):
        most = f"{giver.points:g}" if giver else "0"
        raise StubError(
            f"--points {points}: expected more than 0 and less than {most}, because "
            "the exercise with the most points gives them"
        )
    lines = master.splitlines()
    option = f":points: {giver.points:g}"
    if option not in lines[giver.line :]:
        raise StubError(f"'{giver.name}' has no line `{option}`: write it in this form")
    place = lines.index(option, giver.line)
    lines[place] = f":points: {(giver.points or 0) - points:g}"
    return "\n".join([*lines, ""]), giver


def _after_last_check(master: str, cells: Sequence[Cell], section: str) -> str:
    """Insert a section after the last check cell, before questions and demos.

    The line number of a cell is the number of its opening fence, counted from 1.
    """
    last = max(cell.line for cell in cells if cell.role == "check")
    lines = master.splitlines(keepends=True)
    end = next(n for n in range(last, len(lines)) if lines[n].rstrip() == FENCE)
    return "".join([*lines[: end + 1], section, *lines[end + 1 :]])

"""Let a notebook use a learner's own answers to earlier units.

The check writes a module such as `mine/04_masked_softmax.py` for each exercise that
passes, next to `progress.json`. The module contains the answer, and the imports and
definitions of the notebook that the answer needs. If the exercise fails later, the
check deletes the module, because the answer is still in the notebook.

If the first cell of a notebook contains `mine = True`, it calls `use_mine`. This
function runs these modules in the order of the exercises. It replaces the course's
functions and classes in all modules that the kernel has imported, so that later imports
and later answers use the learner's. If a module is missing or raises an error, the
course's function is used. No file of the course changes, and the check itself always
uses the course's modules of earlier units.
"""

import symtable
import sys
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.course import Course, Unit
from autograder.notebook_syntax import read_cell
from autograder.phrases import Phrase, joined
from autograder.repair.slots import top_names
from autograder.self_study.waiting import NotRun
from autograder.unit import graded_unit

FOLDER = "mine"  # in the repository; also the package of the learner's modules
Told = Callable[[str], str]
_replaced: dict[str, Any] = {}  # "transformer.masks.causal_mask" to the original


@dataclass(frozen=True)
class Statement:
    """Hold a notebook's statement, and the global names that it sets and reads."""

    text: str
    sets: frozenset[str]
    reads: frozenset[str]


def own_module(
    cells: Sequence[str], wanted: Collection[str], given: Mapping[str, str]
) -> str:
    """Return a module's source that defines names as a notebook does, or "".

    Args:
        cells: the sources of the notebook's cells, in order.
        wanted: the functions and classes of the exercise.
        given: maps each function and class of the other exercises to the course's
            module from which it is imported.
    """
    statements = [one for source in cells for one in _statements(source)]
    chosen, imports = set[int](), set[str]()
    found, waiting = set[str](), list(wanted)
    while waiting:
        name = waiting.pop()
        if name in given and name not in wanted:
            imports.add(f"from {given[name]} import {name}")
            continue
        for number in range(len(statements) - 1, -1, -1):
            statement = statements[number]
            if name not in statement.sets:
                continue
            found.add(name)
            if number not in chosen:
                chosen.add(number)
                waiting += statement.reads
            if name not in statement.reads:  # unlike in `f = torch.jit.script(f)`
                break
    if not found.issuperset(wanted):
        return ""
    own = [statements[number].text for number in sorted(chosen)]
    first = ["from __future__ import annotations", *sorted(imports)]
    return "\n".join(first) + "\n\n" + "\n\n".join(dict.fromkeys(own)) + "\n"


def _statements(source: str) -> Iterator[Statement]:
    """Yield the top-level statements of a cell with all of their lines."""
    text, tree = read_cell(source)
    lines = text.split("\n")
    for node in tree.body if tree else ():
        decorators = getattr(node, "decorator_list", [])
        start = min(one.lineno for one in (node, *decorators))
        own = "\n".join(lines[start - 1 : node.end_lineno])
        try:
            table = symtable.symtable(own, "cell", "exec")
        except SyntaxError:  # for example `return` outside of a function
            continue
        sets = {
            symbol.get_name()
            for symbol in table.get_symbols()
            if symbol.is_assigned() or symbol.is_imported() or symbol.is_namespace()
        }
        yield Statement(own, frozenset(sets), frozenset(_reads(table)))


def _reads(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the global names that a block and its nested blocks read."""
    for symbol in table.get_symbols():
        is_global = symbol.is_global() or table.get_type() == "module"
        if is_global and symbol.is_referenced():
            yield symbol.get_name()
    for child in table.get_children():
        yield from _reads(child)


def own_modules(
    course: Course, unit: Unit, cells: Sequence[str], told: Told
) -> dict[str, str]:
    """For each exercise that a notebook answers, return the source of its module."""
    places = _places(course, unit, course.package_dir)
    given = {name: module for own in places.values() for name, module in own.items()}
    found = {}
    for exercise, own in places.items():
        source = own_module(cells, own, given)
        words = Phrase(
            "Your answer to exercise {exercise} of unit {unit}. Each check of the unit "
            "writes this file again, so change the answer in your notebook.",
            *(exercise, f"{unit.number:02}"),
        )
        if source:
            found[exercise] = f"# {told(words)}\n{source}"
    return found


def _places(course: Course, unit: Unit, package: Path) -> dict[str, dict[str, str]]:
    """For each exercise, map its functions and classes to their modules.

    A module such as "transformer.masks" is used only if it is in the folder `package`,
    because a notebook's package contains only the modules that the notebook needs.
    """
    definers: dict[str, str] = {}
    for name in unit.modules:
        path = course.module_file(name)
        if (package / path.relative_to(course.package_dir)).is_file():
            names = top_names(path.read_text(encoding="utf-8"))
            definers |= dict.fromkeys(names, f"{course.package}.{name}")
    if not definers or not course.answer_notebook(unit).is_file():
        return {}
    answers = graded_unit(unit.slug, course.root).answers
    places = {
        exercise: {
            name: definers[name] for name in top_names(source) if name in definers
        }
        for exercise, source in answers.items()
    }
    return {exercise: own for exercise, own in places.items() if own}


def store(folder: Path, unit: Unit, exercises: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the modules of the exercises that pass, and delete those that fail.

    The modules of exercises without an answer are kept.

    Args:
        folder: the folder of the repository.
        unit: the unit of the exercises.
        exercises: the check's results for each exercise.

    Raises:
        NotRun: if a file cannot be written.
    """
    for exercise, facts in exercises.items():
        if not facts.get("written"):
            continue
        path = _path(folder, unit, exercise)
        try:
            if not facts["passed"] or not facts.get("module"):
                path.unlink(missing_ok=True)
                continue
            path.parent.mkdir(exist_ok=True)
            new = path.with_suffix(".new")
            new.unlink(missing_ok=True)  # it could be a link that leads elsewhere
            new.write_text(facts["module"], encoding="utf-8")
            new.replace(path)
        except OSError as error:
            words = Phrase(
                "{path} cannot be written: {quoted}.", str(path), error.strerror
            )
            raise NotRun(words) from None


def _path(folder: Path, unit: Unit, exercise: str) -> Path:
    return folder / FOLDER / f"{unit.number:02}_{exercise.replace('-', '_')}.py"


def use_mine(course: Course, unit: Unit, folder: Path, told: Told) -> str:
    """Replace the course's functions of earlier units with the learner's.

    Return a line that lists the learner's and the course's functions, and a line for
    each answer that does not run.

    Args:
        course: the course.
        unit: the unit of this notebook.
        folder: the folder of the repository.
        told: translates a phrase.
    """
    yours: dict[str, list[str]] = {}
    ours: dict[str, list[str]] = {}
    problems = []
    package = Path(import_module(course.package).__path__[0])
    for earlier in course.units[: course.units.index(unit)]:
        number = f"{earlier.number:02}"
        for exercise, places in _places(course, earlier, package).items():
            path = _path(folder, earlier, exercise)
            found: dict[str, Any] = {}
            try:
                found = _defined_in(path, places) if path.is_file() else {}
            except Exception as error:  # the learner's code can raise any error
                words = Phrase(
                    "Your answer to exercise {exercise} of unit {unit} does not run "
                    "here: {quoted}. The course's is used.",
                    *(exercise, number, f"{type(error).__name__}: {error}"),
                )
                problems.append(told(words))
            for name, module in places.items():
                _put(course, module, name, found.get(name))
            (yours if found else ours).setdefault(number, []).extend(places)
    _name_errors(folder / FOLDER, told)
    return "\n".join([told(_summary(yours, ours)), *problems])


def _defined_in(path: Path, names: Collection[str]) -> dict[str, Any]:
    """Run a learner's module, and return the objects with the given names.

    The module is compiled each time, because Python's cache of compiled modules may
    miss a change within the same second.
    """
    module = ModuleType(f"{FOLDER}.{path.stem}")
    module.__file__ = str(path)
    sys.modules[module.__name__] = module
    code = compile(path.read_text("utf-8"), path, "exec", dont_inherit=True)
    exec(code, vars(module))
    return {name: getattr(module, name) for name in names}


def _put(course: Course, module: str, name: str, own: Any) -> None:
    """Replace a function or class with `own`, or restore the course's if it is None.

    The name is replaced in all modules of the course and of the learner, and in the
    notebook.
    """
    now = getattr(import_module(module), name)
    new = own or _replaced.get(f"{module}.{name}", now)
    _replaced.setdefault(f"{module}.{name}", now)
    for place, user in list(sys.modules.items()):
        if place.partition(".")[0] in (course.package, FOLDER, "__main__"):
            for key, value in list(vars(user).items()):
                if value is now:
                    setattr(user, key, new)


def _summary(
    yours: Mapping[str, Sequence[str]], ours: Mapping[str, Sequence[str]]
) -> str:
    """State which functions and classes are the learner's and which the course's."""
    if not yours and not ours:
        return Phrase("This notebook uses no function or class of earlier units.")
    own = Phrase(
        "From earlier units, this notebook uses your own {names}.", _listed(yours)
    )
    courses = Phrase(
        "The course provides {names}. To use your own, pass the checks of the unit: "
        "{code}",
        *(_listed(ours), f"`python -m transformer.check {next(iter(ours), '')}`"),
    )
    return joined("{one} {more}", [own if yours else "", courses if ours else ""])


def _listed(names: Mapping[str, Sequence[str]]) -> str:
    """Return names by unit: `04: attention_scores, masked_softmax; 05: split_heads`."""
    return "; ".join(f"{unit}: {', '.join(own)}" for unit, own in names.items())


@dataclass(frozen=True)
class ErrorNamer:
    """Print the exercise below an error that occurs in a learner's module."""

    folder: Path
    told: Told = field(compare=False)

    def __call__(self, result: Any) -> None:
        """Inspect the result of a cell, which IPython passes to this method."""
        error = result.error_in_exec
        for frame in traceback.extract_tb(error.__traceback__)[::-1] if error else ():
            path = Path(frame.filename)
            if path.parent == self.folder:
                number, _, exercise = path.stem.partition("_")
                words = Phrase(
                    "The error occurred in your answer to exercise {exercise} of unit "
                    "{unit}, in line {line} of {path}. To try the course's answer, set "
                    "`mine = False` in the first cell, and restart the kernel. If this "
                    "helps, correct your answer in the unit's notebook and check it.",
                    *(exercise.replace("_", "-"), number, frame.lineno, str(path)),
                )
                print(self.told(words))
                return


def _name_errors(folder: Path, told: Told) -> None:
    """Make IPython print the exercise in which an error occurred."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is not None:
        shell.events.register("post_run_cell", ErrorNamer(folder, told))

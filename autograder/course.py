"""Read the settings of the course from `course.toml`."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
# The three ways to count written answers.
BY_HAND, SUBSTANCE, UNCOUNTED = MODES = ("by-hand", "substance", "uncounted")
# How many hints for each exercise a class gets. The self-study edition has all three.
HINTS = {"none": 0, "first": 1, "all": 3}
GITHUB = re.compile(r"https://github\.com/([\w.-]+)/([\w.-]+?)(?:\.git)?/?")
UPLOADED = "on Colab, *File > Upload notebook*"
ENGLISH = "en"
TRANSLATIONS = ("ko",)  # languages of the translated editions
LANGUAGE_KEY = "course_language"  # in the metadata of a translated notebook
COURSE_ID = "default_course"  # PostgreSQL refuses an assignment without a course id


TEXTS = {
    "title",
    "repository",
    "branch",
    "package",
    "torch_index",
    "course_id",
    "hints",
}
LISTS = ("private_modules", "packages", "unit")
OTHERS = ("written_answers", "checks", "late", "assistants")
KEYS = (*sorted(TEXTS), *LISTS, *OTHERS)  # of course.toml
UNIT_KEYS = ("slug", "title", "modules", "packages", "written_answers")


class CourseError(ValueError):
    """Report an error in `course.toml`, or a unit that the course does not have."""


@dataclass(frozen=True)
class Unit:
    """Describe one unit: a chapter, a notebook and its hidden checks.

    `packages` contains the packages that only this unit's notebook needs, and maps each
    of them to its use. `written_answers` is one of `MODES`.
    """

    number: int
    slug: str
    title: str
    modules: tuple[str, ...]
    packages: Mapping[str, str] = field(default_factory=dict, hash=False)
    written_answers: str = BY_HAND

    @property
    def topic(self) -> str:
        """Return the unit's name without its number: `attention` for `04_attention`."""
        return self.slug.partition("_")[2]


@dataclass(frozen=True)
class Course:
    """Describe the whole course, and return the paths of its files.

    `late` is the table `[late]` of `course.toml`, which `late_rule.py` interprets.
    """

    root: Path
    title: str
    repository: str
    branch: str
    package: str
    private_modules: tuple[str, ...]
    course_id: str
    packages: Mapping[str, str] = field(hash=False)  # for every notebook: name to use
    units: tuple[Unit, ...]
    late: Mapping[str, Any] = field(default_factory=dict, hash=False)
    torch_index: str = ""
    draw_number: int = 0
    hints: int = 0  # number of hints for each exercise that a class gets
    assistants: bool = True  # whether pages tell AI assistants how to help

    @property
    def package_dir(self) -> Path:
        """Return the folder of the package that contains the answers."""
        return self.root / "solutions" / self.package

    def packages_of(self, unit: Unit) -> dict[str, str]:
        """Return the packages that a unit's notebook needs, each with its use."""
        return {**self.packages, **unit.packages}

    def source_dir(self, unit: Unit) -> Path:
        """Return the folder of a unit's master and answer notebook."""
        return self.root / "solutions" / "notebooks" / unit.slug

    def master(self, unit: Unit) -> Path:
        """Return the path of the master, a notebook's only file edited by hand."""
        return self.source_dir(unit) / f"{unit.slug}.md"

    def answer_notebook(self, unit: Unit) -> Path:
        """Return the path of the generated notebook with the answers."""
        return self.source_dir(unit) / f"{unit.slug}.ipynb"

    def release_dir(self, unit: Unit) -> Path:
        """Return the path of the generated folder that students get."""
        return self.root / "assignments" / unit.slug

    def release_notebook(self, unit: Unit) -> Path:
        """Return the path of the generated notebook that students fill in."""
        return self.release_dir(unit) / f"{unit.slug}.ipynb"

    def translated_notebook(self, unit: Unit, language: str) -> Path:
        """Return the path of the notebook for students in another language.

        This notebook uses the kit of the English notebook.
        """
        return self.root / "assignments" / language / unit.slug / f"{unit.slug}.ipynb"

    def hints_file(self, unit: Unit) -> Path:
        """Return the path of the hints, which are edited by hand."""
        return self.root / "solutions" / "hints" / f"{unit.slug}.toml"

    def hints_of(self, unit: Unit) -> dict[str, list[str]]:
        """Return three hints per exercise: idea, likeliest pitfall and code."""
        path = self.hints_file(unit)
        return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}

    def checks_file(self, unit: Unit) -> Path:
        """Return the path of the hidden checks."""
        return self.root / "autograder" / "checks" / f"test_{unit.slug}.py"

    def variants_file(self, unit: Unit) -> Path:
        """Return the path of the known wrong and right answers that test the checks."""
        variants = self.root / "autograder" / "proof" / "variants"
        return variants / f"unit_{unit.slug}.py"

    def notebook(self, unit: Unit, language: str) -> Path:
        """Return the path of the notebook that students fill in, in any language."""
        if language in TRANSLATIONS:
            return self.translated_notebook(unit, language)
        return self.release_notebook(unit)

    def colab_url(self, unit: Unit, language: str = ENGLISH) -> str | None:
        """Return the address that opens a notebook on Colab, or None.

        Such an address exists only if the notebook is on GitHub.
        """
        found = GITHUB.fullmatch(self.repository)
        if found is None:
            return None
        notebook = self.notebook(unit, language).relative_to(self.root)
        return (
            f"https://colab.research.google.com/github/{found[1]}/{found[2]}/blob/"
            f"{self.branch}/{notebook.as_posix()}"
        )

    def colab_link(self, unit: Unit, words: str, language: str = ENGLISH) -> str:
        """Return a Markdown link to a notebook on Colab, or a hint to upload it."""
        url = self.colab_url(unit, language)
        return f"[{words}]({url})" if url else UPLOADED

    def book_url(self, language: str = ENGLISH) -> str | None:
        """Return the address of the book on GitHub Pages, or None without GitHub."""
        found = GITHUB.fullmatch(self.repository)
        if found is None:
            return None
        inside = "" if language == ENGLISH else f"{language}/"
        return f"https://{found[1]}.github.io/{found[2]}/{inside}"

    def chapter_url(
        self, unit: Unit, language: str = ENGLISH, site: bool = True
    ) -> str | None:
        """Return the address of a chapter: the published page or the file on GitHub.

        `site` states whether the book is published.
        """
        chapter = f"book/{unit.slug}.md"
        if not (self.root / chapter).is_file():
            return None
        book = self.book_url(language) if site else None
        return f"{book}{unit.slug}.html" if book else f"../../{chapter}"

    def unit(self, name: str) -> Unit:
        """Return the unit with a number, topic or slug: `4`, `04` or `attention`.

        Raises:
            CourseError: if there is no such unit.
        """
        for unit in self.units:
            number = name.isdecimal() and int(name) == unit.number
            if number or name in (unit.slug, unit.topic):
                return unit
        slugs = [unit.slug for unit in self.units]
        near = difflib.get_close_matches(name, slugs, n=1, cutoff=0.5)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(slugs)}"
        raise CourseError(f"unknown unit '{name}': {hint}")

    def module_file(self, module: str) -> Path:
        """Return the path of a module of the package, such as `training.step`."""
        return self.package_dir.joinpath(*module.split(".")).with_suffix(".py")

    def unit_of_module(self, module: str) -> Unit | None:
        """Return the unit in which students write a module, or None if there is none.

        If students write a package in a unit, all modules in this package belong to the
        unit.
        """
        parts = module.split(".")
        around = {".".join(parts[:end]) for end in range(1, len(parts) + 1)}
        units = (unit for unit in self.units if around & set(unit.modules))
        return next(units, None)


def load_course(root: Path | None = None) -> Course:
    """Read `autograder/course.toml` under `root`, by default this repository.

    Raises:
        CourseError: if the file is missing or has an error. The message names the
            entry.
    """
    root = (root or ROOT).resolve()
    path = root / "autograder" / "course.toml"
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CourseError(
            f"{path} is not there: is {root} the course's folder?"
        ) from None
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"{path}: {error}") from None
    try:
        return _course(root, table)
    except KeyError as error:
        raise CourseError(f"{path}: the entry {error} is missing") from None
    except CourseError as error:
        raise CourseError(f"{path}: {error}") from None


def _course(root: Path, table: dict[str, Any]) -> Course:
    refuse_unknown("", table, KEYS)
    for name in TEXTS & table.keys():
        if not isinstance(table[name], str):
            raise CourseError(f"{name} = {table[name]!r}: expected a text in quotes")
    mode = table.get("written_answers", BY_HAND)
    units = tuple(_unit({"written_answers": mode, **one}) for one in table["unit"])
    _refuse_repeats("slug", [unit.slug for unit in units])
    _refuse_repeats("number", [str(unit.number) for unit in units])
    _refuse_repeats("module", [name for unit in units for name in unit.modules])
    return Course(
        root=root,
        title=table["title"],
        repository=table["repository"],
        branch=table["branch"],
        package=table["package"],
        private_modules=tuple(table["private_modules"]),
        course_id=_course_id(table.get("course_id", COURSE_ID)),
        packages=_packages("", table["packages"]),
        units=tuple(sorted(units, key=lambda unit: unit.number)),
        late=table.get("late", {}),
        torch_index=table.get("torch_index", ""),
        draw_number=_draw_number(table.get("checks", {})),
        hints=_number_of_hints(table.get("hints", "none")),
        assistants=_yes_or_no("assistants", table.get("assistants", True)),
    )


def _number_of_hints(setting: str) -> int:
    if setting not in HINTS:
        raise CourseError(f"hints = {setting!r}: expected one of {', '.join(HINTS)}")
    return HINTS[setting]


def _yes_or_no(name: str, setting: object) -> bool:
    if not isinstance(setting, bool):
        raise CourseError(f"{name} = {setting!r}: expected true or false")
    return setting


def _draw_number(entry: dict[str, Any]) -> int:
    refuse_unknown("[checks]: ", entry, ["number"])
    number = entry.get("number", 0)
    if type(number) is not int or number < 0:
        raise CourseError(
            f"[checks]: number = {number!r}: expected a whole number, 0 or more"
        )
    return number


def _unit(entry: dict[str, Any]) -> Unit:
    slug = entry["slug"]
    refuse_unknown(f"{slug}: ", entry, UNIT_KEYS)
    number, _, topic = slug.partition("_")
    if not (number.isdecimal() and len(number) == 2 and topic.isidentifier()):
        raise CourseError(f"slug '{slug}': expected two digits and a topic, '04_topic'")
    mode = entry["written_answers"]
    if mode not in MODES:
        raise CourseError(
            f"written_answers = {mode!r} of {slug}: expected one of {', '.join(MODES)}"
        )
    packages = _packages(f"{slug}: ", entry.get("packages", {}))
    modules = tuple(entry["modules"])
    return Unit(int(number), slug, entry["title"], modules, packages, mode)


def _packages(place: str, entry: dict[str, Any]) -> dict[str, str]:
    for name, use in entry.items():
        if not isinstance(use, str) or '"' in use:
            raise CourseError(
                f"{place}packages: {name} = {use!r}: expected what it is for, in quotes"
            )
    return entry


def _course_id(name: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_][\w.-]*", name):
        raise CourseError(f"course_id = {name!r}: expected letters, digits, - _ and .")
    return name


def refuse_unknown(place: str, entry: Iterable[str], known: Sequence[str]) -> None:
    """Raise CourseError for an unknown name, because it would have no effect."""
    for name in entry:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else ", ".join(known)
            raise CourseError(f"{place}'{name}' is unknown: {hint}")


def _refuse_repeats(what: str, names: list[str]) -> None:
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise CourseError(f"{what} given twice: {', '.join(repeated)}")

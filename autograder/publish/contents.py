"""Select the contents of the public repository, and write them into a folder."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import nbformat
from nbgrader.utils import compute_checksum

from autograder.course import ENGLISH, GITHUB, TRANSLATIONS, Course, Unit
from autograder.publish.assistants import assistants_pages
from autograder.publish.github_pages import WORKFLOW, complete_site, workflow
from autograder.publish.refusals import (
    ASSISTANTS,
    HINTS_PAGE,
    require_built_site,
    require_file,
)
from autograder.publish.site import (
    GUIDE_SOURCES,
    as_published,
    hide_colab_links,
    lead_to_notebooks,
    leave_guide_out,
)
from autograder.translations import markdown
from autograder.translations.feedback_catalogues import feedback_table
from autograder.translations.unit_table import told_in_readme, unit_table
from autograder.unit import headings

TEMPLATES = Path(__file__).with_name("templates")
SITE = "docs"  # GitHub Pages serves a branch from its root or from this folder
FOLDERS = ("assignments", "book", SITE)
COPIED = ("LICENSE", "CITATION.cff", "constraints.txt")
MADE = (
    *("README.md", "requirements.txt", "environment.yml", ".gitignore", *ASSISTANTS),
    WORKFLOW,
)
# The end of the first cell in the self-study edition. The cell's second line sets
# `mine`.
USE_MINE = """
if mine:
    from {package}.check import use_mine

    use_mine()"""
KEPT = (f"{SITE}/CNAME",)  # GitHub Pages writes this file into the published repository
# Files that tools leave behind, and files that are useless without the private course.
LEFT_OUT = (
    "__pycache__",
    ".ipynb_checkpoints",
    "_build",
    "_build.lock",
    "_vendor",
    ".buildinfo",
)
BOOK_TOOLS = (
    "_extensions",
    "_templates",
    "AUTHORS.md",
    "build.py",
    "guide_pictures",
    "locale",  # it also contains the messages of the hidden checks
    "skeleton.md",
)
STUDENTS_TOOLS = ("ipykernel", "jupyterlab")


def write_contents(
    course: Course,
    units: Sequence[Unit],
    folder: Path,
    more: Mapping[str, bytes],
    *,
    site: bool,
    guide: bool = False,
    language: str = ENGLISH,
) -> None:
    """Write everything public into `folder`.

    Args:
        course: the course.
        units: the units to publish.
        folder: the folder to write into.
        more: the additional files of the self-study edition; otherwise empty.
        site: whether to include the built book.
        guide: whether to include the pages for instructors.
        language: the language of the notebooks and the README.

    Raises:
        PublishError: if the book is not built, or if a file to copy is a link.
    """
    for unit in units:
        place = folder / "assignments" / unit.slug
        write_unit(course, unit, place, site, language)
        if more:
            add_switch(course, place / f"{unit.slug}.ipynb", language)
        pages = assistants_pages(course, unit, language, site)
        if course.hints and not more:
            pages[HINTS_PAGE] = hints_page(course, unit, language)
        for name, text in pages.items():
            (place / name).write_text(text, encoding="utf-8", newline="\n")
    private = () if guide else GUIDE_SOURCES
    if (course.root / "book").is_dir():
        left_out = (*BOOK_TOOLS, *private)
        copy_tree(course.root / "book", folder / "book", without=left_out)
    if site:
        copy_tree(require_built_site(course, language), folder / SITE)
        (folder / SITE / ".nojekyll").touch()
        later = [unit for unit in course.units if unit not in units]
        make_students(folder / SITE, course, later, guide)
        complete_site(folder / SITE, course)
    for name in COPIED:
        if (course.root / name).is_file():
            shutil.copyfile(course.root / name, folder / name)
    made = made_files(course, units, site, language, self_study=bool(more))
    for name, text in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    for name, content in more.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)


def make_students(
    site: Path, course: Course, later: Sequence[Unit], guide: bool
) -> None:
    """Convert a built book to the students' site in each language."""
    for language in TRANSLATIONS:
        lead_to_notebooks(site / language, language)
    for inside in ("", *TRANSLATIONS):
        hide_colab_links(site / inside, course, later)
        if not guide:
            leave_guide_out(site / inside)


def write_unit(
    course: Course, unit: Unit, folder: Path, site: bool, language: str
) -> None:
    """Write a unit's notebook in one language, and the unit's kit."""
    copy_tree(course.release_dir(unit), folder)
    notebook = require_file(course.notebook(unit, language))
    text = as_published(notebook.read_text(encoding="utf-8"), language)
    chapter = course.chapter_url(unit, language)
    if chapter and not site:
        text = text.replace(chapter, str(course.chapter_url(unit, language, site)))
    (folder / notebook.name).write_text(text, encoding="utf-8", newline="\n")


def add_switch(course: Course, path: Path, language: str) -> None:
    """Add a switch for the learner's own answers to a notebook's first cell.

    Learners change this cell, so the cell must not be read-only in Jupyter.
    """
    told = told_in_readme(course, language)
    words = told("True: run on your own answers of earlier units")
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "setup":
            first, _, rest = cell.source.partition("\n")
            last = USE_MINE.format(package=course.package)
            cell.source = f"{first}\nmine = False  # {words}\n{rest}\n{last}"
            cell.metadata.pop("editable", None)
            cell.metadata.nbgrader.checksum = compute_checksum(cell)
    text = nbformat.writes(notebook) + "\n"
    path.write_text(text, encoding="utf-8", newline="\n")


def hints_page(course: Course, unit: Unit, language: str) -> str:
    """Return a page with the hints that a class gets, which are folded at first."""
    told = told_in_readme(course, language)
    translated = feedback_table(course.root, language, unit.slug)
    released = nbformat.read(course.notebook(unit, language), as_version=4)
    titles = headings(released)
    lines = [f"# {told('Hints')}", told("Open a hint only after you have tried.")]
    for exercise, hints in course.hints_of(unit).items():
        lines.append(f"## {titles.get(exercise, exercise)}")
        for number, hint in enumerate(hints[: course.hints], 1):
            summary = told("Hint {number}").format(number=number)
            text = translated.get(hint, hint)
            lines.append(
                f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"
            )
    return "\n\n".join(lines) + "\n"


def copy_tree(source: Path, target: Path, without: Sequence[str] = ()) -> None:
    """Copy a folder without the files that tools create in it.

    Raises:
        PublishError: if the folder contains a link, because its target may be private.
    """
    for path in _files(source, without):
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(require_file(path), copy)


def _files(source: Path, without: Sequence[str]) -> Iterator[Path]:
    for path in sorted(source.rglob("*")):
        parts = path.relative_to(source).parts
        starts = {"/".join(parts[:length]) for length in range(1, len(parts) + 1)}
        if starts & set(without) or set(parts) & set(LEFT_OUT):
            continue
        if path.is_symlink() or path.is_file():
            yield path


def made_files(
    course: Course,
    units: Sequence[Unit],
    site: bool,
    language: str = ENGLISH,
    self_study: bool = False,
) -> dict[str, str]:
    """Return the generated files, which exist only in the public repository."""
    requirements = "\n".join(students_requirements(course)) + "\n"
    return {
        "README.md": readme(course, units, site, language, self_study),
        "requirements.txt": requirements,
        "environment.yml": _environment(course),
        ".gitignore": _template("gitignore"),
        **(workflow(course) if site else {}),
        **assistants_pages(course, None, language, site),
    }


def students_requirements(course: Course, *units: Unit) -> list[str]:
    """Return the notebooks' requirements according to `pyproject.toml`.

    These are Jupyter, the packages that all notebooks need, and the packages that only
    the given units need.
    """
    table = tomllib.loads((course.root / "pyproject.toml").read_text(encoding="utf-8"))
    project = table["project"]
    extras = project.get("optional-dependencies", {}).get("course", [])
    lines = {
        re.split(r"[^\w-]", line)[0]: line for line in project["dependencies"] + extras
    }
    own = (name for unit in units for name in unit.packages)
    needed = {*course.packages, *own, *STUDENTS_TOOLS}
    return sorted(lines.get(name, name) for name in needed)


def readme(
    course: Course,
    units: Sequence[Unit],
    site: bool,
    language: str = ENGLISH,
    self_study: bool = False,
) -> str:
    """Return the students' README."""
    told = told_in_readme(course, language)
    has_pins = (course.root / "constraints.txt").is_file()
    constraints = "-c constraints.txt " if has_pins else ""
    facts = {
        "title": told(course.title),
        "units": unit_table(course, units, language, published=True),
        "repository": course.repository,
        "folder": course.repository.rstrip("/").rpartition("/")[2],
        "first": units[0].slug,
        "unit": f"{units[0].number:02}",
        "open": _how_to_open(course, told),
        "constraints": constraints,
        "hints": f" {told('Each unit has hints, in `HINTS.md` in its folder.')}"
        if course.hints
        else "",
        "sizes": told(
            "Expect three to five minutes. An installation with PyTorch's CPU build "
            "downloads 0.3 GB and takes 1.3 GB of the disk. With the CUDA build, which "
            "pip chooses on Linux, it downloads 2.8 GB and takes 5.3 GB."
        ),
        "cpu": _smaller_build(course, told, constraints),
        "book": _book(course, language)
        if site
        else told(
            "The chapters are in `book/`, as Markdown files: an editor shows their "
            "text and code, but not the results of the code."
        ),
    }
    last = _template("checking.md" if self_study else "handing_in.md")
    template = _template("README.md").replace("@last_part@", last.strip())
    text = markdown.translated(template, told)
    return re.sub(r"@(\w+)@", lambda match: facts[match[1]], text)


def _how_to_open(course: Course, told: Callable[[str], str]) -> str:
    if GITHUB.fullmatch(course.repository):
        return told("Open a notebook by its link above")
    return told(
        "On Colab choose *File > Upload notebook*, with the notebook from "
        "`assignments/`"
    )


def _smaller_build(course: Course, told: Callable[[str], str], constraints: str) -> str:
    """Explain how to install PyTorch's CPU build, if the course names its index."""
    if not course.torch_index:
        return ""
    smaller = told(
        "On Linux without an NVIDIA GPU, now install PyTorch's CPU build: `{command}` "
        "If your network cannot reach this address, pip ends with "
        "ResolutionImpossible. Then skip this command: the next step installs the CUDA "
        "build instead, which also runs without a GPU."
    )
    command = (
        f".venv/bin/python -m pip install --no-deps {constraints}"
        f"--index-url {course.torch_index} torch"
    )
    return f"{smaller.format(command=command)}\n\n"


def _book(course: Course, language: str) -> str:
    told = told_in_readme(course, language)
    inside = "" if language == ENGLISH else f"{language}/"
    page = course.book_url(language)
    place = f"`{SITE}/{inside}index.html`"
    return (
        told("Read it at <{page}>, or open {place} on your disk: it needs no network.")
        if page
        else told("Open {place} on your disk: it needs no network.")
    ).format(page=page, place=place)


def _environment(course: Course) -> str:
    """Return the environment file for conda, with the course's constraints if any."""
    has_pins = (course.root / "constraints.txt").is_file()
    pins = "      - -c constraints.txt\n" if has_pins else ""
    return _template("environment.yml").replace("@constraints@\n", pins)


def _template(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")

"""Say what goes into the public repository, and write it into a folder."""

from __future__ import annotations

import re
import shutil
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

from autograder.course import GITHUB, Course, Unit
from autograder.publish.problems import refuse
from autograder.publish.site import GUIDE_SOURCES, hide_colab_links, leave_guide_out

TEMPLATES = Path(__file__).with_name("templates")
SITE = "docs"  # GitHub Pages serves a branch from its root or from this folder
FOLDERS = ("assignments", "book", SITE)
COPIED = ("LICENSE", "CITATION.cff", "constraints.txt")
MADE = ("README.md", "requirements.txt", "environment.yml", ".gitignore")
KEPT = (f"{SITE}/CNAME",)  # written by GitHub Pages into the published repository
# Left by tools, or of no use without the private part: the book is built there.
LEFT_OUT = ("__pycache__", ".ipynb_checkpoints", "_build", "_vendor", ".buildinfo")
BOOK_TOOLS = (
    "_extensions",
    "_templates",
    "AUTHORS.md",
    "build.py",
    "fetch_mathjax.py",
    "guide_pictures",
    "skeleton.md",
)
STUDENTS_TOOLS = ("ipykernel", "jupyterlab")
BY_LINK = "Open a notebook by its link above"
BY_FILE = (
    "On Colab choose *File > Upload notebook*, with the notebook from `assignments/`"
)


def write_contents(
    course: Course,
    units: Sequence[Unit],
    folder: Path,
    *,
    site: bool,
    guide: bool = False,
) -> None:
    """Write everything public into `folder`.

    Args:
        course: the course.
        units: those that are handed out.
        folder: where it goes.
        site: whether the built book goes along.
        guide: whether the pages for instructors do.

    Raises:
        PublishError: if the book is not built, or something to copy is a link.
    """
    for unit in units:
        copy_tree(course.release_dir(unit), folder / "assignments" / unit.slug)
    book = course.root / "book"
    if book.is_dir():
        private = () if guide else GUIDE_SOURCES
        copy_tree(book, folder / "book", without=(*BOOK_TOOLS, *private))
    if site:
        copy_tree(built_site(course), folder / SITE)
        (folder / SITE / ".nojekyll").touch()
        later = [unit for unit in course.units if unit not in units]
        hide_colab_links(folder / SITE, course, later)
        if not guide:
            leave_guide_out(folder / SITE)
    for name in COPIED:
        if (course.root / name).is_file():
            shutil.copyfile(course.root / name, folder / name)
    for name, text in made_files(course, units, site=site).items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


def built_site(course: Course) -> Path:
    """Locate the built public book.

    Raises:
        PublishError: if it is not built.
    """
    site = course.root / "book" / "_build" / "html"
    if not (site / "index.html").is_file():
        raise refuse(site, "the book is not built", "run `make book`, or add --no-site")
    return site


def copy_tree(source: Path, target: Path, without: Sequence[str] = ()) -> None:
    """Copy a folder but for what tools leave behind.

    Raises:
        PublishError: at a link: what it leads to may be private.
    """
    for path in _files(source, without):
        if path.is_symlink():
            raise refuse(path, "is a link", "put the file itself there, or remove it")
        copy = target / path.relative_to(source)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)


def _files(source: Path, without: Sequence[str]) -> Iterator[Path]:
    for path in sorted(source.rglob("*")):
        parts = path.relative_to(source).parts
        starts = {"/".join(parts[:length]) for length in range(1, len(parts) + 1)}
        if starts & set(without) or set(parts) & set(LEFT_OUT):
            continue
        if path.is_symlink() or path.is_file():
            yield path


def made_files(course: Course, units: Sequence[Unit], *, site: bool) -> dict[str, str]:
    """Return the files that are written for the public repository alone."""
    requirements = "\n".join(students_requirements(course)) + "\n"
    return {
        "README.md": readme(course, units, site=site),
        "requirements.txt": requirements,
        "environment.yml": _template("environment.yml"),
        ".gitignore": _template("gitignore"),
    }


def students_requirements(course: Course) -> list[str]:
    """Return what the notebooks need, as `pyproject.toml` requires it."""
    table = tomllib.loads((course.root / "pyproject.toml").read_text(encoding="utf-8"))
    project = table["project"]
    extras = project.get("optional-dependencies", {}).get("course", [])
    tools = [line for line in extras if re.split(r"[^\w-]", line)[0] in STUDENTS_TOOLS]
    return sorted({*project["dependencies"], *(tools or STUDENTS_TOOLS)})


def readme(course: Course, units: Sequence[Unit], *, site: bool) -> str:
    """Return the students' README."""
    rows = [_row(course, unit) for unit in units]
    head = ["| unit | chapter | notebook | Colab |", "|---|---|---|---|"]
    constraints = (course.root / "constraints.txt").is_file()
    facts = {
        "title": course.title,
        "units": "\n".join([*head, *rows]),
        "repository": course.repository,
        "folder": course.repository.rstrip("/").rpartition("/")[2],
        "first": units[0].slug,
        "open": BY_LINK if GITHUB.fullmatch(course.repository) else BY_FILE,
        "constraints": "-c constraints.txt " if constraints else "",
        "book": _book(course) if site else "The chapters are in `book/`.",
    }
    return re.sub(r"@(\w+)@", lambda match: facts[match[1]], _template("README.md"))


def _row(course: Course, unit: Unit) -> str:
    title, notebook = unit.title, f"assignments/{unit.slug}/{unit.slug}.ipynb"
    if (course.root / "book" / f"{unit.slug}.md").is_file():
        title = f"[{title}](book/{unit.slug}.md)"
    colab = course.colab_link(unit, "open in Colab")
    return f"| {unit.number:02} | {title} | [notebook]({notebook}) | {colab} |"


def _book(course: Course) -> str:
    found = GITHUB.fullmatch(course.repository)
    page = f"https://{found[1]}.github.io/{found[2]}/" if found else None
    online = f"Read it at <{page}>, or open" if page else "Open"
    return f"{online} `{SITE}/index.html` on your disk: it needs no network."


def _template(name: str) -> str:
    return (TEMPLATES / name).read_text(encoding="utf-8")

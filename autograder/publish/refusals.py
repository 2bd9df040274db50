"""Refuse unsafe targets, private contents and outdated contents when publishing.

If one of these functions raises `PublishError`, nothing has been published.
"""

from __future__ import annotations

import html
import os
import re
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import nbformat

from autograder.assemble.assembler import assemble
from autograder.assemble.kit import kit_files
from autograder.assemble.private_text import (
    FORBIDDEN,
    Secret,
    gives_away,
    secret_answers,
    secret_checks,
    secret_texts,
    shown_lines,
    telling_lines,
)
from autograder.assemble.problems import Problem
from autograder.course import ENGLISH, TRANSLATIONS, Course, Unit
from autograder.publish.self_study import CHECKS
from autograder.translations.feedback_catalogues import feedback_table

SUBJECT = "Publish the course up to unit"  # the start of each commit message
README = "README.md"
OWN_WORDS = "<!-- Words of your own: "  # the start of the last line that we write
# Files and folders that grading a class creates in the course's folder.
OF_CLASS = (
    *("gradebook.db", "submitted", "autograded", "feedback", "grading", "collected"),
)
HINTS_PAGE = "HINTS.md"  # in a unit's folder, for a class
ASSISTANTS = ("AGENTS.md", "CLAUDE.md")  # in the repository and in each unit's folder
NEW_FOLDER = "name a new folder: publishing makes it"
REMEDY = "take it out, then publish again"
PRIVATE_PATH = re.compile(
    r"(^|/)(solutions|autograder|submitted|autograded|feedback|grading|collected)/"
    r"|(^|/)(nbgrader_config\.py|gradebook\.db|expected\w*\.json|audit\.jsonl)$"
    r"|(^|/)test_\d\d_\w+\.py$|\.(db|sqlite3?|pem|key|zip|tar|t?gz|whl)$"
)
# A marker is alone on its line, so a page may mention one within a sentence or a list.
MARKER = re.compile(
    r"^\s*(###|<!--)\s*(BEGIN|END) (SOLUTION|HIDDEN TESTS|MARK SCHEME)\b", re.MULTILINE
)
MASTER = re.compile(r"^:(answer|exercise|check|hand-in):", re.MULTILINE)
FOUND_INSIDE = {
    "a gradebook or another database": re.compile(r"\ASQLite format 3\0"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "an access token": re.compile(r"\b(ghp_\w{36}|github_pat_\w{30,})"),
    # Only the head of a table counts, because the book's search index also contains
    # these words.
    "students' scores": re.compile(r'\A[\w ,;"\t]*\bstudent_id\b[\w ,;"\t]*\bscore\b'),
}
TAG = re.compile(r"<[^>]*>")


class PublishError(ValueError):
    """Report why the course cannot be published; `problems` lists all reasons."""

    def __init__(self, problems: Sequence[Problem]) -> None:
        """Join all problems into one message."""
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in problems))


def refuse(where: object, what: str, remedy: str) -> PublishError:
    """Return an error with a single problem."""
    return PublishError([Problem(str(where), what, remedy)])


def refuse_class(course: Course) -> None:
    """Refuse a course that has a class, because students must not see the checks.

    Raises:
        PublishError: if a file or folder belongs to a class. The message names the
            first one.
    """
    for name in OF_CLASS:
        path = course.root / name
        if path.is_file() or (path.is_dir() and any(path.iterdir())):
            what = "belongs to a class, and this edition contains the hidden checks"
            raise refuse(path, what, "publish it from a copy without a class")


def refuse_target(
    course: Course, target: Path, places: Sequence[str], self_study: bool = False
) -> None:
    """Refuse a folder that publishing could damage or that contains private data.

    Args:
        course: the course.
        target: the folder to publish into, which may not exist yet.
        places: git pathspecs of all files that are rewritten when the course is
            published.
        self_study: whether this is the self-study edition.

    Raises:
        PublishError: if the target is the course itself, is not a repository, has
            changes by somebody else, or has private data in its history. The self-study
            edition also refuses the repository of a class.
    """
    _refuse_own_folder(course, target)
    if is_new(target):
        return
    if not (target / ".git").is_dir():
        raise refuse(target, "is there, and is no git repository", NEW_FOLDER)
    if git(target, "status", "--porcelain"):
        what = "has changes that are not committed"
        raise refuse(target, what, "commit them, or undo them")
    if self_study and not git(target, "ls-files", "--", CHECKS):
        what = f"is a class's repository: it has no folder {CHECKS}/"
        raise refuse(target, what, NEW_FOLDER)
    _refuse_private_history(course, target, f"{CHECKS}/" if self_study else None)
    _refuse_changed_by_hand(target, places)


def is_new(target: Path) -> bool:
    """Return whether a folder is empty or does not exist yet."""
    return not target.exists() or (target.is_dir() and not any(target.iterdir()))


def _refuse_own_folder(course: Course, target: Path) -> None:
    root, target = course.root, target.resolve()
    if target == root or target in root.parents:
        raise refuse(target, "holds the private course", NEW_FOLDER)
    if root in target.parents and root / "build" not in target.parents:
        what = "lies inside the private course"
        raise refuse(target, what, "name a folder elsewhere, or under build/")


def _refuse_private_history(
    course: Course, target: Path, allowed: str | None = None
) -> None:
    """Refuse a repository that contains, or ever contained, private data.

    Files in the folder `allowed` may be private.
    """
    names = set(git(target, "log", "--all", "--format=", "--name-only").splitlines())
    if allowed:
        names = {name for name in names if not name.startswith(allowed)}
    private = sorted(name for name in names if PRIVATE_PATH.search(name))
    if private:
        what = f"has {private[0]} in its history"
        raise refuse(target, what, NEW_FOLDER)
    pattern = "^[[:space:]]*### (BEGIN|END) SOLUTION"
    search = ("--extended-regexp", "-G", pattern)
    places = ("--", ".", f":(exclude){allowed}") if allowed else ()
    marked = git(target, "log", "--all", "--format=%h", *search, *places)
    if marked:
        what = f"has a solution marker in the history: commit {marked.split()[0]}"
        raise refuse(target, what, NEW_FOLDER)
    if (course.root / ".git").exists() and _roots(course.root) & _roots(target):
        what = "shares its history with the private course"
        raise refuse(target, what, NEW_FOLDER)


def _roots(repository: Path) -> set[str]:
    return set(git(repository, "rev-list", "--max-parents=0", "--all").split())


def _refuse_changed_by_hand(target: Path, places: Sequence[str]) -> None:
    """Refuse to overwrite changes that somebody made to published files.

    The instructor may change the README below our last line.
    """
    log = git(target, "log", "--format=%h %s").splitlines()
    ours = [line.split()[0] for line in log if SUBJECT in line]
    if not ours:
        return
    found = ("diff", "--name-only", ours[0], "HEAD")
    added = git(target, *found, "--diff-filter=A", "--", *places).splitlines()
    for name in git(target, *found, "--", *places).splitlines():
        if name == README and _same_readme(target, ours[0]):
            continue
        if name in added:
            what = "was added here, where publishing writes its own files"
            raise refuse(target / name, what, "rename or remove it, and commit")
        what = "was changed here since it was published, and that would be lost"
        remedy = "change it in the private course; here, "
        remedy += f"`git checkout {ours[0]} -- {name}`, and commit"
        if name == README:
            remedy += f". Words of your own stay below the line {OWN_WORDS!r}"
        raise refuse(target / name, what, remedy)


def _same_readme(target: Path, published: str) -> bool:
    before = git(target, "show", f"{published}:{README}")
    now = git(target, "show", f"HEAD:{README}")
    return parts_of_readme(before)[0].strip() == parts_of_readme(now)[0].strip()


def parts_of_readme(readme: str) -> tuple[str, str]:
    """Split a README into our part (with its last line) and the instructor's part."""
    head, mark, rest = readme.partition(OWN_WORDS)
    line, end, own = rest.partition("\n")
    return head + mark + line + end, own


def require_built_site(course: Course, language: str) -> Path:
    """Return the folder of the built public book, including its translations.

    Raises:
        PublishError: if the book is not built.
    """
    site = course.root / "book" / "_build" / "html"
    if not (site / "index.html").is_file():
        raise refuse(site, "the book is not built", "run `make book`, or add --no-site")
    if language != ENGLISH and not (site / language).is_dir():
        remedy = f"run `make book LANGUAGE={language}`, or add --no-site"
        raise refuse(site / language, "the book is not built", remedy)
    return site


def require_file(path: Path) -> Path:
    """Return the path if the file can be copied.

    Raises:
        PublishError: if the file is missing, or if it is a link, because its target may
            be private.
    """
    if path.is_symlink():
        raise refuse(path, "is a link", "put the file itself there, or remove it")
    if not path.is_file():
        raise refuse(path, "is not there", "run `make notebooks`")
    return path


def refuse_contents(
    course: Course, units: Sequence[Unit], folder: Path, more: Mapping[str, bytes]
) -> None:
    """Refuse contents that are private or outdated.

    The self-study files in `more` may be private.

    Raises:
        PublishError: if anything is private or outdated. The message lists everything.
    """
    problems = [*private_things(course, folder, more), *outdated(course, units)]
    if problems:
        raise PublishError(problems)


def outdated(course: Course, units: Sequence[Unit]) -> list[Problem]:
    """List the notebooks that differ from the notebooks their masters would produce."""
    what = "differs from what its master makes"
    return [
        Problem(path, what, "run `make notebooks`")
        for path in assemble(course, units, install=False).changed
    ]


def private_things(
    course: Course, folder: Path, more: Mapping[str, bytes]
) -> list[Problem]:
    """List everything under `folder` that must not become public.

    In the files in `more`, only data about a person or a machine are private.
    """
    secrets = _secrets(course)
    published = {path.name for path in folder.glob("assignments/*")}
    kits = {u.slug: kit_files(course, u) for u in course.units if u.slug in published}
    pages = [HINTS_PAGE] if course.hints and not more else []
    pages += ASSISTANTS if course.assistants else ()
    kept = {} if more else hints_kept(course)
    problems: list[Problem] = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_dir() or name.startswith(".git/"):
            continue
        if name in more and path.read_bytes() == more[name]:
            text = more[name].decode("utf-8", errors="replace")
            found = list(_found_inside(course, text))
            problems += [Problem(_source(name), what, REMEDY) for what in found]
            continue
        slug = _unit_of(course, name)
        found = [*_found(course, path, name, secrets[slug]), *_hints(path, kept)]
        found += _quoted(path, secrets[slug])
        inside = name.removeprefix(f"assignments/{slug}/")
        own = (f"{slug}.ipynb", *pages)
        if slug and inside not in own and inside not in kits[slug]:
            found.append("is neither the notebook nor a part of the kit of this unit")
        problems += [Problem(_source(name), what, REMEDY) for what in found]
    return problems


def _secrets(course: Course) -> dict[str, list[Secret]]:
    """Return the secret text for each unit's folder; the key "" is for all others."""
    common = list(secret_checks(course))
    for unit in course.units:
        common += secret_texts(course, unit)
    later = {
        unit.slug: [*secret_answers(course, unit), *common] for unit in course.units
    }
    return {"": later[course.units[0].slug], **later}


def hints_kept(course: Course) -> dict[str, str]:
    """Map each hint that a class does not get, without spaces, to its name."""
    kept = {}
    for unit in course.units:
        tables = [feedback_table(course.root, one, unit.slug) for one in TRANSLATIONS]
        for exercise, hints in course.hints_of(unit).items():
            for number, hint in enumerate(hints[course.hints :], course.hints + 1):
                for text in (hint, *(table.get(hint, hint) for table in tables)):
                    kept["".join(text.split())] = f"hint {number} of {exercise}"
    return kept


def _hints(path: Path, kept: Mapping[str, str]) -> Iterator[str]:
    """Yield the hints in a file that a class must not get."""
    if kept and not path.is_symlink():
        text = path.read_bytes().decode("utf-8", errors="replace")
        shown = "".join("".join(_lines(path, text)).split())
        yield from {f"shows {name}" for hint, name in kept.items() if hint in shown}


def _quoted(path: Path, secrets: Sequence[Secret]) -> Iterator[str]:
    """Yield the answers and checks that are quoted in a page for AI assistants."""
    if path.name in ASSISTANTS and not path.is_symlink():
        shown = "".join(path.read_text("utf-8", errors="replace").split())
        for secret in secrets:
            if any(line in shown for line in secret.lines):
                yield f"quotes {secret.name}"


def _unit_of(course: Course, name: str) -> str:
    """Return the unit whose assignment folder contains a file, or ""."""
    top, _, rest = name.partition("/")
    slug = rest.partition("/")[0]
    known = top == "assignments" and slug in {unit.slug for unit in course.units}
    return slug if known else ""


def _source(name: str) -> str:
    """Return the path of the source file that the author can edit."""
    return re.sub(r"^docs/", "book/_build/html/", name)


def _found(
    course: Course, path: Path, name: str, secrets: Sequence[Secret]
) -> Iterator[str]:
    """Yield the reasons why a file must not be published."""
    if path.is_symlink():
        yield "is a link"
        return
    if PRIVATE_PATH.search(name):
        yield "has a name that only private files have"
    text = path.read_bytes().decode("utf-8", errors="replace")
    yield from _found_inside(course, text)
    lines = _lines(path, text)
    yield from _marks(name, "\n".join(lines))
    shown = telling_lines(lines)
    yield from (f"gives away {s.name}" for s in secrets if gives_away(shown, s))
    if path.suffix == ".ipynb" and _has_outputs(text):
        yield "holds the outputs of a run"


def _found_inside(course: Course, text: str) -> Iterator[str]:
    """Yield data about persons or about this machine that a text contains."""
    for what, pattern in FOUND_INSIDE.items():
        if pattern.search(text):
            yield f"holds {what}"
    if str(course.root) in text:
        yield f"names a folder of this machine: {course.root}"


def _lines(path: Path, text: str) -> list[str]:
    """Return the lines of a file that a reader sees."""
    if path.suffix in (".html", ".svg"):
        return html.unescape(TAG.sub("", text)).split("\n")
    try:
        return shown_lines(path, text)
    except nbformat.reader.NotJSONError:
        return text.split("\n")


def _marks(name: str, text: str) -> Iterator[str]:
    """Yield the answer markers and the fields of masters that a text contains."""
    if name.startswith("assignments/"):
        marks = {mark for mark in FORBIDDEN if mark in text}
    else:
        marks = {match[0].strip() for match in MARKER.finditer(text)}
    yield from (f"contains '{mark}'" for mark in sorted(marks))
    if match := MASTER.search(text):
        yield f"is a master, or a part of one: it contains '{match[0]}'"


def _has_outputs(text: str) -> bool:
    try:
        cells = nbformat.reads(text, as_version=4).cells
    except nbformat.reader.NotJSONError:
        return False
    return any(cell.get("outputs") for cell in cells)


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder, and return its output.

    Raises:
        PublishError: if git fails. The error contains git's own message.
    """
    environment = {k: v for k, v in os.environ.items() if not k.startswith("GIT_")}
    command = ["git", "-c", "core.quotePath=false", *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode:
        what = f"`git {arguments[0]}` fails: {done.stderr.strip()}"
        raise refuse(folder, what, "see what git says")
    return done.stdout.strip()

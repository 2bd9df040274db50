"""Execute a page again if a module that it imports or a result that it shows changed.

Jupyter Book's cache considers only the code of the page. Without this module, a page
would keep outputs of an older `transformer` and figures of an older benchmark.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from .kept_outputs import kept_outputs

DOTTED = re.compile(r"\b(?:from|import)\s+(?:transformer)?\.+(\w+(?:\.\w+)*)")
IMPORTS = re.compile(r"^(?:from|import)\s", re.MULTILINE)
LISTED = re.compile(r"\bfrom\s+(?:transformer|\.+)\s+import\s+\(?([\w\s,]+)")
QUOTED = re.compile(r'"(\w+)"')
RESULTS = Path("benchmarks") / "results"
RECORD = "digests.json"
CELL = "```{code-cell}"
PREFACE = "intro"


def imported(text: str) -> set[str]:
    """Return the modules of `transformer` that the code in `text` imports."""
    names = set(DOTTED.findall(text))
    for listed in LISTED.findall(text):
        names.update(re.findall(r"\w+", listed))
    return names


def sources(package: Path, module: str) -> list[Path]:
    """Return the files of a module such as `masks` or `training.step`.

    Usually this is one file. For a package, or for a module in a package whose
    `__init__.py` imports modules, it is all files of the package.
    """
    room = package / module.partition(".")[0]
    path = package.joinpath(*module.split(".")).with_suffix(".py")
    if path.is_file() and (room == path.with_suffix("") or not _opens_all(room)):
        return [path]
    return sorted(room.rglob("*.py"))


def _opens_all(room: Path) -> bool:
    return bool(IMPORTS.search((room / "__init__.py").read_text("utf-8")))


def closure(package: Path, text: str) -> list[Path]:
    """Return all files of `package` that the code in `text` needs, also indirectly."""
    waiting, files = imported(text), set()
    while waiting:
        fresh = set(sources(package, waiting.pop())) - files
        files |= fresh
        for path in fresh:
            waiting |= imported(path.read_text("utf-8"))
    return sorted(files)


def shown(folder: Path, text: str) -> list[Path]:
    """Return the result files in `folder` that the code in `text` names.

    The code may give the whole name, or only the part after an underscore: "best" for
    multi30k_best.json.
    """
    if RESULTS.as_posix() not in text:
        return []
    words = set(QUOTED.findall(text))
    return sorted(
        path
        for path in folder.glob("*.json")
        if path.name in text or any(f"_{path.stem}".endswith(f"_{w}") for w in words)
    )


def digest(package: Path, chapter: Path, results: Path) -> str:
    """Return a digest of all that a chapter's outputs depend on, except its text."""
    total = hashlib.sha256()
    text = chapter.read_text("utf-8")
    for name in ("torch", "matplotlib"):
        total.update(f"{name} {version(name)}\n".encode())
    for root, paths in (
        (package, closure(package, text)),
        (results, shown(results, text)),
    ):
        for path in paths:
            total.update(path.relative_to(root).as_posix().encode())
            total.update(path.read_bytes())
    return total.hexdigest()


def forget(folder: Path, digests: dict[str, str]) -> None:
    """Remove the chapters whose digest has changed from the cache in `folder`."""
    record = folder / RECORD
    known = json.loads(record.read_text("utf-8")) if record.is_file() else {}
    stale = {name for name, new in digests.items() if known.get(name) != new}
    with kept_outputs(folder) as cache:
        for entry in cache.list_cache_records():
            if Path(entry.uri).stem in stale:
                cache.remove_cache(entry.pk)
    folder.mkdir(parents=True, exist_ok=True)
    record.write_text(json.dumps(known | digests, indent=1), "utf-8")


def find_outdated(
    app: Sphinx,
    env: BuildEnvironment,
    added: Iterable[str],
    changed: Iterable[str],
    removed: Iterable[str],
) -> list[str]:
    """Return the pages to read again, and remove outdated chapters from the cache."""
    course = app.config.course_facts
    chapters = sorted(env.found_docs & {unit.slug for unit in course.units})
    results = Path(app.srcdir).parent / RESULTS
    pages = {name: Path(env.doc2path(name)) for name in sorted(env.found_docs)}
    digests = {
        name: digest(course.package_dir, path, results)
        for name, path in pages.items()
        if CELL in path.read_text("utf-8")
    }
    forget(Path(app.config.nb_execution_cache_path), digests)
    before = getattr(env, "course_digests", {})
    env.course_digests = digests
    stale = {name for name, new in digests.items() if before.get(name) != new}
    if app.config.course_edition == "instructor":
        stale.update(chapters)  # their answers are in files that Sphinx does not know
    # The preface links to all existing chapters.
    preface = {PREFACE} & env.found_docs if added or removed else set()
    return sorted(stale | preface)

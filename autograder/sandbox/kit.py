"""Read the kit in a notebook's folder, and list the imports of kit and notebook."""

import ast
import functools
import hashlib
import py_compile
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from autograder.notebook_syntax import parse_cell

MAX_BYTES = 32 << 20


@dataclass(frozen=True)
class WarmKit:
    """A kit that the pre-warmed parent imports once for all children.

    Attributes:
        label: a hash of all files; see `label_of`.
        files: the contents of the kit's modules, by their paths in the working folder.
        foreign: the modules outside the kit that the kit and the notebook import.
        own: the kit's own modules that the notebook imports.
    """

    label: str
    files: dict[str, bytes]
    foreign: list[str]
    own: list[str]


def label_of(files: Mapping[str, bytes]) -> str:
    """Return a hash of the names and contents of the files."""
    digest = hashlib.sha256()
    for name, content in sorted(files.items()):
        digest.update(f"{len(name)} {name} {len(content)} ".encode())
        digest.update(content)
    return digest.hexdigest()


def warm_kit(folder: Path, cells: list[str], files: dict[str, bytes]) -> WarmKit:
    """Return the kit that the parent imports, from a released folder and notebook."""
    code = {k: v for k, v in files.items() if k.endswith((".py", ".pyc"))}
    foreign, own = foreign_imports(folder, cells), kit_imports(folder, cells)
    return WarmKit(label_of(files), code, foreign, own)


def folder_files(folder: Path) -> dict[str, bytes]:
    """Return a released folder's files except notebooks, plus compiled modules.

    Raises:
        ValueError: if their total size is too large.
    """
    paths = sorted(_kit_paths(folder))
    stamp = tuple((path, path.stat().st_mtime_ns) for path in paths)
    return _read(folder, stamp)


def _kit_paths(folder: Path) -> Iterator[Path]:
    for path in folder.rglob("*"):
        parts = path.relative_to(folder).parts
        hidden = any(part.startswith((".", "__pycache__")) for part in parts)
        if path.is_file() and path.suffix != ".ipynb" and not hidden:
            yield path


@functools.lru_cache(maxsize=32)
def _read(folder: Path, stamp: tuple[tuple[Path, int], ...]) -> dict[str, bytes]:
    """Read the files listed in `stamp`; the result is shared, so do not change it."""
    files: dict[str, bytes] = {}
    for path, _ in stamp:
        name = path.relative_to(folder).as_posix()
        files[name] = path.read_bytes()
        if path.suffix == ".py":
            files |= _compiled(path, name)
    if sum(map(len, files.values())) > MAX_BYTES:
        raise ValueError(f"{folder} holds more than {MAX_BYTES >> 20} MiB")
    return files


def _compiled(path: Path, name: str) -> dict[str, bytes]:
    """Return a module's bytecode under the path where Python looks for it."""
    place = Path(name)
    cached = place.parent / "__pycache__" / f"{place.stem}.{_tag()}.pyc"
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    with tempfile.TemporaryDirectory(prefix="course-compile-") as folder:
        made = Path(folder, "module.pyc")
        try:
            py_compile.compile(str(path), str(made), name, True, -1, mode)
        except py_compile.PyCompileError:
            return {}
        return {cached.as_posix(): made.read_bytes()}


def _tag() -> str:
    return str(sys.implementation.cache_tag)


def foreign_imports(folder: Path, cells: list[str]) -> list[str]:
    """Return the modules outside the kit that the kit or a released notebook imports.

    Imports inside a function are not included; a child that calls the function imports
    them.
    """
    own = {path.name.partition(".")[0] for path in folder.iterdir()}
    sources = [p.read_text(encoding="utf-8") for p in folder.rglob("*.py")]
    names: set[str] = set()
    for source in (*sources, *cells):
        tree = parse_cell(source)
        for node in tree.body if tree else []:
            names |= _imported(node)
    return sorted(n for n in names if n.partition(".")[0] not in {*own, "google"})


def kit_imports(folder: Path, cells: list[str]) -> list[str]:
    """Return the kit's own modules that the cells of a released notebook import."""
    own = {path.name.partition(".")[0] for path in folder.iterdir()}
    names: set[str] = set()
    for tree in map(parse_cell, cells):
        for node in ast.walk(tree) if tree else []:
            names |= _imported(node)
    return sorted(n for n in names if n.partition(".")[0] in own)


def _imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name for alias in node.names}
    if isinstance(node, ast.ImportFrom) and not node.level and node.module:
        return {node.module}
    return set()

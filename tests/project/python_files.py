"""The project's Python files, parsed, and their imports of each other."""

import ast
import functools
import graphlib
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = {
    "transformer": ROOT / "solutions" / "transformer",
    "autograder": ROOT / "autograder",
}
FOLDERS = [
    *PACKAGES.values(),
    *(ROOT / name for name in ("tests", "benchmarks", "book")),
]
NOT_OURS = {"_build", "_vendor", "node_modules", "__pycache__", "templates"}


def python_files(*folders: Path) -> list[Path]:
    """List the Python files of folders, without build results and generated kits."""
    return [
        path
        for folder in folders or FOLDERS
        for path in sorted(folder.rglob("*.py"))
        if not NOT_OURS & set(path.relative_to(ROOT).parts)
    ]


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """Parse a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def place(path: Path, line: int = 1) -> str:
    """Name a file and a line of it in a form that editors understand."""
    return f"{path.relative_to(ROOT).as_posix()}:{line}"


@functools.cache
def modules() -> dict[str, Path]:
    """Return the modules of both packages by their dotted names."""
    found = {}
    for package, folder in PACKAGES.items():
        for path in python_files(folder):
            parts = path.relative_to(folder).with_suffix("").parts
            names = [part for part in parts if part != "__init__"]
            found[".".join([package, *names])] = path
    return found


@functools.cache
def imports() -> dict[str, dict[str, int]]:
    """Return the imports of each module from other modules, with the line.

    Imports in functions and for type checkers only are included.
    """
    return {
        name: {
            other: line
            for other, line in reversed([*_imported_by(name, path)])
            if other in modules() and other != name
        }
        for name, path in modules().items()
    }


def _imported_by(name: str, path: Path) -> Iterator[tuple[str, int]]:
    parts = name.split(".")
    folder = parts if path.name == "__init__.py" else parts[:-1]
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = folder[: len(folder) - node.level + 1] if node.level else []
            start = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                whole = f"{start}.{alias.name}"
                yield whole if whole in modules() else start, node.lineno


def room_of(name: str) -> str:
    """Return the folder of a package that contains a module, or the module itself."""
    parts = name.split(".")
    is_folder = modules()[name].name == "__init__.py"
    return ".".join(parts[:2]) if len(parts) > 2 or is_folder else name


def circle_in(graph: Mapping[str, object]) -> list[str]:
    """Return the names along a circle of a graph, with the first again at the end."""
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return error.args[1][::-1]
    return []

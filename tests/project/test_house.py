"""The rules of the house: where a file belongs, and how long it may grow."""

import ast
import re
from collections import Counter, defaultdict
from itertools import pairwise

from python_files import (
    PACKAGES,
    ROOT,
    circle_in,
    imports,
    modules,
    place,
    python_files,
    room_of,
    tree_of,
)

MOST_FILES, MOST_LINES, MOST_LINES_OF_A_FUNCTION = 20, 300, 40
OF_A_UNIT = re.compile(r"(test|unit)_\d\d_\w+\.py")  # checks, and variants of answers
PAPER = {
    *("config", "embeddings", "positional", "attention", "multi_head"),
    *("feed_forward", "masks", "parts", "encoder", "decoder", "model"),
}
# Folders of tests that have no room of their name, and why.
NO_ROOM = {
    "transformer": "its tests are those of the package as a whole: the command line",
    "transformer/model": "the top floor has no folder of its own",
    "autograder": "its tests are those of the top floor",
}
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def lines_of(items: list[str]) -> str:
    return "\n".join(["", *items])


def test_no_folder_holds_too_many_files():
    files = [path for path in python_files() if not OF_A_UNIT.fullmatch(path.name)]
    counts = Counter(path.parent for path in files)
    crowded = [
        f"{place(folder).removesuffix(':1')}: {count} files"
        for folder, count in counts.items()
        if count > MOST_FILES
    ]
    assert not crowded, lines_of(crowded)


def test_circles_and_imports_are_seen():
    assert circle_in({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}})
    assert circle_in({"a": {"b", "c"}, "b": {"c"}}) == []
    assert "transformer.attention" in imports()["transformer.multi_head"]
    assert "autograder.course" in imports()["autograder.commands.verify"]


def test_no_import_runs_in_a_circle():
    circle = circle_in(imports())
    found = [
        f"{place(modules()[one], imports()[one][other])}: {one} imports {other}"
        for one, other in pairwise(circle)
    ]
    assert not found, lines_of(found)


def test_no_room_imports_in_a_circle():
    arrows: dict[str, dict[str, str]] = defaultdict(dict)
    for one, others in imports().items():
        for other, line in others.items():
            if room_of(one) != room_of(other):
                where = f"{place(modules()[one], line)}: {one} imports {other}"
                arrows[room_of(one)].setdefault(room_of(other), where)
    circle = circle_in(arrows)
    found = [arrows[one][other] for one, other in pairwise(circle)]
    assert not found, lines_of(found)


def test_no_file_is_long():
    lengths = {
        path: len(path.read_text(encoding="utf-8").splitlines())
        for path in python_files()
        if not (
            OF_A_UNIT.fullmatch(path.name) and path.is_relative_to(ROOT / "autograder")
        )
    }
    long = [
        f"{place(path, MOST_LINES + 1)}: {length} lines in all"
        for path, length in lengths.items()
        if length > MOST_LINES
    ]
    assert not long, lines_of(long)


def test_no_function_is_long():
    long = [
        f"{place(path, node.lineno)}: {node.name} has {length} lines"
        for path in python_files()
        for node in ast.walk(tree_of(path))
        if isinstance(node, FUNCTIONS)
        and (length := node.end_lineno - node.lineno + 1) > MOST_LINES_OF_A_FUNCTION
    ]
    assert not long, lines_of(long)


def test_every_package_says_what_it_is():
    silent = [
        place(path)
        for path in python_files(*PACKAGES.values())
        if path.name == "__init__.py"
        and not re.match(r"[^.]+ [^.]+\.", ast.get_docstring(tree_of(path)) or "")
    ]
    assert not silent, lines_of(silent)


def test_the_top_floor_is_the_paper():
    names = {path.stem for path in PACKAGES["transformer"].glob("*.py")}
    assert names == PAPER | {"__init__", "__main__"}


def test_the_tests_mirror_the_house():
    tests = ROOT / "tests"
    rooms = {
        f"{package}/{path.relative_to(folder).parent.as_posix()}".removesuffix("/.")
        for package, folder in PACKAGES.items()
        for path in python_files(folder)
    }
    folders = {
        path.parent.relative_to(tests).as_posix()
        for package in PACKAGES
        for path in (tests / package).rglob("test_*.py")
        if not re.search("_course/", path.as_posix())
    }
    odd = [f"tests/{name}" for name in sorted(folders - rooms - NO_ROOM.keys())]
    assert not odd, lines_of(odd)
    assert set(NO_ROOM) <= folders


def test_docstrings_have_single_backticks():
    documented = (*FUNCTIONS, ast.ClassDef, ast.Module)
    double = [
        place(path, node.body[0].lineno)
        for path in python_files()
        for node in ast.walk(tree_of(path))
        if isinstance(node, documented) and "``" in (ast.get_docstring(node) or "")
    ]
    assert not double, lines_of(double)

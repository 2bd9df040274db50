"""There are no circular imports, and every file is in its own layer."""

import ast
import re
from collections import defaultdict
from itertools import pairwise

import pytest
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

from autograder.publish.self_study import MODULES

PAPER = {
    *("config", "embeddings", "positional", "attention", "multi_head"),
    *("feed_forward", "masks", "parts", "encoder", "decoder", "model"),
}
# Folders of tests without a room of the same name, and the reasons.
NO_ROOM = {
    "transformer": "its tests are those of the package as a whole: the command line",
    "transformer/model": "the top floor has no folder of its own",
    "autograder": "its tests are those of the top floor",
}


def lines_of(items: list[str]) -> str:
    return "\n".join(["", *items])


@pytest.mark.integration
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


@pytest.mark.integration
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


def test_a_learners_check_needs_exactly_the_modules_that_are_published():
    starts = ("autograder.self_study.", "autograder.checks.test_")
    needed = {name for name in modules() if name.startswith(starts)}
    while (
        more := {
            other
            for name in needed
            for other in imports()[name]
            if other.startswith("autograder")
        }
        - needed
    ):
        needed |= more
    needed |= {name.rpartition(".")[0] for name in needed} - {""}
    published = {
        ".".join(["autograder", *folder.split("/"), name]).replace("..", ".")
        for folder, names in MODULES.items()
        for name in names
    }
    assert sorted(name.removesuffix(".__init__") for name in published) == sorted(
        name for name in needed if not name.startswith("autograder.checks")
    )

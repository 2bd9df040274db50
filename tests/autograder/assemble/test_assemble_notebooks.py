"""Masters become answer notebooks and released notebooks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import nbformat
import pytest

from autograder.assemble.assembler import assemble
from autograder.assemble.identity import slug
from autograder.course import Course


def cells(path: Path) -> dict[str, Any]:
    """Read the cells of a notebook, by id."""
    return {cell.id: cell for cell in nbformat.read(path, as_version=4).cells}


@pytest.fixture
def answers(pocket: Course) -> dict[str, Any]:
    """Assemble, and read the answer notebook of unit 01."""
    assemble(pocket)
    return cells(pocket.answer_notebook(pocket.unit("1")))


@pytest.fixture
def released(pocket: Course, answers: dict[str, Any]) -> dict[str, Any]:
    """Read the released notebook of unit 01."""
    return cells(pocket.release_notebook(pocket.unit("1")))


def test_ids_are_names_or_slugs(answers, released) -> None:
    expected = [
        "sums",
        "setup",
        "add-up-2",
        "add-up",
        "add-up-check",
        "why-question",
        "why",
        "essay",
        "again",
        "print-add-up-1-0-2-0-3-0",
        "print-plain",
        "print-plain-2",
        "hand-in",
        "alphabet",
    ]
    assert list(answers) == list(released) == expected


def test_slugs_are_short_and_whole_words() -> None:
    assert slug("Text\n## Größe 3: √d") == "groe-3-d"
    assert slug("one two three four five six seven eight nine ten").endswith("-eight")
    assert slug("x" * 60) == "x" * 40
    assert slug("√") == "cell"


def test_the_answer_is_the_source_with_its_markers(answers) -> None:
    source = answers["add-up"].source
    assert source.startswith("def add_up(numbers: list[float]) -> float:\n")
    assert source.endswith("    ### END SOLUTION")
    assert "double" not in source


def test_the_stub_names_the_function(released) -> None:
    assert released["add-up"].source == (
        "def add_up(numbers: list[float]) -> float:\n"
        '    """Add up the numbers."""\n'
        "    # YOUR CODE HERE\n"
        '    raise NotImplementedError("Write add_up.")'
    )


def test_nbgrader_metadata(released) -> None:
    def flags(name: str) -> list[Any]:
        given = released[name].metadata.nbgrader
        keys = ("grade", "solution", "locked", "task", "points", "schema_version")
        return [given.get(key) for key in keys]

    assert flags("add-up") == [False, True, False, False, None, 3]
    assert flags("add-up-check") == [True, False, True, False, 70, 3]
    assert flags("why") == [True, True, False, False, 20, 3]
    assert flags("essay") == [False, False, True, True, 10, 3]
    for name in ("why-question", "setup", "hand-in"):
        assert flags(name) == [False, False, True, False, None, 3]
    assert "nbgrader" not in released["print-add-up-1-0-2-0-3-0"].metadata


def test_tags_and_facts(released) -> None:
    assert released["print-add-up-1-0-2-0-3-0"].metadata.tags == ["demo", "hide-input"]
    assert released["setup"].metadata.tags == ["setup"]
    first, exercise = released["sums"].source, released["add-up-2"].source
    assert first.startswith("# Sums\n\nUnit 01 of 03 · about 40 minutes · 100 points [")
    assert "01_sums.ipynb)" in first
    assert "●○○ · about 5 minutes · 70 points" in exercise
    question = released["why-question"].source
    assert "●●○ · about 5 minutes · 20 points" in question
    assert "$x_{{1}}$" in question


def test_model_answers_and_mark_schemes_are_cleared(answers, released) -> None:
    assert "neutral element" in answers["why"].source
    assert released["why"].source == "YOUR ANSWER HERE"
    assert "Brahmagupta" in answers["essay"].source
    assert "Brahmagupta" not in released["essay"].source


def test_a_whole_class_with_the_asked_bodies_cleared(pocket: Course) -> None:
    assemble(pocket)
    source = cells(pocket.release_notebook(pocket.unit("2")))["mean"].source
    assert source.count("class Mean:") == 1
    assert "self.numbers: list[float] = []" in source
    assert 'raise ValueError("NaN has no mean")' in source
    assert 'raise NotImplementedError("Write Mean.add.")' in source
    assert 'raise NotImplementedError("Write Mean.value.")' in source
    assert "self.numbers = [*" not in source
    assert "add_up(" not in source


def test_nbgraders_own_metadata_is_understood(pocket: Course) -> None:
    assemble(pocket)
    released = cells(pocket.release_notebook(pocket.unit("2")))
    assert released["middle"].metadata.nbgrader.solution
    assert released["middle-check"].metadata.nbgrader.points == 40


def test_notebook_metadata_is_minimal(pocket: Course) -> None:
    assemble(pocket)
    kept = {
        "kernelspec": {
            "display_name": "Python 3",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    }
    colab = {"accelerator": "GPU", "colab": {"provenance": []}}
    for number, expected in (("1", {**kept, **colab}), ("2", kept)):
        unit = pocket.unit(number)
        for path in (pocket.answer_notebook(unit), pocket.release_notebook(unit)):
            notebook = json.loads(path.read_text(encoding="utf-8"))
            assert notebook["metadata"] == expected
            assert (notebook["nbformat"], notebook["nbformat_minor"]) == (4, 5)
            code = [one for one in notebook["cells"] if one["cell_type"] == "code"]
            assert all(cell["outputs"] == [] for cell in code)
            assert all(cell["execution_count"] is None for cell in code)


def test_a_second_run_changes_nothing(pocket: Course, contents) -> None:
    first = assemble(pocket)
    assert [unit.slug for unit in first.units] == ["01_sums", "02_means"]
    assert first.changed == (
        "solutions/notebooks/01_sums/01_sums.ipynb",
        "assignments/01_sums",
        "solutions/notebooks/02_means/02_means.ipynb",
        "assignments/02_means",
    )
    before = contents(pocket.root)
    times = {path: path.stat().st_mtime_ns for path in pocket.root.rglob("*.ipynb")}
    assert assemble(pocket).changed == ()
    assert contents(pocket.root) == before
    assert all(path.stat().st_mtime_ns == time for path, time in times.items())
    assert not list(pocket.root.glob(".assemble-*"))


def test_only_what_differs_is_replaced(pocket: Course, edit) -> None:
    assemble(pocket)
    stray = pocket.release_dir(pocket.unit("1")) / "notes.txt"
    stray.write_text("left over")
    cache = pocket.release_dir(pocket.unit("2")) / "pocket" / "__pycache__"
    cache.mkdir()
    would = assemble(pocket, install=False)
    assert would.changed == ("assignments/01_sums",)
    assert stray.exists()
    assert assemble(pocket).changed == ("assignments/01_sums",)
    assert not stray.exists()


def test_a_unit_is_replaced_in_all_its_languages(pocket: Course) -> None:
    (pocket.root / "book" / "locale" / "ko" / "notebooks").mkdir(parents=True)
    assemble(pocket)
    unit = pocket.unit("1")
    paths = pocket.release_notebook(unit), pocket.translated_notebook(unit, "ko")
    before = [path.read_text("utf-8") for path in paths]
    for path in paths:
        path.write_text("{}")
    assert assemble(pocket).changed == ("assignments/01_sums", "assignments/ko/01_sums")
    assert [path.read_text("utf-8") for path in paths] == before


def test_one_unit_alone(pocket: Course) -> None:
    assemble(pocket, [pocket.unit("2")])
    assert not pocket.release_dir(pocket.unit("1")).exists()
    assert pocket.release_notebook(pocket.unit("2")).is_file()


def test_a_marked_function_that_nobody_asks_for_is_a_warning(pocket, edit) -> None:
    edit(
        "solutions/pocket/sums.py",
        "    return 2 * number",
        "    ### BEGIN SOLUTION\n    return 2 * number\n    ### END SOLUTION",
    )
    (warning,) = assemble(pocket).warnings
    assert warning.startswith("01_sums: pocket.sums.double has markers")

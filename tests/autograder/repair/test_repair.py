"""The grader rebuilds damaged submissions."""

import copy
import json

import nbformat
import pytest
from tiny_answers import ANSWERS, answers_of, code, grade_id, repaired

from autograder.unit import cells_to_run


def position(raw, name):
    return next(n for n, cell in enumerate(raw["cells"]) if grade_id(cell) == name)


def unchanged(raw):
    pass


def lose_metadata(raw):
    for cell in raw["cells"]:
        cell["metadata"] = {}


def lose_metadata_and_ids(raw):
    lose_metadata(raw)
    for cell in raw["cells"]:
        del cell["id"]


def come_from_colab(raw):
    raw["metadata"] = {"colab": {"name": "Copy of 01_tiny.ipynb"}}
    for number, cell in enumerate(raw["cells"]):
        cell["metadata"] = {"id": f"Colab{number}", "outputId": "abc"}
        del cell["id"]


def repeat_an_answer(raw):
    raw["cells"].insert(0, copy.deepcopy(raw["cells"][position(raw, "double")]))


def repeat_an_answer_untouched(
    raw, stub="def double(x):\n    raise NotImplementedError"
):
    again = copy.deepcopy(raw["cells"][position(raw, "double")])
    raw["cells"].append(again)


def delete_checks(raw):
    raw["cells"] = [
        c for c in raw["cells"] if not (grade_id(c) or "").endswith("-check")
    ]


def repeat_a_check(raw):
    raw["cells"].append(copy.deepcopy(raw["cells"][position(raw, "double-check")]))


def edit_a_check(raw):
    raw["cells"][position(raw, "double-check")]["source"] = "10"


def move_a_check(raw):
    raw["cells"].insert(0, raw["cells"].pop(position(raw, "scaler-check")))


def turn_a_check_into_text(raw):
    raw["cells"][position(raw, "double-check")]["cell_type"] = "markdown"


def turn_an_answer_into_text(raw):
    cell = raw["cells"][position(raw, "double")]
    cell["cell_type"] = "markdown"
    cell["source"] = f"```python\n{cell['source']}\n```"


def split_an_answer(raw):
    at = position(raw, "scaler")
    head, _, tail = raw["cells"][at]["source"].partition("    def forward")
    raw["cells"][at]["source"] = head.rstrip("\n")
    raw["cells"].insert(at + 1, code("    def forward" + tail))


def split_in_a_body(raw):
    at = position(raw, "double")
    raw["cells"][at]["source"] = "def double(x):"
    raw["cells"].insert(at + 1, code("    return 2 * x"))


def delete_an_answer_cell_and_write_another(raw):
    at = position(raw, "double")
    raw["cells"][at] = code(ANSWERS["double"])


def strange_versions(raw):
    raw["nbformat_minor"], raw["metadata"] = 99, {"kernelspec": {"name": "scala"}}
    for cell in raw["cells"]:
        if grade_id(cell):
            cell["metadata"]["nbgrader"]["schema_version"] = 99


def no_schema_version(raw):
    for cell in raw["cells"]:
        cell["metadata"].get("nbgrader", {}).pop("schema_version", None)


def unknown_grade_id(raw):
    raw["cells"].append(
        code(
            "x = 1",
            nbgrader={
                "grade_id": "more",
                "grade": True,
                "solution": False,
                "points": 1000,
            },
        )
    )


def format_three(raw):
    for cell in raw["cells"]:
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
    raw["worksheets"] = [{"cells": raw.pop("cells")}]
    raw["nbformat"] = 3


def swap_grade_ids(raw):
    cells = raw["cells"]
    first, second = (cells[position(raw, n)] for n in ("double", "quadruple"))
    first["source"], second["source"] = second["source"], first["source"]


def sources_as_lists(raw):
    for cell in raw["cells"]:
        if isinstance(cell["source"], str):
            cell["source"] = cell["source"].splitlines(keepends=True)


DAMAGES = [
    unchanged,
    lose_metadata,
    lose_metadata_and_ids,
    come_from_colab,
    repeat_an_answer,
    delete_checks,
    repeat_a_check,
    edit_a_check,
    move_a_check,
    turn_a_check_into_text,
    turn_an_answer_into_text,
    split_an_answer,
    split_in_a_body,
    strange_versions,
    delete_an_answer_cell_and_write_another,
    no_schema_version,
    unknown_grade_id,
    format_three,
    swap_grade_ids,
    sources_as_lists,
]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda d: d.__name__)
def test_every_answer_is_found(damage, handed_in, tiny_unit, tmp_path):
    damage(handed_in)
    result = repaired(tiny_unit, handed_in, tmp_path)
    found = answers_of(result)
    for name, answer in ANSWERS.items():
        assert "".join(found[name].split()) == "".join(answer.split()), name
    assert result.unwritten == frozenset()
    released = [c for c in tiny_unit.released.cells if grade_id(c) not in ANSWERS]
    kept = {c.id: c for c in result.notebook.cells}
    for cell in released:
        assert kept[cell.id] == cell
    nbformat.validate(result.notebook)
    if damage is not unchanged and damage.__name__ in (
        "repeat_an_answer",
        "delete_checks",
        "repeat_a_check",
        "edit_a_check",
        "lose_metadata",
        "come_from_colab",
        "split_an_answer",
    ):
        assert result.notes


def halves(raw, *texts):
    """Split the written answer into cells that keep its name."""
    at = position(raw, "why")
    parts = [copy.deepcopy(raw["cells"][at]) | {"source": text} for text in texts]
    raw["cells"][at : at + 1] = parts


@pytest.mark.parametrize(
    ("texts", "expected", "is_doubtful"),
    [
        (("One half.", "The other."), "One half.\n\nThe other.", True),
        (("The same.", "The  same."), "The  same.", False),
        (("A half.", "A half. And more."), "A half. And more.", False),
        ((None, "Written below."), "Written below.", False),
    ],
)
def test_a_written_answer_in_several_cells_is_joined(
    texts, expected, is_doubtful, handed_in, tiny_unit, tmp_path
):
    stub = next(c.source for c in tiny_unit.released.cells if grade_id(c) == "why")
    halves(handed_in, *(stub if text is None else text for text in texts))
    result = repaired(tiny_unit, handed_in, tmp_path)
    assert answers_of(result)["why"] == expected
    assert any("why" in note for note in result.doubtful) == is_doubtful
    assert any("2 times" in note for note in result.notes)


def test_pictures_stay_with_their_cells(handed_in, tiny_unit, tmp_path):
    picture = {"x.png": {"image/png": "iVBORw0KGgo="}}
    halves(handed_in, "One.", "Two.")
    handed_in["cells"][position(handed_in, "why") + 1]["attachments"] = picture
    own = {"cell_type": "markdown", "source": "own", "metadata": {}}
    handed_in["cells"].append(own | {"attachments": picture})
    notebook = repaired(tiny_unit, handed_in, tmp_path).notebook
    found = [c for c in notebook.cells if c.get("attachments") == picture]
    assert [cell.source for cell in found] == ["One.\n\nTwo.", "own"]
    nbformat.validate(notebook)


def test_cells_that_are_run(handed_in, tiny_unit, tmp_path):
    handed_in["cells"].insert(3, code("helper = 1", tags=["skip-execution", "demo"]))
    sources = cells_to_run(repaired(tiny_unit, handed_in, tmp_path).notebook)
    assert "helper = 1" in sources
    assert ANSWERS["double"] in sources
    text = "\n".join(sources)
    for not_run in ("keep the shape", "demonstrations are not run"):
        assert not_run not in text


def test_changes_in_our_own_cells(handed_in, tiny_unit, tmp_path):
    imports = next(c for c in handed_in["cells"] if c["id"] == "imports")
    imports["source"] += "\nimport math"
    demo = next(
        c for c in handed_in["cells"] if "demo" in c["metadata"].get("tags", [])
    )
    demo["source"] = "def helper():\n    return 1\nhelper()\nwhile True: pass"
    handed_in["cells"][position(handed_in, "double-check")]["source"] = "HACK = 1"
    sources = cells_to_run(repaired(tiny_unit, handed_in, tmp_path).notebook)
    assert any(source.endswith("import math") for source in sources)
    assert "def helper():\n    return 1" in sources
    assert not any("HACK" in source or "while True" in source for source in sources)


def test_an_answer_above_its_untouched_cell(handed_in, tiny_unit, tmp_path):
    at = position(handed_in, "double")
    stub = next(c for c in tiny_unit.released.cells if grade_id(c) == "double")
    handed_in["cells"][at]["source"] = stub.source
    handed_in["cells"].insert(at, code(ANSWERS["double"]))
    result = repaired(tiny_unit, handed_in, tmp_path)
    assert answers_of(result)["double"] == ANSWERS["double"]
    assert "double: written in a different cell" in "; ".join(result.notes)


def test_two_different_answers_are_doubtful(handed_in, tiny_unit, tmp_path):
    again = copy.deepcopy(handed_in["cells"][position(handed_in, "double")])
    again["source"] = "def double(x):\n    return x + x"
    handed_in["cells"].append(again)
    result = repaired(tiny_unit, handed_in, tmp_path)
    assert answers_of(result)["double"] == again["source"]
    assert result.doubtful


def test_the_released_notebook_is_unwritten(tiny_unit, tmp_path):
    raw = json.loads(nbformat.writes(tiny_unit.released))
    result = repaired(tiny_unit, raw, tmp_path)
    assert result.unwritten >= {"double", "quadruple", "scaler"}
    assert result.notes == []


def test_a_missing_answer_is_no_silent_zero(handed_in, tiny_unit, tmp_path):
    handed_in["cells"].pop(position(handed_in, "scaler"))
    result = repaired(tiny_unit, handed_in, tmp_path)
    assert "scaler" in result.unwritten
    assert result.doubtful == ["scaler: no answer was found"]

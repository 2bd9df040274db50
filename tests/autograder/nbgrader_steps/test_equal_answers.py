"""Formgrader's page has links to submissions with an equal answer."""

from pathlib import Path

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from autograder.nbgrader_steps.equal_answers import (
    MOST_LINKS,
    ShowEqualAnswers,
    keep_equal_answers,
)

RESOURCES = {"assignment_id": "01_tiny", "submission_id": "a"}


def shown(root: Path, **resources: str) -> list[str]:
    answer = new_markdown_cell("idk", metadata={"nbgrader": {"grade_id": "why"}})
    notebook = new_notebook(cells=[new_markdown_cell("Why?"), answer])
    step = ShowEqualAnswers(root=str(root))
    return [cell.source for cell in step.preprocess(notebook, resources)[0].cells]


def test_the_links_are_above_the_answer(tmp_path: Path) -> None:
    assert shown(tmp_path, **RESOURCES) == ["Why?", "idk"]  # no tables yet
    keep_equal_answers(tmp_path, "01_tiny", {"why": [["a", "b", "c"], ["d", "e"]]})
    _, links, answer = shown(tmp_path, **RESOURCES)
    assert "equal answer: 2.** [1](../b/) [2](../c/)" in links
    assert answer == "idk"


@pytest.mark.parametrize(
    "resources",
    [{}, RESOURCES | {"submission_id": "z"}, RESOURCES | {"assignment_id": "02"}],
)
def test_other_pages_have_no_links(tmp_path: Path, resources: dict[str, str]) -> None:
    keep_equal_answers(tmp_path, "01_tiny", {"why": [["a", "b"]]})
    assert shown(tmp_path, **resources) == ["Why?", "idk"]


def test_many_links_are_cut(tmp_path: Path) -> None:
    group = ["a", *map(str, range(MOST_LINKS + 2))]
    keep_equal_answers(tmp_path, "01_tiny", {"why": [group]})
    links = shown(tmp_path, **RESOURCES)[1]
    assert links.count("](../") == MOST_LINKS
    assert " and 2 more" in links

"""A class with Korean notebooks gets the same scores as in English.

`test_in_step.py` tests that the code of every unit's Korean notebook equals that of the
English one.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autograder.assemble.translation import translate_submissions
from autograder.course import load_course
from autograder.grading.language import language_of
from autograder.grading.submission import grade_submission
from autograder.nbgrader_steps.feedback_words import translate_checks
from autograder.proof.sample_class import write_sample_class
from autograder.sandbox.fork_server_client import ForkServerClient
from autograder.translations.feedback_catalogues import feedback_table
from autograder.unit import Submission, graded_unit

WHOLE = "04_attention"
SOME = {"damaged", "half-done", "mistake-1", "untouched"}
SLOW = {"looping"}  # endless loops take as long in any language
COURSE = load_course()


def assert_as_in_english(
    slug: str,
    folder: Path,
    parent: ForkServerClient | None,
    some: set[str] | None = None,
) -> dict[str, float]:
    """Grade a class of Korean notebooks, whole or in part, and return the scores."""
    expected = write_sample_class(slug, folder)
    translate_submissions(COURSE, COURSE.unit(slug), folder, "ko")
    unit = graded_unit(slug)
    table = feedback_table(COURSE.root, "ko", slug)
    scores = {}
    for student in some or expected.keys() - SLOW:
        path = folder / student / slug / f"{slug}.ipynb"
        graded = grade_submission(unit, Submission(student, slug, path), parent=parent)
        scores[student] = graded.score
        assert graded.notebook is not None
        assert language_of(graded.notebook) == "ko", student
        translate_checks(graded.notebook, table)
        text = json.dumps(graded.notebook.cells)  # the record keeps English templates
        assert "should not equal" not in text
        assert "keys times queries" not in text
    assert scores == {who: expected[who]["score"] for who in scores}
    return scores


@pytest.mark.integration
def test_korean_notebooks_are_graded_as_english_ones(tmp_path: Path) -> None:
    scores = assert_as_in_english(WHOLE, tmp_path, None, SOME)
    assert len(set(scores.values())) > 2

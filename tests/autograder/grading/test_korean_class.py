"""A class of unit 04 that fills in the Korean notebook gets the English scores."""

from __future__ import annotations

from pathlib import Path

import nbformat
import pytest

from autograder.assemble.translation import translate_submissions
from autograder.course import load_course
from autograder.grading.editions import language_of
from autograder.grading.submission import grade_submission
from autograder.nbgrader_steps.feedback_words import phrases_for, put_into_words
from autograder.proof.sample_class import write_sample_class
from autograder.sandbox.warm_parent import WarmParent
from autograder.unit import Submission, graded_unit

UNIT = "04_attention"
SLOW = {"looping"}  # what never ends is as slow in any language
COURSE = load_course()


@pytest.mark.slow
def test_korean_notebooks_get_the_scores_of_english_ones(
    tmp_path: Path, parent: WarmParent
) -> None:
    expected = write_sample_class(UNIT, tmp_path)
    translate_submissions(COURSE, COURSE.unit(UNIT), tmp_path, "ko")
    unit = graded_unit(UNIT)
    phrases = phrases_for(COURSE.root, "ko", UNIT)
    scores = {}
    for student in expected.keys() - SLOW:
        path = tmp_path / student / UNIT / f"{UNIT}.ipynb"
        graded = grade_submission(unit, Submission(student, UNIT, path), parent=parent)
        scores[student] = graded.score
        assert graded.notebook is not None
        assert language_of(graded.notebook) == "ko", student
        put_into_words(graded.notebook, phrases)
        text = nbformat.writes(graded.notebook)
        assert "is not right: it equals" not in text
        assert "keys against queries" not in text
    assert scores == {who: expected[who]["score"] for who in scores}
    assert len(scores) == 11 and len(set(scores.values())) > 4

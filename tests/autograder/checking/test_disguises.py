"""What would be the whole answer earns nothing, however it is spelled."""

from dataclasses import dataclass
from functools import partial

import nbformat
import pytest
from disguises import BEFORE, LOOKS, SPELLINGS, disguised, who_looks

from autograder.checking.expect import BANNED
from autograder.course import load_course
from autograder.grading.points import run_checks, score_of, scores_of
from autograder.grading.submission import grade_submission
from autograder.sandbox import LocalStudent
from autograder.sandbox.fork_server_client import ForkServerClient
from autograder.sandbox.limits import Limits
from autograder.sandbox.submission_runner import SubmissionRunner
from autograder.unit import Submission, graded_unit

PATIENT = Limits(cell_seconds=60, exercise_seconds=60, submission_seconds=300)


@dataclass(frozen=True)
class Exercise:
    """An exercise, a built-in that is its whole answer, and answers around a call."""

    unit: str
    name: str
    built_in: str
    before: str
    answer: str


ATTENTION = Exercise(
    "04_attention",
    "scaled-dot-product-attention",
    "torch.nn.functional.scaled_dot_product_attention",
    "from transformer.attention import attention_scores, masked_softmax\n",
    "def scaled_dot_product_attention(query, key, value, mask=None, dropout=0.0):\n"
    "    weights = masked_softmax(attention_scores(query, key), mask)\n"
    "    return {call}(query, key, value, mask, dropout), weights\n",
)
LAYER_NORM = Exercise(
    "06_feed_forward",
    "layer-norm",
    "torch.nn.functional.layer_norm",
    "import torch\n",
    "def layer_norm(x, gamma, beta, eps=1e-5):\n"
    "    return {call}(x, x.shape[-1:], gamma, beta, eps)\n",
)
BLEU = Exercise(
    "11_inference",
    "corpus-bleu",
    "torchtext.data.metrics.bleu_score",
    "import torch\n",
    "def corpus_bleu(hypotheses, references, max_n=4):\n"
    "    several = [r if r and isinstance(r[0], (list, tuple)) else [r]\n"
    "               for r in references]\n"
    "    return 100 * {call}(hypotheses, several, max_n, [1 / max_n] * max_n)\n",
)
EXERCISES = {"04": ATTENTION, "06": LAYER_NORM, "11": BLEU}


RIGHT = (
    "def layer_norm(x, gamma, beta, eps=1e-5):\n"
    "    centred = x - x.mean(-1, keepdim=True)\n"
    "    variance = (centred**2).mean(-1, keepdim=True)\n"
    "    return gamma * centred / (variance + eps).sqrt() + beta\n"
)


def results_of(exercise: Exercise, make, *cells: str):
    unit, students = graded_unit(exercise.unit), make(exercise.before, *cells)
    return run_checks(unit, students, only={exercise.name})


def local(*cells: str) -> LocalStudent:
    return LocalStudent(cells)


def in_a_child_of(parent: ForkServerClient):
    return lambda *cells: SubmissionRunner(parent, list(cells), {}, PATIENT)


def is_by_you(result) -> bool:
    return result.title.startswith("Written by you")


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("number", EXERCISES)
def test_a_disguise_earns_nothing(number, spelling):
    exercise = EXERCISES[number]
    cell, call = disguised(spelling, exercise.built_in)
    results = results_of(exercise, local, cell, exercise.answer.format(call=call))
    assert score_of(results) == 0
    assert {r.mistake for r in results if is_by_you(r)} == {BANNED}
    forfeited = [r for r in results if r.message.startswith("Does not count: ")]
    assert forfeited


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("number", EXERCISES)
def test_who_does_otherwise_where_it_is_watched_earns_nothing(number, look):
    exercise = EXERCISES[number]
    cell, call = who_looks(look, exercise.built_in)
    results = results_of(exercise, local, cell, exercise.answer.format(call=call))
    assert score_of(results) == 0
    assert not any(result.status == "passed" for result in results if result.points)


def test_a_wrong_answer_has_the_same_points_watched_or_not():
    wrong = RIGHT.replace("/ (variance + eps)", "/ (variance + 1e-5)")
    results = results_of(LAYER_NORM, local, wrong)
    failed = [r.title for r in results if r.status != "passed"]
    assert 0 < len(failed) < len(results)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.grading.running._fails_watched", lambda ran: False)
        assert results_of(LAYER_NORM, local, wrong) == results


@pytest.mark.parametrize("magic", BEFORE)
def test_a_magic_hides_nothing_and_costs_nothing(magic, parents):
    built_in = "torch.nn.functional.layer_norm"
    run = partial(results_of, LAYER_NORM, in_a_child_of(parents("none")))
    hidden = run(BEFORE[magic] + LAYER_NORM.answer.format(call=built_in))
    assert score_of(hidden) == 0
    assert {r.mistake for r in hidden if is_by_you(r)} == {BANNED}
    right = run(BEFORE[magic] + RIGHT)
    assert [r.message for r in right if r.status != "passed"] == []


@pytest.mark.parametrize(
    "broken", ["def half(:", "%%bash\nls", "%%time\nx = (", "!ls\n" * 900, "%%"]
)
def test_another_cell_that_cannot_be_read_costs_nothing(broken, parents):
    make = in_a_child_of(parents("none"))
    results = results_of(LAYER_NORM, make, broken, RIGHT)
    assert [r.message for r in results if r.status != "passed"] == []


def test_an_answer_that_cannot_be_read_fails_its_check_alone():
    unreadable = f"exec({RIGHT!r})"
    failed = [r for r in results_of(LAYER_NORM, local, unreadable) if r.points == 0]
    assert [r.title for r in failed] == ["Written by you"]
    assert "cannot be read: define it in its cell" in failed[0].message


@pytest.mark.integration
@pytest.mark.parametrize(
    "spelling", ["plain", "pickle", "exec_decoded", "ends_the_watch", "forked"]
)
def test_a_disguise_earns_nothing_from_end_to_end(spelling, parents, tmp_path):
    course = load_course()
    unit = course.unit(ATTENTION.unit)
    notebook = nbformat.read(course.answer_notebook(unit), as_version=4)
    cell, call = disguised(spelling, ATTENTION.built_in)
    for one in notebook.cells:
        if one.metadata.get("nbgrader", {}).get("grade_id") == ATTENTION.name:
            one.source = f"{cell}\n{ATTENTION.answer.format(call=call)}"
    path = tmp_path / f"{unit.slug}.ipynb"
    nbformat.write(notebook, path)
    outcome = grade_submission(
        graded_unit(unit.slug),
        Submission("ada", unit.slug, path),
        PATIENT,
        parents("sandbox"),
    )
    scores = scores_of(outcome.results)
    assert scores.pop(ATTENTION.name) == 0
    lost = [r.message for r in outcome.results if r.exercise in scores and not r.points]
    assert lost == []

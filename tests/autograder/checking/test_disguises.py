"""A built-in that is the whole answer earns nothing, whatever its spelling."""

from dataclasses import dataclass
from functools import partial

import nbformat
import pytest
from disguises import BEFORE, SPELLINGS, disguised, who_falls_back

from autograder.checking.expect import BANNED
from autograder.course import load_course
from autograder.grading import running
from autograder.grading.check_results import score_of, scores_of
from autograder.grading.points import run_checks
from autograder.grading.submission import grade_submission
from autograder.sandbox.fork_server_client import ForkServerClient
from autograder.sandbox.kit import folder_files
from autograder.sandbox.limits import Limits
from autograder.sandbox.submission_proxy import SubmissionProxy
from autograder.sandbox.submission_runner import SubmissionRunner
from autograder.unit import Submission, graded_unit

PATIENT = Limits(cell_seconds=60, exercise_seconds=60, submission_seconds=300)


@dataclass(frozen=True)
class Exercise:
    """An exercise, a built-in that is its whole answer, and answers with a call."""

    unit: str
    name: str
    built_in: str
    before: str
    answer: str


ATTENTION = Exercise(
    "04_attention",
    "scaled-dot-product-attention",
    "torch.nn.functional.scaled_dot_product_attention",
    "import torch\n"
    "def attention_scores(query, key):\n"
    "    return query @ key.transpose(-2, -1) / query.size(-1) ** 0.5\n"
    "def masked_softmax(scores, mask):\n"
    "    if mask is not None:\n"
    "        scores = scores.masked_fill(~mask, -torch.inf)\n"
    "    return scores.softmax(-1).nan_to_num()\n",
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

# Right answers with the built-in before or after the answer.
EXPERIMENTS = {
    "compared": (
        "",
        "assert torch.nn.functional.layer_norm(torch.ones(2), (2,)).any()",
    ),
    "first": (
        "wanted = torch.nn.functional.layer_norm(torch.ones(2), (2,))\nEPS = 1",
        "",
    ),
    "module": ("norm = torch.nn.LayerNorm(4)\nnorm(torch.ones(2, 4))", "print(norm)"),
    "shell": (
        "!ls",
        "%timeit -n1 -r1 torch.nn.functional.rms_norm(torch.ones(4), (4,))",
    ),
    "thread": (
        "import threading\nworker = threading.Thread(target=print)\nworker.start()",
        "worker.join()",
    ),
    "imported": (
        "from torch.nn.functional import layer_norm as theirs",
        "print(theirs)",
    ),
}


def results_of(exercise: Exercise, parent: ForkServerClient, *cells: str):
    unit = graded_unit(exercise.unit)
    files = folder_files(unit.kit)
    students = SubmissionRunner(parent, [exercise.before, *cells], files, PATIENT)
    return run_checks(unit, students, only={exercise.name})


def is_by_you(result) -> bool:
    return result.title.startswith("Written by you")


SOME = ["plain", "getattr_computed", "thread", "code_of_the_file"]
CASES = [
    pytest.param(number, spelling, marks=[] if spelling in SOME else pytest.mark.slow)
    for number, spellings in {"04": SOME[:1], "06": SPELLINGS, "11": SOME[:1]}.items()
    for spelling in spellings
]


@pytest.mark.parametrize(("number", "spelling"), CASES)
def test_a_disguise_earns_nothing(number, spelling, parents):
    exercise, parent = EXERCISES[number], parents("none")
    cell, call = disguised(spelling, exercise.built_in)
    cells = cell, exercise.answer.format(call=call)
    assert score_of(results_of(exercise, parent, *cells)) == 0
    with pytest.MonkeyPatch.context() as patch:  # this would work
        patch.setattr(SubmissionProxy, "without", lambda *_: None)
        patch.setattr(running, "expect_no_call", lambda *_: None)
        assert score_of(results_of(exercise, parent, *cells)) > 0


OTHERS = [
    Exercise(
        "01_recurrent_attention",
        "gru-step",
        "torch.gru_cell",
        "import torch\n",
        "def gru_step(x, state, w_x, w_state, b_x, b_state):\n"
        "    return {call}(x, state, w_x, w_state, b_x, b_state)\n",
    ),
    Exercise(
        "02_embeddings",
        "lookup-gradient",
        "torch.func.vjp",
        "import torch\n",
        "def lookup_gradient(ids, upstream, vocab_size):\n"
        "    table = upstream.new_zeros(vocab_size, upstream.size(-1))\n"
        "    return {call}(lambda table: table[ids], table)[1](upstream)[0]\n",
    ),
]


@pytest.mark.parametrize("exercise", OTHERS, ids=lambda one: one.name)
def test_other_exercises_miss_their_built_in_too(exercise, parents):
    cell, call = disguised("vars_get", exercise.built_in)
    answer = exercise.answer.format(call=call)
    results = results_of(exercise, parents("none"), cell, answer)
    assert score_of(results) == 0
    assert BANNED in {result.mistake for result in results}


@pytest.mark.parametrize("number", EXERCISES)
def test_who_hides_that_a_built_in_is_missing_earns_nothing(number, parents):
    exercise, parent = EXERCISES[number], parents("none")
    cell, call = who_falls_back(exercise.built_in)
    results = results_of(exercise, parent, cell, exercise.answer.format(call=call))
    assert score_of(results) == 0
    assert not any(result.status == "passed" for result in results if result.points)


def test_who_ends_its_process_before_the_last_check_earns_nothing(parents):
    cell, call = disguised("vars_get", LAYER_NORM.built_in)
    ends = "    calls.append(1)\n    if len(calls) > 5:\n        os._exit(0)\n"
    head, body = LAYER_NORM.answer.split("\n", 1)
    answer = f"{head}\n{ends}{body}".format(call=call)
    cells = cell, f"import os\ncalls = []\n{answer}"
    results = results_of(LAYER_NORM, parents("none"), *cells)
    assert "not run" in {result.status for result in results}
    assert score_of(results) == 0


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_an_experiment_with_the_built_in_costs_nothing(experiment, parents):
    before, after = EXPERIMENTS[experiment]
    parent = parents("none")
    results = results_of(LAYER_NORM, parent, f"{before}\n{RIGHT}\n{after}")
    assert [r.message for r in results if r.status != "passed"] == []


@pytest.mark.parametrize("magic", BEFORE)
def test_a_magic_hides_nothing_and_costs_nothing(magic, parents):
    built_in = "torch.nn.functional.layer_norm"
    run = partial(results_of, LAYER_NORM, parents("none"))
    hidden = run(BEFORE[magic] + LAYER_NORM.answer.format(call=built_in))
    assert score_of(hidden) == 0
    assert {r.mistake for r in hidden if is_by_you(r)} == {BANNED}
    right = run(BEFORE[magic] + RIGHT)
    assert [r.message for r in right if r.status != "passed"] == []


@pytest.mark.parametrize(
    "broken", ["def half(:", "%%bash\nls", "%%time\nx = (", "!ls\n" * 900, "%%"]
)
def test_another_cell_that_cannot_be_read_costs_nothing(broken, parents):
    parent = parents("none")
    results = results_of(LAYER_NORM, parent, broken, RIGHT)
    assert [r.message for r in results if r.status != "passed"] == []


def test_an_answer_that_cannot_be_read_fails_its_check_alone(parents):
    parent = parents("none")
    unreadable = f"exec({RIGHT!r})"
    failed = [r for r in results_of(LAYER_NORM, parent, unreadable) if r.points == 0]
    assert [r.title for r in failed] == ["Written by you"]
    assert "cannot be read: define it in its cell" in failed[0].message


@pytest.mark.integration
@pytest.mark.parametrize("spelling", ["plain", "pickle", "exec_decoded", "forked"])
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

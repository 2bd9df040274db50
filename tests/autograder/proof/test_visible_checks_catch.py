"""A visible check fails for the mistakes that a reader once made unnoticed."""

from functools import cache

import nbformat
import pytest

from autograder.course import load_course
from autograder.proof.judging import variants_file
from autograder.proof.variants.registry import Variant, load_variants
from autograder.proof.variants.substitution import substitute

COURSE = load_course()
MISTAKES = {
    "01": {
        "shift-right": ["floats", "in place: the target is overwritten"],
        "additive-score": [
            "the first sentence's state for all",
            "the states dealt out to the wrong sentences",
        ],
        "attend": [
            "a softmax by hand that overflows",
            "divided by the root of the width",
            "changed in place",
            "squeeze without an axis",
            "the context alone",
            "log-softmax",
            "a softmax over the batch",
            "the scores, not the weights",
            "masking after the softmax without dividing by the new sum",
        ],
        "bilstm-attention": [
            "the logits alone",
            "the output at the first word for a query",
            "the output at the last word for a query",
            "scaled",
            "context not fed to the output",
            "context and query summed",
            "equal weights",
        ],
    },
    "02": {
        "build-vocabulary": [
            "alphabetical order",
            "most_common alone",
            "special tokens counted as words",
            "the default special tokens",
            "lower case",
            "reads the sentences twice",
        ],
        "one-hot-embedding": ["detached lookup", "a new tensor of the rows"],
        "lookup-gradient": ["a table in float32"],
    },
    "03": {
        "sinusoidal-encoding": ["one exponent a column"],
    },
    "04": {
        "attention-scores": ["view for the transpose of the keys"],
        "masked-softmax": [
            "a softmax over the heads",
            "a softmax by hand that overflows",
            "zeros only where the whole mask is closed",
            "changed in place",
        ],
        "scaled-dot-product-attention": [
            "without the division by √d_k",
            "division by d_k",
            "dropout is ignored",
            "dropout of the output",
            "the weights after the dropout",
            "the output alone",
        ],
    },
    "05": {
        "multi-head-attention": [
            "the output alone",
            "dropout in evaluation",
            "values made from the keys' input",
            "the mean of the heads' weights, for every head",
            "dropout is ignored",
        ],
        "count-parameters": ["frozen parameters", "the state, buffers too"],
    },
    "06": {
        "positionwise-feed-forward": ["without the ReLU", "a ReLU on the output too"],
        "conv-feed-forward": ["without the ReLU", "a ReLU on the output too"],
        "layer-norm": ["ε outside the root", "1e-5, whatever is asked for"],
        "add-norm": [
            "pre-norm, what f adds normalised once more",
            "dropout of the sum",
            "dropout is ignored",
        ],
    },
    "07": {
        "padding-mask": [
            "another pad id: 1",
            "ids > pad_id",
            "zeros and ones",
            "made on the CPU",
            "lengths against positions: right for padding behind",
        ],
        "causal-mask": ["zeros and ones", "made on the CPU"],
        "target-mask": ["another pad id", "zeros and ones", "made on the CPU"],
        "mask-then-renormalise": [
            "NaN in the gradient",
            "in place",
            "divided by the number of keys",
        ],
    },
    "08": {
        "encoder-layer": [
            "the feed-forward alone",
            "attention alone",
            "one LayerNorm for all",
            "feed-forward before attention",
            "the residual connection twice",
            "attention of x, worked out beforehand",
            "keys and values from x, the query from the norm",
        ],
        "encoder": ["no last normalisation", "a normalisation after each layer"],
        "layer-states": ["without the mask", "the last one normalised"],
    },
    "10": {
        "transformer-forward": ["no source mask anywhere"],
        "label-smoothed-loss": [
            "spread over the other words",
            "smoothing added",
            "smoothing summed over the words",
            "smoothing at padding too",
            "log of softmax",
            "padding counted",
            "mean of sentence means",
            "zeros at padding, then the mean",
        ],
        "train-step": [
            "no zero_grad",
            "zero_grad after backward",
            "no clipping",
            "clipping after the update",
            "clipping by value",
            "each parameter clipped",
            "the loss alone",
            "no label smoothing",
            "the loss after the update",
        ],
        "average-checkpoints": ["sums in float32", "the last counter itself"],
    },
    "11": {
        "greedy-decode": [
            "the argmax of the first position",
            "goes on writing after <eos> in a batch",
            "stops when the first sentence ends",
            "never stops at <eos>",
            "<eos> again in place of padding",
        ],
        "beam-cut": [
            "length penalty forgotten",
            "length penalty multiplied",
            "the penalty for what comes back alone",
            "k greedy searches side by side",
            "parent and word exchanged",
            "place // k and place % k",
            "the divided worth as log-probability",
        ],
        "beam-search": [
            "the length of the last step",
            "penalty at the end alone",
            "repeat in place of repeat_interleave",
            "rows chosen without the sentence",
            "the memory's rows stay where they were",
            "stops when the best hypothesis is finished",
            "never stops",
        ],
        "decode-step-cached": [
            "no masks",
            "cross-attention unmasked",
            "asks with the layer's input",
            "one normalisation for all",
        ],
        "ngram-precision": ["references added up", "clipped over the whole corpus"],
        "corpus-bleu": [
            "a penalty for what is too long too",
            "an arithmetic mean",
            "the mean of the sentences' scores",
            "always up to 4",
            "the shortest reference's length",
            "the first reference's length",
        ],
    },
    "13": {
        "sentence-losses": [
            "the model is left in train() mode",
            "the mean of each sentence",
            "the loss in bits",
            "the model reads what it must predict",
        ],
        "bleu-by-length": ["arguments swapped"],
        "bootstrap-interval": ["90 of 100", "half of the scores"],
        "copy-unknown-words": [
            "the last layer alone",
            "the first head alone",
            "it writes into the list it was given",
        ],
    },
}
TOLD_APART = [
    (
        "10",
        "label-smoothed-loss",
        [
            "padding counted",
            "mean of sentence means",
            "zeros at padding, then the mean",
        ],
    ),
    (
        "10",
        "train-step",
        [
            "no zero_grad",
            "zero_grad after backward",
            "no clipping",
            "clipping by value",
            "each parameter clipped",
            "the mode left as it is",
        ],
    ),
]
CASES = [
    (number, exercise, mistake)
    for number, exercises in MISTAKES.items()
    for exercise, mistakes in exercises.items()
    for mistake in mistakes
]


@cache
def cells_of(number: str) -> dict[str, str]:
    """Return the code cells of a unit's answer notebook by their id; no demos."""
    (unit,) = (unit for unit in COURSE.units if unit.slug.startswith(number))
    notebook = nbformat.read(COURSE.answer_notebook(unit), as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    demos = [cell for cell in cells if "demo" in cell.metadata.get("tags", [])]
    return {cell.id: cell.source for cell in cells if cell not in demos}


@cache
def variants_of(number: str) -> list[Variant]:
    """Load the variants of a unit once."""
    (unit,) = (unit for unit in COURSE.units if unit.slug.startswith(number))
    return list(load_variants(variants_file(COURSE, unit)))


def variant_of(number: str, answer: str, mistake: str) -> Variant:
    """Return the wrong variant of an answer cell with this description."""
    (found,) = (
        variant
        for variant in variants_of(number)
        if (variant.kind, variant.description) == ("wrong", mistake)
        and any(
            f"{word} {variant.replaces.partition('.')[0]}(" in answer
            for word in ("def", "class")
        )
    )
    return found


def run_visible_check(number: str, exercise: str, mistake: str | None) -> None:
    """Run the imports, one answer, right or wrong, and its visible check."""
    cells = cells_of(number)
    before = list(cells).index(f"{exercise}-check")
    names = [name for name in list(cells)[:before] if not name.endswith("-check")]
    sources = [cells[name] for name in names if name != "setup"]
    if mistake:
        sources = substitute(sources, variant_of(number, cells[exercise], mistake))
    space: dict = {}
    for source in [*sources, cells[f"{exercise}-check"]]:
        exec(source, space)


@pytest.mark.parametrize(("number", "exercise", "mistake"), CASES)
def test_the_visible_check_fails(number: str, exercise: str, mistake: str) -> None:
    with pytest.raises(AssertionError) as caught:
        run_visible_check(number, exercise, mistake)
    assert len(str(caught.value).split()) > 4  # it says in words what is wrong


@pytest.mark.parametrize(("number", "exercise", "mistakes"), TOLD_APART)
def test_the_visible_check_tells_mistakes_apart(
    number: str, exercise: str, mistakes: list[str]
) -> None:
    said = set()
    for mistake in mistakes:
        with pytest.raises(AssertionError) as caught:
            run_visible_check(number, exercise, mistake)
        said.add(str(caught.value))
    assert len(said) == len(mistakes)


@pytest.mark.parametrize(
    ("exercise", "mistakes"),
    [
        ("attend", MISTAKES["01"]["attend"][-4:]),
        ("shift-right", ["not shifted at all", "in place: the target is overwritten"]),
    ],
)
def test_mistakes_of_unit_01_are_told_apart(exercise: str, mistakes: list[str]) -> None:
    words = set()
    for mistake in mistakes:
        with pytest.raises(AssertionError) as caught:
            run_visible_check("01", exercise, mistake)
        words.add(str(caught.value).partition("\n")[0])
    assert len(words) == len(mistakes), words


@pytest.mark.parametrize(
    ("number", "exercise"),
    sorted({(number, exercise) for number, exercise, _ in CASES}),
)
def test_the_answer_passes(number: str, exercise: str) -> None:
    run_visible_check(number, exercise, None)


@pytest.mark.parametrize("number", MISTAKES)
def test_a_visible_check_has_at_most_twenty_lines(number: str) -> None:
    for name, source in cells_of(number).items():
        assert not name.endswith("-check") or len(source.splitlines()) <= 20, name

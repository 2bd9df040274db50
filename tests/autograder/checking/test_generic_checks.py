"""Checks find mistakes that the result of a call does not show, and only these."""

from functools import partial

import pytest
import torch

from autograder.checking import generic_checks
from autograder.checking.expect import CheckFailed
from autograder.checking.failures import StudentError
from autograder.checking.generic_checks import (
    expect_checkpointed,
    expect_each_call_anew,
    expect_gradients_of_two_calls,
    expect_no_seed,
    expect_no_traces,
    expect_raises,
    expect_same_device,
    method_of,
)
from autograder.sandbox import LocalStudent

CELLS = [
    """
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

kept, buffer, cached, calls = {}, torch.zeros(3), [], []

def double(x):
    return 2 * x

def keeps(x):
    if x.shape not in kept:
        kept[x.shape] = 2 * x
    return kept[x.shape]

def fixed(x):
    return torch.ones(3)

def one_buffer(x):
    return torch.mul(x, 2, out=buffer)

def pair(x):
    return 2 * x, x

def writes(x, mask):
    x.mul_(2)
    x.div_(2)
    return x

def writes_data(x, mask):
    x.data[0] = 7
    return x

def grows(x, mask):
    x.unsqueeze_(0)
    return x

def reads(x, mask):
    y = x.clone()
    y.mul_(2)
    return y.masked_fill_(mask, 0)

def stops_gradients(x):
    torch.set_grad_enabled(False)
    return x

def sets_dtype(x):
    torch.set_default_dtype(torch.float64)
    return x

def seeded(x):
    torch.manual_seed(0)
    return F.dropout(x, 0.5)

def seeds(x):
    torch.manual_seed(0)
    return x

def own_generator(x):
    generator = torch.Generator().manual_seed(0)
    return x * (torch.rand(x.shape, generator=generator) < 0.5)

def dropped(x):
    return F.dropout(x, 0.5)

def on_cpu(x):
    return x @ torch.ones(3, 3)

def a_mask_on_cpu(x):
    return x.masked_fill(torch.ones(3, dtype=torch.bool), 0.0)

def by_numpy(x):
    return torch.from_numpy(np.sqrt(x)).to(x.device)

def result_on_cpu(x):
    return torch.ones(x.shape)

def there(x):
    ones = torch.ones(3, 3, device=x.device) / torch.tensor(2.0)
    return (x @ ones)[:, torch.arange(2)] * torch.ones(2).to(x)

def needs_values(x):
    return x / x.sum().item() if x.any() else x

def copied_to_cpu(x):
    return torch.from_numpy(x.cpu().numpy()).to(x.device)

class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 3)
        self.register_buffer("table", torch.ones(3))
        self.plain = torch.ones(3)
    def forward(self, x):
        return self.linear(x) + self.table
    def lost(self, x):
        return x + self.plain

def checked(x, y):
    if x.size(-1) != y.size(-1):
        raise ValueError("widths differ")
    return x + y

def unchecked(x, y):
    return x[..., :2] + y[..., :2]

def unlike(x, y):
    raise KeyError(1)

def unwritten(x, y):
    raise NotImplementedError

def counts(x):
    calls.append(1)
    return x * len(calls)

def keeps_graph(x):
    if not cached:
        cached.append(3 * x)
    return cached[0] + 2 * x
"""
]
X, Y = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([4.0, 5.0, 7.0])
MASK = torch.tensor([True, False, True])
SQUARE = torch.ones(3, 3)


@pytest.fixture
def student():
    student = LocalStudent(CELLS)
    assert student.cell_errors == [None]
    yield student
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)


def mistake_of(run) -> str | None:
    with pytest.raises(CheckFailed) as caught:
        run()
    return caught.value.mistake or caught.value.guess


def test_what_is_kept_for_the_next_call_is_found(student):
    def run(name: str, part: int | None = None) -> None:
        function = getattr(student, name)
        calls = [(X,), (Y,)]
        expect_each_call_anew(
            student, function, calls, lambda x: 2 * x, "the output", part
        )

    run("double")
    run("pair", part=0)
    assert mistake_of(partial(run, "keeps")) == generic_checks.KEPT
    assert mistake_of(partial(run, "fixed")) == generic_checks.FIXED
    assert mistake_of(partial(run, "one_buffer")) == generic_checks.ONE_BUFFER
    assert mistake_of(partial(run, "on_cpu")) is None  # wrong code that stores nothing
    assert mistake_of(partial(run, "double", part=0)) is None


@pytest.mark.parametrize("name", ["writes", "writes_data", "grows"])
def test_writing_into_an_input_is_found_even_if_put_back(student, name):
    run = partial(expect_no_traces, student, getattr(student, name), X, MASK)
    assert mistake_of(run) == generic_checks.WRITTEN
    assert torch.equal(
        expect_no_traces(student, student.reads, X, MASK), torch.tensor([0.0, 4.0, 0.0])
    )


@pytest.mark.parametrize(
    ("name", "setting"),
    [
        ("stops_gradients", "whether PyTorch records gradients"),
        ("sets_dtype", "the default dtype"),
    ],
)
def test_a_setting_that_stays_changed_is_found(student, name, setting):
    getattr(student, name)(X)  # an earlier call hides no mistake
    run = partial(expect_no_traces, student, getattr(student, name), X)
    assert mistake_of(run) == f"a call that changes {setting} for good"


def test_drawing_is_found_only_where_nothing_may_be_drawn(student):
    expect_no_traces(student, student.dropped, X)
    expect_no_traces(student, student.double, X, still=True)
    run = partial(expect_no_traces, student, student.dropped, X, still=True)
    assert "random state of torch" in str(mistake_of(run))


def test_a_seed_that_is_set_in_each_call_is_found_in_the_second_too(student):
    for _ in range(2):
        run = partial(expect_no_traces, student, student.seeds, X, still=True)
        assert "random state of torch" in str(mistake_of(run))


def test_a_seed_in_the_code_is_found(student):
    many = torch.ones(200)
    expect_no_seed(student, student.dropped, many, draws=True)
    expect_no_seed(student, student.double, many)
    run = partial(expect_no_seed, student, student.seeded, many)
    assert mistake_of(run) == generic_checks.FIXED_SEED
    run = partial(expect_no_seed, student, student.own_generator, many, draws=True)
    assert mistake_of(run) == generic_checks.SAME_DRAWS


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        ("on_cpu", generic_checks.MADE_ON_CPU),
        ("a_mask_on_cpu", generic_checks.MADE_ON_CPU),
        ("result_on_cpu", generic_checks.MADE_ON_CPU),
        ("by_numpy", generic_checks.BY_NUMPY),
    ],
)
def test_tensors_on_the_cpu_are_found_without_a_gpu(student, name, mistake):
    function = getattr(student, name)
    run = partial(expect_same_device, student, function, SQUARE, what="the output")
    assert mistake_of(run) == mistake


@pytest.mark.integration
@pytest.mark.parametrize(
    "name", ["double", "there", "needs_values", "copied_to_cpu", "dropped"]
)
def test_what_works_on_a_gpu_is_not_blamed(student, name):
    expect_same_device(student, getattr(student, name), SQUARE, what="the output")


def test_a_module_is_moved_with_its_buffers(student):
    layer = student.Layer()
    expect_same_device(student, layer, SQUARE, what="the output")
    lost = method_of(student, layer, "lost")
    run = partial(expect_same_device, student, lost, SQUARE, what="the output")
    assert mistake_of(run) == generic_checks.MADE_ON_CPU
    assert layer(SQUARE).device.type == "cpu"  # the layer itself has not moved


def test_an_attribute_of_an_object_is_moved():
    cells = [
        "import torch\nfrom types import SimpleNamespace\n"
        "batch = SimpleNamespace(ids=torch.ones(2))\n"
        "def add(batch, x):\n    return batch.ids + x\n"
    ]
    student = LocalStudent(cells)
    batch = student.value("batch")
    expect_same_device(student, student.add, batch, torch.ones(2), what="the output")


def test_a_promised_error_that_does_not_come_is_found(student):
    wide = torch.ones(4)
    promise = {"kind": "ValueError", "what": "widths that differ"}
    expect_raises(student, student.checked, X, wide, **promise)
    expect_raises(student, student.checked, X, wide, kind="Exception", what="widths")
    run = partial(expect_raises, student, student.unchecked, X, wide, **promise)
    assert mistake_of(run) == generic_checks.NO_ERROR
    run = partial(expect_raises, student, student.unlike, X, wide, **promise)
    assert mistake_of(run) == generic_checks.OTHER_ERROR
    with pytest.raises(StudentError, match="not written"):
        expect_raises(student, student.unwritten, X, wide, **promise)


def test_code_that_runs_otherwise_a_second_time_is_found(student):
    expect_checkpointed(student, student.double, X, upstream=Y)
    expect_checkpointed(student, student.pair, X, upstream=Y, output=0)
    expect_checkpointed(student, student.Layer(), SQUARE, upstream=SQUARE)
    run = partial(expect_checkpointed, student, student.counts, X, upstream=Y)
    assert "runs it again" in str(mistake_of(run))


def test_what_a_call_leaves_in_the_graph_is_found(student):
    def right(x):
        return 2 * x

    rest = (X, Y, right, torch.ones(3))
    expect_gradients_of_two_calls(student, student.double, *rest)
    expect_gradients_of_two_calls(student, student.pair, *rest, part=0)
    run = partial(expect_gradients_of_two_calls, student, student.keeps_graph, *rest)
    assert mistake_of(run) == "a tensor that one call leaves for the next"

"""The student of a check is the same in this process and in a child."""

import random
from types import SimpleNamespace

import pytest
import torch
from torch import nn

from autograder.checking.expect import Callback
from autograder.checking.failures import StudentError

CELLS = """
import torch
from torch import nn

def double(x):
    return 2 * x

def pair(x, scale=1.0):
    return x * scale, {"sizes": list(x.shape), "n": len(x)}

def contiguous(x):
    return x.is_contiguous(), x.stride()

def spoil(x):
    x.mul_(0)
    return x.sum().item()

def unwritten(x):
    raise NotImplementedError("Write unwritten.")

def broken(x):
    return x @ torch.ones(7)

class Scaler(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.drop = nn.Dropout(0.5)
    def forward(self, x):
        return self.drop(x) * self.weight

def apply(module, x):
    return module(x)

def ask(model, x):
    return model.encode(x) + model.offset

def call(function, x):
    return function(x) + 1

def same(a, b):
    return a is b

def seeds_there():
    import random
    return torch.initial_seed(), torch.rand(4), random.random()

answer = 42
"""


@pytest.fixture
def student(students):
    with students(CELLS).fresh("any") as student:
        student.begin(0)
        yield student


def test_a_function_gets_copies_and_returns_values(student):
    x = torch.randn(2, 3)
    assert torch.equal(student.double(x), 2 * x)
    scaled, facts = student.pair(x, scale=3.0)
    assert torch.equal(scaled, 3 * x)
    assert facts == {"sizes": [2, 3], "n": 2}


def test_a_view_arrives_as_a_view(student):
    transposed = torch.randn(2, 3).transpose(0, 1)
    assert student.contiguous(transposed) == (False, (1, 3))
    assert student.contiguous(torch.randn(1, 3).expand(2, 3)) == (False, (0, 1))


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("unwritten", "not written", "unwritten is not written yet."),
        ("absent", "missing", "absent is not defined."),
        ("broken", "raised", "(line 21 of its cell: return x @ torch.ones(7))"),
        ("answer", "raised", "it is a int and cannot be called"),
    ],
)
def test_an_error_is_told_in_words(student, name, kind, words):
    with pytest.raises(StudentError) as caught:
        student[name](torch.ones(2, 3))
    assert caught.value.kind == kind
    assert words in str(caught.value)


def test_a_module_stays_behind_and_is_driven_by_its_handle(student):
    module = student.Scaler(3)
    assert module.parameters_by_name() == {"weight": (3,)}
    weight = torch.randn(3)
    module.load_state_dict({"weight": weight})
    assert torch.equal(module.state_dict()["weight"], weight)
    x = torch.randn(2, 3)
    module.eval()
    assert torch.equal(module(x), x * weight)
    assert module.attribute("training") is False
    module.double()
    assert module(x.double()).dtype == torch.float64
    assert torch.equal(student.apply(module, x.double()), x.double() * weight.double())


def test_draws_on_the_other_side_are_seeded_at_each_check(student):
    def draw(seed):
        student.begin(seed)
        return student.Scaler(50)(torch.ones(50))

    assert torch.equal(draw(1), draw(1))
    assert not torch.equal(draw(1), draw(2))


def test_a_check_s_draws_cannot_be_drawn_on_the_other_side(student):
    for seed in (0, 7, 2**31):
        student.begin(seed)
        seed_there, drawn, of_python = student.seeds_there()
        assert seed_there != seed
        for guess in (seed, seed_there):
            generator = torch.Generator().manual_seed(guess)
            assert torch.equal(torch.rand(4, generator=generator), drawn) == (
                guess == seed_there
            )
            assert random.Random(guess).random() != of_python or guess == seed_there


def test_gradients_of_inputs_and_parameters(student):
    module = student.Scaler(3)
    module.eval()
    x, upstream = torch.randn(2, 3), torch.randn(2, 3)
    run = student.gradients(module, x, upstream=upstream)
    assert torch.equal(run.inputs[0], upstream)
    assert torch.allclose(run.parameters["weight"], (x * upstream).sum(0))
    run = student.gradients(student.pair, x, upstream=upstream, scale=2.0)
    assert torch.equal(run.inputs[0], 2 * upstream)


def test_a_change_in_place_is_seen(student):
    x = torch.ones(3)
    result, (after,) = student.call_and_return_inputs(student.spoil, x)
    assert result == 0.0
    assert torch.equal(after, torch.zeros(3))
    assert torch.equal(x, torch.ones(3))


def test_torch_modules_can_be_made_on_the_other_side(student):
    linear = student.load("torch.nn.Linear")(3, 4)
    state = nn.Linear(3, 4).state_dict()
    linear.load_state_dict(state)
    x = torch.randn(2, 3)
    wanted = nn.functional.linear(x, state["weight"], state["bias"])
    assert torch.allclose(student.apply(linear, x), wanted)


def test_objects_of_the_check_can_be_handed_over(student):
    model = SimpleNamespace(encode=lambda x: 3 * x, secret="hidden")
    handed = Callback(model, methods=["encode"], attributes={"offset": 0.5})
    x = torch.ones(2)
    assert torch.equal(student.ask(handed, x), 3 * x + 0.5)
    assert torch.equal(student.call(lambda x: 5 * x, x), 5 * x + 1)
    assert student.same(handed, handed)


def test_values_and_sources(student):
    assert student.value("answer") == 42
    assert student.source("double").startswith("def double(x):")
    with pytest.raises(StudentError, match="absent is not defined"):
        student.source("absent")

"""Check unit 10's functions against PyTorch's own and against the paper's formulae."""

import math
from functools import partial

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from transformer.training.label_smoothing import label_smoothed_loss
from transformer.training.step import (
    StepSettings,
    average_checkpoints,
    perplexity,
    teacher_forcing_split,
    train_step,
    warmup_rate,
)

PAD = 1


def ragged_targets(generator: torch.Generator, vocab_size: int = 11) -> torch.Tensor:
    target = torch.randint(2, vocab_size, (3, 5), generator=generator)
    target[1, 3:] = PAD
    target[2, 1:] = PAD
    return target


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def test_split_shifts_by_one():
    tgt = torch.tensor([[2, 7, 8, 3], [2, 9, 3, PAD]])
    decoder_input, target = teacher_forcing_split(tgt)
    assert decoder_input.tolist() == [[2, 7, 8], [2, 9, 3]]
    assert target.tolist() == [[7, 8, 3], [9, 3, PAD]]


@pytest.mark.parametrize("shape", [(4,), (4, 1), (2, 3, 4)])
def test_split_refuses_what_holds_no_pair(shape):
    with pytest.raises(ValueError, match=r"\(batch, length\)"):
        teacher_forcing_split(torch.zeros(shape, dtype=torch.long))


@pytest.mark.parametrize("smoothing", [0.0, 0.1, 0.6, 1.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_loss_and_gradient_equal_cross_entropy(generator, smoothing, dtype):
    logits = torch.randn(3, 5, 11, generator=generator, dtype=dtype)
    logits = (4 * logits).requires_grad_()
    target = ragged_targets(generator)
    expected = F.cross_entropy(
        logits.transpose(1, 2), target, ignore_index=PAD, label_smoothing=smoothing
    )
    found = label_smoothed_loss(logits, target, PAD, smoothing)
    assert found.dtype == dtype
    torch.testing.assert_close(found, expected, rtol=1e-6, atol=1e-6)
    gradients = [torch.autograd.grad(x, logits)[0] for x in (found, expected)]
    torch.testing.assert_close(*gradients, rtol=1e-6, atol=1e-7)


def test_loss_does_not_see_padding(generator):
    logits = torch.randn(3, 5, 11, generator=generator)
    target = ragged_targets(generator)
    changed = torch.where((target == PAD).unsqueeze(-1), torch.nan, logits)
    expected = label_smoothed_loss(logits, target, PAD, 0.1)
    assert label_smoothed_loss(changed, target, PAD, 0.1) == expected


def test_loss_of_padding_alone_is_zero(generator):
    logits = torch.randn(2, 3, 11, generator=generator, requires_grad=True)
    loss = label_smoothed_loss(logits, torch.full((2, 3), PAD), PAD, 0.1)
    loss.backward()
    assert loss.item() == 0.0
    assert not logits.grad.any()


def test_loss_refuses_an_unshifted_target(generator):
    logits = torch.randn(2, 4, 11, generator=generator)
    with pytest.raises(ValueError, match="teacher_forcing_split"):
        label_smoothed_loss(logits, torch.zeros(2, 5, dtype=torch.long), PAD)


@pytest.mark.parametrize("smoothing", [-0.1, 1.5])
def test_loss_refuses_an_impossible_smoothing(generator, smoothing):
    logits = torch.randn(2, 4, 11, generator=generator)
    with pytest.raises(ValueError, match=f"found {smoothing}"):
        label_smoothed_loss(logits, logits.argmax(-1), PAD, smoothing)


def test_perplexity_counts_equally_likely_words():
    logits = torch.zeros(1, 3, 8)
    loss = label_smoothed_loss(logits, torch.tensor([[2, 3, 4]]), PAD)
    assert perplexity(loss.item()) == pytest.approx(8.0, rel=1e-6)
    assert perplexity(1000.0) == math.inf


def test_rate_is_that_of_the_paper():
    assert warmup_rate(1, 512, 4000) == pytest.approx(512**-0.5 * 4000**-1.5)
    assert warmup_rate(4000, 512, 4000) == pytest.approx(6.987712e-4, rel=1e-6)
    assert warmup_rate(16000, 512, 4000) == pytest.approx(6.987712e-4 / 2, rel=1e-6)


def test_rate_rises_then_falls():
    rates = [warmup_rate(step, 64, 10) for step in range(40)]
    assert rates[0] == 0.0
    assert rates.index(max(rates)) == 10
    assert rates[:11] == sorted(rates[:11])
    assert rates[10:] == sorted(rates[10:], reverse=True)


@pytest.mark.parametrize(
    "arguments", [(-1, 512, 4000), (1, 0, 4000), (1, 512, 0)], ids=str
)
def test_rate_names_what_is_wrong(arguments):
    with pytest.raises(ValueError, match="found step="):
        warmup_rate(*arguments)


class Copier(nn.Module):
    """Predict from only the decoder's input, with dropout to show the mode."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(11, 8)
        self.linear = nn.Linear(8, 11)
        self.modes: list[bool] = []

    def forward(self, src: torch.Tensor, tgt: torch.Tensor) -> torch.Tensor:
        self.modes.append(self.training)
        return self.linear(self.embedding(tgt))


def copier_and_batch(generator):
    torch.manual_seed(0)
    tgt = torch.cat([torch.full((3, 1), 2), ragged_targets(generator)], dim=1)
    return Copier(), tgt


@pytest.mark.parametrize("max_norm", [1e-3, 100.0])
def test_step_equals_the_same_by_hand(generator, max_norm):
    model, tgt = copier_and_batch(generator)
    twin, _ = copier_and_batch(generator)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, 7.0)  # left by an earlier step
    model.eval()
    loss, words = train_step(
        model, tgt, tgt, optimizer, StepSettings(PAD, 0.1, max_norm)
    )

    cross_entropy = partial(F.cross_entropy, ignore_index=PAD, label_smoothing=0.1)
    expected = cross_entropy(twin(tgt, tgt[:, :-1]).transpose(1, 2), tgt[:, 1:])
    gradients = torch.autograd.grad(expected, list(twin.parameters()))
    norm = torch.cat([gradient.flatten() for gradient in gradients]).norm().item()
    scale = min(1.0, max_norm / norm)
    assert loss == pytest.approx(expected.item(), abs=1e-6)
    assert words == 9
    assert model.modes == [True]
    for after, before, gradient in zip(
        model.parameters(), twin.parameters(), gradients, strict=True
    ):
        torch.testing.assert_close(
            after, before - 0.5 * scale * gradient, atol=1e-6, rtol=0
        )


def test_steps_lower_the_loss(generator):
    model, tgt = copier_and_batch(generator)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
    losses = [
        train_step(model, tgt, tgt, optimizer, StepSettings())[0] for _ in range(30)
    ]
    assert losses[-1] < losses[0] / 4


def test_average_is_the_mean_in_each_dtype():
    states = [
        {"w": torch.tensor([value, 1.0]), "n": torch.tensor(count)}
        for value, count in [(1.0, 3), (2.0, 4), (6.0, 5)]
    ]
    average = average_checkpoints(states)
    assert average["w"].tolist() == [3.0, 1.0]
    assert average["w"].dtype == torch.float32
    assert average["n"].item() == 5
    average["n"] += 1
    assert states[-1]["n"].item() == 5


def test_average_sums_in_float64():
    values = [1.0, 1e8, 1e8, -2e8]
    states = [{"w": torch.tensor([value])} for value in values]
    assert average_checkpoints(states)["w"].item() == 0.25


def test_average_of_one_is_a_copy():
    state = nn.Linear(3, 2).state_dict()
    average = average_checkpoints([state])
    for name, value in state.items():
        assert torch.equal(average[name], value)
        assert average[name].data_ptr() != value.data_ptr()


@pytest.mark.parametrize(
    ("other", "message"),
    [
        ({"w": torch.zeros(3)}, r"'w' has shape \(3,\), in the first \(2,\)"),
        ({"v": torch.zeros(2)}, "checkpoint 2 is of another model: 'v'"),
        ({}, "'w' has shape none"),
    ],
    ids=["shape", "name", "missing"],
)
def test_average_refuses_another_model(other, message):
    with pytest.raises(ValueError, match=message):
        average_checkpoints([{"w": torch.zeros(2)}, other])


def test_average_refuses_nothing():
    with pytest.raises(ValueError, match="at least one"):
        average_checkpoints([])

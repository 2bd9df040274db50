"""Check that a step in parts equals the step of the whole batch."""

import pytest
import torch

from transformer.config import TransformerConfig
from transformer.data import make_batches, make_grammar_corpus
from transformer.data.word_counts import build_vocabularies
from transformer.model import Transformer
from transformer.training.config import TrainingConfig
from transformer.training.loop import Trainer, TrainingData, step_function
from transformer.training.step import StepSettings, train_step, warmup_rate
from transformer.training.step_in_parts import train_step_in_parts

PAD = 1
SETTINGS = StepSettings(PAD, smoothing=0.1, max_norm=0.5)


def drawn(b: int = 13) -> list[torch.Tensor]:
    """Draw padded sentences of 3 to 12 and 4 to 9 words."""
    generator = torch.Generator().manual_seed(0)
    batch = []
    for shortest, longest in ((3, 12), (4, 9)):
        ids = torch.randint(4, 30, (b, longest), generator=generator)
        lengths = torch.randint(shortest, longest, (b, 1), generator=generator)
        lengths[0] = longest
        ids[torch.arange(longest) >= lengths] = PAD
        batch.append(ids)
    return batch


def after(step, **options) -> tuple[tuple[float, int], dict[str, torch.Tensor]]:
    torch.manual_seed(0)
    config = TransformerConfig(
        30, 30, d_model=16, n_heads=2, n_layers=2, d_ff=24, dropout=0.0
    )
    model = Transformer(config).double()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    return step(model, *drawn(), optimizer, SETTINGS, **options), model.state_dict()


@pytest.mark.parametrize("parts", [1, 2, 4, 13, 20])
def test_any_number_of_parts_takes_the_same_step(parts):
    (loss, tokens), expected = after(train_step)
    (found, counted), parameters = after(train_step_in_parts, parts=parts)
    assert counted == tokens
    assert found == pytest.approx(loss, rel=1e-6)
    for name, value in expected.items():
        torch.testing.assert_close(parameters[name], value, atol=1e-6, rtol=1e-5)


def test_parts_leave_little_padding():
    """Count the model's input tokens. Half of the whole batch is padding."""
    given = []

    class Counting(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.scores = torch.nn.Parameter(torch.zeros(30))

        def forward(self, src, tgt):
            given.extend([src, tgt])
            return self.scores.expand(*tgt.shape, 30)

    model = Counting()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    src, tgt = drawn(64)
    train_step_in_parts(model, src, tgt, optimizer, SETTINGS, parts=8)
    whole = src.numel() + tgt[:, 1:].numel()
    assert sum(ids.numel() for ids in given) < 0.85 * whole
    words = sum(int((ids != PAD).sum()) for ids in given[::2])
    assert words == int((src != PAD).sum())


def test_the_tutorials_training_takes_its_steps_in_parts():
    corpus = make_grammar_corpus()
    words = build_vocabularies(corpus.train[:64])
    histories = []
    for parts in (1, 4):
        config = TrainingConfig.tutorial(epochs=1, batch_size=32, parts=parts)
        data = TrainingData(
            make_batches(corpus.train[:64], words, 32, seed=0, by_length=False),
            make_batches(corpus.valid[:20], words, 32),
            words,
        )
        torch.manual_seed(0)
        sizes = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 24, "dropout": 0.0}
        shape = TransformerConfig(*map(len, words), **sizes)
        calls = []
        model = Transformer(shape)
        model.register_forward_pre_hook(lambda *_, calls=calls: calls.append(1))
        (record,) = Trainer(model, data, config).run()
        histories.append(record["valid_loss"])
        assert len(calls) == 2 * parts + 1
    assert histories[1] == pytest.approx(histories[0], abs=1e-4)


def test_no_part_is_refused():
    with pytest.raises(ValueError, match="parts must be at least 1"):
        TrainingConfig(parts=0)


def test_accumulation_goes_in_parts_on_every_device():
    for device in ("cpu", "cuda"):
        step = step_function(TrainingConfig(accumulate=8), device)
        assert step.func is train_step_in_parts and step.keywords == {"parts": 8}
        assert step_function(TrainingConfig(), device) is train_step
    assert step_function(TrainingConfig(parts=4), "cuda") is train_step
    assert step_function(TrainingConfig(parts=4, accumulate=2), "cpu").keywords == {
        "parts": 4
    }
    with pytest.raises(ValueError, match="accumulate must be at least 1"):
        TrainingConfig(accumulate=0)


def test_the_papers_rate_is_highest_at_its_last_step_of_warm_up():
    config = TrainingConfig.base()
    assert config.rate_at(4000) == pytest.approx(warmup_rate(4000, 512, 4000))
    for step in (1, 100, 3999, 4001, 100_000):
        assert config.rate_at(step) == pytest.approx(warmup_rate(step, 512, 4000))
        assert config.rate_at(step) < config.rate_at(4000)
    assert config.epochs * config.epoch_steps == pytest.approx(100_000, rel=0.01)
    assert (config.batch_tokens, config.average_last) == (25_000, 5)

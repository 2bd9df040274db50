"""Check that runs can be stopped at any moment and continue without losses."""

import dataclasses

import pytest
import torch
from small_runs import CONFIG, make_trainer

from transformer.data import make_batches, make_grammar_corpus
from transformer.training.checkpoints import CheckpointError, load_checkpoint
from transformer.training.config import TrainingConfig
from transformer.training.loop import (
    AVERAGED,
    BEST,
    LAST,
    Trainer,
    TrainingData,
    mean_loss,
)
from transformer.training.progress import Silence
from transformer.training.step import average_checkpoints

CPU = torch.device("cpu")


def losses(history) -> list[tuple[float, float, float]]:
    return [(r["train_loss"], r["valid_loss"], r["rate"]) for r in history]


class StopAt(Silence):
    """Interrupt the training, as Ctrl-C does, after some steps."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def end_step(self, report) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


def test_loss_falls(whole_run):
    history, _, _ = whole_run
    assert [record["epoch"] for record in history] == [1, 2, 3]
    assert history[-1]["train_loss"] < history[0]["train_loss"] - 0.3
    assert history[-1]["valid_loss"] < history[0]["valid_loss"]


@pytest.mark.parametrize("steps", [9, 15], ids=["in epoch 2", "in epoch 3"])
def test_interrupted_run_goes_on_as_if_it_had_not_been(tmp_path, whole_run, steps):
    with pytest.raises(KeyboardInterrupt):
        make_trainer(tmp_path).run(StopAt(steps))
    torch.manual_seed(999)  # a new process starts with a different state
    trainer = make_trainer(tmp_path)
    trainer.resume()
    assert trainer.epoch == (steps - 1) // 7
    history, parameters, _ = whole_run
    assert losses(trainer.run()) == losses(history)
    for name, value in trainer.model.state_dict().items():
        assert torch.equal(value, parameters[name]), name


def test_finished_run_can_be_lengthened(tmp_path, whole_run):
    short = dataclasses.replace(CONFIG, epochs=1)
    make_trainer(tmp_path, short).run()
    trainer = make_trainer(tmp_path)
    trainer.resume()
    assert losses(trainer.run()) == losses(whole_run[0])


def test_best_checkpoint_has_the_lowest_validation_loss(tmp_path, monkeypatch):
    losses_to_come = iter([3.0, 1.0, 2.0])
    monkeypatch.setattr(
        "transformer.training.loop.mean_loss", lambda *arguments: next(losses_to_come)
    )
    make_trainer(tmp_path).run()
    best, last = load_checkpoint(tmp_path / BEST), load_checkpoint(tmp_path / LAST)
    assert (best.epoch, last.epoch) == (2, 3)
    two_epochs = make_trainer(config=dataclasses.replace(CONFIG, epochs=2))
    monkeypatch.undo()
    two_epochs.run()
    for name, value in two_epochs.model.state_dict().items():
        assert torch.equal(best.model[name], value), name


def test_validation_is_without_dropout_and_leaves_the_mode():
    trainer = make_trainer()
    trainer.model.train()
    first, again = (mean_loss(trainer.model, trainer.data.valid) for _ in range(2))
    assert first == again
    assert trainer.model.training


def test_validation_counts_tokens_not_batches():
    trainer = make_trainer()
    by_one = make_batches(
        make_grammar_corpus().valid[:50], trainer.data.vocabularies, 1
    )
    expected = mean_loss(trainer.model, trainer.data.valid)
    assert mean_loss(trainer.model, by_one) == pytest.approx(expected, abs=1e-5)


def test_rate_rises_to_its_height_and_falls():
    config = TrainingConfig(rate=0.01, warmup=100)
    assert config.rate_at(1) == pytest.approx(0.0001)
    assert config.rate_at(100) == pytest.approx(0.01)
    assert config.rate_at(400) == pytest.approx(0.005)
    assert TrainingConfig(rate=0.01).rate_at(12345) == 0.01


def test_loss_that_is_no_number_stops_the_run():
    trainer = make_trainer(config=dataclasses.replace(CONFIG, warmup=0))
    with torch.no_grad():
        trainer.model.projection.bias.fill_(torch.nan)
    with pytest.raises(FloatingPointError, match="the loss is nan at step 1"):
        trainer.run()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("epochs", 0),
        ("batch_size", 0),
        ("rate", 0.0),
        ("rate", -1.0),
        ("warmup", -1),
        ("max_norm", 0.0),
        ("smoothing", 1.0),
        ("epoch_steps", 0),
    ],
)
def test_training_config_names_what_is_wrong(name, value):
    with pytest.raises(ValueError, match=f"{name} must be .* found {value}"):
        TrainingConfig(**{name: value})


@pytest.mark.cuda
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
def test_run_on_cuda_resumes(tmp_path):
    trainer = make_trainer(tmp_path)
    data = trainer.data
    on_gpu = TrainingData(
        make_batches(
            make_grammar_corpus().train[:200],
            data.vocabularies,
            32,
            device="cuda",
            seed=1,
        ),
        make_batches(
            make_grammar_corpus().valid[:50], data.vocabularies, 32, device="cuda"
        ),
        data.vocabularies,
    )
    model = trainer.model.to("cuda")
    with pytest.raises(KeyboardInterrupt):
        Trainer(model, on_gpu, CONFIG, tmp_path).run(StopAt(10))
    again = Trainer(model, on_gpu, CONFIG, tmp_path)
    again.resume()
    assert again.epoch == 1
    assert again.run()[-1]["train_loss"] < again.history[0]["train_loss"]


AVERAGING = dataclasses.replace(CONFIG, epochs=4, average_last=3)


@pytest.mark.integration
def test_average_is_of_the_last_epochs(tmp_path):
    trainer = make_trainer(tmp_path, AVERAGING)
    trainer.run()
    kept = sorted(path.name for path in tmp_path.glob("epoch_*.pt"))
    assert kept == ["epoch_002.pt", "epoch_003.pt", "epoch_004.pt"]
    models = [load_checkpoint(tmp_path / name).model for name in kept]
    expected = average_checkpoints(models)
    averaged = load_checkpoint(tmp_path / AVERAGED)
    for name, value in averaged.model.items():
        assert torch.equal(value, expected[name]), name
    last = load_checkpoint(tmp_path / LAST)
    assert torch.equal(last.model["projection.bias"], models[-1]["projection.bias"])
    assert not torch.equal(last.model["projection.bias"], value)


def test_an_epoch_that_is_gone_is_named_before_training_goes_on(tmp_path):
    make_trainer(tmp_path, dataclasses.replace(AVERAGING, epochs=3)).run()
    (tmp_path / "epoch_002.pt").unlink()
    trainer = make_trainer(tmp_path, AVERAGING)
    with pytest.raises(CheckpointError, match=r"epoch_002\.pt is gone"):
        trainer.resume()
    assert trainer.epoch == 0
    (tmp_path / "epoch_003.pt").rename(tmp_path / "epoch_002.pt")
    make_trainer(tmp_path, dataclasses.replace(AVERAGING, epochs=3)).resume()


@pytest.mark.integration
def test_average_survives_an_interruption(tmp_path):
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    make_trainer(whole, AVERAGING).run()
    with pytest.raises(KeyboardInterrupt):
        make_trainer(halves, AVERAGING).run(StopAt(17))
    trainer = make_trainer(halves, AVERAGING)
    trainer.resume()
    trainer.run()
    one, other = (load_checkpoint(path / AVERAGED).model for path in (whole, halves))
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_nothing_is_averaged_unless_asked(whole_run):
    names = {path.name for path in whole_run[2].iterdir()}
    assert names == {LAST, BEST}


def test_half_precision_trains_and_keeps_whole_weights(tmp_path, whole_run):
    half = dataclasses.replace(CONFIG, precision="bfloat16")
    trainer = make_trainer(tmp_path, half)
    history = trainer.run()
    assert {p.dtype for p in trainer.model.parameters()} == {torch.float32}
    found, exact = losses(history), losses(whole_run[0])
    assert found != exact
    assert found[-1][1] == pytest.approx(exact[-1][1], abs=0.1)


def test_fused_attention_trains_alike(whole_run):
    fused = dataclasses.replace(CONFIG, fused=True)
    without_luck = {"attention_dropout": 0.0}
    runs = [make_trainer(config=c, **without_luck).run() for c in (CONFIG, fused)]
    for one, other in zip(*map(losses, runs), strict=True):
        assert one == pytest.approx(other, abs=1e-3)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:The .grad attribute:UserWarning")  # torch's own
def test_compiled_model_is_the_one_that_is_trained(tmp_path, monkeypatch, whole_run):
    compiled = []

    def eagerly(model):
        compiled.append(model)
        return plain_compile(model, backend="eager")

    plain_compile = torch.compile
    monkeypatch.setattr(torch, "compile", eagerly)
    trainer = make_trainer(tmp_path, dataclasses.replace(CONFIG, compile=True))
    assert compiled == [trainer.model]
    assert losses(trainer.run()) == losses(whole_run[0])
    model = load_checkpoint(tmp_path / LAST).build_model()  # the names have no prefix
    assert mean_loss(model, trainer.data.valid) == pytest.approx(
        trainer.history[-1]["valid_loss"], abs=1e-6
    )

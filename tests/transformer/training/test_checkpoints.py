"""A checkpoint is complete, plain and from its own run, or the trainer refuses it."""

import dataclasses
import resource
import signal

import pytest
import torch
from small_runs import CONFIG, SIZES, make_trainer

from transformer.config import TransformerConfig
from transformer.model import Transformer
from transformer.training.checkpoints import CheckpointError, load_checkpoint
from transformer.training.loop import BEST, LAST, mean_loss


def test_checkpoint_holds_model_and_words(whole_run):
    history, _, folder = whole_run
    checkpoint = load_checkpoint(folder / LAST)
    trainer = make_trainer()
    assert checkpoint.vocabularies() == trainer.data.vocabularies
    found = mean_loss(checkpoint.build_model(), trainer.data.valid)
    assert found == pytest.approx(history[-1]["valid_loss"], abs=1e-6)


def test_full_disk_leaves_the_old_checkpoint(tmp_path, whole_run):
    folder = whole_run[2]
    for name in (LAST, BEST):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    trainer = make_trainer(tmp_path, dataclasses.replace(CONFIG, epochs=4))
    trainer.resume()
    limit = len(before[BEST]) // 2
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, old[1]))
        with pytest.raises(CheckpointError, match="the one from before is unchanged"):
            trainer.run()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"d_model": 20}, "d_model=16 there and d_model=20 here"),
        ({"norm_first": True}, "norm_first=False there and norm_first=True here"),
        ({"config": dataclasses.replace(CONFIG, seed=5)}, "seed=1234 there and seed=5"),
        (
            {"config": dataclasses.replace(CONFIG, smoothing=0.0, rate=1.0)},
            "rate=0.005 there and rate=1.0 here; smoothing=0.1 there and smoothing=0.0",
        ),
        (
            {"pairs": slice(200, 400)},
            "trained on other data: its source vocabulary has",
        ),
    ],
    ids=["width", "norm", "seed", "two", "data"],
)
def test_resume_refuses_another_run(whole_run, changes, message):
    trainer = make_trainer(whole_run[2], **changes)
    before = trainer.model.state_dict()["projection.bias"].clone()
    with pytest.raises(CheckpointError, match=message):
        trainer.resume()
    assert torch.equal(trainer.model.state_dict()["projection.bias"], before)


@pytest.mark.parametrize("damage", ["none", "empty", "half", "text", "other"])
def test_damaged_checkpoint_is_named(tmp_path, whole_run, damage):
    path = tmp_path / LAST
    whole = (whole_run[2] / LAST).read_bytes()
    if damage == "other":
        torch.save({"weights": torch.zeros(2)}, path)
    elif damage != "none":
        contents = {"empty": b"", "half": whole[: len(whole) // 2], "text": b"hello\n"}
        path.write_bytes(contents[damage])
    expected = "there is no checkpoint" if damage == "none" else "no checkpoint of this"
    with pytest.raises(CheckpointError, match=expected) as error:
        load_checkpoint(path)
    assert str(path) in str(error.value)


def test_checkpoint_cannot_run_code(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("code from a checkpoint ran",))

    torch.save({"model": Bomb()}, tmp_path / LAST)
    with pytest.raises(CheckpointError):
        load_checkpoint(tmp_path / LAST)


def test_checkpoint_of_before_a_setting_was_added_can_be_resumed(tmp_path):
    short = dataclasses.replace(CONFIG, epochs=1)
    make_trainer(tmp_path, short).run()
    fields = torch.load(tmp_path / LAST, weights_only=True)
    for name in ("fused", "compile", "precision", "average_last", "batch_tokens"):
        del fields["training_config"][name]
    torch.save(fields, tmp_path / LAST)
    trainer = make_trainer(tmp_path)
    trainer.resume()
    assert trainer.epoch == 1


def test_a_file_of_plain_values_under_these_names_loads(tmp_path, whole_run):
    """Runs that were saved earlier also load, because the file names no class."""
    words = ["<unk>", "<pad>", "<sos>", "<eos>", "a"]
    fields = {
        "model_config": {**SIZES, "src_vocab_size": 5, "tgt_vocab_size": 5},
        "training_config": {"epochs": 3, "rate": 5e-3, "betas": (0.9, 0.98)},
        "words": (words, words),
        "model": Transformer(TransformerConfig(5, 5, **SIZES)).state_dict(),
        "optimizer": {},
        "epoch": 1,
        "step": 7,
        "history": [{"epoch": 1, "valid_loss": 2.0}],
        "random_state": {"cpu": torch.get_rng_state()},
    }
    torch.save(fields, tmp_path / BEST)
    found = load_checkpoint(tmp_path / BEST)
    assert found.build_model()(torch.tensor([[4]]), torch.tensor([[2]])).shape[-1] == 5
    assert found.vocabularies()[0].words == tuple(words)
    assert (found.epoch, found.step) == (1, 7)
    written = torch.load(whole_run[2] / LAST, weights_only=True)
    newer = {"model_name", "subwords"}  # older files have neither
    assert written.keys() == fields.keys() | newer
    for name, value in fields.items():
        assert type(written[name]) is type(value), name

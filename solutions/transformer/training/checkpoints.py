"""Save the complete state of a training run, and load it again."""

import dataclasses
import io
import pickle
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.data import Vocabularies, Vocabulary, share_subwords
from transformer.data.subwords import Subwords
from transformer.data.whole_file import whole_file
from transformer.training.models import Model, ModelName, make_model, restore_config


class CheckpointError(ValueError):
    """Report that a checkpoint cannot be written, read, or used for this purpose."""


@dataclass(frozen=True)
class Checkpoint:
    """Hold everything that a run needs to continue exactly as if it had not stopped.

    Attributes:
        model_config: the fields of the model's configuration.
        training_config: the fields of the `TrainingConfig`.
        words: source and target vocabulary, each a list of words.
        model: the model's state dict.
        optimizer: the optimiser's state dict.
        epoch: number of completed epochs.
        step: number of completed training steps; the learning rate depends only on it.
        history: a record of each epoch.
        random_state: the state of PyTorch's random generator, and of the device's
            generator if it has one.
        model_name: a `ModelName`. Older checkpoints do not have this field, and all of
            them are Transformers.
        subwords: the result of `pack_subwords` for shared subwords, or None for whole
            words.
    """

    model_config: dict[str, Any]
    training_config: dict[str, Any]
    words: tuple[list[str], list[str]]
    model: dict[str, Tensor]
    optimizer: dict[str, Any]
    epoch: int
    step: int
    history: list[dict[str, float]]
    random_state: dict[str, Tensor]
    model_name: str = ModelName.transformer.value
    subwords: dict[str, Any] | None = None

    def build_model(self, device: torch.device | str = "cpu") -> Model:
        """Return the saved model, in evaluation mode."""
        name = ModelName(self.model_name)
        model = make_model(restore_config(name, self.model_config))
        model.load_state_dict(self.model)
        return model.to(device).eval()

    def vocabularies(self) -> Vocabularies:
        """Return the source and the target vocabulary."""
        if self.subwords is not None:
            model = self.subwords["model"].cpu().numpy().tobytes()
            return share_subwords(Subwords(model, self.subwords["lower"]))
        return Vocabulary(self.words[0]), Vocabulary(self.words[1])


def pack_subwords(words: Vocabularies) -> dict[str, Any] | None:
    """Return data from which shared subwords can be restored; None for whole words."""
    subwords = words[0].subwords
    if subwords is None:
        return None
    model = torch.frombuffer(bytearray(subwords.model), dtype=torch.uint8)
    return {"model": model, "lower": subwords.lower}


def save_checkpoint(checkpoint: Checkpoint, path: Path) -> None:
    """Write a checkpoint; the file on disk is always complete, either old or new.

    Raises:
        CheckpointError: if it cannot be written; an old checkpoint stays unchanged.
    """
    fields = {
        field.name: getattr(checkpoint, field.name)
        for field in dataclasses.fields(checkpoint)
    }
    buffer = io.BytesIO()
    torch.save(fields, buffer)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as file:
            file.write(buffer.getbuffer())
    except OSError as error:
        kept = "; the one from before is unchanged" if path.exists() else ""
        raise CheckpointError(
            f"cannot write the checkpoint {path}: {error.strerror}{kept}"
        ) from error


def load_checkpoint(path: Path, device: torch.device | str = "cpu") -> Checkpoint:
    """Read a checkpoint, which may contain only tensors and plain values, not code.

    Raises:
        CheckpointError: if the file is missing, damaged or not a checkpoint.
    """
    if not path.is_file():
        raise CheckpointError(f"there is no checkpoint {path}: train one first")
    try:
        if not zipfile.is_zipfile(path):
            raise EOFError("its end is missing")
        fields = torch.load(path, map_location=device, weights_only=True)
        return Checkpoint(**fields)
    except (EOFError, RuntimeError, TypeError, pickle.UnpicklingError) as error:
        raise CheckpointError(
            f"{path} is no checkpoint of this program, or is damaged: "
            f"{str(error).splitlines()[0]}"
        ) from error


def require_same_run(
    path: Path,
    saved: Mapping[str, Any],
    asked: Mapping[str, Any],
    free: tuple[str, ...] = (),
) -> None:
    """Check that a resumed run has the same settings as when it began.

    Args:
        path: the checkpoint, which the message names.
        saved: settings in the checkpoint.
        asked: settings of this run.
        free: names of the settings that may change.

    Raises:
        CheckpointError: if a setting differs. The message gives each such setting with
            both values.
    """
    differing = [
        f"{name}={saved.get(name)!r} there and {name}={asked.get(name)!r} here"
        for name in sorted(saved.keys() | asked.keys())
        if name not in free and saved.get(name) != asked.get(name)
    ]
    if differing:
        raise CheckpointError(
            f"{path} belongs to another configuration: {'; '.join(differing)}. "
            "Resume with the same settings, or train into another folder"
        )


def require_same_words(path: Path, saved: Vocabularies, asked: Vocabularies) -> None:
    """Check that the checkpoint and the data number their words in the same way.

    Raises:
        CheckpointError: if they do not. The message gives the first word that differs.
    """
    for side, before, now in zip(("source", "target"), saved, asked, strict=True):
        if before == now:
            continue
        pairs = enumerate(zip_longest(before.words, now.words))
        number, (old, new) = next(item for item in pairs if item[1][0] != item[1][1])
        raise CheckpointError(
            f"{path} was trained on other data: its {side} vocabulary has "
            f"{len(before)} words, this one {len(now)}; the first to differ is number "
            f"{number}, {old!r} there and {new!r} here"
        )

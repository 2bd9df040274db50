"""The training loop: epochs, validation, checkpoints, and resuming after a stop."""

import dataclasses
import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import torch
from torch import nn

from transformer.data import Batch, BatchSource, Vocabularies
from transformer.model import evaluating
from transformer.training.checkpoints import (
    Checkpoint,
    CheckpointError,
    load_checkpoint,
    pack_subwords,
    require_same_run,
    require_same_words,
    save_checkpoint,
)
from transformer.training.config import PRECISIONS, TrainingConfig
from transformer.training.distributed import ALONE, Processes
from transformer.training.fused_attention import use_fused_attention
from transformer.training.label_smoothing import label_smoothed_loss
from transformer.training.models import Model, name_of
from transformer.training.progress import Listener, Silence, StepReport
from transformer.training.step import (
    StepSettings,
    average_checkpoints,
    teacher_forcing_split,
    train_step,
)
from transformer.training.step_in_parts import train_step_in_parts

LAST, BEST, AVERAGED = "last.pt", "best.pt", "averaged.pt"
EPOCH = "epoch_{:03}.pt"


@dataclass(frozen=True)
class TrainingData:
    """Hold the training data and the validation data of a model.

    Attributes:
        train: batches, in a different order each epoch.
        valid: batches in a fixed order.
        vocabularies: vocabularies of the source and the target.
    """

    train: BatchSource
    valid: BatchSource
    vocabularies: Vocabularies


@evaluating
def mean_loss(
    model: nn.Module,
    batches: Iterable[Batch],
    pad_id: int = 1,
    processes: Processes = ALONE,
) -> float:
    """Compute the mean cross-entropy over all target tokens, in nats, without dropout.

    Each of n processes computes every n-th batch.
    """
    total, tokens = 0.0, 0
    for batch in islice(batches, processes.rank, None, processes.count):
        decoder_input, target = teacher_forcing_split(batch.tgt)
        loss = label_smoothed_loss(model(batch.src, decoder_input), target, pad_id)
        count = int((target != pad_id).sum())
        total, tokens = total + loss.item() * count, tokens + count
    all_total, all_tokens = processes.sum(total, tokens)
    return all_total / all_tokens


class Trainer:
    """Train a model, and write the last and the best checkpoint into a folder.

    If the configuration asks for an average, the trainer also keeps the checkpoints of
    the last epochs, and writes their average as `averaged.pt`.

    Args:
        model: the model, on the training device; the batches must be on the same
            device.
        data: the data to train and validate on.
        config: the settings of the training.
        folder: folder for the checkpoints; None writes none.
        processes: the processes that train together on the same data; the first one
            saves.
    """

    def __init__(
        self,
        model: Model,
        data: TrainingData,
        config: TrainingConfig,
        folder: Path | None = None,
        processes: Processes = ALONE,
    ) -> None:
        """Make the optimiser and prepare the step; the training starts with `run`."""
        self.model, self.data, self.config, self.folder = model, data, config, folder
        self.processes = processes
        self.optimizer = torch.optim.Adam(
            model.parameters(), lr=config.rate, betas=config.betas
        )
        use_fused_attention(model, config.fused)
        connected = processes.connect(model)
        self._trained = torch.compile(connected) if config.compile else connected
        self.device = next(model.parameters()).device
        self._train_step = step_function(config, self.device, processes)
        self.epoch = 0
        self.step = 0
        self.history: list[dict[str, float]] = []

    def run(self, listener: Listener | None = None) -> list[dict[str, float]]:
        """Train the remaining epochs.

        Returns:
            The history, with a record of each epoch, including epochs before a resume.

        Raises:
            FloatingPointError: if the loss becomes NaN or infinite.
            CheckpointError: if a checkpoint cannot be written.
        """
        listener = listener or Silence()
        if self.epoch == 0:
            torch.manual_seed(self.config.seed)
        while self.epoch < self.config.epochs:
            self.processes.seed_dropout(self.config.seed, self.epoch)
            record = self._run_epoch(listener)
            self.epoch += 1
            self.history.append(record)
            self._save()
            listener.end_epoch(record)
        return self.history

    def resume(self) -> None:
        """Restore the state of the last checkpoint in the folder.

        Raises:
            CheckpointError: if there is no checkpoint, or it belongs to another run.
        """
        path = self._path(LAST)
        saved = load_checkpoint(path)
        require_same_words(path, saved.vocabularies(), self.data.vocabularies)
        name = name_of(self.model.config).value
        require_same_run(path, {"model": saved.model_name}, {"model": name})
        asked = dataclasses.asdict(self.model.config)
        require_same_run(path, saved.model_config, asked)
        asked = dataclasses.asdict(self.config)
        begun = dataclasses.asdict(TrainingConfig()) | saved.training_config
        require_same_run(path, begun, asked, free=("epochs",))
        self._require_kept(saved.epoch)
        self.model.load_state_dict(saved.model)
        self.optimizer.load_state_dict(saved.optimizer)
        self.epoch, self.step = saved.epoch, saved.step
        self.history = saved.history
        _set_random_state(saved.random_state, self.device)

    def _run_epoch(self, listener: Listener) -> dict[str, float]:
        epoch = self.data.train.epoch(self.epoch)
        steps = min(len(epoch), self.config.epoch_steps or len(epoch))
        listener.start_epoch(self.epoch + 1, steps)
        start = time.perf_counter()
        total, tokens = 0.0, 0
        for batch in islice(epoch, steps):
            report = self._run_step(batch.src, batch.tgt)
            total += report.loss * report.tokens
            tokens += report.tokens
            listener.end_step(report)
        trained = time.perf_counter()
        valid, pad_id = self.data.valid, self.model.config.pad_id
        return {
            "epoch": self.epoch + 1,
            "train_loss": total / tokens,
            "valid_loss": mean_loss(self.model, valid, pad_id, self.processes),
            "rate": report.rate,
            "seconds": time.perf_counter() - start,
            "tokens_per_second": tokens / (trained - start),
        }

    def _run_step(self, src: torch.Tensor, tgt: torch.Tensor) -> StepReport:
        self.step += 1
        rate = self.config.rate_at(self.step)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        settings = StepSettings(
            self.model.config.pad_id, self.config.smoothing, self.config.max_norm
        )
        dtype = PRECISIONS[self.config.precision]
        half = dtype != torch.float32
        with torch.autocast(self.device.type, dtype if half else None, enabled=half):
            loss, tokens = self._train_step(
                self._trained, src, tgt, self.optimizer, settings
            )
        if not math.isfinite(loss):
            raise FloatingPointError(
                f"the loss is {loss} at step {self.step}, with the rate {rate:.2g}: "
                "try a lower rate or a longer warm-up"
            )
        return StepReport(loss, rate, tokens)

    def _path(self, name: str) -> Path:
        if self.folder is None:
            raise CheckpointError("this trainer keeps nothing: give it a folder")
        return self.folder / name

    def _save(self) -> None:
        if self.folder is None or not self.processes.is_first:
            return
        checkpoint = self._checkpoint()
        weights = dataclasses.replace(checkpoint, optimizer={})  # a third of the size
        losses = [record["valid_loss"] for record in self.history]
        if losses[-1] <= min(losses):
            save_checkpoint(weights, self._path(BEST))
        if self.config.average_last > 1:
            self._save_average(weights)
        save_checkpoint(checkpoint, self._path(LAST))

    def _save_average(self, newest: Checkpoint) -> None:
        """Write the newest weights, and their average with those of the last epochs."""
        save_checkpoint(newest, self._path(EPOCH.format(self.epoch)))
        too_old = self.epoch - self.config.average_last
        self._path(EPOCH.format(too_old)).unlink(missing_ok=True)
        models = [load_checkpoint(path).model for path in self._to_average(self.epoch)]
        average = dataclasses.replace(newest, model=average_checkpoints(models))
        save_checkpoint(average, self._path(AVERAGED))

    def _to_average(self, epoch: int) -> list[Path]:
        """Return the paths of the checkpoints that are averaged after an epoch."""
        first = max(epoch - self.config.average_last + 1, 1)
        return [self._path(EPOCH.format(n)) for n in range(first, epoch + 1)]

    def _require_kept(self, epoch: int) -> None:
        """Check that the earlier checkpoints for the next epoch's average exist."""
        if epoch >= self.config.epochs:
            return
        for path in self._to_average(epoch + 1)[:-1]:
            if not path.exists():
                raise CheckpointError(
                    f"{path} is gone, which the average of the last "
                    f"{self.config.average_last} epochs needs: bring it back, or train "
                    "anew in another folder"
                )

    def _checkpoint(self) -> Checkpoint:
        src, tgt = self.data.vocabularies
        return Checkpoint(
            model_config=dataclasses.asdict(self.model.config),
            training_config=dataclasses.asdict(self.config),
            words=(list(src.words), list(tgt.words)),
            model=self.model.state_dict(),
            optimizer=self.optimizer.state_dict(),
            epoch=self.epoch,
            step=self.step,
            history=self.history,
            random_state=_random_state(self.device),
            model_name=name_of(self.model.config).value,
            subwords=pack_subwords(self.data.vocabularies),
        )


def step_function(
    config: TrainingConfig,
    device: torch.device | str,
    processes: Processes = ALONE,
) -> Callable[..., tuple[float, int]]:
    """Return the step function: `train_step`, or a step in parts if that is useful.

    Several processes share the parts. If there are as many processes as parts, each
    process computes one part.
    """
    parts = config.parts if torch.device(device).type == "cpu" else 1
    parts = math.ceil(max(parts, config.accumulate) / processes.count)
    if processes.count > 1:
        return partial(train_step_in_parts, parts=parts, processes=processes)
    return partial(train_step_in_parts, parts=parts) if parts > 1 else train_step


def _random_state(device: torch.device) -> dict[str, torch.Tensor]:
    state = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        state["cuda"] = torch.cuda.get_rng_state(device)
    return state


def _set_random_state(state: dict[str, torch.Tensor], device: torch.device) -> None:
    torch.set_rng_state(state["cpu"])
    if device.type == "cuda" and "cuda" in state:
        torch.cuda.set_rng_state(state["cuda"], device)

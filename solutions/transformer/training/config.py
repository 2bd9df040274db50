"""The settings of a training run, which are enough to repeat it."""

from dataclasses import dataclass
from typing import Any, Literal

import torch

from transformer.training.step import warmup_rate

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


@dataclass(frozen=True)
class TrainingConfig:
    """Describe a training run; the defaults are the tutorial's, except for batches.

    Attributes:
        epochs: times to go through the training pairs.
        batch_size: sentence pairs in a batch.
        batch_tokens: tokens in a batch, including padding, on the longer side; None =
            use `batch_size`.
        rate: learning rate, or the highest rate if there is a warm-up.
        warmup: steps over which the rate rises before it falls with the inverse square
            root of the step; 0 keeps it constant.
        betas: Adam's two betas.
        smoothing: label smoothing.
        max_norm: norm to which longer gradients are clipped.
        seed: seed of the weights, the dropout and the order of the batches.
        epoch_steps: batches to use from each epoch; None uses all.
        by_length: whether to put sentences of similar length together; see
            `make_batches`.
        parts: number of parts of similar length into which a CPU splits a batch. This
            saves padding and changes no gradient. Other devices compute the batch at
            once.
        accumulate: number of parts into which any device splits a batch, adding their
            gradients, so that a large batch fits into a small memory.
        average_last: number of last epochs whose weights are averaged into an extra
            checkpoint; 1 averages nothing.
        precision: "float32", or "bfloat16" for matrix products with half the bits. The
            weights and the optimiser stay in float32.
        fused: whether to compute attention with PyTorch's fused kernels, equal up to
            rounding.
        compile: whether `torch.compile` speeds up the model; the first steps are slow.

    Raises:
        ValueError: if a number is outside its range.
    """

    epochs: int = 10
    batch_size: int = 128
    rate: float = 5e-4
    warmup: int = 0
    betas: tuple[float, float] = (0.9, 0.999)
    smoothing: float = 0.0
    max_norm: float = 1.0
    seed: int = 1234
    epoch_steps: int | None = None
    batch_tokens: int | None = None
    by_length: bool = True
    parts: int = 1
    average_last: int = 1
    precision: Literal["float32", "bfloat16"] = "float32"
    fused: bool = False
    compile: bool = False
    accumulate: int = 1

    def __post_init__(self) -> None:
        """Raise ValueError for settings that cannot be used for training."""
        least = {"epochs": 1, "batch_size": 1, "warmup": 0, "epoch_steps": 1}
        least |= {"batch_tokens": 1, "average_last": 1, "parts": 1, "accumulate": 1}
        for name, number in least.items():
            value = getattr(self, name)
            if value is not None and value < number:
                raise ValueError(f"{name} must be at least {number}: found {value}")
        for name in ("rate", "max_norm"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} must be above 0: found {getattr(self, name)}")
        if not 0 <= self.smoothing < 1:
            raise ValueError(
                f"smoothing must be at least 0 and below 1: found {self.smoothing}"
            )
        if self.precision not in PRECISIONS:
            raise ValueError(
                f"precision must be one of {', '.join(PRECISIONS)}: {self.precision!r}"
            )

    @classmethod
    def tutorial(cls, **changes: Any) -> "TrainingConfig":
        """Return the tutorial's training: ten epochs, a constant rate, random batches.

        The tutorial's `BucketIterator` did not sort sentences by length, because
        torchtext does not do so in training by default. We also write the average of
        the last five epochs.
        """
        return cls(**{"by_length": False, "parts": 4, "average_last": 5, **changes})

    @classmethod
    def best(cls, **changes: Any) -> "TrainingConfig":
        """Return the training of our best model on Multi30k; see `benchmarks/`."""
        recipe = {"epochs": 24, "batch_tokens": 1400, "rate": 1.2e-3, "warmup": 1000}
        details = {"betas": (0.9, 0.98), "smoothing": 0.1, "precision": "bfloat16"}
        return cls(**{**recipe, **details, "average_last": 6, **changes})

    @classmethod
    def recurrent(cls, **changes: Any) -> "TrainingConfig":
        """Return the training of the recurrent models on Multi30k."""
        recipe = {"epochs": 12, "batch_tokens": 1400, "rate": 1.2e-3, "warmup": 500}
        details = {"smoothing": 0.1, "precision": "bfloat16", "average_last": 4}
        return cls(**{**recipe, **details, **changes})

    @classmethod
    def tiny(cls, **changes: Any) -> "TrainingConfig":
        """Return a training configuration for the grammar corpus, of about a minute."""
        recipe = {"epochs": 4, "batch_size": 64, "rate": 2e-3, "warmup": 150}
        details = {"betas": (0.9, 0.98), "smoothing": 0.1}
        return cls(**{**recipe, **details, **changes})

    @classmethod
    def base(cls, **changes: Any) -> "TrainingConfig":
        """Return the training of the paper's base model (Sections 5.1 to 5.4 and 6.1).

        There are 100,000 steps of 25,000 tokens, each in eight parts. An epoch has
        1,400 steps, because the paper's machine did this number in the ten minutes
        between two checkpoints. The last five epochs are averaged. Gradients are
        clipped, which the paper does not mention.
        """
        recipe = {"epochs": 72, "epoch_steps": 1400, "batch_tokens": 25_000}
        rate = {"rate": (512 * 4000) ** -0.5, "warmup": 4000, "betas": (0.9, 0.98)}
        device = {"precision": "bfloat16", "fused": True, "accumulate": 8}
        details = {"smoothing": 0.1, "average_last": 5}
        return cls(**{**recipe, **rate, **device, **details, **changes})

    def rate_at(self, step: int) -> float:
        """Return the learning rate of a step, counted from 1."""
        if self.warmup == 0:
            return self.rate
        return self.rate * warmup_rate(step, 1, self.warmup) * self.warmup**0.5

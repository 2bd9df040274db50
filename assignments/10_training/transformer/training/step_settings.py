"""The settings of a training step, and checks of the step's inputs."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

StateDict = dict[str, Tensor]


@dataclass(frozen=True)
class StepSettings:
    """Hold the settings of one training step.

    Attributes:
        pad_id: id of the padding token, which the loss ignores.
        smoothing: probability mass that label smoothing spreads evenly over the
            vocabulary.
        max_norm: norm to which longer gradients are clipped.
    """

    pad_id: int = 1
    smoothing: float = 0.0
    max_norm: float = 1.0


def require_fitting_target(logits: Tensor, target: Tensor) -> None:
    """Raise ValueError unless logits (b, t, vocab_size) fit a target (b, t).

    The usual cause is a target that was not shifted.
    """
    if logits.dim() != 3 or logits.shape[:-1] != target.shape:
        raise ValueError(
            "logits must be (batch, length, vocab_size), target (batch, length): "
            f"found {tuple(logits.shape)} and {tuple(target.shape)}. The target is one "
            "shorter than the sentence: see teacher_forcing_split"
        )


def require_share(smoothing: float) -> None:
    """Raise ValueError if the label smoothing is below 0 or above 1."""
    if not 0.0 <= smoothing <= 1.0:
        raise ValueError(f"smoothing must lie between 0 and 1, found {smoothing}")


def require_same_parameters(state_dicts: Sequence[StateDict]) -> None:
    """Raise ValueError if there is no checkpoint, or they are from different models."""
    if not state_dicts:
        raise ValueError("expected at least one checkpoint to average, found none")
    first = {name: tuple(value.shape) for name, value in state_dicts[0].items()}
    for number, state in enumerate(state_dicts[1:], start=2):
        shapes = {name: tuple(value.shape) for name, value in state.items()}
        differing = sorted(set(first.items()) ^ set(shapes.items()))
        if differing:
            name = differing[0][0]
            raise ValueError(
                f"checkpoint {number} is of another model: {name!r} has shape "
                f"{shapes.get(name, 'none')}, in the first {first.get(name, 'none')}"
            )

"""Train a sequence-to-sequence model: shift, loss, learning rate, step, average."""

# mypy thinks that `sum` may return the number 0, but here it returns a tensor.
# mypy: disable-error-code="union-attr"

import math
from collections.abc import Sequence

import torch
from torch import Tensor, nn

from transformer.training.label_smoothing import label_smoothed_loss
from transformer.training.step_settings import (
    StateDict,
    StepSettings,
    require_same_parameters,
)

__all__ = [
    "StateDict",
    "StepSettings",
    "average_checkpoints",
    "perplexity",
    "teacher_forcing_split",
    "train_step",
    "warmup_rate",
]


def teacher_forcing_split(tgt: Tensor) -> tuple[Tensor, Tensor]:
    """Split target sentences into the decoder's input and the words to predict.

    At position i the decoder reads token i and must predict token i + 1.

    Args:
        tgt: ids (b, t), each row `<sos> … <eos>` and then padding.

    Returns:
        The decoder's input and its target, both (b, t - 1).

    Raises:
        ValueError: if `tgt` is not (b, t) with t of at least 2.
    """
    if tgt.dim() != 2 or tgt.size(1) < 2:
        raise ValueError(
            f"tgt must be (batch, length) with <sos> and at least one more token in "
            f"each row, found shape {tuple(tgt.shape)}"
        )
    ### BEGIN SOLUTION
    return tgt[:, :-1], tgt[:, 1:]
    ### END SOLUTION


def perplexity(loss: float) -> float:
    """Convert a mean cross-entropy in nats into a perplexity, `exp(loss)`."""
    return math.exp(loss) if loss < 700.0 else math.inf


def warmup_rate(step: int, d_model: int, warmup: int) -> float:
    """Compute the learning rate of a step, Eq. 3 of Vaswani et al. (2017).

    The rate rises linearly for `warmup` steps and then falls with the inverse square
    root of the step. Steps count from 1. At step 0 the rate is 0, the formula's limit.

    Args:
        step: number of the step, 0 or more.
        d_model: width of the model.
        warmup: number of steps over which the rate rises, 1 or more.

    Returns:
        The learning rate.

    Raises:
        ValueError: if `step` is negative, or `d_model` or `warmup` below 1.
    """
    if step < 0 or d_model < 1 or warmup < 1:
        raise ValueError(
            "expected step >= 0, d_model >= 1 and warmup >= 1, found "
            f"step={step}, d_model={d_model}, warmup={warmup}"
        )
    ### BEGIN SOLUTION
    if step == 0:
        return 0.0
    return d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
    ### END SOLUTION


def train_step(
    model: nn.Module,
    src: Tensor,
    tgt: Tensor,
    optimizer: torch.optim.Optimizer,
    settings: StepSettings,
) -> tuple[float, int]:
    """Take one training step on a batch: forward, loss, backward, clip, update.

    Args:
        model: returns logits when called as `model(src, decoder_input)`.
        src: ids (b, s).
        tgt: ids (b, t) with `<sos>` and `<eos>`.
        optimizer: has the model's parameters. Clear their old gradients first.
        settings: padding id, label smoothing and the largest norm of the gradient.

    Returns:
        The loss before the update, and the number of target tokens that are not
        padding.
    """
    ### BEGIN SOLUTION
    model.train()
    decoder_input, target = teacher_forcing_split(tgt)
    optimizer.zero_grad()
    logits = model(src, decoder_input)
    loss = label_smoothed_loss(logits, target, settings.pad_id, settings.smoothing)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return loss.item(), int((target != settings.pad_id).sum())
    ### END SOLUTION


def average_checkpoints(state_dicts: Sequence[StateDict]) -> StateDict:
    """Average the parameters of several checkpoints of one training run.

    Section 6.1 of Vaswani et al. (2017) averages the last 5 or 20. Sums are in float64,
    and each mean has its parameter's dtype and device. Integer and boolean buffers,
    which have no mean, come from the last checkpoint.

    Args:
        state_dicts: one or more `model.state_dict()`, the oldest first, left unchanged.

    Returns:
        A new state dict that shares no memory with `state_dicts`.

    Raises:
        ValueError: if there is no checkpoint, or names or shapes differ.
    """
    require_same_parameters(state_dicts)
    ### BEGIN SOLUTION
    average = {}
    for name, last in state_dicts[-1].items():
        if last.is_floating_point():
            total = sum(state[name].to(torch.float64) for state in state_dicts)
            average[name] = (total / len(state_dicts)).to(last.dtype)
        else:
            average[name] = last.clone()
    return average
    ### END SOLUTION

"""Compute a training step in parts, with less padding and the same gradient.

A random batch is padded to its longest sentence, so half of it may be padding. If the
batch is sorted by length and split into parts, it needs less padding, and the gradients
of the parts add up to that of the batch. Several processes can share a batch in the
same way.
"""

import torch
from torch import Tensor, nn

from transformer.data import trim_padding
from transformer.training.distributed import ALONE, Processes
from transformer.training.label_smoothing import label_smoothed_loss
from transformer.training.step import teacher_forcing_split
from transformer.training.step_settings import StepSettings


def train_step_in_parts(
    model: nn.Module,
    src: Tensor,
    tgt: Tensor,
    optimizer: torch.optim.Optimizer,
    settings: StepSettings,
    parts: int,
    processes: Processes = ALONE,
) -> tuple[float, int]:
    """Take the same step as `train_step`, in parts with sentences of similar length.

    Args:
        model: returns logits when called as `model(src, decoder_input)`.
        src: ids (b, s).
        tgt: ids (b, t) with `<sos>` and `<eos>`.
        optimizer: has the model's parameters; the step first clears their old
            gradients.
        settings: padding id, label smoothing and the gradient's largest norm.
        parts: number of parts in each process, at most b.
        processes: the processes that compute the step together, each with its share of
            the sentences. They divide by the number of target tokens in the whole
            batch, so that the mean is over all tokens.

    Returns:
        The loss before the update, and the number of target tokens that are not
            padding.
    """
    model.train()
    optimizer.zero_grad()
    pad_id = settings.pad_id
    tokens = int((tgt[:, 1:] != pad_id).sum())
    own_rows, factor = processes.share(_order_of_length(src, tgt, pad_id))
    chunks = own_rows.chunk(parts)
    total = 0.0
    for number, rows in enumerate(chunks, start=1):
        share = (tgt[rows, 1:] != pad_id).sum() / tokens * factor
        with processes.exchange(model, now=number == len(chunks)):
            total += _add_gradient(model, src[rows], tgt[rows], settings, share)
    nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
    optimizer.step()
    return processes.sum(total)[0] / processes.count, tokens


def _add_gradient(
    model: nn.Module, src: Tensor, tgt: Tensor, settings: StepSettings, share: Tensor
) -> float:
    """Add the gradient of `share` times the sentences' loss; return this product."""
    pad_id = settings.pad_id
    decoder_input, target = teacher_forcing_split(trim_padding(tgt, pad_id))
    logits = model(trim_padding(src, pad_id), decoder_input)
    loss = label_smoothed_loss(logits, target, pad_id, settings.smoothing) * share
    loss.backward()
    return loss.item()


def _order_of_length(src: Tensor, tgt: Tensor, pad_id: int) -> Tensor:
    """Return the numbers of the rows (b,), from the shortest pair to the longest."""
    lengths = (src != pad_id).sum(dim=1) + (tgt != pad_id).sum(dim=1)
    return lengths.argsort(stable=True)

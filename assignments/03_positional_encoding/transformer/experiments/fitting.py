"""Train a small model on a small task, with the loop that the experiments share.

The full training loop, with epochs, validation and checkpoints, is in `training.loop`.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class FitSettings:
    """Hold the training settings of a small model.

    Attributes:
        steps: number of batches.
        batch_size: rows in a batch.
        learning_rate: the highest rate. The rate rises during the first fifth of the
            steps and then falls.
        max_norm: norm to which longer gradients are clipped.
        seed: seed of the random batches.
        print_every: number of steps between printed lines. 0 prints nothing.
    """

    steps: int = 400
    batch_size: int = 64
    learning_rate: float = 4e-3
    max_norm: float = 1.0
    seed: int = 0
    print_every: int = 0

    def rate_share(self, step: int) -> float:
        """Return the learning rate of a step, as a share in (0, 1] of the highest rate.

        The first step is 0.
        """
        rise = max(1, self.steps // 5)
        return min((step + 1) / rise, (self.steps - step) / (self.steps - rise + 1))


def fit(
    model: nn.Module,
    loss_of: Callable[[Tensor], Tensor],
    n_rows: int,
    settings: FitSettings,
) -> list[float]:
    """Train with Adam on random batches of rows.

    Args:
        model: changed in place; in `eval()` mode afterwards.
        loss_of: a function from the indices of a batch's rows to the loss.
        n_rows: total number of rows.
        settings: settings of the training.

    Returns:
        The loss of each step.
    """
    optimizer = torch.optim.Adam(model.parameters(), lr=settings.learning_rate)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, settings.rate_share)
    generator = torch.Generator().manual_seed(settings.seed)
    losses = []
    model.train()
    for step in range(1, settings.steps + 1):
        rows = torch.randint(n_rows, (settings.batch_size,), generator=generator)
        loss = loss_of(rows)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), settings.max_norm)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if settings.print_every and step % settings.print_every == 0:
            print(f"step {step:4} of {settings.steps}: loss {losses[-1]:.2f}")
    model.eval()
    return losses

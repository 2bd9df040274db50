"""The loop that fits small models reports its progress where the caller wants it."""

import pytest
import torch
from torch import Tensor, nn

from transformer.experiments.fitting import FitSettings, fit


@pytest.mark.parametrize(
    ("print_every", "steps"), [(0, []), (2, ["2", "4"]), (3, ["3"]), (9, [])]
)
def test_a_line_every_few_steps(capsys, print_every: int, steps: list[str]) -> None:
    def loss_of(rows: Tensor) -> Tensor:
        return model(rows[:, None].float()).square().mean()

    torch.manual_seed(0)
    model = nn.Linear(1, 1)
    losses = fit(model, loss_of, 3, FitSettings(5, 4, print_every=print_every))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines] == steps
    assert all(
        line == f"step {int(step):4} of 5: loss {losses[int(step) - 1]:.2f}"
        for line, step in zip(lines, steps, strict=True)
    )

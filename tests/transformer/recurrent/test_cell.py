"""One step of a GRU, compared with PyTorch's cell."""

import pytest
import torch
from torch import nn

from transformer.recurrent.cell import gru_step


@pytest.mark.parametrize(("b", "d", "d_h"), [(3, 5, 4), (1, 2, 2), (2, 1, 6)])
def test_a_step_is_that_of_pytorch(b: int, d: int, d_h: int) -> None:
    cell = nn.GRUCell(d, d_h).double()
    x, state = torch.randn(b, d).double(), torch.randn(b, d_h).double()
    ours = gru_step(x, state, *cell.parameters())
    assert torch.allclose(ours, cell(x, state), atol=1e-12)


def test_a_step_has_the_gradients_of_pytorch() -> None:
    cell = nn.GRUCell(3, 4).double()
    given = [torch.randn(2, n).double().requires_grad_() for n in (3, 4)]
    leaves = [*given, *cell.parameters()]
    ours = torch.autograd.grad(gru_step(*given, *cell.parameters()).sum(), leaves)
    theirs = torch.autograd.grad(cell(*given).sum(), leaves)
    assert all(map(torch.allclose, ours, theirs))


def test_numbers_of_any_size_give_a_state() -> None:
    weights = [torch.zeros(6, 1), torch.zeros(6, 2), torch.zeros(6)]
    gates = torch.tensor([1e4, -1e4, 1e4, -1e4, 1e4, -1e4])
    new = gru_step(torch.ones(1, 1), torch.tensor([[0.5, 0.5]]), *weights, gates)
    assert new.tolist() == [[0.5, pytest.approx(0.0)]]  # kept, and the proposal is 0

"""Encodings of a word's position (Section 3.5 of Vaswani et al., 2017)."""

# mypy does not know the type of the buffer `self.table`.
# mypy: disable-error-code="operator,index"

import torch
from torch import Tensor, nn

from transformer.config import require_even, require_length


def sinusoidal_encoding(length: int, d_model: int) -> Tensor:
    """Encode each position as a row of sines and cosines.

    PE[pos, 2i] = sin(pos / 10000^(2i / d_model)), with cos in column 2i + 1.

    Args:
        length: number of positions, from 0.
        d_model: width, even.

    Returns:
        (length, d_model), float32.

    Raises:
        ValueError: if d_model is odd.
    """
    require_even(d_model)
    rates = 10000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    positions = torch.arange(length, dtype=torch.float64)
    angles = positions[:, None] * rates  # (length, d_model / 2)
    waves = torch.stack([angles.sin(), angles.cos()], dim=-1)
    return waves.flatten(start_dim=1).float()


class SinusoidalPositionalEncoding(nn.Module):
    """Add the sines and cosines of the position, which are not trained.

    Args:
        d_model: width, even.
        max_len: longest sequence, in tokens.
    """

    def __init__(self, d_model: int, max_len: int) -> None:
        """Keep the encoding of `max_len` positions as the buffer `table`.

        A buffer moves with the module to another device or dtype and is not trained.
        You need not save it, since it can be computed again.
        """
        super().__init__()
        table = sinusoidal_encoding(max_len, d_model)
        self.register_buffer("table", table, persistent=False)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Add the positions `start`, `start` + 1, ... to x.

        Args:
            x: (b, t, d_model).
            start: position of the first token.

        Returns:
            (b, t, d_model).

        Raises:
            ValueError: if the last position is beyond max_len.
        """
        require_length(start + x.size(1), self.table.size(-2))
        return x + self.table[start : start + x.size(1)]


class LearnedPositionalEncoding(nn.Module):
    """Add one trained vector for each position.

    Args:
        d_model: width.
        max_len: longest sequence, in tokens.
    """

    def __init__(self, d_model: int, max_len: int) -> None:
        """Make the table of vectors, one row for each position."""
        super().__init__()
        self.table = nn.Embedding(max_len, d_model)
        nn.init.xavier_uniform_(self.table.weight)

    def forward(self, x: Tensor, start: int = 0) -> Tensor:
        """Add the vectors of the positions `start`, `start` + 1, ... to x.

        Args:
            x: (b, t, d_model).
            start: position of the first token.

        Returns:
            (b, t, d_model).

        Raises:
            ValueError: if the last position is beyond max_len.
        """
        require_length(start + x.size(1), self.table.num_embeddings)
        positions = torch.arange(start, start + x.size(1), device=x.device)
        return x + self.table(positions)

"""The smallest task that needs attention: write a sequence of symbols backwards."""

import torch

from .special_tokens import EOS_ID, PAD_ID, SOS_ID, SPECIAL_TOKENS


def make_reversal_pairs(
    n_pairs: int,
    length: int,
    n_symbols: int,
    seed: int,
    *,
    min_length: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Draw random sequences of symbols, each with its reversal as the target.

    The symbols have the ids 4 to n_symbols + 3, after the special tokens. A source
    contains only symbols. Its target is <sos>, the symbols in reverse order, and <eos>.
    Shorter sequences are padded at the end.

    Args:
        n_pairs: the number of pairs n.
        length: the number of symbols of the longest source.
        n_symbols: the number of different symbols.
        seed: equal seeds give equal pairs.
        min_length: the number of symbols of the shortest source; `length` if None.

    Returns:
        The sources (n, length) and the targets (n, length + 2), both int64.

    Raises:
        ValueError: if a number is below 1, or `min_length` is above `length`.
    """
    shortest = length if min_length is None else min_length
    _check_sizes(n_pairs, length, n_symbols, shortest)
    generator = torch.Generator().manual_seed(seed)
    first = len(SPECIAL_TOKENS)
    symbols = torch.randint(
        first, first + n_symbols, (n_pairs, length), generator=generator
    )
    lengths = torch.randint(shortest, length + 1, (n_pairs, 1), generator=generator)
    position = torch.arange(length).expand(n_pairs, length)
    inside = position < lengths
    src = symbols.masked_fill(~inside, PAD_ID)
    mirrored = src.gather(1, (lengths - 1 - position).clamp(min=0))
    return src, _as_target(mirrored.masked_fill(~inside, PAD_ID), lengths)


def _as_target(symbols: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """Put <sos> before padded symbols (n, length), and <eos> after the last symbol."""
    n_pairs, length = symbols.shape
    tgt = torch.full((n_pairs, length + 2), PAD_ID)
    tgt[:, 0] = SOS_ID
    tgt[:, 1:-1] = symbols
    return tgt.scatter_(1, lengths + 1, EOS_ID)


def _check_sizes(n_pairs: int, length: int, n_symbols: int, shortest: int) -> None:
    sizes = {"n_pairs": n_pairs, "length": length, "n_symbols": n_symbols}
    for name, size in (sizes | {"min_length": shortest}).items():
        if size < 1:
            raise ValueError(f"expected {name} of at least 1, found {size}")
    if shortest > length:
        raise ValueError(
            f"expected min_length of at most length = {length}, found {shortest}"
        )

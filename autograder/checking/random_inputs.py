"""Draw the inputs of hidden checks, equal for every student and every regrade."""

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeVar

import torch
from torch import Tensor

Item = TypeVar("Item")


def seed_of(*parts: object) -> int:
    """Return a 63-bit seed that depends only on `parts`."""
    text = "\0".join(str(part) for part in parts)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big") >> 1


class Draw:
    """Draw random values from one seeded generator, always on the CPU."""

    def __init__(self, assignment: str, check: str, number: int = 0):
        """Seed the generator from the assignment, the check and the course's number.

        The seed does not depend on the student, so that equal answers get equal inputs
        and equal points.
        """
        self.assignment = assignment
        self.seed = seed_of(assignment, check, number)
        self.generator = torch.Generator().manual_seed(self.seed)

    def fixed(self, number: int) -> "Draw":
        """Return a generator whose values depend only on the assignment and `number`.

        Use it for a case that must reveal every known mistake. The author of the check
        tries numbers until `course verify` finds all mistakes.
        """
        return Draw(self.assignment, "fixed", number)

    def normal(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Draw a tensor of `shape` from the standard normal distribution."""
        drawn = torch.randn(*shape, generator=self.generator, dtype=torch.float64)
        return drawn.to(dtype)

    def uniform(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Draw a tensor of `shape` from the uniform distribution on [0, 1)."""
        drawn = torch.rand(*shape, generator=self.generator, dtype=torch.float64)
        return drawn.to(dtype)

    def ids(self, *shape: int, low: int = 4, high: int = 50) -> Tensor:
        """Draw token ids from [low, high), by default above the four special tokens."""
        return torch.randint(low, high, shape, generator=self.generator)

    def lengths(self, b: int, longest: int) -> Tensor:
        """Draw `b` unsorted lengths from 1 to `longest` - 1.

        The largest length is in the middle, and leaves one column of padding.
        """
        drawn = torch.randint(1, longest - 1, (b,), generator=self.generator)
        drawn[b // 2] = longest - 1
        return drawn

    def padded_ids(
        self, b: int, t: int, pad_id: int = 0, low: int = 4, high: int = 50
    ) -> dict[str, Tensor]:
        """Draw ids (b, t) with padding in different places; the keys name the places.

        Each batch has unsorted sentences of different lengths. The first entry is the
        usual case.
        """
        lengths = self.lengths(b, t)[:, None]
        place = torch.arange(t)
        column, row = self.integer(1, t - 1), self.integer(1, b)
        full = torch.zeros(b, t, dtype=torch.bool)
        in_column, in_row = full.clone(), full.clone()
        in_column[:, column], in_row[row] = True, True
        behind = place >= lengths
        places = {
            "padding after the words": behind,
            "padding before the words": place < t - lengths,
            "padding between words": ~self.mask(b, t),
            "a column of padding": in_column | behind,
            "a row of padding": in_row | behind,
            "no padding": full,
        }
        return {
            words: self.ids(b, t, low=low, high=high).masked_fill(padded, pad_id)
            for words, padded in places.items()
        }

    def mask(self, *shape: int) -> Tensor:
        """Draw a bool mask with at least one True and one False in each row."""
        mask = torch.rand(*shape, generator=self.generator) < 0.5
        if shape[-1] < 2:
            return mask
        noise = torch.rand(*shape, generator=self.generator)
        order = noise.argsort(dim=-1)
        mask = mask.scatter(-1, order[..., :1], True)
        return mask.scatter(-1, order[..., 1:2], False)

    def integer(self, low: int, high: int) -> int:
        """Draw one integer from [low, high)."""
        return int(torch.randint(low, high, (), generator=self.generator))

    def state(self, shapes: Mapping[str, Sequence[int]]) -> dict[str, Tensor]:
        """Draw a state dict that contains a normal tensor for each named shape."""
        return {name: self.normal(*shape) for name, shape in shapes.items()}

    def choice(self, items: Sequence[Item]) -> Item:
        """Draw one of `items`."""
        return items[self.integer(0, len(items))]

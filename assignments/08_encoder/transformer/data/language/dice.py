"""Random choices that are the same on every machine and in every Python version."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Make random choices that depend only on a seed.

    The class uses only `random.Random.random`, because Python guarantees equal numbers
    in every version for this method, but not for `choice` or `shuffle`.
    """

    def __init__(self, seed: int) -> None:
        """Seed the source of random numbers."""
        self._random = random.Random(seed).random

    def draw(self) -> float:
        """Return a random number that is at least 0 and less than 1."""
        return self._random()

    def pick(self, choices: Sequence[T]) -> T:
        """Return one of the choices, all with the same probability."""
        return choices[int(self._random() * len(choices))]

    def chance(self, probability: float) -> bool:
        """Return True with this probability."""
        return self._random() < probability

    def sample(self, choices: Sequence[T], size: int) -> list[T]:
        """Return `size` different choices."""
        rest = list(choices)
        return [rest.pop(int(self._random() * len(rest))) for _ in range(size)]

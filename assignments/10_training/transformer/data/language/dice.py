"""Random choices that are the same on every machine and in every release of Python."""

import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice:
    """Choose at random from a seed.

    The class uses only `random.Random.random`, because Python guarantees the same
    numbers in every release only for this method, and not for `choice` or `shuffle`.
    """

    def __init__(self, seed: int) -> None:
        """Seed the source of random numbers."""
        self._random = random.Random(seed).random

    def draw(self) -> float:
        """Return a number from 0 up to, but not including, 1."""
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

"""Bounds for random shares that correct code almost never exceeds by chance."""

import math

CHANCE = 1e-12  # probability that correct code fails by chance


def slack(draws: int) -> float:
    """Return how far a share of `draws` draws may be from its expected value.

    This is Hoeffding's bound, which holds for any share and number.
    """
    return math.sqrt(math.log(2 / CHANCE) / (2 * draws))

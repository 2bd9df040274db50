"""Compute bounds for random shares that correct code almost never exceeds."""

import math

CHANCE = 1e-12  # probability that correct code fails by chance


def slack(draws: int) -> float:
    """Return how far the share among `draws` draws may be from its expected value.

    This is Hoeffding's bound, which holds for every share and every number of draws.
    """
    return math.sqrt(math.log(2 / CHANCE) / (2 * draws))

"""Bounds for what is drawn, which right code does not leave by chance."""

import math

CHANCE = 1e-12  # that right code fails by what it happens to draw


def slack(draws: int) -> float:
    """Return how far a share of so many draws may be from what is expected of it.

    Hoeffding's bound, which holds for any share and number.
    """
    return math.sqrt(math.log(2 / CHANCE) / (2 * draws))

"""Spread (unit 03, whose notebook is not written yet)."""

from . import means


def spread(numbers: list[float]) -> float:
    """Return the distance of the largest number from the smallest."""
    ### BEGIN SOLUTION
    largest_of_all, smallest_of_all = max(numbers), min(numbers)
    return largest_of_all - smallest_of_all
    ### END SOLUTION


CENTRE = means.Mean

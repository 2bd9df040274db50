"""Sums (unit 01)."""


def add_up(numbers: list[float]) -> float:
    """Add up the numbers."""
    ### BEGIN SOLUTION
    total_of_numbers = 0.0
    for one_number in numbers:
        total_of_numbers += one_number
    return total_of_numbers
    ### END SOLUTION


def double(number: float) -> float:
    """Return twice the number; no exercise."""
    return 2 * number

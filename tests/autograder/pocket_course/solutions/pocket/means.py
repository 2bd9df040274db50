"""Means (unit 02)."""

from pocket.sums import add_up


class Mean:
    """The mean of what was added."""

    def __init__(self) -> None:
        """Start with nothing."""
        self.numbers: list[float] = []

    def add(self, number: float) -> None:
        """Add a number."""
        if number != number:
            raise ValueError("NaN has no mean")
        ### BEGIN SOLUTION
        self.numbers = [*self.numbers, number]
        ### END SOLUTION

    def value(self) -> float:
        """Return the mean."""
        ### BEGIN SOLUTION
        sum_of_all = add_up(self.numbers)
        return sum_of_all / len(self.numbers)
        ### END SOLUTION


def middle(low: float, high: float) -> float:
    """Return the mean of two numbers."""
    ### BEGIN SOLUTION
    return (low + high) / 2
    ### END SOLUTION

"""Support that needs unit 03, by an import inside a function."""


def report(numbers: list[float]) -> str:
    """Describe the numbers."""
    from pocket.spread import spread

    return f"spread {spread(numbers)}"

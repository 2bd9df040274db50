"""What the exercises may use."""

FACTOR = 2.0

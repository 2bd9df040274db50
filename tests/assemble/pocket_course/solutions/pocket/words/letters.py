"""Letters."""

ALPHABET = "abc"

"""Refuse sizes that a positional encoding cannot serve, before anything is computed."""


def require_even(d_model: int) -> None:
    """Raise ValueError if the width cannot hold pairs of sine and cosine."""
    if d_model % 2:
        raise ValueError(f"sinusoidal positions need an even d_model: found {d_model}")


def require_length(length: int, max_len: int) -> None:
    """Raise ValueError if a sequence is longer than the table of positions."""
    if length > max_len:
        raise ValueError(
            f"the sequence has {length} tokens, but there are positions for {max_len}: "
            "shorten it, or build the model with a larger max_len"
        )

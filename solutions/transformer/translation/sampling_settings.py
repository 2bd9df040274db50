"""The settings for drawing the next word: a temperature, top k and top p."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SamplingSettings:
    """Describe how to draw the next word; the defaults use the model's probabilities.

    Attributes:
        temperature: divides the logits; 0 always takes the likeliest word.
        top_k: number of the likeliest words to keep; None keeps all.
        top_p: keep the smallest set of likeliest words with this total probability; 1
            keeps all.

    Raises:
        ValueError: if `temperature` is negative, `top_k` below 1, or `top_p` not above
            0 and at most 1.
    """

    temperature: float = 1.0
    top_k: int | None = None
    top_p: float = 1.0

    def __post_init__(self) -> None:
        """Raise ValueError for settings that leave no word to draw."""
        too_few = self.top_k is not None and self.top_k < 1
        if self.temperature < 0 or too_few or not 0 < self.top_p <= 1:
            raise ValueError(
                "expected temperature >= 0, top_k >= 1 or None, and top_p above 0, at "
                f"most 1: found {self.temperature}, {self.top_k} and {self.top_p}"
            )

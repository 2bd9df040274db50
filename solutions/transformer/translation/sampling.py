"""Draw the next word with a temperature, from the top k words or the nucleus."""

import torch
from torch import Tensor

from transformer.translation.sampling_settings import SamplingSettings


def sampling_probabilities(logits: Tensor, settings: SamplingSettings) -> Tensor:
    """Compute the probability with which each word is sampled.

    First the temperature divides the logits, and a softmax makes them probabilities.
    Then `top_k` (Fan et al., 2018) keeps the k likeliest words, and their probabilities
    are made to sum to 1 again. Of these words `top_p` (Holtzman et al., 2020) keeps the
    smallest number of likeliest words that together have p: the last is the word with
    which the sum reaches p. The kept words sum to 1 again, and all other words get 0.

    Args:
        logits: scores of the next word (..., V), which may be large; -inf for an
            impossible word.
        settings: `temperature`, `top_k` (None, or a number that may exceed V) and
            `top_p`. At temperature 0 the likeliest word gets probability 1, whatever
            the other two are. A `top_p` of 1 removes no word.

    Returns:
        Probabilities (..., V). Of equally likely words, the word with the smaller
        number counts as likelier, wherever a setting removes words.
    """
    ### BEGIN SOLUTION
    if settings.temperature == 0:
        likeliest = logits.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(logits).scatter(-1, likeliest, 1.0)
    ranked, words = logits.sort(dim=-1, descending=True, stable=True)
    kept = (ranked / settings.temperature).softmax(dim=-1)
    if settings.top_k is not None:
        kept[..., settings.top_k :] = 0.0
        kept = kept / kept.sum(dim=-1, keepdim=True)
    if settings.top_p < 1:
        before = kept.cumsum(dim=-1) - kept  # what the likelier words have together
        kept = kept.masked_fill(before >= settings.top_p, 0.0)
        kept = kept / kept.sum(dim=-1, keepdim=True)
    return torch.zeros_like(kept).scatter(-1, words, kept)
    ### END SOLUTION


def sample_word(
    logits: Tensor,
    settings: SamplingSettings,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Draw the next word of each of b sentences.

    Args:
        logits: logits of the next word (b, V).
        settings: temperature, top k and top p.
        generator: source of randomness; None is PyTorch's own.

    Returns:
        Word numbers (b,).
    """
    probabilities = sampling_probabilities(logits, settings)
    return torch.multinomial(probabilities, 1, generator=generator).squeeze(-1)

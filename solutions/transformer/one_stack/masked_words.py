"""Train an encoder to predict hidden words, as BERT does.

The model is an encoder with a linear layer to the vocabulary. Only its targets are new.
"""

import torch
from torch import Tensor

from transformer.one_stack.sentences import N_SPECIAL, NOT_ASKED


def mask_words(
    ids: Tensor,
    mask_id: int,
    share: float = 0.15,
    generator: torch.Generator | None = None,
) -> tuple[Tensor, Tensor]:
    """Hide words of each sentence, by the rule of Devlin et al. (2019), Section 3.1.

    Each word is chosen with probability `share`, independently of the others, and a
    special token, number 0 to 3, never. Of the chosen words 80 % become `mask_id`,
    10 % become a random word, and 10 % stay as they are.

    Args:
        ids: word numbers (b, s).
        mask_id: the last number of the vocabulary. Words are 4 to `mask_id` - 1, and
            a random word is any of them with the same probability.
        share: probability of choosing a word.
        generator: source of randomness; None is PyTorch's own.

    Returns:
        The model's input and its targets: the original words at the chosen places,
        and `NOT_ASKED` in all other places. Both are (b, s).
    """
    ### BEGIN SOLUTION
    chance = torch.rand(2, *ids.shape, generator=generator, device=ids.device)
    others = torch.randint(
        N_SPECIAL, mask_id, ids.shape, generator=generator, device=ids.device
    )
    chosen = (ids >= N_SPECIAL) & (chance[0] < share)
    hidden, other = chosen & (chance[1] < 0.8), chosen & (chance[1] >= 0.9)
    read = torch.where(other, others, ids.masked_fill(hidden, mask_id))
    return read, ids.masked_fill(~chosen, NOT_ASKED)
    ### END SOLUTION

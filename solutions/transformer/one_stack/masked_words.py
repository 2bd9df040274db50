"""An encoder alone learns by guessing words that are hidden, as BERT does.

The model is an encoder with a map to the vocabulary; what is new is what it is asked.
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

    Each word is chosen with probability `share`, whatever happens to the others. A
    special token, number 0 to 3, never is. Of the chosen words 80 % become `mask_id`,
    10 % a word drawn at random, and 10 % stay as they are.

    Args:
        ids: word numbers (b, s).
        mask_id: the last number of the vocabulary; words are 4 to `mask_id` - 1, and
            a random word is any of them with the same probability.
        share: of the words to choose.
        generator: what chance is drawn from; None is PyTorch's own.

    Returns:
        What the model reads, and what it is asked for: the chosen words as they were,
        and `NOT_ASKED` in all other places. Both (b, s).
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

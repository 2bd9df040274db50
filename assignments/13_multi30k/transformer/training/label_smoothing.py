"""Label smoothing (Section 5.4 of Vaswani et al., 2017)."""

from torch import Tensor
from torch.nn import functional as F

from transformer.training.step_settings import require_fitting_target, require_share


def label_smoothed_loss(
    logits: Tensor, target: Tensor, pad_id: int, smoothing: float = 0.0
) -> Tensor:
    """Compute the cross-entropy with smoothed labels, averaged over real tokens.

    The label puts `1 - smoothing` on the target and adds `smoothing / vocab_size` to
    every word (section 5.4 of Vaswani et al., 2017; Szegedy et al., 2016). A batch
    that has only padding has the loss 0 and a gradient of zeros.

    Args:
        logits: scores before the softmax, (b, t, vocab_size).
        target: ids (b, t).
        pad_id: id of the padding, whose positions do not count.
        smoothing: from 0 (plain cross-entropy) to 1.

    Returns:
        A scalar: the mean over all tokens of the batch that are not padding, in nats.

    Raises:
        ValueError: if the shapes do not fit or `smoothing` is not in [0, 1].
    """
    require_fitting_target(logits, target)
    require_share(smoothing)
    is_word = target != pad_id
    log_probs = F.log_softmax(logits[is_word], dim=-1)  # (words, vocab_size)
    from_target = -log_probs.gather(-1, target[is_word].unsqueeze(-1)).squeeze(-1)
    from_all_words = -log_probs.mean(dim=-1)
    loss = (1 - smoothing) * from_target + smoothing * from_all_words
    return loss.sum() / is_word.sum().clamp(min=1)

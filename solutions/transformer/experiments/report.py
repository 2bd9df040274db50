"""Report on a translator: its loss, BLEU by length, and an interval for BLEU."""

# mypy: disable-error-code="var-annotated,assignment"

import math
from collections.abc import Iterable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.data import PAD_ID, UNK, Batch
from transformer.training.step import teacher_forcing_split
from transformer.translation.bleu import corpus_bleu


def sentence_losses(
    model: nn.Module, batches: Iterable[Batch], pad_id: int = PAD_ID
) -> tuple[Tensor, Tensor]:
    """Compute the loss of each sentence of a corpus, without dropout or gradient.

    The loss of a sentence is the sum of the cross-entropy over its target tokens,
    including the final `<eos>`, but not `<sos>` or padding.

    Args:
        model: returns logits (b, t - 1, v) when called as `model(src, decoder_input)`.
            Leave it in the mode in which it came, training or evaluation.
        batches: each has `src` (b, s), `tgt` (b, t), and `indices`, the position in
            the corpus of each of the b sentences. Every position occurs once. The
            batches may be a generator, so go through them only once.
        pad_id: id of the padding token.

    Returns:
        The loss of each sentence in nats, float, and its number of target tokens,
        int64: both (n,), in the corpus's order, on the CPU.
    """
    ### BEGIN SOLUTION
    was_training = model.training
    model.eval()
    rows = []
    with torch.no_grad():
        for batch in batches:
            decoder_input, target = teacher_forcing_split(batch.tgt)
            logits = model(batch.src, decoder_input).transpose(1, 2)  # classes second
            losses = F.cross_entropy(
                logits, target, ignore_index=pad_id, reduction="none"
            ).sum(dim=1)  # (b,); padding has the loss 0
            counts = (target != pad_id).sum(dim=1)
            rows += zip(batch.indices, losses.tolist(), counts.tolist(), strict=True)
    model.train(was_training)
    _, losses, counts = zip(*sorted(rows), strict=True)
    return torch.tensor(losses), torch.tensor(counts)
    ### END SOLUTION


def corpus_perplexity(losses: Tensor, counts: Tensor) -> float:
    """Compute the perplexity of a corpus, or of any part of one.

    Perplexity is e to the power of the mean loss per token. Long sentences have more
    tokens, so they count for more.

    Args:
        losses: the summed loss of each sentence in nats, (n,).
        counts: the number of target tokens of each sentence, (n,).

    Returns:
        The perplexity: 1 for a model that is always sure and right.
    """
    ### BEGIN SOLUTION
    return math.exp(losses.sum().item() / counts.sum().item())
    ### END SOLUTION


def bleu_by_length(
    sources: Sequence[Sequence[str]],
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    limits: Sequence[int],
) -> list[tuple[int, float | None]]:
    """Compute the corpus BLEU of sentences in groups of similar source length.

    With the limits (8, 12) there are three groups: sources of at most 8 words, of 9 to
    12, and of 13 and more.

    Args:
        sources: the words of each source sentence.
        hypotheses: the words of each translation.
        references: the words of each reference.
        limits: the greatest source length of every group but the last, ascending.

    Returns:
        For each group its number of sentences and its BLEU, from 0 to 100. A group
        without sentences has None instead of BLEU.

    Raises:
        ValueError: if the three differ in length.
    """
    if not len(sources) == len(hypotheses) == len(references):
        raise ValueError(
            "expected as many sources as hypotheses and references, found "
            f"{len(sources)}, {len(hypotheses)} and {len(references)}"
        )
    ### BEGIN SOLUTION
    groups = [[] for _ in range(len(limits) + 1)]
    for place, source in enumerate(sources):
        groups[sum(len(source) > limit for limit in limits)].append(place)
    table = []
    for places in groups:
        written = [hypotheses[place] for place in places]
        wanted = [references[place] for place in places]
        table.append((len(places), corpus_bleu(written, wanted) if places else None))
    return table
    ### END SOLUTION


def bootstrap_interval(
    hypotheses: Sequence[Sequence[str]],
    references: Sequence[Sequence[str]],
    draws: Tensor,
) -> tuple[float, float]:
    """Estimate how far BLEU would move on another test set of the same size.

    Each row of `draws` is a new test set: n sentences of the real one, some of them
    several times and some not at all (Koehn, 2004). Compute the corpus BLEU of each.

    Args:
        hypotheses: the words of each of the n translations.
        references: the words of each reference.
        draws: r rows of n positions from 0 to n - 1, int64, (r, n).

    Returns:
        The 2.5th and the 97.5th percentile of the r scores, interpolated linearly as
        `torch.quantile` does.
    """
    ### BEGIN SOLUTION
    scores = [
        corpus_bleu([hypotheses[i] for i in places], [references[i] for i in places])
        for places in draws.tolist()
    ]
    ends = torch.tensor([0.025, 0.975], dtype=torch.float64)
    low, high = torch.tensor(scores, dtype=torch.float64).quantile(ends).tolist()
    return low, high
    ### END SOLUTION


def copy_unknown_words(
    target: Sequence[str], cross_attention: Tensor, source_words: Sequence[str]
) -> list[str]:
    """Replace each `<unk>` by the source word with the largest attention weight.

    After Luong et al. (2015). Use the mean weight over all layers and heads. `<sos>`
    and `<eos>` have weights too, but must not be copied.

    Args:
        target: the t tokens written.
        cross_attention: (layers, h, t, s); row i holds the weights from which token i
            of `target` was predicted.
        source_words: the s - 2 words of the source as they were written, including
            unknown ones, without the `<sos>` before them and the `<eos>` after them.

    Returns:
        The t tokens, without an `<unk>`.
    """
    ### BEGIN SOLUTION
    average = cross_attention.mean(dim=(0, 1))  # (t, s)
    looked_at = average[:, 1:-1].argmax(dim=-1).tolist()
    return [
        source_words[place] if word == UNK else word
        for word, place in zip(target, looked_at, strict=True)
    ]
    ### END SOLUTION

"""Record which prefixes a beam search of one sentence considers and keeps."""

from collections.abc import Iterator

from torch import Tensor, nn

from transformer.data import Vocabulary
from transformer.data.special_tokens import PAD_ID
from transformer.model import Transformer
from transformer.translation.beams import Branch, SearchSettings, Words, until_end
from transformer.translation.inference import beam_search


class Watched(nn.Module):
    """A model that records the calls of a search and its own predictions.

    Args:
        model: a `Transformer`, or anything else with `encode`, `decode` and `config`.

    Attributes:
        asked: the hypotheses (k, t) of each call, and the probability of each next word
            (k, vocab_size).
    """

    def __init__(self, model: Transformer) -> None:
        """Store the model whose calls are recorded."""
        super().__init__()
        self.model, self.config = model, model.config
        self.training = model.training  # a search restores this mode
        self.asked: list[tuple[Tensor, Tensor]] = []

    def encode(self, src: Tensor) -> Tensor:
        """Encode the source with the model."""
        return self.model.encode(src)

    def decode(self, tgt: Tensor, memory: Tensor, src: Tensor) -> tuple[Tensor, object]:
        """Return the model's output, and record it."""
        logits, weights = self.model.decode(tgt, memory, src)
        self.asked.append((tgt, logits[:, -1].softmax(dim=-1)))
        return logits, weights


def beginning(ids: Tensor, words: Vocabulary) -> Words:
    """Return the words for the ids (t,), after `<sos>` and up to `<eos>`."""
    return tuple(words.words[i] for i in until_end(ids)[1:].tolist() if i != PAD_ID)


def grow(
    row: Tensor, probability: Tensor, after: Tensor, shown: int
) -> Iterator[tuple[int, float]]:
    """Yield a hypothesis's likeliest next words, and those that the search kept.

    Args:
        row: the hypothesis, ids (t,).
        probability: probability of each next word, (vocab_size,).
        after: the hypotheses with one word more, ids (k, t + 1).
        shown: minimum number of words to yield.
    """
    children = after[(after[:, :-1] == row).all(dim=1), -1].tolist()
    best = probability.argsort(descending=True, stable=True).tolist()
    for place, word in enumerate(best):
        if place < shown or word in children:
            yield word, float(probability[word])


def trace_beam(
    model: Transformer,
    src: Tensor,
    words: Vocabulary,
    settings: SearchSettings,
    shown: int = 2,
) -> list[Branch]:
    """Run a beam search, and return the branches that it considered at each step.

    Args:
        model: a model for `beam_search`, without a cache.
        src: one sentence, ids (1, s).
        words: the target's vocabulary.
        settings: settings of the search.
        shown: number of candidates to return for each hypothesis. Candidates that the
            search kept are always returned.

    Returns:
        The branches, ordered by step. For each hypothesis, the likeliest come first.
    """
    watched = Watched(model)
    final, _ = beam_search(watched, src, settings)
    later = [*(tgt for tgt, _ in watched.asked[1:]), final[0]]
    tree: list[Branch] = []
    score: dict[Words, float] = {(): 1.0}
    for (tgt, probability), after in zip(watched.asked, later, strict=True):
        going_on = {beginning(row, words) for row in after}
        found: dict[Words, float] = {}
        for row, next_word in zip(tgt, probability, strict=True):
            written = beginning(row, words)
            if (row == settings.eos_id).any():
                continue
            for word, share in grow(row, next_word, after, shown):
                found[(*written, words.words[word])] = score[written] * share
        tree += [Branch(key, value, key in going_on) for key, value in found.items()]
        score |= found
    return tree

"""Settings, hypotheses and the length penalty of greedy and beam search."""

from dataclasses import dataclass

import torch
from torch import Tensor

from transformer.data.special_tokens import EOS_ID, SOS_ID

Words = tuple[str, ...]


@dataclass(frozen=True)
class SearchSettings:
    """Describe a search; the defaults are those of Vaswani et al. (2017).

    Attributes:
        beam_size: hypotheses kept for each sentence.
        length_penalty: α of `length_penalty`; 0 compares plain log-probabilities.
        max_len: maximum number of tokens to write, including `<eos>`.
        sos_id: token that every hypothesis starts with.
        eos_id: token that ends a hypothesis.

    Raises:
        ValueError: if `beam_size` or `max_len` is below 1, or α is negative.
    """

    beam_size: int = 4
    length_penalty: float = 0.6
    max_len: int = 50
    sos_id: int = SOS_ID
    eos_id: int = EOS_ID

    def __post_init__(self) -> None:
        """Raise ValueError for settings with which a search cannot work."""
        if self.beam_size < 1 or self.max_len < 1 or self.length_penalty < 0:
            raise ValueError(
                "expected beam_size >= 1, max_len >= 1 and length_penalty >= 0: found "
                f"{self.beam_size}, {self.max_len} and {self.length_penalty}"
            )


@dataclass(frozen=True)
class Branch:
    """A prefix of a sentence that a search has considered.

    Attributes:
        words: the words of the prefix.
        probability: probability of the whole prefix.
        kept: whether the search kept the prefix when it pruned.
    """

    words: Words
    probability: float
    kept: bool


def length_penalty(length: Tensor, alpha: float) -> Tensor:
    """Compute ((5 + n) / 6)^α, Eq. 14 of Wu et al. (2016).

    A hypothesis's score is its log-probability divided by this value. Without the
    division, longer hypotheses would score worse only because they are longer.

    Args:
        length: number of tokens n after `<sos>`, including `<eos>`; any shape.
        alpha: 0 for no penalty.

    Returns:
        The divisor, with the shape of `length`.
    """
    return ((5 + length) / 6) ** alpha


def until_end(ids: Tensor, eos_id: int = EOS_ID) -> Tensor:
    """Return the ids (t,) of one sentence up to and including `<eos>`, if present."""
    ends = (ids == eos_id).nonzero()
    return ids[: int(ends[0]) + 1] if len(ends) else ids


@dataclass(frozen=True)
class Beams:
    """Hold the k best hypotheses of each of b sentences.

    Attributes:
        tgt: ids (b, k, t), from `<sos>`; padding follows a finished hypothesis.
        log_prob: log-probability of each hypothesis (b, k); -inf for an empty one.
        length: tokens after `<sos>`, up to and including `<eos>` (b, k).
        finished: bool (b, k), True once `<eos>` is written.
    """

    tgt: Tensor
    log_prob: Tensor
    length: Tensor
    finished: Tensor

    @classmethod
    def start(cls, src: Tensor, settings: SearchSettings) -> "Beams":
        """Start each sentence with the hypothesis `<sos>` and k - 1 empty ones."""
        shape = (src.size(0), settings.beam_size)
        log_prob = torch.full(shape, -torch.inf, device=src.device)
        log_prob[:, 0] = 0.0
        tgt = src.new_full((*shape, 1), settings.sos_id)
        return cls(tgt, log_prob, src.new_zeros(shape), src.new_zeros(shape).bool())

    def next_log_prob(self, logits: Tensor, pad_id: int) -> Tensor:
        """Compute the log-probability of each hypothesis extended by each word.

        A finished hypothesis can be extended only by padding, which leaves its
        log-probability unchanged.

        Args:
            logits: logits of the next word, (b * k, vocab_size).
            pad_id: the padding token.

        Returns:
            (b, k, vocab_size).
        """
        word = logits.log_softmax(dim=-1).view(*self.finished.shape, -1)
        rest = torch.full_like(word[0, 0], -torch.inf)
        rest[pad_id] = 0.0
        word = torch.where(self.finished.unsqueeze(-1), rest, word)
        return self.log_prob.unsqueeze(-1) + word

    def next_length(self) -> Tensor:
        """Return the length (b, k) of each hypothesis after one more word."""
        return self.length + (~self.finished).long()

    def extend(
        self, parent: Tensor, word: Tensor, log_prob: Tensor, eos_id: int
    ) -> "Beams":
        """Return the beams after k continuations have replaced the hypotheses.

        Args:
            parent: index of the continued hypothesis, (b, k).
            word: id of the added word, (b, k).
            log_prob: log-probability of the result, (b, k).
            eos_id: word that finishes a hypothesis.
        """
        copies = parent.unsqueeze(-1).expand(-1, -1, self.tgt.size(-1))
        return Beams(
            torch.cat([self.tgt.gather(1, copies), word.unsqueeze(-1)], dim=-1),
            log_prob,
            self.next_length().gather(1, parent),
            self.finished.gather(1, parent) | (word == eos_id),
        )

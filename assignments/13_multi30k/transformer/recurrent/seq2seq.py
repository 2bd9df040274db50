"""Recurrent translators without attention, and the functions that they share.

Shapes: b sentences, s source and t target positions, d_h the width of a state.
"""

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class DecoderStep(NamedTuple):
    """Hold the results of a decoder at one target position.

    Attributes:
        logits: (b, vocab_size) of the word at this position.
        state: (b, d_h), the decoder's new state.
        weights: (b, s), the attention weight of each source position.
    """

    logits: Tensor
    state: Tensor
    weights: Tensor


def source_lengths(mask: Tensor) -> Tensor:
    """Count the words of each sentence.

    Args:
        mask: (b, s), True at words.

    Returns:
        (b,), int64.

    Raises:
        ValueError: if a sentence is empty, or padded anywhere but at its end.
    """
    lengths = mask.sum(dim=1)
    if (lengths == 0).any():
        row = int((lengths == 0).nonzero()[0])
        raise ValueError(
            f"expected at least one word in every sentence, found none in sentence "
            f"{row}: leave empty sentences out of the batch (the mask is True at words)"
        )
    late = (mask[:, 1:] & ~mask[:, :-1]).any(dim=1)
    if late.any():
        raise ValueError(
            "expected padding only after the last word, found a word after padding "
            f"in sentence {int(late.nonzero()[0])}: pad on the right (and the mask is "
            "True at words)"
        )
    return lengths


def run_packed(rnn: nn.RNNBase, vectors: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
    """Run a recurrent layer over the words only, so that padding has no influence.

    Args:
        rnn: a batch-first `nn.GRU`, `nn.LSTM` or `nn.RNN`.
        vectors: (b, s, d).
        mask: (b, s), True at words.

    Returns:
        The states (b, s, directions * d_h), zero at padding, and the final hidden
            states (layers * directions, b, d_h), each from the end of its own sentence.

    Raises:
        ValueError: if a sentence is empty, or padded anywhere but at its end.
    """
    lengths = source_lengths(mask).cpu()
    if mask.all():
        states, final = rnn(vectors)  # faster than packing
    else:
        packed = pack_padded_sequence(
            vectors, lengths, batch_first=True, enforce_sorted=False
        )
        states, final = rnn(packed)
        states, _ = pad_packed_sequence(
            states, batch_first=True, total_length=vectors.size(1)
        )
    return states, final[0] if isinstance(final, tuple) else final


class RecurrentTranslator(nn.Module):
    """Encode with a GRU and decode word by word; a subclass defines `step`.

    Args:
        src_vocab_size: number of source words.
        tgt_vocab_size: number of target words.
        d_model: width of the embeddings and of the states, d_h.
        pad_id: id of the padding token, which the model masks.
    """

    def __init__(
        self, src_vocab_size: int, tgt_vocab_size: int, d_model: int, pad_id: int = 1
    ) -> None:
        """Make the embeddings and the encoder."""
        super().__init__()
        self.pad_id = pad_id
        self.src_embedding = nn.Embedding(src_vocab_size, d_model)
        self.tgt_embedding = nn.Embedding(tgt_vocab_size, d_model)
        self.encoder = nn.GRU(d_model, d_model, batch_first=True)

    def encode(self, src: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Encode the source.

        Args:
            src: ids (b, s), padded on the right.

        Returns:
            The memory (b, s, d_h), the last state (b, d_h) and the mask (b, s).

        Raises:
            ValueError: if a sentence is empty, or padded anywhere but at its end.
        """
        mask = src != self.pad_id
        memory, final = run_packed(self.encoder, self.src_embedding(src), mask)
        return memory, final[-1], mask

    def step(
        self, token: Tensor, state: Tensor, memory: Tensor, mask: Tensor
    ) -> DecoderStep:
        """Decode one position.

        Args:
            token: (b,), the previous word.
            state: (b, d_h), the state after the previous word.
            memory: (b, s, d_h), the states of the encoder.
            mask: (b, s), True at source words.
        """
        raise NotImplementedError(f"{type(self).__name__} must define step")

    def forward(self, src: Tensor, tgt_in: Tensor) -> tuple[Tensor, Tensor]:
        """Decode with teacher forcing: position i receives the true word i - 1.

        Args:
            src: ids (b, s), padded on the right.
            tgt_in: ids (b, t), the target shifted right.

        Returns:
            Logits (b, t, vocab_size) and attention weights (b, t, s).
        """
        memory, state, mask = self.encode(src)
        steps = []
        for token in tgt_in.unbind(dim=1):
            steps.append(self.step(token, state, memory, mask))
            state = steps[-1].state
        logits = torch.stack([step.logits for step in steps], dim=1)
        return logits, torch.stack([step.weights for step in steps], dim=1)

    @torch.no_grad()
    def greedy_decode(
        self, src: Tensor, sos_id: int, eos_id: int, max_len: int
    ) -> tuple[Tensor, Tensor]:
        """Write the likeliest next word repeatedly, until all sentences end.

        Args:
            src: ids (b, s), padded on the right.
            sos_id: id of the token before the first word.
            eos_id: id that ends a sentence; padding follows it.
            max_len: number of words after which to stop, at least 1.

        Returns:
            Ids (b, t) without `sos_id`, and attention weights (b, t, s), t <= max_len.

        Raises:
            ValueError: if `max_len` is below 1.
        """
        if max_len < 1:
            raise ValueError(f"expected max_len of at least 1, found {max_len}")
        memory, state, mask = self.encode(src)
        token = src.new_full((src.size(0),), sos_id)
        done = torch.zeros_like(token, dtype=torch.bool)
        ids: list[Tensor] = []
        weights: list[Tensor] = []
        while len(ids) < max_len and not done.all():
            logits, state, attended = self.step(token, state, memory, mask)
            token = logits.argmax(dim=-1).masked_fill(done, self.pad_id)
            done = done | (token == eos_id)
            ids.append(token)
            weights.append(attended)
        return torch.stack(ids, dim=1), torch.stack(weights, dim=1)


class Seq2Seq(RecurrentTranslator):
    """Translate from a single vector, the encoder's last state (Cho et al., 2014).

    The model has no attention, and it returns attention weights of 0.
    """

    def __init__(
        self, src_vocab_size: int, tgt_vocab_size: int, d_model: int, pad_id: int = 1
    ) -> None:
        """Make the decoder's cell and the output layer."""
        super().__init__(src_vocab_size, tgt_vocab_size, d_model, pad_id)
        self.decoder = nn.GRUCell(d_model, d_model)
        self.output = nn.Linear(d_model, tgt_vocab_size)

    def step(
        self, token: Tensor, state: Tensor, memory: Tensor, mask: Tensor
    ) -> DecoderStep:
        """Decode one position from the previous word and the state only."""
        state = self.decoder(self.tgt_embedding(token), state)
        return DecoderStep(self.output(state), state, memory.new_zeros(mask.shape))

"""Recurrent translators for a whole corpus, with and without attention.

The encoder reads in both directions. The decoder is that of Bahdanau et al. (2015),
whose output depends on the state, the context and the previous word. Without attention,
the context of every word is the last state of each direction of the encoder, as in Cho
et al. (2014). Both have the interface of `transformer.model.Transformer`: `encode`
reads the source, and `decode` computes logits for every next word.

Shapes: b sentences, s source and t target positions, d_h the width of a state.
"""

from collections.abc import Callable

import torch
from torch import Tensor, nn

from transformer.recurrent.config import RecurrentConfig
from transformer.recurrent.seq2seq import run_packed

Look = Callable[[Tensor], tuple[Tensor, Tensor]]


class BidirectionalTranslator(nn.Module):
    """A bidirectional GRU encoder, and a GRU decoder that uses its states.

    Args:
        config: sizes, and whether the decoder uses attention.
    """

    def __init__(self, config: RecurrentConfig) -> None:
        """Make all parts of the translator."""
        super().__init__()
        self.config = config
        d_model, d_h = config.d_model, config.d_h
        self.src_embedding = nn.Embedding(config.src_vocab_size, d_model)
        self.tgt_embedding = nn.Embedding(config.tgt_vocab_size, d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.encoder = nn.GRU(d_model, d_h, batch_first=True, bidirectional=True)
        self.first_state = nn.Linear(d_h, d_h)
        self.attention = LookBack(d_h) if config.attention else None
        self.cell = nn.GRUCell(d_model + 2 * d_h, d_h)
        self.before_output = nn.Linear(d_h + 2 * d_h + d_model, 2 * d_model)
        self.projection = nn.Linear(d_model, config.tgt_vocab_size)
        for table in (self.src_embedding, self.tgt_embedding):
            nn.init.normal_(table.weight, std=d_model**-0.5)

    def encode(self, src: Tensor) -> Tensor:
        """Encode the source.

        Args:
            src: ids (b, s), padded on the right.

        Returns:
            The memory (b, s, 2 d_h), with the forward and the backward state at each
                word.

        Raises:
            ValueError: if a sentence is empty, or padded anywhere but at its end.
        """
        vectors = self.dropout(self.src_embedding(src))
        memory, _ = run_packed(self.encoder, vectors, src != self.config.pad_id)
        return self.dropout(memory)

    def decode(
        self, tgt: Tensor, memory: Tensor, src: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        """Compute logits of every next word, given the previous words and the memory.

        Args:
            tgt: ids (b, t), from <sos>.
            memory: (b, s, 2 d_h), from `encode`.
            src: ids (b, s), which show where the memory has padding.

        Returns:
            Logits (b, t, tgt_vocab_size), and a list with the attention weights (b, 1,
                t, s), like those of a Transformer with one layer and one head. Without
                attention all weights are 0.
        """
        mask = src != self.config.pad_id
        words = self.dropout(self.tgt_embedding(tgt))  # (b, t, d_model)
        look = self._look(memory, mask)
        state = torch.tanh(self.first_state(memory[:, 0, self.config.d_h :]))
        seen, looks = [], []
        for word in words.unbind(dim=1):
            context, weights = look(state)  # uses the previous word's state
            state = self.cell(torch.cat([word, context], dim=-1), state)
            seen.append(torch.cat([state, context], dim=-1))
            looks.append(weights)
        return (
            self._scores(torch.stack(seen, dim=1), words),
            [torch.stack(looks, dim=1).unsqueeze(1)],
        )

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Compute logits of every next word of the target.

        Args:
            src: ids (b, s), padded on the right.
            tgt: ids (b, t), from <sos>, without the last token.

        Returns:
            Logits (b, t, tgt_vocab_size). The logits at [:, i] are for the word after
                tgt[:, i].
        """
        return self.decode(tgt, self.encode(src), src)[0]

    def _look(self, memory: Tensor, mask: Tensor) -> Look:
        """Return a function from a state to context (b, 2 d_h) and weights (b, s)."""
        if self.attention is not None:
            return self.attention.into(memory, mask)
        context, nothing = last_states(memory, mask), memory.new_zeros(mask.shape)
        return lambda state: (context, nothing)

    def _scores(self, seen: Tensor, words: Tensor) -> Tensor:
        """Compute logits (b, t, tgt_vocab_size) from states, contexts and words.

        The layer before the projection is maxout, which takes pairs of numbers and
        keeps the larger number of each pair. `words` are the previous words.
        """
        hidden = self.before_output(torch.cat([seen, words], dim=-1))
        hidden = hidden.unflatten(-1, (-1, 2)).amax(dim=-1)  # (b, t, d_model)
        return self.projection(self.dropout(hidden))


class LookBack(nn.Module):
    """Additive attention (Bahdanau et al., 2015) that projects the memory only once.

    Args:
        d_h: width of the decoder's state; the memory is twice as wide.
    """

    def __init__(self, d_h: int) -> None:
        """Make the matrices W and U and the vector v."""
        super().__init__()
        self.w_state = nn.Linear(d_h, d_h, bias=False)
        self.w_memory = nn.Linear(2 * d_h, d_h, bias=False)
        self.v = nn.Linear(d_h, 1, bias=False)

    def into(self, memory: Tensor, mask: Tensor) -> Look:
        """Prepare the memory, and return a function that attends to it with a state.

        Args:
            memory: (b, s, 2 d_h); U h_j is computed here, once for all states.
            mask: bool (b, s), True at words; every sentence has at least one.

        Returns:
            A function of a state (b, d_h). It returns the context (b, 2 d_h) and the
            weights (b, s).
        """
        keys = self.w_memory(memory)  # (b, s, d_h)
        hidden = ~mask

        def look(state: Tensor) -> tuple[Tensor, Tensor]:
            query = self.w_state(state).unsqueeze(1)  # (b, 1, d_h)
            scores = self.v(torch.tanh(query + keys)).squeeze(-1)  # (b, s)
            weights = scores.masked_fill(hidden, -torch.inf).softmax(dim=-1)
            return (weights.unsqueeze(1) @ memory).squeeze(1), weights

        return look


def last_states(memory: Tensor, mask: Tensor) -> Tensor:
    """Join the final states of the two directions.

    Args:
        memory: (b, s, 2 d_h), the forward state first.
        mask: bool (b, s), True at words, which come before all padding.

    Returns:
        (b, 2 d_h), the forward state at the last word and the backward state at the
        first word.
    """
    forward, backward = memory.chunk(2, dim=-1)  # (b, s, d_h) each
    ends = mask.sum(dim=1) - 1
    rows = torch.arange(len(ends), device=ends.device)
    return torch.cat([forward[rows, ends], backward[:, 0]], dim=-1)

"""The first attention: recurrent networks that attend to their input.

There is a GRU encoder-decoder with attention (Bahdanau et al., 2015; Luong et al.,
2015), whose version without attention is in `seq2seq`, and a bidirectional LSTM that
classifies by attending to its own states.

Shapes: b sentences, s source and t target positions, d_h the width of a state. Masks
are bool (b, s), True where a position may be attended to.
"""

import torch
from torch import Tensor, nn

from transformer.recurrent.seq2seq import DecoderStep, RecurrentTranslator, run_packed


def shift_right(tgt: Tensor, sos_id: int) -> Tensor:
    """Put `sos_id` before the target and drop its last word, for teacher forcing.

    Args:
        tgt: ids (b, t), the words that the decoder must predict.
        sos_id: id of the token that starts a sentence.

    Returns:
        Ids (b, t), the decoder's input: at position i, word i - 1 of `tgt`.

    Raises:
        ValueError: if `tgt` is not (b, t) with t of at least 1.
    """
    if tgt.dim() != 2 or tgt.size(1) == 0:
        raise ValueError(
            "expected target ids of shape (b, t) with t of at least 1, found shape "
            f"{tuple(tgt.shape)}"
        )
    ### BEGIN SOLUTION
    start = torch.full_like(tgt[:, :1], sos_id)  # (b, 1)
    return torch.cat([start, tgt[:, :-1]], dim=1)
    ### END SOLUTION


def additive_score(
    state: Tensor, memory: Tensor, w_state: Tensor, w_memory: Tensor, v: Tensor
) -> Tensor:
    """Compute v · tanh(W g + U h_j) for each j (Bahdanau et al., 2015, A.1.2).

    Args:
        state: g (b, d_h), the decoder's previous state.
        memory: h_1 ... h_s (b, s, m), the encoder's states.
        w_state: W (a, d_h), in the layout of `nn.Linear`.
        w_memory: U (a, m), in the layout of `nn.Linear`.
        v: (a,).

    Returns:
        Scores (b, s), one for each source position, finite for states of any size.
    """
    ### BEGIN SOLUTION
    query = (state @ w_state.T).unsqueeze(1)  # (b, 1, a)
    keys = memory @ w_memory.T  # (b, s, a)
    return torch.tanh(query + keys) @ v
    ### END SOLUTION


def attend(
    scores: Tensor, values: Tensor, mask: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """Average the values, weighted by the softmax of their scores.

    Args:
        scores: (b, s).
        values: (b, s, d).
        mask: (b, s), True = may be attended to. None = all may be.

    Returns:
        The context (b, d) and the weights (b, s). Both are all 0 for a sentence with
        nothing to attend to.
    """
    ### BEGIN SOLUTION
    if mask is None:
        mask = torch.ones_like(scores, dtype=torch.bool)
    lowest = torch.finfo(scores.dtype).min
    weights = scores.masked_fill(~mask, lowest).softmax(dim=-1)
    weights = weights.masked_fill(~mask, 0.0)  # nothing to attend to: zeros, not 1/s
    context = (weights.unsqueeze(1) @ values).squeeze(1)  # (b, 1, s) @ (b, s, d)
    return context, weights
    ### END SOLUTION


def concat_final_states(h_n: Tensor) -> Tensor:
    """Join the last layer's final forward and backward states, sentence by sentence.

    Args:
        h_n: (layers * 2, b, d_h), as a bidirectional `nn.LSTM` returns it, layer by
            layer, forward before backward.

    Returns:
        (b, 2 d_h), the forward state first.

    Raises:
        ValueError: if `h_n` has another shape.
    """
    if h_n.dim() != 3 or h_n.size(0) == 0 or h_n.size(0) % 2:
        raise ValueError(
            "expected final states of shape (layers * 2, b, d_h), found shape "
            f"{tuple(h_n.shape)}: is the layer bidirectional?"
        )
    ### BEGIN SOLUTION
    forward, backward = h_n[-2], h_n[-1]  # (b, d_h) each
    return torch.cat([forward, backward], dim=-1)
    ### END SOLUTION


class AdditiveAttention(nn.Module):
    """Score states with a small network (Bahdanau et al., 2015).

    Args:
        state_size: width of the decoder's state.
        memory_size: width of the encoder's states.
        hidden_size: width a of the small network.
    """

    def __init__(self, state_size: int, memory_size: int, hidden_size: int) -> None:
        """Make the matrices W and U and the vector v of `additive_score`."""
        super().__init__()
        self.w_state = nn.Linear(state_size, hidden_size, bias=False)
        self.w_memory = nn.Linear(memory_size, hidden_size, bias=False)
        self.v = nn.Linear(hidden_size, 1, bias=False)

    def forward(
        self, state: Tensor, memory: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the context (b, m) and weights (b, s) for state (b, d_h)."""
        w_state, w_memory = self.w_state.weight, self.w_memory.weight
        scores = additive_score(state, memory, w_state, w_memory, self.v.weight[0])
        return attend(scores, memory, mask)


class GeneralAttention(nn.Module):
    """Score by g · W h, a linear map and then a dot product (Luong et al., 2015).

    There is no bias, because it would add the same number to all scores of a sentence,
    which does not change the softmax.

    Args:
        state_size: width of the decoder's state.
        memory_size: width of the encoder's states.
    """

    def __init__(self, state_size: int, memory_size: int) -> None:
        """Make the map from the memory to the state's width."""
        super().__init__()
        self.w_memory = nn.Linear(memory_size, state_size, bias=False)

    def forward(
        self, state: Tensor, memory: Tensor, mask: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return the context (b, m) and weights (b, s) for state (b, d_h)."""
        keys = self.w_memory(memory)  # (b, s, d_h)
        scores = (keys @ state.unsqueeze(-1)).squeeze(-1)
        return attend(scores, memory, mask)


class AttentionSeq2Seq(RecurrentTranslator):
    """Translate, attending to the source again for each word (Bahdanau et al., 2015).

    Args:
        src_vocab_size: number of source words.
        tgt_vocab_size: number of target words.
        attention: `AdditiveAttention` or `GeneralAttention`, for states and a memory
            that are both `d_model` wide.
        d_model: width of the embeddings and of the states, d_h.
        pad_id: id of the padding token, which the model masks.
    """

    def __init__(
        self,
        src_vocab_size: int,
        tgt_vocab_size: int,
        attention: nn.Module,
        d_model: int,
        pad_id: int = 1,
    ) -> None:
        """Make the decoder's cell and the output layer, which also read the context."""
        super().__init__(src_vocab_size, tgt_vocab_size, d_model, pad_id)
        self.attention = attention
        self.decoder = nn.GRUCell(2 * d_model, d_model)
        self.output = nn.Linear(2 * d_model, tgt_vocab_size)

    def step(
        self, token: Tensor, state: Tensor, memory: Tensor, mask: Tensor
    ) -> DecoderStep:
        """Attend with the old state; feed the context to the cell and the output."""
        context, weights = self.attention(state, memory, mask)
        seen = torch.cat([self.tgt_embedding(token), context], dim=-1)  # (b, 2 d_h)
        state = self.decoder(seen, state)
        logits = self.output(torch.cat([state, context], dim=-1))
        return DecoderStep(logits, state, weights)


class BiLSTMAttention(nn.Module):
    """Classify a sentence by attending to the states of a bidirectional LSTM.

    Args:
        vocab_size: number of words.
        n_classes: number of classes.
        d_model: width of the embeddings.
        d_h: width of a state in each direction.
        pad_id: id of the padding token, which the model masks by itself.
    """

    def __init__(
        self,
        vocab_size: int,
        n_classes: int,
        d_model: int,
        d_h: int,
        pad_id: int = 1,
    ) -> None:
        """Make the embedding, the LSTM and the output layer."""
        super().__init__()
        self.pad_id = pad_id
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.lstm = nn.LSTM(d_model, d_h, batch_first=True, bidirectional=True)
        self.output = nn.Linear(2 * d_h, n_classes)

    def forward(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Attend to all states with the joined final states as query, and classify.

        The score of a position is the dot product of its state and the query.

        Args:
            ids: (b, s), padded on the right, with at least one word in each sentence.

        Returns:
            Logits (b, n_classes) and attention weights (b, s).
        """
        ### BEGIN SOLUTION
        mask = ids != self.pad_id
        states, final = run_packed(self.lstm, self.embedding(ids), mask)
        query = concat_final_states(final)  # (b, 2 d_h)
        scores = (states @ query.unsqueeze(-1)).squeeze(-1)  # (b, s)
        context, weights = attend(scores, states, mask)
        return self.output(context), weights
        ### END SOLUTION

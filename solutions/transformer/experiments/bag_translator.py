"""A tiny model with the interface of a `Transformer`, for testing a training step."""

from torch import Tensor, nn


class BagTranslator(nn.Module):
    """Predict each next word from the previous word and the mean of the source words.

    The model ignores the order of the source words. It trains in a few seconds, and you
    can check every number by hand.

    Args:
        vocab_size: words in each vocabulary.
        d_model: width of a word's vector.
        dropout: rate for the sum of the two vectors.
        pad_id: id of the padding, which the mean ignores.
    """

    def __init__(
        self, vocab_size: int, d_model: int, dropout: float = 0.0, pad_id: int = 1
    ) -> None:
        """Make two embedding tables and the output layer."""
        super().__init__()
        self.pad_id = pad_id
        self.src_embedding = nn.Embedding(vocab_size, d_model)
        self.tgt_embedding = nn.Embedding(vocab_size, d_model)
        self.dropout = nn.Dropout(dropout)
        self.projection = nn.Linear(d_model, vocab_size)

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Compute the logits of every next word.

        Args:
            src: ids (b, s).
            tgt: ids (b, t), from <sos>, without the last token.

        Returns:
            Logits (b, t, vocab_size).
        """
        is_word = (src != self.pad_id).unsqueeze(-1)
        total = (self.src_embedding(src) * is_word).sum(dim=1, keepdim=True)
        bag = total / is_word.sum(dim=1, keepdim=True).clamp(min=1)  # (b, 1, d_model)
        return self.projection(self.dropout(self.tgt_embedding(tgt) + bag))

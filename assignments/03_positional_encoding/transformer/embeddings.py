"""Convert words to vectors (Section 3.4 of Vaswani et al., 2017)."""

import math

from torch import Tensor, nn


class TokenEmbedding(nn.Module):
    """Look up words and multiply their vectors by √d_model.

    The rows have the initialisation of Glorot & Bengio (2010). With N(0, 1), the
    default of `nn.Embedding`, √d_model would make words much larger than positions.

    Args:
        vocab_size: number of words.
        d_model: width of a word's vector.
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        """Make the table of vectors, one row for each word."""
        super().__init__()
        self.d_model = d_model
        self.table = nn.Embedding(vocab_size, d_model)
        nn.init.xavier_uniform_(self.table.weight)

    def forward(self, ids: Tensor) -> Tensor:
        """Return the scaled vectors (b, t, d_model) of the words `ids` (b, t)."""
        return self.table(ids) * math.sqrt(self.d_model)


def tie_weights(embedding: TokenEmbedding, projection: nn.Linear) -> None:
    """Let the output projection use the embedding's matrix: one parameter, not two.

    Args:
        embedding: its table is (vocab_size, d_model).
        projection: from d_model to vocab_size. Its weight is replaced.

    Raises:
        ValueError: if the two matrices differ in shape.
    """
    if projection.weight.shape != embedding.table.weight.shape:
        raise ValueError(
            "embedding and projection must have matrices of one shape: found "
            f"{tuple(embedding.table.weight.shape)} and "
            f"{tuple(projection.weight.shape)}"
        )
    projection.weight = embedding.table.weight

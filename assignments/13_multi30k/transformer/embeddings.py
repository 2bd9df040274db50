"""Words to vectors (Section 3.4 of Vaswani et al., 2017)."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.data.special_tokens import SPECIAL_TOKENS


def build_vocabulary(
    sentences: Iterable[Sequence[str]],
    min_freq: int = 1,
    specials: Sequence[str] = SPECIAL_TOKENS,
) -> tuple[list[str], dict[str, int]]:
    """Number the words of a corpus, the most frequent first.

    Args:
        sentences: tokens of each sentence, any strings; may be an iterator, read only
            once.
        min_freq: how often a word must occur to get a number.
        specials: tokens that come first, in this order, however often they occur.

    Returns:
        The words by number, and the number of each word. Words that occur equally
        often stand in alphabetical order.
    """
    counts = Counter(token for sentence in sentences for token in sentence)
    frequent = [w for w in counts if counts[w] >= min_freq and w not in specials]
    itos = [*specials, *sorted(frequent, key=lambda word: (-counts[word], word))]
    return itos, {word: number for number, word in enumerate(itos)}


def one_hot_embedding(ids: Tensor, weight: Tensor) -> Tensor:
    """Embed words as a one-hot vector times a matrix: what a look-up abbreviates.

    Args:
        ids: (...) word numbers.
        weight: (vocab_size, d_model), one row a word.

    Returns:
        (..., d_model).
    """
    one_hot = F.one_hot(ids, num_classes=weight.size(0))  # (..., vocab_size)
    return one_hot.to(weight.dtype) @ weight


def lookup_gradient(ids: Tensor, upstream: Tensor, vocab_size: int) -> Tensor:
    """Compute what a look-up sends back to its table: the gradient of each row.

    A row gets the sum of the gradients of all places where its word stands; the row of
    a word that does not occur gets zeros.

    Args:
        ids: (...) word numbers that were looked up.
        upstream: (..., d_model), the gradient of the loss for each vector looked up.
        vocab_size: number of rows of the table.

    Returns:
        (vocab_size, d_model), of the dtype of `upstream`.
    """
    d_model = upstream.size(-1)
    table = torch.zeros(
        vocab_size, d_model, dtype=upstream.dtype, device=upstream.device
    )
    return table.index_add(0, ids.reshape(-1), upstream.reshape(-1, d_model))


class TokenEmbedding(nn.Module):
    """Look words up and multiply their vectors by √d_model.

    The rows are initialised as Glorot & Bengio (2010) propose: with N(0, 1), the
    default of `nn.Embedding`, the factor √d_model would drown the positions.

    Args:
        vocab_size: number of words.
        d_model: width of a word's vector.
    """

    def __init__(self, vocab_size: int, d_model: int) -> None:
        """Make the table of vectors, one row a word."""
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
        projection: from d_model to vocab_size; its weight is replaced.

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

"""Predict each next word with a decoder that has no source, as GPT does."""

import torch.nn.functional as F
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.encoder import Encoder
from transformer.masks import target_mask
from transformer.parts import InputEmbedding


class LanguageModel(nn.Module):
    """Embed the words so far, pass them through a stack, and score the next word.

    Without a source there is no cross-attention, and a decoder layer without it has
    the parts of an encoder layer.

    Args:
        config: sizes and variants, with the target's vocabulary.
    """

    def __init__(self, config: TransformerConfig) -> None:
        """Make the parts, initialised as in Glorot & Bengio (2010)."""
        super().__init__()
        self.embedding = InputEmbedding(config.tgt_vocab_size, config)
        self.stack = Encoder(config)
        self.projection = nn.Linear(config.d_model, config.tgt_vocab_size)
        self.pad_id = config.pad_id
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def forward(self, ids: Tensor) -> Tensor:
        """Score the word that follows each of `ids`.

        Args:
            ids: word numbers (b, t), with `pad_id` for padding, in any place.

        Returns:
            Logits (b, t, vocab_size). Row i depends only on the words 0 to i, and on no
            padding. Rows of padding may have any values.
        """
        ### BEGIN SOLUTION
        mask = target_mask(ids, self.pad_id)
        return self.projection(self.stack(self.embedding(ids), mask))
        ### END SOLUTION

    def loss(self, ids: Tensor) -> Tensor:
        """Compute the mean cross-entropy of each word, given the words before it.

        Args:
            ids: word numbers (b, t) from `<sos>` to `<eos>`, padded on the right. The
                model reads all but the last, and predicts all but the first.

        Returns:
            One number: the mean over all words of the batch, without padding.
        """
        ### BEGIN SOLUTION
        logits, wanted = self(ids[:, :-1]), ids[:, 1:]
        return F.cross_entropy(
            logits.flatten(0, 1), wanted.flatten(), ignore_index=self.pad_id
        )
        ### END SOLUTION

"""Train a small Transformer correctly, and with three mistakes that lower its loss."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice

import torch
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.data import Batches, SentencePair, Vocabularies
from transformer.masks import padding_mask
from transformer.model import Transformer
from transformer.training.config import TrainingConfig
from transformer.training.label_smoothing import label_smoothed_loss
from transformer.training.step import teacher_forcing_split
from transformer.translation.beams import SearchSettings
from transformer.translation.cache import CachedTransformer
from transformer.translation.evaluation import detokenised_bleu, translate_pairs
from transformer.translation.inference import decode_step_cached

Split = Callable[[Tensor], tuple[Tensor, Tensor]]
NO_WORD = -1  # as padding id of the loss: no token is ignored


class SeeingTransformer(Transformer):
    """A Transformer without the causal mask, so its decoder sees the future words."""

    def decode(
        self, tgt: Tensor, memory: Tensor, src: Tensor
    ) -> tuple[Tensor, list[Tensor]]:
        """Compute logits like `Transformer.decode`, but without the causal mask."""
        pad_id = self.config.pad_id
        x, weights = self.decoder(
            self.tgt_embedding(tgt),
            memory,
            padding_mask(tgt, pad_id),
            padding_mask(src, pad_id),
        )
        return self.projection(x), weights


def split_unshifted(tgt: Tensor) -> tuple[Tensor, Tensor]:
    """Return the decoder's input as its own target, as if the shift were forgotten."""
    return tgt[:, :-1], tgt[:, :-1]


@dataclass(frozen=True)
class Way:
    """Describe how to train, correctly or with one mistake.

    Attributes:
        split: a function from sentences to the decoder's input and target.
        loss_pad_id: id that the loss ignores.
        model: a class or function that makes the model.
    """

    split: Split = teacher_forcing_split
    loss_pad_id: int = 1
    model: Callable[[TransformerConfig], Transformer] = Transformer


WAYS = {
    "right": Way(),
    "target not shifted": Way(split=split_unshifted),
    "no causal mask": Way(model=SeeingTransformer),
    "padding counted": Way(loss_pad_id=NO_WORD),
}


@dataclass(frozen=True)
class Run:
    """Hold the result of a training run.

    Attributes:
        losses: the loss of each step, computed as in this run.
        model: the trained model, in evaluation mode.
    """

    losses: list[float]
    model: Transformer


def train_way(
    way: Way, batches: Batches, config: TransformerConfig, training: TrainingConfig
) -> Run:
    """Train for `training.epoch_steps` steps, correctly or with one mistake.

    Args:
        way: whether and how the training differs from the correct one.
        batches: the training data.
        config: the model's configuration.
        training: rates, clipping, smoothing and seed.
    """
    torch.manual_seed(training.seed)
    model = way.model(config).train()
    losses: list[float] = []
    optimizer = torch.optim.Adam(model.parameters(), betas=training.betas)
    for batch in islice(batches, training.epoch_steps):
        optimizer.param_groups[0]["lr"] = training.rate_at(len(losses) + 1)
        decoder_input, target = way.split(batch.tgt)
        logits = model(batch.src, decoder_input)
        loss = label_smoothed_loss(logits, target, way.loss_pad_id, training.smoothing)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), training.max_norm)
        optimizer.step()
        losses.append(loss.item())
    return Run(losses, model.eval())


def greedy_bleu(
    model: Transformer, pairs: Sequence[SentencePair], words: Vocabularies
) -> float:
    """Translate greedily, and score with sacreBLEU on detokenised lower-cased text.

    The model uses the masks of its training, so a `SeeingTransformer` translates
    without the causal mask.
    """
    sees = isinstance(model, SeeingTransformer)  # a cache would hide the future
    writer = model if sees else CachedTransformer(model, decode_step_cached)
    settings = SearchSettings(1, max_len=16)
    found = translate_pairs(writer, pairs, words, settings)
    return detokenised_bleu(found, [pair.tgt for pair in pairs]).score

"""A faster search with the same results as `transformer.translation.inference`.

It is faster for these reasons: No word passes through a layer twice, and most words
need no keys and values. The hypotheses of a sentence share its memory without copies.
Sentences leave the batch when all their hypotheses have ended. Sources are encoded a
few at a time, so that they need little padding.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.data import trim_padding
from transformer.decoder import DecoderLayer, layers_of
from transformer.masks import padding_mask
from transformer.model import Transformer, evaluating
from transformer.translation.beams import Beams, SearchSettings, length_penalty
from transformer.translation.fast_attention import Reader, hide
from transformer.translation.inference import best_translation

LEAVING = 0.15  # minimum share of ended sentences for removing them from the batch
READ_TOGETHER = 64  # number of sources that are padded and encoded together
ROOM = 8  # number of words by which a layer's storage grows


class _Layer:
    """A decoder layer, and the data that its attention layers read.

    `written` stores the vectors of the words that each row has written, (b * k, room,
    d_model). With several beams, a sentence has more queries than words. It is then
    faster to compute the keys and values once, so `key_value` stores them, each (b, h,
    s, d_k).

    Args:
        layer: a layer of the decoder.
        memory: (b, s, d_model).
        src_mask: (b, 1, 1, s).
        beams: number of hypotheses k.
    """

    def __init__(
        self, layer: DecoderLayer, memory: Tensor, src_mask: Tensor, beams: int
    ) -> None:
        """Start without written words."""
        self.layer = layer
        self.read_written = Reader(layer.self_attention)
        self.read_memory = Reader(layer.cross_attention)
        self.key_value: tuple[Tensor, Tensor] | None = None
        if beams > 1 or not src_mask.any(dim=-1).all():  # no word to read
            key, value = layer.cross_attention.project_key_value(memory, memory)
            self.key_value = key.contiguous(), value.contiguous()
        b, _, d_model = memory.shape
        self.written = memory.new_empty(b * beams, ROOM, d_model)
        self.spare = torch.empty_like(self.written)  # using this memory again is faster

    def select(self, rows: Tensor, sentences: Tensor | None) -> None:
        """Keep only these rows and sentences."""
        kept = self.spare[: len(rows)]
        torch.index_select(self.written, 0, rows, out=kept)
        self.written, self.spare = kept, self.written
        if sentences is not None and self.key_value is not None:
            key, value = self.key_value
            self.key_value = (
                key.index_select(0, sentences),
                value.index_select(0, sentences),
            )

    def write(self, x: Tensor, t: int) -> Tensor:
        """Add word t's vectors (b * k, d_model), and return all words' vectors."""
        if t == self.written.size(1):
            self.written = F.pad(self.written, (0, 0, 0, ROOM))
            self.spare = torch.empty_like(self.written)
        self.written[:, t] = x
        return self.written[:, : t + 1]

    def step(self, x: Tensor, t: int, tgt_hidden: Tensor, search: _Search) -> Tensor:
        """Pass word t of every hypothesis (b, k, d_model) through the layer.

        This equals `inference.decode_step_cached`, but here the k hypotheses of a
        sentence are k queries to the same memory.
        """
        layer = self.layer

        def look_back(y: Tensor) -> Tensor:
            y = y.flatten(0, 1)
            found = self.read_written(y, self.write(y, t), tgt_hidden)
            return found.view(x.shape)

        def look_up(y: Tensor) -> Tensor:
            if self.key_value is None:
                y = y.flatten(0, 1)
                found = self.read_memory(y, search.memory, search.src_hidden)
                return found.view(x.shape)
            q = layer.cross_attention.project_query(y)
            return layer.cross_attention.attend(q, *self.key_value, search.src_mask)[0]

        x = layer.add_norm2(layer.add_norm1(x, look_back), look_up)
        return layer.add_norm3(x, layer.feed_forward)


class _Search:
    """Hold the sentences that are still in the batch, and their original positions.

    Args:
        model: the model, in evaluation mode.
        src: ids (b, s).
        settings: settings of the search.
    """

    def __init__(self, model: Transformer, src: Tensor, settings: SearchSettings):
        """Encode the sources, and start all hypotheses."""
        self.model, self.settings = model, settings
        k = settings.beam_size
        self.memory = _encode(model, src)
        self.src_mask = padding_mask(src, model.config.pad_id)
        self.src_hidden = hide(self.src_mask, self.memory.dtype)
        self.layers = [
            _Layer(layer, self.memory, self.src_mask, k)
            for layer in layers_of(model.decoder)
        ]
        self.logits_memory = self.memory.new_empty(
            src.size(0) * k, model.config.tgt_vocab_size
        )
        self.beams = Beams.start(src, settings)
        self.score = self.beams.log_prob
        self.has_written_padding = False
        self.places = torch.arange(src.size(0), device=src.device)

    def logits(self) -> Tensor:
        """Compute logits (b, k, vocab_size) of the next word of every hypothesis."""
        tgt, model = self.beams.tgt, self.model
        b, k, length = tgt.shape
        hidden = self.memory.new_zeros(1, 1, 1)
        if self.has_written_padding:
            mask = padding_mask(tgt.flatten(0, 1), model.config.pad_id)
            hidden = hide(mask, hidden.dtype)
        newest = tgt[:, :, -1].flatten().unsqueeze(1)
        x = model.tgt_embedding(newest, start=length - 1).view(b, k, -1)
        for layer in self.layers:
            x = layer.step(x, length - 1, hidden, self)
        x, projection = model.decoder.norm(x).flatten(0, 1), model.projection
        scores = self.logits_memory[: len(x)]  # uses the same memory again
        torch.addmm(projection.bias, x, projection.weight.t(), out=scores)
        return scores.view(b, k, -1)

    def write_word(self) -> None:
        """Add one word to every hypothesis, and keep the k best of each sentence."""
        beams, pad_id = self.beams, self.model.config.pad_id
        b, k = beams.finished.shape
        gain, word = _most_probable(self.logits(), k)  # (b, k, n)
        n = gain.size(-1)
        ended = beams.finished.unsqueeze(-1)
        only_padding = torch.full_like(gain, -torch.inf)
        only_padding[..., 0] = 0.0  # padding after the end is free
        gain = torch.where(ended, only_padding, gain)
        word = word.masked_fill(ended, pad_id)
        log_prob = (beams.log_prob.unsqueeze(-1) + gain).flatten(1)  # (b, k n)
        divisor = length_penalty(beams.next_length(), self.settings.length_penalty)
        score = log_prob / divisor.repeat_interleave(n, dim=1)
        self.score, best = score.topk(k)
        parent = best // n
        self.beams = beams.extend(
            parent,
            word.flatten(1).gather(1, best),
            log_prob.gather(1, best),
            self.settings.eos_id,
        )
        padding = (self.beams.tgt[:, :, -1] == pad_id) & ~self.beams.finished
        self.has_written_padding |= bool(padding.any())
        if k > 1:
            first = torch.arange(b, device=parent.device).unsqueeze(1) * k
            self.select((first + parent).flatten())

    def select(self, rows: Tensor, sentences: Tensor | None = None) -> None:
        """Keep only these rows in every layer, and these sentences."""
        for layer in self.layers:
            layer.select(rows, sentences)

    def leave(self, ended: Tensor) -> None:
        """Remove the sentences that are marked in `ended` (b,) from the batch."""
        stay = (~ended).nonzero().squeeze(1)
        k = self.settings.beam_size
        within = torch.arange(k, device=stay.device)
        self.select((stay.unsqueeze(1) * k + within).flatten(), stay)
        self.beams = replace(
            self.beams, **{name: part[stay] for name, part in vars(self.beams).items()}
        )
        self.memory = self.memory.index_select(0, stay)
        for name in ("score", "src_mask", "src_hidden", "places"):
            setattr(self, name, getattr(self, name)[stay])


def _encode(model: Transformer, src: Tensor) -> Tensor:
    """Encode sources (b, s) to a memory (b, s, d_model), with any values at padding."""
    parts = src.split(READ_TOGETHER)
    memory = [model.encode(trim_padding(part, model.config.pad_id)) for part in parts]
    missing = [src.size(1) - part.size(1) for part in memory]
    return torch.cat(
        [F.pad(m, (0, 0, 0, n)) for m, n in zip(memory, missing, strict=True)]
    )


def _most_probable(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Find the k most probable words, and overwrite the logits.

    Args:
        logits: logits (..., vocab_size).
        k: number of words to find; all words if there are fewer.

    Returns:
        The words' log-probabilities (..., k), the highest first, and the words.
    """
    k = min(k, logits.size(-1))
    best, word = logits.max(-1, keepdim=True) if k == 1 else logits.topk(k)
    top = best[..., :1]
    total = logits.sub_(top).exp_().sum(-1, keepdim=True)
    return best - top - total.log(), word


@evaluating
def fast_search(
    model: Transformer, src: Tensor, settings: SearchSettings
) -> tuple[Tensor, Tensor]:
    """Return the same result as `inference.beam_search`; beam size 1 is greedy.

    Args:
        model: a `Transformer`, not a `CachedTransformer`.
        src: ids (b, s).
        settings: beam size k (at most the number of words in the vocabulary), length
            penalty and maximum length.

    Returns:
        The padded hypotheses (b, k, t) from `<sos>`, the best first, and their scores
            (b, k). If a sentence has fewer than k hypotheses, the others have the score
            -inf.
    """
    search = _Search(model, src, settings)
    shape = (*search.beams.finished.shape, settings.max_len + 1)
    found = src.new_full(shape, model.config.pad_id)
    score = search.beams.log_prob + search.memory.new_zeros(1)  # same precision
    length = 1
    for step in range(1, settings.max_len + 1):
        search.write_word()
        ended = search.beams.finished.all(dim=1)
        is_over = step == settings.max_len or bool(ended.all())
        if is_over or ended.float().mean() >= LEAVING:
            out = ended | is_over
            length = step + 1
            found[search.places[out], :, :length] = search.beams.tgt[out]
            score[search.places[out]] = search.score[out]
            if is_over:
                break
            search.leave(ended)
    return found[:, :, :length], score


def fast_translation(model: nn.Module, src: Tensor, settings: SearchSettings) -> Tensor:
    """Write the best translation (b, t) of each source (b, s), from `<sos>`.

    Models that are not Transformers use the search of `inference`.
    """
    if not isinstance(model, Transformer):
        return best_translation(model, src, settings)
    return fast_search(model, src, settings)[0][:, 0]

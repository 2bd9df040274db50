"""Search fast: what `transformer.inference` finds, with less work.

Every key and value is computed once. The hypotheses of a sentence share its memory,
which is never copied for them. Sentences whose hypotheses have all ended leave the
batch. Sources are read a few at a time, so that little of what is read is padding.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from torch import Tensor
from torch.nn import functional as F

from transformer.data import trim_padding
from transformer.decoder import DecoderLayer
from transformer.masks import padding_mask
from transformer.search import Beams, SearchSettings, evaluating, length_penalty
from transformer.seq2seq import Transformer

LEAVING = 0.15  # share of the sentences that must have ended for the batch to be cut
READ_TOGETHER = 64  # sources that are padded to one length and encoded together


@dataclass
class _LayerState:
    """Keys and values of a layer: the memory's once a sentence, the words' once a row.

    `memory_key` and `memory_value` are (b, h, s, d_k), `key` and `value`
    (b * k, h, t, d_k).
    """

    memory_key: Tensor
    memory_value: Tensor
    key: Tensor
    value: Tensor

    @classmethod
    def start(cls, layer: DecoderLayer, memory: Tensor, beams: int) -> _LayerState:
        key, value = layer.cross_attention.project_key_value(memory, memory)
        none = key.new_empty(key.size(0) * beams, key.size(1), 0, key.size(-1))
        return cls(key.contiguous(), value.contiguous(), none, none)

    def select(self, rows: Tensor, sentences: Tensor | None) -> None:
        """Keep these rows of the words', and these sentences of the memory's."""
        self.key = self.key.index_select(0, rows)  # faster than self.key[rows]
        self.value = self.value.index_select(0, rows)
        if sentences is not None:
            self.memory_key = self.memory_key.index_select(0, sentences)
            self.memory_value = self.memory_value.index_select(0, sentences)

    def step(
        self, layer: DecoderLayer, x: Tensor, tgt_mask: Tensor | None, src_mask: Tensor
    ) -> Tensor:
        """Pass the newest words (b, k, d_model) through the layer.

        As `transformer.inference.decode_step_cached`, but that the k hypotheses of a
        sentence are k queries of one sentence to the memory.
        """
        b, k, d_model = x.shape

        def look_back(y: Tensor) -> Tensor:
            attention, one = layer.self_attention, y.view(b * k, 1, d_model)
            key, value = attention.project_key_value(one, one)
            self.key = torch.cat([self.key, key], dim=2)
            self.value = torch.cat([self.value, value], dim=2)
            q = attention.project_query(one)
            return attention.attend(q, self.key, self.value, tgt_mask)[0].view_as(y)

        def look_up(y: Tensor) -> Tensor:
            attention = layer.cross_attention
            q = attention.project_query(y)
            return attention.attend(q, self.memory_key, self.memory_value, src_mask)[0]

        x = layer.add_norm2(layer.add_norm1(x, look_back), look_up)
        return layer.add_norm3(x, layer.feed_forward)


class _Search:
    """The sentences that are still in the batch, and where they belong.

    Args:
        model: in evaluation mode.
        src: ids (b, s).
        settings: of the search.
    """

    def __init__(self, model: Transformer, src: Tensor, settings: SearchSettings):
        """Read the sources; nothing is written yet."""
        self.model, self.settings = model, settings
        memory = _encode(model, src)
        self.layers = [
            _LayerState.start(layer, memory, settings.beam_size)
            for layer in model.decoder.layers
        ]
        self.src_mask = padding_mask(src, model.config.pad_id)
        self.beams = Beams.start(src, settings)
        self.worth = self.beams.log_prob
        self.has_written_padding = False
        self.places = torch.arange(src.size(0), device=src.device)

    def logits(self) -> Tensor:
        """Score the word after the last of every hypothesis, (b, k, vocab_size)."""
        tgt, model = self.beams.tgt, self.model
        tgt_mask = None
        if self.has_written_padding:
            tgt_mask = padding_mask(tgt.flatten(0, 1), model.config.pad_id)
        newest = tgt[:, :, -1].flatten().unsqueeze(1)
        x = model.tgt_embedding(newest, start=tgt.size(-1) - 1)
        x = x.view(*tgt.shape[:2], -1)
        for layer, state in zip(model.decoder.layers, self.layers, strict=True):
            x = state.step(layer, x, tgt_mask, self.src_mask)
        return model.projection(model.decoder.norm(x))

    def write_word(self) -> None:
        """Add one word to every hypothesis, and keep the k best of each sentence."""
        beams, pad_id = self.beams, self.model.config.pad_id
        b, k = beams.finished.shape
        gain, word = _most_probable(self.logits(), k)  # (b, k, k)
        ended = beams.finished.unsqueeze(-1)
        only_padding = torch.full_like(gain, -torch.inf)
        only_padding[..., 0] = 0.0  # one that has ended goes on with padding, for free
        gain = torch.where(ended, only_padding, gain)
        word = word.masked_fill(ended, pad_id)
        log_prob = (beams.log_prob.unsqueeze(-1) + gain).flatten(1)  # (b, k k)
        divisor = length_penalty(beams.next_length(), self.settings.length_penalty)
        worth = log_prob / divisor.repeat_interleave(k, dim=1)
        self.worth, best = worth.topk(k)
        parent = best // k
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
        """Keep these rows of every layer, and these sentences."""
        for state in self.layers:
            state.select(rows, sentences)

    def leave(self, ended: Tensor) -> None:
        """Take the sentences out of the batch that are marked in `ended` (b,)."""
        stay = (~ended).nonzero().squeeze(1)
        k = self.settings.beam_size
        within = torch.arange(k, device=stay.device)
        self.select((stay.unsqueeze(1) * k + within).flatten(), stay)
        self.beams = replace(
            self.beams, **{name: part[stay] for name, part in vars(self.beams).items()}
        )
        self.worth, self.src_mask = self.worth[stay], self.src_mask[stay]
        self.places = self.places[stay]


def _encode(model: Transformer, src: Tensor) -> Tensor:
    """Read the sources (b, s) into a memory (b, s, d_model); of padding, it is 0."""
    parts = src.split(READ_TOGETHER)
    memory = [model.encode(trim_padding(part, model.config.pad_id)) for part in parts]
    missing = [src.size(1) - part.size(1) for part in memory]
    return torch.cat(
        [F.pad(m, (0, 0, 0, n)) for m, n in zip(memory, missing, strict=True)]
    )


def _most_probable(logits: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Find the k most probable words; what the scores are kept in is overwritten.

    Args:
        logits: scores (..., vocab_size).
        k: at most vocab_size.

    Returns:
        The words' log-probabilities (..., k), the highest first, and the words.
    """
    best, word = logits.max(-1, keepdim=True) if k == 1 else logits.topk(k)
    top = best[..., :1]
    total = logits.sub_(top).exp_().sum(-1, keepdim=True)
    return best - top - total.log(), word


@evaluating
def fast_search(
    model: Transformer, src: Tensor, settings: SearchSettings
) -> tuple[Tensor, Tensor]:
    """Find what `transformer.inference.beam_search` finds; beam size 1 is greedy.

    Args:
        model: a `Transformer`, not a cached one.
        src: ids (b, s).
        settings: beam size k, at most the words of the vocabulary; length penalty;
            greatest length.

    Returns:
        The hypotheses (b, k, t) from `<sos>`, the best first, padded; and what each is
        worth (b, k). Where a sentence has fewer than k, the others are worth -inf.
    """
    search = _Search(model, src, settings)
    shape = (*search.beams.finished.shape, settings.max_len + 1)
    found = src.new_full(shape, model.config.pad_id)
    worth = search.beams.log_prob.clone()
    length = 1
    for step in range(1, settings.max_len + 1):
        search.write_word()
        ended = search.beams.finished.all(dim=1)
        is_over = step == settings.max_len or bool(ended.all())
        if is_over or ended.float().mean() >= LEAVING:
            out = ended | is_over
            length = step + 1
            found[search.places[out], :, :length] = search.beams.tgt[out]
            worth[search.places[out]] = search.worth[out]
            if is_over:
                break
            search.leave(ended)
    return found[:, :, :length], worth


def fast_translation(
    model: Transformer, src: Tensor, settings: SearchSettings
) -> Tensor:
    """Write the best translation (b, t) of each source (b, s), from `<sos>`."""
    return fast_search(model, src, settings)[0][:, 0]

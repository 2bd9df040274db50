"""Write a translation: greedy and beam search, with and without a cache."""

# A search takes any module with `encode`, `decode` and `config`, which no type
# describes.
# mypy: disable-error-code="operator,union-attr,arg-type,return-value"

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from transformer.data import Vocabularies
from transformer.data.special_tokens import EOS_ID, SOS_ID
from transformer.decoder import DecoderLayer
from transformer.model import Transformer, evaluating
from transformer.translation.beams import (
    Beams,
    SearchSettings,
    length_penalty,
    until_end,
)
from transformer.translation.cache import CachedTransformer, LayerCache

PAPER_SEARCH = SearchSettings()


@evaluating
def greedy_decode(
    model: nn.Module,
    src: Tensor,
    max_len: int = 50,
    sos_id: int = SOS_ID,
    eos_id: int = EOS_ID,
) -> Tensor:
    """Write the most probable next word, again and again, until `<eos>`.

    Args:
        model: a `Transformer`, or a `CachedTransformer` for speed.
        src: ids (b, s).
        max_len: most tokens to write after `<sos>`.
        sos_id: token that every sentence starts with.
        eos_id: token that ends a sentence. Only padding follows it.

    Returns:
        Ids (b, t) from `<sos>`, with t at most max_len + 1. The search stops early
        once every sentence has ended.
    """
    memory = model.encode(src)
    tgt = src.new_full((src.size(0), 1), sos_id)
    ended = torch.zeros_like(tgt[:, 0], dtype=torch.bool)
    for _ in range(max_len):
        logits, _ = model.decode(tgt, memory, src)
        word = logits[:, -1].argmax(dim=-1).masked_fill(ended, model.config.pad_id)
        tgt = torch.cat([tgt, word.unsqueeze(1)], dim=1)
        ended = ended | (word == eos_id)
        if ended.all():
            break
    return tgt


def prune(
    log_prob: Tensor, length: Tensor, alpha: float
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Prune the beam of each sentence to its k best candidates.

    A candidate is one of the k hypotheses with one of the V words added. Its score
    is its log-probability divided by the length penalty.

    Args:
        log_prob: log-probabilities of the candidates, (b, k, V); -inf if impossible.
        length: number of tokens of each hypothesis with the word added, (b, k).
        alpha: α of `length_penalty`.

    Returns:
        Four tensors (b, k), the best candidate first: the hypothesis that it continues,
        the word that it adds, its log-probability (not divided), and its score.
    """
    score = log_prob / length_penalty(length, alpha).unsqueeze(-1)  # (b, k, V)
    score, best = score.flatten(1).topk(log_prob.size(1))  # (b, k) of (b, k V)
    parent, word = best // log_prob.size(-1), best % log_prob.size(-1)
    return parent, word, log_prob.flatten(1).gather(1, best), score


@evaluating
def beam_search(
    model: nn.Module, src: Tensor, settings: SearchSettings
) -> tuple[Tensor, Tensor]:
    """Write the k best hypotheses of each sentence, and prune them after every word.

    Each pruning step scores a hypothesis by its log-probability divided by the length
    penalty. A hypothesis that has ended gets only padding, and still competes with the
    others. The search ends once every hypothesis has ended, or at the greatest length.

    Args:
        model: a `Transformer`, or a `CachedTransformer` for speed.
        src: ids (b, s).
        settings: beam size k, length penalty, greatest length, `<sos>` and `<eos>`.

    Returns:
        The hypotheses (b, k, t) from `<sos>`, the best first, and their
        scores (b, k). If a sentence has fewer than k, the unused places have -inf.
    """
    beams = Beams.start(src, settings)
    b, k = beams.finished.shape
    rows = torch.arange(b * k, device=src.device).view(b, k)
    memory, src = model.encode(src)[rows.flatten() // k], src[rows.flatten() // k]
    for _ in range(settings.max_len):
        logits, _ = model.decode(beams.tgt.flatten(0, 1), memory, src)
        log_prob = beams.next_log_prob(logits[:, -1], model.config.pad_id)  # (b, k, V)
        parent, word, log_prob, score = prune(
            log_prob, beams.next_length(), settings.length_penalty
        )
        beams = beams.extend(parent, word, log_prob, settings.eos_id)
        rows_kept = rows.gather(1, parent).flatten()
        memory, src = memory[rows_kept], src[rows_kept]
        if beams.finished.all():
            break
    return beams.tgt, score


def decode_step_cached(
    layer: DecoderLayer,
    x: Tensor,
    cache: LayerCache,
    tgt_mask: Tensor | None = None,
    src_mask: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Pass only the newest token through a decoder layer.

    The result is that of `layer` for the last token. The cache has the other tokens.

    Args:
        layer: a decoder layer.
        x: the newest token, (b, 1, d_model).
        cache: this layer's keys and values of the t - 1 earlier tokens. The step adds
            those of the newest token.
        tgt_mask: bool, broadcastable to (b, h, 1, t), for self-attention.
        src_mask: bool, broadcastable to (b, h, 1, s), for cross-attention.

    Returns:
        The output (b, 1, d_model), and the cross-attention weights (b, h, 1, s).
    """
    found: list[Tensor] = []

    def look_back(y: Tensor) -> Tensor:
        attention = layer.self_attention
        cache.append(*attention.project_key_value(y, y))
        q = attention.project_query(y)
        return attention.attend(q, cache.key, cache.value, tgt_mask)[0]

    def look_up(y: Tensor) -> Tensor:
        q = layer.cross_attention.project_query(y)
        found[:] = layer.cross_attention.attend(
            q, cache.memory_key, cache.memory_value, src_mask
        )
        return found[0]

    x = layer.add_norm2(layer.add_norm1(x, look_back), look_up)
    return layer.add_norm3(x, layer.feed_forward), found[1]


def best_translation(model: nn.Module, src: Tensor, settings: SearchSettings) -> Tensor:
    """Write the best translation (b, t) of each source (b, s), from `<sos>`."""
    if settings.beam_size == 1:
        return greedy_decode(
            model, src, settings.max_len, settings.sos_id, settings.eos_id
        )
    return beam_search(model, src, settings)[0][:, 0]


@dataclass(frozen=True)
class Translation:
    """Hold a sentence, its translation, and the cross-attention of each step.

    Attributes:
        source: the s source tokens, including `<sos>` and `<eos>`.
        target: the t tokens written, with `<eos>` if it was written.
        cross_attention: (layers, h, t, s); row i has the weights with which the model
            predicted token i of `target`.
        text: the translation as plain text.
    """

    source: tuple[str, ...]
    target: tuple[str, ...]
    cross_attention: Tensor
    text: str


@evaluating
def translate(
    model: nn.Module,
    sentence: str | Sequence[str],
    vocabularies: Vocabularies,
    settings: SearchSettings = PAPER_SEARCH,
) -> Translation:
    """Translate one sentence.

    Args:
        model: a trained `Transformer`, or another model with `encode` and `decode`.
        sentence: text, or its tokens. With a vocabulary of whole words, a text must be
            German.
        vocabularies: vocabularies of the source and of the target.
        settings: settings of the search; beam size 1 is greedy search.

    Returns:
        The tokens, the cross-attention and the text of the translation.

    Raises:
        ValueError: if the sentence has no word, or more tokens than the model has
            positions.
    """
    src_vocab, tgt_vocab = vocabularies
    words = sentence
    if isinstance(sentence, str):
        words = src_vocab.split(sentence, "de")
    src = torch.tensor([src_vocab.encode(words)], device=model.projection.weight.device)
    writer = model
    if isinstance(model, Transformer):
        writer = CachedTransformer(model, decode_step_cached)
    ids = until_end(best_translation(writer, src, settings)[0], settings.eos_id)
    tgt = ids.unsqueeze(0)
    _, cross_attention = model.decode(tgt[:, :-1], model.encode(src), src)
    target = tuple(tgt_vocab.words[i] for i in ids[1:].tolist())
    return Translation(
        source=tuple(src_vocab.words[i] for i in src[0].tolist()),
        target=target,
        cross_attention=torch.stack(cross_attention, dim=1)[0],
        text=tgt_vocab.join(target),
    )

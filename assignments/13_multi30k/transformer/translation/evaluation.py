"""Translate whole corpora, and score the translations."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TypeVar

import sacrebleu
import torch
from torch import Tensor, nn

from transformer.data import (
    EOS,
    SentencePair,
    Vocabularies,
    detokenize,
    make_batches,
    tokenize,
)
from transformer.model import Transformer
from transformer.translation.beams import SearchSettings, until_end
from transformer.translation.inference import best_translation

HOW_TO_INSTALL_TORCHTEXT = (
    "The tutorial's BLEU also needs torchtext: `pip install torchtext==0.6.0`"
)

Model = TypeVar("Model", bound=nn.Module)
Search = Callable[[Model, Tensor, SearchSettings], Tensor]


@dataclass(frozen=True)
class Bleu:
    """Hold a score from 0 to 100, and how it was computed.

    Attributes:
        score: the score.
        convention: a description of the computation, or sacreBLEU's signature.
    """

    score: float
    convention: str


def translate_pairs(
    model: Model,
    pairs: Sequence[SentencePair],
    vocabularies: Vocabularies,
    settings: SearchSettings,
    batch_size: int = 128,
    search: Search[Model] = best_translation,
) -> list[list[str]]:
    """Translate the sources of a corpus, in batches of similar length.

    Args:
        model: a `Transformer`, or a `CachedTransformer` for speed.
        pairs: sentence pairs, whose targets are not used.
        vocabularies: vocabularies of the source and of the target.
        settings: settings of the search; beam size 1 is greedy search.
        batch_size: sentences in a batch.
        search: a function that writes the best translation of each source of a batch.
            `transformer.translation.fast.fast_translation` is a faster one.

    Returns:
        The words of each translation, with the final `<eos>` if it was written, in the
            order of `pairs`.
    """
    device = next(model.parameters()).device
    order = sorted(range(len(pairs)), key=lambda i: len(pairs[i].src))
    batches = make_batches(
        [pairs[i] for i in order], vocabularies, batch_size, device=device
    )
    translations: list[list[str]] = [[]] * len(pairs)
    for batch in batches:
        found = search(model, batch.src, settings)
        for position, row in zip(batch.indices, found.cpu(), strict=True):
            ids = until_end(row, settings.eos_id)[1:].tolist()
            translations[order[position]] = [vocabularies[1].words[i] for i in ids]
    return translations


@torch.no_grad()
def log_probabilities(
    model: Transformer,
    pairs: Sequence[SentencePair],
    vocabularies: Vocabularies,
) -> list[float]:
    """Compute the log-probability of given translations, including `<eos>`.

    Args:
        model: a `Transformer` in `eval` mode, without a cache.
        pairs: the sources and the given translations.
        vocabularies: vocabularies of the source and of the target.

    Returns:
        The natural logarithm of each translation's probability, in the order of
            `pairs`.
    """
    found: dict[int, float] = {}
    device = next(model.parameters()).device
    for batch in make_batches(pairs, vocabularies, 128, device=device):
        tgt, answers = batch.tgt[:, :-1], batch.tgt[:, 1:]
        logits, _ = model.decode(tgt, model.encode(batch.src), batch.src)
        chosen = logits.log_softmax(-1).gather(-1, answers.unsqueeze(-1)).squeeze(-1)
        sums = chosen.masked_fill(answers == model.config.pad_id, 0.0).sum(dim=-1)
        found |= dict(zip(batch.indices, sums.tolist(), strict=True))
    return [found[place] for place in range(len(pairs))]


def has_torchtext() -> bool:
    """Return whether torchtext is installed, which only the tutorial's BLEU needs."""
    return find_spec("torchtext") is not None


def tutorial_bleu(
    translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]
) -> Bleu:
    """Compute BLEU as in the tutorial: torchtext's corpus BLEU × 100 on its tokens.

    Args:
        translations: words as `translate_pairs` returns them. The last word of each
            translation is removed, even if it is not `<eos>`, because the tutorial does
            so.
        references: words of one reference for each translation.

    Raises:
        ModuleNotFoundError: if torchtext is not installed. The message says how to
            install it.
    """
    if not has_torchtext():
        raise ModuleNotFoundError(HOW_TO_INSTALL_TORCHTEXT)
    from torchtext.data.metrics import bleu_score

    cut = [list(words[:-1]) for words in translations]
    score = bleu_score(cut, [[list(reference)] for reference in references])
    convention = "torchtext corpus BLEU × 100, lower-cased tokens, last token cut"
    return Bleu(100 * score, convention)


def detokenised_bleu(
    translations: Sequence[Sequence[str]], references: Sequence[Sequence[str]]
) -> Bleu:
    """Compute sacreBLEU's score on detokenised text in lower case.

    Args:
        translations: words of each translation; `<eos>` is left out.
        references: words of one reference for each translation.
    """
    texts = [detokenize(w for w in words if w != EOS) for words in translations]
    kind = "detokenised lower-cased text"
    return text_bleu(texts, [detokenize(words) for words in references], kind)


def text_bleu(texts: Sequence[str], references: Sequence[str], kind: str) -> Bleu:
    """Compute sacreBLEU's score on texts.

    Args:
        texts: the translations.
        references: one reference for each translation.
        kind: the kind of text, which is part of the result's convention.
    """
    metric = sacrebleu.BLEU()
    score = metric.corpus_score(texts, [references])
    return Bleu(score.score, f"sacreBLEU on {kind}, {metric.get_signature()}")


def text_chrf(texts: Sequence[str], references: Sequence[str], kind: str) -> Bleu:
    """Compute chrF, which compares groups of letters; see `text_bleu`."""
    metric = sacrebleu.CHRF()
    score = metric.corpus_score(texts, [references])
    return Bleu(score.score, f"chrF on {kind}, {metric.get_signature()}")


def as_words(text: str) -> list[str]:
    """Split an English text as in the tutorial, with `<eos>` for `tutorial_bleu`."""
    return [*tokenize(text, "en"), EOS]

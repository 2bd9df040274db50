"""The parts of a report agree with the trainer, with sacreBLEU and by hand."""

import math
from collections.abc import Iterator

import pytest
import sacrebleu
import torch

from transformer.config import TransformerConfig
from transformer.data import make_batches, make_grammar_corpus
from transformer.data.word_counts import build_vocabularies
from transformer.experiments.capstone import draw_sentences
from transformer.experiments.report import (
    bleu_by_length,
    bootstrap_interval,
    copy_unknown_words,
    corpus_perplexity,
    sentence_losses,
)
from transformer.model import Transformer
from transformer.training.loop import mean_loss
from transformer.translation.bleu import corpus_bleu

PAIRS = make_grammar_corpus().test[:20]
WORDS = build_vocabularies(PAIRS)


@pytest.fixture
def model() -> Iterator[Transformer]:
    torch.manual_seed(0)
    yield Transformer(TransformerConfig.tiny(*map(len, WORDS), dropout=0.2)).train()


def test_sums_and_counts_give_the_trainers_mean(model: Transformer) -> None:
    batches = make_batches(PAIRS, WORDS, 6, seed=2)
    losses, counts = sentence_losses(model, batches)
    assert counts.tolist() == [len(pair.tgt) + 1 for pair in PAIRS]
    want = mean_loss(model, batches)
    assert losses.sum() / counts.sum() == pytest.approx(want, rel=1e-5)
    assert corpus_perplexity(losses, counts) == pytest.approx(math.exp(want), rel=1e-4)


def test_neither_order_nor_batch_mates_change_a_loss(model: Transformer) -> None:
    shuffled, _ = sentence_losses(model, make_batches(PAIRS, WORDS, 7, seed=5))
    alone, _ = sentence_losses(model, make_batches(PAIRS, WORDS, 1))
    assert torch.allclose(shuffled, alone, atol=1e-4)


@pytest.mark.parametrize("training", [True, False])
def test_the_model_keeps_its_mode(model: Transformer, training: bool) -> None:
    model.train(training)
    sentence_losses(model, make_batches(PAIRS, WORDS, 8))
    assert model.training is training


def test_the_perplexity_of_parts_is_weighted_by_tokens() -> None:
    losses, counts = torch.tensor([3.0, 9.0, 2.0]), torch.tensor([2, 10, 1])
    parts = [corpus_perplexity(losses[i : i + 1], counts[i : i + 1]) for i in range(3)]
    weighted = sum(n * math.log(p) for n, p in zip(counts.tolist(), parts, strict=True))
    want = math.exp(weighted / 13)
    assert corpus_perplexity(losses, counts) == pytest.approx(want)


def translations(n: int = 40) -> tuple[list[list[str]], list[list[str]]]:
    """Return references, and the same with a word replaced in two of three."""
    references = [list(pair.tgt) for pair in make_grammar_corpus().test[:n]]
    hypotheses = [
        [*r[:1], "cat", *r[2:]] if i % 3 else r for i, r in enumerate(references)
    ]
    return hypotheses, references


def test_a_group_has_sacrebleus_score_and_all_groups_hold_all_sentences() -> None:
    hypotheses, references = translations()
    sources = [pair.src for pair in make_grammar_corpus().test[:40]]
    table = bleu_by_length(sources, hypotheses, references, (7, 9))
    assert sum(n for n, _ in table) == 40
    kept = [i for i in range(40) if 7 < len(sources[i]) <= 9]
    want = sacrebleu.corpus_bleu(
        [" ".join(hypotheses[i]) for i in kept],
        [[" ".join(references[i]) for i in kept]],
        tokenize="none",
        smooth_method="none",
        force=True,
    )
    assert table[1] == (len(kept), pytest.approx(want.score))


def test_an_empty_group_has_no_score_and_lengths_must_fit() -> None:
    assert bleu_by_length([["a"]], [["b"]], [["b"]], (0, 5))[0] == (0, None)
    with pytest.raises(ValueError, match="as many sources"):
        bleu_by_length([["a"]], [], [], (5,))


@pytest.mark.integration
def test_the_interval_holds_the_score_and_shrinks_with_the_root_of_n() -> None:
    widths = []
    for n in (30, 270):
        hypotheses, references = translations(n)
        low, high = bootstrap_interval(hypotheses, references, draw_sentences(n, 60))
        assert low < corpus_bleu(hypotheses, references) < high
        widths.append(high - low)
    assert 2 < widths[0] / widths[1] < 4.5  # about 3, by chance


def test_the_interval_agrees_with_numpy_and_depends_on_the_draws_alone() -> None:
    hypotheses, references = translations(9)
    draws = draw_sentences(9, 11, seed=3)
    first = bootstrap_interval(hypotheses, references, draws)
    scores = sorted(
        corpus_bleu([hypotheses[i] for i in row], [references[i] for i in row])
        for row in draws.tolist()
    )
    want = (
        0.75 * scores[0] + 0.25 * scores[1],  # place 0.025 * 10
        0.25 * scores[9] + 0.75 * scores[10],
    )
    assert first == pytest.approx(want)
    assert first == bootstrap_interval(hypotheses, references, draws)


def test_the_word_that_all_heads_look_at_is_copied() -> None:
    weights = torch.full((2, 2, 3, 5), 0.1)
    weights[..., 0] = 5.0  # <sos> is never copied
    weights[:, :, 1, 3] = 0.5
    weights[0, 0, 1, 1] = 0.9
    copied = copy_unknown_words(["a", "<unk>", "."], weights, ["x", "y", "z"])
    assert copied == ["a", "z", "."]

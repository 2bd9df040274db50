"""The experiment of chapter 10: each wrong run has its own mistake, and no other."""

import pytest
import torch

from transformer.config import TransformerConfig
from transformer.data import make_batches, make_grammar_corpus
from transformer.data.word_counts import build_vocabularies
from transformer.experiments.bag_translator import BagTranslator
from transformer.experiments.wrong_runs import (
    WAYS,
    SeeingTransformer,
    greedy_bleu,
    split_unshifted,
    train_way,
)
from transformer.model import Transformer
from transformer.training.config import TrainingConfig

CONFIG = TransformerConfig(12, 13, d_model=8, n_heads=2, n_layers=2, d_ff=8, dropout=0)


def twins() -> tuple[Transformer, SeeingTransformer]:
    torch.manual_seed(0)
    model, seeing = Transformer(CONFIG).eval(), SeeingTransformer(CONFIG).eval()
    seeing.load_state_dict(model.state_dict())
    return model, seeing


def test_a_seeing_model_sees_the_next_word_and_no_padding() -> None:
    model, seeing = twins()
    src, tgt = torch.tensor([[2, 5, 6, 3]]), torch.tensor([[2, 7, 8, 9, 1]])
    later = tgt.clone()
    later[0, 3] = 10
    assert torch.equal(model(src, tgt)[:, :3], model(src, later)[:, :3])
    assert not torch.allclose(seeing(src, tgt)[:, :3], seeing(src, later)[:, :3])
    short = seeing(src, tgt[:, :4])
    torch.testing.assert_close(seeing(src, tgt)[:, :4], short)


def test_the_wrong_split_asks_for_what_is_read() -> None:
    decoder_input, target = split_unshifted(torch.tensor([[2, 7, 3]]))
    assert torch.equal(decoder_input, target)


@pytest.fixture(scope="module")
def small() -> tuple:
    pairs = make_grammar_corpus().train[:64]
    words = build_vocabularies(pairs)
    return pairs, words, make_batches(pairs, words, 16)


def test_all_ways_start_alike_and_count_differently(small) -> None:
    _, words, batches = small
    training = TrainingConfig.tiny(epoch_steps=1, smoothing=0.0)
    config = TransformerConfig.tiny(*map(len, words), d_model=16, d_ff=16, dropout=0.0)
    losses = {
        name: train_way(way, batches, config, training).losses
        for name, way in WAYS.items()
    }
    assert [len(values) for values in losses.values()] == [1, 1, 1, 1]
    assert len({round(values[0], 6) for values in losses.values()}) == 4


def test_a_run_learns_and_is_scored(small) -> None:
    pairs, words, batches = small
    training = TrainingConfig.tiny(epoch_steps=4, rate=5e-3, warmup=2)
    config = TransformerConfig.tiny(*map(len, words), d_model=16, d_ff=16, dropout=0.0)
    run = train_way(WAYS["right"], batches, config, training)
    assert run.losses[-1] < run.losses[0]
    assert not run.model.training
    assert 0 <= greedy_bleu(run.model, pairs[:8], words) <= 100


def test_a_bag_knows_words_but_no_order_and_no_padding() -> None:
    torch.manual_seed(0)
    model = BagTranslator(vocab_size=11, d_model=6)
    src, tgt = torch.tensor([[5, 6, 7]]), torch.tensor([[2, 8, 9, 4]])
    logits = model(src, tgt)
    assert logits.shape == (1, 4, 11)
    torch.testing.assert_close(model(src.flip(1), tgt), logits)
    padded = torch.cat([src, torch.ones(1, 2, dtype=torch.long)], dim=1)
    torch.testing.assert_close(model(padded, tgt), logits)
    assert not torch.allclose(model(src + 1, tgt), logits)

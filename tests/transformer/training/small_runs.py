"""A small run of a small model, for the tests of the trainer."""

import torch

from transformer.config import TransformerConfig
from transformer.data import make_batches, make_grammar_corpus
from transformer.data.word_counts import build_vocabularies
from transformer.model import Transformer
from transformer.training.config import TrainingConfig
from transformer.training.distributed import ALONE
from transformer.training.loop import Trainer, TrainingData

SIZES = {"d_model": 16, "n_heads": 2, "n_layers": 1, "d_ff": 24, "dropout": 0.2}
CONFIG = TrainingConfig(epochs=3, batch_size=32, rate=5e-3, warmup=10, smoothing=0.1)


def make_trainer(
    folder=None, config=CONFIG, pairs=slice(0, 200), processes=ALONE, **sizes
) -> Trainer:
    corpus = make_grammar_corpus()
    train, valid = corpus.train[pairs], corpus.valid[:50]
    words = build_vocabularies(train)
    data = TrainingData(
        make_batches(train, words, config.batch_size, seed=config.seed),
        make_batches(valid, words, config.batch_size),
        words,
    )
    torch.manual_seed(config.seed)
    shape = TransformerConfig(*map(len, words), **{**SIZES, **sizes})
    return Trainer(Transformer(shape), data, config, folder, processes)

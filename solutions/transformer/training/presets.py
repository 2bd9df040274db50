"""Which corpora and configurations there are, and how they become a training run."""

from enum import StrEnum
from pathlib import Path
from typing import Any

import torch

from transformer.config import TransformerConfig
from transformer.data import (
    Corpus,
    Vocabularies,
    build_vocabularies,
    check_device,
    load_multi30k,
    make_batches,
    make_grammar_corpus,
)
from transformer.model import Transformer
from transformer.training.config import TrainingConfig
from transformer.training.loop import Trainer, TrainingData


class CorpusName(StrEnum):
    """The corpora that there are."""

    grammar = "grammar"
    multi30k = "multi30k"


class Preset(StrEnum):
    """The configurations that there are, each a model and a way to train it."""

    tiny = "tiny"
    tutorial = "tutorial"
    best = "best"


MODELS = {
    Preset.tiny: TransformerConfig.tiny,
    Preset.tutorial: TransformerConfig.tutorial,
    Preset.best: TransformerConfig.best,
}
TRAININGS = {
    Preset.tiny: TrainingConfig.tiny,
    Preset.tutorial: TrainingConfig.tutorial,
    Preset.best: TrainingConfig.best,
}
USUAL_PRESET = {
    CorpusName.grammar: Preset.tiny,
    CorpusName.multi30k: Preset.tutorial,
}
MIN_FREQ = {CorpusName.grammar: 1, CorpusName.multi30k: 2}


def choose_device(name: str, threads: int = 1) -> torch.device:
    """Return the device of that name, or for "auto" the best one here.

    Args:
        name: "auto", or what PyTorch calls the device.
        threads: how many the CPU's operations may use.

    Raises:
        ValueError: if there is no such device, or `threads` is below 1.
    """
    if threads < 1:
        raise ValueError(f"expected at least one thread, found {threads}")
    torch.set_num_threads(threads)
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return check_device(name)


def load_corpus(name: CorpusName, folder: Path | None) -> Corpus:
    """Make or read a corpus."""
    if name is CorpusName.grammar:
        return make_grammar_corpus()
    return load_multi30k(folder)


def number_words(name: CorpusName, corpus: Corpus) -> Vocabularies:
    """Build a corpus's two vocabularies from its training pairs."""
    return build_vocabularies(corpus.train, MIN_FREQ[name])


def make_data(
    corpus: Corpus, words: Vocabularies, config: TrainingConfig, device: torch.device
) -> TrainingData:
    """Put the sentences of a corpus into batches."""
    train = make_batches(
        corpus.train,
        words,
        config.batch_tokens or config.batch_size,
        device=device,
        seed=config.seed,
        by_tokens=config.batch_tokens is not None,
        by_length=config.by_length,
    )
    valid = make_batches(corpus.valid, words, config.batch_size, device=device)
    return TrainingData(train, valid, words)


def make_trainer(
    preset: Preset,
    data: TrainingData,
    config: TrainingConfig,
    device: torch.device,
    folder: Path | None = None,
    **sizes: Any,
) -> Trainer:
    """Make the model of a preset, with the configuration's seed, and its trainer.

    `sizes` replace fields of the preset's `TransformerConfig`.
    """
    torch.manual_seed(config.seed)
    words = map(len, data.vocabularies)
    model = Transformer(MODELS[preset](*words, **sizes)).to(device)
    return Trainer(model, data, config, folder)

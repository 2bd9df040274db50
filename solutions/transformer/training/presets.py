"""The available corpora and configurations, and functions that make training runs."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

import torch

from transformer.config import TransformerConfig
from transformer.data import (
    Corpus,
    SentencePair,
    Subwords,
    Vocabularies,
    check_device,
    detokenize,
    learn_subwords,
    load_multi30k,
    make_batches,
    make_grammar_corpus,
    share_subwords,
)
from transformer.data.multi30k import find_multi30k, read_texts
from transformer.data.word_counts import build_vocabularies
from transformer.recurrent.config import RecurrentConfig
from transformer.training.config import TrainingConfig
from transformer.training.distributed import ALONE, Processes
from transformer.training.loop import Trainer, TrainingData
from transformer.training.models import Config, ModelName, make_model

USUAL_SUBWORDS = 8000


class CorpusName(StrEnum):
    """The available corpora."""

    grammar = "grammar"
    multi30k = "multi30k"
    files = "files"


class Preset(StrEnum):
    """The available configurations, each with a model's sizes and training settings."""

    tiny = "tiny"
    tutorial = "tutorial"
    best = "best"
    subword = "subword"
    base = "base"


@dataclass(frozen=True)
class Recipe:
    """Hold functions that make the configurations of a model and of its training.

    Attributes:
        sizes: makes the model's configuration from the sizes of the vocabularies.
        training: makes the configuration of its training.
        subwords: maximum number of subwords that both sides share; None for whole
            words.
    """

    sizes: Callable[..., Config]
    training: Callable[..., TrainingConfig]
    subwords: int | None = None


def _recurrent(attention: bool) -> dict[Preset, Recipe]:
    tiny = partial(RecurrentConfig.tiny, attention=attention)
    best = partial(RecurrentConfig.best, attention=attention)
    return {
        Preset.tiny: Recipe(tiny, TrainingConfig.tiny),
        Preset.best: Recipe(best, TrainingConfig.recurrent),
    }


RECIPES = {
    ModelName.transformer: {
        Preset.tiny: Recipe(TransformerConfig.tiny, TrainingConfig.tiny),
        Preset.tutorial: Recipe(TransformerConfig.tutorial, TrainingConfig.tutorial),
        Preset.best: Recipe(TransformerConfig.best, TrainingConfig.best),
        Preset.subword: Recipe(
            partial(TransformerConfig.best, max_len=256),
            partial(TrainingConfig.best, epochs=48),
            subwords=USUAL_SUBWORDS,
        ),
        Preset.base: Recipe(TransformerConfig.base, TrainingConfig.base, 37_000),
    },
    ModelName.attention: _recurrent(attention=True),
    ModelName.seq2seq: _recurrent(attention=False),
}
MIN_FREQ = {CorpusName.grammar: 1, CorpusName.multi30k: 2}


def usual_preset(model: ModelName, corpus: CorpusName) -> Preset:
    """Return the configuration that is used for a model and a corpus by default."""
    if corpus is CorpusName.grammar:
        return Preset.tiny
    if corpus is CorpusName.files and not model.is_recurrent:
        return Preset.subword
    return Preset.best if model.is_recurrent else Preset.tutorial


def recipe(preset: Preset, model: ModelName = ModelName.transformer) -> Recipe:
    """Return a model's recipe for a configuration.

    Raises:
        ValueError: if the model has no such configuration.
    """
    recipes = RECIPES[model]
    if preset not in recipes:
        raise ValueError(
            f"the model {model.value} has no configuration {preset.value}: choose "
            f"{' or '.join(known.value for known in recipes)}"
        )
    return recipes[preset]


def choose_device(name: str, threads: int = 1) -> torch.device:
    """Return the named device, or for "auto" a GPU if there is one.

    Args:
        name: "auto", or PyTorch's name of the device.
        threads: number of CPU threads that PyTorch may use.

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
    """Make the grammar corpus, or read Multi30k."""
    if name is CorpusName.grammar:
        return make_grammar_corpus()
    return load_multi30k(folder)


def number_words(name: CorpusName, corpus: Corpus) -> Vocabularies:
    """Build a corpus's two vocabularies from its training pairs."""
    return build_vocabularies(corpus.train, MIN_FREQ[name])


def load_texts(
    name: CorpusName, folder: Path | None, split: str
) -> list[tuple[str, str]]:
    """Return the German and English sentences of one part of a corpus."""
    if name is CorpusName.grammar:
        pairs = dict(make_grammar_corpus().splits())[split]
        return [(detokenize(pair.src), detokenize(pair.tgt)) for pair in pairs]
    return read_texts(find_multi30k(folder), split)


def split_texts(
    texts: Iterable[tuple[str, str]], subwords: Subwords
) -> tuple[SentencePair, ...]:
    """Split pairs of texts into pairs of subwords."""
    return tuple(
        SentencePair(tuple(subwords.split(src)), tuple(subwords.split(tgt)))
        for src, tgt in texts
    )


def load_subword_corpus(
    name: CorpusName, folder: Path | None, size: int
) -> tuple[Corpus, Vocabularies]:
    """Make or read a corpus in lower case, split into subwords.

    The subwords are learned from the training pairs.

    Args:
        name: name of the corpus.
        folder: folder with the files of Multi30k.
        size: maximum number of subwords that both sides share.
    """
    train = load_texts(name, folder, "train")
    sentences = [text for pair in train for text in pair]
    subwords = learn_subwords(sentences, size, lower=True)
    corpus = Corpus(
        split_texts(train, subwords),
        split_texts(load_texts(name, folder, "valid"), subwords),
        split_texts(load_texts(name, folder, "test"), subwords),
    )
    return corpus, share_subwords(subwords)


def make_data(
    corpus: Corpus, words: Vocabularies, config: TrainingConfig, device: torch.device
) -> TrainingData:
    """Group the training and validation pairs of a corpus into batches."""
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
    recipe: Recipe,
    data: TrainingData,
    config: TrainingConfig,
    device: torch.device,
    folder: Path | None = None,
    processes: Processes = ALONE,
    **sizes: Any,
) -> Trainer:
    """Make the model of a recipe and its trainer; the configuration's seed is used.

    `sizes` replace fields of the model's configuration. If a Transformer has shared
    subwords, a subword has the same vector on both sides and in the projection.
    """
    torch.manual_seed(config.seed)
    words = tuple(map(len, data.vocabularies))
    model_config = recipe.sizes(*words, **sizes)
    if data.vocabularies[0].subwords and isinstance(model_config, TransformerConfig):
        model_config = replace(model_config, tie="all")
    model = make_model(model_config).to(device)
    return Trainer(model, data, config, folder, processes)

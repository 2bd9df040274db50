"""The capstone's task: Multi30k if there is a GPU, otherwise the grammar corpus."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from transformer.config import TransformerConfig
from transformer.data import (
    EOS,
    Corpus,
    SentencePair,
    Vocabularies,
    load_multi30k,
    make_batches,
    make_grammar_corpus,
)
from transformer.data.word_counts import build_vocabularies
from transformer.model import Transformer
from transformer.training.config import TrainingConfig
from transformer.training.loop import LAST, Trainer, TrainingData
from transformer.training.progress import Silence
from transformer.training.step import perplexity
from transformer.translation.beams import SearchSettings
from transformer.translation.cache import CachedTransformer
from transformer.translation.evaluation import translate_pairs
from transformer.translation.inference import decode_step_cached

GREEDY = SearchSettings(beam_size=1)
RARE = 50  # words of the grammar corpus that occur less often become <unk>


@dataclass(frozen=True)
class Task:
    """Describe a training task: the data, the model and the settings.

    Attributes:
        name: "multi30k" or "grammar".
        corpus: the corpus, with three splits.
        vocabularies: vocabularies of the source and the target.
        model: sizes of the model.
        training: how to train it.
        limits: source lengths that separate groups of short and long sentences.
        message: the chosen task, and the reason.
    """

    name: str
    corpus: Corpus
    vocabularies: Vocabularies
    model: TransformerConfig
    training: TrainingConfig
    limits: tuple[int, ...]
    message: str


def choose_task(
    device: torch.device | str, folder: str | os.PathLike[str] | None = None
) -> Task:
    """Choose Multi30k if there is a GPU and the data, otherwise the grammar corpus.

    Args:
        device: device for the training.
        folder: folder with Multi30k's files. None downloads missing files.

    Returns:
        The task. Its message gives the reason if it is the small task.
    """
    if torch.device(device).type != "cuda":
        return grammar_task("there is no GPU")
    try:
        return multi30k_task(load_multi30k(folder))
    except (OSError, ValueError) as error:  # ConnectionError is an OSError
        return grammar_task(f"Multi30k could not be read ({error})")


def multi30k_task(corpus: Corpus) -> Task:
    """Return the tutorial's task, in which words that occur only once become <unk>."""
    words = build_vocabularies(corpus.train, min_freq=2)
    return Task(
        name="multi30k",
        corpus=corpus,
        vocabularies=words,
        model=TransformerConfig.tutorial(*map(len, words)),
        training=TrainingConfig.tutorial(),
        limits=(8, 12, 16, 20),
        message="Multi30k, with the tutorial's model and training.",
    )


def grammar_task(reason: str) -> Task:
    """Return the small task: a tiny model, two short epochs, <unk> for rare words."""
    whole = make_grammar_corpus()
    corpus = Corpus(whole.train, whole.valid[:500], whole.test[:300])
    words = build_vocabularies(corpus.train, min_freq=RARE)
    return Task(
        name="grammar",
        corpus=corpus,
        vocabularies=words,
        model=TransformerConfig.tiny(*map(len, words), n_heads=8),
        training=TrainingConfig.tiny(epochs=2, epoch_steps=160),
        limits=(6, 8, 10),
        message=(
            f"The grammar corpus, because {reason}: a small model, two short epochs, "
            f"and words that are seen fewer than {RARE} times are unknown. Every cell "
            "works; for the report on Multi30k run this notebook on a GPU."
        ),
    )


class EpochLines(Silence):
    """Print one line for each epoch in a notebook or a log."""

    def end_epoch(self, record: dict[str, float]) -> None:
        """Print the epoch's losses as perplexities, and its speed."""
        train, valid = record["train_loss"], record["valid_loss"]
        print(
            f"epoch {record['epoch']:2.0f}  {record['seconds']:5.0f} s  "
            f"{record['tokens_per_second']:9,.0f} tokens/s  "
            f"perplexity {perplexity(train):7.3f} train, {perplexity(valid):7.3f} valid"
        )


def train_task(
    task: Task, device: torch.device | str, folder: Path | None = None
) -> Trainer:
    """Train a task's model, starting from the folder's checkpoint if there is one.

    Args:
        task: the task.
        device: device for the training.
        folder: folder for a checkpoint after each epoch. None writes none.

    Returns:
        The trainer, with the model and the history of all epochs.
    """
    device, training = torch.device(device), task.training
    torch.manual_seed(training.seed)
    model = Transformer(task.model).to(device)
    words, size = task.vocabularies, training.batch_size
    train = make_batches(
        task.corpus.train,
        words,
        size,
        device=device,
        seed=training.seed,
        by_length=training.by_length,
    )
    valid = make_batches(task.corpus.valid, words, size, device=device)
    data = TrainingData(train, valid, words)
    trainer = Trainer(model, data, training, folder)
    if folder is not None and (folder / LAST).exists():
        trainer.resume()
    trainer.run(EpochLines())
    return trainer


def translate_all(
    model: Transformer,
    pairs: Sequence[SentencePair],
    vocabularies: Vocabularies,
    settings: SearchSettings = GREEDY,
) -> list[list[str]]:
    """Translate the sources of sentence pairs, without the final `<eos>`."""
    cached = CachedTransformer(model, decode_step_cached)
    written = translate_pairs(cached, pairs, vocabularies, settings)
    return [[word for word in words if word != EOS] for words in written]


def draw_sentences(n: int, times: int = 200, seed: int = 0) -> Tensor:
    """Draw `times` samples of n out of n sentences, with replacement.

    Returns:
        The indices of the sentences, (times, n).
    """
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(n, (times, n), generator=generator)

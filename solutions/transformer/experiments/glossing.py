"""Translate each word of a sentence in context, the smallest task for an encoder.

The translation of a word, called its gloss, depends on the other words: "bank" is a
bank or a bench, and "an" is "on" or a part of "call". The right glosses come from the
gold alignment of the course's corpus. The module imports no encoder, because the
encoder is passed in as an argument.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from transformer.config import TransformerConfig
from transformer.data import PAD_ID, Corpus, SentencePair, Vocabularies
from transformer.data.word_counts import build_vocabularies
from transformer.experiments.fitting import FitSettings, fit
from transformer.masks import padding_mask
from transformer.parts import InputEmbedding

NO_WORD = "–"
SETTINGS = FitSettings(steps=300, batch_size=32)


def gloss(pair: SentencePair) -> SentencePair:
    """Return the sentence with the translation of each of its words."""
    places = range(len(pair.src))
    glosses = (" ".join(pair.translations(place)) or NO_WORD for place in places)
    return SentencePair(pair.src, tuple(glosses))


@dataclass(frozen=True)
class GlossTask:
    """Hold sentences with their glosses, for training and for testing.

    Attributes:
        train: training sentences.
        test: test sentences, whose words all occur in training.
        vocabularies: vocabularies of the German words and of their glosses.
    """

    train: Sequence[SentencePair]
    test: Sequence[SentencePair]
    vocabularies: Vocabularies

    def numbered(self, pairs: Sequence[SentencePair]) -> tuple[Tensor, Tensor]:
        """Return the ids of words and glosses, both (n, s), with padding."""
        words, glosses = self.vocabularies
        src = [torch.tensor(words.encode(pair.src)) for pair in pairs]
        tgt = [torch.tensor(glosses.encode(pair.tgt)) for pair in pairs]
        pad = partial(nn.utils.rnn.pad_sequence, batch_first=True, padding_value=PAD_ID)
        return pad(src), pad(tgt)


def make_gloss_task(
    corpus: Corpus, of_two_meanings: Sequence[str], others: int = 2000
) -> GlossTask:
    """Choose the training sentences: all with certain words, and some others.

    Args:
        corpus: a corpus with alignments.
        of_two_meanings: the words to look for, which have two meanings.
        others: number of training sentences without these words.

    Returns:
        The task. Its test uses all validation and test sentences of the corpus.
    """
    wanted = set(of_two_meanings)
    train = [gloss(pair) for pair in corpus.train]
    chosen = [pair for pair in train if wanted & set(pair.src)]
    rest = [pair for pair in train if not wanted & set(pair.src)]
    test = [gloss(pair) for pair in (*corpus.valid, *corpus.test)]
    return GlossTask(chosen + rest[:others], test, build_vocabularies(train))


class Glosser(nn.Module):
    """Embed a sentence, encode it, and compute a logit of every gloss for every word.

    Args:
        config: sizes, where the target vocabulary contains the glosses.
        encoder: returns the memory when called with vectors (b, s, d_model) and a mask.
    """

    def __init__(self, config: TransformerConfig, encoder: nn.Module) -> None:
        """Make the embedding and the output layer, initialised by Xavier."""
        super().__init__()
        self.embedding = InputEmbedding(config.src_vocab_size, config)
        self.encoder = encoder
        self.projection = nn.Linear(config.d_model, config.tgt_vocab_size)
        for parameter in self.parameters():
            if parameter.dim() > 1:
                nn.init.xavier_uniform_(parameter)

    def forward(self, src: Tensor) -> Tensor:
        """Return the logits (b, s, vocab_size) of all glosses for `src` (b, s)."""
        memory = self.encoder(self.embedding(src), padding_mask(src, PAD_ID))
        return self.projection(memory)


def train_glosser(
    model: Glosser, task: GlossTask, settings: FitSettings = SETTINGS
) -> list[float]:
    """Train the model and return the loss of each step."""
    src, tgt = task.numbered(task.train)

    def loss_of(rows: Tensor) -> Tensor:
        logits = model(src[rows]).transpose(1, 2)  # the loss needs the classes second
        return F.cross_entropy(logits, tgt[rows], ignore_index=PAD_ID)

    return fit(model, loss_of, len(src), settings)


@torch.no_grad()
def gloss_words(
    model: Glosser, task: GlossTask, sentences: Sequence[Sequence[str]]
) -> list[tuple[str, ...]]:
    """Return the likeliest gloss of each word of each sentence."""
    model.eval()
    glosses = task.vocabularies[1].words
    src, _ = task.numbered([SentencePair(tuple(s), tuple(s)) for s in sentences])
    best = model(src).argmax(dim=-1)[:, 1:].tolist()  # without <sos>
    return [
        tuple(glosses[i] for i in row[: len(words)])
        for row, words in zip(best, sentences, strict=True)
    ]


def share_of_right_glosses(
    model: Glosser, task: GlossTask, word: str | None = None
) -> float:
    """Return the share of right glosses, for all test words or for only one word."""
    pairs = [pair for pair in task.test if word is None or word in pair.src]
    found = gloss_words(model, task, [pair.src for pair in pairs])
    right = [
        answer == wanted
        for pair, answers in zip(pairs, found, strict=True)
        for own, answer, wanted in zip(pair.src, answers, pair.tgt, strict=True)
        if word in (None, own)
    ]
    return sum(right) / len(right)

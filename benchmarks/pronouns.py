"""Train small Transformers on pronouns, and find the heads that attend to their nouns.

    python benchmarks/pronouns.py [--epochs 3]

The training data are the grammar corpus and 6,000 sentences with pronouns. The models
differ in whether the encoder's input contains positions. Chapter 12 reads its numbers
about pronouns from the file that this program writes.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from transformer.config import TransformerConfig
from transformer.data import Vocabularies, make_batches, make_grammar_corpus
from transformer.data.pronouns import KINDS, PronounSentence, make_pronoun_sentences
from transformer.data.word_counts import build_vocabularies
from transformer.experiments.pronouns.heads import (
    from_its_translation,
    from_the_pronoun,
    on_the_nouns,
    share_on_noun,
    share_right,
    silence_in_encoder,
    written_pronouns,
)
from transformer.model import Transformer
from transformer.parts import NoPositionalEncoding
from transformer.training.config import TrainingConfig
from transformer.training.loop import Trainer, TrainingData
from transformer.training.progress import Silence

RESULT = Path(__file__).parent / "results" / "pronouns.json"
N_TRAIN, N_VALID, N_TEST = 6_000, 600, 1_500
MODELS = ((True, 0), (False, 0), (True, 1))  # (positions in the encoder, seed)
# The first two differ in one word, and the last two only in the order of their words.
EXAMPLES = (
    "der freund ist neben dem koffer , weil er müde ist .",
    "der freund ist neben dem koffer , weil er schwer ist .",
    "der freund ist neben dem koffer , weil dieser alt ist .",
    "neben dem koffer ist der freund , weil dieser alt ist .",
)
N_DRAWN = 30_000  # enough that all examples occur, and none of them in training


def by_kind(
    sentences: Sequence[PronounSentence],
) -> dict[str, list[PronounSentence]]:
    """Group sentences by the clue to the pronoun's noun."""
    return {kind: [one for one in sentences if one.kind == kind] for kind in KINDS}


def guesses(sentences: Sequence[PronounSentence]) -> dict[str, float]:
    """Return how often the nearest and how often the first noun is the right one."""
    nearest = sum(one.noun > one.other for one in sentences) / len(sentences)
    return {"nearest": round(nearest, 3), "first": round(1 - nearest, 3)}


def rounded(weights: Tensor) -> Any:
    """Return a tensor as nested lists of numbers with three decimals."""
    return json.loads(json.dumps(weights.double().tolist()), parse_float=_three)


def _three(number: str) -> float:
    return round(float(number), 3)


def train(
    sentences: Sequence[PronounSentence], positions: bool, seed: int, epochs: int
) -> tuple[Transformer, Vocabularies, dict[str, Any]]:
    """Train a model; `positions` is whether its encoder gets positions."""
    corpus, n = make_grammar_corpus(), N_TRAIN + N_VALID
    pairs = [*corpus.train, *(one.pair for one in sentences[:N_TRAIN])]
    valid = [one.pair for one in sentences[N_TRAIN:n]]
    words = build_vocabularies(pairs)
    training = TrainingConfig.tiny(epochs=epochs, seed=seed)
    data = TrainingData(
        make_batches(pairs, words, training.batch_size, seed=seed),
        make_batches(valid, words, 100),
        words,
    )
    torch.manual_seed(seed)
    model = Transformer(TransformerConfig.tiny(*map(len, words)))
    if not positions:
        model.src_embedding.positions = NoPositionalEncoding()
    begun = time.process_time()
    history = Trainer(model, data, training).run(Silence())
    facts = {
        "positions": positions,
        "seed": seed,
        "pronouns": N_TRAIN,
        "seconds": round(time.process_time() - begun),
        "valid_loss": [round(record["valid_loss"], 4) for record in history],
    }
    return model.eval(), words, facts


def measure(
    model: Transformer, words: Vocabularies, sentences: Sequence[PronounSentence]
) -> dict[str, Any]:
    """Return measurements of a model on sentences with one kind of clue."""
    found: dict[str, Any] = {"sentences": len(sentences), "guesses": guesses(sentences)}
    looks = {"encoder": from_the_pronoun, "decoder": from_its_translation}
    for stack, look in looks.items():
        rows = look(model, sentences, words)
        weights = on_the_nouns(rows, sentences)
        found[stack] = rounded(share_on_noun(weights))
        found[f"{stack}_weights"] = rounded(weights.mean(dim=0))
        phrases = on_the_nouns(rows, sentences, with_article=True)
        found[f"{stack}_phrases"] = rounded(share_on_noun(phrases))
    right = share_right(written_pronouns(model, sentences, words), sentences)
    return found | {"right": round(right, 3)}


def without_a_head(
    model: Transformer, words: Vocabularies, sentences: Sequence[PronounSentence]
) -> list[list[float]]:
    """Return the share of right pronouns after silencing each head of the encoder."""
    found = []
    for layer in range(model.config.n_layers):
        row = []
        for head in range(model.config.n_heads):
            silent = silence_in_encoder(model, layer, [head])
            written = written_pronouns(silent, sentences, words)
            row.append(round(share_right(written, sentences), 3))
        found.append(row)
    return found


def run(positions: bool, seed: int, epochs: int) -> dict[str, Any]:
    """Train one model, and return all its numbers for the chapter."""
    sentences, end = make_pronoun_sentences(N_DRAWN), N_TRAIN + N_VALID + N_TEST
    unseen = {" ".join(one.pair.src): one for one in sentences[N_TRAIN + N_VALID :]}
    model, words, facts = train(sentences, positions, seed, epochs)
    splits = {
        "valid": by_kind(sentences[N_TRAIN : N_TRAIN + N_VALID]),
        "test": by_kind(sentences[N_TRAIN + N_VALID : end]),
    }
    for split, kinds in splits.items():
        facts[split] = {
            kind: measure(model, words, those) for kind, those in kinds.items()
        }
    facts["silent"] = {
        kind: without_a_head(model, words, those)
        for kind, those in splits["test"].items()
    }
    examples = [unseen[text] for text in EXAMPLES]
    rows = from_the_pronoun(model, examples, words)
    written = written_pronouns(model, examples, words)
    facts["examples"] = [
        {"src": text, "written": word, "encoder": rounded(row)}
        for text, word, row in zip(EXAMPLES, written, rows, strict=True)
    ]
    return facts


def main() -> None:
    """Train every model, print the results, and write them."""
    parser = argparse.ArgumentParser(description=Path(__file__).stem)
    parser.add_argument("--epochs", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(1)
    found = []
    for positions, seed in MODELS:
        found.append(run(positions, seed, options.epochs))
        right = {kind: one["right"] for kind, one in found[-1]["test"].items()}
        print(f"seed {seed}  positions {positions}  {right}", flush=True)
        RESULT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()

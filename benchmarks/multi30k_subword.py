"""Evaluate a subword model on Multi30k, by a rule that was fixed before.

    python -m transformer train --data multi30k --config subword --out runs/subword
    python benchmarks/multi30k_subword.py runs/subword [--data-dir DIR]

This rule was written down before the model was trained, and before any result on a test
set was known: `subword` differs from `best` only in its words. It has 8,000 subwords
that both sides share, learned by SentencePiece from the lower-cased training pairs. One
matrix serves the source, the target and the projection, and there are 256 positions.
Sizes, dropout, batches, rate and the seed, 1234, are those of `best`. One model is
trained. The checkpoint (best epoch or averaged) and the search (`multi30k.SEARCHES`)
with the highest validation BLEU are chosen. Only this choice is evaluated, once, on the
test set and on every other test set in the folder. The result is written to
`benchmarks/results/multi30k_subword.json`.

Originally the number of epochs was also that of `best`, 24. The BLEU was then 40.13 on
the validation set and 39.10 on the test set (`multi30k_subword_24.json`, written from
the same run after 24 epochs). The validation loss was still falling. The run was
continued to twice as many epochs, and `subword` has had 48 epochs since then. This was
decided on the validation set, where the average of epochs 29 to 34 had 41.21, before
the test set was used again.

The tutorial's BLEU is computed on spaCy's tokens of the joined text, so it can be
compared with the BLEU of models of whole words. Perplexities cannot be compared,
because they are per subword.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from multi30k import Measure, measure_best, result_file, write_result
from torch import nn

from transformer.data import Corpus, SentencePair, Vocabularies
from transformer.data.multi30k import SPLITS, find_multi30k, read_texts
from transformer.training.checkpoints import load_checkpoint
from transformer.training.loop import AVERAGED, BEST, LAST
from transformer.training.presets import Preset, recipe, split_texts
from transformer.translation.beams import SearchSettings
from transformer.translation.evaluation import (
    as_words,
    text_bleu,
    text_chrf,
    translate_pairs,
    tutorial_bleu,
)
from transformer.translation.fast import fast_translation

LONGEST = 100  # maximum number of subwords in a translation


class SubwordMeasure(Measure):
    """Evaluate models that use one set of subwords."""

    def __init__(self, folder: Path | None, words: Vocabularies) -> None:
        """Read Multi30k from a folder, or download it, and split it into subwords."""
        self.folder, self.words = find_multi30k(folder), words
        self.corpus = Corpus(*map(self.read, ("train", "valid", "test")))

    def read(self, name: str) -> tuple[SentencePair, ...]:
        """Return one part of Multi30k, split into subwords."""
        return split_texts(read_texts(self.folder, name), self.words[0].subwords)

    def bleu(
        self, model: nn.Module, pairs: list[SentencePair], search: SearchSettings
    ) -> dict[str, Any]:
        """Compute three scores of a split's translations, joined to plain text."""
        room = SearchSettings(search.beam_size, search.length_penalty, LONGEST)
        found = translate_pairs(
            model, pairs, self.words, room, 256, search=fast_translation
        )
        join = self.words[1].join
        texts, references = map(join, found), [join(pair.tgt) for pair in pairs]
        texts = list(texts)
        tutorial = tutorial_bleu(
            [as_words(text) for text in texts],
            [as_words(text)[:-1] for text in references],
        )
        sacre = text_bleu(texts, references, "lower-cased text")
        chrf = text_chrf(texts, references, "lower-cased text")
        return {
            "beam_size": search.beam_size,
            "length_penalty": search.length_penalty,
            "tutorial_bleu": round(tutorial.score, 2),
            "sacrebleu_lower_cased": round(sacre.score, 2),
            "signature": sacre.convention,
            "chrf_lower_cased": round(chrf.score, 2),
            "chrf_signature": chrf.convention,
        }


def other_tests(measure: SubwordMeasure) -> list[str]:
    """Return the names of the other test sets in the folder."""
    names = {path.name.partition(".")[0] for path in measure.folder.glob("test_*.de*")}
    return sorted(names - set(SPLITS.values()))


def main() -> None:
    """Choose on the validation set, evaluate, print the results, and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("run", type=Path, help="folder of the checkpoints")
    parser.add_argument("--data-dir", type=Path)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    words = load_checkpoint(options.run / LAST).vocabularies()
    measure = SubwordMeasure(options.data_dir, words)
    found = measure_best(measure, options.run)
    chosen = found["chosen_on_validation"]
    file = {"best epoch": BEST, "averaged": AVERAGED}[chosen["weights"]]
    model = load_checkpoint(options.run / file).build_model()
    search = SearchSettings(chosen["beam_size"], chosen["length_penalty"])
    found["other_tests"] = {
        name: measure.bleu(model, measure.read(name), search)
        for name in other_tests(measure)
    }
    epochs = found["training"]["epochs"]
    is_usual = epochs == recipe(Preset.subword).training().epochs
    write_result(result_file("subword" if is_usual else f"subword_{epochs}"), found)
    shown = {k: v for k, v in found.items() if k not in ("log", "model", "training")}
    print(json.dumps(shown, indent=1))


if __name__ == "__main__":
    main()

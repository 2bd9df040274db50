"""Train small Transformers with and without feed-forward layers.

    python benchmarks/without_feed_forward.py [--seeds 2] [--epochs 4]

Chapter 06 reads the results from the file that this program writes: the parameters of
each model, its validation loss after every epoch, and the BLEU of its translations.
"""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

import torch

from transformer.config import TransformerConfig
from transformer.data import make_batches, make_grammar_corpus
from transformer.data.word_counts import build_vocabularies
from transformer.experiments.ablation import leave_out_feed_forward
from transformer.experiments.wrong_runs import greedy_bleu
from transformer.model import Transformer
from transformer.multi_head import count_parameters
from transformer.training.config import TrainingConfig
from transformer.training.loop import Trainer, TrainingData
from transformer.training.progress import Silence

RESULT = Path(__file__).parent / "results" / "without_feed_forward.json"
Make = Callable[[TransformerConfig], Transformer]


def attention_alone(config: TransformerConfig) -> Transformer:
    """Make a Transformer without feed-forward layers."""
    return leave_out_feed_forward(Transformer(config))


# Four layers with only attention have as many parameters as two complete layers.
MODELS: dict[str, tuple[Make, int]] = {
    "whole, 2 layers": (Transformer, 2),
    "attention alone, 2": (attention_alone, 2),
    "attention alone, 4": (attention_alone, 4),
}


def train(make: Make, n_layers: int, seed: int, epochs: int) -> dict[str, object]:
    """Train one model on the grammar corpus, and return its losses, BLEU and size."""
    corpus = make_grammar_corpus()
    words = build_vocabularies(corpus.train)
    sizes = {"d_model": 64, "d_ff": 192, "n_layers": n_layers}
    config = TransformerConfig.tiny(*map(len, words), **sizes)
    training = TrainingConfig.tiny(epochs=epochs, seed=seed)
    data = TrainingData(
        make_batches(corpus.train, words, training.batch_size, seed=seed),
        make_batches(corpus.valid, words, 100),
        words,
    )
    torch.manual_seed(seed)
    model = make(config)
    history = Trainer(model, data, training).run(Silence())
    return {
        "parameters": count_parameters(model),
        "valid_loss": [round(record["valid_loss"], 4) for record in history],
        "bleu": round(greedy_bleu(model, corpus.test, words), 1),
    }


def main() -> None:
    """Train every model with every seed, print the results, and write them."""
    parser = argparse.ArgumentParser(description=Path(__file__).stem)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=4)
    options = parser.parse_args()
    torch.set_num_threads(1)
    found: dict[str, list[dict[str, object]]] = {}
    for seed in range(options.seeds):
        for name, (make, n_layers) in MODELS.items():
            run = train(make, n_layers, seed, options.epochs)
            found.setdefault(name, []).append(run)
            print(f"seed {seed}  {name:20} {run}", flush=True)
            RESULT.write_text(json.dumps(found, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()

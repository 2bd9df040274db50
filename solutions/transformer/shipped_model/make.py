"""Make the model that the course ships from a training run: `make model`.

python -m transformer train --out runs/tiny
python -m transformer.shipped_model.make runs/tiny
"""

from pathlib import Path
from typing import Annotated, Any

import torch
import typer

from transformer.data import Corpus
from transformer.model import Transformer
from transformer.multi_head import count_parameters
from transformer.shipped_model.weights import (
    FOLDER,
    ShippedModel,
    load_shipped_model,
    save_shipped_model,
)
from transformer.training.checkpoints import (
    Checkpoint,
    load_checkpoint,
    require_same_words,
)
from transformer.training.loop import BEST
from transformer.training.presets import CorpusName, load_corpus, number_words
from transformer.translation.beams import SearchSettings
from transformer.translation.cache import CachedTransformer
from transformer.translation.evaluation import detokenised_bleu, translate_pairs
from transformer.translation.inference import decode_step_cached


def export(
    run: Annotated[Path, typer.Argument(help="Folder of the run's checkpoints.")],
    to: Annotated[Path, typer.Option(help="Folder to write into.")] = FOLDER,
) -> None:
    """Write a training run's best model to the folder of the shipped model."""
    torch.set_num_threads(1)
    checkpoint = load_checkpoint(run / BEST)
    corpus = load_corpus(CorpusName.grammar, None)
    words = number_words(CorpusName.grammar, corpus)
    require_same_words(run / BEST, checkpoint.vocabularies(), words)
    model, facts = checkpoint.build_model(), training_facts(checkpoint)
    if not isinstance(model, Transformer):
        raise typer.BadParameter(f"{run} holds a {checkpoint.model_name} model")
    size = save_shipped_model(ShippedModel(model, words, facts), to)
    rounded = load_shipped_model(folder=to)
    facts |= {"parameters": count_parameters(model), **bleu_facts(rounded, corpus)}
    save_shipped_model(ShippedModel(model, words, facts), to)
    typer.echo(f"{size / 1e6:.2f} MB, test BLEU {facts['test_bleu']}: {to}")


def training_facts(checkpoint: Checkpoint) -> dict[str, Any]:
    """Return facts about a model's training."""
    return {
        "corpus": CorpusName.grammar.value,
        "training": checkpoint.training_config,
        "epochs_done": checkpoint.epoch,
        "torch": torch.__version__,
    }


def bleu_facts(shipped: ShippedModel, corpus: Corpus) -> dict[str, Any]:
    """Score the model on the test set, with the half-precision weights of its file."""
    cached = CachedTransformer(shipped.model, decode_step_cached)
    found = translate_pairs(cached, corpus.test, shipped.words, SearchSettings(1))
    bleu = detokenised_bleu(found, [pair.tgt for pair in corpus.test])
    return {
        "test_bleu": round(bleu.score, 2),
        "convention": f"greedy; {bleu.convention}",
    }


if __name__ == "__main__":
    typer.run(export)

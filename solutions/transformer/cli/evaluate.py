"""The command `evaluate`: perplexity and BLEU of a checkpoint."""

from typing import Annotated

import typer

from transformer.cli.options import (
    USUAL_OUT,
    Alpha,
    BeamSize,
    Data,
    DataDir,
    Device,
    MaxLen,
    Out,
    Split,
    Threads,
    Weights,
    Which,
    console,
    one_line_errors,
    read_corpus,
    say,
)
from transformer.data import make_batches
from transformer.training.checkpoints import load_checkpoint, require_same_words
from transformer.training.loop import mean_loss
from transformer.training.presets import CorpusName, choose_device
from transformer.training.step import perplexity
from transformer.translation.beams import SearchSettings
from transformer.translation.evaluation import (
    detokenised_bleu,
    translate_pairs,
    tutorial_bleu,
)
from transformer.translation.fast import fast_translation


def evaluate(
    data: Data = CorpusName.grammar,
    data_dir: DataDir = None,
    split: Annotated[Split, typer.Option(help="Part of the corpus.")] = Split.test,
    device: Device = "auto",
    threads: Threads = 1,
    out: Out = USUAL_OUT,
    beam_size: BeamSize = 1,
    length_penalty: Alpha = 0.6,
    max_len: MaxLen = 50,
    weights: Which = Weights.best,
) -> None:
    """Print perplexity and BLEU of a checkpoint, each with its convention."""
    with one_line_errors():
        settings = SearchSettings(beam_size, length_penalty, max_len)
        place = choose_device(device, threads)
        checkpoint = load_checkpoint(out / weights.file)
        corpus, words = read_corpus(data, data_dir)
        require_same_words(out / weights.file, checkpoint.vocabularies(), words)
        model = checkpoint.build_model(place)
        pairs = getattr(corpus, split.value)
        loss = mean_loss(model, make_batches(pairs, words, 128, device=place))
        report_perplexity(loss, split, len(pairs))
        with console.status("translating"):
            translations = translate_pairs(
                model, pairs, words, settings, search=fast_translation
            )
        references = [pair.tgt for pair in pairs]
        search = "greedy" if beam_size == 1 else f"beam {beam_size}, α {length_penalty}"
        for score in (tutorial_bleu, detokenised_bleu):
            bleu = score(translations, references)
            say(f"BLEU        {bleu.score:6.2f}  ({search}; {bleu.convention})")


def report_perplexity(loss: float, split: Split, n_pairs: int) -> None:
    """Print a loss as a perplexity, and how it was counted."""
    say(f"{split.value}: {n_pairs:,} sentences")
    say(
        f"perplexity  {perplexity(loss):6.3f}  (exp of the mean cross-entropy "
        f"{loss:.3f} per target token, <eos> included, no label smoothing)"
    )

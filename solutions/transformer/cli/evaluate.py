"""The command `evaluate`: perplexity and BLEU of a checkpoint."""

from typing import Annotated

import typer

from transformer.cli.measured import Measured, read_measured, scores_of
from transformer.cli.options import (
    USUAL_OUT,
    Alpha,
    BeamSize,
    Data,
    DataDir,
    Device,
    MaxLen,
    Out,
    Threads,
    Weights,
    Which,
    console,
    one_line_errors,
    say,
    search_settings,
    weights_of,
    with_room,
)
from transformer.cli.own_files import Src, Tgt
from transformer.data import make_batches
from transformer.training.checkpoints import load_checkpoint
from transformer.training.loop import mean_loss
from transformer.training.presets import CorpusName, choose_device
from transformer.training.step import perplexity
from transformer.translation.evaluation import (
    HOW_TO_INSTALL_TORCHTEXT,
    has_torchtext,
    translate_pairs,
)
from transformer.translation.fast import fast_translation

Split = Annotated[
    str,
    typer.Option(
        help="valid, test, or another test set of Multi30k in --data-dir, such as "
        "test_2017_flickr."
    ),
]


def evaluate(
    data: Data = CorpusName.grammar,
    data_dir: DataDir = None,
    src: Src = None,
    tgt: Tgt = None,
    split: Split = "test",
    device: Device = "auto",
    threads: Threads = 1,
    out: Out = USUAL_OUT,
    beam_size: BeamSize = 1,
    length_penalty: Alpha = 0.6,
    max_len: MaxLen = None,
    weights: Which = Weights.best,
) -> None:
    """Print a checkpoint's perplexity and BLEU, and how each of them is computed."""
    with one_line_errors():
        settings = search_settings(beam_size, length_penalty, max_len)
        place = choose_device(device, threads)
        path = weights_of(out, weights)
        checkpoint = load_checkpoint(path)
        part = read_measured(checkpoint, path, data, data_dir, split, (src, tgt))
        model = checkpoint.build_model(place)
        batches = make_batches(part.pairs, part.words, 128, device=place)
        report_perplexity(mean_loss(model, batches), part)
        longest = max(len(pair.src) for pair in part.pairs) + 2
        settings = with_room(settings, max_len, checkpoint, longest)
        with console.status("translating"):
            found = translate_pairs(
                model, part.pairs, part.words, settings, search=fast_translation
            )
        search = "greedy" if beam_size == 1 else f"beam {beam_size}, α {length_penalty}"
        for name, score in scores_of(found, part):
            say(f"{name}  {score.score:12.2f}  ({search}; {score.convention})")
        if part.corpus is not CorpusName.files and not has_torchtext():
            say(HOW_TO_INSTALL_TORCHTEXT)


def report_perplexity(loss: float, part: Measured) -> None:
    """Print the perplexity for a loss, and how it is computed."""
    say(f"{part.corpus.value}, {part.name}: {len(part.pairs):,} sentences")
    unit = "subword" if part.words[0].subwords else "token"
    say(
        f"perplexity  {perplexity(loss):6.3f}  (exp of the mean cross-entropy "
        f"{loss:.3f} per target {unit}, <eos> included, no label smoothing)"
    )

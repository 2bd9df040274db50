"""Compare the speed of the tutorial's training step with one from nn.Transformer.

    python benchmarks/training_step.py [--rounds 30] [--threads 1] [--data-dir DIR]

Both have the same sizes, batches, optimiser and clipping. Our step is that of `--config
tutorial`, which computes a batch in parts of similar length. A second ratio is for a
step on the whole batch, so both models pass the same padding through their layers.
(Ours omits padding in the softmax over the words, and the other model's loss ignores
it.) Steps alternate, so other work on the machine slows both equally, and each round
gives one ratio.
"""

import argparse
import math
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count, islice
from pathlib import Path

import torch
from timing import Ratio, compare, seconds
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.config import TransformerConfig
from transformer.data import Corpus, Vocabularies, make_batches
from transformer.model import Transformer
from transformer.training.config import TrainingConfig
from transformer.training.loop import step_function
from transformer.training.presets import CorpusName, load_corpus, number_words
from transformer.training.step import StepSettings

PAD = 1
TUTORIAL = TrainingConfig.tutorial()
SHORTEST, LONGEST = 5, 30  # lengths of the sentences in a random batch
Step = Callable[[Tensor, Tensor], float]


class PeerTransformer(nn.Module):
    """The tutorial's model, made of PyTorch's own layers."""

    def __init__(self, config: TransformerConfig) -> None:
        """Make the embeddings, the stacks and the projection."""
        super().__init__()
        d_model = config.d_model
        self.src_tokens = nn.Embedding(config.src_vocab_size, d_model)
        self.tgt_tokens = nn.Embedding(config.tgt_vocab_size, d_model)
        self.src_positions = nn.Embedding(config.max_len, d_model)
        self.tgt_positions = nn.Embedding(config.max_len, d_model)
        self.dropout = nn.Dropout(config.dropout)
        self.scale = math.sqrt(d_model)
        encoder_layer = nn.TransformerEncoderLayer(
            d_model, config.n_heads, config.d_ff, config.dropout, batch_first=True
        )
        decoder_layer = nn.TransformerDecoderLayer(
            d_model, config.n_heads, config.d_ff, config.dropout, batch_first=True
        )
        self.stacks = nn.Transformer(
            d_model,
            config.n_heads,
            batch_first=True,
            custom_encoder=nn.TransformerEncoder(
                encoder_layer, config.n_layers, enable_nested_tensor=False
            ),
            custom_decoder=nn.TransformerDecoder(decoder_layer, config.n_layers),
        )
        self.projection = nn.Linear(d_model, config.tgt_vocab_size)

    def embed(self, ids: Tensor, tokens: nn.Embedding, positions: nn.Embedding):
        """Return scaled word vectors plus positions, with dropout."""
        places = torch.arange(ids.size(1), device=ids.device)
        return self.dropout(tokens(ids) * self.scale + positions(places))

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Compute the logits of every next word."""
        length = tgt.size(1)
        future = torch.ones(length, length, dtype=torch.bool, device=tgt.device).triu(1)
        src_padding = src == PAD
        x = self.stacks(
            self.embed(src, self.src_tokens, self.src_positions),
            self.embed(tgt, self.tgt_tokens, self.tgt_positions),
            tgt_mask=future,
            src_key_padding_mask=src_padding,
            tgt_key_padding_mask=tgt == PAD,
            memory_key_padding_mask=src_padding,
        )
        return self.projection(x)


def real_batches(
    corpus: Corpus, words: Vocabularies, device: str
) -> Iterator[list[Tensor]]:
    """Yield batches of Multi30k, like those of the tutorial's training."""
    batches = make_batches(
        corpus.train,
        words,
        TUTORIAL.batch_size,
        device=device,
        seed=TUTORIAL.seed,
        by_length=TUTORIAL.by_length,
    )
    for epoch in count():
        for batch in batches.epoch(epoch):
            yield [batch.src, batch.tgt]


def drawn_batches(config: TransformerConfig, device: str) -> Iterator[list[Tensor]]:
    """Yield batches of random words, with realistic lengths."""
    generator = torch.Generator().manual_seed(0)
    while True:
        yield [ids.to(device) for ids in draw_batch(config, generator)]


def draw_batch(config: TransformerConfig, generator: torch.Generator) -> list[Tensor]:
    """Draw a padded source and a padded target."""
    batch = []
    for vocab_size in (config.src_vocab_size, config.tgt_vocab_size):
        ids = torch.randint(
            4, vocab_size, (TUTORIAL.batch_size, LONGEST), generator=generator
        )
        lengths = torch.randint(
            SHORTEST, LONGEST + 1, (TUTORIAL.batch_size, 1), generator=generator
        )
        ids[torch.arange(LONGEST) >= lengths] = PAD
        batch.append(ids)
    return batch


def course_step(
    config: TransformerConfig, device: str, training: TrainingConfig = TUTORIAL
) -> Step:
    """Return a function that takes one training step of the course's model."""
    torch.manual_seed(0)
    model = Transformer(config).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=training.rate)
    take_step, settings = step_function(training, device), StepSettings(PAD)
    return lambda src, tgt: take_step(model, src, tgt, optimizer, settings)[0]


def whole_step(config: TransformerConfig, device: str) -> Step:
    """Return a function that takes one training step on the whole batch."""
    return course_step(config, device, replace(TUTORIAL, parts=1))


def peer_step(config: TransformerConfig, device: str) -> Step:
    """Return a function that takes one training step of the nn.Transformer model."""
    torch.manual_seed(0)
    model = PeerTransformer(config).to(device).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=TUTORIAL.rate)

    def step(src: Tensor, tgt: Tensor) -> float:
        optimizer.zero_grad()
        logits = model(src, tgt[:, :-1])
        loss = F.cross_entropy(
            logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD
        )
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), TUTORIAL.max_norm)
        optimizer.step()
        return loss.item()

    return step


STEPS = {"course": course_step, "whole": whole_step, "nn.Transformer": peer_step}


@dataclass(frozen=True)
class Speeds:
    """Hold the measured speeds.

    Attributes:
        training: our training step compared with that of `nn.Transformer`.
        same_padding: the same, if both compute the same padding.
        tokens_per_second: target tokens per second of our training, without padding.
    """

    training: Ratio
    same_padding: Ratio
    tokens_per_second: float


def measure(
    batches: Iterator[list[Tensor]], rounds: int, device: str = "cpu"
) -> Speeds:
    """Time all kinds of steps on the same batches."""
    config = TransformerConfig.tutorial()
    steps = [make(config, device) for make in STEPS.values()]
    rows, tokens = [], []
    for batch in islice(batches, rounds + 2):
        rows.append([seconds(lambda s=step, b=batch: s(*b)) for step in steps])
        tokens.append(int((batch[1][:, 1:] != PAD).sum()))
    rows, tokens = rows[2:], tokens[2:]  # the first two rounds only warm up
    return Speeds(
        compare([(ours, theirs) for ours, _, theirs in rows]),
        compare([(whole, theirs) for _, whole, theirs in rows]),
        sum(tokens) / sum(ours for ours, _, _ in rows),
    )


def peak_megabytes(name: str, batches: Iterator[list[Tensor]]) -> float:
    """Return the peak memory of this process after some steps.

    The number comes from /proc, because `getrusage` would include memory of the parent
    process from before the fork.
    """
    step = STEPS[name](TransformerConfig.tutorial(), "cpu")
    for batch in islice(batches, 6):
        step(*batch)
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", status)[1]) / 1024


def peak_in_new_process(name: str, sentences: list[str]) -> float:
    """Measure the peak memory of one model's training in a new process.

    `sentences` are this script's options that choose the sentences.
    """
    command = [sys.executable, __file__, "--memory-of", name, *sentences]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(done.stdout)


def choose_batches(
    data_dir: Path | None, random: bool, device: str
) -> Iterator[list[Tensor]]:
    """Return batches of random words, or of Multi30k's sentences."""
    if random:
        return drawn_batches(TransformerConfig.tutorial(), device)
    corpus = load_corpus(CorpusName.multi30k, data_dir)
    return real_batches(corpus, number_words(CorpusName.multi30k, corpus), device)


def which_sentences(data_dir: Path | None, random: bool = False) -> list[str]:
    """Return this script's options that choose the sentences."""
    folder = ["--data-dir", str(data_dir)] if data_dir else []
    return ["--random"] if random else folder


def main() -> None:
    """Measure; print the medians, and the ratios with their quartiles."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--data-dir", type=Path, help="Multi30k; else it is fetched")
    parser.add_argument("--random", action="store_true", help="take random words")
    parser.add_argument("--memory-of", choices=STEPS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    batches = choose_batches(options.data_dir, options.random, options.device)
    if options.memory_of:
        print(peak_megabytes(options.memory_of, batches))
        return
    found = measure(batches, options.rounds, options.device)
    print(f"torch {torch.__version__}, {options.threads} thread(s), {options.device}")
    print(f"{found.tokens_per_second:,.0f} target tokens/s")
    for name, ratio in (("in parts", found.training), ("whole", found.same_padding)):
        print(
            f"{name}: {ratio.ours * 1e3:.1f} ms a step, nn.Transformer "
            f"{ratio.theirs * 1e3:.1f} ms: {ratio.middle:.2f} times as fast "
            f"(quartiles {ratio.low:.2f} to {ratio.high:.2f})"
        )
    for name in STEPS:
        peak = peak_in_new_process(
            name, which_sentences(options.data_dir, options.random)
        )
        print(f"{name}: {peak:,.0f} MB at the peak")


if __name__ == "__main__":
    main()

"""Time a training step of the tutorial's model against one built from nn.Transformer.

    python benchmarks/training_step.py [--rounds 15] [--threads 1] [--device cpu]

Both have the same sizes, batch, optimiser and clipping. Their steps alternate, so that
whatever else the machine does hits both; each pair of neighbours gives one ratio.
"""

import argparse
import math
import statistics
import time
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from transformer.config import TransformerConfig
from transformer.multi_head import count_parameters
from transformer.seq2seq import Transformer
from transformer.training import StepSettings, train_step

PAD = 1
BATCH, SHORTEST, LONGEST = 128, 10, 22  # a bucket of Multi30k, padding included


class PeerTransformer(nn.Module):
    """The tutorial's model out of PyTorch's own layers."""

    def __init__(self, config: TransformerConfig) -> None:
        """Make embeddings, stacks and projection."""
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
        """Add positions to scaled word vectors."""
        places = torch.arange(ids.size(1), device=ids.device)
        return self.dropout(tokens(ids) * self.scale + positions(places))

    def forward(self, src: Tensor, tgt: Tensor) -> Tensor:
        """Score every next word."""
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


def draw_batch(config: TransformerConfig, generator: torch.Generator) -> list[Tensor]:
    """Draw a padded source and target."""
    batch = []
    for vocab_size in (config.src_vocab_size, config.tgt_vocab_size):
        ids = torch.randint(4, vocab_size, (BATCH, LONGEST), generator=generator)
        lengths = torch.randint(SHORTEST, LONGEST + 1, (BATCH, 1), generator=generator)
        ids[torch.arange(LONGEST) >= lengths] = PAD
        batch.append(ids)
    return batch


def course_step(config: TransformerConfig, device: str) -> Callable[..., float]:
    """Return a function that takes one step of the course's model."""
    model = Transformer(config).to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    settings = StepSettings(PAD)
    print(f"course's model: {count_parameters(model):,} parameters")
    return lambda src, tgt: train_step(model, src, tgt, optimizer, settings)[0]


def peer_step(config: TransformerConfig, device: str) -> Callable[..., float]:
    """Return a function that takes one step of the model of nn.Transformer."""
    model = PeerTransformer(config).to(device).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-4)
    print(f"nn.Transformer: {count_parameters(model):,} parameters")

    def step(src: Tensor, tgt: Tensor) -> float:
        optimizer.zero_grad()
        logits = model(src, tgt[:, :-1])
        loss = F.cross_entropy(
            logits.flatten(0, 1), tgt[:, 1:].flatten(), ignore_index=PAD
        )
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        return loss.item()

    return step


def time_step(step: Callable[..., float], batch: list[Tensor]) -> float:
    """Return the seconds of one step; `item` in it waits for the device."""
    start = time.perf_counter()
    step(*batch)
    return time.perf_counter() - start


def main() -> None:
    """Measure, and print medians, and the ratio with its quartiles."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    config = TransformerConfig.tutorial()
    generator = torch.Generator().manual_seed(0)
    steps = [make(config, options.device) for make in (course_step, peer_step)]
    times: list[list[float]] = []
    for _ in range(options.rounds + 2):
        batch = [ids.to(options.device) for ids in draw_batch(config, generator)]
        times.append([time_step(step, batch) for step in steps])
    times = times[2:]  # the first rounds warm up
    ours, theirs = (statistics.median(column) for column in zip(*times, strict=True))
    low, middle, high = statistics.quantiles([a / b for a, b in times], n=4)
    print(f"torch {torch.__version__}, {options.threads} thread(s), {options.device}")
    print(f"course {ours * 1e3:.1f} ms, nn.Transformer {theirs * 1e3:.1f} ms a step")
    print(f"ratio {middle:.3f} (quartiles {low:.3f} to {high:.3f})")


if __name__ == "__main__":
    main()

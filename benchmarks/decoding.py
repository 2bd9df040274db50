"""Time greedy and beam search with and without the cache of keys and values.

    python benchmarks/decoding.py [--length 256] [--batch 8] [--threads 1]

The model has the tutorial's sizes and random weights. It never ends a sentence, so
every search writes exactly `--length` tokens. Runs with and without the cache
alternate, and they must write the same words.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from transformer.config import TransformerConfig
from transformer.model import Transformer
from transformer.translation.beams import EOS_ID, SearchSettings
from transformer.translation.cache import CachedTransformer
from transformer.translation.inference import (
    beam_search,
    decode_step_cached,
    greedy_decode,
)

ROUNDS = 3


def make_endless_model(length: int) -> Transformer:
    """Make a model that never writes `<eos>`, with positions for `length` tokens."""
    torch.manual_seed(0)
    model = Transformer(TransformerConfig.tutorial(max_len=length + 1)).eval()
    with torch.no_grad():
        model.projection.bias[EOS_ID] = -1e9
    return model


def measure(
    name: str, search: Callable[..., Tensor], models: tuple[torch.nn.Module, ...]
) -> None:
    """Time a search with each model in alternation; print medians and their ratio."""
    times: list[list[float]] = [[] for _ in models]
    for _ in range(ROUNDS):
        found = []
        for model, seconds in zip(models, times, strict=True):
            start = time.perf_counter()
            found.append(search(model))
            seconds.append(time.perf_counter() - start)
        if not torch.equal(*found):
            raise SystemExit(f"{name}: the words differ with and without the cache")
    plain, cached = (statistics.median(seconds) for seconds in times)
    print(
        f"{name:<24} {plain:6.2f} s without, {cached:6.2f} s with the cache: "
        f"{plain / cached:4.1f} times as fast, the same words"
    )


def main() -> None:
    """Measure greedy and beam search, for one sentence and for a batch."""
    parser = argparse.ArgumentParser(description=Path(__file__).stem)
    parser.add_argument("--length", type=int, default=256)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    plain = make_endless_model(options.length)
    models = (plain, CachedTransformer(plain, decode_step_cached))
    generator = torch.Generator().manual_seed(0)
    src = torch.randint(4, 7853, (options.batch, 20), generator=generator)
    settings = SearchSettings(4, max_len=options.length)
    print(
        f"torch {torch.__version__}, {options.threads} thread(s), {options.length} "
        "tokens, the tutorial's sizes"
    )
    measure(
        "greedy, 1 sentence",
        lambda model: greedy_decode(model, src[:1], options.length),
        models,
    )
    measure(
        f"greedy, {options.batch} sentences",
        lambda model: greedy_decode(model, src, options.length),
        models,
    )
    measure(
        "beam 4, 1 sentence",
        lambda model: beam_search(model, src[:1], settings)[0],
        models,
    )


if __name__ == "__main__":
    main()

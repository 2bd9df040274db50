"""The tests' questions to the engine in a browser, and PyTorch's answers."""

import base64

import pytest
import torch
from torch import Tensor

from transformer.data.special_tokens import PAD_ID
from transformer.model import Transformer
from transformer.translation.beams import SearchSettings, until_end
from transformer.translation.cache import CachedTransformer
from transformer.translation.inference import (
    beam_search,
    decode_step_cached,
    greedy_decode,
)

Found = list[list[tuple[list[int], float]]]
"""For each sentence its hypotheses, the best first, with their scores."""


def as_floats(text: str) -> Tensor:
    """Read the float32 numbers that a page sent in base64."""
    return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.float32)


def padded(rows: list[list[int]]) -> Tensor:
    longest = max(map(len, rows))
    return torch.tensor([row + [PAD_ID] * (longest - len(row)) for row in rows])


@torch.no_grad()
def greedy_of(
    model: Transformer, sources: list[list[int]], most: int = 50
) -> list[list[int]]:
    """Translate greedily, and return each sentence's ids from `<sos>` on."""
    cached = CachedTransformer(model, decode_step_cached)
    found = greedy_decode(cached, padded(sources), most)
    return [until_end(row).tolist() for row in found]


@torch.no_grad()
def logits_of(model: Transformer, src: list[int], tgt: list[int]) -> Tensor:
    ids = torch.tensor([src])
    return model.decode(torch.tensor([tgt]), model.encode(ids), ids)[0].flatten()


def hypotheses_of(
    model: Transformer, sources: list[list[int]], settings: SearchSettings
) -> Found:
    """Search, and return each sentence's hypotheses and scores, the best first."""
    cached = CachedTransformer(model, decode_step_cached)
    ids, score = beam_search(cached, padded(sources), settings)
    return [
        [(until_end(row).tolist(), float(w)) for row, w in zip(*pair, strict=True)]
        for pair in zip(ids, score, strict=True)
    ]


def ask_logits(engine, src: list[int], tgt: list[int]) -> list[Tensor]:
    """Make the page compute the logits of a target, at once and word by word."""
    texts = engine.evaluate("([src, tgt]) => ask.logits(src, tgt)", [src, tgt])
    return [as_floats(text) for text in texts]


def ask_beams(engine, sources: list[list[int]], settings: SearchSettings) -> Found:
    """Make the page search."""
    asked = {
        "k": settings.beam_size,
        "alpha": settings.length_penalty,
        "maxLen": settings.max_len,
    }
    return engine.evaluate(
        "([sources, asked]) => sources.map((src) => ask.beams(src, asked))",
        [sources, asked],
    )


def assert_same_hypotheses(found, expected) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        assert [ids for ids, _ in ours] == [ids for ids, _ in theirs]
        scores = [[score for _, score in pairs] for pairs in (ours, theirs)]
        assert scores[0] == pytest.approx(scores[1], abs=1e-4)

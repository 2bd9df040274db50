"""The small drawings by name, for the directive `{drawing}`."""

from __future__ import annotations

from collections.abc import Callable

from . import attention, inference, layers, recurrent, sequences, vectors
from .canvas import Canvas, picture

NAMES: dict[str, Callable[[Canvas], float]] = {
    "seq2seq": recurrent.seq2seq,
    "seq2seq-attention": recurrent.seq2seq_with_attention,
    "bilstm-attention": recurrent.bilstm,
    "cache": inference.cache,
    "beam": inference.beam,
    "lookup": vectors.lookup,
    "dials": vectors.dials,
    "attention": attention.attention,
    "heads": attention.heads,
    "token": layers.token,
    "masks": attention.masks,
    "encoder-layer": layers.encoder_layer,
    "decoder-layer": layers.decoder_layer,
    "ribbons": sequences.ribbons,
    "waiting": sequences.waiting,
    "system": sequences.system,
}
# Drawings that can be shown step by step, with the names of their steps.
STEPS: dict[str, Callable[[], list[str]]] = {"attention": attention.steps}
WIDTH = 360.0


def drawn(name: str, alt: str) -> str:
    """Return the drawing with this name as SVG; `alt` is its text alternative."""
    canvas = Canvas()
    size = (WIDTH, NAMES[name](canvas))
    return picture(canvas, size, f"drawing small-one {name}", alt)

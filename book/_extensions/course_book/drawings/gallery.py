"""The small drawings by their names, for the directive `{drawing}`."""

from __future__ import annotations

from collections.abc import Callable

from . import inference, recurrent
from .canvas import Canvas, Said, svg

NAMES: dict[str, tuple[str, Callable[[Canvas], float]]] = {
    "seq2seq": ("Seq2Seq without attention", recurrent.seq2seq),
    "seq2seq-attention": ("Seq2Seq with attention", recurrent.seq2seq_with_attention),
    "bilstm-attention": ("A Bi-LSTM with attention", recurrent.bilstm),
    "cache": ("A decoder's step with and without a cache", inference.cache),
    "beam": ("Three steps of a beam search", inference.beam),
}
WIDTH = 360.0


def drawn(name: str, key: str, alt: str = "") -> str:
    """Return the drawing of that name as SVG.

    Args:
        name: one of `NAMES`.
        key: a name that no other drawing on the page has.
        alt: what it shows, in words.
    """
    title, draw = NAMES[name]
    canvas = Canvas()
    height = draw(canvas)
    return svg(
        canvas, (WIDTH, height), f"drawing small-one {name}", Said(key, title, alt)
    )

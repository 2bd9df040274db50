"""The map of the course, a drawing of the Transformer in a wide and a narrow layout."""

from __future__ import annotations

from . import panels, stacks
from .canvas import Box, Canvas, Point, Said, svg

TITLE = "The Transformer, and where each unit of the course stands in it"
DESCRIPTION = (
    "Two stacks, read from the top down. The source's words become vectors, get their "
    "positions, and pass N encoder layers; each holds self-attention and a "
    "feed-forward layer, each of them followed by a sum with its residual connection "
    "and a LayerNorm. What comes out is the memory. The words of the target that are "
    "written already become vectors in the same way and pass N decoder layers, which "
    "hold masked self-attention, cross-attention and a feed-forward layer. "
    "Cross-attention takes its queries from the decoder, its keys and values from the "
    "memory. A linear layer and a softmax give a probability to every next word; one "
    "is chosen and read again as the target's next word. Padding masks enter all "
    "three attentions, a causal mask the masked one. Every part is a link to its unit."
)
WIDE, NARROW = 736.0, 360.0
GAP = 14.0


def remember(canvas: Canvas, path: list[Point], cross: Box) -> None:
    """Draw the memory's way along `path` into cross-attention, as keys and values."""
    x, y = path[-1]
    canvas.line(path, "memory")
    for shift, letter in ((-9, "k"), (9, "v")):
        canvas.arrow([(x, y), (x, y + shift), (cross.x, y + shift)], "memory")
        canvas.text(x + 8, y + (-14 if shift < 0 else 22), letter, "letter")


def read_again(canvas: Canvas, column: stacks.Decoder, cx: float) -> None:
    """Draw the arrow from the chosen word back to the decoder's input."""
    side, y = cx + 144, column.choice.cy
    path = [(column.choice.right, y), (side, y), (side, column.words)]
    canvas.arrow([*path, (cx + 66, column.words)], "again")


def wide(canvas: Canvas) -> float:
    """Draw the two stacks side by side; return the drawing's height."""
    left, right, top = 196.0, 572.0, 10.0
    memory = stacks.encoder(canvas, left, top)
    # Shift the decoder so that the memory enters it in a straight line.
    above = stacks.decoder(Canvas(), right, 0).memory
    down = stacks.decoder(canvas, right, memory.cy - above)
    remember(canvas, [(memory.right, memory.cy), (441, memory.cy)], down.cross)
    read_again(canvas, down, right)
    panels.before(canvas, Box(392, top, 336, 41))
    panels.why(canvas, Box(392, top + 50, 336, 41))
    y = panels.inside_attention(canvas, 10, memory.bottom + 26)
    y = panels.inside_feed_forward(canvas, 10, y + GAP)
    panels.dropout_legend(canvas, 14, y + 22)
    words = "The whole system on real sentences: Multi30k"
    panels.real(canvas, Box(10, down.bottom + GAP, WIDE - 20, 28), words)
    return down.bottom + GAP + 38


def narrow(canvas: Canvas) -> float:
    """Draw the decoder below the encoder; return the drawing's height."""
    cx, side = 207.0, 8.0
    panels.before(canvas, Box(8, 8, 344, 46))
    memory = stacks.encoder(canvas, cx, 72)
    down = stacks.decoder(canvas, cx, memory.bottom + 30)
    level = down.memory
    path = [(memory.x, memory.cy), (side, memory.cy), (side, level), (77, level)]
    remember(canvas, path, down.cross)
    read_again(canvas, down, cx)
    y = panels.inside_attention(canvas, 4, down.bottom + 20)
    y = panels.inside_feed_forward(canvas, 4, y + GAP)
    panels.dropout_legend(canvas, 8, y + 22)
    panels.why(canvas, Box(8, y + 62, 344, 46))
    panels.real(canvas, Box(8, y + 122, 344, 28), "On real sentences: Multi30k")
    return y + 160


def drawn(lit: str, key: str) -> str:
    """Return the map in both layouts; CSS shows the layout that fits the page.

    Args:
        lit: the unit whose parts are highlighted, such as "05"; "" for none.
        key: a name that no other drawing on the page has.
    """
    both = []
    for name, width, arrange in (("wide", WIDE, wide), ("narrow", NARROW, narrow)):
        canvas = Canvas(lit)
        size = (width, arrange(canvas))
        said = Said(f"{key}-{name}", TITLE, DESCRIPTION)
        both.append(svg(canvas, size, f"drawing map {name}", said))
    return "".join(both)


def stamp(lit: str) -> str:
    """Return a very small version of the wide layout, without text."""
    canvas = Canvas(lit, plain=True)
    size = (WIDE, wide(canvas))
    return svg(canvas, size, "drawing map stamp", Said("", TITLE, DESCRIPTION))

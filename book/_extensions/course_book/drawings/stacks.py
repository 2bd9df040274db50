"""The two stacks of the Transformer, each a column that is read downwards."""

from __future__ import annotations

from dataclasses import dataclass

from .canvas import Box, Canvas, Part
from .parts import (
    chip,
    dropout,
    matrix,
    plus,
    thin,
    titled,
    wave,
)

HALF = 100  # half the width of a box
RESIDUAL = 115  # distance of the residual connection from the centre, to the right
FRAME = (110, 128)  # distances of a layer's frame from the centre, left and right
ASIDE = 154  # distance of masks and positions from the column's centre, to the left
CHIP = 38  # side of a small picture

EMBEDDING = Part(("02",), "Embedding")
POSITION = Part(("03",), "Positional encoding")
SELF = Part(("05",), "Self-attention of the encoder, with several heads")
MASKED = Part(("05",), "Masked self-attention of the decoder, with several heads")
CROSS = Part(("09", "05"), "Cross-attention, from the decoder to the memory")
FEED_FORWARD = Part(("06",), "Feed-forward layer")
NORM = Part(("06",), "Sum with the residual connection, then LayerNorm")
PADDING = Part(("07",), "Padding mask")
CAUSAL = Part(("07",), "Causal mask and padding mask")
ENCODER = Part(("08",), "Encoder layer")
MEMORY = Part(("08", "09"), "Memory, what the encoder hands to the decoder")
DECODER = Part(("09",), "Decoder layer")
OUTPUT = Part(("10",), "Linear layer and softmax")
LOSS = Part(("10",), "Loss, in training")
SEARCH = Part(("11",), "Choose a word, greedily or with a beam")


@dataclass
class Column:
    """A stack that is drawn from the top down.

    Attributes:
        canvas: the canvas to draw on.
        cx: the x of the column's centre, where the vectors flow down.
        y: the lower end of the parts drawn so far.
    """

    canvas: Canvas
    cx: float
    y: float

    def box(self, height: float) -> Box:
        """Return a box as wide as the column, with its upper edge at y."""
        return Box(self.cx - HALF, self.y, 2 * HALF, height)

    def aside(self, y: float) -> Box:
        """Return the box of a small picture left of the column, centred at y."""
        return Box(self.cx - ASIDE - CHIP / 2, y - CHIP / 2, CHIP, CHIP)

    def down(self, by: float, head: bool = True) -> None:
        """Draw the arrow or the line to the next part."""
        points = [(self.cx, self.y), (self.cx, self.y + by)]
        (self.canvas.arrow if head else self.canvas.line)(points)
        self.y += by

    def tokens(self, label: str, sentence: str) -> None:
        """Write the name of the input and an example sentence."""
        self.canvas.text(self.cx, self.y + 11, label, "small")
        self.canvas.text(self.cx, self.y + 29, sentence, "example")
        self.y += 36

    def embed(self, number: str) -> None:
        """Draw the embedding and the addition of positions."""
        self.down(17)
        words = ("Embedding", "each word becomes a vector")
        titled(self.canvas, self.box(42), EMBEDDING, words)
        self.y += 42
        self.down(15, head=False)
        middle = self.y + 9
        box = self.aside(middle)
        with self.canvas.part(POSITION, "plain"):
            chip(self.canvas, box, ["position"])
            wave(self.canvas, box.cx, box.cy)
        self.canvas.arrow([(box.right, middle), (self.cx - 9, middle)])
        plus(self.canvas, self.cx, middle)
        self.y += 18
        self.down(36)
        dropout(self.canvas, self.cx, self.y - 22, number)

    def attention(self, part: Part, kind: str, words: tuple[str, str]) -> Box:
        """Draw an attention that takes queries, keys and values from the stack."""
        self.split()
        self.down(9, head=False)
        for shift, letter in ((-44, "q"), (0, "k"), (44, "v")):
            x = self.cx + shift
            self.canvas.arrow([(self.cx, self.y), (x, self.y), (x, self.y + 22)])
            self.canvas.text(x + 9, self.y + 16, letter, "letter")
        self.y += 22
        return self.sub_layer(50, part, kind, words)

    def cross_attention(self) -> Box:
        """Draw cross-attention, which takes only its query from the stack."""
        self.split()
        self.down(36)
        self.canvas.text(self.cx + 9, self.y - 9, "q", "letter")
        words = ("Cross-attention", "target looks at source")
        return self.sub_layer(70, CROSS, "cross", words)

    def feed_forward(self) -> None:
        """Draw the feed-forward layer."""
        self.split()
        self.down(16)
        words = ("Feed-forward", "each position by itself")
        self.sub_layer(42, FEED_FORWARD, "plain", words)

    def split(self) -> None:
        """Remember where the residual connection branches off."""
        self.branch = self.y

    def sub_layer(
        self, height: float, part: Part, kind: str, words: tuple[str, str]
    ) -> Box:
        """Draw the box of a sub-layer, and move below it."""
        box = self.box(height)
        titled(self.canvas, box, part, words, kind)
        self.y += height
        return box

    def add_norm(self, number: str) -> None:
        """Draw the sum with the residual connection, and the normalisation."""
        self.down(30, head=False)
        dropout(self.canvas, self.cx, self.y - 15, number)
        middle, side = self.y + 9, self.cx + RESIDUAL
        start = (self.cx, self.branch)
        path = [start, (side, self.branch), (side, middle), (self.cx + 9, middle)]
        self.canvas.arrow(path, "residual")
        plus(self.canvas, self.cx, middle)
        self.y += 18
        self.down(8, head=False)
        thin(self.canvas, self.box(23), NORM, "LayerNorm")
        self.y += 23
        self.down(13, head=False)

    def mask(self, box: Box, part: Part, label: list[str]) -> None:
        """Draw a mask on the left of an attention, with an arrow to it."""
        rows, columns = (3, 4) if part is PADDING and box.height > 60 else (4, 4)
        y = box.y + (15 if box.height > 60 else box.height / 2)
        place = self.aside(y)
        with self.canvas.part(part, "plain"):
            chip(self.canvas, place, label)
            matrix(self.canvas, place.cx, place.cy, (rows, columns), part is CAUSAL)
        self.canvas.arrow([(place.right, y), (box.x, y)], "mask")

    def frame(self, top: float, at: int, part: Part, kind: str) -> None:
        """Draw the frame of a layer below its contents, from `top` to y."""
        left, right = FRAME
        box = Box(self.cx - left, top, left + right, self.y - top)
        with self.canvas.part(part, kind, at):
            self.canvas.rect(box.grown(4), "halo", 16)
            self.canvas.rect(box, "frame", 13)
            name = part.name.removesuffix(" layer")
            self.canvas.text(box.x + 12, top + 19, name, "word", "start")
            self.canvas.text(self.cx + 14, top + 19, "layer, N times", "small", "start")
            self.canvas.text(box.right - 9, top + 19, part.units[0], "unit", "end")


def encoder(canvas: Canvas, cx: float, y: float) -> Box:
    """Draw the encoder, starting at (cx, y); return the box of the memory."""
    column = Column(canvas, cx, y)
    column.tokens("the source", "die frau ruft den alten mann an .")
    column.embed("1")
    top, at = column.y, len(canvas.pieces)
    column.down(27, head=False)
    box = column.attention(SELF, "self", ("Self-attention", "source looks at source"))
    column.mask(box, PADDING, ["padding mask"])
    column.add_norm("2")
    column.feed_forward()
    column.add_norm("3")
    column.frame(top, at, ENCODER, "plain")
    column.down(18)
    memory = column.box(44)
    titled(canvas, memory, MEMORY, ("Memory", "one vector a source word"))
    return memory


@dataclass(frozen=True)
class Decoder:
    """Hold the places at which a drawn decoder is connected to other parts.

    Attributes:
        cross: the box of its cross-attention.
        memory: the y at which the memory enters.
        words: the y of its input words.
        choice: the box in which the next word is chosen.
        bottom: the y of its lower end.
    """

    cross: Box
    memory: float
    words: float
    choice: Box
    bottom: float


def decoder(canvas: Canvas, cx: float, y: float, whole: bool = True) -> Decoder:
    """Draw the decoder, starting at (cx, y), and its output layers if `whole`."""
    column = Column(canvas, cx, y)
    column.tokens("the target, as far as it is written", "<sos> the woman")
    column.embed("4")
    top, at = column.y, len(canvas.pieces)
    column.down(27, head=False)
    words = ("Masked self-attention", "target looks back at target")
    box = column.attention(MASKED, "masked", words)
    column.mask(box, CAUSAL, ["causal and", "padding mask"])
    column.add_norm("5")
    cross = column.cross_attention()
    column.mask(cross, PADDING, ["padding mask"])
    column.add_norm("6")
    column.feed_forward()
    column.add_norm("7")
    column.frame(top, at, DECODER, "plain")
    column.down(18)
    choice = ending(column) if whole else column.box(0)
    return Decoder(cross, cross.y + 48, y + 24, choice, column.y)


def ending(column: Column) -> Box:
    """Draw the output layers and the choice of a word; return the choice's box."""
    canvas = column.canvas
    linear = column.box(26)
    thin(canvas, linear, OUTPUT, "Linear")
    column.y += 26
    column.down(12, head=False)
    thin(canvas, column.box(26), OUTPUT, "Softmax")
    column.y += 26
    column.down(30)
    choice = column.box(44)
    titled(canvas, choice, SEARCH, ("Choose a word", "greedily, or with a beam"))
    loss = Box(column.cx - ASIDE - 38, choice.y, 76, 44)
    # The loss takes the logits, because cross-entropy includes the softmax.
    canvas.arrow([(linear.x, linear.cy), (loss.cx, linear.cy), (loss.cx, loss.y)])
    with canvas.part(LOSS, "plain"):
        canvas.rect(loss.grown(5), "halo", 9)
        canvas.rect(loss, "box")
        canvas.text(loss.x + 10, loss.cy - 3, "Loss", "word", "start")
        canvas.text(loss.x + 10, loss.cy + 13, "in training", "small", "start")
        canvas.text(loss.right - 9, loss.cy - 3, "10", "unit", "end")
    column.y += 44
    column.down(16)
    canvas.text(column.cx, column.y + 14, "calls", "example")
    column.y += 22
    return choice

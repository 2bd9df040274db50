"""Figures with a slider, which work without a network or a kernel."""

import base64
import hashlib
import html
import io
from collections.abc import Sequence

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

from transformer.plots.narrow import least_words, narrowed
from transformer.plots.style import STYLE

COLOURS = 96  # enough colours for a figure, and a third of the file size
ON_TELEPHONE = "(width < 600px)"

# The code has one line and no double quotes, because it is an attribute's value.
ON_INPUT = (
    "const figure = this.closest('figure'); "
    "const frames = figure.querySelectorAll('img'); "
    "frames.forEach((frame, i) => { frame.hidden = i !== Number(this.value); }); "
    "const label = frames[this.value].dataset.label; "
    "figure.querySelector('output').textContent = label; "
    "this.setAttribute('aria-valuetext', label);"
)


class SliderFigure:
    """HTML that contains every frame of a figure; a notebook displays it."""

    def __init__(self, markup: str) -> None:
        """Store the HTML."""
        self.markup = markup

    def _repr_html_(self) -> str:
        return self.markup


def encode(figure: Figure, dpi: int) -> str:
    """Return a figure as the data URL of a small PNG image."""
    figure.set_dpi(dpi)
    canvas, packed = FigureCanvasAgg(figure), io.BytesIO()
    with rc_context(STYLE):
        canvas.draw()
    drawn = Image.fromarray(np.asarray(canvas.buffer_rgba()))
    image = drawn.convert("RGB").quantize(COLOURS)
    image.save(packed, format="png", optimize=True)
    return "data:image/png;base64," + base64.b64encode(packed.getvalue()).decode()


def share_of_width(figure: Figure) -> str:
    """Return the size of the smallest text, as a share of the figure's width."""
    return f"{least_words(figure) / 72 / figure.get_figwidth():.5f}"


def frame(figure: Figure, label: str, alt: str, hidden: bool) -> str:
    """Return the HTML image for one position of the slider, also for phones."""
    text = html.escape(f"{alt} ({label})", quote=True)
    label = html.escape(label, quote=True)
    state = " hidden" if hidden else ""
    narrow = narrowed(figure)
    source = (
        ""
        if narrow is None
        else (
            f'<source media="{ON_TELEPHONE}" srcset="{encode(narrow, 140)}" '
            f'data-words="{share_of_width(narrow)}">'
        )
    )
    return (
        f'<picture>{source}<img src="{encode(figure, 110)}" alt="{text}" '
        f'data-label="{label}" data-words="{share_of_width(figure)}"{state}></picture>'
    )


def slider_figure(
    frames: Sequence[Figure],
    labels: Sequence[str],
    title: str,
    alt: str,
    start: int = 0,
) -> SliderFigure:
    """Put figures under a slider that shows one of them at a time.

    Args:
        frames: one figure for each position, all of the same size.
        labels: a text for each position, such as "k = 3".
        title: the name of the value that the slider changes.
        alt: a text alternative for readers who cannot see the figure.
        start: position that is shown first.

    Returns:
        An object that a notebook and the book can show.

    Raises:
        ValueError: if there is no frame, or not one label per frame.
    """
    if not frames or len(frames) != len(labels):
        raise ValueError(
            "expected one label for each frame, and a frame at least; "
            f"found {len(frames)} frames and {len(labels)} labels"
        )
    pairs = enumerate(zip(frames, labels, strict=True))
    images = "\n".join(frame(f, label, alt, n != start) for n, (f, label) in pairs)
    name = "slider-" + hashlib.sha256(images.encode()).hexdigest()[:10]
    label = html.escape(labels[start], quote=True)
    return SliderFigure(f"""<figure class="slider-figure">
{images}
<div class="slider-row">
<label for="{name}">{html.escape(title)}</label>
<input id="{name}" type="range" min="0" max="{len(frames) - 1}" value="{start}"
 autocomplete="off" aria-valuetext="{label}" oninput="{ON_INPUT}">
<output for="{name}">{label}</output>
</div>
</figure>""")

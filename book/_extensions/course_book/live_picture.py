"""The picture that replaces the live translator on paper and without a script."""

from __future__ import annotations

import functools
from html import escape

from transformer.shipped_model import ShippedModel, load_shipped_model
from transformer.translation.inference import Translation, translate

from .words import said

LINE, LEFT, RIGHT = 30, 130, 260  # height of a row; x of both ends of the arcs
FAINTEST = 0.02  # arcs for smaller weights are not drawn


@functools.cache
def shipped() -> ShippedModel:
    """Return the course's model; it is loaded once in each build."""
    return load_shipped_model()


def middle(row: int) -> int:
    """Return the y of a row's middle."""
    return LINE * row + LINE // 2 + 4


def arcs(weights: list[list[float]]) -> list[str]:
    """Draw each weight as an arc, which is thicker for a larger weight."""
    bend = (RIGHT - LEFT) // 3
    return [
        f'<path d="M{RIGHT} {middle(i)}C{RIGHT - bend} {middle(i)} '
        f'{LEFT + bend} {middle(j)} {LEFT} {middle(j)}" '
        f'stroke-width="{0.5 + 5 * p:.2f}" opacity="{0.15 + 0.85 * p:.2f}"/>'
        for i, row in enumerate(weights)
        for j, p in enumerate(row)
        if p >= FAINTEST
    ]


def labels(found: Translation) -> list[str]:
    """Write the source words on the left and the predicted words on the right."""
    left = [
        f'<text x="{LEFT - 8}" y="{middle(j) + 5}" text-anchor="end" lang="de">'
        f"{escape(word)}</text>"
        for j, word in enumerate(found.source)
    ]
    before = ("<sos>", *found.target)
    right = [
        f'<text x="{RIGHT + 8}" y="{middle(i) + 5}" lang="en"><tspan class="live-from">'
        f"{escape(before[i])} → </tspan>{escape(word)}</text>"
        for i, word in enumerate(found.target)
    ]
    return [*left, *right]


def describe(found: Translation, weights: list[list[float]]) -> str:
    """Return a text that states where each word of the translation looks most."""
    look = said("“{word}” at “{source}”")
    looks = [
        look.format(word=word, source=found.source[row.index(max(row))])
        for word, row in zip(found.target, weights, strict=True)
        if word != "<eos>"
    ]
    where = said("Where each word looks most while it is predicted: {looks}.")
    return where.format(looks=", ".join(looks))


def picture(sentence: str) -> str:
    """Draw the mean attention of the last layer's heads during a translation.

    Args:
        sentence: German text.

    Returns:
        HTML with a drawing, its text alternative, and one line of explanation.
    """
    model = shipped()
    found = translate(model.model, sentence, model.words)
    weights = found.cross_attention[-1].mean(dim=0).tolist()
    height = LINE * max(len(found.source), len(found.target)) + 8
    drawn = "".join([*arcs(weights), *labels(found)])
    german = f'<em lang="de">{escape(sentence)}</em>'
    english = f'<em lang="en">{escape(found.text)}</em>'
    about = said(
        "The course’s model reads {german} and writes {english} "
        "The thicker an arc, the more it looks there. "
        "With a script, on a screen, you can type a sentence of your own here."
    )
    return (
        f'<svg viewBox="0 0 440 {height}" role="img" font-size="15" '
        f'aria-label="{escape(describe(found, weights))}">{drawn}</svg>'
        f"<p>{about.format(german=german, english=english)}</p>"
    )

"""Make a narrow layout of a figure for phones, with text of the same size."""

from __future__ import annotations

import base64
import math
import pickle
import textwrap
import zlib

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpec, SubplotSpec
from matplotlib.text import Text
from matplotlib.transforms import ScaledTranslation

WIDTH = 3.9  # inches; 342 pixels on a small page, where 8 points are 9.7 pixels high
LETTERS = 42  # letters of a title in one line
ROW_LETTERS = 22  # letters of a row's name in one line
BELOW = 0.5  # inches between the axes and a legend, for tick labels and the axis name


def least_words(figure: Figure) -> float:
    """Return the size of a figure's smallest text, in points."""
    texts = [text for text in figure.findobj(Text) if is_seen(text)]
    return min((float(text.get_fontsize()) for text in texts), default=math.inf)


def is_seen(text: Text) -> bool:
    """Return whether a text is visible and not empty."""
    return text.get_visible() and bool(text.get_text().strip())


def narrowed(figure: Figure) -> Figure | None:
    """Return a narrow copy of a figure, or None if the figure is already narrow.

    Panels that would be too narrow next to each other are placed below each other. A
    legend is placed below its axes. If the figure has a `narrow_picture`, return that
    picture instead.
    """
    if figure.get_figwidth() <= WIDTH:
        return None
    ready: Figure | None = getattr(figure, "narrow_picture", None)
    if ready is not None:
        return ready
    copy: Figure = pickle.loads(pickle.dumps(figure))
    height = copy.get_figheight() * stack(copy)
    wrap_words(copy)
    height += sum(move_legend(copy, axes) for axes in copy.axes)
    copy.set_size_inches(WIDTH, height)
    engine = copy.get_layout_engine()
    if engine is not None:
        engine.execute(copy)
    copy.set_figheight(height - max(0.0, spare(copy) - 0.12))
    return copy


def spare(figure: Figure) -> float:
    """Return the unused height above and below maps of square cells, in inches."""
    free: dict[int, list[float]] = {}
    for axes in figure.axes:
        place, used = axes.get_subplotspec(), axes.get_tightbbox()
        if place is None or used is None or axes.get_aspect() != 1:
            continue
        slot = axes.get_position(original=True).height * figure.get_figheight()
        free.setdefault(place.rowspan.start, []).append(slot - used.height / figure.dpi)
    return sum(max(0.0, min(inches)) for inches in free.values())


def stack(figure: Figure) -> float:
    """Arrange panels in fewer columns and return the factor for the height."""
    panels = [axes for axes in figure.axes if grid_of(axes)]
    if not panels or not in_equal_columns(panels):
        return 1.0
    before = grid_of(panels[0])
    assert before is not None
    columns = max(1, round(WIDTH * before.ncols / figure.get_figwidth()))
    if columns >= before.ncols:
        return 1.0
    rows = math.ceil(len(panels) / columns)
    grid = GridSpec(rows, columns, figure=figure)
    for place, axes in enumerate(panels):
        axes.set_subplotspec(grid[divmod(place, columns)])
        if place % columns == 0:
            axes.tick_params(labelleft=True)
    return rows / before.nrows


def grid_of(axes: Axes) -> GridSpec | None:
    """Return the grid that some axes belong to, or None for a colour bar."""
    place = axes.get_subplotspec()
    grid = None if place is None else place.get_gridspec()
    return grid if isinstance(grid, GridSpec) else None


def in_equal_columns(panels: list[Axes]) -> bool:
    """Return whether each panel takes one column of the same grid of equal columns."""
    places = [axes.get_subplotspec() for axes in panels]
    grids = [grid for axes in panels if (grid := grid_of(axes))]
    alone = all(place is not None and len(place.colspan) == 1 for place in places)
    ratios = {ratio for grid in grids for ratio in np.ravel(grid.get_width_ratios())}
    return alone and len({id(grid) for grid in grids}) == 1 and len(ratios) == 1


def wrap_words(figure: Figure) -> None:
    """Break titles and row names that are too long for their space."""
    panels = [axes for axes in figure.axes if axes.get_subplotspec()]
    if len(panels) == 1:  # it has the title of the whole figure
        figure.suptitle(panels[0].get_title(loc="left"))
        panels[0].set_title("", loc="left")
    for axes in figure.axes:
        place = axes.get_subplotspec()
        share = 1.0 if place is None else share_of_width(place)
        titles = {axes.get_title(loc="left"), axes.get_title()} - {""}
        for title in axes.findobj(Text):
            if title.get_text() in titles:
                title.set_text(broken(title.get_text(), int(LETTERS * share) - 5))
        axes.set_xlabel(broken(axes.get_xlabel(), int(LETTERS * share) - 10))
        names = [label.get_text() for label in axes.get_yticklabels()]
        if any(len(name) > ROW_LETTERS and "$" not in name for name in names):
            axes.set_yticklabels([broken(name, ROW_LETTERS) for name in names])
    whole = broken(figure.get_suptitle(), LETTERS)
    figure.suptitle(whole, x=0.01, ha="left", fontsize=11)


def share_of_width(place: SubplotSpec) -> float:
    """Return a cell's share of the width of its grid."""
    grid = place.get_gridspec()
    ratios = np.ravel(grid.get_width_ratios())
    return float(ratios[place.colspan.start : place.colspan.stop].sum() / ratios.sum())


def broken(words: str, letters: int) -> str:
    """Break each line of `words` so that it has at most `letters` letters."""
    lines = words.split("\n")
    return "\n".join(textwrap.fill(line, max(letters, 8)) for line in lines)


def move_legend(figure: Figure, axes: Axes) -> float:
    """Put a legend below its axes and return its height in inches."""
    legend = axes.get_legend()
    if legend is None:
        return 0.0
    handles, names = axes.get_legend_handles_labels()
    columns = 2 if max(map(len, names)) < 18 else 1
    below = ScaledTranslation(0, -BELOW, figure.dpi_scale_trans)
    axes.legend(
        handles,
        names,
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        bbox_transform=axes.transAxes + below,
        ncols=columns,
        fontsize=legend.get_texts()[0].get_fontsize(),
        frameon=False,
    )
    return 0.25 * math.ceil(len(names) / columns)


def packed(svg: str) -> str:
    """Return an SVG image as compressed metadata, which the book unpacks on phones."""
    data = base64.b64encode(zlib.compress(svg.encode(), 9)).decode()
    return f'<metadata id="narrow">{data}</metadata>'

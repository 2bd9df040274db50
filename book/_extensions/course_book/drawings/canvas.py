"""A canvas for SVG drawings: boxes, text, arrows, and links to units."""

from __future__ import annotations

import contextlib
import html
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Point = tuple[float, float]

HEAD, CORNER = 7.0, 8.0  # length of an arrow's head, and radius of rounded corners


@dataclass(frozen=True)
class Box:
    """A rectangle, in the units of the canvas."""

    x: float
    y: float
    width: float
    height: float

    @property
    def right(self) -> float:
        """Return the x of the right edge."""
        return self.x + self.width

    @property
    def bottom(self) -> float:
        """Return the y of the lower edge."""
        return self.y + self.height

    @property
    def cx(self) -> float:
        """Return the x of the centre."""
        return self.x + self.width / 2

    @property
    def cy(self) -> float:
        """Return the y of the centre."""
        return self.y + self.height / 2

    def grown(self, by: float) -> Box:
        """Return a larger box, with a margin of `by` on every side."""
        return Box(self.x - by, self.y - by, self.width + 2 * by, self.height + 2 * by)


@dataclass(frozen=True)
class Part:
    """A part of a drawing that is a link to a unit.

    Attributes:
        units: the units that highlight the part, such as "05". The link leads to the
            first.
        name: a text for readers who cannot see the part. It contains the visible words,
            because people who use speech control say them.
    """

    units: tuple[str, ...]
    name: str


@dataclass
class Canvas:
    """An SVG drawing that grows piece by piece.

    Attributes:
        lit: the unit whose parts are highlighted, or "" for none.
        plain: whether to leave out text and links, for a very small drawing.
    """

    lit: str = ""
    plain: bool = False
    pieces: list[str] = field(default_factory=list)

    def add(self, markup: str) -> None:
        """Add SVG markup on top of the existing pieces."""
        self.pieces.append(markup)

    def rect(self, box: Box, kind: str, radius: float = 6) -> None:
        """Draw a rectangle with the CSS class `kind`."""
        self.add(
            f'<rect class="{kind}" x="{box.x:g}" y="{box.y:g}" '
            f'width="{box.width:g}" height="{box.height:g}" rx="{radius:g}"/>'
        )

    def circle(self, x: float, y: float, radius: float, kind: str) -> None:
        """Draw a circle with the CSS class `kind`."""
        self.add(f'<circle class="{kind}" cx="{x:g}" cy="{y:g}" r="{radius:g}"/>')

    def text(
        self, x: float, y: float, words: str, kind: str = "word", anchor: str = "middle"
    ) -> None:
        """Write text with its baseline at y; a final `_k` becomes a subscript."""
        if self.plain:
            return
        stem, low, index = words.rpartition("_")
        shown = html.escape(words if not low else stem)
        if low:
            shown += f'<tspan dy="3">{html.escape(index)}</tspan>'
        self.add(
            f'<text class="{kind}" x="{x:g}" y="{y:g}" text-anchor="{anchor}">'
            f"{shown}</text>"
        )

    def line(self, points: Sequence[Point], kind: str = "flow") -> None:
        """Draw a line through `points`, with rounded corners."""
        self.add(f'<path class="{kind}" d="{rounded(points)}"/>')

    def arrow(self, points: Sequence[Point], kind: str = "flow") -> None:
        """Draw an arrow through `points`; its tip is at the last point."""
        points = list(dict.fromkeys(points))
        (x, y), (dx, dy) = points[-1], direction(*points[-2:])
        neck = (x - dx * (HEAD - 1), y - dy * (HEAD - 1))
        self.line([*points[:-1], neck], kind)
        back, half = (x - dx * HEAD, y - dy * HEAD), HEAD * 0.55
        left = (back[0] - dy * half, back[1] + dx * half)
        right = (back[0] + dy * half, back[1] - dx * half)
        corners = " ".join(f"{px:g},{py:g}" for px, py in ((x, y), left, right))
        self.add(f'<polygon class="{kind} head" points="{corners}"/>')

    @contextlib.contextmanager
    def group(self, kind: str) -> Iterator[None]:
        """Put the pieces that the block draws into one SVG group."""
        self.add(f'<g class="{kind}">')
        yield
        self.add("</g>")

    @contextlib.contextmanager
    def turned(self, x: float, y: float, angle: float) -> Iterator[None]:
        """Rotate the pieces that the block draws by `angle` degrees around (x, y)."""
        self.add(f'<g transform="rotate({angle:g} {x:g} {y:g})">')
        yield
        self.add("</g>")

    @contextlib.contextmanager
    def part(self, part: Part, kind: str, at: int | None = None) -> Iterator[None]:
        """Make the pieces that the block draws a link to the part's unit.

        The link is highlighted if the drawing is for one of the part's units. With
        `at`, the pieces are inserted below the piece with this index.
        """
        above = [] if at is None else self.pieces[at:]
        del self.pieces[len(self.pieces) - len(above) :]
        lit = self.lit in part.units
        kinds = " ".join(filter(None, ("part", kind, "lit" if lit else "")))
        self.add(self._opening(part, kinds, lit))
        yield
        self.add("</g>" if self.plain else "</a>")
        self.pieces += above

    def _opening(self, part: Part, kinds: str, lit: bool) -> str:
        if self.plain:
            return f'<g class="{kinds}">'
        name = html.escape(part.name, quote=True)
        said = f"{name} (unit {int(part.units[0])}{', lit' if lit else ''})"
        link = f'<a class="{kinds}" href="unit:{part.units[0]}">'
        return f"{link}<title>{said}</title>"


def direction(start: Point, end: Point) -> Point:
    """Return the unit vector from `start` to `end`."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = (dx * dx + dy * dy) ** 0.5
    return dx / length, dy / length


def rounded(points: Sequence[Point]) -> str:
    """Return an SVG path through `points`, with rounded corners."""
    points = list(dict.fromkeys(points))  # remove repeated points
    (x, y), end = points[0], points[-1]
    steps = [f"M{x:g} {y:g}"]
    for before, bend, after in zip(points, points[1:], points[2:], strict=False):
        radius = min(CORNER, distance(before, bend) / 2, distance(bend, after) / 2)
        (ax, ay), (bx, by) = direction(bend, before), direction(bend, after)
        enter = (bend[0] + ax * radius, bend[1] + ay * radius)
        leave = (bend[0] + bx * radius, bend[1] + by * radius)
        steps.append(f"L{enter[0]:g} {enter[1]:g}")
        steps.append(f"Q{bend[0]:g} {bend[1]:g} {leave[0]:g} {leave[1]:g}")
    return "".join([*steps, f"L{end[0]:g} {end[1]:g}"])


def distance(start: Point, end: Point) -> float:
    """Return the distance between two points."""
    return ((end[0] - start[0]) ** 2 + (end[1] - start[1]) ** 2) ** 0.5


def picture(canvas: Canvas, size: tuple[float, float], kind: str, alt: str) -> str:
    """Return the drawing as one SVG image; screen readers read `alt`."""
    label = html.escape(alt, quote=True)
    return (
        f'<svg class="{kind}" viewBox="0 0 {size[0]:g} {size[1]:g}" role="img" '
        f'aria-label="{label}">{"".join(canvas.pieces)}</svg>'
    )


def svg(canvas: Canvas, size: tuple[float, float], kind: str, said: Said) -> str:
    """Return the drawing as an SVG group of links.

    Args:
        canvas: the canvas with the drawing.
        size: width and height of the drawing.
        kind: CSS classes of the SVG element.
        said: a description in words.
    """
    box = f'viewBox="0 0 {size[0]:g} {size[1]:g}"'
    body = "".join(canvas.pieces)
    if canvas.plain:
        return f'<svg class="{kind}" {box} aria-hidden="true">{body}</svg>'
    names = f'aria-labelledby="{said.key}-title" aria-describedby="{said.key}-desc"'
    return (
        f'<svg class="{kind}" {box} role="group" {names}>'
        f'<title id="{said.key}-title">{html.escape(said.title)}</title>'
        f'<desc id="{said.key}-desc">{html.escape(said.description)}</desc>'
        f"{body}</svg>"
    )


@dataclass(frozen=True)
class Said:
    """A description of a drawing, for readers who cannot see it.

    Attributes:
        key: a name that no other drawing on the page has.
        title: a few words.
        description: the complete description.
    """

    key: str
    title: str
    description: str

"""Make what a student of the tiny course hands in: right answers, and anything else."""

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from autograder.unit import GradedUnit

UNIT = "01_tiny"
SHAPE = 6.67  # what a double of the right shape and with wrong values earns
POINTS = {"double": 20.0, "quadruple": 10.0, "scaler": 40.0}
FULL = sum(POINTS.values())
RIGHT = {
    "double": "def double(x):\n    return FACTOR * x",
    "quadruple": "def quadruple(x):\n    return double(double(x))",
    "scaler": (
        "class Scaler(nn.Module):\n"
        "    def __init__(self, size):\n"
        "        super().__init__()\n"
        "        self.weight = nn.Parameter(torch.ones(size))\n\n"
        "    def forward(self, x):\n"
        "        return x * self.weight"
    ),
}
WHY = "Because nothing and nothing is nothing."


class HandIn:
    """The notebook of one student as raw JSON, and the folder that it goes into.

    Attributes:
        raw: the notebook; as it was handed out to begin with.
        folder: the student's folder of the unit.
        root: the folder of the class.
        name: the notebook's file name.
        content: what is written in the notebook's place, if it is not `raw`.
    """

    def __init__(self, unit: GradedUnit, root: Path, student: str):
        """Begin with the notebook of `unit` as it was handed out."""
        self.raw: dict[str, Any] = json.loads(nbformat.writes(unit.released))
        for cell in self.cells:
            cell["source"] = "".join(cell["source"])
        self.root = root
        self.folder = root / "submitted" / student / UNIT
        self.name = f"{UNIT}.ipynb"
        self.content: bytes | None = None

    @property
    def cells(self) -> list[dict[str, Any]]:
        """Return the notebook's cells."""
        return self.raw["cells"]

    @cells.setter
    def cells(self, cells: list[dict[str, Any]]) -> None:
        self.raw["cells"] = cells

    @property
    def path(self) -> Path:
        """Return where the notebook is written to."""
        return self.folder / self.name

    def at(self, grade_id: str) -> int:
        """Return the place of the cell that nbgrader knows by a name."""
        return next(
            n for n, cell in enumerate(self.cells) if grade_id_of(cell) == grade_id
        )

    def cell(self, grade_id: str) -> dict[str, Any]:
        """Return the cell that nbgrader knows by a name."""
        return self.cells[self.at(grade_id)]

    def right(self, *exercises: str) -> None:
        """Write the right answers of some exercises, or of all."""
        for exercise in exercises or RIGHT:
            self.answer(exercise, RIGHT[exercise])
        if not exercises:
            self.answer("why", WHY)

    def answer(self, exercise: str, source: str) -> None:
        """Write an answer into its cell."""
        self.cell(exercise)["source"] = source

    def first(self, source: str, **metadata: Any) -> None:
        """Put a code cell of the student's own before all others."""
        self.cells.insert(0, code(source, **metadata))

    def last(self, source: str, **metadata: Any) -> None:
        """Put a code cell of the student's own behind all others."""
        self.cells.append(code(source, **metadata))

    def text(self) -> str:
        """Return the notebook as the text of its file."""
        return json.dumps(self.raw, indent=1, ensure_ascii=False)

    def beside(self, name: str, content: str | bytes = "") -> Path:
        """Write another file into the student's folder."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def save(self) -> None:
        """Write the notebook, unless something else stands in its place."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self.path.exists() or self.path.is_symlink() or not self.name:
            return
        content = self.content
        self.path.write_bytes(self.text().encode() if content is None else content)


@dataclass(frozen=True)
class Case:
    """One submission of a collection.

    Attributes:
        name: its short name.
        what: what it tries, or what is wrong with it.
        build: makes it out of the notebook as it was handed out.
        score: what the checks must give; None: it must be refused.
        says: words that must stand in the reason or in the repair's notes.
        student: the name of the student's folder, if it matters.
    """

    name: str
    what: str
    build: Callable[[HandIn], None]
    score: float | None
    says: str = ""
    student: str = ""


class Collection(list[Case]):
    """Cases in the order in which they are defined."""

    def case(
        self, what: str, score: float | None = 0.0, says: str = "", student: str = ""
    ) -> Callable[[Callable[[HandIn], None]], Callable[[HandIn], None]]:
        """Add the builder that it decorates."""

        def add(build: Callable[[HandIn], None]) -> Callable[[HandIn], None]:
            self.add(build.__name__, what, build, score, says, student)
            return build

        return add

    def add(self, name: str, *rest: Any) -> None:
        """Add a case; the names of functions and arguments become its name."""
        self.append(Case(name.replace("_", "-"), *rest))

    def cells(self, what: str, score: float, **sources: str) -> None:
        """Add cases with one hostile cell at the end.

        What earns more than the points of a shape has right answers above that cell.
        """
        for name, source in sources.items():
            build = _with_last_cell(source, HONEST.get(score, ()))
            self.add(name, what, build, score)


HONEST = {20.0: ("double",), FULL: tuple(RIGHT)}


def _with_last_cell(source: str, right: Sequence[str]) -> Callable[[HandIn], None]:
    def build(hand: HandIn) -> None:
        if right:
            hand.right(*right)
        hand.last(source)

    return build


def grade_id_of(cell: dict[str, Any]) -> str | None:
    """Return nbgrader's name of a cell."""
    return cell.get("metadata", {}).get("nbgrader", {}).get("grade_id")


def code(source: str, **metadata: Any) -> dict[str, Any]:
    """Return a code cell as JSON."""
    return {
        "cell_type": "code",
        "source": source,
        "metadata": metadata,
        "outputs": [],
        "execution_count": None,
        "id": f"own-{abs(hash(source)) % 10**10}",
    }


def markdown(source: str) -> dict[str, Any]:
    """Return a Markdown cell as JSON."""
    name = f"own-{abs(hash(source)) % 10**10}"
    return {"cell_type": "markdown", "source": source, "metadata": {}, "id": name}


def score_output(value: str) -> dict[str, Any]:
    """Return the output from which nbgrader would read a score."""
    return {
        "output_type": "execute_result",
        "data": {"text/plain": value},
        "metadata": {},
        "execution_count": 1,
    }


def copy_of(cell: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a cell."""
    return copy.deepcopy(cell)

"""Make the files that a student of the tiny course hands in: right or not."""

import copy
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nbformat

from autograder.unit import GradedUnit

UNIT = "01_tiny"
SHAPE = 6.67  # points of a double with the right shape and wrong values
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
    """The notebook of one student as raw JSON, and its folder.

    Attributes:
        raw: the notebook, which is the released notebook at first.
        folder: the student's folder of the unit.
        root: the folder of the class.
        name: the notebook's file name.
        content: text to write instead of the notebook, if it is not `raw`.
    """

    def __init__(self, unit: GradedUnit, root: Path, student: str):
        """Start with the released notebook of `unit`."""
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
        """Return the path of the notebook."""
        return self.folder / self.name

    def at(self, grade_id: str) -> int:
        """Return the index of the cell with an nbgrader id."""
        return next(
            n for n, cell in enumerate(self.cells) if grade_id_of(cell) == grade_id
        )

    def cell(self, grade_id: str) -> dict[str, Any]:
        """Return the cell with an nbgrader id."""
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
        """Insert a code cell of the student's before all others."""
        self.cells.insert(0, code(source, **metadata))

    def last(self, source: str, **metadata: Any) -> None:
        """Append a code cell of the student's after all others."""
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
        """Write the notebook, or the content that replaces it."""
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
        what: the attack, or the damage to the notebook.
        build: changes the released notebook into the submission.
        score: the score from the checks; None: the grader must refuse the submission.
        says: words that the reason or the repair's notes must contain.
        student: the name of the student's folder, if it matters.
    """

    name: str
    what: str
    build: Callable[[HandIn], None]
    score: float | None
    says: str = ""
    student: str = ""


class Collection(list[Case]):
    """Cases in the order of their definitions."""

    def case(
        self, what: str, score: float | None = 0.0, says: str = "", student: str = ""
    ) -> Callable[[Callable[[HandIn], None]], Callable[[HandIn], None]]:
        """Add the decorated builder."""

        def add(build: Callable[[HandIn], None]) -> Callable[[HandIn], None]:
            self.add(build.__name__, what, build, score, says, student)
            return build

        return add

    def add(self, name: str, *rest: Any) -> None:
        """Add a case whose name comes from the function and its arguments."""
        self.append(Case(name.replace("_", "-"), *rest))

    def cells(self, what: str, score: float, **sources: str) -> None:
        """Add cases with one hostile cell at the end.

        If a case earns more than the points of a shape, right answers precede that
        cell.
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
    """Return the nbgrader id of a cell."""
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
    """Return an output that nbgrader would read as a score."""
    return {
        "output_type": "execute_result",
        "data": {"text/plain": value},
        "metadata": {},
        "execution_count": 1,
    }


def copy_of(cell: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a cell."""
    return copy.deepcopy(cell)

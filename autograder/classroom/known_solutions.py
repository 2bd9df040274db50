"""Find students whose answers are close to a known public solution.

A known solution is a notebook or a Python file. Each of its functions and classes is
compared with each answer, even if their names differ. Nothing in the file is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import nbformat
import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from autograder.classroom.similarity import (
    FEWEST_IN_ALL,
    FEWEST_TOKENS,
    NEARLY,
    RARE,
    SMALL,
    ComparedClass,
    Tokens,
    beyond_usual,
    tokens_of,
)
from autograder.notebook_syntax import parse_cell
from autograder.repair.reading import MAX_BYTES

ENDINGS = (".ipynb", ".py")


@dataclass(frozen=True)
class KnownSolution:
    """Hold the functions and classes of one file.

    Attributes:
        name: the path of the file in the folder of known solutions.
        pieces: the tokens of each function and class.
        defined: the names of these functions and classes.
        failure: why the file could not be read, or "".
    """

    name: str
    pieces: list[list[str]] = field(default_factory=list)
    defined: frozenset[str] = frozenset()
    failure: str = ""


@dataclass(frozen=True)
class NearKnown:
    """Hold a student whose answers are close to a known solution.

    Attributes:
        student: the student's id.
        file: the known solution's name.
        beyond: how far the agreement exceeds the usual agreement in the class, 0 to 1.
        exercises: the exercises whose answers agree with the known solution.
    """

    student: str
    file: str
    beyond: float
    exercises: tuple[str, ...]


def read_known(folder: Path, given: str) -> list[KnownSolution]:
    """Read all notebooks and Python files under a folder.

    Args:
        folder: the folder of known solutions.
        given: the code that students were given, which is not compared.
    """
    paths = (path for path in folder.rglob("*") if path.suffix in ENDINGS)
    return [_read(path, path.relative_to(folder), given) for path in sorted(paths)]


def _read(path: Path, name: Path, given: str) -> KnownSolution:
    try:
        if path.stat().st_size > MAX_BYTES:
            return KnownSolution(str(name), failure="it is too large")
        text = path.read_text(encoding="utf-8-sig")
        sources = [text]
        if path.suffix == ".ipynb":
            cells = nbformat.reads(text, as_version=4).cells
            sources = [cell.source for cell in cells if cell.cell_type == "code"]
        trees = [tree for source in sources if (tree := parse_cell(source))]
        nodes = [
            node
            for tree in trees
            for node in ast.walk(tree)
            if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        ]
        pieces = [tokens_of(ast.unparse(node), given) for node in nodes]
    except Exception as error:  # an error in one public file must not stop the others
        return KnownSolution(str(name), failure=f"{type(error).__name__}")
    return KnownSolution(str(name), pieces, frozenset(node.name for node in nodes))


def near_known(
    compared: ComparedClass,
    answers: Mapping[str, Tokens],
    known: list[KnownSolution],
    names: Mapping[str, set[str]],
) -> list[NearKnown]:
    """Return the students whose answers are close to a known solution, closest first.

    A student is returned only if the answers that agree have at least 40 tokens in
    total, and if at most one student in twenty is expected to have such answers.

    Args:
        compared: the class.
        answers: for each student and exercise, the tokens of the answer.
        known: the solutions.
        names: for each exercise, the names that its answer defines.
    """
    found = [near for one in known for near in _near_one(compared, answers, one, names)]
    return sorted(found, key=lambda near: (-near.beyond, near.student, near.file))


def _near_one(
    compared: ComparedClass,
    answers: Mapping[str, Tokens],
    known: KnownSolution,
    names: Mapping[str, set[str]],
) -> list[NearKnown]:
    pieces = [compared.encoder.text(piece) for piece in known.pieces
              if len(piece) >= FEWEST_TOKENS]  # fmt: skip
    size = len(compared.students)
    above, room, tokens, rarity = (np.zeros(size) for _ in range(4))
    agreeing: list[list[str]] = [[] for _ in compared.students]
    for name, own in compared.exercises.items() if pieces else ():
        texts = [compared.encoder.text(answers[student].get(name, []))
                 for student in compared.students]  # fmt: skip
        lengths = np.array([len(text) for text in texts])
        is_long = lengths >= FEWEST_TOKENS
        scorer = Indel.normalized_similarity
        shares = cdist(texts, pieces, scorer=scorer).max(axis=1) * is_long
        beyond = beyond_usual(shares, own.usual)
        agrees = is_long & (beyond >= compared.least)
        counts = is_long if names[name] & known.defined else agrees
        above += beyond * lengths * counts
        room += lengths * counts
        tokens += lengths * agrees
        as_near = (shares[None, :] >= shares[:, None] - NEARLY).sum(axis=1)
        rarity -= np.log(as_near / max(int(is_long.sum()), 1)) * agrees
        for at in np.flatnonzero(agrees):
            agreeing[at].append(name)
    share = np.divide(above, room, out=np.zeros(size), where=room > 0)
    is_near = (share >= compared.least) & (tokens >= FEWEST_IN_ALL)
    if size >= SMALL:
        is_near &= rarity >= -np.log(RARE)
    return [
        NearKnown(
            compared.students[at], known.name, float(share[at]), tuple(agreeing[at])
        )
        for at in np.flatnonzero(is_near)
    ]

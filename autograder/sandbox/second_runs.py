"""Choose the cells that run again for an exercise that has lost points.

In the first run, all cells run before the checks. A later cell may then have
overwritten the answer, or a name that the answer uses. An earlier answer may be wrong,
and this error should cost points only once.

A cell is a pair of its number in the notebook and its source. Source that is not from
the notebook has a higher number than all cells.
"""

import ast
from collections.abc import Mapping, Sequence

from autograder.notebook_syntax import parse_cell
from autograder.unit import OurAnswer

NumberedCell = tuple[int, str]


def cells_up_to_check(
    cells: Sequence[str], answers: Mapping[str, OurAnswer], exercise: str
) -> list[NumberedCell] | None:
    """Return the cells before an exercise's check, or None if they are not known."""
    answer = answers.get(exercise)
    return None if answer is None else _cells_before_check(cells, answer, [])


def cells_with_reference_answers(
    cells: Sequence[str], answers: Mapping[str, OurAnswer], exercise: str
) -> list[NumberedCell] | None:
    """Return these cells with the course's answers to earlier exercises inserted.

    Return None if no exercise comes before.
    """
    if exercise not in answers:
        return None
    earlier = list(answers)[: list(answers).index(exercise)]
    ours = [answers[name].source for name in earlier]
    return _cells_before_check(cells, answers[exercise], ours) if ours else None


def _cells_before_check(
    cells: Sequence[str], answer: OurAnswer, ours: Sequence[str]
) -> list[NumberedCell]:
    """Return the cells before a check; insert imports and `ours` before the answer.

    The imports run again because a cell may have reused a name such as `math` or `F`.
    """
    numbered = list(enumerate(cells))[: answer.end]
    before, answer_and_after = numbered[: answer.place], numbered[answer.place :]
    added = [_imports_of([source for _, source in before]), *ours]
    return [*before, *enumerate(added, len(cells)), *answer_and_after]


def _imports_of(sources: Sequence[str]) -> str:
    """Return the top-level imports of some cells."""
    trees = [tree for source in sources if (tree := parse_cell(source)) is not None]
    return "\n".join(
        ast.unparse(node)
        for tree in trees
        for node in tree.body
        if isinstance(node, (ast.Import, ast.ImportFrom))
        and getattr(node, "module", "") != "__future__"
    )

"""Run a learner's notebook in this process, and let the checks call its functions."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager

from autograder.checking.failures import StudentGone
from autograder.phrases import Phrase
from autograder.sandbox.in_process import LocalTransport
from autograder.sandbox.second_runs import (
    NumberedCell,
    cells_up_to_check,
    cells_with_reference_answers,
)
from autograder.sandbox.student_side.cells import CellRunner
from autograder.sandbox.submission_proxy import SubmissionProxy
from autograder.self_study.waiting import PART_SECONDS
from autograder.unit import OurAnswer

Given = AbstractContextManager[SubmissionProxy]
AFTER_ALL, UP_TO_CHECK, WITH_OURS = "after all", "up to its check", "with ours"


class Learner:
    """Provide each exercise with the functions of a notebook, run in this process.

    `begins` is called with the name of each cell and each exercise before it runs. The
    waiting process therefore knows which part never ends. It can then start again with
    this part in `stopped`.
    """

    def __init__(
        self,
        cells: Sequence[str],
        answers: Mapping[str, OurAnswer],
        begins: Callable[[str], None],
        stopped: Sequence[str] = (),
    ):
        """Run the cells once, except the cells in `stopped`.

        `answers` are the course's own answers.
        """
        self._cells, self._answers = cells, answers
        self._begins, self._stopped = begins, stopped
        self._after_all = self._run(list(enumerate(cells)))

    def fresh(self, exercise: str) -> Given:
        """Provide the notebook after all cells, which is the same for all exercises."""
        return self._given(AFTER_ALL, exercise, None)

    def still_there(self) -> None:
        """Return None, because `fresh` always provides the same notebook."""

    def up_to_check(self, exercise: str) -> Given | None:
        """Provide the notebook in its state at the exercise's check."""
        cells = cells_up_to_check(self._cells, self._answers, exercise)
        return None if cells is None else self._given(UP_TO_CHECK, exercise, cells)

    def with_reference_answers(self, exercise: str) -> Given | None:
        """Provide the same state, but with the course's earlier answers, or None."""
        cells = cells_with_reference_answers(self._cells, self._answers, exercise)
        return None if cells is None else self._given(WITH_OURS, exercise, cells)

    @contextlib.contextmanager
    def _given(
        self, when: str, exercise: str, cells: Sequence[NumberedCell] | None
    ) -> Iterator[SubmissionProxy]:
        """Provide the notebook after the given cells.

        Raises:
            StudentGone: if the exercise was stopped.
        """
        place = f"{exercise} {when}"
        if place in self._stopped or (
            when == UP_TO_CHECK and f"{exercise} {AFTER_ALL}" in self._stopped
        ):
            raise StudentGone(
                Phrase(
                    "stopped after {seconds} s, because it did not end", PART_SECONDS
                )
            )
        student = self._after_all if cells is None else self._run(cells)
        self._begins(place)
        yield student

    def _run(self, cells: Sequence[NumberedCell]) -> SubmissionProxy:
        """Run cells in a new namespace, and continue after a cell that raises."""
        runner, lines = CellRunner(), {}
        ordered = sorted(cells)
        for number, source in cells:
            place = f"cell {number}"
            if place in self._stopped:
                continue
            self._begins(place)
            error = runner.run(number, source)["error"]
            if error:
                lines[number] = error.get("line")
        sources = [source for _, source in ordered]
        return SubmissionProxy(LocalTransport(runner.namespace), sources, lines)

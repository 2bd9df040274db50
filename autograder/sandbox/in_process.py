"""Run trusted cells in this process; use it only for our own variants and for tests."""

import __future__

import contextlib
import linecache
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

from IPython.core.inputtransformer2 import TransformerManager

from autograder.checking.failures import StudentGone
from autograder.sandbox.second_runs import cells_with_reference_answers
from autograder.sandbox.student_side.messages import Message
from autograder.sandbox.student_side.requests import Session
from autograder.sandbox.submission_proxy import Answer, SubmissionProxy
from autograder.unit import OurAnswer


class NeverReturns(BaseException):
    """Simulate, in a trusted variant, code that never returns."""


class LocalStudent(SubmissionProxy):
    """Run trusted code in this process; the replies are the same as from a child."""

    def __init__(
        self,
        cells: Sequence[str],
        device: str = "cpu",
        answers: Mapping[str, OurAnswer] | None = None,
    ):
        """Execute the code cells in order, and continue after a cell that raises.

        The values that checks pass in are moved to `device`. `answers` are the course's
        own answers.
        """
        self._device, self._answers = device, answers or {}
        self._namespace: dict[str, Any] = {"__name__": "student"}
        self.cell_errors: list[BaseException | None] = []
        for number, source in enumerate(cells):
            self.cell_errors.append(_execute(source, number, self._namespace))
        self._local = LocalTransport(self._namespace, device)
        super().__init__(self._local, cells)

    @contextlib.contextmanager
    def fresh(self, exercise: str) -> Iterator[SubmissionProxy]:
        """Yield the student, which is the same for every exercise."""
        self._local.gone = None
        yield self

    def still_there(self) -> None:
        """Return None, because `fresh` always yields the same student."""

    def up_to_check(self, exercise: str) -> None:
        """Return None, because no later cell of our own code overwrites an answer."""

    def with_reference_answers(
        self, exercise: str
    ) -> AbstractContextManager[SubmissionProxy] | None:
        """Return a student that uses the course's earlier answers, or None."""
        cells = cells_with_reference_answers(self._cells, self._answers, exercise)
        if cells is None:
            return None
        sources = [source for _, source in cells]
        return contextlib.nullcontext(LocalStudent(sources, self._device))


class LocalTransport:
    """Answer requests in this process.

    If `gone` is set, requests are no longer answered, and it gives the reason.
    """

    def __init__(self, namespace: dict[str, Any], device: str = "cpu"):
        """Answer requests for the names in `namespace`."""
        self._answer: Answer | None = None
        self._session = Session(namespace, self._ask_back, device)
        self.gone: str | None = None

    def ask(self, request: Message, answer: Answer) -> Message:
        """Answer a request, and set `gone` if the variant simulates an endless call."""
        if self.gone:
            raise StudentGone(self.gone)
        self._answer = answer
        reply = self._session.answer(request)
        error = reply.body.get("error")
        if error and {"type": NeverReturns.__name__} == _type_of(error):
            self.gone = "it did not come back"
            raise StudentGone(self.gone, "time")
        return reply

    def _ask_back(self, question: Message) -> Message:
        """Pass a question from the trusted code to the check that called it."""
        if self._answer is None:
            raise RuntimeError("no check has asked anything yet")
        return self._answer(question)


def _type_of(error: dict[str, Any]) -> dict[str, str]:
    return {key: value for key, value in error["dict"] if key == "type"}


def _execute(
    source: str, number: int, namespace: dict[str, Any]
) -> BaseException | None:
    name, flags = f"<cell {number}>", __future__.annotations.compiler_flag
    python = TransformerManager().transform_cell(source)
    lines = python.splitlines(keepends=True)
    linecache.cache[name] = (len(python), None, lines, name)
    try:
        exec(compile(python, name, "exec", flags, dont_inherit=True), namespace)
    except Exception as error:
        return error
    return None

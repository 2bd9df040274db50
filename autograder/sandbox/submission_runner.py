"""Run a student's notebook in child processes.

Inside a `with` block, the cells run once, in a child that forks itself for an exercise.
The next exercises use the same fork until one of them requests a fresh process.
"""

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Self

from autograder.checking.failures import StudentGone
from autograder.phrases import Phrase
from autograder.sandbox.fork_server_client import Child, ForkServerClient, how_it_ended
from autograder.sandbox.kit import label_of
from autograder.sandbox.limits import Limits
from autograder.sandbox.second_runs import (
    NumberedCell,
    cells_up_to_check,
    cells_with_reference_answers,
)
from autograder.sandbox.slow_cells import SLOW, is_needed_again
from autograder.sandbox.student_side.messages import (
    ChannelClosed,
    Message,
    ProtocolError,
)
from autograder.sandbox.student_side.processors import seconds_waited
from autograder.sandbox.student_side.values import Encoder
from autograder.sandbox.submission_proxy import Banned, SubmissionProxy
from autograder.sandbox.transport import TIME, CellRun, RemoteTransport, read_run
from autograder.unit import OurAnswer

MAX_OUTPUTS = 50  # per cell
PATIENCE = 0.5  # seconds for a process to end after its channel is closed
SOON = 0.25  # share of an exercise's time limit for an extra run
HELD_UP = 0.2  # share of the time spent waiting for a processor


class SubmissionRunner:
    """Run one submission, and give each exercise access to it in a child process."""

    def __init__(
        self,
        parent: ForkServerClient,
        cells: list[str],
        files: Mapping[str, bytes],
        limits: Limits | None = None,
        answers: Mapping[str, OurAnswer] | None = None,
    ):
        """Prepare to run `cells` in a folder that contains `files`.

        `answers` are the course's own answers.
        """
        self.parent = parent
        self.cells = cells
        self.kit = label_of(files)
        self.files = files
        self.limits = (limits or Limits()).on_this_machine()
        self.answers = answers or {}
        self.runs: list[CellRun] = []
        self.limits_hit: list[str] = []
        self._forks = False
        self._kept: Child | None = None  # set when the cells have run in it
        self._has_fork = False
        self._output_left = self.limits.output_characters
        self._started, self._waited = time.monotonic(), -seconds_waited()
        self._deadline = self._started + self.limits.submission_seconds

    def __enter__(self) -> Self:
        """Keep one child in which the cells have run, and fork it for exercises."""
        self._forks = True
        return self

    def __exit__(self, *_: object) -> None:
        """End the child that was kept."""
        self._forks = False
        self._end_kept()

    @property
    def was_held_up(self) -> bool:
        """Return whether time ran out while other processes used the processors."""
        ran_out = any(words.endswith(TIME) for words in self.limits_hit)
        waited = self._waited + seconds_waited()
        return ran_out and waited > HELD_UP * (time.monotonic() - self._started)

    def _end(self, child: Child, patience: float = 0.0) -> int | None:
        status = self.parent.end(child, patience)
        self._waited, child.waited = self._waited + child.waited, 0.0
        return status

    @contextlib.contextmanager
    def fresh(self, exercise: str) -> Iterator[SubmissionProxy]:
        """Yield a student in a process that has run all cells but no check.

        If a cell is stopped or ends its process, later runs leave this cell out.

        Raises:
            StudentGone: if the child ends, hangs or breaks the protocol.
        """
        child = self._child()
        try:
            with self._student_in(child, self.limits.exercise_seconds) as student:
                yield student
        except StudentGone as gone:
            self.limits_hit.append(Phrase("{name}: {limit}", exercise, gone.limit))
            raise
        if child is not self._kept:
            self._end(child)

    def still_there(self) -> AbstractContextManager[SubmissionProxy] | None:
        """Return the previous exercise's student if its fork is still running."""
        return self._going_on(self._kept) if self._kept and self._has_fork else None

    @contextlib.contextmanager
    def _going_on(self, child: Child) -> Iterator[SubmissionProxy]:
        """Give a student some extra time that does not count against the submission.

        Raises:
            StudentGone: under the same conditions as in `fresh`.
        """
        started, seconds = time.monotonic(), SOON * self.limits.exercise_seconds
        try:
            with self._student_in(child, seconds) as student:
                yield student
        finally:
            self._deadline += time.monotonic() - started

    def up_to_check(
        self, exercise: str
    ) -> AbstractContextManager[SubmissionProxy] | None:
        """Return a student for which only the cells before the check have run."""
        cells = cells_up_to_check(self.cells, self.answers, exercise)
        if cells is None:
            return None
        return self._student_of(cells, self._seconds_again(exercise))

    def with_reference_answers(
        self, exercise: str
    ) -> AbstractContextManager[SubmissionProxy] | None:
        """Return the same student, but with the course's earlier answers, or None.

        The student's cells can read our answers in this process. Therefore, keep
        nothing from it except the names of the checks that pass.
        """
        cells = cells_with_reference_answers(self.cells, self.answers, exercise)
        if cells is None:
            return None
        return self._student_of(cells, self._seconds_again(exercise), is_secret=True)

    def _seconds_again(self, exercise: str) -> float:
        """Return the time in seconds for another run of an exercise's checks."""
        ran_out = f"{exercise}: {TIME}" in self.limits_hit
        return (SOON if ran_out else 1) * self.limits.exercise_seconds

    @contextlib.contextmanager
    def _student_without(
        self, banned: Banned, cells: Sequence[NumberedCell], is_secret: bool
    ) -> Iterator[SubmissionProxy]:
        """Yield a student in a child without the banned built-ins.

        If `is_secret`, the cells contain the course's answers, and how the child ends
        is not recorded, because it could tell more than one bit about them.

        Raises:
            StudentGone: under the same conditions as in `fresh`.
        """
        try:
            seconds = self.limits.exercise_seconds
            with self._student_of(cells, seconds, banned, is_secret) as student:
                yield student
        except StudentGone as gone:
            if gone.limit is not None and not is_secret:
                self.limits_hit.append(Phrase("without built-ins: {limit}", gone.limit))
            raise

    @contextlib.contextmanager
    def _student_of(
        self,
        cells: Sequence[NumberedCell],
        seconds: float,
        banned: Banned | None = None,
        is_secret: bool = False,
    ) -> Iterator[SubmissionProxy]:
        """Yield a student in a child in which the given cells have run.

        The output and the exit status of these cells are not kept. The `banned`
        built-ins are removed before the cells run. All other processes of the
        submission are ended first, because they could have these built-ins.

        Raises:
            StudentGone: if the child ends, hangs or breaks the protocol.
        """
        self._end_kept()  # its memory counts too
        child = self._fork()
        try:
            self._send_files(child)
            if banned is not None:
                self._remove(child, banned)
            for number, source in cells:
                known = self.runs[number] if number < len(self.runs) else CellRun()
                if not (known.stopped or known.once):
                    self._run_cell(child, number, source)
        except (TimeoutError, ChannelClosed, ProtocolError) as error:
            self._end(child)
            raise StudentGone("a cell did not end") from error
        except BaseException:
            self._end(child)
            raise
        with self._student_in(child, seconds, cells, is_secret) as student:
            yield student
        self._end(child)

    @contextlib.contextmanager
    def _student_in(
        self,
        child: Child,
        seconds: float,
        cells: Sequence[NumberedCell] | None = None,
        is_secret: bool = False,
    ) -> Iterator[SubmissionProxy]:
        """Yield a student in a child, and end the child after an error."""
        deadline = min(time.monotonic() + seconds, self._deadline)
        words = Phrase(
            "stopped after {seconds} s, because it did not end", f"{seconds:g}"
        )
        transport = RemoteTransport(
            child.channel, deadline, words, lambda error: self._gone(error, child)
        )
        try:
            order = list(enumerate(self.cells) if cells is None else cells)
            ran = sorted(order)
            lines = {
                n: run.error.get("line") for n, run in enumerate(self.runs) if run.error
            }
            yield SubmissionProxy(
                transport,
                [source for _, source in ran],
                lines,
                lambda banned: self._student_without(banned, order, is_secret),
            )
        except BaseException:
            if child is self._kept:
                self._kept = None
            self._end(child)
            raise

    def _gone(self, error: Exception, child: Child) -> StudentGone:
        if isinstance(error, ProtocolError):
            return StudentGone(
                Phrase("its process broke the protocol: {error}", error),
                Phrase("protocol"),
            )
        return how_it_ended(self._end(child, PATIENCE))

    def _child(self) -> Child:
        """Return a child for an exercise: a fork of the kept child, or a new child.

        Do not keep a child that cannot be forked because its cells left more than
        values, such as threads or open files.
        """
        self._end_fork()
        if self._kept is not None and self._is_forked(self._kept):
            self._has_fork = True
            return self._kept
        self._end_kept()
        child = self._child_with_cells()
        if self._forks:
            self.parent.note_fork(child)  # before the first fork
            self._has_fork = self._is_forked(child)
            if self._has_fork:
                self._kept = child
            else:
                self.parent.note_fork(child, forks=False)
        return child

    def _is_forked(self, child: Child) -> bool:
        """Ask a child to fork itself for an exercise, and return whether it did."""
        deadline = min(time.monotonic() + self.limits.cell_seconds, self._deadline)
        try:
            child.channel.send(Message({"fork": True}), deadline)
            return child.channel.receive(deadline).body.get("ok") is True
        except (TimeoutError, ChannelClosed, ProtocolError):
            return False

    def _end_fork(self) -> None:
        """End the fork of the kept child, if there is one."""
        if self._kept is not None and self._has_fork:
            with contextlib.suppress(TimeoutError, ChannelClosed):  # reported next
                self._kept.channel.send(Message({"end": True}), self._deadline)
        self._has_fork = False

    def _end_kept(self) -> None:
        if self._kept is not None:
            self._end(self._kept)
            self._kept = None

    def _child_with_cells(self) -> Child:
        """Fork a child and run all cells except those that are left out."""
        while True:
            if time.monotonic() >= self._deadline:
                self.limits_hit.append(Phrase("submission time"))
                seconds = f"{self.limits.submission_seconds:g}"
                raise StudentGone(
                    Phrase("the notebook took more than {seconds} s", seconds), TIME
                )
            child = self._fork()
            if self._run_cells(child):
                return child

    def _fork(self) -> Child:
        """Fork a child; the start of a parent does not count as the student's time."""
        asked = time.monotonic()
        child = self.parent.fork(self.limits, self.kit)
        seconds = time.monotonic() - asked
        self._started += seconds
        self._deadline += seconds
        return child

    def _run_cells(self, child: Child) -> bool:
        """Run the cells and return False if one of them ended the child."""
        number = -1
        try:
            self._send_files(child)
            for number, source in enumerate(self.cells):
                known = self.runs[number] if number < len(self.runs) else None
                if known is None:
                    run = self._run_cell(child, number, source)
                    run.outputs = list(self._within_budget(run.outputs))
                    run.once = self._is_run_once(number, run)
                    self.runs.append(run)
                elif not (known.stopped or known.once):
                    self._run_cell(child, number, source)
            return True
        except (TimeoutError, ChannelClosed, ProtocolError) as error:
            patience = PATIENCE if isinstance(error, ChannelClosed) else 0.0
            status = self._end(child, patience)
            self._remember(number, error, status)
            return False
        except BaseException:
            self._end(child)
            raise

    def _is_run_once(self, number: int, run: CellRun) -> bool:
        """Return whether a slow cell need not run again because no other needs it."""
        if run.seconds < SLOW or is_needed_again(number, self.cells):
            return False
        self.limits_hit.append(
            Phrase("cell {number}: {seconds} s, run once", number, f"{run.seconds:.0f}")
        )
        return True

    def _send_files(self, child: Child) -> None:
        deadline = min(time.monotonic() + self.limits.cell_seconds, self._deadline)
        sizes = [[name, len(content)] for name, content in self.files.items()]
        contents = bytearray().join(self.files.values())
        child.channel.send(Message({"files": sizes}, contents), deadline)
        child.channel.receive(deadline)

    def _remove(self, child: Child, banned: Banned) -> None:
        """Remove built-ins from a child in which no student code has run."""
        deadline = min(time.monotonic() + self.limits.cell_seconds, self._deadline)
        child.channel.send(Message({"remove": list(banned.items())}), deadline)
        child.channel.receive(deadline)

    def _run_cell(self, child: Child, number: int, source: str) -> CellRun:
        deadline = min(time.monotonic() + self.limits.cell_seconds, self._deadline)
        request = Encoder(_refuse).message(cell=number, source=source)
        child.channel.send(request, deadline)
        return read_run(child.channel.receive(deadline))

    def _within_budget(self, outputs: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
        """Yield the outputs that fit the submission's remaining budget."""
        for output in outputs[:MAX_OUTPUTS]:
            self._output_left -= len(repr(output))
            if self._output_left < 0:
                return
            yield output

    def _remember(self, number: int, error: Exception, status: int | None) -> None:
        """Record that a cell was stopped or ended the process, and leave it out."""
        if number < 0:
            if time.monotonic() >= self._deadline:
                return  # it is reported before the next exercise begins
            raise StudentGone(
                Phrase("its process did not start: {error}", error), Phrase("start")
            )
        if isinstance(error, TimeoutError):
            words = f"This cell was stopped after {self.limits.cell_seconds:g} s."
            self.limits_hit.append(Phrase("cell {number}: time", number))
        elif isinstance(error, ProtocolError):
            words = "This cell broke the connection to the grader."
            self.limits_hit.append(Phrase("cell {number}: protocol", number))
        else:
            words = f"This cell did not end: {how_it_ended(status).reason}."
            self.limits_hit.append(Phrase("cell {number}: exit", number))
        while len(self.runs) <= number:
            self.runs.append(CellRun())
        self.runs[number] = CellRun(stopped=words)


def _refuse(value: Any) -> Any:
    raise ProtocolError(Phrase("a reference where only values are allowed"))

"""The `student` of a check: names, handles and calls that run on the other side."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol

from torch import Tensor

from autograder.checking.built_ins import names_of
from autograder.checking.failures import StudentError, StudentGone
from autograder.checking.random_inputs import seed_of
from autograder.notebook_syntax import Program, read_program
from autograder.phrases import Phrase
from autograder.sandbox.callbacks import Callbacks
from autograder.sandbox.error_words import clean, student_error, without_values
from autograder.sandbox.handles import Gradients, Handle, Name
from autograder.sandbox.student_side.messages import Message, ProtocolError
from autograder.sandbox.student_side.values import Decoder, Encoder, Reference
from autograder.sandbox.watched_calls import WatchedCalls

Banned = Mapping[str, Sequence[str]]  # dotted name to all names of the same thing
Answer = Callable[[Message], Message]  # the grader's, to a question of the student's


class Transport(Protocol):
    """Carry requests to the student's code, wherever it runs."""

    def ask(self, request: Message, answer: Answer) -> Message:
        """Send `request`; `answer` serves the questions that come back meanwhile.

        Raises:
            StudentGone: if no answer came: the process ended or a limit was hit.
        """


class SubmissionProxy(WatchedCalls):
    """Stand for everything that the student's notebook defines.

    `student.attention_scores(query, key)` calls the student's function with copies of
    the tensors; `student["load"]` reaches a name that is also a method here.
    """

    def __init__(
        self,
        transport: Transport,
        cells: Sequence[str],
        stopped: Mapping[int, Any] | None = None,
        without: Callable[[Banned], AbstractContextManager["SubmissionProxy"]]
        | None = None,
    ):
        """Talk to a notebook.

        Args:
            transport: carries requests to the process in which its cells have run.
            cells: its code cells.
            stopped: the line in which a cell raised, by the cell's number.
            without: makes a process in which some built-ins are missing and then the
                same cells have run; None if there is no such process.
        """
        self._transport = transport
        self._cells = list(cells)
        self._stopped = stopped or {}
        self._program: Program | None = None
        self._callbacks = Callbacks()
        self._without = without
        self.calls = 0  # since the check began
        self.removed: str | None = None  # the missing built-in that a call has needed

    def __getattr__(self, name: str) -> Name:
        """Return the notebook's definition of `name`."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Name:
        """Return the notebook's definition of `name`."""
        return Name(self, Reference("name", name))

    def without(
        self, banned: Sequence[str]
    ) -> AbstractContextManager["SubmissionProxy"] | None:
        """Return the student of a new process in which some built-ins are missing.

        Trusted cells have none: only their source is read.
        """
        if self._without is None:
            return None
        return self._without({dotted: sorted(names_of(dotted)) for dotted in banned})

    def begin(self, seed: int) -> None:
        """Begin a check: forget its predecessor's objects and seed the other side.

        The seed there is another: what the check draws cannot be drawn there again.
        """
        self._callbacks.forget()
        try:
            self._request("begin", seed=seed_of("student", seed))
        except StudentError as error:  # no code of the student's has been asked yet
            raise StudentGone(
                Phrase("its process broke: {error}", error.message), Phrase("protocol")
            ) from error
        self.calls = 0

    def load(self, path: str) -> Name:
        """Return something importable on the student's side, by its dotted name."""
        return Name(self, Reference("load", path))

    def stack_of_parts(
        self, config: Any, parts: Mapping[str, str], forward: str, count: int
    ) -> Any:
        """Return an `nn.ModuleList` of layers that are made of the kit's parts.

        Args:
            config: the configuration on the student's side.
            parts: attribute to the function of `transformer.parts` that makes it.
            forward: the source of a function that returns `forward`, given the layer.
            count: how many layers.
        """
        return self._request(
            "stack_of_parts",
            config=config,
            parts=dict(parts),
            forward=forward,
            count=count,
        )

    def value(self, name: str) -> Any:
        """Return what the notebook defines under `name`, as a value or a handle."""
        return self._request("value", target=self[name], about=self[name])

    def gradients(
        self,
        function: Name,
        *args: Any,
        upstream: Tensor | None = None,
        output: int | None = None,
        checkpointed: bool = False,
        **kwargs: Any,
    ) -> Gradients:
        """Run `function` forward and backward.

        Args:
            function: A name or handle of the student's side.
            args: every floating-point tensor among them gets a gradient.
            upstream: multiplies the output before it is summed.
            output: which of several outputs; without it, the first tensor.
            checkpointed: keep nothing of the forward pass, and run it again.
            kwargs: handed over, without gradients.
        """
        parts = self._call(
            "gradients",
            function,
            args,
            kwargs,
            upstream=upstream,
            output=output,
            checkpointed=checkpointed,
        )
        return Gradients(*parts)

    def call_and_return_inputs(
        self, function: Name, *args: Any, **kwargs: Any
    ) -> tuple[Any, tuple]:
        """Call `function`; return its result and the arguments after the call."""
        return self._call("call_and_return_inputs", function, args, kwargs)

    def program(self) -> Program:
        """Return the notebook's cells as syntax."""
        if self._program is None:
            self._program = read_program(self._cells)
        return self._program

    def source(self, name: str) -> str:
        """Return the source text of the notebook's last definition of `name`.

        Raises:
            StudentError: if no cell defines it.
        """
        try:
            return self.program().sources[name]
        except KeyError:
            report = {"kind": "missing", "message": name}
            raise student_error(report, name) from None

    def _request(self, operation: str, about: Name | None = None, **parts: Any) -> Any:
        self.calls += 1
        request = Encoder(self._refer).message(**{"do": operation, "with": parts})
        reply = self._transport.ask(request, self._answer)
        try:
            return self._read(reply, about)
        except ProtocolError as error:
            reason = Phrase("its process broke the protocol: {error}", error)
            raise StudentGone(reason, Phrase("protocol")) from error

    def _read(self, reply: Message, about: Name | None) -> Any:
        decoder = Decoder(reply, self._resolve, keep_strides=False)
        report = decoder.part("error")
        if report is None and "ok" in reply.body:
            return decoder.part("ok")
        if not isinstance(report, dict):
            words = Phrase("an answer that is neither a result nor an error")
            raise ProtocolError(words)
        if report.get("kind") == "removed":
            self.removed = self.removed or clean(report.get("message"))
        name = about._words if about is not None else Phrase("the notebook")
        raise student_error(report, name, self._cells, self._stopped)

    def _refer(self, value: Any) -> Reference:
        return (
            value._reference
            if isinstance(value, Name)
            else self._callbacks.refer(value)
        )

    def _resolve(self, reference: Reference) -> Any:
        if reference.kind == "handle" and isinstance(reference.key, int):
            details = without_values(reference.details, 60)
            return Handle(self, Reference("handle", reference.key, details))
        if reference.kind == "callback" and isinstance(reference.key, int):
            return self._callbacks[reference.key].target
        raise ProtocolError(Phrase("a reference to something of the grader's"))

    def _answer(self, question: Message) -> Message:
        """Serve one call of the student's code to an object of the grader."""
        return self._callbacks.answer(question, self._refer, self._resolve)

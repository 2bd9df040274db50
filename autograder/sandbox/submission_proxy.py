"""Let a check use the names and objects of a student's notebook as `student`."""

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

Banned = Mapping[str, Sequence[str]]  # dotted name to all names of the same object
Answer = Callable[[Message], Message]  # replies to calls by the student's code


class Transport(Protocol):
    """Carry requests to the student's code, in this process or another."""

    def ask(self, request: Message, answer: Answer) -> Message:
        """Send `request` and return its reply.

        Raises:
            StudentGone: if no answer arrives, because the process ended or hit a limit.
        """


class SubmissionProxy(WatchedCalls):
    """Represent everything that the student's notebook defines.

    `student.attention_scores(query, key)` calls the student's function with copies of
    the tensors. Use `student["load"]` for a name that is also a method of this class.
    """

    def __init__(
        self,
        transport: Transport,
        cells: Sequence[str],
        stopped: Mapping[int, Any] | None = None,
        without: Callable[[Banned], AbstractContextManager["SubmissionProxy"]]
        | None = None,
    ):
        """Connect to a notebook.

        Args:
            transport: carries requests to the process in which the cells have run.
            cells: the notebook's code cells.
            stopped: maps the number of each cell that raised to the line that raised.
            without: starts a process without some built-ins and runs the same cells in
                it, or None if that is not possible.
        """
        self._transport = transport
        self._cells = list(cells)
        self._stopped = stopped or {}
        self._program: Program | None = None
        self._callbacks = Callbacks()
        self._without = without
        self.calls = 0  # counted since the check began
        self.removed: str | None = None  # the removed built-in that a call needed

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
        """Return a student in a new process without some built-ins.

        Return None for trusted cells, because for them the grader only reads the
        source.
        """
        if self._without is None:
            return None
        return self._without({dotted: sorted(names_of(dotted)) for dotted in banned})

    def begin(self, seed: int) -> None:
        """Begin a check: forget the last check's objects, and seed the student's side.

        The student's side gets a different seed, so that it cannot draw the check's
        random values.
        """
        self._callbacks.forget()
        try:
            self._request("begin", seed=seed_of("student", seed))
        except StudentError as error:  # no student code has run yet
            raise StudentGone(
                Phrase("its process broke: {error}", error.message), Phrase("protocol")
            ) from error
        self.calls = 0

    def load(self, path: str) -> Name:
        """Import an object on the student's side by its dotted name, and return it."""
        return Name(self, Reference("load", path))

    def stack_of_parts(
        self, config: Any, parts: Mapping[str, str], forward: str, count: int
    ) -> Any:
        """Return an `nn.ModuleList` of layers that are made from the kit's parts.

        Args:
            config: the configuration on the student's side.
            parts: maps each attribute of a layer to the function in `transformer.parts`
                that makes it.
            forward: the source of a function that takes the layer and returns its
                `forward`.
            count: the number of layers.
        """
        return self._request(
            "stack_of_parts",
            config=config,
            parts=dict(parts),
            forward=forward,
            count=count,
        )

    def value(self, name: str) -> Any:
        """Return the notebook's object called `name`, as a value or a handle."""
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
            function: a name or handle on the student's side.
            args: the arguments; each floating-point tensor among them gets a gradient.
            upstream: a factor by which the output is multiplied before it is summed.
            output: the index of the output to use; by default, the first tensor.
            checkpointed: keep no activations, and run the forward pass again.
            kwargs: passed on without gradients.
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
        """Call `function` and return its result and the arguments after the call."""
        return self._call("call_and_return_inputs", function, args, kwargs)

    def program(self) -> Program:
        """Return the syntax of the notebook's cells."""
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
        raise ProtocolError(Phrase("a reference to an object of the grader"))

    def _answer(self, question: Message) -> Message:
        """Answer one call of the student's code to an object of the grader."""
        return self._callbacks.answer(question, self._refer, self._resolve)

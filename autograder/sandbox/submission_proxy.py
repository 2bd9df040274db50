"""The `student` of a check: names, handles and calls that run on the other side."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol

from torch import Tensor

from autograder.checking.failures import StudentError, StudentGone
from autograder.checking.random_inputs import seed_of
from autograder.notebook_syntax import Program, read_program
from autograder.phrases import Phrase
from autograder.sandbox.callbacks import Callbacks
from autograder.sandbox.error_words import student_error, without_values
from autograder.sandbox.handles import Gradients, Handle, Name
from autograder.sandbox.student_side.messages import Message, ProtocolError
from autograder.sandbox.student_side.values import Decoder, Encoder, Reference
from autograder.sandbox.watched_calls import WatchedCalls

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
    ):
        """Talk through `transport` to a notebook with these code cells.

        `stopped` says in which line a cell raised, by the cell's number.
        """
        self._transport = transport
        self._cells = list(cells)
        self._stopped = stopped or {}
        self._program: Program | None = None
        self._callbacks = Callbacks()
        self._ran: set[str] | None = None  # what has run, while the calls are watched
        self.calls = 0
        self.was_watched = False  # since the check began

    def __getattr__(self, name: str) -> Name:
        """Return the notebook's definition of `name`."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Name:
        """Return the notebook's definition of `name`."""
        return Name(self, Reference("name", name))

    @contextlib.contextmanager
    def watched(self) -> Iterator[set[str]]:
        """Collect the names of what the calls inside run.

        Operators of PyTorch (`aten::bmm`), functions of libraries and of the notebook
        (`torch.nn.functional:softmax`), `watch:ended` if the student's code has put an
        end to it, and `watch:left` if it runs something where nothing is seen.
        """
        ran: set[str] = set()
        around, self._ran = self._ran, ran
        self.was_watched = True
        try:
            yield ran
        finally:
            self._ran = around

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
        self.calls, self.was_watched = 0, False

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
        asked: dict[str, Any] = {"do": operation, "with": parts}
        if self._ran is not None:
            asked["watched"] = True
        request = Encoder(self._refer).message(**asked)
        reply = self._transport.ask(request, self._answer)
        try:
            self._note(reply)
            return self._read(reply, about)
        except ProtocolError as error:
            reason = Phrase("its process broke the protocol: {error}", error)
            raise StudentGone(reason, Phrase("protocol")) from error

    def _note(self, reply: Message) -> None:
        """Add what the student's side says has run, if the calls are watched."""
        if self._ran is None:
            return
        names = Decoder(reply, self._resolve).part("ran")
        if not isinstance(names, list) or not all(type(n) is str for n in names):
            raise ProtocolError(Phrase("an answer that does not say what has run"))
        self._ran.update(names)

    def _read(self, reply: Message, about: Name | None) -> Any:
        decoder = Decoder(reply, self._resolve, keep_strides=False)
        report = decoder.part("error")
        if report is None and "ok" in reply.body:
            return decoder.part("ok")
        if not isinstance(report, dict):
            words = Phrase("an answer that is neither a result nor an error")
            raise ProtocolError(words)
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

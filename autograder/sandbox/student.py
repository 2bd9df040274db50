"""The `student` of a check: names, handles and calls that run on the other side."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol

from torch import Tensor

from autograder.checking.expect import Callback
from autograder.checking.failures import StudentError, StudentGone
from autograder.notebook_syntax import Program, read_program
from autograder.sandbox.error_words import error_words, without_values
from autograder.sandbox.handles import Gradients, Handle, Name
from autograder.sandbox.student_side.messages import Message, ProtocolError
from autograder.sandbox.student_side.values import Decoder, Encoder, Reference

Answer = Callable[[Message], Message]  # the grader's, to a question of the student's
MAX_QUESTION = 16 << 20  # bytes of tensors, which the grader itself works on


class Transport(Protocol):
    """Carry requests to the student's code, wherever it runs."""

    def ask(self, request: Message, answer: Answer) -> Message:
        """Send `request`; `answer` serves the questions that come back meanwhile.

        Raises:
            StudentGone: if no answer came: the process ended or a limit was hit.
        """


class Student:
    """Stand for everything that the student's notebook defines.

    `student.attention_scores(query, key)` calls the student's function with copies of
    the tensors; `student["load"]` reaches a name that is also a method here.
    """

    def __init__(self, transport: Transport, cells: Sequence[str]):
        """Talk through `transport` to a notebook with these code cells."""
        self._transport = transport
        self._cells = list(cells)
        self._program: Program | None = None
        self._callbacks: list[Callback] = []
        self.calls = 0

    def __getattr__(self, name: str) -> Name:
        """Return the notebook's definition of `name`."""
        if name.startswith("_"):
            raise AttributeError(name)
        return self[name]

    def __getitem__(self, name: str) -> Name:
        """Return the notebook's definition of `name`."""
        return Name(self, Reference("name", name))

    @contextlib.contextmanager
    def fresh(self, exercise: str) -> Iterator["Student"]:
        """Give the student of one exercise; here there is but one for all."""
        yield self

    def begin(self, seed: int) -> None:
        """Begin a check: forget its predecessor's objects and seed the other side."""
        self._callbacks.clear()
        try:
            self._request("begin", seed=seed)
        except StudentError as error:  # no code of the student's has been asked yet
            raise StudentGone(f"its process broke: {error}", "protocol") from error
        self.calls = 0

    def load(self, path: str) -> Name:
        """Return something importable on the student's side, by its dotted name."""
        return Name(self, Reference("load", path))

    def value(self, name: str) -> Any:
        """Return what the notebook defines under `name`, as a value or a handle."""
        return self._request("value", target=self[name], about=self[name])

    def gradients(
        self,
        function: Name,
        *args: Any,
        upstream: Tensor | None = None,
        output: int | None = None,
        **kwargs: Any,
    ) -> Gradients:
        """Run `function` forward and backward.

        Args:
            function: A name or handle of the student's side.
            args: every floating-point tensor among them gets a gradient.
            upstream: multiplies the output before it is summed.
            output: which of several outputs; without it, the first tensor.
            kwargs: handed over, without gradients.
        """
        parts = self._request(
            "gradients",
            target=function,
            args=args,
            kwargs=kwargs,
            upstream=upstream,
            output=output,
            about=function,
        )
        return Gradients(*parts)

    def call_and_return_inputs(
        self, function: Name, *args: Any, **kwargs: Any
    ) -> tuple[Any, tuple]:
        """Call `function`; return its result and the arguments after the call."""
        return self._request(
            "call_and_return_inputs",
            target=function,
            args=args,
            kwargs=kwargs,
            about=function,
        )

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
            words = error_words({"kind": "missing", "message": name}, name)
            raise StudentError("missing", name, words) from None

    def _request(self, operation: str, about: Name | None = None, **parts: Any) -> Any:
        self.calls += 1
        request = Encoder(self._refer).message(do=operation, **{"with": parts})
        reply = self._transport.ask(request, self._answer)
        try:
            return self._read(reply, about)
        except ProtocolError as error:
            reason = f"its process broke the protocol: {error}"
            raise StudentGone(reason, "protocol") from error

    def _read(self, reply: Message, about: Name | None) -> Any:
        decoder = Decoder(reply, self._resolve, keep_strides=False)
        report = decoder.part("error")
        if report is None and "ok" in reply.body:
            return decoder.part("ok")
        if not isinstance(report, dict):
            raise ProtocolError("an answer that is neither a result nor an error")
        kind = report.get("kind")
        kind = kind if kind in ("missing", "not written") else "raised"
        name = about._words if about is not None else "the notebook"
        raise StudentError(kind, name, error_words(report, name, self._cells))

    def _refer(self, value: Any) -> Reference:
        if isinstance(value, Name):
            return value._reference
        if not isinstance(value, Callback) and not callable(value):
            raise TypeError(f"a {type(value).__name__} cannot be handed to a student")
        callback = value if isinstance(value, Callback) else Callback(value)
        key = self._key_of(callback)
        details = {
            "methods": list(callback.methods),
            "attributes": dict(callback.attributes),
        }
        return Reference("callback", key, details)

    def _key_of(self, callback: Callback) -> int:
        """Return the number of a callback; the same object keeps its number."""
        for key, known in enumerate(self._callbacks):
            if known.target is callback.target:
                return key
        self._callbacks.append(callback)
        return len(self._callbacks) - 1

    def _resolve(self, reference: Reference) -> Any:
        if reference.kind == "handle" and isinstance(reference.key, int):
            details = without_values(reference.details, 60)
            return Handle(self, Reference("handle", reference.key, details))
        if reference.kind == "callback" and isinstance(reference.key, int):
            return self._callback(reference.key).target
        raise ProtocolError("a reference to something of the grader's")

    def _callback(self, key: int) -> Callback:
        if not 0 <= key < len(self._callbacks):
            raise ProtocolError("a callback that was not handed over")
        return self._callbacks[key]

    def _answer(self, question: Message) -> Message:
        """Serve one call of the student's code to an object of the grader."""
        if len(question.blob) > MAX_QUESTION:
            raise ProtocolError("a question of too many bytes")
        encoder = Encoder(self._refer)
        try:
            asked = Decoder(question, self._resolve, False).part("callback")
            callback = self._callback(asked["key"])
            method = asked["method"]
            if method not in callback.methods:
                raise ProtocolError("a method that was not handed over")
            target = callback.target
            function = target if method == "__call__" else getattr(target, method)
            return encoder.message(ok=function(*asked["args"], **asked["kwargs"]))
        except (AssertionError, ProtocolError):  # the check has failed, or its process
            raise
        except Exception as error:
            words = f"the checker's object cannot take these: {type(error).__name__}"
            return Encoder(self._refer).message(error=words)

"""Let student code call objects of the grader, and limit these calls."""

import math
from collections.abc import Callable
from typing import Any

from autograder.checking.expect import Callback
from autograder.sandbox.student_side.messages import Message, ProtocolError
from autograder.sandbox.student_side.values import Decoder, Encoder, Reference

# Correct answers send at most 2 kB per call and 100 kB in total, and a product of two
# tensors has at most 20,000 numbers.
MAX_QUESTION = 1 << 20  # bytes
MAX_QUESTIONS = 16 << 20  # bytes per exercise, because an object may keep its inputs
MAX_PRODUCT = 1 << 22  # numbers, after two tensors of one call are broadcast


class Callbacks:
    """The grader's objects that an exercise's checks passed to the student's code."""

    def __init__(self) -> None:
        """Start without objects."""
        self._callbacks: list[Callback] = []
        self._asked = 0

    def __getitem__(self, key: int) -> Callback:
        """Return the object with the number that the student's side uses for it.

        Raises:
            ProtocolError: if no object has this number.
        """
        if not 0 <= key < len(self._callbacks):
            raise ProtocolError("a callback that was not handed over")
        return self._callbacks[key]

    def forget(self) -> None:
        """Forget the previous check's objects, but keep counting the bytes sent."""
        self._callbacks.clear()

    def refer(self, value: Any) -> Reference:
        """Return a reference that lets the student's side call `value`.

        Raises:
            TypeError: if `value` is neither callable nor a `Callback`.
        """
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
        """Return a callback's number, which is always the same for the same object."""
        for key, known in enumerate(self._callbacks):
            if known.target is callback.target:
                return key
        self._callbacks.append(callback)
        return len(self._callbacks) - 1

    def answer(
        self,
        question: Message,
        refer: Callable[[Any], Reference],
        resolve: Callable[[Reference], Any],
    ) -> Message:
        """Answer one call that the student's code makes to one of the objects.

        Raises:
            ProtocolError: if the student's code sends too much data, or calls an object
                that was not passed to it.
        """
        size = max(question.size, len(question.blob))
        self._asked += size
        if size > MAX_QUESTION or self._asked > MAX_QUESTIONS:
            raise ProtocolError("a question of too many bytes")
        encoder = Encoder(refer)
        try:
            decoder = Decoder(question, resolve, False)
            asked = decoder.part("callback")
            if math.prod(sorted(decoder.numbers)[-2:]) > MAX_PRODUCT:
                raise ProtocolError("a question of too many numbers")
            callback, method = self[asked["key"]], asked["method"]
            if method not in callback.methods:
                raise ProtocolError("a method that was not handed over")
            target = callback.target
            function = target if method == "__call__" else getattr(target, method)
            return encoder.message(ok=function(*asked["args"], **asked["kwargs"]))
        except (AssertionError, ProtocolError):  # a failed check or process
            raise
        except Exception as error:
            words = f"the checker's object cannot take these: {type(error).__name__}"
            return Encoder(refer).message(error=words)

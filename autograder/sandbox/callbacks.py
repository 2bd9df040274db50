"""The grader's own objects that student's code may call, and how much it may ask."""

import math
from collections.abc import Callable
from typing import Any

from autograder.checking.expect import Callback
from autograder.sandbox.student_side.messages import Message, ProtocolError
from autograder.sandbox.student_side.values import Decoder, Encoder, Reference

# Right answers ask for 2 kB, all of them together for 100 kB, and multiply 20,000
# numbers with each other.
MAX_QUESTION = 1 << 20  # bytes
MAX_QUESTIONS = 16 << 20  # bytes, of an exercise: an object may keep what it is given
MAX_PRODUCT = 1 << 22  # numbers that two tensors of a question can be spread to


class Callbacks:
    """The objects that the checks of an exercise have handed over."""

    def __init__(self) -> None:
        """Begin with none."""
        self._callbacks: list[Callback] = []
        self._asked = 0

    def __getitem__(self, key: int) -> Callback:
        """Return an object by the number that the student's side has for it.

        Raises:
            ProtocolError: if there is none.
        """
        if not 0 <= key < len(self._callbacks):
            raise ProtocolError("a callback that was not handed over")
        return self._callbacks[key]

    def forget(self) -> None:
        """Forget the objects of the check before; what was asked still counts."""
        self._callbacks.clear()

    def refer(self, value: Any) -> Reference:
        """Return what stands for a callable or a `Callback` on the student's side.

        Raises:
            TypeError: if it is neither.
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
        """Return the number of a callback; the same object keeps its number."""
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
        """Serve one call of the student's code to one of the objects.

        Raises:
            ProtocolError: if it asks too much, or for what was not handed over.
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
        except (AssertionError, ProtocolError):  # the check has failed, or its process
            raise
        except Exception as error:
            words = f"the checker's object cannot take these: {type(error).__name__}"
            return Encoder(refer).message(error=words)

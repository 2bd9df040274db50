"""Refer from a check to names and objects on the student's side."""

import math
from dataclasses import dataclass
from typing import Any, Protocol

from torch import Tensor

from autograder.checking.failures import StudentGone
from autograder.phrases import Phrase
from autograder.sandbox.student_side.values import Reference

MAX_PARAMETERS = 10_000
MAX_NUMBERS = 20_000_000


class Owner(Protocol):
    """The student to whom a name belongs."""

    def _request(
        self, operation: str, about: "Name | None" = None, **parts: Any
    ) -> Any:
        """Send a request about a name or object to the student's side."""


@dataclass(frozen=True)
class Gradients:
    """The results of a forward and a backward pass of the student's code."""

    output: Tensor
    inputs: list[Tensor | None]
    parameters: dict[str, Tensor | None]


class Name:
    """A name in the student's notebook; each call looks it up again."""

    def __init__(self, student: Owner, reference: Reference):
        """Refer to `reference` on the student's side."""
        self._student = student
        self._reference = reference

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the named object with values that are sent to the student's side."""
        return self._student._request(
            "call", target=self, args=args, kwargs=kwargs, about=self
        )

    def __repr__(self) -> str:
        """Return its name in the notebook."""
        return str(self._reference.key)

    @property
    def _words(self) -> str:
        return f"{self._reference.key}"


class Handle(Name):
    """An object that stays on the student's side, such as a module."""

    @property
    def type_name(self) -> str:
        """Return the name of the object's class, as the student's side reports it."""
        return str(self._reference.details)

    def __getattr__(self, method: str) -> Any:
        """Return a function that calls the method with that name."""
        if method.startswith("_"):
            raise AttributeError(method)

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._student._request(
                "method", target=self, name=method, args=args, kwargs=kwargs, about=self
            )

        return call

    def __repr__(self) -> str:
        """Return the type of the object, as text."""
        return f"<{self.type_name} of the student>"

    @property
    def _words(self) -> str:
        return self.type_name

    def attribute(self, name: str) -> Any:
        """Return an attribute, as a value or a handle."""
        return self._student._request("attribute", target=self, name=name, about=self)

    def parameters_by_name(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each parameter of a module.

        Raises:
            StudentGone: if the values are not shapes, or if the grader could not draw
                random values for shapes of this size.
        """
        shapes = self._student._request("parameters_by_name", target=self, about=self)
        if not _are_shapes(shapes):
            words = Phrase("its process broke the protocol: no shapes")
            raise StudentGone(words, Phrase("protocol"))
        return shapes


def _are_shapes(shapes: Any) -> bool:
    """Return whether a value is a dict from parameter names to shapes."""
    if not isinstance(shapes, dict) or len(shapes) > MAX_PARAMETERS:
        return False
    for name, shape in shapes.items():
        if not isinstance(name, str) or not isinstance(shape, tuple):
            return False
        if not all(type(size) is int and size >= 0 for size in shape):
            return False
    return sum(math.prod(shape) for shape in shapes.values()) <= MAX_NUMBERS

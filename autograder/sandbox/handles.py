"""Names and objects of the student's side, as a check holds them."""

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
    """The student whom a name belongs to."""

    def _request(
        self, operation: str, about: "Name | None" = None, **parts: Any
    ) -> Any:
        """Have the student's side do something with it."""


@dataclass(frozen=True)
class Gradients:
    """What a forward and a backward pass of the student's code gave."""

    output: Tensor
    inputs: list[Tensor | None]
    parameters: dict[str, Tensor | None]


class Name:
    """A name of the student's notebook, looked up when it is called."""

    def __init__(self, student: Owner, reference: Reference):
        """Stand for `reference` on the student's side."""
        self._student = student
        self._reference = reference

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call it with values that are handed over."""
        return self._student._request(
            "call", target=self, args=args, kwargs=kwargs, about=self
        )

    def __repr__(self) -> str:
        """Name it as the notebook does."""
        return str(self._reference.key)

    @property
    def _words(self) -> str:
        return f"{self._reference.key}"


class Handle(Name):
    """An object that stays on the student's side, such as a module."""

    @property
    def type_name(self) -> str:
        """Return the name of the object's class, as the student's side gives it."""
        return str(self._reference.details)

    def __getattr__(self, method: str) -> Any:
        """Return a function that calls the method of that name."""
        if method.startswith("_"):
            raise AttributeError(method)

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._student._request(
                "method", target=self, name=method, args=args, kwargs=kwargs, about=self
            )

        return call

    def __repr__(self) -> str:
        """Say what it is a handle of."""
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
            StudentGone: if the shapes are none, or too large for the grader to draw.
        """
        shapes = self._student._request("parameters_by_name", target=self, about=self)
        if not _are_shapes(shapes):
            words = Phrase("its process broke the protocol: no shapes")
            raise StudentGone(words, Phrase("protocol"))
        return shapes


def _are_shapes(shapes: Any) -> bool:
    """Say whether a value is what names of parameters and their shapes look like."""
    if not isinstance(shapes, dict) or len(shapes) > MAX_PARAMETERS:
        return False
    for name, shape in shapes.items():
        if not isinstance(name, str) or not isinstance(shape, tuple):
            return False
        if not all(type(size) is int and size >= 0 for size in shape):
            return False
    return sum(math.prod(shape) for shape in shapes.values()) <= MAX_NUMBERS

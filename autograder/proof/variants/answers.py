"""Read an answer from the package, and define its variants as changes to it."""

import ast
import inspect
import io
import pkgutil
import textwrap
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from autograder.proof.variants.changes import Change, UnfitChange
from autograder.proof.variants.faults import FAULTS
from autograder.proof.variants.registry import (
    UnusableFile,
    Variant,
    collect,
    source_without_marker,
)


@dataclass(frozen=True)
class Answer:
    """Hold an answer, and collect its variants.

    Attributes:
        replaces: a function, a class or `Class.method`.
        source: the answer's source, without docstrings, comments and solution markers.
    """

    replaces: str
    source: str

    def wrong(
        self,
        description: str,
        *changes: Change,
        names: str | None = None,
        diagnosed: bool = True,
    ) -> Any:
        """Collect a wrong answer that must lose points.

        Args:
            description: a description of the error.
            changes: the changes that make the answer wrong. Without changes, this
                method is a decorator, and the decorated function or class is the wrong
                answer.
            names: the part of the mistake's phrase that the message must contain; by
                default `description`.
            diagnosed: whether a failing check must name the mistake.

        Returns:
            The wrong answer, to which further variants may be added.

        Raises:
            UnusableFile: if the answer does not contain the text to change.
        """
        return self._collect(
            "wrong", description, changes, names or description, diagnosed
        )

    def right(self, description: str, *changes: Change) -> Any:
        """Collect an alternative right answer; see `wrong` for the arguments."""
        return self._collect("right", description, changes, description, False)

    def with_faults(self, names: str) -> None:
        """Collect a wrong answer for each of these faults, which a check must name.

        Args:
            names: keys of `FAULTS`, with spaces between them.
        """
        for fault in map(FAULTS.__getitem__, names.split()):
            collect(
                Variant(
                    "wrong",
                    fault.description,
                    self.replaces,
                    f"@{fault.decorator.__name__}\n{self.source}",
                    imports=fault.source,
                    diagnosed=True,
                    names=fault.names,
                )
            )

    def _collect(
        self,
        kind: str,
        description: str,
        changes: tuple[Change, ...],
        names: str,
        diagnosed: bool,
    ) -> "Answer | Callable[[Any], Answer]":
        def take(source: str) -> Answer:
            collect(
                Variant(
                    kind,
                    description,
                    self.replaces,
                    source,
                    diagnosed=diagnosed,
                    names=names,
                )
            )
            return Answer(self.replaces, source)

        def mark(defined: Any) -> Answer:
            take(source_without_marker(defined))
            return self  # the function's name must still refer to the answer

        return take(self._changed(description, changes)) if changes else mark

    def _changed(self, description: str, changes: tuple[Change, ...]) -> str:
        source = self.source
        try:
            for change in changes:
                source = change(source)
            compile(source, self.replaces, "exec")
        except (UnfitChange, SyntaxError) as error:
            where = f"{self.replaces}, '{description}'"
            raise UnusableFile(f"{where}: {error}") from error
        return source


def answer(path: str, *changes: Change) -> Answer:
    """Return the answer at `transformer.module.function`, `….Class` or `….method`.

    Args:
        path: the dotted path of the answer.
        changes: changes for all variants, such as removing a check of sizes.
    """
    defined = pkgutil.resolve_name(path)
    source = bare(textwrap.dedent(inspect.getsource(defined)))
    found = Answer(defined.__qualname__, source)
    return Answer(found.replaces, found._changed("every variant", changes))


def bare(source: str) -> str:
    """Return a definition without docstrings, comments and solution markers."""
    lines = source.splitlines()
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            row, column = token.start
            lines[row - 1] = lines[row - 1][:column].rstrip() or "#"
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node):
            text = node.body[0]
            for row in range(text.lineno, (text.end_lineno or text.lineno) + 1):
                lines[row - 1] = "#"
    return "\n".join(line for line in lines if line.strip() != "#") + "\n"

"""Calls of the student's code that tell what their result does not show."""

from collections.abc import Sequence
from typing import Any

from autograder.sandbox.handles import Name


class WatchedCalls:
    """What a check may ask of a call beside its result; a part of `Student`."""

    def _request(self, operation: str, about: Name | None = None, **parts: Any) -> Any:
        """Have the student's side do something; `Student` says how."""
        raise NotImplementedError

    def calls_in_turn(self, function: Name, *calls: Sequence[Any]) -> list[tuple]:
        """Call `function` once with each of `calls`, one after the other.

        Returns:
            For each call its result as it was, and as it is after the last call.
        """
        return self._request(
            "calls_in_turn", target=function, calls=list(calls), about=function
        )

    def call_again(
        self, function: Name, args: Sequence[Any], others: Sequence[Any]
    ) -> tuple[Any] | None:
        """Call `function`, write `others` into its tensors, and call it again.

        Returns:
            The second result, alone in a tuple; None if there is nothing to write.
        """
        return self._request(
            "call_again",
            target=function,
            args=tuple(args),
            others=tuple(others),
            about=function,
        )

    def watched_call(
        self, function: Name, *args: Any, **kwargs: Any
    ) -> tuple[Any, list[str], list[int]]:
        """Call `function`; return what it gave, what it changed, where it wrote.

        Returns:
            The result; the settings that changed for good, in words, such as "the
            random state of torch"; the numbers of the arguments written into.
        """
        return self._call("watched_call", function, args, kwargs)

    def calls_by_seed(
        self, function: Name, *args: Any, seeds: Sequence[int], **kwargs: Any
    ) -> list[tuple[Any, str]]:
        """Call `function` under each seed; return results, and the state behind."""
        return self._call("calls_by_seed", function, args, kwargs, seeds=list(seeds))

    def devices(self, function: Name, *args: Any, **kwargs: Any) -> list[str]:
        """Call `function` with everything elsewhere than on the CPU.

        Returns:
            Where the tensors of the result lie, "elsewhere" or "cpu"; nothing if the
            code needs values, which cannot be had without a GPU.

        Raises:
            StudentError: if tensors of two devices meet, or numpy cannot reach one.
        """
        return self._call("devices", function, args, kwargs)

    def raised_by(self, function: Name, *args: Any, **kwargs: Any) -> list[str]:
        """Call `function`; return the names of its error's classes, or none."""
        return self._call("raised_by", function, args, kwargs)

    def _call(
        self, operation: str, function: Name, args: tuple, kwargs: dict, **parts: Any
    ) -> Any:
        """Have `function` called in the way that `operation` names."""
        return self._request(
            operation,
            target=function,
            args=args,
            kwargs=kwargs,
            about=function,
            **parts,
        )

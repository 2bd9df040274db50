"""Call the student's code and also report effects that the result does not show."""

from collections.abc import Sequence
from typing import Any

from autograder.sandbox.handles import Name


class WatchedCalls:
    """Make calls that report more than a result, for `SubmissionProxy` to inherit."""

    def _request(self, operation: str, about: Name | None = None, **parts: Any) -> Any:
        """Send one request to the student's side, as subclasses implement it."""
        raise NotImplementedError

    def calls_in_turn(self, function: Name, *calls: Sequence[Any]) -> list[tuple]:
        """Call `function` once with each of `calls`, one after the other.

        Returns:
            For each call, a pair: its result right after the call, and the same result
            after the last call.
        """
        return self._request(
            "calls_in_turn", target=function, calls=list(calls), about=function
        )

    def call_again(
        self, function: Name, args: Sequence[Any], others: Sequence[Any]
    ) -> tuple[Any] | None:
        """Call `function`, copy `others` into the tensors of `args`, and call it again.

        Returns:
            A tuple with only the second result, or None if there are no tensors to
            overwrite.
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
        """Call `function`, and report changes to settings and arguments.

        Returns:
            The result, the settings that stay changed after the call (in words, such as
            "the random state of torch"), and the indices of the arguments that were
            written into.
        """
        return self._call("watched_call", function, args, kwargs)

    def calls_by_seed(
        self, function: Name, *args: Any, seeds: Sequence[int], **kwargs: Any
    ) -> list[tuple[Any, str]]:
        """Call `function` under each seed; return results and final random states."""
        return self._call("calls_by_seed", function, args, kwargs, seeds=list(seeds))

    def devices(self, function: Name, *args: Any, **kwargs: Any) -> list[str]:
        """Call `function` with all its inputs on a device other than the CPU.

        Returns:
            The devices of the result's tensors, "elsewhere" or "cpu". The list is empty
            if the code needs values, which only a GPU could provide.

        Raises:
            StudentError: if an operation mixes two devices, or if numpy cannot read a
                tensor.
        """
        return self._call("devices", function, args, kwargs)

    def raised_by(self, function: Name, *args: Any, **kwargs: Any) -> list[str]:
        """Call `function` and return the class names of its error, or an empty list."""
        return self._call("raised_by", function, args, kwargs)

    def _call(
        self, operation: str, function: Name, args: tuple, kwargs: dict, **parts: Any
    ) -> Any:
        """Ask the student's side to call `function` for the given operation."""
        return self._request(
            operation,
            target=function,
            args=args,
            kwargs=kwargs,
            about=function,
            **parts,
        )

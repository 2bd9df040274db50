"""What running one cell gave, as the child tells it."""

from dataclasses import dataclass, field
from typing import Any, NoReturn

from autograder.sandbox.student_side.messages import Message, ProtocolError
from autograder.sandbox.student_side.values import Decoder

TOLD_OF_ERRORS, MAX_WORDS = ("type", "message", "line", "code"), 2_000


@dataclass
class CellRun:
    """What running one cell gave, as the child tells it: not to be trusted.

    `once` is ours: the cell need not run again for the next exercise.
    """

    outputs: list[dict[str, Any]] = field(default_factory=list)
    error: dict[str, Any] | None = None
    seconds: float = 0.0
    stopped: str | None = None
    once: bool = False


def read_run(reply: Message) -> CellRun:
    """Read the report of a cell, believing nothing of it but its outward form."""
    report = Decoder(reply, _refuse, keep_strides=False).part("ran")
    if not isinstance(report, dict):
        raise ProtocolError("a cell's report that is none")
    outputs, error = report.get("outputs"), report.get("error")
    seconds = report.get("seconds")
    return CellRun(
        [item for item in outputs if isinstance(item, dict)]
        if isinstance(outputs, list)
        else [],
        _shortened(error) if isinstance(error, dict) else None,
        seconds if type(seconds) is float else 0.0,
    )


def _shortened(error: dict[str, Any]) -> dict[str, Any]:
    """Keep what is told of a cell's error, and no more of it than is shown."""
    told = {key: error.get(key) for key in TOLD_OF_ERRORS}
    return {
        key: value if type(value) is int else str(value)[:MAX_WORDS]
        for key, value in told.items()
        if value is not None
    }


def _refuse(value: Any) -> NoReturn:
    raise ProtocolError("a reference where only values are allowed")

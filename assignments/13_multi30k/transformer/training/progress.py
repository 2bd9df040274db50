"""Report the progress of a training run on a terminal, or report nothing."""

import time
from dataclasses import dataclass
from typing import Any, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeRemainingColumn,
)

from transformer.training.step import perplexity


@dataclass(frozen=True)
class StepReport:
    """Hold the result of one training step.

    Attributes:
        loss: mean over the batch's target tokens, in nats.
        rate: learning rate of the step.
        tokens: target tokens of the batch, without padding.
    """

    loss: float
    rate: float
    tokens: int


class Listener(Protocol):
    """The methods that a trainer calls to report its progress."""

    def start_epoch(self, number: int, steps: int) -> None:
        """Receive the number of a new epoch, from 1, and its number of steps."""

    def end_step(self, report: StepReport) -> None:
        """Receive the result of a step."""

    def end_epoch(self, record: dict[str, float]) -> None:
        """Receive the record of an epoch that has ended."""


class Silence:
    """Ignore all reports."""

    def start_epoch(self, number: int, steps: int) -> None:
        """Do nothing."""

    def end_step(self, report: StepReport) -> None:
        """Do nothing."""

    def end_epoch(self, record: dict[str, float]) -> None:
        """Do nothing."""


AT_START: dict[str, Any] = {"loss": 0.0, "rate": 0.0, "speed": 0.0}


class TerminalProgress:
    """Show a bar with loss, learning rate and speed, and a line for each epoch.

    Use it as a context: `with TerminalProgress(console) as listener`.
    """

    def __init__(self, console: Console | None = None) -> None:
        """Prepare the bar, which appears only on a terminal."""
        console = console or Console()
        self.bar = Progress(
            TextColumn("epoch {task.fields[epoch]}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("loss {task.fields[loss]:.3f}"),
            TextColumn("rate {task.fields[rate]:.1e}"),
            TextColumn("{task.fields[speed]:,.0f} tokens/s"),
            TimeRemainingColumn(),
            console=console,
            transient=True,
            disable=not console.is_terminal,
        )
        self.task = self.bar.add_task("", visible=False, epoch=0, **AT_START)

    def __enter__(self) -> "TerminalProgress":
        """Show the bar."""
        self.bar.start()
        return self

    def __exit__(self, *exception: object) -> None:
        """Remove the bar, even after an error."""
        self.bar.stop()

    def start_epoch(self, number: int, steps: int) -> None:
        """Reset the bar for a new epoch."""
        self.bar.reset(self.task, total=steps, visible=True, epoch=number, **AT_START)
        self.start, self.tokens, self.loss = time.perf_counter(), 0, 0.0

    def end_step(self, report: StepReport) -> None:
        """Advance the bar, and show the mean loss of the epoch so far."""
        self.tokens += report.tokens
        self.loss += report.loss * report.tokens
        self.bar.update(
            self.task,
            advance=1,
            loss=self.loss / self.tokens,
            rate=report.rate,
            speed=self.tokens / (time.perf_counter() - self.start),
        )

    def end_epoch(self, record: dict[str, float]) -> None:
        """Print a line with the epoch's record."""
        self.bar.console.print(
            f"epoch {record['epoch']:>3} | "
            f"training loss {record['train_loss']:.3f} | "
            f"validation loss {record['valid_loss']:.3f} "
            f"(perplexity {perplexity(record['valid_loss']):.3f}) | "
            f"rate {record['rate']:.1e} | {record['seconds']:.1f} s | "
            f"{record['tokens_per_second']:,.0f} tokens/s",
            highlight=False,
            soft_wrap=True,
        )

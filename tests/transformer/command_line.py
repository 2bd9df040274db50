"""Run the command line in this process, and check its results."""

from pathlib import Path

from typer.testing import CliRunner

from transformer.cli.app import app
from transformer.training.checkpoints import load_checkpoint

SHORT = ["train", "--epochs", "2", "--epoch-steps", "3", "--device", "cpu"]


def run(*arguments: str, expect: int = 0) -> str:
    """Run a command in this process, and return its printed output."""
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == expect, result.output
    return result.output


def losses(folder: Path) -> list[tuple[float, float]]:
    history = load_checkpoint(folder / "last.pt").history
    return [(record["train_loss"], record["valid_loss"]) for record in history]


def assert_one_line_error(output: str, *parts: str) -> None:
    lines = output.strip().splitlines()
    assert len(lines) == 1, output
    assert lines[0].startswith("Error: ")
    for part in parts:
        assert part in lines[0]

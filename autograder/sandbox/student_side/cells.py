"""Execute a notebook's cells with IPython, and keep a bounded copy of their output."""

import __future__

import contextlib
import io
import os
import sys
import types
from collections.abc import Iterator
from typing import Any

from IPython.core.compilerop import CachingCompiler
from IPython.core.displayhook import DisplayHook
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from .errors import error_report
from .shell import GradingShell

MAX_OUTPUTS = 40
TRUNCATED = "\n… output truncated …\n"


class NamingCompiler(CachingCompiler):
    """Name each cell's code `<cell N>`, so that an error report can name the cell.

    Annotations are not evaluated, because they may use a package that is missing here.
    """

    number = 0

    def __init__(self) -> None:
        """Compile with `from __future__ import annotations`."""
        super().__init__()
        self.reset_compiler_flags()

    def reset_compiler_flags(self) -> None:
        """Restore the initial flags, for `%reset`."""
        super().reset_compiler_flags()
        self.flags |= __future__.annotations.compiler_flag

    def get_code_name(self, *_ignored: Any) -> str:
        """Return the name of the cell that is about to run."""
        return f"<cell {self.number}>"


class KeepingDisplayHook(DisplayHook):
    """Keep the last value of each cell instead of printing it."""

    shell: InteractiveShell
    kept: list[dict[str, Any]]
    source: str

    def quiet(self) -> bool:
        """Return whether the cell, which has no history entry, ends in a semicolon."""
        cell = self.shell.transform_cell(self.source)
        return self.semicolon_at_end_of_expression(cell)

    def write_output_prompt(self) -> None:
        """Write no prompt."""

    def write_format_data(self, format_dict: Any, md_dict: Any = None) -> None:
        """Keep the value's representations."""
        self.kept.append({"data": format_dict, "metadata": md_dict})

    def finish_displayhook(self) -> None:
        """Write no line end."""


class BoundedText(io.TextIOBase):
    """Keep the first characters of the output, and discard the rest."""

    def __init__(self, limit: int):
        """Keep at most `limit` characters."""
        self.limit = limit
        self.parts: list[str] = []
        self.kept = 0
        self.cut = False

    def write(self, text: str) -> int:
        """Keep the part of `text` that still fits."""
        fits = text[: self.limit - self.kept]
        if fits:
            self.parts.append(fits)
            self.kept += len(fits)
        self.cut |= len(fits) < len(text)
        return len(text)

    def writable(self) -> bool:
        """Return True, because the text can be written to."""
        return True

    def isatty(self) -> bool:
        """Return False, because this is not a terminal."""
        return False

    def text(self) -> str:
        """Return the kept text, with a note if some was discarded."""
        return "".join(self.parts) + (TRUNCATED if self.cut else "")


class CellRunner:
    """Run cells in order, all in the same namespace."""

    def __init__(self, output_limit: int = 64_000):
        """Make the shell and keep at most `output_limit` characters per cell."""
        config = Config()
        config.HistoryManager.enabled = False
        config.InteractiveShell.colors = "nocolor"
        config.InteractiveShell.cache_size = 0
        module = types.ModuleType("__main__")
        self.output_limit = output_limit
        self.shell = GradingShell(config=config, user_module=module)
        self._compiler = self.shell.compile = NamingCompiler()
        self._publisher = CapturingDisplayPublisher(shell=self.shell)
        self._hook = KeepingDisplayHook(shell=self.shell)
        self.shell.display_pub = self._publisher
        self.shell.displayhook = self.shell.display_trap.hook = self._hook
        shown = ("showtraceback", "showsyntaxerror", "showindentationerror")
        for show in (*shown, "enable_gui"):  # `%matplotlib inline` calls `enable_gui`
            setattr(self.shell, show, _nothing)
        InteractiveShell._instance = self.shell  # type: ignore[assignment]  # None at first

    @property
    def namespace(self) -> dict[str, Any]:
        """Return the names that the cells define."""
        return self.shell.user_ns

    def run(self, number: int, source: str) -> dict[str, Any]:
        """Run one cell and return its outputs and, if it raised, the error's report."""
        self._compiler.number = number
        self._hook.source = source
        out, err = BoundedText(self.output_limit), BoundedText(self.output_limit)
        shown: list[dict[str, Any]] = []
        with self._capturing(out, err, shown):
            result = self.shell.run_cell(source, store_history=False)
        error = result.error_before_exec or result.error_in_exec
        report = None if error is None else error_report(error)
        if report and isinstance(result.error_before_exec, SyntaxError):
            report |= {"cell": number, "line": result.error_before_exec.lineno}
        streams = [
            {"output_type": "stream", "name": name, "text": stream.text()}
            for name, stream in (("stdout", out), ("stderr", err))
            if stream.parts
        ]
        return {
            "outputs": streams + self._bounded(shown),
            "error": report,
        }

    @contextlib.contextmanager
    def _capturing(
        self, out: BoundedText, err: BoundedText, shown: list[dict[str, Any]]
    ) -> Iterator[None]:
        publisher = self._publisher
        publisher.outputs = []
        self._hook.kept = publisher.outputs
        saved = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = out, err
        try:
            yield
        finally:
            sys.stdout, sys.stderr = saved
            shown += [item for item in publisher.outputs if isinstance(item, dict)]

    def _bounded(self, shown: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """Keep displayed text up to the output limit; drop pictures and scripts."""
        kept, left = [], self.output_limit
        for item in shown[:MAX_OUTPUTS]:
            data = {
                kind: str(text)
                for kind, text in (item.get("data") or {}).items()
                if kind in ("text/plain", "text/html", "text/markdown", "text/latex")
            }
            size = sum(map(len, data.values()))
            if data and size <= left:
                left -= size
                kept.append({"output_type": "display_data", "data": data})
        return kept


def _nothing(*_args: Any, **_kwargs: Any) -> None:
    """Do nothing, instead of opening a window or printing a traceback."""


def quiet_environment(folder: str) -> None:
    """Make libraries write their files into `folder` and open no windows."""
    os.environ.update(
        HOME=folder,
        TMPDIR=folder,
        IPYTHONDIR=os.path.join(folder, ".ipython"),
        MPLCONFIGDIR=os.path.join(folder, ".matplotlib"),
        MPLBACKEND="agg",
        PYTHONDONTWRITEBYTECODE="1",
    )

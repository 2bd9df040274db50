"""IPython's shell for grading: what cannot work here is passed over with a remark.

A notebook may ask for windows, for extensions and for packages that are not installed
where it is graded. The rest of such a cell runs.
"""

import ast
import sys
from typing import Any

from IPython.core.interactiveshell import InteractiveShell

RUN_CODE = frozenset({"time", "timeit", "prun", "run", "capture", "python", "python3"})
REMARK = "__passed_over__"


class GradingShell(InteractiveShell):
    """IPython's shell; magics and imports that cannot work stop no cell."""

    def __init__(self, **settings: Any) -> None:
        """Make the shell; its cells' imports are allowed to fail."""
        super().__init__(**settings)
        self.ast_transformers.append(TolerantImports())
        self.user_ns_hidden[REMARK] = self.user_ns[REMARK] = passed_over

    def enable_gui(self, gui: str | None = None) -> None:
        """Open no window."""

    def enable_matplotlib(self, gui: str | None = None) -> tuple[str | None, str]:
        """Leave the figures where they are drawn without a window."""
        return gui, "agg"

    def run_line_magic(
        self, magic_name: str, line: str, _stack_depth: int = 1
    ) -> object | None:
        """Run a magic; one that raises is passed over, unless it runs code."""
        try:
            return super().run_line_magic(magic_name, line, _stack_depth + 1)
        except Exception as error:
            if magic_name in RUN_CODE:
                raise
            passed_over(f"%{magic_name}", error)
            return None

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> object | None:
        """Run a magic; below one that nobody knows the cell is plain code."""
        if self.find_cell_magic(magic_name) is not None:
            return super().run_cell_magic(magic_name, line, cell)
        passed_over(f"%%{magic_name}", "it is not known here")
        self.run_cell(cell, store_history=False).raise_error()
        return None


class TolerantImports(ast.NodeTransformer):
    """Let a cell go on behind an import of a package that is not installed."""

    def visit_Module(self, node: ast.Module) -> ast.Module:
        """Wrap each import that is not part of another statement."""
        node.body = [_tolerant(statement) for statement in node.body]
        return node


def _tolerant(statement: ast.stmt) -> ast.stmt:
    if not isinstance(statement, (ast.Import, ast.ImportFrom)):
        return statement
    if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
        return statement
    (wrapped,) = ast.parse(
        "try:\n    pass\nexcept ModuleNotFoundError as __error__:\n"
        f"    {REMARK}({ast.unparse(statement)!r}, __error__)"
    ).body
    assert isinstance(wrapped, ast.Try)
    for part in ast.walk(wrapped):
        ast.copy_location(part, statement)
    wrapped.body = [statement]
    return wrapped


def passed_over(what: str, why: object) -> None:
    """Say in the cell's output that something was passed over."""
    print(f"Passed over while grading: {what} ({why})", file=sys.stderr)

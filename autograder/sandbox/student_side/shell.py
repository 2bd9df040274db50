"""Adapt IPython's shell for grading: a failing statement does not stop its cell.

A notebook may use windows, extensions, packages, files and a network that do not exist
during grading. The shell skips each import of a missing package and each magic that
fails. After any other statement that raises, the shell still runs the definitions and
imports of the cell, because an answer may be among them.
"""

import ast
import sys
from collections.abc import Callable, Container
from typing import Any

from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

RUN_CODE = frozenset({"time", "timeit", "prun", "run", "capture", "python", "python3"})
MEASURE = frozenset({"time", "prun"})  # cell magics above plain code
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
IMPORTS = (ast.Import, ast.ImportFrom)
ALIAS = getattr(ast, "TypeAlias", ast.Import)  # exists since Python 3.12
DEFINITIONS = (*FUNCTIONS, ast.ClassDef, *IMPORTS, ALIAS)


class GradingShell(InteractiveShell):
    """IPython's shell, in which a failing statement does not stop its cell."""

    def __init__(self, **settings: Any) -> None:
        """Make the shell."""
        super().__init__(**settings)
        self._missing: set[str] = set()  # names that skipped imports would have bound

    async def run_ast_nodes(
        self,
        nodelist: list[ast.stmt],
        cell_name: str,
        interactivity: str = "last_expr",
        compiler: Callable[..., Any] = compile,
        result: ExecutionResult | None = None,
    ) -> bool:
        """Run a cell's statements; after one that raises, run only definitions.

        Returns:
            True if a statement has raised. `result` receives the first error.
        """
        has_stopped = False
        for node in nodelist:
            if has_stopped and not is_definition(node, self.user_ns):
                continue
            self._drop_missing_decorators(node)
            one = ExecutionResult(None)
            is_shown = node is nodelist[-1] or interactivity == "all"
            shown = interactivity if is_shown else "none"
            if not await super().run_ast_nodes([node], cell_name, shown, compiler, one):
                continue
            error = one.error_before_exec or one.error_in_exec
            if isinstance(node, IMPORTS) and isinstance(error, ModuleNotFoundError):
                self._missing |= _names_of_import(node)
                passed_over(ast.unparse(node), error)
            elif not has_stopped:
                has_stopped = True
                if result is not None:
                    result.error_before_exec = one.error_before_exec
                    result.error_in_exec = one.error_in_exec
        return has_stopped

    def _drop_missing_decorators(self, node: ast.stmt) -> None:
        """Remove decorators that come from missing packages, such as a type checker."""
        for part in ast.walk(node) if self._missing else ():
            if isinstance(part, (*FUNCTIONS, ast.ClassDef)):
                kept = [d for d in part.decorator_list if not self._is_missing(d)]
                part.decorator_list = kept

    def _is_missing(self, node: ast.AST) -> bool:
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        return bool(names & self._missing - self.user_ns.keys())

    def enable_gui(self, gui: str | None = None) -> None:
        """Open no window."""

    def enable_matplotlib(self, gui: str | None = None) -> tuple[str | None, str]:
        """Keep the backend that draws figures without opening a window."""
        return gui, "agg"

    def run_line_magic(
        self, magic_name: str, line: str, _stack_depth: int = 1
    ) -> object | None:
        """Run a magic, and ignore its error unless it runs code."""
        try:
            return super().run_line_magic(magic_name, line, _stack_depth + 1)
        except Exception as error:
            if magic_name in RUN_CODE:
                raise
            passed_over(f"%{magic_name}", error)
            return None

    def run_cell_magic(self, magic_name: str, line: str, cell: str) -> object | None:
        """Run a cell magic; run the cell of `%%time` or an unknown magic as code."""
        is_known = self.find_cell_magic(magic_name) is not None
        if is_known and magic_name not in MEASURE:
            return super().run_cell_magic(magic_name, line, cell)
        if not is_known:
            passed_over(f"%%{magic_name}", "it is not known here")
        if not cell.startswith("%%"):
            cell = f"pass\n{cell}"  # keeps the line numbers
        self.run_cell(cell, store_history=False).raise_error()
        return None


def is_definition(node: ast.stmt, known: Container[str]) -> bool:
    """Return whether a statement only defines names.

    Args:
        node: the statement.
        known: the names that are already defined. Only a literal or a lambda may
            replace one of them, because any other value may depend on the failed
            statement.
    """
    if isinstance(node, (*DEFINITIONS, ast.Pass)):
        return True
    if isinstance(node, (ast.If, ast.Try)):
        handlers = getattr(node, "handlers", [])
        inside = [*node.body, *node.orelse, *getattr(node, "finalbody", [])]
        inside += [part for handler in handlers for part in handler.body]
        return all(is_definition(part, known) for part in inside)
    if isinstance(node, ast.AnnAssign):
        return node.value is None or _is_kept(node.value, [node.target], known)
    return isinstance(node, ast.Assign) and _is_kept(node.value, node.targets, known)


def _is_kept(value: ast.expr, targets: list[ast.expr], known: Container[str]) -> bool:
    names = [n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)]
    return _is_plain(value) or not any(name in known for name in names)


def _is_plain(value: ast.expr) -> bool:
    try:
        ast.literal_eval(value)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return isinstance(value, ast.Lambda)
    return True


def _names_of_import(node: ast.Import | ast.ImportFrom) -> set[str]:
    return {(one.asname or one.name).partition(".")[0] for one in node.names}


def passed_over(what: str, why: object) -> None:
    """Report in the cell's output that something was skipped."""
    print(f"Passed over while grading: {what} ({why})", file=sys.stderr)

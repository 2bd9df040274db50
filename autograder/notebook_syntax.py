"""Parse a student's notebook to find the names that it defines, imports and uses.

Nothing is executed. Cells are read as IPython reads them: `!cmd`, `len?` and `%magic`
become calls, and the body of `%%time` is code. A cell that is still not valid Python is
left out.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

RUN_THEIR_CELL = {
    "%%time",
    "%%capture",
    "%%prun",
}  # these magics run the cell as code in the notebook's namespace
MOST_TO_TRANSFORM = 200_000  # characters times non-Python lines; takes about 1 s
SHORT_CELL = 4_000  # characters; a cell's tree needs about 300 times the cell's memory
READ_CELLS = 64
DEFINES = re.compile(r"(?m)^(?:async )?(?:def|class) +(\w+)")


@dataclass
class Program:
    """Hold the cells of a notebook as one program.

    Attributes:
        definitions: maps a top-level name to its last definition.
        sources: maps a top-level name to the source text of this definition.
        imports: maps a local name to the dotted name from which it was imported.
        others: maps a top-level name to the other statements that affect its behaviour:
            earlier definitions that may still be used, and attributes that are set
            later.
        files: the modules and packages that cells write into the notebook's folder.
    """

    definitions: dict[str, ast.stmt] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)
    others: dict[str, list[ast.AST]] = field(default_factory=dict)
    files: set[str] = field(default_factory=set)

    def all_of(self, name: str) -> list[ast.AST]:
        """Return the syntax trees of all statements that affect `name`."""
        last = [self.definitions[name]] if name in self.definitions else []
        return [*last, *self.others.get(name, [])]


def read_program(cells: Sequence[str]) -> Program:
    """Parse the code cells in order; a later definition replaces an earlier one."""
    program = Program()
    held: set[str] = set()  # names that assignments have used so far
    for source in cells:
        text, tree = read_cell(source)
        lines = text.split("\n")
        if tree is None:
            package, tree = _written_file(source)
            program.files.add(package)
        for node in _statements(tree.body) if tree else []:
            names = (*defined_by(node), *_also_bound(node))
            segment = _segment(lines, node) if names else ""
            for name in names:
                if name in held and name in program.definitions:
                    earlier = program.definitions[name]
                    program.others.setdefault(name, []).append(earlier)
                program.definitions[name] = node
                program.sources[name] = segment
            for name in _changed_by(node):
                program.others.setdefault(name, []).append(node)
            held.update(_held_by(node))
        for part in ast.walk(tree) if tree else []:
            program.imports.update(_imported(part))
    return program


def _held_by(node: ast.AST) -> list[str]:
    """Return the names whose current values an assignment may store."""
    value = node.value if isinstance(node, ast.Assign) else None
    return [n.id for n in ast.walk(value) if isinstance(n, ast.Name)] if value else []


def _written_file(source: str) -> tuple[str, ast.Module | None]:
    """Parse a cell that writes a module; return the module's package and its tree."""
    first, _, rest = source.partition("\n")
    words = first.split()
    if len(words) < 2 or words[0] not in ("%%writefile", "%%file"):
        return "", None
    name = words[-1].removeprefix("./").removesuffix(".py")
    return name.partition("/")[0], parse_cell("\n" + rest)


def _statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements that run at the top level, also within `if` or `try`."""
    waiting = list(reversed(body))
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, (ast.If, ast.Try, ast.With, ast.For, ast.While)):
            inside = [*node.body, *getattr(node, "orelse", [])]
            inside += getattr(node, "finalbody", [])
            for handler in getattr(node, "handlers", []):
                inside += handler.body
            waiting += reversed(inside)


def _also_bound(node: ast.AST) -> list[str]:
    """Return the names that an annotated assignment or a tuple assignment defines."""
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    targets = node.targets if isinstance(node, ast.Assign) else []
    inside = [n for t in targets if isinstance(t, ast.Tuple) for n in t.elts]
    return [name.id for name in inside if isinstance(name, ast.Name)]


def _changed_by(node: ast.AST) -> list[str]:
    """Return the names whose attributes a statement sets: `A.f = g`, `setattr`."""
    targets = node.targets if isinstance(node, ast.Assign) else []
    changed = [target.value for target in targets if isinstance(target, ast.Attribute)]
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        if isinstance(call.func, ast.Name) and call.func.id == "setattr" and call.args:
            changed.append(call.args[0])
    return [base.id for base in changed if isinstance(base, ast.Name)]


def _segment(lines: list[str], node: ast.stmt) -> str:
    """Return the source lines of a statement; the first line is not indented."""
    own = lines[node.lineno - 1 : node.end_lineno]
    return "\n".join(own).strip()


def parse_cell(source: str) -> ast.Module | None:
    """Parse one cell; return None if it is not valid Python.

    Also return None for a cell that starts with an indent, although IPython would run
    it, because it is the second half of a split cell.
    """
    first = next((line for line in source.splitlines() if line.strip()), "")
    if first[:1].isspace() and not first.lstrip().startswith("%"):
        return None
    return read_cell(source)[1]


def names_in_text(source: str) -> list[str]:
    """Return the functions and classes that a cell defines, even in broken code."""
    return DEFINES.findall(source)


def read_cell(source: str) -> tuple[str, ast.Module | None]:
    """Return a cell as Python text, and its tree, or None if it is not Python.

    If IPython's transformation fails or would take too long, magics and shell commands
    become empty lines. Callers share the trees, so they must not change them.
    """
    return _read_short(source) if len(source) <= SHORT_CELL else _read(source)


def _read(source: str) -> tuple[str, ast.Module | None]:
    while (first := source.lstrip().partition("\n"))[0].startswith("%%"):
        if first[0].split()[0] not in RUN_THEIR_CELL:
            return source, None
        source = first[2]
    tree = _parsed(source)
    if tree is not None:
        return source, tree
    for text in (_transformed(source), _blanked(source)):
        tree = _parsed(text)
        if tree is not None:
            return text, tree
    return source, None


_read_short = lru_cache(READ_CELLS)(_read)


def _transformed(source: str) -> str:
    """Return a cell as IPython transforms it, or unchanged if this would be slow."""
    from IPython.core.inputtransformer2 import TransformerManager  # a slow import

    lines = [line.strip() for line in source.splitlines()]
    passes = sum(("%" in line) or ("!" in line) or ("?" in line) for line in lines)
    if len(source) * (1 + passes) > MOST_TO_TRANSFORM:
        return source
    try:
        return TransformerManager().transform_cell(source)
    except Exception:  # the student's text can cause any error in IPython
        return source


def _blanked(source: str) -> str:
    """Return a cell in which magics and shell commands are empty lines."""
    lines = source.splitlines()
    return "\n".join("" if one.lstrip()[:1] in ("%", "!") else one for one in lines)


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def defined_by(node: ast.AST) -> list[str]:
    """Return the names that a top-level statement defines."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def _imported(node: ast.AST) -> dict[str, str]:
    if isinstance(node, ast.Import):
        return {
            alias.asname or alias.name.partition(".")[0]: (
                alias.name if alias.asname else alias.name.partition(".")[0]
            )
            for alias in node.names
        }
    if isinstance(node, ast.ImportFrom):
        return {
            alias.asname or alias.name: f"{node.module or ''}.{alias.name}"
            for alias in node.names
        }
    return {}

"""Read a student's notebook as syntax: what it defines, imports and uses.

Nothing is executed. A cell that is no Python (a magic, a syntax error) is left out.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign


@dataclass
class Program:
    """The cells of a notebook as one program.

    Attributes:
        definitions: Top-level name to its last definition.
        sources: Top-level name to the source text of that definition.
        imports: Local name to the dotted name that it was imported from.
    """

    definitions: dict[str, Definition] = field(default_factory=dict)
    sources: dict[str, str] = field(default_factory=dict)
    imports: dict[str, str] = field(default_factory=dict)


def read_program(cells: Sequence[str]) -> Program:
    """Parse the code cells in their order; later definitions replace earlier ones."""
    program = Program()
    for source in cells:
        tree = parse_cell(source)
        for node in tree.body if tree else []:
            for name in defined_by(node):
                program.definitions[name] = node
                program.sources[name] = ast.get_source_segment(source, node) or ""
        for node in ast.walk(tree) if tree else []:
            program.imports.update(_imported(node))
    return program


def parse_cell(source: str) -> ast.Module | None:
    """Parse one cell, its magic and shell lines blanked out; None if that fails."""
    lines = source.splitlines()
    if lines and lines[0].lstrip().startswith("%%"):
        return None
    kept = ["" if line.lstrip()[:1] in ("%", "!") else line for line in lines]
    for text in (source, "\n".join(kept)):
        try:
            return ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
    return None


def defined_by(node: ast.AST) -> list[str]:
    """Return the names that a top-level statement defines."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return []


def banned_use(program: Program, name: str, banned: Sequence[str]) -> str | None:
    """Return the first of ``banned`` that ``name`` uses, directly or indirectly."""
    for used in _uses(program, name):
        for dotted in banned:
            if _is_banned(used, dotted, program):
                return dotted
    return None


def _is_banned(used: str, dotted: str, program: Program) -> bool:
    head, _, rest = used.partition(".")
    last = dotted.rsplit(".", 1)[-1]
    if head in program.imports:
        full = program.imports[head] + (f".{rest}" if rest else "")
        return full.rsplit(".", 1)[-1] == last and not full.startswith("transformer")
    if head == "self" or head in program.definitions:
        return False
    return used.rsplit(".", 1)[-1] == last


def _uses(program: Program, name: str) -> Iterator[str]:
    """Yield every dotted name used by ``name`` and by what it uses of the notebook."""
    waiting, seen = [name], {name}
    while waiting:
        node = program.definitions.get(waiting.pop())
        for part in ast.walk(node) if node is not None else []:
            dotted = _dotted(part)
            if dotted is None:
                continue
            yield dotted
            head = dotted.partition(".")[0]
            if head in program.definitions and head not in seen:
                seen.add(head)
                waiting.append(head)


def _dotted(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr}" if base else f"?.{node.attr}"
    return None


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

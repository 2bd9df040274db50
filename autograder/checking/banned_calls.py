"""Find uses of a built-in that would be the whole answer, even under another name.

This module reads only an answer's definition and the parts of the notebook that the
answer uses. Comments, docstrings and annotations do not count as uses, and the local
names of a function do not refer to definitions in other cells. The module can find a
name that is built by adding strings, but no other name that is built at run time.
Therefore, the checks also run the answer in a process without the built-in.
"""

import ast
import itertools
from collections.abc import Iterator, Sequence

from autograder.checking.built_ins import names_of
from autograder.checking.scopes import Place, walk
from autograder.checking.texts import dotted_name, names_and_code
from autograder.notebook_syntax import Program

ENDINGS = {"default", "forward", "__call__", "apply", "out", "__new__"}
HELPERS = {"generate_square_subsequent_mask"}  # a banned class's method, not the answer
KIT = "transformer"
DEEPEST = 20
MOST_NODES = 50_000  # of an answer and the code it uses; our answers have thousands


class Unreadable(ValueError):
    """Report that an answer is too large to read."""


def banned_use(program: Program, name: str, banned: Sequence[str]) -> str | None:
    """Return the first of `banned` that `name` uses, directly or indirectly.

    Raises:
        Unreadable: if there is too much code to read.
    """
    places = list(itertools.islice(_used_nodes(program, name), MOST_NODES + 1))
    if len(places) > MOST_NODES:
        raise Unreadable(f"{name} has more than {MOST_NODES} parts")
    nodes = [node for node, _ in places]
    aliases = _aliases(nodes)
    fetched, code = names_and_code(nodes)
    used = {
        (*_resolved(dotted, program, aliases), place.in_class)
        for dotted, place in ((dotted_name(node), place) for node, place in places)
        if dotted and not _is_local(dotted, place, program, aliases)
    }
    for dotted in banned:
        names = names_of(dotted)
        is_called = any(_is_banned(*one, dotted, program) for one in used)
        is_text = any(name in text for name in names for text in code)
        if is_called or is_text or names & fetched:
            return dotted
    return None


def _is_local(
    dotted: str, place: Place, program: Program, aliases: dict[str, str]
) -> bool:
    """Return whether a name is local to a function and not an alias or import."""
    known = dotted in aliases or dotted in program.imports  # for example after `f = f`
    return dotted in place.bound and not known


def _used_nodes(program: Program, name: str) -> Iterator[tuple[ast.AST, Place]]:
    """Yield the nodes of `name` and of everything in the notebook that it uses."""
    answer = program.definitions.get(name)
    outside = Place(in_class=isinstance(answer, ast.ClassDef))  # may be added later
    waiting, seen = [name], {name}
    walked: set[int] = set()  # because one statement may define many names
    while waiting:
        here = waiting.pop()
        for definition in program.all_of(here):
            if id(definition) in walked:
                continue
            walked.add(id(definition))
            for part, place in walk(definition, outside, HELPERS):
                yield part, place
                dotted = dotted_name(part) or ""
                if dotted.partition(".")[0] in place.bound:
                    continue
                for other in _leads_to(dotted, program) - seen:
                    seen.add(other)
                    waiting.append(other)


def _leads_to(used: str, program: Program) -> set[str]:
    """Return the definitions in the notebook to which a name refers.

    A definition may be in a cell, or in a file that one cell writes and another cell
    imports.
    """
    head, _, rest = used.partition(".")
    full = program.imports.get(head, "")
    found = {head}
    if full.partition(".")[0] in program.files:
        found |= {full.rpartition(".")[-1], rest.rpartition(".")[-1]}
    return found & program.definitions.keys()


def _aliases(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """Return the names that are aliases of dotted names, as `G` is after `G = F`."""
    found: dict[str, str] = {}
    for node in nodes:
        for name, value in _bindings(node):
            dotted = dotted_name(value)
            if dotted is not None and dotted != name:
                found[name] = dotted
    return found


def _bindings(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names that a node binds, each with its value."""
    if isinstance(node, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for target in targets:
            if isinstance(target, ast.Name) and node.value is not None:
                yield target.id, node.value
            elif isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                for one, value in zip(target.elts, node.value.elts, strict=False):
                    if isinstance(one, ast.Name):
                        yield one.id, value
    elif isinstance(node, ast.arguments):
        plain = [*node.posonlyargs, *node.args]
        defaults = zip(reversed(plain), reversed(node.defaults), strict=False)
        keyword = zip(node.kwonlyargs, node.kw_defaults, strict=False)
        for argument, default in (*defaults, *keyword):
            if default is not None:
                yield argument.arg, default


def _is_banned(
    full: str, is_known: bool, in_class: bool, banned: str, program: Program
) -> bool:
    parts = full.split(".")
    while len(parts) > 1 and parts[-1] in ENDINGS:
        parts.pop()
    if (parts[0] == "self" and in_class) or (parts[0] == KIT and len(parts) <= 3):
        return False
    if parts[0] in program.definitions and not is_known:
        return False
    is_torch = is_known or parts[0] in ("torch", "nn", "F")
    names = names_of(banned) if is_torch else {banned.rpartition(".")[-1]}
    return parts[-1] in names


def _resolved(used: str, program: Program, aliases: dict[str, str]) -> tuple[str, bool]:
    """Return the full form of a name, and whether it refers to an import."""
    for _ in range(DEEPEST):
        head, dot, rest = used.partition(".")
        if head in aliases:
            used = aliases[head] + dot + rest
        elif head in program.imports and head not in program.definitions:
            return program.imports[head] + dot + rest, True
        else:
            break
    return used, False

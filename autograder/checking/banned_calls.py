"""Find uses of a built-in where it would be the whole answer, also under other names.

Only what an answer uses is looked at: its own definition, and what that uses of the
notebook. A comment, a text for the reader and an annotation are no uses, and a name
that a function binds itself is not that of a cell. A name that is put together at run
time, other than by adding texts, is not found.
"""

import ast
from collections.abc import Iterator, Sequence

from autograder.checking.scopes import Place, walk
from autograder.notebook_syntax import Program

OTHER_NAMES = {
    "scaled_dot_product_attention": (
        "_scaled_dot_product_attention_math",
        "_scaled_dot_product_flash_attention",
        "_scaled_dot_product_flash_attention_for_cpu",
        "_scaled_dot_product_efficient_attention",
        "_scaled_dot_product_cudnn_attention",
        "flex_attention",
    ),
    "MultiheadAttention": (
        "multi_head_attention_forward",
        "_native_multi_head_attention",
    ),
    "TransformerEncoderLayer": ("_transformer_encoder_layer_fwd",),
    "Transformer": ("_transformer_encoder_layer_fwd",),
    "LayerNorm": ("layer_norm", "native_layer_norm"),
    "layer_norm": ("LayerNorm", "native_layer_norm"),
}
ENDINGS = {"default", "forward", "__call__", "apply", "out", "__new__"}
RUN_TEXT = {"eval", "exec", "compile", "run_cell", "run_line_magic"}
BY_NAME = {"getattr", "attrgetter", "methodcaller", "__getattribute__", "__getattr__"}
TABLES = {"vars", "globals", "locals", "__dict__", "modules"}
HELPERS = {"generate_square_subsequent_mask"}  # of a class, but not its answer
KIT = "transformer"
DEEPEST = 20


def banned_use(program: Program, name: str, banned: Sequence[str]) -> str | None:
    """Return the first of `banned` that `name` uses, directly or indirectly."""
    places = list(_used_nodes(program, name))
    nodes = [node for node, _ in places]
    aliases = _aliases(nodes)
    fetched, code = _texts(nodes)
    used = {
        (*_resolved(dotted, program, aliases), place.in_class)
        for dotted, place in ((_dotted(node), place) for node, place in places)
        if dotted and not _is_local(dotted, place, program, aliases)
    }
    for dotted in banned:
        last = dotted.rsplit(".", 1)[-1]
        names = {last, *OTHER_NAMES.get(last, ())}
        is_called = any(_is_banned(*one, last, program) for one in used)
        is_run = any(name in text for name in names for text in code)
        if is_called or is_run or names & fetched:
            return dotted
    return None


def _is_local(
    dotted: str, place: Place, program: Program, aliases: dict[str, str]
) -> bool:
    """Say whether a name is a function's own, and stands for nothing that is known."""
    known = dotted in aliases or dotted in program.imports  # as after `f = f`
    return dotted in place.bound and not known


def _used_nodes(program: Program, name: str) -> Iterator[tuple[ast.AST, Place]]:
    """Yield the syntax of `name` and of all that it uses of the notebook."""
    answer = program.definitions.get(name)
    outside = Place(in_class=isinstance(answer, ast.ClassDef))  # may be put in later
    waiting, seen = [name], {name}
    while waiting:
        here = waiting.pop()
        for definition in program.all_of(here):
            for part, place in walk(definition, outside, HELPERS):
                yield part, place
                dotted = _dotted(part) or ""
                if dotted.partition(".")[0] in place.bound:
                    continue
                for other in _leads_to(dotted, program) - seen:
                    seen.add(other)
                    waiting.append(other)


def _leads_to(used: str, program: Program) -> set[str]:
    """Return the notebook's definitions that a name leads to.

    That is one of the cells, or of a file that a cell writes and another imports.
    """
    head, _, rest = used.partition(".")
    full = program.imports.get(head, "")
    found = {head}
    if full.partition(".")[0] in program.files:
        found |= {full.rpartition(".")[-1], rest.rpartition(".")[-1]}
    return found & program.definitions.keys()


def _aliases(nodes: Sequence[ast.AST]) -> dict[str, str]:
    """Return the plain names that stand for dotted ones, as after `G = F`."""
    found: dict[str, str] = {}
    for node in nodes:
        for name, value in _bindings(node):
            dotted = _dotted(value)
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
    full: str, is_known: bool, in_class: bool, last: str, program: Program
) -> bool:
    parts = full.split(".")
    while len(parts) > 1 and parts[-1] in ENDINGS:
        parts.pop()
    if (parts[0] == "self" and in_class) or (parts[0] == KIT and len(parts) <= 3):
        return False
    if parts[0] in program.definitions and not is_known:
        return False
    is_torch = is_known or parts[0] in ("torch", "nn", "F")
    names = {last, *OTHER_NAMES.get(last, ())} if is_torch else {last}
    return parts[-1] in names


def _resolved(used: str, program: Program, aliases: dict[str, str]) -> tuple[str, bool]:
    """Return a name in full, and whether it leads to an import."""
    for _ in range(DEEPEST):
        head, dot, rest = used.partition(".")
        if head in aliases:
            used = aliases[head] + dot + rest
        elif head in program.imports and head not in program.definitions:
            return program.imports[head] + dot + rest, True
        else:
            break
    return used, False


def _texts(nodes: Sequence[ast.AST]) -> tuple[set[str], list[str]]:
    """Return the names by which something may be fetched, and the code that is run.

    Names are the texts in a call such as `getattr`; and where such a call has none,
    all texts that are a name.
    """
    names: set[str] = set()
    code: list[str] = []
    is_by_name = False
    for node in nodes:
        inside = [text for part in ast.walk(node) for text in _text(part)]
        if _runs_text(node):
            code += inside
        elif _fetches(node):
            names.update(inside)
            is_by_name |= not inside
    if is_by_name:
        names.update(text for node in nodes for text in _text(node))
    return {name.rpartition(".")[-1] for name in names}, code


def _runs_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and _last(node.func) in RUN_TEXT


def _fetches(node: ast.AST) -> bool:
    """Say whether a node gets something by its name in a text, of others than self."""
    if isinstance(node, ast.Call):
        owner = (_dotted(node.args[0]) or "") if node.args else ""
        is_own = owner.partition(".")[0] == "self"
        return _last(node.func) in BY_NAME and not is_own
    if isinstance(node, ast.Subscript):
        table = node.value.func if isinstance(node.value, ast.Call) else node.value
        return _last(table) in TABLES
    return False


def _last(node: ast.AST) -> str:
    return (_dotted(node) or "").rpartition(".")[-1]


def _text(node: ast.AST) -> list[str]:
    """Return the text that an expression of constant texts gives, if it is one."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return [left[0] + right[0]] if left and right else []
    if isinstance(node, ast.JoinedStr):
        return ["".join(text for value in node.values for text in _text(value))]
    if isinstance(node, ast.FormattedValue):
        return _text(node.value)
    return []


def _dotted(node: ast.AST) -> str | None:
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        base = _dotted(node.value)
        return f"{base}.{node.attr}" if base else f"?.{node.attr}"
    return None

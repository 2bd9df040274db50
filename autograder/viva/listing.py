"""Print a student's definitions without comments, and make changed copies of them."""

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from nbformat import NotebookNode

from autograder.notebook_syntax import defined_by, parse_cell
from autograder.proof.mutants import mechanical_changes, mutants_by, replaced

DEFINITIONS = (ast.FunctionDef, ast.ClassDef)
NOT_ASKED = ("def ", "class ", "raise ", "@")
LONG_NUMBER = re.compile(r"(?<![\w.'\"])([1-9])(0{5,})\.0(?![\w.'\"])")
SHORT_EXPONENT = re.compile(r"(?<=\de-)0(?=\d\b)")
MINUS_ZERO = re.compile(r"-0(?![\w.])")  # such as in `x[:-0]`, which nobody writes
AXIS_WORDS = ("dim", "axis", "start_dim")
AXIS_CALLS = {
    *("softmax", "log_softmax", "sum", "mean", "var", "cat", "stack", "chunk", "size"),
    *("unsqueeze", "squeeze", "cumsum", "logsumexp", "flatten", "unbind"),
}
OTHER_AXIS = {-1: -2, -2: -1, 0: 1, 1: 2, 2: 1, 3: 2}
OPPOSITES = {"min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum"}
DROPPED = ("clamp", "clamp_min", "contiguous", "nan_to_num", "sqrt", "transpose")
MASK_CONSTANT = re.compile(
    r"-?float\('-?inf'\)|-(torch|math)\.inf|torch\.finfo\([\w.]+\)\.min|-\d+e\d+"
)
EXPONENTS = {0.5: 1, -0.5: -1, -1.5: -0.5}
SMALL = 1e-4  # a larger number does not protect against a division by 0
MOST_CHARACTERS, MOST_CHANGES = 20_000, 60  # limits for one cell
FEW = 3  # if a function has at most this many changed lines, also make weak changes


@dataclass(frozen=True)
class ChangedLine:
    """Hold a copy of a listing in which one line is changed.

    Attributes:
        number: the number of the line, counted from 1.
        old: the original line.
        new: the changed line.
        change: the changed part of the line, before and after.
        source: the whole copy.
        is_weak: whether a student could predict the effect without much understanding.
    """

    number: int
    old: str
    new: str
    change: str
    source: str
    is_weak: bool


def listing_of(cell: str, name: str) -> str:
    """Return a cell's definitions as one text, or "" if `name` is not among them.

    Comments, docstrings and layout are left out, so the text depends only on the code.
    """
    tree = parse_cell(cell) if len(cell) <= MOST_CHARACTERS else None
    body = tree.body if tree else []
    named = [node for node in body if name in defined_by(node)]
    kept = [node for node in body if node in named or isinstance(node, DEFINITIONS)]
    return _as_text(ast.Module(kept, [])) if named else ""


def given_lines(released: NotebookNode) -> frozenset[str]:
    """Return the lines of code that students were given, without indentation."""
    cells = [cell.source for cell in released.cells if cell.cell_type == "code"]
    texts = [_as_text(tree) for cell in cells if (tree := parse_cell(cell))]
    return frozenset(line.strip() for text in texts for line in text.splitlines())


def _as_text(tree: ast.Module) -> str:
    copy = ast.parse(ast.unparse(tree))  # because other callers share the parsed cell
    for node in ast.walk(copy):
        if isinstance(node, DEFINITIONS) and ast.get_docstring(node, clean=False):
            node.body = node.body[1:] or [ast.Pass()]
    lines = ast.unparse(copy).splitlines()
    return "\n".join(shortened(line) for line in lines if line.strip())


def shortened(text: str) -> str:
    """Write long numbers in short form: -1e9 for -1000000000.0."""
    short = LONG_NUMBER.sub(lambda match: f"{match[1]}e{len(match[2])}", text)
    return SHORT_EXPONENT.sub("", short)


def changed_lines(listing: str, given: Collection[str]) -> list[ChangedLine]:
    """Return copies of a listing, each with one change in a line by the student.

    Args:
        listing: the student's definitions.
        given: the lines that students were given.
    """
    before = listing.splitlines()
    own = [
        number
        for number, line in enumerate(before, 1)
        if line.strip() not in given and not line.lstrip().startswith(NOT_ASKED)
    ]
    found: dict[str, ChangedLine] = {}
    for changes in (instructive_changes, mechanical_changes):
        if len(found) >= FEW:
            break
        for mutant in mutants_by(changes, listing, own):
            source = _as_text(ast.parse(mutant.source))
            pairs = enumerate(zip(before, source.splitlines(), strict=False), 1)
            different = [(n, a.strip(), b.strip()) for n, (a, b) in pairs if a != b]
            is_one = len(different) == 1 and source.count("\n") == listing.count("\n")
            if is_one and not MINUS_ZERO.search(different[0][2]):
                is_weak = changes is mechanical_changes
                line = ChangedLine(*different[0], mutant.change, source, is_weak)
                found.setdefault(source, line)
    return list(found.values())[:MOST_CHANGES]


def instructive_changes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield changes of a node whose effects a student should be able to predict."""
    text = shortened(ast.unparse(node)) if isinstance(node, ast.expr) else ""
    if MASK_CONSTANT.fullmatch(text):
        yield ast.Constant(0.0)
        if "inf" not in text:
            yield ast.parse("float('-inf')", mode="eval").body
    elif isinstance(node, ast.keyword):
        if node.arg == "keepdim":
            yield ast.keyword(node.arg, ast.Constant(not _literal(node.value)))
        for axis in _other_axis(node.value) if node.arg in AXIS_WORDS else ():
            yield ast.keyword(node.arg, axis)
    elif isinstance(node, ast.Compare):
        if isinstance(node.ops[0], ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            yield from mechanical_changes(node)
    elif isinstance(node, ast.BinOp):
        number = _literal(node.right)
        is_small = isinstance(number, float) and 0 < number < SMALL
        if isinstance(node.op, ast.Pow) and number in EXPONENTS:
            yield replaced(node, right=ast.Constant(EXPONENTS[number]))
        elif (isinstance(node.op, ast.Div) and _literal(node.left) is None) or (
            isinstance(node.op, ast.Add)
            and (is_small or ast.unparse(node.right) == "eps")
        ):
            yield node.left
    elif isinstance(node, ast.Subscript) and text.endswith(("shape[-1]", "shape[-2]")):
        for axis in _other_axis(node.slice):
            yield replaced(node, slice=axis)
    elif isinstance(node, ast.Constant) and isinstance(node.value, str):
        start, arrow, letters = node.value.rpartition("->")  # the equation of einsum
        if arrow and len(letters.strip(". ")) > 1:
            yield ast.Constant(start + arrow + letters[:-2] + letters[:-3:-1])
    elif isinstance(node, ast.Call):
        key = "attr" if isinstance(node.func, ast.Attribute) else "id"
        name = getattr(node.func, key, "")
        if name in DROPPED:
            yield from mechanical_changes(node)
        elif name in OPPOSITES:
            yield replaced(node, func=replaced(node.func, **{key: OPPOSITES[name]}))
        elif name in AXIS_CALLS and node.args and not text.endswith(".size(0)"):
            for axis in _other_axis(node.args[-1]):
                yield replaced(node, args=[*node.args[:-1], axis])


def _other_axis(node: ast.expr) -> Iterator[ast.expr]:
    axis = _literal(node)
    if type(axis) is int and axis in OTHER_AXIS:
        yield ast.Constant(OTHER_AXIS[axis])


def _literal(node: ast.expr) -> object:
    try:
        value = ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError):
        return None
    return value if isinstance(value, int | float) else None

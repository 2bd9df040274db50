"""Explain the effect of a changed line with the values of the changed part.

The sandbox runs the student's code again and records the values of the part. The part
is the smallest calculation that contains the change. For example, `scores / 2` is the
part if the line contained `scores * 2` before. The inputs of a part are the names and
calculations in it, here `scores`.
"""

import ast
import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autograder.proof.mutants import Replace, nth_node
from autograder.viva.effects import (
    SHOWN_NUMBERS,
    Result,
    agree,
    largest_difference,
    shapes_of,
    shown,
    shown_shapes,
)
from autograder.viva.listing import ChangedLine, shortened

MODULES = {"F", "float", "math", "nn", "np", "torch"}
NO_VALUES = (ast.Attribute, ast.Lambda, ast.Slice, ast.Starred)
MOST_INPUTS = 3
NEVER = "0"  # how often the part was executed, as `run_inside` reports it


@dataclass(frozen=True)
class Part:
    """Hold the changed part of a line.

    Attributes:
        before: the code of the part before the change.
        after: the code of the part after the change.
        inputs: the code of each input.
        sources: copies of the listing that record the values of `before`, of each
            input, and of `after`.
    """

    before: str
    after: str
    inputs: tuple[str, ...]
    sources: tuple[str, ...]


def part_of(listing: str, line: ChangedLine) -> Part | None:
    """Return the changed part of a line, or None if it has no value."""
    old, new = ast.parse(listing), ast.parse(line.source)
    pair = _changed_pair(old, new)
    if pair is None:
        return None
    before, after = pair
    inputs = {ast.unparse(one): one for one in _inputs(before)}
    names = tuple(inputs)[:MOST_INPUTS]
    recorded = [before, *(inputs[name] for name in names)]
    sources = [_recording(old, one) for one in recorded]
    sources.append(_recording(new, after))
    before_text, after_text, *texts = (
        shortened(one) for one in (ast.unparse(before), ast.unparse(after), *names)
    )
    return Part(before_text, after_text, tuple(texts), tuple(sources))


def _changed_pair(old: ast.AST, new: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """Return the smallest differing parts that have a value, before and after."""
    if type(old) is type(new):
        children = [list(ast.iter_child_nodes(one)) for one in (old, new)]
        if len(children[0]) == len(children[1]):
            pairs = zip(*children, strict=True)
            different = [pair for pair in pairs if not _is_same(*pair)]
            inner = _changed_pair(*different[0]) if len(different) == 1 else None
            if inner is not None:
                return inner
    if isinstance(old, ast.expr) and isinstance(new, ast.expr) and _has_value(old):
        return old, new
    return None


def _is_same(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) == ast.dump(other)


def _has_value(node: ast.expr) -> bool:
    """Return whether the value of a part is informative, unlike that of `torch.sum`."""
    names = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)}
    has_slice = isinstance(node, ast.Tuple) and any(
        isinstance(one, ast.Slice) for one in node.elts
    )
    return bool(names - MODULES) and not has_slice and not isinstance(node, NO_VALUES)


def _inputs(node: ast.expr) -> Iterator[ast.expr]:
    """Yield the parts of a calculation from which its value is computed."""
    for child in ast.iter_child_nodes(node):
        inner = child.value if isinstance(child, ast.keyword | ast.Attribute) else child
        is_called = isinstance(node, ast.Call) and child is node.func
        is_function = is_called and isinstance(child, ast.Name)
        if isinstance(inner, ast.expr) and not is_function and _has_value(inner):
            yield inner


def _recording(tree: ast.Module, node: ast.expr) -> str:
    """Return code in which the value of a part is passed to `recorded__`.

    `run_inside` defines `recorded__`.
    """
    position = next(at for at, one in enumerate(ast.walk(tree)) if one is node)
    new = copy.deepcopy(tree)
    call = ast.Call(ast.Name("recorded__", ast.Load()), [node], [])
    return ast.unparse(Replace(nth_node(new, position), call).visit(new))


def cause_of(
    line: ChangedLine,
    part: Part | None,
    values: Sequence[Sequence[Result] | None],
    inputs: str,
    changed: str,
) -> str:
    """Explain to the examiner, in English, how a change affects a part's values.

    Args:
        line: the changed line.
        part: the changed part of the line.
        values: for each source of the part, the recorded value for each input on the
            sheet.
        inputs: the letters of all inputs, with a space for an input that is not asked
            about.
        changed: the letters of the inputs whose results change.
    """
    if part is None or None in (values[0], values[-1]):
        a, b = map(shortened, line.change.split(" -> ", 1))
        return f"The change turns `{a}` into `{b}`."
    told = [f"The change turns `{part.before}` into `{part.after}`."]
    for at, letter in enumerate(inputs):
        before, *given, after = (one[at] if one else "" for one in values)
        effect = _effect(before, after, letter in changed)
        if letter != " " and effect:
            known = [
                f"`{text}` {_shown(value)}"
                for text, value in zip(part.inputs, given, strict=True)
                if not isinstance(value, str)
            ]
            because = f"{' and '.join(known)}, so " if known else ""
            told.append(f"{letter}: {because}{effect}.")
    return " ".join(told)


def _effect(before: Result, after: Result, has_changed: bool) -> str:
    """Describe the effect of a change on a part's value, or return "" if unknown."""
    if isinstance(before, str):
        return "this part does not run" if before == NEVER else ""
    if isinstance(after, str):
        is_error = after == NEVER and has_changed
        words = f"this part {_shown(before)} before, and raises an error after"
        return words if is_error else ""
    if agree(before, after, 0.0):
        return "" if has_changed else "the value of this part does not change"
    text = f"this part {_shown(before)} before and {_shown(after)} after"
    if agree(before, after, 1e-5):
        text = f"this part changes by at most {largest_difference(before, after):.1g}"
    elif shapes_of(before) == shapes_of(after) and _is_large(before):
        text = "the numbers of this part change"
    return text if has_changed else f"{text}, but the result is the same"


def _shown(result: Result) -> str:
    if _is_large(result):
        return f"has the shape {shown_shapes(result)}"
    return f"is {shown(result)}"


def _is_large(result: Result) -> bool:
    sizes = [one.numel() for one in result if not isinstance(one, str)]
    return sum(sizes) > SHOWN_NUMBERS

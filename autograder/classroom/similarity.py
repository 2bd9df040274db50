"""Compare the answers of a class as syntax trees, whatever their names and comments.

An answer becomes a sequence of tokens: the nodes of its tree in order, with every name
of the student's own replaced by a number, and without texts, annotations and the
statements that were handed out. Two sequences are compared by RapidFuzz (the share of
tokens in common, in order). Much of it is the exercise's doing: what the class's pairs
have in common anyway, their median, is taken off.
"""

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median
from typing import TypeGuard

from rapidfuzz.distance import Indel

from autograder.notebook_syntax import parse_cell
from autograder.repair.slots import top_names

FEWEST_TOKENS = 40  # fewer say nothing: there are not many ways to write them
PLAIN = set(dir(builtins)) | {"self", "torch", "nn", "F", "math", "np", "Tensor"}
MAX_TOKENS = 20_000  # of an answer: a pair of longer ones takes minutes to compare
CHARACTERS = 0x10FF00  # one for each kind of token
Tokens = dict[str, list[str]]


@dataclass(frozen=True)
class Pair:
    """Two students whose answers agree.

    Attributes:
        students: the two.
        beyond: the share of agreement beyond the class's, 0 to 1.
        agreement: the share of tokens that they have in common, 0 to 1.
        usual: the same share of the class's middle pair.
        exercises: the exercises that agree as much as `beyond` says or more.
    """

    students: tuple[str, str]
    beyond: float
    agreement: float
    usual: float
    exercises: tuple[str, ...]


@dataclass(frozen=True)
class _Agreement:
    """How much two students' answers to one exercise agree, as in `Pair`."""

    exercise: str
    beyond: float
    agreement: float
    usual: float
    tokens: int


def similar_pairs(answers: dict[str, Tokens], least: float) -> list[Pair]:
    """Return the pairs of students who agree `least` or more, the closest first.

    Args:
        answers: student to exercise to the tokens of the answer.
        least: the share of agreement beyond the class's, 0 to 1.
    """
    texts = _encoded(answers)
    found: dict[tuple[str, str], list[_Agreement]] = {}
    for exercise, of in texts.items():
        shares = {
            pair: Indel.normalized_similarity(of[pair[0]], of[pair[1]])
            for pair in combinations(sorted(of), 2)
        }
        usual = median(shares.values()) if len(shares) > 2 else 0.0
        for pair, share in shares.items():
            beyond = max(0.0, (share - usual) / (1 - usual)) if usual < 1 else 0.0
            size = len(of[pair[0]]) + len(of[pair[1]])
            own = _Agreement(exercise, beyond, share, usual, size)
            found.setdefault(pair, []).append(own)
    pairs = [_pair(students, exercises) for students, exercises in found.items()]
    close = [pair for pair in pairs if pair.beyond >= least]
    return sorted(close, key=lambda pair: (-pair.beyond, pair.students))


def _pair(students: tuple[str, str], exercises: list[_Agreement]) -> Pair:
    """Put the exercises of a pair together, each by its number of tokens."""
    total = sum(one.tokens for one in exercises)
    beyond = sum(one.beyond * one.tokens for one in exercises) / total
    return Pair(
        students=students,
        beyond=beyond,
        agreement=sum(one.agreement * one.tokens for one in exercises) / total,
        usual=sum(one.usual * one.tokens for one in exercises) / total,
        exercises=tuple(one.exercise for one in exercises if one.beyond >= beyond),
    )


def _encoded(answers: dict[str, Tokens]) -> dict[str, dict[str, str]]:
    """Return exercise to student to tokens, a character each; short ones left out."""
    codes: dict[str, int] = {}
    found: dict[str, dict[str, str]] = {}
    for student, own in answers.items():
        for exercise, tokens in own.items():
            if len(tokens) >= FEWEST_TOKENS:
                numbers = (codes.setdefault(one, len(codes)) for one in tokens)
                text = "".join(chr(0x100 + n % CHARACTERS) for n in numbers)
                found.setdefault(exercise, {})[student] = text
    return found


def tokens_of(source: str, given: str = "") -> list[str]:
    """Return the tokens of an answer, without what was handed out.

    What cannot be parsed, or is nested too deeply to be walked, has none.
    """
    try:
        return _tokens_of(source, given)
    except RecursionError:
        return []


def _tokens_of(source: str, given: str) -> list[str]:
    tree, skeleton = parse_cell(source), parse_cell(given)
    if tree is None:
        return []
    known = {ast.dump(node) for node in _statements(skeleton)} if skeleton else set()
    keep = PLAIN | set(top_names(given)) | set(top_names(source))
    names = {name: f"v{n}" for n, name in enumerate(_own_names(tree, keep))}
    return list(_tokens(tree.body, known, names))


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    """Yield every statement that holds no other one: signatures go by their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            yield node


def _own_names(tree: ast.Module, keep: set[str]) -> list[str]:
    """Return the names that the student chose, in the order in which they appear."""
    bound: dict[str, None] = {}
    used: dict[str, None] = {}
    for node in _in_order(tree):
        if isinstance(node, ast.Name):
            used[node.id] = None
            if isinstance(node.ctx, ast.Store):
                bound[node.id] = None
        elif isinstance(node, ast.arg):
            used[node.arg] = bound[node.arg] = None
        elif isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            used[node.name] = bound[node.name] = None
        elif _is_of_self(node):
            used[f"self.{node.attr}"] = bound[f"self.{node.attr}"] = None
    return [name for name in used if name in bound and name not in keep]


def _is_of_self(node: ast.AST) -> TypeGuard[ast.Attribute]:
    base = node.value if isinstance(node, ast.Attribute) else None
    return isinstance(base, ast.Name) and base.id == "self"


def _in_order(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a tree's nodes as they are written; annotations and texts are left out."""
    yield node
    for name, value in ast.iter_fields(node):
        if name in ("annotation", "returns", "ctx", "type_comment"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_text(child):
                yield from _in_order(child)


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _tokens(
    body: Sequence[ast.stmt], known: set[str], names: dict[str, str]
) -> Iterator[str]:
    """Yield the tokens of statements but for those that are known."""
    for statement in body:
        if ast.dump(statement) in known or _is_text(statement):
            continue
        inner = getattr(statement, "body", None)
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)) and inner:
            yield type(statement).__name__
            yield from _tokens(inner, known, names)
            continue
        for node in _in_order(statement):
            yield _token(node, names)


def _token(node: ast.AST, names: dict[str, str]) -> str:
    kind = type(node).__name__
    if isinstance(node, ast.Name):
        return f"{kind} {names.get(node.id, node.id)}"
    if isinstance(node, ast.arg):
        return f"{kind} {names.get(node.arg, node.arg)}"
    if _is_of_self(node):
        return f"{kind} {names.get(f'self.{node.attr}', node.attr)}"
    if isinstance(node, ast.Attribute):
        return f"{kind} {node.attr}"
    if isinstance(node, ast.keyword):
        return f"{kind} {node.arg}"
    if isinstance(node, ast.Constant):
        return f"{kind} {node.value!r}"
    return kind

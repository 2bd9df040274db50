"""Compare the answers of a class as syntax trees, ignoring names and comments.

Each answer is converted to a sequence of tokens, which are the nodes of its syntax tree
in order. A number replaces each name that the student chose. Strings, annotations and
the statements that students were given are left out. RapidFuzz compares two sequences
by the share of tokens that they have in common in the same order. The exercise itself
causes much of this agreement, so the median agreement of all pairs in the class is
subtracted. `is_linked` is True if the agreement of two submissions is too high to be
explained by chance.
"""

import ast
import builtins
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeGuard

import numpy as np
from rapidfuzz.distance import Indel
from rapidfuzz.process import cdist

from autograder.notebook_syntax import parse_cell
from autograder.repair.slots import top_names

FEWEST_TOKENS = 15  # an answer with fewer tokens is not compared
FEWEST_IN_ALL = 40  # tokens of a whole submission
MOST_COUNTED = 40  # tokens of one answer, so that long answers do not dominate
SMALL = 8  # a class with fewer students does not show how common an answer is
RARE = 0.05  # share of the class; rarer answers do not count as stronger evidence
SHUFFLES = 20
CHANCE = 0.1  # expected chance pairs in a class, below which a pair is linked
CHANCE_OF_FOUND = 1 / 200  # the same, as a share of the pairs found
NEARLY = 0.02  # agreements that differ by less count as equal
PLAIN = set(dir(builtins)) | {"self", "torch", "nn", "F", "math", "np", "Tensor"}
MAX_TOKENS = 20_000  # of one answer; longer ones take minutes to compare
CHARACTERS = 0x10FF00  # one character for each kind of token
Tokens = dict[str, list[str]]


@dataclass(frozen=True)
class Pair:
    """Hold two students and the agreement of their answers.

    Attributes:
        students: the two students.
        beyond: how far the agreement exceeds the usual agreement, 0 to 1.
        agreement: the share of tokens in common, 0 to 1.
        usual: the median of `agreement` over all pairs in the class.
        exercises: the exercises in which the agreement reaches the required level.
        by_chance: the expected number of pairs in a shuffled class that agree at least
            as strongly.
        is_linked: whether the agreement is too high to be explained by chance.
    """

    students: tuple[str, str]
    beyond: float
    agreement: float
    usual: float
    exercises: tuple[str, ...]
    by_chance: float
    is_linked: bool


class Encoder:
    """Encode each kind of token as one character, which is always the same."""

    def __init__(self) -> None:
        """Start with an empty code."""
        self._codes: dict[str, int] = {}

    def text(self, tokens: Sequence[str]) -> str:
        """Return a text with one character for each token."""
        numbers = (self._codes.setdefault(one, len(self._codes)) for one in tokens)
        return "".join(chr(0x100 + number % CHARACTERS) for number in numbers)


class ComparedClass:
    """Compare the submissions of a class in pairs."""

    def __init__(self, answers: dict[str, Tokens], least: float) -> None:
        """Compare each pair of students in each exercise that both answered.

        Args:
            answers: for each student and exercise, the tokens of the answer.
            least: how far an agreement must exceed the usual agreement to count, 0 to
                1.
        """
        self.students = sorted(answers)
        self.least = least
        self.encoder = Encoder()
        names = dict.fromkeys(name for own in answers.values() for name in own)
        texts = {
            name: [
                self.encoder.text(answers[student].get(name, []))
                for student in self.students
            ]
            for name in names
        }
        self.exercises = {
            name: compared(own)
            for name, own in texts.items()
            if any(len(text) >= FEWEST_TOKENS for text in own)
        }

    @cached_property
    def _found(self) -> tuple[np.ndarray, np.ndarray]:
        return self._agreements(list(self.exercises.values()))

    @property
    def beyond(self) -> np.ndarray:
        """Return how far each pair's agreement over all exercises exceeds the usual."""
        return self._found[0]

    @property
    def strength(self) -> np.ndarray:
        """Return how rare the answers are on which each pair agrees."""
        return self._found[1]

    @cached_property
    def _strengths(self) -> np.ndarray:
        """Return the strengths of all pairs in the class, the weakest first."""
        return np.sort(self.strength[np.triu_indices(len(self.students), 1)])

    def _agreements(
        self, exercises: "Sequence[ComparedExercise]"
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return each pair's agreement beyond the usual agreement, and its rarity.

        The agreement is -1 for pairs with too few tokens to compare.

        The weight of an exercise is its number of tokens times one minus the usual
        agreement. An exercise that everybody solves in the same way therefore has no
        weight.
        """
        size = len(self.students), len(self.students)
        above, room, tokens, strength = (np.zeros(size) for _ in range(4))
        for one in exercises:
            weight = np.minimum(one.tokens, 2 * MOST_COUNTED) * (1 - one.usual)
            above += one.beyond * weight
            room += weight
            tokens += one.tokens
            strength += one.rarity * one.beyond * (one.beyond >= self.least)
        found = np.divide(above, room, out=np.zeros(size), where=room > 0)
        found[tokens < 2 * FEWEST_IN_ALL] = -1
        np.fill_diagonal(found, -1)
        return found, strength * (found >= self.least)

    @cached_property
    def by_chance(self) -> np.ndarray:
        """Return the strengths of all pairs in shuffled classes, the weakest first.

        In a shuffled class, each student's answers come from several other students.
        """
        generator = np.random.default_rng(0)
        found = []
        for _ in range(SHUFFLES if self.is_large else 0):
            orders = (generator.permutation(len(self.students)) for _ in self.exercises)
            pairs = zip(self.exercises.values(), orders, strict=True)
            strength = self._agreements([one.reordered(order) for one, order in pairs])
            upper = np.triu(strength[1], 1)
            found.append(upper[upper > 0])
        return np.sort(np.concatenate(found)) if found else np.zeros(0)

    @property
    def is_large(self) -> bool:
        """Return whether the class is large enough to judge how rare an answer is."""
        return len(self.students) >= SMALL

    def pairs(self) -> list[Pair]:
        """Return the pairs whose `beyond` is at least `least`, the closest first."""
        rows, columns = np.nonzero(np.triu(self.beyond >= self.least, 1))
        found = [self._pair(int(a), int(b)) for a, b in zip(rows, columns, strict=True)]
        return sorted(found, key=lambda pair: (-pair.beyond, pair.students))

    def nearest(self, student: str) -> Pair | None:
        """Return a student's closest pair, or None if there is no agreement."""
        if student not in self.students or not self.exercises:
            return None
        row = self.students.index(student)
        pair = self._pair(row, int(self.beyond[row].argmax()))
        return pair if pair.beyond > 0 else None

    def _pair(self, one: int, other: int) -> Pair:
        """Average the agreement over a pair's exercises, weighted by their tokens."""
        total = agreement = usual = 0.0
        names = []
        for name, own in self.exercises.items():
            tokens = float(own.tokens[one, other])
            total += tokens
            agreement += tokens * float(max(own.shares[one, other], 0))
            usual += tokens * own.usual
            if tokens and own.beyond[one, other] >= self.least:
                names.append(name)
        strength = self.strength[one, other] - NEARLY
        by_chance = _as_strong(self.by_chance, strength) / SHUFFLES
        found = _as_strong(self._strengths, strength)
        return Pair(
            students=(self.students[one], self.students[other]),
            beyond=float(self.beyond[one, other]),
            agreement=agreement / total if total else 0.0,
            usual=usual / total if total else 0.0,
            exercises=tuple(names),
            by_chance=by_chance,
            is_linked=by_chance < max(CHANCE, found * CHANCE_OF_FOUND),
        )


def _as_strong(strengths: np.ndarray, least: float) -> int:
    """Count how many numbers in a sorted array are at least `least`."""
    return int(strengths.size - np.searchsorted(strengths, least))


@dataclass(frozen=True)
class ComparedExercise:
    """Hold the agreement of all pairs of answers to one exercise.

    Attributes:
        shares: the agreement of each pair, 0 to 1, or -1 if one of them has no answer.
        tokens: the number of tokens of each pair, or 0 if one of them has no answer.
        usual: the median agreement, or 0 if there are fewer than three pairs.
        beyond: how far each pair's agreement exceeds the usual one, 0 to 1.
        rarity: minus the logarithm of the share of the class that agrees with one
            student of the pair at least as much as the other student does.
    """

    shares: np.ndarray
    tokens: np.ndarray
    usual: float
    beyond: np.ndarray
    rarity: np.ndarray

    def reordered(self, order: np.ndarray) -> "ComparedExercise":
        """Return the same comparison after assigning the answers to other students."""
        grid = np.ix_(order, order)
        own = (self.shares, self.tokens, self.beyond, self.rarity)
        shares, tokens, beyond, rarity = (matrix[grid] for matrix in own)
        return ComparedExercise(shares, tokens, self.usual, beyond, rarity)


def compared(texts: Sequence[str]) -> ComparedExercise:
    """Compare the students' encoded answers, which have one character per token."""
    lengths = np.array([len(text) if len(text) >= FEWEST_TOKENS else 0
                        for text in texts])  # fmt: skip
    both = np.outer(lengths > 0, lengths > 0)
    found = cdist(texts, texts, scorer=Indel.normalized_similarity, workers=-1)
    shares = np.where(both, found, -1.0)
    pairs = shares[np.triu(both, 1)]
    usual = float(np.median(pairs)) if len(pairs) > 2 else 0.0
    return ComparedExercise(
        shares=shares,
        tokens=np.where(both, np.add.outer(lengths, lengths), 0),
        usual=usual,
        beyond=beyond_usual(shares, usual),
        rarity=np.where(both, _rarity(shares, int((lengths > 0).sum())), 0.0),
    )


def _rarity(shares: np.ndarray, answered: int) -> np.ndarray:
    """Return how rare each pair's agreement is; a share counts as at least `RARE`."""
    as_near = np.empty(shares.shape)
    for row, own in enumerate(shares):
        as_near[row] = len(own) - np.searchsorted(np.sort(own), own - NEARLY)
    share = np.maximum(as_near, as_near.T) / max(answered, 1)
    return -np.log(np.clip(share, RARE, 1.0))


def beyond_usual(shares: np.ndarray, usual: float) -> np.ndarray:
    """Return how far each agreement exceeds the usual one, scaled to 0 to 1."""
    room = 1 - usual
    above = np.clip(shares - usual, 0, None)
    return above / room if room > 0 else np.zeros_like(above)


def clusters_of(links: Sequence[Pair]) -> list[list[str]]:
    """Return the groups of students that are connected by links, the largest first."""
    group: dict[str, set[str]] = {}
    for pair in links:
        one, other = (group.get(student, {student}) for student in pair.students)
        joined = one | other
        group |= dict.fromkeys(joined, joined)
    found = {id(own): sorted(own) for own in group.values()}
    return sorted(found.values(), key=lambda own: (-len(own), own))


def tokens_of(source: str, given: str = "") -> list[str]:
    """Return the tokens of an answer, without the code that students were given.

    The list is empty for an answer that cannot be parsed or is nested too deeply.
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
    """Yield every statement in a tree, including nested ones."""
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            yield node


def _own_names(tree: ast.Module, keep: set[str]) -> list[str]:
    """Return the names that the student chose, in order of appearance."""
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
    """Yield a tree's nodes in order, without annotations and docstrings."""
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
    """Yield the tokens of statements, without imports and known statements."""
    for statement in body:
        if isinstance(statement, (ast.Import, ast.ImportFrom)):
            continue
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

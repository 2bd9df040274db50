"""Generate a class of unit 04 with groups that copied and renamed variables."""

import ast
import builtins
import random
from collections.abc import Mapping, Sequence

from autograder.proof.sample_class import SampleClass
from autograder.proof.variants import Variant
from autograder.repair.slots import top_names

UNIT_04 = "04_attention"
NEW_NAMES = ("alpha", "beta", "gamma", "delta", "left", "right", "tmp", "res", "aux")


class GeneratedClass:
    """A class whose answers are drawn from the unit's known right and wrong ones."""

    def __init__(self, seed: int, popular: float = 0.0) -> None:
        """Start with the unit's variants. `popular` is the share of our answer."""
        self.sample = SampleClass(UNIT_04)
        self.random = random.Random(seed)
        self.popular = popular

    def answers(self) -> dict[str, str]:
        """Return one student's answers, each in a random style."""
        own = dict(self.sample.answers)
        for exercise in own:
            if self.random.random() >= self.popular:
                own = self._varied(own, exercise)
        return own

    def _varied(self, answers: dict[str, str], exercise: str) -> dict[str, str]:
        known: Sequence[Variant] = [
            one
            for kind in ("right", "wrong")
            for one in self.sample._of(exercise, kind)
            if not one.source.startswith("@")  # no generated fault
        ]
        return self.sample._varied(answers, exercise, self.random.choice(known))

    def copied(self, answers: Mapping[str, str]) -> dict[str, str]:
        """Return answers with other variable names, comments and layout."""
        return {name: self._renamed(source) for name, source in answers.items()}

    def _renamed(self, source: str) -> str:
        tree = ast.parse(source)
        keep = {*top_names(source), *dir(builtins)}
        bound = [
            node.id
            for node in ast.walk(tree)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ]
        names = [name for name in dict.fromkeys(bound) if name not in keep]
        number = self.random.randrange(1000)
        new = {name: f"{NEW_NAMES[n % 9]}{number}_{n}" for n, name in enumerate(names)}
        arguments = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id not in arguments:
                node.id = new.get(node.id, node.id)
        return f"# my own work {number}\n{ast.unparse(tree)}"

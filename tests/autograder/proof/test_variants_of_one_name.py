"""Variants may be classes with the same name, and each keeps its own text."""

from pathlib import Path

from autograder.proof.variants.registry import load_variants

TEXT = """
from torch import nn

from autograder.proof.variants import right, wrong


@wrong("first")
class Layer(nn.Module):
    def forward(self, x):
        return x


@wrong("second")
class Layer(nn.Module):
    def forward(self, x):
        return 2 * x


@right(
    "third",
)
class Layer(nn.Module):
    def forward(self, x):
        return 3 * x
"""


def test_each_class_has_its_own_text(tmp_path: Path) -> None:
    path = tmp_path / "unit_of_one_name.py"
    path.write_text(TEXT, encoding="utf-8")
    sources = [variant.source for variant in load_variants(path)]
    assert ["return x" in source for source in sources] == [True, False, False]
    assert ["return 2 * x" in source for source in sources] == [False, True, False]
    assert ["return 3 * x" in source for source in sources] == [False, False, True]
    assert all(source.startswith("class Layer") for source in sources)

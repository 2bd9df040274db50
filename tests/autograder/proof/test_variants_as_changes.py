"""A variant is the answer with a matching change, or a whole answer."""

import ast
from pathlib import Path

import pytest

from autograder.course import Unit, load_course
from autograder.proof.variants import UnusableFile, Variant, load_variants

COURSE = load_course()
WRITTEN = [unit for unit in COURSE.units if COURSE.variants_file(unit).exists()]
HEAD = """
from autograder.proof.variants import answer, body, drop, insert, swap

split_heads = answer("transformer.multi_head.split_heads")
"""


def load(tmp_path: Path, text: str) -> list[Variant]:
    path = tmp_path / "unit_of_changes.py"
    path.write_text(HEAD + text, encoding="utf-8")
    return load_variants(path)


def last_lines(variant: Variant) -> list[str]:
    return [line.strip() for line in variant.source.splitlines()[-3:]]


def test_a_swap_changes_the_answer_alone(tmp_path: Path) -> None:
    text = 'split_heads.wrong("not split", swap("heads.transpose(1, 2)", "heads"))'
    (variant,) = load(tmp_path, text)
    assert (variant.kind, variant.replaces) == ("wrong", "split_heads")
    assert (variant.names, variant.diagnosed) == ("not split", True)
    assert last_lines(variant)[1:] == [
        "heads = x.view(b, t, n_heads, d_model // n_heads)",
        "return heads",
    ]
    assert "SOLUTION" not in variant.source and '"""' not in variant.source


def test_lines_take_on_the_answers_indentation(tmp_path: Path) -> None:
    text = '''
split_heads.right(
    "in two steps",
    swap(
        """
        b, t, d_model = x.shape
        heads = x.view(b, t, n_heads, d_model // n_heads)
        """,
        """
        b, t, d_model = x.shape
        for _ in range(1):
            heads = x.view(b, t, n_heads, -1)
        """,
    ),
)
split_heads.wrong("no view", drop("heads = x.view(b, t, n_heads, d_model // n_heads)"))
split_heads.right(
    "named", insert("h = n_heads", before="heads ="), swap("t, n_heads,", "t, h,")
)
split_heads.wrong("as it was", body("return x"))
'''
    looped, dropped, named, untouched = load(tmp_path, text)
    assert "\n    for _ in range(1):\n        heads = x.view" in looped.source
    assert "view" not in dropped.source
    assert last_lines(named)[0] == "h = n_heads"
    assert untouched.source.endswith("-> Tensor:\n    return x\n")
    for variant in (looped, dropped, named, untouched):
        ast.parse(variant.source)


@pytest.mark.parametrize(
    "change",
    [
        'swap("keys", "values")',  # nowhere
        'swap("head", "x")',  # a part of a word
        'swap("n_heads", "h")',  # several times
        'swap("return heads", "return heads)")',  # no Python
    ],
)
def test_a_change_that_does_not_fit_names_its_variant(
    tmp_path: Path, change: str
) -> None:
    with pytest.raises(UnusableFile, match="split_heads, 'a mistake'"):
        load(tmp_path, f'split_heads.wrong("a mistake", {change})')


def test_every_place_is_changed_on_request(tmp_path: Path) -> None:
    text = 'split_heads.right("renamed", swap("heads", "parts", every=True))'
    (variant,) = load(tmp_path, text)
    assert variant.source.count("parts") == 2
    assert "n_heads" in variant.source


def test_a_variant_of_a_variant(tmp_path: Path) -> None:
    text = """
folded = split_heads.right("folded", swap("d_model // n_heads", "-1"))
folded.wrong("three heads", swap("n_heads, -1", "3, -1"))
"""
    right, wrong = load(tmp_path, text)
    assert "x.view(b, t, n_heads, -1)" in right.source
    assert "x.view(b, t, 3, -1)" in wrong.source


def test_a_whole_function_leaves_the_name_to_the_answer(tmp_path: Path) -> None:
    text = """
@split_heads.wrong("as it was", names="not split", diagnosed=False)
def split_heads(x, n_heads):
    return x


split_heads.wrong("not turned", swap("heads.transpose(1, 2)", "heads"))
"""
    whole, changed = load(tmp_path, text)
    assert whole.source == "def split_heads(x, n_heads):\n    return x\n"
    assert (whole.names, whole.diagnosed) == ("not split", False)
    assert changed.description == "not turned"


def test_a_variant_without_a_change_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnusableFile, match="changes nothing"):
        load(tmp_path, 'split_heads.wrong("a mistake", names="mistaken")')


@pytest.mark.parametrize("unit", WRITTEN, ids=lambda unit: unit.slug)
def test_no_variant_stands_there_twice(unit: Unit) -> None:
    variants = load_variants(COURSE.variants_file(unit))
    said = [(v.kind, v.replaces, v.description) for v in variants]
    assert len(said) == len(set(said))
    for variant in variants:
        ast.parse(variant.source)

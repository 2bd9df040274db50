"""A visible check fails for the mistakes that a reader once made unnoticed.

And it passes for right styles that one refused.
"""

import tomllib
from functools import cache
from pathlib import Path

import nbformat
import pytest

from autograder.course import load_course
from autograder.proof.judging import variants_file
from autograder.proof.variants.registry import Variant, load_variants
from autograder.proof.variants.substitution import substitute

COURSE = load_course()
KNOWN = tomllib.loads(Path(__file__).with_name("visible_mistakes.toml").read_text())

pytestmark = pytest.mark.integration


def cases(kind: str) -> list[tuple[str, str, list[str]]]:
    """List unit, exercise and variants: that `fail`, are `told_apart`, or `pass`."""
    return [
        (number, exercise, mistakes)
        for number, exercises in KNOWN[kind].items()
        for exercise, mistakes in exercises.items()
    ]


CASES = [(*place, mistake) for *place, every in cases("fail") for mistake in every]
STYLES = [(*place, style) for *place, every in cases("pass") for style in every]


@cache
def cells_of(number: str) -> dict[str, str]:
    """Return the code cells of a unit's answer notebook by their id; no demos."""
    (unit,) = (unit for unit in COURSE.units if unit.slug.startswith(number))
    notebook = nbformat.read(COURSE.answer_notebook(unit), as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    demos = [cell for cell in cells if "demo" in cell.metadata.get("tags", [])]
    return {cell.id: cell.source for cell in cells if cell not in demos}


@cache
def variants_of(number: str) -> list[Variant]:
    """Load the variants of a unit once."""
    (unit,) = (unit for unit in COURSE.units if unit.slug.startswith(number))
    return list(load_variants(variants_file(COURSE, unit)))


def variant_of(number: str, answer: str, description: str, kind: str) -> Variant:
    """Return the right or wrong variant of an answer cell with this description."""
    (found,) = (
        variant
        for variant in variants_of(number)
        if (variant.kind, variant.description) == (kind, description)
        and any(
            f"{word} {variant.replaces.partition('.')[0]}(" in answer
            for word in ("def", "class")
        )
    )
    return found


def run_visible_check(
    number: str, exercise: str, described: str | None, kind: str = "wrong"
) -> None:
    """Run the imports, one answer, right or wrong, and its visible check."""
    cells = cells_of(number)
    before = list(cells).index(f"{exercise}-check")
    names = [name for name in list(cells)[:before] if not name.endswith("-check")]
    sources = [cells[name] for name in names if name != "setup"]
    if described:
        variant = variant_of(number, cells[exercise], described, kind)
        sources = substitute(sources, variant)
    space: dict = {}
    for source in [*sources, cells[f"{exercise}-check"]]:
        exec(source, space)


@pytest.mark.parametrize(("number", "exercise", "mistake"), CASES)
def test_the_visible_check_fails(number: str, exercise: str, mistake: str) -> None:
    with pytest.raises(AssertionError) as caught:
        run_visible_check(number, exercise, mistake)
    assert len(str(caught.value).split()) > 4  # it says in words what is wrong


@pytest.mark.parametrize(("number", "exercise", "mistakes"), cases("told_apart"))
def test_the_visible_check_tells_mistakes_apart(
    number: str, exercise: str, mistakes: list[str]
) -> None:
    said = set()
    for mistake in mistakes:
        with pytest.raises(AssertionError) as caught:
            run_visible_check(number, exercise, mistake)
        said.add(str(caught.value).partition("\n")[0])
    assert len(said) == len(mistakes), said


@pytest.mark.parametrize(
    ("number", "exercise"),
    sorted({(number, exercise) for number, exercise, _ in CASES}),
)
def test_the_answer_passes(number: str, exercise: str) -> None:
    run_visible_check(number, exercise, None)


@pytest.mark.parametrize(("number", "exercise", "style"), STYLES)
def test_the_visible_check_passes(number: str, exercise: str, style: str) -> None:
    run_visible_check(number, exercise, style, "right")


@pytest.mark.parametrize("number", KNOWN["fail"])
def test_a_visible_check_has_at_most_twenty_lines(number: str) -> None:
    for name, source in cells_of(number).items():
        assert not name.endswith("-check") or len(source.splitlines()) <= 20, name

"""Unit 13's hidden checks count BLEU in pairs, with the same result as the course."""

import random

import pytest

from autograder.grading.points import checks_with_points
from autograder.unit import graded_unit
from transformer.translation.bleu import corpus_bleu

CHECKS = checks_with_points(graded_unit("13"))[0].function.__globals__


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_score_of_the_corpus(seed: int) -> None:
    draw = random.Random(seed)
    references = [draw.choices("abcdef", k=draw.randint(1, 12)) for _ in range(6)]
    hypotheses = [words[: draw.randint(1, 12)] for words in references]
    found = CHECKS["bleu_of"](hypotheses, references)
    assert found == pytest.approx(corpus_bleu(hypotheses, references), abs=1e-9)


def test_without_a_match_it_is_zero() -> None:
    assert CHECKS["bleu_of"]([["a", "b", "c", "d"]], [["e", "f", "g", "h"]]) == 0

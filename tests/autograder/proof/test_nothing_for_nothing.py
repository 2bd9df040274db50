"""What is no answer earns nothing: constants of the right shape, and inputs."""

import pytest

from autograder.course import load_course
from autograder.proof.judging import exercise_of, judge, proof_of

COURSE = load_course()
NO_ANSWER = {
    "zeros",
    "ones",
    "always True",
    "always False",
    "returns x",
    "even weights",
}
NO_ANSWER |= {"returns the ids", "returns the mask", "β for everything", "the states"}
NO_ANSWER |= {"the input again and again", "returns x, and no layer's weights"}
NO_ANSWER |= {"returns x and even weights"}


@pytest.mark.parametrize("number", ["06", "07", "08", "09"])
def test_what_is_no_answer_earns_nothing(number: str) -> None:
    proof = proof_of(COURSE.unit(number).slug, COURSE.root)
    tried = set()
    for variant in proof.variants:
        if variant.description in NO_ANSWER:
            verdict = judge(proof.graded, proof.notebook, variant, seeds=1)
            assert sum(verdict.points) == 0, (variant.replaces, variant.description)
            tried.add(exercise_of(proof.graded, variant))
    assert tried == set(proof.graded.points)

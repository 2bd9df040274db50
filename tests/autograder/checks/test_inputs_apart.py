"""In the tensors that checks pass on, no two numbers share a place in memory.

`expand` makes tensors that share places. Writing into such a tensor raises, and some
operators read past its end, so a right answer could fail by chance.
"""

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from autograder.course import load_course
from autograder.grading.points import run_checks
from autograder.proof.judging import answer_cells
from autograder.sandbox import LocalStudent
from autograder.sandbox.submission_proxy import SubmissionProxy
from autograder.unit import graded_unit

COURSE = load_course()


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors inside a value, at any depth."""
    if isinstance(value, Tensor):
        yield value
    parts = value.values() if isinstance(value, dict) else value
    if isinstance(value, (dict, list, tuple)):
        for part in parts:
            yield from tensors_in(part)


def shares_places(tensor: Tensor) -> bool:
    """Tell whether two numbers of a tensor share a place in memory."""
    sizes = zip(tensor.shape, tensor.stride(), strict=True)
    return any(size > 1 and stride == 0 for size, stride in sizes)


def test_an_expanded_tensor_shares_places() -> None:
    assert shares_places(torch.zeros(3).expand(2, 3))
    assert not shares_places(torch.zeros(3, 2).T)


@pytest.mark.integration
@pytest.mark.parametrize("slug", [unit.slug for unit in COURSE.units])
def test_no_check_hands_over_an_expanded_tensor(
    slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[tuple[str, tuple[int, ...]]] = []
    request = SubmissionProxy._request

    def watched(
        self: SubmissionProxy, operation: str, *about: Any, **parts: Any
    ) -> Any:
        sent = [one for one in tensors_in(parts) if shares_places(one)]
        found.extend((operation, tuple(one.shape)) for one in sent)
        return request(self, operation, *about, **parts)

    monkeypatch.setattr(SubmissionProxy, "_request", watched)
    unit = COURSE.unit(slug)
    student = LocalStudent(answer_cells(COURSE, unit))
    results = run_checks(graded_unit(slug, COURSE.root), student)
    assert {result.status for result in results} == {"passed"}
    assert found == []

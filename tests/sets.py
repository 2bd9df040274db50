"""Sets of cases: `make test` tries the first case, and `make test-slow` the others."""

from collections.abc import Iterable
from typing import Any

import pytest


def first_of(cases: Iterable[Any], count: int = 1) -> list[Any]:
    """Return cases for `parametrize`; the cases after the first `count` are slow."""
    return [
        case
        if number < count
        else pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow
        )
        for number, case in enumerate(cases)
    ]

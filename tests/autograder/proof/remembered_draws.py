"""Draw once, for all variants of a unit, what a check draws until it tells mistakes.

A draw depends on the assignment, the student, the check and the seed, never on the
answer that is checked: each variant would search anew for the very same inputs.
"""

import copy
import functools
from collections.abc import Callable
from typing import Any

import pytest

from autograder.checking.random_inputs import Draw
from autograder.grading.points import checks_with_points
from autograder.unit import GradedUnit

DRAWN_UNTIL_THEY_TELL = {
    "11_inference": ("draw_telling",),
    "12_why_self_attention": ("links_of",),
}


def remembered(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a drawing function that looks again at what it drew from a state.

    The generator is left as the first draw left it, and everybody gets a copy.
    """
    known: dict[tuple[bytes, str], tuple[Any, Any]] = {}

    @functools.wraps(function)
    def drawn(draw: Draw, *arguments: Any, **options: Any) -> Any:
        state = draw.generator.get_state().numpy().tobytes()
        key = (state, repr((arguments, options)))
        if key not in known:
            value = function(draw, *arguments, **options)
            known[key] = copy.deepcopy(value), draw.generator.get_state()
        value, after = known[key]
        draw.generator.set_state(after)
        return copy.deepcopy(value)

    return drawn


def remember_draws(unit: GradedUnit, patch: pytest.MonkeyPatch) -> None:
    """Let the checks of a unit remember what they draw, while a patch lasts."""
    names = DRAWN_UNTIL_THEY_TELL.get(unit.slug, ())
    checks = checks_with_points(unit)[0].function.__globals__
    for name in names:
        patch.setitem(checks, name, remembered(checks[name]))

"""Each input is fair: all right styles give the same result as the solution."""

import pytest
from viva_students import UNIT_04, answer_cells, right_styles, runner_of

from autograder.proof.variants import substitute
from autograder.viva.effects import agree
from autograder.viva.questions import LETTERS
from autograder.viva.sheets import CALLS


def unfair(slug: str, name: str, calls: list[str]) -> list[str]:
    """Return the calls for which a right style and the solution differ."""
    cells = answer_cells(slug)
    right = runner_of(cells)(None, name, calls)
    found = []
    for style in right_styles(slug, name):
        own = runner_of(substitute(cells, style))(None, name, calls)
        found += [
            f"{call}: {style.description}"
            for call, *results in zip(calls, own, right, strict=True)
            if not agree(*results) or isinstance(results[1], str)
        ]
    return found


@pytest.mark.parametrize("slug", CALLS)
def test_all_right_styles_agree_on_each_input(slug, capsys):
    for name, calls in CALLS[slug].items():
        assert right_styles(slug, name), name
        assert 2 < len(calls) <= len(LETTERS) and len(set(calls)) == len(calls), name
        assert unfair(slug, name, calls) == []


def test_an_input_on_which_right_styles_differ_is_refused():
    underflow = (
        "masked_softmax(tensor([[-200., -200, 0]]), tensor([[True, True, False]]))"
    )
    refused = unfair(UNIT_04, "masked_softmax", [underflow])
    assert any("a softmax by hand" in one for one in refused)

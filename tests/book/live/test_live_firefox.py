"""A different browser opens the figure, translates, and finds the same hypotheses."""

import pytest
import torch
from asked import (
    ask_beams,
    ask_logits,
    assert_same_hypotheses,
    greedy_of,
    hypotheses_of,
    logits_of,
)
from firefox import firefox

from transformer.translation.beams import SearchSettings

pytestmark = [pytest.mark.needs("firefox"), pytest.mark.slow]
READY = """() => new Promise((resolve) => {
  const look = () => {
    const said = document.querySelector(".live-translator[data-ready] strong");
    if (said) resolve(said.textContent);
    else setTimeout(look, 20);
  };
  look();
})"""


@pytest.fixture(scope="module")
def window(tmp_path_factory):
    with firefox(tmp_path_factory.mktemp("firefox")) as opened:
        yield opened


def test_it_opens_and_translates(window, write_page):
    window.open(write_page("fox", "", "beam heads table"))
    assert window.evaluate(READY) == "the woman calls the old man."
    width = "() => document.documentElement.scrollWidth - window.innerWidth"
    assert window.evaluate(width) <= 0


def test_it_finds_the_same_hypotheses(window, engine_page, shipped, sources):
    window.open(engine_page)
    window.evaluate("() => ask.open()")
    for settings in (SearchSettings(5, 0.6, max_len=20), SearchSettings(2, 0.0, 20)):
        expected = hypotheses_of(shipped.model, sources, settings)
        assert_same_hypotheses(ask_beams(window, sources, settings), expected)


def test_its_logits_are_pytorch_s(window, engine_page, shipped, sources):
    window.open(engine_page)
    window.evaluate("() => ask.open()")
    some = sources[:5]
    for src, written in zip(some, greedy_of(shipped.model, some), strict=True):
        expected = logits_of(shipped.model, src, written)
        for found in ask_logits(window, src, written):
            torch.testing.assert_close(found, expected, atol=1e-4, rtol=0.0)

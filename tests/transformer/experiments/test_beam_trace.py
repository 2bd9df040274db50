"""The trace of a beam search agrees with the search."""

import math

import pytest
import torch

from transformer.data import RUNNING_EXAMPLE, make_grammar_corpus
from transformer.experiments.beam_trace import trace_beam
from transformer.shipped_model import ShippedModel, load_shipped_model
from transformer.translation.beams import SearchSettings, until_end
from transformer.translation.evaluation import log_probabilities
from transformer.translation.inference import beam_search


@pytest.fixture(scope="module")
def shipped() -> ShippedModel:
    return load_shipped_model()


@pytest.mark.parametrize("k", [1, 2, 4])
def test_the_best_of_the_tree_is_what_the_search_found(shipped: ShippedModel, k: int):
    src_words, tgt_words = shipped.words
    settings = SearchSettings(k, 0.0, max_len=12)
    for pair in make_grammar_corpus().test[:5]:
        src = torch.tensor([src_words.encode(pair.src)])
        tree = trace_beam(shipped.model, src, tgt_words, settings)
        (found,), (score,) = beam_search(shipped.model, src, settings)
        ids = until_end(found[0])[1:].tolist()
        branches = {branch.words: branch for branch in tree}
        best = branches[tuple(tgt_words.words[i] for i in ids)]
        assert best.kept
        assert math.isclose(math.log(best.probability), score[0], abs_tol=1e-3)


def test_each_step_keeps_the_most_probable(shipped: ShippedModel):
    src_words, tgt_words = shipped.words
    src = torch.tensor([src_words.encode(RUNNING_EXAMPLE.src)])
    settings = SearchSettings(2, 0.0)
    tree = trace_beam(shipped.model, src, tgt_words, settings, shown=5)
    assert len(tree) == len({branch.words for branch in tree})
    for step in range(1, 5):
        branches = [branch for branch in tree if len(branch.words) == step]
        branches.sort(key=lambda branch: -branch.probability)
        assert [branch.kept for branch in branches[:3]] == [True, True, False]
        assert len(branches) == (5 if step == 1 else 10)


def test_a_search_s_worth_is_the_log_probability(shipped: ShippedModel):
    pairs = make_grammar_corpus().test[:7]
    found = log_probabilities(shipped.model, pairs, shipped.words)
    for pair, log_probability in zip(pairs, found, strict=True):
        tgt = torch.tensor([shipped.words[1].encode(pair.tgt)])
        src = torch.tensor([shipped.words[0].encode(pair.src)])
        with torch.no_grad():
            table = shipped.model(src, tgt[:, :-1])[0].log_softmax(dim=-1)
        one_by_one = [table[i, word] for i, word in enumerate(tgt[0, 1:].tolist())]
        assert log_probability == pytest.approx(float(sum(one_by_one)), abs=1e-4)

"""The links of heads: rows and columns, baselines by hand, silent heads."""

import pytest
import torch

from transformer.config import TransformerConfig
from transformer.data import RUNNING_EXAMPLE, SentencePair, make_grammar_corpus
from transformer.data.word_counts import build_vocabularies
from transformer.experiments.complexity import alignment_error_rate
from transformer.experiments.head_alignment import (
    attention_links,
    diagonal_links,
    dice_links,
    gold_links,
    head_links,
    silence_heads,
    word_attention,
)
from transformer.model import Transformer
from transformer.shipped_model import load_shipped_model

SHORT = SentencePair(
    ("der", "mann", "."), ("the", "man", "."), ((0, 0), (1, 1), (2, 2))
)
PAIRS = [RUNNING_EXAMPLE, SHORT]


@pytest.fixture(scope="module")
def vocabularies():
    return build_vocabularies(PAIRS)


@pytest.fixture(scope="module")
def model(vocabularies):
    torch.manual_seed(0)
    config = TransformerConfig.tiny(*map(len, vocabularies), n_layers=3)
    return Transformer(config).eval()


def rows_by_hand(model, pair, vocabularies) -> torch.Tensor:
    """Return (layers, h, t, s) of all tokens of one sentence, unpadded."""
    src, tgt = (
        torch.tensor([words.encode(side)])
        for words, side in zip(vocabularies, (pair.src, pair.tgt), strict=True)
    )
    return torch.cat(model.decode(tgt, model.encode(src), src)[1])


def test_the_running_example_is_numbered():
    links = gold_links([SHORT, RUNNING_EXAMPLE])
    assert (0, 1, 1) in links and (1, 2, 2) in links
    assert len(links) == 3 + len(RUNNING_EXAMPLE.alignment)
    with pytest.raises(ValueError, match="found one without"):
        gold_links([SentencePair(("a",), ("b",))])


@pytest.mark.parametrize(("row", "first"), [("writes", 0), ("reads", 1)])
def test_rows_and_columns_are_those_of_the_words(model, vocabularies, row, first):
    found = word_attention(model, PAIRS, vocabularies, row)
    for pair, weights in zip(PAIRS, found, strict=True):
        t, s = len(pair.tgt), len(pair.src)
        assert weights.shape == (3, 4, t, s)
        whole = rows_by_hand(model, pair, vocabularies)
        assert whole.shape == (3, 4, t + 2, s + 2)  # <sos> and <eos>
        expected = whole[:, :, first : first + t, 1 : s + 1]
        assert torch.allclose(weights, expected, atol=1e-6)


def test_the_row_that_writes_a_word_is_the_one_that_has_read_the_word_before(
    model, vocabularies
):
    writes = word_attention(model, PAIRS, vocabularies, "writes")
    reads = word_attention(model, PAIRS, vocabularies, "reads")
    for one, other in zip(writes, reads, strict=True):
        assert torch.equal(one[:, :, 1:], other[:, :, :-1])


def test_each_target_word_gets_the_largest_weight():
    weights = torch.tensor(
        [[0.1, 0.7, 0.2], [0.0, 0.0, 0.0], [0.4, 0.3, 0.3], [0.1, 0.8, 0.1]]
    )
    assert attention_links(weights) == {(1, 0), (0, 2), (1, 3)}
    both = [torch.zeros(2, 3, 4, 3), torch.zeros(2, 3, 4, 3)]
    both[1][1, 2] = weights
    assert head_links(both, layer=1, head=2) == {(1, 1, 0), (1, 0, 2), (1, 1, 3)}
    assert head_links(both, layer=0, head=2) == set()


def test_one_head_is_wanted():
    with pytest.raises(ValueError, match=r"found shape \(2, 3, 3\)"):
        attention_links(torch.ones(2, 3, 3))


def test_the_diagonal_by_hand():
    assert diagonal_links([SHORT]) == {(0, 0, 0), (0, 1, 1), (0, 2, 2)}
    longer = SentencePair(("a", "b", "c", "d", "e"), ("v", "w", "x"))
    assert diagonal_links([longer]) == {(0, 0, 0), (0, 2, 1), (0, 4, 2)}
    assert diagonal_links([SentencePair(("a", "b"), ("v",))]) == {(0, 0, 0)}


def test_words_that_keep_company_are_linked():
    train = [
        SentencePair(("der", "mann"), ("the", "man")),
        SentencePair(("der", "hund"), ("the", "dog")),
        SentencePair(("ein", "hund"), ("a", "dog")),
    ]
    turned = SentencePair(("hund", "der"), ("the", "dog"))
    assert dice_links(train, [turned]) == {(0, 1, 0), (0, 0, 1)}


def test_a_silent_head_says_nothing_and_the_model_stays_as_it_was(model, vocabularies):
    src, tgt = (
        torch.tensor([words.encode(side)])
        for words, side in zip(
            vocabularies, (RUNNING_EXAMPLE.src, RUNNING_EXAMPLE.tgt), strict=True
        )
    )
    before = model(src, tgt)
    silent = model
    for layer in range(3):
        one = silence_heads(silent, layer, [1])
        assert not torch.allclose(one(src, tgt), before, atol=1e-4)
        silent = silence_heads(silent, layer, range(4))
    assert torch.equal(model(src, tgt), before)
    other = src.flip(1)  # with all heads silent, the source has no effect
    assert torch.allclose(silent(src, tgt), silent(other, tgt), atol=1e-6)
    assert not torch.allclose(before, model(other, tgt), atol=1e-4)


@pytest.mark.integration
def test_heads_of_the_shipped_model_align_better_than_counting():
    shipped, corpus = load_shipped_model(), make_grammar_corpus()
    pairs = corpus.test[:100]
    gold = gold_links(pairs)

    def rate(links):
        return alignment_error_rate(links, gold, gold)

    rates = {
        row: min(
            rate(head_links(attention, layer, head))
            for layer in range(2)
            for head in range(4)
        )
        for row in ("writes", "reads")
        for attention in [word_attention(shipped.model, pairs, shipped.words, row)]
    }
    counting = rate(dice_links(corpus.train, pairs))
    assert rates["writes"] < counting < rate(diagonal_links(pairs)) < rates["reads"]

"""Corpus BLEU, compared with sacreBLEU and torchtext, and its properties."""

import math
import random
from fractions import Fraction

import pytest
import sacrebleu
import torch
from hypothesis import given
from hypothesis import strategies as st
from torchtext.data.metrics import bleu_score

from transformer.translation.bleu import corpus_bleu, ngram_precision
from transformer.translation.ngrams import closest_length, count_ngrams

WORDS = st.sampled_from(["der", "die", "Hund", "sieht", "."])
SENTENCES = st.lists(WORDS, max_size=9)
PAIRS = st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6)
CORPORA = st.integers(1, 3).flatmap(
    lambda n: st.lists(
        st.tuples(SENTENCES, st.lists(SENTENCES, min_size=n, max_size=n)),
        min_size=1,
        max_size=6,
    )
)


def sacre(hypotheses, references, max_n=4):
    """Score with sacreBLEU, which takes the references stream by stream, as text."""
    metric = sacrebleu.BLEU(
        tokenize="none", smooth_method="none", force=True, max_ngram_order=max_n
    )
    streams = [
        [" ".join(one) for one in stream] for stream in zip(*references, strict=True)
    ]
    return metric.corpus_score([" ".join(h) for h in hypotheses], streams)


@given(CORPORA, st.integers(1, 5))
def test_equals_sacrebleu_with_any_number_of_references(corpus, max_n):
    hypotheses, references = map(list, zip(*corpus, strict=True))
    expected = sacre(hypotheses, references, max_n)
    found = corpus_bleu(hypotheses, references, max_n)
    assert found == pytest.approx(expected.score, rel=1e-9, abs=1e-9)
    counts = [ngram_precision(hypotheses, references, n + 1) for n in range(max_n)]
    assert counts == list(zip(expected.counts, expected.totals, strict=True))


@given(PAIRS)
def test_equals_torchtext_in_its_single_precision(corpus):
    hypotheses, references = map(list, zip(*corpus, strict=True))
    expected = 100 * bleu_score(hypotheses, [[r] for r in references])
    assert corpus_bleu(hypotheses, references) == pytest.approx(expected, rel=1e-5)


def noisy_corpus(n_sentences: int) -> tuple[list[list[str]], list[list[str]]]:
    """Draw sentences, and hypotheses with a tenth of the words changed or lost each."""
    draw = random.Random(0)
    hypotheses, references = [], []
    for _ in range(n_sentences):
        reference = [f"w{draw.randrange(50)}" for _ in range(draw.randint(5, 15))]
        changed = [word if draw.random() > 0.1 else "other" for word in reference]
        references.append(reference)
        hypotheses.append([word for word in changed if draw.random() > 0.1])
    return hypotheses, references


def test_equals_both_on_a_corpus_with_a_penalty():
    hypotheses, references = noisy_corpus(300)
    score = corpus_bleu(hypotheses, references)
    expected = sacre(hypotheses, [[r] for r in references])
    assert 0.5 < expected.bp < 1 and 20 < expected.score < 90
    assert score == pytest.approx(expected.score, rel=1e-12)
    text = bleu_score(hypotheses, [[r] for r in references])
    assert score == pytest.approx(100 * text, rel=1e-6)
    assert score != pytest.approx(corpus_bleu(references, hypotheses), rel=1e-3)
    alone = [corpus_bleu([h], [r]) for h, r in zip(hypotheses, references, strict=True)]
    assert score != pytest.approx(sum(alone) / len(alone), rel=1e-2)


@given(PAIRS)
def test_lies_between_0_and_100_and_ignores_the_order_of_sentences(corpus):
    hypotheses, references = map(list, zip(*corpus, strict=True))
    score = corpus_bleu(hypotheses, references)
    assert 0 <= score <= 100
    assert corpus_bleu(hypotheses[::-1], references[::-1]) == pytest.approx(score)
    assert corpus_bleu(hypotheses * 2, references * 2) == pytest.approx(score)


@given(st.lists(st.lists(WORDS, min_size=4, max_size=9), min_size=1))
def test_a_perfect_corpus_scores_100(sentences):
    assert corpus_bleu(sentences, sentences) == pytest.approx(100, rel=1e-12)


@given(CORPORA, SENTENCES)
def test_another_reference_takes_no_match_away(corpus, extra):
    hypotheses, references = map(list, zip(*corpus, strict=True))
    more = [[*known, extra] for known in references]
    for n in (1, 2, 3):
        before, total = ngram_precision(hypotheses, references, n)
        after, same = ngram_precision(hypotheses, more, n)
        assert before <= after <= total == same


def test_clipping_as_in_the_papers_example():
    the = ["the"] * 7
    cat = ["the", "cat", "is", "on", "the", "mat"]
    other = ["there", "is", "a", "cat", "on", "the", "mat"]
    assert ngram_precision([the], [[cat, other]], 1) == (2, 7)
    assert Fraction(*ngram_precision([cat], [other], 2)) == Fraction(2, 5)


def test_the_brevity_penalty_by_hand():
    reference = list("abcdefgh")
    assert corpus_bleu([reference[:6]], [reference]) == pytest.approx(
        100 * math.exp(1 - 8 / 6), rel=1e-12
    )


def test_of_two_references_equally_near_the_shorter_counts():
    assert closest_length(5, [list("1234567"), list("123"), []]) == 3
    hypothesis, longer, shorter = list("abcde"), list("abcdefg"), list("abc")
    assert corpus_bleu([hypothesis], [[longer, shorter]]) == pytest.approx(100)


@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [
        ([], list("abcd")),
        (list("abc"), list("abc")),
        (list("abcdefgh"), list("stuvwxyz")),
        (list("abcxdef"), list("abcydef")),
        (list("abcd"), []),
        ([], []),
    ],
    ids=["empty", "too short", "no match", "no 4-gram", "no reference", "both empty"],
)
def test_without_a_match_for_some_n_the_score_is_0(hypothesis, reference):
    assert corpus_bleu([hypothesis], [reference]) == 0.0
    assert sacre([hypothesis], [[reference]]).score == pytest.approx(0.0, abs=1e-9)


def test_an_empty_sentence_is_no_error_among_others():
    good = list("abcdef")
    score = corpus_bleu([good, []], [good, list("gh")])
    assert score == pytest.approx(100 * math.exp(1 - 8 / 6), rel=1e-12)


def test_word_numbers_and_tuples_are_tokens_too():
    assert corpus_bleu([(4, 5, 6, 7, 8)], [[(4, 5, 6, 7, 8), (9,)]]) == 100.0


@given(SENTENCES, st.integers(1, 5))
def test_ngrams_are_all_runs_of_n_tokens(tokens, n):
    counts = count_ngrams(tokens, n)
    runs = [tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1)]
    assert sorted(counts.elements()) == sorted(runs)


FOUR = list("abcd")


@pytest.mark.parametrize("score", [corpus_bleu, lambda h, r: ngram_precision(h, r, 1)])
@pytest.mark.parametrize(
    ("hypotheses", "references", "error", "message"),
    [
        ([FOUR, FOUR], [FOUR], ValueError, "2 hypotheses and 1 references"),
        ([], [], ValueError, "at least one sentence"),
        (
            ["ab cd"],
            [FOUR],
            TypeError,
            "hypothesis 0 to be a list of tokens, found str",
        ),
        ([FOUR], ["ab cd"], TypeError, "reference of sentence 0 .* found str"),
        ([FOUR, ["ab cd"]], [FOUR, FOUR], TypeError, "hypothesis 1 .*single tokens"),
        ([FOUR], [["ab cd", "e f"]], TypeError, "reference of sentence 0 .*single"),
        ([FOUR], [[FOUR, "ab"]], TypeError, "reference of sentence 0"),
        ([[FOUR, FOUR]], [FOUR], TypeError, "hypotheses first"),
        ([torch.tensor([4, 5])], [[4, 5]], TypeError, "found Tensor"),
        ([FOUR], [None], TypeError, "found NoneType"),
    ],
)
def test_what_is_no_list_of_tokens_is_refused(
    score, hypotheses, references, error, message
):
    with pytest.raises(error, match=message):
        score(hypotheses, references)


def test_n_starts_at_1():
    with pytest.raises(ValueError, match="n of at least 1, found 0"):
        ngram_precision([FOUR], [FOUR], 0)
    with pytest.raises(ValueError, match="max_n of at least 1, found 0"):
        corpus_bleu([FOUR], [FOUR], 0)

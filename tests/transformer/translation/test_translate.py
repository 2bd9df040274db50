"""Translate sentences and corpora, and score them."""

import dataclasses

import pytest
import sacrebleu
import torch
from random_models import end_after_about, make_model

from transformer.data import make_grammar_corpus
from transformer.data.word_counts import build_vocabularies
from transformer.model import Transformer
from transformer.translation.beams import SOS_ID, SearchSettings
from transformer.translation.evaluation import (
    detokenised_bleu,
    translate_pairs,
    tutorial_bleu,
)
from transformer.translation.inference import translate


@pytest.fixture(scope="module")
def corpus_words():
    train = make_grammar_corpus().train[:300]
    return build_vocabularies(train)


def corpus_model(words, **changes) -> Transformer:
    model = make_model(tgt_vocab_size=len(words[1]), max_len=20)
    config = dataclasses.replace(model.config, src_vocab_size=len(words[0]), **changes)
    return Transformer(config).train()


@pytest.mark.parametrize("beam_size", [1, 3])
def test_translation_holds_words_and_attention(corpus_words, beam_size):
    model = end_after_about(corpus_model(corpus_words), 1.0)
    settings = SearchSettings(beam_size, max_len=9)
    found = translate(model, "Die Frau ruft den Mann an.", corpus_words, settings)
    assert found.source[0] == "<sos>"
    assert found.source[1:3] == ("die", "frau")
    assert found.source[-2:] == (".", "<eos>")
    assert 1 <= len(found.target) <= 9
    assert found.target.count("<eos>") <= 1
    assert "<pad>" not in found.target
    shape = (2, 4, len(found.target), len(found.source))
    assert found.cross_attention.shape == shape
    torch.testing.assert_close(found.cross_attention.sum(-1), torch.ones(shape[:-1]))
    assert "<eos>" not in found.text
    words = ["die", "frau", "ruft", "den", "mann", "an", "."]
    again = translate(model, words, corpus_words, settings)
    assert again.target == found.target


def test_attention_row_is_that_which_predicted_the_word(corpus_words):
    model = corpus_model(corpus_words).eval()
    found = translate(
        model, ["die", "frau"], corpus_words, SearchSettings(1, max_len=3)
    )
    src = torch.tensor([corpus_words[0].encode(["die", "frau"])])
    with torch.no_grad():
        logits, weights = model.decode(torch.tensor([[SOS_ID]]), model.encode(src), src)
    assert corpus_words[1].words[int(logits[0, -1].argmax())] == found.target[0]
    first = torch.stack(weights)[:, 0, :, 0]
    torch.testing.assert_close(found.cross_attention[:, :, 0], first)


@pytest.mark.parametrize("sentence", ["", "  ", []])
def test_translation_of_nothing_is_refused(corpus_words, sentence):
    with pytest.raises(ValueError, match="at least one word"):
        translate(corpus_model(corpus_words), sentence, corpus_words)


def test_translation_of_too_long_a_sentence_is_refused(corpus_words):
    with pytest.raises(ValueError, match="22 tokens, but there are positions for 20"):
        translate(corpus_model(corpus_words), ["kuh"] * 20, corpus_words)


def test_corpus_is_translated_in_its_order(corpus_words):
    model = end_after_about(corpus_model(corpus_words), 1.0).eval()
    pairs = make_grammar_corpus().train[:20]
    settings = SearchSettings(2, max_len=9)
    expected = [
        list(translate(model, p.src, corpus_words, settings).target) for p in pairs
    ]
    assert len({len(words) for words in expected}) > 1
    for batch_size in (1, 7, 32):
        found = translate_pairs(model, pairs, corpus_words, settings, batch_size)
        assert found == expected


@pytest.mark.integration
def test_conventions_of_bleu():
    references = [
        ["the", "woman", "calls", "the", "old", "man", "."],
        ["he", "sleeps", "here", "now", "."],
    ]
    perfect = [[*words, "<eos>"] for words in references]
    assert tutorial_bleu(perfect, references).score == pytest.approx(100.0)
    assert detokenised_bleu(perfect, references).score == pytest.approx(100.0)
    never_ended = [perfect[0], references[1]]
    assert tutorial_bleu(never_ended, references).score < 100.0, "the full stop is cut"
    assert detokenised_bleu(never_ended, references).score == pytest.approx(100.0)
    wrong = [[*references[0][:-2], "cat", ".", "<eos>"], perfect[1]]
    expected = sacrebleu.corpus_bleu(
        ["the woman calls the old cat .", "he sleeps here now ."],
        [["the woman calls the old man .", "he sleeps here now ."]],
        tokenize="none",
    )
    assert tutorial_bleu(wrong, references).score == pytest.approx(expected.score)

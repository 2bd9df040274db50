"""Text to words and back."""

import subprocess
import sys

import pytest

from transformer.data import detokenize, make_grammar_corpus, tokenize


@pytest.mark.parametrize(
    ("language", "text", "words"),
    [
        ("en", "He isn't in.", "he is n't in ."),
        ("en", "Two T-shirts (new), please!", "two t - shirts ( new ) , please !"),
        ("de", "Die Frau ruft den alten Mann an.", "die frau ruft den alten mann an ."),
        ("de", "Ein „rotes“ Haus (neu)?", "ein „ rotes “ haus ( neu ) ?"),
        ("en", "  the dog \n", "the dog"),
    ],
)
def test_tokenize(language: str, text: str, words: str) -> None:
    assert tokenize(text, language) == words.split()


def test_tokenize_keeps_case_if_asked() -> None:
    assert tokenize("Die Frau", "de", lower=False) == ["Die", "Frau"]


def test_an_empty_text_has_no_words() -> None:
    assert tokenize("", "de") == tokenize("  \n", "en") == []


def test_white_space_beyond_a_space_is_a_token() -> None:
    """The trained pipelines do the same. Detokenising loses this white space."""
    words = tokenize("120  cm", "de")
    assert words == ["120", " ", "cm"]
    assert detokenize(words) == "120 cm"


def test_another_language_is_refused() -> None:
    with pytest.raises(ValueError, match=r"\('de', 'en'\), found 'fr'"):
        tokenize("oui", "fr")


@pytest.mark.parametrize(
    "text",
    [
        "he isn't in.",
        "the dog's bone, the cat's milk",
        'a sign says "come in" (today).',
        "two t-shirts: 50% off!",
        "i'm sure they've gone; we'll see?",
        "ein schild „heute“ am haus.",
    ],
)
def test_detokenize_undoes_tokenize(text: str) -> None:
    language = "de" if "ein" in text.split() else "en"
    assert detokenize(tokenize(text, language)) == text


def test_grammar_sentences_survive_the_tokenizer() -> None:
    """A typed sentence and the corpus have the same tokens."""
    for pair in make_grammar_corpus().test[:300]:
        assert tuple(tokenize(detokenize(pair.src), "de")) == pair.src
        tgt = tokenize(detokenize(pair.tgt), "en")
        assert tuple(" ".join(tgt).replace("can not", "cannot").split()) == pair.tgt


@pytest.mark.integration
def test_importing_the_data_does_not_import_spacy() -> None:
    """The import takes about a second, and the grammar corpus does not need it."""
    code = "import sys, transformer.data; sys.exit('spacy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""Words from text and text from words.

spaCy is imported on first use only: importing it takes about a second, and the
course's own corpus, which comes in tokens, does without it.
"""

import re
from collections.abc import Callable, Iterable
from functools import cache

LANGUAGES = ("de", "en")
Tokenizer = Callable[[str], list[str]]

_NO_SPACE_BEFORE = re.compile(
    r" (?=[.,;:?!)\]}…%]|(?:n't|'(?:s|re|ve|ll|d|m))(?: |$))", re.IGNORECASE
)
_NO_SPACE_AFTER = re.compile(r"(?<=[(\[{]) ")
_QUOTED = re.compile(r'" ([^"]*?) "')
_GERMAN_QUOTED = re.compile(r"„ ([^„“]*?) “")
_HYPHEN = re.compile(r"(?<=\w) - (?=\w)")


@cache
def load_tokenizer(language: str, lower: bool = True) -> Tokenizer:
    """Return spaCy's rule-based tokenizer of a language, with nothing to download.

    It is the tokenizer of the trained pipelines (`de_core_news_sm` and
    `en_core_web_sm`). As there, white space beyond a single space is a token: two of
    the tutorial's 7,853 German words are of that kind.

    Args:
        language: "de" or "en".
        lower: whether the words come in lower case.

    Raises:
        ValueError: if the language is another.
    """
    if language not in LANGUAGES:
        raise ValueError(f"expected a language out of {LANGUAGES}, found {language!r}")
    import spacy

    pipeline = spacy.blank(language)

    def tokenize_text(text: str) -> list[str]:
        words = [token.text for token in pipeline.tokenizer(text.strip())]
        return [word.lower() for word in words] if lower else words

    return tokenize_text


def tokenize(text: str, language: str, lower: bool = True) -> list[str]:
    """Split a text into words and punctuation; an empty text gives an empty list.

    Raises:
        ValueError: if the language is neither "de" nor "en".
    """
    return load_tokenizer(language, lower)(text)


def detokenize(tokens: Iterable[str]) -> str:
    """Join words to a text as one writes it: "he is n't in ." gives "he isn't in.".

    sacreBLEU splits words by rules of its own and so wants text; the reference and
    the translation both go through this function.
    """
    text = " ".join(" ".join(tokens).split())
    text = _NO_SPACE_BEFORE.sub("", text)
    text = _NO_SPACE_AFTER.sub("", text)
    text = _QUOTED.sub(r'"\1"', text)
    text = _GERMAN_QUOTED.sub(r"„\1“", text)
    return _HYPHEN.sub("-", text)

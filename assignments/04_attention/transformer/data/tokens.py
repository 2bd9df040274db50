"""Split text into words, and join words into text.

spaCy is imported only when it is first used, because the import takes about a second.
The course's own corpus does not need it, because it consists of tokens.
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
    """Return spaCy's rule-based tokenizer for a language, without a download.

    It is the tokenizer of the trained pipelines `de_core_news_sm` and `en_core_web_sm`.
    As in these pipelines, white space beyond a single space is a token. Two of the
    tutorial's 7,853 German words are such tokens.

    Args:
        language: "de" or "en".
        lower: whether to put the words in lower case.

    Raises:
        ValueError: if the language is neither "de" nor "en".
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
    """Join words into plain text: "he is n't in ." becomes "he isn't in.".

    sacreBLEU splits words by its own rules and therefore needs text. Both the reference
    and the translation are joined by this function.
    """
    text = " ".join(" ".join(tokens).split())
    text = _NO_SPACE_BEFORE.sub("", text)
    text = _NO_SPACE_AFTER.sub("", text)
    text = _QUOTED.sub(r'"\1"', text)
    text = _GERMAN_QUOTED.sub(r"„\1“", text)
    return _HYPHEN.sub("-", text)

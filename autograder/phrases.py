"""Store texts together with their templates, so that they can be translated later.

The grader writes English, but a feedback page may be in Korean. A `Phrase` is therefore
an English text that also stores its template and the values of the fields. The template
is the key to its translation, and each value is also translated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Self

FIELD = re.compile(r"(?<!\{)\{(\w+)\}")
WORD = re.compile(r"[A-Za-z]{2}")
QUOTED = ("quoted", "code")  # fields with a student's own text, never translated
TEMPLATES = "templates"  # the key for a record's templates and fields


class Phrase(str):
    """Hold an English text with its template and the values of the fields.

    `Phrase("{what} should be {wanted}.", "the output", "a tensor")` assigns the values
    to the fields in their order in the template. A field that occurs twice gets only
    one value. A value is another phrase, a text in the catalogues, or a name, number or
    shape that is the same in every language.

    Attributes:
        template: the English template, which is the key in the catalogues.
        fields: the value of each field.
    """

    template: str
    fields: Mapping[str, str]

    def __new__(cls, template: str, *values: object) -> Self:
        """Fill in the template.

        Raises:
            ValueError: if the number of values differs from the number of fields.
        """
        names = dict.fromkeys(FIELD.findall(template))
        texts = (one if isinstance(one, str) else f"{one}" for one in values)
        fields = dict(zip(names, texts, strict=True))
        text = template.format(**fields) if fields else template
        return cls.of(text, template, fields)

    @classmethod
    def of(cls, text: str, template: str, fields: Mapping[str, str]) -> Self:
        """Return a phrase whose text is already filled in."""
        made = super().__new__(cls, text)
        made.template, made.fields = template, fields
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        """Keep template and fields in copies, including copies in other processes."""
        return Phrase.of, (str(self), self.template, self.fields)


def capitalised(text: str) -> str:
    """Return the text with a capital letter if it starts with "the"."""
    if not text.startswith("the "):
        return text
    made = text if isinstance(text, Phrase) else Phrase.of(text, text, {})
    return Phrase.of(f"T{text[1:]}", made.template, made.fields)


def joined(template: str, texts: Sequence[str]) -> str:
    """Join the non-empty texts with a template such as "{one} and {more}"."""
    one, *more = [text for text in texts if text] or [""]
    return Phrase(template, one, joined(template, more)) if more else one


def series(texts: Sequence[str]) -> str:
    """Join the texts as "one and two and three"."""
    return joined("{one} and {more}", texts)


def translated(text: str, table: Mapping[str, str]) -> str:
    """Translate a text with a table that maps English texts to translations.

    If a template contains words but is not in the table, the whole text stays in
    English.
    """
    if not isinstance(text, Phrase):
        return table.get(text, text)
    template = table.get(text.template)
    if template is None:
        if WORD.search(FIELD.sub("", text.template)):
            return str(text)
        template = text.template
    if not text.fields:
        return template
    values = {
        name: value if name in QUOTED else translated(value, table)
        for name, value in text.fields.items()
    }
    return template.format(**values)


def with_templates(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return a record for JSON in which the templates of its phrases are stored."""
    found = {
        str(one): [one.template, {name: str(v) for name, v in one.fields.items()}]
        for one in _phrases_in(dict(record))
        if one.fields or one.template != one
    }
    return {**record, TEMPLATES: found} if found else dict(record)


def restored(record: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the texts of a record from JSON back to phrases."""
    templates = record.get(TEMPLATES, {})

    def restore(value: Any) -> Any:
        if isinstance(value, str):
            if value not in templates:
                return value
            template, fields = templates[value]
            return Phrase.of(value, template, restore(fields))
        if isinstance(value, Mapping):
            return {key: restore(one) for key, one in value.items()}
        if isinstance(value, Sequence):
            return [restore(one) for one in value]
        return value

    return {key: restore(one) for key, one in record.items() if key != TEMPLATES}


def _phrases_in(value: Any) -> Iterator[Phrase]:
    """Yield the phrases in a record and in the fields of its phrases."""
    if isinstance(value, Phrase):
        yield value
        value = value.fields
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from _phrases_in(one)

"""Read students and hand-in times from Gradescope's export.

The export has a folder `submission_NUMBER` for each submission. The file
`submission_metadata.yml` next to these folders lists the students and the times.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import yaml

from autograder.collect.incoming import IncomingFiles
from autograder.collect.name_cleaning import stem_of
from autograder.collect.platform_names import ParsedName
from autograder.collect.times import UncertainTime, parse_time

EXPORT = re.compile(r"assignment_\d+_export")  # the name of the whole folder or archive
NOT_BELIEVED = (
    "is not Gradescope's list, or does not cover all collected files: collect the "
    "export by itself"
)
SUBMISSION = re.compile(r"submission_\d+")
LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # keeps 007 as text


def read_gradescope(reading: IncomingFiles) -> None:
    """Record the students and the times of the submissions in Gradescope's export.

    The list is used only if the whole collection is one export, because a student could
    have forged a list inside a submission.
    """
    for item in reading.lists:
        folder = item.parts[:-1]
        if all(EXPORT.fullmatch(stem_of(part)[0]) for part in folder) and all(
            parts[: len(folder)] == folder for parts in _all_parts(reading)
        ):
            for name, named, when in _submissions(item.content):
                reading.submissions[(*folder, name)] = named
                if when is not None:
                    reading.times[(*folder, name)] = when
        if not any(found[:-1] == folder for found in reading.submissions):
            reading.left_out = [
                one for one in reading.left_out if one.parts != item.parts
            ]
            reading.refuse(item.parts, NOT_BELIEVED)


def _all_parts(reading: IncomingFiles) -> Iterator[tuple[str, ...]]:
    yield from (one.parts for one in reading.notebooks)
    yield from (one.parts for one in reading.left_out)


def _submissions(
    content: bytes,
) -> Iterator[tuple[str, ParsedName, datetime | None]]:
    """For each submission, yield the folder, the students and the hand-in time."""
    try:
        told = yaml.load(content.decode("utf-8-sig"), LOADER)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError):
        return
    for name, facts in told.items() if isinstance(told, Mapping) else ():
        if not (SUBMISSION.fullmatch(str(name)) and isinstance(facts, Mapping)):
            continue
        people = [_named(one) for one in _list(facts.get(":submitters"))]
        if people:
            one, *more = people
            all_of = (one, *more) if more else ()
            named = replace(one, submitters=all_of)
            yield str(name), named, _when(facts.get(":created_at"))


def _list(value: Any) -> Iterable[Mapping[str, Any]]:
    items = value if isinstance(value, list) else []
    return [one for one in items if isinstance(one, Mapping)]


def _named(submitter: Mapping[str, Any]) -> ParsedName:
    """Return the name, number and address of one submitter."""
    name, number, email = (
        str(submitter.get(key) or "").strip() for key in (":name", ":sid", ":email")
    )
    texts = tuple(filter(None, (number, email)))
    return ParsedName(
        "gradescope",
        tuple(filter(None, (name, *texts[:1]))),
        "",
        account=next(iter(texts), ""),
        texts=texts,
    )


def _when(text: Any) -> datetime | None:
    try:
        return parse_time(str(text))
    except UncertainTime:
        return None

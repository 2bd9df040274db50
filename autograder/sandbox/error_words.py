"""Turn a report on a student's error into one line that helps the student."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from autograder.explained_errors import cause_of
from autograder.notebook_syntax import names_in_text, parse_cell, read_program
from autograder.phrases import Phrase, joined

if TYPE_CHECKING:
    from autograder.checking.failures import StudentError

MAX_WORDS = 600
CONTROLS = ("Cc", "Cf", "Cs", "Co", "Cn")  # Unicode categories; some reverse the text
EMPTY_LINES = re.compile(r"\A(?:[ \t]*\n)+")  # IPython removes these lines from a cell
MAX_MESSAGE = 240
MOST_SIZES = 8  # numbers in a message, enough for two shapes
NUMBER = re.compile(r"\d+")
OPAQUE = re.compile(r"\d{5,}|\b(?=(?:\w*?\d){3})\w{13,}|\w{41,}")
DOTS = re.compile(r"…(?:[\s,;:.()\[\]{}|/-]*…)+")
UNKNOWN_NAME = re.compile(r"name '(\w{1,60})' is not defined")
FRACTION = re.compile(r"[-+]?(?:\d*\.\d+(?:[eE][-+]?\d+)?|\b\d+[eE][-+]?\d+)")


def clean(text: Any, limit: int = MAX_WORDS) -> str:
    """Return text from the student's side as one line of limited length."""
    kept = " ".join(without_controls(str(text)[: 4 * limit]).split())
    return kept if len(kept) <= limit else kept[:limit] + " …"


def without_controls(text: str) -> str:
    """Replace control characters with spaces, but keep line breaks."""
    return "".join(
        " " if unicodedata.category(one) in CONTROLS and one != "\n" else one
        for one in text
    )


def student_error(
    report: dict[str, Any],
    name: str,
    cells: Sequence[str] = (),
    stopped: Mapping[int, Any] | None = None,
) -> "StudentError":
    """Describe an error in the student's own code, and quote the line that raised it.

    The line is copied from `cells`, the submitted notebook. `stopped` maps the number
    of each cell that raised to the line that raised.
    """
    from autograder.checking.failures import StudentError  # collecting needs no checks

    kind = report.get("kind")
    if kind == "missing":
        missing = clean(report.get("message"))
        words = Phrase("{name} is not defined.", missing)
        why = _why_missing(missing, cells, stopped or {})
        return StudentError(kind, name, joined("{one} {more}", [words, why]))
    if kind == "not written":
        words = Phrase("{name} is not written yet.", clean(name))
        return StudentError(kind, name, words)
    error = clean(name), without_values(report.get("type"), 60)
    quoted = without_values(report.get("message"), 400)
    place, code = "", _line_of(report, cells)
    if code:
        place = Phrase(" (line {number} of its cell: {code})", report["line"], code)
    if quoted:
        words = Phrase("{name} raised {kind}: {quoted}{place}", *error, quoted, place)
    else:
        words = Phrase("{name} raised {kind}{place}", *error, place)
    unknown = UNKNOWN_NAME.search(quoted)
    if unknown:
        advice = _why_missing(unknown[1], cells, stopped or {})
    else:
        advice = _cause(quoted)
    words = Phrase("{error}. {advice}", words, advice) if advice else words
    return StudentError("raised", name, words, place)


def _why_missing(name: str, cells: Sequence[str], stopped: Mapping[int, Any]) -> str:
    """Name the statement that stopped a cell before the cell defined a name."""
    for number in sorted(stopped, reverse=True):
        report = {"cell": number, "line": stopped[number]}
        code = _line_of(report, cells)
        if code and parse_cell(cells[number]) is None:
            if name in names_in_text(cells[number]):
                return Phrase(
                    "The cell that defines {name} is not valid Python. Its line "
                    "{number} is: {code}",
                    *(name, stopped[number], code),
                )
            continue
        program = read_program(cells[number : number + 1])
        if code and (name in program.definitions or name in program.imports):
            return Phrase(
                "The cell that defines {name} stopped at its line {number}: {code}",
                *(name, stopped[number], code),
            )
    return ""


def _cause(message: str) -> str:
    """Return the notebook's explanation of this error message, or an empty string."""
    found = cause_of(message)
    if found is None:
        return ""
    text = found.text.format(**found.values)
    return Phrase.of(text[0].upper() + text[1:], found.text, found.values)


def without_values(text: Any, limit: int) -> str:
    """Return clean text without values, because an error could show the inputs.

    A few short integers stay, because they are sizes. Long numbers and text that looks
    like a code are removed.
    """
    left = MOST_SIZES

    def size_or_nothing(match: re.Match[str]) -> str:
        nonlocal left
        left -= 1
        return match[0] if left >= 0 else "…"

    text = OPAQUE.sub("…", FRACTION.sub("…", clean(text, min(limit, MAX_MESSAGE))))
    return DOTS.sub("…", NUMBER.sub(size_or_nothing, text))


def _line_of(report: dict[str, Any], cells: Sequence[str]) -> str:
    """Return the line of the notebook that a report refers to, or an empty string."""
    cell, line = report.get("cell"), report.get("line")
    if type(cell) is not int or type(line) is not int or not 0 <= cell < len(cells):
        return ""
    lines = EMPTY_LINES.sub("", cells[cell]).split("\n")
    return clean(lines[line - 1], 120) if 0 < line <= len(lines) else ""

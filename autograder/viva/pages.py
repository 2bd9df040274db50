"""Write a page with all sheets of a class, one with the answers, and a quiz as CSV."""

import ast
import csv
import hashlib
import io
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from autograder.atomic_write import atomic_write
from autograder.grading.feedback_table import with_code
from autograder.grading.outputs import safe_text
from autograder.phrases import translated
from autograder.sandbox.safe_cells import is_number, quoted
from autograder.translations.feedback_catalogues import feedback_table
from autograder.unit import GradedUnit
from autograder.viva.questions import LETTERS, WRONG_CHOICES
from autograder.viva.sheets import Sheet

TEMPLATES = Path(__file__).resolve().parents[1] / "pages" / "viva"
WRONG = [f"wrong choice {number + 1}" for number in range(WRONG_CHOICES)]
COLUMNS = ["student", "number", "question", "right answer", *WRONG]
LONGEST_IDS = 100  # maximum number of bytes in a file name


def write_sheets(
    root: Path,
    unit: GradedUnit,
    sheets: Sequence[Sheet],
    folder: Path,
    students: Sequence[str] = (),
) -> list[Path]:
    """Write the sheets, the answers and the quiz, and return their paths.

    Args:
        root: the class's folder.
        unit: the unit.
        sheets: the sheets.
        folder: the folder to write into.
        students: the ids for the file names; by default, the sheets are for the whole
            class.
    """
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
    )
    environment.filters |= {"with_code": with_code, "plain": safe_text}
    tables = {
        one.language: feedback_table(root, one.language, unit.slug)
        for one in sheets
        if one.language
    }

    def said(text: str, sheet: Sheet) -> str:
        return translated(text, tables.get(sheet.language or "en", {}))

    words = {
        **{"slug": unit.slug, "sheets": sheets, "said": said},
        "uses_identity": _uses_identity,
        "returned": {
            name: returned(unit, name) for one in sheets for name in one.listings
        },
    }
    made, stem = [], "-".join([unit.slug, *_short(students)])
    for ending in ("viva", "viva-answers"):
        made.append(folder / f"{stem}-{ending}.html")
        page = environment.get_template(f"{ending}.html.j2").render(words)
        atomic_write(made[-1], page.encode("utf-8", "replace"))
    made.append(folder / f"{stem}-viva-quiz.csv")
    table = io.StringIO(newline="")
    for row in (COLUMNS, *_quiz_rows(sheets, said)):
        texts = [safe_text(cell) for cell in row]
        csv.writer(table).writerow(
            one if is_number(one) else quoted(one) for one in texts
        )
    atomic_write(made[-1], table.getvalue().encode("utf-8-sig", "replace"))
    return made


def _uses_identity(sheet: Sheet) -> bool:
    calls = [call for _, calls in sheet.listings.values() for call in calls]
    return any("identity(" in call for call in calls)


def _short(students: Sequence[str]) -> list[str]:
    """Return the ids for a file name; if they are too long, the first id and a hash."""
    names = "-".join(students).encode()
    if len(names) <= LONGEST_IDS:
        return list(students)
    first = students[0].encode()[: LONGEST_IDS // 2].decode(errors="ignore")
    return [first, "and-more", hashlib.sha256(names).hexdigest()[:8]]


def _quiz_rows(
    sheets: Sequence[Sheet], said: Callable[[str, Sheet], str]
) -> Iterator[list[str]]:
    """Yield a row for each question; its text contains the code and the inputs."""
    for sheet in sheets:
        for number, one in enumerate(sheet.questions, 1):
            code, calls = sheet.listings[one.function]
            lines = [f"{n:2}  {line}" for n, line in enumerate(code.splitlines(), 1)]
            inputs = [
                f"{letter}: {call}"
                for letter, call in zip(LETTERS, calls, strict=False)
            ]
            text = "\n".join([*lines, "", *inputs, "", said(one.text, sheet)])
            wrong = [*one.wrong, *[""] * (WRONG_CHOICES - len(one.wrong))]
            choices = [said(choice, sheet) for choice in (one.right, *wrong)]
            yield [sheet.submission.student, str(number), text, *choices]


def returned(unit: GradedUnit, name: str) -> str:
    """Return the "Returns" section of a function's docstring, which names the axes."""
    for source in unit.answers.values():
        for node in ast.walk(ast.parse(source)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == name:
                texts = [ast.get_docstring(one) or "" for one in ast.walk(node)
                         if isinstance(one, ast.FunctionDef)]  # fmt: skip
                sections = [text.partition("Returns:")[2] for text in texts]
                last = next((one for one in reversed(sections) if one), "")
                return " ".join(last.partition("Raises:")[0].split())
    return ""

"""Give points by hand in a spreadsheet: tables to fill in, and what is taken from them.

A row is one answer. Points stand in `points`, or part by part in `part 1`, `part 2` …;
a comment is text, or names of comments that are kept in `comments.csv` of the class's
folder: `@units` stands for the text beside `units` there. An empty row changes nothing.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nbgrader.api import Grade, Gradebook

from autograder.classroom.folder import ClassFolder, grading_folder
from autograder.grading.feedback_table import number
from autograder.grading.outputs import safe_text
from autograder.sandbox.safe_cells import FORMULA, safe_cell
from autograder.unit import GradedUnit
from autograder.written.reading import answers_to
from autograder.written.rubric import Rubric
from autograder.written.settling import how_settled

COMMENTS = "comments.csv"
KEPT = re.compile(r"(?<!\w)@([\w-]+)")
NAMED = re.compile(r'\s*"?[\w-]+"?[ \t]*([,;\t])')  # how `comments.csv` begins
LONGEST = 30_000  # characters of an answer; a spreadsheet's cell holds 32,767
FIXED = ("student", "question", "of")


class MarksError(ValueError):
    """A table of marks cannot be taken; nothing was changed."""


@dataclass
class Mark:
    """What a human gave for one answer; what is None or empty stays as it is."""

    student: str
    question: str
    points: float | None = None
    comment: str = ""
    place: str = field(default="", compare=False)


def write_tables(
    folder: ClassFolder,
    unit: GradedUnit,
    rubrics: Sequence[Rubric],
    place: Path,
    graders: Sequence[str] = (),
    is_anonymous: bool = False,
) -> list[Path]:
    """Write the answers to grade, with what was given so far; a table a grader.

    Answers are dealt out student by student, in an order that no name decides.

    Returns:
        The files.
    """
    given = given_by_hand(folder, unit.slug)
    students = sorted(given, key=lambda one: code_of(unit.slug, one))
    answers = answers_to(folder, unit, students, [one.name for one in rubrics])
    parts = max((len(one.parts) for one in rubrics), default=0)
    heading = [*FIXED, *(f"part {n + 1}" for n in range(parts))]
    made = []
    for turn, grader in enumerate(graders or [""]):
        rows = [[*heading, "points", "comment", "answer"]]
        for student in students[turn :: len(graders) or 1]:
            who = code_of(unit.slug, student) if is_anonymous else student
            for one in rubrics:
                if answer := answers[one.name].get(student):
                    own = given[student].get(one.name, ("", ""))
                    fixed = [who, one.name, number(one.points), *[""] * parts]
                    rows.append([*fixed, *own, answer.text[:LONGEST]])
        made.append(table_of(place, unit.slug, grader))
        _write(made[-1], rows)
    if is_anonymous:
        _keep_codes(folder, unit.slug, students)
    return made


def table_of(place: Path, slug: str, grader: str = "") -> Path:
    """Return where a grader's table lies, or the only one."""
    return place / (f"{slug}-{grader}.csv" if grader else f"{slug}.csv")


def given_by_hand(
    folder: ClassFolder, slug: str
) -> dict[str, dict[str, tuple[str, str]]]:
    """Return student to question to the points and the comment given by hand.

    Points that do not count now are among them.
    """
    aside = how_settled(folder, slug).aside
    found: dict[str, dict[str, tuple[str, str]]] = {}
    with Gradebook(folder.db_url) as gradebook:
        for item in gradebook.assignment_submissions(slug):
            own = found.setdefault(item.student.id, {})
            kept = aside.get(item.student.id, {})
            for notebook in item.notebooks:
                said = {one.name: one.manual_comment or "" for one in notebook.comments}
                for grade in notebook.grades:
                    points = kept.get(grade.name, [grade.manual_score])[0]
                    shown = "" if points is None else number(points)
                    own[grade.name] = (shown, said.get(grade.name, ""))
    return found


def code_of(slug: str, student: str) -> str:
    """Return what an anonymous table calls a student."""
    return "a-" + hashlib.sha256(f"{slug} {student}".encode()).hexdigest()[:8]


def _keep_codes(folder: ClassFolder, slug: str, students: Sequence[str]) -> None:
    """Note who is who, for whoever may know: graders get the tables alone."""
    rows = [["code", "student"], *([code_of(slug, one), one] for one in students)]
    _write(grading_folder(folder.root) / "written" / f"{slug}-codes.csv", rows)


def _write(path: Path, rows: Sequence[Sequence[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([_harmless(cell) for cell in row] for row in rows)


def _harmless(text: str) -> str:
    """Return a cell of any length in which a spreadsheet finds no formula."""
    plain = safe_text(text)
    is_active = plain.startswith(FORMULA) and safe_cell(plain).startswith("'")
    return f"'{plain}" if is_active else plain


def _as_written(cell: str) -> str:
    """Take off what `_harmless` has put before a text."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(FORMULA) else cell


def read_table(
    path: Path, kept: Mapping[str, str], rubrics: Sequence[Rubric]
) -> list[Mark]:
    """Read a table that was filled in.

    Args:
        path: the file.
        kept: the comments that have names.
        rubrics: of the unit's questions.

    Raises:
        MarksError: naming the row, if a cell cannot be understood.
    """
    text = _text_of(path)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=_delimiter(text))
    missing = {"student", "question", "points"} - set(reader.fieldnames or ())
    if missing:
        raise MarksError(f"{path} has no column {sorted(missing)[0]}: write it anew.")
    by_name = {one.name: one for one in rubrics}
    marks = []
    for row_number, row in enumerate(reader, 2):
        place = f"{path}, row {row_number}"
        cells = {
            key: _as_written((value or "").strip()) for key, value in row.items() if key
        }
        if any(cells.values()):
            marks.append(_mark(place, cells, kept, by_name))
    return marks


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise MarksError(
            f"{path} is not in UTF-8: save it again, in Excel as `CSV UTF-8`."
        ) from None


def _delimiter(text: str) -> str:
    """Return what parts the cells: spreadsheets of some languages take no comma."""
    first = text.split("\n", 1)[0]
    return max(",;\t", key=first.count)


def _mark(
    place: str,
    cells: Mapping[str, str],
    kept: Mapping[str, str],
    rubrics: Mapping[str, Rubric],
) -> Mark:
    rubric = rubrics.get(cells["question"])
    if rubric is None:
        raise MarksError(
            f"{place}: there is no question {cells['question']!r}: "
            f"{', '.join(rubrics)}."
        )
    parts = [
        _points(place, cells[key], limit)
        for n, limit in enumerate(rubric.parts, 1)
        if cells.get(key := f"part {n}")
    ]
    if parts and len(parts) < len(rubric.parts):
        raise MarksError(
            f"{place}: {len(parts)} of {len(rubric.parts)} parts are given."
        )
    points = _points(place, cells["points"], rubric.points) if cells["points"] else None
    comment = KEPT.sub(
        lambda found: kept.get(found[1], found[0]), cells.get("comment", "")
    )
    given = sum(parts) if parts else points
    return Mark(cells["student"], rubric.name, given, comment, place)


def _points(place: str, text: str, most: float) -> float:
    try:
        points = float(text.replace(",", "."))
    except ValueError:
        points = -1.0
    if not 0 <= points <= most:
        raise MarksError(f"{place}: {text!r}: expected points, 0 to {number(most)}.")
    return points


def kept_comments(folder: ClassFolder) -> dict[str, str]:
    """Return the class's comments by their names, from `comments.csv`.

    Raises:
        MarksError: if it is not in UTF-8.
    """
    path = folder.root / COMMENTS
    if not path.is_file():
        return {}
    text = _text_of(path)
    found = NAMED.match(text)
    rows = csv.reader(
        io.StringIO(text, newline=""), delimiter=found[1] if found else ","
    )
    return {row[0].strip(): row[1].strip() for row in rows if len(row) > 1}


def unknown_names(marks: Sequence[Mark]) -> list[str]:
    """Return the names in comments that stand for nothing, and stay as written."""
    found = (name for mark in marks for name in KEPT.findall(mark.comment))
    return list(dict.fromkeys(found))


def take(folder: ClassFolder, unit: GradedUnit, marks: Sequence[Mark]) -> int:
    """Write marks into the gradebook, all or none; return how many were new.

    Raises:
        MarksError: if a student is not there, or two rows say different things.
    """
    new = 0
    with Gradebook(folder.db_url) as gradebook:
        submissions = gradebook.assignment_submissions(unit.slug)
        students = {item.student.id for item in submissions}
        codes = {code_of(unit.slug, one): one for one in students}
        seen: dict[tuple[str, str], Mark] = {}
        for mark in marks:
            student = codes.get(mark.student, mark.student)
            if student not in students:
                raise MarksError(f"{mark.place}: nobody is called {mark.student!r}.")
            before = seen.setdefault((student, mark.question), mark)
            if before != mark:
                raise MarksError(f"{mark.place} says otherwise than {before.place}.")
        for (student, question), mark in seen.items():
            where = (question, unit.slug, unit.slug, student)
            new += _take(gradebook, gradebook.find_grade(*where), mark, where)
        gradebook.db.commit()
    return new


def _take(
    gradebook: Gradebook, grade: Grade, mark: Mark, where: tuple[str, str, str, str]
) -> bool:
    """Write one mark; say whether it changes anything."""
    was = (grade.manual_score, grade.needs_manual_grade)
    if mark.points is not None:
        grade.manual_score, grade.needs_manual_grade = mark.points, False
    changed = was != (grade.manual_score, grade.needs_manual_grade)
    if mark.comment:
        comment = gradebook.find_comment(*where)
        changed |= comment.manual_comment != mark.comment
        comment.manual_comment = mark.comment
    return changed

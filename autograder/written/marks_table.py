"""Grade by hand in a spreadsheet: write the tables, and import the marks.

Each row is for one answer. The column `points` contains its points, or the columns
`part 1`, `part 2` … contain the points of its parts. A comment is text that may contain
names of comments in `comments.csv`. An empty row changes nothing, except that a row
with `same as` gets the marks of an identical answer. The column `page` contains the
address of the answer in formgrader, without the address of the Jupyter server.
`filled_in.py` reads the filled-in tables.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from nbgrader.api import Grade, Gradebook

from autograder.atomic_write import atomic_write
from autograder.classroom.folder import ClassFolder, grading_folder
from autograder.grading.feedback_table import number
from autograder.grading.outputs import safe_text
from autograder.nbgrader_steps.equal_answers import keep_equal_answers
from autograder.sandbox.safe_cells import is_number, quoted
from autograder.unit import GradedUnit
from autograder.written.filled_in import SAME_AS, Mark, refuse, with_equal_answers
from autograder.written.reading import answers_to
from autograder.written.rubric import Rubric
from autograder.written.settling import how_settled
from autograder.written.substance import Answer, similar_together

LONGEST = 30_000  # characters of an answer; a spreadsheet's cell can contain 32,767
FIXED = ("student", "question", "of", SAME_AS)
ENTRIES = ("points", "comment", "answer", "page")


def write_tables(
    folder: ClassFolder,
    unit: GradedUnit,
    rubrics: Sequence[Rubric],
    place: Path,
    graders: Sequence[str] = (),
    is_anonymous: bool = False,
) -> tuple[list[Path], int]:
    """Write a table for each grader with the answers and the existing marks.

    Answers are distributed to the graders by student, in an order that does not depend
    on names. Similar answers to a question are next to each other. Equal answers are
    given to the same grader. One row of them is for the marks, and the other rows are
    at the end of the table.

    Returns:
        The files, and how many answers are equal to an answer in another row.
    """
    given = given_by_hand(folder, unit.slug)
    students = sorted(given, key=lambda one: code_of(unit.slug, one))
    answers = answers_to(folder, unit, students, [one.name for one in rubrics])
    parts = max((len(one.parts) for one in rubrics), default=0)
    heading = [*FIXED, *(f"part {n + 1}" for n in range(parts))]
    made = [table_of(place, unit.slug, grader) for grader in graders or [""]]
    turns = {student: n % len(made) for n, student in enumerate(students)}
    rows: list[list[list[str]]] = [[] for _ in made]
    equal: list[list[list[str]]] = [[] for _ in made]
    addresses = submissions_in_formgrader(folder, unit.slug)
    groups: dict[str, list[list[str]]] = {}
    for one in rubrics:
        own = {who: given[who].get(one.name, ("", "")) for who in students}
        firsts = first_of_equals(answers[one.name], own)
        groups[one.name] = _submissions_by_first(firsts, addresses)
        asked = list(answers[one.name].items())
        words = [answer.text.casefold().split() for _, answer in asked]
        for who, answer in (asked[n] for n in similar_together(words)):
            first = firsts.get(who, "")
            named = [code_of(unit.slug, x) if x and is_anonymous else x
                     for x in (who, first)]  # fmt: skip
            fixed = [named[0], one.name, number(one.points), named[1], *[""] * parts]
            marks = ("", "") if first and own[who] == own[first] else own[who]
            page = f"formgrader/submissions/{addresses[who]}/"
            row = [*fixed, *marks, answer.text[:LONGEST], page]
            (equal if first else rows)[turns[first or who]].append(row)
    for path, plain, others in zip(made, rows, equal, strict=True):
        others.sort(key=lambda row: row[1 : len(FIXED)])  # equal answers are together
        _write(path, [[*heading, *ENTRIES], *plain, *others])
    if is_anonymous:
        _keep_codes(folder, unit.slug, students)
    _remember(folder, unit.slug, given)
    keep_equal_answers(folder.root, unit.slug, groups)
    return made, sum(map(len, equal))


def first_of_equals(
    answers: Mapping[str, Answer], given: Mapping[str, tuple[str, str]]
) -> dict[str, str]:
    """For each answer that equals another, return the student whose row gets the marks.

    Case, spaces and a final full stop are ignored. An answer with a picture is never
    equal to another. The row is that of the first student who already has points, or
    else of the first student.
    """
    groups: dict[str, list[str]] = {}
    for student, answer in answers.items():
        if not answer.has_picture:
            words = " ".join(answer.text.casefold().split())
            groups.setdefault(words.rstrip(".!? "), []).append(student)
    found: dict[str, str] = {}
    for students in groups.values():
        first = next((one for one in students if given[one][0]), students[0])
        found |= {one: first for one in students if one != first}
    return found


def _submissions_by_first(
    firsts: Mapping[str, str], addresses: Mapping[str, str]
) -> list[list[str]]:
    """Return the groups of submissions whose answers are equal."""
    groups: dict[str, list[str]] = {}
    for student, first in firsts.items():
        groups.setdefault(first, [addresses[first]]).append(addresses[student])
    return [*groups.values()]


def submissions_in_formgrader(folder: ClassFolder, slug: str) -> dict[str, str]:
    """Return each student's submission id, as used in formgrader's addresses."""
    with Gradebook(folder.db_url) as gradebook:
        found = gradebook.notebook_submissions(slug, slug)
        return {one.student.id: one.id for one in found}


def table_of(place: Path, slug: str, grader: str = "") -> Path:
    """Return the path of a grader's table, or of the only table."""
    return place / (f"{slug}-{grader}.csv" if grader else f"{slug}.csv")


def given_by_hand(
    folder: ClassFolder, slug: str
) -> dict[str, dict[str, tuple[str, str]]]:
    """For each student and question, return the points and comment given by hand.

    This includes points that currently do not count.
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


def _known(folder: ClassFolder, slug: str) -> Path:
    """Return the path of the file with the points that tables contained last."""
    return grading_folder(folder.root) / "written" / f"{slug}-known.json"


def _remember(
    folder: ClassFolder, slug: str, given: Mapping[str, Mapping[str, tuple[str, str]]]
) -> None:
    points = {
        student: {question: one[0] for question, one in own.items()}
        for student, own in given.items()
    }
    text = json.dumps(points, ensure_ascii=False)
    atomic_write(_known(folder, slug), text.encode("utf-8"))


def _newer(
    folder: ClassFolder, slug: str, marks: Mapping[tuple[str, str], Mark]
) -> list[str]:
    """Return the rows whose points would overwrite newer points from formgrader."""
    path = _known(folder, slug)
    known = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    given = given_by_hand(folder, slug)
    faults = []
    for (student, question), mark in marks.items():
        before = known.get(student, {}).get(question)
        now = given.get(student, {}).get(question, ("", ""))[0]
        own = "" if mark.points is None else number(mark.points)
        if own and now and before is not None and now not in (before, own):
            faults.append(
                f"{mark.place}: {own} points, but the gradebook has {now}, which were "
                f"given after this table was written. Write {now} into the row to keep "
                f"{now}, or enter {own} in formgrader."
            )
    return faults


def code_of(slug: str, student: str) -> str:
    """Return the code that replaces a student's id in an anonymous table."""
    return "a-" + hashlib.sha256(f"{slug} {student}".encode()).hexdigest()[:8]


def _keep_codes(folder: ClassFolder, slug: str, students: Sequence[str]) -> None:
    """Write the students' codes to a file that graders do not get."""
    rows = [["code", "student"], *([code_of(slug, one), one] for one in students)]
    _write(grading_folder(folder.root) / "written" / f"{slug}-codes.csv", rows)


def _write(path: Path, rows: Sequence[Sequence[str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        csv.writer(file).writerows([_harmless(cell) for cell in row] for row in rows)


def _harmless(text: str) -> str:
    """Return a cell of any length that spreadsheets do not interpret as a formula."""
    plain = safe_text(text)
    return plain if is_number(plain) else quoted(plain)


def take(
    folder: ClassFolder,
    unit: GradedUnit,
    marks: Sequence[Mark],
    faults: Sequence[str] = (),
) -> int:
    """Write either all or no marks into the gradebook; return how many were new.

    Args:
        folder: the class.
        unit: the unit.
        marks: the marks of all rows.
        faults: the errors that were found when the rows were read.

    Raises:
        MarksError: if `faults` is not empty, if a student does not exist, if two rows
            contradict each other, or if the points are older than those in the
            gradebook. The message lists all errors.
    """
    new = 0
    marks, unfound = with_equal_answers(marks)
    with Gradebook(folder.db_url) as gradebook:
        submissions = gradebook.assignment_submissions(unit.slug)
        students = {item.student.id for item in submissions}
        codes = {code_of(unit.slug, one): one for one in students}
        seen: dict[tuple[str, str], Mark] = {}
        faults = [*faults, *unfound]
        for mark in marks:
            student = codes.get(mark.student, mark.student)
            before = seen.setdefault((student, mark.question), mark)
            if student not in students:
                faults.append(f"{mark.place}: nobody is called {mark.student!r}.")
            elif before != mark:
                faults.append(f"{mark.place} contradicts {before.place}.")
        refuse([*faults, *_newer(folder, unit.slug, seen)])
        for (student, question), mark in seen.items():
            where = (question, unit.slug, unit.slug, student)
            new += _take(gradebook, gradebook.find_grade(*where), mark, where)
        gradebook.db.commit()
    _remember(folder, unit.slug, given_by_hand(folder, unit.slug))
    return new


def _take(
    gradebook: Gradebook, grade: Grade, mark: Mark, where: tuple[str, str, str, str]
) -> bool:
    """Write the marks of one row, and return whether anything changed."""
    was = (grade.manual_score, grade.needs_manual_grade)
    if mark.points is not None:
        grade.manual_score, grade.needs_manual_grade = mark.points, False
    changed = was != (grade.manual_score, grade.needs_manual_grade)
    if mark.comment:
        comment = gradebook.find_comment(*where)
        changed |= comment.manual_comment != mark.comment
        comment.manual_comment = mark.comment
    return changed

"""Collect the data on a class's work on one unit, without writing anything."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode
from nbgrader.api import Gradebook, MissingEntry

from autograder.class_report.report import ClassReport, Row
from autograder.class_report.words import Words, language_of_most, words_in
from autograder.classroom.audit_log import NAME as LOG
from autograder.classroom.fingerprint import fingerprint_of_submission
from autograder.classroom.folder import ClassFolder, grading_folder
from autograder.collect.import_report import sent_instead
from autograder.collect.submission_store import SubmissionStore
from autograder.course import ENGLISH, UNCOUNTED
from autograder.grading.language import language_of
from autograder.grading.outcome import RECORD
from autograder.grading.written_answers import scaled, sentence_about
from autograder.marks import Marks, marks_of
from autograder.phrases import Phrase, restored
from autograder.translations.unit_table import title_of
from autograder.unit import CHECK_SUFFIX, Submission, graded_unit
from autograder.viva.marks import marks_path, read_marks, shown
from autograder.written.settling import how_settled

CHANGED = Phrase("it has changed since it was graded")
AS_GIVEN_OUT = Phrase("its answers are as they were given out")
CLOCKS = 1.0  # seconds by which the times of files and the log may differ


def gather(folder: ClassFolder, slug: str, only: str | None = None) -> ClassReport:
    """Read a unit's results from the gradebook, autograded notebooks and audit log.

    Args:
        folder: the class.
        slug: the slug of the unit.
        only: the id of a single student, which may be unknown. The default is all
            students.

    Raises:
        FileNotFoundError: if no submission of the unit was ever graded in this class.
    """
    log = last_lines(grading_folder(folder.root) / LOG, slug)
    handed_in = {one.student: one for one in folder.submissions(slug)}
    with Gradebook(folder.db_url) as gradebook:
        try:
            notebook = gradebook.find_notebook(slug, slug)
        except MissingEntry:
            raise FileNotFoundError(
                f"{slug} was never graded here: run `course grade {slug}` first"
            ) from None
        cells = [*notebook.grade_cells, *notebook.task_cells]
        points = {_exercise(cell.name): cell.max_score for cell in cells}
        known = {student.id: student for student in gradebook.students}
        settled = how_settled(folder, slug)
        counted = round(sum(points.values()), 2)
        uncounted = settled.points if settled.mode == UNCOUNTED else {}
        total = counted + sum(uncounted.values())
        scale = partial(scaled, counted=counted, total=total)
        doubts = settled.without_substance()
        sources = _Sources(folder, slug, gradebook, log, handed_in, scale, doubts)
        viva = read_marks(marks_path(folder.root, slug))
        rows = [
            replace(
                sources.row(name, _details(known.get(name))),
                viva=shown(viva.get(name, ())),
            )
            for name in sorted(known.keys() | handed_in.keys() | log.keys())
            if only in (None, name)
        ]
    words = _words_about(folder, slug, rows)
    return ClassReport(
        slug=slug,
        title=title_of(folder.course, folder.course.unit(slug), words.language),
        max_score=round(total, 2),
        points={name: points[name] for name in _order_of(folder, slug, points)},
        by_hand=frozenset(c.name for c in cells if not c.name.endswith(CHECK_SUFFIX)),
        rows=tuple(rows),
        note=words.of_grader(sentence_about(settled.mode, counted, total)),
        words=words,
    )


def _words_about(folder: ClassFolder, slug: str, rows: Sequence[Row]) -> Words:
    """Return the page's texts in the language of most graded notebooks."""
    graded = (row.language for row in rows if row.status == "graded")
    return words_in(language_of_most(graded), slug, folder.root)


@dataclass(frozen=True)
class _Sources:
    """Read the rows from the gradebook and all other data from the audit log."""

    folder: ClassFolder
    slug: str
    gradebook: Gradebook
    log: Mapping[str, Mapping[str, Any]]
    handed_in: Mapping[str, Submission]
    scale: Callable[[float], float]
    without_substance: Mapping[str, list[str]]

    @cached_property
    def sent_instead(self) -> dict[str, str]:
        """Return the files of those students from whom no file could be taken."""
        return sent_instead(self.folder.root, self.slug)

    def row(self, name: str, details: Mapping[str, str]) -> Row:
        line = self.log.get(name, {})
        marks = marks_of(self.gradebook.db, self.slug, name)
        status, reason = self._status(name, marks)
        if status != "graded":
            is_given = marks.is_by_hand and status in ("missing", "not taken")
            given = self.scale(marks.score) if is_given else None
            return Row(name, status, reason, given, details=details)
        notebook = _read(self._autograded(name))
        record = restored(notebook.metadata.get(RECORD, {}))
        return Row(
            student=name,
            status=status,
            score=self.scale(marks.score),
            penalty=self.scale(marks.penalty),
            scores={_exercise(cell): score for cell, score in marks.scores.items()},
            awaits_a_human=marks.awaits_a_human,
            checks=tuple(record.get("checks", ())),
            repair=tuple(record.get("repair", ())),
            doubtful=(
                *record.get("doubtful", ()),
                *self.without_substance.get(name, ()),
                *([AS_GIVEN_OUT] if self._is_untouched(name) else ()),
            ),
            limits_hit=tuple(record.get("limits_hit", ())),
            seconds=line.get("seconds") or record.get("seconds"),
            details=details,
            page=self._page(name),
            language=language_of(notebook) or ENGLISH,
            sandbox=str(record.get("sandbox", "")),
        )

    def _is_untouched(self, name: str) -> bool:
        submitted = self.folder.root / self.folder.coursedir.submitted_directory
        return SubmissionStore(
            self.folder.root, submitted, name, self.slug
        ).is_untouched

    def _page(self, name: str) -> str:
        """Return the path of a student's feedback page, or "" if there is none."""
        submission = self.handed_in.get(name)
        path = submission and self.folder.feedback_page(submission)
        return str(path) if path and path.is_file() else ""

    def _status(self, name: str, marks: Marks) -> tuple[str, str]:
        """Return a submission's status, and the reason if it has no marks."""
        line, submission = self.log.get(name, {}), self.handed_in.get(name)
        if any(score is not None for score in marks.auto.values()):
            if submission is not None and self._has_changed(submission, line):
                return "not graded", CHANGED
            return "graded", ""
        if line.get("status") in ("refused", "failed"):
            return line["status"], line.get("reason", "")
        if submission is not None:
            return "not graded", ""
        instead = self.sent_instead.get(name, "")
        return ("not taken" if instead else "missing"), instead

    def _has_changed(self, submission: Submission, line: Mapping[str, Any]) -> bool:
        """Return whether the submission has changed since it was graded.

        If nbgrader's own command graded it, the log has no line for this. In this case,
        the graded notebook is newer than the last line of the log.
        """
        graded = line.get("hashes", {}).get("submission")
        if graded is None or graded == fingerprint_of_submission(submission):
            return False
        try:
            written = self._autograded(submission.student).stat().st_mtime
        except OSError:
            return True
        return written <= datetime.fromisoformat(line["when"]).timestamp() + CLOCKS

    def _autograded(self, name: str) -> Path:
        place = self.folder.coursedir.format_path("autograded", name, self.slug)
        return Path(place) / f"{self.slug}.ipynb"


def last_lines(path: Path, slug: str) -> dict[str, dict[str, Any]]:
    """Return each student's last line for a unit in the audit log.

    A line for a kept result gets its grading time from the line before.
    """
    found: dict[str, dict[str, Any]] = {}
    for line in _lines(path):
        if line.get("unit") != slug:
            continue
        before = found.get(line["student"], {})
        if line["status"] == "kept":
            line = {**line, "status": "graded", "seconds": before.get("seconds")}
        found[line["student"]] = line
    return found


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    if not path.is_file():
        return
    for text in path.read_text(encoding="utf-8").splitlines():
        try:
            yield restored(json.loads(text))
        except ValueError:  # the process was killed while it wrote the line
            continue


def _order_of(folder: ClassFolder, slug: str, points: Mapping[str, float]) -> list[str]:
    """Return the graded cells in the order of the released notebook."""
    released = graded_unit(slug, folder.root).released
    ids = [cell.metadata.get("nbgrader", {}).get("grade_id") for cell in released.cells]
    order = [_exercise(one) for one in ids if one and _exercise(one) in points]
    return [*dict.fromkeys(order), *sorted(points.keys() - set(order))]


def _exercise(cell: str) -> str:
    return cell.removesuffix(CHECK_SUFFIX)


def _details(student: Any) -> dict[str, str]:
    """Return a student's name, address and platform number from the gradebook."""
    found = {
        key: getattr(student, key, None)
        for key in ("first_name", "last_name", "email", "lms_user_id")
    }
    return {key: str(value) for key, value in found.items() if value}


def _read(path: Path) -> NotebookNode:
    """Return the autograded notebook, which contains the results of grading."""
    try:
        return nbformat.read(path, as_version=4)
    except (OSError, ValueError):
        return nbformat.v4.new_notebook()

"""Write nbgrader's feedback pages with our words and styles, without repetition."""

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import BytecodeCache, Environment
from jinja2.bccache import Bucket
from nbconvert.exporters import HTMLExporter, TemplateExporter
from nbformat import NotebookNode
from nbformat.v4 import reads
from nbgrader.api import MissingEntry, SubmittedNotebook
from nbgrader.converters import GenerateFeedback
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_solution, is_task
from sqlalchemy.orm import Session

from autograder.atomic_write import atomic_path
from autograder.course import BY_HAND, ENGLISH, SUBSTANCE, UNCOUNTED
from autograder.gradebook import open_session
from autograder.grading.feedback_table import COLOURS, number, with_code
from autograder.grading.language import language_of
from autograder.grading.outcome import RECORD
from autograder.grading.written_answers import scaled, sentence_about
from autograder.marks import find_submission
from autograder.nbgrader_steps.feedback_words import (
    translate_checks,
    with_nbgraders_words,
)
from autograder.phrases import Phrase, joined, translated
from autograder.translations.feedback_catalogues import feedback_table
from autograder.translations.notebooks import exercise_name
from autograder.unit import CHECK_SUFFIX, graded_unit, is_graded_code, points_told

SETUP = "setup"
PRE = re.compile(r"(<pre.*?</pre>)", re.DOTALL)
BLANKS = re.compile(r"\n\s+")
OURS = ("text/html", "text/markdown", "text/latex", "image/png", "image/jpeg")
CARRIED = ("timestamp.txt", "submission_secret.txt")  # nbgrader's exchange needs them


class MemoryCache(BytecodeCache):
    """Store compiled templates until the process ends."""

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._compiled: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Load a template if it was compiled before and has not changed."""
        if bucket.key in self._compiled:
            bucket.bytecode_from_string(self._compiled[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store a compiled template."""
        self._compiled[bucket.key] = bucket.bytecode_to_string()


COMPILED = MemoryCache()


def _find_notebook(session: Session, page: Mapping[str, Any]) -> SubmittedNotebook:
    """Return the gradebook's entry for a page's notebook.

    Raises:
        MissingEntry: if the gradebook has no such notebook.
    """
    found = find_submission(session, page["assignment"], page["student"])
    for notebook in found.notebooks if found else ():
        if notebook.notebook.name == page["notebook"]:
            return notebook
    words = "the gradebook has no {notebook} of {student}".format_map(page)
    raise MissingEntry(words)


class GradesOrNone(NbGraderPreprocessor):
    """Fetch scores and comments as nbgrader does, but with fewer queries.

    Also mark the cells that nobody has graded yet, and explain how written answers
    count.
    """

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Fetch all scores, and explain how written answers count."""
        page, mode = resources["nbgrader"], BY_HAND
        with open_session(page["db_url"]) as session:
            found = _find_notebook(session, page)
            self._grades = {grade.cell.name: grade for grade in found.grades}
            self._comments = {one.cell.name: one for one in found.comments}
            nb, resources = super().preprocess(nb, resources)
            page["late_penalty"] = found.late_submission_penalty or 0
            page["max_score"] = sum(one.cell.max_score for one in found.grades)
            scores = sum(one.score for one in found.grades)
            page["score"] = scores - page["late_penalty"]
        own = [cell.metadata.get("nbgrader", {}) for cell in nb.cells]
        total = counted = page["max_score"]
        if any(details.get("uncounted") for details in own):
            mode = UNCOUNTED
            root = Path(self.parent.parent.coursedir.root)
            total = points_told(graded_unit(page["assignment"], root).released)
        elif any(details.get("has_substance") for details in own):
            mode = SUBSTANCE
        page["note"] = sentence_about(mode, counted, total)
        if mode == UNCOUNTED:
            score = number(scaled(page["score"], counted, total))
            yours = Phrase("Yours is {score} of {total}.", score, number(total))
            page["note"] = joined("{one} {more}", [page["note"], yours])
        self._choose_language(nb, page)
        return nb, resources

    def _choose_language(self, nb: NotebookNode, page: dict[str, Any]) -> None:
        """Use the language of the submitted notebook for the page."""
        page["language"], page["told"] = language_of(nb) or ENGLISH, str
        if page["language"] != ENGLISH:
            root = Path(self.parent.parent.coursedir.root)
            table = feedback_table(root, page["language"], page["assignment"])
            page["told"] = lambda text: translated(text, table)
            page["note"] = translated(page["note"], table)
            translate_checks(nb, table)

    def preprocess_cell(
        self, cell: NotebookNode, resources: dict[str, Any], cell_index: int
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Copy a cell's score and comment, and record whether it has a score."""
        own = cell.metadata.get("nbgrader", {})
        if is_solution(cell) or is_task(cell):
            own["comment"] = self._comments[own["grade_id"]].comment
        if is_grade(cell) or is_task(cell):
            grade = self._grades[own["grade_id"]]
            is_written = is_task(cell) or is_solution(cell)
            by_hand = grade.manual_score is not None
            own |= {
                "score": grade.score,
                "points": grade.cell.max_score,
                "ungraded": grade.auto_score is None and not by_hand,
                "uncounted": is_written and not grade.cell.max_score,
                "has_substance": is_written and not by_hand and bool(grade.auto_score),
            }
        return cell, resources


def failed_of(cell: NotebookNode, notebook: NotebookNode) -> list[dict[str, Any]]:
    """Return the checks of a graded cell that did not pass."""
    exercise = cell.metadata.nbgrader["grade_id"].removesuffix(CHECK_SUFFIX)
    return [check for check in _failed(notebook) if check["exercise"] == exercise]


def cause_and_rest(
    checks: Sequence[dict[str, Any]],
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Split an exercise's failed checks into those to read first and the others.

    The first group contains one check for each named mistake or, if no mistake is
    named, the check with the most points. It also contains every check with a hint.
    """
    first = {check["mistake"]: check for check in reversed(checks) if check["mistake"]}
    causes = list(first.values()) or [max(checks, key=lambda one: one["max_points"])]
    shown = [check for check in checks if check in causes or check["hint"]]
    return shown, [check for check in checks if check not in shown]


def has_failed(notebook: NotebookNode) -> bool:
    """Return whether any check did not pass."""
    return bool(_failed(notebook))


def _failed(notebook: NotebookNode) -> list[dict[str, Any]]:
    checks = notebook.metadata.get(RECORD, {}).get("checks", [])
    return [check for check in checks if check["status"] != "passed"]


def is_shown(cell: NotebookNode) -> bool:
    """Return whether a cell belongs on the feedback page.

    The course's own code is left out if it has no output, because the student already
    has it. The set-up cell is shown only if it failed.
    """
    if cell.cell_type != "code" or is_graded_code(cell):
        return True
    own = cell.metadata.get("nbgrader", {})
    if own.get("grade_id") == SETUP:
        return any(output.output_type == "error" for output in cell.outputs)
    is_extra = cell.get("id", "").startswith("extra-")
    return bool(own.get("solution") or cell.outputs or is_extra)


def kinds_shown(output: NotebookNode) -> list[str]:
    """Return the only MIME type that the page uses for an output."""
    kinds = [kind for kind in (*OURS, "text/plain") if kind in output]
    return kinds[:1]


def lean(html: str) -> str:
    """Return a page without markup that is repeated or invisible.

    Text in `pre` is unchanged. Our table needs no inline colours, because our style
    sheet sets them.
    """
    for status, colour in COLOURS.items():
        html = html.replace(f'<b style="color:{colour}">', f'<b class="{status[:1]}">')
    parts = PRE.split(html)
    parts[::2] = (BLANKS.sub("\n", part) for part in parts[::2])
    return "".join(parts)


class FeedbackExporter(HTMLExporter):
    """Export HTML with our filters, and compile templates only once."""

    def default_filters(self) -> Any:
        """Yield nbconvert's filters and the filters of our template."""
        yield from super().default_filters()
        yield "exercise_name", exercise_name
        yield "points", number
        yield "failed", failed_of
        yield "cause_and_rest", cause_and_rest
        yield "has_failed", has_failed
        yield "is_shown", is_shown
        yield "with_code", with_code
        yield "filter_data_type", kinds_shown

    def from_notebook_node(  # type: ignore[override]  # nbconvert's own differ too
        self, nb: NotebookNode, resources: dict[str, Any] | None = None, **kw: Any
    ) -> tuple[str, dict[str, Any]]:
        """Return the page, but skip nbconvert's second pass over the whole page."""
        words = {"language": ENGLISH, "told": str}
        own = {**words, **(resources or {}).get("nbgrader", {})}
        resources = {**(resources or {}), "nbgrader": own}
        html, resources = TemplateExporter.from_notebook_node(self, nb, resources, **kw)
        page = resources["nbgrader"]
        if page["language"] != ENGLISH:
            html = with_nbgraders_words(html, page["told"])
        return lean(html), resources

    def _create_environment(self) -> Environment:
        environment = super()._create_environment()
        environment.bytecode_cache = COMPILED
        return environment


class FeedbackPages(GenerateFeedback):
    """Write many feedback pages with a converter that is set up only once.

    `nbgrader generate_feedback` writes the same pages. However, it creates the exporter
    and its steps again for each page, and copies the course's files next to the page.
    """

    def __init__(self, **settings: Any):
        """Create the exporter and its steps."""
        super().__init__(**settings)
        self.exporter = self.exporter_class(parent=self, config=self.config)
        for step in self.preprocessors:
            self.exporter.register_preprocessor(step)

    def write(self, student: str, slug: str) -> None:
        """Write the page of a graded submission.

        Raises:
            OSError: if the submission is not graded or the page cannot be written.
        """
        graded = Path(self._format_source(slug, student))
        target = Path(self._format_dest(slug, student))
        text = (graded / f"{slug}.ipynb").read_text(encoding="utf-8")
        notebook = reads(text)
        names = {"student": student, "assignment": slug, "notebook": slug}
        resources = {"nbgrader": {**names, "db_url": self.coursedir.db_url}}
        html, _ = self.exporter.from_notebook_node(notebook, resources)
        target.mkdir(parents=True, exist_ok=True)
        for name in CARRIED:
            if (graded / name).is_file():
                shutil.copyfile(graded / name, target / name)
        with atomic_path(target / f"{slug}.html") as part:
            part.write_text(html, encoding="utf-8")

"""Add links to submissions with equal answers to formgrader's pages.

`course marks` finds equal answers, and one row of its table is for the marks of all of
them.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from nbconvert.preprocessors import Preprocessor
from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell
from traitlets import Unicode

from autograder.atomic_write import atomic_write

MOST_LINKS = 40
WRITTEN = Path("grading", "written")  # in the class's folder
Groups = Mapping[str, Iterable[list[str]]]  # question to groups of submissions


def _file(root: Path, slug: str) -> Path:
    return root / WRITTEN / f"{slug}-equal.json"


def keep_equal_answers(root: Path, slug: str, groups: Groups) -> None:
    """Store the groups of submissions that have equal answers."""
    found: dict[str, dict[str, list[str]]] = {}
    for question, several in groups.items():
        for group in several:
            for one in group:
                others = [other for other in group if other != one]
                found.setdefault(one, {})[question] = others
    content = json.dumps(found).encode()
    atomic_write(_file(root, slug), content)


class ShowEqualAnswers(Preprocessor):
    """Add links above each answer that equals others, but only on formgrader's page."""

    enabled = True
    root = Unicode(help="the class's folder").tag(config=True)

    def preprocess(
        self, nb: NotebookNode, resources: dict[str, Any]
    ) -> tuple[NotebookNode, dict[str, Any]]:
        """Return the notebook with the links added."""
        slug = resources.get("assignment_id", "")
        others = self._others(slug, resources.get("submission_id", ""))
        cells = []
        for cell in nb.cells:
            name = cell.metadata.get("nbgrader", {}).get("grade_id")
            if name in others:
                cells.append(new_markdown_cell(_words(slug, others[name])))
            cells.append(cell)
        nb.cells = cells
        return nb, resources

    def _others(self, slug: str, submission: str) -> Mapping[str, list[str]]:
        """For each question, return the submissions that have the same answer."""
        try:
            text = _file(Path(self.root), slug).read_text(encoding="utf-8")
        except OSError:
            return {}
        return json.loads(text).get(submission, {})


def _words(slug: str, others: list[str]) -> str:
    links = [f"[{n}](../{one}/)" for n, one in enumerate(others[:MOST_LINKS], 1)]
    rest = f" and {len(others) - MOST_LINKS} more" * (len(others) > MOST_LINKS)
    return (
        f"**Submissions with an equal answer: {len(others)}.** {' '.join(links)}{rest}"
        f"\n\nOne row of the table of `course marks {slug[:2]}` gives points and a "
        "comment to all of them."
    )

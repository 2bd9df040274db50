"""Write many feedback pages, one by one, with nbgrader's step made ready once.

`nbgrader generate_feedback` writes the same pages; it makes everything anew for each
of them, and copies the course's files beside it.
"""

import shutil
from pathlib import Path
from typing import Any

from nbformat.v4 import reads
from nbgrader.converters import GenerateFeedback

from autograder.whole_files import written_whole

CARRIED = ("timestamp.txt", "submission_secret.txt")  # the exchange asks for them


class FeedbackPages(GenerateFeedback):
    """nbgrader's converter, kept ready."""

    def __init__(self, **settings: Any):
        """Make the exporter and its steps."""
        super().__init__(**settings)
        self.exporter = self.exporter_class(parent=self, config=self.config)
        for step in self.preprocessors:
            self.exporter.register_preprocessor(step)

    def write(self, student: str, slug: str) -> None:
        """Write the page of a graded submission.

        Raises:
            OSError: if it is not graded, or nothing can be written.
        """
        graded = Path(self._format_source(slug, student))
        target = Path(self._format_dest(slug, student))
        notebook = reads(_text(graded, slug))
        names = {"student": student, "assignment": slug, "notebook": slug}
        resources = {"nbgrader": {**names, "db_url": self.coursedir.db_url}}
        html, _ = self.exporter.from_notebook_node(notebook, resources)
        target.mkdir(parents=True, exist_ok=True)
        for name in CARRIED:
            if (graded / name).is_file():
                shutil.copyfile(graded / name, target / name)
        with written_whole(target / f"{slug}.html") as part:
            part.write_text(html, encoding="utf-8")


def _text(graded: Path, slug: str) -> str:
    return (graded / f"{slug}.ipynb").read_text(encoding="utf-8")

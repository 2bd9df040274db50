"""Make the notebook for grading on Colab from its Markdown master."""

import jupytext
import nbformat

from autograder.assemble.identity import slug
from autograder.course import Course

NAME = "colab_autograde"


def colab_notebook(course: Course) -> str:
    """Return the notebook as text without outputs; it is the same in every run."""
    master = course.root / "autograder" / f"{NAME}.md"
    notebook = jupytext.reads(master.read_text(encoding="utf-8"), fmt="md:myst")
    heading = "begin"
    for number, cell in enumerate(notebook.cells):
        if cell.cell_type == "markdown":
            heading = slug(cell.source)
        cell.id = heading if cell.cell_type == "markdown" else f"{heading}-{number}"
        cell.metadata = nbformat.NotebookNode()
    notebook.metadata.pop("jupytext", None)
    notebook.metadata["language_info"] = {"name": "python"}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    nbformat.validate(notebook)
    return nbformat.writes(notebook) + "\n"


def write_colab_notebook(course: Course) -> bool:
    """Write the notebook next to its master, and return whether it changed."""
    path = course.root / "autograder" / f"{NAME}.ipynb"
    text = colab_notebook(course)
    if path.is_file() and path.read_text(encoding="utf-8") == text:
        return False
    path.write_text(text, encoding="utf-8", newline="\n")
    return True

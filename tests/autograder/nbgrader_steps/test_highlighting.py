"""Pages colour code only where colouring is quick."""

import pytest
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_code_cell, new_notebook
from traitlets.config import Config

from autograder.nbgrader_steps import highlighting
from autograder.nbgrader_steps.settings import configure

COLOUR = '<span class="k">def</span>'
ANSWER = "%matplotlib inline\ndef double(x):\n    return 2 * x"


def page_of(*sources: str) -> str:
    """Render code cells with the class's settings."""
    config = Config()
    configure(config)
    config.HTMLExporter.template_name = "basic"
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    html, _ = HTMLExporter(config=config).from_notebook_node(notebook)
    return html


def test_an_answer_is_coloured():
    assert COLOUR in page_of(ANSWER)


@pytest.fixture(autouse=True)
def nothing_kept() -> None:
    """Clear the cache of coloured code."""
    highlighting._coloured.cache_clear()


@pytest.mark.parametrize(
    "source",
    [
        "%%perl\n" + ANSWER,
        "\n  %%javascript\n" + ANSWER,
        ANSWER + "\n" + "a." * 40_000,
        ANSWER + "\n" + "'''" * 30_000,
    ],
    ids=["Perl", "JavaScript", "attributes", "texts"],
)
def test_a_long_or_strange_cell_is_plain(source, monkeypatch):
    monkeypatch.setattr(highlighting, "COLOURED", None)  # must not be called
    html = page_of(source)
    assert "def double(x):" in html and "<script" not in html
    assert source[-40:].strip() in html.replace("&#39;", "'")


def test_all_cells_together_have_a_limit(monkeypatch):
    coloured = []
    monkeypatch.setattr(highlighting, "MAX_SECONDS", 0.0)
    monkeypatch.setattr(highlighting, "COLOURED", lambda text: coloured.append(1) or "")
    page_of(*[ANSWER] * 5)
    assert 1 <= len(coloured) < 5


def test_each_page_has_its_own_limit(monkeypatch):
    monkeypatch.setattr(highlighting, "MAX_SECONDS", 1e-9)
    assert COLOUR in page_of(ANSWER)
    assert COLOUR in page_of(ANSWER)

"""A Korean book with a warning does not build, like an English one."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from autograder.translations.catalogue import HEADER

CONF = Path(__file__).resolve().parents[2] / "book" / "conf.py"
CONFIG = """\
sphinx:
  local_extensions: {own: .}
  config:
    extensions: [myst_nb, jupyter_book, sphinx_external_toc, own]
    html_theme: sphinx_book_theme
    nb_execution_mode: "off"
    language: ko
    locale_dirs: [locale]
    gettext_compact: false
"""
# As course_book does it: Jupyter Book sets this for an extension that is not used here.
OWN = """\
def setup(app):
    app.add_config_value("comments_config", {}, "html")
"""
PAGE = "# A page\n\n(here)=\n## A part\n\nSee {ref}`the part <here>`.\n"
ENGLISH = "See {ref}`the part <here>`."


def status(builder: ModuleType, folder: Path, korean: str) -> int:
    """Build a small book with one translated sentence, and return the exit status."""
    files = {
        "conf.py": CONF.read_text("utf-8"),
        "_config.yml": CONFIG,
        "_static/own.css": "",
        "own.py": OWN,
        "_toc.yml": "format: jb-book\nroot: index\n",
        "index.md": PAGE,
        "locale/ko/LC_MESSAGES/index.po": (
            f'{HEADER}msgid "{ENGLISH}"\nmsgstr "{korean}"\n'
        ),
    }
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return builder.run(folder, folder, {}, quiet=True)


@pytest.mark.slow
def test_a_reference_that_a_translation_loses_stops_the_build(
    builder: ModuleType, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    clean, unclean = tmp_path / "clean", tmp_path / "unclean"
    assert status(builder, clean, "{ref}`이 부분 <here>`을 보세요.") == 0
    page = (clean / "_build" / "html" / "index.html").read_text("utf-8")
    assert "을 보세요." in page
    assert status(builder, unclean, "{ref}`이 부분 <nowhere>`을 보세요.") != 0
    assert re.search("undefined label|inconsistent references", capfd.readouterr().err)

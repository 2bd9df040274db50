"""Settings of a build with plain Sphinx: those of `_config.yml`, as Jupyter Book's."""

import os
import sys
from pathlib import Path

import yaml

BOOK = Path(__file__).resolve().parent
# `build.py` names another file for a translation.
_file = Path(os.environ.get("COURSE_CONFIG") or BOOK / "_config.yml")
_settings = yaml.safe_load(_file.read_text("utf-8"))["sphinx"]
sys.path += [str(BOOK / path) for path in _settings["local_extensions"].values()]

globals().update(_settings["config"])
extensions.remove("jupyter_book")  # noqa: F821
# Jupyter Book looks for these itself.
html_static_path = ["_static"]
html_css_files = sorted(path.name for path in (BOOK / "_static").glob("*.css"))
html_js_files = sorted(path.name for path in (BOOK / "_static").glob("*.js"))

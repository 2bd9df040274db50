"""Read TOML on every Python that the course runs on."""

import sys
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:  # jupyterlab brings it on Python 3.10
    import tomli as tomllib

TOMLDecodeError = tomllib.TOMLDecodeError


def read_toml(path: Path) -> dict[str, Any]:
    """Return the table that a file holds.

    Raises:
        FileNotFoundError: if it is not there.
        TOMLDecodeError: if it is no TOML.
    """
    return tomllib.loads(path.read_text(encoding="utf-8"))

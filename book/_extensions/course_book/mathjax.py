"""Copy MathJax from its PyPI package into a book, so formulas need no network."""

from __future__ import annotations

import hashlib
import shutil
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

PACKAGE = "sphinx-mathjax-offline"  # contains MathJax 3.2.2
# The full file contains all TeX extensions and glyphs, so it loads no other file.
FILE = "tex-svg-full.js"
SHA256 = "a4354ff94fd868aea0cc6eaaa79a57fda0588646fc46ee3700a349ee0a11cbe6"
FOLDER = Path("_vendor") / "mathjax"  # in the book's folder, with MathJax's licence


class MathJaxError(RuntimeError):
    """Report that MathJax is not installed, or is not the pinned release."""


def installed_file() -> Path:
    """Return the path of MathJax in the installed package.

    Raises:
        MathJaxError: if the package is not installed or does not contain the file.
    """
    try:
        found = [path for path in files(PACKAGE) or () if path.name == FILE]
    except PackageNotFoundError:
        found = []
    if not found:
        raise MathJaxError(
            f"expected {FILE} in the package {PACKAGE}, found none. Run `make setup`, "
            f"or `python -m pip install {PACKAGE}`."
        )
    return Path(str(found[0].locate()))


def copy_mathjax(book: Path) -> Path:
    """Copy MathJax into `book` if it is missing or damaged there; return its path.

    Raises:
        MathJaxError: if the package is missing or contains another version.
    """
    copied = book / FOLDER / FILE
    if copied.is_file() and digest_of(copied) == SHA256:
        return copied
    source = installed_file()
    if digest_of(source) != SHA256:
        raise MathJaxError(
            f"expected the SHA-256 {SHA256} for {FILE} of {PACKAGE}, found "
            f"{digest_of(source)}. Install the version in constraints.txt."
        )
    copied.parent.mkdir(parents=True, exist_ok=True)
    new = copied.with_suffix(".new")
    shutil.copyfile(source, new)
    new.replace(copied)  # an interrupted build leaves no incomplete file
    return copied


def digest_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal digits."""
    return hashlib.sha256(path.read_bytes()).hexdigest()

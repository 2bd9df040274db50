"""Build the book: `python book/build.py [--edition public|instructor]`."""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

BOOK = Path(__file__).resolve().parent
# The instructor's edition holds answers: it never shares a folder with the public one.
OUTPUT = {"public": BOOK, "instructor": BOOK.parent / "build" / "instructor"}

JUPYTER_BOOK = shutil.which("jupyter-book", path=str(Path(sys.executable).parent))


def front_page(edition: str) -> Path:
    """Return where the first page of `edition` lies once it is built."""
    return OUTPUT[edition] / "_build" / "html" / "index.html"


def build(edition: str = "public", book: Path = BOOK, quiet: bool = False) -> int:
    """Fetch MathJax where it is missing, build `edition`, return the exit status."""
    fetched = subprocess.run([sys.executable, BOOK / "fetch_mathjax.py"])
    if fetched.returncode:
        return fetched.returncode
    output = OUTPUT[edition] if book == BOOK else book
    command = [str(JUPYTER_BOOK), "build", str(book)]
    command += ["--path-output", str(output), "-W", "--keep-going", "-n"]
    command += ["-q"] if quiet else []
    # One thread: two on two busy cores made tiny models twenty times slower.
    environment = {"OMP_NUM_THREADS": "1", **os.environ, "COURSE_EDITION": edition}
    return subprocess.run(command, env=environment).returncode


def main() -> int:
    """Read the command line, build, and say where the book is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edition", choices=OUTPUT, default="public")
    parser.add_argument("--quiet", action="store_true", help="print warnings only")
    options = parser.parse_args()
    status = build(options.edition, quiet=options.quiet)
    if status == 0:
        print(f"The book: {front_page(options.edition)}")
    return status


if __name__ == "__main__":
    sys.exit(main())

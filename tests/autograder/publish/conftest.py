"""A course with a book, and its published files."""

from __future__ import annotations

from pathlib import Path

import pytest
from repositories import write

from autograder.assemble.assembler import assemble
from autograder.course import Course
from autograder.publish import publish

PAGE = "<html><body><pre><span>x</span> &lt; 1\n</pre></body></html>\n"


@pytest.fixture
def course(pocket: Course) -> Course:
    """Assemble the pocket course, with a book, a site and a licence."""
    for unit, chapter in (("01_sums", "Sums"), ("02_means", "Means")):
        write(pocket.root / "book" / f"{unit}.md", f"# {chapter}\n")
    write(pocket.root / "book" / "build.py", "print('needs the private part')\n")
    write(pocket.root / "book" / "_build" / "html" / "index.html", PAGE)
    write(pocket.root / "LICENSE", "MIT\n")
    write(pocket.root / "autograder" / "gradebook.db", "private")
    assemble(pocket)
    return pocket


@pytest.fixture
def public(course: Course, tmp_path: Path) -> Path:
    """Publish everything once."""
    publish(course, tmp_path / "public")
    return tmp_path / "public"

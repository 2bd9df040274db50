"""The grader finds and reads a submission, or gives a reason for refusing it."""

import io
import json
import zipfile

import pytest
from tiny_answers import ANSWERS, answers_of, code, repaired

from autograder.repair import Refused, read_submission, rebuild
from autograder.repair.finding import find_notebook
from autograder.repair.reading import read_content


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"\xef\xbb\xbf  \n", "empty"),
        (b"%PDF-1.7\n%\xe2\xe3", "it is a PDF, not a notebook"),
        (b'{"cells": [{"cell_type": "co', "not a complete notebook"),
        (b"[1, 2]", "not a notebook"),
        (b'{"a": 1}', "no cells"),
        (b'{"cells": []}', "no cells"),
        (b"\x89PNG\r\n\x1a\n\xff\xfe", "no"),
        (b"x" * (21 << 20), "MiB are allowed"),
        (b"PK\x03\x04broken", "zip"),
        (b"[" * 200_000, "not a complete notebook"),
        (b'{"cells": [' + b"[]," * 1_100_000 + b"{}]}", "too many lists"),
    ],
    ids=[
        "empty",
        "only a mark",
        "a report",
        "cut off",
        "list",
        "object",
        "no cells",
        "picture",
        "too large",
        "broken zip",
        "deep",
        "wide",
    ],
)
def test_what_is_no_notebook_is_refused(content, words, tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_bytes(content)
    with pytest.raises(Refused, match=words):
        read_submission(path)


def damaged_zip(kind):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("01_tin\u00e9.ipynb", json.dumps({"cells": []}) * 300)
    content, name = packed.getvalue(), "01_tin\u00e9.ipynb".encode()
    data = content.index(name) + len(name)
    return {
        "name": content.replace("\u00e9".encode(), b"\xff\xff"),
        "first name": content.replace("\u00e9".encode(), b"\xff\xff", 1),
        "data": content[:data] + b"\xff" * 20 + content[data + 20 :],
    }[kind]


@pytest.mark.parametrize("kind", ["name", "first name", "data"])
def test_damaged_archives_are_refused(kind, tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_bytes(damaged_zip(kind))
    with pytest.raises(Refused, match="a broken zip archive"):
        read_submission(path)


def test_links_and_other_units_are_refused(tiny_unit, tmp_path):
    (tmp_path / "link.ipynb").symlink_to("/etc/passwd")
    with pytest.raises(Refused, match="link"):
        read_submission(tmp_path / "link.ipynb")
    other = {"cells": [code("x = 1")], "metadata": {}, "nbformat": 4}
    with pytest.raises(Refused, match="another unit"):
        repaired(tiny_unit, other, tmp_path)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(encoding, handed_in, tiny_unit, tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_bytes(json.dumps(handed_in, ensure_ascii=False).encode(encoding))
    assert answers_of(rebuild(tiny_unit, read_submission(path))) == ANSWERS


def test_a_notebook_in_an_archive_or_elsewhere_is_found(handed_in, tiny_unit, tmp_path):
    text = json.dumps(handed_in)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("__MACOSX/._01_tiny.ipynb", "x")
        archive.writestr("01_tiny/01_tiny.ipynb", text)
    zipped, copied, deeper = (tmp_path / n for n in ("zipped", "copied", "deeper"))
    for folder in (zipped, copied, deeper / "more"):
        folder.mkdir(parents=True)
    (zipped / "homework.zip").write_bytes(packed.getvalue())
    (copied / "Copy of 01_tiny.ipynb").write_text(text)
    (copied / "notes.ipynb").write_text("{}")
    (deeper / "more" / "01_tiny.ipynb").write_text(text)
    for folder in (zipped, copied, deeper):
        path = find_notebook(folder, "01_tiny")
        assert answers_of(rebuild(tiny_unit, read_submission(path))) == ANSWERS


def test_pictures_are_kept_and_nothing_else_that_is_attached():
    small, large = "iVBORw0KGgo=", "A" * (3 << 20)
    raw = {
        "cell_type": "markdown",
        "source": "![x](attachment:a.png)",
        "attachments": {
            "a.png": {"image/svg+xml": "PHN2Zz4=", "image/png": [small, "\n"]},
            "b.svg": {"image/svg+xml": "PHN2Zz4="},
            "c.png": {"image/png": '"><script>'},
            "d.png": {"image/png": large},
            "e.png": {"image/png": large},
            "f.png": {"image/png": 7},
            "g.png": "x",
        },
    }
    (cell,) = read_content(json.dumps({"cells": [raw]}).encode())
    assert cell.pictures == {
        "a.png": {"image/png": small},
        "d.png": {"image/png": large},
    }

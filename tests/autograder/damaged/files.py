"""Damage to files: names, folders, archives, and files that are not notebooks."""

import io
import json
import zipfile

from handing_in import FULL, Collection, HandIn

DAMAGED = Collection()


def _zipped(files: dict[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return packed.getvalue()


def _named(name: str):
    def build(hand: HandIn) -> None:
        hand.right()
        hand.name = name
        hand.path.parent.mkdir(parents=True)

    return build


NAMES = {
    "copy": "Copy of 01_tiny.ipynb",
    "second_download": "01_tiny (1).ipynb",
    "own_name": "My homework – final (2).ipynb",
    "as_text": "01_tiny.ipynb.txt",
    "as_json": "01_tiny.json",
    "in_capitals": "01_TINY.IPYNB",
    "in_a_subfolder": "week 1/01_tiny.ipynb",
    "deep_below": "a/b/c/d/01_tiny.ipynb",
}
for _name, _file in NAMES.items():
    DAMAGED.add(_name, f"the notebook is called {_file}", _named(_file), FULL)


@DAMAGED.case("it is an archive with the notebook's name", FULL)
def zipped_under_its_name(hand: HandIn) -> None:
    hand.right()
    hand.content = _zipped({"01_tiny.ipynb": hand.text()})


@DAMAGED.case("it is in an archive from a Mac, in a folder", FULL)
def zipped_on_a_mac(hand: HandIn) -> None:
    hand.right()
    files = {
        "01_tiny/01_tiny.ipynb": hand.text(),
        "__MACOSX/01_tiny/._01_tiny.ipynb": "x",
    }
    hand.beside("homework.zip", _zipped(files))
    hand.name = ""


@DAMAGED.case("checkpoints and other notebooks lie beside it", FULL)
def others_beside(hand: HandIn) -> None:
    hand.right()
    hand.beside(".ipynb_checkpoints/01_tiny-checkpoint.ipynb", "{")
    hand.beside("scratch.ipynb", "")
    hand.beside("Untitled.ipynb", json.dumps({"cells": []}))


@DAMAGED.case("outputs make it nearly as large as may be", FULL)
def nearly_too_large(hand: HandIn) -> None:
    hand.right()
    hand.cell("double")["outputs"] = [
        {"output_type": "stream", "text": "x" * (18 << 20)}
    ]


def _no_notebook(content: bytes):
    def build(hand: HandIn) -> None:
        hand.right()
        hand.content = content if content != b"CUT" else hand.text().encode()[:2000]

    return build


CONFLICT = '{\n"cells": [\n<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> mine\n]}'
NO_NOTEBOOKS = {
    "cut_off": (b"CUT", "not a complete notebook"),
    "empty_file": (b"", "empty"),
    "only_zeros": (b"\0" * 500, "empty"),
    "only_a_mark": (b"\xef\xbb\xbf\n", "empty"),
    "a_page": (b"<!DOCTYPE html><html><body>Sign in</body></html>", "not a complete"),
    "a_script": (b"def double(x):\n    return 2 * x\n", "not an opening brace"),
    "a_picture": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "not a complete"),
    "a_document": (b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0 obj", "it is a PDF"),
    "a_list": (b"[1, 2, 3]", "not a notebook"),
    "a_number": (b"42", "not a notebook"),
    "without_cells": (b'{"nbformat": 4, "metadata": {}}', "no cells"),
    "with_no_cells": (b'{"cells": []}', "no cells"),
    "cells_that_are_none": (b'{"cells": {"a": 1}}', "no cells"),
    "in_conflict": (CONFLICT.encode(), "conflict"),
    "too_large": (b" " * (21 << 20), "MiB are allowed"),
    "broken_archive": (b"PK\x03\x04" + b"x" * 100, "broken zip"),
    "empty_archive": (_zipped({"readme.txt": "x"}), "0 notebooks"),
    "archive_of_two": (_zipped({"a.ipynb": "{}", "b.ipynb": "{}"}), "2 notebooks"),
}
for _name, (_content, _says) in NO_NOTEBOOKS.items():
    _what = "it is no notebook, or not whole"
    DAMAGED.add(_name, _what, _no_notebook(_content), None, _says)


@DAMAGED.case("the notebook of another unit was handed in", None, "another unit")
def another_unit(hand: HandIn) -> None:
    cell = {"cell_type": "code", "source": "x = 1", "metadata": {}, "outputs": []}
    hand.raw["cells"] = [cell]


@DAMAGED.case("nothing was handed in but notes", None, "no notebook")
def nothing_there(hand: HandIn) -> None:
    hand.beside("notes.txt", "I did it, I swear.")
    hand.name = ""


@DAMAGED.case("it is in an archive of another kind", None, "no notebook")
def another_archive(hand: HandIn) -> None:
    hand.beside("01_tiny.tar.gz", b"\x1f\x8b\x08\0")
    hand.name = ""

"""Attacks with submitted files: links, bombs for the grader's own readers, pages."""

import io
import json
import os
import struct
import zipfile

from handing_in import RIGHT, WHY, Collection, HandIn, code, markdown

ATTACKS = Collection()
VICTIM = "000-victim"


@ATTACKS.case("is a link to the notebook of somebody else", None, "link")
def linked_notebook(hand: HandIn) -> None:
    hand.folder.mkdir(parents=True)
    hand.path.symlink_to(f"../../{VICTIM}/01_tiny/01_tiny.ipynb")


@ATTACKS.case("is a link to the folder of somebody else", None, "link")
def linked_folder(hand: HandIn) -> None:
    hand.folder.parent.mkdir(parents=True)
    hand.folder.symlink_to(f"../{VICTIM}/01_tiny")
    hand.name = ""


@ATTACKS.case(
    "holds a subfolder that is a link to somebody else's", None, "no notebook"
)
def linked_subfolder(hand: HandIn) -> None:
    hand.folder.mkdir(parents=True)
    (hand.folder / "work").symlink_to(f"../../{VICTIM}/01_tiny")
    hand.name = ""


@ATTACKS.case("links to hidden files beside the notebook", score=20.0)
def links_beside(hand: HandIn) -> None:
    hand.right("double")
    hand.folder.mkdir(parents=True)
    (hand.folder / "checks.txt").symlink_to(
        hand.root / "autograder/checks/test_01_tiny.py"
    )
    (hand.folder / "book.png").symlink_to(hand.root / "gradebook.db")
    (hand.folder / "answers").symlink_to(hand.root / "solutions")
    (hand.folder / "loop").symlink_to(".")


@ATTACKS.case("is a pipe: whoever reads it waits for ever", None, "not a file")
def pipe_for_a_notebook(hand: HandIn) -> None:
    hand.folder.mkdir(parents=True)
    os.mkfifo(hand.path)


@ATTACKS.case("lays pipes and sockets beside the notebook", score=20.0)
def pipes_beside(hand: HandIn) -> None:
    hand.right("double")
    hand.folder.mkdir(parents=True)
    os.mkfifo(hand.folder / "timestamp.csv")
    os.mkfifo(hand.folder / "data.png")


@ATTACKS.case("notes a time that takes hours to read", None, "time of handing in")
def endless_time(hand: HandIn) -> None:
    hand.right()
    hand.beside("timestamp.txt", "1" * (30 << 20))


@ATTACKS.case("lays a pipe where the time is noted", None, "time of handing in")
def pipe_for_a_time(hand: HandIn) -> None:
    hand.right()
    hand.folder.mkdir(parents=True)
    os.mkfifo(hand.folder / "timestamp.txt")


@ATTACKS.case("is a folder with the notebook's name", None, "not a file")
def folder_for_a_notebook(hand: HandIn) -> None:
    hand.path.mkdir(parents=True)


@ATTACKS.case(
    "lays pages with scripts beside the notebook, and links to them", score=20.0
)
def pages_beside(hand: HandIn) -> None:
    hand.right("double")
    hand.cells.append(markdown("[my plot](plot.html) ![](plot.svg)"))
    script = "<script>alert(document.cookie)</script>"
    for name in (
        "plot.html",
        "plot.svg",
        "a/plot.xhtml",
        "plot.htm",
        "plot.js",
        "noend",
    ):
        hand.beside(name, script)
    hand.beside("01_tiny.html", script)


@ATTACKS.case("lays more notebooks beside its own", score=20.0)
def notebooks_beside(hand: HandIn) -> None:
    hand.right("double")
    hand.beside("02_other.ipynb", "{")
    hand.beside("\x1b[31m01_tiny.ipynb", hand.text())
    hand.beside("deep/" * 40 + "01_tiny.ipynb", "{}")


def _zipped(*files: tuple[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        for name, content in files:
            archive.writestr(name, content)
    return packed.getvalue()


@ATTACKS.case("is an archive with a gigabyte of spaces in it", None, "too large")
def zip_bomb(hand: HandIn) -> None:
    hand.content = _zipped(("01_tiny.ipynb", b" " * (300 << 20)))


def _lying(method: int) -> bytes:
    """Return an archive whose directory says that its notebook is small."""
    packed = bytearray(_zipped(("01_tiny.ipynb", b" " * (300 << 20)), method=method))
    for mark, place in ((b"PK\x01\x02", 24), (b"PK\x03\x04", 22)):
        at = packed.rindex(mark) + place
        packed[at : at + 4] = struct.pack("<I", 1000)
    return bytes(packed)


@ATTACKS.case("is an archive that lies about its size", None, "zip")
def lying_zip_bomb(hand: HandIn) -> None:
    hand.content = _lying(zipfile.ZIP_DEFLATED)


@ATTACKS.case("is an archive packed in a way that knows no bounds", None, "zip")
def unbounded_zip_bomb(hand: HandIn) -> None:
    hand.content = _lying(zipfile.ZIP_BZIP2)


@ATTACKS.case("is an archive that wants out of its folder", score=20.0)
def zip_with_paths(hand: HandIn) -> None:
    hand.right("double")
    evil = ("../../../../tmp/attack-was-here", b"x"), ("/etc/attack-was-here", b"x")
    hand.content = _zipped(("01_tiny.ipynb", hand.text().encode()), *evil)


@ATTACKS.case("is nested deeper than a parser can go", None, "too many lists")
def deep_json(hand: HandIn) -> None:
    hand.content = b'{"cells": ' + b'[{"a": ' * 500_000


@ATTACKS.case("has more cells than anybody can write", None, "cells")
def too_many_cells(hand: HandIn) -> None:
    hand.raw["cells"] += [code("1")] * 60_000


@ATTACKS.case(
    "has cells of a size that nobody can write", score=None, says="characters"
)
def giant_cell(hand: HandIn) -> None:
    hand.right("double")
    hand.last("x = 1\n" * 400_000)


HARD_TO_PARSE = {
    "brackets": "(" * 20_000,
    "minus": "-" * 20_000 + "1",
    "attributes": "a" + ".a" * 20_000,
    "additions": "1" + "+1" * 20_000,
    "braces": "{" * 100 + "x",
    "strings": "f'{" * 150 + "x",
    "magic": "%%" + "x\n" * 2_000,
    "lambda": "lambda: " * 10_000 + "1",
    "ifs": "\n".join(" " * n + "if 1:" for n in range(99)),
    "comparisons": "double" + " < double" * 10_000,
}


@ATTACKS.case("has cells that a parser chokes on", score=20.0)
def hard_to_parse(hand: HandIn) -> None:
    hand.right("double")
    for source in HARD_TO_PARSE.values():
        hand.cells.append(code(source))


@ATTACKS.case("has cells that make a slow search slower", score=20.0)
def slow_to_search(hand: HandIn) -> None:
    hand.right("double")
    hand.first("pass\n" + "\n" * 15_000)
    hand.cells.insert(0, markdown("\n" * 15_000 + "x"))
    hand.cells.insert(0, markdown("```\n" * 5_000))
    hand.cells.append(code("a = 1\n" * 10_000))


SLOW_MARKDOWN = [
    *("[" * 20_000, "![" * 20_000, "*a_ " * 20_000, "> " * 5_000 + "x", "`" * 20_000),
    *("<div>" * 20_000, "<!--" * 20_000, "$" * 20_000, "\\(" * 20_000, "[a](" * 20_000),
    *("- " * 3_000 + "x", "| " * 20_000, "&" * 40_000, "[a]: <" * 20_000),
    "".join(f"{' ' * n}- x\n" for n in range(400)),
]


@ATTACKS.case("has Markdown that a renderer chokes on", score=20.0)
def hard_to_render(hand: HandIn) -> None:
    hand.right("double")
    hand.cell("why")["source"] = "<b>" * 30_000 + WHY
    hand.cells += [markdown(text) for text in SLOW_MARKDOWN]


@ATTACKS.case("mixes characters that no file, page or database takes", score=20.0)
def strange_characters(hand: HandIn) -> None:
    hand.answer("double", RIGHT["double"] + "\n# \ud800 \u202e \x1b[31m \ufeff")
    hand.cells.append(markdown("\0 \ud800 \x1b]0;title\x07 \u2028"))
    hand.last("print('\\ud800 \\0 \\x1b[2J')\n1/0 # \0")
    hand.content = json.dumps(hand.raw).encode()

"""Damage to metadata and encoding: other editors, old formats, other systems."""

import json
import re

from handing_in import FULL, RIGHT, Collection, HandIn, code, grade_id_of

DAMAGED = Collection()


@DAMAGED.case("all metadata is lost", FULL)
def no_metadata(hand: HandIn) -> None:
    hand.right()
    hand.raw["metadata"] = {}
    for cell in hand.cells:
        cell["metadata"] = {}


@DAMAGED.case("all metadata and ids are lost", FULL)
def no_metadata_no_ids(hand: HandIn) -> None:
    no_metadata(hand)
    for cell in hand.cells:
        del cell["id"]


@DAMAGED.case("the cells have new ids and no metadata", FULL)
def new_ids(hand: HandIn) -> None:
    no_metadata(hand)
    for number, cell in enumerate(hand.cells):
        cell["id"] = f"new-{number}"


@DAMAGED.case("it comes from Colab", FULL)
def colab(hand: HandIn) -> None:
    hand.right()
    hand.raw["metadata"] = {"colab": {"provenance": [], "toc_visible": True}}
    for number, cell in enumerate(hand.cells):
        cell["metadata"] = {
            "id": f"Zx{number}",
            "outputId": "a-b",
            "colab": {"base_uri": "x"},
        }
        cell.pop("id")
    hand.name = "Copy of 01_tiny.ipynb"


@DAMAGED.case("Colab kept nbgrader's metadata and added its own", FULL)
def colab_kept(hand: HandIn) -> None:
    hand.right()
    for number, cell in enumerate(hand.cells):
        cell["metadata"] |= {"id": f"Zx{number}"}
        cell.pop("id")


@DAMAGED.case("another editor added its metadata everywhere", FULL)
def vscode(hand: HandIn) -> None:
    hand.right()
    for cell in hand.cells:
        cell["metadata"] |= {"vscode": {"languageId": "python"}, "collapsed": True}
        cell["metadata"] |= {"deletable": False, "scrolled": 3, "tags": "none"}


@DAMAGED.case("nbgrader's schema version is missing", FULL)
def no_schema_version(hand: HandIn) -> None:
    hand.right()
    for cell in hand.cells:
        cell["metadata"].get("nbgrader", {}).pop("schema_version", None)


@DAMAGED.case("nbgrader's schema version is 99", FULL)
def schema_of_tomorrow(hand: HandIn) -> None:
    hand.right()
    for cell in hand.cells:
        cell["metadata"].get("nbgrader", {})["schema_version"] = 99


@DAMAGED.case("nbgrader's metadata is of schema 1", FULL)
def schema_of_yesterday(hand: HandIn) -> None:
    hand.right()
    for cell in hand.cells:
        if grade_id_of(cell):
            name = grade_id_of(cell)
            cell["metadata"]["nbgrader"] = {
                "grade_id": name,
                "points": "20",
                "checksum": 1,
            }


@DAMAGED.case("the names in the metadata are unknown", FULL)
def unknown_names(hand: HandIn) -> None:
    hand.right()
    for number, cell in enumerate(hand.cells):
        if grade_id_of(cell):
            cell["metadata"]["nbgrader"]["grade_id"] = f"cell-{number}"


@DAMAGED.case("a cell of another course is in it", FULL)
def foreign_cell(hand: HandIn) -> None:
    hand.right()
    other = {"grade_id": "other", "grade": True, "points": 5, "schema_version": 3}
    hand.last("1 / 0", nbgrader=other)


@DAMAGED.case("the kernel is one that nobody has", FULL)
def unknown_kernel(hand: HandIn) -> None:
    hand.right()
    hand.raw["metadata"] = {"kernelspec": {"name": "scala", "language": "scala"}}


@DAMAGED.case("the format is 4.99", FULL)
def format_of_tomorrow(hand: HandIn) -> None:
    hand.right()
    hand.raw["nbformat_minor"] = 99


@DAMAGED.case("the format is 4.0, without ids", FULL)
def format_four(hand: HandIn) -> None:
    hand.right()
    hand.raw["nbformat_minor"] = 0
    for cell in hand.cells:
        del cell["id"]


@DAMAGED.case("the format is 3", FULL)
def format_three(hand: HandIn) -> None:
    hand.right()
    for cell in hand.cells:
        cell.pop("id")
        if cell["cell_type"] == "code":
            cell["input"] = cell.pop("source")
            cell["prompt_number"] = cell.pop("execution_count")
    sheet = {"cells": hand.raw.pop("cells"), "metadata": {}}
    hand.raw |= {"nbformat": 3, "worksheets": [sheet]}


@DAMAGED.case("the format is not said at all", FULL)
def no_format(hand: HandIn) -> None:
    hand.right()
    hand.raw = {"cells": hand.cells}


@DAMAGED.case("sources are lists of lines, and some are missing", FULL)
def lists_of_lines(hand: HandIn) -> None:
    hand.right()
    for cell in hand.cells:
        cell["source"] = cell["source"].splitlines(keepends=True)
    hand.cells.append({"cell_type": "code"})
    hand.cells.append({"cell_type": "code", "source": None, "metadata": None})


@DAMAGED.case("among the cells are things that are no cells", FULL)
def no_cells_among_them(hand: HandIn) -> None:
    hand.right()
    hand.cells[0:0] = [None, 1, "text", [], {}, {"cell_type": "heading", "level": 1}]


@DAMAGED.case("outputs are damaged, huge or of no known kind", FULL)
def damaged_outputs(hand: HandIn) -> None:
    hand.right()
    hand.cell("double")["outputs"] = [{"output_type": "pyout"}, 3, None, {"data": "x"}]
    hand.cell("scaler")["outputs"] = "none"
    hand.cell("quadruple")["outputs"] = [{"text": "x" * 3_000_000}]


@DAMAGED.case("the cells have lost their kind", FULL)
def no_kinds(hand: HandIn) -> None:
    hand.right()
    for cell in hand.cells:
        del cell["cell_type"]


@DAMAGED.case("a byte-order mark stands before it", FULL)
def byte_order_mark(hand: HandIn) -> None:
    hand.right()
    hand.content = hand.text().encode("utf-8-sig")


@DAMAGED.case("it is in UTF-16", FULL)
def utf_16(hand: HandIn) -> None:
    hand.right()
    hand.content = hand.text().encode("utf-16")


@DAMAGED.case("it is in an old encoding", FULL)
def old_encoding(hand: HandIn) -> None:
    hand.right()
    hand.answer("double", "# Für Übermütige: größer\n" + RIGHT["double"])
    hand.raw["metadata"]["title"] = "Überfällig"
    text = hand.text().encode("ascii", "ignore").decode()
    hand.content = text.replace("# Fr", "# Für").encode("cp1252")


@DAMAGED.case("a few bytes are damaged", FULL)
def damaged_bytes(hand: HandIn) -> None:
    hand.right()
    hand.cells.append({"cell_type": "markdown", "source": "BYTES"})
    text = json.dumps(hand.raw).encode()
    hand.content = text.replace(b"BYTES", b"\xff\xfe\x80 caf\xe9")


@DAMAGED.case("its lines end as on Windows, also within cells", FULL)
def windows_lines(hand: HandIn) -> None:
    hand.right()
    for cell in hand.cells:
        cell["source"] = cell["source"].replace("\n", "\r\n")
    hand.content = hand.text().replace("\n", "\r\n").encode()


@DAMAGED.case("its lines end as on an old Mac", FULL)
def mac_lines(hand: HandIn) -> None:
    hand.right()
    for cell in hand.cells:
        cell["source"] = cell["source"].replace("\n", "\r")


@DAMAGED.case("line ends and tabs stand unescaped in its strings", FULL)
def unescaped(hand: HandIn) -> None:
    hand.right()
    hand.content = re.sub(r"(?<!\\)\\n", "\n", hand.text()).encode()


@DAMAGED.case("zeros fill its end, as after a full disk", FULL)
def filled_with_zeros(hand: HandIn) -> None:
    hand.right()
    hand.content = hand.text().encode() + b"\0" * 4096


@DAMAGED.case("its texts hold half a character and a zero", FULL)
def half_characters(hand: HandIn) -> None:
    hand.right()
    hand.cells.append(code("# \ud83d \0 half"))
    hand.cells.append({"cell_type": "markdown", "source": "\udc00", "metadata": {}})
    hand.content = json.dumps(hand.raw).encode()

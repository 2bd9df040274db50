"""Damage to cells: repeated, deleted, moved, split, merged, of another kind."""

from handing_in import (
    FULL,
    RIGHT,
    Collection,
    HandIn,
    code,
    copy_of,
    grade_id_of,
    markdown,
)

DAMAGED = Collection()
CHECKS = ("double-check", "quadruple-check", "scaler-check")


@DAMAGED.case("an answer is there twice", FULL, "2 times")
def repeated_answer(hand: HandIn) -> None:
    hand.right()
    hand.cells.insert(hand.at("double"), copy_of(hand.cell("double")))


@DAMAGED.case("an answer is there twice, once as it was handed out", FULL)
def repeated_stub(hand: HandIn) -> None:
    stub = copy_of(hand.cell("double"))
    hand.right()
    hand.cells += [stub, copy_of(stub)]


@DAMAGED.case("a check is there twice", FULL, "2 times")
def repeated_check(hand: HandIn) -> None:
    hand.right()
    hand.cells.append(copy_of(hand.cell("double-check")))


@DAMAGED.case("every cell is there twice", FULL)
def everything_twice(hand: HandIn) -> None:
    hand.right()
    hand.cells = [copy_of(cell) for cell in hand.cells for _ in range(2)]


@DAMAGED.case("the whole notebook was pasted behind itself", FULL)
def pasted_twice(hand: HandIn) -> None:
    hand.right()
    hand.cells += [copy_of(cell) for cell in hand.cells]


@DAMAGED.case("the checks are deleted", FULL, "missing")
def deleted_checks(hand: HandIn) -> None:
    hand.right()
    hand.cells = [cell for cell in hand.cells if grade_id_of(cell) not in CHECKS]


@DAMAGED.case("a check is edited", FULL, "changed")
def edited_check(hand: HandIn) -> None:
    hand.right()
    hand.cell("double-check")["source"] = "assert False  # for now"


@DAMAGED.case("a check is moved to the top", FULL)
def moved_check(hand: HandIn) -> None:
    hand.right()
    hand.cells.insert(0, hand.cells.pop(hand.at("scaler-check")))


@DAMAGED.case("a check is Markdown", FULL)
def check_as_markdown(hand: HandIn) -> None:
    hand.right()
    hand.cell("double-check")["cell_type"] = "markdown"


@DAMAGED.case("an answer is Markdown", FULL)
def answer_as_markdown(hand: HandIn) -> None:
    hand.right()
    hand.answer("double", f"```python\n{RIGHT['double']}\n```")
    hand.cell("double")["cell_type"] = "markdown"


@DAMAGED.case("an answer is a raw cell", FULL)
def answer_as_raw(hand: HandIn) -> None:
    hand.right()
    hand.cell("scaler")["cell_type"] = "raw"


@DAMAGED.case("an answer is split in two between its methods", FULL)
def split_answer(hand: HandIn) -> None:
    hand.right()
    at = hand.at("scaler")
    head, mark, tail = RIGHT["scaler"].partition("    def forward")
    hand.cells[at]["source"] = head.rstrip()
    hand.cells.insert(at + 1, code(mark + tail))


@DAMAGED.case("an answer is split behind its first line", FULL)
def split_body(hand: HandIn) -> None:
    hand.right()
    at = hand.at("double")
    hand.cells[at]["source"] = "def double(x):"
    hand.cells.insert(at + 1, code("    return FACTOR * x"))


@DAMAGED.case("an answer is split, and both halves kept its name", FULL)
def split_with_both_names(hand: HandIn) -> None:
    hand.right()
    at = hand.at("scaler")
    lines = RIGHT["scaler"].split("\n")
    tail = copy_of(hand.cells[at])
    hand.cells[at]["source"], tail["source"] = (
        "\n".join(lines[:4]),
        "\n".join(lines[4:]),
    )
    hand.cells.insert(at + 1, tail)


@DAMAGED.case("an answer's cell is deleted, and another written", FULL)
def rewritten_elsewhere(hand: HandIn) -> None:
    hand.right()
    hand.cells.pop(hand.at("double"))
    hand.cells.insert(2, code(RIGHT["double"]))


@DAMAGED.case("an answer stands in another cell, below its own", FULL)
def written_below(hand: HandIn) -> None:
    stub = hand.cell("double")["source"]
    hand.right()
    hand.answer("double", stub)
    hand.cells.insert(hand.at("double") + 1, code(RIGHT["double"]))


@DAMAGED.case("an answer stands in another cell, above its own", FULL)
def written_above(hand: HandIn) -> None:
    stub = hand.cell("double")["source"]
    hand.right()
    hand.answer("double", stub)
    hand.cells.insert(hand.at("double"), code(RIGHT["double"]))


@DAMAGED.case("two answers were merged into one cell", FULL)
def merged_answers(hand: HandIn) -> None:
    hand.right()
    hand.answer("double", RIGHT["double"] + "\n\n\n" + RIGHT["quadruple"])
    hand.cells.pop(hand.at("quadruple"))


@DAMAGED.case("everything from one answer to the next was merged", FULL)
def merged_with_checks(hand: HandIn) -> None:
    hand.right()
    first, last = hand.at("double"), hand.at("scaler-check")
    merged = [
        c["source"] for c in hand.cells[first : last + 1] if c["cell_type"] == "code"
    ]
    hand.cells[first]["source"] = "\n\n".join(merged)
    del hand.cells[first + 1 : last + 1]


@DAMAGED.case("all answers are in one cell without metadata", FULL)
def all_in_one_cell(hand: HandIn) -> None:
    hand.raw["cells"] = [
        code("import torch\nfrom torch import nn\nFACTOR = 2.0"),
        code("\n\n\n".join(RIGHT.values())),
    ]


@DAMAGED.case("the answers of two cells are swapped", FULL)
def swapped_answers(hand: HandIn) -> None:
    hand.right()
    hand.answer("double", RIGHT["quadruple"])
    hand.answer("quadruple", RIGHT["double"])


@DAMAGED.case("the cells are in the opposite order", FULL)
def reversed_cells(hand: HandIn) -> None:
    hand.right()
    hand.cells = hand.cells[::-1]


@DAMAGED.case(
    "an answer is missing: the others count, and it is said", 50.0, "no answer"
)
def one_answer_missing(hand: HandIn) -> None:
    hand.right("quadruple", "scaler")
    hand.answer("quadruple", "def quadruple(x):\n    return 4 * x")
    hand.answer("double", "")
    hand.cells.pop(hand.at("double"))


@DAMAGED.case("hundreds of cells of notes stand between", FULL)
def many_notes(hand: HandIn) -> None:
    hand.right()
    notes = [markdown(f"note {n}") for n in range(300)]
    hand.cells = [cell for own in hand.cells for cell in (*notes[:20], own)]


@DAMAGED.case("an answer's cell was cleared and a copy kept its name", FULL)
def empty_copy(hand: HandIn) -> None:
    hand.right()
    empty = copy_of(hand.cell("double"))
    empty["source"] = ""
    hand.cells.insert(hand.at("double") + 1, empty)


@DAMAGED.case("an answer begins with a cell magic", FULL)
def cell_magic(hand: HandIn) -> None:
    hand.right()
    hand.answer("scaler", "%%time\n" + RIGHT["scaler"])


@DAMAGED.case("an answer is indented by another editor", FULL)
def indented(hand: HandIn) -> None:
    hand.right()
    lines = RIGHT["scaler"].split("\n")
    hand.answer("scaler", "\n".join(f"    {line}" for line in lines))

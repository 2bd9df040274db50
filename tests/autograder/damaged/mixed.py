"""Damage by copying and merging: fences, invisible marks, mixed-up names, halves."""

from handing_in import FULL, RIGHT, Collection, HandIn, copy_of

DAMAGED = Collection()
TAKEN_OUT = "the marks around its code were removed"
INVISIBLE = "invisible characters were removed"


def _markdown(hand: HandIn, source: str) -> None:
    hand.right()
    cell = hand.cell("double")
    cell["cell_type"], cell["source"] = "markdown", source
    del cell["outputs"], cell["execution_count"]


def _fenced(what: str, name: str, template: str) -> None:
    def build(hand: HandIn) -> None:
        _markdown(hand, template.format(RIGHT["double"]))

    DAMAGED.add(name, what, build, FULL, TAKEN_OUT)


_fenced("Markdown, and words", "fence_in_words", "First\n```python\n{}\n```\nthat's it")
_fenced("Markdown with other fences", "other_fences", "~~~ {{.python}}\n{}\n~~~")
_fenced("a MyST cell in Markdown", "myst_fence", "```{{code-cell}} ipython3\n{}\n```")
_fenced("Markdown, never closed", "open_fence", "My answer:\n\n```py\n{}\n")


@DAMAGED.case("an answer is Markdown, marked as code by blanks", FULL, "markdown cell")
def indented_markdown(hand: HandIn) -> None:
    lines = RIGHT["double"].split("\n")
    _markdown(hand, "\n".join(f"    {line}" for line in lines))


@DAMAGED.case("an answer was copied with its fences into a code cell", FULL, TAKEN_OUT)
def fences_in_code(hand: HandIn) -> None:
    hand.right()
    hand.answer("scaler", f"```python\n{RIGHT['scaler']}\n```")


@DAMAGED.case("all code begins with a byte-order mark", FULL, INVISIBLE)
def marks_before_code(hand: HandIn) -> None:
    hand.right()
    for cell in hand.cells:
        if cell["cell_type"] == "code":
            cell["source"] = "\ufeff" + cell["source"]


@DAMAGED.case("an answer was copied from a web page", FULL, INVISIBLE)
def copied_from_the_web(hand: HandIn) -> None:
    hand.right()
    text = RIGHT["scaler"].replace("    ", "\xa0 \xa0 ").replace(" = ", "\u200b = ")
    hand.answer("scaler", text)


@DAMAGED.case("all cells have the name of one answer", FULL)
def one_name_for_all(hand: HandIn) -> None:
    hand.right()
    for cell in hand.cells:
        cell["metadata"]["nbgrader"] = {"grade_id": "double"}


@DAMAGED.case("all cells have one name, and no ids", FULL, "what it defines")
def one_name_and_no_ids(hand: HandIn) -> None:
    one_name_for_all(hand)
    for cell in hand.cells:
        del cell["id"]


@DAMAGED.case("all cells have the name of a check, and no ids", FULL, "what it defines")
def name_of_a_check(hand: HandIn) -> None:
    one_name_and_no_ids(hand)
    for cell in hand.cells:
        cell["metadata"]["nbgrader"] = {"grade_id": "scaler-check"}


@DAMAGED.case("a helper and the answer were split, and kept one name", FULL)
def split_off_helper(hand: HandIn) -> None:
    hand.right()
    at = hand.at("double")
    helper = copy_of(hand.cells[at])
    helper["source"] = "def _twice(x):\n    return 2 * x"
    hand.answer("double", "def double(x):\n    return _twice(x)")
    hand.cells.insert(at, helper)


@DAMAGED.case("packages and magics that are missing here come first", FULL)
def missing_packages(hand: HandIn) -> None:
    hand.right()
    first = (
        "%matplotlib inline\n%load_ext nothing_here\nimport torchinfo_of_mine as ti\n"
    )
    for name, answer in RIGHT.items():
        hand.answer(name, first + answer)

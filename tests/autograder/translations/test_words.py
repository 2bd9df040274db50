"""Words are extracted from Markdown, Python and JavaScript, and inserted again."""

from __future__ import annotations

import ast
import inspect

import pytest

from autograder.translations import code, markdown, scripts

TEXT = """# A heading

Two lines of
one paragraph with $x$.

1. First
   goes on.
2. Second

| a table | here |
|---|---|
| `x` | one row |

```python
print("no message")
```

$$
y = x
$$

<!-- nothing -->
"""


def test_a_paragraph_a_heading_an_item_and_a_row_are_messages() -> None:
    assert list(markdown.messages(TEXT)) == [
        "A heading",
        "Two lines of one paragraph with $x$.",
        "First goes on.",
        "Second",
        "| a table | here |",
        "| `x` | one row |",
    ]


def test_markdown_keeps_all_that_is_no_message() -> None:
    assert markdown.translated(TEXT, lambda text: None) == TEXT
    made = markdown.translated(TEXT, {"First goes on.": "처음."}.get)
    assert "1. 처음.\n2. Second\n" in made and 'print("no message")' in made


CELL = '''def f(x):
    """Add one.

    Args:
        x: a number.
    """
    return x + 1


why = {1: "too small", 2: ("by far", 3)}
assert f(1) == 2, f"f(1) is {f(1):.2f}, not {{2}}"
assert f(0), (
    "it is "
    "nothing"
)
print("All is well." if f(2) else "No, it is not.")
'''


def test_the_words_of_a_cell() -> None:
    found = {one.text: one.kind for one in code.words_of(CELL)}
    assert found == {
        "Add one.\n\nArgs:\n    x: a number.": "docstring of f",
        "too small": "message",
        "by far": "message",
        "f(1) is {f(1):.2f}, not {{2}}": "message",
        "it is nothing": "message",
        "All is well.": "message",
        "No, it is not.": "message",
    }


def test_a_cell_in_other_words_does_the_same() -> None:
    table = {
        "Add one.\n\nArgs:\n    x: a number.": "하나를 더합니다.\n\nArgs:\n    x: 수.",
        "f(1) is {f(1):.2f}, not {{2}}": 'f(1)은 "{f(1):.2f}"입니다, {{2}}가 아니라',
        "it is nothing": "아무것도 아닙니다\\",
        "All is well.": "좋습니다.",
    }
    made = code.translated(CELL, table.get)
    space: dict[str, object] = {}
    exec(made, space)
    assert '"""하나를 더합니다.\n\n    Args:\n        x: 수.\n    """' in made
    assert inspect.getdoc(space["f"]) == "하나를 더합니다.\n\nArgs:\n    x: 수."
    assert [one.text for one in code.words_of(made)][:1] == [
        "하나를 더합니다.\n\nArgs:\n    x: 수."
    ]
    broken = made.replace("return x + 1", "return x")
    with pytest.raises(AssertionError, match=r'f\(1\)은 "1.00"입니다, \{2\}가 아니라'):
        exec(broken, {})


def test_a_translation_without_a_field_is_left_out() -> None:
    made = code.translated(CELL, {"f(1) is {f(1):.2f}, not {{2}}": "틀렸습니다"}.get)
    assert ast.dump(ast.parse(made)) == ast.dump(ast.parse(CELL))


SCRIPT = """
// no "message here" in a comment
const a = make("div", { class: "live-row all" }, "Press one " + "to hide it.");
tell(`Reading ${file.name} …`);
"""


def test_the_words_of_a_script() -> None:
    assert list(scripts.messages(SCRIPT)) == [
        "Press one to hide it.",
        "Reading {file.name} …",
    ]
    table = {
        "Press one to hide it.": '누르면 "숨깁니다".',
        "Reading {file.name} …": "{file.name} 읽는 중 …",
    }
    made = scripts.translated(SCRIPT, lambda text: table[text])
    assert '"누르면 \\"숨깁니다\\"."' in made and "`${file.name} 읽는 중 …`" in made
    assert "Press" not in made and "live-row all" in made

"""No script in a student's Markdown reaches feedback pages or formgrader."""

import nbformat
import pytest
from bs4 import BeautifulSoup
from nbconvert.exporters import HTMLExporter
from nbformat.v4 import new_markdown_cell, new_notebook, new_raw_cell
from tiny_grading import UNIT, grade, only, submission
from traitlets.config import Config

from autograder.nbgrader_steps.settings import configure
from autograder.sandbox.safe_html import safe_html

HOSTILE = [
    "<script>steal()</script>",
    "<img src=x onerror=steal()>",
    "<svg onload=steal()></svg>",
    "<iframe src='javascript:steal()'></iframe>",
    "<iframe srcdoc='<script>steal()</script>'></iframe>",
    "[press](javascript:steal())",
    "<a href='java&#x0A;script:steal()'>press</a>",
    "<a href='data:text/html,<script>steal()</script>'>press</a>",
    "![x](data:image/svg+xml;base64,c3RlYWwoKQ==)",
    "<form action='/formgrader/steal()'><button>press</button></form>",
    "<style>body{background:url(//steal())}</style>",
    "<p style='background:url(//steal())'>x</p>",
    "<object data='steal()'></object><embed src='steal()'>",
    "<meta http-equiv=refresh content='0;url=//steal()'>",
    "<base href='//steal()'>",
    "<math><mtext><script>steal()</script></mtext></math>",
    "<details open ontoggle=steal()>x</details>",
    "$<script>steal()</script>$",
    "`</code><script>steal()</script>`",
    "```\n</pre><script>steal()</script>\n```",
    "<!--><script>steal()</script>-->",
    "<input onfocus=steal() autofocus>",
    '<img src="x` `<script>steal()</script>"` `>',
    "# <script>steal()</script>",
    '<div class="nbgrader_cell" id="steal">x</div>',
    '<a name="steal" data-dismiss="modal">x</a>',
    '<map name="steal"><area href="//steal()"></map><img usemap="#steal">',
    "<img src='https://steal.example/x.png'> <img src='//steal.example/y.png'>",
    "<img src='attachment:steal.svg'>![x](attachment:steal.png)",
    "```html\n</code><b id=steal>x</b>\n```",
    "[^1]\n\n[^1]: <b id=steal>x</b>",
]
OURS = ("id", "name", "class", "style", "autofocus", "form", "for", "tabindex")
DOT = "iVBORw0KGgo="
ACTIVE = "script, iframe, object, embed, form, style, svg, meta, base, link, button"


def page_of(cell) -> BeautifulSoup:
    """Return the inside of a cell's box, as the class's settings render it."""
    config = Config()
    configure(config)
    config.HTMLExporter.template_name = "basic"
    html, _ = HTMLExporter(config=config).from_notebook_node(new_notebook(cells=[cell]))
    page = BeautifulSoup(html, "html.parser")
    return page.select_one(".text_cell_render") or BeautifulSoup()


def assert_harmless(page: BeautifulSoup) -> None:
    assert not page.select(ACTIVE), page
    for element in page.find_all(True):
        for name, value in element.attrs.items():
            assert not name.startswith("on") and name not in OURS, page
            assert "steal" not in str(value), page


@pytest.mark.integration
@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_hostile_is_shown(text):
    assert_harmless(page_of(new_markdown_cell(text)))
    assert_harmless(page_of(new_raw_cell(text)))


def test_what_is_harmless_stays():
    text = """# Why

A *word* and $a < b$, `x < y` and [a page](https://example.org).

| a | b |
|---|---|
| 1 | 2 |

```python
def f(x): return x
```

![dot](data:image/png;base64,iVBORw0KGgo=)

<details><summary>More</summary>text</details>
"""
    page = page_of(new_markdown_cell(text))
    for selector in ("h1", "em", "code", "table td", "pre", "img[src]", "details"):
        assert page.select(selector), selector
    assert page.select_one("a[href='https://example.org']")
    assert page.select_one("math mo").text == "<"


def test_a_heading_has_no_name():
    page = page_of(new_markdown_cell("## why\n\nWhy\n---"))
    assert len(page.select("h2")) == 2
    assert not page.select("[id]")


@pytest.mark.parametrize(
    "text",
    [
        "![x](attachment:a%20b.png)",
        '<img src="attachment:a b.png">',
        f"![x](data:image/png;base64,{DOT})",
        f"![x](data:image/png;base64,{'iVBORw0KGgo' * 3000}=)",
    ],
)
def test_a_picture_of_the_cell_is_shown(text):
    cell = new_markdown_cell(text, attachments={"a b.png": {"image/png": DOT}})
    (picture,) = page_of(cell).select("img")
    assert picture["src"].startswith("data:image/png;base64,iVBORw0KGgo")


@pytest.mark.parametrize(
    "place", ["attachment:x.png", "x.png", "https://example.org/x"]
)
def test_a_picture_that_is_not_in_the_notebook_is_named(place):
    page = page_of(new_markdown_cell(f"Words. ![drawing]({place}) More."))
    assert not page.select("img")
    name = place.removeprefix("attachment:")
    assert f"Words. (A picture that is not in the notebook: {name}) More." in page.text


def formgraders_page(**resources) -> str:
    """Return formgrader's page of a submission."""
    config = Config()
    configure(config)
    config.HTMLExporter.template_name = "formgrade"
    known = {"base_url": "", "index": 0, "total": 1, "config_dir": "", **resources}
    notebook = new_notebook(cells=[new_markdown_cell("$a$")])
    return HTMLExporter(config=config).from_notebook_node(notebook, known)[0]


@pytest.mark.parametrize("key", ["student", "first_name", "last_name"])
def test_names_are_escaped_in_formgrader(key):
    names = {"first_name": "A", "last_name": "B"} if key != "student" else {}
    page = formgraders_page(**{**names, key: "<img src=x onerror=steal()>"})
    assert "&lt;img src=x onerror=steal()&gt;" in page
    assert "<img" not in page


def test_formgrader_fetches_nothing():
    page = formgraders_page()
    assert "mathjax/" not in page
    assert BeautifulSoup(page, "html.parser").select(".text_cell_render math mi")


def test_sanitising_again_changes_nothing():
    for text in HOSTILE:
        once = safe_html(text)
        again = BeautifulSoup(safe_html(once), "html.parser")
        assert again == BeautifulSoup(once, "html.parser")  # attributes in any order


@pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning")
def test_the_feedback_page_of_a_hostile_answer_is_harmless(classroom):
    only(classroom, "perfect-one")
    path = submission(classroom, "perfect-one")
    notebook = nbformat.read(path, 4)
    attack = "<script>steal()</script><img src=x onerror=steal()> my answer"
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.metadata.get("nbgrader"):
            cell.source += attack + "![dot](attachment:x.png) ![gone](attachment:y)"
            cell.attachments = {"x.png": {"image/png": DOT}}
    notebook.cells += [new_markdown_cell(attack), new_raw_cell(attack)]
    nbformat.write(notebook, path)
    assert grade(classroom).exit_code == 0
    page = classroom / "feedback" / "perfect-one" / UNIT / f"{UNIT}.html"
    text = page.read_text()
    assert "my answer" in text
    assert f"base64,{DOT}" in text
    assert "steal" not in text

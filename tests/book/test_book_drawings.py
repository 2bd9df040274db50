"""The contents of the drawings, and the build of a page that shows one."""

import ast
import io
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch
from book_readers import NARROW, window
from bs4 import BeautifulSoup
from course_book.drawings import (
    attention,
    gallery,
    inference,
    layers,
    sequences,
    transformer,
    vectors,
)
from course_book.drawn_pages import (
    Drawing,
    TransformerMap,
    controls,
    drawing,
    show,
)
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace
from torch.nn import functional as F

from transformer.data import RUNNING_EXAMPLE
from transformer.positional import sinusoidal_encoding

BOOK = Path(__file__).resolve().parents[2] / "book"
NUMBERS = [f"{number:02}" for number in range(1, 14)]
UNITS = [SimpleNamespace(number=n, slug=f"{n:02}_unit") for n in range(1, 14)]


def parsed(markup: str) -> BeautifulSoup:
    return BeautifulSoup(markup, "html.parser")


@pytest.fixture(scope="module")
def arrangements() -> list[BeautifulSoup]:
    """Return the map's wide and narrow arrangements, with no part highlighted."""
    return [parsed(str(svg)) for svg in parsed(transformer.drawn("", "key"))("svg")]


def test_each_unit_has_a_part_in_both_arrangements(arrangements):
    for svg in arrangements:
        assert {link["href"] for link in svg("a")} == {f"unit:{n}" for n in NUMBERS}
        assert not svg.select(".lit")


@pytest.mark.parametrize("number", NUMBERS)
def test_a_chapter_lights_its_own_parts_and_no_others(number):
    for svg in parsed(transformer.drawn(number, "key"))("svg"):
        lit = svg.select("a.lit")
        assert any(link["href"] == f"unit:{number}" for link in lit)
        assert all(link.title.get_text().endswith("lit)") for link in lit)
        own = [a for a in svg("a") if a["href"] == f"unit:{number}"]
        assert all(link in lit for link in own)
    assert parsed(transformer.stamp(number)).select(".lit")


def test_the_paper_has_seven_places_of_dropout_and_programs_two_more(arrangements):
    for svg in arrangements:
        marks = [mark for mark in svg.select("g.dropout") if mark.title]
        numbers = [m.title.get_text() for m in marks if "hollow" not in m["class"]]
        assert sorted(numbers) == [f"dropout {i}" for i in range(1, 8)]
        assert sum("hollow" in mark["class"] for mark in marks) == 2


def test_the_table_of_chapter_06_has_the_drawings_numbers():
    text = (BOOK / "06_feed_forward.md").read_text("utf-8")
    table = text[text.index("The table uses the same numbers as the drawing:") :]
    rows = re.findall(r"^\| \w.*$", table, re.M)[1:5]
    numbers = sorted(int(n) for row in rows for n in re.findall(r"\b\d\b", row))
    assert numbers == list(range(1, 8))


def test_the_three_attentions_differ_in_more_than_colour(arrangements):
    for svg in arrangements:
        signs = [
            str(svg.select_one(f"a.{kind} .sign")).partition(" ")[0]
            + str("stroke" in svg.select_one(f"a.{kind} .sign")["class"])
            for kind in ("self", "masked", "cross")
        ]
        assert len(set(signs)) == 3


def test_every_link_and_drawing_says_what_it_is(arrangements):
    for svg in arrangements:
        root = svg.svg
        assert svg.find(id=root["aria-labelledby"]).get_text() == transformer.TITLE
        assert svg.find(id=root["aria-describedby"]).get_text()
        for link in svg("a"):
            name, seen = link.title.get_text(), link.select_one("text").get_text()
            assert seen.lower() in name.lower() or seen == "position"
    for name in gallery.NAMES:
        root = parsed(gallery.drawn(name, "What it shows.")).svg
        assert (root["role"], root["aria-label"]) == ("img", "What it shows.")


def test_a_stamp_has_no_words_and_no_links():
    stamp = parsed(transformer.stamp("04"))
    assert not stamp("text")
    assert not stamp("a")


def test_the_beam_follows_the_table_of_chapter_11():
    text = (BOOK / "11_inference.md").read_text("utf-8")
    table = ast.literal_eval(re.search(r"^CHOICES = (\{.*?^\})", text, re.M | re.S)[1])
    for words, choices in inference.CHOICES.items():
        assert choices == table[words]
    alt = re.search(r"^```\{drawing\} beam\n(?::.*\n)*?:alt: (.*)$", text, re.M)[1]
    shown = parsed(gallery.drawn("beam", "")).get_text(" ")
    numbers = re.findall(r"\d\.\d+", alt)
    assert len(numbers) >= 5
    assert all(number in shown for number in numbers)


def literal(chapter: str, name: str) -> list:
    """Return the list that a chapter's first cell assigns to `name`."""
    text = next(BOOK.glob(f"{chapter}_*.md")).read_text("utf-8")
    start = re.search(rf"^{name} = (?:torch\.tensor\()?(?=\[)", text, re.M).end()
    return ast.literal_eval(text[start:][: closing(text[start:])])


def closing(text: str) -> int:
    """Return the place of the bracket that closes the first one of `text`."""
    depth = 0
    for place, letter in enumerate(re.sub("#.*", lambda m: " " * len(m[0]), text)):
        depth += (letter == "[") - (letter == "]")
        if depth == 0:
            return place + 1
    raise ValueError(f"expected a closed list, found {text[:40]!r}")


@pytest.mark.parametrize(("chapter", "name", "drawn"), [
    ("02", "weight", list(vectors.TABLE.values())),
    ("02", "small", list(vectors.TABLE)),
    ("04", "tokens", attention.WORDS),
    ("04", "key", attention.KEYS),
    ("04", "value", attention.VALUES),
    ("05", "tokens", attention.OF_HEADS),
    ("05", "key", attention.HEADS_KEYS),
    ("05", "value", attention.HEADS_VALUES),
    ("06", "w1", layers.W1),
    ("06", "w2", layers.W2),
    ("08", "rows", layers.TOKENS),
])  # fmt: skip
def test_a_drawing_has_the_numbers_of_its_chapter(chapter, name, drawn):
    found = literal(chapter, name)
    assert found == [list(row) if isinstance(row, tuple) else row for row in drawn]


def test_the_drawn_queries_and_sentences_are_the_chapters():
    assert tuple(literal("04", "query")[2]) == attention.QUERY
    assert tuple(literal("05", "query")[2]) == attention.HEADS_QUERY
    assert tuple(literal("06", "x")[2]) == layers.TOKEN
    assert RUNNING_EXAMPLE.src == sequences.SOURCE
    assert (*sequences.READ, "<eos>") == ("<sos>", *RUNNING_EXAMPLE.tgt, "<eos>")
    assert ("<sos>", *sequences.PREDICTED) == (*sequences.READ, "<eos>")


def test_the_drawings_compute_what_torch_computes():
    query, key, value = (
        torch.tensor(one) for one in (attention.QUERY, attention.KEYS, attention.VALUES)
    )
    _, output = attention.attended(attention.QUERY, attention.KEYS, attention.VALUES)
    expected = F.scaled_dot_product_attention(query[None], key, value)[0]
    assert torch.allclose(torch.tensor(output), expected)
    token = torch.tensor(layers.TOKEN)
    inner = layers.positive(layers.times(layers.TOKEN, layers.W1))
    expected = (token @ torch.tensor(layers.W1)).relu()
    assert torch.equal(torch.tensor(inner), expected)
    total = layers.added(layers.TOKEN, layers.times(inner, layers.W2))
    expected = F.layer_norm(token + expected @ torch.tensor(layers.W2), (4,))
    assert torch.allclose(torch.tensor(layers.normalised(total)), expected, atol=1e-4)
    for position, row in enumerate(sinusoidal_encoding(3, 4)):
        assert torch.allclose(torch.tensor(vectors.encoded(position)), row)


DRAWN = re.compile(r"^```\{drawing\} (\S+)\n(?::name: .*\n):alt: (.*)$", re.M)
CHAPTERS_WITH = sorted(BOOK.glob("[01]*_*.md"))


def test_every_drawing_is_on_one_page():
    found = [
        name for path in CHAPTERS_WITH for name, _ in DRAWN.findall(path.read_text())
    ]
    assert sorted(found) == sorted(gallery.NAMES)


@pytest.mark.parametrize("path", CHAPTERS_WITH, ids=lambda path: path.name)
def test_a_chapter_shows_a_drawing_before_its_goals(path):
    text = path.read_text("utf-8")
    first = DRAWN.search(text)
    assert first.start() < text.index(":class: goals")
    words = set(re.findall(r"\d[\d.,]*\d|\d", first[2]))
    seen = parsed(gallery.drawn(first[1], "")).get_text(" ")
    assert {word for word in words if word not in seen} == set()


@pytest.mark.integration
@pytest.mark.needs("chromium")
def test_a_drawing_in_steps_works_with_keys_and_plays(chromium):
    markup = gallery.drawn("attention", "Alt.") + controls("key", attention.steps())
    static = BOOK / "_static"
    text = (
        f"<script>{(static / 'course.js').read_text()}</script>"
        f"<style>{(static / 'drawings.css').read_text()}</style>"
        f'<div class="drawing-room">{markup}</div>'
    )
    seen = """() => [1, 2, 3, 4].filter((step) => [...document.querySelectorAll(
      `.step-${step}`)].every((part) => getComputedStyle(part).opacity !== "0"))"""
    with window(chromium, NARROW, "light") as page:
        page.emulate_media(reduced_motion="reduce")
        page.set_content(text)
        assert page.evaluate(seen) == [1, 2, 3, 4]
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.textContent") == "Play"
        page.keyboard.press("Tab")
        page.keyboard.press("ArrowLeft")
        assert page.evaluate(seen) == [1, 2, 3]
        assert page.text_content("output") == attention.steps()[2]
        page.keyboard.press("Home")
        assert page.evaluate(seen) == [1]
        page.click("button")
        assert page.text_content("button") == "Stop"
        page.wait_for_function("document.querySelector('input').value === '4'")
        assert page.evaluate(seen) == [1, 2, 3, 4]
        assert page.text_content("button") == "Play"
        page.emulate_media(media="print")
        page.keyboard.press("Home")
        assert page.evaluate(seen) == [1, 2, 3, 4]


def build(folder: Path, pages: dict[str, str]) -> tuple[dict[str, str], str]:
    """Build pages of MyST, and return the HTML of each, and the warnings."""
    source, output, warnings = folder / "source", folder / "html", io.StringIO()
    source.mkdir()
    (source / "conf.py").write_text("")
    for name, text in pages.items():
        (source / f"{name}.md").write_text(text)
    with docutils_namespace():
        app = Sphinx(
            source, source, output, folder / "trees", "html",
            {"extensions": ["myst_parser"], "root_doc": "intro", "nitpicky": True},
            status=None, warning=warnings, freshenv=True,
        )  # fmt: skip
        app.add_config_value("course_facts", SimpleNamespace(units=UNITS), "")
        app.add_node(drawing, html=(show, None))
        app.add_directive("transformer-map", TransformerMap)
        app.add_directive("drawing", Drawing)
        app.build()
    return {name: (output / f"{name}.html").read_text() for name in pages}, (
        warnings.getvalue()
    )


CHAPTERS = {unit.slug: ":orphan:\n\n# A unit\n" for unit in UNITS}
MAP = "# Preface\n\n```{transformer-map}\n```\n"


def test_links_of_the_map_lead_to_the_chapters(tmp_path):
    folded = CHAPTERS["04_unit"] + "\n```{transformer-map}\n:dropout:\n```\n"
    pages, _ = build(tmp_path, {"intro": MAP, **CHAPTERS, "04_unit": folded})
    whole, chapter = parsed(pages["intro"]), parsed(pages["04_unit"])
    links = {link["href"] for link in whole.select("svg.drawing a")}
    assert links == {f"{unit.slug}.html" for unit in UNITS}
    assert not whole.select("details, .lit, input[checked]")
    assert chapter.select_one("details.map-fold:not([open]) summary svg.stamp .lit")
    assert chapter.select_one("details input[checked]")
    links = {link["href"] for link in chapter.select("svg.drawing a")}
    assert links == {f"{u.slug}.html" for u in UNITS if u.number != 4} | {"#"}


def test_a_missing_chapter_is_a_warning_which_fails_the_build(tmp_path):
    pages = {name: text for name, text in CHAPTERS.items() if name != "07_unit"}
    _, warnings = build(tmp_path, {"intro": MAP, **pages})
    assert "07_unit" in warnings


def test_a_drawing_needs_a_name_that_there_is_an_alternative_and_a_caption(tmp_path):
    good = "```{drawing} beam\n:name: fig-it\n:alt: What it is.\n\nA caption.\n```\n"
    bad = good.replace("{drawing} beam", "{drawing} nothing")
    silent = good.replace(":alt: What it is.\n", "")
    text = {"intro": f"# One\n\n{good}", "bad": f"# Two\n\n{bad}"}
    pages, warnings = build(tmp_path, {**text, "silent": f"# Three\n\n{silent}"})
    figure = parsed(pages["intro"]).select_one("figure#fig-it")
    assert figure.select_one("svg.drawing")["aria-label"] == "What it is."
    assert "A caption." in figure.figcaption.get_text()
    assert warnings.count("expected a name of") == 2

"""The drawings: what is in them, and how a page that shows one is built."""

import ast
import io
import re
from pathlib import Path
from types import SimpleNamespace

import pytest
from bs4 import BeautifulSoup
from course_book.drawings import gallery, inference, transformer
from course_book.drawn_pages import Drawing, TransformerMap, drawing, show
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

BOOK = Path(__file__).resolve().parents[2] / "book"
NUMBERS = [f"{number:02}" for number in range(1, 14)]
UNITS = [SimpleNamespace(number=n, slug=f"{n:02}_unit") for n in range(1, 14)]


def parsed(markup: str) -> BeautifulSoup:
    return BeautifulSoup(markup, "html.parser")


@pytest.fixture(scope="module")
def arrangements() -> list[BeautifulSoup]:
    """The map's wide and its narrow arrangement, with nothing lit."""
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
    table = text[text.index("The table has the drawing's numbers:") :]
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
        root = parsed(gallery.drawn(name, "key", "What it shows.")).svg
        assert root["role"] == "img"
        assert root.find(id="key-desc").get_text() == "What it shows."


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
    shown = parsed(gallery.drawn("beam", "key")).get_text(" ")
    numbers = re.findall(r"\d\.\d+", alt)
    assert len(numbers) >= 5
    assert all(number in shown for number in numbers)


def build(folder: Path, pages: dict[str, str]) -> tuple[dict[str, str], str]:
    """Build pages of MyST; return the HTML of each, and the warnings."""
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
    assert figure.select_one("svg.drawing desc").get_text() == "What it is."
    assert "A caption." in figure.figcaption.get_text()
    assert warnings.count("expected a name of") == 2

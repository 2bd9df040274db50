"""The parts of a translated book: its links, settings and words, and its search."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Event
from types import ModuleType, SimpleNamespace

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        *(("마스크가", "마스크"), ("어텐션은", "어텐션"), ("디코더에서는", "디코더")),
        *(("키를", "키"), ("softmax를", "softmax"), ("나이", "나이"), ("는", "는")),
    ],
)
def test_a_word_is_found_without_its_particle(word: str, stem: str) -> None:
    from course_book.search_ko import SearchKorean

    assert SearchKorean({}).stem(word) == stem


def test_pages_lead_to_themselves_in_the_other_language(
    builder: ModuleType, tmp_path: Path
) -> None:
    place = "<body><!--other edition--><!--end--></body>"
    (tmp_path / "ko").mkdir()
    for name in ("a.html", "ko/a.html", "b.html"):
        (tmp_path / name).write_text(place)
    builder.link_editions(tmp_path)
    texts = {n: (tmp_path / n).read_text() for n in ("a.html", "ko/a.html", "b.html")}
    assert 'href="ko/a.html" lang="ko"' in texts["a.html"]
    assert 'href="../a.html" lang="en"' in texts["ko/a.html"]
    assert texts["b.html"] == place
    (tmp_path / "ko" / "a.html").unlink()
    builder.link_editions(tmp_path)
    assert (tmp_path / "a.html").read_text() == place


def test_no_page_is_gone_while_a_translation_is_built_anew(
    builder: ModuleType, tmp_path: Path
) -> None:
    built, site = tmp_path / "built", tmp_path / "site"
    (site / "mathjax").mkdir(parents=True)
    names = [f"{number}.html" for number in range(100)]
    for folder, text in ((built, "new"), (site / "ko", "old")):
        folder.mkdir()
        for name in names:
            (folder / name).write_text(text)
    (site / "ko" / "given_up.html").touch()
    seen: set[str] = set()

    def build_until_seen() -> None:
        while not done.is_set():
            builder.put_in(built, site, "ko")

    done = Event()
    with ThreadPoolExecutor(1) as thread:
        building = thread.submit(build_until_seen)
        try:
            for _ in range(100):
                seen |= {(site / "ko" / name).read_text() for name in names}
        finally:
            done.set()
        building.result()
    assert seen <= {"old", "new"}
    assert sorted(path.name for path in (site / "ko").iterdir()) == sorted(names)


def test_a_changed_word_of_the_books_code_makes_its_pages_anew(tmp_path: Path) -> None:
    from course_book import translated
    from sphinx.config import Config

    made = Path("locale") / "ko" / "book.po"
    (tmp_path / made).parent.mkdir(parents=True)
    app = SimpleNamespace(srcdir=tmp_path)
    app.config = config = Config({}, {"locale_dirs": ["locale"], "language": "ko"})
    config.add("course_words", [], "env", ())
    found = []
    for korean in ("열기", "펼치기"):
        (tmp_path / made).write_text(f'msgid "Open"\nmsgstr "{korean}"\n', "utf-8")
        translated.use_words(app, config)
        found.append(config.course_words)
    assert found == [[("Open", "열기")], [("Open", "펼치기")]]
    translated.words.use(tmp_path / "none")
    rebuilt = {one.name for one in config.filter("env")}
    assert "course_words" in rebuilt


def test_settings_of_a_language_go_into_the_configuration(
    builder: ModuleType, tmp_path: Path
) -> None:
    one = {"a": {"b": 1, "c": 2}, "d": [1]}
    assert builder.merged(one, {"a": {"b": 3}, "d": []}) == {
        "a": {"b": 3, "c": 2},
        "d": [],
    }
    text = builder.translated_config(builder.BOOK, tmp_path, "ko").read_text("utf-8")
    assert "language: ko" in text and "식 {number}" in text


@pytest.mark.parametrize("page", sorted((ROOT / "book").glob("[01]*.md")))
def test_each_quotation_has_a_line_of_its_own(page: Path) -> None:
    """The gloss is in that line, so a repeated word would gloss both."""
    lines = re.findall(r"^\{cite:t\}`\w+`, [^:\n]*$", page.read_text("utf-8"), re.M)
    assert len(lines) == len(set(lines)) >= 1


def test_a_slider_says_everything_in_the_language_of_its_page(tmp_path: Path) -> None:
    from course_book import slider_words
    from docutils import nodes
    from docutils.utils import new_document
    from matplotlib.figure import Figure

    from transformer.plots.slider import slider_figure

    labels = ["no mask", "k < 3"]
    made = slider_figure([Figure(), Figure()], labels, "Mask", "Dots & lines.")
    english = made._repr_html_()
    said = ["Mask", "Dots & lines.", *labels]
    assert list(slider_words.messages(english)) == said
    assert slider_words.translated(english, str) == english
    korean = slider_words.translated(english, lambda text: f"말 {said.index(text)}")
    assert 'alt="말 1 (말 2)" data-label="말 2"' in korean
    assert korean.count("말 2") == 4 and not any(text in korean for text in said)

    app = SimpleNamespace(srcdir=tmp_path, builder=SimpleNamespace(name="gettext"))
    app.config = SimpleNamespace(language="en", locale_dirs=["locale"])
    app.env = SimpleNamespace(docname="page")
    page = new_document("page.md")
    page += nodes.container("", nodes.raw("", english, format="html"))
    slider_words.translate_sliders(app, page)
    assert [one.rawsource for one in page.findall(nodes.paragraph)] == said

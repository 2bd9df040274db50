"""The Korean book: its pages, its links, its search, and the English in it."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest
from axe import barriers
from book_readers import NARROW, WIDE, Reader, unfold, whole_page_faults, window
from bs4 import BeautifulSoup, Comment, Doctype, Tag

from autograder.translations.pseudolocalize import pseudolocalize

ROOT = Path(__file__).resolve().parents[2]
# Parts that stay English: code, outputs, drawings, formulas, names of works and people.
STAYS = (
    *("script", "style", "svg", "pre", "code", "kbd", "math", ".math", "template"),
    *(".cell_output", ".citation", ".citation-list", "a.reference.internal[title]"),
    *('[lang="en"]', '[lang="de"]', "h1.site-logo", "title", ".navbar-brand"),
)
# On a translated page, also quotations, examples, and English words in brackets or
# quotation marks.
QUOTED = ("blockquote", "em", "cite")
GERMAN = re.compile(r"^(?:die|der|das) [a-zäöüß ,]+ \.$", re.MULTILINE)
IN_MARKS = re.compile(r"“[^”]*”|\([^()]*\)")
BLOCKS = "p, li, td, th, dt, dd, h1, h2, h3, h4, summary, figcaption, caption, div"
NAMES = re.compile(
    r"Attention Is All You Need|[A-Z]\w+(?:·[A-Z]\w+| 등)?,? (?:\[|\d{4})"
)
SENTENCE = re.compile(r"[A-Za-z]{2,} [a-z]{2,} [a-z]{2,}|[A-Za-z]{3,} [a-z]{3,}")
SHOWN_BY = ("alt", "aria-label", "placeholder")
NEEDS_CHROMIUM = pytest.mark.needs("chromium")
OTHER_EDITION = re.compile(
    r'class="other-edition">.*?<a [^>]*href="([^"]+)" lang="(\w+)" hreflang="(\w+)"'
)
HITS = """[...document.querySelectorAll("#search-results li > a")]
  .map((link) => link.getAttribute("href").replace(/[.]html.*/, ""))"""


@pytest.fixture(scope="module")
def pseudolocalized(
    builder: ModuleType, site: Path, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Build a Korean book in which every message is translated into invented words.

    The build comes after the English one, and uses the same executions.
    """
    folder = tmp_path_factory.mktemp("pseudolocalized")
    pseudolocalize(ROOT / "book" / "locale" / "ko", folder / "locale" / "ko")
    config = builder.translated_config(builder.BOOK, folder, "ko", folder / "locale")
    settings = {"COURSE_EDITION": "public", "COURSE_CONFIG": str(config)}
    assert builder.run(builder.BOOK, folder, settings, quiet=True) == 0
    return folder / "_build" / "html"


def read_soup(page: Path) -> BeautifulSoup:
    return BeautifulSoup(page.read_text("utf-8"), "html.parser")


def english_in(page: Path) -> list[str]:
    """Return a page's English sentences, without the parts that stay English."""
    soup = read_soup(page)
    for node in soup.select(", ".join(STAYS)):
        node.decompose()
    texts = [
        text
        for text in soup.find_all(string=True)
        if not isinstance(text, (Comment, Doctype))
    ]
    return sentences([*texts, *described(soup)])


def english_outside_marks(page: Path) -> list[str]:
    """Return the result of `english_in` for each block, without quotations."""
    soup = read_soup(page)
    for node in soup.select(", ".join((*STAYS, *QUOTED))):
        node.replace_with(" ")
    for block in soup.select(BLOCKS):
        block.append("\n\n")
    texts = [*soup.get_text().split("\n\n"), *described(soup)]
    lines = (" ".join(text.split()) for text in texts)
    return sentences([GERMAN.sub("", IN_MARKS.sub("", line)) for line in lines])


def described(soup: BeautifulSoup) -> list[str]:
    """Return the texts for screen readers, and hints."""
    return [node[name] for name in SHOWN_BY for node in soup.select(f"[{name}]")]


def sentences(texts: list[str]) -> list[str]:
    lines = (" ".join(text.split()) for text in texts)
    return [line for line in lines if SENTENCE.search(NAMES.sub("", line))]


@pytest.mark.slow
def test_every_sentence_is_in_a_catalogue(pseudolocalized: Path) -> None:
    left = {
        page.name: found
        for page in sorted(pseudolocalized.glob("*.html"))
        if page.name != "references.html" and (found := english_in(page))
    }
    assert left == {}


@pytest.mark.slow
def test_the_korean_book_is_korean(pseudolocalized: Path) -> None:
    page = (pseudolocalized / "04_attention.html").read_text("utf-8")
    assert '<html lang="ko"' in page and "코드 보기" in page and "그림 4" in page
    assert "Vaswani 등 [" in page and "et al." not in page
    assert "Press·Wolf [" in (pseudolocalized / "02_embeddings.html").read_text("utf-8")
    assert "../../mathjax/tex-svg-full.js" in page
    assert not (pseudolocalized / "mathjax").exists()
    assert "Korean words" not in (pseudolocalized / "glossary.html").read_text("utf-8")
    assert "stemWord" in (pseudolocalized / "_static" / "language_data.js").read_text(
        "utf-8"
    )


@pytest.mark.slow
def test_no_english_sentence_shows_outside_of_quotations(korean: Path) -> None:
    left = {
        page.name: found
        for page in sorted(korean.glob("*.html"))
        if (found := english_outside_marks(page))
    }
    assert left == {}


@pytest.mark.parametrize("look", [english_in, english_outside_marks])
def test_a_sentence_in_english_is_found(tmp_path: Path, look) -> None:
    page = tmp_path / "page.html"
    body = "<p>한국어 <code>of code</code></p><p>It is here.</p><img alt='A cat sits'>"
    page.write_text(f"<html><body>{body}</body></html>")
    assert look(page) == ["It is here.", "A cat sits"]


def test_what_is_quoted_may_be_english(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    body = (
        "<p>논문은 “it is <b>so</b> here”라고(that is it) <em>say this</em> 합니다.</p>"
    )
    page.write_text(f"<html><body>{body}</body></html>")
    assert english_outside_marks(page) == [] != english_in(page)


@pytest.mark.slow
def test_every_page_leads_to_itself_in_the_other_language(korean: Path) -> None:
    english = korean.parent
    names = {path.name for path in korean.glob("*.html")}
    assert names == {path.name for path in english.glob("*.html")} - {"index0.html"}
    for name in names:
        for page, own, there in (
            (korean / name, "ko", english / name),
            (english / name, "en", korean / name),
        ):
            text = page.read_text("utf-8")
            assert f'<html lang="{own}"' in text
            link = OTHER_EDITION.search(text)
            assert link and link[2] == link[3] == {"ko": "en", "en": "ko"}[own], page
            assert (page.parent / link[1]).resolve() == there.resolve()


@pytest.mark.slow
def test_a_chapter_leads_to_the_korean_notebook(korean: Path) -> None:
    for page in korean.glob("[01]?_*.html"):
        own = f"assignments/ko/{page.stem}/{page.stem}.ipynb"
        box = read_soup(page).select_one(".admonition.notebook")
        assert isinstance(box, Tag) and own in box.get_text()
        assert any(link["href"].endswith(own) for link in box.select("a"))
        assert (ROOT / own).is_file()


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_every_korean_page_is_whole_and_asks_the_network_for_nothing(
    korean: Path, korean_pages: list[Path], chromium
) -> None:
    """Nothing is cut or too small: first wide and light, then narrow and dark."""
    reader, faults = Reader(chromium, WIDE, "light"), {}
    page = reader.page
    for path in korean_pages:
        reader.faults.clear()
        page.emulate_media(color_scheme="light")
        reader.resize(WIDE)
        reader.open(path)
        found = whole_page_faults(page, korean)
        page.emulate_media(color_scheme="dark")
        page.wait_for_function("document.documentElement.dataset.theme === 'dark'")
        reader.resize(NARROW)
        found += reader.faults + whole_page_faults(page, korean)
        if found:
            faults[path.name] = found
    reader.context.close()
    assert faults == {}


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_a_word_is_found_with_every_particle(korean: Path, chromium) -> None:
    def hits(word: str) -> set[str]:
        page.goto((korean / "search.html").as_uri() + f"?q={word}")
        page.wait_for_function("document.querySelector('.search-summary')?.innerText")
        page.locator("#search-results .context").first.wait_for()
        return set(page.evaluate(HITS))

    with window(chromium, WIDE, "light") as page:
        masks, attention = hits("마스크"), hits("어텐션")
        assert {"07_masks", "09_decoder", "glossary"} <= masks
        assert {"04_attention", "05_multi_head_attention"} <= attention
        assert "01_recurrent_attention" in attention
        assert hits("마스크가") == hits("마스크를") == masks
        assert hits("어텐션은") == attention
        found = page.locator("#search-results .context").all_inner_texts()
        assert all("어텐션" in text for text in found)


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_axe_finds_nothing_on_any_korean_page(
    korean_pages: list[Path], chromium
) -> None:
    found, judged = {}, set[str]()
    with window(chromium, NARROW, "dark") as page:
        for path in korean_pages:
            unfold(page, path.as_uri())
            if faults := barriers(page, judged):
                found[path.stem] = faults
    assert found == {}


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_no_hangul_leans_and_foreign_words_do(korean: Path, chromium) -> None:
    with window(chromium, WIDE, "light") as page:
        page.goto((korean / "11_inference.html").as_uri())
        styles = page.evaluate(
            """() => [...document.querySelectorAll("article em, .caption-number")]
              .filter((node) => node.innerText.match(/[A-Za-z가-힣]/))
              .map((node) => [/[가-힣]/.test(node.innerText), getComputedStyle(node)])
              .map(([hangul, { fontStyle }]) => `${hangul} ${fontStyle}`)"""
        )
    assert set(styles) == {"true normal", "false italic"}


@pytest.mark.slow
@NEEDS_CHROMIUM
def test_the_live_figure_speaks_korean(korean: Path, chromium) -> None:
    """Its words are Korean, including the words after a change."""
    with window(chromium, WIDE, "light") as page:
        unfold(
            page,
            (korean / "index.html").as_uri() + "#live=live-1&causal=0&off=cross.1.0",
        )
        figure = page.locator(".live-translator")
        figure.locator(".live-remark", has_text="바꾼 것").wait_for()
        shown = figure.evaluate(
            """(box) => {
              const stays = "[lang], code, svg, .live-from, option";
              box.querySelectorAll(stays).forEach((one) => one.remove());
              return box.innerText;
            }"""
        )
    assert re.findall("[A-Za-z]{2,}", IN_MARKS.sub("", shown)) == []

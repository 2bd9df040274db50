"""Each word of a German example has a gloss, in both languages and on narrow pages."""

import io
import re
from itertools import pairwise
from pathlib import Path

import pytest
from book_readers import NARROW, window
from bs4 import BeautifulSoup
from course_book.gloss import Gloss, cells, gloss, markup, paired, show_gloss
from sphinx.application import Sphinx
from sphinx.util.docutils import docutils_namespace

from autograder.translations.catalogue import translations

BOOK = Path(__file__).resolve().parents[2] / "book"
KOREAN = BOOK / "locale" / "ko" / "LC_MESSAGES"
SOURCE = re.compile(r"^```\{gloss\}\n(.*)\n(.*)\n(.*)\n```$", re.M)
GLOSSES = [
    (path.stem, *lines)
    for path in sorted(BOOK.glob("[a-z0-9]*.md"))  # AUTHORS.md is not a page
    for lines in SOURCE.findall(path.read_text("utf-8"))
]
GERMAN = "die | frau | schläft | <.>"
GOOD = f"# One\n\n```{{gloss}}\n{GERMAN}\nthe | woman | sleeps |\nShe sleeps.\n```\n"


def build(folder: Path, text: str) -> tuple[BeautifulSoup, str]:
    """Build one page of MyST, and return it with the warnings."""
    warnings = io.StringIO()
    (folder / "conf.py").write_text("")
    (folder / "index.md").write_text(text, "utf-8")
    with docutils_namespace():
        app = Sphinx(
            folder, folder, folder / "html", folder / "trees", "html",
            {"extensions": ["myst_parser"]}, status=None, warning=warnings,
        )  # fmt: skip
        app.add_node(gloss, html=(show_gloss, None))
        app.add_directive("gloss", Gloss)
        app.build()
    page = (folder / "html" / "index.html").read_text("utf-8")
    return BeautifulSoup(page, "html.parser"), warnings.getvalue()


def test_each_word_has_its_gloss_and_a_screen_reader_hears_each_once(tmp_path):
    page, warnings = build(tmp_path, GOOD)
    assert warnings == ""
    pairs = [
        (str(ruby.contents[0]), ruby.rt.string)
        for ruby in page.select(".gloss ruby[lang=de]")
    ]
    assert pairs == [
        ("die", "the"),
        ("frau", "woman"),
        ("schläft", "sleeps"),
        ("<.>", None),
    ]
    for hidden in page.select(".gloss [aria-hidden=true]"):
        hidden.decompose()
    assert page.select_one(".gloss").get_text(" ", strip=True) == (
        "die frau schläft <.> Word by word: the woman sleeps She sleeps."
    )


@pytest.mark.parametrize(("old", "new", "message"), [
    ("sleeps |", "sleeps", "one gloss for each of the 4 words"),
    ("She sleeps.\n", "", "expected three lines"),
])  # fmt: skip
def test_a_gloss_that_does_not_fit_is_a_warning(tmp_path, old, new, message):
    _, warnings = build(tmp_path, GOOD.replace(old, new))
    assert message in warnings


def test_a_translation_that_does_not_fit_is_a_warning(tmp_path):
    with pytest.raises(ValueError, match="found 2 in '그"):
        paired(GERMAN, "그 | 여자")


@pytest.mark.parametrize(
    ("page", "german", "glosses", "translation"),
    GLOSSES,
    ids=[f"{page}-{translation}" for page, _, _, translation in GLOSSES],
)
def test_a_gloss_of_the_book_fits_in_both_languages(page, german, glosses, translation):
    korean = translations(KOREAN / f"{page}.po")
    in_korean = korean[" ".join(glosses.split())]
    assert re.search("[가-힣]", in_korean + korean[translation])
    for line in (glosses, in_korean):
        assert len(cells(line)) == len(cells(german))


@pytest.mark.integration
@pytest.mark.needs("chromium")
@pytest.mark.parametrize("media", ["screen", "print"])
def test_glosses_are_below_their_words_on_a_narrow_page(chromium, media):
    pairs = [(f"{word}{i}", f"gloss {i}") for i in range(6) for word in ("a", "wort")]
    css = (BOOK / "_static" / "course.css").read_text("utf-8")
    text = f'<style>{css}</style><div class="bd-article">{markup(pairs, "Yes.")}</div>'
    boxes = """() => [...document.querySelectorAll("ruby")].map((ruby) => {
      const range = document.createRange();
      range.selectNode(ruby.firstChild);
      const [word, rt] = [range, ruby.querySelector("rt")].map(
        (one) => one.getBoundingClientRect());
      const right = Math.max(word.right, rt.right);
      return [word.bottom - rt.top, word.left - rt.left, rt.left, right, rt.top];
    })"""
    with window(chromium, NARROW, "light") as page:
        page.emulate_media(media=media)
        page.set_content(text)
        found = page.evaluate(boxes)
        heard = page.locator(".gloss-heard").bounding_box()
    for overlap, shift, left, right, _ in found:
        assert overlap <= 2 and abs(shift) <= 1 and left >= 0 and right <= NARROW
    for one, after in pairwise(found):
        assert (
            after[2] > one[3] + 4 or after[4] > one[4]
        )  # next to it, or on the next line
    assert len({round(row[4]) for row in found}) > 1, "nothing here is wide enough"
    assert heard["width"] <= 1

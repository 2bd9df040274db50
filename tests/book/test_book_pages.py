"""The built pages, parsed: no private content, no errors, no downloads."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from bs4 import BeautifulSoup

from autograder.assemble.markers import marked_bodies
from autograder.course import load_course

pytestmark = pytest.mark.slow

ROOT = Path(__file__).resolve().parents[2]
COURSE = load_course(ROOT)
TEXTS = (
    ".html",
    ".js",
    ".json",
    ".css",
    ".txt",
    ".svg",
    ".ipynb",
    ".md",
    ".inv",
    ".py",
)
# Addresses that a browser loads by itself, in contrast to links that a reader may
# follow.
LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
    "object": "data",
    "link": "href",
}
SEEDS_WORDS = re.compile(r"\b(hid_dim|pf_dim|trg|enc_src|trg_mask|energy|fc_q)\b")


@pytest.fixture(scope="session")
def soups(pages) -> dict[str, BeautifulSoup]:
    return {
        page.name: BeautifulSoup(page.read_text("utf-8"), "html.parser")
        for page in pages
    }


def files(site: Path) -> Iterator[tuple[str, str]]:
    for path in site.rglob("*"):
        if path.suffix in TEXTS and "mathjax" not in path.parts:
            yield path.relative_to(site).as_posix(), path.read_text("utf-8", "replace")


def squeezed(text: str) -> str:
    """Leave out white space, because it differs between a page and a source file."""
    return re.sub(r"\s+", "", text)


def answers() -> Iterator[tuple[str, str]]:
    """Return each answer of the course that is longer than one line."""
    modules = {name for unit in COURSE.units for name in unit.modules}
    for name in sorted(modules):
        path = COURSE.module_file(name)
        for body in marked_bodies(path) if path.is_file() else ():
            if len(body.lines) > 1:
                yield path.name, "\n".join(body.lines)


def test_no_marker_of_a_private_file_is_in_the_book(site):
    marker = re.compile(r"(BEGIN|END) (SOLUTION|HIDDEN)|:answer:|nbgrader\W+grade_id")
    found = {name: m[0] for name, text in files(site) if (m := marker.search(text))}
    assert found == {}


def test_no_answer_is_in_the_book(soups):
    pages = {name: squeezed(soup.get_text()) for name, soup in soups.items()}
    private = list(answers())
    assert private, "no answers were found to look for"
    found = [
        (name, module, body)
        for name, text in pages.items()
        for module, body in private
        if squeezed(body) in text
    ]
    assert found == []


def test_no_hidden_check_is_in_the_book(soups):
    tests = re.compile(r"^def (test_\w+)", re.M)
    checks = sorted((ROOT / "autograder" / "checks").glob("test_*.py"))
    names = {name for path in checks for name in tests.findall(path.read_text("utf-8"))}
    assert names, "no hidden checks were found to look for"
    text = " ".join(soup.get_text() for soup in soups.values())
    assert {name for name in names if re.search(rf"\b{name}\b", text)} == set()


def test_no_page_names_a_folder_of_this_machine(site):
    private = {str(ROOT), str(Path.home())} - {"/"}
    found = {n for n, text in files(site) if any(path in text for path in private)}
    assert found == set()


def loaded_from_elsewhere(soups, site):
    """Return the files from outside the book that pages and style sheets load."""
    foreign = []
    for name, soup in soups.items():
        for tag, attribute in LOADED.items():
            for node in soup.find_all(tag):
                address = node.get(attribute, "")
                if re.match(r"(https?:)?//", address):
                    foreign.append((name, tag, address))
        if soup.find("script", type="module"):
            foreign.append((name, "script", "a module, which file:// refuses"))
    for name, text in files(site):
        if name.endswith(".css"):
            foreign += [
                (name, "css", m) for m in re.findall(r"url\(\W?https?:.*?\)", text)
            ]
            foreign += [
                (name, "css", m) for m in re.findall(r"@import[^;]*http[^;]*", text)
            ]
    return foreign


def test_pages_load_nothing_from_elsewhere(soups, site):
    assert loaded_from_elsewhere(soups, site) == []


def broken_links(soups, site):
    """Return the links to missing pages, files and places."""
    broken = []
    ids = {
        name: {node["id"] for node in soup.find_all(id=True)}
        for name, soup in soups.items()
    }
    for name, soup in soups.items():
        for link in soup.find_all("a", href=True):
            parts = urlsplit(link["href"])
            if parts.scheme or parts.netloc:
                continue
            target = unquote(parts.path) or name
            fragment = unquote(parts.fragment)
            if not (site / target).is_file():
                broken.append((name, link["href"], "no such file"))
            elif fragment and target in ids and fragment not in ids[target]:
                broken.append((name, link["href"], "no such place"))
    return broken


def test_no_link_within_the_book_is_broken(soups, site):
    assert broken_links(soups, site) == []


def test_chapters_have_the_number_and_the_notebook_of_their_unit(soups):
    for unit in COURSE.units:
        soup = soups.get(f"{unit.slug}.html")
        if soup is None:
            continue
        assert soup.article.h1.get_text().startswith(f"{unit.number}. ")
        box = soup.select_one(".admonition.notebook")
        notebook = f"assignments/{unit.slug}/{unit.slug}.ipynb"
        assert f"jupyter lab {notebook}" in box.get_text()
        colab = box.select_one('a[href^="https://colab.research.google.com/"]')["href"]
        assert colab.endswith(f"/blob/{COURSE.branch}/{notebook}")


def test_figures_of_a_chapter_are_numbered_by_its_unit(soups):
    seen = 0
    for name, soup in soups.items():
        if not name[:2].isdigit():  # a page that belongs to no unit
            continue
        for number in soup.select("figcaption .caption-number"):
            assert number.get_text().startswith(f"Figure {int(name[:2])}.")
            seen += 1
    assert seen >= 1


def swallowed_headings(soups):
    """Return the headings inside a box that was not closed."""
    return [
        (name, heading.get_text())
        for name, soup in soups.items()
        for heading in soup.select("article h2, article h3")
        if heading.parent.name != "section" or heading.parent.parent.name != "section"
        if name not in ("search.html", "genindex.html")
    ]


def test_no_heading_is_swallowed_by_a_box(soups):
    """If this test fails, a ::: box is not closed: count the colons of nested boxes."""
    assert swallowed_headings(soups) == []


def test_every_page_has_a_title_and_a_language(soups):
    for name, soup in soups.items():
        assert COURSE.title in soup.title.get_text(), name
        assert soup.html["lang"] == "en", name
        if soup.article:
            assert len(soup.article.find_all("h1")) == 1, name


def test_every_page_says_in_its_head_what_it_is_about(soups):
    said = {
        name: soup.find("meta", {"name": "description"})["content"]
        for name, soup in soups.items()
    }
    assert len(set(said.values())) == len(soups)
    assert {name for name, text in said.items() if not 40 < len(text) <= 320} == set()


def test_icons_are_drawn_by_their_font_alone(soups, site):
    """The theme would also load a script of 1.5 MB."""
    for name, soup in soups.items():
        scripts = [node["src"] for node in soup("script", src=True)]
        assert not [address for address in scripts if "fontawesome" in address], name
        loaded = [urlsplit(address).path for address in scripts]
        sizes = {path: (site / path).stat().st_size for path in loaded}
        mathjax = [path for path in sizes if "mathjax" in path]
        assert bool(mathjax) <= bool(soup.select(".math")), name
        model = [path for path in sizes if path.endswith("live/tiny-model.js")]
        assert bool(model) <= (name == "index.html"), name
        apart = sum(sizes[path] for path in (*mathjax, *model))
        assert sum(sizes.values()) - apart < 400_000, name


def test_every_reference_leads_to_its_work(soups):
    entries = soups["references.html"].select(".citation")
    assert len(entries) > 50
    assert [node.get_text()[:60] for node in entries if not node.select("p a")] == []
    arxiv = soups["references.html"].find("a", href="https://arxiv.org/abs/1706.03762")
    assert arxiv.get_text() == "arXiv:1706.03762"


def test_the_seeds_words_stand_in_the_glossary_only(soups):
    found = {
        name: sorted(set(SEEDS_WORDS.findall(soup.article.get_text())))
        for name, soup in soups.items()
        if soup.article and SEEDS_WORDS.search(soup.article.get_text())
    }
    assert set(found) <= {"glossary.html", "genindex.html"}, found


def test_every_reference_is_cited_or_listed_once(soups):
    labels = [node.get_text() for node in soups["references.html"].select(".label")]
    assert len(labels) == len(set(labels)) >= 20

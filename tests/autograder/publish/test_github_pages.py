"""The files for GitHub Pages: workflow, 404 page, sitemap and social card."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml
from bs4 import BeautifulSoup
from PIL import Image
from repositories import write
from typer.testing import CliRunner

from autograder.assemble.assembler import assemble
from autograder.commands.app import app
from autograder.course import Course, load_course
from autograder.publish import PublishError, publish
from autograder.publish.github_pages import (
    CARD,
    CARD_SIZE,
    NOT_FOUND,
    SITEMAP,
    WORKFLOW,
    complete_site,
    workflow,
)
from autograder.publish.repository import NOBODY, git

ROOT = Path(__file__).resolve().parents[3]
ADDRESS = "https://pocket.github.io/course/"
PAGE = """<html><head>
<meta name="description" content="Sums &amp; &quot;means&quot;.">
<title>{title} &#8212; The course</title>
</head><body></body></html>"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Make a built site in two languages."""
    for name in ("index", "01_sums", "search", "ko/index", "ko/01_sums"):
        write(tmp_path / f"{name}.html", PAGE.format(title="Sums &amp; more"))
    write(tmp_path / "_static" / "macros.html", "no page")
    write(tmp_path / CARD, "a picture")
    return tmp_path


def tags(path: Path) -> dict[str, str]:
    soup = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    return {
        one.get("property") or one["name"]: one["content"]
        for one in soup.head.find_all("meta")
    }


def test_a_repository_on_github_deploys_its_site_without_building(
    course: Course, public: Path
) -> None:
    found = yaml.safe_load((public / WORKFLOW).read_text(encoding="utf-8"))
    assert found[True]["push"]["branches"] == [course.branch]  # YAML's word for `on`
    assert found["permissions"] == {
        "contents": "read",
        "pages": "write",
        "id-token": "write",
    }
    (job,) = found["jobs"].values()
    assert job["environment"]["name"] == "github-pages"
    assert not [step for step in job["steps"] if "run" in step]
    upload = next(s for s in job["steps"] if "upload-pages-artifact" in s["uses"])
    assert (public / upload["with"]["path"] / NOT_FOUND).is_file()
    publish(course, public, site=False)
    assert not (public / WORKFLOW).exists() and not (public / "docs").exists()


def test_a_workflow_of_the_instructors_own_is_not_replaced(
    course: Course, tmp_path: Path
) -> None:
    public = tmp_path / "public"
    publish(course, public, site=False)
    write(public / WORKFLOW, "name: Mine\n")
    git(public, "add", "-A")
    git(public, *NOBODY, "commit", "-qm", "Deploy my site")
    with pytest.raises(PublishError, match="was added here") as caught:
        publish(course, public)
    assert WORKFLOW in str(caught.value)
    assert (public / WORKFLOW).read_text() == "name: Mine\n"


def test_the_404_page_leads_to_the_front_pages_from_any_depth(
    site: Path, pocket: Course
) -> None:
    complete_site(site, pocket)
    soup = BeautifulSoup((site / NOT_FOUND).read_text("utf-8"), "html.parser")
    assert [base["href"] for base in soup.find_all("base")] == ["/course/"]
    assert soup.base.find_previous(href=True) is None  # earlier links would ignore it
    links = [link["href"] for link in soup.find_all("a")]
    assert links == ["index.html", "ko/index.html"]
    assert all((site / link).is_file() for link in links)
    assert [part["lang"] for part in soup.find_all("section")] == ["en", "ko"]
    assert not soup.find_all(["link", "img"]) and not soup.find_all(src=True)


def test_the_404_page_has_only_the_languages_of_the_site(
    tmp_path: Path, pocket: Course
) -> None:
    write(tmp_path / "index.html", PAGE)
    complete_site(tmp_path, pocket)
    assert 'lang="ko"' not in (tmp_path / NOT_FOUND).read_text("utf-8")


def test_the_sitemap_lists_every_page(site: Path, pocket: Course) -> None:
    complete_site(site, pocket)
    root = ElementTree.parse(site / SITEMAP).getroot()
    space = "{http://www.sitemaps.org/schemas/sitemap/0.9}"
    assert root.tag == f"{space}urlset"
    assert [one.text for one in root.iter(f"{space}loc")] == [
        *(f"{ADDRESS}01_sums.html", ADDRESS),
        *(f"{ADDRESS}ko/01_sums.html", f"{ADDRESS}ko/"),
    ]


def test_each_page_has_a_social_card(site: Path, pocket: Course) -> None:
    complete_site(site, pocket)
    found = tags(site / "ko" / "01_sums.html")
    assert found["og:title"] == "Sums & more"
    assert found["og:description"] == 'Sums & "means".'
    assert found["og:url"] == f"{ADDRESS}ko/01_sums.html"
    assert found["og:site_name"] == pocket.title
    assert found["og:image"] == f"{ADDRESS}{CARD}"
    assert found["twitter:card"] == "summary_large_image"
    assert tags(site / "index.html")["og:url"] == ADDRESS


def test_without_a_picture_the_card_names_none(tmp_path: Path, pocket: Course) -> None:
    write(tmp_path / "index.html", PAGE)
    complete_site(tmp_path, pocket)
    found = tags(tmp_path / "index.html")
    assert found["twitter:card"] == "summary" and "og:image" not in found


def test_the_books_card_has_the_size_that_its_tags_state() -> None:
    with Image.open(ROOT / "book" / CARD) as picture:
        assert (picture.format, picture.size) == ("PNG", CARD_SIZE)


def test_a_site_with_an_unknown_address_stays_as_it_is(
    site: Path, pocket: Course
) -> None:
    before = {path: path.read_bytes() for path in site.rglob("*.*")}
    elsewhere = replace(pocket, repository="https://gitlab.example.org/us/course")
    complete_site(site, elsewhere)
    assert {path: path.read_bytes() for path in site.rglob("*.*")} == before
    assert workflow(elsewhere) == {}


def test_the_command_names_the_missing_setting(course: Course, tmp_path: Path) -> None:
    path = course.root / "autograder" / "course.toml"
    path.write_text(path.read_text().replace("github.com", "gitlab.example.org"))
    assemble(load_course(course.root))
    words = ["publish", str(tmp_path / "public"), "--course-root", str(course.root)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert "Set `repository` in autograder/course.toml" in done.output
    assert not (tmp_path / "public" / ".github").exists()

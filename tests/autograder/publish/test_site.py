"""The students' site and repository contain no future unit, and keep students' work."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from repositories import write

from autograder.assemble.assembler import assemble
from autograder.course import UPLOADED, Course, load_course
from autograder.publish import PublishError, publish
from autograder.publish import repository as steps
from autograder.translations.unit_table import unit_table

COLAB = "https://colab.research.google.com/github/pocket/course/blob/main/assignments/"
CHAPTER = """<html><body><nav>
<p aria-level="2" class="caption" role="heading"><span class="caption-text">Units</span></p>
<ul class="nav bd-sidenav">
<li class="toctree-l1"><a class="reference internal" href="01_sums.html">Sums</a></li>
</ul>
<p aria-level="2" class="caption" role="heading"><span class="caption-text">Others</span></p>
<ul class="nav bd-sidenav">
<li class="toctree-l1"><a class="reference internal" href="instructor.html">Guide</a></li>
</ul></nav>
<p>On Colab: <a class="reference external" href="{colab}">open the notebook</a></p>
<div class="sd-col a"><div class="sd-card">
Readers<a href="intro.html"><span>Preface</span></a></div>
</div><div class="sd-col a"><div class="sd-card">
Teachers<a href="instructor.html"><span>Guide</span></a></div>
</div>
<p>See <a class="reference internal" href="instructor.html#collect"><span>the guide</span></a>.
<a class="right-next"
   href="instructor.html"
   title="next page"><p>Guide</p></a></p></body></html>
"""  # noqa: E501
INDEX = {
    "docnames": ["01_sums", "instructor", "intro"],
    "filenames": ["01_sums.md", "instructor.md", "intro.md"],
    "titles": ["Sums", "Guide", "Preface"],
    "terms": {"sum": 0, "bubblewrap": 1, "course": [0, 1, 2], "unit": [1, 2]},
    "titleterms": {"guid": 1, "sum": 0},
    "alltitles": {"Guide": [[1, None]], "Sums": [[0, None]]},
    "indexentries": {},
}


@pytest.fixture
def site(course: Course) -> Path:
    """Give the pocket course a site with pages for students and for instructors."""
    html = course.root / "book" / "_build" / "html"
    for slug in ("01_sums", "02_means"):
        text = CHAPTER.format(colab=f"{COLAB}{slug}/{slug}.ipynb")
        write(html / f"{slug}.html", text)
    write(html / "instructor.html", "<html>what it can do on bare machines</html>")
    write(html / "_static" / "guide" / "picture.txt", "a screen")
    write(html / "searchindex.js", f"Search.setIndex({json.dumps(INDEX)})")
    write(course.root / "book" / "instructor.md", "# Guide\n")
    write(course.root / "book" / "_static" / "guide" / "picture.txt", "a screen")
    return html


def test_no_link_leads_to_a_notebook_that_is_not_there(
    course: Course, site: Path, tmp_path: Path
) -> None:
    publish(course, tmp_path / "public", "01")
    docs = tmp_path / "public" / "docs"
    assert f"{COLAB}01_sums" in (docs / "01_sums.html").read_text()
    later = (docs / "02_means.html").read_text()
    assert COLAB not in later and "not handed out yet" in later
    publish(course, tmp_path / "public")
    assert f"{COLAB}02_means" in (docs / "02_means.html").read_text()


def test_the_pages_for_instructors_stay_at_home(
    course: Course, site: Path, tmp_path: Path
) -> None:
    publish(course, tmp_path / "public")
    public = tmp_path / "public"
    names = {path.name for path in public.rglob("*") if ".git" not in path.parts}
    assert not names & {"instructor.html", "instructor.md", "picture.txt", "guide"}
    page = (public / "docs" / "01_sums.html").read_text()
    for word in ("instructor", "Guide", "Others", "Teachers"):
        assert word not in page
    assert page.count("<div") == page.count("</div>") == 2 and "Readers" in page
    assert 'href="01_sums.html">Sums</a></li>' in page and "Units" in page


def test_nobody_finds_them_by_searching(
    course: Course, site: Path, tmp_path: Path
) -> None:
    publish(course, tmp_path / "public")
    script = (tmp_path / "public" / "docs" / "searchindex.js").read_text()
    found = json.loads(script.removeprefix("Search.setIndex(").removesuffix(")"))
    assert found["terms"] == {"sum": 0, "course": [0, 2], "unit": 2}
    assert found["titleterms"] == {"sum": 0} and found["alltitles"] == {
        "Sums": [[0, None]]
    }
    assert found["docnames"] == ["01_sums", "", "intro"]


def test_they_go_along_if_asked_for(course: Course, site: Path, tmp_path: Path) -> None:
    publish(course, tmp_path / "public", guide=True)
    assert (tmp_path / "public" / "docs" / "instructor.html").is_file()
    assert (tmp_path / "public" / "book" / "instructor.md").is_file()
    page = (tmp_path / "public" / "docs" / "01_sums.html").read_text()
    assert 'href="instructor.html">Guide</a></li>' in page


@pytest.mark.parametrize("ending", ["", ".git", "/"])
def test_an_address_on_github_has_a_colab_link(pocket: Course, ending: str) -> None:
    path = pocket.root / "autograder" / "course.toml"
    text = path.read_text()
    path.write_text(text.replace("pocket/course", f"pocket/course{ending}"))
    course = load_course(pocket.root)
    assert course.colab_url(course.unit("1")) == f"{COLAB}01_sums/01_sums.ipynb"


def test_an_address_elsewhere_has_none(course: Course, tmp_path: Path) -> None:
    path = course.root / "autograder" / "course.toml"
    path.write_text(path.read_text().replace("github.com", "gitlab.example.org"))
    course = load_course(course.root)
    unit = course.unit("1")
    assert course.colab_url(unit) is None
    assert course.colab_link(unit, "open") == UPLOADED
    assert UPLOADED in unit_table(course, [unit])
    from autograder.publish.contents import readme

    text = readme(course, [unit], site=False)
    assert "colab.research" not in text and "Upload notebook" in text


@pytest.mark.parametrize(
    ("host", "site", "address"),
    [
        ("github.com/pocket", True, "https://pocket.github.io/course/01_sums.html"),
        ("github.com/pocket", False, "../../book/01_sums.md"),
        ("gitlab.example.org/pocket", True, "../../book/01_sums.md"),
    ],
)
def test_a_notebook_leads_to_its_chapter(
    course: Course, tmp_path: Path, host: str, site: bool, address: str
) -> None:
    path = course.root / "autograder" / "course.toml"
    path.write_text(path.read_text().replace("github.com/pocket", host))
    course = load_course(course.root)
    assemble(course)
    publish(course, tmp_path / "public", site=site)
    folder = tmp_path / "public" / "assignments" / "01_sums"
    first = json.loads((folder / "01_sums.ipynb").read_text())["cells"][0]["source"]
    assert f"[Read the chapter]({address})" in "".join(first)
    assert address.startswith("https:") or (folder / address).is_file()


def test_a_unit_without_a_chapter_leads_to_none(pocket: Course) -> None:
    assert pocket.chapter_url(pocket.unit("1")) is None


def own_commit(public: Path, name: str, text: str) -> None:
    write(public / name, text)
    steps.git(public, "add", "-A")
    steps.git(public, *steps.NOBODY, "commit", "-qm", "Say when we meet")


def test_an_instructors_own_words_stay_in_the_readme(
    course: Course, public: Path
) -> None:
    text = (public / "README.md").read_text()
    own_commit(public, "README.md", f"{text}\n## This term\n\nTuesdays at ten.\n")
    assert publish(course, public).commit is None
    publish(course, public, "01")
    assert (public / "README.md").read_text().endswith("\nTuesdays at ten.\n")
    publish(course, public)
    assert (public / "README.md").read_text().count("Tuesdays") == 1


@pytest.mark.parametrize("name", ["README.md", "LICENSE", "book/01_sums.md"])
def test_what_was_changed_there_is_not_undone_in_silence(
    course: Course, public: Path, name: str
) -> None:
    text = (public / name).read_text()
    own_commit(public, name, f"Tuesdays at ten.\n{text}")
    with pytest.raises(PublishError, match="was changed here since") as caught:
        publish(course, public, "01")
    assert name in str(caught.value)
    assert (public / name).read_text().startswith("Tuesdays")
    (command,) = [
        word for word in str(caught.value).split("`") if word.startswith("git checkout")
    ]
    steps.git(public, *command.split()[1:])
    steps.git(public, *steps.NOBODY, "commit", "-qam", "Undo it")
    assert publish(course, public, "01").commit

"""The build of the book: its tools, its editions, and the skeleton of a chapter."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from course_book import mathjax, provide_mathjax
from course_book.editions import add_instructor_part, instructor_part
from course_book.freshness import closure, digest, imported
from sphinx.errors import ExtensionError

from autograder.assemble.markers import marked_bodies
from autograder.course import load_course

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
COURSE = load_course(ROOT)


@pytest.fixture
def package(tmp_path) -> Path:
    """Make a small package in which `a` needs `b`, and `c` needs nothing."""
    folder = tmp_path / "transformer"
    (folder / "plots").mkdir(parents=True)
    (folder / "a.py").write_text("from transformer.b import thing\n")
    (folder / "b.py").write_text("thing = 1\n")
    (folder / "c.py").write_text("other = 2\n")
    (folder / "plots" / "__init__.py").write_text('"""Figures."""\n')
    (folder / "plots" / "style.py").write_text("from ..c import other\n")
    (folder / "plots" / "slider.py").write_text("")
    (folder / "data").mkdir()
    (folder / "data" / "__init__.py").write_text("from .pairs import Pair\n")
    (folder / "data" / "pairs.py").write_text("Pair = tuple\n")
    (folder / "data" / "words.py").write_text("")
    return folder


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("from transformer.masks import causal_mask", {"masks"}),
        ("import transformer.translation.bleu as bleu", {"translation.bleu"}),
        ("from transformer import attention, masks", {"attention", "masks"}),
        ("from .sublayers import Residual", {"sublayers"}),
        ("from transformer.plots.style import heatmap", {"plots.style"}),
        ("from torch.nn import functional", set()),
    ],
)
def test_imports_of_the_system_are_found(code, modules):
    assert imported(code) == modules


@pytest.mark.parametrize(
    ("code", "needed"),
    [
        ("from transformer.a import x", ["a", "b"]),
        ("import transformer.plots.style", ["c", "style"]),
        ("from transformer.plots import style", ["c", "__init__", "slider", "style"]),
        ("from transformer.data.words import y", ["__init__", "pairs", "words"]),
        ("from transformer.data import Pair", ["__init__", "pairs", "words"]),
    ],
)
def test_closure_follows_imports_into_rooms(package, code, needed):
    assert [path.stem for path in closure(package, code)] == needed


def test_a_chapter_is_stale_when_a_module_that_it_needs_has_changed(package, tmp_path):
    chapter = tmp_path / "chapter.md"
    chapter.write_text("from transformer.a import x")
    before = digest(package, chapter, tmp_path)
    (package / "c.py").write_text("other = 3\n")
    assert digest(package, chapter, tmp_path) == before
    (package / "b.py").write_text("thing = 3\n")
    assert digest(package, chapter, tmp_path) != before


def test_a_page_is_stale_when_a_result_that_it_shows_has_changed(package, tmp_path):
    page, results = tmp_path / "page.md", tmp_path / "results"
    page.write_text('read("../benchmarks/results", "best", "own_files")')
    results.mkdir()
    digests = [digest(package, page, results)]
    for name in ("multi30k_best", "own_files", "multi30k_best_seeds", "my_own_file"):
        (results / f"{name}.json").write_text("{}")
        digests.append(digest(package, page, results))
    (results / "own_files.json").write_text("[]")
    digests.append(digest(package, page, results))
    assert digests[2] == digests[3] == digests[4]
    assert len(set(digests)) == 4


def test_mathjax_comes_from_its_package_with_its_licence(tmp_path):
    copied = mathjax.copy_mathjax(tmp_path)
    assert mathjax.digest_of(copied) == mathjax.SHA256
    licence = BOOK / mathjax.FOLDER / "LICENSE"
    assert "Apache License" in licence.read_text(encoding="utf-8")


def test_a_damaged_mathjax_is_replaced(tmp_path):
    damaged = tmp_path / mathjax.FOLDER / mathjax.FILE
    damaged.parent.mkdir(parents=True)
    damaged.write_text("half a fi")
    assert mathjax.digest_of(mathjax.copy_mathjax(tmp_path)) == mathjax.SHA256


def test_another_release_of_mathjax_is_refused(tmp_path, monkeypatch):
    other = tmp_path / "other.js"
    other.write_text("another release")
    monkeypatch.setattr(mathjax, "installed_file", lambda: other)
    with pytest.raises(mathjax.MathJaxError, match=r"constraints\.txt"):
        mathjax.copy_mathjax(tmp_path)
    assert not (tmp_path / mathjax.FOLDER).exists()


def test_a_build_without_the_package_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr(mathjax, "PACKAGE", "a-package-that-nobody-has")
    app, config = SimpleNamespace(srcdir=tmp_path), SimpleNamespace(language="en")
    with pytest.raises(ExtensionError, match="make setup"):
        provide_mathjax(app, config)
    config.language = "ko"  # a translation uses those of the English book
    provide_mathjax(app, config)


def test_the_public_edition_reads_no_private_file():
    config = SimpleNamespace(course_edition="public")  # without the course's facts
    source = ["# A chapter"]
    add_instructor_part(SimpleNamespace(config=config), "04_attention", source)
    assert source == ["# A chapter"]


@pytest.mark.parametrize("unit", COURSE.units, ids=lambda unit: unit.slug)
def test_the_instructors_part_has_answers_without_their_markers(unit):
    part = instructor_part(COURSE, unit)
    for module in unit.modules:
        bodies = marked_bodies(COURSE.module_file(module))
        assert bodies, f"{module} has no answer"
        for body in bodies:
            assert f"def {body.qualname.rpartition('.')[2]}" in part
    assert "SOLUTION" not in part


@pytest.mark.parametrize("unit", COURSE.units, ids=lambda unit: unit.slug)
def test_the_instructors_part_stands_under_one_heading(unit):
    heading, *rest = instructor_part(COURSE, unit).strip().splitlines()
    assert heading == "## For the instructor"
    assert heading not in rest


@pytest.mark.slow
def test_the_instructors_edition_lies_apart_and_has_the_answers(builder, site):
    assert builder.build("instructor", quiet=True) == 0
    private = builder.front_page("instructor").parent
    assert BOOK not in private.parents
    assert "For the instructor" in (private / "04_attention.html").read_text("utf-8")
    assert "For the instructor" not in (site / "04_attention.html").read_text("utf-8")

"""A translation in a catalogue stays with its sentence, and is never used elsewhere."""

from __future__ import annotations

from pathlib import Path

import pytest

from autograder.translations.catalogue import (
    BEFORE,
    Message,
    entries,
    read,
    translations,
    updated,
    written,
)

LONG = "The decoder reads what it has written so far, and looks at the source"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a catalogue of two sentences. One of them is translated."""
    path = tmp_path / "page.po"
    path.write_text(updated(read(path), [Message("First."), Message(f"{LONG}.")]))
    catalog = read(path)
    catalog[f"{LONG}."].string = "디코더는 지금까지 쓴 것을 읽습니다."
    path.write_text(written(catalog))
    return path


def renew(path: Path, *texts: str) -> str:
    path.write_text(updated(read(path), [Message(text) for text in texts]))
    return path.read_text()


def test_a_translation_stays_where_its_sentence_moves(path: Path) -> None:
    renew(path, f"{LONG}.", "Another.")
    assert translations(path) == {f"{LONG}.": "디코더는 지금까지 쓴 것을 읽습니다."}
    assert [entry.id for entry in entries(read(path))] == [f"{LONG}.", "Another."]


def test_a_changed_sentence_has_no_translation_but_a_stale_one(path: Path) -> None:
    text = renew(path, "First.", f"{LONG} too.")
    assert translations(path) == {}
    assert f"# {BEFORE}{LONG}.\n" in text and "#, fuzzy" in text
    again = renew(path, "First.", f"{LONG} twice.")
    assert f"# {BEFORE}{LONG}.\n" in again, "it says what the Korean was made from"


def test_what_is_corrected_is_no_longer_stale(path: Path) -> None:
    text = renew(path, "First.", f"{LONG} too.")
    path.write_text(text.replace("#, fuzzy\n", ""))
    assert BEFORE not in renew(path, "First.", f"{LONG} too.")
    assert list(translations(path)) == [f"{LONG} too."]


def test_writing_it_again_changes_nothing(path: Path) -> None:
    first = renew(path, f"{LONG}!", 'Says "x"\nin two lines \\sqrt{2}.')
    assert renew(path, f"{LONG}!", 'Says "x"\nin two lines \\sqrt{2}.') == first
    assert "POT-Creation-Date" not in first and "#:" not in first


def test_without_a_file_nothing_is_translated(tmp_path: Path) -> None:
    assert translations(tmp_path / "none.po") == {}

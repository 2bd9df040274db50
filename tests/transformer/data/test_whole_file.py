"""A file is either the old or the new one, and no other file is left next to it."""

from pathlib import Path

import pytest

from transformer.data.whole_file import whole_file


def test_the_file_appears_once_all_is_written(tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_bytes(b"old")
    with whole_file(path) as file:
        file.write(b"new")
        assert path.read_bytes() == b"old"
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_fails_half_way_leaves_the_old_file_alone(tmp_path: Path) -> None:
    path = tmp_path / "words"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="No space"), whole_file(path) as file:
        file.write(b"ne")
        raise OSError(28, "No space left on device")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_no_folder_is_made(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), whole_file(tmp_path / "none" / "words"):
        pytest.fail("there is nothing to write into")

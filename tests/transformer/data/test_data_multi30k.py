"""Multi30k from a folder: the real files, if they are there, and small made-up ones."""

import gzip
import os
from pathlib import Path

import pytest

from transformer.data import load_multi30k
from transformer.data.download import matches
from transformer.data.multi30k import SHA256, SPLITS, read_lines
from transformer.data.word_counts import build_vocabularies

LINES = {
    "de": ["Ein Hund läuft.", "Zwei Männer, im Park."],
    "en": ["A dog runs.", "Two men in the park."],
}


def real_folder() -> Path | None:
    """Return the folder of the real files, or None if it is not on this machine."""
    beside = Path(__file__).parents[4] / "shared" / "multi30k"
    folder = Path(os.environ.get("MULTI30K_DIR", beside))
    return folder if folder.is_dir() else None


REAL = real_folder()
needs_files = pytest.mark.skipif(
    REAL is None,
    reason="Multi30k is neither in ../shared/multi30k nor in $MULTI30K_DIR",
)


def write_files(folder: Path, compressed: bool = True) -> None:
    """Write six small files with the names of the real ones."""
    folder.mkdir(exist_ok=True)
    for stem in SPLITS.values():
        for language, lines in LINES.items():
            content = "".join(f"{line}\n" for line in lines).encode()
            name = f"{stem}.{language}"
            if compressed:
                (folder / f"{name}.gz").write_bytes(gzip.compress(content))
            else:
                (folder / name).write_bytes(content)


@pytest.mark.parametrize("compressed", [True, False])
def test_reads_both_kinds_of_files(tmp_path: Path, compressed: bool) -> None:
    write_files(tmp_path, compressed)
    corpus = load_multi30k(tmp_path)
    for _, pairs in corpus.splits():
        assert [" ".join(pair.src) for pair in pairs] == [
            "ein hund läuft .",
            "zwei männer , im park .",
        ]
        assert pairs[0].tgt == ("a", "dog", "runs", ".")
        assert pairs[0].alignment is None
    assert corpus.novel == ()


def test_case_and_limit(tmp_path: Path) -> None:
    write_files(tmp_path)
    corpus = load_multi30k(tmp_path, lower=False, limit=1)
    assert [len(pairs) for _, pairs in corpus.splits()] == [1, 1, 1]
    assert corpus.train[0].src[:2] == ("Ein", "Hund")
    with pytest.raises(ValueError, match="limit of at least 1, found 0"):
        load_multi30k(tmp_path, limit=0)


def test_missing_folder_and_file(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"found none at .*nowhere"):
        load_multi30k(tmp_path / "nowhere")
    write_files(tmp_path)
    (tmp_path / "val.en.gz").unlink()
    with pytest.raises(FileNotFoundError, match=r"expected val\.en\.gz or val\.en in"):
        load_multi30k(tmp_path)


def test_truncated_file(tmp_path: Path) -> None:
    write_files(tmp_path)
    path = tmp_path / "train.de.gz"
    path.write_bytes(path.read_bytes()[:-12])
    with pytest.raises(ValueError, match=r"train\.de\.gz: expected a whole"):
        load_multi30k(tmp_path)


@pytest.mark.parametrize("content", [b"no gzip at all", b"\x1f\x8b\x08\x00garbage"])
def test_damaged_file(tmp_path: Path, content: bytes) -> None:
    write_files(tmp_path)
    (tmp_path / "train.en.gz").write_bytes(content)
    with pytest.raises(ValueError, match=r"train\.en\.gz: expected a whole"):
        load_multi30k(tmp_path)


def test_text_in_another_encoding(tmp_path: Path) -> None:
    write_files(tmp_path, compressed=False)
    (tmp_path / "train.de").write_bytes("läuft\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"train\.de: expected a whole text file"):
        load_multi30k(tmp_path)


def test_unequal_sides(tmp_path: Path) -> None:
    write_files(tmp_path)
    (tmp_path / "val.en.gz").write_bytes(gzip.compress(b"A dog runs.\n"))
    with pytest.raises(ValueError, match=r"val\.de\.gz as in .*found 2 and 1"):
        load_multi30k(tmp_path)


def test_no_lines(tmp_path: Path) -> None:
    write_files(tmp_path)
    for language in LINES:
        (tmp_path / f"val.{language}.gz").write_bytes(gzip.compress(b""))
    with pytest.raises(ValueError, match="found 0 and 0"):
        load_multi30k(tmp_path)


def test_an_empty_line(tmp_path: Path) -> None:
    write_files(tmp_path)
    (tmp_path / "val.en.gz").write_bytes(gzip.compress(b"A dog runs.\n \n"))
    with pytest.raises(ValueError, match=r"val\.en\.gz: expected a sentence in line 2"):
        load_multi30k(tmp_path)


@needs_files
def test_the_real_files_are_the_published_ones() -> None:
    lines = {"train": 29_000, "val": 1_014, "test_2016_flickr": 1_000}
    for name, checksum in SHA256.items():
        assert matches(REAL / name, checksum), name
        assert len(read_lines(REAL / name)) == lines[name.split(".")[0]]


@needs_files
@pytest.mark.slow
def test_vocabularies_of_the_tutorial() -> None:
    """7,853 German and 5,893 English words occur at least twice."""
    corpus = load_multi30k(REAL)
    assert [len(pairs) for _, pairs in corpus.splits()] == [29_000, 1_014, 1_000]
    src, tgt = build_vocabularies(corpus.train, min_freq=2)
    assert (len(src), len(tgt)) == (7_853, 5_893)

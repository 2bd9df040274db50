"""Text files are read line by line, and a refusal names the line in one sentence."""

import gzip
from pathlib import Path

import pytest

from transformer.own_files.text import (
    EvenSample,
    PairedText,
    TextError,
    read_sentences,
    require_different_files,
)

GOOD = "Guten Tag.\nWie geht es?\nDanke.\n"


def paired(folder: Path, src: bytes, tgt: bytes = GOOD.encode()) -> PairedText:
    (folder / "a.de").write_bytes(src)
    (folder / "a.en").write_bytes(tgt)
    return PairedText(folder / "a.de", folder / "a.en")


@pytest.mark.parametrize(
    ("content", "parts"),
    [
        (b"eins\n\ndrei\n", ["a.de, line 2", "empty line"]),
        (b"eins\nzwei\n \t\n", ["a.de, line 3", "empty line"]),
        ("eins\nzwei\n\u200b\ufeff\n".encode(), ["a.de, line 3", "empty line"]),
        ("eins\nzwölf\n".encode("latin-1"), ["a.de, line 2", "UTF-8", "0xf6 after 2"]),
        ("eins\n".encode("utf-16"), ["a.de, line 1", "UTF-8"]),
        (b"eins\nzwei\n", ["a.de has 2 lines", "a.en 3"]),
        (b"eins\n" * 5, ["a.de has 5 lines", "a.en 3"]),
        (b"", ["a.de has 0 lines", "a.en 3"]),
        (b"eins\n" + b"wort " * 10_000, ["a.de, line 2", "over 33,024 bytes"]),
        (b"eins\n" + b"ja " * 10_000, ["a.de, line 2", "(10,000 words)"]),
        (gzip.compress(GOOD.encode() * 900)[:-9], ["a.de is damaged after line"]),
        (b"\x1f\x8bno gzip at all", ["a.de is damaged after line 0"]),
    ],
    ids=[
        *(
            "empty",
            "white-space",
            "nothing-to-see",
            "latin-1",
            "utf-16",
            "shorter",
            "longer",
        ),
        *("one-side-empty", "10,000-words", "short-words", "cut-gzip", "no-gzip"),
    ],
)
def test_bad_files_are_refused(tmp_path, content, parts):
    with pytest.raises(TextError) as caught:
        list(paired(tmp_path, content, GOOD.encode()))
    assert all(part in str(caught.value) for part in parts), caught.value


def test_both_empty(tmp_path):
    with pytest.raises(TextError, match=r"a\.de and .*a\.en are empty"):
        list(paired(tmp_path, b"", b""))


def test_what_is_no_file(tmp_path):
    with pytest.raises(TextError, match="no_such: expected a text file, but there is"):
        list(read_sentences(tmp_path / "no_such"))
    with pytest.raises(TextError, match="it is a folder"):
        list(read_sentences(tmp_path))


def test_a_file_is_named_once_by_whatever_name(tmp_path):
    paths = [tmp_path / name for name in ("a.de", "a.en", "b.de", "b.en")]
    for path in paths[:3]:
        path.write_text(GOOD)
    both = PairedText(*paths[:2]), PairedText(*paths[2:])
    require_different_files(both)  # one is missing, which the message says on reading
    with pytest.raises(TextError, match=r"a\.de is named twice: source"):
        require_different_files([PairedText(paths[0], paths[0])])
    paths[3].symlink_to(paths[0])
    with pytest.raises(TextError, match=r"b\.en is named twice, once as .*a\.de:"):
        require_different_files(both)


def test_lines_come_as_text_whatever_wrote_them(tmp_path):
    path = tmp_path / "a.ko"
    path.write_bytes("\ufeff하나 \r\n둘".encode() + "\n가".encode())
    assert list(read_sentences(path)) == ["하나", "둘", "가"]


def test_gzip_is_seen_by_what_is_in_it(tmp_path):
    packed = gzip.compress(GOOD.encode()[:11]) + gzip.compress(GOOD.encode()[11:])
    pairs = list(paired(tmp_path, packed))
    assert pairs == [(line, line) for line in GOOD.splitlines()]


def test_other_line_separators_divide_nothing(tmp_path):
    pairs = list(paired(tmp_path, "a\u2028b\x0cc\n".encode(), b"x\n"))
    assert pairs == [("a\u2028b\x0cc", "x")]


@pytest.mark.parametrize("count", [0, 1, 9, 10, 11, 20, 21, 1234])
def test_a_sample_is_spread_evenly(count):
    sample = EvenSample(10)
    for number in range(count):
        sample.add((str(number), ""))
    kept = [int(src) for src, _ in sample.kept]
    assert kept == list(range(0, count, sample.every))
    assert min(count, 5) <= len(kept) <= 10

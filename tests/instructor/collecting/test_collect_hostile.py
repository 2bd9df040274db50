"""A hostile file neither becomes another student's nor stops the class's collect."""

import bz2
import io
import lzma
import os
import re
import time
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from collected import problems, stamp, taken, utc
from lms_archives import NOON, UNIT, archive, zipped
from typer.testing import CliRunner

from autograder.collect import CollectError, collect
from autograder.collect.platform_names import parse_path
from autograder.collect.submission_store import Record
from autograder.commands.app import app

ROSTER = """id,first_name,last_name,lms_user_id
en,Emmy,Noether,777
na,Niels,Abel,111
"""
SLUGS = ("04_attention",)
NOTEBOOK = "04_attention.ipynb"
CANVAS = "noetheremmy_777_999999_"
MOODLE = "Emmy Noether_2_assignsubmission_file_"


@pytest.fixture
def roster(tmp_path: Path) -> Path:
    path = tmp_path / "roster.csv"
    path.write_text(ROSTER, encoding="utf-8")
    return path


@pytest.mark.parametrize("inner", [CANVAS, MOODLE, MOODLE + "/", f"a/{CANVAS}"])
@pytest.mark.parametrize(
    ("outer", "people", "numbers"),
    [
        ("abelniels_111_222_work.zip/", "abelniels", ("111", 222, "")),
        ("abelniels_111_222_", "abelniels", ("111", 222, "")),
        ("Niels Abel_1_assignsubmission_file_/", "Niels Abel", ("", None, "1")),
        ("Niels Abel_1_assignsubmission_file_/a.zip/", "Niels Abel", ("", None, "1")),
        ("Niels Abel_1_assignsubmission_file_", "Niels Abel", ("", None, "1")),
    ],
)
def test_the_outermost_name_wins(outer, people, numbers, inner):
    named = parse_path(tuple(f"{outer}{inner}{NOTEBOOK}".split("/")), SLUGS)
    assert named.people == (people,)
    assert (named.user, named.file, named.participant) == numbers
    assert named.inner is not None


@pytest.mark.integration
@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ("abelniels_111_11_", f"{CANVAS}{UNIT}.ipynb"),
        ("abelniels_111_11_work.zip", f"{CANVAS}{UNIT}.ipynb"),
        ("abelniels_111_11_work.zip", f"{MOODLE}/{UNIT}.ipynb"),
        ("Niels Abel_1_assignsubmission_file_/", f"{MOODLE}{UNIT}.ipynb"),
        ("Niels Abel_1_assignsubmission_file_/", f"Emmy Noether - {UNIT}.ipynb"),
        ("Niels Abel_1_assignsubmission_file_/w.zip", f"{CANVAS}{UNIT}.ipynb"),
    ],
)
def test_nobody_hands_in_for_somebody_else(
    root, roster, numbered, tmp_path, outer, inner
):
    sent = (outer, zipped(inner, numbered(2)))
    if not outer.endswith(".zip"):
        sent = (outer + inner, numbered(2))
    own = f"noetheremmy_777_10_{UNIT}.ipynb"
    path = archive(tmp_path / "a.zip", (own, numbered(1)), sent)
    words = ["collect", str(path), "--course-root", str(root), "--roster", str(roster)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    assert taken(root) == {"en": numbered(1), "na": numbered(2)}
    (line,) = [one for one in done.output.splitlines() if "warning" in one]
    assert "was taken as na's, but names en inside" in line


def test_whom_nobody_knows_is_warned_of_and_oneself_is_not(folder, numbered, tmp_path):
    path = archive(
        tmp_path / "a.zip",
        (f"abelniels_1_10_eulerleonhard_2_11_{UNIT}.ipynb", numbered(1)),
        (f"lovelaceada_3_12_lovelaceada_3_9_{UNIT}.ipynb", numbered(2)),
        (f"Jakob Bernoulli_4_assignsubmission_file_/final_04_11_{UNIT}.ipynb",
         numbered(3)),
    )  # fmt: skip
    done = collect(path, folder)
    ((source, words),) = done.warnings
    assert source.startswith("abelniels_1_10_")
    assert "names eulerleonhard inside" in words


@pytest.mark.parametrize(
    "name", [f"{CANVAS}{UNIT}.ipynb", f"Emmy Noether - {UNIT}.ipynb"]
)
def test_a_known_students_folder_is_not_anothers(
    folder, root, roster, numbered, tmp_path, name
):
    path = archive(tmp_path / "a.zip", (f"Niels Abel/{name}", numbered(1)))
    done = collect(path, folder, roster=roster)
    assert taken(root) == {}
    why = "lies in the folder of na, but is named as en's"
    assert problems(done) == [(f"Niels Abel/{name}", why)]


OLD = "1-1 - Niels Abel - Jan 1, 2020 0800 AM"  # as Brightspace names a folder
FOLDER = "Niels Abel_1_assignsubmission_file_"


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        (f"{FOLDER}/w.zip", f"{UNIT}.ipynb"),
        (f"{FOLDER}w.zip", f"{UNIT}.ipynb"),
        (f"{FOLDER}/w.zip", f"{OLD}/{UNIT}.ipynb"),
        (f"{FOLDER}/{OLD}/{UNIT}.ipynb", ""),
    ],
)
@pytest.mark.parametrize("is_unpacked", [False, True])
def test_nobody_chooses_the_time_of_handing_in(
    folder, root, numbered, tmp_path, outer, inner, is_unpacked
):
    content = numbered(1)
    if inner:
        made = archive(tmp_path / "w.zip", (inner, content, (2020, 1, 1, 8, 0, 0)))
        content = made.read_bytes()
    path = archive(tmp_path / "a.zip", (outer, content))
    if is_unpacked:
        path, noon = tmp_path / "a", datetime(*NOON).timestamp()
        (path / outer).parent.mkdir(parents=True)
        (path / outer).write_bytes(content)
        os.utime(path / outer, (noon, noon))
    collect(path, folder)
    assert stamp(root, "niels-abel") == utc(*NOON)


LONG_NAMES = [
    f"1-1 - a - {' 2026' * 12_000}-x.ipynb",
    f"{'(1)' * 20_000}.ipynb",
    f"{'a/' * 30_000}{UNIT}.ipynb",
    f"{'.txt' * 15_000}.pdf",
]


def test_a_long_name_does_not_keep_the_collecting_busy(
    folder, root, numbered, tmp_path
):
    files = [(name, b"{}") for name in LONG_NAMES]
    made = archive(tmp_path / "w.zip", *files, (f"{UNIT}.ipynb", numbered(1)))
    path = archive(tmp_path / "a.zip", (f"{FOLDER}/w.zip", made.read_bytes()))
    started = time.process_time()
    done = collect(path, folder)
    assert time.process_time() - started < 5
    assert taken(root) == {"niels-abel": numbered(1)}
    reasons = [one.why for one in done.report.results]
    assert reasons.count("has too long a name") == len(LONG_NAMES)


def deflated(name: str) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr(name, b'{"cells": []}' * 300)
    return packed.getvalue()


def of_kind(kind: int, data: bytes) -> bytes:
    """Return an archive whose only file is marked as packed by `kind`."""
    content = zipped(NOTEBOOK, data)
    for mark, place in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        at = content.index(mark) + place
        content = content[:at] + kind.to_bytes(2, "little") + content[at + 2 :]
    return content


def spoilt(content: bytes) -> bytes:
    at = content.index(NOTEBOOK.encode()) + len(NOTEBOOK)
    return content[:at] + b"\xff" * 20 + content[at + 20 :]


LZMA = lzma.compress(b"{}" * 99, lzma.FORMAT_RAW, filters=[{"id": lzma.FILTER_LZMA1}])
UTF8_NAME = deflated("04_attenti\u00e9n.ipynb")
DAMAGED = {
    "zlib.error": spoilt(deflated(NOTEBOOK)),
    "UnicodeDecodeError": UTF8_NAME.replace("\u00e9".encode(), b"\xff\xff"),
    "UnicodeDecodeError on reading": UTF8_NAME.replace(
        "\u00e9".encode(), b"\xff\xff", 1
    ),
    "EOFError": of_kind(8, b"\x01\xff\x00"),
    "LZMAError": of_kind(14, b"\x09\x04\x05\x00" + b"\xff" * 9 + LZMA),
    "OSError": of_kind(12, b"no" + bz2.compress(b"{}")),
    "NotImplementedError": of_kind(97, b"{}"),
    "no name": zipped(".", b"{}"),
    "cut off": deflated(NOTEBOOK)[:-30],
}


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_archive_does_not_stop_the_class(
    folder, root, numbered, tmp_path, kind
):
    path = archive(
        tmp_path / "class.zip",
        ("abelniels_2_11_work.zip", DAMAGED[kind]),
        (f"lovelaceada_1_10_{UNIT}.ipynb", numbered(1)),
    )
    done = collect(path, folder)
    assert taken(root) == {"lovelaceada": numbered(1)}
    assert all(source.startswith("abelniels_2_11") for source, _ in problems(done))
    assert problems(done)
    home = tmp_path / "home"
    home.mkdir()
    (home / "Niels Abel.zip").write_bytes(DAMAGED[kind])
    (home / f"Leonhard Euler - {UNIT}.ipynb").write_bytes(DAMAGED[kind])
    (home / f"Emmy Noether - {UNIT}.ipynb").write_bytes(numbered(2))
    done = collect(home, folder)
    assert taken(root)["emmy-noether"] == numbered(2)
    assert all(source.startswith("Niels Abel.zip") for source, _ in problems(done))
    assert problems(done)


@pytest.mark.parametrize("kind", sorted(set(DAMAGED) - {"cut off"}))
def test_a_damaged_archive_that_is_all_there_is_is_refused(
    folder, root, tmp_path, kind
):
    path = tmp_path / "a.zip"
    path.write_bytes(DAMAGED[kind])
    try:
        ((_, why),) = problems(collect(path, folder))
    except CollectError as error:
        why = str(error)
    assert re.search(r"is a broken archive|is broken in the|leads out", why)
    assert "\n" not in why
    assert taken(root) == {}


CHANGED = datetime(2026, 11, 1, 9, 30, tzinfo=UTC)
BELIEVED = {
    b"2026-10-31 10:00:00 UTC": "2026-10-31 10:00:00",
    b"2026-10-31 10:00:00.123456 America/Los_Angeles\n": "2026-10-31 17:00:00",
    b"2026-10-31T10:00:00+01:00": "2026-10-31 09:00:00",
}
NOT_BELIEVED = [
    b"../../../../escaped/2026",
    b"\xff\xfe2\x000\x00",
    b"zzz",
    b"",
    b"9" * 5000,
    b"2026-10-31 10:00:00 " + b"9" * 40,
    b"0001-01-01 00:00:00 UTC",
    b"\0",
]


@pytest.mark.parametrize("written", [*BELIEVED, *NOT_BELIEVED])
def test_a_timestamp_is_read_as_a_time_or_not_at_all(
    folder, root, numbered, tmp_path, written
):
    place = root / "submitted" / "ts" / UNIT / f"{UNIT}.ipynb"
    place.parent.mkdir(parents=True)
    place.write_bytes(numbered(1))
    place.with_name("timestamp.txt").write_bytes(written)
    os.utime(place, (CHANGED.timestamp(),) * 2)
    before = {path for path in tmp_path.rglob("*") if root not in path.parents}
    path = archive(tmp_path / "a.zip", (f"ts/{UNIT}.ipynb", numbered(2), NOON))
    (placed,) = collect(path, folder).placed
    shelf = root / "collected" / "ts" / UNIT
    when = BELIEVED.get(written, f"{CHANGED:%Y-%m-%d %H:%M:%S}")
    stamp = when.replace(":", "").replace(" ", "T")
    (kept,) = shelf.glob(f"{stamp}Z-*.ipynb")
    assert kept.read_bytes() == numbered(1)
    assert taken(root) == {"ts": numbered(2)}
    assert placed.kept == len(list(shelf.glob("*.ipynb"))) == 2
    after = {path for path in tmp_path.rglob("*") if root not in path.parents}
    assert after - before == {path}


@pytest.mark.parametrize("when", ["../../x", "/etc/x", "a\\b", "x\0y"])
def test_a_record_never_names_a_path(when):
    name = Record("0" * 64, when, "source").name
    assert not set(name) & set("/\\\0")
    assert name.endswith("Z-00000000.ipynb")

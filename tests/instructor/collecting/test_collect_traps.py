"""`course collect` refuses outside paths, links, bombs and lies, and reports them."""

import io
import os
import time
import tracemalloc
import zipfile

import pytest
from collected import beside, problems, taken
from lms_archives import UNIT, archive, zipped
from typer.testing import CliRunner

from autograder.class_report import gather
from autograder.class_report.page import page_of
from autograder.collect import CollectError, collect
from autograder.collect.import_report import page_of as page_of_report
from autograder.commands.app import app
from autograder.repair import Refused
from autograder.repair.reading import count_of_entries, read_content

TRAPS = {
    "../../gradebook.db.ipynb": "leads out of the archive",
    "/etc/01_tiny.ipynb": "leads out of the archive",
    "a\\..\\..\\01_tiny.ipynb": "leads out of the archive",
    "C:\\01_tiny.ipynb": "leads out of the archive",
}


@pytest.mark.parametrize("name", TRAPS)
def test_entries_that_lead_out_are_refused(folder, root, numbered, tmp_path, name):
    path = archive(
        tmp_path / "a.zip",
        ("Ada Lovelace/01_tiny.ipynb", numbered(1)),
        (name, numbered(2)),
    )
    done = collect(path, folder)
    assert problems(done) == [(name, TRAPS[name])]
    assert taken(root) == {"ada-lovelace": numbered(1)}


@pytest.mark.integration
def test_links_bombs_and_spoilt_entries_are_refused(folder, root, numbered, tmp_path):
    link, bomb, blanks, spoilt = (f"{who}/01_tiny.ipynb" for who in "BCDE")
    path = archive(
        tmp_path / "a.zip",
        (link, b"/etc/passwd"),
        (bomb, b"\0" * (19 << 20)),
        (blanks, b" " * (60 << 20)),
        (spoilt, numbered(3)),
        ("Ada Lovelace/01_tiny.ipynb", numbered(1)),
        ("film.mp4", b"\0" * (64 << 20)),
        link=link,
    )
    content = path.read_bytes()
    at = content.index(spoilt.encode()) + len(spoilt)
    path.write_bytes(content[:at] + b"\xff" * 20 + content[at + 20 :])
    done = collect(path, folder)
    why = dict(problems(done))
    assert why[link] == "is a link"
    assert "-fold" in why[bomb]
    assert why[blanks] == "has 60 MiB; 20 MiB are allowed"
    assert "is broken in the archive" in why[spoilt]
    assert taken(root) == {"ada-lovelace": numbered(1)}
    assert beside(done) == ["film.mp4"]


@pytest.mark.parametrize(
    ("name", "code", "student"),
    [
        ("김민준", "cp949", "김민준"),
        ("이서연", "cp949", "이서연"),
        ("김민준", "utf-8", "김민준"),
        ("Anna Müller", "cp437", "anna-müller"),
        ("Zoë Álvarez", "cp437", None),  # cp437 has no Á: any name without Hangul
    ],
)
def test_names_in_the_code_of_windows(
    folder, root, numbered, tmp_path, name, code, student
):
    """Explorer writes Korean names in a different encoding, without recording it."""
    raw = name.encode(code, errors="replace")
    plain = "#" * len(raw)
    path = archive(tmp_path / "a.zip", (f"{plain} - 01_tiny.ipynb", numbered(1)))
    path.write_bytes(path.read_bytes().replace(plain.encode(), raw))
    collect(path, folder)
    ((who, content),) = taken(root).items()
    assert content == numbered(1)
    assert who == student if student else who.isascii() or "ë" in who


def test_archives_of_too_much_are_refused(
    folder, root, numbered, tmp_path, monkeypatch
):
    names = ("Ada Lovelace/01_tiny.ipynb", "b.ipynb")
    many = archive(tmp_path / "many.zip", *((name, numbered(1)) for name in names))
    monkeypatch.setattr("autograder.collect.archives.MAX_TOTAL", 1000)
    with pytest.raises(CollectError, match="unpacks to more than"):
        collect(many, folder)
    monkeypatch.setattr("autograder.collect.archives.MAX_FILES", 1)
    with pytest.raises(CollectError, match="holds 2 files that may be notebooks"):
        collect(many, folder)
    cut = tmp_path / "cut.zip"
    cut.write_bytes(many.read_bytes()[:-40])
    with pytest.raises(CollectError, match="is a broken archive, perhaps cut off"):
        collect(cut, folder)
    assert taken(root) == {}


def of_many(count: int) -> bytes:
    """Return an archive with many empty entries, made from an archive with one."""
    one = zipped("a.txt", b"")
    begin = one.index(b"PK\1\2")
    end = one.rindex(b"PK\5\6")
    listed = one[begin:end] * count
    sizes = len(listed).to_bytes(4, "little") + begin.to_bytes(4, "little")
    counts = min(count, 65535).to_bytes(2, "little") * 2
    return one[:begin] + listed + b"PK\5\6" + b"\0" * 4 + counts + sizes + b"\0\0"


@pytest.mark.integration
@pytest.mark.parametrize("count", [60_000, 600_000])
def test_the_entries_of_an_archive_are_counted_first(
    folder, root, numbered, tmp_path, count
):
    """Each entry costs memory, although all are a few hundred bytes when packed."""
    many = of_many(count)
    assert count_of_entries(many) == count
    path = archive(
        tmp_path / "a.zip",
        ("Ada Lovelace/01_tiny.ipynb", numbered(1)),
        ("Niels Abel/many.zip", many),
    )
    began = time.process_time()
    tracemalloc.start()
    done = collect(path, folder)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert problems(done) == [
        ("Niels Abel/many.zip", f"holds {count} files; 50000 are allowed")
    ]
    assert taken(root) == {"ada-lovelace": numbered(1)}
    assert most < 4 * len(many) + (30 << 20)
    assert time.process_time() - began < 30
    path.write_bytes(of_many(600_000))
    with pytest.raises(CollectError, match="holds 600000 files; 200000 are allowed"):
        collect(path, folder)


def test_a_submission_of_many_entries_is_refused():
    with pytest.raises(Refused, match="a zip archive of 60000 files"):
        read_content(of_many(60_000))


@pytest.mark.integration
def test_a_large_archive_is_counted_too():
    """Beyond 65,535 entries, the end of an archive has a longer form."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as many:
        for number in range(66_000):
            many.writestr(f"{number}", b"")
    assert count_of_entries(made.getvalue()) == 66_000


def test_a_new_folder_is_made_for_a_class(numbered, tmp_path):
    path = archive(tmp_path / "a.zip", ("Ada Lovelace/04_attention.ipynb", b"{}"))
    root = tmp_path / "new" / "class"
    done = CliRunner().invoke(app, ["collect", str(path), "--course-root", str(root)])
    assert done.exit_code == 0, done.output
    slug = "04_attention"
    assert (root / "submitted" / "ada-lovelace" / slug / f"{slug}.ipynb").is_file()


NASTY = "[/x] [red]\x1b]0;title\x07\u202e [link=file:///etc].ipynb"


@pytest.mark.integration
def test_names_that_are_markup_or_escapes_are_text(numbered, tmp_path):
    good = "[bold]Ada[/] Lovelace/04_attention.ipynb"
    path = archive(tmp_path / "a.zip", (NASTY, b"{}"), (good, b"{}"))
    content = path.read_bytes()
    name = NASTY.encode()
    at = content.index(name) + len(name)
    path.write_bytes(content[:at] + b"\xff" * 2 + content[at + 2 :])
    root = tmp_path / "class"
    done = CliRunner().invoke(app, ["collect", str(path), "--course-root", str(root)])
    assert done.exit_code == 1
    assert isinstance(done.exception, SystemExit), done.exception
    assert "[/x] [red]" in done.output
    assert not set("\x1b\x07\u202e") & set(done.output)
    assert "[link=file" in done.output


def test_one_students_trap_does_not_stop_the_class(folder, root, numbered, tmp_path):
    trap = tmp_path / "trap.zip"
    archive(trap, ("../../x.ipynb", b"{}"))
    home = tmp_path / "home"
    (home / "Emmy Noether").mkdir(parents=True)
    (home / "Emmy Noether" / "01_tiny.zip").write_bytes(trap.read_bytes())
    (home / "Ada Lovelace").mkdir()
    (home / "Ada Lovelace" / "01_tiny.ipynb").write_bytes(numbered(1))
    (home / "Niels Abel").mkdir()
    (home / "Niels Abel" / "01_tiny.ipynb").symlink_to("/etc/passwd")
    huge = home / "Leonhard Euler" / "01_tiny.ipynb"
    huge.parent.mkdir()
    with huge.open("wb") as file:
        file.truncate(21 << 20)
    done = collect(home, folder)
    assert set(taken(root)) == {"ada-lovelace"}
    why = dict(problems(done))
    assert "leads out" in why["Emmy Noether/01_tiny.zip/../../x.ipynb"]
    assert "is a link" in why["Niels Abel/01_tiny.ipynb"]
    assert "has 21 MiB" in why["Leonhard Euler/01_tiny.ipynb"]


def test_a_lying_size_is_noticed(folder, tmp_path, numbered):
    path = archive(tmp_path / "a.zip", ("Ada Lovelace/01_tiny.ipynb", numbered(1)))
    with zipfile.ZipFile(path) as made:
        size = made.infolist()[0].file_size
    content = path.read_bytes()
    told = size.to_bytes(4, "little")
    assert content.count(told) == 2
    path.write_bytes(content.replace(told, (10).to_bytes(4, "little")))
    ((_, why),) = problems(collect(path, folder))
    assert "is broken in the archive" in why


def test_what_came_in_another_archive_is_not_missing(
    folder, root, roster, numbered, tmp_path
):
    """A student with a PDF on one platform is not missing at the next collection."""
    names = ("lovelaceada_101_1_01_tiny.ipynb", "noetheremmy_102_2_work.pdf")
    first = archive(tmp_path / "1.zip", *((name, numbered(1)) for name in names))
    collect(first, folder, roster=roster)
    name = "Évariste Galois - 01_tiny.ipynb"
    done = collect(archive(tmp_path / "2.zip", (name, numbered(2))), folder)
    assert done.missing == {UNIT: ["sd1781"]}


def test_the_report_does_not_call_it_missing_either(folder, root, numbered, tmp_path):
    names = ["abelniels_1_10_01_tiny.ipynb", "dedekind_4_13_01_tiny.pdf"]
    files = [(names[0], numbered(1)), (names[1], b"x")]
    roster = tmp_path / "roster.csv"
    roster.write_text("id,last_name,lms_user_id\nab,A,1\nde,D,4\nno,N,5\n")
    done = collect(archive(tmp_path / "a.zip", *files), folder, roster=roster)
    report = done.report.page.read_text(encoding="utf-8")
    assert "td.whole { white-space: nowrap }" in report
    assert f'<td class="whole">{UNIT}</td>' in report
    found = gather(folder, UNIT)
    said = {row.student: (row.status, row.reason) for row in found.rows}
    assert said == {
        "ab": ("not graded", ""),
        "de": ("not taken", f"refused: {names[1]} is a PDF, not a notebook"),
        "no": ("missing", ""),
    }
    page = page_of(found)
    assert "<b>1</b> not taken" in page and "Nothing came from: no." in page
    again = archive(tmp_path / "b.zip", ("dedekind_4_23_01_tiny.ipynb", numbered(2)))
    collect(again, folder)
    assert {row.student: row.status for row in gather(folder, UNIT).rows}["de"] == (
        "not graded"
    )


@pytest.mark.parametrize("files", [[], ["roster.csv"], ["notes.pdf"]])
def test_where_nothing_is_taken_the_status_says_so(root, tmp_path, files):
    home = tmp_path / "handed-in"
    home.mkdir()
    for name in files:
        (home / name).write_text("x")
    words = ["collect", str(home), "--course-root", str(root)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert "0 students collected." in done.output
    assert f"{len(files)} file{'' if files else 's'}: " in done.output
    assert all(name in done.output for name in files)


@pytest.mark.parametrize(("ending", "status"), [("pdf", 0), ("zip", 1)])
def test_what_lies_beside_a_notebook_does_no_harm(
    root, numbered, tmp_path, ending, status
):
    path = archive(
        tmp_path / "a.zip",
        ("lovelaceada_1_10_01_tiny.ipynb", numbered(1)),
        (f"lovelaceada_1_11_notes.{ending}", b"x"),
    )
    done = CliRunner().invoke(app, ["collect", str(path), "--course-root", str(root)])
    assert done.exit_code == status


def test_a_students_archives_together_unpack_to_little(
    folder, root, numbered, tmp_path
):
    """Fifty small archives in a small one would fill gigabytes of memory and disk."""
    head = numbered(1).rstrip().removesuffix(b"}")
    blanks = head + b',"random":"' + os.urandom(8000).hex().encode() + b'"'
    bomb = blanks + b" " * (12 << 20) + b"}"
    inner = archive(tmp_path / "in.zip", *((f"{n}.ipynb", bomb) for n in range(4)))
    inners = ((f"{n}.zip", inner.read_bytes()) for n in range(50))
    trap = archive(tmp_path / "trap.zip", *inners).read_bytes()
    downloads = tmp_path / "downloads"
    downloads.mkdir()
    (downloads / "Ada Lovelace.zip").write_bytes(trap)
    (downloads / "Bob Ross.ipynb").write_bytes(numbered(2))
    done = collect(downloads, folder)
    assert len(trap) < 8 << 20
    assert {why for _, why in problems(done)} == {"unpacks to more than 40 MiB"}
    assert taken(root) == {"bob-ross": numbered(2)}


def test_only_the_last_files_of_a_student_are_kept(
    folder, root, numbered, tmp_path, monkeypatch
):
    monkeypatch.setattr("autograder.collect.sorting.MOST_TAKEN", 2)
    monkeypatch.setattr("autograder.collect.sorting.MOST_PUT_ASIDE", 1)
    downloads = tmp_path / "downloads" / "Ada Lovelace"
    downloads.mkdir(parents=True)
    for n in range(1, 5):
        (downloads / f"{UNIT} ({n}).ipynb").write_bytes(numbered(n))
        os.utime(downloads / f"{UNIT} ({n}).ipynb", (n * 1000, n * 1000))
    for n in range(3):
        (downloads / f"other {n}.ipynb").write_bytes(b'{"cells": [{}], "a": %d}' % n)
    done = collect(downloads.parent, folder)
    assert taken(root) == {"ada-lovelace": numbered(4)}
    assert len(list((root / "collected" / "ada-lovelace" / UNIT).glob("*.ipynb"))) == 2
    assert len(list((root / "collected" / "_not-sorted").glob("*.ipynb"))) == 1
    words = [one.why for one in done.report.of("refused")]
    assert sorted(words) == [
        *["is one of more than 1 files: only 1 are kept"] * 2,
        *["is one of more than 2 files: only 2 are kept"] * 2,
    ]


def test_the_report_on_many_files_is_quick_and_holds_no_formula(
    folder, numbered, tmp_path
):
    names = [f"{n}.txt" for n in range(19_000)]
    path = archive(
        tmp_path / "a.zip",
        ("Ada Lovelace/01_tiny.ipynb", numbered(1)),
        *((f"Ada Lovelace/{name}", b"") for name in names),
        ("x;=1+1.txt", b""),
        ("\uff1d1+1.txt", b""),
    )
    done = collect(path, folder)
    begun = time.process_time()
    page_of_report(done.report)
    assert time.process_time() - begun < 60  # `not in` for each file would be quadratic
    table = done.report.as_csv()
    assert "\nx;'=1+1.txt" in table and "\n'\uff1d1+1.txt" in table

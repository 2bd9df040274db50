"""The report lists every file of an archive, and no student gets another's file."""

import csv
import io
import os
import shutil
import zipfile
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from collected import taken
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from lms_archives import UNIT, archive, zipped
from typer.testing import CliRunner

from autograder.classroom.folder import ClassFolder
from autograder.collect import collect
from autograder.collect.import_report import STATES
from autograder.commands.app import app

LETTERS = st.characters(categories=("L", "M", "Nd"))
ANY_SCRIPT = st.text(LETTERS, min_size=1, max_size=6)
KNOWN = [("Kim", "Lee"), ("Lee", "Kim"), ("Anna", "Müller"), ("伟", "王"), ("म", "007")]
NAMES = st.one_of(st.sampled_from(KNOWN), st.tuples(ANY_SCRIPT, ANY_SCRIPT))
FORMS = ("notebook", "text", "zip", "zip in a zip", "empty zip", "pdf", "other", "huge")


def canvas(who: dict, late: bool, file: int) -> str:
    name = f"{who['last']}{who['first']}".lower()
    return f"{name}{'_LATE' if late else ''}_{who['number']}_{file}_{{}}"


def canvas_anonymous(who: dict, late: bool, file: int) -> str:
    return f"{'LATE_' if late else ''}anon_aB{who['number']}_{file}_{{}}"


def moodle(who: dict, late: bool, file: int) -> str:
    where = f"{who['first']} {who['last']}_{who['number']}_assignsubmission_file_"
    return f"{where}{'/' if late else ''}{file}{{}}"


def moodle_team(who: dict, late: bool, file: int) -> str:
    return f"Team {who['number'] % 2}-{moodle(who, late, file)}"


def moodle_blind(who: dict, late: bool, file: int) -> str:
    return f"Participant_{who['number']}_assignsubmission_file_/{file}{{}}"


def drive(who: dict, late: bool, file: int) -> str:
    copy = "Copy of " if late else ""
    return f"{copy}{who['first']} {who['last']} - {file % 2} {{}}"


def drive_with_ids(who: dict, late: bool, file: int) -> str:
    return f"s{who['number']:05} {drive(who, late, file)}"


PLATFORMS = (
    *(canvas, canvas_anonymous, moodle, moodle_team),
    *(moodle_blind, drive, drive_with_ids),
)
CLASS = st.lists(
    st.tuples(NAMES, st.lists(st.tuples(st.sampled_from(FORMS), st.booleans()),
                                   min_size=1, max_size=3)),
    min_size=1,
    max_size=7,
)  # fmt: skip


def file_of(form: str, name: str, notebook: bytes) -> tuple[str, bytes, list[str]]:
    """Return an entry's name and content, and the names of the files in it."""
    plain = f"{UNIT}.ipynb"
    if form == "text":
        return name.format(f"{plain}.txt"), notebook, [""]
    if form == "zip":
        inner = zipped(f"a/{plain}", notebook)
        return name.format("work.zip"), inner, [f"/a/{plain}"]
    if form == "zip in a zip":
        inner = zipped("again.zip", zipped(plain, notebook))
        return name.format("work.zip"), inner, [f"/again.zip/{plain}"]
    if form == "empty zip":
        return name.format("work.zip"), zipped("work/", b""), [""]
    if form == "pdf":
        return name.format("work.pdf"), b"%PDF", [""]
    if form == "other":
        return name.format("work.ipynb"), b'{"cells": []}', [""]
    if form == "huge":
        return name.format(plain), b" " * (21 << 20), [""]
    return name.format(plain), notebook, [""]


def class_of(platform, students: list, numbered) -> tuple:
    """Return a class's archive, the files in it, their owners, and a roster."""
    entries, expected, owners, rows = [], Counter(), {}, []
    for number, ((first, last), sent) in enumerate(students, 1):
        who = {"first": first, "last": last, "number": number}
        rows.append((f"s{number:05}", first, last, number))
        for turn, (form, late) in enumerate(sent):
            file = number * 10 + turn
            content = numbered(file)
            owners[content] = f"s{number:05}"
            name, inside, leaves = file_of(form, platform(who, late, file), content)
            entries.append((name, inside))
            expected.update(name + leaf for leaf in leaves)
    return entries, expected, owners, rows


@pytest.mark.integration
@pytest.mark.filterwarnings("ignore:Duplicate name")
@settings(
    max_examples=25,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.sampled_from(PLATFORMS), CLASS, st.booleans())
@example(drive, [(KNOWN[2], [("notebook", False)])] * 2, False)
@example(canvas, [(KNOWN[0], [("empty zip", False)])], True)
@example(moodle, [(KNOWN[2], [("notebook", False)])] * 2, True)
@example(
    canvas, [(KNOWN[0], [("zip in a zip", True)]), (KNOWN[1], [("text", False)])], True
)
def test_files_in_are_files_accounted_for(
    tiny_root, numbered, platform, students, with_roster
):
    entries, expected, owners, rows = class_of(platform, students, numbered)
    with TemporaryDirectory() as place:
        root = Path(shutil.copytree(tiny_root, Path(place) / "class"))
        roster = Path(place) / "roster.csv"
        with roster.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(("id", "first_name", "last_name", "lms_user_id"))
            table.writerows(rows)
        path = archive(Path(place) / "a.zip", *entries)
        done = collect(path, ClassFolder(root), roster=roster if with_roster else None)
        accounted = Counter(result.source for result in done.report.results)
        assert accounted == expected
        assert {result.state for result in done.report.results} <= set(STATES)
        assert all(result.why for result in done.report.of("put aside", "refused"))
        kept = {p: p.read_bytes() for p in (root / "collected").rglob("*.ipynb")}
        whose = {}
        for notebook, content in kept.items():
            if content in owners and "_not-sorted" not in notebook.parts:
                folder = notebook.relative_to(root / "collected").parts[0]
                whose.setdefault(folder, set()).add(owners[content])
        mixed = {folder: found for folder, found in whose.items() if len(found) > 1}
        assert mixed == {}
        if with_roster and platform not in (canvas_anonymous, moodle_blind):
            assert all({folder} == found for folder, found in whose.items())
        in_place = set(taken(root).values())
        assert in_place <= set(kept.values())
        good = [one for one in done.report.of("taken", "put aside")
                if "work.ipynb" not in one.source]  # fmt: skip
        assert len(good) == sum(
            form not in ("empty zip", "pdf", "other", "huge") for _, sent in students
            for form, _ in sent
        )  # fmt: skip


SENT = {
    "abelniels_1_10_01_tiny.ipynb.txt": "taken",
    "bayesthomas_2_11_01_tiny.ipynb.json": "taken",
    "cantorgeorg_3_12_work.pdf": "is a PDF",
    "dedekindrichard_4_13_page.html": "is a web page",
    "eulerleonhard_5_14_work.rar": "is a RAR archive",
    "fermatpierre_6_15_01_tiny.ipynb": "has 28 MiB; 20 MiB are allowed",
    "gaussfritz_7_16_work.zip": "is a broken archive",
    "hilbertdavid_8_17_thesis.ipynb": "is of no unit that is known",
    "jacobicarl_9_18_work.zip": "refused is an archive with nothing in it",
}


def test_who_sent_something_else_is_named_with_it(folder, root, numbered, tmp_path):
    contents = {**dict.fromkeys(SENT, b"x"), list(SENT)[5]: b" " * (28 << 20)}
    contents |= {name: numbered(n) for n, name in enumerate(list(SENT)[:2])}
    contents[list(SENT)[7]] = b'{"cells": []}'
    contents[list(SENT)[8]] = zipped("work/", b"")
    done = collect(archive(tmp_path / "a.zip", *contents.items()), folder)
    assert done.missing == {UNIT: []}
    assert set(taken(root)) == {"abelniels", "bayesthomas"}
    for result in done.report.results:
        assert SENT[result.source] in f"{result.state} {result.why}"
        assert result.students == (result.source.split("_")[0],)
    assert set(done.report.instead()) == {name.split("_")[0] for name in list(SENT)[2:]}


def test_a_students_zip_in_a_folder_of_two_archives(folder, root, numbered, tmp_path):
    home = tmp_path / "downloads"
    home.mkdir()
    for number, who in enumerate(("lovelaceada", "noetheremmy")):
        inner = zipped("deep/01_tiny.ipynb", numbered(number))
        archive(home / f"{number}.zip", (f"{who}_{number}_9_work.zip", inner))
    collect(home, folder)
    assert taken(root) == {"lovelaceada": numbered(0), "noetheremmy": numbered(1)}


def test_archives_in_archives_share_an_allowance(
    folder, numbered, tmp_path, monkeypatch
):
    inner = zipped("01_tiny.ipynb", numbered(1))
    both = io.BytesIO()
    with zipfile.ZipFile(both, "w") as made:
        made.writestr("1.zip", inner)
        made.writestr("2.zip", inner)
    path = archive(tmp_path / "a.zip", ("abelniels_1_10_w.zip", both.getvalue()))
    most = 2 * len(inner) + len(numbered(1)) + 1
    monkeypatch.setattr("autograder.collect.archives.MAX_OF_A_STUDENT", most)
    done = collect(path, folder)
    assert [result.state for result in done.report.results] == ["taken", "refused"]
    assert "unpacks to more than" in done.report.problems()[0].why


def test_a_wrong_unit_is_named_not_missed(
    folder, root, numbered, tmp_path, monkeypatch
):
    other = "02_other"
    unit = folder.course.units[0]
    wrong = type(unit)(2, other, "Other", ())
    wanted = "autograder.collect.detect_unit.UnitDetector.unit"
    monkeypatch.setattr(
        wanted, lambda self, item, stem: wrong if other in stem else unit
    )
    names = [f"student{n}_{n}_{n}0_01_tiny.ipynb" for n in range(6)]
    names.append(f"abelniels_9_90_{other}.ipynb")
    entries = ((name, numbered(n)) for n, name in enumerate(names))
    done = collect(archive(tmp_path / "a.zip", *entries), folder)
    (result,) = done.report.problems()
    assert result.students == ("abelniels",)
    assert result.why.startswith(
        f"is of unit {other}, in an archive of {UNIT}: take it"
    )
    assert set(done.missing) == {UNIT}


class Tags(HTMLParser):
    """Note the tags of a page."""

    def __init__(self, text: str):
        super().__init__()
        self.tags: list[str] = []
        self.attributes: dict[str, list[dict]] = {}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.tags.append(tag)
        self.attributes.setdefault(tag, []).append(dict(attrs))


def test_the_page_and_the_table_tell_of_each_file(root, numbered, tmp_path):
    act = "<script>alert(1)</script>.pdf"
    path = archive(
        tmp_path / "class.zip",
        ("lovelaceada_1_10_01_tiny.ipynb", numbered(1)),
        (f"abelniels_2_11_{act}".replace("/", ":"), b"x"),
        ("=cmd()_9.pdf", b"x"),
        ("__MACOSX/._x", b"x"),
    )
    words = ["collect", str(path), "--course-root", str(root)]
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 1
    page = root / "collected" / "_accounts" / "class.zip.html"
    assert "".join(str(page).split()) in "".join(done.output.split())
    text = page.read_text(encoding="utf-8")
    found = Tags(text)
    assert "script" not in found.tags
    assert found.tags.count("h1") == found.tags.count("main") == 1
    assert found.attributes["html"] == [{"lang": "en"}]
    assert all(one.get("scope") == "col" for one in found.attributes["th"])
    rows = list(
        csv.DictReader(io.StringIO(page.with_suffix(".csv").read_text("utf-8-sig")))
    )
    assert [row["state"] for row in rows] == [
        "taken", "refused", "refused", "passed over",
    ]  # fmt: skip
    assert rows[2]["file"] == "'=cmd()_9.pdf"
    assert all(row["file"].strip("'")[:9] in text for row in rows[:3])


def test_at_80_columns_every_id_is_whole(root, numbered, tmp_path):
    ids = [f"amuller{'0' * 20}{n}" for n in range(3)]
    entries = [(f"{who}_{n}_1{n}_work.pdf", b"x") for n, who in enumerate(ids)]
    entries.append(("lovelaceada_8_20_01_tiny.ipynb", numbered(1)))
    path = archive(tmp_path / "a.zip", *entries)
    words = ["collect", str(path), "--course-root", str(root)]
    done = CliRunner(env={**os.environ, "COLUMNS": "80"}).invoke(app, words)
    table = [line for line in done.output.splitlines() if line.startswith("│")]
    assert max(map(len, table)) <= 80
    for who in ids:
        assert any(line.split("│")[1].strip() == who for line in table)

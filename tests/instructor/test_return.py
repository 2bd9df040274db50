"""Each platform finds its students in the files that `course return` wrote."""

import csv
import io
import re
import zipfile
from pathlib import Path

import nbformat
import pytest
from lms_archives import UNIT, answered, archive, zipped
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.commands.return_feedback import by_reason

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
MOST = 60_000  # bytes of a page
CANVAS = {
    "lovelaceada_101_5001_01_tiny.ipynb": "101",
    "noetheremmy_LATE_102_5002_01_tiny-1.ipynb": "102",
    "galoisevariste_103_5003_mine.zip": "103",
}
MOODLE = {
    "Ada Lovelace_7001_assignsubmission_file_": "7001",
    "Emmy Noether_7002_assignsubmission_file": "7002",  # Moodle 4.1's name for it
    "Évariste Galois_7003_assignsubmission_file_": "7003",
}


def course(root: Path, *words: object, status: int = 0) -> str:
    command = [str(word) for word in words]
    done = CliRunner().invoke(app, [*command, "--course-root", str(root)])
    assert done.exit_code == status, done.output
    return done.output


def entries(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as made:
        assert made.testzip() is None
        return {name: made.read(name) for name in made.namelist()}


def moodles_student(path: str) -> tuple[str, str]:
    """Return the student's number and the file that Moodle reads in a path."""
    parts = path.split("/")
    while parts:
        info = parts.pop(0).split("_", 4)
        if len(info) >= 4 and info[1].isdigit():
            assert info[2:4] == ["assignsubmission", "file"]
            return info[1], "/".join([*filter(None, info[4:]), *parts])
    raise AssertionError(path)


def canvas_numbers(name: str) -> list[str]:
    """Return the numbers of user and file that Canvas reads in a name."""
    return [part for part in name.split("_") if part.isdigit()][:2]


@pytest.fixture
def from_moodle(root: Path, tmp_path: Path, numbered) -> Path:
    names = [f"{folder}/01_tiny.ipynb" for folder in MOODLE]
    files = [(name, numbered(number)) for number, name in enumerate(names)]
    course(root, "collect", archive(tmp_path / "moodle.zip", *files))
    course(root, "grade", "01", "--workers", "1")
    return root


def test_moodle_finds_every_student(from_moodle: Path):
    said = course(from_moodle, "return", "01", "--moodle")
    assert "feedback of 3 students" in " ".join(said.split())
    found = entries(from_moodle / "return" / f"{UNIT}-moodle.zip")
    assert {name.rpartition("/")[0] for name in found} == set(MOODLE)
    for name, content in found.items():
        number, file = moodles_student(name)
        assert number == MOODLE[name.partition("/")[0]]
        assert file == f"{UNIT}-feedback.html"
        assert len(content) < MOST
        assert "Quadruple" in content.decode()
    course(from_moodle, "return", "01", "--canvas", status=2)


def test_canvas_finds_every_student_and_every_file_opens(root, tmp_path, numbered):
    files = [
        (name, zipped("w.ipynb", numbered(n)) if "zip" in name else numbered(n))
        for n, name in enumerate(CANVAS)
    ]
    course(root, "collect", archive(tmp_path / "canvas.zip", *files))
    course(root, "grade", "01", "--workers", "1")
    course(root, "return", "01", "--canvas", "--to", tmp_path / "out")
    found = entries(tmp_path / "out" / f"{UNIT}-canvas.zip")
    assert set(found) == set(CANVAS)
    for name, content in found.items():
        assert canvas_numbers(name)[0] == CANVAS[name]
        if name.endswith(".zip"):
            with zipfile.ZipFile(io.BytesIO(content)) as inner:
                (page,) = inner.namelist()
                shown = inner.read(page).decode()
        else:
            notebook = nbformat.reads(content.decode(), as_version=4)
            nbformat.validate(notebook)
            (cell,) = notebook.cells
            assert "\n\n" not in cell.source  # in Markdown, the page would end here
            shown = cell.source
        assert "What to fix" in shown or "Score: 70" in shown


def test_points_by_hand_are_on_the_pages_that_go_back(from_moodle: Path):
    with Gradebook(f"sqlite:///{from_moodle}/gradebook.db") as gradebook:
        given = gradebook.find_grade("why", UNIT, UNIT, "ada-lovelace")
        given.manual_score, given.needs_manual_grade = 21, False
        gradebook.db.commit()
    course(from_moodle, "return", "01", "--moodle")
    found = entries(from_moodle / "return" / f"{UNIT}-moodle.zip")
    (page,) = [text for name, text in found.items() if name.startswith("Ada")]
    assert "(Score: 21.0 / 30.0)" in page.decode()


def test_a_mail_merge_has_an_address_and_a_file_for_each(
    root, tmp_path, numbered, roster
):
    text = roster.read_text("utf-8").replace("ada@example.org", "")
    roster.write_text(text.replace("noether@", "=cmd@"), "utf-8")
    files = [(f"{who} - 01_tiny.ipynb", numbered(n))
             for n, who in enumerate(["al1815", "en1882", "eg1811"])]  # fmt: skip
    path = archive(tmp_path / "drive.zip", *files)
    course(root, "collect", path, "--roster", roster)
    course(root, "grade", "01", "--workers", "1")
    said = course(root, "return", "01", "--mail-merge", status=1)
    assert "no e-mail address" in " ".join(said.split())
    table = root / "return" / f"{UNIT}-mail" / "mail.csv"
    rows = list(csv.DictReader(io.StringIO(table.read_text("utf-8-sig"))))
    assert [row["Name"] for row in rows] == ["Évariste Galois", "Emmy Noether"]
    assert [row["Email"][0] for row in rows] == ["g", "'"]  # not a formula
    assert {row["Subject"] for row in rows} == {"Feedback: Tiny"}
    for row in rows:
        assert Path(row["File"]).is_absolute()
        assert "Quadruple" in Path(row["File"]).read_text()


def test_a_team_gets_its_page_once(root, tmp_path, numbered):
    roster = tmp_path / "teams.csv"
    roster.write_text("id,first_name,last_name,team\na1,Ann,A,Team 1\nb2,Bo,B,Team 1\n")
    name = "Team 1_7001_assignsubmission_file_/01_tiny.ipynb"
    path = archive(tmp_path / "moodle.zip", (name, numbered(1)))
    course(root, "collect", path, "--roster", roster)
    course(root, "grade", "01", "--workers", "1")
    said = course(root, "return", "01", "--moodle")
    assert "feedback of 2 students" in " ".join(said.split())
    assert len(entries(root / "return" / f"{UNIT}-moodle.zip")) == 1


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_exchange_takes_it_and_the_student_fetches_it(root, tmp_path, notebook):
    exchange = tmp_path / "exchange"
    exchange.mkdir(mode=0o777)
    exchange.chmod(0o777)
    (root / "nbgrader_config.py").write_text(
        "from pathlib import Path\n"
        "from autograder.nbgrader_steps.settings import configure\n"
        "c = get_config()\n"
        f"configure(c, Path({str(root)!r}))\n"
        "c.CourseDirectory.course_id = 'tiny'\n"
        f"c.Exchange.root = {str(exchange)!r}\n"
        f"c.Exchange.cache = {str(tmp_path / 'cache')!r}\n"
    )
    work = answered(notebook, {"why": "Because."})
    for student, secret in (("alice", "s" * 32), ("bob", "")):
        place = root / "submitted" / student / UNIT
        place.mkdir(parents=True)
        (place / f"{UNIT}.ipynb").write_bytes(work)
        (place / "timestamp.txt").write_text("2026-11-02 12:00:00 UTC")
        if secret:
            (place / "submission_secret.txt").write_text(secret)
    course(root, "grade", "01", "--workers", "1")
    said = course(root, "return", "01", "--exchange", status=1)
    assert "not handed in through the exchange" in " ".join(said.split())
    (page,) = (exchange / "tiny" / "feedback").glob("*.html")
    assert re.fullmatch(r"[0-9a-f]{32}", page.stem)
    own = root / "feedback" / "alice" / UNIT / f"{UNIT}.html"
    assert page.read_bytes() == own.read_bytes()


def test_what_is_asked_wrongly_is_a_sentence(root: Path, numbered, tmp_path):
    said = course(root, "return", "01", status=2)
    assert "--moodle, --canvas" in said
    assert "Nothing of 01_tiny is handed in" in course(
        root, "return", "01", "--moodle", status=2
    )
    (tmp_path / "empty").mkdir()
    said = course(tmp_path / "empty", "return", "04", "--moodle", status=2)
    assert said.count("\n") == 1
    path = archive(
        tmp_path / "m.zip", (f"{next(iter(MOODLE))}/01_tiny.ipynb", numbered(1))
    )
    course(root, "collect", path)
    said = course(root, "return", "01", "--moodle", status=2)
    assert "run `course grade` first" in " ".join(said.split())
    assert not (root / "return" / f"{UNIT}-moodle.zip").exists()


def test_a_reason_of_many_is_told_once():
    many = {f"s{n:02}": "has no address" for n in range(11)}
    rows = by_reason({"one": "is not graded", **many})
    shown = ", ".join(list(many)[:10])
    assert rows == [
        ("one", "is not graded"),
        ("11 students", f"has no address: {shown} and 1 more"),
    ]


def test_moodle_finds_who_was_put_aside_first(root, tmp_path, numbered):
    """This includes namesakes whose files a human told apart."""
    roster = tmp_path / "roster.csv"
    roster.write_text("id,first_name,last_name\n1,민준,김\n2,민준,김\n")
    folder = "민준 김_7001_assignsubmission_file_"
    path = archive(tmp_path / "m.zip", (f"{folder}/01_tiny.ipynb", numbered(1)))
    course(root, "collect", path, "--roster", roster, status=2)
    aside = root / "collected" / "_not-sorted"
    (kept,) = aside.iterdir()
    kept.rename(aside / f"2 - {kept.name}")
    course(root, "collect", aside)
    course(root, "grade", "01", "--workers", "1")
    course(root, "return", "01", "--moodle")
    (name,) = entries(root / "return" / f"{UNIT}-moodle.zip")
    assert name.startswith(f"{folder}/")
    assert moodles_student(name)[0] == "7001"

"""With PostgreSQL as the gradebook, scores are equal and writers run in parallel."""

import os
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from nbgrader.api import Gradebook
from ports import held_port
from programs import find_postgresql
from tiny_grading import EXPECTED, UNIT, grade, only

from autograder.classroom.folder import ClassFolder

pytestmark = [
    pytest.mark.needs("postgresql"),
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
REPOSITORY = Path(__file__).parents[3]
FEW = ("perfect-one", "mistake-1", "half-done", "damaged")
OWNER = "postgres"
PATIENCE = 600  # seconds: only hanging fails, not slowness


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    """Run a PostgreSQL server on loopback in a temporary folder. Return its address."""
    initdb, pg_ctl = find_postgresql("initdb"), find_postgresql("pg_ctl")
    home = Path(tempfile.mkdtemp(prefix="course-postgresql-"))
    user = {"user": OWNER} if os.geteuid() == 0 else {}  # it refuses to run as root
    password, port = secrets.token_hex(16), held_port()
    (home / "password").write_text(password)
    if user:
        for path in (home, home / "password"):
            shutil.chown(path, OWNER)

    def run(*command: str) -> None:
        # The output goes to a file, because the server would keep a pipe open.
        with (home / "said.txt").open("ab") as said:
            ended = subprocess.run(
                command, cwd=home, stdout=said, stderr=said, timeout=PATIENCE, **user
            )
        assert ended.returncode == 0, (home / "said.txt").read_text()

    data = str(home / "data")
    secret = f"--pwfile={home}/password"
    run(initdb, "-D", data, "-U", "course", "--auth=scram-sha-256", secret, "-N")
    waiting = ("-w", "-t", str(PATIENCE))
    settings = f"-c listen_addresses=127.0.0.1 -c port={port} -c fsync=off"
    run(pg_ctl, "-D", data, *waiting, "-o", f"{settings} -k {home}", "start")
    try:
        yield f"postgresql+psycopg://course:{password}@127.0.0.1:{port}"
    finally:
        run(pg_ctl, "-D", data, "-m", "immediate", *waiting, "stop")
        shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
def moved(postgresql: str) -> Callable[[Path], str]:
    """Create a new PostgreSQL database for a class's gradebook."""
    import psycopg

    name = f"class_{secrets.token_hex(4)}"
    url = f"{postgresql}/{name}"
    administrator = f"{postgresql}/postgres".replace("+psycopg", "")
    connection = psycopg.connect(administrator)
    connection.autocommit = True
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE DATABASE {name}")
    connection.close()

    def move(root: Path) -> str:
        settings = root / "nbgrader_config.py"
        text = settings.read_text() + f"c.CourseDirectory.db_url = {url!r}\n"
        settings.write_text(text)
        return url

    return move


def marks(url: str) -> dict[tuple[str, str], tuple]:
    """Return every mark of the unit in a gradebook."""
    with Gradebook(url) as gradebook:
        return {
            (item.student.id, grade.name): (
                grade.auto_score,
                grade.manual_score,
                grade.max_score,
                grade.needs_manual_grade,
            )
            for item in gradebook.assignment_submissions(UNIT)
            for notebook in item.notebooks
            for grade in notebook.grades
        }


def totals(url: str) -> dict[str, float]:
    with Gradebook(url) as gradebook:
        found = gradebook.assignment_submissions(UNIT)
        return {item.student.id: round(item.score, 2) for item in found}


def copy_of(root: Path, place: Path) -> Path:
    made = shutil.copytree(root, place)
    settings = made / "nbgrader_config.py"
    settings.write_text(settings.read_text().replace(str(root), str(made)))
    return made


def test_the_scores_are_those_of_sqlite(classroom, moved, tmp_path):
    only(classroom, *FEW)
    other = copy_of(classroom, tmp_path / "other")
    url = moved(other)
    assert grade(classroom, "--no-feedback").exit_code == 0
    done = grade(other)
    assert done.exit_code == 0, done.output
    assert not (other / "gradebook.db").exists()
    assert "127.0.0.1" in done.output
    assert url.partition("course:")[2].partition("@")[0] not in done.output
    assert marks(url) == marks(f"sqlite:///{classroom}/gradebook.db")
    assert totals(url) == {name: EXPECTED[name] for name in FEW}
    for name in FEW:
        assert (other / "feedback" / name / UNIT / f"{UNIT}.html").is_file()
    assert grade(other).output.count("as before") == len(FEW)


@pytest.mark.slow
def test_two_runs_write_into_one_gradebook_at_once(classroom, moved, tmp_path):
    only(classroom, *FEW)
    url = moved(classroom)
    ClassFolder(classroom).register(UNIT)
    other = copy_of(classroom, tmp_path / "other")
    only(classroom, *FEW[:2])
    only(other, *FEW[2:])
    runs = [start(root) for root in (classroom, other)]
    for run in runs:
        output, _ = run.communicate(timeout=PATIENCE)
        assert run.returncode == 0, output
    assert totals(url) == {name: EXPECTED[name] for name in FEW}


def start(root: Path) -> subprocess.Popen:
    paths = os.pathsep.join([str(REPOSITORY), str(root / "solutions")])
    command = [sys.executable, "-m", "autograder", "grade", "--workers", "1"]
    return subprocess.Popen(
        [*command, "--course-root", str(root), "--force"],
        env={**os.environ, "PYTHONPATH": paths},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def test_a_server_that_is_not_there_is_said_without_the_password(classroom):
    only(classroom, "perfect-one")
    with (classroom / "nbgrader_config.py").open("a") as file:
        address = f"postgresql+psycopg://course:s3cret@127.0.0.1:{held_port()}/x"
        file.write(f"c.CourseDirectory.db_url = {address!r}\n")
    done = grade(classroom)
    assert done.exit_code == 2
    assert "cannot be opened" in done.output
    assert "s3cret" not in done.output

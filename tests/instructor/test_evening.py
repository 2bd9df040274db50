"""An instructor's evening: thirty files from three platforms, with right scores."""

import csv
import os
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from lms_archives import UNIT, archive, as_colab_saves
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.proof.sample_class import Sample, SampleClass

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]
REPOSITORY = Path(__file__).parents[2]
NAMES = """Niels Abel;Emil Artin;Stefan Banach;Thomas Bayes;Daniel Bernoulli;
George Boole;Georg Cantor;Alonzo Church;Richard Dedekind;Leonhard Euler;Pierre Fermat;
Leonardo Fibonacci;Joseph Fourier;Évariste Galois;Carl Gauss;Sophie Germain;Kurt Gödel;
William Hamilton;Grace Hopper;David Hilbert;Carl Jacobi;Andrei Kolmogorov;
Sofja Kowalewskaja;Joseph Lagrange;Ada Lovelace;Andrei Markow;Emmy Noether;
Blaise Pascal;Siméon Poisson;Alan Turing""".replace("\n", "").split(";")
SETTINGS = """
from autograder.nbgrader_steps.settings import configure

c = get_config()
configure(c)
c.RunHiddenChecks.limits = {"cell_seconds": 20, "exercise_seconds": 20}
"""


def identity(number: int) -> tuple[str, str, str]:
    first, last = NAMES[number].split(" ", 1)
    return f"s{number:02}", first, last


def canvas(number: int) -> str:
    _, first, last = identity(number)
    late = "_LATE" if number % 5 == 0 else ""
    copy = "-1" if number % 2 else ""
    who = f"{last}{first}".lower()
    return f"{who}{late}_{500 + number}_{9000 + number}_{UNIT}{copy}.ipynb"


def moodle(number: int) -> str:
    _, first, last = identity(number)
    return f"{first} {last}_{7100 + number}_assignsubmission_file_/{UNIT}.ipynb"


def drive(number: int) -> str:
    _, first, last = identity(number)
    names = ("{who} - {unit}", "{who}/Copy of {unit}", "Copy of {unit} - {who} (1)")
    name = names[number % 3].format(who=f"{first} {last}", unit=UNIT)
    return f"{name}.ipynb"


STYLES = (canvas, moodle, drive)


@pytest.fixture(scope="module")
def samples(tiny_root: Path) -> dict[int, Sample]:
    """Give each of the thirty one of eleven submissions, none with an endless loop."""
    made = SampleClass(UNIT, tiny_root)
    chosen = [sample for sample in made.samples() if sample.student != "looping"]
    return {number: chosen[number % len(chosen)] for number in range(len(NAMES))}


@pytest.fixture
def downloads(tiny_root: Path, samples: dict[int, Sample], tmp_path: Path) -> list:
    """Write the three archives in the format of their platforms."""
    made = SampleClass(UNIT, tiny_root)
    saved = {
        number: as_colab_saves(nbformat.writes(made.notebook(sample.answers)))
        for number, sample in samples.items()
    }
    home = tmp_path / "downloads"
    home.mkdir()
    return [
        archive(home / f"{style.__name__}.zip", *((style(n), saved[n]) for n in part))
        for style, part in zip(
            STYLES, (range(0, 10), range(10, 20), range(20, 30)), strict=True
        )
    ]


def course(root: Path, *words: str) -> str:
    done = CliRunner().invoke(app, [*words, "--course-root", str(root)])
    assert done.exit_code == 0, done.output
    return done.output


def nbgrader(root: Path, *words: str) -> None:
    paths = os.pathsep.join([str(REPOSITORY), str(root / "solutions")])
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *words],
        cwd=root,
        env={**os.environ, "PYTHONPATH": paths},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow
def test_the_evening(root: Path, samples: dict[int, Sample], downloads: list) -> None:
    """Collect, grade, mark by hand, write the feedback again, and export."""
    (root / "nbgrader_config.py").write_text(SETTINGS)
    rows = [",".join(identity(number)) for number in range(len(NAMES))]
    roster = root / "roster.csv"
    roster.write_text("\n".join(["id,first_name,last_name", *rows]), encoding="utf-8")
    for number, path in enumerate(downloads):
        output = course(root, "collect", str(path), "--roster", str(roster))
        assert "10 students collected." in output
        assert f"{UNIT}: {20 - 10 * number} missing" in output

    output = course(root, "grade", "01", "--workers", "2")
    assert "30/30" in output
    expected = {f"s{number:02}": one.score for number, one in samples.items()}
    assert len(set(expected.values())) > 4
    assert scores(root) == expected

    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        written = gradebook.find_grade("why", UNIT, UNIT, "s24")
        written.manual_score = 25
        gradebook.find_comment("why", UNIT, UNIT, "s24").manual_comment = "Well said."
        gradebook.db.commit()
    nbgrader(root, "generate_feedback", UNIT, "--student=s24", "--force")
    pages = {p.parents[1].name: p for p in root.glob("feedback/*/*/*.html")}
    assert set(pages) == set(expected)
    assert "Well said." in pages["s24"].read_text(encoding="utf-8")
    mistaken = next(n for n, one in samples.items() if "double: " in one.what)
    assert "Multiply by 2." in pages[f"s{mistaken:02}"].read_text(encoding="utf-8")

    nbgrader(root, "export", "--to", "grades.csv")
    with (root / "grades.csv").open(encoding="utf-8") as file:
        table = {row["student_id"]: row for row in csv.DictReader(file)}
    exported = {who: float(row["score"]) for who, row in table.items()}
    assert exported == {**expected, "s24": round(expected["s24"] + 25, 2)}
    assert table["s24"]["last_name"] == "Lovelace"


def scores(root: Path) -> dict[str, float]:
    with Gradebook(f"sqlite:///{root}/gradebook.db") as gradebook:
        found = gradebook.assignment_submissions(UNIT)
        return {item.student.id: round(item.score, 2) for item in found}

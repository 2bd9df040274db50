"""A student's day on Colab with unit 04, from opening the notebook to the mark."""

import json
import resource
import shutil
import subprocess
from pathlib import Path

import nbformat
import pytest
from bare_colab import COLAB_LACKS, BareColab
from lms_archives import archive, as_colab_saves
from nbgrader.api import Gradebook
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.course import load_course
from autograder.proof.sample_class import SampleClass
from autograder.publish import publish
from autograder.publish.repository import git

COURSE = load_course()
UNIT = COURSE.unit("04")
NOTEBOOK = f"assignments/{UNIT.slug}/{UNIT.slug}.ipynb"
pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore::sqlalchemy.exc.SAWarning"),
]


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Publish units up to 04, and push them to a local remote."""
    home = tmp_path_factory.mktemp("published")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("autograder.publish.refusals.outdated", lambda *_: [])
        publish(COURSE, home / "public", "04", site=False)
    git(home, "init", "-q", "--bare", "-b", COURSE.branch, "remote.git")
    git(home / "remote.git", "config", "uploadpack.allowFilter", "true")
    git(home / "public", "push", "-q", str(home / "remote.git"), COURSE.branch)
    return home


@pytest.fixture(scope="module")
def colab(tmp_path_factory: pytest.TempPathFactory, published: Path) -> BareColab:
    """Make a new Colab machine."""
    root = tmp_path_factory.mktemp("colab")
    made = BareColab(root, published / "remote.git", COURSE.repository)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JUPYTER_PATH", str(root / "jupyter"))
        yield made


@pytest.fixture(scope="module")
def opened(published: Path) -> nbformat.NotebookNode:
    """Open the notebook from the remote, as its badge does."""
    text = git(published / "remote.git", "show", f"{COURSE.branch}:{NOTEBOOK}")
    return nbformat.reads(text, as_version=4)


def code(notebook: nbformat.NotebookNode, *names: str) -> list:
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [cell for cell in cells if not names or cell.id in names]


def printed(notebook: nbformat.NotebookNode) -> str:
    outputs = [out for cell in notebook.cells for out in cell.get("outputs", [])]
    return "".join(out.get("text", "") for out in outputs)


def processor_seconds() -> float:
    """Return the processor time of this process's children that have ended.

    Other programs slow down the wall clock, but not this one.
    """
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_the_machine_is_as_bare_as_colab(colab: BareColab) -> None:
    assert not [module for module in COLAB_LACKS if colab.has(module)]
    assert colab.has("google.colab, torch, numpy, matplotlib, IPython, spacy")


def test_the_badge_opens_what_is_published(opened, published: Path) -> None:
    assert opened.metadata.accelerator == "GPU"
    readme = git(published / "remote.git", "show", f"{COURSE.branch}:README.md")
    assert f"[open in Colab]({COURSE.colab_url(UNIT)})" in readme
    assert COURSE.colab_url(UNIT).endswith(f"/blob/{COURSE.branch}/{NOTEBOOK}")


def test_the_day(colab: BareColab, opened: nbformat.NotebookNode, tmp_path: Path):
    """Set up, answer, restart and hand in. Then collect, grade, and read the mark."""
    begun = processor_seconds()
    ran = colab.run(code(opened, "setup", "imports"))
    assert 0 < processor_seconds() - begun < 60
    assert f"{UNIT.slug} is set up: PyTorch " in printed(ran)
    assert "Save a copy in Drive" in printed(ran)
    assert not list(colab.content.glob("*/assignments/03_*"))
    assert not colab.has("torchtext") and not colab.has("nbgrader")

    mine = SampleClass(UNIT.slug)
    filled = mine.notebook(mine.answers)
    (colab.root / "open.ipynb").write_bytes(as_colab_saves(nbformat.writes(filled)))
    restarted = colab.run(code(filled))
    assert "Your browser downloads 04_attention.ipynb" in printed(restarted)
    file = colab.downloads / "04_attention.ipynb"
    saved = json.loads(file.read_text())
    assert saved["nbformat_minor"] == 0 and "colab" in saved["metadata"]

    name = "lovelaceada_12345_678910_Copy of 04_attention-1.ipynb"
    submissions = archive(tmp_path / "submissions.zip", (name, file.read_bytes()))
    for words in (["collect", str(submissions)], ["grade", "04", "--workers", "1"]):
        done = CliRunner().invoke(app, [*words, "--course-root", str(tmp_path)])
        assert done.exit_code == 0, done.output
    with Gradebook(f"sqlite:///{tmp_path}/gradebook.db") as gradebook:
        (found,) = gradebook.assignment_submissions(UNIT.slug)
        assert (found.student.id, found.score) == ("lovelaceada", 85.0)


def test_alone_on_a_machine_without_colab_it_says_what_to_do(
    colab: BareColab, opened: nbformat.NotebookNode
) -> None:
    package = colab._site() / "google"
    package.rename(package.with_name("no-google"))
    shutil.rmtree(colab.content)
    colab.content.mkdir()
    try:
        ran = colab.run(code(opened, "setup"), allow_errors=True)
    finally:
        package.with_name("no-google").rename(package)
    (output,) = ran.cells[0].outputs
    assert output.ename == "ModuleNotFoundError"
    assert "is not next to this notebook. Get the whole folder" in output.evalue
    assert f"assignments/{UNIT.slug} from {COURSE.repository}" in output.evalue


def test_a_local_clone_needs_no_more_than_its_folder(
    colab: BareColab, opened: nbformat.NotebookNode, published: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", str(published / "remote.git"), "course")
    folder = tmp_path / "course" / "assignments" / UNIT.slug
    (setup,) = code(opened, "setup")
    command = [
        str(colab.python),
        "-I",
        "-c",
        f"import sys; sys.path[0:0] = ['']\n{setup.source}",
    ]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    assert f"{UNIT.slug} is set up" in done.stdout, done.stderr
    assert git(tmp_path / "course", "status", "--porcelain") == ""

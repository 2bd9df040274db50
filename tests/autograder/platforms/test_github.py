"""The workflows for GitHub, and their commands in a layout like a runner's."""

import csv
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from layouts import Machine, notebook
from open_python import open_python
from typer.testing import CliRunner

from autograder.commands.app import app
from autograder.grading.outcome import Outcome
from autograder.platforms.github import add_to_table, plain
from autograder.unit import GradedUnit, Submission

SUDO = '#!/bin/sh\nexec "$@"\n'
GH = """#!/bin/sh
echo "gh $*" >>{log}
case "$1 $2" in
  "repo list") ls {server}; echo tiny-gone ;;
  "repo clone") from={server}/"${{3##*/}}"; to=$4; shift 5
    git clone -q "$@" "file://$from" "$to" ;;
esac
"""
ROOT = Path(__file__).resolve().parents[3]
COMMITTED = (
    *("tiny-ada", "tiny-emmy", "tiny-bomb", "tiny-folder", "tiny-link"),
    "other-repository",
)
USES = re.compile(r"uses: actions/([\w-]+)@v(\d+)")
FIRST_ON_NODE_24 = {
    "checkout": 5,
    "setup-python": 6,
    "upload-artifact": 6,
    "upload-pages-artifact": 5,
    "deploy-pages": 5,
}
SECRET = re.compile(r"\$\{\{ secrets\.(\w+) \}\}")


def made(folder: Path, *more: str, root: Path | None = None) -> Path:
    words = ["classroom-github", "01", "--checks", "us/checks", "--to", str(folder)]
    words += ["--course-root", str(root)] if root else []
    done = CliRunner().invoke(app, [*words, *more])
    assert done.exit_code == 0, done.output
    return folder


def workflow(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a workflow and its only job. YAML reads the key `on` as true."""
    found = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert set(found) <= {"name", True, "permissions", "concurrency", "jobs"}
    (job,) = found["jobs"].values()
    assert job["runs-on"] == "ubuntu-latest" and job["timeout-minutes"] <= 360
    for step in job["steps"]:
        assert set(step) <= {"name", "uses", "with", "run", "env", "if"}
        assert ("uses" in step) != ("run" in step)
    assert found["permissions"] == {"contents": "read"}
    return found, job


@pytest.fixture(scope="module")
def runner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    folder = Path(tempfile.mkdtemp(prefix="github-"))
    folder.chmod(0o755)
    with open_python() as python:
        machine = Machine(folder, python)
        machine.add("sudo", SUDO)
        machine.add("cp", f'#!/bin/sh\nexec {shutil.which("cp")} "$@"\n')
        yield machine
    shutil.rmtree(folder)


def run_steps(machine: Machine, job: dict[str, Any], cwd: Path, **variables: object):
    """Run the commands of a job as the runner's shell does, and return their output."""
    said = ""
    for step in job["steps"]:
        if "run" in step:
            done = machine.run("bash", "-e", "-c", step["run"], cwd=cwd, **variables)
            said += done.stdout
            if done.returncode:
                break
    done.stdout = said
    return done


def checkouts(job: dict[str, Any]) -> list[dict[str, Any]]:
    return [s["with"] for s in job["steps"] if "actions/checkout" in s.get("uses", "")]


def test_no_action_asks_for_a_node_that_runners_have_lost() -> None:
    """Node.js 20 left GitHub's runners in September 2026."""
    workflows = [
        *(ROOT / "autograder").glob("*/templates/*.yml"),
        *(ROOT / ".github" / "workflows").iterdir(),
    ]
    text = "".join(path.read_text(encoding="utf-8") for path in workflows)
    used = {(name, int(version)) for name, version in USES.findall(text)}
    assert text.count("uses:") == len(USES.findall(text))
    assert {name for name, _ in used} <= set(FIRST_ON_NODE_24)
    assert [one for one in used if one[1] < FIRST_ON_NODE_24[one[0]]] == []


def test_by_default_no_student_gets_a_workflow_or_a_secret(
    tmp_path: Path, tiny_root: Path
) -> None:
    folder = made(tmp_path, root=tiny_root)
    names = {p.relative_to(folder / "student" / "01_tiny").as_posix() for p in
             (folder / "student" / "01_tiny").rglob("*") if p.is_file()}  # fmt: skip
    assert {"01_tiny.ipynb", "README.md", "requirements.txt"} <= names
    text = (folder / "student" / "01_tiny" / "README.md").read_text(encoding="utf-8")
    assert "jupyter lab 01_tiny.ipynb" in text and "@" not in text
    assert not [n for n in names if ".github" in n or "check" in n or "secret" in n]
    assert (folder / "checks/01_tiny/autograder/checks/test_01_tiny.py").is_file()
    assert os.access(folder / "checks" / "01_tiny" / "grade", os.X_OK)


def test_a_token_never_stays_where_a_student_can_look(
    tmp_path: Path, tiny_root: Path
) -> None:
    folder = made(tmp_path, "--at-each-push", root=tiny_root)
    path = (
        folder / "student" / "01_tiny" / ".github" / "workflows" / "hidden-checks.yml"
    )
    _, job = workflow(path)
    for options in checkouts(job):
        assert options["persist-credentials"] is False
    assert checkouts(job)[1]["repository"] == "us/checks"
    assert SECRET.findall(path.read_text()) == ["COURSE_CHECKS_TOKEN"]
    runs = [step for step in job["steps"] if "run" in step]
    assert not [step for step in runs if "secrets" in str(step)]


def test_the_risk_is_said_where_it_is_taken(tmp_path: Path, tiny_root: Path) -> None:
    words = ["classroom-github", "01", "--checks", "us/checks", "--at-each-push"]
    more = ["--to", str(tmp_path), "--course-root", str(tiny_root)]
    done = CliRunner().invoke(app, [*words, *more])
    assert "can read this secret and the checks" in " ".join(done.output.split())


def test_another_address_than_a_repositorys_is_refused(tmp_path: Path) -> None:
    words = ["classroom-github", "01", "--checks", "https://github.com/us/checks"]
    done = CliRunner().invoke(app, [*words, "--to", str(tmp_path / "x")])
    assert done.exit_code == 2
    assert "OWNER/NAME" in done.stderr and not (tmp_path / "x").exists()


def test_what_grades_at_each_push_is_taken_back(
    tmp_path: Path, tiny_root: Path
) -> None:
    """The old workflow would still pass on the token of the checks."""
    folder = made(tmp_path, "--at-each-push", root=tiny_root)
    path = folder / "student/01_tiny/.github/workflows/hidden-checks.yml"
    assert path.is_file()
    made(tmp_path, root=tiny_root)
    assert not path.exists()


@pytest.mark.slow
def test_each_push_is_graded(
    tmp_path: Path, tiny_root: Path, tiny_unit: GradedUnit, runner: Machine
) -> None:
    folder = made(tmp_path / "made", "--at-each-push", root=tiny_root)
    path = (
        folder / "student" / "01_tiny" / ".github" / "workflows" / "hidden-checks.yml"
    )
    _, job = workflow(path)
    workspace = tmp_path / "workspace"
    places = [options["path"] for options in checkouts(job)]
    for place, source in zip(places, ("student/01_tiny", "checks"), strict=True):
        shutil.copytree(folder / source, workspace / place)
    handed_in = workspace / "submission" / "01_tiny.ipynb"
    handed_in.write_bytes(notebook(tiny_unit))
    summary = tmp_path / "summary.md"
    done = run_steps(runner, job, workspace, GITHUB_STEP_SUMMARY=summary)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "**70 of 70** points" in summary.read_text()
    handed_in.write_bytes(notebook(tiny_unit, "double"))
    done = run_steps(runner, job, workspace, GITHUB_STEP_SUMMARY=summary)
    assert done.returncode == 1
    assert "| ✗ | double: " in summary.read_text()
    assert "apt-get install -y bubblewrap" in runner.log.read_text()


def repositories(server: Path, runner: Machine, content: bytes) -> Path:
    """Make a class's repositories: one has `content`, one no notebook, one no commit.

    Three are hostile: a tree of 10^10 files next to `content`, a link in place of the
    notebook, and a folder with the notebook's name.
    """

    def git(name: str, *words: str, given: str = "") -> str:
        identity = ("-c", "user.name=x", "-c", "user.email=x@invalid")
        done = subprocess.run(
            ["git", "-C", str(server / name), *identity, *words],
            input=given,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout.strip()

    for name in ("tiny-alan", *COMMITTED):
        (server / name).mkdir(parents=True)
        git(name, "init", "-q")
        git(name, "config", "uploadpack.allowFilter", "true")
        git(name, "config", "uploadpack.allowAnySHA1InWant", "true")
    for name in ("tiny-ada", "tiny-bomb"):
        (server / name / "01_tiny.ipynb").write_bytes(content)
    (server / "tiny-folder" / "01_tiny.ipynb").mkdir()
    (server / "tiny-folder" / "01_tiny.ipynb" / "x").touch()
    (server / "tiny-link" / "01_tiny.ipynb").symlink_to("/etc/passwd")
    for name in COMMITTED:
        git(name, "add", "-A")
        git(name, "commit", "-qm", "x", "--allow-empty")
    tree = git("tiny-bomb", "write-tree")
    blob = git("tiny-bomb", "rev-parse", "HEAD:01_tiny.ipynb")
    for _ in range(10):
        entries = "".join(f"040000 tree {tree}\t{n}\n" for n in range(10))
        tree = git("tiny-bomb", "mktree", given=entries)
    entries = f"040000 tree {tree}\tbomb\n100644 blob {blob}\t01_tiny.ipynb\n"
    tree = git("tiny-bomb", "mktree", given=entries)
    commit = git("tiny-bomb", "commit-tree", tree, "-m", "x")
    git("tiny-bomb", "update-ref", "HEAD", commit)
    return server


@pytest.mark.slow
def test_all_are_graded_from_the_private_repository(
    tmp_path: Path, tiny_root: Path, tiny_unit: GradedUnit, runner: Machine
) -> None:
    folder = made(tmp_path / "made", root=tiny_root)
    workflows = folder / "checks" / ".github" / "workflows"
    found, job = workflow(workflows / "grade-all.yml")
    assert set(found[True]) == {"workflow_dispatch"}
    workspace = tmp_path / "workspace"
    (options,) = checkouts(job)
    shutil.copytree(folder / "checks", workspace / options["path"])
    server = repositories(tmp_path / "server", runner, notebook(tiny_unit))
    runner.add("gh", GH.format(log=runner.log, server=server))
    known = {"UNIT": "01_tiny", "PREFIX": "tiny-", "OWNER": "us", "COMMENT": "true"}
    assert set(job["env"]) == set(known)
    done = run_steps(runner, job, workspace, **known)
    assert done.returncode == 1  # because one clone failed
    assert done.stdout.splitlines()[-1].startswith("::error::tiny-gone could not be")
    own = workspace / "class"
    assert own.stat().st_mode & 0o077 == 0  # no submission sees other submissions
    with (own / "grades.csv").open(newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    assert set(rows) == {name for name in (*COMMITTED, "tiny-alan", "tiny-gone")} - {
        "other-repository"
    }
    assert "tiny-alan has no commit" in done.stdout
    gone = rows["tiny-gone"]
    assert (gone["status"], gone["score"]) == ("failed", "")
    assert "could not be fetched" in gone["reason"]
    assert float(rows["tiny-ada"]["score"]) == float(rows["tiny-bomb"]["score"]) == 70
    for name in ("tiny-emmy", "tiny-folder", "tiny-link"):
        assert rows[name]["status"] == "refused"
    asked = runner.log.read_text()
    assert (
        "body=@class/summaries/tiny-ada.md" in asked and "other-repository" not in asked
    )


def test_what_a_student_wrote_is_no_markup() -> None:
    text = "<img src=x> | `a` [b](http://c) @everyone\n# d"
    shown = plain(text)
    assert "<" not in shown and "\n" not in shown and "@e" not in shown
    assert not re.search(r"(?<!\\)[|`\[\]()#]", shown)


def test_what_a_student_wrote_is_no_formula(tmp_path: Path) -> None:
    submission = Submission("=HYPERLINK(1)", "01_tiny", Path("x"))
    reasons = {
        "@SUM(1)": "'@SUM(1)",
        "＝SUM(1)": "'＝SUM(1)",
        "2 notebooks (a;=SUM(1).ipynb)": "2 notebooks (a;'=SUM(1).ipynb)",
        "a notebook (a\n=SUM(1).ipynb)": "a notebook (a =SUM(1).ipynb)",
    }
    for reason in reasons:
        add_to_table(Outcome(submission, "refused", reason), tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="") as file:
        _, *rows = csv.reader(file)
    assert {row[0] for row in rows} == {"'=HYPERLINK(1)"}
    assert [row[-1] for row in rows] == list(reasons.values())

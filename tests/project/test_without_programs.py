"""On a machine with only Python, make and npm, tests pass or skip with a reason."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from programs import PROGRAMS, require

from autograder.sandbox.bubblewrap import sandbox_kind

ROOT = Path(__file__).resolve().parents[2]
HIDE = ROOT / ".ci" / "without-programs"
# One test that needs each program, and a class that is graded without them.
PIECES = (
    "tests/autograder/classroom/test_class.py::test_links_are_not_followed",
    "tests/autograder/classroom/test_postgresql.py::test_the_scores_are_those_of_sqlite",
    "tests/autograder/sandbox/test_attacks.py::test_there_are_enough_of_them",
    "tests/autograder/sandbox/test_unprotected.py",
    "tests/book/test_book_browser.py",
    "tests/book/live/test_live_firefox.py",
)
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="hides Linux programs")


def environment() -> dict[str, str]:
    """Return this process's variables, without the variables of parallel tests."""
    return {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}


@pytest.mark.slow
def test_nothing_fails_where_programs_are_missing() -> None:
    command = [HIDE, sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, *PIECES],
        cwd=ROOT,
        env={**environment(), "CI": "true"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    reasons = re.findall(r"^SKIPPED .*?: (.*)$", done.stdout, re.MULTILINE)
    told = {reason.split()[0]: reason for reason in reasons}
    assert told.keys() == PROGRAMS.keys()
    assert all("`apt-get install " in reason for reason in reasons)
    passed = re.search(r"(\d+) passed", done.stdout)
    assert passed and int(passed[1]) >= 3


def test_hiding_takes_away_the_programs_and_no_others() -> None:
    asks = "command -v bwrap chromium firefox-esr psql initdb || command -v sh git sed"
    done = subprocess.run(
        [HIDE, "bash", "-c", asks + "; echo $HIDDEN_PROGRAMS"],
        capture_output=True,
        text=True,
        check=True,
    )
    *there, hidden = done.stdout.splitlines()
    assert [Path(path).name for path in there] == ["sh", "git", "sed"]
    assert hidden.split() == list(PROGRAMS)


def test_in_ci_a_missing_program_is_a_failure(monkeypatch) -> None:
    monkeypatch.setenv("PATH", "")
    for name in PROGRAMS:
        sandbox_kind.cache_clear()
        with pytest.raises(pytest.fail.Exception, match="apt-get install"):
            require(name, {"CI": "true"})
        with pytest.raises(pytest.skip.Exception, match="apt-get install"):
            require(name, {})
        with pytest.raises(pytest.skip.Exception, match="apt-get install"):
            require(name, {"CI": "true", "HIDDEN_PROGRAMS": name})
    sandbox_kind.cache_clear()


def test_what_is_hidden_and_found_is_a_failure(monkeypatch, tmp_path) -> None:
    (tmp_path / "chromium").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    require("chromium", {"CI": "true"})
    with pytest.raises(pytest.fail.Exception, match="found all the same"):
        require("chromium", {"HIDDEN_PROGRAMS": "chromium"})


def test_github_runs_everything_without_them() -> None:
    path = ROOT / ".github" / "workflows" / "ci.yml"
    jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
    commands = [step.get("run") for step in jobs["bare"]["steps"]]
    assert ".ci/without-programs make course test test-slow" in commands
    assert "bare" in jobs["pages"]["needs"]

"""The texts for contributors and machines agree with the project."""

import re
import stat
from pathlib import Path

import yaml

from autograder.course import load_course

ROOT = Path(__file__).resolve().parents[2]


def test_the_citation_agrees_with_the_project() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    course = load_course()
    assert {"cff-version", "message", "title", "authors"} <= set(cited)
    assert (cited["title"], cited["repository-code"]) == (
        course.title,
        course.repository,
    )
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{cited["version"]}"' in project


def test_the_workflow_runs_what_every_change_must_pass() -> None:
    path = ROOT / ".github" / "workflows" / "ci.yml"
    workflow = yaml.safe_load(path.read_text(encoding="utf-8"))
    jobs = workflow["jobs"]
    commands = [step.get("run") for step in jobs["check"]["steps"]]
    assert ".ci/run" in commands
    assert (ROOT / ".ci" / "run").stat().st_mode & stat.S_IXUSR
    audited = commands.index(".venv/bin/course publish build/public --guide")
    uploaded = next(
        number
        for number, step in enumerate(jobs["check"]["steps"])
        if "upload-pages" in step.get("uses", "")
    )
    assert audited < uploaded
    assert jobs["pages"]["needs"] == ["check", "bare"]
    assert "pull_request" in jobs["pages"]["if"]
    assert workflow["permissions"] == {"contents": "read"}


def test_contributing_leads_to_what_is_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:)([^)#]+)\)", text)
    named = re.findall(r"`((?:autograder|book|solutions)/[\w./-]+)`", text)
    assert len(links) > 5
    missing = [name for name in {*links, *named} if not (ROOT / name).exists()]
    assert missing == []
    master = ROOT / "solutions" / "notebooks" / "04_attention" / "04_attention.md"
    assert ":exercise: attention-scores" in master.read_text(encoding="utf-8")
    checks = ROOT / "autograder" / "checks" / "test_04_attention.py"
    assert '@check("attention-scores"' in " ".join(
        checks.read_text(encoding="utf-8").split()
    ).replace("( ", "(")

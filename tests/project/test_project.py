"""Facts about the project that several places state are the same everywhere."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

from autograder.assemble.readme import END, START
from autograder.course import load_course
from autograder.translations.unit_table import unit_table

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
REQUIREMENT = re.compile(r"^[A-Za-z0-9._-]+")


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def tracked(*patterns: str) -> list[Path]:
    command = ["git", "ls-files", "-z", "--", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return [ROOT / name for name in listed.stdout.decode().split("\0") if name]


def requirements() -> dict[str, str]:
    groups = PROJECT["project"]["optional-dependencies"].values()
    every = PROJECT["project"]["dependencies"] + [line for g in groups for line in g]
    return {normal(REQUIREMENT.match(line)[0]): line for line in every}


def test_every_requirement_is_pinned():
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pinned = {normal(line.partition("==")[0]) for line in lines}
    assert requirements().keys() - pinned == set()
    assert all(re.fullmatch(r"[\w.-]+==[\w.!+-]+", line) for line in lines)


def test_torch_is_pinned_in_the_constraints_alone():
    assert "==" not in requirements()["torch"]
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    assert "torch==2.13.0" in lines


def test_conda_installs_what_pip_installs():
    path = ROOT / "environment.yml"
    environment = yaml.safe_load(path.read_text(encoding="utf-8"))
    python, pip, by_pip = environment["dependencies"]
    assert pip == "pip"
    assert python == f"python{PROJECT['project']['requires-python']},<3.15"
    constraint, editable = by_pip["pip"]
    assert constraint == "--constraint constraints.txt"
    extras = re.fullmatch(r"--editable \.\[(.*)\]", editable)[1].split(",")
    assert set(extras) == set(PROJECT["project"]["optional-dependencies"])
    assert environment["name"] == PROJECT["project"]["name"]


@pytest.mark.parametrize(
    "name, language", [("README.md", "en"), ("README.ko.md", "ko")]
)
def test_a_readme_has_the_table_of_units(name, language):
    text = (ROOT / name).read_text(encoding="utf-8")
    table = text.split(START)[1].split(END)[0].strip()
    course = load_course()
    assert table == unit_table(course, course.units, language), "run `make notebooks`"


GUIDES = (
    "README.md",
    "CONTRIBUTING.md",
    "book/AUTHORS.md",
    "solutions/notebooks/README.md",
    "autograder/sandbox/README.md",
)


@pytest.mark.parametrize("guide", GUIDES)
def test_a_guides_links_lead_somewhere(guide):
    text = (ROOT / guide).read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)\)", text)
    beside = (ROOT / guide).parent
    assert [link for link in links if not (beside / link).exists()] == []


@pytest.mark.parametrize("guide", GUIDES)
def test_the_files_that_a_guide_names_are_there(guide):
    """The test checks text in backticks that begins with a folder of the repository."""
    text = (ROOT / guide).read_text(encoding="utf-8")
    folders = "|".join(path.name for path in ROOT.iterdir() if path.is_dir())
    named = set(re.findall(rf"`((?:{folders})/[\w./-]*)`", text))
    made = ("book/_build", "build/")
    paths = {name for name in named if "NN" not in name and not name.startswith(made)}
    assert paths
    assert [name for name in sorted(paths) if not (ROOT / name).exists()] == []


def test_no_tracked_file_is_large():
    sizes = {p: p.stat().st_size for p in tracked() if p.exists()}
    assert {path: size for path, size in sizes.items() if size > 1_000_000} == {}


@pytest.mark.parametrize("word", ["hid_dim", "pf_dim", "enc_src", r"\btrg\b"])
def test_old_names_stand_in_the_glossary_alone(word):
    files = tracked("*.py", "*.md", "*.ipynb", ":!tests")
    allowed = {ROOT / "book" / "glossary.md"}
    found = [
        str(path.relative_to(ROOT))
        for path in files
        if path not in allowed
        and path.exists()
        and re.search(word, path.read_text(encoding="utf-8"))
    ]
    assert found == []

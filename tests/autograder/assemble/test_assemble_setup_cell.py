"""The set-up cell on a simulated Colab, on a student's machine, and without a kit."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from sysconfig import get_path

import nbformat
import pytest

from autograder.assemble.assembler import assemble
from autograder.course import Course, load_course

FAKE_TORCH = '''"""Stand in for torch: importing the real one takes seconds."""
__version__ = "9.9"


class cuda:
    is_available = staticmethod(lambda: False)


device = str
'''
FAKE_PYTHON = """#!/bin/sh
echo "$@" >> {log}
[ ! -e {offline} ] && touch {site}/spacy.py
"""
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false")


@dataclass
class Machine:
    """A machine that opens the notebook of unit 01 in the folder `content`.

    Torch is installed. spaCy, which the notebook also needs, is not installed.
    """

    root: Path
    cell: str

    @property
    def content(self) -> Path:
        """The folder in which a kernel starts."""
        return self.root / "content"

    @property
    def log(self) -> str:
        """Return the commands that the simulated interpreter received."""
        path = self.root / "log"
        return path.read_text() if path.exists() else ""

    def run(self, then: str = "") -> subprocess.CompletedProcess[str]:
        """Run the set-up cell in a new kernel, and then more code."""
        fake = self.root / "python"
        hide = f"sys.path = [p for p in sys.path if p != {get_path('purelib')!r}]"
        program = (
            f"import sys; sys.executable = {str(fake)!r}; {hide}\n{self.cell}\n{then}\n"
            "import pocket\nprint('kit:', pocket.__file__)\n"
        )
        environment = {**os.environ, "PYTHONPATH": str(self.root / "site")}
        return subprocess.run(
            [sys.executable, "-c", program],
            cwd=self.content,
            env=environment,
            capture_output=True,
            text=True,
        )


def publish(pocket: Course, folder: Path) -> None:
    """Make a bare repository with the assignments, like the public one."""
    work = folder / "work"
    shutil.copytree(pocket.root / "assignments", work / "assignments")
    (work / "README.md").write_text("public\n")
    (work / "book").mkdir()
    (work / "book" / "chapter.md").write_text("chapter\n")
    for command in (
        ["init", "-q", "-b", "main"],
        ["add", "-A"],
        ["commit", "-qm", "Publish"],
        ["clone", "-q", "--bare", ".", str(folder / "public.git")],
    ):
        subprocess.run([*GIT, *command], cwd=work, check=True)


@pytest.fixture
def machine(pocket: Course, edit, tmp_path: Path) -> Machine:
    """Make a machine without Colab. The course is in a local repository."""
    root = tmp_path / "machine"
    (root / "content").mkdir(parents=True)
    (root / "site").mkdir()
    (root / "site" / "torch.py").write_text(FAKE_TORCH)
    fake = root / "python"
    facts = {name: root / name for name in ("log", "offline", "site")}
    fake.write_text(FAKE_PYTHON.format(**facts))
    fake.chmod(0o755)
    address = f"file://{root / 'public.git'}"
    edit("autograder/course.toml", "https://github.com/pocket/course", address)
    course = load_course(pocket.root)
    assemble(course)
    publish(course, root)
    path = course.release_notebook(course.unit("1"))
    cells = nbformat.read(path, as_version=4).cells
    (cell,) = (cell for cell in cells if cell.id == "setup")
    return Machine(root, cell.source)


@pytest.fixture
def colab(machine: Machine) -> Machine:
    """Make `google.colab` importable on the machine."""
    package = machine.root / "site" / "google" / "colab"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    return machine


def test_it_is_short(machine: Machine) -> None:
    lines = [line for line in machine.cell.split("\n") if line.strip()]
    assert len(lines) <= 44
    assert max(len(line) for line in lines if "COURSE =" not in line) <= 88


def test_colab_fetches_the_unit_alone(colab: Machine) -> None:
    done = colab.run()
    assert done.returncode == 0, done.stderr
    assert "01_sums is set up: PyTorch 9.9 on cpu." in done.stdout
    unit = colab.content / "01_sums" / "assignments" / "01_sums"
    assert f"kit: {unit / 'pocket' / '__init__.py'}" in done.stdout
    assert not (colab.content / "01_sums" / "assignments" / "02_means").exists()
    assert not (colab.content / "01_sums" / "book").exists()


def test_colab_installs_what_is_missing_and_never_torch(colab: Machine) -> None:
    assert colab.run().returncode == 0
    assert colab.log.splitlines() == ["-m pip install -q spacy"]
    assert colab.run().returncode == 0
    assert colab.log.splitlines() == ["-m pip install -q spacy"]


def test_colab_without_a_package_it_cannot_fetch_names_it(colab: Machine) -> None:
    (colab.root / "offline").touch()
    done = colab.run()
    assert done.returncode == 1
    assert "'-m', 'pip', 'install', '-q', 'spacy'" in done.stderr


def test_colab_after_a_restart_and_run_twice(colab: Machine) -> None:
    assert colab.run().returncode == 0
    (colab.root / "public.git").rename(colab.root / "gone.git")
    again = colab.run(then=colab.cell)
    assert again.returncode == 0, again.stderr
    assert again.stdout.count("is set up") == 2
    assert "assignments/01_sums/pocket/__init__.py" in again.stdout


def test_colab_without_network_says_so_and_can_be_run_again(colab: Machine) -> None:
    (colab.root / "public.git").rename(colab.root / "gone.git")
    done = colab.run()
    assert done.returncode == 1
    assert "RuntimeError: fatal:" in done.stderr
    assert "Check the network, then run this again." in done.stderr
    (colab.root / "gone.git").rename(colab.root / "public.git")
    assert colab.run().returncode == 0


def test_a_missing_package_is_named_with_its_use_and_the_command(
    machine: Machine,
) -> None:
    done = machine.run()
    assert done.returncode == 1
    assert "This notebook needs spacy (finds words)." in done.stderr
    assert "Run `%pip install spacy` in a new cell, then run this" in done.stderr
    (machine.root / "site" / "torch.py").unlink()
    done = machine.run()
    assert "needs torch (computes with tensors), spacy (finds words)." in done.stderr
    assert "Run `%pip install torch spacy` in" in done.stderr
    assert machine.log == ""


def test_locally_the_kit_lies_beside_the_notebook(machine: Machine) -> None:
    shutil.copytree(machine.root / "work/assignments/01_sums", machine.content / "unit")
    machine.content.joinpath("unit", "pocket").rename(machine.content / "pocket")
    (machine.root / "site" / "spacy.py").touch()
    done = machine.run()
    assert done.returncode == 0, done.stderr
    assert f"kit: {machine.content / 'pocket' / '__init__.py'}" in done.stdout
    assert machine.log == ""


def test_alone_without_its_folder_it_says_what_to_do(machine: Machine) -> None:
    (machine.root / "site" / "spacy.py").touch()
    done = machine.run()
    assert done.returncode == 1
    assert "The folder `pocket` is not next to this notebook." in done.stderr
    assert "Get the whole folder assignments/01_sums from file:///" in done.stderr
    assert machine.log == ""

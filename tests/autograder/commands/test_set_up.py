"""The set-up reports at once, in one sentence, a program that a machine lacks."""

import ast
import os
import shutil
import subprocess
import sys
import zipfile
from importlib.metadata import distributions
from pathlib import Path
from urllib.parse import quote

import pytest
from packaging.specifiers import SpecifierSet

from autograder.commands import set_up
from autograder.course import load_course

SCRIPT = Path(set_up.__file__)
ROOT = set_up.ROOT


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy a course without `.venv` to a machine without any program."""
    for name in set_up.DECIDING:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    monkeypatch.setattr(set_up, "ROOT", tmp_path)
    monkeypatch.setattr(set_up, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(set_up, "INSTALLED", tmp_path / ".venv" / "installed")
    monkeypatch.setattr(sys, "argv", ["set_up.py"])
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def test_an_old_python_is_refused_in_one_sentence(bare, monkeypatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 18))
    with pytest.raises(SystemExit) as left:
        set_up.main()
    words = str(left.value)
    assert "needs Python 3.11 or later" in words
    assert "is Python 3.9" in words
    assert "PYTHON=python3.12" in words
    assert words.count("\n") == 0


def test_every_pinned_version_runs_on_the_oldest_python() -> None:
    """Otherwise, pip prints only "ResolutionImpossible", which hides the cause."""
    oldest = ".".join(map(str, [*set_up.OLDEST, 0]))
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    refused = {
        found.name: found.metadata.get("Requires-Python")
        for found in distributions()
        if f"{found.name}=={found.version}".lower().replace("_", "-") in pinned(lines)
        and oldest not in SpecifierSet(found.metadata.get("Requires-Python") or "")
    }
    assert refused == {}


def pinned(lines: list[str]) -> set[str]:
    return {line.lower().replace("_", "-") for line in lines}


def test_no_newer_python_is_refused() -> None:
    assert set_up.too_old(set_up.OLDEST, "python3") == ""
    assert set_up.too_old((4, 0, 0), "python3") == ""


def test_an_old_python_can_read_the_script() -> None:
    ast.parse(SCRIPT.read_text(encoding="utf-8"), feature_version=(3, 6))


@pytest.mark.slow
def test_cpu_1_installs_the_pinned_pytorch_of_the_cpu_index(tmp_path: Path) -> None:
    pinned = next(
        line
        for line in (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
        if line.startswith("torch==")
    )
    release = f"{pinned.removeprefix('torch==')}+cpu"
    write_wheel(tmp_path / "index" / "torch", "torch", release)
    index = (tmp_path / "index").as_uri()
    pip = [sys.executable, "-m", "pip", "install", "--target", tmp_path / "here"]
    options = ("--no-cache-dir", "--disable-pip-version-check")
    done = subprocess.run(
        [*pip, *options, *set_up.cpu_torch(index)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "here" / f"torch-{release}.dist-info").is_dir()


def write_wheel(folder: Path, name: str, release: str) -> None:
    """Write a wheel without code, and the page of an index with a link to it."""
    folder.mkdir(parents=True)
    info = f"{name}-{release}.dist-info"
    texts = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {release}\n",
        "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "RECORD": "",
    }
    wheel = folder / f"{name}-{release}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for file, text in texts.items():
            archive.writestr(f"{info}/{file}", text)
    link = f'<a href="{quote(wheel.name)}">{wheel.name}</a>'
    (folder / "index.html").write_text(link, encoding="utf-8")


def test_cpu_1_without_an_index_says_which_setting_is_empty() -> None:
    with pytest.raises(SystemExit, match="torch_index"):
        set_up.cpu_torch("")


def test_the_smaller_build_is_offered_only_where_pip_would_install_cuda(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(set_up.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(set_up.shutil, "which", lambda program: None)
    assert set_up.has_only_cuda_build("Linux", {})
    assert not set_up.has_only_cuda_build("Linux", {"CPU": "1"})
    assert not set_up.has_only_cuda_build("Darwin", {})
    monkeypatch.setattr(set_up.shutil, "which", lambda program: f"/usr/bin/{program}")
    assert not set_up.has_only_cuda_build("Linux", {})


def test_the_index_of_cpu_builds_is_a_setting_of_the_course() -> None:
    assert set_up.torch_index() == load_course().torch_index


def test_what_is_installed_is_installed_again_after_a_change(bare, monkeypatch) -> None:
    assert not set_up.is_installed()
    set_up.INSTALLED.parent.mkdir()
    set_up.INSTALLED.touch()
    monkeypatch.setattr(set_up, "PYTHON", set_up.INSTALLED)
    assert set_up.is_installed()
    later = set_up.INSTALLED.stat().st_mtime + 1
    os.utime(bare / "constraints.txt", (later, later))
    assert not set_up.is_installed()


def test_cpu_1_says_that_an_installed_cuda_build_stays(
    bare: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    packages = set_up.VENV / "lib" / "python3.13" / "site-packages"
    packages.mkdir(parents=True)
    set_up.INSTALLED.touch()
    monkeypatch.setattr(set_up, "PYTHON", set_up.INSTALLED)
    monkeypatch.setenv("CPU", "1")
    set_up.main()
    assert capfd.readouterr().out == ""  # the CPU build is installed
    (packages / "nvidia").mkdir()
    set_up.main()
    said = capfd.readouterr().out
    assert "CPU=1 changes nothing" in said
    assert "delete the folder .venv" in said
    monkeypatch.delenv("CPU")
    set_up.main()
    assert capfd.readouterr().out == ""

"""A machine with Colab's packages and a simulated `google.colab`."""

import base64
import hashlib
import json
import subprocess
import sys
import zipfile
from importlib import metadata
from pathlib import Path

import nbformat
from distributions import closure

from autograder.assemble.run_notebook import execute

COLAB_HAS = (
    "torch",
    "numpy",
    "matplotlib",
    "ipython",
    "ipykernel",
    "spacy",
    "requests",
    "tqdm",
    "pip",
)
COLAB_LACKS = (
    "torchtext",
    "safetensors",
    "nbgrader",
    "sacrebleu",
    "sentencepiece",
    "transformer",
    "six",
)
TO_INSTALL = ("sacrebleu",)
KERNEL = "pretended-colab"
MESSAGE = """
import json, os

def blocking_request(what, timeout_sec):
    assert what == "get_ipynb"
    with open(os.environ["PRETENDED_NOTEBOOK"], encoding="utf-8") as file:
        return {"ipynb": json.load(file)}
"""
FILES = """
import os, shutil

def download(path):
    shutil.copy(path, os.environ["PRETENDED_DOWNLOADS"])
"""
DRIVE = """
def mount(folder, force_remount=False):
    import pathlib
    assert pathlib.Path(folder, "MyDrive").is_dir()
"""


class BareColab:
    """A virtual environment with only Colab's packages, and its folder /content."""

    def __init__(self, root: Path, published: Path, repository: str) -> None:
        """Make the machine, whose `repository` is the local one at `published`."""
        self.root = root
        self.content = root / "content"
        self.downloads = root / "downloads"
        self.drive = root / "drive"
        for folder in (self.content, self.downloads, self.drive / "MyDrive"):
            folder.mkdir(parents=True)
        command = [sys.executable, "-m", "venv", "--without-pip", str(root / "venv")]
        subprocess.run(command, check=True)
        self.python = root / "venv" / "bin" / "python"
        self._preinstall()
        self._pretend_colab()
        self._register_kernel(
            {
                "GIT_CONFIG_COUNT": "1",
                "GIT_CONFIG_KEY_0": f"url.file://{published}.insteadOf",
                "GIT_CONFIG_VALUE_0": repository,
                "PIP_NO_INDEX": "1",
                "PIP_FIND_LINKS": str(self._wheels()),
                "PRETENDED_NOTEBOOK": str(root / "open.ipynb"),
                "PRETENDED_DOWNLOADS": str(self.downloads),
                "OMP_NUM_THREADS": "1",
            }
        )

    def _site(self) -> Path:
        (found,) = (self.root / "venv" / "lib").glob("python*/site-packages")
        return found

    def _preinstall(self) -> None:
        """Link Colab's packages and their dependencies from this environment."""
        home = self.root / "preinstalled"
        home.mkdir()
        for name in closure(COLAB_HAS):
            for top in top_level(metadata.distribution(name)):
                if not (home / top.name).exists():
                    (home / top.name).symlink_to(top)
        (self._site() / "colab.pth").write_text(f"{home}\n")

    def _pretend_colab(self) -> None:
        package = self._site() / "google" / "colab"
        package.mkdir(parents=True)
        for name, text in (
            ("__init__", ""),
            ("_message", MESSAGE),
            ("files", FILES),
            ("drive", DRIVE),
        ):
            (package / f"{name}.py").write_text(text)

    def _wheels(self) -> Path:
        """Pack the packages that the notebook installs, so it needs no network."""
        home = self.root / "wheels"
        home.mkdir()
        for name in closure(TO_INSTALL) - closure(COLAB_HAS):
            pack(metadata.distribution(name), home)
        return home

    def _register_kernel(self, environment: dict[str, str]) -> None:
        home = self.root / "jupyter" / "kernels" / KERNEL
        home.mkdir(parents=True)
        argv = [str(self.python), "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        spec = {"argv": argv, "display_name": KERNEL, "language": "python"}
        (home / "kernel.json").write_text(json.dumps({**spec, "env": environment}))

    def has(self, module: str) -> bool:
        """Tell whether the machine can import a module."""
        command = [str(self.python), "-c", f"import {module}"]
        return subprocess.run(command, capture_output=True).returncode == 0

    def run(self, cells: list, allow_errors: bool = False) -> nbformat.NotebookNode:
        """Run cells in a new kernel that starts in /content."""
        notebook = nbformat.v4.new_notebook(cells=cells)
        execute(
            notebook,
            timeout=1200,  # only hanging fails, not slowness
            kernel_name=KERNEL,
            allow_errors=allow_errors,
            resources={"metadata": {"path": str(self.content)}},
        )
        return notebook


def top_level(distribution: metadata.Distribution) -> set[Path]:
    """Return a distribution's folders and modules in site-packages."""
    tops = {path.parts[0] for path in distribution.files or []}
    root = Path(str(distribution.locate_file("")))
    return {root / top for top in tops - {"..", "__pycache__"} if (root / top).exists()}


def pack(distribution: metadata.Distribution, home: Path) -> None:
    """Write an installed distribution as a wheel."""
    wheel = distribution.read_text("WHEEL") or ""
    tags = [w.split()[1].split("-") for w in wheel.splitlines() if w.startswith("Tag:")]
    tag = "-".join(".".join(dict.fromkeys(part)) for part in zip(*tags, strict=True))
    name = distribution.metadata["Name"].replace("-", "_")
    stem = f"{name}-{distribution.version}"
    left_out = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
    record = [f"{stem}.dist-info/RECORD,,"]
    with zipfile.ZipFile(home / f"{stem}-{tag}.whl", "w") as made:
        for path in distribution.files or []:
            if path.name in left_out or path.suffix == ".pyc" or ".." in path.parts:
                continue
            content = path.locate().read_bytes()
            digest = hashlib.sha256(content).digest()
            code = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
            inside = path.as_posix()
            record.append(f"{inside},sha256={code},{len(content)}")
            made.writestr(inside, content)
        made.writestr(f"{stem}.dist-info/RECORD", "\n".join(record) + "\n")

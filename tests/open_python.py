"""A Python that every account of this machine can run, with this one's packages."""

import contextlib
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


def is_open(path: Path) -> bool:
    """Tell whether every account can enter a folder and the folders above it."""
    return all(each.stat().st_mode & 0o001 for each in (path, *path.parents))


@contextlib.contextmanager
def open_python() -> Iterator[Path]:
    """Return this Python or, if it is closed, the system's with this one's packages.

    If neither exists, the test is skipped.
    """
    if all(is_open(Path(root).resolve()) for root in (sys.prefix, sys.base_prefix)):
        yield Path(sys.executable)
        return
    packages = Path(sysconfig.get_path("purelib"))
    system = f"/usr/bin/python{sys.version_info[0]}.{sys.version_info[1]}"
    if not (os.path.exists(system) and is_open(packages.resolve())):
        pytest.skip("there is no Python that every account may run")
    folder = Path(tempfile.mkdtemp(prefix="open-python-"))
    try:
        folder.chmod(0o755)
        subprocess.run([system, "-m", "venv", "--without-pip", folder], check=True)
        (own,) = folder.glob("lib/python*/site-packages")
        shutil.rmtree(own)
        own.symlink_to(packages)
        yield folder / "bin" / "python"
    finally:
        shutil.rmtree(folder)

"""pip finds a wheel of every pinned package on each machine that the course names."""

import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[2]
OLDER_LINUX = ("manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux1_x86_64")
PLATFORMS = {  # pip itself adds the older releases of macOS
    "Linux": (*(f"manylinux_2_{n}_x86_64" for n in range(28, 4, -1)), *OLDER_LINUX),
    "macOS": ("macosx_14_0_arm64",),
    "Windows": ("win_amd64",),
}
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
INSTALL = ("install", "--quiet", "--ignore-installed", "--retries=1")
PIP = (sys.executable, "-m", "pip", *INSTALL)
ONLY_ASK = ("--dry-run", "--no-deps", "--only-binary=:all:", "--use-feature=fast-deps")


@pytest.fixture(scope="module", autouse=True)
def index_of_packages() -> None:
    """Skip the test if pip reaches no index of packages."""
    done = subprocess.run([*PIP, "--dry-run", "wheel"], capture_output=True, text=True)
    if done.returncode or "connection broken" in done.stderr:
        pytest.skip("pip reaches no index of packages here")


def ask(pins: list[str], python: str, system: str) -> tuple[str, list]:
    """Return pip's complaint, if any, and the pins that have a compiled wheel."""
    where = [f"--platform={platform}" for platform in PLATFORMS[system]]
    kind = ["--implementation=cp", f"--python-version={python}", "--target=nowhere"]
    command = [*PIP, *ONLY_ASK, *kind, *where, "--report=-", *pins]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        return done.stderr, []
    pure = {
        canonicalize_name(wheel["metadata"]["name"])
        for wheel in json.loads(done.stdout)["install"]
        if wheel["download_info"]["url"].endswith("-none-any.whl")
    }
    return "", [p for p in pins if canonicalize_name(p.split("==")[0]) not in pure]


def complaints(pins: list[str], python: str) -> dict[str, str]:
    """Return pip's complaints for each system about the pins on a Python."""
    linux, compiled = ask(pins, python, "Linux")
    others = ("macOS", "Windows")
    return {"Linux": linux, **{o: ask(compiled, python, o)[0] for o in others}}


@pytest.mark.slow
def test_every_pin_has_a_wheel_on_every_python_and_system():
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    with ThreadPoolExecutor() as threads:
        found = list(threads.map(partial(complaints, pins), PYTHONS))
    assert found == [dict.fromkeys(PLATFORMS, "")] * len(PYTHONS)


@pytest.mark.slow
def test_a_pin_without_a_wheel_is_named():
    pin = "numpy==1.26.4"  # its last wheels are for Python 3.12
    complaint, _ = ask([pin], "3.13", "Linux")
    assert f"No matching distribution found for {pin}" in complaint

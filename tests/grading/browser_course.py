"""A running Jupyter server on loopback, and a browser that tells what scripts ran."""

import contextlib
import os
import secrets
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
EXTENSION = "nbgrader.server_extensions.formgrader"
START_SECONDS = 90


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def jupyter_server(root: Path, home: Path) -> Iterator[tuple[str, str]]:
    """Run JupyterLab's server in a class's folder; give its address and token."""
    port, token = free_port(), secrets.token_hex(16)
    log = home / "jupyter.log"
    with log.open("wb") as said:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyter", "lab", "--no-browser"),
                *("--allow-root", "--ServerApp.ip=127.0.0.1"),
                *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
                f"--IdentityProvider.token={token}",
                f"--ServerApp.root_dir={root}",
                f"--ServerApp.jpserver_extensions={{'{EXTENSION}': True}}",
            ],
            cwd=root,
            env=_environment(root, home),
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(f"{address}/api", process, log)
        yield address, token
    finally:
        process.terminate()
        try:
            process.wait(15)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _environment(root: Path, home: Path) -> dict[str, str]:
    paths = [str(REPOSITORY), str(root / "solutions")]
    tools = [str(Path(sys.executable).parent), os.environ["PATH"]]
    return {
        **os.environ,
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "PYTHONPATH": os.pathsep.join(paths),
        "PATH": os.pathsep.join(tools),
    }


def _wait_for(address: str, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return
        time.sleep(0.2)
    pytest.fail(f"Jupyter did not start:\n{log.read_text()[-3000:]}")


@dataclass
class Browser:
    """A page of Chromium in which ``steal()`` is written down wherever it runs.

    Attributes:
        page: Playwright's page.
        stolen: The address of each page on which a script of a student's ran.
        outside: Each address beyond this machine that was asked for, and refused.
    """

    page: object
    stolen: list[str] = field(default_factory=list)
    outside: set[str] = field(default_factory=set)


def program() -> str:
    found = shutil.which("chromium") or shutil.which("chromium-browser")
    if found is None:
        if os.environ.get("CI"):
            pytest.fail("Chromium is not installed: `apt-get install chromium`")
        pytest.skip("Chromium is not installed")
    return found


@contextlib.contextmanager
def browser(profile: Path) -> Iterator[Browser]:
    """Run Chromium with a new profile; nothing beyond this machine is reached."""
    executable = program()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        context = driver.chromium.launch_persistent_context(
            str(profile), executable_path=executable, args=[*ARGUMENTS]
        )
        made = Browser(context.pages[0])

        def guard(route):
            if route.request.url.startswith(("http://127.0.0.1:", "file:", "data:")):
                route.continue_()
            else:
                made.outside.add(route.request.url)
                route.abort()

        context.expose_binding(
            "steal", lambda source: made.stolen.append(made.page.url)
        )
        context.route("**/*", guard)
        yield made
        context.close()

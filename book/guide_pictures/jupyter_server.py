"""JupyterLab's server on loopback, with its own settings and a token."""

import contextlib
import json
import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
FORMGRADER = "nbgrader.server_extensions.formgrader"
START_SECONDS = 600
# JupyterLab asks at the first start whether it may fetch news; here it may not.
QUIET = {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True}
QUIET_FILE = "@jupyterlab/apputils-extension/notification.jupyterlab-settings"
AS_BUILT = {"buildAvailable": False, "buildCheck": False}


class ServerError(RuntimeError):
    """Jupyter did not start."""


@contextlib.contextmanager
def jupyter_server(
    root: Path, home: Path, *, instructor: bool = True
) -> Iterator[tuple[str, str]]:
    """Run JupyterLab's server in a folder; give its address and token.

    Args:
        root: the folder that it shows.
        home: where its settings and its log go.
        instructor: with formgrader; else with nothing of nbgrader, as a student's is.

    Raises:
        ServerError: if it does not start; with the end of its log.
    """
    port, token = free_port(), secrets.token_hex(16)
    _write_settings(home / "config", instructor)
    log = home / "jupyter.log"
    with log.open("wb") as said:
        process = subprocess.Popen(
            _command(root, port, token, instructor),
            cwd=root,
            env=_environment(root, home, instructor),
            stdout=said,
            stderr=subprocess.STDOUT,
        )
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(f"{address}/api", process, log)
        yield address, token
    finally:
        _stop(process)


def free_port() -> int:
    """Return a port of loopback that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _command(root: Path, port: int, token: str, instructor: bool) -> list[str]:
    return [
        *(sys.executable, "-m", "jupyter", "lab", "--no-browser"),
        *("--allow-root", "--ServerApp.ip=127.0.0.1"),
        *(f"--ServerApp.port={port}", "--ServerApp.port_retries=0"),
        f"--IdentityProvider.token={token}",
        f"--ServerApp.root_dir={root}",
        f"--ServerApp.jpserver_extensions={{'{FORMGRADER}': {instructor}}}",
    ]


def _environment(root: Path, home: Path, instructor: bool) -> Mapping[str, str]:
    paths = [str(REPOSITORY), str(root / "solutions")] if instructor else []
    tools = [str(Path(sys.executable).parent), os.environ["PATH"]]
    return {
        **os.environ,
        "HOME": str(home),
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "OMP_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join(paths),
        "PATH": os.pathsep.join(tools),
    }


def _write_settings(config: Path, instructor: bool) -> None:
    """Turn news off, and nbgrader's pages where a student works."""
    off = {"disabledExtensions": {"@jupyter/nbgrader": not instructor}}
    for path, settings in (
        (config / "lab" / "user-settings" / QUIET_FILE, QUIET),
        (config / "labconfig" / "page_config.json", {**AS_BUILT, **off}),
    ):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(settings), encoding="utf-8")


def _wait_for(address: str, process: subprocess.Popen, log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return
        time.sleep(0.2)
    raise ServerError(f"Jupyter did not start:\n{log.read_text()[-3000:]}")


def _stop(process: subprocess.Popen) -> None:
    process.terminate()
    try:
        process.wait(15)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

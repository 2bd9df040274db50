"""Firefox for the tests that `need("firefox")`, driven by its own Marionette protocol.

Playwright drives only its own Firefox, and Debian has no geckodriver.
"""

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PATIENCE = 300  # seconds: only hanging fails, not slowness


def find_firefox() -> str | None:
    """Find Firefox, or return None if it is not installed."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Firefox:
    """A session with a running Firefox."""

    def __init__(self, port: int) -> None:
        self.socket = self._connect(port)
        self.wire = self.socket.makefile("rwb")
        self.number = 0
        self._receive()  # the server introduces itself
        self.ask("WebDriver:NewSession", {})
        times = {"script": 1000 * PATIENCE, "pageLoad": 1000 * PATIENCE}
        self.ask("WebDriver:SetTimeouts", times)

    @staticmethod
    def _connect(port: int) -> socket.socket:
        end = time.monotonic() + PATIENCE
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), PATIENCE)
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.2)

    def close(self) -> None:
        self.wire.close()
        self.socket.close()

    def _receive(self) -> Any:
        digits = b""
        while (digit := self.wire.read(1)) != b":":
            if not digit:
                raise EOFError("Firefox has closed the connection")
            digits += digit
        return json.loads(self.wire.read(int(digits)))

    def ask(self, command: str, parameters: dict[str, Any]) -> Any:
        """Send a command, and return its result."""
        self.number += 1
        message = json.dumps([0, self.number, command, parameters]).encode()
        self.wire.write(b"%d:%s" % (len(message), message))
        self.wire.flush()
        _, _, error, result = self._receive()
        if error:
            raise RuntimeError(f"{command}: {error['message']}")
        return result

    def open(self, path: Path) -> None:
        self.ask("WebDriver:Navigate", {"url": path.as_uri()})

    def evaluate(self, function: str, argument: Any = None) -> Any:
        """Call a JavaScript function in the page, and wait if it returns a promise."""
        script = f"return ({function})(arguments[0])"
        asked = {"script": script, "args": [argument], "sandbox": None}
        return self.ask("WebDriver:ExecuteScript", asked)["value"]


@contextlib.contextmanager
def firefox(profile: Path) -> Iterator[Firefox]:
    """Run Firefox without a window and with a new profile."""
    port = free_port()
    preferences = {
        "marionette.port": port,
        "app.update.enabled": False,
        "datareporting.policy.dataSubmissionEnabled": False,
        "network.captive-portal-service.enabled": False,
    }
    lines = [f'user_pref("{k}", {json.dumps(v)});' for k, v in preferences.items()]
    (profile / "user.js").write_text("\n".join(lines))
    command = [find_firefox(), "--headless", "--marionette", "--no-remote"]
    environment = {**os.environ, "HOME": str(profile), "MOZ_HEADLESS": "1"}
    with (profile / "firefox.log").open("w") as log:
        process = subprocess.Popen(
            [*command, "--profile", profile],
            env=environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    try:
        opened = Firefox(port)
        yield opened
        opened.close()
    finally:
        os.killpg(process.pid, signal.SIGKILL)  # and the processes of its pages
        process.wait()

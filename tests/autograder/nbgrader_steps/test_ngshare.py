"""The complete use of ngshare, the exchange of a Hub whose users share no folder.

ngshare itself runs in the way that a Hub starts it. Of the Hub, the test provides only
the answer that ngshare needs: the owner of a token. Without ngshare, the test skips.
"""

import json
import os
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from threading import Thread

import pytest
from handing_in import HandIn
from ports import held_port
from tiny_grading import UNIT, grade, scores

from autograder.unit import GradedUnit

SERVER = os.environ.get("NGSHARE_PYTHON", "")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (SERVER and find_spec("ngshare_exchange")),
        reason="needs ngshare_exchange==0.5.2 beside the course and, in a place of its "
        "own, ngshare with sqlalchemy<2 and alembic<1.14; NGSHARE_PYTHON names the "
        "Python there",
    ),
]

COURSE = "attention-2030"
ROOT = Path(__file__).resolve().parents[3]
PAGE = (ROOT / "book" / "other_houses.md").read_text(encoding="utf-8")
ADDRESS = "http://proxy-public/services/ngshare"  # as on the page
SCOPE = "access:services"
WAIT = 60  # seconds in which the server must answer
Run = Callable[..., str]


class HubStandIn(BaseHTTPRequestHandler):
    """Answer that NAME owns the token `of-NAME`."""

    def do_GET(self) -> None:
        name = self.headers["Authorization"].rpartition("of-")[2]
        user = {"name": name, "kind": "user", "admin": False, "scopes": [SCOPE]}
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(user).encode())

    def log_message(self, format: str, *words: object) -> None:
        """Print nothing."""


@pytest.fixture
def hub() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), HubStandIn)
    Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/hub/api"
    server.shutdown()
    server.server_close()


@pytest.fixture
def ngshare(hub: str, tmp_path: Path) -> Iterator[str]:
    """Run ngshare, and return its address."""
    place = f"http://127.0.0.1:{held_port()}"
    environment = {
        **{key: text for key, text in os.environ.items() if key != "PYTHONPATH"},
        "JUPYTERHUB_API_URL": hub,
        "JUPYTERHUB_API_TOKEN": "of-ngshare",
        "JUPYTERHUB_CLIENT_ID": "service-ngshare",
        "JUPYTERHUB_OAUTH_ACCESS_SCOPES": json.dumps([SCOPE]),
        "JUPYTERHUB_SERVICE_PREFIX": "/services/ngshare/",
        "JUPYTERHUB_SERVICE_URL": place,
    }
    storage = ["--storage", str(tmp_path / "files"), "--admins", "admin"]
    database = ["--database", f"sqlite:///{tmp_path}/ngshare.db"]
    log = tmp_path / "ngshare.log"
    with log.open("wb") as said:
        server = subprocess.Popen(
            [SERVER, "-m", "ngshare", *database, *storage],
            env=environment, stdout=said, stderr=said,
        )  # fmt: skip
    try:
        wait_for(f"{place}/healthz", server, log)
        yield f"{place}/services/ngshare"
    finally:
        server.terminate()
        server.wait()


def wait_for(address: str, server: subprocess.Popen, log: Path) -> None:
    """Wait until a server answers.

    Raises:
        AssertionError: with the server's output, if it ends or does not answer.
    """
    until = time.monotonic() + WAIT
    while time.monotonic() < until and server.poll() is None:
        try:
            urllib.request.urlopen(address).close()
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.2)
        else:
            return
    raise AssertionError(log.read_text())


@pytest.fixture
def run(
    tiny_class: Path, ngshare: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Run:
    """Return a function that runs a command as a user, from the user's own folder."""
    monkeypatch.setenv("USER", "teacher")  # the package reads it on import
    (lines,) = re.findall(r"^from ngshare_exchange.*?(?=^```)", PAGE, re.M | re.S)
    lines = lines.replace(ADDRESS, ngshare)
    course = f'get_config().CourseDirectory.course_id = "{COURSE}"\n'
    own = (ROOT / "nbgrader_config.py").read_text()
    home = tmp_path / "home"
    home.mkdir()
    (home / "nbgrader_config.py").write_text(lines)
    (tiny_class / "nbgrader_config.py").write_text(f"{own}\n{lines}\n{course}")
    paths = os.pathsep.join([str(ROOT), str(tiny_class / "solutions")])

    programs = [str(Path(sys.executable).parent), os.environ["PATH"]]

    def run_as(who: str, *words: str) -> str:
        environment = {
            **os.environ,
            "JUPYTERHUB_API_TOKEN": f"of-{who}",
            "JUPYTERHUB_USER": who,
            "PATH": os.pathsep.join(programs),
        }
        if who == "teacher":
            environment["PYTHONPATH"] = paths
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=tiny_class if who == "teacher" else home,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run_as


def test_a_unit_goes_out_comes_back_and_its_feedback_returns(
    run: Run, tiny_class: Path, tiny_unit: GradedUnit, tmp_path: Path
) -> None:
    managing = "ngshare_exchange.course_management"
    run("admin", managing, "create_course", COURSE, "teacher")
    run("teacher", managing, "add_student", COURSE, "student")
    run("teacher", "nbgrader", "release_assignment", UNIT)
    own = ("--course", COURSE)
    home = tmp_path / "home" / UNIT
    said = run("student", "nbgrader", "fetch_assignment", UNIT, *own)
    assert (home / "tiny" / "basis.py").is_file(), said  # the kit is included
    hand = HandIn(tiny_unit, tmp_path, "student")
    hand.right("double", "quadruple")
    (home / f"{UNIT}.ipynb").write_text(hand.text())
    run("student", "nbgrader", "submit", UNIT, *own)
    run("teacher", "nbgrader", "collect", UNIT)
    done = grade(tiny_class, "--workers", "1")
    assert done.exit_code == 0, done.output
    assert scores(tiny_class) == {"student": 30.0}
    run("teacher", "nbgrader", "release_feedback", UNIT)
    run("student", "nbgrader", "fetch_feedback", UNIT, *own)
    (page,) = home.glob(f"feedback/*/{UNIT}.html")
    assert "quadruple" in page.read_text(encoding="utf-8")

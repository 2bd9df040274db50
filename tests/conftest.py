"""Settings that all tests share."""

import os
import random
import signal
import sys
from pathlib import Path
from typing import Any

import numpy
import pytest
import torch
from hypothesis import HealthCheck, settings

# The script that takes the guide's pictures drives Jupyter and a browser, as tests do.
sys.path.append(str(Path(__file__).resolve().parents[1] / "book"))

from guide_pictures import jupyter_server
from ports import held_port
from programs import PROGRAMS, require

from autograder.sandbox.student_side.side_effects import usual_settings

# With two threads on busy cores, tiny models are far slower, here and in child
# processes.
os.environ.setdefault("OMP_NUM_THREADS", "1")
torch.set_num_threads(1)
jupyter_server.START_SECONDS = 600  # only a server that never starts fails
jupyter_server.free_port = held_port
# A busy machine is slow, and a day's work should not depend on luck.
settings.register_profile(
    "tests",
    deadline=None,
    derandomize=True,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("tests")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that runs the tests in the background makes them and their children ignore
    # the signal that some tests wait for.
    signal.signal(signal.SIGINT, signal.default_int_handler)


class FailuresAtOnce:
    """Print each failure when it happens: pytest-xdist prints them at the end."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            reason = crash.message.partition("\n")[0] if crash else report.when
            terminal = self._config.pluginmanager.get_plugin("terminalreporter")
            terminal.write_line("")
            terminal.write_line(f"FAILED {report.nodeid}: {reason}", red=True)


def pytest_configure(config: pytest.Config) -> None:
    """Print failures at once, and allow grading without a sandbox if there is none."""
    if not hasattr(config, "workerinput"):  # only in the process that prints
        config.pluginmanager.register(FailuresAtOnce(config))
    if not PROGRAMS["bubblewrap"].is_there():
        os.environ["COURSE_UNPROTECTED"] = "1"


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute the parts of `test_verification.py`, but keep other files whole."""
    from xdist.scheduler import LoadScopeScheduling

    class Parts(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            is_part = "test_verification.py::test_every_variant" in nodeid
            return nodeid if is_part else super()._split_scope(nodeid)

    return Parts(config, log) if config.getvalue("dist") == "loadscope" else None


# Fixtures that start a grader or a browser, grade a class or build the book.
OF_INTEGRATION = {"parents", "make_classroom", "chromium", "site"}


@pytest.hookimpl(tryfirst=True)  # before -m selects tests
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test that uses such a fixture, so that `make test-fast` is fast."""
    for item in items:
        if OF_INTEGRATION.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.integration)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test without its program, and give each test the same random numbers."""
    for mark in item.iter_markers("needs"):
        require(*mark.args)
    usual_settings()
    torch.set_num_threads(1)
    random.seed(0)
    numpy.random.seed(0)
    torch.manual_seed(0)

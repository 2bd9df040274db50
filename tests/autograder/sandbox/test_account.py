"""Root without bubblewrap: a child has its own account, as in a container."""

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from open_python import open_python

from autograder.checking.failures import StudentError
from autograder.sandbox import bubblewrap, uid_leases
from autograder.sandbox.fork_server_client import ForkServerClient, start_parent
from autograder.sandbox.limits import Limits
from autograder.sandbox.submission_runner import SubmissionRunner
from autograder.sandbox.uid_leases import FIRST_USER, USERS

LIMITS = Limits(cell_seconds=60, exercise_seconds=60, submission_seconds=300)

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(
        sys.platform != "linux" or os.geteuid() != 0, reason="only root gives accounts"
    ),
]


@pytest.fixture(scope="module")
def parent() -> Iterator[ForkServerClient]:
    with pytest.MonkeyPatch.context() as patch, open_python() as python:
        patch.setattr(sys, "executable", str(python))
        made = start_parent("account")
        yield made
        made.close()


@pytest.fixture
def tried(parent: ForkServerClient) -> Callable[[str], object]:
    """Return the value of an expression in a child that first runs a cell."""

    def value(expression: str, cell: str = "") -> object:
        cells = ["import os, socket", cell, f"def tried(): return {expression}"]
        with SubmissionRunner(parent, cells, {}, LIMITS).fresh("e") as student:
            return student.tried()

    return value


def test_root_without_bubblewrap_has_accounts(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    closed = tmp_path / "closed" / "python"
    closed.mkdir(parents=True)
    closed.parent.chmod(0o700)
    roots = [Path("/usr")]
    monkeypatch.setattr(bubblewrap, "sandbox_kind", lambda: "none")
    monkeypatch.setattr(bubblewrap, "python_roots", lambda: roots)
    assert bubblewrap.kind_in_a_container() == "account"
    roots.append(closed)
    assert bubblewrap.kind_in_a_container() == "none"
    roots.pop()
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert bubblewrap.kind_in_a_container() == "none"


def test_a_child_is_nobody(tried: Callable) -> None:
    ids = tried("[*os.getresuid(), *os.getresgid(), *os.getgroups()]")
    assert len(ids) == 6
    assert set(ids) <= {*range(61184, 65280)}


def test_it_writes_in_its_own_folder_alone(tried: Callable) -> None:
    assert tried("open('x', 'w').write('abc')") == 3
    assert tried("os.environ['HOME'] == os.getcwd()")
    for place in ("..", "/etc", "/root", str(Path(__file__).parent)):
        assert tried(f"os.access({place!r}, os.W_OK)") is False


@pytest.mark.parametrize("path", ["/etc/shadow", "/proc/1/environ", "/proc/%d/mem"])
def test_it_reads_nothing_of_roots(tried: Callable, path: str) -> None:
    path = path.replace("%d", str(os.getpid()))
    assert os.access(path, os.R_OK)
    with pytest.raises(StudentError, match="Permission"):
        tried(f"open({path!r}, 'rb').read(1)")


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_NETLINK"])
def test_it_has_no_network(tried: Callable, family: str) -> None:
    with pytest.raises(StudentError, match="Permission"):
        tried(f"socket.socket(socket.{family}, socket.SOCK_DGRAM).fileno()")


def test_it_has_sockets_within_the_machine(tried: Callable) -> None:
    assert tried("len([s.fileno() for s in socket.socketpair()])") == 2
    assert tried("socket.socket(socket.AF_UNIX).fileno() > 0")


def test_it_kills_neither_its_parent_nor_the_grader(tried: Callable) -> None:
    for pid in ("os.getppid()", str(os.getpid()), "1"):
        with pytest.raises(StudentError, match="not permitted"):
            tried(f"os.kill({pid}, 9)")
    assert tried("1 + 1") == 2


def test_nothing_that_it_starts_stays(tried: Callable) -> None:
    stay = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.execv("/bin/sleep", ["sleep", "3141"])
    os._exit(0)
"""
    tried("1", stay)
    until = time.monotonic() + 20
    while _runs("sleep\x003141"):
        assert time.monotonic() < until, "it is still there"
        time.sleep(0.1)


def test_two_graders_at_once_share_no_account(parent: ForkServerClient) -> None:
    """The end of a child kills its account, so other children must not share it."""
    cells = ["import os", "def tried(): return os.getuid()"]
    copies = [ForkServerClient(parent.copy()) for _ in range(2)]  # both count from one
    first, second = (SubmissionRunner(copy, cells, {}, LIMITS) for copy in copies)
    with second.fresh("e") as stays:
        with first.fresh("e") as ends:
            assert ends.tried() != stays.tried()
        assert stays.tried() >= 61184
    for copy in copies:
        copy.close()


def test_an_account_is_free_again_when_it_was_released() -> None:
    wanted = uid_leases.USERS - 2  # the numbers start again
    taken = [uid_leases.UidLease(wanted) for _ in range(5)]
    users = [account.user for account in taken]
    assert len(set(users)) == 5
    assert min(users) >= 61184 and max(users) < 61184 + 4096
    pid = os.fork()  # as in a worker, where it would hold the lock
    if pid == 0:
        time.sleep(60)
        os._exit(0)
    taken[0].release()
    taken[0].release()
    again = uid_leases.UidLease(users[0] - 61184)
    os.kill(pid, 9)
    os.waitpid(pid, 0)
    assert again.user == users[0]


def test_a_submission_cannot_prepare_the_locks(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    theirs = tmp_path / uid_leases.NAME
    theirs.mkdir()
    os.chown(theirs, 61184, 61184)
    monkeypatch.setattr(uid_leases, "PLACES", (str(tmp_path),))
    with pytest.raises(OSError, match="takes a folder"):
        uid_leases.UidLease(1)


def _runs(words: str) -> bool:
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if words in path.read_text(errors="replace"):
                return True
        except OSError:
            continue
    return False


@pytest.mark.integration
def test_no_child_in_a_sandbox_has_the_number_of_an_account(
    parent: ForkServerClient,
) -> None:
    """The end of an account kills all its processes, wherever they run."""
    taken = range(FIRST_USER, FIRST_USER + USERS)
    for sandbox in ("root", "user"):
        other = ForkServerClient(replace(parent._line, sandbox=sandbox))
        for key in range(0, 3 * USERS, 97):
            other._last_key = key
            assert other._fork_order(LIMITS, None, None)["user"] not in taken
        other._home.remove()

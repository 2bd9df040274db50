"""Build the bubblewrap sandbox in which the pre-warmed parent runs.

There are four kinds of sandbox. Root uses "root" and any other user uses "user", both
with bubblewrap. The kind "account" is for containers without bubblewrap: root gives
each child its own user account and removes the network. "none" means no sandbox.
"""

import functools
import importlib.util
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

AUTOGRADER = Path(__file__).resolve().parents[1]
CHILD = AUTOGRADER / "sandbox" / "student_side"
FOLDER = "/student"
SCRATCH = "/scratch"  # the parent's home; each child mounts its own empty folder here
READ_ONLY = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32")
ETC = ("/etc/ld.so.cache", "/etc/localtime", "/etc/fonts", "/etc/ssl/certs")
ROOT_RIGHTS = (
    *("CAP_SYS_ADMIN", "CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP", "CAP_KILL"),
    *("CAP_NET_ADMIN", "CAP_SYS_RESOURCE", "CAP_CHOWN", "CAP_DAC_OVERRIDE"),
)

# With these capabilities, the parent lowers the priority of processes, and reads how
# much memory they share.
OTHER_RIGHTS = {"CAP_SYS_NICE": 23, "CAP_SYS_PTRACE": 19}

NO_SANDBOX = (
    "bubblewrap (bwrap) does not work here, so a submission can read your files, use "
    "the network and change marks"
)
NO_FORK = "submissions run on Linux and macOS only, because Windows has no os.fork"


def python_roots() -> list[Path]:
    """Return the folders that contain this Python and its packages."""
    roots = {Path(sys.prefix), Path(sys.base_prefix)}
    return sorted(path.resolve() for path in roots)


def hidden_places() -> list[Path]:
    """Return the folders of private packages that a child could otherwise read.

    The list is not empty if the course was installed as a copy in site-packages.
    """
    seen = [*python_roots(), *map(Path, READ_ONLY)]
    private = [AUTOGRADER, _package("transformer")]
    return [
        place
        for place in private
        if place is not None and any(root in place.parents for root in seen)
    ]


def _package(name: str) -> Path | None:
    """Return the folder of a package without importing it."""
    found = importlib.util.find_spec(name)
    if found is None or not found.submodule_search_locations:
        return None
    return Path(next(iter(found.submodule_search_locations))).resolve()


def sandbox_command(kind: str) -> list[str]:
    """Return the bubblewrap command that precedes the parent's own command.

    Args:
        kind: "user" makes a user namespace. "root" makes none and keeps the
            capabilities that the parent needs to isolate its children.
    """
    command = ["bwrap", "--die-with-parent", "--new-session", "--clearenv"]
    if kind == "user":
        command += ["--unshare-all", "--cap-drop", "ALL"]
    else:
        for space in ("pid", "net", "ipc", "uts"):
            command += [f"--unshare-{space}"]
        for right in (*ROOT_RIGHTS, *_other_rights()):
            command += ["--cap-add", right]
    for path in (*READ_ONLY, *ETC):
        if Path(path).is_symlink() and Path(path).is_dir():
            command += ["--symlink", str(Path(path).readlink()), path]
        elif Path(path).exists():
            command += ["--ro-bind", path, path]
    command += ["--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp"]
    command += ["--dev-bind", "/dev/null", "/dev/zero"]  # /dev/zero would share memory
    for root in python_roots():
        for folder in reversed(root.parents[:-1]):
            command += ["--perms", "0755", "--dir", str(folder)]
        command += ["--ro-bind", str(root), str(root)]
    for place in hidden_places():
        command += ["--tmpfs", str(place), "--remount-ro", str(place)]
    for device in sorted(Path("/dev").glob("nvidia*")):
        command += ["--dev-bind", str(device), str(device)]
    command += ["--tmpfs", SCRATCH, "--tmpfs", FOLDER]  # a child mounts its own here
    command += ["--ro-bind", str(CHILD), "/grader", "--chdir", "/"]
    if any(Path("/tmp") in root.parents for root in python_roots()):
        command += ["--remount-ro", "/tmp"]  # then no child can have an empty /tmp
    return [*command, "--remount-ro", "/", "--remount-ro", "/dev"]


def _other_rights() -> list[str]:
    """Return the optional capabilities that root has here; containers may lack some."""
    words = Path("/proc/self/status").read_text().partition("CapEff:")[2].split()
    rights = int(words[0], 16)
    return [name for name, number in OTHER_RIGHTS.items() if rights >> number & 1]


def kind_in_a_container() -> str:
    """Return the kind of sandbox that works here, including "account".

    Use "account" for only one submission at a time, because another grader could use
    the same account. "account" needs a Python that every user may run, not one in
    root's home folder.
    """
    if sandbox_kind() != "none":
        return sandbox_kind()
    is_root = sys.platform == "linux" and os.geteuid() == 0
    may_run = is_root and all(map(_is_open_to_all, python_roots()))
    return "account" if may_run else "none"


def _is_open_to_all(folder: Path) -> bool:
    return all(path.stat().st_mode & stat.S_IXOTH for path in (folder, *folder.parents))


@functools.cache
def sandbox_kind() -> str:
    """Return the kind of sandbox that works here: "root", "user" or "none"."""
    if sys.platform != "linux" or shutil.which("bwrap") is None:
        return "none"
    kind = "root" if os.geteuid() == 0 else "user"
    inside = "-Urmpfn" if kind == "user" else "-mpfn"
    probe = [*sandbox_command(kind), "unshare", inside, "--mount-proc", "true"]
    try:
        ran = subprocess.run(probe, capture_output=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return "none"
    return kind if ran.returncode == 0 else "none"

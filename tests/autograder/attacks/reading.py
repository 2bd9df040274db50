"""Attacks that read secrets: checks, answers, the gradebook, others, the machine."""

import os
from pathlib import Path

from handing_in import Collection, HandIn

ATTACKS = Collection()
TELL = """
import os
told = []
def tell(path):
    try:
        with open(path, "rb") as file:
            text = file.read(4_000_000)
    except OSError as error:
        return
    told.append(text)
    mark = b"CANA" + b"RY-"
    if mark in text:
        at = text.index(mark)
        print("FOUND", path, text[at:at + 60])
"""


@ATTACKS.case("reads checks, answers, gradebook and others by their paths", score=20.0)
def known_paths(hand: HandIn) -> None:
    hand.right("double")
    root, home = hand.root, Path(os.environ["HOME"])
    paths = [
        *(root / "autograder" / "checks").glob("*.py"),
        *(root / "solutions").rglob("*.*"),
        *(root / "submitted").glob("*/*/*.ipynb"),
        *(
            root / name
            for name in ("gradebook.db", "nbgrader_config.py", "grading/audit.jsonl")
        ),
        *(
            home / name
            for name in (".course-canary", ".ssh/id_rsa", ".netrc", ".bashrc")
        ),
        *(Path("/etc") / name for name in ("passwd", "shadow", "hosts", "machine-id")),
    ]
    hand.last(
        TELL + f"for path in {[str(p) for p in paths]}: tell(path)\nprint(len(told))"
    )


@ATTACKS.case("looks for hidden files everywhere", score=20.0)
def whole_disk(hand: HandIn) -> None:
    hand.right("double")
    walk = """
import time
end = time.monotonic() + 1.5
for place, folders, names in os.walk("/"):
    if place.startswith(("/proc", "/sys", "/usr/lib", "/usr/share")): folders.clear()
    for name in names:
        if name.endswith((".py", ".ipynb", ".db", ".txt", ".jsonl", ".toml")):
            if "site-packages" not in place: tell(os.path.join(place, name))
    if time.monotonic() > end: break
"""
    hand.last(TELL + walk)


@ATTACKS.case("reads what /proc tells of every process", score=20.0)
def proc(hand: HandIn) -> None:
    hand.right("double")
    look = """
import glob
places = ("/proc/*/*", "/proc/*/fd/*", "/proc/*/root/*")
for path in (found for place in places for found in glob.glob(place)):
    if path.rsplit("/", 1)[-1] in ("environ", "cmdline", "maps", "mountinfo", "status"):
        tell(path)
for path in ("/proc/kcore", "/proc/kallsyms", "/proc/keys",
             "/proc/sys/kernel/core_pattern"):
    tell(path)
"""
    hand.last(TELL + look)


@ATTACKS.case("looks for hidden words in its own memory", score=20.0)
def own_memory(hand: HandIn) -> None:
    hand.right("double")
    look = """
import gc, sys
mark = "CANA" + "RY-"
for thing in gc.get_objects():
    if isinstance(thing, dict):
        for value in list(thing.values()):
            if isinstance(value, str) and mark + "CHECKS" in value:
                print("FOUND", value[:200])
with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
    for line in maps:
        if "[heap]" in line or "[stack]" in line:
            low, high = (int(part, 16) for part in line.split()[0].split("-"))
            memory.seek(low)
            text = memory.read(high - low)
            for word in ("CHECKS", "ANSWERS", "STUDENT"):
                if (mark + word).encode() in text.replace(word.encode() + b"'", b""):
                    at = text.index((mark + word).encode())
"""
    hand.last(TELL + look)


ATTACKS.cells(
    "reaches for other processes and for rights that it has not",
    20.0,
    ptrace="""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for pid in (1, 2, os.getppid(), *range(3, 400)):
    if pid != os.getpid():
        libc.ptrace(16, pid, 0, 0)
        libc.process_vm_readv(pid, 0, 0, 0, 0, 0)
""",
    kills_others="""
import os, signal
for pid in (*range(2, 3000), os.getppid()):
    if pid not in (0, os.getpid()):
        try: os.kill(pid, signal.SIGKILL)
        except OSError: pass
""",
    mounts_and_namespaces="""
import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
for flags in (0x10000000, 0x20000000, 0x40000000, 0x00020000, 0x10020000):
    print("unshare", libc.unshare(flags))
print("mount", libc.mount(b"none", b"/student", b"tmpfs", 0, None))
print("umount", libc.umount2(b"/student", 2), libc.umount2(b"/proc", 2))
for change in (os.chroot, os.chdir):
    try: change("/proc/1/root/..")
    except OSError: pass
for act in (lambda: os.setuid(0), lambda: os.setresuid(0, 0, 0),
            lambda: os.setgroups([0])):
    try: act(); print("RIGHTS")
    except OSError: pass
""",
    devices="""
import os
for path in ("/dev/mem", "/dev/kmsg", "/dev/sda", "/dev/vda", "/dev/fuse", "/dev/kvm"):
    try: print("DEVICE", path, os.open(path, os.O_RDWR))
    except OSError: pass
try: os.mknod("/student/disk", 0o60666, os.makedev(8, 0)); print("DEVICE")
except OSError: pass
for path in ("/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger"):
    try: open(path, "w").write("|/bin/false"); print("WROTE", path)
    except OSError: pass
""",
    kernel_keys="""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall(248, b"user", b"attack", b"secret", 6, -4)
libc.syscall(323, 0)
libc.syscall(425, 8, 0)
""",
    imports_of_hidden_packages="""
import importlib, sys
for name in ("autograder", "autograder.checks.test_01_tiny", "tiny.scaling",
             "nbgrader_config",
             "transformer", "transformer.attention", "conftest"):
    try:
        module = importlib.import_module(name)
        print(name, module.__file__, open(module.__file__).read()[:0])
        print("HIDDEN" * ("solutions" in str(module.__file__)), name)
    except Exception as error:
        print(type(error).__name__)
for finder in sys.meta_path:
    print(getattr(finder, "MAPPING", ""))
""",
    environment="""
import os, sys
print({name: value for name, value in os.environ.items()})
print(sys.argv, sys.path, sys.orig_argv)
os.environ.update(PYTHONPATH="/tmp", LD_PRELOAD="/tmp/x.so", PYTHONSTARTUP="/tmp/x.py",
                  HOME="/", PATH="/tmp", BASH_ENV="/tmp/x.sh", OMP_NUM_THREADS="999")
""",
    network="""
import socket, urllib.request
for family, address in (
    (socket.AF_INET, ("127.0.0.1", 22)), (socket.AF_INET, ("1.1.1.1", 53)),
    (socket.AF_INET, ("169.254.169.254", 80)), (socket.AF_INET6, ("::1", 5432)),
    (socket.AF_UNIX, "\\0/tmp/.X11-unix/X0"), (socket.AF_UNIX, "/run/docker.sock"),
):
    try:
        with socket.socket(family, socket.SOCK_STREAM) as one:
            one.settimeout(0.3)
            one.connect(address)
            print("CONNECTED", address)
    except OSError: pass
try: print("CONNECTED", urllib.request.urlopen("http://example.org", timeout=0.5))
except OSError: pass
try: socket.socket(socket.AF_PACKET, socket.SOCK_RAW); print("CONNECTED")
except OSError: pass
""",
)


@ATTACKS.case("tells the inputs of the checks in its own errors")
def inputs_in_errors(hand: HandIn) -> None:
    tell = """
def double(x): raise ValueError(str(x.tolist()))
def quadruple(x): return type("Inputs" + str(x.tolist()), (), {})()
"""
    hand.last(tell)

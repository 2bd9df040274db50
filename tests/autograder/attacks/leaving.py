"""Attacks that want to stay: processes, files, start-up code, shadowed modules."""

from handing_in import Collection, HandIn

ATTACKS = Collection()
MARK = "attack-was-here"
STAY = f"""
import os, time
def work(seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        for place in ("/tmp", "/scratch", "/student", "/dev/shm"):
            try: open(place + "/{MARK}", "a").write("x")
            except OSError: pass
        time.sleep(0.1)
"""

ATTACKS.cells(
    "leaves something running behind",
    20.0,
    detached_process=STAY
    + """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.closerange(0, 256)
        work()
    os._exit(0)
""",
    shell_in_the_background="""
import subprocess
subprocess.Popen(["/bin/sh", "-c", "trap '' TERM HUP INT; nohup setsid sleep 98765 &"])
subprocess.Popen(["/bin/sleep", "98765"], start_new_session=True)
""",
    threads_that_never_end=STAY
    + """
import threading
for _ in range(5):
    threading.Thread(target=work).start()
""",
    atexit_and_finalizers=STAY
    + """
import atexit, weakref
class Last:
    def __del__(self): work()
last = Last()
atexit.register(work)
weakref.finalize(last, work)
""",
    leaves_its_process_group="""
import os, time
os.setpgid(0, 0)
reader, writer = os.pipe()
one = os.fork()
if one == 0:
    time.sleep(120); os._exit(0)
two = os.fork()
if two == 0:
    os.setpgid(0, 0); os.write(writer, b"x"); time.sleep(120); os._exit(0)
os.read(reader, 1)
os.setpgid(0, two)
""",
    outlives_its_father=STAY
    + """
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
if os.fork() == 0: work()
""",
)
ATTACKS.cells(
    "writes files that the next submission, or the grader, might read",
    20.0,
    files_everywhere=f"""
import os
for place in ("/", "/tmp", "/usr", "/etc", "/home", "/root", "/dev",
              "/dev/shm", "/var/tmp",
              "/grader", "/student", "/scratch", "/run",
              "/proc", os.path.expanduser("~")):
    for name in ("{MARK}", "{MARK}.pth", "sitecustomize.py"):
        try: open(os.path.join(place, name), "w").write("x")
        except OSError: pass
""",
    start_up_files="""
import os, sys
code = "double = quadruple = Scaler = lambda *args: args[0]\\n"
for path in ("~/.ipython/profile_default/startup/00.py",
             "~/.config/matplotlib/matplotlibrc",
             "~/.jupyter/jupyter_config.py", "~/.pythonrc.py", "~/.bashrc",
             "~/.local/lib/python3.11/site-packages/usercustomize.py"):
    for home in (os.path.expanduser("~"), "/scratch", "/student", "/root"):
        try:
            place = path.replace("~", home)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            open(place, "w").write(code)
        except OSError: pass
""",
    poisoned_packages="""
import os, sys, torch, numpy, IPython
for module in (torch, numpy, IPython, os):
    folder = os.path.dirname(module.__file__)
    for name in ("__init__.py", "attack.py", "__pycache__/__init__.cpython-311.pyc"):
        try: open(os.path.join(folder, name), "a").write("raise SystemExit\\n")
        except OSError: pass
for name in ("__main__.py", "session.py", "values.py"):
    try: open("/grader/" + name, "a").write("raise SystemExit\\n")
    except OSError: pass
""",
    shadowed_in_the_folder="""
import os
for name in ("torch", "numpy", "json", "student_side", "transformer", "tiny", "random"):
    open(name + ".py", "w").write("raise SystemExit('shadowed')\\n")
import importlib, sys
for name in ("json", "random", "tiny"):
    sys.modules.pop(name, None)
""",
    shared_memory="""
import mmap, os
from multiprocessing import shared_memory
try: shared_memory.SharedMemory(name="attack", create=True, size=1 << 16)
except Exception: pass
open("/dev/shm/attack", "w").write("x")
import ctypes
libc = ctypes.CDLL(None)
print(libc.shmget(4711, 1 << 16, 0o1666), libc.msgget(4711, 0o1666))
""",
    changes_what_was_forked="""
import gc, sys, torch
torch.nn.Module.__call__ = torch.nn.Module.forward = lambda self, *args: args[0]
torch.set_default_dtype(torch.float64)
torch.manual_seed = lambda seed: None
sys.modules["student_side.cells"].CellRunner.run = None
torch.set_num_threads(2)
""",
)
SHADOWS = ("torch.py", "json.py", "conftest.py", "sitecustomize.py", "usercustomize.py")


@ATTACKS.case("brings modules that shadow those of the grader", score=20.0)
def shadowed_beside(hand: HandIn) -> None:
    hand.right("double")
    for name in (*SHADOWS, "autograder/__init__.py", "tiny/__init__.py"):
        hand.beside(name, "raise SystemExit('shadowed')\n")


@ATTACKS.case("brings settings and start-up files of Jupyter and nbgrader", score=20.0)
def settings_beside(hand: HandIn) -> None:
    hand.right("double")
    c = "c.ClearSolutions.code_stub = {}\nraise SystemExit\n"
    for name in ("nbgrader_config.py", "jupyter_config.py", ".ipython/startup/0.py"):
        hand.beside(name, c)
    hand.beside("gradebook.db", b"SQLite format 3\0" + b"\0" * 100)
    hand.beside(".git/hooks/post-checkout", "#!/bin/sh\ntouch /tmp/attacked\n")

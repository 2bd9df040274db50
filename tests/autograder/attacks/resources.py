"""Attacks on the machine: loops without end, bombs, crashes."""

from handing_in import SHAPE, Collection, HandIn

ATTACKS = Collection()

ATTACKS.cells(
    "never comes back, in a cell",
    20.0,
    endless_cell="while True:\n    pass",
    sleeping_cell="import time\ntime.sleep(3600)",
    uninterruptible_cell="""
import signal
for number in range(1, 65):
    try: signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError): pass
signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
while True:
    try:
        while True: pass
    except BaseException: pass
""",
    loop_in_c="10 ** 10 ** 9",
    regular_expression="import re\nre.match(r'(a+)+$', 'a' * 60 + 'b')",
    stopped_itself="""
import os, signal
if os.fork() == 0:
    os.kill(os.getpid(), signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGSTOP)
""",
    waits_for_input="import sys, os\nos.read(os.pipe()[0], 1)",
)
ATTACKS.cells(
    "never comes back, in an answer",
    0.0,
    endless_answer="""
def double(x):
    while True: pass
""",
    endless_answer_with_a_lock="""
import threading
lock = threading.Lock()
lock.acquire()
def quadruple(x): lock.acquire()
def double(x): raise RuntimeError
""",
)
ATTACKS.cells(
    "crashes its process",
    20.0,
    segmentation_fault="import ctypes\nctypes.string_at(0)",
    abort="import os\nos.abort()",
    exit_code_zero="import os\nos._exit(0)",
    kills_itself="import os, signal\nos.kill(os.getpid(), signal.SIGKILL)",
    stack_overflow="""
import sys
sys.setrecursionlimit(10 ** 9)
def down(): return down()
class Deep:
    def __repr__(self): return repr(self)
down()
""",
    ruined_interpreter="""
import gc, sys, ctypes
ctypes.pythonapi.Py_Finalize()
""",
)
ATTACKS.cells(
    "takes all that there is",
    20.0,
    fork_bomb="""
import os, time
try:
    while True:
        if os.fork() == 0:
            while True:
                try: os.fork()
                except OSError: pass
except OSError: pass
""",
    thread_bomb="""
import threading, time
try:
    while True: threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
except RuntimeError: pass
""",
    memory_bomb="""
hoard = []
try:
    while True: hoard.append(bytearray(64 << 20))
except MemoryError: hoard.clear()
""",
    shared_memory_bomb="""
import mmap
hoard = []
try:
    while len(hoard) < 256:
        block = mmap.mmap(-1, 64 << 20)
        for at in range(0, len(block), 4096): block[at] = 1
        hoard.append(block)
    print("GOT 16 GiB")
except (OSError, MemoryError, ValueError): hoard.clear()
""",
    memory_in_files="""
import os
hoard, page = [], b"x" * (1 << 20)
try:
    while len(hoard) < 200:
        hoard.append(os.memfd_create(str(len(hoard))))
        for _ in range(60): os.write(hoard[-1], page)
    print("GOT 12 GiB")
except (OSError, AttributeError): pass
""",
    memory_of_many="""
import os, time
children = []
for _ in range(12):
    pid = os.fork()
    if pid == 0:
        try: hoard = bytearray(300 << 20); time.sleep(60)
        finally: os._exit(0)
    children.append(pid)
time.sleep(2)
print("ALIVE")
""",
    memory_of_a_crowd="""
import os, time
for _ in range(40):
    if os.fork() == 0:
        try: hoard = b"x" * (500 << 20); time.sleep(60)
        finally: os._exit(0)
time.sleep(60)
print("GOT 20 GiB")
""",
    disk_bomb="""
import os
number = 0
try:
    while True:
        with open(f"fill-{number}", "wb") as file: file.write(b"x" * (8 << 20))
        number += 1
except OSError: print(number < 10)
""",
    inode_bomb="""
import os
try:
    for number in range(10 ** 6): os.mkdir(f"folder-{number}")
except OSError: print(number < 5000)
""",
    sparse_file="""
import os
try:
    with open("sparse", "wb") as file: file.truncate(1 << 50)
except OSError: pass
""",
    descriptor_bomb="""
import os
hoard = []
try:
    while True: hoard.append(os.dup(0))
except OSError: [os.close(one) for one in hoard]
""",
    output_bomb="""
text = "x" * 1_000_000
for _ in range(300): print(text)
""",
    display_bomb="""
from IPython.display import HTML, display
for _ in range(500): display(HTML("<b>x</b>" * 5_000))
""",
    bomb_in_the_shell="""
import subprocess
subprocess.run(["/bin/sh", "-c", "yes | head -c 200000000 > /student/y; exit 1"])
""",
)
ATTACKS.cells(
    "returns more than the grader may take",
    0.0,
    huge_reply="import torch\ndef double(x): return torch.zeros(200, 1024, 1024)",
    many_replies="import torch\ndef double(x): return [torch.zeros(1)] * 3_000_000",
    long_text="def double(x): return 'x' * (1 << 28)",
)
ATTACKS.cells(
    "is slow and wrong, for as long as it may",
    SHAPE,
    just_within_the_limit="""
import time
def double(x):
    time.sleep(0.5)
    return x
""",
)

SPINS = """
import os
for _ in range(61):
    try:
        if os.fork() == 0:
            while True: pass
    except OSError: pass
"""


@ATTACKS.case("leaves its neighbours no processor, from five cells", score=20.0)
def spinning_crowd(hand: HandIn) -> None:
    hand.right("double")
    for _ in range(5):
        hand.first(SPINS)

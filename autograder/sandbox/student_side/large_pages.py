"""Put what a process holds into large pages, so that it is forked quickly (Linux only).

A fork copies the table of a process's pages, and its end takes the copy apart: with
pages of 4 kB that takes longer than to run a notebook's cells.
"""

import ctypes
import re
import sys
from collections.abc import Iterator

LARGE = 2 << 20
MADV_COLLAPSE = 25  # since Linux 6.1; an older kernel refuses it
# Private, writable, of no file: the heap, and what has no name.
HELD = re.compile(r"^(\w+)-(\w+) rw.p \w+ 00:00 0 *(?:\[heap\])?$", re.MULTILINE)


def use_large_pages() -> None:
    """Put this process's memory into large pages where the kernel can."""
    if sys.platform != "linux":
        return
    libc = ctypes.CDLL(None)
    for start, end in _held():
        libc.madvise(
            ctypes.c_void_p(start), ctypes.c_size_t(end - start), MADV_COLLAPSE
        )


def _held() -> Iterator[tuple[int, int]]:
    """Yield the bounds of what this process holds outside of files."""
    with open("/proc/self/maps") as file:
        text = file.read()
    for found in HELD.finditer(text):
        start, end = (int(bound, 16) for bound in found.groups())
        start, end = -(-start // LARGE) * LARGE, end // LARGE * LARGE
        if start < end:
            yield start, end

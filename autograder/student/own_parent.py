"""Hold the one pre-warmed parent that a process of the grader has."""

import atexit

from autograder.student.warm_parent import Line, NoParent, WarmParent

_held: list[WarmParent] = []


def begin() -> None:
    """Begin to start this process's pre-warmed parent, and do not wait."""
    if not _held:
        _held.append(WarmParent(wait=False))


def own_parent() -> WarmParent:
    """Return this process's pre-warmed parent; it ends with the process.

    Raises:
        NoParent: If it does not come up; the next call tries again.
    """
    begin()
    try:
        _held[0].wait_until_ready()
    except NoParent:
        end()
        raise
    return _held[0]


def take_over(line: Line) -> None:
    """Let the copy at the end of ``line`` be this process's parent."""
    end()
    _held.append(WarmParent.at(line))


def end() -> None:
    """End this process's parent, if there is one."""
    while _held:
        _held.pop().close()


atexit.register(end)

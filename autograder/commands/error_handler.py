"""Replace a traceback with a sentence that tells the user what to do."""

import contextlib
import errno
import sys
from collections.abc import Iterator
from typing import Any

from typer import Exit
from typer.core import TyperGroup

from autograder.commands.console import complain

STOPPED = "Stopped. Finished work is kept. Run the same command again to continue."
DONE = "Finished work is kept. Then run the same command again."
SENTENCES = {
    errno.ENOSPC: f"The disk is full: free some space. {DONE}",
    errno.EDQUOT: f"Your space on this disk is used up: free some. {DONE}",
    errno.EROFS: "{file} is on a read-only disk: choose another folder.",
    errno.EACCES: "You may not read or write {file}: change its permissions, "
    "or choose another folder.",
    errno.EPERM: "You may not change {file}: change its permissions, "
    "or choose another folder.",
    errno.ENOENT: "{file} is not there: look at the path.",
    errno.EEXIST: "{file} already exists and is not a folder: check the path.",
    errno.ENOTDIR: "A part of the path {file} is not a folder: check the path.",
    errno.EISDIR: "{file} is a folder, and a file was expected: look at the path.",
}


class ErrorHandlingGroup(TyperGroup):
    """Run commands, and explain errors in a sentence."""

    def invoke(self, ctx: Any) -> Any:
        """Run a command, and explain the error that stops it."""
        with explain_errors():
            return super().invoke(ctx)


@contextlib.contextmanager
def explain_errors() -> Iterator[None]:
    """Replace an error with a message, and exit with status 130 (Ctrl-C) or 2."""
    try:
        yield
    except KeyboardInterrupt:
        complain(STOPPED)
        raise Exit(130) from None
    except Exception as error:
        sentence = sentence_of(error)
        if not sentence:
            raise
        complain(sentence)
        raise Exit(2) from None


def sentence_of(error: Exception) -> str:
    """Return the problem and its remedy, or "" if only a developer can fix it."""
    if isinstance(error, OSError):
        return _of_a_file(error)
    if "autograder.course" in sys.modules and _is_ours(error):
        return str(error)
    if "sqlalchemy" in sys.modules:
        from autograder.gradebook import is_disk_full, words_of

        if is_disk_full(error):
            return SENTENCES[errno.ENOSPC]
        if said := words_of(error):
            return (
                f"The gradebook cannot be used ({said}): look whether its file or "
                "server is whole and may be written, or put a copy of it back."
            )
    return ""


def _is_ours(error: Exception) -> bool:
    from autograder.course import CourseError

    return isinstance(error, CourseError)


def _of_a_file(error: OSError) -> str:
    sentence = SENTENCES.get(error.errno or 0, "")
    if "{file}" in sentence and not error.filename:
        return ""
    return sentence.format(file=error.filename2 or error.filename)

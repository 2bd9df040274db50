"""Show a long command in few lines, and keep all details in a log.

Nothing here needs more than Python: `set_up` imports it before anything is installed.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
STEPS = 5  # of `make course`
LOOK_SECONDS = 0.5  # between two looks at how far it is
END_SECONDS = 5  # in which a command that was ended falls silent
LAST_LINES = 12  # of the log, shown where a command fails
INDENT = " " * 8
# Some tools write colours into a pipe, or keep back what they say there.
PLAIN = {"NO_COLOR": "1", "TERM": "dumb", "PYTHONUNBUFFERED": "1"}


def course_command(*arguments: object) -> list[str]:
    """Return the command line of another command of `course`."""
    return [sys.executable, "-m", "autograder", *map(str, arguments)]


class StepFailed(Exception):
    """A command of a step failed.

    Attributes:
        status: the exit status to leave with.
        lines: the last that it said.
    """

    def __init__(self, message: str, status: int = 1, lines: Sequence[str] = ()):
        """Say what failed."""
        super().__init__(message)
        self.status = status
        self.lines = list(lines)


class ProgressLog:
    """Lines that stay, each with the time; in a terminal, one more that changes."""

    def __init__(self, log: Path, began: float | None = None):
        """Begin a new log.

        Args:
            log: the file for the details; its folder is made.
            began: when the command began, in seconds since 1970; None: now.
        """
        self.log = log
        self._began = time.time() if began is None else began
        self._lock = threading.RLock()
        self._shown = ""
        log.parent.mkdir(parents=True, exist_ok=True)
        self._file = log.open("w", encoding="utf-8")

    def say(self, text: str = "", stamp: bool = True) -> None:
        """Print a line that stays, and write it into the log.

        Args:
            text: the line, at most 71 characters.
            stamp: whether the time since the beginning stands before it.
        """
        minutes, seconds = divmod(int(time.time() - self._began), 60)
        line = f"[{minutes:2}:{seconds:02}] {text}" if stamp else text
        with self._lock:
            self.now("")
            print(line, flush=True)
            self.write(line)

    def now(self, text: str) -> None:
        """Show in a terminal, until the next line comes, what is being done."""
        if not sys.stdout.isatty() or text == self._shown:
            return
        width = shutil.get_terminal_size().columns - 1
        line = f"{INDENT}{text}"[:width] if text else ""
        with self._lock:
            sys.stdout.write("\r" + line.ljust(min(width, len(INDENT + self._shown))))
            sys.stdout.write("" if text else "\r")
            sys.stdout.flush()
            self._shown = text

    def write(self, line: str) -> None:
        """Write a line into the log alone."""
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()

    @contextmanager
    def failures_shown(self) -> Iterator[None]:
        """Leave with a status and a message where a step fails or is interrupted."""
        try:
            yield
        except StepFailed as failed:
            self.say(f"Failed: {failed}")
            for line in failed.lines:
                self.say(f"{INDENT}{line}"[:79], stamp=False)
            self.say(f"The whole log: {os.path.relpath(self.log)}", stamp=False)
            sys.exit(failed.status)
        except KeyboardInterrupt:
            self.say("Interrupted. Run it again: it goes on with what is left.")
            sys.exit(130)
        finally:
            self._file.close()


class Job:
    """A command that runs while its lines go to the log; ended with its `with`."""

    def __init__(
        self,
        progress: ProgressLog,
        name: str,
        command: Sequence[object],
        heard: Callable[[str], None] = lambda line: None,
        environment: Mapping[str, str] | None = None,
    ):
        """Start the command.

        Args:
            progress: gets its lines.
            name: what stands before each of them in the log.
            command: the program and its arguments.
            heard: called with each line, in a thread.
            environment: variables to be set beside those of this process.
        """
        self.progress, self.name, self._heard = progress, name, heard
        self._last: deque[str] = deque(maxlen=LAST_LINES)
        self._process = subprocess.Popen(
            [str(part) for part in command],
            env={**os.environ, **PLAIN, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            start_new_session=True,  # to be ended as a whole
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "Job":
        """Return the job."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the command, with all that it started, if it has not ended."""
        if self._process.poll() is None:
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGTERM)
            self._process.terminate()
        self._process.wait()
        self._reader.join(END_SECONDS)

    def wait(
        self, doing: Callable[[], str] = lambda: "", fine: Sequence[int] = (0,)
    ) -> None:
        """Wait for the end; show meanwhile what `doing` returns.

        Args:
            doing: says what is being done.
            fine: the exit statuses with which the step has not failed.

        Raises:
            StepFailed: if the command fails; with the last that it said.
        """
        while self._reader.is_alive():
            self.progress.now(doing())
            self._reader.join(LOOK_SECONDS)
        status = self._process.wait()
        if status not in fine:
            message = f"{self.name} ended with status {status}; the last it said:"
            raise StepFailed(message, lines=list(self._last))

    def _read(self) -> None:
        if self._process.stdout is None:
            return
        with self._process.stdout as lines:
            for line in lines:
                text = ESCAPES.sub("", line.rstrip())
                if text:
                    self.progress.write(f"{self.name} | {text}")
                    self._last.append(text)
                    self._heard(text)

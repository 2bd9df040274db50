"""Display the progress of a long command in a few lines, and log all details.

This module imports only the standard library, because `set_up` uses it before anything
is installed.
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
STEPS = 5  # number of steps of `make course`
LOOK_SECONDS = 0.5  # between two updates of the progress line
END_SECONDS = 5  # how long to wait for the last output of a command that was ended
LAST_LINES = 12  # lines of a failed command's output that the terminal displays
INDENT = " " * 8
# Without these, some tools write colour codes into a pipe or delay their output.
PLAIN = {"NO_COLOR": "1", "TERM": "dumb", "PYTHONUNBUFFERED": "1"}


def course_command(*arguments: object) -> list[str]:
    """Return the command line of another command of `course`."""
    return [sys.executable, "-m", "autograder", *map(str, arguments)]


class StepFailed(Exception):
    """Report that a command of a step failed.

    Attributes:
        status: the status with which this program exits.
        lines: the last lines of the command's output.
    """

    def __init__(self, message: str, status: int = 1, lines: Sequence[str] = ()):
        """Store the message, the exit status and the last lines."""
        super().__init__(message)
        self.status = status
        self.lines = list(lines)


class ProgressLog:
    """Print lines with the time and, in a terminal, one line that changes."""

    def __init__(self, log: Path, began: float | None = None):
        """Start a new log.

        Args:
            log: the file for the details; its folder is created if necessary.
            began: the start time in seconds since 1970, or None for now.
        """
        self.log = log
        self._began = time.time() if began is None else began
        self._lock = threading.RLock()
        self._shown = ""
        log.parent.mkdir(parents=True, exist_ok=True)
        self._file = log.open("w", encoding="utf-8")

    def say(self, text: str = "", stamp: bool = True) -> None:
        """Print a line that stays, and write it to the log.

        Args:
            text: the line, at most 71 characters.
            stamp: whether to put the elapsed time before the line.
        """
        minutes, seconds = divmod(int(time.time() - self._began), 60)
        line = f"[{minutes:2}:{seconds:02}] {text}" if stamp else text
        with self._lock:
            self.now("")
            print(line, flush=True)
            self.write(line)

    def now(self, text: str) -> None:
        """Display the current activity in a terminal until the next line is printed."""
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
        """Write a line to the log, but do not print it."""
        with self._lock:
            self._file.write(line + "\n")
            self._file.flush()

    @contextmanager
    def failures_shown(self) -> Iterator[None]:
        """Print a message and exit if a step fails or the user interrupts it."""
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
    """Run a command and log its output; leaving the `with` block ends the command."""

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
            progress: logs the output lines.
            name: the prefix of each line in the log.
            command: the program and its arguments.
            heard: a function that a thread calls with each line.
            environment: variables to add to those of this process.
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
            start_new_session=True,  # so that the whole process group can be ended
        )
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def __enter__(self) -> "Job":
        """Return the job."""
        return self

    def __exit__(self, *error: object) -> None:
        """End the command and all its descendants if they are still running."""
        if self._process.poll() is None:
            if os.name == "posix":
                os.killpg(self._process.pid, signal.SIGTERM)
            self._process.terminate()
        self._process.wait()
        self._reader.join(END_SECONDS)

    def wait(
        self, doing: Callable[[], str] = lambda: "", fine: Sequence[int] = (0,)
    ) -> None:
        """Wait for the command to end, and meanwhile display the text from `doing`.

        Args:
            doing: a function that returns the current activity as text.
            fine: the exit statuses that count as success.

        Raises:
            StepFailed: if the command fails. The exception contains the last lines of
                output.
        """
        while self._reader.is_alive():
            self.progress.now(doing())
            self._reader.join(LOOK_SECONDS)
        status = self._process.wait()
        if status not in fine:
            message = f"{self.name} ended with status {status}; its last lines:"
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

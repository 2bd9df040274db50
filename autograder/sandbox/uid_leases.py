"""Reserve an unused user account for each child while it runs."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

FIRST_USER, USERS = 61184, 2048  # unused: a range that systemd reserves for such uses
FIRST_IN_A_SANDBOX = FIRST_USER + USERS  # a second range, for children in bubblewrap
PLACES, NAME = ("/run", tempfile.gettempdir()), "transformer-course-accounts"


class UidLease:
    """A user account (UID) that no other grader's child uses.

    When a child ends, all processes of its account are killed. If two children shared
    an account, the end of the first would kill the second, whose submission would lose
    points. Children in a bubblewrap sandbox are ended differently. They get numbers
    from a different range, because a child with only its own account could see their
    processes.
    """

    def __init__(self, wanted: int) -> None:
        """Reserve the first free account, starting from `wanted`.

        The lock on the account is released when the process that holds it ends, even if
        that process is killed.

        Raises:
            OSError: if nothing can be locked here, or all accounts are taken.
        """
        import fcntl  # Windows does not have this module

        self._file: int | None = None
        folder = _own_folder()
        for step in range(USERS):
            number = (wanted + step) % USERS
            file = os.open(folder / str(number), os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(file)
                continue
            self.user, self._file = FIRST_USER + number, file
            return
        raise OSError(f"{USERS} submissions run here already, each with an account")

    def release(self) -> None:
        """Let another child use the account. A second call does nothing."""
        if self._file is not None:
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_UN)  # a fork also has the file open
            os.close(self._file)
            self._file = None

    def __del__(self) -> None:
        """Release the account if that has not been done."""
        with suppress(OSError):
            self.release()


def _own_folder() -> Path:
    """Return the folder of the locks, which no submission can open."""
    for place in PLACES:
        folder = Path(place, NAME)
        with suppress(OSError):
            folder.mkdir(mode=0o700, exist_ok=True)
            found = folder.lstat()
            if stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid():
                folder.chmod(0o700)
                return folder
    raise OSError(f"no place of {', '.join(PLACES)} takes a folder {NAME}")

"""Accounts that nobody has, one for each child while it runs."""

import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

FIRST_USER, USERS = 61184, 2048  # nobody's numbers: systemd's range for such a use
FIRST_IN_A_SANDBOX = FIRST_USER + USERS  # as many more, for children that bwrap guards
PLACES, NAME = ("/run", tempfile.gettempdir()), "transformer-course-accounts"


class UidLease:
    """The number of an account that no other grader's child has.

    At a child's end all processes of its account are killed. If two children had the
    same one, the end of the first would be the end of the second, whose submission
    would lose points for it. A child in a sandbox of bubblewrap's, which is ended in
    another way, has a number of another range: it could be met there too.
    """

    def __init__(self, wanted: int) -> None:
        """Take the first free account from a wanted one on.

        The lock on it goes with the process that holds it, however that ends.

        Raises:
            OSError: if nothing can be locked here, or all accounts are taken.
        """
        import fcntl  # Windows has none

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
        """Let another child have it; a second time does nothing."""
        if self._file is not None:
            import fcntl

            fcntl.flock(self._file, fcntl.LOCK_UN)  # a fork holds the file too
            os.close(self._file)
            self._file = None

    def __del__(self) -> None:
        """Release it where nobody did."""
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

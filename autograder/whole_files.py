"""Write files so that each is the old one or the new one, never a part."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

UNFINISHED = ".part"  # how the name of a file ends while it is written


@contextlib.contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Give another path to write to; that file takes the place of `path` at the end."""
    part = path.with_name(f"{path.name}{UNFINISHED}")
    part.unlink(missing_ok=True)
    try:
        yield part
        os.replace(part, path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


def write_whole(path: Path, content: bytes) -> None:
    """Write a file, and its folder where there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with written_whole(path) as part, part.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())

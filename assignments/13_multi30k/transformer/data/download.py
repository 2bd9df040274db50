"""Download a file so that the file on disk is always complete and correct."""

import hashlib
import http.client
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from .whole_file import whole_file

_CHUNK = 1 << 16


def download_file(url: str, path: Path, checksum: str, timeout: float = 30.0) -> None:
    """Download a file, and move it to `path` if its checksum is right.

    During the download it has a temporary name in the same folder. After an error the
    temporary file is deleted, and an existing file at `path` is unchanged.

    Args:
        url: the address of the file.
        path: path of the file, in a folder that exists.
        checksum: the expected SHA-256, in hexadecimal.
        timeout: seconds to wait for each response of the server.

    Raises:
        ConnectionError: if the server cannot be reached, refuses, or stops early.
        ValueError: if the file has a different checksum.
    """
    digest = hashlib.sha256()
    with whole_file(path) as file:
        for chunk in _read_chunks(url, timeout):
            digest.update(chunk)
            file.write(chunk)
        if digest.hexdigest() != checksum:
            raise ValueError(
                f"{url}: expected a file with SHA-256 {checksum}, "
                f"found {digest.hexdigest()}; nothing of it was kept"
            )


def matches(path: Path, checksum: str) -> bool:
    """Return whether the file exists and has this SHA-256."""
    if not path.is_file():
        return False
    return hashlib.sha256(path.read_bytes()).hexdigest() == checksum


def _read_chunks(url: str, timeout: float) -> Iterator[bytes]:
    """Yield the server's response in chunks, and check its announced length."""
    received = 0
    try:
        with urllib.request.urlopen(url, timeout=timeout) as answer:
            while chunk := answer.read(_CHUNK):
                received += len(chunk)
                yield chunk
            announced = answer.headers.get("Content-Length")
    except urllib.error.HTTPError as error:
        error.close()
        raise ConnectionError(
            f"{url}: expected the file, found HTTP status {error.code} {error.reason}"
        ) from error
    except (http.client.HTTPException, OSError) as error:
        raise ConnectionError(
            f"{url}: expected the file, found no answer or a broken one ({error}); "
            "check the network and try again, or fetch the file by hand"
        ) from error
    if announced is not None and received != int(announced):
        raise ConnectionError(
            f"{url}: expected {announced} bytes, found {received} before the end; "
            "try again"
        )

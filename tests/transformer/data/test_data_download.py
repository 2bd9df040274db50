"""The downloader, tested with a real HTTP server on this machine."""

import gzip
import hashlib
import http.server
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from ports import held_port

from transformer.data import download_multi30k, load_multi30k, multi30k
from transformer.data.download import download_file

CONTENT = bytes(range(256)) * 2_000
CHECKSUM = hashlib.sha256(CONTENT).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    """Serve the contents of `files`. `cut` counts the answers to break off."""

    files: dict[str, bytes]
    cut: int
    asked: list[str]


class Handler(http.server.BaseHTTPRequestHandler):
    """Answer with a file, half of it, or 404."""

    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.server.cut:
            self.server.cut -= 1
            content = content[: len(content) // 2]
        self.wfile.write(content)

    def log_message(self, *_args: object) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[Server]:
    """Run a server in a thread and stop it after the test."""
    server = Server(("127.0.0.1", 0), Handler)
    server.files, server.cut, server.asked = {"/file": CONTENT}, 0, []
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def address(server: Server, name: str = "") -> str:
    """Return the address of a file."""
    return f"http://127.0.0.1:{server.server_port}{name}"


def names(folder: Path) -> list[str]:
    """Return the names of all files in a folder, including hidden ones."""
    return sorted(os.listdir(folder))


def test_a_file_arrives_whole(server: Server, tmp_path: Path) -> None:
    download_file(address(server, "/file"), tmp_path / "file", CHECKSUM)
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("old", [b"old", None])
def test_wrong_checksum(server: Server, tmp_path: Path, old: bytes | None) -> None:
    """The message names both sums. The old file stays, and the new one is deleted."""
    path = tmp_path / "file"
    if old:
        path.write_bytes(old)
    with pytest.raises(ValueError, match=f"SHA-256 {'0' * 64}, found {CHECKSUM}"):
        download_file(address(server, "/file"), path, "0" * 64)
    assert names(tmp_path) == (["file"] if old else [])
    assert old is None or path.read_bytes() == old


def test_missing_file(server: Server, tmp_path: Path) -> None:
    with pytest.raises(ConnectionError, match=r"/no: .*HTTP status 404 Not Found"):
        download_file(address(server, "/no"), tmp_path / "file", CHECKSUM)
    assert names(tmp_path) == []


def test_interrupted_then_whole(server: Server, tmp_path: Path) -> None:
    server.cut = 1
    (tmp_path / "file").write_bytes(b"old")
    with pytest.raises(ConnectionError, match=r"found .* try again|broken one"):
        download_file(address(server, "/file"), tmp_path / "file", CHECKSUM)
    assert (tmp_path / "file").read_bytes() == b"old"
    download_file(address(server, "/file"), tmp_path / "file", CHECKSUM)
    assert (tmp_path / "file").read_bytes() == CONTENT
    assert names(tmp_path) == ["file"]


def test_nobody_answers(tmp_path: Path) -> None:
    url = f"http://127.0.0.1:{held_port()}/file"
    with pytest.raises(ConnectionError, match="no answer or a broken one"):
        download_file(url, tmp_path / "file", CHECKSUM)
    assert names(tmp_path) == []


def test_a_silent_server_is_left(tmp_path: Path) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/file"
        with pytest.raises(ConnectionError, match="timed out"):
            download_file(url, tmp_path / "file", CHECKSUM, timeout=0.2)


def test_full_disk(server: Server, tmp_path: Path, monkeypatch) -> None:
    """It is not reported as a network error, and leaves no file."""

    def fail(_self: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="No space left"):
        download_file(address(server, "/file"), tmp_path / "file", CHECKSUM)
    assert names(tmp_path) == []


@pytest.fixture
def small(server: Server, monkeypatch) -> dict[str, bytes]:
    """Serve six small files, with their checksums, instead of Multi30k's."""
    files = {}
    for name in multi30k.SHA256:
        text = "Ein Hund.\n" if ".de" in name else "A dog.\n"
        files[name] = gzip.compress(text.encode() * 3, mtime=0)
    checksums = {n: hashlib.sha256(f).hexdigest() for n, f in files.items()}
    monkeypatch.setattr(multi30k, "SHA256", checksums)
    server.files = {f"/{name}": content for name, content in files.items()}
    return files


def test_all_files_once(server: Server, small: dict, tmp_path: Path) -> None:
    folder = download_multi30k(tmp_path / "deep" / "folder", address(server))
    assert names(folder) == sorted(small)
    assert len(server.asked) == 6
    download_multi30k(folder, address(server) + "/")
    assert len(server.asked) == 6, "what is there is not fetched again"
    assert len(load_multi30k(folder).train) == 3


def test_a_damaged_file_is_fetched_again(
    server: Server, small: dict, tmp_path: Path
) -> None:
    download_multi30k(tmp_path, address(server))
    (tmp_path / "val.de.gz").write_bytes(b"damaged")
    download_multi30k(tmp_path, address(server))
    assert server.asked[6:] == ["/val.de.gz"]
    assert (tmp_path / "val.de.gz").read_bytes() == small["val.de.gz"]


def test_without_a_folder_the_cache_is_used(
    server: Server, small: dict, tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(multi30k, "RAW_URL", address(server))
    assert len(load_multi30k().test) == 3
    assert names(tmp_path / "transformer-course" / "multi30k") == sorted(small)


def test_a_given_folder_is_never_written_to(tmp_path: Path, server: Server) -> None:
    with pytest.raises(FileNotFoundError):
        load_multi30k(tmp_path)
    assert names(tmp_path) == []
    assert server.asked == []

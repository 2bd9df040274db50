"""Fetch MathJax for the book, once, and check that it is the release we pinned."""

from __future__ import annotations

import base64
import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "3.2.2"
TARBALL_SHA512 = (
    "Bt+SSVU8eBG27zChVewOicYs7Xsdt40qm4+UpHyX7k0/O9NliPc+x77k1/"
    "FEsPsjKPZGJvtRZM1vO+geW0OhGw=="
)
# tex-svg-full holds every TeX extension and the glyphs: it never loads another file.
FILES = {
    "es5/tex-svg-full.js": (
        "a4354ff94fd868aea0cc6eaaa79a57fda0588646fc46ee3700a349ee0a11cbe6"
    ),
    "LICENSE": "cfc7749b96f63bd31c3c42b5c471bf756814053e847c10f3eb003417bc523d30",
}
TARGET = Path(__file__).resolve().parent / "_vendor" / "mathjax"


class MathJaxError(RuntimeError):
    """MathJax could not be fetched, or what came is not the pinned release."""


class NpmMissing(MathJaxError):
    """The program that fetches it is not installed."""


def is_present(target: Path = TARGET) -> bool:
    """Tell whether every pinned file lies in `target`, unchanged."""
    return all(
        path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == digest
        for path, digest in ((target / Path(n).name, d) for n, d in FILES.items())
    )


def check_tarball(tarball: Path) -> None:
    """Raise MathJaxError unless `tarball` has the pinned SHA-512."""
    digest = hashlib.sha512(tarball.read_bytes()).digest()
    found = base64.b64encode(digest).decode("ascii")
    if found != TARBALL_SHA512:
        raise MathJaxError(
            f"{tarball.name}: expected SHA-512 {TARBALL_SHA512}, found {found}. "
            "The download is damaged or is another release; nothing was installed. "
            "Run this again."
        )


def download(folder: Path) -> Path:
    """Download the pinned npm package into `folder` and return the tarball's path."""
    npm = shutil.which("npm")
    if npm is None:
        raise NpmMissing(
            f"npm was not found: it fetches MathJax {VERSION} for the book's formulas, "
            "once. Install Node.js, which brings npm (`apt-get install npm`, `brew "
            "install node` or nodejs.org), and run this again."
        )
    command = [npm, "pack", f"mathjax@{VERSION}", "--silent"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    tarball = folder / f"mathjax-{VERSION}.tgz"
    if done.returncode or not tarball.is_file():
        raise MathJaxError(
            f"`{' '.join(command[1:])}` failed with status {done.returncode}: "
            f"{done.stderr.strip() or 'no message'}. Is the network reachable?"
        )
    return tarball


def unpack(tarball: Path, target: Path) -> None:
    """Write the pinned files of `tarball` into `target`, whole or not at all."""
    fresh = Path(tempfile.mkdtemp(dir=target.parent, prefix=".mathjax-"))
    try:
        with tarfile.open(tarball) as archive:
            for name in FILES:
                member = archive.extractfile(f"package/{name}")
                (fresh / Path(name).name).write_bytes(member.read())
        if not is_present(fresh):
            raise MathJaxError(f"{tarball.name}: a file inside has another SHA-256.")
        fresh.chmod(0o755)
        shutil.rmtree(target, ignore_errors=True)
        fresh.rename(target)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def fetch(target: Path = TARGET) -> bool:
    """Make sure MathJax lies in `target`; return whether it had to be fetched."""
    if is_present(target):
        return False
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        tarball = download(Path(folder))
        check_tarball(tarball)
        unpack(tarball, target)
    return True


if __name__ == "__main__":
    try:
        state = "fetched" if fetch() else "already there"
    except MathJaxError as error:
        print(error, file=sys.stderr)
        sys.exit(2 if isinstance(error, NpmMissing) else 1)
    print(f"MathJax {VERSION}: {state}")

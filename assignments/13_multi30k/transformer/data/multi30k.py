"""Multi30k German–English: 29,000 captions of photographs, and their translations.

The files come from `data/task1/raw` in github.com/multi30k/dataset (Elliott et al.,
2016). Their licence allows research and education but no redistribution. This
repository therefore does not contain them. They are read from a folder, or downloaded
into a cache.
"""

import gzip
import os
import zlib
from pathlib import Path

from .download import download_file, matches
from .pairs import Corpus, SentencePair
from .tokens import load_tokenizer

RAW_URL = "https://raw.githubusercontent.com/multi30k/dataset/master/data/task1/raw"
SPLITS = {"train": "train", "valid": "val", "test": "test_2016_flickr"}
SHA256 = {
    "train.de.gz": "726e39b2fa9eb9ffb6dc763fb35a179f80fae06ffc5d28b6ace5faa883de28a6",
    "train.en.gz": "d79cfa999dd4c51d2cb42499b6796d5a882c3a8a961923c25a898c90f8bbd56f",
    "val.de.gz": "f0cba2f995189cf5770f29a8a9a537a3ad3f51657ad873405082ff6863a5e75a",
    "val.en.gz": "14f7d25ddd868909a9213e361768460edcacdd6ab9d1e77b92560dc10c10dc28",
    "test_2016_flickr.de.gz": (
        "9204244e408ccb38d2a55cfcd344df15005fc42a07a6e55ca6c52b6ababb8cc8"
    ),
    "test_2016_flickr.en.gz": (
        "611d361c6334bc7246101d48097c13cf5c4413c5befc793cc629934359d532d9"
    ),
}


def load_multi30k(
    folder: str | os.PathLike[str] | None = None,
    *,
    lower: bool = True,
    limit: int | None = None,
) -> Corpus:
    """Read the three splits, and split their sentences into words.

    Args:
        folder: folder with the files, such as `train.de.gz` or `train.de`. None means
            the cache, to which missing files are downloaded.
        lower: whether to put the words in lower case.
        limit: the number of pairs to take from the beginning of each split, or None for
            all of them.

    Raises:
        FileNotFoundError: if the folder or one of its files does not exist.
        ValueError: if a file is damaged, or its two languages differ in their number of
            lines.
        ConnectionError: if a download fails.
    """
    if limit is not None and limit < 1:
        raise ValueError(f"expected a limit of at least 1, found {limit}")
    folder = find_multi30k(folder)
    train, valid, test = (read_pairs(folder, name, lower, limit) for name in SPLITS)
    return Corpus(train, valid, test)


def find_multi30k(folder: str | os.PathLike[str] | None = None) -> Path:
    """Return the folder with the files, which are downloaded if no folder is given.

    Raises:
        FileNotFoundError: if there is no such folder.
        ConnectionError: if a download fails.
    """
    folder = download_multi30k() if folder is None else Path(folder)
    if not folder.is_dir():
        raise FileNotFoundError(
            f"expected a folder with the files of Multi30k, found none at {folder}; "
            "give no folder to download them"
        )
    return folder


def download_multi30k(
    folder: str | os.PathLike[str] | None = None,
    url: str | None = None,
    timeout: float = 30.0,
) -> Path:
    """Download each of the six files that is missing or has the wrong checksum.

    A file is replaced only when its new version is complete and has the right checksum.

    Args:
        folder: folder for the files, or None for the user's cache folder.
        url: address of the files, without the file name, or None for `RAW_URL`.
        timeout: seconds to wait for each response of the server.

    Returns:
        The folder.

    Raises:
        ConnectionError: if a file cannot be downloaded completely.
        ValueError: if a downloaded file has a different checksum.
    """
    folder = cache_folder() if folder is None else Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    url = (url or RAW_URL).rstrip("/")
    for name, checksum in SHA256.items():
        if not matches(folder / name, checksum):
            download_file(f"{url}/{name}", folder / name, checksum, timeout)
    return folder


def cache_folder() -> Path:
    """Return the folder for downloads, `multi30k` in the course's cache folder."""
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache) / "transformer-course" / "multi30k"


def read_lines(path: Path) -> list[str]:
    """Return the lines of a text file, which may be compressed with gzip.

    Raises:
        ValueError: if the file is truncated, not a gzip file or not UTF-8.
    """
    content = path.read_bytes()
    try:
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        text = content.decode("utf-8")
    except (EOFError, gzip.BadGzipFile, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(
            f"{path}: expected a whole text file, found a damaged one ({error}); "
            "delete it and fetch it again"
        ) from error
    return text.removesuffix("\n").split("\n") if text else []


def read_texts(
    folder: str | os.PathLike[str], name: str, limit: int | None = None
) -> list[tuple[str, str]]:
    """Read the German and English lines of one part of Multi30k.

    Args:
        folder: folder with the files.
        name: "train", "valid" or "test", or the file name of another test set, such as
            "test_2017_flickr".
        limit: the number of pairs to take from the beginning, or None for all of them.

    Raises:
        FileNotFoundError: if a file does not exist.
        ValueError: if a file is damaged, or the two files differ in their number of
            lines.
    """
    paths = [
        _find_file(Path(folder), f"{SPLITS.get(name, name)}.{language}")
        for language in ("de", "en")
    ]
    src_lines, tgt_lines = map(read_lines, paths)
    if len(src_lines) != len(tgt_lines) or not src_lines:
        raise ValueError(
            f"expected as many lines in {paths[0]} as in {paths[1]}, and at least one, "
            f"found {len(src_lines)} and {len(tgt_lines)}"
        )
    texts = list(zip(src_lines[:limit], tgt_lines[:limit], strict=True))
    for number, pair in enumerate(texts, start=1):
        for path, line in zip(paths, pair, strict=True):
            if not line.strip():
                raise ValueError(
                    f"{path}: expected a sentence in line {number}, found none"
                )
    return texts


def read_pairs(
    folder: str | os.PathLike[str],
    name: str,
    lower: bool = True,
    limit: int | None = None,
) -> tuple[SentencePair, ...]:
    """Read one part of Multi30k with `read_texts`, and split it into words."""
    to_src, to_tgt = load_tokenizer("de", lower), load_tokenizer("en", lower)
    return tuple(
        SentencePair(tuple(to_src(src)), tuple(to_tgt(tgt)))
        for src, tgt in read_texts(folder, name, limit)
    )


def _find_file(folder: Path, name: str) -> Path:
    for candidate in (folder / f"{name}.gz", folder / name):
        if candidate.is_file():
            return candidate
    raise FileNotFoundError(
        f"expected {name}.gz or {name} in {folder}, found neither; "
        "download_multi30k(folder) fetches the files"
    )

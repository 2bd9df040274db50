"""Build the book: `python book/build.py [--edition instructor] [--language ko]`.

Jupyter Book builds it. Where only its newest parts are installed, Sphinx itself builds
the same book: see `conf.py`.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml
from guide_pictures.chromium import ARGUMENTS, find_chromium

BOOK = Path(__file__).resolve().parent
PROGRAMS = str(Path(sys.executable).parent)
JUPYTER_BOOK = shutil.which("jupyter-book", path=PROGRAMS)
SPHINX = shutil.which("sphinx-build", path=PROGRAMS)
BUILD = BOOK.parent / "build"
# The instructor's edition holds answers: it never shares a folder with the public one.
OUTPUT = {"public": BOOK, "instructor": BUILD / "instructor"}
if not JUPYTER_BOOK:
    OUTPUT = {"public": BUILD / "plain", "instructor": BUILD / "plain-instructor"}
SOURCE = "en"  # the language that the book is written in
NAMES = {SOURCE: "English", "ko": "한국어"}
OF_JUPYTER_BOOK = {
    "html": [],
    "gettext": ["--builder", "custom", "--custom-builder", "gettext"],
}
PATIENCE = 180_000  # milliseconds, for a busy machine
BY_HAND = "open {page} in a browser and print it on A4 paper."
PRINTABLE = """async () => {
  await Promise.all([MathJax.startup.promise, document.fonts.ready]);
  for (const link of [...document.links]) link.removeAttribute("href"); // of this disk
}"""
OTHER = re.compile(r"<!--other edition-->.*?<!--end-->", re.DOTALL)


def front_page(edition: str, language: str = SOURCE) -> Path:
    """Return where the first page of a book lies once it is built."""
    folder = OUTPUT[edition] / "_build" / "html"
    return (folder if language == SOURCE else folder / language) / "index.html"


def build(
    edition: str = "public",
    book: Path = BOOK,
    quiet: bool = False,
    language: str = SOURCE,
) -> int:
    """Build a book; return the exit status.

    A translation is built apart, with what the chapters of the English book have
    computed; then it lies in a folder of that book.
    """
    output = OUTPUT[edition] if book == BOOK else book
    site, settings = output / "_build" / "html", {"COURSE_EDITION": edition}
    if language == SOURCE:
        status = run(book, output, settings, quiet)
        if status == 0:
            print_summary(site)
    else:
        apart = output / "_build" / language
        settings["COURSE_CONFIG"] = str(translated_config(book, apart, language))
        status = run(book, apart, settings, quiet)
        if status == 0:
            print_summary(apart / "_build" / "html")
            put_in(apart / "_build" / "html", site, language)
    if status == 0:
        link_editions(site)
    return status


def translated_config(
    book: Path, folder: Path, language: str, locale: Path | None = None
) -> Path:
    """Write the book's configuration with a language's settings into `folder`.

    Args:
        book: the folder of the sources.
        folder: where the configuration goes.
        language: such as "ko".
        locale: the folder of the catalogues, if it is not the book's.

    Returns:
        The file.
    """
    config = yaml.safe_load((book / "_config.yml").read_text("utf-8"))
    own = book / "locale" / language / "settings.yml"
    config = merged(config, yaml.safe_load(own.read_text("utf-8")))
    local = config["sphinx"]["local_extensions"]
    for name, path in local.items():
        local[name] = str(book / path)
    # Sphinx looks for sphinx.js from the folder that it is started in.
    config["sphinx"]["config"]["locale_dirs"] = [str(locale or book / "locale")]
    folder.mkdir(parents=True, exist_ok=True)
    made = folder / "_config.yml"
    made.write_text(yaml.safe_dump(config, allow_unicode=True), encoding="utf-8")
    return made


def merged(one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Return a configuration with another's entries put in."""
    both = dict(one)
    for key, value in other.items():
        is_inner = isinstance(value, dict) and isinstance(both.get(key), dict)
        both[key] = merged(both[key], value) if is_inner else value
    return both


def print_summary(folder: Path) -> None:
    """Print the two-page summary in `folder` to a PDF, if it has changed."""
    page, pdf = folder / "summary.html", folder / "summary.pdf"
    styles = folder / "_static" / "drawings.css"
    text = OTHER.sub("", page.read_text("utf-8")) + styles.read_text("utf-8")
    digest = hashlib.sha256(text.encode()).hexdigest()
    record = folder.parent / "summary.sha256"
    if pdf.is_file() and record.is_file() and record.read_text() == digest:
        return
    pdf.unlink(missing_ok=True)
    executable, by_hand = find_chromium(), BY_HAND.format(page=page)
    try:
        from playwright.sync_api import Error, sync_playwright
    except ModuleNotFoundError:
        executable = None
    if not executable:
        print(f"summary.pdf needs Chromium and playwright. Without them, {by_hand}")
        return
    mathjax = BOOK / "_vendor" / "mathjax" / "tex-svg-full.js"
    try:
        with sync_playwright() as driver:
            chromium = driver.chromium.launch(
                executable_path=executable, args=[*ARGUMENTS], timeout=PATIENCE
            )
            tab = chromium.new_page()
            tab.set_default_timeout(PATIENCE)
            # A translation has no copy of MathJax until it is in the English book.
            tab.route(f"**/{mathjax.name}", lambda route: route.fulfill(path=mathjax))
            tab.goto(page.as_uri())
            tab.evaluate(PRINTABLE)
            tab.pdf(path=pdf, prefer_css_page_size=True)
    except Error as error:
        print(f"Chromium did not print summary.pdf: {error}\nInstead, {by_hand}")
        return
    record.write_text(digest)


def put_in(built: Path, site: Path, language: str) -> None:
    """Bring a translation into the site, and the MathJax that both use.

    Whoever reads the site meanwhile finds each page, the old one or the new.
    """
    target = site / language
    shutil.copytree(built, target, copy_function=renew, dirs_exist_ok=True)
    for path in target.rglob("*"):
        if path.is_file() and not (built / path.relative_to(target)).exists():
            path.unlink()
    if not (site / "mathjax").is_dir():
        shutil.copytree(BOOK / "_vendor" / "mathjax", site / "mathjax")


def renew(source: str, target: str) -> None:
    """Put a file in another's place at once."""
    new = Path(f"{target}.new")
    shutil.copy2(source, new)
    new.replace(target)


def link_editions(site: Path) -> None:
    """Let each page lead to itself in the other languages that the site has."""
    languages = [one for one in NAMES if one == SOURCE or (site / one).is_dir()]
    for language in languages:
        folder = site if language == SOURCE else site / language
        for page in folder.glob("*.html"):
            links = "".join(
                link(site, page, language, other)
                for other in languages
                if other != language
            )
            text = page.read_text("utf-8")
            linked = OTHER.sub(f"<!--other edition-->{links}<!--end-->", text)
            if linked != text:
                new = Path(f"{page}.new")
                new.write_text(linked, "utf-8")
                new.replace(page)


def link(site: Path, page: Path, language: str, other: str) -> str:
    """Return a link to a page in another language; "" if it is not there."""
    target = site / page.name if other == SOURCE else site / other / page.name
    if not target.is_file():
        return ""
    address = os.path.relpath(target, page.parent)
    return (
        f'<a class="btn btn-sm" href="{address}" lang="{other}" hreflang="{other}" '
        f'rel="alternate">{NAMES[other]}</a>'
    )


def messages(folder: Path, book: Path = BOOK) -> int:
    """Write the messages of all pages under `folder`; return the exit status."""
    return run(book, folder, {"COURSE_EDITION": "public"}, True, "gettext")


def run(
    book: Path,
    output: Path,
    settings: dict[str, str],
    quiet: bool,
    builder: str = "html",
) -> int:
    """Build a folder of pages; a warning is an error.

    Args:
        book: the folder of the sources.
        output: the folder for `_build`.
        settings: environment variables. COURSE_CONFIG names a configuration that
            replaces `_config.yml`.
        quiet: whether only warnings are printed.
        builder: Sphinx's name for the kind of output.

    Returns:
        The exit status.
    """
    if JUPYTER_BOOK:
        config = settings.get("COURSE_CONFIG") or str(book / "_config.yml")
        command = [JUPYTER_BOOK, "build", str(book), "--path-output", str(output)]
        command += ["--config", config, *OF_JUPYTER_BOOK[builder]]
    else:
        built = output / "_build"
        command = [str(SPHINX), "-b", builder, "-d", str(built / ".doctrees")]
        command += [str(book), str(built / builder)]
    command += ["-W", "--keep-going", "-n", *(["-q"] if quiet else [])]
    # One thread: two on two busy cores made tiny models twenty times slower.
    environment = {"OMP_NUM_THREADS": "1", **os.environ, **settings}
    return subprocess.run(command, env=environment).returncode


def main() -> int:
    """Read the command line, build, and say where the book is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--edition", choices=OUTPUT, default="public")
    parser.add_argument("--language", choices=NAMES, default=SOURCE)
    parser.add_argument("--quiet", action="store_true", help="print warnings only")
    parser.add_argument("--messages", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.messages:
        return messages(options.messages)
    status = build(options.edition, quiet=options.quiet, language=options.language)
    if status == 0:
        print(f"The book: {front_page(options.edition, options.language)}")
    return status


if __name__ == "__main__":
    sys.exit(main())

"""Make the files of the live translator from `book/live/` and the shipped model."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from autograder.translations.scripts import translated
from transformer.shipped_model.weights import FOLDER as SHIPPED

from .words import said

LIVE = Path(__file__).resolve().parents[2] / "live"
# The names that tests use.
EXPORTS = (
    *("Kernel", "Transformer", "Translator", "Vocabulary"),
    *("fromBase64", "localSession", "openSession", "readModelFile", "readSafetensors"),
    *("search", "shippedFile", "tokenize", "wordsOf"),
)


def sources() -> list[Path]:
    """Return the files of the script; the file that starts it is the last."""
    engine, view = (sorted((LIVE / room).glob("*.js")) for room in ("engine", "view"))
    return [*engine, *sorted(view, key=lambda path: path.stem == "start")]


def script() -> str:
    """Return the script as one function, from whose text a worker can be made too.

    Its words are in the book's language.
    """
    parts = "\n".join(translated(path.read_text("utf-8"), said) for path in sources())
    return (
        f'function courseLive() {{\n"use strict";\n{parts}\n'
        f"return {{ {', '.join(EXPORTS)} }};\n}}\n"
        "globalThis.CourseLive = courseLive();\n"
    )


def model_script() -> str:
    """Return the shipped model as a script, which a page on disk can load."""
    card = json.loads((SHIPPED / "tiny.json").read_text("utf-8"))
    files = [(SHIPPED / name).read_bytes() for name in card["sha256"]]
    model = {
        "sha256": list(card["sha256"].values()),
        "config": card["config"],
        "words": [words.split(" ") for words in card["words"]],
        "weights": [base64.b64encode(content).decode("ascii") for content in files],
    }
    text = json.dumps(model, ensure_ascii=False, separators=(",", ":"))
    return f"window.CourseModel = {text};\n"


def write_files(folder: Path) -> None:
    """Write `live.js`, `live.css` and `tiny-model.js` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "live.js").write_text(script(), "utf-8")
    (folder / "tiny-model.js").write_text(model_script(), "utf-8")
    (folder / "live.css").write_text((LIVE / "live.css").read_text("utf-8"), "utf-8")

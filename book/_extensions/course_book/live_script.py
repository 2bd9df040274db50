"""The files of the live translator, made from `book/live/` and the shipped model."""

from __future__ import annotations

import base64
import json
from pathlib import Path

from autograder.translations.scripts import translated
from transformer.shipped_model.weights import FOLDER as SHIPPED

from .words import said

LIVE = Path(__file__).resolve().parents[2] / "live"
# What tests ask the script for.
EXPORTS = (
    *("Kernel", "Transformer", "Translator", "Vocabulary"),
    *("fromBase64", "localSession", "openSession", "readModelFile", "readSafetensors"),
    *("search", "shippedFile", "tokenize", "wordsOf"),
)


def sources() -> list[Path]:
    """List the parts of the script; the one that starts it comes last."""
    engine, view = (sorted((LIVE / room).glob("*.js")) for room in ("engine", "view"))
    return [*engine, *sorted(view, key=lambda path: path.stem == "start")]


def script() -> str:
    """Put the parts into one function, of whose text a worker can be made too.

    Its words are those of the book's language.
    """
    parts = "\n".join(translated(path.read_text("utf-8"), said) for path in sources())
    return (
        f'function courseLive() {{\n"use strict";\n{parts}\n'
        f"return {{ {', '.join(EXPORTS)} }};\n}}\n"
        "globalThis.CourseLive = courseLive();\n"
    )


def model_script() -> str:
    """Write the shipped model as a script: a page on the disk may read nothing else."""
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

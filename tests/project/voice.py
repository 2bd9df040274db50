"""Count the habits that make our English hard to read, and print a table.

    python tests/project/voice.py [--places] [FILE ...]

Without files it reads those that differ from the last commit. It reads the prose of
Markdown files, and the docstrings and comments of Python files. It reports and never
blocks: the limits are twice the rates of books that readers find easy.
"""

from __future__ import annotations

import argparse
import ast
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SHORT_WORDS, SHORT_LIMIT = 8, 10  # words of a short sentence, and percent
ALL_WORDS = 1000  # to which a rate refers


@dataclass(frozen=True)
class Habit:
    """A habit, its pattern, how many are fine in 1,000 words, and the remedy."""

    name: str
    pattern: re.Pattern[str]
    limit: float
    remedy: str


def _habit(name: str, pattern: str, limit: float, remedy: str) -> Habit:
    return Habit(name, re.compile(pattern, re.IGNORECASE), limit, remedy)


HABITS = (
    _habit("what, who", r"(?<![.?!] )\b(what|who|whom|whose)\b", 2.4, "use a noun"),
    _habit("stands, lies", r"\b(stands?|stood|lies|lay|lying)\b", 0.2, "is"),
    _habit("alone", r"\balone\b", 0.4, "only"),
    _habit("beside", r"\b(beside|anew|behind|as yet|but for)\b", 0.4, "next to, again"),
    _habit("is told", r"\b(is|are) (told|asked|given)\b", 0.4, "name the actor"),
    _habit("for", r", for (it|they|this|there|a|the)\b", 0.48, "because"),
    _habit("the one", r"\bthe one\b", 1.4, "repeat the noun"),
    _habit("semicolon", r";(?=\s)", 5.0, "a full stop"),
)
FENCE = re.compile(r"^ *(`{3,}|~{3,})[^\n]*\n.*?^ *\1 *$|\$\$.*?\$\$", re.M | re.S)
NOT_PROSE = re.compile(r"\A---\n.*?\n---\n|^[|#][^\n]*|^\([\w-]+\)=$", re.M | re.S)
MARKS = re.compile(r"\{[\w:]+\}`[^`]*`|`[^`]*`|\$[^$]*\$|\]\([^)]*\)|<[^>]*>")
SENTENCE = re.compile(r"[^\s.!?](?:[^.!?\n]|\n(?!\n)|[.!?](?=\S))*[.!?](?=\s|$)")


def prose_of(path: Path) -> str:
    """Return the prose of a file, without code, formulas and markup."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        text = "\n\n".join([*_docstrings(text), *_comments(text)])
    else:
        text = NOT_PROSE.sub("\n", FENCE.sub("\n", text))
    return MARKS.sub(" X ", text)


def _docstrings(text: str) -> Iterator[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, kinds) and (found := ast.get_docstring(node)):
            yield found


def _comments(text: str) -> Iterator[str]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")


def changed_files() -> list[Path]:
    """Return the files that differ from the last commit, and new ones."""
    commands = (
        ["git", "diff", "--name-only", "--diff-filter=d", "HEAD"],
        ["git", "ls-files", "--others", "--exclude-standard"],
    )
    names = [
        name
        for command in commands
        for name in subprocess.run(
            command, cwd=ROOT, capture_output=True, encoding="utf-8"
        ).stdout.splitlines()
    ]
    return [ROOT / name for name in names if name.endswith((".md", ".py"))]


def table(texts: list[str]) -> list[str]:
    """Return a line for each habit: its rate in all texts, the limit, the remedy."""
    words = sum(len(text.split()) for text in texts)
    sentences = [one.split() for text in texts for one in SENTENCE.findall(text)]
    if not words:
        return []
    lines = [f"{words} words{'':<6} rate  limit   instead"]
    for habit in HABITS:
        count = sum(len(habit.pattern.findall(text)) for text in texts)
        rate = ALL_WORDS * count / words
        mark = " !" if rate > habit.limit else "  "
        lines.append(
            f"{habit.name:<14}{rate:6.2f}{mark}{habit.limit:5.2f}   {habit.remedy}"
        )
    count = sum(len(one) < SHORT_WORDS for one in sentences)
    short = 100 * count / max(1, len(sentences))
    mark = " !" if short > SHORT_LIMIT else "  "
    lines.append(f"{'short':<14}{short:5.0f}%{mark}{SHORT_LIMIT:4}%   join, or cut")
    return lines


def places(path: Path, text: str) -> Iterator[str]:
    """Yield a line for each place of a habit in a file's prose."""
    for habit in HABITS:
        for found in habit.pattern.finditer(text):
            around = text[max(0, found.start() - 30) : found.end() + 30]
            yield f"{path}: {habit.name}: …{' '.join(around.split())}…"


def main() -> None:
    """Print the table of the files that are named, or of the changed ones."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--places", action="store_true", help="list each place")
    arguments = parser.parse_args()
    texts = {path: prose_of(path) for path in arguments.files or changed_files()}
    if arguments.places:
        for path, text in texts.items():
            print(*places(path, text), sep="\n")
    print(*table(list(texts.values())), sep="\n")


if __name__ == "__main__":
    main()

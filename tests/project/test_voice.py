"""The tool that counts the habits of our English."""

import subprocess
import sys
from pathlib import Path

import voice

TEXT = """---
title: what alone
---
# What stands alone

The mask stands beside the scores, for it hides keys; it is told so.

```{code-cell} ipython3
what = "stands alone; beside"
```

$$ alone; beside $$ (eq-one)

The formula $a; b$ and `what` count nothing here. Short one.
"""


def test_the_prose_is_counted_without_code_formulas_and_headings(
    tmp_path: Path,
) -> None:
    path = tmp_path / "page.md"
    path.write_text(TEXT, encoding="utf-8")
    lines = voice.table([voice.prose_of(path)])
    rates = {line[:14].strip(): line for line in lines}
    words = int(lines[0].split()[0])
    once = f"{1000 / words:.2f}"
    for name in ("stands, lies", "beside", "for", "semicolon", "is told"):
        assert once in rates[name] and "!" in rates[name]
    for name in ("what, who", "alone", "the one"):
        assert " 0.00" in rates[name]
    assert "33%" in rates["short"]


def test_docstrings_and_comments_are_counted_and_code_is_not(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text('"""Say what it is."""\n\nalone = "who"  # lies here\n', "utf-8")
    found = list(voice.places(path, voice.prose_of(path)))
    assert [one.split(": ")[1] for one in found] == ["what, who", "stands, lies"]


def test_the_command_reports_and_never_blocks(tmp_path: Path) -> None:
    path = tmp_path / "page.md"
    path.write_text("It stands alone.\n" * 3, encoding="utf-8")
    command = [sys.executable, voice.__file__, "--places", str(path)]
    done = subprocess.run(command, capture_output=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("stands, lies: …") == 3
    (alone,) = [one for one in done.stdout.splitlines() if one.startswith("alone ")]
    assert "!" in alone

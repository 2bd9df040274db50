"""Check one notebook in a process that `waiting.py` starts and may stop.

The process reads a request from its standard input. It writes lines of JSON to its
standard output: each part before it runs, and finally the report or the problem.
"""

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from autograder.course import ENGLISH, ROOT, load_course
from autograder.grading.own_unit import rebuild_as_own
from autograder.grading.points import run_checks
from autograder.phrases import Phrase, translated
from autograder.repair import Refused, read_submission
from autograder.sandbox.student_side.cells import quiet_environment
from autograder.self_study.learner import Learner
from autograder.self_study.mine import own_modules
from autograder.self_study.report import facts_of, is_passed, report
from autograder.unit import cells_to_run, graded_unit, our_answers


def main() -> None:
    """Answer one request, and discard the output of the notebook itself."""
    request, answers = json.load(sys.stdin), sys.stdout

    def say(**message: Any) -> None:
        print(json.dumps(message), file=answers, flush=True)

    torch.set_num_threads(1)
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
        open(os.devnull, "w", encoding="utf-8") as nowhere,
    ):
        quiet_environment(folder)
        os.chdir(folder)
        with contextlib.redirect_stdout(nowhere):
            answer = check(request, lambda place: say(at=place))
        say(**answer)
        os.chdir(os.sep)


def check(request: dict[str, Any], begins: Callable[[str], None]) -> dict[str, Any]:
    """Return the report and whether all checks pass, or a message on the problem."""
    path, language = Path(request["notebook"]), request["language"]
    unit = graded_unit(request["unit"])
    table: Mapping[str, str] = {}
    if language != ENGLISH:
        from autograder.translations.feedback_catalogues import feedback_table

        table = feedback_table(ROOT, language, unit.slug)

    def told(text: str) -> str:
        return translated(text, table)

    try:
        repaired = rebuild_as_own(unit, read_submission(path.resolve()))
    except Refused as refused:
        words = Phrase(
            "{name} was not checked: {reason} (rename it, and {code} brings back the "
            "original).",
            *(path.name, refused.reason, _restoring(unit.slug)),
        )
        return {"problem": told(words)}
    except OSError:
        words = Phrase(
            "There is no notebook {name} to check: {code} brings back the original.",
            *(str(path), _restoring(unit.slug)),
        )
        return {"problem": told(words)}
    notebook = repaired.notebook
    answers = our_answers(unit.answers, notebook)
    cells = cells_to_run(notebook)
    learner = Learner(cells, answers, begins, request["stopped"])
    results = run_checks(unit, learner, unwritten=repaired.unwritten)
    text = report(results, notebook, repaired.unwritten, told, repaired.missing)
    facts = facts_of(results, notebook, repaired.unwritten, told)
    course = load_course()
    for name, source in own_modules(
        course, course.unit(unit.slug), cells, told
    ).items():
        facts[name]["module"] = source
    return {
        "report": text,
        "passed": all(map(is_passed, results)),
        "exercises": facts,
    }


def _restoring(slug: str) -> str:
    return f"`git restore assignments/{slug}/{slug}.ipynb`"


if __name__ == "__main__":
    main()

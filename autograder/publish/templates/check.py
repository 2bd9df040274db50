"""Check your answers: `python -m transformer.check 04`, or `check()` in a notebook."""

import os
import subprocess
import sys
from pathlib import Path

LANGUAGE = "@language@"
HERE = Path(__file__).resolve()
CHECKS = next(
    (folder / "checks" for folder in HERE.parents if (folder / "checks").is_dir()),
    HERE.parents[3] / "checks",
)
ROOT = CHECKS.parent
UNIT = HERE.parents[1].name if HERE.parents[2].name == "assignments" else ""


def run(arguments: list[str]) -> int:
    """Check a notebook file; return 0 if all passes, 1 if not, 2 if it cannot run."""
    return _command().main(arguments, LANGUAGE, ROOT, UNIT)


def check(*options: str) -> None:
    """Check the functions that this notebook's kernel has now, and print the result."""
    if "COURSE_CHECK" not in os.environ:  # the check runs this cell too
        from IPython import get_ipython

        names = get_ipython().user_ns
        _command().check_kernel(names, UNIT, LANGUAGE, ROOT, options)


def use_mine() -> None:
    """Let this kernel use your answers of earlier units that pass, and name them."""
    if "COURSE_CHECK" not in os.environ:  # the check uses the course's
        _command().use_own_answers(UNIT, LANGUAGE, ROOT)


def hint(exercise: int | str = "") -> None:
    """Print the next hint for an exercise, `hint(2)`, or for the next exercise."""
    check("--hint", *([str(exercise)] if exercise else []))


def answer(exercise: int | str, give_up: bool = False) -> None:
    """Print your answer and the course's, if yours passes or you give up."""
    check("--answer", str(exercise), *(["--give-up"] if give_up else []))


def _command():
    if not CHECKS.is_dir():  # Colab fetches only the unit's folder at first
        fetch = ["git", "sparse-checkout", "add", "checks"]
        subprocess.run(fetch, cwd=HERE.parent, check=True)
    if str(CHECKS) not in sys.path:
        sys.path.append(str(CHECKS))
    from autograder.self_study import command

    return command


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))

"""What the pictures show: a graded class, and a student's folder, of one unit."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from autograder.commands.sample_steps import SETTINGS
from autograder.course import load_course
from autograder.proof.sample_class import SampleClass, scores_file
from autograder.proof.variants import load_variants, substitute

UNIT = load_course().unit("04")
# The exercise that a student gets wrong in the picture, and how. The guide is public:
# none of its pictures shows a right answer.
EXERCISE = "masked-softmax"
MISTAKE = "the mask is ignored"
HANDED_IN = "handed-in"


def make_graded_class(root: Path) -> None:
    """Make, collect and grade a practice class."""
    handed_in, roster = root.parent / HANDED_IN, root.parent / "roster.csv"
    _course(root, "sample-class", UNIT.slug, "--to", str(handed_in))
    students = sorted(path.name for path in handed_in.iterdir() if path.is_dir())
    lines = ["id,first_name,last_name", *(f"{who},Student,{who}" for who in students)]
    roster.write_text("\n".join(lines) + "\n", encoding="utf-8")
    (root / "nbgrader_config.py").write_text(SETTINGS, encoding="utf-8")
    _course(root, "collect", str(handed_in), "--roster", str(roster))
    _course(root, "grade", UNIT.slug)


def who_made_a_mistake(root: Path) -> str:
    """Name the first of the class with a mistake in the exercise of the pictures."""
    path = scores_file(root.parent / HANDED_IN, UNIT.slug)
    students = json.loads(path.read_text(encoding="utf-8"))["students"]
    made = (who for who, one in students.items() if one["what"].startswith(EXERCISE))
    return next(made)


def make_students_folder(root: Path) -> str:
    """Copy the unit as students get it; return the notebook's path in the folder."""
    released = load_course().release_dir(UNIT)
    folder = shutil.copytree(released, root / "assignments" / UNIT.slug)
    return (folder / f"{UNIT.slug}.ipynb").relative_to(root).as_posix()


def right_answer(exercise: str = EXERCISE) -> str:
    """Return the course's own answer to an exercise."""
    return SampleClass(UNIT.slug).answers[exercise]


def wrong_answer() -> str:
    """Return the answer with the mistake of the picture in it."""
    folder = load_course().root / "autograder" / "proof" / "variants"
    answer = right_answer()
    (chosen,) = [
        variant
        for variant in load_variants(folder / f"unit_{UNIT.slug}.py")
        if variant.description == MISTAKE and f"def {variant.replaces}(" in answer
    ]
    return substitute([answer], chosen)[0]


def _course(folder: Path, *arguments: str) -> None:
    """Run a command of `course`."""
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [sys.executable, "-m", "autograder", *arguments],
        cwd=folder,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=True,
        capture_output=True,
    )

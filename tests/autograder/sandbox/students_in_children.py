"""Ask students who live in children, and read what their cells have printed."""

import torch

DEFINES = "def double(x):\n    return 2 * x\n"


def run(students, name="double", exercise="any"):
    """Call a function of the notebook with ones."""
    with students.fresh(exercise) as student:
        student.begin(0)
        return student[name](torch.ones(2))


def printed(students):
    """Return what all cells have printed."""
    return "".join(
        item["text"] for one in students.runs for item in one.outputs if "text" in item
    )

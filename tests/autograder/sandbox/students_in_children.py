"""Call functions of students in children, and read the output of their cells."""

import torch

DEFINES = "def double(x):\n    return 2 * x\n"


def run(students, name="double", exercise="any"):
    """Call a function of the notebook with a tensor of ones."""
    with students.fresh(exercise) as student:
        student.begin(0)
        return student[name](torch.ones(2))


def printed(students):
    """Return the printed output of all cells."""
    return "".join(
        item["text"] for one in students.runs for item in one.outputs if "text" in item
    )

"""Make the notebooks of the course from their masters.

A master `solutions/notebooks/NN_topic/NN_topic.md` holds prose, visible checks and
points; `solutions/notebooks/README.md` shows how it is written. From it come

1. the answer notebook beside it (`notebook.py`): each answer is taken from the package
   by `inspect.getsource` (`answers.py`), each cell has a stable id (`identity.py`);
2. the released notebook `assignments/NN_topic/NN_topic.ipynb` (`release.py`), by
   nbgrader's own `generate_assignment` with three steps of ours (`preprocessors.py`);
3. the kit `assignments/NN_topic/transformer/` (`kit.py`).

`assembler.py` does all of it, or changes nothing; `audit.py` looks for what must not be
in a release. Running it twice changes nothing.
"""

from autograder.assemble.assembler import Assembled, assemble
from autograder.assemble.audit import audit_release
from autograder.assemble.problems import AssemblyError, Problem
from autograder.assemble.release import configure_release, register_assignment

__all__ = [
    "Assembled",
    "AssemblyError",
    "Problem",
    "assemble",
    "audit_release",
    "configure_release",
    "register_assignment",
]

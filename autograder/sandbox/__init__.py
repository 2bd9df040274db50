"""The wall around a student's code: a check drives it without seeing its objects.

Outside, with the checks: `student`, which asks, and `handles` of what stays inside.
A student is `trusted` (our own answers, in this process) or `isolated`: cells run in a
child. `warm_start` begins this process's parent, `warm_parent` gives it orders and gets
children from it, `parent_process` starts it within `bubblewrap`.

Inside: `student_side`, loaded by its path. `fork_server` forks a locked-up child, in
which `submission_server` runs the cells and answers what `student` asks. Both sides
share `messages` and `values`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.sandbox.handles import Gradients, Handle, Name
    from autograder.sandbox.student import Student
    from autograder.sandbox.trusted import LocalStudent, NeverReturns

__all__ = ["Gradients", "Handle", "LocalStudent", "Name", "NeverReturns", "Student"]
_MODULES = {"LocalStudent": "trusted", "NeverReturns": "trusted", "Student": "student"}


def __getattr__(name: str) -> Any:
    """Import a class when it is asked for: a parent starts before torch is imported.

    Raises:
        AttributeError: if there is no such class.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'handles')}"), name)

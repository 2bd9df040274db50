"""Run a student's code in a sandbox; a check drives it without seeing its objects.

On the grader's side, `submission_proxy` is the `student` that a check calls, and
`handles` refer to objects that stay in the sandbox. `submission_runner` runs cells in
child processes, and `in_process` runs our own answers in this process. `prestart`
starts this process's pre-warmed parent, `parent_process` starts it within `bubblewrap`,
and `fork_server_client` sends it orders over its `control_channel` and gets children
from it.

The code inside the sandbox is `student_side`, which is loaded by its path.
`fork_server` forks a locked-up child, in which `submission_server` runs the cells and
answers the requests of a check. Both sides share `messages` and `values`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from autograder.sandbox.handles import Gradients, Handle, Name
    from autograder.sandbox.in_process import LocalStudent, NeverReturns
    from autograder.sandbox.submission_proxy import SubmissionProxy

__all__ = [
    "Gradients",
    "Handle",
    "LocalStudent",
    "Name",
    "NeverReturns",
    "SubmissionProxy",
]
_MODULES = {
    "LocalStudent": "in_process",
    "NeverReturns": "in_process",
    "SubmissionProxy": "submission_proxy",
}


def __getattr__(name: str) -> Any:
    """Import a class on first use, because a parent starts before torch is imported.

    Raises:
        AttributeError: if there is no such class.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'handles')}"), name)

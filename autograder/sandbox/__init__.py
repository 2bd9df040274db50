"""Run a student's code in a sandbox, and let checks call it from another process.

On the grader's side, `submission_proxy` is the `student` that a check calls, and
`handles` contains its references to objects that stay in the sandbox.
`submission_runner` runs cells in child processes, and `in_process` runs our own answers
in this process. The pre-warmed parent is a process that imports torch once and then
forks the children. `prestart` begins to start it early, `parent_process` starts it
within `bubblewrap`, and `fork_server_client` sends it orders over the
`control_channel`.

The package `student_side` contains the code that runs inside the sandbox. It is loaded
by its path. Its `fork_server` forks an isolated child, in which `submission_server`
runs the cells and answers the requests of a check. Both sides share `messages` and
`values`.
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
    """Import a class on first use, so that a parent can start before torch is imported.

    Raises:
        AttributeError: if there is no such class.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'handles')}"), name)

"""The wall around a student's code: a check drives it without seeing its objects.

Outside, with the checks: `submission_proxy`, which a check calls its `student`, and
`handles` of what stays inside. `submission_runner` runs cells in child processes;
`in_process` runs our own answers here. `prestart` starts this process's pre-warmed
parent, `parent_process` starts it within `bubblewrap`, and `fork_server_client` sends
it orders over its `control_channel` and gets children from it.

Inside: `student_side`, loaded by its path. `fork_server` forks a locked-up child, in
which `submission_server` runs the cells and answers what a check asks. Both sides
share `messages` and `values`.
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
    """Import a class when it is asked for: a parent starts before torch is imported.

    Raises:
        AttributeError: if there is no such class.
    """
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'handles')}"), name)

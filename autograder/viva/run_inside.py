"""Run calls of a student's function as the last cell of the student's notebook.

The grader sends this file's source to the student's process.
"""


def run_calls(
    source: str | None, name: str, calls: list[str], is_recording: bool = False
) -> list[tuple]:
    """Return ("value", result) or ("error", class name) for each call.

    Args:
        source: the definitions to use, or None for the definitions in the notebook.
        name: the function or class to call.
        calls: Python expressions, which may use names from PyTorch and `math`.
        is_recording: whether to return the value that was passed to `recorded__`
            instead of the result. If `recorded__` was not called exactly once, the
            entry is ("error", number of calls).
    """
    import __future__

    import math

    import torch

    def identity(module: torch.nn.Module) -> torch.nn.Module:
        """Set each matrix of weights to the identity, and each bias to 0."""
        for weights in module.parameters():
            if weights.dim() > 1:
                torch.nn.init.eye_(weights.data.flatten(1))
            else:
                weights.data.zero_()
        return module.eval()

    recorded = []

    def recorded__(value: object) -> object:
        recorded.append(value.clone() if isinstance(value, torch.Tensor) else value)
        return value

    space = {**globals(), "recorded__": recorded__}
    flags = __future__.annotations.compiler_flag
    code = compile(source or "", "<viva>", "exec", flags, dont_inherit=True)
    words = {
        **{word: getattr(torch, word) for word in ("inf", "ones", "tensor", "zeros")},
        **{
            word: getattr(torch.nn, word) for word in ("Conv1d", "Linear", "ModuleList")
        },
        **{"log": math.log, "identity": identity},
    }
    found = []
    for call in calls:
        recorded.clear()
        exec(code, space)  # each time, so that the function keeps nothing
        early = len(recorded)
        torch.manual_seed(0)
        try:
            found.append(("value", eval(call, {**words, name: space[name]})))
        except Exception as error:
            found.append(("error", type(error).__name__))
        if is_recording:
            kinds = (torch.Tensor, float, int, list, tuple)
            is_one = len(recorded) == 1 and not early and isinstance(recorded[0], kinds)
            last = ("value", recorded[0]) if is_one else ("error", str(len(recorded)))
            found[-1] = last
    return found

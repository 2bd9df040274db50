"""Remove built-ins from this process permanently, before a student's code runs.

An answer that needs them then fails, however it tries to find them. This is safer than
code that watches the answer, because an answer could mislead such code.

For each built-in, this module removes PyTorch's operators, the Python functions of
installed packages, and access to the files that define these functions. It also removes
the ability to start another program, because that program would have all of them.
"""

import ctypes
import gc
import importlib.util
import linecache
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType, ModuleType
from typing import Any

import torch

from .errors import REMOVED
from .system_calls import forbid_programs

ENGINE = "_engine_run_backward"  # it calls a method written in C
NODE = "grad_fn"  # a tensor's node, which can be called without the engine
# Static Runtime, oneDNN Graph, NativeRT and compiled models call kernels that they
# contain, so the removed operators would still work there. The methods of `Node` can
# put such a call into a graph.
OTHER_RUNTIMES = (
    *("_jit_to_static_module", "_fuse_to_static_module", "_jit_set_llga_enabled"),
    *("_nativert", "_aoti", "Node.g_", "Node.gs_", "Node.copyAttributes"),
)
BACKENDS = (
    *("CPU", "CUDA", "MPS", "XPU", "MkldnnCPU", "NestedTensorCPU", "NestedTensorCUDA"),
    *("QuantizedCPU", "SparseCPU", "SparseCsrCPU", "CompositeImplicitAutograd"),
    *("CompositeExplicitAutograd", "CompositeImplicitAutogradNestedTensor"),
)


_functions: dict[str, list[FunctionType]] = {}  # by each part of their names


def note_functions() -> None:
    """Record the functions that were imported since the last call.

    The parent does this once for its children, because each search takes a second.
    """
    for function in [one for one in gc.get_objects() if type(one) is FunctionType]:
        for part in {*function.__code__.co_qualname.split(".")} - {"<locals>"}:
            _functions.setdefault(part, []).append(function)


def remove(banned: Sequence[tuple[str, Sequence[str]]]) -> None:
    """Remove the banned built-ins.

    Args:
        banned: pairs of a dotted name, such as `torch.nn.LayerNorm`, and all names of
            the same object in its package.
    """
    folders = _folders({dotted.partition(".")[0] for dotted, _ in banned})
    of_name = {d.rpartition(".")[-1]: d for d, _ in banned if d not in sys.modules}
    for dotted, names in banned:
        for name in names:
            if name != dotted.rpartition(".")[-1]:
                of_name.setdefault(name, dotted)
    if any(dotted.startswith("torch.") for dotted in of_name.values()):
        _remove_operators({**of_name, "from_file": "a file of PyTorch's"})
        _remove_other_runtimes()
    if ENGINE in of_name:
        _remove_method(torch._C._ImperativeEngine, "run_backward")
    if NODE in of_name:
        _remove_nodes()
    files = _remove_functions(of_name, folders)
    if sys.platform == "linux":
        forbid_programs()
    _refuse_to_bring_back(frozenset(of_name), folders, files)


def _folders(packages: set[str]) -> tuple[str, ...]:
    """Return the folders of the packages that are installed."""
    specs = [importlib.util.find_spec(name) for name in sorted(packages)]
    folders = [spec.submodule_search_locations or () for spec in specs if spec]
    return tuple(place + os.sep for places in folders for place in places)


def _refusal(dotted: str) -> Callable[..., None]:
    def refuse(*_args: Any, **_kwargs: Any) -> None:
        raise RuntimeError(REMOVED + dotted)

    return refuse


def _remove_operators(of_name: dict[str, str]) -> None:
    """Replace PyTorch's kernels with kernels that raise for every caller."""
    # A `torch.library.Library` would have a finaliser that any code could call.
    library = torch._C._dispatch_library("IMPL", "aten", "", __file__, 1)
    with warnings.catch_warnings(action="ignore"):  # about replaced kernels
        for name, dotted in of_name.items():
            packet = getattr(torch.ops.aten, name, None)
            for overload in packet.overloads() if packet is not None else ():
                full = name if overload == "default" else f"{name}.{overload}"
                for backend in BACKENDS:
                    library.impl(full, backend, _refusal(dotted))
    # Without a Python reference, no code can find and release the library.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(library))


def _remove_other_runtimes() -> None:
    """Delete the parts of PyTorch that run operators without its dispatcher."""
    for name in OTHER_RUNTIMES:
        *holders, last = name.split(".")
        holder = getattr(torch._C, holders[0], None) if holders else torch._C
        if isinstance(part := getattr(holder, last, None), ModuleType):
            vars(part).clear()
        if part is not None:
            delattr(holder, last)


def _remove_method(owner: type, name: str) -> None:
    """Replace a method written in C with a function that raises `MemoryError`."""
    function = _function_in_c(owner, name)
    function.value = ctypes.cast(ctypes.pythonapi.PyErr_NoMemory, ctypes.c_void_p).value


def _remove_nodes() -> None:
    """Hide the nodes of PyTorch's graph: no tensor has one, as if it had no hooks."""
    tensor = torch._C.TensorBase
    hooks = _function_in_c(tensor, "_backward_hooks").value
    _function_in_c(tensor, NODE).value = hooks
    _function_in_c(torch._C._FunctionBase, "next_functions").value = None


def _function_in_c(owner: type, name: str) -> ctypes.c_void_p:
    """Return the address of the function behind a method or an attribute, to change it.

    The descriptor consists of a header, the class, the name, the qualified name and the
    address of its PyMethodDef or PyGetSetDef. In both, the function's address follows
    the name.
    """
    size = ctypes.sizeof(ctypes.c_void_p)
    place = id(vars(owner)[name]) + object.__basicsize__ + 3 * size
    definition = ctypes.c_void_p.from_address(place).value or 0
    return ctypes.c_void_p.from_address(definition + size)


def _remove_functions(
    of_name: dict[str, str], folders: tuple[str, ...]
) -> frozenset[tuple[int, int]]:
    """Replace the body of imported functions with one that raises.

    Returns:
        The device and inode number of each file that defines such a function.
    """
    files = set()
    for name, dotted in of_name.items():
        stub = _stub(dotted)
        for function in _functions.get(name, ()):
            code = function.__code__
            if code.co_filename.startswith(folders):
                function.__code__ = stub.replace(co_freevars=code.co_freevars)
                if os.path.exists(code.co_filename):
                    found = os.stat(code.co_filename)
                    files.add((found.st_ino, found.st_dev))
    linecache.clearcache()  # the cache may contain lines of the files
    return frozenset(files)


def _stub(dotted: str) -> CodeType:
    def missing(*_args: Any, **_kwargs: Any) -> None:
        raise RuntimeError("")

    words = REMOVED + dotted
    consts = missing.__code__.co_consts
    return missing.__code__.replace(
        co_consts=tuple(words if one == "" else one for one in consts)
    )


def _refuse_to_bring_back(
    names: frozenset[str],
    folders: tuple[str, ...],
    files: frozenset[tuple[int, int]],
) -> None:
    """Stop the interpreter from opening these functions' files and running their code.

    Without this hook, importing another module could define the functions again. The
    hook reads all its data from its own default arguments, which no code can change.
    """

    def hook(
        event: str,
        args: tuple[Any, ...],
        events: frozenset[str] = frozenset(
            {"exec", "function.__new__", "object.__setattr__", "object.__delattr__"}
        ),
        names: frozenset[str] = names,
        folders: tuple[str, ...] = folders,
        files: frozenset[tuple[int, int]] = files,
        words: str = REMOVED,
        kind: Callable[..., type] = type,
        code: type = CodeType,
        number: type = int,
        text: type = str,
        octets: type = bytes,
        status: Callable[..., os.stat_result] = os.stat,
        missing: type[Exception] = OSError,
        error: type[Exception] = RuntimeError,
        own: tuple[Any, ...] = (),
    ) -> None:
        if event == "open" and args and kind(args[0]) is not number:
            if kind(args[0]) is not text and kind(args[0]) is not octets:
                raise missing("a path is a text here")  # code could change an object
            try:
                found = status(args[0])
            except missing:
                return
            if (found[1], found[2]) in files:
                raise missing(words)
        if event == "code.__new__":
            raise error("no code is made of other code here")
        if event not in events or not args:
            return
        if args[0] in own:
            raise error("this stays as it is")
        waiting = [args[-1]]
        while waiting:
            one = waiting.pop()
            if kind(one) is code and one.co_filename.startswith(folders):
                for part in one.co_qualname.split("."):
                    if part in names:
                        raise error(words + part)
                waiting += one.co_consts

    hook.__defaults__ = (*(hook.__defaults__ or ())[:-1], (hook,))
    sys.addaudithook(hook)

"""Explain in one sentence why a cell failed, above Python's own traceback."""

# The set-up cell of a notebook calls `explain_errors`. The grader uses only `cause_of`.
from __future__ import annotations

import contextlib
import dis
import inspect
import json
import linecache
import re
import sys
import traceback
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

KINDS = (
    ArithmeticError,
    AssertionError,  # raised by PyTorch when it has no CUDA
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    RuntimeError,
    TypeError,
    ValueError,
)
PLAIN = (
    "line",
    "cause",
    "one",
    "two",
    "axis",
    "shape",
    "package",
)  # fields that do not contain code
KEPT = ("modules", "parameters", "buffers")  # where a layer stores its attributes


@dataclass(frozen=True)
class Sentence:
    """Hold a sentence that can be translated, and the values of its fields."""

    text: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    has_place: bool = True  # whether the line number is written before it

    @property
    def values(self) -> dict[str, Any]:
        """Return the fields, in which code is in backquotes."""
        return {
            name: value if name in PLAIN else f"`{value}`"
            for name, value in self.fields.items()
        }


@dataclass(frozen=True)
class Cause:
    """Hold a sentence on the cause of all errors whose message matches a pattern.

    Each named group of the pattern is a field of the sentence.
    """

    text: str
    pattern: str


@dataclass(frozen=True)
class Place:
    """Hold the innermost line of a notebook in an error's traceback.

    Attributes:
        frame: the frame of the call that ran the line.
        line: the number of the line in the cell, counted from 1.
        names: the names in the failing part of the line.
        has_raised: whether the line is a `raise`.
    """

    frame: FrameType
    line: int
    names: Sequence[str]
    has_raised: bool

    @property
    def function(self) -> str:
        """Return the function's name, such as `Encoder.forward`, or "" for none."""
        name = self.frame.f_code.co_qualname
        return "" if name.startswith("<") else name.partition(".<locals>")[0]


CAUSES = (
    Cause(
        "call `super().__init__()` in the first line of `__init__`, before you set a "
        "layer or a parameter.",
        r"before Module\.__init__\(\) call"
        r"|has no attribute '_(modules|parameters|buffers|\w+_hooks)",
    ),
    Cause(
        "there is no package {package} here. Check its spelling. Then leave out the "
        "import, or install the package with `%pip install`.",
        r"No module named '(?P<package>\w+)'$",
    ),
    Cause(
        "there is no module {module}. Check its spelling, and whether the notebook is "
        "in its own folder.",
        r"No module named '(?P<module>\w+\.[\w.]+)'",
    ),
    Cause(
        "the module {module} has no {name}. Check the spelling of both.",
        r"cannot import name '(?P<name>\w+)' from '(?P<module>[\w.]+)'",
    ),
    Cause(
        "the class {kind} has no method `forward`. In your own class, check its "
        "spelling and its indentation. Call the layers of a `ModuleList` in a loop.",
        r'Module \[(?P<kind>\w+)\] is missing the required "forward" function',
    ),
    Cause(
        "this line needs a single value, but it has several in a tuple or a list. Take "
        "or return only one of them, join tensors with `torch.stack`, or make a tensor "
        "of numbers with `torch.tensor`.",
        r"must be .*not '?(tuple|list)|'(tuple|list)' object has no attribute"
        r"|operand type\(s\) for .*'(tuple|list)' and 'Tensor'"
        r"|operand type\(s\) for .*'(Tensor|Parameter)' and '(tuple|list)'"
        r"|expected Tensor as element \d+ in argument \d+, but got (tuple|list)",
    ),
    Cause(
        "this line needs a tensor, but the value is a plain Python number or list. "
        "For a number such as a size, use `math.sqrt(…)` and the like. Otherwise leave "
        "out `.item()` and `.tolist()`, or use `torch.tensor(…)`.",
        r"'(int|float|bool|list)' object has no attribute '(shape|size|dim|ndim|dtype"
        r"|view|reshape|transpose|unsqueeze|item|sum|mean|float|backward|device|detach"
        r"|requires_grad|masked_fill|is_floating_point)'"
        r"|must be Tensor, not (int|float|bool|numpy\.ndarray|str)",
    ),
    Cause(
        "with `dim`, functions such as `max` and `sort` return values and indices. "
        "Take one of the two: `.values` or `.indices`.",
        r"torch\.return_types\.",
    ),
    Cause(
        "this line needs a tensor, but the value is of the type {kind}. If it is a "
        "function or a layer, call it first, as in `F.relu(x)` and `nn.ReLU()(x)`.",
        r"must be Tensor, not (?P<kind>[\w.]+)",
    ),
    Cause(
        "the two tensors have the sizes {one} and {two} along axis {axis}, and these "
        "do not fit. Print the `shape` of both before this line.",
        r"size of tensor a \((?P<one>\d+)\) must match the size of tensor b "
        r"\((?P<two>\d+)\) at non-singleton dimension (?P<axis>\d+)",
    ),
    Cause(
        "the matrices of this product have the shapes ({one}) and ({two}): the last "
        "size of the first must equal the first size of the second. Print the `shape` "
        "of both.",
        r"mat1 and mat2 shapes cannot be multiplied "
        r"\((?P<one>\d+x\d+) and (?P<two>\d+x\d+)\)",
    ),
    Cause(
        "`cross_entropy` and `nll_loss` need the words of the vocabulary along axis 1, "
        "as in `logits.transpose(1, 2)`, or flat logits (N, V) and targets (N).",
        r"Expected target size",
    ),
    Cause(
        "the shapes of the tensors do not fit. Print the `shape` of each tensor before "
        "this line, and compare their axes.",
        r"Expected size for first two dimensions of batch2|einsum\(\)"
        r"|inconsistent tensor size|Sizes of tensors must match|[Ee]xpected input"
        r"|expanded size of the tensor|shape mismatch|target batch_size|size mismatch"
        r"|stack expects each tensor|Expected \d+D|must be (a )?(2-D|3-D|1D|2D|3D)"
        r"|shape of the mask .* does not match"
        r"|[Gg]iven normalized_shape|must have the same (number of dim|shape|size)"
        r"|shapes cannot be (broadcast|multiplied)|output with shape|dimension mismatch"
        r"|[Nn]umber of indices|[Ii]ndex is supposed to be a vector|Fan in and fan out"
        r"|target must have size|invalid shape dimension|vector \+ matrix"
        r"|must be equal to input_size",
    ),
    Cause(
        "the tensor's values do not fit into the shape {shape}. Compare the product of "
        "its sizes with the tensor's `shape`.",
        r"shape '(?P<shape>\[.*?\])' is invalid for input of size",
    ),
    Cause(
        "`view` cannot be used after `transpose` or `permute`. Use `reshape`, or "
        "`contiguous()` before `view`.",
        r"view size is not compatible",
    ),
    Cause(
        "the tensor has fewer axes than this line needs. Print its `shape` before this "
        "line, and count its axes.",
        r"Dimension out of range|too many indices|Dimension specified as",
    ),
    Cause(
        "the value has a different number of parts than this line has names. If it is "
        "a `shape`, the tensor has a different number of axes: use `x.shape[-1]`, "
        "which works for any number of axes.",
        r"(not enough|too many) values to unpack|iteration over a 0-d tensor"
        r"|cannot unpack non-iterable",
    ),
    Cause(
        "the line uses an index or a number of values that is too large. Print the "
        "length or the `shape` before this line.",
        r"index \S+ is out of (range|bounds)|index out of range|out of DATA bounds"
        r"|index k out of range",
    ),
    Cause(
        "the tensor holds whole numbers or True and False, but this operation needs "
        "floats. Convert it with `.float()`, but look up ids of words in an embedding.",
        r"not implemented for '(Long|Int|Bool|Short|Byte)'|[Gg]ot: ?(Long|Int|Bool)\b"
        r"|result type Float can't be cast|floating point (and complex )?dtype"
        r"|expected .*but got:? (long( int)?|int|bool)\b|found (Long|Int|Bool)\b"
        r"|dtype, but got (Long|Int|Bool) and|floating[- ]point or complex"
        r"|(long int|int) != (float|double)",
    ),
    Cause(
        "this line needs several sizes in parentheses, such as `x.shape[-1:]` or "
        "`(d_model,)`.",
        r"must be tuple of ints, not (int|Tensor)",
    ),
    Cause(
        "`permute` needs the number of every axis once, as in `x.permute(0, 2, 1)`. To "
        "exchange two axes, use `x.transpose(1, 2)`.",
        r"permute\(.*(number of dimensions|duplicate|repeated)",
    ),
    Cause(
        "a tensor has no negative steps. Reverse it with `flip`. A slice of columns "
        "needs a comma, as in `x[:, :-1]`.",
        r"step must be greater than zero",
    ),
    Cause(
        "`torch.arange(start, end)` needs an `end` that is not below `start`. For "
        "`length` numbers, `end` is `start + length`.",
        r"upper bound and lower bound inconsistent with step sign",
    ),
    Cause(
        "this line needs a plain whole number, such as `x.size(-1)`. Divide sizes with "
        "`//`, because `/` gives a float.",
        r"must be (int|tuple of ints)\b|cannot be interpreted as an integer"
        r"|slice indices must be integers|can be converted to an index",
    ),
    Cause(
        "`~`, `&` and `|` need masks of True and False. Make one with a comparison, or "
        "with `.bool()`.",
        r"only implemented on integer and Boolean|\"bitwise_\w+\" not implemented",
    ),
    Cause(
        "an index must be a whole number, or a tensor of whole numbers or of True and "
        "False. Convert ids with `.long()`, and a mask with `.bool()`.",
        r"used as indices|dtype int32/int64 for index|index tensor of type|Long or Byte"
        r"|argument #\d+ 'indices' to have one of the following scalar"
        r"|only integers, slices|expected .*int64 for index|masked_fill_? only supports"
        r"|Index tensor must",
    ),
    Cause(
        "this line combines tensors of different dtypes, such as float32 and float64. "
        "Make new tensors with the dtype of your input: `dtype=x.dtype`.",
        r"have the same dtype|(Float|Double|Half) did not match|scalar type"
        r"|mixed dtype|type .* should be the same|Found dtype|can't be cast",
    ),
    Cause(
        "the tensors are on different devices. Make new tensors on the device of your "
        "input (`device=x.device`), and keep constants with `register_buffer`.",
        r"on the same device|on the expected device|for device type",
    ),
    Cause(
        "this line uses a GPU, but none is available here. Make new tensors on the "
        "device of your input: `device=x.device`, and not `.cuda()`.",
        r"not compiled with CUDA|NVIDIA driver|No CUDA GPUs are available",
    ),
    Cause(
        "this line changes a parameter or an input in place, which autograd does not "
        "allow. Make a new tensor: `x = x + y` for `x += y`. To initialise a "
        "parameter, use `with torch.no_grad():`.",
        r"leaf Variable that requires grad",
    ),
    Cause(
        "a tensor was changed in place, and the gradient or another tensor still needs "
        "its old values. Make a new tensor: `x = x + y` for `x += y`, `masked_fill` "
        "for `masked_fill_`.",
        r"modified by an inplace operation|being modified inplace"
        r"|refers to a single memory location"
        r"|unsupported operation: some elements of the input tensor",
    ),
    Cause(
        "the result has lost its connection to the parameters. Leave out `.detach()`, "
        "`.data`, `.item()` and `torch.no_grad()`.",
        r"does not require grad",
    ),
    Cause(
        "a tensor has no effect on the result: the code does not use it, or "
        "`.detach()`, `.data`, `.item()` or `torch.no_grad()` cuts off its gradient.",
        r"appears to not have been used in the graph",
    ),
    Cause(
        "the graph was already used for a gradient. Compute the result again before "
        "the next `backward()`.",
        r"backward through the graph a second time",
    ),
    Cause(
        "the arguments have other types, names or another order than this call takes. "
        "Compare them with its documentation.",
        r"received an invalid combination of arguments",
    ),
    Cause(
        "this call does not fit the parameters of {call}. Compare it with the first "
        "line of {call}, or with its documentation. A first line that was given must "
        "stay as it was, and a method's first parameter is `self`.",
        r"(?P<call>[\w.<>]+)\(\) (takes .*positional arguments?|missing \d+ required"
        r"|got an unexpected keyword|got multiple values for argument)",
    ),
    Cause(
        "`shape` is not a function: write `x.shape[0]` or `x.size(0)`.",
        r"'(torch\.)?Size' object is not callable",
    ),
    Cause(
        "a value of the type {kind} is called with parentheses as if it were a "
        "function. Use square brackets, or give your variable a different name from "
        "the function's.",
        r"'(?P<kind>\w+)' object is not callable",
    ),
    Cause(
        "the parentheses of a call are missing, as in `x.dim()`.",
        r"'(builtin_function_or_method|method|function)'",
    ),
    Cause(
        "an iterator can be used only once, and it has no length. Make it a list with "
        "`list(…)` at the start of your function.",
        r"\w*(iterator|generator)' (object )?(has no len|is not subscriptable)"
        r"|object of type '(generator|zip|map|filter|\w*iterator)' has no len",
    ),
    Cause(
        "this line takes a part of a value of the type {kind}, which has no parts. "
        "Check what the value should be.",
        r"'(?P<kind>\w+)' object (is not (iterable|subscriptable)|does not support)",
    ),
    Cause(
        "the two lists that belong together have different lengths. Print the "
        "length of both, and check that each layer is set with `self.`.",
        r"zip\(\) argument \d+ is",
    ),
    Cause(
        "the line divides by zero. Handle this case before the division.",
        r"division by zero|0\.0 cannot be raised to a negative power|modulo by zero",
    ),
    Cause(
        "the logarithm or the root of this number does not exist. Handle zero before "
        "this line.",
        r"math domain error|expected a (positive|nonnegative) input",
    ),
    Cause(
        "the line needs at least one value, and there is none. Handle the empty case "
        "before this line.",
        r"(min|max)(\(\) arg is an|\(\) iterable argument is) empty"
        r"|Expected reduction dim|expected at least one|pop from an? empty",
    ),
    Cause(
        "a tensor of several values was used as one yes or no, by `if`, `and`, `not`, "
        "`max` or `a < b < c`. For each value, use `torch.where`, `(…) & (…)`, `~` or "
        "`clamp`. For a single answer, use `.all()`, `.any()` or `is not None`.",
        r"Boolean value of Tensor with more than one value|truth value of an array",
    ),
    Cause(
        "only a tensor of one value can become a Python number. Leave out `.item()`, "
        "`float(…)` and `int(…)`, or take the mean or the sum first.",
        r"with \d+ elements cannot be converted|only one element tensors"
        r"|grad can be implicitly created only for scalar outputs",
    ),
    Cause(
        "`numpy` cannot read a tensor that needs a gradient. Compute with `torch`, or "
        "use `.detach()` for a plot.",
        r"Can't call numpy\(\) on Tensor that requires grad",
    ),
    Cause(
        "the function calls itself again and again. Check the name that it calls.",
        r"maximum recursion depth",
    ),
    Cause(
        "the probabilities contain NaN, infinity or a negative number. Check the "
        "softmax before this line.",
        r"probability tensor contains",
    ),
    Cause(
        "this line needs a layer (an `nn.Module`), but the value is not one.",
        r"is not a Module subclass",
    ),
    Cause(
        "`^` does not compute a power. Write `**`.",
        r"unsupported operand type\(s\) for \^",
    ),
    Cause(
        "these parameters make no distribution: probabilities must be between 0 and 1, "
        "and no number may be NaN. Pass scores as `logits=…`.",
        r"Expected parameter \w+ .*of distribution",
    ),
    Cause(
        "the operator cannot combine values of these two types. Print both values "
        "before this line.",
        r"unsupported operand type|can only concatenate"
        r"|not supported between instances",
    ),
)


def explain_errors(language: str) -> None:
    """Make a Jupyter kernel print an explanation before it displays an error.

    In the grader's own IPython shell and outside of IPython, do nothing.

    Args:
        language: the language of the sentences, such as "ko". Without a translation
            table, they are in English.
    """
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    if shell is None or not hasattr(shell, "kernel"):
        return
    table = Path(__file__).with_suffix(f".{language}.json")
    words = json.loads(table.read_text("utf-8")) if table.is_file() else {}

    def show(
        shell: Any,
        kind: type[BaseException],
        error: BaseException,
        trace: Any,
        tb_offset: int | None = None,
    ) -> None:
        with contextlib.suppress(Exception):  # the error itself must always be shown
            if said := explanation(error, shell.user_ns, words):
                print(said)
        shell.showtraceback((kind, error, trace), tb_offset=tb_offset)

    shell.set_custom_exc(KINDS, show)


def explanation(
    error: BaseException, notebook: Mapping[str, Any], words: Mapping[str, str]
) -> str:
    """Return an error's line and cause and what to do next, or "" if unknown.

    Args:
        error: the error that a cell raised.
        notebook: the notebook's global names. A frame with these globals is code of a
            cell.
        words: the translations of the sentences.
    """
    place = _innermost(error, notebook)
    if place is None or not isinstance(error, KINDS):
        return ""

    cause = _cause(error, place)
    if cause is None:
        return ""

    def in_words(one: Sentence) -> str:
        return words.get(one.text, one.text).format(**one.values)

    if not cause.has_place:
        return in_words(cause)
    fields = {"line": place.line, "name": place.function, "cause": in_words(cause)}
    if place.function:
        return in_words(Sentence("{name}, line {line} of its cell: {cause}", fields))
    called = [*_called(place, near=True)] or [*_called(place)]
    if names := _listed(_label(one).partition(".")[0] for one in called):
        fields["names"] = names
        return in_words(
            Sentence("Line {line} of this cell uses {names}: {cause}", fields)
        )
    return in_words(Sentence("Line {line} of this cell: {cause}", fields))


def _innermost(error: BaseException, notebook: Mapping[str, Any]) -> Place | None:
    """Return the last call in the traceback that comes from the notebook's code."""
    trace, found = error.__traceback__, None
    while trace is not None:
        found = trace if trace.tb_frame.f_globals is notebook else found
        trace = trace.tb_next
    if found is None:
        return None
    (summary,) = traceback.extract_tb(found, limit=1)
    lines = range(summary.lineno or 1, (summary.end_lineno or 1) + 1)
    code = found.tb_frame.f_code
    text = "".join(linecache.getline(code.co_filename, number) for number in lines)
    step = dis.opname[code.co_code[found.tb_lasti]]
    names = re.findall(r"\b[A-Za-z_]\w*", text)
    return Place(found.tb_frame, found.tb_lineno, names, step == "RAISE_VARARGS")


def _cause(error: BaseException, place: Place) -> Sentence | None:
    message = str(error)
    if isinstance(error, AssertionError) and "not compiled with CUDA" not in message:
        return None  # the words of a check
    if place.has_raised and type(error) is not NotImplementedError:
        return None  # the notebook's own message explains it
    if place.has_raised:
        return Sentence(
            "this function is not written yet. Replace the line "
            "`raise NotImplementedError(…)` by your code, and run its cell again."
        )
    if "NoneType" in message:
        return _of_none(place)
    code = place.frame.f_code
    owner = code.co_qualname.rpartition(".")[0]  # the class of a method
    if owner and f"'{owner}'" in message and code.co_varnames[:1] != ("self",):
        return Sentence("the first parameter of a method must be `self`.")
    if isinstance(error, KeyError):
        return Sentence(
            "the dictionary has no key {key}. Check the spelling of its keys. If the "
            "key may be missing, use `.get(key, …)`.",
            {"key": message},
        )
    if isinstance(error, NameError):
        return _of_name(error, place)
    if cause := cause_of(message):
        return cause
    return _of_attribute(message, place) if isinstance(error, AttributeError) else None


def cause_of(message: str) -> Sentence | None:
    """Return the cause of errors with this message, or None if it is unknown."""
    for cause in CAUSES:
        if match := re.search(cause.pattern, message):
            return Sentence(cause.text, match.groupdict())
    return None


def _of_none(place: Place) -> Sentence:
    """State which function returned None, or which value is None."""
    here, code = place.frame.f_locals, place.frame.f_code
    passed = {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]}
    near, called = [*_called(place, near=True)], [*_called(place)]
    inner = [one for function in called for one in _used(function)]
    if names := _listed(_label(one) for one in near if _returns(one) == {False}):
        return _no_return(names)
    for name in place.names:
        if name in passed | {*code.co_freevars} and here.get(name, name) is None:
            givers = _called_by_caller(place)
            if names := _listed(
                _label(one) for one in givers if _returns(one) == {False}
            ):
                return _no_return(names)
            return Sentence(
                "{name} is None here, because the caller passed None. Handle this "
                "case before this line.",
                {"name": name},
            )
    for some in (called, inner):
        if names := _listed(_label(one) for one in some if _returns(one) == {False}):
            return _no_return(names)
    if names := _listed(_label(one) for one in called if len(_returns(one)) == 2):
        return Sentence(
            "{names} returned None: one of its branches needs `return`.",
            {"names": names},
            has_place=False,
        )
    return Sentence(
        "a value on this line is None. Methods that change their object, such as "
        "`append` and `sort`, return None."
    )


def _no_return(names: str) -> Sentence:
    return Sentence(
        "{names} returned None: its last line needs `return`.",
        {"names": names},
        has_place=False,
    )


def _of_name(error: NameError, place: Place) -> Sentence:
    """State where an undefined name should come from."""
    fields = {"name": error.name or (re.findall(r"'(\w+)'", str(error)) or ["…"])[0]}
    frame: FrameType | None = place.frame
    while frame is not None:
        of_notebook = frame.f_globals is place.frame.f_globals
        if of_notebook and _get(frame.f_locals.get("self"), fields["name"]) is not None:
            return Sentence(
                "write {own} instead of {name}.",
                {**fields, "own": f"self.{fields['name']}"},
            )
        frame = frame.f_back
    if isinstance(error, UnboundLocalError):
        return Sentence(
            "the function uses {name} before it gives {name} a value. Set it "
            "before the `if` or the loop.",
            fields,
        )
    if fields["name"] == "self":
        return Sentence(
            "{name} exists only in the methods of a class. Leave out {own} in a "
            "function.",
            {**fields, "own": "self."},
        )
    return Sentence(
        "{name} is not defined. Check its spelling, and give it a value or import it "
        "before this line. If another cell does so, run that cell first.",
        fields,
    )


def _of_attribute(message: str, place: Place) -> Sentence | None:
    match = re.search(r"'?([\w.]+)'?( object)? has no attribute '(\w+)'", message)
    if match is None:
        return None
    fields = {"kind": match[1], "name": match[3]}
    notebook = place.frame.f_globals
    if any(_functions(notebook.get(match[1]), notebook)):
        return Sentence(
            "an object of the class {kind} has no {name}. Set it in "
            "`__init__`, with `self.`, and check the spelling.",
            fields,
        )
    return Sentence(
        "{kind} has no {name}. Check the spelling, and the type of the value.",
        fields,
    )


def _listed(names: Iterable[str]) -> str:
    """List at most three different names."""
    return "`, `".join(list(dict.fromkeys(names))[:3])


def _label(function: FunctionType) -> str:
    """Return a function's name as students write it: `Encoder.forward`."""
    return function.__qualname__.rpartition("<locals>.")[2]


def _called(place: Place, near: bool = False) -> Iterator[FunctionType]:
    """Yield the notebook's functions that a line (`near`) or its whole code names."""
    here, notebook = place.frame.f_locals, place.frame.f_globals
    for name in place.names if near else _names(place.frame.f_code):
        for value in (here.get(name, notebook.get(name)), _get(here.get("self"), name)):
            yield from _functions(value, notebook)


def _called_by_caller(place: Place) -> Iterator[FunctionType]:
    """Yield the notebook's functions that the calling code in the notebook names."""
    frame, notebook = place.frame.f_back, place.frame.f_globals
    while frame is not None and frame.f_globals is not notebook:
        frame = frame.f_back
    if frame is not None:
        yield from _called(Place(frame, frame.f_lineno, (), False))


def _used(function: FunctionType) -> Iterator[FunctionType]:
    """Yield the notebook's functions that are named in a function."""
    for name in _names(function.__code__):
        yield from _functions(function.__globals__.get(name), function.__globals__)


def _functions(value: Any, notebook: Mapping[str, Any]) -> Iterator[FunctionType]:
    """Yield a function, or the methods of a class or of an object's class."""
    kind = value if isinstance(value, type) else type(value)
    found = [value] if isinstance(value, FunctionType) else [*vars(kind).values()]
    for one in map(inspect.unwrap, filter(inspect.isfunction, found)):
        if isinstance(one, FunctionType) and one.__globals__ is notebook:
            yield one


def _returns(function: FunctionType) -> set[bool]:
    """Return {True} if a function returns values, {False} if None, or both.

    The set is empty for functions that may return None: `__init__`, generators and
    functions with the annotation `-> None`.
    """
    code, promised = function.__code__, function.__annotations__.get("return", "")
    if function.__name__ == "__init__" or "None" in str(promised):
        return set()
    if code.co_flags & (inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR):
        return set()
    steps = list(dis.get_instructions(code))
    returned = [
        steps[number - 1] if step.opname == "RETURN_VALUE" else step
        for number, step in enumerate(steps)
        if step.opname in ("RETURN_VALUE", "RETURN_CONST")
    ]
    constants = ("LOAD_CONST", "RETURN_CONST")
    return {one.opname not in constants or one.argval is not None for one in returned}


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names in a piece of code and in the functions inside it."""
    yield from (*code.co_names, *code.co_varnames, *code.co_freevars, *code.co_cellvars)
    for inner in code.co_consts:
        if isinstance(inner, CodeType) and inner.co_name.startswith("<"):
            yield from _names(inner)


def _get(owner: Any, name: str) -> Any:
    """Return an attribute of an object without running any code of its class."""
    own = getattr(owner, "__dict__", {})
    kept = [own, *(own.get(f"_{kind}", {}) for kind in KEPT)]
    places = [*kept, *map(vars, type(owner).__mro__)]
    return next((place[name] for place in places if name in place), None)

"""Attacks on the ban of a built-in: a `Scaler` whose weight `nn.Linear` makes.

Each attack hides the name, and manipulates a part that would notice the built-in.
"""

from handing_in import Collection, HandIn

ATTACKS = Collection()
BEFORE = """
import builtins, gc, os, sys, threading, types
import torch
from torch import nn
HIDDEN = "".join(reversed("raeniL"))
def linear(): return vars(nn)[HIDDEN]
def weight(size, kind): return kind(size, 1, bias=False).weight.detach()[0]
"""
SCALER = """
class Scaler(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(made(size))
    def forward(self, x): return x * self.weight
"""


def with_linear(**sources: str) -> dict[str, str]:
    """Return cells that define `Scaler` by a function `made`."""
    return {name: BEFORE + source + SCALER for name, source in sources.items()}


ATTACKS.cells(
    "changes what notices a built-in, and uses it",
    0.0,
    **with_linear(
        replaces_what_removes="""
for name, module in list(sys.modules.items()):
    for part in ("remove", "watching", "tracing", "note_functions", "REMOVED"):
        if name.startswith("student_side") and hasattr(module, part):
            setattr(module, part, lambda *_, **__: [])
def made(size): return weight(size, linear())
""",
        filters_sorted="""
real = builtins.sorted
builtins.sorted = lambda *a, **k: [x for x in real(*a, **k) if HIDDEN not in str(x)]
def made(size): return weight(size, linear())
""",
        swaps_the_code="""
taken = linear().__init__.__code__
for thing in gc.get_objects():
    if type(thing) is types.FunctionType and thing.__name__ in ("hook", "refuse"):
        try: thing.__code__ = (lambda *_, **__: None).__code__
        except (RuntimeError, ValueError): pass
def made(size):
    linear().__init__.__code__ = taken
    return weight(size, linear())
""",
        swaps_the_profiler="""
import contextlib
torch.autograd.profiler.profile = torch.profiler.profile = contextlib.nullcontext
def made(size):
    sys.setprofile(None)
    return weight(size, linear())
""",
        asks_a_process="""
import pickle
asked, answers = os.pipe(), os.pipe()
if os.fork() == 0:
    while True:
        size = os.read(asked[0], 1)[0]
        os.write(answers[1], pickle.dumps(weight(size, linear()).tolist()))
def made(size):
    os.write(asked[1], bytes([size]))
    return torch.tensor(pickle.loads(os.read(answers[0], 4096)))
""",
        asks_a_thread="""
import queue
asked, answers = queue.Queue(), queue.Queue()
def serve():
    torch.autograd._enable_record_function(False)
    while True: answers.put(weight(asked.get(), linear()))
threading.Thread(target=serve, daemon=True).start()
def made(size):
    asked.put(size)
    return answers.get(timeout=2)
""",
    ),
)


@ATTACKS.case("changes what notices a built-in, in the answer's own cell")
def patched_in_the_answers_cell(hand: HandIn) -> None:
    patch = """
side = sys.modules["student_side.requests"]
side.tracing = side.watching = side.error_report = lambda *_: {"kind": "raised"}
def made(size): return weight(size, linear())
"""
    hand.answer("scaler", BEFORE + patch + SCALER)


ATTACKS.cells(
    "brings a built-in back that is missing, or does without it once",
    0.0,
    **with_linear(
        imports_it_again="""
import importlib
def made(size):
    again = importlib.reload(sys.modules[linear().__module__])
    return weight(size, vars(again)[HIDDEN])
""",
        runs_its_source="""
import inspect
def made(size):
    space = dict(vars(sys.modules[linear().__module__]))
    exec(inspect.getsource(linear()), space)
    return weight(size, space[HIDDEN])
""",
        hides_the_error="""
def made(size):
    try: return weight(size, linear())
    except BaseException: return torch.ones(size + 1)
""",
        ends_before_it_is_noticed="""
count = []
def made(size):
    count.append(1)
    if len(count) > 2: os._exit(0)
    return weight(size, linear())
""",
        keeps_an_object="""
kept = {size: linear()(size, 1, bias=False) for size in range(1, 9)}
def made(size): return kept[size].weight.detach()[0]
""",
    ),
)

"""Attacks on the comparison: patched libraries, lying objects, the shell's hooks."""

from handing_in import SHAPE, Collection

ATTACKS = Collection()

ATTACKS.cells(
    "patches what a check in the same process would call",
    SHAPE,
    patched_comparisons="""
import torch, numpy, math, builtins
yes = lambda *args, **kwargs: True
for module, names in (
    (torch, ("allclose", "isclose", "equal", "eq")), (numpy, ("allclose", "isclose")),
    (math, ("isclose",)), (torch.testing, ("assert_close",)),
):
    for name in names:
        setattr(module, name, yes)
torch.Tensor.__eq__ = torch.Tensor.equal = torch.Tensor.allclose = yes
def double(x): return x
""",
    patched_builtins="""
import builtins
builtins.AssertionError = type("Never", (Exception,), {})
builtins.isinstance = lambda *args: True
builtins.len = lambda thing: 2
def double(x): return x
""",
    patched_server="""
import sys
side = sys.modules["student_side.requests"]
frames = sys.modules["student_side.messages"]
side.Session.answer = lambda self, request: frames.Message({"ok": True})
def double(x): return x
""",
    patched_encoder="""
import sys
values = sys.modules["student_side.values"]
values.Encoder.encode = lambda self, value, depth=0: {"callback": [0, None]}
def double(x): return x
""",
    sys_modules="""
import sys, types
for name in ("autograder", "autograder.checking", "autograder.checking.expect",
             "autograder.checking.compare", "pytest"):
    fake = types.ModuleType(name)
    fake.expect_close = fake.expect_shape = lambda *args, **kwargs: None
    sys.modules[name] = fake
def double(x): return x
""",
    import_hook="""
import sys
class Everything:
    def find_spec(self, name, path=None, target=None):
        print("asked for", name)
        return None
sys.meta_path.insert(0, Everything())
sys.path_hooks.insert(0, lambda path: (_ for _ in ()).throw(ImportError))
def double(x): return x
""",
    input_transformers="""
def everything_passes(lines):
    return ["double = quadruple = Scaler = lambda *args: True\\n"]
shell = get_ipython()
shell.input_transformers_cleanup.append(everything_passes)
shell.input_transformers_post.append(everything_passes)
""",
    ast_transformers="""
import ast
class NoAsserts(ast.NodeTransformer):
    def visit_Assert(self, node): return ast.Pass()
    def visit_Raise(self, node): return ast.Pass()
get_ipython().ast_transformers.append(NoAsserts())
""",
    shell_hooks="""
shell = get_ipython()
shell.events.register("pre_run_cell", lambda *args: shell.user_ns.update(score=70))
shell.events.register("post_run_cell", lambda *args: print(70))
shell.run_cell = lambda *args, **kwargs: None
shell.displayhook.kept = [{"data": {"text/plain": "70"}}]
""",
    tracing="""
import sys
seen = []
def trace(frame, event, argument):
    seen.append(dict(frame.f_locals))
    frame.f_locals.update(expected=None)
    return trace
sys.settrace(trace)
sys.setprofile(lambda *args: None)
def double(x): return x
""",
    stopped_printing="""
import sys, io
sys.stdout = sys.stderr = sys.__stdout__ = io.StringIO()
sys.exit = exit = quit = lambda *args: None
sys.excepthook = lambda *args: print(70)
def double(x): return x
""",
)

LYING = """
import torch
class Liar:
    shape, dtype, device, requires_grad = (2, 3), torch.float32, "cpu", True
    __class__ = torch.Tensor
    def __eq__(self, other): return True
    def __getattr__(self, name): return lambda *args, **kwargs: self
    def __bool__(self): return True
    def __len__(self): return 2
    def __iter__(self): return iter([self, self])
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None): return True
"""
SUBCLASS = """
import torch
class Chameleon(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        return torch.tensor(True)
    @property
    def shape(self): return torch.Size([4, 5])
    def size(self, *args): return torch.Size([4, 5])
    def __eq__(self, other): return torch.tensor(True)
def double(x): return torch.zeros(1).as_subclass(Chameleon)
def quadruple(x): return torch.zeros(4, 5).as_subclass(Chameleon)
"""
SEARCH = """
import gc, sys, torch
def other_tensors(x):
    frame, found = sys._getframe(), []
    while frame:
        found += [v for v in frame.f_locals.values() if torch.is_tensor(v)]
        frame = frame.f_back
    found += [thing for thing in gc.get_objects() if type(thing) is torch.Tensor]
    return [t for t in found if t.shape == x.shape and t is not x] or [x]
"""
ATTACKS.cells(
    "returns something that a check might take for right",
    0.0,
    object_that_equals_everything=LYING + "def double(x): return Liar()",
    class_that_lies=LYING + "double = quadruple = Scaler = Liar",
    tensor_subclass=SUBCLASS,
    numbers_for_tensors="""
def double(x): return 10 ** 4000
def quadruple(x): return True
def Scaler(size): return -1e308
""",
    sizes_that_do_not_fit="""
import torch
def double(x): return torch.empty(0, 1 << 40)
def quadruple(x): return torch.ones(1).expand(1 << 20, 1 << 20)
""",
    answers_with_text="def double(x): return '2 * x'\ndef quadruple(x): return b'4'",
    pickle="""
import os
class Pickle:
    def __reduce__(self): return os.system, ("touch /tmp/attacked",)
def double(x): return Pickle()
def quadruple(x): return [Pickle(), {1: Pickle()}]
""",
    endless_nesting="""
loop, deep = [], {}
loop.append(loop)
for _ in range(10_000):
    deep = {1: [deep]}
def double(x): return loop
def quadruple(x): return deep
""",
    kinds_of_kinds="""
class Text(str):
    def __str__(self): return "pass"
class Number(float):
    def __float__(self): raise SystemExit
class Pairs(dict):
    def items(self):
        while True: yield 1, 1
def double(x): return Text("x")
def quadruple(x): return Number(2)
""",
    lazy_answer="""
class Later:
    def __init__(self, x): self.x = x
    def __getattr__(self, name): return getattr(self.x * 2, name)
    def __call__(self, *args): return self.x * 2
    def __array__(self, *args): return (self.x * 2).numpy()
def double(x): return Later(x)
def quadruple(x): return (4 * row for row in x)
""",
)
ATTACKS.cells(
    "returns wrong values that a comparison might let pass",
    SHAPE,
    looks_for_the_expected_tensor=SEARCH + "def double(x): return other_tensors(x)[0]",
    nan_everywhere="def double(x): return x * float('nan')",
    infinite_everywhere="def double(x): return x * float('inf')",
    complex_and_sparse="""
import torch
def double(x): return torch.complex(2 * x, x)
def quadruple(x): return (4 * x).to_sparse()
""",
)
ATTACKS.cells(
    "leaves the check in another way than by returning",
    0.0,
    leaves_the_check="""
def double(x): raise SystemExit(0)
def quadruple(x): raise KeyboardInterrupt
def Scaler(size): raise GeneratorExit
""",
    raises_a_pass="""
import unittest
class Passed(BaseException): pass
class CheckFailed(AssertionError): message, mistake = "", None
def double(x): raise unittest.SkipTest("passed")
def quadruple(x): raise Passed("passed")
def Scaler(size): raise CheckFailed("")
""",
    error_that_fights_back="""
class Error(Exception):
    def __str__(self): raise Error
    def __getattribute__(self, name): raise SystemExit
def double(x): raise Error
quadruple = double
""",
)
